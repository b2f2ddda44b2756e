"""A kernel that takes no bias."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.attention import attention
from posenc_lib.biased.alibi import alibi_bias, alibi_slopes


@dataclass(frozen=True)
class Kernel:
    """Causal attention that takes no bias and divides by the root of the width that it is given."""

    def __call__(self, q: Array, k: Array, v: Array) -> Array:
        """(heads, n, width) and (heads, n, width) and (heads, n, value_dim) to (heads, n, value_dim)."""
        return np.asarray(attention(np.asarray(q), np.asarray(k), np.asarray(v), causal=True))


def _kernel_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, heads: int, n: int, d: int, slopes: Array) -> Case:
        q, k, v = rng.normal(size=(3, heads, n, d))
        return Case(label, (q, k, v, slopes, Kernel()))

    yield case("one head, four tokens", 1, 4, 4, np.array([0.5]))
    yield case("eight heads, ten tokens", 8, 10, 6, alibi_slopes(8))
    yield case("head_dim 1", 2, 5, 1, np.array([1.0, 0.25]))
    yield case("as many heads as tokens as columns", 4, 4, 4, alibi_slopes(4))
    yield case("one token", 2, 1, 3, np.array([0.5, 0.25]))
    yield case("random slopes", 3, 12, 5, rng.uniform(0.05, 1.0, size=3))


def _through(
    q: Array,
    k: Array,
    v: Array,
    slopes: Array,
    kernel: Callable[..., Array],
    *,
    scale: Callable[[int], float] = lambda d: math.sqrt((d + 1) / d),
    of_slope: Callable[[Array, int], Any] = lambda slopes, d: slopes * math.sqrt(d + 1),
    of_key: Callable[[int], Any] = np.arange,
    of_query: Callable[[int], Any] | None = None,
) -> Array:
    """With one more column: a slope in each query, a position in each key; each part open to a slip."""
    heads, n, d = q.shape
    rows = np.ones(n) if of_query is None else of_query(n)
    for_q = np.asarray(of_slope(slopes, d))[:, None, None] * rows[:, None]
    for_k = np.broadcast_to(np.asarray(of_key(n), dtype=float)[:, None], (heads, n, 1))
    return kernel(np.concatenate([scale(d) * q, for_q], -1), np.concatenate([k, for_k], -1), v)


def _through_with(**slip: Any) -> Callable[..., Array]:
    return lambda q, k, v, slopes, kernel: _through(q, k, v, slopes, kernel, **slip)


def _through_keys(q: Array, k: Array, v: Array, slopes: Array, kernel: Callable[..., Array]) -> Array:
    """All factors on the keys' side, and two columns: slope times (key - query)."""
    heads, n, d = q.shape
    at, ones = np.broadcast_to(np.arange(n)[:, None], (heads, n, 1)), np.ones((heads, n, 1))
    root, lifted = math.sqrt(d + 2), slopes[:, None, None]
    wide_k = np.concatenate([k * root / math.sqrt(d), root * lifted * at, -root * lifted * ones], axis=-1)
    return kernel(np.concatenate([q, ones, 1.0 * at], axis=-1), wide_k, v)


def _through_nothing(q: Array, k: Array, v: Array, slopes: Array, kernel: Callable[..., Array]) -> Array:
    """The kernel is not needed at all by whoever writes attention anew."""
    bias = alibi_bias(len(slopes), q.shape[1], k.shape[1], causal=True, slopes=slopes)
    return np.asarray(attention(q, k, v, bias=bias, causal=True))


def _through_last(q: Array, k: Array, v: Array, slopes: Array, kernel: Callable[..., Array]) -> Array:
    return _through(q, k, v, slopes, kernel, of_key=lambda n: np.arange(n) - (n - 1.0))


WITHOUT_BIAS = Exercise(
    id="07-alibi-and-biases.without_bias",
    title="A kernel that takes no bias",
    signature="without_bias(q: array of shape (heads, n, head_dim), k, v: the same, slopes: (heads,), "
    "kernel: a "
    "function of (q, k, v)) -> array of shape (heads, n, head_dim)",
    points=3,
    minutes=15,
    difficulty=4,
    reference=lambda q, k, v, slopes, kernel: _through_nothing(q, k, v, slopes, kernel),
    make_cases=_kernel_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[2]),
            "What comes back has the shape of v: leave v as wide as it was.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.asarray(value)[:, 0], args[2][:, 0])),
            "The first token sees itself alone, so its output must be its own value.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-bias",
            lambda q, k, v, slopes, kernel: kernel(q, k, v),
            "This is attention without any bias: nothing was added to a score, or what was added is the "
            "same in "
            "a whole row. Write the slope into a new column of q, and the position of the key into one of k.",
        ),
        Mistake(
            "root-forgotten",
            _through_with(scale=lambda d: 1.0, of_slope=lambda slopes, d: slopes),
            "The kernel divides all of the product by the root of the width that it is given, head_dim + 1: "
            "your slopes too, and the scores by a little too much. Multiply beforehand.",
        ),
        Mistake(
            "slope-divided",
            _through_with(of_slope=lambda slopes, d: slopes),
            "The kernel divides your slopes by its root too. Multiply them by the root of head_dim + 1 "
            "beforehand.",
        ),
        Mistake(
            "scores-divided-by-too-much",
            _through_with(scale=lambda d: 1.0),
            "The slopes are right. The other scores are divided by the root of head_dim + 1 instead of the "
            "root of head_dim: multiply q by the quotient of the two.",
        ),
        Mistake(
            "old-root",
            _through_with(scale=lambda d: 1.0, of_slope=lambda slopes, d: slopes * math.sqrt(d)),
            "You use the root of head_dim. The kernel sees one column more, and divides by the root of "
            "head_dim + 1.",
        ),
        Mistake(
            "slope-with-the-old-root",
            _through_with(of_slope=lambda slopes, d: slopes * math.sqrt(d)),
            "Your q is right. The slopes were multiplied by the root of head_dim; the kernel divides by "
            "that of "
            "head_dim + 1.",
        ),
        Mistake(
            "scores-the-other-way",
            _through_with(scale=lambda d: math.sqrt(d / (d + 1))),
            "You multiplied q by the quotient upside down. The kernel divides by too much: make q longer.",
        ),
        Mistake(
            "sign-turned",
            _through_with(of_key=lambda n: -np.arange(n)),
            "The sign is wrong: far keys are rewarded. A later key must get more.",
        ),
        Mistake(
            "both-positions",
            _through_with(of_query=np.arange),
            "Positions were multiplied with each other. A bias of slope · key needs the slope in the query "
            "and the position in the key, and nothing else.",
        ),
        Mistake(
            "first-slope-for-all",
            _through_with(of_slope=lambda slopes, d: np.full_like(slopes, slopes[0]) * math.sqrt(d + 1)),
            "Every head got the slope of the first one. Each head has its own.",
        ),
        Mistake(
            "slopes-turned-round",
            _through_with(of_slope=lambda slopes, d: slopes[::-1] * math.sqrt(d + 1)),
            "The slopes are in the wrong order: head h has slopes[h].",
        ),
        Mistake(
            "scaled-by-the-new-root",
            _through_with(scale=lambda d: math.sqrt(d + 1)),
            "You multiplied q by the root of head_dim + 1, which undoes the kernel's root altogether. The "
            "scores should still be divided by the root of head_dim: multiply q by the root of (head_dim + "
            "1) / head_dim.",
        ),
        Mistake(
            "scaled-by-the-old-root",
            _through_with(scale=math.sqrt),
            "You multiplied q by the root of head_dim. Multiply it by the root of (head_dim + 1) / head_dim.",
        ),
        Mistake(
            "scaled-without-a-root",
            _through_with(scale=lambda d: (d + 1) / d),
            "The other scores are too large by the root of (head_dim + 1) / head_dim. Multiply q by that "
            "root, without squaring it, and leave k as it is.",
        ),
        Mistake(
            "slope-without-a-root",
            _through_with(of_slope=lambda slopes, d: slopes * (d + 1)),
            "The product of slope and position is too large by the root of head_dim + 1. Multiply by that "
            "root once, in the slope or in the position.",
        ),
        Mistake(
            "slope-divided-twice",
            _through_with(of_slope=lambda slopes, d: slopes / math.sqrt(d + 1)),
            "You divided the slopes by the root of head_dim + 1, and the kernel does so once more. Multiply "
            "instead.",
        ),
    ),
    alternatives=(_through_with(), _through_keys, _through_last),
    hints=(
        "softmax(s + c) = softmax(s). The bias is slope · key - slope · query: which part does a whole row "
        "share?",
        "Slope times key position is a product of two numbers. Write one into a new column of q and the "
        "other into a new column of k, and the dot product contains it.",
        "The kernel divides by the root of head_dim + 1. So the slope must be multiplied by that root, and "
        "q by "
        "the root of (head_dim + 1) / head_dim.",
    ),
)
