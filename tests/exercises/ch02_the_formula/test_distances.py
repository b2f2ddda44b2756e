"""`02-the-formula.distances`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

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
