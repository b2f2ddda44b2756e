"""What several exercises of `01-why-order-matters` share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.exercise import Case, Property
from posenc_lib._arrays import Array

Generator = np.random.Generator


def plain_softmax(scores: Array, axis: int | None = -1) -> Array:
    """Right wherever a row has a finite score."""
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return raised / raised.sum(axis=axis, keepdims=True)


def _softmax(scores: Array) -> Array:
    """Rows of minus infinity alone get weights of 0."""
    return np.nan_to_num(plain_softmax(scores))


def careless_softmax(scores: Array) -> Array:
    """Right on paper; infinity over infinity, or 0 over 0, where scores are large."""
    with np.errstate(all="ignore"):
        raised = np.exp(scores)
        return raised / raised.sum(axis=-1, keepdims=True)


def quietly(compute: Callable[[], Array]) -> Array:
    with np.errstate(all="ignore"):
        return compute()


ROOT = "How loud may one score be?"


def _margin(keys: int, share: float) -> float:
    return math.log(share / (1 - share) * (keys - 1))


def share_cases(rng: Generator) -> Iterator[Case]:
    yield Case("two keys, half of the weight", (2, 0.5))
    yield Case("eight keys, half of the weight", (8, 0.5))
    yield Case("eight keys, 99% of the weight", (8, 0.99))
    yield Case("a hundred keys, a weight below an even share", (100, 0.001))
    yield Case("a hundred thousand keys, half of the weight", (100_000, 0.5))
    for _ in range(4):
        yield Case("random keys and share", (int(rng.integers(3, 5000)), float(rng.uniform(0.3, 0.999))))


SHUFFLE = "Who noticed the shuffle?"


DECODER = "Attention for your decoder"


def softmax_by_log(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)))


def _a_little_short(value: Array) -> bool:
    total = np.sum(value, axis=-1)
    return bool(np.any((total > 0.9) & (total < 1 - 1e-7)))


NOTHING_ADDED_BELOW = Property(
    lambda args, value: not _a_little_short(value),
    "Some rows sum to a little less than 1. Did you add a small number to the sum that you divide by? Once "
    "the largest score has been taken away, that sum is at least 1 and needs no help.",
)


def past(scores: Array, diagonal: int = 0) -> Array:
    queries, keys = scores.shape[-2:]
    return np.tri(queries, keys, k=keys - queries + diagonal, dtype=bool)


def turned(array: Array) -> Array:
    return np.swapaxes(array, -1, -2)


def masked(scores: Array, allowed: Array) -> Array:
    with np.errstate(all="ignore"):
        return plain_softmax(np.where(allowed, scores, -np.inf))
