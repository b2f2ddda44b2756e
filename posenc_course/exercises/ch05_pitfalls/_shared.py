"""What several exercises of `05-pitfalls` share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.exercise import Case
from posenc_lib._arrays import Array
from posenc_lib.attention import attention

Generator = np.random.Generator


PADDING = "A batch for your decoder"


def _mask(*rows: str) -> Array:
    """One row per sentence: t is a token, and a dot is padding."""
    return np.array([[int(letter == "t") for letter in row] for row in rows])


def softmax(scores: Array, axis: int = -1) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return raised / raised.sum(axis=axis, keepdims=True)


PACKED = "Three texts in one row"


NO_TEXT = -1


def packed_cases(rng: Generator) -> Iterator[Case]:
    yield Case("a text of three and one of two", (np.array([0, 0, 0, 1, 1]),))
    yield Case("one text alone", (np.array([0, 0, 0, 0]),))
    yield Case("padding at the end", (np.array([0, 0, 1, 1, 1, -1, -1]),))
    yield Case("texts that are not numbered in order", (np.array([7, 7, 2, 2, 2, 5]),))
    yield Case("texts of one token each", (np.array([0, 1, 2, 3]),))
    yield Case("padding between two texts", (np.array([4, 4, 4, -1, -1, 6, 6]),))
    for label, padding in (("random lengths", 0), ("random lengths, then padding", 3)):
        lengths = rng.integers(1, 6, size=4).astype(np.intp)  # in a page, repeat takes 32 bits
        names = np.append(np.repeat(rng.permutation(20)[:4], lengths), np.full(padding, NO_TEXT))
        yield Case(label, (names.astype(np.int64),))


def same_text(texts: Array) -> Array:
    return np.asarray((texts[:, None] == texts) & (texts != NO_TEXT))


def _may_look(texts: Array) -> Array:
    return np.tril(same_text(texts))


CACHE = "Your decoder gets a cache"


def _seen(past: int, new: int) -> Array:
    return np.tri(new, past + new, k=past, dtype=bool)


Kept = tuple[Array, Array, Array]


def attend_to(q: Array, keys: Array, values: Array, allowed: Array) -> Array:
    scores = q @ np.swapaxes(keys, -1, -2) / np.sqrt(q.shape[-1])
    return np.asarray(softmax(np.where(allowed, scores, -np.inf)) @ values)


def joined(cache: Array, new: Array) -> Array:
    return np.concatenate([cache, new], axis=-2)


def attend_cached(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Kept:
    past, new = keys.shape[-2], q.shape[-2]
    keys, values = joined(keys, k), joined(values, v)
    return attend_to(q, keys, values, _seen(past, new)), keys, values


def cached_head_by_head(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Kept:
    heads = [attend_cached(*(each[h : h + 1] for each in (q, k, v, keys, values))) for h in range(len(q))]
    outputs, all_keys, all_values = (np.concatenate(each) for each in zip(*heads, strict=True))
    return outputs, all_keys, all_values


def cached_by_library(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Kept:
    keys, values = np.append(keys, k, axis=1), np.append(values, v, axis=1)
    return np.asarray(attention(q, keys, values, causal=True)), keys, values


TOO_GOOD = "A loss that is too good"
