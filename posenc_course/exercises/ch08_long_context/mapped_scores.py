"""Self-Extend, from its map: Scores at these distances."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import (
    SELF_EXTEND,
    TURN,
    Generator,
    extended,
    i_j,
    past,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.angles import frequencies
from posenc_lib.rotated.rotary import apply_rotary


def _score_cases(rng: Generator) -> Iterator[Case]:
    def inputs(n: int, dim: int, distances: Array, base: float) -> tuple[Array, Array, Array, float]:
        return rng.normal(size=(n, dim)), rng.normal(size=(n, dim)), distances, base

    i, j = i_j(5)
    yield Case("true distances, 5 tokens", inputs(5, 8, i - j, 10000.0))
    yield Case("one token", inputs(1, 4, np.zeros((1, 1), dtype=np.int64), 10000.0))
    yield Case("all distances 0", inputs(4, 4, np.zeros((4, 4), dtype=np.int64), 10000.0))
    yield Case("Self-Extend, groups of 3, window 4", inputs(10, 8, extended(10, 3, 4), 10000.0))
    yield Case("Self-Extend, base 500", inputs(9, 6, extended(9, 2, 3), 500.0))
    yield Case("one pair", inputs(3, 2, extended(3, 2, 1), 10000.0))
    for _ in range(2):
        n, dim = int(rng.integers(3, 8)), 2 * int(rng.integers(2, 6))
        yield Case("distances, drawn", inputs(n, dim, rng.integers(0, 50, size=(n, n)), 1000.0))
    i, j = i_j(6)
    yield Case("positions interpolated, 6 tokens", inputs(6, 8, (i - j) / 4, 10000.0))


def _pairs(x: Array) -> Array:
    return np.asarray(x[:, 0::2] + 1j * x[:, 1::2])


def _mapped(q: Array, k: Array, distances: Array, base: float) -> Array:
    turned = np.exp(1j * distances[:, :, None] * frequencies(q.shape[1], base=base))
    found = (_pairs(q)[:, None] * _pairs(k).conj()[None] * turned).sum(axis=-1)
    return np.asarray(found.real / math.sqrt(q.shape[1]))


def _shares(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _neighbours(x: Array) -> Array:
    """Columns j and j + dim/2 side by side."""
    return np.stack(np.split(x, 2, axis=1), axis=-1).reshape(x.shape)


def _mapped_by_loops(q: Array, k: Array, distances: Array, base: float) -> Array:
    n, dim = q.shape
    found = np.empty((n, len(k)))
    for i in range(n):
        for j in range(len(k)):
            turned = apply_rotary(q[i : i + 1], np.array([distances[i, j]]), base=base)[0]
            found[i, j] = turned @ k[j] / dim**0.5
    return found


def _mapped_by_key(q: Array, k: Array, distances: Array, base: float) -> Array:
    """Each key turned back, once for each query."""
    rows = []
    for query, each in zip(q, distances, strict=True):
        rows.append(apply_rotary(k, -each, base=base) @ query / np.sqrt(q.shape[1]))
    return np.stack(rows)


def _mapped_in_parts(q: Array, k: Array, distances: Array, base: float) -> Array:
    total = np.zeros(distances.shape)
    for pair, rate in enumerate(frequencies(q.shape[1], base=base)):
        a, b = q[:, 2 * pair, None], q[:, 2 * pair + 1, None]
        c, d = k[None, :, 2 * pair], k[None, :, 2 * pair + 1]
        total += (a * c + b * d) * np.cos(distances * rate) + (a * d - b * c) * np.sin(distances * rate)
    return total / np.sqrt(q.shape[1])


MAPPED_SCORES = Exercise(
    id="08-long-context.mapped_scores",
    title="Scores at these distances",
    step_of=SELF_EXTEND,
    signature="mapped_scores(q: array of shape (n, dim), k: array of shape (n, dim), distances: array of "
    "shape "
    "(n, n), base: float) -> array of shape (n, n)",
    points=4,
    minutes=18,
    difficulty=4,
    draws=Draws(
        lambda mapped_scores, rows, columns: heat_map(
            np.tril(mapped_scores(np.ones((24, 8)), np.ones((24, 8)), extended(24, 3, 6), 10000.0)),
            rows=rows,
            columns=columns,
        ),
        axes=("query", "key"),
        look="All words are alike here, so only the distance shows: stripes that become blocks far from "
        "the diagonal.",
    ),
    reference=_mapped,
    make_cases=_score_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[2]),
            "There must be one score for each query and key.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "other-way",
            lambda q, k, distances, base: _mapped(q, k, -distances, base),
            "The rotation goes the wrong way. Rotate the query forwards by the distance, or its key "
            "backwards. With complex numbers, mirror the key, not the query.",
        ),
        Mistake(
            "root-missing",
            lambda q, k, distances, base: _mapped(q, k, distances, base) * math.sqrt(q.shape[1]),
            "The scores are not divided by the square root of dim.",
        ),
        Mistake(
            "divided-by-dim",
            lambda q, k, distances, base: _mapped(q, k, distances, base) / math.sqrt(q.shape[1]),
            "The scores are divided by dim. Divide by its square root.",
        ),
        Mistake(
            "not-turned",
            lambda q, k, distances, base: q @ k.T / math.sqrt(q.shape[1]),
            "These are scores without any position. Rotate each pair by its frequency times the distance: "
            "those of the query or those of the key. Rotating both alike changes nothing.",
        ),
        Mistake(
            "true-distances",
            lambda q, k, distances, base: _mapped(q, k, np.subtract(*i_j(len(q))), base),
            "You rotate by the true positions. The distance of each query and key is given, and it may "
            "differ from the true one.",
        ),
        Mistake(
            "first-row-for-all",
            lambda q, k, distances, base: _mapped(q, k, np.repeat(distances[-1:], len(q), axis=0), base),
            "All queries take the distances of the last one. Each row has its own.",
        ),
        Mistake(
            "half-layout",
            lambda q, k, distances, base: _mapped(_neighbours(q), _neighbours(k), distances, base),
            "Your pairs are columns j and j + dim/2. Here neighbours make a pair, columns 2j and 2j + 1.",
        ),
        Mistake(
            "base-not-used",
            lambda q, k, distances, base: _mapped(q, k, distances, 10000.0),
            "Your base is 10,000, whatever is given. Use the one you are given.",
        ),
        Mistake(
            "all-pairs-alike",
            lambda q, k, distances, base: (
                (_pairs(q)[:, None] * _pairs(k).conj()[None] * np.exp(1j * distances[:, :, None]))
                .sum(-1)
                .real
                / math.sqrt(q.shape[1])
            ),
            "All your pairs rotate by the distance itself. Pair j has a frequency of its own.",
        ),
        Mistake(
            "not-mirrored",
            lambda q, k, distances, base: (
                (
                    _pairs(q)[:, None]
                    * _pairs(k)[None]
                    * np.exp(1j * distances[:, :, None] * frequencies(q.shape[1], base=base))
                )
                .sum(-1)
                .real
                / math.sqrt(q.shape[1])
            ),
            "The product of two arrows is their score only if one of them is mirrored: take the conjugate of "
            "the key.",
        ),
        Mistake(
            "both-turned",
            lambda q, k, distances, base: _mapped(q, k, 2 * distances, base),
            "The distance is counted twice. That happens when the query is rotated by it and the key is "
            "rotated back by it: rotate one of the two.",
        ),
        Mistake(
            "weights",
            lambda q, k, distances, base: _shares(_mapped(q, k, distances, base)),
            "These are weights. Return the scores, before the softmax.",
        ),
        Mistake(
            "root-of-the-pairs",
            lambda q, k, distances, base: _mapped(q, k, distances, base) * math.sqrt(2),
            "You divide by the square root of the number of pairs. Use dim, which is twice as many.",
        ),
        Mistake(
            "lengths",
            lambda q, k, distances, base: (
                np.abs(
                    (
                        _pairs(q)[:, None]
                        * _pairs(k).conj()[None]
                        * np.exp(1j * distances[:, :, None] * frequencies(q.shape[1], base=base))
                    ).sum(axis=-1)
                )
                / math.sqrt(q.shape[1])
            ),
            "You take the length of the complex sum. The score is its real part.",
        ),
        Mistake(
            "causal-too",
            lambda q, k, distances, base: past(_mapped(q, k, distances, base)),
            "You put 0 where a key comes after its query. Return all the scores: there is no mask here.",
        ),
        Mistake(
            "exponent-halved",
            lambda q, k, distances, base: _mapped(q, k, distances, math.sqrt(base)),
            "Your slow pairs rotate too fast. The frequency of pair j is base ** (-2 * j / dim): the 2 "
            "is missing.",
        ),
        Mistake(
            "swapped",
            lambda q, k, distances, base: _mapped(q, k, distances, base).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "root-of-tokens",
            lambda q, k, distances, base: _mapped(q, k, distances, base) * math.sqrt(q.shape[1] / len(q)),
            "You divide by the square root of the number of tokens. Use dim, the number of columns.",
        ),
        Mistake(
            "cosine-alone",
            lambda q, k, distances, base: (
                (
                    (_pairs(q)[:, None] * _pairs(k).conj()[None]).real
                    * np.cos(distances[:, :, None] * frequencies(q.shape[1], base=base))
                ).sum(axis=-1)
                / math.sqrt(q.shape[1])
            ),
            "You multiply each pair's product by a cosine. That is not enough unless query and key point "
            "the same way: the part with the sine is missing. Complex numbers bring both.",
        ),
        Mistake(
            "exponent-doubled",
            lambda q, k, distances, base: _mapped(q, k, distances, base**2),
            "Your slow pairs rotate too slowly: the exponent is twice as large as it should be. Does "
            "np.arange already count in steps of 2, and the 2 comes in once more?",
        ),
        Mistake(
            "as-slow-as-the-base",
            lambda q, k, distances, base: (
                (
                    _pairs(q)[:, None]
                    * _pairs(k).conj()[None]
                    * np.exp(1j * distances[:, :, None] * base ** -np.linspace(0, 1, q.shape[1] // 2))
                )
                .sum(-1)
                .real
                / math.sqrt(q.shape[1])
            ),
            "Your slowest pair has a frequency of 1 / base. Its exponent stops short of 1: it is -2 * j "
            "/ dim, and the last j is dim / 2 - 1.",
        ),
        Mistake(
            "distances-in-turns",
            lambda q, k, distances, base: _mapped(q, k, distances * TURN, base),
            "You multiply by 2 pi. The frequencies are in radians already.",
        ),
    ),
    alternatives=(_mapped_by_loops, _mapped_by_key, _mapped_in_parts),
    hints=(
        "A score is the real part of a sum over pairs: the query's arrow, times the key's mirrored, times "
        "the "
        "arrow of the distance.",
        "As complex numbers the pairs of q are `q[:, 0::2] + 1j * q[:, 1::2]`. Give the arrays axes for "
        "query, "
        "key and pair: `[:, None]`, `[None]`, and `distances[:, :, None]`.",
        "The arrow of the distance is `np.exp(1j * distances[:, :, None] * rates)`. Sum over the last axis.",
    ),
)
