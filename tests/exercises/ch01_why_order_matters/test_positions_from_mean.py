"""`01-why-order-matters.positions_from_mean`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch01_why_order_matters.positions_from_mean import POSITIONS_FROM_MEAN
from posenc_lib import attention


@pytest.mark.parametrize(("first", "other"), [(1.0, 0.0), (5.0, 2.0), (-1.5, 3.0)])
def test_positions_come_back_from_real_causal_attention(first, other):
    values = np.full((30, 1), other)
    values[0] = first
    equal = np.zeros((30, 1))
    means = attention(equal, equal, values, causal=True)[:, 0]
    shuffled = np.random.default_rng(0).permutation(30)
    np.testing.assert_allclose(
        POSITIONS_FROM_MEAN.reference(means[shuffled], first, other), shuffled, atol=1e-9
    )


def less_one(means, first, other):
    seen = (first - means) / (means - other)
    return np.maximum(seen - 1, 0)


def test_who_takes_one_away_too_often_is_not_told_of_fractions_that_are_cut_off():
    def of_large_ones(means, first, other):  # not the listed mistake, and nothing is cut off either
        return less_one(means, first, other) if len(means) > 1 else means

    assert "cutting the fraction off" not in str(report_on(POSITIONS_FROM_MEAN.id, of_large_ones))


WRITTEN_IN_ANOTHER_WAY = (("positions_from_mean", less_one, "one-too-small"),)


def by_the_first(means, first, other):
    """Divides by the first value, which may be 0."""
    share = (means / first - other / first) / (1 - other / first)
    return 1 / share - 1


NOT_KNOWN = (
    ("positions_from_mean", by_the_first, "first value 0"),
    ("positions_from_mean", lambda means, first, other: -1 - means * 0, "negative"),
    (
        "positions_from_mean",
        lambda means, first, other: (
            POSITIONS_FROM_MEAN.reference(means, first, other) - (np.arange(len(means)) == 1)
        ),
        "cutting the fraction off",
    ),
    (
        "positions_from_mean",
        lambda means, first, other: POSITIONS_FROM_MEAN.reference(means, first, other).astype(int),
        "cutting the fraction off",
    ),
    ("positions_from_mean", lambda means, first, other: np.argsort(-means), "just 0, 1, 2"),
)
