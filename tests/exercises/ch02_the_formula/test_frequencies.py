"""`02-the-formula.frequencies`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np


def frequency_of_each_column(dim):
    return [10000 ** (-2 * column / dim) for column in range(dim)]


NOT_KNOWN = (
    ("frequencies", lambda dim: 9999.0 ** (-np.arange(0, dim, 2) / dim), None),
    ("frequencies", lambda dim: [1.0] + [0.5] * (dim // 2 - 1), None),
)


WRITTEN_IN_ANOTHER_WAY = (("frequencies", frequency_of_each_column, "column-number-as-i"),)
