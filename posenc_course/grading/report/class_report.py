"""How a class did: marks, pass rates, which named mistakes were made, and what to look at.

Nothing is run again. Verdicts and mistakes come from the journal, marks from nbgrader's gradebook, so that
manual grades, extra credit and late penalties count.
"""

from __future__ import annotations

import math
import os
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nbgrader.api import Gradebook

from posenc_course.exercises import exercises_of
from posenc_course.grading.course import Course
from posenc_course.grading.faults import CourseError, told
from posenc_course.grading.one import require_exercises
from posenc_course.grading.recorded.journal import Journal
from posenc_course.grading.report import likeness
from posenc_course.grading.report.likeness import Alike, Outsized
from posenc_course.grading.report.marks import Line, Marks, read_marks
from posenc_course.grading.terminal import few_of
from posenc_course.grading.untrusted import visible
from posenc_course.grading.verdicts import (
    ELSEWHERE,
    NO_SUBMISSION,
    NOT_GRADED,
    ExerciseGrade,
    SubmissionGrade,
    Verdict,
)
from posenc_course.translation import _

NAMED = 5
"""Students that a message names; the rest is counted."""


@dataclass(frozen=True)
class ExerciseLine:
    """How one exercise came out in the class, as the judge saw it."""

    function: str
    verdicts: Counter[Verdict]
    points: float
    """Mean, without manual grades."""
    max_points: float
    unnamed: int
    """Wrong or partly right answers whose mistake has no name."""

    @property
    def submissions(self) -> int:
        return sum(self.verdicts.values())

    @property
    def pass_rate(self) -> float:
        return self.verdicts[Verdict.RIGHT] / self.submissions


@dataclass(frozen=True)
class MistakeLine:
    """One named mistake, and how many made it."""

    function: str
    name: str
    message: str
    """What the learners were told; empty where the exercise knows the mistake no more."""
    count: int
    share: float
    """Of the graded submissions."""


@dataclass(frozen=True)
class ClassReport(Marks):
    """All that is known of a class and one assignment."""

    exercises: tuple[ExerciseLine, ...]
    mistakes: tuple[MistakeLine, ...]
    """The most frequent first."""
    alike: tuple[Alike, ...] = ()
    outsized: tuple[Outsized, ...] = ()


def class_report(course: Course, assignment: str) -> ClassReport:
    """The report of one assignment.

    Raises:
        CourseError: nothing of it was graded, or the gradebook does not hold the latest grades.
    """
    with told(course.state, course.db_url):
        return _class_report(course, assignment)


def _class_report(course: Course, assignment: str) -> ClassReport:
    grades = _journal(course, assignment)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        marks = read_marks(gradebook, assignment)
    columns, students = marks.columns, {line.student: line for line in marks.lines}
    _require_current(assignment, grades, columns, students)
    everyone = {name: Line(name, NO_SUBMISSION) for name in students}
    # A folder's name need not be valid text; such a submission is never graded.
    handed_in = [os.fsencode(n).decode(errors="backslashreplace") for n in course.students(assignment)]
    everyone |= {name: Line(name, NOT_GRADED) for name in handed_in}
    for name, line in students.items():
        verdict = ELSEWHERE if line.marks is not None else everyone[name].verdict
        if name in grades:
            line = replace(line, verdict=str(grades[name].verdict), tampered=grades[name].tampered)
            everyone[name] = line
        else:
            everyone[name] = replace(line, verdict=verdict)
    likenesses, sizes = _likenesses(course, assignment)
    exercises = [each for grade in grades.values() for each in grade.exercises]
    return ClassReport(
        assignment,
        columns,
        tuple(everyone[name] for name in sorted(everyone)),
        tuple(_exercise_lines(exercises)),
        tuple(_mistake_lines(exercises, len(grades))),
        tuple(likenesses),
        tuple(sizes),
    )


# --- What is read ----------------------------------------------------------------------------


def _journal(course: Course, assignment: str) -> dict[str, SubmissionGrade]:
    grades: dict[str, SubmissionGrade] = {}
    if (course.state / "journal.db").exists():
        with Journal(course.state) as journal:
            grades = {grade.student: grade for grade in journal.grades(assignment)}
    if not grades:
        require_exercises(assignment)
        nothing = _("nothing handed in for {assignment!r} has been graded; run this first: {command}")
        raise CourseError(nothing.format(assignment=assignment, command=f"posenc grade {assignment}"))
    return grades


def _likenesses(course: Course, assignment: str) -> tuple[list[Alike], list[Outsized]]:
    """Answers that are alike beyond chance, and answers of improbable size."""
    exercises = exercises_of(assignment)
    own = [folder / assignment / f"{assignment}.ipynb" for folder in (course.source, course.released)]
    with Journal(course.state) as journal:
        everyone = [
            likeness.answers(student, cells, exercises) for student, cells in journal.cells(assignment)
        ]
    known = likeness.natural(exercises, *own)
    return likeness.alike(everyone, known), likeness.outsized(everyone, likeness.model_sizes(exercises, *own))


def _require_current(
    assignment: str,
    grades: Mapping[str, SubmissionGrade],
    columns: Mapping[str, float],
    students: Mapping[str, Line],
) -> None:
    """CourseError where the gradebook does not hold what the journal does, after a run that was ended."""
    behind = [
        name
        for name, grade in grades.items()
        if name not in students or _differs(grade, students[name], columns)
    ]
    if behind:
        raise CourseError(
            _(
                "the gradebook does not have the latest grade of {students}: a grading run was stopped or is "
                "still at work, or the assignment was released again. Run: posenc grade {assignment} (if "
                "that changes nothing, add --again)"
            ).format(students=some(behind), assignment=assignment)
        )


def _differs(grade: SubmissionGrade, line: Line, columns: Mapping[str, float]) -> bool:
    for each in grade.exercises:
        function = each.exercise_id.partition(".")[2]
        if function not in columns or not each.max_points:
            continue
        expected = min(each.points / each.max_points, 1.0) * columns[function]
        if not math.isclose(line.judged.get(function, math.nan), expected, abs_tol=1e-6):
            return True
    return False


# --- What is counted -------------------------------------------------------------------------


def _exercise_lines(grades: Sequence[ExerciseGrade]) -> Iterator[ExerciseLine]:
    by_exercise: dict[str, list[ExerciseGrade]] = {}
    for grade in grades:
        by_exercise.setdefault(grade.exercise_id, []).append(grade)
    for exercise_id, of_one in by_exercise.items():
        judged_wrong = [each for each in of_one if each.verdict in (Verdict.WRONG, Verdict.PARTLY)]
        yield ExerciseLine(
            function=exercise_id.partition(".")[2],
            verdicts=Counter(each.verdict for each in of_one),
            points=statistics.fmean(each.points for each in of_one),
            max_points=of_one[-1].max_points,
            unnamed=sum(each.mistake is None for each in judged_wrong),
        )


def _mistake_lines(grades: Iterable[ExerciseGrade], submissions: int) -> list[MistakeLine]:
    counts = Counter((each.exercise_id, each.mistake) for each in grades if each.mistake)
    return [
        MistakeLine(
            function=exercise_id.partition(".")[2],
            name=str(name),
            message=_message(exercise_id, str(name)),
            count=count,
            share=count / submissions,
        )
        for (exercise_id, name), count in counts.most_common()
    ]


def _message(exercise_id: str, name: str) -> str:
    own = exercises_of(exercise_id.partition(".")[0])
    known = next((each for each in own if each.id == exercise_id), None)
    messages = {each.name: each.message for each in known.mistakes} if known else {}
    return _(messages[name]) if name in messages else ""


def histogram(report: ClassReport) -> tuple[int, list[int]]:
    """How many have how many points: the width of the classes, at most eleven, and the count in each."""
    points = [line.points for line in report.graded if line.points is not None]
    most = max([report.max_points, *points, 1.0])
    width = math.ceil(most / 10)
    counts = Counter(int(each // width) for each in points)
    return width, [counts[number] for number in range(int(most // width) + 1)]


def shown(student: str) -> str:
    """A student's name, safe to print on a terminal."""
    return visible(student, 128)


def some(names: Sequence[str]) -> str:
    """A few of them, and how many more there are."""
    return few_of([shown(name) for name in names], NAMED)
