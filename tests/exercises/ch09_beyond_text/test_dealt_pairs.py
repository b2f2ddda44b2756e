"""`09-beyond-text.dealt_pairs`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch09_beyond_text.dealt_pairs import DEALT_PAIRS
from posenc_lib.rotated import mrope_tables


def test_the_pairs_are_dealt_as_the_library_turns_them():
    """`tests/conformance` compares it with Qwen3-VL."""
    time, height, width = 6, 5, 5
    positions = np.array([3, 17, 29])
    owner = DEALT_PAIRS.reference(time, height, width)
    rates = 10000.0 ** (-np.arange(16) / 16)
    tables = mrope_tables(positions, 32, (time, height, width), interleaved=True)
    assert tables.cos == pytest.approx(np.cos(positions[owner] * rates), abs=1e-6)
    assert np.bincount(owner).tolist() == [time, height, width]


NOT_KNOWN = (("dealt_pairs", lambda time, height, width: np.zeros(time + height + width), None),)
