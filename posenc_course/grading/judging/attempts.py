"""How the answers to one exercise did on hidden inputs, and what they earn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from posenc_course.checking.answer import stops_as_released, unwritten
from posenc_course.checking.differences import differences
from posenc_course.checking.judge import right_outcomes
from posenc_course.checking.run import Outcome
from posenc_course.exercises import Case, Exercise
from posenc_course.exercises.exercise import BASIC
from posenc_course.grading.judging.trial import Trial
from posenc_course.grading.sandbox.warm import Ended
from posenc_course.grading.verdicts import Verdict

PUBLIC_SEED = 0
"""The inputs that `check` uses: feedback may show them."""
_MEMORY_ERRORS = ("MemoryError", "_ArrayMemoryError")


@dataclass(frozen=True)
class Attempt:
    """How the answers to one exercise did on hidden inputs."""

    asked: Exercise
    verdict: Verdict
    share: float = 0.0
    """Of the points."""
    seed: int = PUBLIC_SEED
    answer: int = 0
    outcomes: tuple[Outcome, ...] = ()
    """Empty where there is no answer, or where it ended its session."""
    passed: tuple[bool, ...] = ()
    instead: tuple[Exercise, ...] = ()
    """Earlier steps that it called, and that were answered from outside in the learner's place."""

    @property
    def points(self) -> float:
        return round(self.share * self.asked.points, 4)


def best_attempt(asked: Exercise, trial: Trial, seed: int, not_right: tuple[Exercise, ...] = ()) -> Attempt:
    """The best of the answers to an exercise: what was given to `check`, and what the name is at the end.

    Args:
        not_right: earlier steps that are wrong: right ones stand in for them, so that one error costs one
            step. What comes out with the learner's own counts where it is worth more.
    """
    attempt = _best(asked, trial, seed, not_right)
    if attempt.verdict is Verdict.RIGHT or not attempt.instead:
        return attempt
    own = _best(asked, trial, seed)
    return own if own.share > attempt.share else attempt


def _best(asked: Exercise, trial: Trial, seed: int, instead: tuple[Exercise, ...] = ()) -> Attempt:
    best: Attempt | None = None
    try:
        for number in range(trial.find(asked)):
            outcomes = trial.outcomes(asked, number, seed, instead)
            with trial.clock_stopped():
                attempt = _judged(asked, seed, number, outcomes, trespassed=trial.trespassed)
            called = tuple(step for step in instead if step.function in trial.stood_in)
            attempt = replace(attempt, instead=called)
            if best is None or attempt.share > best.share:
                best = attempt
            if best.verdict is Verdict.RIGHT:
                break
    except Ended as ending:
        return best if best and best.share > 0 else Attempt(asked, ending.verdict)
    return best or Attempt(asked, _missing(asked, trial))


def _judged(
    asked: Exercise, seed: int, number: int, outcomes: tuple[Outcome, ...], *, trespassed: bool
) -> Attempt:
    cases, expected = right_outcomes(asked, seed)
    passed = tuple(text is None for text in differences(asked, expected, outcomes))
    share = 0.0 if trespassed else earned(asked, cases, passed)
    verdict = Verdict.PARTLY
    if trespassed:
        verdict = Verdict.TAMPERED
    elif all(passed):
        verdict = Verdict.RIGHT
    elif share == 0:
        verdict = _wrong_kind(asked, outcomes, passed)
    return Attempt(asked, verdict, share, seed, number, outcomes, passed)


def earned(asked: Exercise, cases: Sequence[Case], passed: Sequence[bool]) -> float:
    """The share of the points that these results earn, from 0 to 1.

    A group counts where all its cases are right, and none does where the basic one does not: an answer that
    refuses everything must not gain from the inputs that are to be refused.
    """
    wrong = {case.group for case, right in zip(cases, passed, strict=True) if not right}
    if BASIC in wrong:
        return 0.0
    return 1.0 if not wrong else sum(share for group, share in asked.credit if group not in wrong)


def _wrong_kind(asked: Exercise, outcomes: Sequence[Outcome], passed: Sequence[bool]) -> Verdict:
    first = next(outcome for outcome, right in zip(outcomes, passed, strict=True) if not right)
    if unwritten(asked, outcomes):
        return Verdict.UNWRITTEN
    if first.kind == "malformed":
        return Verdict.MALFORMED
    if first.kind == "raised":
        out_of_memory = first.error_type in _MEMORY_ERRORS or "allocate memory" in first.text
        return Verdict.MEMORY_LIMIT if out_of_memory else Verdict.ERROR
    return Verdict.WRONG


def _missing(asked: Exercise, trial: Trial) -> Verdict:
    """Why there is no answer: its cell ended the session or failed, or none was written."""
    own = [each for each in trial.cells if asked.function in each.source or asked.function == each.grade_id]
    for cell in own:
        if cell.place in trial.left_out:
            return trial.left_out[cell.place]
    failed = any(_fails(asked, output) for cell in own for output in trial.outputs.get(cell.place, ()))
    return Verdict.ERROR if failed else Verdict.UNWRITTEN


def _fails(asked: Exercise, output: Mapping[str, Any]) -> bool:
    """Whether this is an error of the answer's own: not the released one, nor a check's without answer."""
    as_released = stops_as_released(asked, str(output.get("ename")), str(output.get("evalue")))
    return output["output_type"] == "error" and not as_released
