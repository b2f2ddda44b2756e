"""`01-why-order-matters.softmax`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from posenc_course.exercises.ch01_why_order_matters.softmax import SOFTMAX
from tests.exercises.ch01_why_order_matters.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_softmax_against_exact_arithmetic(seed):
    for case in SOFTMAX.cases(seed):
        (scores,) = case.args
        got = SOFTMAX.reference(scores)
        for index in np.ndindex(*scores.shape[:-1]):
            raised = [mpmath.exp(mpmath.mpf(float(score))) for score in scores[index]]
            total = mpmath.fsum(raised) or 1
            np.testing.assert_allclose(
                got[index], [float(each / total) for each in raised], rtol=1e-12, atol=1e-300
            )


NOT_KNOWN = (
    ("softmax", lambda s: np.full_like(s, 1 / s.shape[-1]), None),
    ("softmax", lambda s: np.exp(np.clip(s, -5, 5)) / 3, "must sum to 1"),
)
