"""`10-position-from-content.alibi_logits`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch10_position_from_content.alibi_logits import ALIBI_LOGITS
from posenc_lib import alibi_bias
from posenc_lib.biased import fox_bias
from tests.exercises.ch10_position_from_content.shared import right


def test_gates_from_these_logits_are_alibi():
    slopes = np.array([0.5, 0.004, 3.0])
    logits = np.repeat(right(ALIBI_LOGITS, slopes)[:, None], 6, axis=1)
    expected = np.tril(-slopes[:, None, None] * np.subtract.outer(range(6), range(6)))
    assert fox_bias(logits) == pytest.approx(expected)
    halved = right(ALIBI_LOGITS, 2.0 ** -np.arange(1, 9))
    assert fox_bias(np.repeat(halved[:, None], 5, axis=1)) == pytest.approx(
        np.tril(alibi_bias(8, 5, 5)), abs=1e-12
    )


NOT_KNOWN = (
    (
        "alibi_logits",
        lambda slopes: np.log(np.exp(-slopes) / (1 - np.exp(-slopes))),
        "np.expm1 is exact near 0",
    ),
    ("alibi_logits", lambda slopes: 0.5 - np.log(slopes), None),
    ("alibi_logits", lambda slopes: -slopes - np.log(1 - np.exp(-slopes)), "does 1 - gate lose its digits"),
    (
        "alibi_logits",
        lambda slopes: -np.log(np.expm1(np.minimum(slopes, 700))),
        "has the gate become 0 on the way, or is it cut",
    ),
    ("alibi_logits", lambda slopes: np.sqrt(slopes), "a larger slope must have a smaller logit"),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("alibi_logits", lambda slopes: [math.log(1 / m) for m in slopes.tolist()], "for-small-slopes"),
    ("alibi_logits", lambda slopes: -(slopes + np.log(slopes)), "slope-for-the-rest"),
)
