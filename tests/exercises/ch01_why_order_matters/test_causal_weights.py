"""`01-why-order-matters.causal_weights`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.checking import report_on
from posenc_course.exercises.ch01_why_order_matters._shared import past
from posenc_course.exercises.ch01_why_order_matters.causal_weights import CAUSAL_WEIGHTS
from posenc_course.exercises.ch01_why_order_matters.softmax import SOFTMAX
from tests.exercises.ch01_why_order_matters.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_causal_weights_against_torch(seed):
    for case in CAUSAL_WEIGHTS.cases(seed):
        scores = torch.from_numpy(case.args[0])
        queries, keys = scores.shape[-2:]
        future = torch.ones(queries, keys, dtype=torch.bool).triu(keys - queries + 1)
        want = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
        np.testing.assert_allclose(CAUSAL_WEIGHTS.reference(*case.args), want.numpy(), rtol=1e-9, atol=1e-15)


def test_a_future_that_is_seen_is_not_told_as_a_diagonal_that_is_hidden():
    report = report_on("01-why-order-matters.causal_weights", lambda s: SOFTMAX.reference(s - 100 * ~past(s)))
    assert not report.passed
    assert not any("diagonal" in note for note in report.notes)


def masked_after_exp(raised):
    """The largest score is looked for in the future too, and what is left may be 0."""

    def answer(scores):
        left = raised(scores - scores.max(axis=-1, keepdims=True)) * past(scores)
        total = left.sum(axis=-1, keepdims=True)
        return left / np.where(total == 0, 1, total)

    return answer


def test_a_row_that_has_vanished_is_not_told_as_a_diagonal_that_is_hidden():
    report = report_on(CAUSAL_WEIGHTS.id, masked_after_exp(lambda scores: 10.0**scores))
    assert "must sum to 1 after the mask" in str(report)
    assert "diagonal" not in str(report)


WRITTEN_IN_ANOTHER_WAY = (("causal_weights", masked_after_exp(np.exp), "masked-after-exp"),)


def with_one_axis_in_front(scores):
    if scores.ndim == 2:
        return CAUSAL_WEIGHTS.reference(scores)
    heads, queries, keys = scores.shape
    return CAUSAL_WEIGHTS.reference(scores.reshape(heads, queries, keys))


NOT_KNOWN = (
    ("causal_weights", with_one_axis_in_front, "two sentences of three heads"),
    ("causal_weights", lambda s: np.tri(*s.shape[-2:]), None),
    ("causal_weights", lambda s: np.full_like(s, 1 / s.shape[-1]), "looks into its future"),
    (
        "causal_weights",
        lambda s: SOFTMAX.reference(np.where(past(s, -1), s, -np.inf)),
        "one of yours does not: keep the diagonal",
    ),
    (
        "causal_weights",
        lambda s: CAUSAL_WEIGHTS.reference(s) / (1 + 1e-5),
        "a small number to the sum",
    ),
)
