"""What several exercises of `09-beyond-text` share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posenc_lib._arrays import Array

TURN = 2 * np.pi


PICTURE = "A picture in two directions"


ONE_LINE = "Words and pictures in one line"


GENOME = "One base away, or a thousand"


WAVES = "Waves of a point"


MOLECULE = "A molecule, however it lies"


GRAPH = "Waves on a graph"


TREE = "Code is a tree"


SOUND = "What a frame of sound hears"


Generator = np.random.Generator


def path(nodes: int) -> Array:
    return np.eye(nodes, k=1) + np.eye(nodes, k=-1)


def ring(nodes: int) -> Array:
    line = np.eye(nodes)
    return np.roll(line, 1, axis=0) + np.roll(line, -1, axis=0)


def star(nodes: int) -> Array:
    graph = np.zeros((nodes, nodes))
    graph[0, 1:] = graph[1:, 0] = 1
    return graph


def drawn_graph(rng: Generator, nodes: int) -> Array:
    """Connected, with weights; no two eigenvalues alike, and no wave that is near 0 at the first node."""
    while True:
        upper = np.triu(
            rng.uniform(0.5, 2, size=(nodes, nodes)) * (rng.uniform(size=(nodes, nodes)) < 0.5), 1
        )
        graph = np.round(upper + upper.T, 2)
        values, vectors = np.linalg.eigh(laplacian(graph))
        if np.diff(values).min() > 0.05 and np.abs(vectors[0]).min() > 0.02:
            return graph


def laplacian(adjacency: Array) -> Array:
    return np.asarray(np.diag(adjacency.sum(axis=1)) - adjacency)


def normalised(adjacency: Array) -> Array:
    root = 1 / np.sqrt(np.maximum(adjacency.sum(axis=1), 1e-12))
    return np.asarray(np.eye(len(adjacency)) - root[:, None] * adjacency * root)


Steps = Callable[[list[int]], list[int]]
