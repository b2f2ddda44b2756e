"""Waves on a graph: How far a node is above its neighbours."""

from __future__ import annotations

from collections.abc import Iterator

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
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _graph_cases(rng: Generator) -> Iterator[Case]:
    yield Case("a path of 3", (path(3),))
    yield Case("a star of 5", (star(5),))
    yield Case("two pairs that nothing joins", (np.kron(np.eye(2), path(2)),))
    yield Case("a node without edges", (np.pad(ring(3), ((0, 1), (0, 1))),))
    for _ in range(3):
        yield Case("weights, drawn", (drawn_graph(rng, int(rng.integers(4, 8))),))


def _laplacian_by_edges(adjacency: Array) -> Array:
    found = np.zeros(adjacency.shape)
    for i, j in zip(*np.nonzero(np.triu(adjacency)), strict=True):
        edge = np.zeros(len(adjacency))
        edge[i], edge[j] = 1, -1
        found += adjacency[i, j] * np.outer(edge, edge)
    return found


GRAPH_LAPLACIAN = Exercise(
    id="09-beyond-text.graph_laplacian",
    title="How far a node is above its neighbours",
    step_of=GRAPH,
    signature="graph_laplacian(adjacency: array of shape (nodes, nodes)) -> array of shape (nodes, nodes)",
    points=1,
    minutes=6,
    difficulty=2,
    reference=laplacian,
    make_cases=_graph_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be a row and a column for each node.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=1), 0, atol=1e-4)),
            "If all nodes have the same number, no node is above its neighbours: each row must sum to 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "sign-turned",
            lambda adjacency: -laplacian(adjacency),
            "The sign is reversed: degrees are positive, and edges negative.",
        ),
        Mistake(
            "added",
            lambda adjacency: np.diag(adjacency.sum(axis=1)) + adjacency,
            "You add the neighbours. Subtract them.",
        ),
        Mistake(
            "edges-counted",
            lambda adjacency: np.diag((adjacency > 0).sum(axis=1)) - adjacency,
            "You count the edges of each node. With weights, the degree is the sum of the weights.",
        ),
        Mistake(
            "weights-dropped",
            lambda adjacency: laplacian((adjacency > 0) * 1.0),
            "You count every edge as 1. Use the weights of the edges.",
        ),
        Mistake(
            "normalised",
            normalised,
            "You divide by the roots of the degrees: that is the normalised Laplacian. Return the plain one.",
        ),
        Mistake(
            "walker",
            lambda adjacency: (
                np.eye(len(adjacency)) - adjacency / np.maximum(adjacency.sum(axis=1, keepdims=True), 1e-12)
            ),
            "You divide each row by its degree: that belongs to a random walk. Return the plain Laplacian.",
        ),
        Mistake(
            "one-for-the-degree",
            lambda adjacency: np.eye(len(adjacency)) - adjacency,
            "Your diagonal is 1 everywhere. It holds the degree of each node.",
        ),
        Mistake(
            "all-degrees",
            lambda adjacency: np.eye(len(adjacency)) * adjacency.sum() - adjacency,
            "Your diagonal holds the sum of the whole matrix. Sum each row.",
        ),
        Mistake(
            "degrees-everywhere",
            lambda adjacency: adjacency.sum(axis=1, keepdims=True) - adjacency,
            "Your degrees are in every column. They belong on the diagonal only.",
        ),
    ),
    alternatives=(
        _laplacian_by_edges,
        lambda adjacency: np.where(
            np.eye(len(adjacency)) > 0, adjacency.sum(axis=0, keepdims=True), -adjacency
        ),
        lambda adjacency: (np.diag(adjacency @ np.ones(len(adjacency))) - adjacency).tolist(),
    ),
    hints=(
        "The degree of a node is the sum of its row.",
        "`np.diag` puts a list on the diagonal of a matrix.",
        "Put the degrees there, and subtract the adjacency.",
    ),
)
