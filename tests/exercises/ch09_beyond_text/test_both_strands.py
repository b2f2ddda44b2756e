"""`09-beyond-text.both_strands`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch09_beyond_text.both_strands import BOTH_STRANDS, StrandModel


def test_both_strands_say_the_same_of_the_same_place():
    model, bases = StrandModel(5), np.random.default_rng(0).integers(0, 4, size=20)
    other = 3 - bases[::-1]
    here, there = BOTH_STRANDS.reference(model, bases), BOTH_STRANDS.reference(model, other)
    assert there[::-1] == pytest.approx(here)
    assert np.abs(model(other)[::-1] - model(bases)).max() > 0.1


NOT_KNOWN = (
    ("both_strands", lambda model, bases: np.zeros(len(bases)), None),
    ("both_strands", lambda model, bases: np.minimum(model(bases), model(3 - bases[::-1])[::-1]), None),
)
