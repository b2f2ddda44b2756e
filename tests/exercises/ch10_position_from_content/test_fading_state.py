"""`10-position-from-content.fading_state`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch10_position_from_content.fading_state import FADING_STATE
from posenc_lib import alibi_bias
from tests.exercises.ch10_position_from_content.shared import right


def test_a_state_is_attention_without_softmax_with_alibis_weights():
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 8, 3))
    weights = np.tril(np.exp(alibi_bias(8, 8, 8))[2])  # slope 1/8
    found, _ = right(FADING_STATE, q, k, v, np.full(8, math.exp(-1 / 8)), np.zeros((3, 3)))
    assert found == pytest.approx((q @ k.T * weights) @ v)


NOT_KNOWN = (
    ("fading_state", lambda *args: right(FADING_STATE, *args)[0], "a tuple of 2 values"),
    ("fading_state", lambda q, k, v, gates, state: right(FADING_STATE, q, k, v, gates**2, state), None),
)
