"""`04-extrapolation.admitted`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch04_extrapolation.admitted import ADMITTED
from posenc_course.experiments.uncertainty import mean_over_files
from tests.exercises.ch04_extrapolation.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_the_gate_is_nearly_the_bootstrap_of_the_experiments(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, size=80) * 1000
    model, counted = rng.normal(1.4, 0.1, size=80), rng.normal(1.5, 0.1, size=80)
    gain, uncertain, opened = ADMITTED.reference(model, counted, sizes)
    expected = mean_over_files(counted - model, sizes)
    assert gain == pytest.approx(expected[0])
    assert uncertain == pytest.approx(expected[1], rel=0.1)
    assert opened == (gain > uncertain)


def test_the_gate_opens_and_shuts_as_the_labels_say():
    for seed in SEEDS:
        for case in ADMITTED.cases(seed):
            opens = case.label in (
                "a clear gain",
                "a small gain in every file",
                "many files",
                "a gain just above its uncertainty",
            )
            assert ADMITTED.reference(*case.args)[2] == opens


def with_a_limit(factor):
    """Both numbers right, and another limit for the gain."""

    def answer(model, counted, sizes):
        gain, uncertain, _ = ADMITTED.reference(model, counted, sizes)
        return gain, uncertain, gain > factor * uncertain

    return answer


NOT_KNOWN = (
    ("admitted", lambda model, counted, sizes: (0.1, 0.05, True), None),
    ("admitted", with_a_limit(1 / 1.96), "does not follow from the first two"),
    ("admitted", with_a_limit(1.96), "does not follow from the first two"),
)


def test_no_gain_is_not_above_no_uncertainty():
    def at_least(model, counted, sizes):
        gain, uncertain, _above = ADMITTED.reference(model, counted, sizes)
        return gain, uncertain, gain >= uncertain

    assert not report_on(ADMITTED.id, at_least).passed
