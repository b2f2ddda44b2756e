"""Grade a class: find submissions, grade them in worker processes, lose none of the grades.

Each submission goes through four steps, and each step is recorded, so that a run that was killed goes on:
graded (in a worker), in the journal (durable), in nbgrader's gradebook (in batches), written up (autograded
notebook and feedback, in a worker).
"""

from __future__ import annotations

import functools
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy.exc
from traitlets.config import Config

from posenc_course.grading.course import Course
from posenc_course.grading.faults import CourseError, is_disk_full, not_installed, told
from posenc_course.grading.handed_back.write_up import write_up
from posenc_course.grading.handed_in.misplaced import misplaced, others_beside
from posenc_course.grading.handed_in.other_files import handed_in_at
from posenc_course.grading.handed_in.submission import read_file
from posenc_course.grading.limits import Limits
from posenc_course.grading.one import grade_file, require_exercises
from posenc_course.grading.processes.workers import Task, Workers
from posenc_course.grading.recorded.gradebook import MAX_STUDENT_NAME, GradebookWriter
from posenc_course.grading.recorded.journal import Entry, Journal
from posenc_course.grading.recorded.scores import Standing
from posenc_course.grading.sandbox.walls import NoWalls
from posenc_course.grading.verdicts import Verdict
from posenc_course.translation import _

BATCH = 25
"""Grades written to the gradebook in one transaction."""
SPACE_AT_START = 64 * 2**20
SPACE_TO_GO_ON = 8 * 2**20
"""Bytes that must be free on the disk: what one batch may need."""


@dataclass(frozen=True)
class Options:
    """What the instructor chose."""

    jobs: int = 0
    """Worker processes; 0 for one a core."""
    students: tuple[str, ...] = ()
    """Only these; all if empty."""
    again: bool = False
    """Grade what was graded before, too."""
    feedback: bool = True
    limits: Limits = field(default_factory=Limits)
    unsafe: bool = False
    """Run learners' code without walls."""
    scheduler: str = ""
    """Address of a Dask scheduler whose workers grade; empty for this machine."""


@dataclass(frozen=True)
class Remark:
    """A sentence about what one student handed in."""

    student: str
    sentence: str
    gravity: int
    """0 for what may change a mark: look at it. More for what was told of the notebook, the gravest first."""


@dataclass
class Summary:
    """How a grading run came out."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    """Of all that was graded now."""
    points: list[float] = field(default_factory=list)
    max_points: float = 0.0
    graded_before: int = 0
    not_graded: dict[str, str] = field(default_factory=dict)
    """From student to the reason: no grade was recorded."""
    remarks: list[Remark] = field(default_factory=list)
    """What the instructor should know."""
    tampered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """From student to the answers that were graded as tampered with now."""
    misplaced: list[str] = field(default_factory=list)
    """Sentences about work that lies where it is not looked for, and was not graded."""

    @property
    def complete(self) -> bool:
        """Whether all that was handed in has a grade."""
        graded = self.verdicts.total() + self.graded_before
        return graded > 0 and not self.not_graded and not self.misplaced


Progress = Callable[[Summary, int, int], None]
"""Told how it goes, how many submissions are finished, and of how many."""


def grade_class(
    course: Course,
    config: Config,
    assignment: str,
    options: Options,
    progress: Progress = lambda _summary, _done, _total: None,
) -> Summary:
    """Grade every submission of an assignment that was not graded as it is now.

    Raises:
        CourseError: grading cannot start or go on. What was graded until then is kept.
    """
    require_exercises(assignment)
    with told(course.state, course.db_url):
        course.require_space(SPACE_AT_START)
        with (
            course.lock(),
            Journal(course.state) as journal,
            GradebookWriter(course.db_url, course.course_id, assignment, config) as marks,
        ):
            course.require_secret()
            return GradingRun(course, assignment, options, journal, marks, progress).all()


class GradingRun:
    """One grading run: what it takes from the course, and where it records what comes back."""

    def __init__(
        self,
        course: Course,
        assignment: str,
        options: Options,
        journal: Journal,
        marks: GradebookWriter,
        progress: Progress,
    ) -> None:
        self._course, self._assignment, self._options = course, assignment, options
        self._journal, self._marks, self._progress = journal, marks, progress
        self._summary = Summary()
        self._batch: list[str] = []
        self._open: set[str] = set()
        self._total = 0

    def all(self) -> Summary:
        self._look_around()
        students = self._students()
        to_grade = self._to_grade(students)
        unfinished = set(self._journal.unfinished(self._assignment, self._options.feedback))
        resumed = sorted(unfinished.intersection(students).difference(to_grade))
        self._open = {*to_grade, *resumed}
        self._total = len(self._open)
        self._summary.graded_before = len(students) - len(to_grade)
        self._progress(self._summary, 0, self._total)
        if not self._total:
            return self._summary
        with _workers(self._options) as self._workers:
            for student in resumed:
                self._add_to_batch(student)
            self._work_off(self._grading(student) for student in to_grade)
            self._write_batch()
            self._work_off(())
        return self._summary

    def _look_around(self) -> None:
        """Find what lies elsewhere; of a student whose work is in its place it is worth a remark only."""
        course, assignment = self._course, self._assignment
        for found in misplaced(course.submitted, assignment, self._options.students):
            if found.student and os.path.lexists(course.submitted_file(found.student, assignment)):
                self._remark(found.student, found.sentence)
            else:
                self._summary.misplaced.append(found.sentence)

    def _remark(self, student: str, *sentences: str, gravity: int = 0) -> None:
        self._summary.remarks += [
            Remark(student, each, gravity + place) for place, each in enumerate(sentences)
        ]

    def _students(self) -> list[str]:
        everyone = self._course.students(self._assignment)
        wanted = self._options.students
        if missing := set(wanted).difference(everyone):
            nothing = _("nothing was handed in for {assignment} by {students}: {folder} has no such folder")
            told = nothing.format(
                assignment=self._assignment,
                students=", ".join(sorted(missing)),
                folder=self._course.submitted,
            )
            raise CourseError(_(". ").join([told, *self._summary.misplaced[:3]]))
        fit = []
        for student in wanted or everyone:
            if problem := _unfit(student) or _closed(self._course.submitted_file(student, self._assignment)):
                name = os.fsencode(student).decode(errors="backslashreplace")
                self._summary.not_graded[name] = problem
            else:
                fit.append(student)
        return fit

    def _to_grade(self, students: list[str]) -> list[str]:
        if self._options.again:
            return students
        before = self._journal.fingerprints(self._assignment)
        return [each for each in students if each not in before or before[each] != self._fingerprint(each)]

    def _fingerprint(self, student: str) -> str:
        return read_file(self._course.submitted_file(student, self._assignment)).fingerprint

    def _grading(self, student: str) -> Task:
        path = self._course.submitted_file(student, self._assignment)
        seed = self._course.seed(student, self._assignment)
        arguments = (path, student, self._assignment, seed, self._options.limits, self._options.unsafe)
        return Task(student, grade_file, lambda: arguments)

    def _work_off(self, tasks: Iterable[Task]) -> None:
        for task, result in self._workers.run(tasks):
            try:
                if task.function is grade_file:
                    self._journal_grade(result.result())
                else:
                    self._mark_written(task.student, result.result())
            except ImportError as error:
                raise CourseError(not_installed(error)) from error
            except (CourseError, sqlite3.Error, sqlalchemy.exc.SQLAlchemyError):
                raise
            except NoWalls as error:
                unsafe = _("{problem} (or, if you accept the loss of protection, add --unsafe)")
                raise CourseError(unsafe.format(problem=error)) from error
            except Exception as error:
                if is_disk_full(error):
                    raise
                self._summary.not_graded[task.student] = f"{type(error).__name__}: {error}"
                self._finish(task.student)

    def _journal_grade(self, entry: Entry) -> None:
        self._course.require_space(SPACE_TO_GO_ON)
        self._journal.add(entry)
        grade = entry.grade
        self._summary.verdicts[grade.verdict] += 1
        self._summary.points.append(grade.points)
        self._summary.max_points = grade.max_points
        if grade.tampered:
            self._summary.tampered[grade.student] = grade.tampered
        # Where no cell could be read, the notes say why nothing was judged.
        self._remark(grade.student, *grade.notes, gravity=1 if entry.cells else 0)
        if entry.cells and (others := self._others(grade.student)):
            told = _("next to {name} there is {others}, which was not graded")
            name = f"{self._assignment}.ipynb"
            self._remark(grade.student, told.format(name=name, others=", ".join(others)))
        self._finish(grade.student)
        self._add_to_batch(grade.student)

    def _add_to_batch(self, student: str) -> None:
        self._batch.append(student)
        if len(self._batch) >= BATCH:
            self._write_batch()

    def _write_batch(self) -> None:
        """Put what was graded since the last batch into the gradebook, and have it written up."""
        if not self._batch:
            return
        entries = [self._entry(student) for student in self._batch]
        timestamps = {student: self._timestamp(student) for student in self._batch}
        standings = self._marks.write(entries, timestamps)
        self._journal.mark_in_gradebook(self._assignment, self._batch)
        for student, standing in zip(self._batch, standings, strict=True):
            self._workers.add(Task(student, write_up, functools.partial(self._to_write, student, standing)))
        self._batch = []

    def _to_write(self, student: str, standing: Standing) -> tuple[Any, ...]:
        """What `write_up` needs, read when its turn comes: a class's notebooks are too much to hold."""
        entry = self._entry(student)
        return self._course, self._marks.release, entry, standing, self._options.feedback

    def _entry(self, student: str) -> Entry:
        entry = self._journal.entry(self._assignment, student)
        if entry is None:
            lost = _("the journal lost its entry of {student}; run the command again")
            raise CourseError(lost.format(student=student))
        return entry

    def _timestamp(self, student: str) -> datetime | None:
        timestamp, problem = handed_in_at(self._course.submitted / student / self._assignment)
        if problem:
            self._remark(student, problem)
        return timestamp

    def _others(self, student: str) -> list[str]:
        return others_beside(self._course.submitted_file(student, self._assignment).parent, self._assignment)

    def _mark_written(self, student: str, remarks: tuple[str, ...]) -> None:
        self._journal.mark_written_up(self._assignment, student, self._options.feedback)
        self._remark(student, *remarks, gravity=1)
        self._finish(student)

    def _finish(self, student: str) -> None:
        """Count a student once: when graded, or when written up if that is all there was to do."""
        self._open.discard(student)
        self._progress(self._summary, self._total - len(self._open), self._total)


def _workers(options: Options) -> Workers:
    if not options.scheduler:
        return Workers(options.jobs)
    from posenc_course.grading.cluster import Cluster

    return Cluster(options.scheduler, options.jobs)


def _closed(path: Path) -> str | None:
    """Why you may not read what was handed in; None where you may. It is no fault of the learner's."""
    for each in (path.parent.parent, path.parent, path):
        try:
            readable = each.is_symlink() or not each.exists() or os.access(each, os.R_OK)
        except PermissionError:
            readable = False
        if not readable:
            return _("you may not read {path}. Have its rights changed, and run the command again").format(
                path=each
            )
    return None


def _unfit(student: str) -> str | None:
    """Why the gradebook cannot hold this name; None where it can."""
    try:
        student.encode()
    except UnicodeEncodeError:
        return _("the name of the folder is not valid UTF-8; rename the folder")
    if len(student) > MAX_STUDENT_NAME:
        long = _("the name has {count} characters; nbgrader's gradebook holds {most}")
        return long.format(count=len(student), most=MAX_STUDENT_NAME)
    return None
