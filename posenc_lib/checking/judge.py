"""The judge's side: compare what came back with the reference, and name the mistake if it is known.

It sees plain data only, so it can stand in another process than the answer.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from posenc_lib.checking.messages import _
from posenc_lib.checking.report import CaseResult, Report
from posenc_lib.checking.run import Outcome, call, run
from posenc_lib.exercises import Case, Exercise, Mistake


def judge(exercise: Exercise, outcomes: Sequence[Outcome], *, seed: int = 0) -> Report:
    """Judge the outcomes of an answer on `exercise.cases(seed)`.

    Raises:
        ValueError: there are more or fewer outcomes than cases.

    Example:
        >>> from posenc_lib.exercises import exercise
        >>> asked = exercise("02-the-formula.frequencies")
        >>> outcomes = run(lambda dim: [1.0] * (dim // 2), asked.cases(seed=1))
        >>> judge(asked, outcomes, seed=1).passed
        False
    """
    cases, expected = right_outcomes(exercise, seed)
    if len(outcomes) != len(cases):
        raise ValueError(f"{len(outcomes)} outcomes were given for {len(cases)} cases; give one a case")
    with warnings.catch_warnings():
        # Wrong answers overflow and divide by zero in the comparison too; the learner knows already.
        warnings.simplefilter("ignore")
        results = tuple(
            CaseResult(case.label, difference(exercise, want, got), want.value, got.value)
            for case, want, got in zip(cases, expected, outcomes, strict=True)
        )
        if all(result.passed for result in results):
            return Report(exercise, results)
        mistake = next((each for each in exercise.mistakes if makes(exercise, each, outcomes, cases)), None)
        notes = () if mistake else _certain_notes(exercise, cases, outcomes)
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
            difference(exercise, call(mistake.answer, case.args, exercise.array_library), got) is None
            for case, got in zip(cases, outcomes, strict=True)
        )


def difference(exercise: Exercise, want: Outcome, got: Outcome) -> str | None:
    """A sentence that says how `got` differs from `want`; None where it does not."""
    if want.kind == "raised":
        return _different_error(want, got)
    if got.kind == "raised":
        return _("It raised {error}: {text}").format(error=got.error_type, text=got.text)
    if got.kind == "malformed":
        return _("It returned something that cannot be compared: {text}.").format(text=got.text)
    text = _different_value(exercise, want.value, got.value)
    if text is not None and exercise.kind == "value":
        # To show what was expected would be to give the answer away.
        return _("{got!r} is not the answer.").format(got=got.value)
    return text


def _different_error(want: Outcome, got: Outcome) -> str | None:
    if got.kind == "raised":
        if got.error_type == want.error_type:
            return None
        return _("It raised {error} ({text}); {expected} was expected.").format(
            error=got.error_type, text=got.text, expected=want.error_type
        )
    return _("It returned a value; {expected} should be raised for this input.").format(
        expected=want.error_type
    )


def _different_value(exercise: Exercise, want: Any, got: Any) -> str | None:
    if got is None:
        return _("It returned None. Does every path of the function end in a return?")
    if isinstance(want, str) or isinstance(got, str):
        same = isinstance(got, str) and isinstance(want, str) and got.strip().lower() == want.strip().lower()
        return None if same else _("It returned {got!r}; {want!r} was expected.").format(got=got, want=want)
    if isinstance(want, tuple):
        return _different_parts(exercise, want, got)
    if isinstance(want, bool):
        same = isinstance(got, bool) and got == want
        return None if same else _("It returned {got!r}; {want!r} was expected.").format(got=got, want=want)
    return _different_array(exercise, want, got)


def _different_parts(exercise: Exercise, want: tuple[Any, ...], got: Any) -> str | None:
    if not isinstance(got, list | tuple) or len(got) != len(want):
        return _("It should return {count} values, as a tuple.").format(count=len(want))
    for number, (one, other) in enumerate(zip(want, got, strict=True), start=1):
        text = _different_value(exercise, one, other)
        if text is not None:
            return _("Returned value number {number}: {text}").format(number=number, text=text)
    return None


def _different_array(exercise: Exercise, want: Any, got: Any) -> str | None:
    try:
        expected, given = np.asarray(want), np.asarray(got)
    except ValueError:
        return _("It returned rows of different lengths.")
    if given.dtype.kind not in "biufc":
        return _("It returned something that is not made of numbers.")
    if given.dtype.kind == "b" and expected.dtype.kind != "b":
        return _("It returned booleans; numbers were expected.")
    if expected.dtype.kind == "b" and given.dtype.kind != "b":
        return _("It returned numbers; booleans were expected.")
    if expected.shape != given.shape:
        return _("It returned shape {got}; shape {want} was expected.").format(
            got=given.shape, want=expected.shape
        )
    close = np.isclose(
        given, expected, rtol=exercise.relative_tolerance, atol=exercise.absolute_tolerance, equal_nan=True
    )
    if close.all():
        return None
    index = tuple(int(i) for i in np.argwhere(~close)[0])
    if not index:
        return _("It returned {got}; {want} was expected.").format(
            got=_number(given[()]), want=_number(expected[()])
        )
    return _(
        "{wrong} of {total} elements are wrong. The first is at index {index}: got {got}, expected {want}."
    ).format(
        wrong=int((~close).sum()),
        total=close.size,
        index=list(index),
        got=_number(given[index]),
        want=_number(expected[index]),
    )


def _number(value: Any) -> str:
    return str(value) if value.dtype.kind in "bc" else f"{value:.6g}"


def _certain_notes(exercise: Exercise, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """What can be said for certain of an answer whose mistake is not known."""
    if all(o.kind == "raised" and o.error_type == "NotImplementedError" for o in outcomes):
        return (_("The function is not written yet: it still raises NotImplementedError."),)
    pairs = [(c, o) for c, o in zip(cases, outcomes, strict=True) if o.kind == "value"]
    return tuple(
        _(each.message) for each in exercise.properties if any(_breaks(each, case, o) for case, o in pairs)
    )


def _breaks(prop: Any, case: Case, outcome: Outcome) -> bool:
    try:
        return not prop.holds(case.args, outcome.value)
    except Exception:
        # A value of the wrong shape or kind: the case itself says so already.
        return False
