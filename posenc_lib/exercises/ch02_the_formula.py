"""Exercises of `02-the-formula`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies
from posenc_lib.exercises.exercise import BASIC, Case, Exercise, Mistake, Property

BASE = 10000.0
CHAPTER = "02-the-formula"

Rates = Callable[[int], np.ndarray]


# --- Wrong frequencies -----------------------------------------------------------------------
# Each slip is made in three exercises: on the frequencies alone, in one row and in the table.


def _pairs(dim: int) -> np.ndarray:
    return np.arange(dim // 2, dtype=np.float64)


def _first_is_tiny(dim: int) -> np.ndarray:
    rates = frequencies(dim)
    rates[0] = 1 / BASE
    return rates


_RATE_SLIPS: tuple[tuple[str, Rates, str], ...] = (
    (
        "no-division-by-dim",
        lambda dim: BASE ** (-2 * _pairs(dim)),
        "The exponent is 2i where it should be 2i/dim, so the frequencies vanish after the first few pairs. "
        "Divide the exponent by dim.",
    ),
    (
        "i-over-dim",
        lambda dim: BASE ** (-_pairs(dim) / dim),
        "The exponent is i/dim where it should be 2i/dim: the factor 2 is missing, so the waves reach only "
        "half as far. Multiply i by 2.",
    ),
    (
        "doubled-twice",
        lambda dim: BASE ** (-4 * _pairs(dim) / dim),
        "The exponent is 4i/dim where it should be 2i/dim: the factor 2 is taken twice, as happens when i "
        "runs 0, 2, 4, ... and is doubled again. Use i/dim with those steps, or 2i/dim with i = 0, 1, 2, ...",
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


# --- frequencies -----------------------------------------------------------------------------


def _frequency_cases(rng: np.random.Generator) -> Iterator[Case]:
    for dim in (2, 4, 8, 64, int(2 * rng.integers(10, 100)), int(2 * rng.integers(100, 500))):
        yield Case(f"dim {dim}", (dim,))


def _frequencies_by_loop(dim: int) -> list[float]:
    rates = []
    for i in range(dim // 2):
        rates.append(1 / BASE ** (2 * i / dim))
    return rates


def _is_geometric(args: tuple[Any, ...], value: Any) -> bool:
    return bool(np.allclose(value[1:] * value[0], value[:-1] * value[1:2], rtol=1e-4, atol=0))


FREQUENCIES = Exercise(
    id=f"{CHAPTER}.frequencies",
    title="One frequency per pair",
    signature="frequencies(dim: int) -> array of shape (dim/2,), in rad/position",
    points=2,
    minutes=8,
    difficulty=1,
    reference=lambda dim: frequencies(dim),
    make_cases=_frequency_cases,
    # The smallest frequency is about 1e-4: an absolute tolerance must not hide an error in it.
    absolute_tolerance=1e-12,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0] // 2,),
            "There must be dim/2 frequencies: one for each (sin, cos) pair, not one for each column.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.isclose(np.ravel(value)[0], 1.0)),
            "The first frequency must be 1, because 10000 to the power 0 is 1.",
        ),
        Property(
            _is_geometric,
            "The frequencies must form a geometric series: each is the one before times the same number.",
        ),
    ),
    mistakes=(
        *(Mistake(name, rates, message) for name, rates, message in _RATE_SLIPS),
        Mistake(
            "column-number-as-i",
            lambda dim: BASE ** (-2 * np.arange(float(dim)) / dim),
            "There is one frequency for each column here, because i was taken as the column number. Let i "
            "count the pairs, from 0 to dim/2 - 1.",
        ),
        Mistake(
            "repeated-for-each-column",
            lambda dim: np.repeat(frequencies(dim), 2),
            "Every frequency is there twice, once for the sine and once for the cosine. Return each only "
            "once: the result has dim/2 elements.",
        ),
        Mistake(
            "one-pair-too-many",
            lambda dim: BASE ** (-2 * np.arange(dim // 2 + 1.0) / dim),
            "There is one frequency too many: i runs up to dim/2, and should stop at dim/2 - 1. The columns "
            "of pair dim/2 would lie past the end of the row.",
        ),
        Mistake(
            "wavelengths",
            lambda dim: 2 * np.pi / frequencies(dim),
            "These are the wavelengths, in positions. The angular frequency is 2 pi divided by the "
            "wavelength, in rad/position.",
        ),
        Mistake(
            "turns",
            lambda dim: frequencies(dim) / (2 * np.pi),
            "These frequencies count turns per position. The formula needs rad per position: leave out the "
            "division by 2 pi.",
        ),
    ),
    alternatives=(
        lambda dim: np.exp(-np.log(BASE) * np.arange(0, dim, 2) / dim),
        _frequencies_by_loop,
        lambda dim: np.geomspace(1, BASE ** (-(dim - 2) / dim), dim // 2),
        lambda dim: np.cumprod(np.append(1.0, np.full(dim // 2 - 1, BASE ** (-2 / dim)))),
        lambda dim: (np.float32(BASE) ** (-2 * np.arange(dim // 2, dtype=np.float32) / dim)).astype(
            np.float32
        ),
    ),
    hints=(
        "How many (sin, cos) pairs fit into dim columns? The result has one element for each pair.",
        "Number the pairs `i = 0, 1, 2, ...` with `np.arange`. What is the last i?",
        "The frequency of pair i is 10000 to the power -2i/dim. Mind that the base is a float: NumPy "
        "refuses to raise an integer to negative integer powers.",
    ),
)


# --- longest_wavelength ----------------------------------------------------------------------


def _one_value(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("your answer")


LONGEST_WAVELENGTH = Exercise(
    id=f"{CHAPTER}.longest_wavelength",
    title="Predict the longest wave",
    signature="longest_wavelength: a number, in positions",
    points=1,
    minutes=5,
    difficulty=2,
    kind="value",
    reference=lambda: 2 * np.pi * BASE ** (510 / 512),
    make_cases=_one_value,
    relative_tolerance=1e-3,
    absolute_tolerance=0.0,
    mistakes=(
        Mistake(
            "two-pi-times-base",
            lambda: 2 * np.pi * BASE,
            "This is 2 pi times 10000, the wavelength of a pair number dim/2. The last pair is number dim/2 "
            "- 1, so the exponent is 510/512 and not 1.",
        ),
        Mistake(
            "no-two-pi",
            lambda: BASE ** (510 / 512),
            "This is 1 over the frequency: the positions for one radian. A whole turn is 2 pi radians, so "
            "multiply by 2 pi.",
        ),
        Mistake(
            "shortest",
            lambda: 2 * np.pi,
            "This is the shortest wavelength, that of pair 0. The longest belongs to the last pair, i = 255.",
        ),
        Mistake(
            "last-column-as-i",
            lambda: 2 * np.pi * BASE ** (511 / 512),
            "The exponent is 511/512, with the number of the last column. Both columns of the last pair use "
            "2i = 510.",
        ),
        Mistake(
            "i-over-dim",
            lambda: 2 * np.pi * BASE ** (255 / 512),
            "The exponent is i/dim where it should be 2i/dim: with i = 255 that is 510/512.",
        ),
        Mistake(
            "frequency",
            lambda: BASE ** (-510 / 512),
            "This is the lowest frequency, in rad/position. The wavelength is 2 pi divided by it.",
        ),
        Mistake(
            "degrees",
            lambda: 360 * BASE ** (510 / 512),
            "A whole turn was taken as 360. The angles of the formula are in radians, so a whole turn is 2 "
            "pi.",
        ),
        Mistake(
            "base-1000",
            lambda: 2 * np.pi * 1000.0 ** (510 / 512),
            "The base is 1000 where it should be 10000. Count the zeros: four.",
        ),
    ),
    alternatives=(
        lambda: float(2 * np.pi / frequencies(512)[-1]),
        lambda: 60611,
        lambda: 60611.48,
        lambda: np.float32(60600.0),
        lambda: np.geomspace(2 * np.pi, 2 * np.pi * BASE, 257)[255],
    ),
    hints=(
        "Which pair turns slowest? What is its number i when dim is 512?",
        "Its frequency is 10000 to the power -510/512. How many positions does it need for a whole turn of "
        "2 pi radians?",
    ),
)


# --- smallest_dim ----------------------------------------------------------------------------


def _longest(dim: int, *, turn: float = 2 * np.pi, base: float = BASE) -> float:
    return float(turn * base ** ((dim - 2) / dim))


def _first_that_reaches(length: float, dims: list[int], longest: Callable[[int], float]) -> int:
    return next((dim for dim in dims if longest(dim) >= length), 0)


def _smallest_dim(length: float, dims: list[int]) -> int:
    return _first_that_reaches(length, dims, _longest)


def _smallest_dim_by_algebra(length: float, dims: list[int]) -> int:
    # 2 pi base^(1 - 2/dim) >= length, solved for dim.
    short_of_base = 1 - np.log(length / (2 * np.pi)) / np.log(BASE)
    if short_of_base <= 0:
        return 0
    wide_enough = [dim for dim in dims if dim >= 2 / short_of_base]
    return min(wide_enough, default=0)


def _smallest_dim_vectorised(length: float, dims: list[int]) -> Any:
    widths = np.asarray(dims)
    reaches = 2 * np.pi * BASE ** (1 - 2 / widths) >= length
    return widths[np.argmax(reaches)] if reaches.any() else 0


def _smallest_dim_by_loop(length: float, dims: list[int]) -> int:
    for dim in dims:
        if 2 * np.pi / frequencies(dim)[-1] >= length:
            return dim
    return 0


def _some_widths(rng: np.random.Generator) -> list[int]:
    return sorted(int(each) for each in 2 * rng.choice(np.arange(1, 40), size=6, replace=False))


def _smallest_dim_cases(rng: np.random.Generator) -> Iterator[Case]:
    for length, dims in (
        (5, [2, 4]),
        (7, [2, 4]),
        (600, [2, 4, 8]),
        (2000, [4, 6, 8]),
        (3000, [6, 8, 16, 32]),
        (50_000, [64, 128, 256, 512]),
        (60_000, [128, 256, 512, 1024]),
        (62_000, [64, 512, 1024, 2048]),
        (70_000, [64, 512, 4096]),
        (1, [768]),
        (int(rng.integers(8, 600)), [2, 4, 6]),
        # So that no list of known answers passes.
        *((int(10 ** rng.uniform(1, 4.7)), _some_widths(rng)) for _ in range(3)),
    ):
        yield Case(f"length {length:,} among {dims}", (length, dims))


SMALLEST_DIM = Exercise(
    id=f"{CHAPTER}.smallest_dim",
    title="Wide enough",
    signature="smallest_dim(length: int, dims: list of even ints, ascending) -> int",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_smallest_dim,
    make_cases=_smallest_dim_cases,
    properties=(
        Property(
            lambda args, value: int(value) in (0, *args[1]),
            "The answer must be one of the given widths, or 0 where none is wide enough.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-two-pi",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: _longest(dim, turn=1.0)),
            "The factor 2 pi is missing from the wavelength: a whole turn is 2 pi radians, not one. "
            "Multiply 1/frequency by 2 pi.",
        ),
        Mistake(
            "pair-dim-half",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: 2 * np.pi * BASE),
            "Every width was given the wavelength 2 pi times 10000, which no width reaches. The last pair "
            "is number dim/2 - 1, so its exponent is (dim - 2)/dim.",
        ),
        Mistake(
            "last-column-as-i",
            lambda length, dims: _first_that_reaches(
                length, dims, lambda dim: 2 * np.pi * BASE ** ((dim - 1) / dim)
            ),
            "The exponent is (dim - 1)/dim, with the number of the last column. Both columns of the last "
            "pair use 2i = dim - 2.",
        ),
        Mistake(
            "shortest-wavelength",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: 2 * np.pi),
            "The length was compared with the shortest wavelength, 2 pi, that of pair 0. Take the longest, "
            "that of the last pair.",
        ),
        Mistake(
            "frequency-for-wavelength",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: frequencies(dim)[-1]),
            "The length was compared with a frequency. Turn it into a wavelength first: 2 pi divided by the "
            "frequency.",
        ),
        Mistake(
            "base-1000",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: _longest(dim, base=1000.0)),
            "The base is 1000 where it should be 10000. Count the zeros: four.",
        ),
        Mistake(
            "widest",
            lambda length, dims: next((dim for dim in reversed(dims) if _longest(dim) >= length), 0),
            "This is the widest that is wide enough. The smallest was asked for: stop at the first that "
            "reaches.",
        ),
        Mistake(
            "last-that-is-too-narrow",
            lambda length, dims: next((dim for dim in reversed(dims) if _longest(dim) < length), 0),
            "This is the last width that is too narrow. Take the first one whose longest wavelength is at "
            "least the length.",
        ),
        Mistake(
            "place-in-the-list",
            lambda length, dims: next((k for k, dim in enumerate(dims) if _longest(dim) >= length), 0),
            "This is the place in the list. Return the width that stands there.",
        ),
        Mistake(
            "pairs-for-columns",
            lambda length, dims: _smallest_dim(length, dims) // 2,
            "This is the number of pairs. Return dim, the number of columns, which is twice as many.",
        ),
        Mistake(
            "last-where-none-reaches",
            lambda length, dims: _smallest_dim(length, dims) or dims[-1],
            "Where no width is wide enough, the last one came back. Return 0 there: the caller must see "
            "that none will do.",
        ),
        Mistake(
            "width-against-length",
            lambda length, dims: next((dim for dim in dims if dim >= length), 0),
            "The width itself was compared with the length. Compare the longest wavelength of that width: "
            "it grows much faster than the width does.",
        ),
    ),
    alternatives=(_smallest_dim_by_algebra, _smallest_dim_vectorised, _smallest_dim_by_loop),
    hints=(
        "For one width, compute the wavelength of its last pair. Which i is the last?",
        "That wavelength is 2 pi times 10000 to the power (dim - 2)/dim.",
        "Go through dims in order and return the first whose wavelength is at least length; return 0 after "
        "the loop.",
    ),
)


# --- encode and sinusoidal: one row, and the table -------------------------------------------


def _assemble(theta: np.ndarray, *, even: Any = np.sin, odd: Any = np.cos, halves: bool = False) -> Any:
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
    return lambda positions, dim: _assemble(_angles(positions, rates(dim)))


_TABLE_SLIPS: tuple[tuple[str, Callable[[Any, int], Any], str], ...] = (
    *((name, _with_rates(rates), message) for name, rates, message in _RATE_SLIPS),
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
        lambda positions, dim: _assemble(_angles(positions, frequencies(dim)), even=np.cos, odd=np.sin),
        "Sine and cosine are swapped: even columns hold the sine, odd columns the cosine. Position 0 must "
        "give 0, 1, 0, 1, ...",
    ),
    (
        "halves",
        lambda positions, dim: _assemble(_angles(positions, frequencies(dim)), halves=True),
        "All sines come first and all cosines after them: that is the split layout. Here the two of a pair "
        "must stand side by side: sin, cos, sin, cos, ...",
    ),
    (
        "only-sines",
        lambda positions, dim: _assemble(_angles(positions, frequencies(dim)), odd=np.sin),
        "Every column holds a sine. Take the cosine in the odd columns.",
    ),
    (
        "degrees",
        lambda positions, dim: _assemble(np.deg2rad(_angles(positions, frequencies(dim)))),
        "The angle was taken as degrees and converted. It is in radians already: give it to the sine and "
        "the cosine as it is.",
    ),
    (
        "two-pi",
        lambda positions, dim: _assemble(2 * np.pi * _angles(positions, frequencies(dim))),
        "The angle was multiplied by 2 pi, as if the frequency counted turns. It counts radians per "
        "position: leave out the 2 pi.",
    ),
    (
        "positions-from-1",
        lambda positions, dim: sinusoidal(np.asarray(positions, dtype=np.float64) + 1, dim),
        "Every position is one too high. Use the position as it is given: the first one is 0.",
    ),
)


def _row(position: float, dim: int) -> Any:
    return sinusoidal(np.asarray(position, dtype=np.float64), dim)


def _row_by_columns(position: float, dim: int) -> list[float]:
    row = []
    for column in range(dim):
        i, is_cosine = divmod(column, 2)
        angle = position / BASE ** (2 * i / dim)
        row.append(float(np.cos(angle) if is_cosine else np.sin(angle)))
    return row


def _row_by_pairs(position: float, dim: int) -> np.ndarray:
    row = np.zeros(dim)
    for even in range(0, dim, 2):
        row[even] = np.sin(position / BASE ** (even / dim))
        row[even + 1] = np.cos(position / BASE ** (even / dim))
    return row


def _row_by_complex(position: float, dim: int) -> Any:
    turned = np.exp(1j * position * frequencies(dim))
    return np.column_stack([turned.imag, turned.real]).ravel()


def _row_in_float32(position: float, dim: int) -> Any:
    rates = np.float32(BASE) ** (-np.arange(0, dim, 2, dtype=np.float32) / np.float32(dim))
    return _assemble(np.float32(position) * rates)


def _row_cases(rng: np.random.Generator) -> Iterator[Case]:
    for position, dim in (
        (0, 4),
        (1, 4),
        (2, 4),
        (3, 2),
        (7, 8),
        (100, 16),
        (-3, 6),
        (2.5, 4),
        (int(rng.integers(10, 100)), int(2 * rng.integers(4, 20))),
        (float(rng.integers(-400, 400)) / 4, int(2 * rng.integers(4, 20))),
    ):
        yield Case(f"position {position}, dim {dim}", (position, dim))


def _on_the_circle(args: tuple[Any, ...], value: Any) -> bool:
    rows = np.asarray(value, dtype=np.float64)
    return bool(np.allclose(rows[..., 0::2] ** 2 + rows[..., 1::2] ** 2, 1, atol=1e-3))


_ON_THE_CIRCLE = Property(
    _on_the_circle,
    "Columns 2i and 2i + 1 must be the sine and the cosine of one angle, so that their squares add up to 1.",
)

ENCODE = Exercise(
    id=f"{CHAPTER}.encode",
    title="One row, by hand",
    signature="encode(position: real number, dim: int) -> dim numbers (a list or an array of shape (dim,))",
    points=3,
    minutes=12,
    difficulty=2,
    reference=_row,
    make_cases=_row_cases,
    # float32 is good to 1e-5 at position 100.
    absolute_tolerance=2e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1],),
            "A row must have dim numbers: a sine and a cosine for each of the dim/2 pairs.",
            about="form",
        ),
        Property(
            lambda args, value: args[0] != 0 or bool(np.allclose(value, np.arange(args[1]) % 2)),
            "Position 0 must give 0, 1, 0, 1, ...: every sine is 0 there and every cosine 1.",
        ),
        _ON_THE_CIRCLE,
    ),
    mistakes=tuple(Mistake(name, answer, message) for name, answer, message in _TABLE_SLIPS),
    alternatives=(_row_by_columns, _row_by_pairs, _row_by_complex, _row_in_float32),
    hints=(
        "Work in pairs: for each i from 0 to dim/2 - 1 there is one angle, and two numbers made of it.",
        "The angle of pair i is `position / 10000 ** (2 * i / dim)`.",
        "Start with an empty list. For each i, append `math.sin(angle)` and then `math.cos(angle)`.",
    ),
)


# --- wrong_columns ---------------------------------------------------------------------------

CLAIMED_ROW = (0.1411, 0.9553, 0.0300, 1.0000)
"""Position 3 at dim 4, with an exponent of column/dim: the cosines got frequencies of their own."""


def _columns_that_differ() -> np.ndarray:
    right = sinusoidal(np.asarray([3]), 4)[0]
    return np.flatnonzero(np.round(right, 4) != CLAIMED_ROW)


WRONG_COLUMNS = Exercise(
    id=f"{CHAPTER}.wrong_columns",
    title="Spot the wrong columns",
    signature="wrong_columns: a list of column numbers, ascending, counted from 0",
    points=1,
    minutes=5,
    difficulty=2,
    kind="value",
    reference=lambda: np.asarray([1, 3]),
    make_cases=_one_value,
    mistakes=(
        Mistake(
            "last-one-spared",
            lambda: [1],
            "Column 1 is wrong, but it is not alone. Compare column 3 to four decimals: the cosine of 0.03 "
            "is 0.9996, not 1.0000.",
        ),
        Mistake(
            "counted-from-1",
            lambda: [2, 4],
            "The columns are counted from 1. Count them from 0, as the formula and NumPy do.",
        ),
        Mistake(
            "the-right-ones",
            lambda: [0, 2],
            "These are the columns that are right. Name the others.",
        ),
        Mistake(
            "column-2-as-well",
            lambda: [1, 2, 3],
            "Column 2 is right: the angle of pair 1 is 3/100, and its sine is 0.0300. Name only the columns "
            "that differ.",
        ),
        Mistake(
            "second-pair-only",
            lambda: [2, 3],
            "These are the two columns of pair 1, but its sine is right: sin(3/100) is 0.0300. Pair 0 has a "
            "slip in its cosine.",
        ),
        Mistake(
            "first-pair-only",
            lambda: [0, 1],
            "These are the two columns of pair 0, but its sine is right: sin(3) is 0.1411. Pair 1 has a "
            "slip in its cosine.",
        ),
        Mistake(
            "last-column-only",
            lambda: [3],
            "Column 3 is wrong, but it is not alone. Column 1 must be the cosine of the same angle as "
            "column 0, and cos(3) is negative.",
        ),
        Mistake(
            "all",
            lambda: [0, 1, 2, 3],
            "The sines are right: sin(3) is 0.1411 and sin(3/100) is 0.0300. Name only the columns that "
            "differ.",
        ),
    ),
    alternatives=(
        lambda: [1, 3],
        lambda: (1, 3),
        _columns_that_differ,
        lambda: np.arange(1.0, 4.0, 2.0),
    ),
    hints=(
        "At dim 4 there are two pairs. Work out the two angles at position 3 first.",
        "The angles are 3 and 3/100. Columns 0 and 1 are the sine and the cosine of the first, columns 2 "
        "and 3 of the second.",
    ),
)


# --- sinusoidal ------------------------------------------------------------------------------

FAR = 1_000_000
UNUSUAL = "negative, fractional and far positions"


def _table(positions: np.ndarray, dim: int) -> Any:
    return sinusoidal(np.asarray(positions, dtype=np.float64), dim)


def _table_cases(rng: np.random.Generator) -> Iterator[Case]:
    for label, positions, dim in (
        ("positions 0 to 2, dim 4", np.arange(3), 4),
        ("positions 0 to 9, dim 2", np.arange(10), 2),
        ("as many positions as columns, dim 6", np.arange(6), 6),
        ("one position alone, dim 8", np.asarray([5]), 8),
        ("negative and fractional positions, dim 8", np.asarray([-1.5, 0.0, -20.0, 0.25]), 8),
        ("positions out of order, dim 64", np.asarray([1000, 3, 999, 3]), 64),
        ("random positions, dim 16", rng.integers(0, 500, size=7), 16),
        (f"position {FAR:,}, dim 8", np.asarray([FAR, FAR + 1]), 8),
    ):
        unusual = positions.min() < 0 or positions.max() > FAR
        yield Case(label, (positions, dim), group=UNUSUAL if unusual else BASIC)


def _table_by_slices(positions: np.ndarray, dim: int) -> np.ndarray:
    theta = positions[:, None] * np.exp(-np.log(BASE) * np.arange(0, dim, 2) / dim)
    table = np.empty((len(positions), dim))
    table[:, 0::2], table[:, 1::2] = np.sin(theta), np.cos(theta)
    return table


def _table_by_rows(positions: np.ndarray, dim: int) -> list[list[float]]:
    return [_row_by_columns(float(position), dim) for position in positions]


def _table_by_complex(positions: np.ndarray, dim: int) -> np.ndarray:
    turned = np.exp(1j * np.outer(positions, frequencies(dim)))
    table = np.zeros((positions.size, dim))
    table[:, ::2] = turned.imag
    table[:, 1::2] = turned.real
    return table


def _table_by_phase(positions: np.ndarray, dim: int) -> np.ndarray:
    # The cosine is the sine a quarter turn later.
    column = np.arange(dim)
    theta = positions[:, None] / BASE ** (2 * (column // 2) / dim)
    return np.asarray(np.sin(theta + np.pi / 2 * (column % 2)))


def _table_cast_last(positions: np.ndarray, dim: int) -> np.ndarray:
    return _table_by_phase(positions, dim).astype(np.float32)


def _table_of_integers(positions: np.ndarray, dim: int) -> Any:
    return _table(positions, dim).astype(np.asarray(positions).dtype)


def _far_is_exact(args: tuple[Any, ...], value: Any) -> bool:
    """False only where far positions are nearly right, as they are with angles in float32."""
    positions, dim = args
    far = np.abs(positions) >= FAR
    error = np.abs(np.asarray(value, dtype=np.float64) - _table(positions, dim))[far]
    return not (error.size and 1e-4 < error.max() < 0.2)


SINUSOIDAL = Exercise(
    id=f"{CHAPTER}.sinusoidal",
    title="The whole table",
    signature="sinusoidal(positions: array of shape (n,), dim: int) -> array of shape (n, dim)",
    points=4,
    minutes=15,
    difficulty=3,
    reference=_table,
    make_cases=_table_cases,
    credit=((BASIC, 0.75), (UNUSUAL, 0.25)),
    # float32 is good to 1e-4 at position 1000; position 1,000,000 needs float64 angles.
    absolute_tolerance=1e-4,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1]),
            "The table must have a row for each position and a column for each of the dim columns.",
            about="form",
        ),
        _ON_THE_CIRCLE,
        Property(
            _far_is_exact,
            "Far positions must be as exact as near ones. At position 1,000,000 an angle in float32 is off "
            "by up to some 0.06 rad, one in float64 is not.",
        ),
    ),
    mistakes=(
        *(Mistake(name, answer, message) for name, answer, message in _TABLE_SLIPS),
        Mistake(
            "row-number-as-position",
            lambda positions, dim: sinusoidal(len(positions), dim),
            "The row number was used in place of the position. Row k must encode positions[k], which may be "
            "any number: out of order, negative or fractional.",
        ),
        Mistake(
            "transposed",
            lambda positions, dim: _table(positions, dim).T,
            "The table is transposed: rows are positions and columns are waves. Give positions the new "
            "axis, positions[:, None], not the frequencies.",
        ),
        Mistake(
            "integer-table",
            _table_of_integers,
            "The numbers were cut down to integers, as happens in a table that takes its dtype from integer "
            "positions. Make the table of floats: np.zeros((n, dim)).",
        ),
    ),
    alternatives=(_table_by_slices, _table_by_rows, _table_by_complex, _table_by_phase, _table_cast_last),
    hints=(
        "First make the angles, one for each position and pair: an array of shape `(n, dim/2)`.",
        "`positions[:, None]` has shape `(n, 1)`; times frequencies of shape `(dim/2,)` it broadcasts to "
        "`(n, dim/2)`.",
        "Make an empty table of shape `(n, dim)`. Its even columns are `table[:, 0::2]`, its odd ones "
        "`table[:, 1::2]`.",
    ),
)


# --- to_split --------------------------------------------------------------------------------


def _split_cases(rng: np.random.Generator) -> Iterator[Case]:
    for rows, dim in ((1, 2), (3, 4), (5, 6), (6, 6), (2, 8), (4, int(2 * rng.integers(5, 12)))):
        # Distinct numbers, so that no reordering can pass by chance.
        numbers = rng.permutation(rows * dim).reshape(rows, dim) / 4
        yield Case(f"distinct numbers, rows: {rows}, dim {dim}", (numbers,))
    yield Case("an encoding, dim 16", (sinusoidal(5, 16),))


def _to_split(table: np.ndarray) -> np.ndarray:
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)


def _to_interleaved(table: np.ndarray) -> np.ndarray:
    half = table.shape[1] // 2
    return np.stack([table[:, :half], table[:, half:]], axis=2).reshape(table.shape)


TO_SPLIT = Exercise(
    id=f"{CHAPTER}.to_split",
    title="From interleaved to split",
    signature="to_split(table: array of shape (n, dim)) -> array of shape (n, dim)",
    points=2,
    minutes=8,
    difficulty=2,
    reference=_to_split,
    make_cases=_split_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay as it is: only the order of the columns changes.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sort(value, axis=1), np.sort(args[0], axis=1))),
            "Every row must keep its own numbers: only their order changes.",
        ),
    ),
    mistakes=(
        Mistake(
            "unchanged",
            lambda table: table,
            "The table came back as it was. Put all even columns first, and all odd columns after them.",
        ),
        Mistake(
            "cosines-first",
            lambda table: np.concatenate([table[:, 1::2], table[:, 0::2]], axis=1),
            "The cosines come first. The split layout has all sines, which are the even columns, and then "
            "all cosines.",
        ),
        Mistake(
            "halves-exchanged",
            lambda table: np.roll(table, table.shape[1] // 2, axis=1),
            "The left and the right half changed places, but both are still interleaved. Take every second "
            "column: table[:, 0::2] and table[:, 1::2].",
        ),
        Mistake(
            "other-direction",
            _to_interleaved,
            "This goes the other way: it takes a split table and interleaves it. Gather the even columns of "
            "the input into the left half.",
        ),
        Mistake(
            "rows-for-columns",
            lambda table: np.concatenate([table[0::2], table[1::2]], axis=0),
            "The rows were reordered, not the columns: table[0::2] takes every second row. Leave the first "
            "axis alone: table[:, 0::2].",
        ),
        Mistake(
            "stacked-below",
            lambda table: np.concatenate([table[:, 0::2], table[:, 1::2]], axis=0),
            "The cosines were put below the sines, as new rows. Join the two along the last axis: axis=1.",
        ),
        Mistake(
            "only-sines",
            lambda table: table[:, 0::2],
            "Only the sines came back. Join the odd columns, the cosines, to their right.",
        ),
        Mistake(
            "pairs-on-an-axis",
            lambda table: table.reshape(len(table), -1, 2).transpose(0, 2, 1),
            "The sines and the cosines are sorted out, but they lie along an axis of their own. Reshape the "
            "result to (n, dim).",
        ),
    ),
    alternatives=(
        lambda table: table[:, np.argsort(np.arange(table.shape[1]) % 2, kind="stable")],
        lambda table: table.reshape(len(table), -1, 2).transpose(0, 2, 1).reshape(table.shape),
        lambda table: [[*row[0::2], *row[1::2]] for row in table.tolist()],
        lambda table: np.hstack([table.T[::2].T, table.T[1::2].T]),
        lambda table: (
            table @ np.eye(table.shape[1])[:, np.r_[0 : table.shape[1] : 2, 1 : table.shape[1] : 2]]
        ),
    ),
    hints=(
        "Which columns of the interleaved table hold sines? Which hold cosines?",
        "`table[:, 0::2]` is every second column, beginning with column 0.",
        "`np.concatenate` joins arrays; `axis=1` joins them side by side.",
    ),
)


# --- add_positions ---------------------------------------------------------------------------


def _embedding_cases(rng: np.random.Generator) -> Iterator[Case]:
    def random(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    yield Case("2 sequences of 5 tokens, dim 8", (random(2, 5, 8),))
    yield Case("4 sequences of 3 tokens, dim 6", (random(4, 3, 6),))
    yield Case("as many sequences as tokens, dim 4", (random(3, 3, 4),))
    yield Case("one token, dim 2", (random(1, 1, 2),))
    yield Case("one sequence of 40 tokens, dim 16", (random(1, 40, 16),))
    yield Case("embeddings of zeros, dim 8", (np.zeros((2, 3, 8), dtype=np.float32),))


def _read(embeddings: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """The embeddings and their positions' encoding in NumPy, and sqrt(dim)."""
    x = np.asarray(embeddings, dtype=np.float64)
    return x, sinusoidal(x.shape[1], x.shape[2]), float(np.sqrt(x.shape[2]))


def _combine(how: Callable[[np.ndarray, np.ndarray, float], Any]) -> Callable[[Any], Any]:
    return lambda embeddings: how(*_read(embeddings))


def _with_torch(embeddings: Any) -> Any:
    import torch

    seq_len, dim = embeddings.shape[-2:]
    rates = 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    theta = torch.arange(seq_len, dtype=torch.float64)[:, None] * rates
    table = torch.stack([theta.sin(), theta.cos()], dim=-1).flatten(-2)
    return embeddings * dim**0.5 + table.to(embeddings.dtype)


def _with_torch_loop(embeddings: Any) -> Any:
    import torch

    out = embeddings.clone() * embeddings.shape[2] ** 0.5
    for place in range(embeddings.shape[1]):
        row = torch.tensor(_row_by_columns(place, embeddings.shape[2]), dtype=torch.float32)
        out[:, place] += row
    return out


ADD_POSITIONS = Exercise(
    id=f"{CHAPTER}.add_positions",
    title="Add positions to a batch",
    signature="add_positions(embeddings: tensor of shape (batch, seq_len, dim)) -> tensor of the same shape",
    points=4,
    minutes=12,
    difficulty=3,
    array_library="torch",
    reference=_combine(lambda x, table, root: x * root + table),
    make_cases=_embedding_cases,
    absolute_tolerance=2e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay (batch, seq_len, dim): a vector is added to each token, nothing is "
            "appended.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.any(args[0])) or bool(np.allclose(value[0], value[-1])),
            "All sequences of a batch must get the same encoding: embeddings of zeros must come out alike.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-scale",
            _combine(lambda x, table, root: x + table),
            "The embeddings were not scaled. Multiply them by the square root of dim before you add the "
            "encoding.",
        ),
        Mistake(
            "sum-scaled",
            _combine(lambda x, table, root: (x + table) * root),
            "The sum was scaled, and so the encoding with it. Scale the embeddings first, then add the "
            "encoding.",
        ),
        Mistake(
            "encoding-scaled",
            _combine(lambda x, table, root: x + table * root),
            "The encoding was scaled, and the embeddings were not. It is the other way round: multiply the "
            "embeddings by the square root of dim.",
        ),
        Mistake(
            "divided",
            _combine(lambda x, table, root: x / root + table),
            "The embeddings were divided by the square root of dim. Multiply them by it: division by a root "
            "belongs to the scores of attention.",
        ),
        Mistake(
            "scaled-by-dim",
            _combine(lambda x, table, root: x * root**2 + table),
            "The embeddings were multiplied by dim. Take its square root.",
        ),
        Mistake(
            "scaled-by-half-dim",
            _combine(lambda x, table, root: x * root / np.sqrt(2) + table),
            "The embeddings were multiplied by the square root of dim/2, which is the norm of the encoding. "
            "The paper's factor is the square root of dim.",
        ),
        Mistake(
            "positions-along-the-batch",
            _combine(lambda x, table, root: x * root + sinusoidal(x.shape[0], x.shape[2])[:, None]),
            "The positions run along the batch, so all tokens of one sequence got the same encoding. In a "
            "tensor of shape (batch, seq_len, dim) the positions are counted along axis 1.",
        ),
        Mistake(
            "positions-from-1",
            _combine(lambda x, table, root: x * root + sinusoidal(1 + np.arange(x.shape[1]), x.shape[2])),
            "The positions are counted from 1. The first token stands at position 0.",
        ),
        Mistake(
            "no-positions",
            _combine(lambda x, table, root: x * root),
            "The embeddings were scaled, but nothing was added to them. Add the encoding of positions 0 to "
            "seq_len - 1.",
        ),
        Mistake(
            "concatenated",
            _combine(
                lambda x, table, root: np.concatenate([x * root, np.broadcast_to(table, x.shape)], axis=-1)
            ),
            "The encoding was put beside the embeddings, which doubles the width. Add the two: x * root + "
            "table.",
        ),
        Mistake(
            "multiplied",
            _combine(lambda x, table, root: x * root * table),
            "The embeddings were multiplied with the encoding. Add the two.",
        ),
        Mistake(
            "split-layout",
            _combine(lambda x, table, root: x * root + sinusoidal(x.shape[1], x.shape[2], layout="split")),
            "The encoding has the split layout: all sines, then all cosines. Use the interleaved one, which "
            "is the paper's and the library's default.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            _combine(
                lambda x, table, root: (
                    x * root
                    + _assemble(
                        _angles(np.arange(x.shape[1]), frequencies(x.shape[2])), even=np.cos, odd=np.sin
                    )
                )
            ),
            "Sine and cosine are swapped in the encoding: even columns hold the sine, odd columns the "
            "cosine.",
        ),
    ),
    alternatives=(
        _with_torch,
        _with_torch_loop,
        lambda embeddings: np.stack([_combine(lambda x, t, r: t + r * x)(x[None])[0] for x in embeddings]),
        lambda embeddings: (
            embeddings.numpy() * np.float32(embeddings.shape[-1] ** 0.5)
            + _table_by_phase(np.arange(embeddings.shape[1]), embeddings.shape[-1]).astype(np.float32)
        ),
    ),
    lends=("sinusoidal",),
    hints=(
        "Read `seq_len` and `dim` off `embeddings.shape`. Which axis counts the tokens of a sequence?",
        "`posenc_lib.sinusoidal(torch.arange(seq_len), dim)` is a tensor of shape `(seq_len, dim)`. Added "
        "to a tensor of shape `(batch, seq_len, dim)`, it is used for every sequence of the batch.",
        "Multiply the embeddings by `dim ** 0.5` first, then add the encoding.",
    ),
)

EXERCISES = (
    FREQUENCIES,
    LONGEST_WAVELENGTH,
    SMALLEST_DIM,
    ENCODE,
    WRONG_COLUMNS,
    SINUSOIDAL,
    TO_SPLIT,
    ADD_POSITIONS,
)
