"""`10-position-from-content.group_scores`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch10_position_from_content.generator import GENERATOR
from posenc_course.exercises.ch10_position_from_content.group_scores import GROUP_SCORES
from posenc_lib import apply_rotary
from tests.exercises.ch10_position_from_content.shared import right


def test_one_generator_gives_rope_and_alibi_at_once():
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 6, 4))
    base, slope = 50.0, 0.25
    matrix = right(GENERATOR, base ** (-np.arange(2) / 2), slope)
    lifted_q = np.hstack([q, np.tile([1.0, 0.0], (6, 1))])
    lifted_k = np.hstack([k, np.tile([0.0, 1.0], (6, 1))])
    rope = apply_rotary(q, 6, base=base) @ apply_rotary(k, 6, base=base).T
    offsets = -np.subtract.outer(range(6), range(6))
    ours = right(GROUP_SCORES, lifted_q, lifted_k, matrix)
    assert ours == pytest.approx(rope + slope * offsets)
    assert ours == pytest.approx(right(GROUP_SCORES, lifted_q, lifted_k, matrix))


NOT_KNOWN = (
    (
        "group_scores",
        lambda q, k, matrix: right(GROUP_SCORES, q, k, matrix) + 1,
        "At offset 0 nothing moves",
    ),
    ("group_scores", lambda q, k, matrix: right(GROUP_SCORES, q, k, matrix / 3), None),
)
