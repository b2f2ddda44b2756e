"""A head that looks one back: Loud enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import (
    ONE_BACK_HEAD,
    Generator,
    key_matrix,
    softmax,
    sum_to_one,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import shift_matrix, sinusoidal


def _one_back_cases(rng: Generator) -> Iterator[Case]:
    def rows_of(queries: Any, keys: Any, dim: int, base: float) -> tuple[Any, ...]:
        return (
            sinusoidal(np.asarray(queries), dim, base=base),
            sinusoidal(np.asarray(keys), dim, base=base),
            base,
        )

    near = np.arange(1, 9)
    yield Case("places 1 to 8 ask, 0 to 8 answer, dim 16", rows_of(near, np.arange(9), 16, 10000.0))
    yield Case("one query alone, dim 8", rows_of([5], np.arange(10), 8, 10000.0))
    yield Case("keys in any order, dim 32, base 100", rows_of(near, rng.permutation(9), 32, 100.0))
    yield Case("every third place asks", rows_of(np.arange(3, 20, 3), np.arange(20), 16, 1000.0))
    far = int(rng.integers(5000, 90_000))
    yield Case("far beyond, dim 64", rows_of(far + near, far + rng.permutation(9), 64, 10000.0))
    start, dim = int(rng.integers(100, 900)), int(2 * rng.integers(5, 17))
    base = float(rng.integers(50, 20_000))
    yield Case(
        "random width, base and order",
        rows_of(start + rng.permutation(np.arange(1, 16)), start + rng.permutation(16), dim, base),
    )
    yield Case("dim 32, base 2", rows_of(near, rng.permutation(9), 32, 2.0))
    yield Case("sixty places, dim 64", rows_of(np.arange(1, 60), np.arange(60), 64, 10000.0))


def _looking_at(
    queries: np.ndarray,
    keys: np.ndarray,
    base: float,
    *,
    step: float = 1,
    loudness: float = 1000.0,
    axis: int = -1,
) -> np.ndarray:
    """Weights of a head whose keys are turned `step` places on."""
    dim = queries.shape[1]
    turned = keys @ shift_matrix(step, dim, base=base).T
    return softmax(loudness * queries @ turned.T / np.sqrt(dim), axis)


def _by_nearest_row(queries: np.ndarray, keys: np.ndarray, base: float) -> np.ndarray:
    turned = keys @ key_matrix(keys.shape[1], base)
    distance = np.linalg.norm(queries[:, None] - turned, axis=-1)
    return np.asarray((distance.argmin(axis=1)[:, None] == np.arange(len(keys))).astype(float))


def _queries_turned_back(queries: np.ndarray, keys: np.ndarray, base: float) -> np.ndarray:
    back = queries @ key_matrix(queries.shape[1], base, -1)
    return softmax(200.0 * back @ keys.T)


def _right_but_quiet(args: tuple[Any, ...], value: np.ndarray) -> bool:
    right = _by_nearest_row(*args).argmax(axis=1)
    return bool((value.argmax(axis=1) == right).all()) and bool((value.max(axis=1) < 0.99).any())


ONE_BACK = Exercise(
    id="03-relative-position.one_back",
    title="Loud enough",
    step_of=ONE_BACK_HEAD,
    adds="Your decoder gets a head that looks one back: nobody trained it, and it works at every place.",
    signature="one_back(queries: array of shape (m, dim), keys: array of shape (n, dim), base: number) "
    "-> weights of shape (m, n)",
    points=2,
    minutes=11,
    difficulty=3,
    draws=Draws(
        lambda one_back, rows, columns: heat_map(
            one_back(sinusoidal(np.arange(1, 13), 64), sinusoidal(13, 64), 10000.0),
            rows=rows,
            columns=columns,
        ),
        axes=("query, from place 1", "key"),
        look="Every query looks at the key of the place before its own.",
    ),
    reference=lambda queries, keys, base: _looking_at(queries, keys, base),
    make_cases=_one_back_cases,
    relative_tolerance=0.0,
    absolute_tolerance=0.01,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[1])),
            "Return a row of weights for each query, with one weight for each key: (m, n).",
            about="form",
        ),
        Property(
            lambda args, value: sum_to_one(value),
            "The weights of each query must sum to 1.",
        ),
        Property(
            lambda args, value: bool((value.argmax(axis=1) == _by_nearest_row(*args).argmax(axis=1)).all()),
            "Some query gives its largest weight to another key than the one right before it. The rows come "
            "from any places and in any order, and there is no mask: compare what they hold.",
        ),
        Property(
            lambda args, value: not _right_but_quiet(args, value),
            "Each query looks mostly at the right key, but its weight is below 0.99. Make the head louder.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-loud",
            lambda queries, keys, base: _looking_at(queries, keys, base, loudness=1.0),
            "Each query likes the place before it best, and is too quiet to say so: its weights are spread "
            "over the whole text. Multiply the queries by a number, and try how large it must be.",
        ),
        Mistake(
            "not-loud-and-not-scaled",
            lambda queries, keys, base: _looking_at(queries, keys, base, loudness=np.sqrt(queries.shape[1])),
            "The division by the square root of dim was left out, which makes the head a little louder, "
            "but not enough. Multiply the queries by a larger number.",
        ),
        Mistake(
            "looks-one-ahead",
            lambda queries, keys, base: _looking_at(queries, keys, base, step=-1),
            "Your head looks one place ahead. The key of place p has to be the row of place p + 1, and not "
            "the other way round.",
        ),
        Mistake(
            "looks-at-itself",
            lambda queries, keys, base: _looking_at(queries, keys, base, step=0),
            "Each query looks at its own place. Turn the keys one step on before you compare, and leave "
            "the queries as they are.",
        ),
        Mistake(
            "looks-two-back",
            lambda queries, keys, base: _looking_at(queries, keys, base, step=2),
            "Your head looks two places back. Queries and keys were both turned, or the keys twice.",
        ),
        Mistake(
            "usual-base",
            lambda queries, keys, base: (
                _looking_at(queries, keys, 10000.0)
                if base == 10000.0
                else softmax(
                    1000.0 * queries @ (keys @ key_matrix(keys.shape[1], 10000.0)).T / np.sqrt(keys.shape[1])
                )
            ),
            "The base is taken to be 10000, whatever is given. Pass it on to your matrix.",
        ),
        Mistake(
            "by-row-number",
            lambda queries, keys, base: np.eye(len(queries), len(keys)),
            "Row r of your weights looks at key r, whatever the rows hold. Queries and keys may come in "
            "any order, from any places: compare them.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda queries, keys, base: _looking_at(queries, keys, base, axis=0),
            "The softmax was taken over the queries, so that columns sum to 1. Each query has its own "
            "weights: take it over the last axis.",
        ),
        Mistake(
            "turned-in-the-wrong-layout",
            lambda queries, keys, base: softmax(
                1000.0
                * queries
                @ (keys @ shift_matrix(1, keys.shape[1], base=base, layout="split").T).T
                / np.sqrt(keys.shape[1])
            ),
            "The keys were turned as if all sines came first. Here the two of a pair are side by side.",
        ),
        Mistake(
            "scores",
            lambda queries, keys, base: (
                1000.0 * queries @ (keys @ key_matrix(keys.shape[1], base)).T / np.sqrt(keys.shape[1])
            ),
            "These are scores. Take the softmax of each row to make weights of them.",
        ),
        Mistake(
            "divided-by-the-sum",
            lambda queries, keys, base: (
                (queries @ (keys @ key_matrix(keys.shape[1], base)).T)
                / (queries @ (keys @ key_matrix(keys.shape[1], base)).T).sum(axis=-1, keepdims=True)
            ),
            "The scores were divided by their sum. That keeps them as spread out as they were: the "
            "softmax, which raises e to each score, is what picks the largest.",
        ),
    ),
    alternatives=(
        _by_nearest_row,
        _queries_turned_back,
        lambda queries, keys, base: _looking_at(queries, keys, base, loudness=3000.0).tolist(),
    ),
    hints=(
        "Two matrices make the head: `w_k = key_of_next(dim, base)`, and for the queries the identity "
        "times a number.",
        "The best score of a query is only a little larger than the next best. What does the softmax do "
        "when all its scores are multiplied by 100?",
        "Take away the largest score of each row before you raise e to it. Loud scores overflow otherwise.",
    ),
)
