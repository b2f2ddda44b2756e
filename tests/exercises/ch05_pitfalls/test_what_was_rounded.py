"""`05-pitfalls.what_was_rounded`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.checking import report_on
from posenc_course.exercises.ch05_pitfalls.what_was_rounded import WHAT_WAS_ROUNDED, _to_bfloat16
from posenc_lib import frequencies, sinusoidal


def test_bfloat16_is_rounded_as_torch_rounds_it():
    numbers = np.concatenate([np.random.default_rng(0).normal(size=500), np.arange(2000.0), [-3.14, 1e-3]])
    theirs = torch.tensor(numbers, dtype=torch.float32).to(torch.bfloat16).double().numpy()
    np.testing.assert_array_equal(_to_bfloat16(numbers), theirs)


def by_size(bound, small, large):
    def answer(positions, table):
        error = np.abs(table - sinusoidal(positions, table.shape[1])).max()
        return "nothing" if error < 1e-6 else "table" if error < 0.01 else small if error < bound else large

    return answer


@pytest.mark.parametrize("bound", [0.1, 0.5, 1.0, 1.5, 1.9, 1.93, 1.95, 1.98, 1.999, 1.9999])
@pytest.mark.parametrize("words", [("positions", "frequencies"), ("frequencies", "positions")])
def test_the_size_of_the_error_does_not_tell_positions_from_frequencies(bound, words):
    reports = [report_on(WHAT_WAS_ROUNDED.id, by_size(bound, *words), seed=seed) for seed in range(6)]
    assert not any(report.passed for report in reports)


@pytest.mark.parametrize("seed", [16, 17, 29, 41, 56])
def test_a_table_rounded_by_pytorch_is_recognised(seed):
    """It rounds to float32 first, which changes a number of some tables."""

    def rounded(values):
        return torch.tensor(values, dtype=torch.float32).to(torch.bfloat16).double().numpy()

    def nearest(positions, table):
        dim = table.shape[1]
        exact, rates = np.asarray(positions, dtype=np.float64), frequencies(dim)
        made = {
            "nothing": by_angles(exact, rates),
            "positions": by_angles(rounded(exact), rates),
            "frequencies": by_angles(exact, rounded(rates)),
            "table": rounded(by_angles(exact, rates)),
        }
        return min(made, key=lambda name: np.abs(made[name] - table).max())

    assert report_on(WHAT_WAS_ROUNDED.id, nearest, seed=seed).passed


def by_angles(positions, rates):
    angles = np.outer(positions, rates)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(positions), -1)


NOT_KNOWN = (
    ("what_was_rounded", lambda positions, table: "frequencies", None),
    ("what_was_rounded", by_size(1.0, "frequencies", "positions"), "does not tell you that"),
)
