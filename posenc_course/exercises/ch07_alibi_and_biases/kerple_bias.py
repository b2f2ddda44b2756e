"""KERPLE: two numbers per head."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import Generator, _gap, late
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.biased.kerple import kerple_bias


def _kerple_cases(rng: Generator) -> Iterator[Case]:
    def two(heads: int) -> tuple[Array, Array]:
        return rng.uniform(0.3, 2.0, size=heads), rng.uniform(0.2, 1.8, size=heads)

    yield Case("one head, three tokens, log", (np.array([1.0]), np.array([1.0]), 3, 3, "log"))
    yield Case("one head, three tokens, power", (np.array([0.5]), np.array([0.5]), 3, 3, "power"))
    yield Case("three heads, five tokens, log", (*two(3), 5, 5, "log"))
    yield Case("three heads, five tokens, power", (*two(3), 5, 5, "power"))
    yield Case("as many heads as tokens, log", (*two(4), 4, 4, "log"))
    yield Case("one new query, six keys in the cache, log", (*two(2), 1, 6, "log"))
    yield Case("two new queries, five keys, power", (*two(2), 2, 5, "power"))
    yield Case("one token", (*two(2), 1, 1, "log"))


def _kerple(
    r1: Array,
    r2: Array,
    queries: int,
    keys: int,
    kind: str,
    *,
    log: Callable[[Array, Array, Array], Array] = lambda r1, r2, d: -r1 * np.log(1 + r2 * d),
    power: Callable[[Array, Array, Array], Array] = lambda r1, r2, d: -r1 * d**r2,
    gap: Callable[[int, int], Array] | None = None,
) -> Array:
    """Both kinds, each open to a slip."""
    distance = np.abs((gap or late)(queries, keys)).astype(float)
    with np.errstate(all="ignore"):
        chosen = log if kind == "log" else power
        return np.asarray(chosen(r1[:, None, None], r2[:, None, None], distance))


def _kerple_with(**slip: Any) -> Callable[..., Array]:
    return lambda r1, r2, queries, keys, kind: _kerple(r1, r2, queries, keys, kind, **slip)


def _kerple_by_loops(r1: Array, r2: Array, queries: int, keys: int, kind: str) -> Array:
    bias = np.zeros((len(r1), queries, keys))
    for h, i, j in np.ndindex(*bias.shape):
        distance = abs(i + keys - queries - j)
        bias[h, i, j] = -r1[h] * (math.log1p(r2[h] * distance) if kind == "log" else distance ** r2[h])
    return bias


def _kerple_by_factors(r1: Array, r2: Array, queries: int, keys: int, kind: str) -> list[Array]:
    """The factor on the weight first, where there is one."""
    distance = np.abs(np.arange(keys) - np.arange(keys - queries, keys)[:, None]) * 1.0
    heads = []
    for one, two in zip(r1, r2, strict=True):
        heads.append(
            np.log((1 + two * distance) ** -one) if kind == "log" else -one * np.power(distance, two)
        )
    return heads


def _kerple_by_one_row(r1: Array, r2: Array, queries: int, keys: int, kind: str) -> Array:
    """The penalty of each distance once, and picked for each pair."""
    row = np.arange(max(queries, keys))
    table = np.log1p(np.outer(r2, row)) if kind == "log" else np.power.outer(row, r2).T
    return np.asarray(-(r1[:, None] * table)[:, np.abs(late(queries, keys))])


KERPLE_BIAS = Exercise(
    id="07-alibi-and-biases.kerple_bias",
    title="KERPLE: two numbers per head",
    signature='kerple_bias(r1: array of shape (heads,), r2: (heads,), queries: int, keys: int, kind: "log" '
    "or "
    '"power") -> array of shape (heads, queries, keys)',
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda kerple_bias, across, up: curve(
            np.arange(40),
            {
                kind: np.asarray(kerple_bias(np.array([1.0]), np.array([0.5]), 40, 40, kind))[0, -1, ::-1]
                for kind in ("log", "power")
            },
            across=across,
            up=up,
        ),
        axes=("distance", "bias"),
        look="The logarithm falls fast at first and then hardly at all; the power keeps falling.",
    ),
    reference=lambda r1, r2, queries, keys, kind: np.asarray(kerple_bias(r1, r2, queries, keys, kind=kind)),
    make_cases=_kerple_cases,
    where_not_finite="Three things to look at. No key is hidden here. A distance is never negative: take "
    "the absolute value first. And the logarithm is taken of 1 + r2 · distance, which is never 0.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[2], args[3]),
            "The shape is (heads, queries, keys): one matrix for each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) <= 0)),
            "Both kinds are penalties: no number is above 0.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value)[:, -1, -1] == 0)),
            "The last query is at the last key, at distance 0, where both kinds give 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "reward",
            lambda r1, r2, queries, keys, kind: -_kerple(r1, r2, queries, keys, kind),
            "The sign is wrong: far keys are rewarded. Both kinds have a minus.",
        ),
        Mistake(
            "exchanged",
            lambda r1, r2, queries, keys, kind: _kerple(r2, r1, queries, keys, kind),
            "The numbers r1 and r2 are swapped: r1 goes in front, and r2 inside, with the distance.",
        ),
        Mistake(
            "always-log",
            lambda r1, r2, queries, keys, kind: _kerple(r1, r2, queries, keys, "log"),
            'The logarithmic kind comes out whatever kind says. For "power" the distance is raised to r2.',
        ),
        Mistake(
            "always-power",
            lambda r1, r2, queries, keys, kind: _kerple(r1, r2, queries, keys, "power"),
            'The power kind comes out whatever kind says. For "log" take the logarithm of 1 + r2 · distance.',
        ),
        Mistake(
            "r2-outside",
            _kerple_with(log=lambda r1, r2, d: -r1 * r2 * np.log(1 + d)),
            "In the logarithmic kind your r2 is outside the logarithm. It multiplies the distance, inside.",
        ),
        Mistake(
            "r1-inside",
            _kerple_with(log=lambda r1, r2, d: -np.log(1 + r1 * r2 * d)),
            "In the logarithmic kind your r1 is inside the logarithm. It multiplies the whole of it.",
        ),
        Mistake(
            "one-multiplied-too",
            _kerple_with(log=lambda r1, r2, d: -r1 * np.log(np.maximum(r2 * (1 + d), 1e-300))),
            "In the logarithmic kind the 1 was multiplied by r2 as well: it is 1 + r2 · distance.",
        ),
        Mistake(
            "base-two",
            _kerple_with(log=lambda r1, r2, d: -r1 * np.log2(1 + r2 * d)),
            "This is the logarithm to base 2. The formula means the natural one, np.log or np.log1p.",
        ),
        Mistake(
            "product-to-the-power",
            _kerple_with(power=lambda r1, r2, d: -((r1 * d) ** r2)),
            "In the power kind r1 was raised to r2 together with the distance. Raise the distance alone.",
        ),
        Mistake(
            "power-as-product",
            _kerple_with(power=lambda r1, r2, d: -r1 * r2 * d),
            "In the power kind the distance was multiplied by r2. It is raised to r2.",
        ),
        Mistake(
            "queries-from-zero",
            _kerple_with(gap=lambda queries, keys: _gap(np.arange(queries), np.arange(keys))),
            "The queries were placed at the first positions. They are the newest tokens: query i is at "
            "position i + keys - queries.",
        ),
        Mistake(
            "factor-on-the-weight",
            lambda r1, r2, queries, keys, kind: np.exp(_kerple(r1, r2, queries, keys, kind)),
            "This is the factor on the weight. The bias is added to the score, before the softmax raises e "
            "to "
            "it: leave the exponential to the softmax.",
        ),
        Mistake(
            "future-hidden",
            lambda r1, r2, queries, keys, kind: np.where(
                late(queries, keys) > 0, -np.inf, _kerple(r1, r2, queries, keys, kind)
            ),
            "The keys after the query are hidden by minus infinity. That is what a mask is for, and here "
            "there is none to apply: give them the penalty of their distance as well.",
        ),
        Mistake(
            "future-free",
            lambda r1, r2, queries, keys, kind: np.where(
                late(queries, keys) > 0, 0.0, _kerple(r1, r2, queries, keys, kind)
            ),
            "Keys after the query got 0, the best bias of all. They are penalised by their distance as "
            "well: take its absolute value.",
        ),
        Mistake(
            "base-ten",
            _kerple_with(log=lambda r1, r2, d: -r1 * np.log10(1 + r2 * d)),
            "This is the logarithm to base 10. The formula means the natural one, np.log or np.log1p.",
        ),
        Mistake(
            "first-head-for-all",
            lambda r1, r2, queries, keys, kind: _kerple(
                np.full_like(r1, r1[0]), np.full_like(r2, r2[0]), queries, keys, kind
            ),
            "All heads got the numbers of the first. Each has its own: r1[:, None, None] and r2[:, None, "
            "None].",
        ),
        Mistake(
            "kinds-exchanged",
            lambda r1, r2, queries, keys, kind: _kerple(
                r1, r2, queries, keys, {"log": "power", "power": "log"}[kind]
            ),
            "The two kinds are swapped.",
        ),
        Mistake(
            "distance-from-one",
            _kerple_with(power=lambda r1, r2, d: -r1 * (1 + d) ** r2),
            "In the power kind you added 1 to the distance. The query's own key is at distance 0, and gets "
            "0.",
        ),
        Mistake(
            "power-upside-down",
            _kerple_with(power=lambda r1, r2, d: -r1 * r2**d),
            "In the power kind r2 was raised to the distance. Raise the distance to r2.",
        ),
    ),
    alternatives=(_kerple_by_loops, _kerple_by_factors, _kerple_by_one_row),
    hints=(
        "The last query is at the last key. Make an array of distances first, of shape (queries, keys).",
        "`np.abs(np.arange(keys) - np.arange(keys - queries, keys)[:, None])`.",
        "`r1[:, None, None]` and `r2[:, None, None]` broadcast against it. `np.log1p(x)` is log(1 + x).",
    ),
)
