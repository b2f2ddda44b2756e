"""`10-position-from-content.polar_scores`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch10_position_from_content.polar_scores import POLAR_SCORES
from posenc_lib.biased import pope_bias
from tests.exercises.ch10_position_from_content.shared import cases, right


def test_polar_scores_are_the_librarys_and_content_moves_no_peak():
    for q, k, delta, base in cases(POLAR_SCORES):
        dim = q.shape[1]
        if dim % 2 == 0:
            plain = q @ k.T / math.sqrt(dim)
            expected = plain + pope_bias(q, k, len(q), len(k), delta=delta, base=base)
            assert right(POLAR_SCORES, q, k, delta, base) == pytest.approx(expected)
    rng, delta = np.random.default_rng(0), np.array([-1.0])
    peaks = {
        int(np.argmax(right(POLAR_SCORES, np.full((9, 1), a), np.full((9, 1), b), delta, 9.0)[4]))
        for a, b in rng.normal(size=(20, 2))
    }
    assert peaks == {5}


def softplus_that_overflows(q, k, delta, base):
    """Right wherever no number is above 709."""
    q, k = np.log(1 + np.exp(q)), np.log(1 + np.exp(k))
    offsets = np.arange(len(q)) - np.arange(len(q))[:, None]
    rates = base ** (-np.arange(q.shape[1]) / q.shape[1])
    return np.einsum("ic,jc,ijc->ij", q, k, np.cos(offsets[..., None] * rates + delta)) / q.shape[1] ** 0.5


NOT_KNOWN = (
    ("polar_scores", lambda q, k, delta, base: right(POLAR_SCORES, q, k, delta, base) ** 2, None),
    ("polar_scores", softplus_that_overflows, "np.logaddexp(0, x) is softplus"),
)


@pytest.mark.parametrize("seed", range(5))
def test_every_seed_has_a_number_that_overflows(seed):
    """Whatever is drawn: one in three draws had none."""
    with np.errstate(all="ignore"):
        assert not all(
            np.isfinite(softplus_that_overflows(*case.args)).all() for case in POLAR_SCORES.cases(seed)
        )


WRITTEN_IN_ANOTHER_WAY = (
    (
        "polar_scores",
        lambda q, k, delta, base: right(POLAR_SCORES, k, q, delta, base).T,
        "offset-turned-round",
    ),
)
