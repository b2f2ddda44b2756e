"""Waves on a graph: What no sign can change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import (
    GRAPH,
    Generator,
    drawn_graph,
    laplacian,
    normalised,
    path,
    ring,
    star,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _heat_cases(rng: Generator) -> Iterator[Case]:
    yield Case("two nodes", (path(2), 0.5))
    yield Case("a path of 4", (path(4), 1.0))
    yield Case("a ring of 6, with equal eigenvalues", (ring(6), 0.7))
    yield Case("all joined to all", (np.ones((5, 5)) - np.eye(5), 0.3))
    yield Case("two pairs that nothing joins", (np.kron(np.eye(2), path(2)), 2.0))
    yield Case("no time", (star(4), 0.0))
    for _ in range(3):
        graph = drawn_graph(rng, int(rng.integers(4, 8)))
        yield Case("weights, drawn", (graph, float(rng.uniform(0.1, 1.5))))


def _spectrum(
    adjacency: Array,
    of_values: Callable[[Array], Array],
    first: int = 0,
    of: Callable[[Array], Array] = laplacian,
) -> Array:
    values, vectors = np.linalg.eigh(of(adjacency))
    return np.asarray((vectors * of_values(values))[:, first:] @ vectors[:, first:].T)


def _heat(adjacency: Array, time: float) -> Array:
    return _spectrum(adjacency, lambda values: np.exp(-time * values))


def _heat_by_steps(adjacency: Array, time: float) -> Array:
    """Many small steps, each doubled: the series of the exponential."""
    small = laplacian(adjacency) * (-time / 2**12)
    step = np.eye(len(adjacency)) + small + small @ small / 2 + small @ small @ small / 6
    for _ in range(12):
        step = step @ step
    return step


def _heat_by_series(adjacency: Array, time: float) -> Array:
    term = total = np.eye(len(adjacency))
    for power in range(1, 150):
        term = term @ (-time * laplacian(adjacency)) / power
        total = total + term
    return total


def _heat_by_loop(adjacency: Array, time: float) -> Array:
    values, vectors = np.linalg.eigh(laplacian(adjacency))
    total = np.zeros(adjacency.shape)
    for value, vector in zip(values, vectors.T, strict=True):
        total += math.exp(-time * value) * np.outer(vector, vector)
    return total


def _heat_of_rows(adjacency: Array, time: float) -> Array:
    values, vectors = np.linalg.eigh(laplacian(adjacency))
    return np.asarray(vectors.T * np.exp(-time * values) @ vectors)


def _not_transposed(adjacency: Array, time: float) -> Array:
    values, vectors = np.linalg.eigh(laplacian(adjacency))
    return np.asarray(vectors * np.exp(-time * values) @ vectors)


HEAT_BETWEEN = Exercise(
    id="09-beyond-text.heat_between",
    title="What no sign can change",
    step_of=GRAPH,
    signature="heat_between(adjacency: array of shape (nodes, nodes), time: float) -> array of shape (nodes, "
    "nodes)",
    points=3,
    minutes=14,
    difficulty=4,
    draws=Draws(
        lambda heat_between, rows, columns: heat_map(heat_between(path(16), 2.0), rows=rows, columns=columns),
        axes=("node where it began", "node where it is"),
        look="On a path of 16 nodes the heat of each node stays around it, and at the two ends it piles up.",
    ),
    reference=lambda adjacency, time: _heat(adjacency, time),
    make_cases=_heat_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one number for each pair of nodes.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=1), 1, atol=1e-3)),
            "No heat is lost: each row must sum to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "growing",
            lambda adjacency, time: _heat(adjacency, -time),
            "The minus in the exponent is missing: your fast waves grow. They should die out first.",
        ),
        Mistake(
            "entry-by-entry",
            lambda adjacency, time: np.exp(-time * laplacian(adjacency)),
            "You take the exponential of each entry of the matrix. Take it of each eigenvalue, then put "
            "the matrix together again.",
        ),
        Mistake(
            "without-the-constant",
            lambda adjacency, time: _spectrum(adjacency, lambda values: np.exp(-time * values), first=1),
            "The wave that is the same everywhere is missing. Here it counts: it is the heat that never "
            "goes away.",
        ),
        Mistake(
            "first-step",
            lambda adjacency, time: np.eye(len(adjacency)) - time * laplacian(adjacency),
            "This is a single step, 1 - t times lambda. Use the exponential.",
        ),
        Mistake(
            "time-in-front",
            lambda adjacency, time: time * _heat(adjacency, 1.0),
            "Your time multiplies the exponential. It belongs in the exponent.",
        ),
        Mistake(
            "of-the-adjacency",
            lambda adjacency, time: _spectrum(adjacency, lambda v: np.exp(time * v), of=lambda a: a),
            "You take the exponential of the adjacency. Use the Laplacian, with a minus: then no heat is "
            "lost.",
        ),
        Mistake(
            "normalised",
            lambda adjacency, time: _spectrum(adjacency, lambda v: np.exp(-time * v), of=normalised),
            "You take the normalised Laplacian. Use your own, from the first step.",
        ),
        Mistake(
            "rows-for-columns",
            _heat_of_rows,
            "You take the rows of the matrix of eigenvectors. Each column is an eigenvector.",
        ),
        Mistake(
            "not-weighted",
            lambda adjacency, time: _spectrum(adjacency, lambda values: 0 * values + 1),
            "All your waves count alike, and together they give the identity. Weight each by its "
            "exponential.",
        ),
        Mistake(
            "eigenvalues-alone",
            lambda adjacency, time: np.diag(np.exp(-time * np.linalg.eigvalsh(laplacian(adjacency)))),
            "These are the weights, on a diagonal. Each should multiply the outer product of its wave "
            "with itself.",
        ),
        Mistake(
            "divided",
            lambda adjacency, time: _spectrum(adjacency, lambda values: 1 / (1 + time * values)),
            "You divide by 1 + t times lambda. Use the exponential.",
        ),
        Mistake(
            "not-transposed",
            _not_transposed,
            "The transpose is missing: weighted waves are multiplied by vectors.T.",
        ),
        Mistake(
            "time-not-used",
            lambda adjacency, time: _heat(adjacency, 1.0),
            "The time is not used: yours is the heat after one unit of time.",
        ),
        Mistake(
            "powers-of-two",
            lambda adjacency, time: _spectrum(adjacency, lambda values: 2.0 ** (-time * values)),
            "You take powers of 2. The heat goes with powers of e: np.exp.",
        ),
        Mistake(
            "rows-made-to-sum-to-one",
            lambda adjacency, time: (lambda raised: raised / raised.sum(axis=1, keepdims=True))(
                np.exp(-time * laplacian(adjacency))
            ),
            "You take the exponential of each entry and make the rows sum to 1, as a softmax does. Take "
            "it of each eigenvalue.",
        ),
    ),
    alternatives=(_heat_by_steps, _heat_by_series, _heat_by_loop),
    hints=(
        "`values, vectors = np.linalg.eigh(graph_laplacian(adjacency))`: now every column counts, the "
        "constant one too.",
        "Multiply each column by `np.exp(-time * value)`: `vectors * np.exp(-time * values)`.",
        "Then multiply by the transpose: the whole sum over the waves is one matrix product with "
        "`vectors.T`.",
    ),
)
