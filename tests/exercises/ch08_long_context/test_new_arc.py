"""`08-long-context.new_arc`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch08_long_context._shared import TURN
from posenc_course.exercises.ch08_long_context.new_arc import NEW_ARC
from tests.exercises.ch08_long_context.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_new_arcs_are_those_that_a_walk_over_all_offsets_finds(seed):
    """A circle of 720 fields: which of them does a pair come by, in steps of a thousandth of an offset?"""
    rates, fields = np.array([0.9, 0.021, 0.0044, 0.0007]), 720
    for trained, longer in ((40, 160), (300, 1200)):
        met = []
        for length in (trained, longer):
            angles = np.outer(np.linspace(0, length - 1, 60_000), rates)
            met.append([len(np.unique((column % TURN / TURN * fields).astype(int))) for column in angles.T])
        expected = (np.array(met[1]) - met[0]) / fields
        assert NEW_ARC.reference(rates, trained, longer) == pytest.approx(expected, abs=2 / fields)


NOT_KNOWN = (
    ("new_arc", lambda rates, trained, longer: np.zeros(len(rates)), None),
    ("new_arc", lambda rates, trained, longer: 1 - trained / longer + 0 * rates, None),
    (
        "new_arc",
        lambda rates, trained, longer: (trained - 1) * rates < TURN,
        "Say how much of its circle is new",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "new_arc",
        lambda rates, trained, longer: [
            min(1, (longer - 1) * r / math.tau) - min(1, (trained - 1) * r / math.tau) * 0 for r in rates
        ],
        "nothing-taken-off",
    ),
    (
        "new_arc",
        lambda rates, trained, longer: [
            0.0 if r * (trained - 1) >= math.tau else min(1.0, r * (longer - trained) / math.tau)
            for r in rates
        ],
        "known-pairs-set-to-0",
    ),
)
