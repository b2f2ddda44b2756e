"""Marks as other systems read them. A format is one entry of `FORMATS`: the command line and the exporters of
`nbgrader export` take theirs from it.

Imports nothing of nbgrader, so that the command line has the names at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posenc_course.grading.report.marks import Marks

Rows = Iterator[Sequence[object]]


@dataclass(frozen=True)
class Format:
    """How one system reads marks."""

    system: str
    """Its name; in lower case what `--format` takes."""
    rows: Callable[[Marks, str], Rows]
    """From the marks and the heading of their column to the lines of the file.

    Whoever has no mark is left out: an empty one would wipe out the mark that stands there."""


def _canvas(marks: Marks, column: str) -> Rows:
    """For "Grades > Import".

    Canvas finds a student by `ID`, `SIS User ID`, `SIS Login ID`, or name, in this order.
    Columns and order: Instructure, "How do I import grades in the Gradebook?",
    https://community.canvaslms.com/t5/Instructor-Guide/How-do-I-import-grades-in-the-Gradebook/ta-p/807
    and instructure/canvas-lms, lib/gradebook_importer.rb, `row_has_student_headers?` and `process_student`.
    """
    yield "Student", "ID", "SIS User ID", "SIS Login ID", "Section", column
    yield "Points Possible", "", "", "", "", marks.max_points
    for line in marks.graded:
        name = ", ".join(part for part in (line.last_name, line.first_name) if part)
        yield name or line.student, line.lms_user_id, "", line.student, "", line.points


def _moodle(marks: Marks, column: str) -> Rows:
    """For "Grades > Import > CSV file", with the columns of Moodle's own export.

    https://docs.moodle.org/en/Grade_import. An assignment's offline grading worksheet cannot be made here: it
    knows its rows by participant numbers that only Moodle has.
    """
    yield "First name", "Last name", "ID number", "Email address", column
    for line in marks.graded:
        yield line.first_name, line.last_name, line.student, line.email, line.points


FORMATS = {each.system.lower(): each for each in (Format("Canvas", _canvas), Format("Moodle", _moodle))}
"""From what `--format` takes to the format."""
