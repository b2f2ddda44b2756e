"""The judge outside: send hidden inputs to a walled session, judge what comes back, grade.

Points come from a session that is given hidden inputs. What a learner reads comes from another, later one
that is given the inputs of `check` and has never seen a hidden one: nothing of them can show in the feedback.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from posenc_course.checking.judge import right_outcomes
from posenc_course.exercises import Exercise, assignments, exercises_of, wholes
from posenc_course.grading.judging.attempts import PUBLIC_SEED, Attempt, best_attempt
from posenc_course.grading.judging.feedback import exercise_grade
from posenc_course.grading.judging.trial import Trial
from posenc_course.grading.limits import Limits
from posenc_course.grading.sandbox.lending import Lender
from posenc_course.grading.sandbox.warm import WarmParent
from posenc_course.grading.verdicts import ExerciseGrade, SubmissionGrade, Verdict

if TYPE_CHECKING:
    from posenc_course.grading.handed_in.submission import Submission

WARM_MODULES = {"torch": "torch", "matplotlib": "matplotlib.pyplot"}
"""What is imported before the fork where a notebook mentions it: word in the text, module."""


class Grader:
    """Grades submissions, one at a time, each in sessions of its own; start-up is paid once.

    Args:
        unsafe: grade without walls. Learners' code then runs with your rights: it can read and change
            what you can.

    Raises:
        NoWalls: (on the first `grade`) bubblewrap is missing or cannot work here.
    """

    def __init__(self, *, unsafe: bool = False) -> None:
        self._unsafe = unsafe
        self._warm: WarmParent | None = None
        self._lender = Lender()

    def grade(
        self,
        submission: Submission,
        *,
        student: str,
        assignment: str,
        seed: int,
        limits: Limits | None = None,
        only: Collection[str] = (),
    ) -> SubmissionGrade:
        """Grade one submission. The same seed gives the same hidden inputs.

        Args:
            only: ids of the exercises to be judged; by default all of the assignment.

        Raises:
            ValueError: there is no exercise of this assignment.
            NoWalls: learners' code cannot be walled in here.
        """
        started = time.monotonic()
        exercises = [each for each in exercises_of(assignment) if not only or each.id in only]
        if not exercises:
            known = ", ".join(assignments())
            raise ValueError(
                f"there is no exercise in the assignment {assignment!r}; the assignments are {known}"
            )
        for each in exercises:
            # Before the learner's clock starts: it may have to import what the reference needs.
            right_outcomes(each, seed)
            right_outcomes(each, PUBLIC_SEED)
        if any(each.asks_outside(seed) or each.step_of for each in exercises):
            self._lender.start()
        try:
            trial = Trial(self._warm_for(exercises, submission), self._lender, submission, limits or Limits())
            with trial, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # Those that are answered from outside come last: nothing of it is left for another answer.
                # A step comes after the earlier ones: what is known of them decides what stands in for them.
                attempts: dict[str, Attempt] = {}
                for steps in sorted(wholes(exercises), key=lambda steps: _asks_outside(steps, seed)):
                    for each in steps:
                        not_right = tuple(
                            step
                            for step in each.steps_before(steps)
                            if attempts[step.id].verdict is not Verdict.RIGHT
                        )
                        attempts[each.id] = best_attempt(each, trial, seed, not_right)
                outputs = dict(trial.outputs)
                trial.start_afresh()
                grades = tuple(exercise_grade(attempts[each.id], trial) for each in exercises)
        except BaseException:
            # Whatever happened, the next submission finds a warm parent that waits for orders.
            self.close()
            raise
        return SubmissionGrade(
            student=student,
            assignment=assignment,
            verdict=_overall(grades),
            seed=seed,
            digest=submission.digest,
            exercises=grades,
            outputs=outputs,
            notes=(*trial.notes, *submission.notes),  # The gravest first: what trial has may cost points.
            seconds=time.monotonic() - started,
        )

    def close(self) -> None:
        """End every process that was started."""
        if self._warm is not None:
            self._warm.close()
            self._warm = None
        self._lender.close()

    def __enter__(self) -> Grader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _warm_for(self, exercises: Iterable[Exercise], submission: Submission) -> WarmParent:
        """The warm parent, started anew where this submission needs a module that it has not imported."""
        needed = {
            module for word, module in WARM_MODULES.items() if any(word in c.source for c in submission.cells)
        }
        needed |= {"torch" for each in exercises if each.array_library == "torch"}
        imported = set(self._warm.modules) if self._warm else set()
        if self._warm is None or not needed <= imported:
            if self._warm is not None:
                self._warm.close()
                self._warm = None
            self._warm = WarmParent(sorted(needed | imported), unsafe=self._unsafe)
        return self._warm


def _asks_outside(steps: Iterable[Exercise], seed: int) -> bool:
    return any(each.asks_outside(seed) for each in steps)


def _overall(grades: Sequence[ExerciseGrade]) -> Verdict:
    verdicts = {each.verdict for each in grades}
    if len(verdicts) == 1:
        return verdicts.pop()
    return Verdict.PARTLY if any(each.points > 0 for each in grades) else Verdict.WRONG
