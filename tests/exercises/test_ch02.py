"""`02-the-formula`: the references against independent values, and answers that no list foresaw."""

import itertools
import math
import re
from pathlib import Path

import mpmath
import numpy as np
import pytest

from posenc_lib.checking import report_on
from posenc_lib.exercises import ch02_the_formula as ch02

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions" / "02-the-formula.md"
SEEDS = pytest.mark.parametrize("seed", [0, 1, 2])


def exact_row(position, dim, base=10000):
    with mpmath.workdps(50):
        angles = [
            mpmath.mpf(position) / mpmath.mpf(base) ** (mpmath.mpf(2 * i) / dim) for i in range(dim // 2)
        ]
        return [float(f(angle)) for angle in angles for f in (mpmath.sin, mpmath.cos)]


@SEEDS
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


def test_the_longest_wave_of_the_width_and_base_that_are_asked_for():
    with mpmath.workdps(30):
        assert float(2 * mpmath.pi * mpmath.power(500_000, mpmath.mpf(126) / 128)) == pytest.approx(
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


def test_a_base_of_9999_is_told_apart():
    def almost(positions, dim):
        theta = positions[:, None] * 9999.0 ** (-np.arange(0, dim, 2) / dim)
        return np.stack([np.sin(theta), np.cos(theta)], axis=-1).reshape(len(positions), dim)

    assert not report_on("02-the-formula.sinusoidal", almost).passed


# --- The five programs: each is wrong as it was said, and one line mends it ---

MENDED = {
    "A": "        angle = position / base ** (i / dim)",
    "B": "    theta = np.arange(length)[:, None] * rates",
    "C": "        theta = 2 * np.pi * self.turns(positions)",
    "D": "    return np.exp(-np.log(base) * exponents)",
    "E": "    return x + table[:n]",
}


def program(name):
    """Its lines, as a learner copies them."""
    [code] = re.findall(
        rf"Program {name}, \d+ lines</summary>\n\n```python\n(.*?)```", SOLUTIONS.read_text(), re.DOTALL
    )
    return code.rstrip("\n").split("\n")


def rows_of(name, lines):
    """What a program makes of positions 0 to 3 at width 8; of E, for the second of two sentences."""
    made = {}
    exec("\n".join(lines), made)
    positions = np.arange(4)
    rows = {
        "A": lambda: made["table"](4, 8),
        "B": lambda: made["table"](4, 8),
        "C": lambda: made["Clocks"](8).table(positions),
        "D": lambda: made["table"](positions, 8),
        "E": lambda: made["add_positions"](np.zeros((2, 4, 8)), made["table"])[1],
    }
    return np.asarray(rows[name]())


@pytest.mark.parametrize(("name", "number"), list(zip("ABCDE", ch02.BUG_LINES, strict=True)))
def test_a_program_is_wrong_and_its_line_mends_it(name, number, capsys):
    lines = program(name)
    numbered = [line for line in enumerate(lines, start=1) if line[1]]
    assert all(text.endswith(f"# {n}") for n, text in numbered)
    right = [exact_row(position, 8) for position in range(4)]
    assert not np.allclose(rows_of(name, lines), right, atol=1e-3)
    mended = [*lines[: number - 1], MENDED[name], *lines[number:]]
    assert rows_of(name, mended) == pytest.approx(np.asarray(right), abs=1e-9)


def test_what_is_said_of_each_program_is_so(capsys):
    a, b, c, d, e = (rows_of(name, program(name)) for name in "ABCDE")
    assert a[0] == pytest.approx([0, 1] * 4)
    assert 2 * math.pi / math.asin(a[1, 6]) == pytest.approx(6_283_185, rel=1e-3)
    assert round(2 * math.pi * 10000 ** (6 / 8)) == 6283
    assert np.ptp(b, axis=0) == pytest.approx(0)
    assert np.linalg.norm(b, axis=1) == pytest.approx(2)
    made = {}
    exec("\n".join(program("B")), made)
    with pytest.raises(ValueError, match="broadcast"):
        made["table"](5, 8)
    assert np.linalg.norm(c[3] - c[0]) < 0.06
    assert d[:, :2] == pytest.approx(np.asarray([exact_row(k, 8)[:2] for k in range(4)]))
    assert np.linalg.norm(d, axis=1) == pytest.approx(2)
    assert math.asin(d[1, 6]) == pytest.approx(0.0498, abs=1e-4)
    assert e == pytest.approx(np.tile(exact_row(1, 8), (4, 1)))


# --- Independent of the references ---


@SEEDS
def test_a_sum_of_positions_is_what_the_formula_gives_there(seed):
    rng = np.random.default_rng(seed)
    a, b, dim = rng.integers(0, 1000), rng.integers(0, 1000), int(2 * rng.integers(1, 10))
    here, there = (np.asarray(exact_row(int(position), dim)) for position in (a, b))
    assert ch02.ROW_OF_SUM.reference(here, there) == pytest.approx(exact_row(int(a + b), dim), abs=1e-9)
    table = [exact_row(position, dim) for position in range(30)]
    made = ch02.TABLE_FROM_ROW_ONE.reference(np.asarray(table[1]), 30)
    assert made == pytest.approx(np.asarray(table), abs=1e-9)


@SEEDS
def test_the_worst_pair_is_the_worst_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    for length, dim, base in ((60, 4, 50.0), (2, 4, 10_000.0), (int(rng.integers(10, 80)), 2, 700.0)):
        rows = np.asarray([exact_row(position, dim, base) for position in range(length)])
        pairs = itertools.combinations(range(length), 2)
        # Rounding decides which of those that tie is least; the first of them is asked for.
        apart = {pair: round(float(np.linalg.norm(rows[pair[0]] - rows[pair[1]])), 9) for pair in pairs}
        assert ch02.WORST_PAIR.reference(length, dim, base) == min(
            apart, key=lambda pair: (apart[pair], pair)
        )


def test_the_worst_pair_of_the_text_has_turned_300_and_3_times():
    assert ch02.WORST_PAIR.reference(10_000, 4, 10_000.0) == (0, 1885)
    assert 1885 / (2 * math.pi) == pytest.approx(300, abs=0.01)
    assert 1885 / 100 / (2 * math.pi) == pytest.approx(3, abs=1e-4)


def test_no_table_of_the_mystery_can_be_read_in_two_ways():
    """Two powers of ten, under the two formulas, never give the same waves."""
    for pairs in range(9, 40):
        for one, other in itertools.product(ch02.EXPONENTS, repeat=2):
            assert one * (pairs - 1) != other * pairs


@SEEDS
def test_the_forecast_is_the_signal_itself(seed):
    for case in ch02.FORECAST.cases(seed):
        times, values, later, periods = case.args
        waves = [
            [1.0, *(f(2 * math.pi * t / p) for p in periods for f in (math.sin, math.cos))] for t in times
        ]
        assert np.linalg.cond(waves) < 1e3
        weights = np.linalg.lstsq(np.asarray(waves), values, rcond=None)[0]
        assert np.asarray(waves) @ weights == pytest.approx(values, abs=1e-8)
        then = [
            [1.0, *(f(2 * math.pi * t / p) for p in periods for f in (math.sin, math.cos))] for t in later
        ]
        assert ch02.FORECAST.reference(*case.args) == pytest.approx(np.asarray(then) @ weights, abs=1e-7)


# --- Judged in test_every_exercise ---

NOT_KNOWN = (
    ("frequencies", lambda dim: 9999.0 ** (-np.arange(0, dim, 2) / dim), None),
    ("frequencies", lambda dim: [1.0] + [0.5] * (dim // 2 - 1), None),
    ("longest_wavelength", 2_500_000, None),
    ("smallest_dim", lambda length, dims: dims[0], None),
    ("sinusoidal", lambda positions, dim: -ch02._table(positions, dim), None),
    ("encode", lambda position, dim: [0.0, 1.0] * (dim // 2), None),
    ("to_split", lambda table: table[:, ::-1], None),
    ("wrong_columns", [0, 3], None),
    ("bug_lines", [10, 14, 17, 8, 20], "program B"),
    ("layout_of", lambda rows: "interleaved", None),
    ("formula_of", lambda rows: ("paper", 10000.0), None),
    ("row_of_sum", lambda here, there: here - there, None),
    ("table_from_row_one", lambda row, length: np.ones((length, len(row))), None),
    ("distances", lambda offsets, dim, base: np.abs(offsets), None),
    ("worst_pair", lambda length, dim, base: (0, length - 1), None),
    ("encode_times", lambda times, periods: -ch02._encode_times(times, periods), None),
    ("forecast", lambda times, values, later, periods: np.full(len(later), values[-1] + 1), None),
    ("embed", lambda tokens, embedding: embedding[tokens] * 2, None),
    ("add_positions", lambda x, start: x * 2, None),
)


def frequency_of_each_column(dim):
    return [10000 ** (-2 * column / dim) for column in range(dim)]


def sines_then_cosines(position, dim):
    angles = [position * 10000 ** (-2 * i / dim) for i in range(dim // 2)]
    return [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]


def counted_from_one(positions, dim):
    return np.array([exact_row(position + 1, dim) for position in positions.tolist()])


def without_start(x, start):
    table = [exact_row(position, x.shape[-1]) for position in range(x.shape[-2])]
    return x + np.asarray(table)


def with_a_plus(here, there):
    out = np.empty_like(here)
    for even in range(0, len(here), 2):
        out[even] = here[even] * there[even + 1] + here[even + 1] * there[even]
        out[even + 1] = here[even + 1] * there[even + 1] + here[even] * there[even]
    return out


def squared(offsets, dim, base):
    rows = np.asarray([exact_row(int(offset), dim, base) for offset in offsets])
    return ((rows - np.tile([0.0, 1.0], dim // 2)) ** 2).sum(axis=1)


def by_number(times, values, later, periods):
    def rows(places):
        return [
            [1.0, *(f(2 * math.pi * k / p) for p in periods for f in (math.sin, math.cos))] for k in places
        ]

    weights = np.linalg.pinv(np.asarray(rows(range(len(times))))) @ values
    return np.asarray(rows(range(len(times), len(times) + len(later)))) @ weights


WRITTEN_IN_ANOTHER_WAY = (
    ("frequencies", frequency_of_each_column, "column-number-as-i"),
    ("encode", sines_then_cosines, "halves"),
    ("sinusoidal", counted_from_one, "positions-from-1"),
    ("add_positions", without_start, "start-ignored"),
    ("row_of_sum", with_a_plus, "plus-in-the-cosine"),
    ("distances", squared, "squared"),
    ("forecast", by_number, "number-for-time"),
    ("embed", lambda tokens, embedding: np.take(embedding, tokens, axis=0), "no-scale"),
    ("layout_of", lambda rows: ["split", "interleaved"][int(rows[0, 1])], "second-column-alone"),
)
