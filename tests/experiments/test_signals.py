"""Signals: the data are what they are said to be, the yardsticks are right, and the fast form's orderings."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from posenc_lib.experiments import signals
from posenc_lib.experiments.lab import perform


def test_a_year_of_hours():
    series = signals.temperatures()
    assert len(series) in range(8750, 8761)
    assert 0 < series.min() < series.max() < 30  # Seattle, degrees Celsius


def test_bases_come_back_every_period_as_the_model_says():
    sequences, phases = signals.strong_pairs(4000, torch.Generator().manual_seed(1))
    turns = (torch.arange(signals.BASES) + phases) / 10.5
    for base, sign in enumerate((1, 1, -1, -1)):
        wave = 2 * ((sequences == base).double() * torch.cos(2 * math.pi * turns)).mean()
        assert wave == pytest.approx(sign * 0.9 / 4, abs=0.01)


def test_the_best_possible_is_bayes():
    sequences, _ = signals.strong_pairs(3, torch.Generator().manual_seed(2))
    found = signals.best_possible(sequences)
    assert found.shape == (3, signals.BASES - 1)
    grid = np.arange(0, 10.5, 0.05)
    for row, sequence in enumerate(sequences.tolist()):
        belief = np.full(len(grid), 1 / len(grid))
        for place, base in enumerate(sequence):
            weak = (1 + 0.9 * np.cos(2 * np.pi * (place + grid) / 10.5)) / 4
            likely = weak if base < 2 else 0.5 - weak
            chance = float(belief @ likely)
            if place:
                assert found[row, place - 1].item() == pytest.approx(-math.log(chance), abs=1e-6)
            belief = belief * likely / chance


def test_bands_tell_coarse_from_fine():
    along = torch.arange(101, dtype=torch.float64)[None, :] / 101
    across = torch.arange(86, dtype=torch.float64)[:, None] / 101
    coarse, fine = torch.cos(2 * math.pi * 3 * along), torch.cos(2 * math.pi * 12 * across)
    left = signals._left_by_band(fine + 0 * coarse, coarse + fine)
    assert left[3] == pytest.approx(1, abs=0.05)  # all of the fine wave is left
    assert left[1] < 0.05  # and nothing of the coarse one
    assert signals._left_by_band(coarse + fine, coarse + fine) == pytest.approx([1.0] * 5)


def test_patches_are_squares_of_the_image():
    from sklearn.datasets import load_digits

    images, shown = signals.digits()
    assert images.shape == (1797, 16, 4)
    first = load_digits().images[0] / 8 - 1
    np.testing.assert_allclose(images[0, 6], first[2:4, 4:6].ravel())  # row 1, column 2
    assert images.min() == -1
    assert images.max() == 1
    assert sorted(set(shown.tolist())) == list(range(10))


def test_fast_form(tmp_path):
    found = {}
    for each in perform("signals", fast=True, work=tmp_path)["runs"]:
        found.setdefault(each["run"]["signal"], []).append(each["result"])
    for result in found["dna"]:
        assert result["best"] < result["loss"] < math.log(4)
    coordinates, fourier = found["field"]
    assert fourier["error_between"] < 0.6 * coordinates["error_between"]
    assert fourier["left"][2] < 0.3 < coordinates["left"][2]  # 4 to 8 cycles
    for result in found["times"]:
        assert 0 < result["error"] < 2 * result["error_of_mean"]
    assert all(result["accuracy"] > 0.2 for result in found["patches"])  # chance is 0.1
