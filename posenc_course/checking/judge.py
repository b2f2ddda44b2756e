"""The judge's side: compare what came back with the reference, and name the mistake if it is known.

It sees plain data only, so it can stand in another process than the answer.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from posenc_course.checking.differences import difference, differences
from posenc_course.checking.notes import certain_notes, leave_inputs_alone
from posenc_course.checking.report import CaseResult, Report
from posenc_course.checking.run import Outcome, call, run
from posenc_course.exercises import Case, Exercise, Mistake
from posenc_course.translation import _


def judge(exercise: Exercise, outcomes: Sequence[Outcome], *, seed: int = 0) -> Report:
    """Judge the outcomes of an answer on `exercise.cases(seed)`.

    Raises:
        ValueError: there are more or fewer outcomes than cases.

    Example:
        >>> from posenc_course.exercises import exercise
        >>> asked = exercise("02-the-formula.frequencies")
        >>> outcomes = run(lambda dim: [1.0] * (dim // 2), asked.cases(seed=1))
        >>> judge(asked, outcomes, seed=1).passed
        False
    """
    cases, expected = right_outcomes(exercise, seed)
    if len(outcomes) != len(cases):
        raise ValueError(
            f"{len(outcomes)} outcomes were given for {len(cases)} cases; give one for each case"
        )
    with warnings.catch_warnings():
        # Wrong answers overflow and divide by zero in the comparison too; the learner knows already.
        warnings.simplefilter("ignore")
        texts = differences(exercise, expected, outcomes)
        results = tuple(
            [
                CaseResult(_(case.label), text, want.value, got.value)
                for case, text, want, got in zip(cases, texts, expected, outcomes, strict=True)
            ]
        )
        wrong = [number for number, text in enumerate(texts) if text is not None]
        if not wrong:
            return Report(exercise, results)
        mistake = next((each for each in exercise.mistakes if makes(exercise, each, outcomes, cases)), None)
        silent = mistake is not None or exercise.lacks is not None  # there is no expected value to go by
        notes = () if silent else certain_notes(exercise, cases, expected, outcomes, wrong[0])
        notes += leave_inputs_alone(exercise, outcomes)
    return Report(exercise, results, mistake, notes)


@lru_cache(maxsize=128)
def right_outcomes(exercise: Exercise, seed: int) -> tuple[tuple[Case, ...], tuple[Outcome, ...]]:
    """The cases of a seed, and what the reference gives on each."""
    cases = exercise.cases(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cases, run(exercise.reference, cases, exercise.array_library)


def makes(exercise: Exercise, mistake: Mistake, outcomes: Sequence[Outcome], cases: Sequence[Case]) -> bool:
    """Whether these are the very outcomes that the mistake gives, on every case.

    A mistake is named only where the answer does exactly what the mistake does: a wrong diagnosis
    is worse than none.
    """
    with warnings.catch_warnings():
        # Known mistakes overflow and divide by zero on purpose; the learner did not write them.
        warnings.simplefilter("ignore")
        return all(
            difference(exercise, _seen(exercise, made), _seen(exercise, got)) is None
            for case, got in zip(cases, outcomes, strict=True)
            for made in [call(mistake.answer, case.args, exercise.array_library)]
        )


def _seen(exercise: Exercise, outcome: Outcome) -> Outcome:
    """Without what has no effect."""
    return replace(outcome, value=exercise.seen(outcome.value)) if exercise.seen else outcome
