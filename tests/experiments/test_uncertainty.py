"""Uncertainty: what it says of numbers whose spread is known."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.experiments.uncertainty import compare, mean_over_files


def test_the_interval_is_that_of_the_normal_distribution():
    """For many files of one size the bootstrap comes to 1.96 standard errors."""
    values = np.random.default_rng(1).normal(2.0, 0.5, size=400)
    mean, half = mean_over_files(values, np.full(400, 10))
    assert mean == pytest.approx(values.mean())
    assert half == pytest.approx(1.96 * values.std() / 20, rel=0.05)


def test_a_long_file_counts_for_more():
    mean, _ = mean_over_files([1.0, 3.0], [300, 100])
    assert mean == 1.5


def seeds(middle, spread, files=60):
    """Three seeds on files that differ much, as files do: the same for whoever is compared."""
    hard = np.random.default_rng(0).normal(1.5, 0.5, size=files)
    return np.stack([hard + middle + spread * offset for offset in (-1, 0, 1)])


def test_a_difference_is_spoken_of_only_above_both_uncertainties():
    weights = np.full(60, 100)
    far = compare(seeds(0.0, 0.01), seeds(0.2, 0.01), weights)
    assert far.verdict == "lower"
    assert far.difference == pytest.approx(-0.2)
    assert far.of_the_text == pytest.approx(0)  # files are as hard for the one as for the other
    assert far.of_the_seeds == pytest.approx(4.303 * 0.01 * (2 / 3) ** 0.5)
    assert compare(seeds(0.2, 0.01), seeds(0.0, 0.01), weights).verdict == "higher"
    assert compare(seeds(0.0, 0.1), seeds(0.2, 0.1), weights).verdict == "none"  # the seeds differ by as much
    noise = np.random.default_rng(2).normal(0, 1.0, size=60)
    noisy = seeds(0.2, 0.0) + noise - noise.mean()
    few_files = compare(seeds(0.0, 0.0), noisy, weights)
    assert few_files.verdict == "none"
    assert few_files.of_the_seeds == 0
    assert few_files.uncertainty > abs(few_files.difference)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="two or more"):
        compare(seeds(0, 0)[:1], seeds(0, 0), np.ones(60))
    with pytest.raises(ValueError, match="the same files"):
        compare(seeds(0, 0)[:, :5], seeds(0, 0), np.ones(60))
