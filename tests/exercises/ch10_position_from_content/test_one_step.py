"""`10-position-from-content.one_step`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm

from posenc_course.exercises.ch10_position_from_content.one_step import ONE_STEP
from tests.exercises.ch10_position_from_content.shared import cases, right


def test_exponentials_are_scipys():
    for (matrix,) in cases(ONE_STEP):
        assert right(ONE_STEP, matrix) == pytest.approx(expm(matrix), rel=1e-9, abs=1e-9)


NOT_KNOWN = (
    (
        "one_step",
        lambda matrix: sum(np.linalg.matrix_power(matrix, n) / math.factorial(n) for n in range(15)),
        "cancel",
    ),
    ("one_step", lambda matrix: right(ONE_STEP, matrix) + 0.01, "keeps all lengths"),
)


WRITTEN_IN_ANOTHER_WAY = (("one_step", lambda matrix: math.e**matrix, "each-number"),)
