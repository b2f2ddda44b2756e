"""FIRE, from its formula: The network on each share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import (
    FIRE,
    Generator,
    late,
    shares_by_base,
    shares_by_loops,
    shares_by_rows,
)
from posenc_course.exercises.ch07_alibi_and_biases.fire_shares import shares_of_the_library
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.biased.fire import fire_bias


def _fire_cases(rng: Generator) -> Iterator[Case]:
    def weights(hidden: int, heads: int) -> tuple[Array, ...]:
        shapes = ((hidden,), (hidden,), (heads, hidden), (heads,))
        return tuple(rng.normal(size=shape) for shape in shapes)

    one = np.array([1.0]), np.array([-0.5]), np.array([[-2.0]]), np.array([0.25])
    yield Case("one hidden unit, one head, five tokens", (*one, 5, 5, 1.0, 2.0))
    yield Case("eight hidden units, three heads, five tokens", (*weights(8, 3), 5, 5, 0.5, 2.0))
    yield Case("as many hidden units as heads and tokens", (*weights(4, 4), 4, 4, 1.0, 2.0))
    yield Case("one new query, nine keys", (*weights(6, 2), 1, 9, 0.5, 3.0))
    yield Case("two new queries, seven keys", (*weights(5, 3), 2, 7, 2.0, 1.5))
    yield Case("one token", (*weights(3, 2), 1, 1, 1.0, 2.0))


def _relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


def _fire(
    w1: Array,
    b1: Array,
    w2: Array,
    b2: Array,
    queries: int,
    keys: int,
    c: float,
    threshold: float,
    *,
    read: Callable[..., Array] = shares_of_the_library,
    inner: Callable[[Array, Array, Array], Array] = lambda x, w1, b1: _relu(x * w1 + b1),
    outer: Callable[[Array, Array], Array] = lambda y, b2: y + b2,
    fill: float | None = -np.inf,
) -> Array:
    """The network on each share, (heads, queries, keys), each layer open to a slip."""
    hidden = inner(read(queries, keys, c, threshold)[..., None], w1, b1)
    bias = np.moveaxis(outer(hidden @ w2.T, b2), -1, 0)
    return bias if fill is None else np.where(late(queries, keys) > 0, fill, bias)


def _fire_with(**slip: Any) -> Callable[..., Array]:
    return lambda w1, b1, w2, b2, queries, keys, c, threshold: _fire(
        w1, b1, w2, b2, queries, keys, c, threshold, **slip
    )


def _right_fire(
    w1: Array, b1: Array, w2: Array, b2: Array, queries: int, keys: int, c: float, threshold: float
) -> Array:
    bias = fire_bias((w1[:, None], b1, w2, b2), queries, keys, c=c, threshold=threshold)
    return np.where(late(queries, keys) > 0, -np.inf, np.asarray(bias))


def _fire_by_loops(
    w1: Array, b1: Array, w2: Array, b2: Array, queries: int, keys: int, c: float, threshold: float
) -> Array:
    shares = shares_by_loops(queries, keys, c, threshold)
    bias = np.full((len(w2), queries, keys), -np.inf)
    for h, i, j in np.ndindex(*bias.shape):
        if j <= i + keys - queries:
            seen = [max(w * shares[i][j] + b, 0.0) for w, b in zip(w1, b1, strict=True)]
            bias[h, i, j] = b2[h] + sum(w * x for w, x in zip(w2[h], seen, strict=True))
    return bias


def _fire_by_einsum(
    w1: Array, b1: Array, w2: Array, b2: Array, queries: int, keys: int, c: float, threshold: float
) -> Array:
    hidden = w1[:, None, None] * shares_by_base(queries, keys, c, threshold) + b1[:, None, None]
    bias = np.einsum("hu,uqk->hqk", w2, hidden * (hidden > 0)) + b2[:, None, None]
    bias[:, ~np.tri(queries, keys, keys - queries, dtype=bool)] = -np.inf
    return bias


def _fire_head_by_head(
    w1: Array, b1: Array, w2: Array, b2: Array, queries: int, keys: int, c: float, threshold: float
) -> list[Array]:
    """A head at a time, a unit at a time."""
    shares = shares_by_rows(queries, keys, c, threshold)
    mask = np.where(np.tri(queries, keys, keys - queries) > 0, 0.0, -np.inf)
    units = [np.clip(w * shares + b, 0, None) for w, b in zip(w1, b1, strict=True)]
    return [
        mask + last + sum(w * x for w, x in zip(row, units, strict=True))
        for row, last in zip(w2, b2, strict=True)
    ]


FIRE_BIAS = Exercise(
    id="07-alibi-and-biases.fire_bias",
    title="The network on each share",
    step_of=FIRE,
    signature="fire_bias(w1: array of shape (hidden,), b1: (hidden,), w2: (heads, hidden), b2: (heads,), "
    "queries: int, keys: int, c: float, threshold: float) -> array of shape (heads, queries, keys)",
    points=2,
    minutes=10,
    difficulty=3,
    reference=lambda w1, b1, w2, b2, queries, keys, c, threshold: _right_fire(
        w1, b1, w2, b2, queries, keys, c, threshold
    ),
    make_cases=_fire_cases,
    where_not_finite="Minus infinity belongs to the keys after the query and to no others. Is the axis of "
    "the heads in front? And where there are fewer queries than keys, the last query is at the last key. A "
    "mask of zeros and ones times minus infinity is NaN where it is 0: choose with np.where.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[2]), args[4], args[5]),
            "The shape is (heads, queries, keys): one matrix for each head.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "no-relu",
            _fire_with(inner=lambda x, w1, b1: x * w1 + b1),
            "The hidden units are not cut off at 0, so the network is one straight line. Take "
            "np.maximum(..., 0) of them.",
        ),
        Mistake(
            "relu-at-the-end",
            _fire_with(outer=lambda y, b2: _relu(y + b2)),
            "You also cut off at 0 what comes out of the network. Only the hidden units are cut off: a bias "
            "may be negative.",
        ),
        Mistake(
            "relu-in-the-wrong-place",
            _fire_with(inner=lambda x, w1, b1: x * w1 + b1, outer=lambda y, b2: _relu(y + b2)),
            "The output was cut off at 0 in place of the hidden units. First the hidden units, cut off, and "
            "then w2 and b2.",
        ),
        Mistake(
            "relu-before-b1",
            _fire_with(inner=lambda x, w1, b1: _relu(x * w1) + b1),
            "The hidden units were cut off before b1 was added. Add it first.",
        ),
        Mistake(
            "without-b1",
            _fire_with(inner=lambda x, w1, b1: _relu(x * w1)),
            "The numbers b1 are missing: one for each hidden unit, added before it is cut off at 0.",
        ),
        Mistake(
            "without-b2",
            _fire_with(outer=lambda y, b2: y),
            "The numbers b2 are missing: one for each head, added at the end.",
        ),
        Mistake(
            "tanh",
            _fire_with(inner=lambda x, w1, b1: np.tanh(x * w1 + b1)),
            "The hidden units went through another curve, which bends everywhere. Here they are cut off at "
            "0: np.maximum(..., 0).",
        ),
        Mistake(
            "distances-read",
            _fire_with(read=lambda queries, keys, c, threshold: np.maximum(-late(queries, keys), 0)),
            "The network was fed the distance itself. It reads the share, from step 1.",
        ),
        Mistake(
            "as-a-penalty",
            lambda *args: np.where(late(args[4], args[5]) > 0, -np.inf, -_fire(*args)),
            "The sign is wrong. The network's output is the bias itself; it need not be a penalty.",
        ),
        Mistake(
            "hidden-as-if-square",
            lambda *args: np.where(np.tri(args[4], args[5]) > 0, _fire(*args), -np.inf),
            "Where there are fewer queries than keys, you hide keys that are not after the query: the last "
            "query is at the last key. Move the diagonal of your triangle by keys - queries.",
        ),
        Mistake(
            "future-open",
            _fire_with(fill=None),
            "Keys after the query are still open. Put minus infinity there.",
        ),
        Mistake(
            "zero-for-the-future",
            _fire_with(fill=0.0),
            "Keys after the query got 0, and may still be looked at. To hide a key, its score must be minus "
            "infinity.",
        ),
        Mistake(
            "heads-last",
            lambda *args: np.moveaxis(_fire(*args), 0, -1),
            "You put the heads on the last axis. Scores have the shape (heads, queries, keys).",
        ),
        Mistake(
            "sigmoid",
            _fire_with(inner=lambda x, w1, b1: 1 / (1 + np.exp(-(x * w1 + b1)))),
            "The hidden units went through a sigmoid. Here they are cut off at 0: np.maximum(..., 0).",
        ),
        Mistake(
            "absolute-value",
            _fire_with(inner=lambda x, w1, b1: np.abs(x * w1 + b1)),
            "You took the absolute value of the hidden units. Negative ones become 0: np.maximum(..., 0).",
        ),
        Mistake(
            "leaky",
            _fire_with(inner=lambda x, w1, b1: np.where(x * w1 + b1 > 0, 1.0, 0.01) * (x * w1 + b1)),
            "Your hidden units keep a hundredth of what is below 0. Here they are cut off: np.maximum(..., "
            "0).",
        ),
        Mistake(
            "b1-subtracted",
            _fire_with(inner=lambda x, w1, b1: _relu(x * w1 - b1)),
            "You subtracted b1. It is added.",
        ),
        Mistake(
            "b1-inside",
            _fire_with(inner=lambda x, w1, b1: _relu((x + b1) * w1)),
            "You added b1 to the share, before the multiplication by w1. Multiply first, then add.",
        ),
        Mistake(
            "mean-of-the-units",
            lambda w1, b1, w2, *rest: _fire(w1, b1, w2 / len(w1), *rest),
            "You took the mean over the hidden units. Each head adds them up, with its own weights.",
        ),
        Mistake(
            "first-b2-for-all",
            lambda w1, b1, w2, b2, *rest: _fire(w1, b1, w2, np.full_like(b2, b2[0]), *rest),
            "All heads got the first number of b2. Each head has its own.",
        ),
        Mistake(
            "b2-for-each-unit",
            lambda w1, b1, w2, b2, *rest: _fire(w1, b1, w2, b2 * len(w1), *rest),
            "You added b2 once for each hidden unit. It is added once, after the sum.",
        ),
        Mistake(
            "large-number",
            _fire_with(fill=-1e9),
            "You put a large negative number where minus infinity is wanted. Write -np.inf.",
        ),
    ),
    alternatives=(_fire_by_loops, _fire_by_einsum, _fire_head_by_head),
    hints=(
        "Give the shares one more axis behind, for the hidden units: `shares[..., None]`.",
        "`np.maximum(shares[..., None] * w1 + b1, 0)` has the shape (queries, keys, hidden). Then `@ w2.T + "
        "b2`.",
        "The heads are behind now: `np.moveaxis(bias, -1, 0)`. Hide what lies after the query with "
        "`np.where(..., -np.inf, bias)`.",
    ),
)
