"""Predict: how far a head can see."""

from __future__ import annotations

import math

import numpy as np

from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.biased.alibi import alibi_slopes

STEEP, GENTLE = 0.5, 2.0**-8


def _distances(fall: float, steep: float = STEEP, gentle: float = GENTLE) -> tuple[int, int]:
    """The first whole distances at which slope * distance exceeds `fall`."""
    return math.floor(fall / steep) + 1, math.floor(fall / gentle) + 1


REACH = Exercise(
    id="07-alibi-and-biases.reach",
    title="Predict: how far a head can see",
    signature="reach: two whole numbers, (steepest head, gentlest head)",
    points=1,
    minutes=6,
    difficulty=2,
    kind="value",
    reference=lambda: _distances(math.log(100)),
    parts=("the steepest head", "the gentlest head"),
    make_cases=lambda rng: iter([Case("your prediction")]),
    relative_tolerance=0.0,
    absolute_tolerance=1e-9,
    properties=(
        Property(
            lambda args, value: value[0] < value[1],
            "The steep head sees less far than the gentle one, so your first number must be the smaller one.",
        ),
        Property(
            lambda args, value: all(float(each).is_integer() for each in value),
            "Give whole numbers: the first whole distance at which the weight is below one hundredth. Round "
            "up.",
        ),
        Property(
            lambda args, value: value[0] != 9,
            "In the steepest head, distance 9 is just too near: exp(-9/2) is 0.0111, still above one "
            "hundredth.",
        ),
        Property(
            lambda args, value: value[1] != 1178,
            "In the gentlest head, your distance is just too near: times the slope it is 4.6016, and the "
            "weight is 0.01004, still above one hundredth.",
        ),
        Property(
            lambda args, value: value[0] >= 9,
            "In the steepest head, the weight at your distance is still well above one hundredth.",
        ),
        Property(
            lambda args, value: value[1] >= 1178,
            "In the gentlest head, the weight at your distance is still well above one hundredth.",
        ),
        Property(
            lambda args, value: value[0] <= 10,
            "In the steepest head, your distance is too far: the weight falls below one hundredth before it.",
        ),
        Property(
            lambda args, value: value[1] <= 1179,
            "In the gentlest head, your distance is too far: the weight falls below one hundredth before it.",
        ),
    ),
    mistakes=(
        Mistake(
            "rounded-down",
            lambda: (9, 1178),
            "You rounded down. At these distances the weight is still a little above one hundredth: go one "
            "position further.",
        ),
        Mistake(
            "swapped",
            lambda: _distances(math.log(100))[::-1],
            "The two numbers are swapped. A steep slope takes weight away quickly, so the steep head sees "
            "the smaller distance.",
        ),
        Mistake(
            "powers-of-two",
            lambda: _distances(math.log2(100)),
            "You let the weight fall by powers of 2. The softmax raises e to the score: solve exp(-slope d) "
            "= 1/100 with the natural logarithm.",
        ),
        Mistake(
            "powers-of-ten",
            lambda: _distances(math.log10(100)),
            "You let the weight fall by powers of 10. The softmax raises e to the score: use the natural "
            "logarithm of 100, about 4.6.",
        ),
        Mistake(
            "linear",
            lambda: _distances(0.99),
            "You took the bias off the weight itself, 1 - slope d. It comes off the score, so the weight "
            "falls as exp(-slope d).",
        ),
        Mistake(
            "no-logarithm",
            lambda: (200, 25600),
            "You divided 100 by the slope. The weight falls exponentially: divide the logarithm of 100 by "
            "the slope.",
        ),
        Mistake(
            "one-slope-too-few",
            lambda: _distances(math.log(100), gentle=2.0**-7),
            "Your first number is right. The slopes of 8 heads are 1/2, 1/4, and so on to 1/256: the last "
            "one is 2 to the power -8.",
        ),
        Mistake(
            "from-one",
            lambda: _distances(math.log(100), steep=1.0, gentle=2.0**-7),
            "Both are about half of what they should be. Did you begin the slopes with 1? The first of 8 "
            "heads has slope 1/2, and the last 1/256. Or did you stop at one tenth?",
        ),
        Mistake(
            "two-powers-of-ten",
            lambda: (4, 512),
            "You let the weight fall by powers of 10, two of them to one hundredth. The softmax raises e to "
            "the score: use the natural logarithm of 100, about 4.6.",
        ),
        Mistake(
            "half-of-the-weight",
            lambda: (2, 178),
            "Here the weight has fallen to one half. It should fall to one hundredth: take the logarithm of "
            "100, not of 2.",
        ),
        Mistake(
            "half-of-the-weight-rounded-down",
            lambda: (1, 177),
            "Here the weight has fallen to about one half. It should fall to one hundredth: take the "
            "logarithm of 100, not of 2. And round up.",
        ),
        Mistake(
            "unrounded",
            lambda: (math.log(100) / STEEP, math.log(100) / GENTLE),
            "Here the weight is exactly one hundredth. Give the first whole distance at which it is below: "
            "round up.",
        ),
    ),
    alternatives=(
        lambda: [10, 1179],
        lambda: (10.0, 1179.0),
        lambda: tuple(int(np.ceil(np.log(100) / slope)) for slope in alibi_slopes(8)[[0, -1]]),
        lambda: tuple(int(np.argmax(np.exp(-slope * np.arange(5000)) < 0.01)) for slope in (1 / 2, 1 / 256)),
    ),
    hints=(
        "With equal scores, a key at distance d weighs `exp(-slope d)` times as much as the query's own.",
        "Solve `exp(-slope d) = 1/100` for d, with the slopes of the first and the last of 8 heads: 1/2 and "
        "1/256.",
        "d must be a whole number at which the weight is below one hundredth already: round up.",
    ),
)
