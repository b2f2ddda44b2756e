"""`02-the-formula`: the references against independent values, and answers that no list foresaw."""

import math

import mpmath
import numpy as np
import pytest

from posenc_lib.checking import report_on
from posenc_lib.exercises import ch02_the_formula as ch02


def exact_row(position, dim):
    with mpmath.workdps(50):
        angles = [
            mpmath.mpf(position) / mpmath.power(10000, mpmath.mpf(2 * i) / dim) for i in range(dim // 2)
        ]
        return [float(f(angle)) for angle in angles for f in (mpmath.sin, mpmath.cos)]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_references_against_fifty_digits(seed):
    for case in ch02.ENCODE.cases(seed):
        assert np.asarray(ch02.ENCODE.reference(*case.args)) == pytest.approx(
            exact_row(*case.args), abs=1e-12
        )
    for case in ch02.SINUSOIDAL.cases(seed):
        positions, dim = case.args
        expected = [exact_row(position.item(), dim) for position in positions]
        # At a million the angle itself is good to about 1e-10 rad.
        assert np.asarray(ch02.SINUSOIDAL.reference(positions, dim)) == pytest.approx(
            np.asarray(expected), abs=1e-9
        )
    for case in ch02.FREQUENCIES.cases(seed):
        (dim,) = case.args
        expected = [float(mpmath.power(10000, mpmath.mpf(-2 * i) / dim)) for i in range(dim // 2)]
        assert ch02.FREQUENCIES.reference(dim) == pytest.approx(expected, rel=1e-13)


def test_the_longest_wave_of_512():
    with mpmath.workdps(30):
        assert float(2 * mpmath.pi * mpmath.power(10000, mpmath.mpf(510) / 512)) == pytest.approx(
            ch02.LONGEST_WAVELENGTH.reference()
        )


@pytest.mark.parametrize("seed", range(5))
def test_smallest_dim_solves_the_inequality(seed):
    for case in ch02.SMALLEST_DIM.cases(seed):
        length, dims = case.args
        with mpmath.workdps(30):
            reach = {d: 2 * mpmath.pi * mpmath.power(10000, 1 - mpmath.mpf(2) / d) for d in dims}
        expected = min((dim for dim in dims if reach[dim] >= length), default=0)
        assert ch02.SMALLEST_DIM.reference(length, dims) == expected


def test_the_claimed_row_has_the_slip_that_its_messages_name():
    slip = [math.sin(3), math.cos(3 / 10), math.sin(3 / 100), math.cos(3 / 1000)]
    assert np.round(slip, 4) == pytest.approx(ch02.CLAIMED_ROW)
    right = np.round(exact_row(3, 4), 4)
    assert [c for c in range(4) if right[c] != ch02.CLAIMED_ROW[c]] == list(ch02.WRONG_COLUMNS.reference())


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


# Judged in test_every_exercise, as are those below.
NOT_KNOWN = (
    ("frequencies", lambda dim: 9999.0 ** (-np.arange(0, dim, 2) / dim), None),
    ("frequencies", lambda dim: [1.0] + [0.5] * (dim // 2 - 1), None),
    ("longest_wavelength", 59_000, None),
    ("smallest_dim", lambda length, dims: dims[0], None),
    ("encode", lambda position, dim: [0.0, 1.0] * (dim // 2), None),
    ("wrong_columns", [0, 3], None),
    ("sinusoidal", lambda positions, dim: -ch02._table(positions, dim), None),
    ("to_split", lambda table: table[:, ::-1], None),
    ("add_positions", lambda embeddings: embeddings * 2, None),
)


def test_a_base_of_9999_is_told_apart():
    def almost(positions, dim):
        theta = positions[:, None] * 9999.0 ** (-np.arange(0, dim, 2) / dim)
        return np.stack([np.sin(theta), np.cos(theta)], axis=-1).reshape(len(positions), dim)

    assert not report_on("02-the-formula.sinusoidal", almost).passed


def frequency_of_each_column(dim):
    return [10000 ** (-2 * column / dim) for column in range(dim)]


def sines_then_cosines(position, dim):
    angles = [position * 10000 ** (-2 * i / dim) for i in range(dim // 2)]
    return [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]


def counted_from_one(positions, dim):
    return np.array([exact_row(position + 1, dim) for position in positions.tolist()])


def added_without_scale(embeddings):
    table = [exact_row(position, embeddings.shape[2]) for position in range(embeddings.shape[1])]
    return embeddings + embeddings.new_tensor(table)


WRITTEN_IN_ANOTHER_WAY = (
    ("frequencies", frequency_of_each_column, "column-number-as-i"),
    ("encode", sines_then_cosines, "halves"),
    ("sinusoidal", counted_from_one, "positions-from-1"),
    ("add_positions", added_without_scale, "no-scale"),
)
