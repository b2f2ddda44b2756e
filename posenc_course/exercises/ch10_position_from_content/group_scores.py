"""Rotations and ALiBi are one thing: Scores of any generator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import ONE_THING, Generator, _skew
from posenc_course.exercises.ch10_position_from_content.generator import _generator
from posenc_course.exercises.ch10_position_from_content.one_step import one_step
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _group_cases(rng: Generator) -> Iterator[Case]:
    def inputs(n: int, generator: Array) -> tuple[Array, ...]:
        dim = len(generator)
        return rng.normal(size=(n, dim)), rng.normal(size=(n, dim)), generator

    def lifted(n: int, rates: Array, slope: float) -> tuple[Array, ...]:
        q, k, generator = inputs(n, _generator(rates, slope))
        q[:, -2:], k[:, -2:] = (1.0, 0.0), (0.0, 1.0)
        return q, k, generator

    yield Case("only RoPE", inputs(4, _generator(np.array([1.0, 0.1]), 0.0)[:4, :4]))
    yield Case("only ALiBi", lifted(5, np.zeros(0), 0.5))
    yield Case("RoPE and ALiBi", lifted(6, np.array([1.0, 0.1]), 0.125))
    yield Case("a rotation of three columns", inputs(5, _skew(rng, 3, 1.0)))
    yield Case("one token", inputs(1, _skew(rng, 4, 1.0)))
    for _ in range(3):
        dim = int(rng.integers(3, 6))
        generator = _skew(rng, dim, 0.8) + np.triu(rng.normal(size=(dim, dim)), 1) / 6
        yield Case("drawn", inputs(int(rng.integers(3, 6)), generator))


Steps = Callable[[int], Array]


def _group_with(between: Callable[[Steps, Array, int, int], Array]) -> Callable[[Array, Array, Array], Array]:
    """`between`: the matrix between query and key, of what so many steps do, the generator and the places."""

    def scores(q: Array, k: Array, generator: Array) -> Array:
        steps = cache(lambda count: one_step(count * generator))
        return np.array(
            [[q[i] @ between(steps, generator, i, j) @ k[j] for j in range(len(k))] for i in range(len(q))]
        )

    return scores


def _group_scores(q: Array, k: Array, generator: Array) -> Array:
    return _group_with(lambda steps, matrix, i, j: steps(j - i))(q, k, generator)


def _group_by_powers(q: Array, k: Array, generator: Array) -> Array:
    step, n = one_step(generator), len(q)
    powers = {offset: np.linalg.matrix_power(step, offset) for offset in range(1 - n, n)}
    return np.array([[q[i] @ powers[j - i] @ k[j] for j in range(n)] for i in range(n)])


def _group_by_moving_both(q: Array, k: Array, generator: Array) -> Array:
    """Keys go to their places, and queries back from theirs: then it is a plain product."""
    keys = np.stack([one_step(j * generator) @ row for j, row in enumerate(k)])
    queries = np.stack([row @ one_step(-i * generator) for i, row in enumerate(q)])
    return np.asarray(queries @ keys.T)


GROUP_SCORES = Exercise(
    id="10-position-from-content.group_scores",
    title="Scores of any generator",
    step_of=ONE_THING,
    signature="group_scores(q: array of shape (n, dim), k: array of shape (n, dim), generator: array of "
    "shape (dim, dim)) -> array of shape (n, n)",
    points=3,
    minutes=12,
    difficulty=4,
    draws=Draws(
        lambda group_scores, across, up: curve(
            np.arange(-15, 1),
            {
                name: np.asarray(
                    group_scores(
                        np.tile([1.0, 0.0, 1.0, 0.0], (16, 1)),
                        np.tile([1.0, 0.0, 0.0, 1.0], (16, 1)),
                        _generator(np.array([rate]), slope),
                    )
                )[-1]
                for name, rate, slope in (("RoPE", 0.5, 0.0), ("ALiBi", 0.0, 0.1), ("RoPE + ALiBi", 0.5, 0.1))
            },
            across=across,
            up=up,
        ),
        axes=("offset, key - query", "score"),
        look="One matrix for both: a wave, a straight line, or a wave on a straight line.",
    ),
    reference=_group_scores,
    make_cases=_group_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[1])),
            "There must be a row for each query and a column for each key.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.diag(np.asarray(value)), (args[0] * args[1]).sum(axis=1), rtol=1e-4, atol=1e-4)
            ),
            "At offset 0 nothing moves: the diagonal must hold the plain products of query and key.",
        ),
    ),
    where_not_finite="Some power of the matrix grew too large. Use your own one_step.",
    mistakes=(
        Mistake(
            "offset-turned-round",
            _group_with(lambda steps, matrix, i, j: steps(i - j)),
            "Your offset is query minus key. It should be key minus query.",
        ),
        Mistake(
            "both-forward",
            _group_with(lambda steps, matrix, i, j: steps(i).T @ steps(j)),
            "You move query and key forward, each to its place. For a rotation that is right, because "
            "its transpose is its inverse. For ALiBi's part it is not: move the query back.",
        ),
        Mistake(
            "added",
            _group_with(lambda steps, matrix, i, j: steps(i + j)),
            "You add the two positions. Take their difference.",
        ),
        Mistake(
            "keys-alone",
            _group_with(lambda steps, matrix, i, j: steps(j)),
            "You move only the keys. The query has a position as well.",
        ),
        Mistake(
            "distance",
            _group_with(lambda steps, matrix, i, j: steps(abs(j - i))),
            "You take the distance without its sign.",
        ),
        Mistake(
            "one-step-for-all",
            _group_with(lambda steps, matrix, i, j: steps(1)),
            "You take one step, whatever the offset.",
        ),
        Mistake(
            "first-order",
            _group_with(lambda steps, matrix, i, j: np.eye(len(matrix)) + (j - i) * matrix),
            "You stop after the first power of the matrix. That is enough only where its square is 0, as "
            "for ALiBi alone.",
        ),
        Mistake(
            "times-the-offset",
            _group_with(lambda steps, matrix, i, j: (j - i) * steps(1)),
            "You multiply one step by the offset. Several steps, one after the other, are a power.",
        ),
        Mistake(
            "each-number-raised",
            _group_with(lambda steps, matrix, i, j: np.exp((j - i) * matrix)),
            "You raise e to each number of the matrix. Use your own one_step.",
        ),
        Mistake(
            "generator-itself",
            _group_with(lambda steps, matrix, i, j: (j - i) * matrix),
            "You take the generator times the offset. Its exponential belongs between query and key.",
        ),
        Mistake(
            "step-transposed",
            _group_with(lambda steps, matrix, i, j: steps(j - i).T),
            "The matrix between query and key is transposed.",
        ),
        Mistake(
            "nothing-moves",
            _group_with(lambda steps, matrix, i, j: np.eye(len(matrix))),
            "These are plain products: the generator is not used.",
        ),
        Mistake(
            "divided",
            lambda q, k, generator: _group_scores(q, k, generator) / math.sqrt(q.shape[1]),
            "You divide by the root of dim. Here nothing is divided.",
        ),
        Mistake(
            "sees-no-future",
            lambda *args: np.tril(_group_scores(*args)),
            "In yours, keys after the query get 0. There is no mask here.",
        ),
        Mistake(
            "swapped",
            lambda *args: _group_scores(*args).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "query-and-key-swapped",
            lambda q, k, generator: _group_scores(k, q, generator),
            "Queries and keys are swapped.",
        ),
        Mistake(
            "query-from-the-left",
            _group_with(lambda steps, matrix, i, j: steps(-i).T @ steps(j)),
            "You move the query back by a matrix on its left. In the score the query is a row, so its "
            "matrix is on its right.",
        ),
        Mistake(
            "half-the-offset",
            _group_with(lambda steps, matrix, i, j: one_step((j - i) / 2 * matrix)),
            "You move by half the offset.",
        ),
        Mistake(
            "backwards-and-transposed",
            _group_with(lambda steps, matrix, i, j: steps(i - j).T),
            "You take the transpose in place of the inverse. For a rotation that is the same, for "
            "ALiBi's part it is not.",
        ),
        Mistake(
            "queries-alone",
            _group_with(lambda steps, matrix, i, j: steps(-i)),
            "You move only the queries. The keys have positions as well.",
        ),
    ),
    alternatives=(
        _group_by_powers,
        _group_by_moving_both,
        lambda q, k, generator: _group_scores(q, k, generator).tolist(),
    ),
    hints=(
        "Between query i and key j is `one_step((j - i) * generator)`.",
        "You need it once for each of the offsets 1 - n to n - 1. Negative offsets are no different: "
        "their matrix is the inverse.",
        "If you would rather move queries and keys once each: move keys by `one_step(j * generator)` "
        "from the left, queries by `one_step(-i * generator)` from the right.",
    ),
)
