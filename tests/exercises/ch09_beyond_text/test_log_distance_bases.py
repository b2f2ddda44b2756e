"""`09-beyond-text.log_distance_bases`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch09_beyond_text.log_distance_bases import LOG_DISTANCE_BASES
from posenc_lib.biased import enformer_features


def test_the_bases_are_enformers_but_for_its_bumps():
    offsets, count, length = np.array([-700, -9, -1, 0, 3, 40, 1000]), 4, 1536
    columns = enformer_features(offsets, 6 * count, length=length).reshape(len(offsets), 2, 3, count)
    right = columns[:, :, :2].reshape(len(offsets), -1)
    assert LOG_DISTANCE_BASES.reference(offsets, count, length) == pytest.approx(right, abs=1e-6)


NOT_KNOWN = (("log_distance_bases", lambda offsets, count, length: np.ones((len(offsets), 4 * count)), None),)
