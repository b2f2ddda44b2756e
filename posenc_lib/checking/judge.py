"""The judge's side: compare what came back with the reference, and name the mistake if it is known.

It sees plain data only, so it can stand in another process than the answer.
"""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from posenc_lib.checking.answer import unwritten
from posenc_lib.checking.messages import _
from posenc_lib.checking.plain import as_array
from posenc_lib.checking.report import CaseResult, Report
from posenc_lib.checking.run import Outcome, call, run
from posenc_lib.exercises import Case, Exercise, Mistake, Property

_BRIEF = reprlib.Repr()
"""Writes a value into a sentence, whatever its size."""
_BRIEF.maxlist = _BRIEF.maxtuple = 16
_BRIEF.maxstring = _BRIEF.maxother = 200


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
            CaseResult(_(case.label), difference(exercise, want, got), want.value, got.value)
            for case, want, got in zip(cases, expected, outcomes, strict=True)
        )
        if all(result.passed for result in results):
            return Report(exercise, results)
        mistake = next((each for each in exercise.mistakes if makes(exercise, each, outcomes, cases)), None)
        first_wrong = next(number for number, result in enumerate(results) if not result.passed)
        notes = () if mistake else _certain_notes(exercise, cases, expected, outcomes, first_wrong)
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
        return _("It returned something that cannot be compared.") + f" {got.text}"
    text = _different_value(exercise, want.value, got.value)
    if (
        text is not None
        and exercise.kind == "value"
        and (got.value is None or not isinstance(want.value, tuple))
    ):
        # To show what was expected would be to give the answer away.
        return _("{got} is not the answer.").format(got=_shown(got.value))
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
    if isinstance(want, tuple):
        return _different_parts(exercise, want, got)
    if isinstance(want, str | bool):
        if _in_form(exercise, want, got) == _in_form(exercise, want, want):
            return None
        return _("It returned {got}; {want} was expected.").format(got=_shown(got), want=_shown(want))
    return _different_array(exercise, want, got)


def _different_parts(exercise: Exercise, want: tuple[Any, ...], got: Any) -> str | None:
    parts = _parts(got)
    if parts is None or len(parts) != len(want):
        return _("There should be {count} values, as a tuple.").format(count=len(want))
    texts = [_different_value(exercise, one, other) for one, other in zip(want, parts, strict=True)]
    wrong = [number for number, text in enumerate(texts, start=1) if text is not None]
    if not wrong:
        return None
    if len(wrong) == 1:
        which = _("Of your {count} values, number {number} is wrong.")
    elif len(wrong) == len(want):
        which = _("All of your {count} values are wrong.")
    else:
        which = _("Of your {count} values, these are wrong: numbers {numbers}.")
    which = which.format(count=len(want), number=wrong[0], numbers=", ".join(map(str, wrong)))
    if exercise.kind == "value":  # to say more would be to give the answer away
        return which
    number = _("Number {number}:").format(number=wrong[0])
    return f"{which} {number} {texts[wrong[0] - 1]}"


def _different_array(exercise: Exercise, want: Any, got: Any) -> str | None:
    if isinstance(got, str):
        return _("It returned text, {got}; numbers were expected.").format(got=_shown(got))
    try:
        expected, given = np.asarray(want), as_array(got)
    except ValueError:
        return _("It returned rows of different lengths.")
    if given is None:
        return _("It returned something that is not made of numbers.")
    if given.dtype.kind == "b" and expected.dtype.kind != "b":
        return _("It returned booleans; numbers were expected.")
    if expected.dtype.kind == "b" and given.dtype.kind != "b":
        return _("It returned numbers; booleans were expected.")
    if expected.shape != given.shape:
        return _("It returned shape {got}; shape {want} was expected.").format(
            got=given.shape, want=expected.shape
        )
    close = _close(exercise, expected, given)
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


def _close(exercise: Exercise, expected: np.ndarray, given: np.ndarray) -> np.ndarray:
    close: np.ndarray = np.isclose(
        given, expected, rtol=exercise.relative_tolerance, atol=exercise.absolute_tolerance, equal_nan=True
    )
    return close


def _parts(got: Any) -> Sequence[Any] | None:
    """The several values of an answer: a tuple or list of them, or an array."""
    if isinstance(got, np.ndarray):
        return list(got) if got.ndim > 1 else got.tolist()
    return got if isinstance(got, list | tuple) else None


def _number(value: Any) -> str:
    return str(value) if value.dtype.kind in "bc" else f"{value:.6g}"


def _shown(value: Any) -> str:
    return _BRIEF.repr(value)


# --- What can be said for certain of an answer whose mistake is not known ------------------------------


def _certain_notes(
    exercise: Exercise,
    cases: Sequence[Case],
    expected: Sequence[Outcome],
    outcomes: Sequence[Outcome],
    first_wrong: int,
) -> tuple[str, ...]:
    if exercise.kind == "function" and unwritten(exercise, outcomes):
        return (_("The function is not written yet: it still raises NotImplementedError."),)
    notes = []
    for case, want, got in zip(cases, expected, outcomes, strict=True):
        if note := _not_finite(case, want.value, got.value):
            notes += [note, _(exercise.where_not_finite)] if exercise.where_not_finite else [note]
            break
    in_order = sorted(range(len(cases)), key=lambda number: number != first_wrong)
    for prop in exercise.properties:
        for number in in_order:
            if _breaks(exercise, prop, cases[number], expected[number], outcomes[number]):
                notes.append(_broken(prop, cases[number], shown=number == first_wrong))
                break
    return tuple(notes)


def _broken(prop: Property, case: Case, *, shown: bool) -> str:
    """The message; of another case than the one that the report shows, it might seem to be untrue."""
    message = _(prop.message)
    if shown:
        return message
    return _("In the case “{case}”:").format(case=_(case.label)) + f" {message}"


def _not_finite(case: Case, want: Any, got: Any) -> str | None:
    """Where the first NaN or infinity stands that has no business there."""
    found = _first_not_finite(want, got)
    if found is None:
        return None
    number, index = found
    if np.isnan(number):
        where = (
            _("In the case “{case}” your answer holds NaN, “not a number”, first at index {index}.")
            if index
            else _("In the case “{case}” your answer is NaN, “not a number”.")
        )
        why = _(
            "NaN comes out of calculations that have no result, such as 0 / 0, infinity less infinity, or "
            "the root of a negative number."
        )
    else:
        where = (
            _("In the case “{case}” your answer holds infinity, first at index {index}.")
            if index
            else _("In the case “{case}” your answer is infinite.")
        )
        why = _(
            "Infinity comes out of numbers that are too large, such as exp(1000), of x / 0, and of log(0)."
        )
    return f"{where.format(case=_(case.label), index=list(index))} {why}"


def _first_not_finite(want: Any, got: Any) -> tuple[complex, tuple[int, ...]] | None:
    """That number, and its index; a tuple's parts count as its first axis."""
    if isinstance(want, tuple) and (parts := _parts(got)) is not None and len(parts) == len(want):
        for number, (one, other) in enumerate(zip(want, parts, strict=True)):
            if found := _first_not_finite(one, other):
                return found[0], (number, *found[1])
        return None
    given, expected = _array_or_none(got), _array_or_none(want)
    if given is None or np.isfinite(given).all():
        return None
    bad = ~np.isfinite(given)
    if expected is not None and expected.shape == given.shape:
        bad &= np.isfinite(expected) | np.isnan(given)
    elif expected is not None and not np.isfinite(expected).all():
        bad = np.isnan(given)  # some infinities are right, and in another shape nobody knows which
    places = np.argwhere(bad)
    return (given[tuple(places[0])], tuple(int(i) for i in places[0])) if len(places) else None


def _breaks(exercise: Exercise, prop: Property, case: Case, want: Outcome, got: Outcome) -> bool:
    """Whether what the property's message says is certain to be true of this value."""
    if want.kind != "value" or got.kind != "value":
        return False
    form = _form if prop.about == "form" else partial(_in_form, exercise)
    value = form(want.value, got.value)
    if value is None:
        return False
    try:
        return not prop.holds(case.args, value)
    except Exception:
        return False


def _form(want: Any, got: Any) -> Any:
    """What shape and kind can be read from; None where the value is of quite another sort."""
    if isinstance(want, tuple):
        parts = _parts(got)
        return parts if parts is not None and len(parts) == len(want) else None
    if isinstance(want, str | bool):
        own = _truth(got) if isinstance(want, bool) else None
        return got if own is None else own
    return _array_or_none(got)


def _in_form(exercise: Exercise, want: Any, got: Any) -> Any:
    """The value in the very form of the right one, of finite real numbers; None where it has another form.

    What is close enough to be right is made exactly right: only what is wrong can break a property.
    """
    if isinstance(want, str):
        return got.strip().lower() if isinstance(got, str) else None
    if isinstance(want, bool):
        return _truth(got)
    if isinstance(want, tuple):
        parts = _parts(got)
        if parts is None or len(parts) != len(want):
            return None
        inside = tuple(_in_form(exercise, one, other) for one, other in zip(want, parts, strict=True))
        return None if any(each is None for each in inside) else inside
    expected, given = np.asarray(want), _array_or_none(got)
    if (
        given is None
        or given.shape != expected.shape
        or (given.dtype.kind == "b") != (expected.dtype.kind == "b")
    ):
        return None
    close = _close(exercise, expected, given)
    if not np.isfinite(given[~close]).all():
        return None
    value = np.where(close, expected, given)
    if value.dtype.kind == "c" and expected.dtype.kind != "c":
        if value.imag.any():
            return None
        value = value.real
    return value if value.ndim else value.item()


def _truth(got: Any) -> bool | None:
    """A truth value, or an array of one; None where it is none."""
    if isinstance(got, np.ndarray) and got.dtype.kind == "b" and got.size == 1:
        return bool(got.item())
    return got if isinstance(got, bool) else None


def _array_or_none(value: Any) -> np.ndarray | None:
    try:
        return as_array(value)
    except ValueError:
        return None
