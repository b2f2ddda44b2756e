"""One submission: its file in, its entry for the journal out."""

from __future__ import annotations

import functools
import multiprocessing.util
from pathlib import Path
from typing import TYPE_CHECKING

from posenc_course.exercises import assignments, exercises_of
from posenc_course.grading.faults import CourseError
from posenc_course.grading.handed_in.submission import HandedIn, Unreadable, parse_aside, read_file
from posenc_course.grading.limits import Limits
from posenc_course.grading.recorded.journal import Entry
from posenc_course.grading.verdicts import ExerciseGrade, SubmissionGrade, Verdict
from posenc_course.translation import _

if TYPE_CHECKING:
    from posenc_course.grading.judging.grader import Grader


def grade_file(path: Path, student: str, assignment: str, seed: int, limits: Limits, unsafe: bool) -> Entry:
    """Grade one submitted file: whatever it holds, there is an entry."""
    return grade_found(read_file(path), student, assignment, seed, limits, unsafe)


def grade_found(
    found: HandedIn, student: str, assignment: str, seed: int, limits: Limits, unsafe: bool
) -> Entry:
    """`grade_file` of what was read already."""
    try:
        submission = parse_aside(found, assignment)
    except Unreadable as error:
        return unjudged(Verdict.MALFORMED, student, assignment, seed, found.fingerprint, error.reason)
    grader = _grader(unsafe)
    grade = grader.grade(submission, student=student, assignment=assignment, seed=seed, limits=limits)
    return Entry(grade, submission.cells, found.fingerprint)


def crashed(student: str, assignment: str, seed: int, fingerprint: str) -> Entry:
    """The entry of a submission that ended every process that was to grade it."""
    reason = _(
        "The grader itself stopped every time it graded this notebook. "
        "It earns nothing until your instructor has looked at it."
    )
    return unjudged(Verdict.CRASHED, student, assignment, seed, fingerprint, reason)


def unjudged(
    verdict: Verdict, student: str, assignment: str, seed: int, fingerprint: str, *reasons: str
) -> Entry:
    """The entry of what could not be judged: no points, and the reasons for the learner."""
    text = _("There was no answer to judge; the notes at the top say why.")
    require_exercises(assignment)
    exercises = tuple(
        ExerciseGrade(each.id, verdict, 0.0, float(each.points), text) for each in exercises_of(assignment)
    )
    grade = SubmissionGrade(student, assignment, verdict, seed, fingerprint, exercises, notes=reasons)
    return Entry(grade, (), fingerprint)


def require_exercises(assignment: str) -> None:
    """CourseError where an assignment has none; the message lists those that have some."""
    if not exercises_of(assignment):
        told = _("there are no exercises in the assignment {assignment!r}; the assignments are {known}")
        raise CourseError(told.format(assignment=assignment, known=", ".join(assignments())))


@functools.cache
def _grader(unsafe: bool) -> Grader:
    """This process's own grader, with its warm parent."""
    from posenc_course.grading.judging.grader import Grader

    grader = Grader(unsafe=unsafe)
    grader.__enter__()
    # Run at the end of a worker process too, where `atexit` is not.
    multiprocessing.util.Finalize(None, grader.__exit__, args=(None, None, None), exitpriority=10)
    return grader
