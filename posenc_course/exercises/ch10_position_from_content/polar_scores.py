"""What and where: Lengths for what, angles for where."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import WHAT_AND_WHERE, Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _polar_cases(rng: Generator) -> Iterator[Case]:
    def inputs(n: int, dim: int, base: float, size: float = 1.0) -> tuple[Any, ...]:
        q, k = size * rng.normal(size=(2, n, dim))
        return q, k, rng.uniform(-2 * math.pi, 0, size=dim), base

    q, k, _, base = inputs(4, 3, 10_000.0)
    yield Case("no angle more", (q, k, np.zeros(3), base))
    yield Case("no content", (np.zeros((5, 4)), np.zeros((5, 4)), np.zeros(4), 10_000.0))
    yield Case("an angle for each column", inputs(4, 4, 10_000.0))
    yield Case("one column", inputs(6, 1, 10_000.0))
    q, k, delta, base = inputs(3, 4, 500.0, 500.0)
    q[0, 0] = 900.0  # e to this power is beyond what float64 holds
    yield Case("large numbers", (q, k, delta, base))
    for _ in range(3):
        yield Case(
            "sizes, drawn",
            inputs(int(rng.integers(3, 8)), int(rng.integers(2, 7)), float(rng.uniform(20, 2000))),
        )


def _softplus(x: Array) -> Array:
    return np.asarray(np.logaddexp(0, x))


def _column_rates(dim: int, base: float) -> Array:
    return np.asarray(base ** (-np.arange(dim) / dim))


def _polar_with(
    *,
    length: Callable[[Array], Array] = _softplus,
    angle: Callable[[Array, Array, Array], Array] = lambda offsets, rates, delta: offsets * rates + delta,
    rates: Callable[[int, float], Array] = _column_rates,
    wave: Callable[[Array], Array] = np.cos,
    scale: Callable[[int], float] = math.sqrt,
) -> Callable[[Array, Array, Array, float], Array]:
    def scores(q: Array, k: Array, delta: Array, base: float) -> Array:
        n, dim = q.shape
        offsets = (np.arange(n) - np.arange(n)[:, None])[:, :, None]
        lengths = length(q)[:, None] * length(k)[None]
        return np.asarray((lengths * wave(angle(offsets, rates(dim, base), delta))).sum(axis=-1) / scale(dim))

    return scores


def _polar_scores(q: Array, k: Array, delta: Array, base: float) -> Array:
    return _polar_with()(q, k, delta, base)


def _polar_by_arrows(q: Array, k: Array, delta: Array, base: float) -> Array:
    """Each arrow turned by its own position, as complex numbers."""
    n, dim = q.shape
    turns = np.exp(1j * np.outer(np.arange(n), _column_rates(dim, base)))
    arrows_q = np.log1p(np.exp(-np.abs(q))) + np.maximum(q, 0)
    arrows_k = np.logaddexp(k, 0) * np.exp(1j * delta)
    return np.asarray(((arrows_q * turns.conj()) @ (arrows_k * turns).T).real / dim**0.5)


def _polar_by_columns(q: Array, k: Array, delta: Array, base: float) -> Array:
    n, dim = q.shape
    total = np.zeros((n, n))
    for c in range(dim):
        for i in range(n):
            for j in range(n):
                both = np.logaddexp(0, q[i, c]) * np.logaddexp(0, k[j, c])
                total[i, j] += both * math.cos((j - i) * base ** (-c / dim) + delta[c])
    return total / math.sqrt(dim)


POLAR_SCORES = Exercise(
    id="10-position-from-content.polar_scores",
    title="Lengths for what, angles for where",
    step_of=WHAT_AND_WHERE,
    signature="polar_scores(q: array of shape (n, dim), k: array of shape (n, dim), delta: array of shape "
    "(dim,), base: float) -> array of shape (n, n)",
    points=4,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda polar_scores, across, up: curve(
            -np.arange(40),
            {
                name: np.asarray(
                    polar_scores(
                        np.full((40, 12), size),
                        np.full((40, 12), size),
                        np.zeros(12),
                        1000.0,
                    )
                )[-1, ::-1]
                for name, size in (("q, k = 0", 0.0), ("q, k = 1", 1.0))
            },
            across=across,
            up=up,
        ),
        axes=("offset, key - query", "score"),
        look="Content makes the curve higher and leaves its peak where it is.",
    ),
    reference=_polar_scores,
    make_cases=_polar_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[0])),
            "There must be a row for each query and a column for each key.",
            about="form",
        ),
    ),
    where_not_finite="In a computer, e to the power of 1,000 is infinite. np.logaddexp(0, x) is softplus "
    "without computing it.",
    mistakes=(
        Mistake(
            "no-softplus",
            _polar_with(length=lambda x: x),
            "Your lengths may be negative. Softplus makes a length out of any number.",
        ),
        Mistake(
            "cut-at-zero",
            _polar_with(length=lambda x: np.maximum(x, 0)),
            "You set negative numbers to 0. Softplus is smooth, and never 0.",
        ),
        Mistake(
            "absolute-values",
            _polar_with(length=np.abs),
            "You take absolute values. A column that says no would count as much as one that says yes: take "
            "softplus.",
        ),
        Mistake(
            "plus-left-out",
            _polar_with(length=lambda x: _softplus(-x)),
            "Your softplus falls as the number grows: the sign of x is wrong.",
        ),
        Mistake(
            "softplus-of-the-product",
            lambda q, k, delta, base: (
                np.einsum(
                    "ijc,ijc->ij",
                    _softplus(q[:, None] * k[None]),
                    np.cos(
                        (np.arange(len(q)) - np.arange(len(q))[:, None])[:, :, None]
                        * _column_rates(q.shape[1], base)
                        + delta
                    ),
                )
                / math.sqrt(q.shape[1])
            ),
            "You take softplus of the products. Query and key each have their own length: multiply the two.",
        ),
        Mistake(
            "offset-turned-round",
            _polar_with(angle=lambda offsets, rates, delta: -offsets * rates + delta),
            "The offset or delta has the wrong sign. The offset is key minus query, and delta is added.",
        ),
        Mistake(
            "no-delta",
            _polar_with(angle=lambda offsets, rates, delta: offsets * rates + 0 * delta),
            "Your angles hold no delta. If queries and keys both get it, it cancels: only the keys get it.",
        ),
        Mistake(
            "delta-by-position",
            _polar_with(angle=lambda offsets, rates, delta: offsets * (rates + delta)),
            "You multiply delta by the offset. It is one angle for all positions.",
        ),
        Mistake(
            "rates-of-pairs",
            _polar_with(rates=lambda dim, base: base ** (-2 * np.arange(dim) / dim)),
            "Your frequencies fall twice as fast, as if two columns made a pair. Each column has an arrow "
            "of its own.",
        ),
        Mistake(
            "counted-from-one",
            _polar_with(rates=lambda dim, base: base ** (-np.arange(1, dim + 1) / dim)),
            "Your columns are counted from 1. The first one turns by 1 radian per position.",
        ),
        Mistake(
            "base-fixed",
            lambda q, k, delta, base: _polar_scores(q, k, delta, 10_000.0),
            "Your base is 10,000, whatever is given.",
        ),
        Mistake(
            "sines",
            _polar_with(wave=np.sin),
            "You take sines. The product of two arrows depends on the cosine of the angle between them.",
        ),
        Mistake(
            "not-divided", _polar_with(scale=lambda dim: 1.0), "The sum is not divided by the root of dim."
        ),
        Mistake(
            "twice-as-wide",
            _polar_with(scale=lambda dim: math.sqrt(2 * dim)),
            "You divide by the root of twice dim. There are dim columns, and each has one arrow: use dim.",
        ),
        Mistake(
            "distance",
            _polar_with(angle=lambda offsets, rates, delta: np.abs(offsets) * rates + delta),
            "You take the distance without its sign. With delta, before and after are different.",
        ),
        Mistake(
            "masked",
            lambda *args: np.tril(_polar_scores(*args)),
            "In yours, keys after the query get 0. There is no mask here.",
        ),
        Mistake(
            "root-of-tokens",
            lambda q, k, delta, base: _polar_scores(q, k, delta, base) * math.sqrt(q.shape[1] / len(q)),
            "You divide by the root of the number of tokens. Use dim, the number of columns.",
        ),
        Mistake(
            "pairs-share-a-rate",
            _polar_with(rates=lambda dim, base: base ** (-(np.arange(dim) // 2 * 2) / dim)),
            "In yours, two columns share a rate, as in a pair of RoPE. Each column has its own.",
        ),
        Mistake(
            "sigmoid",
            _polar_with(length=lambda x: np.exp(-np.logaddexp(0, -x))),
            "You use the sigmoid. Softplus is the logarithm of 1 + exp(x), and grows without end.",
        ),
        Mistake(
            "divided-by-dim",
            _polar_with(scale=float),
            "You divide by dim. Divide by its square root.",
        ),
        Mistake(
            "delta-for-both",
            _polar_with(angle=lambda offsets, rates, delta: offsets * rates + 2 * delta),
            "Your delta counts twice. It is added to the angle once.",
        ),
        Mistake(
            "as-slow-as-the-base",
            _polar_with(rates=lambda dim, base: base ** (-np.arange(dim) / max(dim - 1, 1))),
            "Your slowest column has a rate of 1 / base. The exponent is -c / dim, and the last c is dim "
            "- 1.",
        ),
        Mistake(
            "rising-rates",
            _polar_with(rates=lambda dim, base: base ** (np.arange(dim) / dim)),
            "Your rates rise from column to column. The minus in the exponent is missing.",
        ),
        Mistake(
            "softplus-of-keys-alone",
            lambda q, k, delta, base: (
                np.einsum(
                    "ic,jc,ijc->ij",
                    q,
                    _softplus(k),
                    np.cos(
                        (np.arange(len(q)) - np.arange(len(q))[:, None])[:, :, None]
                        * _column_rates(q.shape[1], base)
                        + delta
                    ),
                )
                / math.sqrt(q.shape[1])
            ),
            "Only your keys go through softplus. Queries do too.",
        ),
        Mistake(
            "swapped",
            lambda *args: _polar_scores(*args).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "rates-too-close",
            _polar_with(rates=lambda dim, base: base ** (-np.arange(dim) / (2 * dim))),
            "Your rates fall half as fast as they should. The exponent is -c / dim, without a 2.",
        ),
    ),
    alternatives=(
        _polar_by_arrows,
        _polar_by_columns,
        lambda q, k, delta, base: _polar_scores(q, k, delta - 2 * math.pi, base).tolist(),
    ),
    hints=(
        "Softplus is the logarithm of 1 + exp(x); `np.logaddexp(0, x)` computes it without overflow.",
        "The angles are of shape (n, n, dim): the offsets `j - i`, times `base ** (-c / dim)`, plus delta.",
        "Multiply the lengths of the queries, `[:, None]`, by those of the keys, `[None]`, and by the "
        "cosines; sum over the columns, and divide by the root of dim.",
    ),
)
