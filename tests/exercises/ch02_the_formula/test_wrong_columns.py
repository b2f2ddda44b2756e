"""`02-the-formula.wrong_columns`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch02_the_formula.wrong_columns import CLAIMED_ROW, WRONG_COLUMNS
from tests.exercises.ch02_the_formula.shared import exact_row


def test_the_claimed_row_has_the_slip_that_its_messages_name():
    slip = [math.sin(3), math.cos(3 / 10), math.sin(3 / 100), math.cos(3 / 1000)]
    assert np.round(slip, 4) == pytest.approx(CLAIMED_ROW)
    right = np.round(exact_row(3, 4), 4)
    assert [c for c in range(4) if right[c] != CLAIMED_ROW[c]] == list(WRONG_COLUMNS.reference())


NOT_KNOWN = (
    ("wrong_columns", [0, 3], "Look at column 1 again"),
    ("wrong_columns", [1, 2], "Look at column 3 again"),
    ("wrong_columns", [1, 2], "The sines, columns 0 and 2, are right"),
    ("wrong_columns", [1, 4], "There are four columns"),
    ("wrong_columns", [3, 1], "in ascending order"),
)
