"""`02-the-formula.frequencies`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.checking import report_on
from posenc_course.exercises.ch02_the_formula.frequencies import FREQUENCIES


def frequency_of_each_column(dim):
    return [10000 ** (-2 * column / dim) for column in range(dim)]


def test_a_column_of_the_right_frequencies_is_not_said_to_have_one_for_each_column():
    column = str(report_on(FREQUENCIES.id, lambda dim: FREQUENCIES.reference(dim)[:, None]))
    assert "shape (1, 1), but shape (1,) was expected" in column
    assert "one for each" not in column


NOT_KNOWN = (
    ("frequencies", lambda dim: 9999.0 ** (-np.arange(0, dim, 2) / dim), None),
    ("frequencies", lambda dim: [1.0] + [0.5] * (dim // 2 - 1), None),
)


WRITTEN_IN_ANOTHER_WAY = (("frequencies", frequency_of_each_column, "column-number-as-i"),)
