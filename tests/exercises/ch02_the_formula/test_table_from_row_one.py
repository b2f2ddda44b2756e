"""`02-the-formula.table_from_row_one`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch02_the_formula.row_of_sum import ROW_OF_SUM
from posenc_course.exercises.ch02_the_formula.table_from_row_one import TABLE_FROM_ROW_ONE
from tests.exercises.ch02_the_formula.shared import SEEDS, exact_row


@SEEDS
def test_a_sum_of_positions_is_what_the_formula_gives_there(seed):
    rng = np.random.default_rng(seed)
    a, b, dim = rng.integers(0, 1000), rng.integers(0, 1000), int(2 * rng.integers(1, 10))
    here, there = (np.asarray(exact_row(int(position), dim)) for position in (a, b))
    assert ROW_OF_SUM.reference(here, there) == pytest.approx(exact_row(int(a + b), dim), abs=1e-9)
    table = [exact_row(position, dim) for position in range(30)]
    made = TABLE_FROM_ROW_ONE.reference(np.asarray(table[1]), 30)
    assert made == pytest.approx(np.asarray(table), abs=1e-9)


NOT_KNOWN = (("table_from_row_one", lambda row, length: np.ones((length, len(row))), None),)
