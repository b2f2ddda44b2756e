"""`02-the-formula.smallest_dim`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import mpmath
import pytest

from posenc_course.exercises.ch02_the_formula.smallest_dim import SMALLEST_DIM


@pytest.mark.parametrize("seed", range(5))
def test_smallest_dim_solves_the_inequality(seed):
    for case in SMALLEST_DIM.cases(seed):
        length, dims = case.args
        with mpmath.workdps(30):
            reach = {d: 2 * mpmath.pi * mpmath.power(10000, 1 - mpmath.mpf(2) / d) for d in dims}
        expected = min((dim for dim in dims if reach[dim] >= length), default=0)
        assert SMALLEST_DIM.reference(length, dims) == expected


NOT_KNOWN = (
    ("smallest_dim", lambda length, dims: dims[0], None),
    ("smallest_dim", lambda length, dims: dims[0], "shorter than the length"),
    ("smallest_dim", lambda length, dims: dims[-1], "One of the smaller widths"),
    ("smallest_dim", lambda length, dims: 0, "You return 0, but one of the widths"),
)
