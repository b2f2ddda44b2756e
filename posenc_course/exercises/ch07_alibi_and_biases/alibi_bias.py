"""Your decoder gets ALiBi: ALiBi, causal and symmetric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import ALIBI, Generator, _gap, late
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.biased.alibi import alibi_bias


def _alibi_cases(rng: Generator) -> Iterator[Case]:
    def slopes(heads: int) -> Array:
        return np.sort(rng.uniform(0.05, 0.9, size=heads))[::-1].copy()

    yield Case("two heads, three tokens, causal", (np.array([0.5, 0.25]), 3, 3, True))
    yield Case("two heads, three tokens, symmetric", (np.array([0.5, 0.25]), 3, 3, False))
    yield Case("one token", (slopes(1), 1, 1, True))
    yield Case("three heads, five tokens, causal", (slopes(3), 5, 5, True))
    yield Case("as many heads as tokens, symmetric", (slopes(4), 4, 4, False))
    yield Case("one new query, six keys in the cache", (slopes(2), 1, 6, True))
    yield Case("two new queries, five keys, causal", (slopes(3), 2, 5, True))
    yield Case("two queries, five keys, symmetric", (slopes(3), 2, 5, False))


def _lifted(slopes: Array, gap: Array, causal: bool, *, hidden: Any = None, fill: float = -np.inf) -> Array:
    bias = -np.asarray(slopes)[:, None, None] * np.abs(gap)
    if not causal:
        return np.asarray(bias)
    return np.where(gap > 0 if hidden is None else hidden, fill, bias)


def _hidden_ahead(bias: Array, gap: Array, causal: bool) -> Array:
    return np.where(gap > 0, -np.inf, bias) if causal else bias


def _same_row_for_every_query(slopes: Array, queries: int, keys: int, causal: bool) -> Array:
    if not causal:
        return _lifted(slopes, late(queries, keys), False)
    row = slopes[:, None, None] * (np.arange(keys) - (keys - 1.0))
    return _hidden_ahead(row, late(queries, keys), True)


def _right_bias(slopes: Array, queries: int, keys: int, causal: bool) -> Array:
    bias = np.asarray(alibi_bias(len(slopes), queries, keys, causal=causal, slopes=slopes))
    return _hidden_ahead(bias, late(queries, keys), causal)


def _bias_by_loops(slopes: Array, queries: int, keys: int, causal: bool) -> Array:
    bias = np.zeros((len(slopes), queries, keys))
    for h, slope in enumerate(slopes):
        for i in range(queries):
            here = i + keys - queries
            for j in range(keys):
                bias[h, i, j] = -np.inf if causal and j > here else -slope * abs(here - j)
    return bias


def _bias_by_one_row(slopes: Array, queries: int, keys: int, causal: bool) -> list[Array]:
    """The numbers of all offsets once, and each query its own stretch of them."""
    offsets = np.arange(1 - keys, queries)
    heads = []
    for slope in slopes:
        row = np.where(offsets > 0, -np.inf, slope * offsets) if causal else -slope * np.abs(offsets)
        heads.append(np.stack([row[queries - 1 - i : queries - 1 - i + keys] for i in range(queries)]))
    return heads


def _bias_by_mask(slopes: Array, queries: int, keys: int, causal: bool) -> Array:
    positions = np.arange(keys)
    distance = np.abs(positions[-queries:, None] - positions)
    bias = np.einsum("h,qk->hqk", -slopes, distance)
    if causal:
        bias[:, ~np.tri(queries, keys, keys - queries, dtype=bool)] = -np.inf
    return bias


ALIBI_BIAS = Exercise(
    id="07-alibi-and-biases.alibi_bias",
    title="ALiBi, causal and symmetric",
    step_of=ALIBI,
    adds="Your decoder gets ALiBi's bias: a number for each head, query and key, to add to its scores.",
    signature="alibi_bias(slopes: array of shape (heads,), queries: int, keys: int, causal: bool) "
    "-> array of shape (heads, queries, keys)",
    points=3,
    minutes=12,
    difficulty=2,
    draws=Draws(
        lambda alibi_bias, rows, columns: heat_map(
            np.asarray(alibi_bias(np.array([0.25]), 24, 24, True))[0], rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="The further back a key lies, the more is taken off its score.",
    ),
    reference=_right_bias,
    where_not_finite="Minus infinity belongs to the keys after the query and to no others, and only with "
    "causal=True. Where there are fewer queries than keys, the last query is at the last key.",
    make_cases=_alibi_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1], args[2]),
            "The shape is (heads, queries, keys): one matrix for each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) <= 0)),
            "ALiBi is a penalty: no number of the bias is above 0.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value)[:, -1, -1] == 0)),
            "The last query is at the last key, so their distance and their bias are 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "reward",
            lambda slopes, queries, keys, causal: _hidden_ahead(
                slopes[:, None, None] * np.abs(late(queries, keys)), late(queries, keys), causal
            ),
            "The sign is wrong: far keys are rewarded. The bias is minus slope times distance.",
        ),
        Mistake(
            "queries-from-zero",
            lambda slopes, queries, keys, causal: _lifted(
                slopes, _gap(np.arange(queries), np.arange(keys)), causal
            ),
            "The queries were placed at the first positions. With a cache of keys they are the newest "
            "tokens: query i is at position i + keys - queries.",
        ),
        Mistake(
            "mask-forgotten",
            lambda slopes, queries, keys, causal: _lifted(slopes, late(queries, keys), False),
            "With causal=True the keys after the query are still open. Put minus infinity there.",
        ),
        Mistake(
            "raw-offset",
            lambda slopes, queries, keys, causal: (
                slopes[:, None, None] * late(queries, keys)
                if causal
                else _lifted(slopes, late(queries, keys), False)
            ),
            "With causal=True the keys after the query have a positive bias, slope times (key - query). "
            "They should be hidden: put minus infinity there.",
        ),
        Mistake(
            "always-causal",
            lambda slopes, queries, keys, causal: _lifted(slopes, late(queries, keys), True),
            "The keys after the query are hidden even with causal=False. An encoder looks both ways: there "
            "the bias is minus slope times the distance on both sides.",
        ),
        Mistake(
            "zero-for-the-future",
            lambda slopes, queries, keys, causal: _lifted(slopes, late(queries, keys), causal, fill=0.0),
            "Keys after the query got 0, which is the best bias of all. To hide a key, its score must be "
            "minus infinity.",
        ),
        Mistake(
            "large-number",
            lambda slopes, queries, keys, causal: _lifted(slopes, late(queries, keys), causal, fill=-1e9),
            "You put a large negative number where minus infinity is wanted. That often works, but not "
            "where a whole row is hidden or where float16 cannot hold it. Write -np.inf.",
        ),
        Mistake(
            "past-hidden",
            lambda slopes, queries, keys, causal: _lifted(
                slopes, late(queries, keys), causal, hidden=late(queries, keys) < 0
            ),
            "The wrong side is hidden: with causal=True a query looks at itself and at what came before. "
            "Hide the keys with key > query.",
        ),
        Mistake(
            "self-hidden",
            lambda slopes, queries, keys, causal: _lifted(
                slopes, late(queries, keys), causal, hidden=late(queries, keys) >= 0
            ),
            "The query's own key is hidden too. A token may look at itself: hide only the keys with key > "
            "query.",
        ),
        Mistake(
            "from-one",
            lambda slopes, queries, keys, causal: _lifted(
                slopes, np.sign(late(queries, keys) - 0.5) * (np.abs(late(queries, keys)) + 1.0), causal
            ),
            "The distances are counted from 1. A token is at distance 0 from itself, so its bias is 0.",
        ),
        Mistake(
            "row-of-keys",
            _same_row_for_every_query,
            "Every query has the same row here, slope times (key - last key), as in MPT's code. The softmax "
            "cannot tell it from ALiBi under a causal mask, but here the bias of a query's own key should "
            "be 0.",
        ),
        Mistake(
            "heads-last",
            lambda slopes, queries, keys, causal: np.moveaxis(
                _lifted(slopes, late(queries, keys), causal), 0, -1
            ),
            "You put the heads on the last axis. Scores have the shape (heads, queries, keys): give the "
            "slopes two new axes at the end, slopes[:, None, None].",
        ),
        Mistake(
            "smallest-number",
            lambda slopes, queries, keys, causal: _lifted(
                slopes, late(queries, keys), causal, fill=float(np.finfo(np.float32).min)
            ),
            "You put the most negative number of float32 where minus infinity is wanted. Write -np.inf.",
        ),
        Mistake(
            "hidden-as-if-square",
            lambda slopes, queries, keys, causal: _lifted(
                slopes, late(queries, keys), causal, hidden=~np.tri(queries, keys, dtype=bool)
            ),
            "Where there are fewer queries than keys, you hide keys that are not after the query: the last "
            "query is at the last key. Move the diagonal of your triangle by keys - queries.",
        ),
        Mistake(
            "zero-times-infinity",
            lambda slopes, queries, keys, causal: (
                _lifted(slopes, late(queries, keys), False)
                + (np.where(late(queries, keys) > 0, -np.inf, np.nan) if causal else 0.0)
            ),
            "Minus infinity times 0 is NaN, so a mask of zeros and ones cannot be multiplied by it. Choose "
            "with np.where instead.",
        ),
        Mistake(
            "squared",
            lambda slopes, queries, keys, causal: _lifted(
                slopes, np.sign(late(queries, keys)) * late(queries, keys) ** 2, causal
            ),
            "The distance is squared. Each step back costs the same: slope times distance.",
        ),
        Mistake(
            "slopes-in-reverse",
            lambda slopes, queries, keys, causal: _lifted(slopes[::-1], late(queries, keys), causal),
            "The slopes went to the heads in reverse order. Head 0 gets slope 0.",
        ),
        Mistake(
            "share-of-the-text",
            lambda slopes, queries, keys, causal: _lifted(
                np.asarray(slopes) / keys, late(queries, keys), causal
            ),
            "The distance was divided by the number of keys. ALiBi counts tokens: slope times distance.",
        ),
    ),
    alternatives=(_bias_by_loops, _bias_by_one_row, _bias_by_mask),
    hints=(
        "At which positions are the queries when there are fewer of them than keys? The last one is at the "
        "last key.",
        "`np.arange(keys) - np.arange(keys - queries, keys)[:, None]` is key - query, of shape `(queries, "
        "keys)`.",
        "`slopes[:, None, None]` broadcasts against it. With `causal`, `np.where(offset > 0, -np.inf, "
        "bias)`.",
    ),
)
