"""Find the slip: Spot the wrong columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import SLIPS, one_value
from posenc_course.exercises.exercise import Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal

CLAIMED_ROW = (0.1411, 0.9553, 0.0300, 1.0000)
"""Position 3 at dim 4, with an exponent of column/dim: the cosines got frequencies of their own."""


def _columns_that_differ() -> np.ndarray:
    right = sinusoidal(np.asarray([3]), 4)[0]
    return np.flatnonzero(np.round(right, 4) != CLAIMED_ROW)


def _where_numbers(
    holds: Callable[[set[float]], bool],
) -> Callable[[tuple[Any, ...], Any], bool]:
    """Asked of lists of column numbers alone."""

    def asked(args: tuple[Any, ...], value: Any) -> bool:
        return (
            value.ndim != 1
            or value.dtype.kind not in "iuf"
            or not np.isfinite(value).all()
            or holds(set(value.tolist()))
        )

    return asked


WRONG_COLUMNS = Exercise(
    id="02-the-formula.wrong_columns",
    title="Spot the wrong columns",
    step_of=SLIPS,
    signature="wrong_columns: a list of column numbers, ascending, counted from 0",
    points=1,
    minutes=5,
    difficulty=2,
    kind="value",
    reference=lambda: np.asarray([1, 3]),
    make_cases=one_value,
    properties=(
        Property(
            _where_numbers(lambda columns: columns <= {0, 1, 2, 3}),
            "There are four columns, and they are counted from 0: the last one is column 3.",
            about="form",
        ),
        Property(
            _where_numbers(lambda columns: not columns & {0, 2}),
            "The sines, columns 0 and 2, are right: sin(3) is 0.1411 and sin(3/100) is 0.0300. Name only the "
            "columns that differ.",
            about="form",
        ),
        Property(
            lambda args, value: value.tolist() != [3, 1],
            "These are the two columns. Give them in ascending order.",
            about="form",
        ),
        Property(
            _where_numbers(lambda columns: 1 in columns),
            "Look at column 1 again. It must be the cosine of the same angle as column 0, and cos(3) is "
            "negative.",
            about="form",
        ),
        Property(
            _where_numbers(lambda columns: 3 in columns),
            "Look at column 3 again. It must be the cosine of 3/100. To four decimals, that is not 1.0000.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "last-one-spared",
            lambda: [1],
            "Column 1 is wrong, but it is not alone. Compare column 3 to four decimals: the cosine of 0.03 "
            "is 0.9996, not 1.0000.",
        ),
        Mistake(
            "counted-from-1",
            lambda: [2, 4],
            "The columns are counted from 1. Count them from 0, as the formula and NumPy do.",
        ),
        Mistake(
            "the-right-ones",
            lambda: [0, 2],
            "These are the columns that are right. Name the others.",
        ),
        Mistake(
            "column-2-as-well",
            lambda: [1, 2, 3],
            "Column 2 is right: the angle of pair 1 is 3/100, and its sine is 0.0300. Name only the columns "
            "that differ.",
        ),
        Mistake(
            "second-pair-only",
            lambda: [2, 3],
            "These are the two columns of pair 1, but its sine is right: sin(3/100) is 0.0300. Pair 0 has a "
            "slip in its cosine.",
        ),
        Mistake(
            "first-pair-only",
            lambda: [0, 1],
            "These are the two columns of pair 0, but its sine is right: sin(3) is 0.1411. Pair 1 has a "
            "slip in its cosine.",
        ),
        Mistake(
            "last-column-only",
            lambda: [3],
            "Column 3 is wrong, but it is not alone. Column 1 must be the cosine of the same angle as "
            "column 0, and cos(3) is negative.",
        ),
        Mistake(
            "all",
            lambda: [0, 1, 2, 3],
            "The sines are right: sin(3) is 0.1411 and sin(3/100) is 0.0300. Name only the columns that "
            "differ.",
        ),
    ),
    alternatives=(
        lambda: [1, 3],
        lambda: (1, 3),
        _columns_that_differ,
        lambda: np.arange(1.0, 4.0, 2.0),
    ),
    hints=(
        "At dim 4 there are two pairs. Work out the two angles at position 3 first.",
        "The angles are 3 and 3/100. Columns 0 and 1 are the sine and the cosine of the first, columns 2 "
        "and 3 of the second.",
    ),
)
