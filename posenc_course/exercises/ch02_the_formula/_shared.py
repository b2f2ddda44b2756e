"""What several exercises of `02-the-formula` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.exercise import Case, Property
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies

BASE = 10000.0


Rates = Callable[[int], np.ndarray]


# Each slip is made in three exercises: on the frequencies alone, in one row and in the table.
def _pairs(dim: int) -> np.ndarray:
    return np.arange(dim // 2, dtype=np.float64)


def _first_is_tiny(dim: int) -> np.ndarray:
    rates = frequencies(dim)
    rates[0] = 1 / BASE
    return rates


RATE_SLIPS: tuple[tuple[str, Rates, str], ...] = (
    (
        "no-division-by-dim",
        lambda dim: BASE ** (-2 * _pairs(dim)),
        "The exponent is 2i where it should be 2i/dim, so the frequencies vanish after the first few pairs. "
        "Divide the exponent by dim.",
    ),
    (
        "i-over-dim",
        lambda dim: BASE ** (-_pairs(dim) / dim),
        "The exponent is i/dim where it should be 2i/dim: the factor 2 is missing, so even the slowest wave "
        "is shorter than 2 pi * 100 positions. Multiply i by 2.",
    ),
    (
        "doubled-twice",
        lambda dim: BASE ** (-4 * _pairs(dim) / dim),
        "The exponent is 4i/dim where it should be 2i/dim: the factor 2 is taken twice, as happens when i "
        "runs 0, 2, 4, ... and is doubled again. Use i/dim with those steps, or 2i/dim with i = 0, 1, 2, ...",
    ),
    (
        "dim-outside-the-exponent",
        lambda dim: BASE ** (-2 * _pairs(dim)) / dim,
        "The division by dim came after the power, because ** comes before /. Put the whole exponent in "
        "parentheses: 10000 ** (2 * i / dim).",
    ),
    (
        "exp-of-log10",
        lambda dim: np.exp(-np.log10(BASE) * 2 * _pairs(dim) / dim),
        "The power was written as exp of a logarithm, with the logarithm to the base 10. The inverse of exp "
        "is the natural logarithm: np.log.",
    ),
    (
        "base-100000",
        lambda dim: 100_000.0 ** (-2 * _pairs(dim) / dim),
        "The base is 100000 where it should be 10000. Count the zeros: four.",
    ),
    (
        "integer-division",
        lambda dim: np.ones(dim // 2),
        "All frequencies came out as 1, as they do when 2i // dim rounds every exponent down to 0. Divide "
        "with a single slash: 2 * i / dim.",
    ),
    (
        "i-from-1",
        lambda dim: BASE ** (-2 * (_pairs(dim) + 1) / dim),
        "The pairs are counted from 1. Start at i = 0, so that the first frequency is 10000 to the power 0, "
        "which is 1.",
    ),
    (
        "power-zero-as-tiny",
        _first_is_tiny,
        "The first frequency was taken as 0.0001, as if 10000 to the power 0 were 10000. Anything to the "
        "power 0 is 1, so the first frequency is 1.",
    ),
    (
        "reversed",
        lambda dim: frequencies(dim)[::-1],
        "High and low frequencies are swapped: pair 0 must turn fastest, at 1 rad per position, and the last "
        "pair slowest. Let the frequencies fall as i grows.",
    ),
    (
        "inverted",
        lambda dim: BASE ** (2 * _pairs(dim) / dim),
        "The frequencies grow where they should fall: 10000^(2i/dim) divides the position, it does not "
        "multiply it. Make the exponent negative, or take 1 over it.",
    ),
    (
        "num-timescales-minus-1",
        lambda dim: BASE ** (-_pairs(dim) / max(dim // 2 - 1, 1)),
        "The exponent is i/(dim/2 - 1), as in tensor2tensor's code, so the last frequency is exactly "
        "1/10000. The paper's formula has 2i/dim, which is i divided by dim/2.",
    ),
    (
        "base-1000",
        lambda dim: 1000.0 ** (-2 * _pairs(dim) / dim),
        "The base is 1000 where it should be 10000. Count the zeros: four.",
    ),
)


WIDE_ENOUGH = "Wide enough"


def one_value(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("your answer")


def assemble(theta: np.ndarray, *, even: Any = np.sin, odd: Any = np.cos, halves: bool = False) -> Any:
    """Angles (..., dim/2) to a table (..., dim)."""
    parts = even(theta), odd(theta)
    if halves:
        return np.concatenate(parts, axis=-1)
    return np.stack(parts, axis=-1).reshape(*theta.shape[:-1], -1)


def _angles(positions: Any, rates: np.ndarray) -> np.ndarray:
    return np.asarray(np.asarray(positions, dtype=np.float64)[..., None] * rates)


def _by_column(positions: Any, exponents: np.ndarray) -> Any:
    """A frequency for each column: sines in the even ones, cosines in the odd ones."""
    theta = _angles(positions, BASE**-exponents)
    return np.where(np.arange(exponents.size) % 2 == 0, np.sin(theta), np.cos(theta))


def _with_rates(rates: Rates) -> Callable[[Any, int], Any]:
    return lambda positions, dim: assemble(_angles(positions, rates(dim)))


TABLE_SLIPS: tuple[tuple[str, Callable[[Any, int], Any], str], ...] = (
    *((name, _with_rates(rates), message) for name, rates, message in RATE_SLIPS),
    (
        "column-number-as-i",
        lambda positions, dim: _by_column(positions, 2 * np.arange(dim) / dim),
        "The column number was taken as i, so the sine and the cosine of a pair got different frequencies. "
        "Columns 2i and 2i + 1 share one i: take the column number // 2.",
    ),
    (
        "cosine-with-its-own-frequency",
        lambda positions, dim: _by_column(positions, np.arange(dim) / dim),
        "The exponent is the column number over dim: right for the sines, but each cosine got a frequency "
        "of its own. Give column 2i + 1 the exponent of column 2i, which is 2i/dim.",
    ),
    (
        "sine-and-cosine-swapped",
        lambda positions, dim: assemble(_angles(positions, frequencies(dim)), even=np.cos, odd=np.sin),
        "Sine and cosine are swapped: even columns hold the sine, odd columns the cosine. Position 0 must "
        "give 0, 1, 0, 1, ...",
    ),
    (
        "halves",
        lambda positions, dim: assemble(_angles(positions, frequencies(dim)), halves=True),
        "All sines come first and all cosines after them: that is the split layout. Here the two of a pair "
        "must be side by side: sin, cos, sin, cos, ...",
    ),
    (
        "only-sines",
        lambda positions, dim: assemble(_angles(positions, frequencies(dim)), odd=np.sin),
        "Every column holds a sine. Take the cosine in the odd columns.",
    ),
    (
        "degrees",
        lambda positions, dim: assemble(np.deg2rad(_angles(positions, frequencies(dim)))),
        "The angle was taken as degrees and converted. It is in radians already: give it to the sine and "
        "the cosine as it is.",
    ),
    (
        "two-pi",
        lambda positions, dim: assemble(2 * np.pi * _angles(positions, frequencies(dim))),
        "The angle was multiplied by 2 pi, as if the frequency counted turns. It counts radians per "
        "position: leave out the 2 pi.",
    ),
    (
        "backwards",
        lambda positions, dim: assemble(-_angles(positions, frequencies(dim))),
        "Every sine has the wrong sign: the angle is that of the negative position. Take the angle as it is.",
    ),
    (
        "sine-from-the-cosine",
        lambda positions, dim: assemble(
            _angles(positions, frequencies(dim)), even=lambda theta: np.abs(np.sin(theta))
        ),
        "None of your sines is negative, as happens when they are taken from the cosines by a square root. "
        "Half of the time a sine is negative: take the sine of the angle itself.",
    ),
    (
        "positions-from-1",
        lambda positions, dim: assemble(_angles(np.asarray(positions) + 1.0, frequencies(dim))),
        "Every position is one too high. Use the position as it is given: the first one is 0.",
    ),
)


def row_by_columns(position: float, dim: int) -> list[float]:
    row = []
    for column in range(dim):
        i, is_cosine = divmod(column, 2)
        angle = position / BASE ** (2 * i / dim)
        row.append(float(np.cos(angle) if is_cosine else np.sin(angle)))
    return row


def _on_the_circle(args: tuple[Any, ...], value: Any) -> bool:
    rows = np.asarray(value, dtype=np.float64)
    return bool(np.allclose(rows[..., 0::2] ** 2 + rows[..., 1::2] ** 2, 1, atol=1e-3))


ON_THE_CIRCLE = Property(
    _on_the_circle,
    "Columns 2i and 2i + 1 must be the sine and the cosine of one angle, so that their squares add up to 1.",
)


def _rows_of(positions: Any, dim: int) -> np.ndarray:
    return np.asarray(assemble(_angles(positions, frequencies(dim))))


def _not_that_of(other: Callable[[np.ndarray], np.ndarray]) -> Callable[[tuple[Any, ...], Any], bool]:
    """False where a position that `other` changes has the row of what it is changed to."""

    def holds(args: tuple[Any, ...], value: Any) -> bool:
        positions, dim = np.atleast_1d(np.asarray(args[0], dtype=np.float64)), args[1]
        changed = other(positions) != positions
        rows = np.asarray(value, dtype=np.float64).reshape(len(positions), dim)
        there = np.isclose(rows, _rows_of(other(positions), dim), rtol=0, atol=3e-4).all(axis=1)
        return not bool((there & changed).any())

    return holds


ANY_REAL_POSITION = (
    Property(
        _not_that_of(np.abs),
        "A negative position got the row of the positive one: its sign was lost. Use the position as it is.",
    ),
    Property(
        lambda args, value: all(_not_that_of(cut)(args, value) for cut in (np.floor, np.ceil)),
        "A fractional position got the row of a whole one: the fraction was cut off or rounded away. Use the "
        "position as it is. (An array of whole numbers cuts fractions off when you write into it.)",
    ),
)


TABLE = "The whole table"


def table_by_phase(positions: np.ndarray, dim: int) -> np.ndarray:
    # The cosine is the sine a quarter turn later.
    column = np.arange(dim)
    theta = positions[:, None] / BASE ** (2 * (column // 2) / dim)
    return np.asarray(np.sin(theta + np.pi / 2 * (column % 2)))


# Rows are interleaved, as a pair's sine and cosine: (..., dim). No frequency is given anywhere.
ROW_ONE = "Trigonometry in row 1 only"


Row = Callable[[np.ndarray, np.ndarray], Any]


def parted(row: Any) -> tuple[np.ndarray, np.ndarray]:
    row = np.asarray(row, dtype=np.float64)
    return row[..., 0::2], row[..., 1::2]


def paired(sines: Any, cosines: Any) -> np.ndarray:
    return np.stack([sines, cosines], axis=-1).reshape(*np.shape(sines)[:-1], -1)


def by_parts(rule: Callable[..., tuple[Any, Any]]) -> Row:
    """A rule over (sin a, cos a, sin b, cos b) as one over two rows."""
    return lambda here, there: paired(*rule(*parted(here), *parted(there)))


row_of_sum = by_parts(lambda sa, ca, sb, cb: (sa * cb + ca * sb, ca * cb - sa * sb))


def _halves(rule: Row) -> Row:
    """The rule on rows that are read, and written, as all sines before all cosines."""

    def on_halves(here: np.ndarray, there: np.ndarray) -> np.ndarray:
        half = len(here) // 2

        def swapped(row: np.ndarray) -> np.ndarray:
            return paired(row[:half], row[half:])

        return np.concatenate(parted(rule(swapped(here), swapped(there))))

    return on_halves


def clock_hands(*angles: Any) -> np.ndarray:
    theta = np.asarray(angles, dtype=np.float64)
    return paired(np.sin(theta), np.cos(theta))


WORST = "The worst pair"


def _turned(offsets: Any, dim: int, base: float) -> np.ndarray:
    """How far each hand moves over an offset, in rad: (..., dim/2)."""
    return np.asarray(np.asarray(offsets, dtype=np.float64)[..., None] * frequencies(dim, base=base))


def _distances(offsets: Any, dim: int, base: float) -> np.ndarray:
    # The chord of an angle is twice the sine of half of it.
    return np.asarray(2 * np.linalg.norm(np.sin(_turned(offsets, dim, base) / 2), axis=-1))


MYSTERY = "The mystery checkpoint"


LAYOUTS = {"interleaved": "interleaved", "split": "split", "cosines first": "split-cos-first"}
"""What a learner writes -> what the library calls it."""


EXPONENTS = range(2, 7)


def _three_rows(layout: str, formula: str, base: float, dim: int) -> np.ndarray:
    named = {"layout": LAYOUTS[layout], "spacing": formula}
    return np.asarray(sinusoidal(3, dim, base=base, **named))  # type: ignore[call-overload]


def any_rows(rng: np.random.Generator, layout: str, formula: str) -> Case:
    # From 9 pairs on, no two powers of ten up to a million give the same waves under the two formulas.
    dim, base = int(2 * rng.integers(9, 40)), 10.0 ** int(rng.choice(EXPONENTS))
    return Case(f"three rows of width {dim}", (_three_rows(layout, formula, base, dim),))


def layout_of(rows: np.ndarray) -> str:
    if rows[0, 1] == 0:
        return "split"
    return "cosines first" if rows[0, 0] == 1 else "interleaved"


SLIPS = "Find the slip"


IRREGULAR = "Times that are not steps"


HOURS_TO_2026 = 490_896.0
"""From the start of 1970."""


def time_angles(times: Any, periods: Any) -> np.ndarray:
    times, periods = np.asarray(times, dtype=np.float64), np.asarray(periods, dtype=np.float64)
    return np.asarray(2 * np.pi * times[:, None] / periods)


def encode_times(times: Any, periods: Any) -> np.ndarray:
    return np.asarray(assemble(time_angles(times, periods)))


def irregular(rng: np.random.Generator, count: int, span: float, start: float = 0.0) -> np.ndarray:
    """Times in hours, ascending, with gaps of any size, to a hundredth of an hour."""
    gaps = rng.exponential(size=count)
    return np.asarray(np.round(start + span * np.cumsum(gaps) / gaps.sum(), 2))


def any_periods(rng: np.random.Generator) -> np.ndarray:
    """Two or three that are no multiples of each other's."""
    return np.round(np.cumprod([rng.uniform(5, 20), *rng.uniform(1.7, 3.3, size=rng.integers(1, 3))]), 1)


INPUT = "Tokens to vectors"
