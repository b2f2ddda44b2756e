"""`01-why-order-matters.softmax`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch01_why_order_matters._shared import plain_softmax
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


def softmax_with(added):
    """Whose sum is kept from being 0 by a small number."""

    def answer(scores):
        peak = scores.max(axis=-1, keepdims=True)
        raised = np.exp(scores - np.where(np.isinf(peak), 0.0, peak))
        return raised / (raised.sum(axis=-1, keepdims=True) + added)

    return answer


def softmax_less(taken):
    """Another number than the largest score is taken away: scores far apart are still too large."""

    def answer(scores):
        middle = taken(scores, axis=-1, keepdims=True)
        raised = np.exp(scores - np.where(np.isinf(middle), 0.0, middle))
        total = raised.sum(axis=-1, keepdims=True)
        return raised / np.where(total == 0, 1.0, total)

    return answer


@pytest.mark.parametrize("added", [1e-4, 1e-5])
def test_float32_does_not_hide_a_small_number_in_the_denominator(added):
    report = report_on(SOFTMAX.id, lambda scores: softmax_with(np.float32(added))(scores.astype(np.float32)))
    said = " ".join(report.notes)
    assert 0 <= said.find("a small number to the sum") < said.find("Its numbers are float32")


def test_single_precision_is_good_enough():
    assert report_on(SOFTMAX.id, lambda scores: SOFTMAX.reference(scores.astype(np.float32))).passed


def softmax_with_two_axes_in_front(scores):
    """Of three, each matrix sums to 1 in place of each row."""
    if scores.ndim < 3:
        return SOFTMAX.reference(scores)
    rows = scores.reshape(*scores.shape[:2], -1)
    return SOFTMAX.reference(rows).reshape(scores.shape)


NOT_KNOWN = (
    ("softmax", softmax_with_two_axes_in_front, "two sentences of two heads"),
    ("softmax", lambda s: np.full_like(s, 1 / s.shape[-1]), None),
    ("softmax", lambda s: np.exp(np.clip(s, -5, 5)) / 3, "must sum to 1"),
    *(("softmax", softmax_with(add), "a small number to the sum") for add in (1e-2, 1e-4, 1e-5, 1e-6)),
    *(("softmax", softmax_less(taken), "the row's largest score") for taken in (np.mean, np.min)),
    ("softmax", lambda s: plain_softmax(np.clip(s, -50, 50)), "np.clip"),
    ("softmax", lambda s: plain_softmax(np.clip(s, -700, 700)), "np.clip"),
    ("softmax", lambda s: plain_softmax(-np.maximum(s, -1e9)), "Check the sign in exp"),
    ("softmax", lambda s: np.log(SOFTMAX.reference(s) + 1e-300), "logarithms of weights"),
)
