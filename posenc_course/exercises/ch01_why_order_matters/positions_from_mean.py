"""Read a position from an average."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch01_why_order_matters._shared import Generator, quietly
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _mean_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, positions: list[int] | Array, first: float, other: float) -> Case:
        t = np.asarray(positions)
        return Case(label, ((first + other * t) / (t + 1), first, other))

    yield case("positions 0 to 5, first value 1, all others 0", np.arange(6), 1.0, 0.0)
    yield case("out of order", [4, 1, 3, 0, 2], 1.0, 0.0)
    yield case("first value 5, all others 2", [3, 0, 7], 5.0, 2.0)
    yield case("first value below the others", [0, 6, 1, 2], -1.5, 3.0)
    yield case("first value 0, all others 1", [2, 0, 5], 0.0, 1.0)
    yield case("only the token at position 0", [0], 2.0, 0.5)
    yield case("far away", [1_000_000, 1000, 10], 1.0, 0.0)
    yield case("random values", rng.integers(0, 50, size=8), 1.0 + rng.random(), -1.0 - rng.random())


def _positions_by_multiples(means: Array, first: float, other: float) -> list[float]:
    found = []
    for mean in means:
        share = (mean - other) / (first - other)  # 1 / (t + 1)
        found.append((1 - share) / share)
    return found


def _positions(args: tuple[Any, ...]) -> Array:
    means, first, other = args
    return (first - means) / (means - other)


def _not_cut_off(args: tuple[Any, ...], value: Any) -> bool:
    """False where some are one too small, and all others right, of which not all are 0."""
    right = _positions(args)
    short = np.round(right - np.asarray(value), 6)
    return not (np.isin(short, (0.0, 1.0)).all() and 0 < np.sum(short) < np.sum(right > 0.5))


def _not_a_numbering(args: tuple[Any, ...], value: Any) -> bool:
    right = np.sort(np.round(_positions(args)))
    count = np.arange(len(right))
    return len(right) < 2 or bool((right == count).all()) or not (np.sort(value) == count).all()


POSITIONS_FROM_MEAN = Exercise(
    id="01-why-order-matters.positions_from_mean",
    title="Read a position from an average",
    signature="positions_from_mean(means: array of shape (n,), first: float, other: float) "
    "-> array of shape (n,)",
    points=2,
    minutes=8,
    difficulty=3,
    reference=lambda means, first, other: (first - means) / (means - other),
    make_cases=_mean_cases,
    properties=(
        Property(
            lambda args, value: bool(np.allclose(np.asarray(value)[args[0] == args[1]], 0.0)),
            "The token at position 0 sees only itself: where the mean is equal to first, the position is 0.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) > -1e-6)),
            "Positions count from 0 upwards; some of yours are negative.",
        ),
        Property(
            _not_cut_off,
            "Some positions are one too small. Rounding turns 42 into 41.9999999, and cutting the fraction "
            "off makes it 41. Use np.round, or leave the numbers as they come.",
            about="form",  # int() gives whole numbers, of which no more would be told
        ),
        Property(
            _not_a_numbering,
            "Your positions are just 0, 1, 2 and so on, in some order. The tokens may come from anywhere in "
            "the sequence: compute each position from its own mean.",
        ),
    ),
    mistakes=(
        Mistake(
            "count",
            lambda means, first, other: (first - other) / (means - other),
            "That is the number of tokens that the query sees, itself included. Positions count from 0, so "
            "the position is one less.",
        ),
        Mistake(
            "one-too-small",
            lambda means, first, other: np.maximum((first - means) / (means - other) - 1, 0),
            "Each position except 0 is one too small. The token at position t sees t + 1 tokens: take 1 away "
            "from that number, and nothing from t itself.",
        ),
        Mistake(
            "other-ignored",
            lambda means, first, other: quietly(lambda: np.divide(first, means)) - 1,
            "This is right while the other tokens hold 0. Here they hold the value other, and it is part "
            "of the mean: take other away from first and from the means before you divide.",
        ),
        Mistake(
            "mark-taken-as-one",
            lambda means, first, other: quietly(lambda: np.divide(1.0, means)) - 1,
            "This is the formula for a first value of 1 and others of 0. Here both are arguments: solve "
            "mean = (first + t * other) / (t + 1) for t.",
        ),
        Mistake(
            "in-order",
            lambda means, first, other: np.arange(len(means)),
            "You number the means in the order in which they are given. They may come from any tokens, in "
            "any order: compute each position from its mean.",
        ),
        Mistake(
            "swapped",
            lambda means, first, other: quietly(lambda: np.divide(other - means, means - first)),
            "The values first and other are swapped. At position 0 the mean is first, and far away "
            "it comes close to other.",
        ),
        Mistake(
            "share",
            lambda means, first, other: (first - means) / (first - other),
            "That is t / (t + 1), the share of the other tokens in the mean. Divide by means - other "
            "instead of first - other to get t itself.",
        ),
        Mistake(
            "share-of-the-first",
            lambda means, first, other: (means - other) / (first - other),
            "That is 1 / (t + 1), the share of the first token in the mean. One more step: turn it upside "
            "down, and take 1 away.",
        ),
        Mistake(
            "negative",
            lambda means, first, other: (first - means) / (other - means),
            "The denominator has the wrong sign, so your positions are negative. Divide by means - other.",
        ),
    ),
    alternatives=(
        lambda means, first, other: (first - other) / (means - other) - 1,
        lambda means, first, other: np.round((first - other) / (means - other)) - 1,
        _positions_by_multiples,
    ),
    hints=(
        "The token at position t sees t + 1 tokens: the first one, and t others. Write down their mean.",
        "`mean = (first + t * other) / (t + 1)`. Multiply by `t + 1` and bring everything with t to one "
        "side.",
        "With `first = 1` and `other = 0` your formula must become `1 / mean - 1`.",
    ),
)
