"""Of which kind a value is, and how one that is of another kind than the right one is told so."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from posenc_course.checking.plain import as_array
from posenc_course.exercises import Exercise
from posenc_course.translation import _

_BRIEF = reprlib.Repr()
"""Writes a value into a sentence, whatever its size."""
_BRIEF.maxlist = _BRIEF.maxtuple = 16
_BRIEF.maxstring = _BRIEF.maxother = 200


def several(want: tuple[Any, ...] | dict[str, Any], got: Any) -> tuple[Sequence[Any], Sequence[Any] | None]:
    """The right values, and those of an answer: None where there are more or fewer of them."""
    if isinstance(want, dict):
        same = isinstance(got, dict) and got.keys() == want.keys()
        return tuple(want.values()), [got[key] for key in want] if same else None
    if isinstance(got, np.ndarray) and got.ndim:
        got = list(got) if got.ndim > 1 else got.tolist()
    return want, got if isinstance(got, list | tuple) and len(got) == len(want) else None


def of_part(number: int, text: str) -> str:
    return _("Number {number}:").format(number=number + 1) + f" {text}"


def another_kind(exercise: Exercise, want: Any, got: Any) -> str | None:
    """What is told of a value that is not of the kind that is asked for: nothing of its right number."""
    return _no_numbers(want, got) or another_array(exercise, want, got)


def _no_numbers(want: Any, got: Any) -> str | None:
    """What is told of a value that is of quite another kind than the right one."""
    if got is None:
        return _("It is None: nothing has been assigned yet.")
    if isinstance(want, bool):
        no_truth = _("{got} is no truth value: True or False is asked for.")
        return no_truth.format(got=shown(got)) if truth(got) is None else None
    if isinstance(want, str):
        no_text = _("{got} is no text: a word is asked for.")
        return None if isinstance(got, str) else no_text.format(got=shown(got))
    if isinstance(got, str):
        return _("{got} is text: numbers are asked for.").format(got=shown(got))
    given, expected = array_or_none(got), array_or_none(want)
    if given is None:
        return no_number(got) or _("Its rows differ in length.")
    if given.dtype.kind == "b" and expected is not None and expected.dtype.kind != "b":
        return _("{got} is a truth value: numbers are asked for.").format(got=shown(got))
    return None


def another_array(exercise: Exercise, want: Any, got: Any) -> str | None:
    """What is told of numbers of another kind than the right ones: complex, cut to whole ones, too coarse."""
    given, expected = array_or_none(got), array_or_none(want)
    if given is None or expected is None or isinstance(want, bool):
        return None
    if given.ndim == 0 < expected.ndim:
        return _("That is a single number: several are asked for.")
    if expected.ndim == 0 < given.ndim and given.size == 1:
        return _(
            "The number lies in a list or an array: the number itself is asked for. "
            "Is there a comma at the end of a line? It makes a tuple."
        )
    if expected.ndim == 0 < given.ndim:
        return _("That is several numbers, an array of shape {shape}: a single one is asked for.").format(
            shape=given.shape
        )
    if given.size == 0 < expected.size:
        return _("It is empty: it holds no number at all.")
    if given.dtype.kind == "c" and expected.dtype.kind != "c":
        if np.isclose(given.imag, 0, rtol=0, atol=exercise.absolute_tolerance).all():
            return None
        return _("Its numbers are complex: real ones are asked for.")
    if given.shape != expected.shape or is_close(exercise, expected, given).all():
        return None
    if given.ndim and given.dtype.kind in "iu" and _cut_down(expected, given):
        return _(
            "It is an array of whole numbers ({dtype}), and the fractions were lost on the way into it. "
            "Make it an array of floats."
        ).format(dtype=given.dtype)
    if given.dtype == np.float16 and _nearly(expected, given):
        return _("Its numbers are float16, which holds three digits. Compute in float64.")
    return None


def _cut_down(expected: np.ndarray, given: np.ndarray) -> bool:
    """Whether they are the right numbers without their fractions."""
    cuts = (np.trunc, np.floor, np.rint) if expected.dtype.kind == "f" else ()
    return any(np.array_equal(given, cut(expected)) for cut in cuts)


def _nearly(expected: np.ndarray, given: np.ndarray) -> bool:
    """Whether they are as near as float16 can tell."""
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    return bool(np.isclose(given, expected, rtol=2e-3, atol=2e-3 * scale, equal_nan=True).all())


def no_number(got: Any) -> str | None:
    """The first thing in lists and dicts that is no number, and where it stands."""
    if isinstance(got, dict):
        return _("It is a dict: numbers are asked for.")
    found = _first_other(got, ())
    if found is None:
        return None
    index, thing = found
    return _("At index {index} stands {thing}, which is no number.").format(
        index=list(index), thing=shown(thing)
    )


def _first_other(got: Any, index: tuple[int, ...]) -> tuple[tuple[int, ...], Any] | None:
    if isinstance(got, list | tuple):
        inside = (_first_other(each, (*index, number)) for number, each in enumerate(got))
        return next(filter(None, inside), None)
    return None if isinstance(got, bool | int | float | complex | np.ndarray) else (index, got)


def in_form(exercise: Exercise, want: Any, got: Any) -> Any:
    """The value in the very form of the right one, of finite real numbers; None where it has another form.

    What is close enough to be right is made exactly right: only what is wrong can break a property.
    """
    if isinstance(want, str):
        return got.strip().lower() if isinstance(got, str) else None
    if isinstance(want, bool):
        return truth(got)
    if isinstance(want, tuple | dict):
        right, parts = several(want, got)
        if parts is None:
            return None
        inside = tuple(in_form(exercise, one, other) for one, other in zip(right, parts, strict=True))
        if any(each is None for each in inside):
            return None
        return dict(zip(want, inside, strict=True)) if isinstance(want, dict) else inside
    expected, given = np.asarray(want), array_or_none(got)
    if (
        given is None
        or given.shape != expected.shape
        or (given.dtype.kind == "b") != (expected.dtype.kind == "b")
    ):
        return None
    close = is_close(exercise, expected, given)
    if not np.isfinite(given[~close]).all():
        return None
    value = np.where(close, expected, given)
    if value.dtype.kind == "c" and expected.dtype.kind != "c":
        if value.imag.any():
            return None
        value = value.real
    return value if value.ndim else value.item()


def truth(got: Any) -> bool | None:
    """A truth value, or an array of one; None where it is none."""
    if isinstance(got, np.ndarray) and got.dtype.kind == "b" and got.size == 1:
        return bool(got.item())
    return got if isinstance(got, bool) else None


def is_close(exercise: Exercise, expected: np.ndarray, given: np.ndarray) -> np.ndarray:
    close: np.ndarray = np.isclose(
        given, expected, rtol=exercise.relative_tolerance, atol=exercise.absolute_tolerance, equal_nan=True
    )
    return close


def array_or_none(value: Any) -> np.ndarray | None:
    try:
        return as_array(value)
    except ValueError:
        return None


def shown(value: Any) -> str:
    return _BRIEF.repr(value)
