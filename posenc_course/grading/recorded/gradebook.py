"""nbgrader's gradebook, written in batches, as its own `SaveAutoGrades` and `AssignLatePenalties` write it.

Marks and comments that a person gave are left as they are.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from nbgrader import api
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import Connection, Table, bindparam, insert, select, update
from traitlets.config import Config

from posenc_course.grading.faults import CourseError
from posenc_course.grading.recorded.journal import Entry
from posenc_course.grading.recorded.scores import Release, ReleasedCell, Standing, auto_comments, auto_scores
from posenc_course.translation import _

MAX_STUDENT_NAME = 128
"""What nbgrader's table holds."""

_STUDENT: Table = api.Student.__table__
_SUBMISSION: Table = api.SubmittedAssignment.__table__
_NOTEBOOK: Table = api.SubmittedNotebook.__table__
_GRADE: Table = api.Grade.__table__
_COMMENT: Table = api.Comment.__table__


class GradebookWriter:
    """One assignment in nbgrader's gradebook, open for writing. A context manager.

    Raises:
        CourseError: the gradebook does not know the assignment, or nbgrader made it in another version.
    """

    def __init__(self, db_url: str, course_id: str, assignment: str, config: Config) -> None:
        self._gradebook = api.Gradebook(db_url, course_id)
        self._penalties = AssignLatePenalties(config=config)
        self._penalties.init_plugin()
        try:
            self._read_assignment(assignment)
        except BaseException:
            self._gradebook.close()
            raise

    def __enter__(self) -> GradebookWriter:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._gradebook.close()

    def write(self, entries: Sequence[Entry], timestamps: Mapping[str, datetime | None]) -> list[Standing]:
        """Write these grades in one transaction; again is the same as once.

        Args:
            entries: at most one a student.
            timestamps: when each student handed in (UTC), where it is known.

        Returns:
            What the gradebook says now, one an entry.
        """
        with self._gradebook.engine.begin() as connection:
            notebooks = self._submitted_notebooks(connection, [e.grade.student for e in entries], timestamps)
            mine = {student: row["notebook_id"] for student, row in notebooks.items()}
            self._write_grades(connection, entries, mine)
            self._write_comments(connection, entries, mine)
            return [
                self._standing(connection, entry, notebooks[entry.grade.student], facts)
                for entry, facts in zip(entries, self._facts(connection, entries, mine), strict=True)
            ]

    def _read_assignment(self, assignment: str) -> None:
        try:
            found = self._gradebook.find_assignment(assignment)
            notebook = self._gradebook.find_notebook(assignment, assignment)
        except api.MissingEntry as error:
            raise CourseError(
                _(
                    "nbgrader's gradebook has no assignment {assignment!r} with a notebook of that name; "
                    "release it first: nbgrader generate_assignment {assignment}, or make exercises"
                ).format(assignment=assignment)
            ) from error
        self._assignment_id, self._duedate = found.id, found.duedate
        # Every notebook of the assignment gets its rows, as nbgrader has it; grades go to one.
        self._ids = {each.id: _Ids(each) for each in found.notebooks}
        self._notebook_id = notebook.id
        self._names = {cell.id: cell.name for cell in notebook._base_cells}
        kernelspec = json.loads(notebook.kernelspec) if notebook.kernelspec else {}
        self.release = Release(assignment, kernelspec, _released_cells(notebook))
        self._gradebook.db.rollback()

    def _submitted_notebooks(
        self, connection: Connection, students: list[str], timestamps: Mapping[str, datetime | None]
    ) -> dict[str, dict[str, Any]]:
        """The row of each student's notebook, made with all that hangs on it where it is not there."""
        known = set(connection.scalars(select(_STUDENT.c.id).where(_STUDENT.c.id.in_(students))))
        _insert(connection, _STUDENT, [{"id": each} for each in students if each not in known])
        query = select(
            _SUBMISSION.c.student_id, _SUBMISSION.c.id, _SUBMISSION.c.timestamp, _SUBMISSION.c.extension
        )
        query = query.where(
            _SUBMISSION.c.assignment_id == self._assignment_id, _SUBMISSION.c.student_id.in_(students)
        )
        submissions = {row.student_id: row for row in connection.execute(query)}
        new = [
            {
                "id": api.new_uuid(),
                "assignment_id": self._assignment_id,
                "student_id": student,
                "timestamp": timestamps.get(student),
            }
            for student in students
            if student not in submissions
        ]
        _insert(connection, _SUBMISSION, new)
        _update(
            connection,
            _SUBMISSION,
            [
                {"key": row.id, "timestamp": timestamps[student]}
                for student, row in submissions.items()
                if timestamps.get(student) is not None
            ],
        )
        submissions = {row.student_id: row for row in connection.execute(query)}
        ids = [row.id for row in submissions.values()]
        in_these = _NOTEBOOK.c.assignment_id.in_(ids)
        there = {
            (row.assignment_id, row.notebook_id)
            for row in connection.execute(
                select(_NOTEBOOK.c.assignment_id, _NOTEBOOK.c.notebook_id).where(in_these)
            )
        }
        _insert(
            connection,
            _NOTEBOOK,
            [
                {"id": api.new_uuid(), "notebook_id": notebook, "assignment_id": submission, "flagged": False}
                for submission in ids
                for notebook in self._ids
                if (submission, notebook) not in there
            ],
        )
        rows = connection.execute(
            select(_NOTEBOOK.c.id, _NOTEBOOK.c.assignment_id, _NOTEBOOK.c.notebook_id).where(in_these)
        ).all()
        self._add_missing_rows(connection, {row.id: row.notebook_id for row in rows})
        by_submission = {row.assignment_id: row.id for row in rows if row.notebook_id == self._notebook_id}
        return {
            student: {
                "notebook_id": by_submission[row.id],
                "timestamp": row.timestamp,
                "extension": row.extension,
            }
            for student, row in submissions.items()
        }

    def _add_missing_rows(self, connection: Connection, notebooks: Mapping[str, str]) -> None:
        """A grade for each graded cell and a comment for each answer, as nbgrader makes them at once."""
        for table, which, defaults in (
            (_GRADE, "graded", {"needs_manual_grade": True}),
            (_COMMENT, "commented", {}),
        ):
            query = select(table.c.notebook_id, table.c.cell_id).where(table.c.notebook_id.in_(notebooks))
            there = {(row.notebook_id, row.cell_id) for row in connection.execute(query)}
            _insert(
                connection,
                table,
                [
                    {"id": api.new_uuid(), "notebook_id": notebook, "cell_id": cell_id, **defaults}
                    for notebook, source in notebooks.items()
                    for cell_id in getattr(self._ids[source], which)
                    if (notebook, cell_id) not in there
                ],
            )

    def _write_grades(
        self, connection: Connection, entries: Sequence[Entry], notebooks: Mapping[str, str]
    ) -> None:
        rows = self._rows(connection, _GRADE, notebooks.values())
        changes = []
        for entry in entries:
            scores = auto_scores(self.release, entry)
            for row in rows[notebooks[entry.grade.student]]:
                score = scores[self._names[row.cell_id]]
                by_hand = row.manual_score is not None or score is None
                changes.append({"key": row.id, "auto_score": score, "needs_manual_grade": by_hand})
        _update(connection, _GRADE, changes)

    def _write_comments(
        self, connection: Connection, entries: Sequence[Entry], notebooks: Mapping[str, str]
    ) -> None:
        rows = self._rows(connection, _COMMENT, notebooks.values())
        changes = []
        for entry in entries:
            comments = auto_comments(self.release, entry)
            changes += [
                {"key": row.id, "auto_comment": comments[self._names[row.cell_id]]}
                for row in rows[notebooks[entry.grade.student]]
            ]
        _update(connection, _COMMENT, changes)

    def _facts(
        self, connection: Connection, entries: Sequence[Entry], notebooks: Mapping[str, str]
    ) -> list[tuple[dict[str, float], dict[str, str | None]]]:
        grades = self._rows(connection, _GRADE, notebooks.values())
        comments = self._rows(connection, _COMMENT, notebooks.values())
        return [
            (
                {self._names[row.cell_id]: _score(row) for row in grades[notebook]},
                {
                    self._names[row.cell_id]: row.manual_comment or row.auto_comment
                    for row in comments[notebook]
                },
            )
            for notebook in (notebooks[entry.grade.student] for entry in entries)
        ]

    def _standing(
        self,
        connection: Connection,
        entry: Entry,
        row: Mapping[str, Any],
        facts: tuple[dict[str, float], dict[str, str | None]],
    ) -> Standing:
        scores, comments = facts
        penalty = self._penalty(entry.grade.student, sum(scores.values()), self._seconds_late(row))
        _update(connection, _NOTEBOOK, [{"key": row["notebook_id"], "late_submission_penalty": penalty}])
        most = sum(cell.points or 0.0 for cell in self.release.cells.values())
        return Standing(scores, comments, penalty or 0.0, most)

    def _seconds_late(self, row: Mapping[str, Any]) -> float:
        if row["timestamp"] is None or self._duedate is None:
            return 0.0
        due = self._duedate + row["extension"] if row["extension"] else self._duedate
        return max(0.0, float((row["timestamp"] - due).total_seconds()))

    def _penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        """What the course's own plugin for late work takes off, within what there is."""
        if not seconds_late:
            return None
        penalty = self._penalties.plugin_inst.late_submission_penalty(student, score, seconds_late)
        return None if penalty is None else min(max(float(penalty), 0.0), score)

    def _rows(self, connection: Connection, table: Table, notebooks: Iterable[str]) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = defaultdict(list)
        for row in connection.execute(select(table).where(table.c.notebook_id.in_(list(notebooks)))):
            found[row.notebook_id].append(row)
        return found


class _Ids:
    """Which cells of a notebook have a grade, and which a comment. One that is both has two ids."""

    def __init__(self, notebook: Any) -> None:
        tasks = [each.id for each in notebook.task_cells]
        self.graded = [each.id for each in notebook.grade_cells] + tasks
        self.commented = [each.id for each in notebook.solution_cells] + tasks


def _released_cells(notebook: Any) -> dict[str, ReleasedCell]:
    graded = {each.name: each for each in notebook.grade_cells}
    solutions = {each.name for each in notebook.solution_cells}
    tasks = {each.name: each for each in notebook.task_cells}
    scored = graded | tasks
    return {
        source.name: ReleasedCell(
            name=source.name,
            kind=source.cell_type,
            graded=source.name in graded,
            solution=source.name in solutions,
            task=source.name in tasks,
            locked=source.locked,
            points=scored[source.name].max_score if source.name in scored else None,
            source=source.source or "",
            checksum=source.checksum,
        )
        for source in notebook.source_cells
    }


def _score(row: Any) -> float:
    base = row.manual_score if row.manual_score is not None else row.auto_score
    return 0.0 if base is None else float(base + (row.extra_credit or 0.0))


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _update(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Each row has the `key` of what it changes, and the same columns."""
    if rows:
        connection.execute(update(table).where(table.c.id == bindparam("key")), rows)
