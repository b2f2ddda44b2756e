"""`02-the-formula.sinusoidal`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch02_the_formula.encode import ENCODE
from posenc_course.exercises.ch02_the_formula.frequencies import FREQUENCIES
from posenc_course.exercises.ch02_the_formula.sinusoidal import SINUSOIDAL, _table
from tests.exercises.ch02_the_formula.shared import SEEDS, exact_row


@SEEDS
def test_references_against_fifty_digits(seed):
    for case in ENCODE.cases(seed):
        assert np.asarray(ENCODE.reference(*case.args)) == pytest.approx(exact_row(*case.args), abs=1e-12)
    for case in SINUSOIDAL.cases(seed):
        positions, dim = case.args
        expected = [exact_row(position.item(), dim) for position in positions]
        # At a million the angle itself is good to about 1e-10 rad.
        assert np.asarray(SINUSOIDAL.reference(positions, dim)) == pytest.approx(
            np.asarray(expected), abs=1e-9
        )
    for case in FREQUENCIES.cases(seed):
        (dim,) = case.args
        expected = [float(mpmath.power(10000, mpmath.mpf(-2 * i) / dim)) for i in range(dim // 2)]
        assert FREQUENCIES.reference(dim) == pytest.approx(expected, rel=1e-13)


def float32_table(positions, dim):
    rates = np.float32(10000) ** (-np.arange(0, dim, 2, dtype=np.float32) / np.float32(dim))
    theta = positions.astype(np.float32)[:, None] * rates
    return np.stack([np.sin(theta), np.cos(theta)], axis=-1).reshape(len(positions), dim)


def test_float32_angles_pass_near_and_fail_far_with_the_reason():
    report = report_on("02-the-formula.sinusoidal", float32_table)
    failed = [result.label for result in report.results if not result.passed]
    assert failed == ["position 1,000,000, dim 8"]
    assert report.mistake is None
    assert "float64" in " ".join(report.explanation)


def test_a_base_of_9999_is_told_apart():
    def almost(positions, dim):
        theta = positions[:, None] * 9999.0 ** (-np.arange(0, dim, 2) / dim)
        return np.stack([np.sin(theta), np.cos(theta)], axis=-1).reshape(len(positions), dim)

    assert not report_on("02-the-formula.sinusoidal", almost).passed


def counted_from_one(positions, dim):
    return np.array([exact_row(position + 1, dim) for position in positions.tolist()])


def looked_up(positions, dim):
    """In a table of positions 0, 1, 2, ..., whose row -1 is its last one."""
    if positions.dtype.kind == "f":
        return _table(positions, dim)
    return _table(np.arange(positions.max() + 1), dim)[positions]


NOT_KNOWN = (
    ("sinusoidal", looked_up, "negative whole positions"),
    ("sinusoidal", lambda positions, dim: -_table(positions, dim), None),
    ("sinusoidal", lambda positions, dim: _table(positions.astype(int), dim), "the fraction was cut off"),
    ("sinusoidal", lambda positions, dim: _table(np.abs(positions), dim), "its sign was lost"),
)


WRITTEN_IN_ANOTHER_WAY = (("sinusoidal", counted_from_one, "positions-from-1"),)
