"""`02-the-formula.distances`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import torch

from posenc_course.checking import report_on
from posenc_course.exercises.ch02_the_formula.distances import DISTANCES
from tests.exercises.ch02_the_formula.shared import exact_row


def squared(offsets, dim, base):
    rows = np.asarray([exact_row(int(offset), dim, base) for offset in offsets])
    return ((rows - np.tile([0.0, 1.0], dim // 2)) ** 2).sum(axis=1)


NOT_KNOWN = (
    ("distances", lambda offsets, dim, base: np.abs(offsets), None),
    (
        "distances",
        lambda offsets, dim, base: np.maximum(offsets, 0) / 10,
        "The direction does not matter",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (("distances", squared, "squared"),)


def test_who_takes_steps_back_for_none_is_not_told_of_float32():
    def forwards(offsets, dim, base):
        return DISTANCES.reference(np.maximum(offsets, 0), dim, base)

    report = str(report_on(DISTANCES.id, forwards))
    assert "The direction does not matter" in report
    assert "float32" not in report


def test_who_loses_small_distances_in_float32_is_told_why():
    def by_cosines(offsets, dim, base):
        angles = torch.tensor(offsets)[:, None] / base ** (torch.arange(0, dim, 2) / dim)
        return (2 - 2 * angles.cos()).sum(-1).sqrt().numpy()

    assert "1 - cos loses small distances" in str(report_on(DISTANCES.id, by_cosines))
