"""Your decoder turns its queries and keys: Attend, and continue where the cache ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import DECODER, Generator, turn_heads
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
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


def _softmax(scores: Array, axis: int = -1) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return np.asarray(raised / raised.sum(axis=axis, keepdims=True))


def _attend(
    q: Array,
    k: Array,
    v: Array,
    cached_k: Array,
    cached_v: Array,
    scale: float | None = None,
    reach: Any = "past",
    fill: float = -np.inf,
    axis: int = -1,
) -> Array:
    """Attention of turned queries to the cache and the turned new keys; `reach`: of the causal mask."""
    keys, values = np.concatenate([cached_k, k], axis=-2), np.concatenate([cached_v, v], axis=-2)
    scores = q @ np.swapaxes(keys, -1, -2) / (scale or np.sqrt(q.shape[-1]))
    new, every = scores.shape[-2:]
    if reach is not None:
        seen = np.tri(new, every, k=every - new if reach == "past" else reach, dtype=bool)
        scores = np.where(seen, scores, fill)
    return np.asarray(_softmax(scores, axis) @ values)


def _decoder_with(
    query_at: Callable[[int, int], Array] | None = lambda past, new: past + np.arange(new),
    key_at: Callable[[int, int], Array] | None = lambda past, new: past + np.arange(new),
    *,
    stored: str = "turned",
    turn_cache: bool = False,
    turn_values: bool = False,
    **attending: Any,
) -> Callable[..., tuple[Array, Array, Array]]:
    """Rotary attention with positions that are functions of (past, new); None: not turned.

    `stored`: the new keys turned, or raw, or all keys as they were used."""

    def attend(
        q: Array, k: Array, v: Array, cached_k: Array, cached_v: Array, base: float
    ) -> tuple[Array, Array, Array]:
        past, new = cached_k.shape[-2], k.shape[-2]
        turned_q = q if query_at is None else turn_heads(q, query_at(past, new), base)
        turned_k = k if key_at is None else turn_heads(k, key_at(past, new), base)
        if turn_values:
            v = turn_heads(v, past + np.arange(new), base)
        seen = turn_heads(cached_k, np.arange(past), base) if turn_cache else cached_k
        first, then = {"turned": (cached_k, turned_k), "raw": (cached_k, k), "used": (seen, turned_k)}[stored]
        return (
            _attend(turned_q, turned_k, v, seen, cached_v, **attending),
            np.concatenate([first, then], axis=-2),
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
    title="Attend, and continue where the cache ends",
    step_of=DECODER,
    adds="Your decoder turns its queries and keys, at positions that continue where the cache ends.",
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
    where_not_finite="A mask of zeros and ones times minus infinity is NaN where it is 0: choose with "
    "np.where. And a query whose keys are all hidden gives NaN. Each new token sees itself at least: check "
    "the diagonal of your mask.",
    properties=(
        Property(
            lambda args, value: np.allclose(value[1][:, : args[3].shape[1]], args[3]),
            "The keys that you return must begin with those of the cache, as they were: they come first, "
            "and they have been turned already.",
        ),
        Property(
            lambda args, value: np.allclose(value[2], np.concatenate([args[4], args[2]], axis=1)),
            "The values that you return must be those of the cache and then the new ones, all as they were "
            "given.",
        ),
        Property(
            lambda args, value: np.allclose(
                np.linalg.norm(value[1][:, args[3].shape[1] :], axis=-1), np.linalg.norm(args[1], axis=-1)
            ),
            "Turning does not change lengths: the new keys that you return must be as long as they were.",
        ),
        Property(
            lambda args, value: args[3].shape[1] > 0 or np.allclose(value[0][:, 0], args[2][:, 0], atol=1e-3),
            "With an empty cache the first token sees only itself, so its output must be its own value.",
        ),
    ),
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
            "next one is at n.",
        ),
        Mistake(
            "heads-counted",
            lambda q, k, v, cached_k, cached_v, base: _decoder_with(
                lambda past, new: len(cached_k) + np.arange(new),
                lambda past, new: len(cached_k) + np.arange(new),
            )(q, k, v, cached_k, cached_v, base),
            "The new positions start at the number of heads: len() counts along the first axis. The tokens "
            "are on the last axis but one, cached_k.shape[-2].",
        ),
        Mistake(
            "queries-from-0",
            _decoder_with(lambda past, new: np.arange(new)),
            "The keys are right, but the queries are counted from 0. The query and the key of a token have "
            "the same position.",
        ),
        Mistake(
            "one-position-for-all",
            _decoder_with(lambda past, new: np.full(new, past), lambda past, new: np.full(new, past)),
            "All new tokens got the same position. Give each one more than the token before it.",
        ),
        Mistake(
            "cache-turned-again",
            _decoder_with(turn_cache=True),
            "The keys of the cache were turned a second time. They were turned when they were stored: use "
            "them as they are.",
        ),
        Mistake(
            "all-keys-turned-again",
            _decoder_with(turn_cache=True, stored="used"),
            "You joined all keys and turned them together, so those of the cache were turned a second time, "
            "and with each call they turn again. Turn only the new keys, then join.",
        ),
        Mistake(
            "all-keys-turned-at-use",
            _decoder_with(turn_cache=True, stored="raw"),
            "You store keys as they were before the turn, and turn all of them at each call. That can work, "
            "but the cache that you get here holds turned keys: they are turned twice. Turn the new keys, "
            "then store them.",
        ),
        Mistake(
            "stored-unturned",
            _decoder_with(stored="raw"),
            "The output is right, but the new keys are stored as they were before the turn. The next call "
            "would take them for turned ones.",
        ),
        Mistake(
            "keys-not-turned",
            _decoder_with(key_at=None),
            "The new keys were not turned. Only those of the cache have been turned already.",
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
            "You turned the values as well. Only queries and keys are turned.",
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
            "Your mask counts from the first key of the cache, so the first new token sees a single key. It "
            "should see all of the cache and itself.",
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
            "The output is right, but you return only the new keys and values. The next call needs the old "
            "ones too.",
        ),
        Mistake(
            "width-without-root",
            lambda q, *rest: _decoder_with(scale=q.shape[-1])(q, *rest),
            "The scores were divided by head_dim. Divide by its square root.",
        ),
        Mistake(
            "width-of-all-heads",
            lambda q, *rest: _decoder_with(scale=np.sqrt(q.shape[0] * q.shape[-1]))(q, *rest),
            "The scores were divided by the square root of the width of all heads together. Take one head's "
            "width, head_dim.",
        ),
        Mistake(
            "keys-from-0",
            _decoder_with(key_at=lambda past, new: np.arange(new)),
            "The queries are at the right positions, but the new keys are counted from 0. The query and the "
            "key of a token have the same position.",
        ),
        Mistake(
            "one-ahead",
            lambda q, k, v, cached_k, cached_v, base: _decoder_with(reach=cached_k.shape[-2] + 1)(
                q, k, v, cached_k, cached_v, base
            ),
            "Each new token sees one token that comes after it: your mask is shifted by one. New token i "
            "sees past + i + 1 keys.",
        ),
        Mistake(
            "hidden-by-zero",
            _decoder_with(fill=0.0),
            "Keys after the query got the score 0, which the softmax turns into a weight. To hide a key, "
            "its score must be minus infinity.",
        ),
        Mistake(
            "softmax-over-queries",
            _decoder_with(axis=-2),
            "The softmax runs over the queries, so the weights of one query do not sum to 1. Take it over "
            "the keys, the last axis.",
        ),
        Mistake(
            "usual-base",
            lambda q, k, v, cached_k, cached_v, base: _decoder_with()(q, k, v, cached_k, cached_v, 10000.0),
            "It is right for base 10,000, and for no other. Use the base that is given.",
        ),
        Mistake(
            "cache-not-read",
            lambda q, k, v, cached_k, cached_v, base: (
                _decoder_with()(q, k, v, cached_k[:, :0], cached_v[:, :0], base)[0],
                *_decoder_with()(q, k, v, cached_k, cached_v, base)[1:],
            ),
            "The new tokens look only at each other. They should see the keys of the cache too: join first, "
            "then multiply.",
        ),
    ),
    alternatives=(
        _decoder_one_by_one,
        _decoder_by_library,
        lambda *args: [each.tolist() for each in _decoder_with()(*args)],
    ),
    hints=(
        "How many tokens does the cache hold? Count along the last axis but one. The first new token comes "
        "right after them.",
        "Turn `q` and `k` with your `rotate_heads`, then join the keys with `np.concatenate([cached_k, k], "
        "axis=-2)`, and the values as they are.",
        "New token i sees `past + i + 1` keys: `np.tri(new, past + new, k=past, dtype=bool)` is true where "
        "it may look.",
    ),
)
