"""What a value is: several values, a truth value, numbers; and whether these are close to the right ones."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from posenc_course.checking.plain import as_array
from posenc_course.exercises import Exercise

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
