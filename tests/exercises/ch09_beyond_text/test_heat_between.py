"""`09-beyond-text.heat_between`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch09_beyond_text._shared import ring as ring_of_the_chapter
from posenc_course.exercises.ch09_beyond_text.graph_laplacian import GRAPH_LAPLACIAN
from posenc_course.exercises.ch09_beyond_text.heat_between import HEAT_BETWEEN


def test_heat_is_the_exponential_and_hangs_on_no_choice_of_vectors():
    linalg = pytest.importorskip("scipy.linalg")
    ring = ring_of_the_chapter(6)
    assert HEAT_BETWEEN.reference(ring, 0.7) == pytest.approx(
        linalg.expm(-0.7 * GRAPH_LAPLACIAN.reference(ring))
    )
    order = np.random.default_rng(0).permutation(6)
    shuffled = ring[np.ix_(order, order)]
    assert HEAT_BETWEEN.reference(shuffled, 2.0) == pytest.approx(
        HEAT_BETWEEN.reference(ring, 2.0)[np.ix_(order, order)]
    )


NOT_KNOWN = (("heat_between", lambda adjacency, time: np.eye(len(adjacency)) / 2, "each row must sum to 1"),)
