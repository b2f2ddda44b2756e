"""The judge's side: compare what came back with the reference, and name the mistake if it is known.

It sees plain data only, so it can stand in another process than the answer.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from posenc_course.checking.kinds import another_kind, in_form, is_close, no_number, of_part, several, shown
from posenc_course.checking.notes import certain_notes, changed_input, leave_inputs_alone
from posenc_course.checking.plain import as_array
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
        raise ValueError(f"{len(outcomes)} outcomes were given for {len(cases)} cases; give one a case")
    with warnings.catch_warnings():
        # Wrong answers overflow and divide by zero in the comparison too; the learner knows already.
        warnings.simplefilter("ignore")
        results = tuple(
            CaseResult(_(case.label), text, want.value, got.value)
            for case, text, want, got in zip(
                cases, differences(exercise, expected, outcomes), expected, outcomes, strict=True
            )
        )
        if all(result.passed for result in results):
            return Report(exercise, results)
        mistake = next((each for each in exercise.mistakes if makes(exercise, each, outcomes, cases)), None)
        first_wrong = next(number for number, result in enumerate(results) if not result.passed)
        silent = mistake is not None or exercise.lacks is not None  # there is no expected value to go by
        notes = () if silent else certain_notes(exercise, cases, expected, outcomes, first_wrong)
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
            difference(exercise, call(mistake.answer, case.args, exercise.array_library), got) is None
            for case, got in zip(cases, outcomes, strict=True)
        )


def differences(
    exercise: Exercise, expected: Sequence[Outcome], outcomes: Sequence[Outcome]
) -> tuple[str | None, ...]:
    """For each case what is wrong with its outcome, in a sentence; None where nothing is."""
    texts = _wrong_values(exercise, expected, outcomes)
    return tuple(text or changed_input(exercise, got) for text, got in zip(texts, outcomes, strict=True))


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
        return _("It returned something that cannot be compared.") + f" {got.text}"
    return None


def _returned_none() -> str:
    return _("It returned None. Does every path of the function end in a return?")


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


def _different_value(exercise: Exercise, want: Any, got: Any, names: Sequence[str] = ()) -> str | None:
    """`names`: of the parts, where it is several values."""
    if got is None:
        return _returned_none()
    if isinstance(want, tuple | dict):
        return _different_parts(exercise, want, got, names)
    if isinstance(want, str | bool):
        if in_form(exercise, want, got) == in_form(exercise, want, want):
            return None
        return _("It returned {got}; {want} was expected.").format(got=shown(got), want=shown(want))
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
    return " ".join(filter(None, (_which(len(right), wrong), detail, _called(names, wrong))))


def _too_few_or_many(want: tuple[Any, ...] | dict[str, Any], names: Sequence[str]) -> str:
    if isinstance(want, dict):
        return _("There should be a dict with the keys {keys}.").format(keys=", ".join(map(repr, want)))
    if names:
        told = "; ".join(map(_, names))
        return _("There should be {count} values, as a tuple: {names}.").format(count=len(want), names=told)
    return _("There should be {count} values, as a tuple.").format(count=len(want))


def _which(count: int, wrong: Sequence[int]) -> str:
    """Which of so many values are wrong."""
    if len(wrong) == count > 1:
        return _("All of your {count} values are wrong.").format(count=count)
    one = _("Of your {count} values, number {number} is wrong.")
    some = _("Of your {count} values, these are wrong: numbers {numbers}.")
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
        return _("It returned text, {got}; numbers were expected.").format(got=shown(got))
    try:
        expected, given = np.asarray(want), as_array(got)
    except ValueError:
        return _("It returned rows of different lengths.")
    if given is None:
        where = no_number(got)
        return " ".join(filter(None, (_("It returned something that is not made of numbers."), where)))
    if given.dtype.kind == "b" and expected.dtype.kind != "b":
        return _("It returned booleans; numbers were expected.")
    if expected.dtype.kind == "b" and given.dtype.kind != "b":
        return _("It returned numbers; booleans were expected.")
    if expected.shape != given.shape:
        return _("It returned shape {got}; shape {want} was expected.").format(
            got=given.shape, want=expected.shape
        )
    close = is_close(exercise, expected, given)
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
