"""`03-relative-position.extend_table`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch03_relative_position.extend_table import EXTEND_TABLE
from tests.exercises.ch03_relative_position.shared import SEEDS, exact_rows


@pytest.mark.parametrize("seed", SEEDS)
def test_continued_tables_obey_the_recurrence_of_every_wave(seed):
    """x(p + 1) + x(p - 1) = 2 cos(w) x(p): true of sines and cosines of p w, and of nothing that grows."""
    for case in EXTEND_TABLE.cases(seed):
        first, n = case.args
        table = np.asarray(EXTEND_TABLE.reference(first, n))
        assert table.shape == (n, first.shape[1])
        assert table[: len(first)] == pytest.approx(first[:n], abs=1e-12)
        twice_cosine = 2 * np.repeat(first[1, 1::2], 2)
        assert table[2:] + table[:-2] == pytest.approx(twice_cosine * table[1:-1], abs=1e-10)


def base_10000_again(first, n):
    return exact_rows(range(n), first.shape[1])


NOT_KNOWN = (("extend_table", lambda first, n: np.zeros((n, first.shape[1])), None),)


WRITTEN_IN_ANOTHER_WAY = (("extend_table", base_10000_again, "usual-frequencies"),)
