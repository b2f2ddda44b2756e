"""`10-position-from-content.favourite_offsets`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch10_position_from_content.favourite_offsets import FAVOURITE_OFFSETS
from posenc_lib import apply_rotary
from tests.exercises.ch10_position_from_content.shared import right


def test_a_pair_looks_where_rope_makes_its_product_largest():
    rng = np.random.default_rng(0)
    base = 50.0
    rates = base ** (-np.arange(3) / 3)
    for _ in range(5):
        q, k = rng.normal(size=(2, 6))
        found = right(FAVOURITE_OFFSETS, q, k, rates)
        around = np.linspace(-math.pi, math.pi, 20_001) / rates[:, None]
        for pair, offsets in enumerate(around):
            alone = np.zeros(6)
            alone[2 * pair : 2 * pair + 2] = 1
            turned = apply_rotary(np.tile(k * alone, (len(offsets), 1)), offsets, base=base)
            best = offsets[np.argmax(turned @ q)]
            assert found[pair] == pytest.approx(best, abs=2 * (offsets[1] - offsets[0]))


NOT_KNOWN = (
    ("favourite_offsets", lambda q, k, rates: 0.9 * right(FAVOURITE_OFFSETS, q, k, rates), None),
    ("favourite_offsets", lambda q, k, rates: 1e6 * np.ones(len(rates)), "never more than half a turn"),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "favourite_offsets",
        lambda q, k, rates: np.rint(right(FAVOURITE_OFFSETS, q, k, rates)).astype(int),
        "whole-numbers",
    ),
)
