"""A query that speaks up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array

STEPS = np.arange(0, 131_072, 64)


def _scale_cases(rng: Generator) -> Iterator[Case]:
    yield Case("around the first step", (np.array([0, 8190, 8191, 8192]), 0.1, 8192))
    yield Case("far out", (np.array([131_071, 1_000_000, 9_999_999]), 0.1, 8192))
    yield Case("one position", (np.array([20]), 0.5, 4))
    yield Case("beta 0 changes nothing", (np.arange(5), 0.0, 2))
    yield Case("a step at every position", (np.arange(4), 1.0, 1))
    for _ in range(3):
        length = int(rng.integers(3, 60))
        yield Case("drawn", (rng.integers(0, 2000, size=6), float(rng.uniform(0.05, 2)), length))


def _scale_with(
    steps: Callable[[Array, int], Array], log: Callable[[Array], Array] = np.log
) -> Callable[[Array, float, int], Array]:
    return lambda positions, beta, length: 1 + beta * log(1 + steps(np.asarray(positions), length))


_query_scale = _scale_with(lambda p, length: (p + 1) // length)


QUERY_SCALE = Exercise(
    id="08-long-context.query_scale",
    title="A query that speaks up",
    signature="query_scale(positions: array of shape (n,) of ints, beta: float, length: int) -> array of "
    "shape (n,)",
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda query_scale, across, up: curve(
            STEPS, {"": query_scale(STEPS, 0.1, 8192)}, across=across, up=up
        ),
        axes=("position of the query", "factor"),
        look="It starts at 1 and grows in steps, each smaller than the one before.",
    ),
    reference=_query_scale,
    make_cases=_scale_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one factor for each position.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "no-fraction-cut",
            _scale_with(lambda p, length: (p + 1) / length),
            "Cut the fraction off: within each stretch of that many positions, the factor stays the same.",
        ),
        Mistake(
            "counted-from-zero",
            _scale_with(lambda p, length: p // length),
            "Your steps come one position late. The position is counted from 1 in this formula, p + 1, and "
            "the quotient is rounded down before 1 is added. (Rounding up instead is not the same.)",
        ),
        Mistake(
            "one-outside-missing",
            lambda *args: _query_scale(*args) - 1,
            "The 1 in front is missing, so the first queries would be multiplied by 0.",
        ),
        Mistake(
            "one-inside-missing",
            lambda positions, beta, length: 1 + beta * np.log(np.maximum((positions + 1) // length, 1)),
            "The 1 inside the logarithm is missing. The factor should grow at the first step already, by "
            "beta times the logarithm of 2.",
        ),
        Mistake(
            "log-of-two",
            _scale_with(lambda p, length: (p + 1) // length, np.log2),
            "You took the logarithm to base 2. It is the natural one.",
        ),
        Mistake(
            "log-of-ten",
            _scale_with(lambda p, length: (p + 1) // length, np.log10),
            "You took the logarithm to base 10. It is the natural one.",
        ),
        Mistake(
            "rounded-up",
            _scale_with(lambda p, length: -(-(p + 1) // length)),
            "Your first positions should get the factor 1. Do you round up, or add the 1 after dividing? It "
            "is (p + 1) // length.",
        ),
        Mistake(
            "beta-inside",
            lambda positions, beta, length: 1 + np.log(1 + beta * ((positions + 1) // length)),
            "Beta is inside your logarithm. It should multiply the logarithm.",
        ),
        Mistake(
            "last-for-all",
            lambda positions, beta, length: np.full(
                len(positions), _query_scale(np.array([np.max(positions) + 1]), beta, length)[0]
            ),
            "All your queries get the same factor, that of the end of the text. Each query has its own, "
            "by its position.",
        ),
        Mistake(
            "log-of-the-ratio",
            lambda positions, beta, length: np.log(positions + 2) / np.log(length + 1),
            "You divide two logarithms, which is the rule before this one in the chapter. Llama 4 adds: 1 "
            "plus "
            "beta times one logarithm.",
        ),
        Mistake(
            "rounded",
            _scale_with(lambda p, length: np.round((p + 1) / length)),
            "You round to the nearest whole number. The fraction is cut off: use //.",
        ),
        Mistake(
            "logarithm-cut",
            lambda positions, beta, length: 1 + beta * np.floor(np.log(1 + (positions + 1) / length)),
            "You cut off the fraction of the logarithm. Cut the fraction of the division, then take the "
            "logarithm.",
        ),
        Mistake(
            "log-of-nothing",
            lambda positions, beta, length: 1 + beta * np.log((positions + 1) // length),
            "The 1 inside the logarithm is missing: for the first positions the quotient is 0, and 0 has "
            "no logarithm.",
        ),
        Mistake(
            "brackets-missing",
            lambda positions, beta, length: 1 + beta * np.log(1 + (positions + 1 // length)),
            "Python divides before it adds: 1 // length comes first. Put p + 1 in brackets.",
        ),
        Mistake(
            "beta-times-everything",
            lambda positions, beta, length: beta * (1 + np.log(1 + (positions + 1) // length)),
            "Beta multiplies the 1 in front as well. It should multiply only the logarithm.",
        ),
        Mistake(
            "one-plus-beta",
            lambda positions, beta, length: (1 + beta) * np.log(1 + (positions + 1) // length),
            "You multiply the logarithm by 1 plus beta, so the first queries would be multiplied by 0. "
            "The 1 in front is added.",
        ),
        Mistake(
            "no-logarithm",
            lambda positions, beta, length: 1 + beta * ((positions + 1) // length),
            "The logarithm is missing: all your steps have the same height. They should get smaller.",
        ),
        Mistake(
            "counted-from-minus-one",
            lambda positions, beta, length: 1 + beta * np.log(1 + (positions - 1) // length),
            "You subtract 1 from the position, and for position 0 the logarithm is that of 0. Add 1.",
        ),
    ),
    alternatives=(
        lambda positions, beta, length: [
            1 + beta * math.log(math.floor((p + 1) / length) + 1) for p in positions.tolist()
        ],
        lambda positions, beta, length: beta * np.log1p(np.floor((positions + 1.0) / length)) + 1,
        lambda *args: np.asarray(_query_scale(*args), dtype=np.float64).tolist(),
    ),
    hints=(
        "For whole numbers `//` divides and cuts off the fraction.",
        "What should come out for positions 0 to length - 2? There the quotient is 0, and the factor is 1.",
        "Put together: 1, plus `beta` times `np.log` of 1 plus that whole number.",
    ),
)
