"""`09-beyond-text.signed_volume`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch09_beyond_text.distance_bumps import DISTANCE_BUMPS
from posenc_course.exercises.ch09_beyond_text.signed_volume import SIGNED_VOLUME


def test_a_molecule_may_be_moved_and_turned_and_shows_its_hand():
    rng = np.random.default_rng(5)
    atoms, centres = rng.normal(size=(4, 3)), np.array([0.5, 1.0, 2.0])
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    bumps, volume = DISTANCE_BUMPS.reference(atoms, centres, 0.4), SIGNED_VOLUME.reference(atoms)
    for moved, hand in ((atoms @ turn + 7, 1), (atoms @ turn * [1, -1, 1], -1)):
        assert DISTANCE_BUMPS.reference(moved, centres, 0.4) == pytest.approx(bumps)
        assert SIGNED_VOLUME.reference(moved) == pytest.approx(hand * volume)


NOT_KNOWN = (("signed_volume", lambda corners: float(np.sum(corners)), None),)
