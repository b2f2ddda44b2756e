"""Measure a slope."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import Generator, _gap
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _weight_cases(rng: Generator) -> Iterator[Case]:
    def weights(slope: float, tokens: int) -> Array:
        """Causal weights of one head where all scores are equal before the bias."""
        offset = _gap(np.arange(tokens), np.arange(tokens))
        raised = np.where(offset > 0, 0.0, np.exp(np.minimum(slope * offset, 0.0)))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    yield Case("slope 1/2, four tokens", (weights(1 / 2, 4),))
    yield Case("slope 1/256, two tokens", (weights(1 / 256, 2),))
    yield Case("slope 1/256, 60 tokens", (weights(1 / 256, 60),))
    yield Case("a random slope, nine tokens", (weights(float(rng.uniform(0.1, 0.9)), 9),))
    yield Case("no bias at all, five tokens", (weights(0.0, 5),))
    yield Case("a slope so steep that far weights are exactly 0", (weights(12.0, 100),))


def _fall(heavier: Any, lighter: Any) -> float:
    """The difference of the scores behind two weights of a row."""
    with np.errstate(all="ignore"):
        return float(np.log(heavier) - np.log(lighter))


def _slope_of(weights: Array) -> float:
    return _fall(weights[-1, -1], weights[-1, -2])


def _slope_by_fit(weights: Array) -> float:
    """A line through the logarithms of all that is above 0 in the last row."""
    keys = np.flatnonzero(weights[-1] > 0)
    return float(np.polyfit(keys, np.log(weights[-1, keys]), 1)[0])


def _slope_by_first_pair(weights: Array) -> float:
    """Row 1 has two weights, 1 / (1 + e^slope) and e^slope / (1 + e^slope)."""
    return math.log(weights[1, 1] / (1 - weights[1, 1]))


def _slope_by_ratios(weights: Array) -> float:
    ratios = [row[i] / row[i - 1] for i, row in enumerate(weights) if i > 0]
    return math.log(sorted(ratios)[len(ratios) // 2])


SLOPE_OF = Exercise(
    id="07-alibi-and-biases.slope_of",
    title="Measure a slope",
    signature="slope_of(weights: array of shape (n, n)) -> float",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_slope_of,
    make_cases=_weight_cases,
    relative_tolerance=1e-4,  # a line through all weights above 0 meets some of few digits
    where_not_finite="Weights of keys after the query are exactly 0, and so are far ones of a steep head. "
    "They have no logarithm: measure where the weights are large.",
    properties=(
        Property(
            lambda args, value: np.ndim(value) == 0,
            "Return one number: the slope of this head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(value > -1e-9),
            "A slope is not negative: nearer keys weigh more.",
        ),
        Property(
            lambda args, value: bool(np.isclose(args[0][-1, -2] * np.exp(value), args[0][-1, -1], rtol=1e-3)),
            "Try your slope out: in the last row, the neighbour's weight times e to the slope must be the "
            "query's own.",
        ),
    ),
    mistakes=(
        Mistake(
            "negative",
            lambda weights: -_slope_of(weights),
            "The sign is wrong. The nearer key weighs more, so take the logarithm of the nearer weight and "
            "subtract that of the farther one.",
        ),
        Mistake(
            "base-two",
            lambda weights: _slope_of(weights) / math.log(2),
            "This is the logarithm to base 2. The softmax raises e to the scores, so take the natural "
            "logarithm, np.log.",
        ),
        Mistake(
            "base-ten",
            lambda weights: _slope_of(weights) / math.log(10),
            "This is the logarithm to base 10. The softmax raises e to the scores, so take the natural "
            "logarithm, np.log.",
        ),
        Mistake(
            "ratio",
            lambda weights: float(weights[-1, -1] / weights[-1, -2]),
            "This is the ratio of two neighbouring weights, which is e to the slope. Take its logarithm.",
        ),
        Mistake(
            "difference",
            lambda weights: float(weights[-1, -1] - weights[-1, -2]),
            "This is the difference of two weights. A bias adds to the score, and so it multiplies the "
            "weight: compare by a ratio, or by the difference of the logarithms.",
        ),
        Mistake(
            "share-lost",
            lambda weights: float(1 - weights[-1, -2] / weights[-1, -1]),
            "This is the share of the weight that is lost from one key to the next, which is 1 - "
            "exp(-slope). Take the logarithm of the ratio.",
        ),
        Mistake(
            "down-a-column",
            lambda weights: _fall(weights[-2, 0], weights[-1, 0]),
            "You compare two rows. Each row was divided by a sum of its own, so weights of different queries "
            "cannot be compared. Compare two keys within one row.",
        ),
        Mistake(
            "first-key",
            lambda weights: _fall(weights[-1, -1], weights[-1, 0]) / (len(weights) - 1),
            "You measure down to the farthest key. In a steep head its weight is exactly 0, and the "
            "logarithm of 0 is minus infinity. Measure between the query and its nearest neighbour.",
        ),
        Mistake(
            "fence-posts",
            lambda weights: _fall(weights[-1, -1], weights[-1, 0]) / len(weights),
            "From the first of n keys to the last there are n - 1 steps, not n. And the farthest weight may "
            "be exactly 0: measure between neighbours near the query.",
        ),
        Mistake(
            "ratio-upside-down",
            lambda weights: float(weights[-1, -2] / weights[-1, -1]),
            "This is the ratio of two neighbouring weights, the farther by the nearer, which is e to minus "
            "the slope. Take its logarithm, and change the sign.",
        ),
        Mistake(
            "own-weight-alone",
            lambda weights: -math.log(weights[-1, -1]),
            "You used the query's own weight alone. How large it is depends on how many keys share the row: "
            "compare it with its neighbour.",
        ),
        Mistake(
            "two-steps",
            lambda weights: (
                _slope_of(weights) if len(weights) < 3 else _fall(weights[-1, -1], weights[-1, -3])
            ),
            "You measured over two steps. Compare neighbours, or divide by the number of steps.",
        ),
        Mistake(
            "one-added",
            lambda weights: math.log1p(weights[-1, -1] / weights[-1, -2]),
            "This is the logarithm of 1 plus the ratio. np.log1p gives that, and so do two weights of the "
            "first two rows, one above the other. Each row was divided by a sum of its own: take the "
            "logarithm of the ratio of two weights in one row.",
        ),
        Mistake(
            "share-of-the-others",
            lambda weights: float(1 - weights[-1, -2]),
            "You took the neighbour's weight from 1. A bias multiplies weights: take the ratio of two of "
            "them, and its logarithm.",
        ),
    ),
    alternatives=(_slope_by_fit, _slope_by_first_pair, _slope_by_ratios),
    hints=(
        "All scores are equal before the bias. By which factor does the bias make one key lighter than the "
        "next?",
        "Within one row, neighbouring weights differ by the factor e to the slope, whatever the row was "
        "divided by.",
        "The last row has the query's own weight at `weights[-1, -1]` and that of its neighbour at "
        "`weights[-1, -2]`. Take the logarithm of their ratio.",
    ),
)
