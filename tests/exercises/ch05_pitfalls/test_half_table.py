"""`05-pitfalls.half_table`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from posenc_course.exercises.ch05_pitfalls.half_table import HALF_TABLE


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_half_table_against_fifty_digits(seed):
    for case in HALF_TABLE.cases(seed):
        positions, dim = case.args
        table = HALF_TABLE.reference(positions, dim)
        assert table.dtype == np.float16
        with mpmath.workdps(50):
            exact = [
                [
                    float(wave(mpmath.mpf(int(p)) / mpmath.power(10000, mpmath.mpf(2 * i) / dim)))
                    for i in range(dim // 2)
                    for wave in (mpmath.sin, mpmath.cos)
                ]
                for p in positions
            ]
        np.testing.assert_allclose(table.astype(float), exact, atol=3e-4)


def positions_halved(positions, dim):
    rates = 10000.0 ** (-np.arange(0, dim, 2) / dim)
    with np.errstate(all="ignore"):
        theta = np.float64(np.float16(positions))[:, None] * rates
        return np.stack([np.sin(theta), np.cos(theta)], -1).reshape(len(positions), dim)


NOT_KNOWN = (("half_table", lambda positions, dim: np.full((len(positions), dim), np.nan), "65504"),)


WRITTEN_IN_ANOTHER_WAY = (("half_table", positions_halved, "positions-in-float16"),)
