"""How a value differs from the right one, in sentences: a wrong shape, wrong numbers, text, None, an error.

These are the judge's own words, the same for all exercises. What one exercise says stands with its mistakes
and properties.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from posenc_course.checking.another_kind import another_kind, no_number
from posenc_course.checking.kinds import array_or_none, in_form, is_close, several, shown
from posenc_course.checking.plain import as_array
from posenc_course.checking.run import Outcome
from posenc_course.exercises import Exercise
from posenc_course.translation import _, joined


def differences(
    exercise: Exercise, expected: Sequence[Outcome], outcomes: Sequence[Outcome]
) -> tuple[str | None, ...]:
    """For each case what is wrong with its outcome, in a sentence; None where nothing is."""
    texts = _wrong_values(exercise, expected, outcomes)
    return tuple(
        text or _another_dtype(exercise, got) or changed_input(exercise, got)
        for text, got in zip(texts, outcomes, strict=True)
    )


def _wrong_values(
    exercise: Exercise, expected: Sequence[Outcome], outcomes: Sequence[Outcome]
) -> tuple[str | None, ...]:
    if exercise.lacks is None:
        return tuple(difference(exercise, want, got) for want, got in zip(expected, outcomes, strict=True))
    faults = [_no_value(each) or (_returned_none() if each.value is None else None) for each in outcomes]
    if fault := next(filter(None, faults), None):
        return tuple(each or fault for each in faults)
    return tuple(exercise.lacks([each.value for each in outcomes]))


def difference(exercise: Exercise, want: Outcome, got: Outcome) -> str | None:
    """A sentence that says how `got` differs from `want`; None where it does not."""
    if want.kind == "raised":
        return _different_error(want, got)
    if fault := _no_value(got):
        return fault
    text = _different_value(exercise, want.value, got.value, exercise.parts)
    alone = got.value is None or not isinstance(want.value, tuple | dict)
    if text is not None and exercise.kind == "value" and alone:
        # To show what was expected would be to give the answer away.
        return _("{got} is not the answer.").format(got=shown(got.value))
    return text


def _no_value(got: Outcome) -> str | None:
    """Why there is nothing to judge; None where there is."""
    if got.kind == "raised":
        return _("It raised {error}: {text}").format(error=got.error_type, text=got.text)
    if got.kind == "malformed":
        return joined(_("It returned something that cannot be compared."), got.text)
    return None


def _returned_none() -> str:
    return _("It returned None. Does every path through the function end in a return?")


def _different_error(want: Outcome, got: Outcome) -> str | None:
    if got.kind == "raised":
        if got.error_type == want.error_type:
            return None
        return _("It raised {error} ({text}), but {expected} was expected.").format(
            error=got.error_type, text=got.text, expected=want.error_type
        )
    return _("It returned a value, but for this input it should raise {expected}.").format(
        expected=want.error_type
    )


def _different_value(exercise: Exercise, want: Any, got: Any, names: Sequence[str] = ()) -> str | None:
    """`names`: of the parts, where it is several values."""
    if got is None or want is None:  # a right answer never is None; a known mistake may be
        return None if got is want else _returned_none()
    if isinstance(want, tuple | dict):
        return _different_parts(exercise, want, got, names)
    if isinstance(want, str | bool):
        if in_form(exercise, want, got) == in_form(exercise, want, want):
            return None
        return _("It returned {got}, but {want} was expected.").format(got=shown(got), want=shown(want))
    return _different_array(exercise, want, got)


def _different_parts(
    exercise: Exercise, want: tuple[Any, ...] | dict[str, Any], got: Any, names: Sequence[str]
) -> str | None:
    right, parts = several(want, got)
    if parts is None:
        return _too_few_or_many(want, names)
    texts = [_different_value(exercise, one, other) for one, other in zip(right, parts, strict=True)]
    wrong = [number for number, text in enumerate(texts) if text is not None]
    if not wrong:
        return None
    first = wrong[0]
    # Of a value, what kind it is of; to say more would be to give the answer away.
    why = another_kind(exercise, right[first], parts[first]) if exercise.kind == "value" else texts[first]
    detail = of_part(first, why) if why else None
    return joined(_which(len(right), wrong), detail, _called(names, wrong))


def _too_few_or_many(want: tuple[Any, ...] | dict[str, Any], names: Sequence[str]) -> str:
    if isinstance(want, dict):
        return _("The answer should be a dict with the keys {keys}.").format(keys=", ".join(map(repr, want)))
    if names:
        told = "; ".join(map(_, names))
        return _("The answer should be a tuple of {count} values: {names}.").format(
            count=len(want), names=told
        )
    return _("The answer should be a tuple of {count} values.").format(count=len(want))


def _which(count: int, wrong: Sequence[int]) -> str:
    """Which of so many values are wrong."""
    if len(wrong) == count > 1:
        return _("None of your {count} values is right.").format(count=count)
    one = _("Of your {count} values, number {number} is wrong.")
    some = _("Of your {count} values, numbers {numbers} are wrong.")
    numbers = ", ".join(str(number + 1) for number in wrong)
    return (one if len(wrong) == 1 else some).format(count=count, number=numbers, numbers=numbers)


def _called(names: Sequence[str], wrong: Sequence[int]) -> str | None:
    """What the wrong ones are called, where not all are wrong."""
    if not names or len(wrong) == len(names):
        return None
    one, some = _("Number {number} is {name}."), _("Numbers {numbers} are {names}.")
    numbers = ", ".join(str(number + 1) for number in wrong)
    told = ", ".join(_("“{part}”").format(part=_(names[number])) for number in wrong)
    return (one if len(wrong) == 1 else some).format(number=numbers, name=told, numbers=numbers, names=told)


def _different_array(exercise: Exercise, want: Any, got: Any) -> str | None:
    if isinstance(got, str):
        return _("It returned text, {got}, but numbers were expected.").format(got=shown(got))
    try:
        expected, given = np.asarray(want), as_array(got)
    except ValueError:
        return _("It returned rows of different lengths.")
    if given is None:
        return joined(_("It returned something that is not made of numbers."), no_number(got))
    if given.dtype.kind == "b" and expected.dtype.kind != "b":
        return _("It returned booleans, but numbers were expected.")
    if expected.dtype.kind == "b" and given.dtype.kind != "b":
        return _("It returned numbers, but booleans were expected.")
    if expected.shape != given.shape:
        return _("It returned shape {got}, but shape {want} was expected.").format(
            got=given.shape, want=expected.shape
        )
    close = is_close(exercise, expected, given)
    if close.all():
        return None
    index = tuple(int(i) for i in np.argwhere(~close)[0])
    if close.size == 1:
        return _("It returned {got}, but {want} was expected.").format(
            got=_number(given[index]), want=_number(expected[index])
        )
    one = _("One of {total} elements is wrong, at index {index}: got {got}, expected {want}.")
    some = _(
        "{wrong} of {total} elements are wrong. The first is at index {index}: got {got}, expected {want}."
    )
    wrong = int((~close).sum())
    return (one if wrong == 1 else some).format(
        wrong=wrong,
        total=close.size,
        index=list(index),
        got=_number(given[index]),
        want=_number(expected[index]),
    )


def _another_dtype(exercise: Exercise, got: Outcome) -> str | None:
    """What is told of the right numbers in another type than the one that is asked for."""
    given = array_or_none(got.value) if exercise.dtype else None
    if given is None or given.dtype == exercise.dtype:
        return None
    return _("The numbers are right, but their type is {got}. It should be {want}.").format(
        got=given.dtype, want=exercise.dtype
    )


def _number(value: Any) -> str:
    if value.dtype.kind in "bciu":
        return str(value)
    return f"{value:.0f}" if value == np.rint(value) and abs(value) < 1e15 else f"{value:.6g}"


def of_part(number: int, text: str) -> str:
    return joined(_("Number {number}:").format(number=number + 1), text)


def changed_input(exercise: Exercise, got: Outcome) -> str | None:
    """What is told of an answer that changed what it was given; None where it did not."""
    if got.changed is None:
        return None
    return _("It changed its input {name}.").format(name=input_name(exercise, got.changed))


def input_name(exercise: Exercise, place: int) -> str:
    """What the starter calls that input."""
    names = tuple(inspect.signature(exercise.reference).parameters)
    return names[place] if 0 <= place < len(names) else _("an input")
