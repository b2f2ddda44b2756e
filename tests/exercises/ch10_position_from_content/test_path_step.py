"""`10-position-from-content.path_step`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch10_position_from_content.gated_attention import GATED_ATTENTION
from posenc_course.exercises.ch10_position_from_content.gated_step import GATED_STEP
from posenc_course.exercises.ch10_position_from_content.path_scores import PATH_SCORES
from posenc_course.exercises.ch10_position_from_content.path_step import PATH_STEP
from tests.exercises.ch10_position_from_content.shared import right


def test_a_text_read_token_by_token_is_the_text_read_at_once():
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 2, 9, 4))
    gates = -rng.exponential(size=(2, 9))
    kept = np.zeros((2, 0, 4)), np.zeros((2, 0, 4)), np.zeros((2, 0))
    found = []
    for t in range(9):
        row, *kept = right(GATED_STEP, q[:, t], k[:, t], v[:, t], gates[:, t], *kept)
        found.append(row)
    assert np.stack(found, axis=1) == pytest.approx(right(GATED_ATTENTION, q, k, v, gates))

    q, k, w = rng.normal(size=(3, 9, 4))
    beta, keys = rng.uniform(0, 2, size=9), np.zeros((0, 4))
    whole = right(PATH_SCORES, q, k, w, beta)
    for t in range(9):
        scores, keys = right(PATH_STEP, q[t], k[t], w[t], beta[t], keys)
        assert scores == pytest.approx(whole[t, : t + 1])


NOT_KNOWN = (
    (
        "path_step",
        lambda *args: (np.exp(right(PATH_STEP, *args)[0]), right(PATH_STEP, *args)[1]),
        "the scores",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "path_step",
        lambda q, k, w, beta, keys: (
            np.append(keys @ q, k @ q) / math.sqrt(len(q)),
            np.concatenate([keys, k[None]]),
        ),
        "old-keys-stay",
    ),
)
