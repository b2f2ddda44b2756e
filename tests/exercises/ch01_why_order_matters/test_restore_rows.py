"""`01-why-order-matters.restore_rows`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch01_why_order_matters.restore_rows import RESTORE_ROWS
from tests.exercises.ch01_why_order_matters.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_restored_rows_shuffle_back_to_what_was_given(seed):
    for case in RESTORE_ROWS.cases(seed):
        shuffled, order = case.args
        assert sorted(order) == list(range(len(order)))
        np.testing.assert_array_equal(RESTORE_ROWS.reference(shuffled, order)[order], shuffled)


def test_a_swap_alone_would_not_tell_the_inverse_from_the_shuffle():
    """Why the cases hold shuffles of three and more rows."""
    (swap,) = [c for c in RESTORE_ROWS.cases() if c.label == "three rows, two of them swapped"]
    shuffled, order = swap.args
    np.testing.assert_array_equal(shuffled[order], RESTORE_ROWS.reference(shuffled, order))


NOT_KNOWN = (
    ("restore_rows", lambda s, order: np.roll(s, 1, axis=0), "answer[order]"),
    ("restore_rows", lambda s, order: np.take(s, np.argsort(order)), "the shape of shuffled"),
)
