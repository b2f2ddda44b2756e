"""`05-pitfalls.padding_fault`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch05_pitfalls.padding_fault import PADDING_FAULT


def test_every_fault_of_padding_is_found_and_rounding_is_none():
    for case in PADDING_FAULT.cases(5):
        (model,) = case.args
        assert PADDING_FAULT.reference(model) == model.fault


def blames_attention(model):
    one = model(np.array([1, 2, 3]), np.ones(3, dtype=int))
    other = model(np.array([9, 1, 2, 3]), np.array([0, 1, 1, 1]))
    return "seen" if np.abs(one - other).max() > 1e-9 else "none"


NOT_KNOWN = (("padding_fault", lambda model: "none", None),)


WRITTEN_IN_ANOTHER_WAY = (("padding_fault", blames_attention, "any-change-is-seen"),)
