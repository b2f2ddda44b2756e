"""`08-long-context.moved_keys`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch08_long_context.moved_keys import MOVED_KEYS
from posenc_lib import apply_rotary


def test_moved_keys_are_keys_that_were_turned_there_at_first():
    rng = np.random.default_rng(0)
    x, old, new = rng.normal(size=(2, 5, 8)), np.array([0, 1, 7, 8, 9]), np.arange(5)
    stored = apply_rotary(x, old, base=300.0)
    assert MOVED_KEYS.reference(stored, old, new, 300.0) == pytest.approx(apply_rotary(x, new, base=300.0))


def to_places_that_follow_the_first(keys, old, new, base):
    return MOVED_KEYS.reference(keys, old, new[0] + np.arange(len(new)), base)


def to_places_in_order(keys, old, new, base):
    return MOVED_KEYS.reference(keys, old, np.sort(new), base)


NOT_KNOWN = (
    ("moved_keys", lambda keys, old, new, base: keys[:, ::-1], None),
    ("moved_keys", to_places_that_follow_the_first, "new places out of order"),
    ("moved_keys", to_places_in_order, "new places out of order"),
)
