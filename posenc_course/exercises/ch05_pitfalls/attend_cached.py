"""Your decoder gets a cache: Attend, and keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import (
    CACHE,
    Generator,
    Kept,
    _seen,
    attend_cached,
    attend_to,
    cached_by_library,
    cached_head_by_head,
    joined,
    softmax,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _cached_cases(rng: Generator) -> Iterator[Case]:
    for label, heads, past, new, head_dim in (
        ("one head, one token after a cache of five", 1, 5, 1, 4),
        ("two heads, the cache is empty", 2, 0, 4, 4),
        ("two heads, three tokens after a cache of two", 2, 2, 3, 4),
        ("three heads, as many new tokens as are in the cache", 3, 3, 3, 3),
        ("four heads, one token after one", 4, 1, 1, 2),
        ("two heads, two tokens after a cache of forty", 2, 40, 2, 8),
    ):
        q, k, v = rng.normal(size=(3, heads, new, head_dim))
        keys, values = rng.normal(size=(2, heads, past, head_dim))
        yield Case(label, (q, k, v, keys, values))


def _attended_under(allowed: Callable[[int, int], Array]) -> Callable[..., Kept]:
    """The answer with another mask."""

    def attend(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Kept:
        past, new = keys.shape[-2], q.shape[-2]
        keys, values = joined(keys, k), joined(values, v)
        return attend_to(q, keys, values, allowed(past, new)), keys, values

    return attend


def _attended_by(
    q: Array, k: Array, v: Array, keys: Array, values: Array, weigh: Callable[[Array, Array], Array]
) -> Kept:
    """The answer with other weights: from the scores and who sees whom."""
    seen = _seen(keys.shape[-2], q.shape[-2])
    keys, values = joined(keys, k), joined(values, v)
    scores = q @ np.swapaxes(keys, -1, -2) / np.sqrt(q.shape[-1])
    return np.asarray(weigh(scores, seen) @ values), keys, values


def _cached_one_by_one(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Kept:
    """Token by token, as a model writes."""
    rows = []
    for t in range(q.shape[1]):
        keys, values = joined(keys, k[:, t : t + 1]), joined(values, v[:, t : t + 1])
        weights = softmax((keys @ q[:, t, :, None])[..., 0] / np.sqrt(q.shape[2]))
        rows.append((weights[:, :, None] * values).sum(axis=1))
    return np.stack(rows, axis=1), keys, values


ATTEND_CACHED = Exercise(
    id="05-pitfalls.attend_cached",
    title="Attend, and keep",
    step_of=CACHE,
    signature="attend_cached(q, k, v: (heads, new, head_dim); keys, values: (heads, past, head_dim)) "
    "-> (output (heads, new, head_dim), keys and values (heads, past + new, head_dim))",
    points=2,
    minutes=12,
    difficulty=3,
    parts=("the output", "the keys to keep", "the values to keep"),
    reference=lambda q, k, v, keys, values: attend_cached(q, k, v, keys, values),
    make_cases=_cached_cases,
    properties=(
        Property(
            lambda args, value: (
                np.shape(value[1]) == (len(args[0]), args[3].shape[1] + args[1].shape[1], args[0].shape[2])
            ),
            "The keys to keep have shape (heads, past + new, head_dim): join along axis 1.",
            about="form",
        ),
        Property(
            lambda args, value: np.allclose(value[1], joined(args[3], args[1])),
            "The keys to keep are those of the cache, unchanged, and then the new ones k.",
        ),
        Property(
            lambda args, value: np.allclose(value[2], joined(args[4], args[2])),
            "The values to keep are those of the cache, unchanged, and then the new ones v.",
        ),
        Property(
            lambda args, value: np.allclose(value[0], attend_cached(*args)[0]),
            "The output is not the attention of q to the joined keys and values: the scores are q times the "
            "keys, divided by the root of head_dim, then come the mask and the softmax.",
        ),
    ),
    mistakes=(
        Mistake(
            "triangle-from-the-left",
            _attended_under(lambda past, new: np.tri(new, past + new, dtype=bool)),
            "The keys and values are right. The causal mask starts at the first key of the cache, so the "
            "first new token sees only one key: use seen(past, new).",
        ),
        Mistake(
            "looks-ahead",
            _attended_under(lambda past, new: np.ones((new, past + new), dtype=bool)),
            "The keys and values are right. Where several tokens come at once, the earlier ones look at the "
            "later ones: the mask is missing.",
        ),
        Mistake(
            "hidden-scores-at-0",
            lambda q, k, v, keys, values: _attended_by(
                q, k, v, keys, values, lambda scores, seen: softmax(scores * seen)
            ),
            "The keys and values are right. Hidden scores are multiplied by 0, and a score of 0 is a weight "
            "like any other. Set them to minus infinity.",
        ),
        Mistake(
            "masked-after-softmax",
            lambda q, k, v, keys, values: _attended_by(
                q, k, v, keys, values, lambda scores, seen: softmax(scores) * seen
            ),
            "The keys and values are right. The mask comes after the softmax, so the weights that are left "
            "no longer sum to 1. Hide scores before the softmax.",
        ),
        Mistake(
            "keys-mixed",
            lambda q, k, v, keys, values: (
                attend_cached(q, k, k, keys, keys)[0],
                joined(keys, k),
                joined(values, v),
            ),
            "What you keep is right, but the output is a mix of keys. Mix the values.",
        ),
        Mistake(
            "not-itself",
            _attended_under(lambda past, new: np.tri(new, past + new, k=past - 1, dtype=bool)),
            "The keys and values are right. No new token sees itself: each may look at itself and at "
            "everything before it.",
        ),
        Mistake(
            "cache-unread",
            lambda q, k, v, keys, values: (
                attend_to(q, k, v, _seen(0, q.shape[-2])),
                joined(keys, k),
                joined(values, v),
            ),
            "What you keep is right, but the new tokens only look at each other. Join the keys first, and "
            "attend to all of them.",
        ),
        Mistake(
            "cache-not-grown",
            lambda q, k, v, keys, values: (attend_cached(q, k, v, keys, values)[0], keys, values),
            "The output is right. You hand back the cache as you got it, so the new tokens are forgotten at "
            "the next call. Hand back the joined keys and values.",
        ),
        Mistake(
            "new-ones-alone-kept",
            lambda q, k, v, keys, values: (attend_cached(q, k, v, keys, values)[0], k, v),
            "The output is right. You keep only the new keys and values, so the past is gone at the next "
            "call. Keep the joined ones.",
        ),
        Mistake(
            "cache-behind",
            lambda q, k, v, keys, values: (
                attend_to(q, joined(k, keys), joined(v, values), _seen(keys.shape[-2], q.shape[-2])),
                joined(k, keys),
                joined(v, values),
            ),
            "The cache was put behind the new keys. It holds what came before them, and the mask relies on "
            "that order.",
        ),
        Mistake(
            "keys-and-values-swapped",
            lambda q, k, v, keys, values: (
                attend_cached(q, k, v, keys, values)[0],
                joined(values, v),
                joined(keys, k),
            ),
            "The output is right. The keys and the values that you hand back are swapped.",
        ),
        Mistake(
            "output-last",
            lambda q, k, v, keys, values: (
                *attend_cached(q, k, v, keys, values)[1:],
                attend_cached(q, k, v, keys, values)[0],
            ),
            "The three are right, but in another order. The output comes first, then the keys, then the "
            "values.",
        ),
        Mistake(
            "values-not-joined",
            lambda q, k, v, keys, values: (*attend_cached(q, k, v, keys, values)[:2], values),
            "The output and the keys are right. You hand back the old values without the new ones. Join v as "
            "you join k.",
        ),
        Mistake(
            "old-values",
            lambda q, k, v, keys, values: (
                attend_to(
                    q, joined(keys, k), joined(values, np.zeros_like(v)), _seen(keys.shape[-2], q.shape[-2])
                ),
                joined(keys, k),
                joined(values, np.zeros_like(v)),
            ),
            "The new keys are there, and the new values are zeros. Each new token brings both: join v as "
            "you join k.",
        ),
        Mistake(
            "no-scale",
            lambda q, k, v, keys, values: attend_cached(q * np.sqrt(q.shape[-1]), k, v, keys, values),
            "The keys and values are right. The scores are not divided by the root of head_dim.",
        ),
        Mistake(
            "divided-by-the-width",
            lambda q, k, v, keys, values: attend_cached(q / np.sqrt(q.shape[-1]), k, v, keys, values),
            "The keys and values are right. The scores are divided by head_dim itself. Divide by its root.",
        ),
        Mistake(
            "scale-of-the-heads",
            lambda q, k, v, keys, values: attend_cached(
                q * np.sqrt(q.shape[-1] / q.shape[0]), k, v, keys, values
            ),
            "The keys and values are right. The scores are divided by the root of len(q), the number of "
            "heads. What counts is the width of a head, q.shape[-1].",
        ),
        Mistake(
            "scale-of-all-keys",
            lambda q, k, v, keys, values: attend_cached(
                q * np.sqrt(q.shape[-1] / (keys.shape[-2] + k.shape[-2])), k, v, keys, values
            ),
            "The keys and values are right. The scores are divided by the root of the number of keys. What "
            "counts is the width of a head, q.shape[-1].",
        ),
    ),
    alternatives=(_cached_one_by_one, cached_head_by_head, cached_by_library),
    hints=(
        "Two joins come first: `np.concatenate([keys, k], axis=1)`, and the same for the values. Heads are "
        "along axis 0.",
        "The rest is the attention of chapter 1: `q` attends to the joined keys, with `seen(past, new)` as "
        "its mask.",
        "`past` is `keys.shape[1]` before the join. Hand back the output, and with it the joined keys and "
        "values.",
    ),
)
