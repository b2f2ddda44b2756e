"""`09-beyond-text.graph_waves`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch09_beyond_text._shared import laplacian, path
from posenc_course.exercises.ch09_beyond_text.graph_waves import GRAPH_WAVES


def test_the_waves_of_a_path_are_cosines():
    n = 17
    waves = GRAPH_WAVES.reference(path(n), 5)
    cosines = np.cos(np.pi * np.outer(np.arange(n) + 0.5, np.arange(1, 6)) / n)
    assert waves == pytest.approx(cosines * math.sqrt(2 / n), abs=1e-9)


NOT_KNOWN = (("graph_waves", lambda adjacency, count: np.ones((len(adjacency), count)), "length 1"),)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "graph_waves",
        lambda adjacency, count: (
            np.linalg.svd(laplacian(adjacency))[0][:, :count]
            * np.sign(np.linalg.svd(laplacian(adjacency))[0][0, :count])
        ),
        "fastest-first",
    ),
)


def test_a_wave_that_is_nothing_at_node_0_is_not_told_to_be_positive():
    [message] = [each for each in GRAPH_WAVES.properties if "At node 0" in each.message]
    assert message.holds((), np.array([[-1e-16], [0.6], [-0.8]]))
    assert not message.holds((), np.array([[-0.8], [0.6], [0.0]]))
