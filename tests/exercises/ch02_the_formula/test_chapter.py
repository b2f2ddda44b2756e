"""What the exercises of `02-the-formula` hold together."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from posenc_course.exercises.ch02_the_formula._shared import EXPONENTS
from tests.exercises.ch02_the_formula.shared import exact_row, program, rows_of


def test_what_is_said_of_each_program_is_so(capsys):
    a, b, c, d, e = (rows_of(name, program(name)) for name in "ABCDE")
    assert a[0] == pytest.approx([0, 1] * 4)
    assert 2 * math.pi / math.asin(a[1, 6]) == pytest.approx(6_283_185, rel=1e-3)
    assert round(2 * math.pi * 10000 ** (6 / 8)) == 6283
    assert np.ptp(b, axis=0) == pytest.approx(0)
    assert np.linalg.norm(b, axis=1) == pytest.approx(2)
    made: dict[str, Any] = {}
    exec("\n".join(program("B")), made)
    with pytest.raises(ValueError, match="broadcast"):
        made["table"](5, 8)
    assert np.linalg.norm(c[3] - c[0]) < 0.06
    assert d[:, :2] == pytest.approx(np.asarray([exact_row(k, 8)[:2] for k in range(4)]))
    assert np.linalg.norm(d, axis=1) == pytest.approx(2)
    assert math.asin(d[1, 6]) == pytest.approx(0.0498, abs=1e-4)
    assert e == pytest.approx(np.tile(exact_row(1, 8), (4, 1)))


def test_no_table_of_the_mystery_can_be_read_in_two_ways():
    """Two powers of ten, under the two formulas, never give the same waves."""
    for pairs in range(9, 40):
        for one, other in itertools.product(EXPONENTS, repeat=2):
            assert one * (pairs - 1) != other * pairs
