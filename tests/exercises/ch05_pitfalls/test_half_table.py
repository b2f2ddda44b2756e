"""`05-pitfalls.half_table`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import re

import mpmath
import numpy as np
import pytest

from posenc_course.checking import report_on
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


def test_where_float16_ends_as_the_messages_say():
    told = {int(each) for each in re.findall(r"from (\d{5}) on", HALF_TABLE.where_not_finite)}
    told |= {
        int(each)
        for mistake in HALF_TABLE.mistakes
        for each in re.findall(r"from (\d{5}) on", mistake.message)
    }
    (first,) = told
    with np.errstate(over="ignore"):
        assert np.isinf(np.array(first).astype(np.float16))
    assert np.array(first - 1).astype(np.float16) == np.finfo(np.float16).max == 65504


def positions_halved(positions, dim):
    rates = 10000.0 ** (-np.arange(0, dim, 2) / dim)
    with np.errstate(all="ignore"):
        theta = np.asarray(positions).astype(np.float16).astype(np.float64)[:, None] * rates
        return np.stack([np.sin(theta), np.cos(theta)], -1).reshape(len(positions), dim)


def cast_never(positions, dim):
    rates = 10000.0 ** (-np.arange(0, dim, 2) / dim)
    theta = positions[:, None] * rates
    return np.stack([np.sin(theta), np.cos(theta)], -1).reshape(len(positions), dim)


def frequencies_in_float32(positions, dim):
    rates = (10000.0 ** (-np.arange(0, dim, 2) / dim)).astype(np.float32)
    theta = positions[:, None] * rates.astype(np.float64)
    return np.stack([np.sin(theta), np.cos(theta)], -1).reshape(len(positions), dim).astype(np.float16)


ANOTHER_TYPE = "The numbers are right, but their type is {}. It should be float16."
NOT_KNOWN = (
    ("half_table", lambda positions, dim: np.full((len(positions), dim), np.nan), "65504"),
    ("half_table", cast_never, ANOTHER_TYPE.format("float64")),
    ("half_table", lambda p, d: cast_never(p, d).astype(np.float32), ANOTHER_TYPE.format("float32")),
    (
        "half_table",
        lambda p, d: cast_never(p, d).astype(np.float16).astype(float),
        ANOTHER_TYPE.format("float64"),
    ),
)


def test_nobody_is_told_to_leave_float16_where_it_is_asked_for():
    for seed in range(3):
        report = report_on(HALF_TABLE.id, lambda p, d: cast_never(p + 1e-3, d).astype(np.float16), seed=seed)
        assert not report.passed
        assert "which keeps only about three digits" not in str(report)


WRITTEN_IN_ANOTHER_WAY = (
    ("half_table", positions_halved, "positions-in-float16"),
    ("half_table", frequencies_in_float32, "frequencies-in-float32"),
)
