"""`09-beyond-text.return_chances`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch09_beyond_text.return_chances import RETURN_CHANCES


def test_a_walker_comes_back_as_often_as_the_chances_say():
    graph = np.array([[0, 1, 1, 0], [1, 0, 3, 0], [1, 3, 0, 1], [0, 0, 1, 0]])
    rng, at = np.random.default_rng(0), np.repeat(np.arange(4), 20_000)
    start, limits = at.copy(), np.cumsum(graph / graph.sum(axis=1, keepdims=True), axis=1)
    for back in RETURN_CHANCES.reference(graph, 4).T:
        at = (rng.uniform(size=len(at))[:, None] > limits[at]).sum(axis=1)
        assert (at == start).reshape(4, -1).mean(axis=1) == pytest.approx(back, abs=0.015)


NOT_KNOWN = (
    ("return_chances", lambda adjacency, steps: np.ones((len(adjacency), steps)), None),
    ("return_chances", lambda adjacency, steps: 3 * np.ones((len(adjacency), steps)), "between 0 and 1"),
)
