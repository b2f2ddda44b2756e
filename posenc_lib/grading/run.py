"""Grade a class: find submissions, grade them in worker processes, lose none of the grades.

Each submission goes through four steps, and each step is recorded, so that a run that was killed goes on:
graded (in a worker), in the journal (durable), in nbgrader's gradebook (in batches), written up (autograded
notebook and feedback, in a worker).
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import multiprocessing.util
import os
import signal
import sqlite3
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from datetime import datetime
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy.exc
from traitlets.config import Config

from posenc_lib.checking.messages import _
from posenc_lib.exercises import Exercise, all_exercises
from posenc_lib.grading import interrupts
from posenc_lib.grading.course import Course, CourseError
from posenc_lib.grading.faults import is_disk_full, told
from posenc_lib.grading.handed_back.write_up import Standing, write_up
from posenc_lib.grading.handed_in.misplaced import misplaced, others_beside
from posenc_lib.grading.handed_in.other_files import handed_in_at
from posenc_lib.grading.handed_in.submission import Unreadable, fingerprint, read_aside
from posenc_lib.grading.recorded.gradebook import MAX_STUDENT_NAME, Marks
from posenc_lib.grading.recorded.journal import Entry, Journal
from posenc_lib.grading.sandbox.walls import NoWalls
from posenc_lib.grading.verdicts import ExerciseGrade, Limits, SubmissionGrade, Verdict

if TYPE_CHECKING:
    from posenc_lib.grading.judging.grader import Grader

BATCH = 25
"""Grades written to the gradebook in one transaction."""
ENDING_SECONDS = 2
"""For a worker that was told to end."""
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
    remarks: dict[str, list[str]] = field(default_factory=dict)
    """From student to what the instructor should know."""
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


def grade_file(
    path: str, student: str, assignment: str, seed: int, limits: Mapping[str, Any], unsafe: bool
) -> dict[str, Any]:
    """Grade one submitted file: plain data in, an `Entry` as plain data out, so that it may run anywhere."""
    state = fingerprint(Path(path))
    try:
        submission = read_aside(Path(path), assignment)
    except Unreadable as error:
        grade = malformed(student, assignment, seed, state, error.reason)
        return Entry(grade, (), state).to_json()
    grade = _grader(unsafe).grade(
        submission, student=student, assignment=assignment, seed=seed, limits=Limits(**limits)
    )
    # The file may have changed since the fingerprint was taken; what was graded counts.
    return Entry(grade, submission.cells, submission.digest).to_json()


def malformed(student: str, assignment: str, seed: int, digest: str, reason: str) -> SubmissionGrade:
    """The grade of a file that cannot be read: no points, and the reason for the learner."""
    text = _("There was no answer to judge; the notes at the top say why.")
    exercises = tuple(
        ExerciseGrade(each.id, Verdict.MALFORMED, 0.0, float(each.points), text)
        for each in exercises_of(assignment)
    )
    return SubmissionGrade(student, assignment, Verdict.MALFORMED, seed, digest, exercises, notes=(reason,))


def exercises_of(assignment: str) -> tuple[Exercise, ...]:
    """The exercises of an assignment.

    Raises:
        CourseError: there are none; the message lists the assignments that have some.
    """
    found = tuple(each for each in all_exercises() if each.chapter == assignment)
    if not found:
        known = sorted({each.chapter for each in all_exercises()})
        raise CourseError(
            f"there are no exercises for an assignment {assignment!r}; there are for {', '.join(known)}"
        )
    return found


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
    exercises_of(assignment)
    with told(course):
        course.require_space(SPACE_AT_START)
        with (
            course.lock(),
            Journal(course.state) as journal,
            Marks(course, assignment, config) as marks,
        ):
            course.require_secret()
            return _Run(course, assignment, options, journal, marks, progress).all()


class _Run:
    """One grading run: what it takes from the course, and where it records what comes back."""

    def __init__(
        self,
        course: Course,
        assignment: str,
        options: Options,
        journal: Journal,
        marks: Marks,
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

    def _remark(self, student: str, *sentences: str) -> None:
        if sentences:
            self._summary.remarks.setdefault(student, []).extend(sentences)

    def _students(self) -> list[str]:
        everyone = self._course.students(self._assignment)
        wanted = self._options.students
        if missing := set(wanted).difference(everyone):
            elsewhere = "".join(f". {each}" for each in self._summary.misplaced[:3])
            raise CourseError(
                f"nothing was handed in for {self._assignment} by {', '.join(sorted(missing))}: "
                f"{self._course.submitted} has no such folder{elsewhere}"
            )
        fit = []
        for student in wanted or everyone:
            if problem := _unfit(student):
                name = os.fsencode(student).decode(errors="backslashreplace")
                self._summary.not_graded[name] = problem
            else:
                fit.append(student)
        return fit

    def _to_grade(self, students: list[str]) -> list[str]:
        if self._options.again:
            return students
        before = self._journal.fingerprints(self._assignment)
        return [
            student
            for student in students
            if student not in before
            or before[student] != fingerprint(self._course.submitted_file(student, self._assignment))
        ]

    def _grading(self, student: str) -> Task:
        path = self._course.submitted_file(student, self._assignment)
        seed = self._course.seed(student, self._assignment)
        limits = asdict(self._options.limits)
        arguments = (str(path), student, self._assignment, seed, limits, self._options.unsafe)
        return Task(student, grade_file, lambda: arguments)

    def _work_off(self, tasks: Iterable[Task]) -> None:
        for task, result in self._workers.run(tasks):
            try:
                if task.function is grade_file:
                    self._journal_grade(Entry.from_json(result.result()))
                else:
                    self._mark_written(task.student, result.result())
            except (CourseError, sqlite3.Error, sqlalchemy.exc.SQLAlchemyError):
                raise
            except NoWalls as error:
                raise CourseError(f"{error} (or, if you accept what is lost then, add --unsafe)") from error
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
        self._remark(grade.student, *grade.notes)
        if entry.cells and (others := self._others(grade.student)):
            self._remark(
                grade.student,
                f"beside {self._assignment}.ipynb lies {', '.join(others)}, which was not graded",
            )
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
            raise CourseError(f"the journal lost its entry of {student}; run the command again")
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
        self._remark(student, *remarks)
        self._finish(student)

    def _finish(self, student: str) -> None:
        """Count a student once: when graded, or when written up if that is all there was to do."""
        self._open.discard(student)
        self._progress(self._summary, self._total - len(self._open), self._total)


@dataclass(frozen=True)
class Task:
    """One call in a worker process."""

    student: str
    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    """Asked for when the task starts."""


class Workers:
    """Worker processes that are started anew where one ends by itself. A context manager."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs or len(os.sched_getaffinity(0))
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([__name__, "posenc_lib.grading.judging.grader"])
        self._added: deque[Task] = deque()
        self._suspects: deque[Task] = deque()
        self._running: dict[Future[Any], Task] = {}
        self._alone: Task | None = None

    def __enter__(self) -> Workers:
        # Every worker is busy by itself; threads of numerical libraries would only compete.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        resource_tracker.ensure_running()  # Of its own accord it sees no Ctrl-C.
        with interrupts.kept_from_children():
            forkserver.ensure_running()
        self._pool = self._start()
        return self

    def __exit__(self, kind: object, *_exception: object) -> None:
        if kind is not None:
            if kind is interrupts.Interrupted:
                interrupts.ignore()
            workers = multiprocessing.active_children()
            for process in workers:
                process.terminate()
            for process in workers:
                process.join(ENDING_SECONDS)
            _end_forkserver()
        self._pool.shutdown(cancel_futures=True)

    def add(self, task: Task) -> None:
        """Have this done before the tasks that `run` was given."""
        self._added.append(task)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Future[Any]]]:
        """Each task with its result, in the order in which they end; also of tasks added meanwhile."""
        waiting = iter(tasks)
        while True:
            self._fill(waiting)
            if not self._running:
                return
            done = wait(self._running, return_when=FIRST_COMPLETED).done
            died = any(_died(future) for future in done)
            if died:
                done = wait(self._running).done  # one dead worker ends them all
            results = [(self._running.pop(future), future) for future in done]
            if died:
                self._suspects.extend(t for t, future in results if _died(future) and t is not self._alone)
                self._restart()
            yield from (
                (task, future) for task, future in results if not _died(future) or task is self._alone
            )

    def _fill(self, waiting: Iterator[Task]) -> None:
        if self._running and self._suspects:
            return
        if self._suspects:
            # One at a time, so that it is known whose worker died.
            self._alone = self._suspects.popleft()
            self._submit(self._alone)
            return
        self._alone = None
        while self._has_room() and not self._suspects:
            task = self._added.popleft() if self._added else next(waiting, None)
            if task is None:
                return
            self._submit(task)

    def _has_room(self) -> bool:
        return len(self._running) < 2 * self._jobs

    def _submit(self, task: Task) -> None:
        try:
            future = self._pool.submit(task.function, *task.arguments())
        except BrokenProcessPool:
            if self._running:
                self._suspects.append(task)  # `run` is about to see that they all ended
                return
            self._restart()
            future = self._pool.submit(task.function, *task.arguments())
        self._running[future] = task

    def _restart(self) -> None:
        self._pool.shutdown()
        self._pool = self._start()

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._jobs, mp_context=self._context, initializer=_prepare_worker)


def _workers(options: Options) -> Workers:
    if not options.scheduler:
        return Workers(options.jobs)
    from posenc_lib.grading.processes.cluster import Cluster

    return Cluster(options.scheduler, options.jobs)


def _died(future: Future[Any]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _end_forkserver() -> None:
    """End it at once: it may still be importing, and would then start workers for a run that is over."""
    pid = getattr(forkserver._forkserver, "_forkserver_pid", None)
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _prepare_worker() -> None:
    # Ctrl-C is for the parent, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed cannot end its workers; they would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@functools.cache
def _grader(unsafe: bool) -> Grader:
    """This process's own grader, with its warm parent."""
    from posenc_lib.grading.judging.grader import Grader

    grader = Grader(unsafe=unsafe)
    grader.__enter__()
    # Run at the end of a worker process too, where `atexit` is not.
    multiprocessing.util.Finalize(None, grader.__exit__, args=(None, None, None), exitpriority=10)
    return grader


def _unfit(student: str) -> str | None:
    """Why the gradebook cannot hold this name; None where it can."""
    try:
        student.encode()
    except UnicodeEncodeError:
        return "the name of the folder is no valid UTF-8; rename the folder"
    if len(student) > MAX_STUDENT_NAME:
        return f"the name has {len(student)} characters; nbgrader's gradebook holds {MAX_STUDENT_NAME}"
    return None
