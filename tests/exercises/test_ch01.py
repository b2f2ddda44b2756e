"""References of chapter 1 against other libraries and against brute force."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch

from posenc_lib import attention
from posenc_lib.checking import report_on
from posenc_lib.exercises import ch01_why_order_matters as ch01

SEEDS = range(3)


@pytest.mark.parametrize("seed", SEEDS)
def test_softmax_against_exact_arithmetic(seed):
    for case in ch01.SOFTMAX.cases(seed):
        (scores,) = case.args
        got = ch01.SOFTMAX.reference(scores)
        for index in np.ndindex(*scores.shape[:-1]):
            raised = [mpmath.exp(mpmath.mpf(float(score))) for score in scores[index]]
            total = mpmath.fsum(raised)
            np.testing.assert_allclose(
                got[index], [float(each / total) for each in raised], rtol=1e-12, atol=1e-300
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_against_torch(seed):
    for case in ch01.ATTENTION.cases(seed):
        q, k, v = (torch.from_numpy(each) for each in case.args)
        want = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        np.testing.assert_allclose(
            ch01.ATTENTION.reference(*case.args), want.numpy(), rtol=1e-9, atol=1e-12, err_msg=case.label
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_causal_weights_against_torch(seed):
    for case in ch01.CAUSAL_WEIGHTS.cases(seed):
        scores = torch.from_numpy(case.args[0])
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        want = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
        np.testing.assert_allclose(
            ch01.CAUSAL_WEIGHTS.reference(*case.args), want.numpy(), rtol=1e-9, atol=1e-15
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_restored_rows_shuffle_back_to_what_was_given(seed):
    for case in ch01.RESTORE_ROWS.cases(seed):
        shuffled, order = case.args
        assert sorted(order) == list(range(len(order)))
        np.testing.assert_array_equal(ch01.RESTORE_ROWS.reference(shuffled, order)[order], shuffled)


def test_equivariance_gap_is_zero_for_attention_and_not_under_a_mask():
    gaps = {case.label: ch01.EQUIVARIANCE_GAP.reference(*case.args) for case in ch01.EQUIVARIANCE_GAP.cases()}
    assert gaps["attention on three tokens"] < 1e-12
    assert gaps["attention on five tokens"] < 1e-12
    assert gaps["a layer that gives the average to every token"] == 0
    assert gaps["attention with a causal mask"] > 0.01
    assert gaps["a layer that ignores its input"] > 0.01
    assert gaps["one token"] == 0.5
    assert gaps["three tokens of width 3"] == pytest.approx(0.25)


@pytest.mark.parametrize("seed", range(20))
def test_the_sentence_really_gives_five_and_six_different_rows(seed):
    rng = np.random.default_rng(seed)
    words = ["the", "cat", "sat", "on", "the", "mat"]
    vector_of = {word: rng.normal(size=8) for word in words}
    x = np.stack([vector_of[word] for word in words])
    q, k, v = (x @ rng.normal(size=(8, 4)) / np.sqrt(8) for _ in range(3))
    rows = [len(np.unique(attention(q, k, v, causal=causal).round(9), axis=0)) for causal in (False, True)]
    assert tuple(rows) == ch01.DISTINCT_ROWS.reference()


@pytest.mark.parametrize(("first", "other"), [(1.0, 0.0), (5.0, 2.0), (-1.5, 3.0)])
def test_positions_come_back_from_real_causal_attention(first, other):
    values = np.full((30, 1), other)
    values[0] = first
    equal = np.zeros((30, 1))
    means = attention(equal, equal, values, causal=True)[:, 0]
    shuffled = np.random.default_rng(0).permutation(30)
    np.testing.assert_allclose(
        ch01.POSITIONS_FROM_MEAN.reference(means[shuffled], first, other), shuffled, atol=1e-9
    )


def test_a_swap_alone_would_not_tell_the_inverse_from_the_shuffle():
    """Why the cases hold shuffles of three and more rows."""
    (swap,) = [c for c in ch01.RESTORE_ROWS.cases() if c.label == "three rows, two of them swapped"]
    shuffled, order = swap.args
    np.testing.assert_array_equal(shuffled[order], ch01.RESTORE_ROWS.reference(shuffled, order))


# Judged in test_every_exercise.
NOT_KNOWN = (
    ("softmax", lambda s: np.full_like(s, 1 / s.shape[-1]), None),
    ("softmax", lambda s: np.exp(np.clip(s, -5, 5)) / 3, "must sum to 1"),
    ("attention", lambda q, k, v: np.maximum(q @ k.T, 0) @ v, "weighted average"),
    ("restore_rows", lambda s, order: np.roll(s, 1, axis=0), "answer[order]"),
    ("equivariance_gap", lambda y, z, order: np.abs(z - y[order]), "one number"),
    ("causal_weights", lambda s: np.tri(len(s)), "must sum to 1"),
    ("causal_weights", lambda s: np.full_like(s, 1 / len(s)), "looks into its future"),
    ("positions_from_mean", lambda means, first, other: -1 - means * 0, "negative"),
    ("distinct_rows", (720, 6), "six rows come out"),
)


@pytest.mark.parametrize("prediction", [(6, 4), (3, 3), (5, 1)])
def test_a_possible_number_of_rows_is_not_called_impossible(prediction):
    report = report_on("01-why-order-matters.distinct_rows", prediction)
    assert not report.passed
    assert report.mistake is None
    assert "six rows come out" not in str(report)
