"""What is told of a value of another kind than the right one: text, one number, whole numbers, too few bits.

Nothing here decides whether an answer passes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc_course.checking.kinds import array_or_none, is_close, shown, truth
from posenc_course.exercises import Exercise
from posenc_course.translation import _


def another_kind(exercise: Exercise, want: Any, got: Any) -> str | None:
    """What is told of a value that is not of the kind that is asked for: nothing of its right number."""
    return _no_numbers(want, got) or another_array(exercise, want, got)


def _no_numbers(want: Any, got: Any) -> str | None:
    """What is told of a value that is of quite another kind than the right one."""
    if got is None:
        return _("It is still None: nothing has been assigned to it yet.")
    if isinstance(want, bool):
        no_truth = _("{got} is not a truth value. It should be True or False.")
        return no_truth.format(got=shown(got)) if truth(got) is None else None
    if isinstance(want, str):
        no_text = _("{got} is not text. It should be a word.")
        return None if isinstance(got, str) else no_text.format(got=shown(got))
    if isinstance(got, str):
        return _("{got} is text, but numbers were expected.").format(got=shown(got))
    given, expected = array_or_none(got), array_or_none(want)
    if given is None:
        return no_number(got) or _("Its rows have different lengths.")
    if given.dtype.kind == "b" and expected is not None and expected.dtype.kind != "b":
        return _("{got} is a truth value, but numbers were expected.").format(got=shown(got))
    return None


def another_array(exercise: Exercise, want: Any, got: Any, *, single: bool = True) -> str | None:
    """What is told of numbers of another kind than the right ones: complex, cut to whole ones, too coarse.

    Args:
        single: also of float32, which may be innocent of the difference.
    """
    given, expected = array_or_none(got), array_or_none(want)
    if given is None or expected is None or isinstance(want, bool):
        return None
    if given.ndim == 0 < expected.ndim:
        return _("This is a single number, but several were expected.")
    if expected.ndim == 0 < given.ndim and given.size == 1:
        return _(
            "The number is inside a list, a tuple or an array. Give the number itself. "
            "Is there a comma at the end of a line? That makes a tuple."
        )
    if expected.ndim == 0 < given.ndim:
        return _("These are several numbers, of shape {shape}, but a single number was expected.").format(
            shape=given.shape
        )
    if given.size == 0 < expected.size:
        return _("It is empty: there are no numbers in it.")
    if given.dtype.kind == "c" and expected.dtype.kind != "c":
        if np.isclose(given.imag, 0, rtol=0, atol=exercise.absolute_tolerance).all():
            return None
        return _("Its numbers are complex, but real ones were expected.")
    if given.shape != expected.shape or is_close(exercise, expected, given).all():
        return None
    if given.ndim and given.dtype.kind in "iu" and _cut_down(expected, given):
        return _(
            "It is an array of whole numbers ({dtype}), so everything after the decimal point was lost. "
            "Make it an array of floats."
        ).format(dtype=given.dtype)
    if given.dtype == np.float16 and exercise.dtype != "float16" and _nearly(expected, given, 2e-3):
        return _("Its numbers are float16, which keeps only about three digits. Compute in float64.")
    single = single and bool(given.ndim) and given.dtype == np.float32 and not exercise.dtype
    if single and _nearly(expected, given, 1e-3):
        return _("Its numbers are float32, which keeps only about seven digits. Compute in float64.")
    return None


def _cut_down(expected: np.ndarray, given: np.ndarray) -> bool:
    """Whether they are the right numbers without their fractions."""
    cuts = (np.trunc, np.floor, np.rint) if expected.dtype.kind == "f" else ()
    return any(np.array_equal(given, cut(expected)) for cut in cuts)


def _nearly(expected: np.ndarray, given: np.ndarray, share: float) -> bool:
    """Whether they are the same up to this share, of each number or of the largest."""
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    return bool(np.isclose(given, expected, rtol=share, atol=share * scale, equal_nan=True).all())


def no_number(got: Any) -> str | None:
    """The first thing in lists and dicts that is no number, and where it stands."""
    if isinstance(got, dict):
        return _("It is a dict, but numbers were expected.")
    found = _first_other(got, ())
    if found is None:
        return None
    index, thing = found
    return _("At index {index} there is {thing}, which is not a number.").format(
        index=list(index), thing=shown(thing)
    )


def _first_other(got: Any, index: tuple[int, ...]) -> tuple[tuple[int, ...], Any] | None:
    if isinstance(got, list | tuple):
        inside = (_first_other(each, (*index, number)) for number, each in enumerate(got))
        return next(filter(None, inside), None)
    return None if isinstance(got, bool | int | float | complex | np.ndarray) else (index, got)
