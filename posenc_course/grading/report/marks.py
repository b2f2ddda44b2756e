"""Everyone's marks out of nbgrader's gradebook, as CSV: for a spreadsheet, Canvas or Moodle.

`posenc report --marks` writes them, and so does `nbgrader export` with one of the exporters here.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin
from sqlalchemy import func, select
from traitlets import Unicode

from posenc_course.exercises import exercises_of
from posenc_course.grading.course import write_atomically
from posenc_course.grading.faults import CourseError
from posenc_course.grading.report import spreadsheet
from posenc_course.grading.report.formats import FORMATS, Format, Rows
from posenc_course.grading.verdicts import NO_SUBMISSION
from posenc_course.translation import _

FOR_ONE = 0o600
"""Rights of a file of marks: only whoever wrote it can read it."""


@dataclass(frozen=True)
class Line:
    """One student of the class, with what the gradebook says."""

    student: str
    verdict: str
    """A `Verdict`, or why there is none."""
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    """Its number in Canvas or the like, where nbgrader was told."""
    submitted: datetime | None = None
    """In UTC, where nbgrader knows it."""
    marks: Mapping[str, float] | None = None
    """Points by column, manual grades and extra credit included; None where there is no grade."""
    late_penalty: float = 0.0
    needs_manual_grade: bool = False
    judged: Mapping[str, float] = field(default_factory=dict)
    """What nbgrader calls the auto score of each column."""
    tampered: tuple[str, ...] = ()
    """Answers with that verdict, whatever the whole submission has."""

    @property
    def points(self) -> float | None:
        """What counts in the end, as in nbgrader's own export."""
        return None if self.marks is None else max(0.0, sum(self.marks.values()) - self.late_penalty)


@dataclass(frozen=True)
class Marks:
    """What the gradebook says of a class and one assignment."""

    assignment: str
    columns: Mapping[str, float]
    """Each graded cell, by name, with its points."""
    lines: tuple[Line, ...]

    @property
    def graded(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.marks is not None)

    @property
    def max_points(self) -> float:
        return sum(self.columns.values())


def read_marks(gradebook: Gradebook, assignment: str) -> Marks:
    """What the gradebook says of everyone whom it knows.

    Raises:
        CourseError: it knows no such assignment.
    """
    submission, notebook, grade = api.SubmittedAssignment, api.SubmittedNotebook, api.Grade
    try:
        found = gradebook.find_assignment(assignment)
    except api.MissingEntry as error:
        raise CourseError(
            _("nbgrader's gradebook has no assignment {assignment!r}; release it: make exercises").format(
                assignment=assignment
            )
        ) from error
    cells = _columns(found)
    by_hand = func.coalesce(grade.manual_score, grade.auto_score, 0.0)
    scores = gradebook.db.execute(
        select(
            submission.student_id,
            grade.cell_id,
            by_hand + func.coalesce(grade.extra_credit, 0.0),
            func.coalesce(grade.auto_score, 0.0),
            grade.needs_manual_grade,
        )
        .join_from(submission, notebook, notebook.assignment_id == submission.id)
        .join(grade, grade.notebook_id == notebook.id)
        .where(submission.assignment_id == found.id)
    ).all()
    penalties = gradebook.db.execute(
        select(
            submission.student_id,
            submission.timestamp,
            func.sum(func.coalesce(notebook.late_submission_penalty, 0.0)),
        )
        .join_from(submission, notebook, notebook.assignment_id == submission.id)
        .where(submission.assignment_id == found.id)
        .group_by(submission.student_id, submission.timestamp)
    ).all()
    people = gradebook.db.execute(select(api.Student.__table__)).all()
    marks: dict[str, dict[str, float]] = {student: {} for student, _when, _penalty in penalties}
    judged: dict[str, dict[str, float]] = {student: {} for student in marks}
    unfinished = set()
    for student, cell, score, auto, needs_person in scores:
        marks[student][cells[cell][0]] = float(score)
        judged[student][cells[cell][0]] = float(auto)
        if needs_person:
            unfinished.add(student)
    late = {student: (when, float(penalty)) for student, when, penalty in penalties}
    lines = tuple(
        Line(
            person.id,
            NO_SUBMISSION,
            person.last_name or "",
            person.first_name or "",
            person.email or "",
            person.lms_user_id or "",
            late.get(person.id, (None, 0.0))[0],
            marks.get(person.id),
            late.get(person.id, (None, 0.0))[1],
            person.id in unfinished,
            judged.get(person.id, {}),
        )
        for person in sorted(people, key=lambda each: each.id)
    )
    return Marks(assignment, dict(cells.values()), lines)


def _columns(assignment: Any) -> dict[str, tuple[str, float]]:
    """From the id of each graded cell to its column's name and its points, in the order of the notebook."""
    columns = {}
    for notebook in assignment.notebooks:
        place = {cell.name: number for number, cell in enumerate(notebook.source_cells)}
        order = _order_of_exercises(assignment.name)
        graded = [*notebook.grade_cells, *notebook.task_cells]
        for cell in sorted(graded, key=lambda c: (order.get(c.name, len(order)), place.get(c.name, 0))):
            name = cell.name.removeprefix("check-") if cell.name in order else cell.name
            name = name if notebook.name == assignment.name else f"{notebook.name}/{name}"
            columns[cell.id] = (name, float(cell.max_score or 0.0))
    return columns


def _order_of_exercises(assignment: str) -> dict[str, int]:
    found = exercises_of(assignment)
    return {f"check-{each.function}": number for number, each in enumerate(found)}


# --- The exporters ---------------------------------------------------------------------------


class SafeExport(ExportPlugin):
    """nbgrader's own table, for `nbgrader export`, with harmless cells, quoted where they have to be."""

    def export(self, gradebook: Gradebook) -> None:
        destination = Path(self.to or "grades.csv")
        table = io.StringIO(newline="")
        spreadsheet.write(table, self._rows(gradebook))
        write_atomically(destination, table.getvalue(), mode=FOR_ONE)
        self.log.info(_("Exported grades to {path}").format(path=destination))

    def _rows(self, gradebook: Gradebook) -> Iterator[Sequence[object]]:
        yield (
            *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
            *("raw_score", "late_submission_penalty", "score", "max_score"),
        )
        students, assignments = ({str(each) for each in names} for names in (self.student, self.assignment))
        for assignment in gradebook.assignments:
            for student in gradebook.students:
                asked_for = not students or student.id in students
                if asked_for and (not assignments or assignment.name in assignments):
                    yield self._row(gradebook, assignment, student)

    def _row(self, gradebook: Gradebook, assignment: Any, student: Any) -> Sequence[object]:
        try:
            found = gradebook.find_submission(assignment.name, student.id)
            when, raw, penalty = found.timestamp, found.score, found.late_submission_penalty
        except MissingEntry:
            when, raw, penalty = None, 0.0, 0.0  # as nbgrader has it
        person = (student.id, student.last_name, student.first_name, student.email)
        score = max(0.0, raw - penalty)
        return assignment.name, assignment.duedate, when, *person, raw, penalty, score, assignment.max_score


class ForOtherSystem(ExportPlugin):
    """Marks of one assignment as another system reads them.

    There is one for each of `FORMATS`, by the name of the system.
    """

    format: Format
    column = Unicode("", help="Heading of the marks, as the other system has it.").tag(config=True)

    def as_csv(self, marks: Marks) -> str:
        return as_csv(self.format.rows(marks, self.column or marks.assignment))

    def export(self, gradebook: Gradebook) -> None:
        """What `nbgrader export` calls."""
        known = [each.name for each in gradebook.assignments]
        names = [str(each) for each in self.assignment] or known
        if len(names) != 1:
            told = _("this is for one assignment: add --assignment and one of {known}")
            sys.exit(_error(told.format(known=", ".join(known))))
        try:
            marks = read_marks(gradebook, names[0])
        except CourseError as error:
            sys.exit(_error(error))
        students = {str(each) for each in self.student}
        chosen = tuple(line for line in marks.lines if not students or line.student in students)
        destination = Path(self.to or "grades.csv")
        write_atomically(destination, self.as_csv(replace(marks, lines=chosen)), FOR_ONE)
        self.log.info(_("Exported grades to {path}").format(path=destination))


def _error(sentence: object) -> str:
    return _("error: {sentence}").format(sentence=sentence)


def _exporter(system: str) -> type[ForOtherSystem]:
    return type(system, (ForOtherSystem,), {"format": FORMATS[system.lower()], "__module__": __name__})


EXPORTERS = {name: _exporter(each.system) for name, each in FORMATS.items()}
globals().update(
    {each.__name__: each for each in EXPORTERS.values()}
)  # `nbgrader export` asks for marks.Canvas


def as_csv(rows: Rows) -> str:
    text = io.StringIO()
    spreadsheet.write(text, rows)
    return text.getvalue()


def everything(marks: Marks) -> Rows:
    """The whole class with all that is known."""
    yield (
        *("student", "last_name", "first_name", "email", "submitted", "verdict"),
        *("points", "max_points", "late_penalty", "needs_manual_grade", "tampered"),
        *marks.columns,
    )
    for line in marks.lines:
        submitted = line.submitted.isoformat(sep=" ", timespec="seconds") if line.submitted else ""
        by_column = line.marks or {}
        yield (
            *(line.student, line.last_name, line.first_name, line.email, submitted, line.verdict),
            *(line.points, marks.max_points),
            line.late_penalty if line.marks is not None else None,
            "yes" if line.needs_manual_grade else "no",
            " ".join(line.tampered),
            *(by_column.get(name) for name in marks.columns),
        )
