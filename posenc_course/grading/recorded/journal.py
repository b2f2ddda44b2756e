"""Every grade, written durably the moment it is there: what a grading run that was killed goes on from."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from posenc_course.grading.handed_in.submission import Cell
from posenc_course.grading.verdicts import SubmissionGrade
from posenc_course.translation import _

VERSION = 1
"""Of what stands in the journal. A newer posenc raises it where an older one could not read an entry."""
_TABLE = """
CREATE TABLE IF NOT EXISTS entries (
    assignment TEXT NOT NULL,
    student TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    graded_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    grade TEXT NOT NULL,
    bulk BLOB NOT NULL,
    in_gradebook INTEGER NOT NULL DEFAULT 0,
    written_up INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (assignment, student)
)
"""


@dataclass(frozen=True)
class Entry:
    """One graded submission: the grade, and the cells that were graded."""

    grade: SubmissionGrade
    cells: tuple[Cell, ...]
    fingerprint: str
    """Of the file as it was found; see `submission.fingerprint`."""

    def to_json(self) -> dict[str, Any]:
        """As what `json` can write."""
        return {
            "grade": self.grade.to_json(),
            "cells": [[c.place, c.source, c.grade_id, c.kind, dict(c.attachments)] for c in self.cells],
            "fingerprint": self.fingerprint,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Entry:
        """From what `to_json` gave, also after a way through JSON."""
        return cls(
            SubmissionGrade.from_json(data["grade"]),
            tuple(Cell(*each) for each in data["cells"]),
            data["fingerprint"],
        )


class Journal:
    """The journal of one course: an SQLite file, one transaction an entry. A context manager."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(folder / "journal.db", isolation_level=None)
        try:
            self._open()
        except BaseException:
            self._db.close()
            raise

    def _open(self) -> None:
        [version] = self._db.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            told = _("it has version {found}, but this posenc reads version {read}")
            raise sqlite3.DatabaseError(told.format(found=version, read=VERSION))
        self._db.execute("PRAGMA journal_mode = WAL")
        # In WAL mode only FULL survives a power cut.
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute(_TABLE)
        if version < VERSION:
            self._db.execute(f"PRAGMA user_version = {VERSION}")

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._db.close()

    def add(self, entry: Entry) -> None:
        """Write the entry in the place of an older one. When this returns, the grade is on the disk."""
        grade = entry.grade
        small = replace(grade, outputs={}).to_json()
        bulk = {"cells": entry.to_json()["cells"], "outputs": grade.to_json()["outputs"]}
        self._db.execute(
            "INSERT OR REPLACE INTO entries (assignment, student, fingerprint, grade, bulk) "
            "VALUES (?, ?, ?, ?, ?)",
            (
                grade.assignment,
                grade.student,
                entry.fingerprint,
                json.dumps(small),
                zlib.compress(json.dumps(bulk).encode(), level=1),
            ),
        )

    def is_empty(self) -> bool:
        """Whether nothing was ever graded."""
        return self._db.execute("SELECT 1 FROM entries LIMIT 1").fetchone() is None

    def fingerprints(self, assignment: str) -> dict[str, str]:
        """From each student who was graded to the fingerprint of the file that was."""
        return dict(
            self._db.execute("SELECT student, fingerprint FROM entries WHERE assignment = ?", (assignment,))
        )

    def entry(self, assignment: str, student: str) -> Entry | None:
        """The entry of one student, if there is one."""
        row = self._db.execute(
            "SELECT grade, bulk, fingerprint FROM entries WHERE assignment = ? AND student = ?",
            (assignment, student),
        ).fetchone()
        if row is None:
            return None
        with _readable(student):
            bulk = json.loads(zlib.decompress(row[1]))
            grade = json.loads(row[0]) | {"outputs": bulk["outputs"]}
            return Entry.from_json({"grade": grade, "cells": bulk["cells"], "fingerprint": row[2]})

    def grades(self, assignment: str) -> Iterator[SubmissionGrade]:
        """All grades of an assignment, in order of student, without the outputs of the cells."""
        rows = self._db.execute(
            "SELECT student, grade FROM entries WHERE assignment = ? ORDER BY student", (assignment,)
        )
        for student, grade in rows:
            with _readable(student):
                read = SubmissionGrade.from_json(json.loads(grade))
            yield read

    def cells(self, assignment: str) -> Iterator[tuple[str, tuple[Cell, ...]]]:
        """What each student handed in, in order of student."""
        rows = self._db.execute(
            "SELECT student, bulk FROM entries WHERE assignment = ? ORDER BY student", (assignment,)
        )
        for student, bulk in rows:
            with _readable(student):
                cells = tuple(Cell(*each) for each in json.loads(zlib.decompress(bulk))["cells"])
            yield student, cells

    def unfinished(self, assignment: str, feedback: bool) -> list[str]:
        """Students whose grade is not in the gradebook yet, or who lack a notebook or (if asked) feedback."""
        rows = self._db.execute(
            "SELECT student FROM entries WHERE assignment = ? AND (NOT in_gradebook OR written_up < ?)",
            (assignment, _level(feedback)),
        )
        return [student for (student,) in rows]

    def mark_in_gradebook(self, assignment: str, students: Iterable[str]) -> None:
        """Note that these grades are in nbgrader's gradebook."""
        self._db.execute("BEGIN")
        self._db.executemany(
            "UPDATE entries SET in_gradebook = 1 WHERE assignment = ? AND student = ?",
            [(assignment, student) for student in students],
        )
        self._db.execute("COMMIT")

    def mark_written_up(self, assignment: str, student: str, feedback: bool) -> None:
        """Note that the autograded notebook is written, and whether feedback is."""
        self._db.execute(
            "UPDATE entries SET written_up = ? WHERE assignment = ? AND student = ?",
            (_level(feedback), assignment, student),
        )


def is_empty(folder: Path) -> bool:
    """Whether nothing was ever graded here. Makes no journal."""
    path = folder / "journal.db"
    if not path.exists():
        return True
    with Journal(folder) as journal:
        return journal.is_empty()


@contextmanager
def _readable(student: str) -> Iterator[None]:
    """sqlite3.DatabaseError where an entry is not as it was written."""
    try:
        yield
    except (zlib.error, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        told = _("its entry of {student!r} cannot be read: {error}")
        raise sqlite3.DatabaseError(told.format(student=student, error=error)) from error


def _level(feedback: bool) -> int:
    return 2 if feedback else 1
