"""Your decoder gets a cache: Read each token once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import (
    CACHE,
    Generator,
    Kept,
    attend_cached,
    cached_by_library,
    cached_head_by_head,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal


def _step_cases(rng: Generator) -> Iterator[Case]:
    for label, heads, past, new, dim in (
        ("one head, one token after a cache of five", 1, 5, 1, 4),
        ("two heads, the cache is empty", 2, 0, 4, 8),
        ("two heads, three tokens after a cache of two", 2, 2, 3, 8),
        ("as many new tokens as are in the cache", 2, 3, 3, 6),
        ("one token after one", 1, 1, 1, 4),
        ("two tokens after a cache of forty", 2, 40, 2, 8),
        ("a random cache", 2, int(rng.integers(6, 60)), int(rng.integers(2, 6)), 8),
    ):
        head_dim = dim // heads
        x = rng.normal(size=(new, dim))
        w_q, w_k, w_v = rng.normal(size=(3, heads, dim, head_dim))
        keys, values = rng.normal(size=(2, heads, past, head_dim))
        yield Case(label, (x, w_q, w_k, w_v, keys, values))


def _cached_step(
    x: Array,
    w_q: Array,
    w_k: Array,
    w_v: Array,
    keys: Array,
    values: Array,
    at: Callable[[int, int], Array] = lambda past, new: past + np.arange(new),
) -> Kept:
    """`at`: the positions of the new tokens, from (past, new)."""
    h = x + sinusoidal(at(keys.shape[1], len(x)), x.shape[1])
    return attend_cached(h @ w_q, h @ w_k, h @ w_v, keys, values)


def _step_at(at: Callable[[int, int], Array]) -> Callable[..., Kept]:
    return lambda x, w_q, w_k, w_v, keys, values: _cached_step(x, w_q, w_k, w_v, keys, values, at)


def _step_with(added_to: str, layout: Literal["interleaved", "split"] = "interleaved") -> Callable[..., Kept]:
    """The encoding reaches these of queries, keys and values alone, or has another layout."""

    def step(x: Array, w_q: Array, w_k: Array, w_v: Array, keys: Array, values: Array) -> Kept:
        h = x + sinusoidal(keys.shape[1] + np.arange(len(x)), x.shape[1], layout=layout)
        q, k, v = ((h if name in added_to else x) @ w for name, w in (("q", w_q), ("k", w_k), ("v", w_v)))
        return attend_cached(q, k, v, keys, values)

    return step


def _step_one_by_one(x: Array, w_q: Array, w_k: Array, w_v: Array, keys: Array, values: Array) -> Kept:
    rows = []
    for row in x:
        output, keys, values = _cached_step(row[None], w_q, w_k, w_v, keys, values)
        rows.append(output)
    return np.concatenate(rows, axis=1), keys, values


def _step_by_a_long_table(x: Array, w_q: Array, w_k: Array, w_v: Array, keys: Array, values: Array) -> Kept:
    """The table of all positions, of which the last rows are used."""
    past, new = keys.shape[1], len(x)
    h = (x + sinusoidal(past + new, x.shape[1])[past:])[None]
    return cached_by_library(h @ w_q, h @ w_k, h @ w_v, keys, values)


def _step_by_einsum(x: Array, w_q: Array, w_k: Array, w_v: Array, keys: Array, values: Array) -> Kept:
    h = x + sinusoidal(np.arange(len(x)) + keys.shape[1], x.shape[1])
    q, k, v = (np.einsum("nd,hde->hne", h, w) for w in (w_q, w_k, w_v))
    return cached_head_by_head(q, k, v, keys, values)


CACHED_STEP = Exercise(
    id="05-pitfalls.cached_step",
    title="Read each token once",
    step_of=CACHE,
    adds="Your decoder gets a cache: it reads each token once, and keeps its keys and values.",
    signature="cached_step(x: (new, dim); w_q, w_k, w_v: (heads, dim, head_dim) each; keys, values: (heads, "
    "past, head_dim)) -> (output, keys, values), as attend_cached",
    points=2,
    minutes=12,
    difficulty=3,
    parts=("the output", "the keys to keep", "the values to keep"),
    reference=lambda x, w_q, w_k, w_v, keys, values: _cached_step(x, w_q, w_k, w_v, keys, values),
    make_cases=_step_cases,
    properties=(
        Property(
            lambda args, value: np.allclose(value[1], _cached_step(*args)[1]),
            "The keys to keep are those of the cache, unchanged, and then h @ w_k, where h is x with its "
            "positions added.",
        ),
        Property(
            lambda args, value: np.allclose(value[2], _cached_step(*args)[2]),
            "The values to keep are those of the cache, unchanged, and then h @ w_v, where h is x with its "
            "positions added.",
        ),
        Property(
            lambda args, value: np.allclose(value[0], _cached_step(*args)[0]),
            "The output is what attend_cached gives for h @ w_q, h @ w_k and h @ w_v, where h is x with its "
            "positions added.",
        ),
    ),
    mistakes=(
        Mistake(
            "starts-again",
            _step_at(lambda past, new: np.arange(new)),
            "The new tokens are at 0, 1, 2, ..., as if the text began with them. They come after the cache.",
        ),
        Mistake(
            "one-late",
            _step_at(lambda past, new: past + 1 + np.arange(new)),
            "The new tokens are one position too far on. The cache holds positions 0 to past - 1: which one "
            "comes next?",
        ),
        Mistake(
            "one-early",
            _step_at(lambda past, new: past - 1 + np.arange(new)),
            "The new tokens are one position too early: the first of them shares its position with the last "
            "token of the cache.",
        ),
        Mistake(
            "heads-for-past",
            lambda x, w_q, w_k, w_v, keys, values: _cached_step(
                x, w_q, w_k, w_v, keys, values, lambda past, new: len(keys) + np.arange(new)
            ),
            "The new tokens start at len(keys), which is the number of heads. The tokens of the cache are "
            "along axis 1.",
        ),
        Mistake(
            "all-at-one-position",
            _step_at(lambda past, new: np.full(new, past)),
            "All new tokens got the same position. That is right for a single one. Several that come at once "
            "follow one another.",
        ),
        Mistake(
            "nothing-added",
            _step_with(""),
            "No position is added to the new tokens. Those in the cache had theirs when their keys were "
            "made, and the new ones need theirs too.",
        ),
        Mistake(
            "queries-alone",
            _step_with("q"),
            "Only the queries carry their position. In this decoder the encoding is added to x, before "
            "queries, keys and values are made from it.",
        ),
        Mistake(
            "keys-alone",
            _step_with("k"),
            "Only the keys carry their position. In this decoder the encoding is added to x, before "
            "queries, keys and values are made from it.",
        ),
        Mistake(
            "not-the-values",
            _step_with("qk"),
            "The values are made from x without its position. In this decoder the encoding is added to x, "
            "before queries, keys and values are made from it.",
        ),
        Mistake(
            "queries-and-values",
            _step_with("qv"),
            "The keys are made from x without its position. In this decoder the encoding is added to x, "
            "before queries, keys and values are made from it.",
        ),
        Mistake(
            "keys-and-values",
            _step_with("kv"),
            "The queries are made from x without its position. In this decoder the encoding is added to x, "
            "before queries, keys and values are made from it.",
        ),
        Mistake(
            "values-alone",
            _step_with("v"),
            "Only the values carry their position. In this decoder the encoding is added to x, before "
            "queries, keys and values are made from it.",
        ),
        Mistake(
            "split-layout",
            _step_with("qkv", layout="split"),
            "Your encoding has all sines first. posenc_lib.sinusoidal puts sine and cosine of a pair side by "
            "side.",
        ),
        Mistake(
            "head-dim-for-past",
            lambda x, w_q, w_k, w_v, keys, values: _cached_step(
                x, w_q, w_k, w_v, keys, values, lambda past, new: keys.shape[2] + np.arange(new)
            ),
            "The new tokens start at keys.shape[2], which is head_dim. The tokens of the cache are along "
            "axis 1.",
        ),
        Mistake(
            "new-ones-alone-kept",
            lambda x, w_q, w_k, w_v, keys, values: (
                _cached_step(x, w_q, w_k, w_v, keys, values)[0],
                *(each[:, keys.shape[1] :] for each in _cached_step(x, w_q, w_k, w_v, keys, values)[1:]),
            ),
            "The output is right. You keep only the new keys and values, so the past is gone at the next "
            "call. Keep what attend_cached hands back.",
        ),
        Mistake(
            "counted-from-the-end",
            _step_at(lambda past, new: past + np.arange(new)[::-1]),
            "The new tokens are counted backwards: the last of them got the smallest position.",
        ),
        Mistake(
            "cache-not-grown",
            lambda x, w_q, w_k, w_v, keys, values: (
                _cached_step(x, w_q, w_k, w_v, keys, values)[0],
                keys,
                values,
            ),
            "The output is right. The cache is handed back as it came, so the next call does not know these "
            "tokens.",
        ),
    ),
    alternatives=(_step_one_by_one, _step_by_a_long_table, _step_by_einsum),
    lends=("sinusoidal",),
    hints=(
        "The cache holds positions 0 to `past - 1`, and `past` is `keys.shape[1]`. Which positions do the "
        "new tokens get?",
        "`posenc_lib.sinusoidal(positions, dim)` takes an array of positions. Before anything else, add its "
        "rows to `x`.",
        "`h @ w_q` has the shape (heads, new, head_dim) by itself, since the heads come first in `w_q`. Then "
        "call your `attend_cached`.",
    ),
)
