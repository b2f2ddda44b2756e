"""Waves on a graph: The slowest waves, with a rule for the sign."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import (
    GRAPH,
    Generator,
    drawn_graph,
    laplacian,
    normalised,
    path,
)
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.graphs import laplacian_eigenvectors


def _graph_wave_cases(rng: Generator) -> Iterator[Case]:
    yield Case("a path of 3", (path(3), 2))
    yield Case("a path of 8", (path(8), 4))
    for _ in range(4):
        nodes = int(rng.integers(5, 9))
        yield Case("weights, drawn", (drawn_graph(rng, nodes), int(rng.integers(2, nodes))))


def _by_first(vectors: Array) -> Array:
    return np.asarray(vectors * np.where(vectors[0] < 0, -1, 1))


def _graph_waves(adjacency: Array, count: int) -> Array:
    return _by_first(np.linalg.eigh(laplacian(adjacency))[1][:, 1 : count + 1])


def _waves_of_adjacency(adjacency: Array, count: int) -> Array:
    return _by_first(np.linalg.eigh(adjacency)[1][:, ::-1][:, 1 : count + 1])


def _by_largest(vectors: Array) -> Array:
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return np.asarray(vectors * np.where(largest < 0, -1, 1))


def _waves_by_svd(adjacency: Array, count: int) -> Array:
    left, _, _ = np.linalg.svd(laplacian(adjacency))
    return _by_first(left[:, ::-1][:, 1 : count + 1])


def _waves_by_loop(adjacency: Array, count: int) -> Array:
    values, vectors = np.linalg.eigh(laplacian(adjacency))
    found = []
    for place in np.argsort(values)[1 : count + 1]:
        wave = vectors[:, place]
        found.append(wave / wave[0] * abs(wave[0]))
    return np.stack(found, axis=1)


GRAPH_WAVES = Exercise(
    id="09-beyond-text.graph_waves",
    title="The slowest waves, with a rule for the sign",
    step_of=GRAPH,
    signature="graph_waves(adjacency: array of shape (nodes, nodes), count: int) -> array of shape (nodes, "
    "count)",
    points=3,
    minutes=14,
    difficulty=3,
    draws=Draws(
        lambda graph_waves, across, up, one, two, three: (
            lambda table: curve(
                np.arange(24),
                {one: table[:, 0], two: table[:, 1], three: table[:, 2]},
                across=across,
                up=up,
            )
        )(np.asarray(graph_waves(path(24), 3))),
        axes=("node", "eigenvector", "the slowest", "the second", "the third"),
        look="On a path of 24 nodes the eigenvectors are cosines: half a wave, a whole one, one and a half.",
    ),
    reference=lambda adjacency, count: _graph_waves(adjacency, count),
    make_cases=_graph_wave_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1]),
            "There must be a row for each node, and a column for each wave.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.asarray(value)[0] > -1e-9).all()),
            "At node 0 every wave should be positive.",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.square(value).sum(axis=0), 1, atol=1e-3)),
            "Each wave has length 1: the squares of a column should sum to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "with-the-constant",
            lambda adjacency, count: _by_first(np.linalg.eigh(laplacian(adjacency))[1][:, :count]),
            "Your first wave is the same everywhere: it belongs to the eigenvalue 0 and says nothing. Leave "
            "it out.",
        ),
        Mistake(
            "fastest-first",
            lambda adjacency, count: _by_first(np.linalg.eigh(laplacian(adjacency))[1][:, ::-1][:, :count]),
            "These are the fastest waves, those of the largest eigenvalues. Return the slowest.",
        ),
        Mistake(
            "from-the-end",
            lambda adjacency, count: _by_first(np.linalg.eigh(laplacian(adjacency))[1][:, -count:]),
            "You take the last columns, those of the largest eigenvalues. The slowest waves come first.",
        ),
        Mistake(
            "rows-for-columns",
            lambda adjacency, count: _by_first(np.linalg.eigh(laplacian(adjacency))[1][1 : count + 1].T),
            "You take rows of the matrix of eigenvectors. Each column is an eigenvector.",
        ),
        Mistake(
            "waves-first",
            lambda adjacency, count: _graph_waves(adjacency, count).T,
            "The array is transposed: it should have a row for each node and a column for each wave.",
        ),
        Mistake(
            "of-the-adjacency",
            _waves_of_adjacency,
            "These are eigenvectors of the adjacency. Take those of the Laplacian.",
        ),
        Mistake(
            "normalised",
            lambda adjacency, count: _by_first(np.linalg.eigh(normalised(adjacency))[1][:, 1 : count + 1]),
            "These are eigenvectors of the normalised Laplacian. Take those of the plain one.",
        ),
        Mistake(
            "largest-positive",
            lambda adjacency, count: _by_largest(_graph_waves(adjacency, count)),
            "Your rule for the sign is a different one: it makes the largest number of each wave "
            "positive. Here the number at node 0 should be.",
        ),
        Mistake(
            "negative-at-node-0",
            lambda adjacency, count: -_graph_waves(adjacency, count),
            "At node 0 your waves are negative. They should be positive there.",
        ),
        Mistake(
            "sign-lost",
            lambda adjacency, count: np.abs(_graph_waves(adjacency, count)),
            "You drop every sign. Then two nodes on opposite sides look alike. A wave may only change "
            "its sign as a whole.",
        ),
        Mistake(
            "one-at-node-0",
            lambda adjacency, count: _graph_waves(adjacency, count) / _graph_waves(adjacency, count)[0],
            "You divide each wave by its number at node 0. Only change its sign: the length stays 1.",
        ),
        Mistake(
            "weighted-by-the-eigenvalue",
            lambda adjacency, count: (
                _graph_waves(adjacency, count) * np.linalg.eigvalsh(laplacian(adjacency))[1 : count + 1]
            ),
            "You multiply each wave by its eigenvalue. Return the waves themselves, of length 1.",
        ),
        Mistake(
            "not-in-order",
            lambda adjacency, count: _by_first(np.linalg.eig(laplacian(adjacency))[1].real[:, 1 : count + 1]),
            "The eigenvalues of np.linalg.eig come in no order. Those of np.linalg.eigh, which is for "
            "symmetric matrices, rise.",
        ),
        Mistake(
            "sign-of-each-node",
            lambda adjacency, count: (
                _graph_waves(adjacency, count) * np.sign(_graph_waves(adjacency, count)[:, :1])
            ),
            "You change the sign of whole rows, which are nodes. Change it for whole columns, which are "
            "waves.",
        ),
        Mistake(
            "as-long-as-the-graph",
            lambda adjacency, count: _graph_waves(adjacency, count) * math.sqrt(len(adjacency)),
            "Your waves have the square root of the number of nodes as their length. It should be 1.",
        ),
    ),
    alternatives=(
        _waves_by_svd,
        _waves_by_loop,
        lambda adjacency, count: _by_first(laplacian_eigenvectors(adjacency, count, normalization="none")[1]),
    ),
    absolute_tolerance=1e-5,
    hints=(
        "`values, vectors = np.linalg.eigh(laplacian)` gives the eigenvalues in rising order, and an "
        "eigenvector in each column.",
        "The first column is the same everywhere. Take the next `count` of them.",
        "Multiply each column by -1 where its number in row 0 is negative: `np.where(waves[0] < 0, -1, 1)`.",
    ),
)
