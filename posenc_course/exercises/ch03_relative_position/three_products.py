"""Predict: one product tells three numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import similarity, sinusoidal

WIDTH, APART = 64, 7


PRODUCT = float(similarity(APART, WIDTH))
"""PE(3) . PE(10) at width 64, which the text gives to four decimals."""


_NORM_SQUARED = WIDTH / 2


_DISTANCE = float(np.sqrt(2 * _NORM_SQUARED - 2 * PRODUCT))


_RIGHT = (PRODUCT, _NORM_SQUARED, _DISTANCE)


_THREE_DIGITS = 2e-3
"""The most that rounding to three digits changes, relative: 23.3 for 23.26."""


def _nearly(value: Sequence[float]) -> bool:
    """Whether some are right to two digits, and not to three."""
    return any(_THREE_DIGITS < abs(one / right - 1) < 0.015 for one, right in zip(value, _RIGHT, strict=True))


def _right_or_nearly(place: int, right: float) -> Callable[[tuple[Any, ...], Any], bool]:
    return lambda args, value: abs(value[place] / right - 1) < 0.015


THREE_PRODUCTS = Exercise(
    id="03-relative-position.three_products",
    title="Predict: one product tells three numbers",
    signature="three_products: three numbers, (PE(1010) . PE(1003), PE(5) . PE(5), |PE(3) - PE(10)|)",
    points=2,
    minutes=6,
    difficulty=2,
    kind="value",
    reference=lambda: _RIGHT,
    parts=("the product", "the squared norm", "the distance"),
    make_cases=lambda rng: iter([Case("your three numbers")]),
    relative_tolerance=_THREE_DIGITS,
    absolute_tolerance=0.0,
    properties=(
        Property(
            lambda args, value: value[2] >= 0,
            "The third number is a length: it cannot be negative.",
        ),
        Property(
            lambda args, value: not _nearly(value),
            "One of your numbers is right but for its last digits. Give each to three digits or better.",
        ),
        Property(
            _right_or_nearly(0, PRODUCT),
            "For the first number, look at the offset: from 1010 to 1003 it is -7. The dot product is a sum "
            "of cosines of the offset, and nothing else.",
        ),
        Property(
            _right_or_nearly(1, _NORM_SQUARED),
            "For the second number, take the offset 0: each pair adds sine squared plus cosine squared. How "
            "many pairs are there at width 64?",
        ),
        Property(
            _right_or_nearly(2, _DISTANCE),
            "For the third number, write out (a - b) . (a - b) = a . a + b . b - 2 a . b, and take the "
            "root. Each row times itself is your second number.",
        ),
    ),
    mistakes=(
        Mistake(
            "sign-turned",
            lambda: (-PRODUCT, _NORM_SQUARED, _DISTANCE),
            "Your second and third numbers are right. The first is a sum of cosines of the offset, and the "
            "cosine does not care about its sign: going 7 back gives what going 7 on gives.",
        ),
        Mistake(
            "far-is-zero",
            lambda: (0.0, _NORM_SQUARED, _DISTANCE),
            "Your second and third numbers are right. The first does not vanish because both positions are "
            "far out: only their distance counts, and that is 7.",
        ),
        Mistake(
            "columns-for-pairs",
            lambda: (PRODUCT, 2 * _NORM_SQUARED, float(np.sqrt(4 * _NORM_SQUARED - 2 * PRODUCT))),
            "You took 64 as the squared norm of a row. Each pair adds sine squared plus cosine squared, "
            "which is 1, and there are 32 pairs.",
        ),
        Mistake(
            "norm-not-squared",
            lambda: (PRODUCT, float(np.sqrt(_NORM_SQUARED)), _DISTANCE),
            "Your first and third numbers are right. The second is the norm of the row: its dot product with "
            "itself is the square of that.",
        ),
        Mistake(
            "cosine",
            lambda: (PRODUCT, 1.0, _DISTANCE),
            "Your first and third numbers are right. The second is the cosine of the angle between the row "
            "and itself. The dot product is not divided by the norms.",
        ),
        Mistake(
            "distance-squared",
            lambda: (PRODUCT, _NORM_SQUARED, _DISTANCE**2),
            "Your first and second numbers are right. The third is the square of the distance: take its "
            "square root.",
        ),
        Mistake(
            "factor-2-lost",
            lambda: (PRODUCT, _NORM_SQUARED, float(np.sqrt(2 * _NORM_SQUARED - PRODUCT))),
            "Your first and second numbers are right. For the third, write out (a - b) . (a - b): the mixed "
            "product comes twice.",
        ),
        Mistake(
            "difference-of-products",
            lambda: (PRODUCT, _NORM_SQUARED, _NORM_SQUARED - PRODUCT),
            "Your first and second numbers are right. The third is not the difference of two dot products: "
            "write out (a - b) . (a - b), and take the root.",
        ),
    ),
    alternatives=(
        lambda: [PRODUCT, 32, _DISTANCE],
        lambda: (round(PRODUCT, 4), 32.0, round((64 - 2 * round(PRODUCT, 4)) ** 0.5, 4)),
        lambda: tuple(
            float(each)
            for each in (
                sinusoidal(1011, 64)[1010] @ sinusoidal(1004, 64)[1003],
                sinusoidal(6, 64)[5] @ sinusoidal(6, 64)[5],
                np.linalg.norm(sinusoidal(11, 64)[10] - sinusoidal(4, 64)[3]),
            )
        ),
    ),
    hints=(
        "The dot product of two rows depends on the offset between them alone. Does its sign matter?",
        "A row times itself is the offset 0. How many pairs are there, and what does each of them add?",
        "The square of the third number is (a - b) . (a - b) = a . a + b . b - 2 a . b. You know all three.",
    ),
)
