"""Your decoder turns its queries and keys: Attend, and go on where the cache ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import DECODER, Generator, turn_heads
from posenc_course.exercises.exercise import Case, Exercise, Mistake
from posenc_lib._arrays import Array
from posenc_lib.attention import attention
from posenc_lib.rotated.rotary import apply_rotary


def _decoder_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, heads: int, past: int, new: int, head_dim: int, base: float) -> Case:
        q, k, v = rng.normal(size=(3, heads, new, head_dim))
        old_k, old_v = rng.normal(size=(2, heads, past, head_dim))
        return Case(label, (q, k, v, turn_heads(old_k, np.arange(past), base), old_v, base))

    yield case("an empty cache, four tokens", 2, 0, 4, 8, 10000.0)
    yield case("five tokens in the cache, one new", 2, 5, 1, 8, 10000.0)
    yield case("three tokens in the cache, three new", 2, 3, 3, 4, 10000.0)
    yield case("one head, one token in the cache, two new, base 300", 1, 1, 2, 6, 300.0)
    yield case("700 tokens in the cache, two new", 2, 700, 2, 4, 10000.0)
    past, new = rng.integers(4, 12, size=2).tolist()
    yield case("some in the cache, some new", 3, past, new, 10, 1000.0)


def _softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _attend(
    q: Array,
    k: Array,
    v: Array,
    cached_k: Array,
    cached_v: Array,
    scale: float | None = None,
    reach: Any = "past",
) -> Array:
    """Attention of turned queries to the cache and the turned new keys; `reach`: of the causal mask."""
    keys, values = np.concatenate([cached_k, k], axis=-2), np.concatenate([cached_v, v], axis=-2)
    scores = q @ np.swapaxes(keys, -1, -2) / (scale or np.sqrt(q.shape[-1]))
    new, every = scores.shape[-2:]
    if reach is not None:
        seen = np.tri(new, every, k=every - new if reach == "past" else reach, dtype=bool)
        scores = np.where(seen, scores, -np.inf)
    return np.asarray(_softmax(scores) @ values)


def _decoder_with(
    query_at: Callable[[int, int], Array] | None = lambda past, new: past + np.arange(new),
    key_at: Callable[[int, int], Array] | None = lambda past, new: past + np.arange(new),
    *,
    store_turned: bool = True,
    turn_cache: bool = False,
    turn_values: bool = False,
    **attending: Any,
) -> Callable[..., tuple[Array, Array, Array]]:
    """Rotary attention with positions that are functions of (past, new); None: not turned."""

    def attend(
        q: Array, k: Array, v: Array, cached_k: Array, cached_v: Array, base: float
    ) -> tuple[Array, Array, Array]:
        past, new = cached_k.shape[-2], k.shape[-2]
        turned_q = q if query_at is None else turn_heads(q, query_at(past, new), base)
        turned_k = k if key_at is None else turn_heads(k, key_at(past, new), base)
        if turn_values:
            v = turn_heads(v, past + np.arange(new), base)
        seen = turn_heads(cached_k, np.arange(past), base) if turn_cache else cached_k
        stored = turned_k if store_turned else k
        return (
            _attend(turned_q, turned_k, v, seen, cached_v, **attending),
            np.concatenate([cached_k, stored], axis=-2),
            np.concatenate([cached_v, v], axis=-2),
        )

    return attend


def _new_tokens_first(
    q: Array, k: Array, v: Array, cached_k: Array, cached_v: Array, base: float
) -> tuple[Array, Array, Array]:
    at = cached_k.shape[-2] + np.arange(k.shape[-2])
    q, k = turn_heads(q, at, base), turn_heads(k, at, base)
    keys, values = np.concatenate([k, cached_k], axis=-2), np.concatenate([v, cached_v], axis=-2)
    return _attend(q, cached_k, cached_v, k, v), keys, values


def _decoder_one_by_one(
    q: Array, k: Array, v: Array, cached_k: Array, cached_v: Array, base: float
) -> tuple[Array, Array, Array]:
    """As a model that writes: each token joins the cache, then looks at it."""
    rows = []
    for t in range(q.shape[-2]):
        at, here = np.array([cached_k.shape[-2]]), slice(t, t + 1)
        cached_k = np.concatenate([cached_k, apply_rotary(k[:, here], at, base=base)], axis=1)
        cached_v = np.concatenate([cached_v, v[:, here]], axis=1)
        weights = _softmax(
            apply_rotary(q[:, here], at, base=base) @ cached_k.swapaxes(1, 2) / q.shape[-1] ** 0.5
        )
        rows.append(weights @ cached_v)
    return np.concatenate(rows, axis=1), cached_k, cached_v


def _decoder_by_library(
    q: Array, k: Array, v: Array, cached_k: Array, cached_v: Array, base: float
) -> tuple[Array, Array, Array]:
    at = cached_k.shape[-2] + np.arange(k.shape[-2])
    keys = np.concatenate([cached_k, apply_rotary(k, at, base=base)], axis=-2)
    values = np.concatenate([cached_v, v], axis=-2)
    return attention(apply_rotary(q, at, base=base), keys, values, causal=True), keys, values


ROTARY_ATTENTION = Exercise(
    id="06-rotary.rotary_attention",
    title="Attend, and go on where the cache ends",
    step_of=DECODER,
    adds="Your decoder gets rotation of its queries and keys, at positions that go on where the cache ends.",
    signature="rotary_attention(q, k, v: (heads, new, head_dim), cached_k, cached_v: (heads, past, "
    "head_dim), base: float) -> output (heads, new, head_dim), keys and values (heads, past + new, "
    "head_dim)",
    points=4,
    minutes=18,
    difficulty=4,
    parts=("the output", "the keys of the cache", "the values of the cache"),
    reference=_decoder_with(),
    make_cases=_decoder_cases,
    absolute_tolerance=1e-4,
    mistakes=(
        Mistake(
            "positions-from-0",
            _decoder_with(lambda past, new: np.arange(new), lambda past, new: np.arange(new)),
            "The new tokens are counted from 0, as if the cache were empty. They come after what it holds.",
        ),
        Mistake(
            "one-too-far",
            _decoder_with(
                lambda past, new: past + 1 + np.arange(new), lambda past, new: past + 1 + np.arange(new)
            ),
            "The new positions start one too late. A cache of n tokens holds positions 0 to n - 1, so the "
            "next one stands at n.",
        ),
        Mistake(
            "heads-counted",
            lambda q, k, v, cached_k, cached_v, base: _decoder_with(
                lambda past, new: len(cached_k) + np.arange(new),
                lambda past, new: len(cached_k) + np.arange(new),
            )(q, k, v, cached_k, cached_v, base),
            "The new positions start at the number of heads: the length of an array is that of its first "
            "axis. The tokens stand along the last but one.",
        ),
        Mistake(
            "queries-from-0",
            _decoder_with(lambda past, new: np.arange(new)),
            "The keys are right, but the queries are counted from 0. The query and the key of a token share "
            "one position.",
        ),
        Mistake(
            "one-position-for-all",
            _decoder_with(lambda past, new: np.full(new, past), lambda past, new: np.full(new, past)),
            "All new tokens got one and the same position. They follow each other.",
        ),
        Mistake(
            "cache-turned-again",
            _decoder_with(turn_cache=True),
            "The keys of the cache were turned a second time. They were turned when they were stored: use "
            "them as they are.",
        ),
        Mistake(
            "stored-unturned",
            _decoder_with(store_turned=False),
            "The output is right, but the new keys are stored as they were before the turn. The next call "
            "would take them for turned ones.",
        ),
        Mistake(
            "keys-not-turned",
            _decoder_with(key_at=None),
            "The new keys were not turned. Only those of the cache are turned already.",
        ),
        Mistake(
            "queries-not-turned",
            _decoder_with(query_at=None),
            "The queries were not turned. A score depends on the difference of two positions, so queries "
            "and keys both have to be turned.",
        ),
        Mistake(
            "nothing-turned",
            _decoder_with(query_at=None, key_at=None),
            "Neither the new queries nor the new keys were turned.",
        ),
        Mistake(
            "values-turned",
            _decoder_with(turn_values=True),
            "The values were turned as well. They are what is mixed, and stay as they are.",
        ),
        Mistake(
            "sees-the-future",
            _decoder_with(reach=None),
            "A new token sees the new ones that come after it. Each sees the cache, itself, and the new "
            "tokens before it.",
        ),
        Mistake(
            "mask-forgets-the-cache",
            _decoder_with(reach=0),
            "Your mask counts from the first key of the cache, so the first new token sees one key alone. "
            "It sees all of the cache and itself.",
        ),
        Mistake(
            "new-tokens-first",
            _new_tokens_first,
            "The new keys and values come before those of the cache. Keep the order of the text: the cache "
            "first.",
        ),
        Mistake(
            "not-scaled",
            _decoder_with(scale=1.0),
            "The scores were not divided by the square root of head_dim.",
        ),
        Mistake(
            "new-alone-returned",
            lambda q, k, v, cached_k, cached_v, base: (
                _decoder_with()(q, k, v, cached_k, cached_v, base)[0],
                turn_heads(k, cached_k.shape[-2] + np.arange(k.shape[-2]), base),
                v,
            ),
            "The output is right. But you return the new keys and values alone; the next call needs the old "
            "ones too.",
        ),
    ),
    alternatives=(
        _decoder_one_by_one,
        _decoder_by_library,
        lambda *args: [each.tolist() for each in _decoder_with()(*args)],
    ),
    hints=(
        "How many tokens does the cache hold? They stand along the last but one axis. The first new token "
        "stands right after them.",
        "Turn `q` and `k` with your `rotate_heads`, then join the keys with `np.concatenate([cached_k, k], "
        "axis=-2)`, and the values as they are.",
        "New token i sees `past + i + 1` keys: `np.tri(new, past + new, k=past, dtype=bool)` is true where "
        "it may look.",
    ),
)
