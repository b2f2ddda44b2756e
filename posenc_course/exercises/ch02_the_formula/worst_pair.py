"""The worst pair: The two that are hardest to tell apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import BASE, WORST, _distances, _turned
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies


def _chosen(
    score: Callable[[np.ndarray, int, float], np.ndarray] = _distances,
    *,
    most: bool = False,
    longest: int = 0,
) -> Callable[[int, int, float], tuple[int, int]]:
    """The pair (0, offset) whose score is least, among offsets up to length - 1 + longest."""

    def pair(length: int, dim: int, base: float) -> tuple[int, int]:
        offsets = np.arange(1, length + longest)
        scores = score(offsets, dim, base)
        return 0, int(offsets[np.argmax(scores) if most else np.argmin(scores)])

    return pair


_worst_pair = _chosen()


def _worst_pair_by_loop(length: int, dim: int, base: float) -> tuple[int, int]:
    best, worst = np.inf, 1
    for offset in range(1, length):
        angles = offset * frequencies(dim, base=base)
        if (distance := float(np.sum(2 - 2 * np.cos(angles)))) < best:
            best, worst = distance, offset
    return 0, worst


def _worst_pair_by_products(length: int, dim: int, base: float) -> list[int]:
    table = sinusoidal(length, dim, base=base)
    products = table[1:] @ table[0]
    return [0, 1 + int(np.argmax(products))]


def _changed(rule: Callable[[int, int], tuple[int, int]]) -> Callable[[int, int, float], tuple[int, int]]:
    """What the rule makes of (length, the right offset)."""
    return lambda length, dim, base: rule(length, _worst_pair(length, dim, base)[1])


def _is_least(offset: float, length: int, dim: int, base: float) -> bool:
    least = _distances(np.arange(1, length), dim, base).min()
    return bool(_distances(np.asarray([offset]), dim, base)[0] <= 1.0001 * least)


def _winner_is_clear(length: int, dim: int, base: float) -> bool:
    """Whether no way of rounding changes which offset is worst."""
    first, second = np.sort(_distances(np.arange(1, length), dim, base))[:2]
    return bool(second - first > 1e-3 * second)


def _pair_cases(rng: np.random.Generator) -> Iterator[Case]:
    drawn: list[tuple[int, int, float]] = []
    while len(drawn) < 5:
        asked = int(rng.integers(50, 3000)), int(2 * rng.integers(2, 4)), float(rng.integers(30, 3000))
        if _winner_is_clear(*asked):
            drawn.append(asked)
    for length, dim, base in (
        (10_000, 4, BASE),
        (10_000, 2, BASE),
        (1885, 4, BASE),
        (1886, 4, BASE),
        (1000, 6, BASE),
        (100, 64, BASE),
        (2, 4, BASE),
        *drawn,
    ):
        yield Case(f"{length:,} positions at width {dim}, base {base:g}", (length, dim, base))


WORST_PAIR = Exercise(
    id="02-the-formula.worst_pair",
    title="The two that are hardest to tell apart",
    signature="worst_pair(length: int, dim: int, base: float) -> (int, int), the smaller position first",
    step_of=WORST,
    points=3,
    minutes=10,
    difficulty=3,
    reference=lambda length, dim, base: _worst_pair(length, dim, base),
    make_cases=_pair_cases,
    parts=("the smaller position", "the larger position"),
    relative_tolerance=1e-9,
    properties=(
        Property(
            lambda args, value: 0 <= value[0] < value[1] < args[0],
            "The two must be different positions from 0 to length - 1, the smaller one first.",
        ),
        Property(
            lambda args, value: value[0] >= value[1] or _is_least(value[1] - value[0], *args),
            "Two other positions are nearer to each other than yours. Try every offset from 1 to length - "
            "1, at the width and the base that are given.",
        ),
    ),
    mistakes=(
        Mistake(
            "neighbours",
            _changed(lambda length, offset: (0, 1)),
            "Neighbours are not always the worst pair. At a small width all clocks can come back together "
            "after many turns: try every offset.",
        ),
        Mistake(
            "farthest",
            _chosen(most=True),
            "These are the two that are easiest to tell apart. Take the smallest distance.",
        ),
        Mistake(
            "least-product",
            _chosen(lambda offsets, dim, base: np.cos(_turned(offsets, dim, base)).sum(axis=-1) ** 2),
            "This is the pair whose rows are nearest to a right angle. Rows that are hard to tell apart "
            "point the same way.",
        ),
        Mistake(
            "with-itself",
            _changed(lambda length, offset: (0, 0)),
            "A position was compared with itself. Leave the offset 0 out.",
        ),
        Mistake(
            "one-offset-too-many",
            _chosen(longest=1),
            "The offset goes up to length, one too far: the last position is length - 1.",
        ),
        Mistake(
            "first-clock-alone",
            _chosen(lambda offsets, dim, base: 1 - np.cos(_turned(offsets, dim, base)[..., 0])),
            "You look at the first clock only. It often returns to the same time, and there the others tell "
            "the two positions apart.",
        ),
        Mistake(
            "base-10000",
            lambda length, dim, base: _worst_pair(length, dim, BASE),
            "The base was taken as 10000. Use the one that is given.",
        ),
        Mistake(
            "last-of-those-that-tie",
            _changed(lambda length, offset: (length - 1 - offset, length - 1)),
            "Your offset is right, and this pair ties with the right one. Of all pairs that tie, give the "
            "first: it begins at position 0.",
        ),
        Mistake(
            "counted-from-1",
            _changed(lambda length, offset: (1, 1 + offset)),
            "Your offset is right, and the first pair with that offset begins at position 0.",
        ),
        Mistake(
            "larger-first",
            _changed(lambda length, offset: (offset, 0)),
            "The two positions are right, and in the wrong order: the smaller one comes first.",
        ),
        Mistake(
            "number-in-the-list",
            _changed(lambda length, offset: (0, offset - 1)),
            "The larger position is one too small. Your offsets begin at 1, and np.argmin counts from 0: it "
            "returns a place in the list, not the offset.",
        ),
        Mistake(
            "last-clock-alone",
            _chosen(lambda offsets, dim, base: 1 - np.cos(_turned(offsets, dim, base)[..., -1])),
            "You look at the last clock only. Where it points the same way at two positions, the others "
            "tell them apart.",
        ),
    ),
    alternatives=(
        _worst_pair_by_loop,
        _worst_pair_by_products,
        lambda length, dim, base: np.asarray(_worst_pair(length, dim, base)),
    ),
    hints=(
        "There are nearly 50 million pairs below 10,000, and you need not compare them all. On what alone "
        "does the distance depend?",
        "Among all pairs with the same offset, which one is first? So one of the two numbers is known.",
        "Call your `distances` on all offsets from 1 to length - 1, and take the place of the smallest with "
        "`np.argmin`. Mind that place 0 holds offset 1.",
    ),
)
