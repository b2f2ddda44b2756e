"""Exercises of `02-the-formula`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import SPACINGS, frequencies
from posenc_lib.exercises.drawing import Draws, curve, heat_map
from posenc_lib.exercises.exercise import BASIC, Case, Exercise, Mistake, Property, enough_of_each

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
    draws=Draws(
        lambda frequencies, across, up: curve(
            np.arange(32), {"": np.log10(frequencies(64))}, across=across, up=up
        ),
        axes=("pair", "log10 of the frequency"),
        look="Every pair is slower than the one before by the same factor: a straight line.",
    ),
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

WIDE_ENOUGH = "Wide enough"
ASKED_DIM, ASKED_BASE = 128, 500_000.0
"""Another width and another base than those of the chapter: of a head of Llama 3."""


def _one_value(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("your answer")


LONGEST_WAVELENGTH = Exercise(
    id=f"{CHAPTER}.longest_wavelength",
    title="Predict the longest wave",
    signature="longest_wavelength: a number, in positions",
    step_of=WIDE_ENOUGH,
    points=1,
    minutes=5,
    difficulty=2,
    kind="value",
    reference=lambda: 2 * np.pi * ASKED_BASE ** (126 / 128),
    make_cases=_one_value,
    relative_tolerance=5e-4,
    absolute_tolerance=0.0,
    mistakes=(
        Mistake(
            "two-pi-times-base",
            lambda: 2 * np.pi * ASKED_BASE,
            "This is 2 pi times the base, the wavelength of a pair number dim/2. The pairs end one earlier, "
            "at number dim/2 - 1.",
        ),
        Mistake(
            "no-two-pi",
            lambda: ASKED_BASE ** (126 / 128),
            "This is 1 over the frequency: the positions for one radian. A whole turn is 2 pi radians, so "
            "multiply by 2 pi.",
        ),
        Mistake(
            "shortest",
            lambda: 2 * np.pi,
            "This is the shortest wavelength, that of pair 0. The longest belongs to the last pair.",
        ),
        Mistake(
            "last-column-as-i",
            lambda: 2 * np.pi * ASKED_BASE ** (127 / 128),
            "The number of the last column stands in the exponent. Both columns of the last pair share the "
            "number of its first one, 2i.",
        ),
        Mistake(
            "i-over-dim",
            lambda: 2 * np.pi * ASKED_BASE ** (63 / 128),
            "The exponent is i/dim where it should be 2i/dim: the last pair has i = 63.",
        ),
        Mistake(
            "frequency",
            lambda: ASKED_BASE ** (-126 / 128),
            "This is the lowest frequency, in rad/position. The wavelength is 2 pi divided by it.",
        ),
        Mistake(
            "degrees",
            lambda: 360 * ASKED_BASE ** (126 / 128),
            "A whole turn was taken as 360. The angles of the formula are in radians, so a whole turn is 2 "
            "pi.",
        ),
        Mistake(
            "base-10000",
            lambda: 2 * np.pi * BASE ** (126 / 128),
            "This is the longest wave for the base 10000. Here the base is 500,000.",
        ),
        Mistake(
            "power-of-the-whole",
            lambda: (2 * np.pi * ASKED_BASE) ** (126 / 128),
            "The 2 pi was raised to the power as well. Only the base is: multiply by 2 pi afterwards.",
        ),
    ),
    alternatives=(
        lambda: float(2 * np.pi / frequencies(ASKED_DIM, base=ASKED_BASE)[-1]),
        lambda: 2_559_193,
        lambda: np.float32(2_559_000.0),
        lambda: np.geomspace(2 * np.pi, 2 * np.pi * ASKED_BASE, 65)[63],
    ),
    hints=(
        "Which pair turns slowest? What is its number i at this width?",
        "Its frequency is the base to the power -2i/dim. How many positions does it need for a whole turn of "
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
    title="The narrowest that will do",
    signature="smallest_dim(length: int, dims: list of even ints, ascending) -> int",
    step_of=WIDE_ENOUGH,
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


# --- Wrong tables --------------------------------------------------------------------------------


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
        lambda positions, dim: _assemble(_angles(np.asarray(positions) + 1.0, frequencies(dim))),
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

TABLE = "The whole table"

ENCODE = Exercise(
    id=f"{CHAPTER}.encode",
    title="One row, by hand",
    step_of=TABLE,
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
    title="All rows at once",
    step_of=TABLE,
    signature="sinusoidal(positions: array of shape (n,), dim: int) -> array of shape (n, dim)",
    points=4,
    minutes=10,
    difficulty=3,
    draws=Draws(
        lambda sinusoidal, rows, columns: heat_map(sinusoidal(np.arange(60), 64), rows=rows, columns=columns),
        axes=("position", "column"),
        look="On the left the waves are fast, and to the right they get slower and slower.",
    ),
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
    step_of=TABLE,
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


# --- row_of_sum and table_from_row_one: angle addition ----------------------------------------
# Rows are interleaved, as a pair's sine and cosine: (..., dim). No frequency is given anywhere.

ROW_ONE = "Trigonometry in row 1 only"

Row = Callable[[np.ndarray, np.ndarray], Any]


def _parted(row: Any) -> tuple[np.ndarray, np.ndarray]:
    row = np.asarray(row, dtype=np.float64)
    return row[..., 0::2], row[..., 1::2]


def _paired(sines: Any, cosines: Any) -> np.ndarray:
    return np.stack([sines, cosines], axis=-1).reshape(*np.shape(sines)[:-1], -1)


def _by_parts(rule: Callable[..., tuple[Any, Any]]) -> Row:
    """A rule over (sin a, cos a, sin b, cos b) as one over two rows."""
    return lambda here, there: _paired(*rule(*_parted(here), *_parted(there)))


_row_of_sum = _by_parts(lambda sa, ca, sb, cb: (sa * cb + ca * sb, ca * cb - sa * sb))


def _row_of_sum_by_loop(here: np.ndarray, there: np.ndarray) -> list[float]:
    row = []
    for even in range(0, len(here), 2):
        (sa, ca), (sb, cb) = here[even : even + 2], there[even : even + 2]
        row += [sa * cb + ca * sb, ca * cb - sa * sb]
    return row


def _row_of_sum_by_complex(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    turned = (here[1::2] + 1j * here[0::2]) * (there[1::2] + 1j * there[0::2])
    return np.column_stack([turned.imag, turned.real]).ravel()


def _row_of_sum_by_angles(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    theta = np.arctan2(*_parted(here)) + np.arctan2(*_parted(there))
    return _paired(np.sin(theta), np.cos(theta))


def _row_of_sum_by_matrices(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    sines, cosines = _parted(there)
    turns = np.stack([np.stack([cosines, sines], -1), np.stack([-sines, cosines], -1)], -2)
    return np.asarray(np.einsum("pij,pj->pi", turns, np.asarray(here).reshape(-1, 2)).ravel())


def _halves(rule: Row) -> Row:
    """The rule on rows that are read, and written, as all sines before all cosines."""

    def on_halves(here: np.ndarray, there: np.ndarray) -> np.ndarray:
        half = len(here) // 2

        def swapped(row: np.ndarray) -> np.ndarray:
            return _paired(row[:half], row[half:])

        return np.concatenate(_parted(rule(swapped(here), swapped(there))))

    return on_halves


def _clock_hands(*angles: Any) -> np.ndarray:
    theta = np.asarray(angles, dtype=np.float64)
    return _paired(np.sin(theta), np.cos(theta))


def _sum_cases(rng: np.random.Generator) -> Iterator[Case]:
    still = _clock_hands(0, 0)
    yield Case("positions 1 and 1 at width 4", (_table(np.arange(2), 4)[1], _table(np.arange(2), 4)[1]))
    yield Case("positions 2 and 3 at width 8", tuple(_table(np.asarray([2, 3]), 8)))
    yield Case("position 0 and another one", (still, _clock_hands(2.0, 0.3)))
    yield Case("another one and position 0", (_clock_hands(-1.2, 3.0), still))
    yield Case("two positions before the start", tuple(_table(np.asarray([-5, -2]), 6)))
    for dim in (2, *(int(2 * rng.integers(3, 12)) for _ in range(3))):
        here, there = (_clock_hands(*rng.uniform(-np.pi, np.pi, size=dim // 2)) for _ in range(2))
        yield Case(f"clocks of any speed, width {dim}", (here, there))


ROW_OF_SUM = Exercise(
    id=f"{CHAPTER}.row_of_sum",
    title="Two positions make a third",
    signature="row_of_sum(here: shape (dim,), there: shape (dim,)) -> array of shape (dim,)",
    step_of=ROW_ONE,
    points=2,
    minutes=10,
    difficulty=3,
    reference=lambda here, there: _row_of_sum(here, there),
    make_cases=_sum_cases,
    properties=(
        Property(
            lambda args, value: bool(np.allclose(value[0::2] ** 2 + value[1::2] ** 2, 1, atol=1e-3)),
            "Each pair of the result must be a point on its circle: the squares of its sine and its cosine "
            "add up to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "difference",
            _by_parts(lambda sa, ca, sb, cb: (sa * cb - ca * sb, ca * cb + sa * sb)),
            "This is the row of the difference of the two positions: both signs are turned. Look up sin(a + "
            "b) and cos(a + b).",
        ),
        Mistake(
            "plus-in-the-cosine",
            _by_parts(lambda sa, ca, sb, cb: (sa * cb + ca * sb, ca * cb + sa * sb)),
            "The sines are right, and the cosines are those of the difference: the sign in cos(a + b) is a "
            "minus.",
        ),
        Mistake(
            "minus-in-the-sine",
            _by_parts(lambda sa, ca, sb, cb: (sa * cb - ca * sb, ca * cb - sa * sb)),
            "The cosines are right, and the sines are those of the difference: the sign in sin(a + b) is a "
            "plus.",
        ),
        Mistake(
            "rows-added",
            lambda here, there: here + there,
            "The two rows were added. The sine of a sum is not the sum of the sines: it takes all four "
            "numbers of a pair.",
        ),
        Mistake(
            "rows-multiplied",
            lambda here, there: here * there,
            "The two rows were multiplied number by number. Sines must also meet cosines: sin(a + b) has two "
            "terms, and each is made of both.",
        ),
        Mistake(
            "half-way",
            _by_parts(
                lambda sa, ca, sb, cb: (
                    (sa + sb) / np.hypot(sa + sb, ca + cb),
                    (ca + cb) / np.hypot(sa + sb, ca + cb),
                )
            ),
            "This hand points half-way between the two. Adding arrows and mending their length gives the "
            "mean of the angles, not their sum.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            _by_parts(lambda sa, ca, sb, cb: (ca * cb - sa * sb, sa * cb + ca * sb)),
            "The two numbers of each pair changed places: even columns hold the sine, odd ones the cosine.",
        ),
        Mistake(
            "sine-as-the-real-part",
            _by_parts(lambda sa, ca, sb, cb: (sa * sb - ca * cb, sa * cb + ca * sb)),
            "The pairs were multiplied as complex numbers whose real part is the sine. The real part is the "
            "cosine, which is column 2i + 1.",
        ),
        Mistake(
            "wrong-partners",
            _by_parts(lambda sa, ca, sb, cb: (sa * ca + sb * cb, ca * cb - sa * sb)),
            "In the sine, each sine met the cosine of its own position. It takes the cosine of the other "
            "one: sin a cos b + cos a sin b.",
        ),
        Mistake(
            "one-term-only",
            _by_parts(lambda sa, ca, sb, cb: (sa * cb, ca * cb)),
            "Only the first term of each sum is there. Both sin(a + b) and cos(a + b) have a second one.",
        ),
        Mistake(
            "halves",
            _halves(_row_of_sum),
            "The rows were read as all sines first and all cosines after them. Here they are interleaved: "
            "columns 2i and 2i + 1 are one pair.",
        ),
        Mistake(
            "cosine-from-the-sine",
            _by_parts(
                lambda sa, ca, sb, cb: (
                    sa * cb + ca * sb,
                    np.sqrt(np.maximum(1 - (sa * cb + ca * sb) ** 2, 0)),
                )
            ),
            "The cosines were taken from the sines by a square root, which is never negative. A cosine may "
            "be: add up its own two terms.",
        ),
    ),
    alternatives=(
        _row_of_sum_by_loop,
        _row_of_sum_by_complex,
        _row_of_sum_by_angles,
        _row_of_sum_by_matrices,
    ),
    hints=(
        "Take one pair. You have sin a and cos a from `here`, sin b and cos b from `there`, and want sin(a + "
        "b) and cos(a + b).",
        "The sum of two angles: sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b - sin a "
        "sin b.",
        "`here[0::2]` holds all its sines and `here[1::2]` all its cosines. Fill the same columns of a new "
        "row.",
    ),
)


def _table_by_sums(rule: Row, *, first: Any = None) -> Callable[[np.ndarray, int], np.ndarray]:
    """Each row from the one before it and row 1."""

    def table(row: np.ndarray, length: int) -> np.ndarray:
        rows = [_clock_hands(*np.zeros(len(row) // 2)) if first is None else first(row)]
        while len(rows) < length:
            rows.append(np.asarray(rule(rows[-1], row)))
        return np.stack(rows)

    return table


def _table_by_doubling(row: np.ndarray, length: int) -> np.ndarray:
    """Rows 0 to 2n - 1 from rows 0 to n - 1: each is moved on by n."""
    step = np.asarray(row)
    table = _clock_hands(np.zeros(len(row) // 2))
    while len(table) < length:
        moved = _row_of_sum(table, np.broadcast_to(step, table.shape))
        table, step = np.concatenate([table, moved]), _row_of_sum(step, step)
    return table[:length]


def _table_by_powers(row: np.ndarray, length: int) -> np.ndarray:
    turned = (row[1::2] + 1j * row[0::2]) ** np.arange(length)[:, None]
    return _paired(turned.imag, turned.real)


def _table_by_angles(row: np.ndarray, length: int) -> np.ndarray:
    theta = np.arange(length)[:, None] * np.arctan2(row[0::2], row[1::2])
    return _paired(np.sin(theta), np.cos(theta))


def _table_by_chebyshev(row: np.ndarray, length: int) -> Any:
    """sin((k + 1) a) = 2 cos a sin(k a) - sin((k - 1) a), and the same of the cosine."""
    rows = [_clock_hands(*np.zeros(len(row) // 2)), np.asarray(row)]
    twice = 2 * np.repeat(row[1::2], 2)
    while len(rows) < length:
        rows.append(twice * rows[-1] - rows[-2])
    return rows[:length]


def _from_angles(
    angles_of: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Callable[[np.ndarray, int], Any]:
    return lambda row, length: _clock_hands(*(k * angles_of(*_parted(row)) for k in range(length)))


def _doubled_each_time(row: np.ndarray, length: int) -> np.ndarray:
    rows = [_clock_hands(*np.zeros(len(row) // 2)), np.asarray(row)]
    while len(rows) < length:
        rows.append(_row_of_sum(rows[-1], rows[-1]))
    return np.stack(rows[:length])


def _row_one_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("row 1 at width 4, 3 rows", (_table(np.arange(2), 4)[1], 3))
    yield Case("row 1 at width 16, 20 rows", (_table(np.arange(2), 16)[1], 20))
    yield Case("length 1: row 0 alone", (_table(np.arange(2), 6)[1], 1))
    yield Case("length 2", (_clock_hands(2.5, -0.4), 2))
    yield Case("one clock that runs backwards, 9 rows", (_clock_hands(-1.9), 9))
    for length in (5, int(rng.integers(6, 12)), int(rng.integers(15, 25))):
        dim = int(2 * rng.integers(2, 9))
        row = _clock_hands(*rng.uniform(-np.pi, np.pi, size=dim // 2))
        yield Case(f"clocks of any speed, width {dim}, length {length}", (row, length))


TABLE_FROM_ROW_ONE = Exercise(
    id=f"{CHAPTER}.table_from_row_one",
    title="The whole table from one row",
    signature="table_from_row_one(row: array of shape (dim,), length: int) -> array of shape (length, dim)",
    step_of=ROW_ONE,
    points=2,
    minutes=10,
    difficulty=3,
    reference=lambda row, length: _table_by_powers(row, length),
    make_cases=_row_one_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], len(args[0])),
            "The table must have length rows, those of positions 0 to length - 1, and as many columns as row "
            "1.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[0], np.arange(len(args[0])) % 2)),
            "The first row must be that of position 0: every sine is 0 there, and every cosine 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "begins-at-row-1",
            _table_by_sums(_row_of_sum, first=np.asarray),
            "The table begins at position 1. Its first row is that of position 0, where every hand stands at "
            "twelve o'clock: 0, 1, 0, 1, ...",
        ),
        Mistake(
            "begins-with-zeros",
            _table_by_sums(_row_of_sum, first=np.zeros_like),
            "All rows are zeros, as they come out where the first one is. At position 0 the sines are 0, and "
            "the cosines are 1.",
        ),
        Mistake(
            "multiplied-by-the-position",
            lambda row, length: np.arange(length)[:, None] * row,
            "Row 1 was multiplied by the position. It is the angle that grows with the position, and not its "
            "sine: add angles, one row at a time.",
        ),
        Mistake(
            "powers-of-each-number",
            lambda row, length: np.asarray(row) ** np.arange(length)[:, None],
            "Each number was raised to the power of the position. Powers are right for a pair as one complex "
            "number, cosine + i sine, and not for its two parts by themselves.",
        ),
        Mistake(
            "doubled-each-time",
            _doubled_each_time,
            "Each row was added to itself, so the positions run 0, 1, 2, 4, 8, ... Add row 1 to the row "
            "before, each time.",
        ),
        Mistake(
            "plus-in-the-cosine",
            _table_by_sums(_by_parts(lambda sa, ca, sb, cb: (sa * cb + ca * sb, ca * cb + sa * sb))),
            "The cosine of a sum has a minus: cos a cos b - sin a sin b. Here it has a plus.",
        ),
        Mistake(
            "backwards",
            _table_by_sums(_by_parts(lambda sa, ca, sb, cb: (sa * cb - ca * sb, ca * cb + sa * sb))),
            "The positions run backwards: 0, -1, -2, ... Each step must add the angle of row 1, and not take "
            "it away.",
        ),
        Mistake(
            "row-1-again-and-again",
            lambda row, length: np.concatenate(
                [_clock_hands(np.zeros(len(row) // 2)), np.tile(row, (length - 1, 1))]
            ),
            "Every row after the first is row 1. Keep the row that you made last, and add row 1 to that.",
        ),
        Mistake(
            "angle-from-the-cosine-alone",
            _from_angles(lambda sines, cosines: np.arccos(cosines)),
            "The angle was taken from the cosine alone, which is the same for an angle and for its opposite. "
            "It takes the sine as well; or add angles without ever asking for one.",
        ),
        Mistake(
            "angle-from-the-sine-alone",
            _from_angles(lambda sines, cosines: np.arcsin(sines)),
            "The angle was taken from the sine alone, which comes twice in each turn. It takes the cosine as "
            "well; or add angles without ever asking for one.",
        ),
        Mistake(
            "halves",
            _table_by_sums(_halves(_row_of_sum), first=lambda row: np.repeat([0.0, 1.0], len(row) // 2)),
            "Row 1 was read as all sines first and all cosines after them. Here it is interleaved: columns "
            "2i and 2i + 1 are one pair.",
        ),
        Mistake(
            "formula-of-its-own",
            lambda row, length: sinusoidal(length, len(row)),
            "The rows are those of the formula with base 10000, whatever row 1 is. These clocks may turn at "
            "any speed: all that is known of them is in row 1.",
        ),
    ),
    alternatives=(
        _table_by_sums(_row_of_sum),
        _table_by_doubling,
        _table_by_angles,
        _table_by_chebyshev,
    ),
    hints=(
        "What is the row of position 0, at any width? Start with that.",
        "Row k + 1 is the row of the sum of position k and position 1: you have both rows.",
        "Keep a list of rows. While it is shorter than `length`, append `row_of_sum(rows[-1], row)`; give "
        "back `np.stack(rows)`.",
    ),
)


# --- distances and worst_pair -----------------------------------------------------------------

WORST = "The worst pair"


def _turned(offsets: Any, dim: int, base: float) -> np.ndarray:
    """How far each hand moves over an offset, in rad: (..., dim/2)."""
    return np.asarray(np.asarray(offsets, dtype=np.float64)[..., None] * frequencies(dim, base=base))


def _distances(offsets: Any, dim: int, base: float) -> np.ndarray:
    # The chord of an angle is twice the sine of half of it.
    return np.asarray(2 * np.linalg.norm(np.sin(_turned(offsets, dim, base) / 2), axis=-1))


def _distances_by_rows(offsets: Any, dim: int, base: float) -> np.ndarray:
    apart = sinusoidal(np.asarray(offsets, dtype=np.float64), dim, base=base) - np.arange(dim) % 2
    return np.asarray(np.sqrt((apart**2).sum(axis=-1)))


def _distances_by_loop(offsets: Any, dim: int, base: float) -> list[float]:
    def one(offset: float) -> float:
        angles = [offset / base ** (2 * i / dim) for i in range(dim // 2)]
        return float(sum((1 - np.cos(a)) ** 2 + np.sin(a) ** 2 for a in angles) ** 0.5)

    return [one(float(offset)) for offset in offsets]


def _distances_elsewhere(offsets: Any, dim: int, base: float) -> np.ndarray:
    """From another place than position 0."""
    offsets = np.asarray(offsets, dtype=np.float64)
    there, here = sinusoidal(7 + offsets, dim, base=base), sinusoidal(np.asarray(7.0), dim, base=base)
    return np.asarray(np.linalg.norm(there - here, axis=-1))


def _distance_cases(rng: np.random.Generator) -> Iterator[Case]:
    for offsets, dim, base in (
        (np.arange(5), 4, BASE),
        (np.asarray([0, 710, -710]), 2, BASE),
        (np.asarray([44, 628, 10_000]), 4, BASE),
        (np.asarray([-3, 3]), 8, 100.0),
        (np.asarray([1]), 64, BASE),
        (rng.integers(-500, 500, size=6), int(2 * rng.integers(2, 8)), float(rng.integers(50, 5000))),
        (rng.integers(1, 5000, size=4), int(2 * rng.integers(8, 32)), float(rng.integers(50, 5000))),
    ):
        yield Case(
            f"offsets {', '.join(map(str, offsets))} at width {dim}, base {base:g}", (offsets, dim, base)
        )


def _of_angles(rule: Callable[[np.ndarray], Any]) -> Callable[[Any, int, float], Any]:
    return lambda offsets, dim, base: rule(_turned(offsets, dim, base))


DISTANCES = Exercise(
    id=f"{CHAPTER}.distances",
    title="How far apart",
    signature="distances(offsets: array of shape (n,), dim: int, base: float) -> array of shape (n,)",
    step_of=WORST,
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda distances, across, up: curve(
            np.arange(200), {"": distances(np.arange(200), 64, 10000.0)}, across=across, up=up
        ),
        axes=("offset", "distance"),
        look="Neighbours are close together; further apart, the distance hardly grows, and ripples.",
    ),
    reference=lambda offsets, dim, base: _distances(offsets, dim, base),
    make_cases=_distance_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one distance for each offset.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(value >= 0)),
            "A distance is never negative.",
        ),
        Property(
            lambda args, value: bool(np.all(np.abs(value[np.asarray(args[0]) == 0]) < 1e-6)),
            "At offset 0 the distance is 0: no row is apart from itself.",
        ),
        Property(
            lambda args, value: bool(np.all(value <= 2 * np.sqrt(args[1] / 2) + 1e-6)),
            "No two rows are farther apart than twice the norm of a row, which is 2 times the square root of "
            "dim/2.",
        ),
    ),
    mistakes=(
        Mistake(
            "squared",
            _of_angles(lambda theta: (2 - 2 * np.cos(theta)).sum(axis=-1)),
            "These are the squares of the distances. Take the square root.",
        ),
        Mistake(
            "one-minus-cosine-once",
            _of_angles(lambda theta: np.sqrt((1 - np.cos(theta)).sum(axis=-1))),
            "Under the root there should be 2 - 2 cos for each pair, and not 1 - cos: both the sine and the "
            "cosine move.",
        ),
        Mistake(
            "dot-product",
            _of_angles(lambda theta: np.cos(theta).sum(axis=-1)),
            "This is the dot product of the two rows, which is largest where the distance is smallest.",
        ),
        Mistake(
            "cosine-similarity",
            _of_angles(lambda theta: np.cos(theta).mean(axis=-1)),
            "This is the cosine of the angle between the two rows. The length of their difference was asked "
            "for.",
        ),
        Mistake(
            "sum-of-absolute-values",
            _of_angles(lambda theta: (np.abs(np.sin(theta)) + 1 - np.cos(theta)).sum(axis=-1)),
            "The absolute differences were added up. The distance is the square root of the sum of their "
            "squares.",
        ),
        Mistake(
            "largest-difference",
            _of_angles(lambda theta: np.maximum(np.abs(np.sin(theta)), 1 - np.cos(theta)).max(axis=-1)),
            "This is the largest difference of a single column. The distance takes all columns together.",
        ),
        Mistake(
            "differences-of-norms",
            _of_angles(lambda theta: np.zeros(theta.shape[:-1])),
            "The norms were taken first, and then their difference. All rows have the same norm: subtract "
            "the rows, and take the norm of that.",
        ),
        Mistake(
            "angles-not-wrapped",
            _of_angles(lambda theta: np.linalg.norm(theta, axis=-1)),
            "The angles were compared and not the points on the circles. A hand that has gone round once is "
            "where it was.",
        ),
        Mistake(
            "first-pair-alone",
            _of_angles(lambda theta: np.abs(2 * np.sin(theta[..., 0] / 2))),
            "Only the first pair was looked at. Take all dim columns.",
        ),
        Mistake(
            "mean-over-pairs",
            _of_angles(lambda theta: np.sqrt((2 - 2 * np.cos(theta)).mean(axis=-1))),
            "The squares were averaged over the pairs. Add them up.",
        ),
        Mistake(
            "base-10000",
            lambda offsets, dim, base: _distances(offsets, dim, BASE),
            "The base was taken as 10000. Use the one that is given.",
        ),
        Mistake(
            "between-neighbours-in-the-list",
            lambda offsets, dim, base: np.linalg.norm(
                np.diff(sinusoidal(np.append(0.0, offsets), dim, base=base), axis=0), axis=-1
            ),
            "Each row was compared with the one before it in the list. Compare each with the row of position "
            "0: the numbers given are offsets.",
        ),
        Mistake(
            "row-of-the-offset",
            _of_angles(lambda theta: np.full(theta.shape[:-1], np.sqrt(theta.shape[-1]))),
            "These are the norms of the rows, which are all the same. Take the row of position 0 away first.",
        ),
        Mistake(
            "only-sines",
            _of_angles(lambda theta: np.linalg.norm(np.sin(theta), axis=-1)),
            "Only the sines were compared. The cosines differ too, from the 1 that they are at position 0.",
        ),
    ),
    alternatives=(_distances_by_rows, _distances_by_loop, _distances_elsewhere),
    hints=(
        "The distance depends on the offset alone, so you may put one of the two at position 0.",
        "The row of position 0 is 0, 1, 0, 1, ... Take the row of each offset, subtract, and take the norm.",
        "In one line: for each pair the squared distance is 2 - 2 cos(offset times frequency). Add these up "
        "over the pairs, and take the root.",
    ),
)


def _chosen(
    score: Callable[[np.ndarray, int, float], np.ndarray] = _distances,
    *,
    most: bool = False,
    longest: int = 0,
) -> Callable[[int, int, float], tuple[int, int]]:
    """The pair (0, offset) whose score is least, among offsets up to length - 1 + longest."""

    def pair(length: int, dim: int, base: float) -> tuple[int, int]:
        offsets = np.arange(1, length + longest)
        scores = score(offsets, dim, base)
        return 0, int(offsets[np.argmax(scores) if most else np.argmin(scores)])

    return pair


_worst_pair = _chosen()


def _worst_pair_by_loop(length: int, dim: int, base: float) -> tuple[int, int]:
    best, worst = np.inf, 1
    for offset in range(1, length):
        angles = offset * frequencies(dim, base=base)
        if (distance := float(np.sum(2 - 2 * np.cos(angles)))) < best:
            best, worst = distance, offset
    return 0, worst


def _worst_pair_by_products(length: int, dim: int, base: float) -> list[int]:
    table = sinusoidal(length, dim, base=base)
    products = table[1:] @ table[0]
    return [0, 1 + int(np.argmax(products))]


def _changed(rule: Callable[[int, int], tuple[int, int]]) -> Callable[[int, int, float], tuple[int, int]]:
    """What the rule makes of (length, the right offset)."""
    return lambda length, dim, base: rule(length, _worst_pair(length, dim, base)[1])


def _winner_is_clear(length: int, dim: int, base: float) -> bool:
    """Whether no way of rounding changes which offset is worst."""
    first, second = np.sort(_distances(np.arange(1, length), dim, base))[:2]
    return bool(second - first > 1e-3 * second)


def _pair_cases(rng: np.random.Generator) -> Iterator[Case]:
    drawn: list[tuple[int, int, float]] = []
    while len(drawn) < 5:
        asked = int(rng.integers(50, 3000)), int(2 * rng.integers(2, 4)), float(rng.integers(30, 3000))
        if _winner_is_clear(*asked):
            drawn.append(asked)
    for length, dim, base in (
        (10_000, 4, BASE),
        (10_000, 2, BASE),
        (1885, 4, BASE),
        (1000, 6, BASE),
        (100, 64, BASE),
        (2, 4, BASE),
        *drawn,
    ):
        yield Case(f"{length:,} positions at width {dim}, base {base:g}", (length, dim, base))


WORST_PAIR = Exercise(
    id=f"{CHAPTER}.worst_pair",
    title="The two that are hardest to tell apart",
    signature="worst_pair(length: int, dim: int, base: float) -> (int, int), the smaller position first",
    step_of=WORST,
    points=3,
    minutes=10,
    difficulty=3,
    reference=lambda length, dim, base: _worst_pair(length, dim, base),
    make_cases=_pair_cases,
    parts=("the smaller position", "the larger position"),
    properties=(
        Property(
            lambda args, value: 0 <= value[0] < value[1] < args[0],
            "The two must be different positions from 0 to length - 1, the smaller one first.",
        ),
    ),
    mistakes=(
        Mistake(
            "neighbours",
            _changed(lambda length, offset: (0, 1)),
            "Neighbours are not always the worst pair. At a small width all clocks can come back together "
            "after many turns: try every offset.",
        ),
        Mistake(
            "farthest",
            _chosen(most=True),
            "These are the two that are easiest to tell apart. Take the smallest distance.",
        ),
        Mistake(
            "least-product",
            _chosen(lambda offsets, dim, base: np.cos(_turned(offsets, dim, base)).sum(axis=-1) ** 2),
            "This is the pair whose rows are nearest to a right angle. Rows that are hard to tell apart "
            "point the same way.",
        ),
        Mistake(
            "with-itself",
            _changed(lambda length, offset: (0, 0)),
            "A position was compared with itself. Leave the offset 0 out.",
        ),
        Mistake(
            "one-offset-too-many",
            _chosen(longest=1),
            "The offset goes up to length, one too far: the last position is length - 1.",
        ),
        Mistake(
            "first-clock-alone",
            _chosen(lambda offsets, dim, base: 1 - np.cos(_turned(offsets, dim, base)[..., 0])),
            "Only the first clock was looked at. It returns to the same time often, and the others tell the "
            "two positions apart there.",
        ),
        Mistake(
            "base-10000",
            lambda length, dim, base: _worst_pair(length, dim, BASE),
            "The base was taken as 10000. Use the one that is given.",
        ),
        Mistake(
            "last-of-those-that-tie",
            _changed(lambda length, offset: (length - 1 - offset, length - 1)),
            "Your offset is right, and this pair is as bad as the one asked for. Of all that tie, give the "
            "first: it begins at position 0.",
        ),
        Mistake(
            "counted-from-1",
            _changed(lambda length, offset: (1, 1 + offset)),
            "Your offset is right, and the first pair with that offset begins at position 0.",
        ),
        Mistake(
            "larger-first",
            _changed(lambda length, offset: (offset, 0)),
            "The two positions are right, and in the wrong order: the smaller one comes first.",
        ),
        Mistake(
            "number-in-the-list",
            _changed(lambda length, offset: (0, offset - 1)),
            "The larger position is one too small, as happens where the offsets begin at 1 and their number "
            "in the list, which begins at 0, is returned.",
        ),
        Mistake(
            "last-clock-alone",
            _chosen(lambda offsets, dim, base: 1 - np.cos(_turned(offsets, dim, base)[..., -1])),
            "Only the last clock was looked at. The others tell two positions apart at which it points the "
            "same way.",
        ),
    ),
    alternatives=(
        _worst_pair_by_loop,
        _worst_pair_by_products,
        lambda length, dim, base: np.asarray(_worst_pair(length, dim, base)),
    ),
    hints=(
        "There are nearly 50 million pairs below 10,000, and you need not compare them all. On what alone "
        "does the distance depend?",
        "Among all pairs with the same offset, which one is first? So one of the two numbers is known.",
        "Call your `distances` on all offsets from 1 to length - 1, and take the place of the smallest with "
        "`np.argmin`. Mind that place 0 holds offset 1.",
    ),
)


# --- layout_of and formula_of: the mystery checkpoint ------------------------------------------

MYSTERY = "The mystery checkpoint"
LAYOUTS = {"interleaved": "interleaved", "split": "split", "cosines first": "split-cos-first"}
"""What a learner writes -> what the library calls it."""
EXPONENTS = range(2, 7)


def _three_rows(layout: str, formula: str, base: float, dim: int) -> np.ndarray:
    return np.asarray(sinusoidal(3, dim, base=base, layout=LAYOUTS[layout], spacing=formula))


def _any_rows(rng: np.random.Generator, layout: str, formula: str) -> Case:
    # From 9 pairs on, no two powers of ten up to a million give the same waves under the two formulas.
    dim, base = int(2 * rng.integers(9, 40)), 10.0 ** int(rng.choice(EXPONENTS))
    return Case(f"three rows of width {dim}", (_three_rows(layout, formula, base, dim),))


def _layout_cases(rng: np.random.Generator) -> Iterator[Case]:
    kinds = ([(layout, formula) for formula in SPACINGS] for layout in LAYOUTS)
    for layout, formula in enough_of_each(rng, *kinds):
        yield _any_rows(rng, layout, formula)


def _layout_of(rows: np.ndarray) -> str:
    if rows[0, 1] == 0:
        return "split"
    return "cosines first" if rows[0, 0] == 1 else "interleaved"


def _layout_by_comparing(rows: np.ndarray) -> str:
    half = rows.shape[1] // 2
    first = {
        "interleaved": np.tile([0.0, 1.0], half),
        "split": np.repeat([0.0, 1.0], half),
        "cosines first": np.repeat([1.0, 0.0], half),
    }
    return next(name for name, row in first.items() if np.allclose(rows[0], row))


def _layout_by_text(rows: np.ndarray) -> str:
    begins = "".join(str(round(float(number))) for number in rows[0, :2])
    return {"01": "Interleaved", "00": "Split", "11": "Cosines first"}[begins]


LAYOUT_OF = Exercise(
    id=f"{CHAPTER}.layout_of",
    title="In which order are the columns?",
    signature='layout_of(rows: array of shape (3, dim)) -> "interleaved", "split" or "cosines first"',
    step_of=MYSTERY,
    points=2,
    minutes=8,
    difficulty=2,
    reference=lambda rows: _layout_of(rows),
    make_cases=_layout_cases,
    properties=(
        Property(
            lambda args, value: str(value).strip().lower() in LAYOUTS,
            "The answer must be one of the three words interleaved, split and cosines first.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "second-column-alone",
            lambda rows: "interleaved" if rows[0, 1] == 1 else "split",
            "A 1 in column 1 was taken for the interleaved layout. Where the cosines come first there is a 1 "
            "as well: look at column 0 too.",
        ),
        Mistake(
            "first-column-alone",
            lambda rows: "interleaved" if rows[0, 0] == 0 else "cosines first",
            "A 0 in column 0 was taken for the interleaved layout. The split layout begins with a 0 as well: "
            "look at column 1 too.",
        ),
        Mistake(
            "first-two-alike",
            lambda rows: "split" if rows[0, 0] == rows[0, 1] else "interleaved",
            "Where columns 0 and 1 are alike, you say split. There are two such layouts: do sines or cosines "
            "come first?",
        ),
        Mistake(
            "halves-confused",
            lambda rows: {"split": "cosines first", "cosines first": "split"}.get(
                _layout_of(rows), "interleaved"
            ),
            "The layouts split and cosines first are confused: at position 0 a sine is 0 and a cosine is 1.",
        ),
        Mistake(
            "interleaved-and-split-confused",
            lambda rows: {"split": "interleaved", "interleaved": "split"}.get(
                _layout_of(rows), "cosines first"
            ),
            "The layouts interleaved and split are confused: interleaved columns go sine, cosine, sine, "
            "cosine.",
        ),
        Mistake(
            "last-column-alone",
            lambda rows: "split" if rows[0, -1] == 1 else "cosines first",
            "A 1 in the last column was taken for the split layout. The interleaved one ends with a cosine "
            "as well: look at the column before it too.",
        ),
    ),
    alternatives=(_layout_by_comparing, _layout_by_text, lambda rows: f" {_layout_of(np.asarray(rows))} "),
    hints=(
        "The first of the rows is that of position 0. What is every sine there, and what every cosine?",
        "The first two numbers of that row are enough to tell the three layouts apart.",
    ),
)


def _turns_of_row_1(rows: np.ndarray) -> np.ndarray:
    """The angle of each pair at position 1, which is its frequency."""
    half = rows.shape[1] // 2
    sines, cosines = {
        "interleaved": (rows[1, 0::2], rows[1, 1::2]),
        "split": (rows[1, :half], rows[1, half:]),
        "cosines first": (rows[1, half:], rows[1, :half]),
    }[_layout_of(rows)]
    return np.asarray(np.arctan2(sines, cosines))


def _is_round(base: float) -> bool:
    exponent = np.log10(base)
    return bool(abs(exponent - round(exponent)) < 1e-6)


def _formula_of(rows: np.ndarray) -> tuple[str, float]:
    rates = _turns_of_row_1(rows)
    count = len(rates)
    paper, tensor2tensor = rates[1] ** -count, rates[1] ** (1 - count)
    return ("paper", float(paper)) if _is_round(paper) else ("tensor2tensor", float(tensor2tensor))


def _formula_by_trying(rows: np.ndarray) -> tuple[str, int]:
    rates = _turns_of_row_1(rows)
    for formula in SPACINGS:
        for exponent in EXPONENTS:
            if np.allclose(
                frequencies(2 * len(rates), base=10.0**exponent, spacing=formula), rates, rtol=1e-6
            ):
                return formula, 10**exponent
    raise ValueError("no formula fits")


def _formula_by_the_last(rows: np.ndarray) -> list[Any]:
    rates = _turns_of_row_1(rows)
    base, ratio = 1 / rates[-1], rates[-2] / rates[-1]
    return ["tensor2tensor", base] if _is_round(base) else ["paper", base * ratio]


def _formula_by_slope(rows: np.ndarray) -> tuple[str, float]:
    rates = _turns_of_row_1(rows)
    step = -np.polyfit(np.arange(len(rates)), np.log10(rates), 1)[0]
    exponent = step * len(rates)
    if abs(exponent - round(exponent)) < 1e-4:
        return "Paper", 10.0 ** round(exponent)
    return "Tensor2Tensor", 10.0 ** round(step * (len(rates) - 1))


def _told_otherwise(
    rule: Callable[[str, float, np.ndarray], tuple[str, float]],
) -> Callable[[np.ndarray], Any]:
    """What the rule makes of (the right formula, the right base, the frequencies)."""
    return lambda rows: rule(*_formula_of(rows), _turns_of_row_1(rows))


def _formula_cases(rng: np.random.Generator) -> Iterator[Case]:
    for layout in LAYOUTS:
        for formula in SPACINGS:
            for _ in range(2):
                yield _any_rows(rng, layout, formula)


FORMULA_OF = Exercise(
    id=f"{CHAPTER}.formula_of",
    title="Which formula, which base?",
    signature='formula_of(rows: array of shape (3, dim)) -> ("paper" or "tensor2tensor", the base)',
    step_of=MYSTERY,
    points=3,
    minutes=15,
    difficulty=4,
    reference=lambda rows: _formula_of(rows),
    make_cases=_formula_cases,
    relative_tolerance=1e-4,
    parts=("the formula", "the base"),
    properties=(
        Property(
            lambda args, value: not isinstance(value[0], str) or value[0].strip().lower() in SPACINGS,
            "The first value must be one of the words paper and tensor2tensor.",
            about="form",
        ),
        Property(
            lambda args, value: _is_round(float(value[1])),
            "The base must be a power of ten. If yours is none, it belongs to the other formula.",
        ),
    ),
    mistakes=(
        Mistake(
            "always-the-paper",
            _told_otherwise(lambda formula, base, rates: ("paper", rates[1] ** -len(rates))),
            "Every table was taken for one of the paper's formula, and so some bases are not round numbers. "
            "A base that is no power of ten is the sign that the other formula made the table.",
        ),
        Mistake(
            "always-tensor2tensor",
            _told_otherwise(lambda formula, base, rates: ("tensor2tensor", 1 / rates[-1])),
            "Every table was taken for one of tensor2tensor's, and so some bases are not round numbers. A "
            "base that is no power of ten is the sign that the other formula made the table.",
        ),
        Mistake(
            "formulas-confused",
            _told_otherwise(
                lambda formula, base, rates: ("tensor2tensor" if formula == "paper" else "paper", base)
            ),
            "The bases are right, and the names of the two formulas are confused. With tensor2tensor's the "
            "last frequency is exactly 1/base; the paper's stops one step short of it.",
        ),
        Mistake(
            "base-from-the-last-frequency",
            _told_otherwise(lambda formula, base, rates: (formula, 1 / rates[-1])),
            "The base was taken as 1 over the last frequency. That holds for tensor2tensor's formula; the "
            "paper's stops one step short of 1/base.",
        ),
        Mistake(
            "columns-for-pairs",
            _told_otherwise(lambda formula, base, rates: (formula, base**2)),
            "The base came out squared, as it does where dim steps are counted and not dim/2: a frequency "
            "belongs to each pair of columns.",
        ),
        Mistake(
            "root-of-the-base",
            _told_otherwise(lambda formula, base, rates: (formula, base**0.5)),
            "The base came out as its square root. The exponent of pair i is 2i/dim, with a factor 2.",
        ),
        Mistake(
            "upside-down",
            _told_otherwise(lambda formula, base, rates: (formula, 1 / base)),
            "This is 1 over the base. The frequencies fall, so the base has a negative exponent.",
        ),
        Mistake(
            "exponent",
            _told_otherwise(lambda formula, base, rates: (formula, float(np.log10(base)))),
            "This is the exponent of the base, as a power of ten. Give the base itself: 10000, and not 4.",
        ),
        Mistake(
            "longest-wavelength",
            _told_otherwise(lambda formula, base, rates: (formula, 2 * np.pi * base)),
            "The base is too large by the factor 2 pi: the wavelengths were compared, and these hold it.",
        ),
        Mistake(
            "always-10000",
            _told_otherwise(lambda formula, base, rates: (formula, BASE)),
            "The base was taken as 10000 everywhere. Work it out from the frequencies.",
        ),
    ),
    alternatives=(_formula_by_trying, _formula_by_the_last, _formula_by_slope),
    hints=(
        "At position 1 the angle of a pair is its frequency. `np.arctan2(sine, cosine)` gives the angle; "
        "your `layout_of` says which columns make a pair.",
        "The frequencies fall by the same factor from pair to pair. With dim/2 pairs, that factor is the "
        "base to the power -1/(dim/2) in the paper, and to the power -1/(dim/2 - 1) in tensor2tensor's code.",
        "Solve both for the base. One of the two comes out as a power of ten: test it with `np.log10`, and "
        "leave room for rounding.",
    ),
)


# --- wrong_columns ---------------------------------------------------------------------------

SLIPS = "Find the slip"
CLAIMED_ROW = (0.1411, 0.9553, 0.0300, 1.0000)
"""Position 3 at dim 4, with an exponent of column/dim: the cosines got frequencies of their own."""


def _columns_that_differ() -> np.ndarray:
    right = sinusoidal(np.asarray([3]), 4)[0]
    return np.flatnonzero(np.round(right, 4) != CLAIMED_ROW)


WRONG_COLUMNS = Exercise(
    id=f"{CHAPTER}.wrong_columns",
    title="Spot the wrong columns",
    step_of=SLIPS,
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


# --- bug_lines ---------------------------------------------------------------------------------

BUG_LINES = (10, 13, 17, 8, 19)
"""Of the programs A to E in `solutions/`, the line that holds the slip; the tests run and mend them."""


def _lines_with(**changed: int) -> Callable[[], tuple[int, ...]]:
    """The right lines, but for these programs."""
    lines = dict(zip("abcde", BUG_LINES, strict=True)) | changed
    return lambda: tuple(lines.values())


BUGS = Exercise(
    id=f"{CHAPTER}.bug_lines",
    title="Five programs, five slips",
    step_of=SLIPS,
    signature="bug_lines: five line numbers, those of the programs A to E",
    points=3,
    minutes=15,
    difficulty=3,
    kind="value",
    reference=lambda: BUG_LINES,
    make_cases=_one_value,
    parts=("program A", "program B", "program C", "program D", "program E"),
    mistakes=(
        Mistake(
            "counted-from-0",
            lambda: tuple(line - 1 for line in BUG_LINES),
            "Each of your numbers is one too small: the lines are numbered from 1, as written beside them.",
        ),
        Mistake(
            "loop-of-A",
            _lines_with(a=9),
            "Four are right. In A the loop may well run over every second column; what it does with that "
            "number is the slip, one line further.",
        ),
        Mistake(
            "columns-of-B",
            _lines_with(b=15),
            "Four are right. In B the columns are filled as they should be; what is filled in has the wrong "
            "shape. Print the shape of theta.",
        ),
        Mistake(
            "wavelengths-of-C",
            _lines_with(c=9),
            "Four are right. In C the wavelengths are right, as its first print shows. See what happens to "
            "the turns.",
        ),
        Mistake(
            "exponents-of-D",
            _lines_with(d=7),
            "Four are right. In D the exponents are right: 2i/dim, with i counting pairs. See what is made "
            "of them.",
        ),
        Mistake(
            "table-of-E",
            _lines_with(e=7),
            "Four are right. In E the table is right. See which of its rows reach which token.",
        ),
        Mistake(
            "what-is-printed",
            lambda: (25, 24, 24, 24, 26),
            "These are the lines that show the fault. The slip stands where the wrong numbers are made.",
        ),
    ),
    alternatives=(
        lambda: list(BUG_LINES),
        lambda: np.asarray(BUG_LINES),
        lambda: tuple(float(line) for line in BUG_LINES),
    ),
    hints=(
        "Run each program, and compare what it prints with `posenc_lib.sinusoidal`'s rows: which columns are "
        "wrong, which rows?",
        "A and D have wrong frequencies, B and E have right ones in the wrong places, C has right ones and "
        "the wrong angles.",
        "Print the frequencies of A and D, the shape of theta in B, the first angles in C, and in E which "
        "row of the table each token gets.",
    ),
)

# --- encode_times and forecast: times that are not steps ---------------------------------------

IRREGULAR = "Times that are no steps"
HOURS_TO_2026 = 490_896.0
"""From the start of 1970."""


def _time_angles(times: Any, periods: Any) -> np.ndarray:
    times, periods = np.asarray(times, dtype=np.float64), np.asarray(periods, dtype=np.float64)
    return np.asarray(2 * np.pi * times[:, None] / periods)


def _encode_times(times: Any, periods: Any) -> np.ndarray:
    return np.asarray(_assemble(_time_angles(times, periods)))


def _encode_times_by_loop(times: Any, periods: Any) -> list[list[float]]:
    rows = []
    for time in times:
        row: list[float] = []
        for period in periods:
            angle = 2 * np.pi * (time % period) / period
            row += [float(np.sin(angle)), float(np.cos(angle))]
        rows.append(row)
    return rows


def _encode_times_by_complex(times: Any, periods: Any) -> np.ndarray:
    turned = np.exp(2j * np.pi * np.asarray(times)[:, None] / np.asarray(periods))
    return np.stack([turned.imag, turned.real], axis=-1).reshape(len(times), -1)


def _encode_times_by_columns(times: Any, periods: Any) -> np.ndarray:
    table = np.zeros((len(times), 2 * len(periods)))
    for number, period in enumerate(periods):
        table[:, 2 * number] = np.sin(2 * np.pi / period * times)
        table[:, 2 * number + 1] = np.cos(2 * np.pi / period * times)
    return table


def _irregular(rng: np.random.Generator, count: int, span: float, start: float = 0.0) -> np.ndarray:
    """Times in hours, ascending, with gaps of any size, to a hundredth of an hour."""
    gaps = rng.exponential(size=count)
    return np.asarray(np.round(start + span * np.cumsum(gaps) / gaps.sum(), 2))


def _any_periods(rng: np.random.Generator) -> np.ndarray:
    """Two or three that are no multiples of each other's."""
    return np.round(np.cumprod([rng.uniform(5, 20), *rng.uniform(1.7, 3.3, size=rng.integers(1, 3))]), 1)


def _encode_times_cases(rng: np.random.Generator) -> Iterator[Case]:
    day_and_week = np.asarray([24.0, 168.0])
    yield Case("three hours of a day", (np.asarray([3.0, 13.5, 22.0]), np.asarray([24.0])))
    yield Case("day and week, irregular times", (_irregular(rng, 6, 300), day_and_week))
    yield Case("as many times as columns", (_irregular(rng, 4, 300, -20.5), day_and_week))
    yield Case("hours since 1970", (_irregular(rng, 5, 300, HOURS_TO_2026), day_and_week))
    yield Case("one time alone", (np.asarray([7.25]), day_and_week))
    for _ in range(2):
        yield Case("other periods", (_irregular(rng, 5, 200), _any_periods(rng)))


ENCODE_TIMES = Exercise(
    id=f"{CHAPTER}.encode_times",
    title="Clocks that you choose",
    signature="encode_times(times: shape (n,), periods: shape (m,)) -> array of shape (n, 2m)",
    step_of=IRREGULAR,
    points=2,
    minutes=10,
    difficulty=2,
    reference=lambda times, periods: _encode_times(times, periods),
    make_cases=_encode_times_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), 2 * len(args[1])),
            "There must be a row for each time, and two columns for each period.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[:, 0::2] ** 2 + value[:, 1::2] ** 2, 1, atol=1e-3)),
            "Columns 2i and 2i + 1 must be the sine and the cosine of one angle, so that their squares add "
            "up to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-two-pi",
            lambda times, periods: _assemble(_time_angles(times, periods) / (2 * np.pi)),
            "The factor 2 pi is missing: after one period the hand must have made a whole turn, which is 2 "
            "pi radians.",
        ),
        Mistake(
            "period-for-frequency",
            lambda times, periods: _assemble(2 * np.pi * np.asarray(times)[:, None] * np.asarray(periods)),
            "The times were multiplied by the periods. A long period is a slow clock: divide by it.",
        ),
        Mistake(
            "number-for-time",
            lambda times, periods: _encode_times(np.arange(len(times)), periods),
            "The number of the row was encoded, and not the time. The gaps between these times are of any "
            "size: use the times themselves.",
        ),
        Mistake(
            "counted-from-the-first",
            lambda times, periods: _encode_times(np.asarray(times) - times[0], periods),
            "The times were counted from the first one. Then the same hour looks different in two lists: use "
            "the times as they are.",
        ),
        Mistake(
            "whole-hours",
            lambda times, periods: _encode_times(np.floor(times), periods),
            "The times were cut down to whole hours. The formula takes any real number: leave the fraction "
            "in.",
        ),
        Mistake(
            "wavelengths-of-the-formula",
            lambda times, periods: sinusoidal(np.asarray(times, dtype=np.float64), 2 * len(periods)),
            "These are the waves of the original formula, with base 10000. Here the periods are given: let "
            "each clock make one turn in its period.",
        ),
        Mistake(
            "degrees",
            lambda times, periods: _assemble(_time_angles(times, periods) * 180 / np.pi),
            "The angle is in degrees, 360 for a turn. The sine and the cosine take radians: 2 pi for a turn.",
        ),
        Mistake(
            "halves",
            lambda times, periods: _assemble(_time_angles(times, periods), halves=True),
            "All sines come first and all cosines after them. Here the two of a period must stand side by "
            "side.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            lambda times, periods: _assemble(_time_angles(times, periods), even=np.cos, odd=np.sin),
            "Sine and cosine are swapped: even columns hold the sine, odd columns the cosine.",
        ),
        Mistake(
            "only-sines",
            lambda times, periods: _assemble(_time_angles(times, periods), odd=np.sin),
            "Every column holds a sine. Take the cosine in the odd columns.",
        ),
        Mistake(
            "within-a-day",
            lambda times, periods: _encode_times(np.asarray(times) % 24, periods),
            "The times were cut down to the hour of the day, and the longer clocks lost their days. Use the "
            "times as they are: sine and cosine come round by themselves.",
        ),
    ),
    alternatives=(_encode_times_by_loop, _encode_times_by_complex, _encode_times_by_columns),
    hints=(
        "After one period the hand of a clock has made one whole turn. What is its angle at any time?",
        "The angle is 2 pi times the time, divided by the period. `times[:, None] / periods` makes one for "
        "each time and period, if both are arrays.",
        "The sines go into the even columns of an array of shape (n, 2m), and the cosines into the odd ones.",
    ),
)

Features = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[Any, Any]]


def _read_out(features: Features) -> Callable[..., np.ndarray]:
    """The fixed model on features of (times, later, periods): a linear read-out, by least squares."""

    def forecast(times: np.ndarray, values: np.ndarray, later: np.ndarray, periods: np.ndarray) -> np.ndarray:
        known, asked = (np.asarray(each) for each in features(times, later, np.asarray(periods)))
        return np.asarray(asked @ np.linalg.lstsq(known, values, rcond=None)[0])

    return forecast


def _and_one(table: Any) -> np.ndarray:
    table = np.asarray(table)
    return np.column_stack([table, np.ones(len(table))])


def _each(encode: Callable[[np.ndarray, np.ndarray], Any]) -> Features:
    """Features that see one time at a time, and the constant."""
    return lambda times, later, periods: (_and_one(encode(times, periods)), _and_one(encode(later, periods)))


_forecast = _read_out(_each(_encode_times))


def _forecast_by_normal_equations(times: Any, values: Any, later: Any, periods: Any) -> Any:
    known, asked = (np.insert(_encode_times(each, periods), 0, 1.0, axis=1) for each in (times, later))
    return asked @ np.linalg.solve(known.T @ known, known.T @ values)


def _forecast_from_the_first(times: Any, values: Any, later: Any, periods: Any) -> Any:
    return _forecast(times - times[0], values, later - times[0], periods)


def _forecast_with_overtones(times: Any, values: Any, later: Any, periods: Any) -> Any:
    """More clocks than needed do no harm where nothing is noise."""
    more = np.append(periods, periods[0] / 2)
    return _forecast(times, values, later, more)


def _rhythms(rng: np.random.Generator, times: np.ndarray, later: np.ndarray, periods: Any) -> tuple[Any, ...]:
    """A constant, and a wave of its own for each period."""
    weights, level = rng.uniform(-3, 3, size=2 * len(periods)), rng.uniform(5, 15)
    return times, level + _encode_times(times, periods) @ weights, later, np.asarray(periods)


def _forecast_cases(rng: np.random.Generator) -> Iterator[Case]:
    def drawn(periods: Any, *, start: float = 0.0, gap: float = 1.0) -> tuple[Any, ...]:
        span = 4.0 * float(max(periods))
        times = _irregular(rng, 12 * len(periods) + 12, span, start)
        later = _irregular(rng, 5, span / 3, times[-1] + gap * span / 10)
        return _rhythms(rng, times, later, periods)

    yield Case("a rhythm of a day", drawn([24.0]))
    yield Case("day and week", drawn([24.0, 168.0]))
    yield Case("day and week, half a year ahead", drawn([24.0, 168.0], gap=60.0))
    yield Case("day and week, in hours since 1970", drawn([24.0, 168.0], start=HOURS_TO_2026))
    times, _, later, periods = drawn([24.0, 168.0], start=50.0)
    yield Case("the time before the first one", _rhythms(rng, times, later - 900.0, periods))
    for _ in range(3):
        yield Case("other periods", drawn(_any_periods(rng)))


FORECAST = Exercise(
    id=f"{CHAPTER}.forecast",
    title="Let a fixed model win",
    signature="forecast(times: (n,), values: (n,), later: (k,), periods: (m,)) -> array of shape (k,)",
    step_of=IRREGULAR,
    points=3,
    minutes=12,
    difficulty=3,
    reference=lambda times, values, later, periods: _forecast(times, values, later, periods),
    make_cases=_forecast_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[2]),
            "There must be one value for each of the later times.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "no-constant",
            _read_out(
                lambda times, later, periods: (_encode_times(times, periods), _encode_times(later, periods))
            ),
            "The model was given waves and no constant, so what it says swings about 0. Put a column of ones "
            "beside the encoding.",
        ),
        Mistake(
            "number-for-time",
            _read_out(
                lambda times, later, periods: (
                    _and_one(_encode_times(np.arange(len(times)), periods)),
                    _and_one(_encode_times(len(times) + np.arange(len(later)), periods)),
                )
            ),
            "The measurements were numbered 0, 1, 2, ..., as if they stood one step apart. They do not: "
            "encode their times.",
        ),
        Mistake(
            "time-as-it-is",
            _read_out(_each(lambda times, periods: times[:, None])),
            "The model was given the time itself, and could only draw a straight line through the values. "
            "Give it the sines and cosines.",
        ),
        Mistake(
            "time-within-the-period",
            _read_out(_each(lambda times, periods: times[:, None] % periods)),
            "The model was given the time within each period, which jumps back to 0. A straight line over "
            "the day is not a wave: take the sine and the cosine.",
        ),
        Mistake(
            "wavelengths-of-the-formula",
            _read_out(_each(lambda times, periods: sinusoidal(times, 2 * len(periods)))),
            "The times were encoded with the wavelengths of the original formula. None of them is the period "
            "of these values: let the clocks turn once in each period.",
        ),
        Mistake(
            "no-two-pi",
            _read_out(_each(lambda times, periods: _encode_times(times, 2 * np.pi * periods))),
            "The clocks are too slow by a factor 2 pi: in one period they must make a whole turn.",
        ),
        Mistake(
            "only-sines",
            _read_out(_each(lambda times, periods: np.sin(_time_angles(times, periods)))),
            "With sines alone, every wave passes its middle at time 0. The cosines are needed to put its "
            "crest at any hour.",
        ),
        Mistake(
            "each-from-its-own-first",
            _read_out(
                lambda times, later, periods: (
                    _and_one(_encode_times(times - times[0], periods)),
                    _and_one(_encode_times(later - later[0], periods)),
                )
            ),
            "The known and the later times were each counted from their own first one, so the clocks were "
            "set back in between. Encode both from the same zero.",
        ),
        Mistake(
            "first-period-alone",
            _read_out(_each(lambda times, periods: _encode_times(times, periods[:1]))),
            "Only the first period was encoded. Give the model two columns for each period.",
        ),
        Mistake(
            "last-period-alone",
            _read_out(_each(lambda times, periods: _encode_times(times, periods[-1:]))),
            "Only the last period was encoded. Give the model two columns for each period.",
        ),
        Mistake(
            "mean",
            lambda times, values, later, periods: np.full(len(later), np.mean(values)),
            "This is the mean of the known values, whatever the time. Encode the later times, and let the "
            "weights read them.",
        ),
        Mistake(
            "between-neighbours",
            lambda times, values, later, periods: np.interp(later, times, values),
            "The values were interpolated, and beyond the last one that only repeats it. Fit the weights on "
            "the encoded times, and use them on the encoded later times.",
        ),
        Mistake(
            "only-cosines",
            _read_out(_each(lambda times, periods: np.cos(_time_angles(times, periods)))),
            "With cosines alone, every wave has its crest or its trough at time 0. The sines are needed to "
            "put it at any hour.",
        ),
        Mistake(
            "whole-hours",
            _read_out(_each(lambda times, periods: _encode_times(np.floor(times), periods))),
            "The times were cut down to whole hours. The formula takes any real number: leave the fraction "
            "in.",
        ),
        Mistake(
            "mean-not-given-back",
            lambda times, values, later, periods: _forecast(times, values - np.mean(values), later, periods),
            "The mean was taken off the values and not added again, so the forecast swings about 0.",
        ),
    ),
    alternatives=(_forecast_by_normal_equations, _forecast_from_the_first, _forecast_with_overtones),
    hints=(
        "The model is `fit(features, values)`: it gives one weight for each column of the features. What it "
        "says of other features is `features @ weights`.",
        "Encode `times`, fit the weights, encode `later` in the same way, and multiply.",
        "The values swing about a level that is not 0. A column of ones beside the encoding lets the model "
        "say so: `np.column_stack([table, np.ones(len(table))])`.",
    ),
)


# --- embed and add_positions: the decoder's input ----------------------------------------------

INPUT = "Tokens to vectors"


def _words(rng: np.random.Generator, vocabulary: int, dim: int) -> np.ndarray:
    return np.asarray(rng.normal(size=(vocabulary, dim)))


def _embed_cases(rng: np.random.Generator) -> Iterator[Case]:
    for label, shape, vocabulary, dim in (
        ("3 tokens of 5 words, dim 4", (3,), 5, 4),
        ("as many tokens as words, dim 6", (4,), 4, 6),
        ("2 sequences of 6 tokens, dim 8", (2, 6), 30, 8),
        ("one token, dim 2", (1,), 7, 2),
        ("a sequence longer than the vocabulary, dim 16", (20,), 9, 16),
        ("axes (2, 3, 4) of tokens, dim 10", (2, 3, 4), 12, 10),
    ):
        yield Case(label, (rng.integers(1, vocabulary, size=shape), _words(rng, vocabulary, dim)))


def _embed(tokens: Any, embedding: Any) -> np.ndarray:
    return np.asarray(np.asarray(embedding)[np.asarray(tokens)] * np.sqrt(np.shape(embedding)[1]))


def _embed_by_one_hot(tokens: np.ndarray, embedding: np.ndarray) -> np.ndarray:
    chosen = tokens[..., None] == np.arange(len(embedding))
    return np.asarray(embedding.shape[-1] ** 0.5 * (chosen @ embedding))


def _embed_by_loop(tokens: np.ndarray, embedding: np.ndarray) -> list[Any]:
    if tokens.ndim > 1:
        return [_embed_by_loop(each, embedding) for each in tokens]
    return [[float(x) * embedding.shape[1] ** 0.5 for x in embedding[token]] for token in tokens]


def _embed_with(rule: Callable[[np.ndarray, np.ndarray], Any]) -> Callable[[Any, Any], Any]:
    """What the rule makes of (the rows looked up, the embedding)."""
    return lambda tokens, embedding: rule(np.asarray(embedding)[np.asarray(tokens)], np.asarray(embedding))


EMBED = Exercise(
    id=f"{CHAPTER}.embed",
    title="Look up and scale",
    signature="embed(tokens: shape (..., n), embedding: shape (vocabulary, dim)) -> shape (..., n, dim)",
    step_of=INPUT,
    points=1,
    minutes=6,
    difficulty=2,
    reference=lambda tokens, embedding: _embed(tokens, embedding),
    make_cases=_embed_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (*np.shape(args[0]), np.shape(args[1])[1]),
            "Each token must become a vector of dim numbers; the axes of the tokens stay in front.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "no-scale",
            _embed_with(lambda rows, embedding: rows),
            "The rows are those of the tokens, and they were not scaled. Multiply them by the square root of "
            "dim.",
        ),
        Mistake(
            "divided",
            _embed_with(lambda rows, embedding: rows / np.sqrt(embedding.shape[1])),
            "The rows were divided by the square root of dim. Multiply them by it: the division belongs to "
            "the scores of attention.",
        ),
        Mistake(
            "scaled-by-dim",
            _embed_with(lambda rows, embedding: rows * embedding.shape[1]),
            "The rows were multiplied by dim. Take its square root.",
        ),
        Mistake(
            "scaled-by-half-dim",
            _embed_with(lambda rows, embedding: rows * np.sqrt(embedding.shape[1] / 2)),
            "The rows were multiplied by the square root of dim/2, which is the norm of the encoding. The "
            "factor is the square root of dim.",
        ),
        Mistake(
            "root-of-the-vocabulary",
            _embed_with(lambda rows, embedding: rows * np.sqrt(len(embedding))),
            "The factor is the square root of the number of words. Take the width of the embedding, which is "
            "its second axis.",
        ),
        Mistake(
            "place-for-token",
            lambda tokens, embedding: np.broadcast_to(
                embedding[np.arange(np.shape(tokens)[-1]) % len(embedding)] * np.sqrt(np.shape(embedding)[1]),
                (*np.shape(tokens), np.shape(embedding)[1]),
            ),
            "The rows were taken by the place in the sequence, and not by the token that stands there. Index "
            "the embedding with the tokens.",
        ),
        Mistake(
            "tokens-from-1",
            lambda tokens, embedding: _embed(np.asarray(tokens) - 1, embedding),
            "The tokens were counted from 1, so each got the row before its own. Token 0 has row 0.",
        ),
        Mistake(
            "unit-length",
            _embed_with(lambda rows, embedding: rows / np.linalg.norm(rows, axis=-1, keepdims=True)),
            "Each row was made to have length 1. Leave the lengths that were learned, and multiply by the "
            "square root of dim.",
        ),
        Mistake(
            "root-of-the-length",
            lambda tokens, embedding: embedding[np.asarray(tokens)] * np.sqrt(np.shape(tokens)[-1]),
            "The factor is the square root of the number of tokens. Take the width of the embedding, which "
            "is its second axis.",
        ),
    ),
    alternatives=(
        _embed_by_one_hot,
        _embed_by_loop,
        lambda tokens, embedding: _embed(tokens, embedding).tolist(),
    ),
    hints=(
        "An array of whole numbers can index the rows of another array: `embedding[tokens]`.",
        "The width is `embedding.shape[1]`. Multiply by its square root.",
    ),
)


def _positions_cases(rng: np.random.Generator) -> Iterator[Case]:
    for label, shape, start in (
        ("5 tokens, dim 8", (5, 8), 0),
        ("4 sequences of 3 tokens, dim 6", (4, 3, 6), 0),
        ("as many sequences as tokens, dim 4", (3, 3, 4), 0),
        ("one token at position 7, dim 4", (1, 4), 7),
        ("2 sequences of 3 tokens, from position 12", (2, 3, 6), 12),
        ("40 tokens, dim 16", (40, 16), 0),
        ("axes (2, 2) of sequences, from position 5", (2, 2, 6, 8), 5),
        ("vectors of zeros", (2, 4, 8), int(rng.integers(1, 400))),
    ):
        x = np.zeros(shape) if label == "vectors of zeros" else rng.normal(size=shape)
        yield Case(label, (x, start))


def _added(rule: Callable[[np.ndarray, np.ndarray, int], Any]) -> Callable[[Any, int], Any]:
    """What the rule makes of (x, the encoding of its positions, start)."""

    def answer(x: Any, start: int) -> Any:
        x = np.asarray(x, dtype=np.float64)
        return rule(x, sinusoidal(start + np.arange(x.shape[-2]), x.shape[-1]), start)

    return answer


def _add_positions_by_loop(x: np.ndarray, start: int) -> np.ndarray:
    out = np.array(x, dtype=np.float64)
    for place in range(out.shape[-2]):
        out[..., place, :] += _row_by_columns(start + place, out.shape[-1])
    return out


def _add_positions_to_each(x: np.ndarray, start: int) -> Any:
    if x.ndim > 2:
        return np.stack([_add_positions_to_each(each, start) for each in x])
    return _table(np.arange(start, start + len(x)), x.shape[1]) + x


def _add_positions_cut_from_a_table(x: np.ndarray, start: int) -> Any:
    count, dim = x.shape[-2:]
    return x + _table_by_phase(np.arange(start + count), dim)[start:]


ADD_POSITIONS = Exercise(
    id=f"{CHAPTER}.add_positions",
    title="Add the positions",
    signature="add_positions(x: array of shape (..., n, dim), start: int) -> array of the same shape",
    step_of=INPUT,
    adds="Your decoder gets its input: tokens become vectors, and each vector carries its position.",
    points=3,
    minutes=10,
    difficulty=3,
    reference=_added(lambda x, table, start: x + table),
    make_cases=_positions_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay as it is: a vector is added to each token, nothing is appended.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.any(args[0])) or bool(np.allclose(value[0], value[-1])),
            "All sequences of a batch must get the same encoding: vectors of zeros must come out alike.",
        ),
    ),
    mistakes=(
        Mistake(
            "start-ignored",
            _added(lambda x, table, start: x + sinusoidal(x.shape[-2], x.shape[-1])),
            "The positions begin at 0, whatever start is. The first token stands at position start, the next "
            "at start + 1, and so on.",
        ),
        Mistake(
            "start-for-all",
            _added(lambda x, table, start: x + table[0]),
            "Every token got the encoding of position start. Only the first one stands there: count on from "
            "it.",
        ),
        Mistake(
            "start-as-a-step",
            _added(
                lambda x, table, start: x + sinusoidal(np.arange(x.shape[-2]) * max(start, 1), x.shape[-1])
            ),
            "The positions were multiplied by start. Add it: they run start, start + 1, start + 2, ...",
        ),
        Mistake(
            "positions-along-the-first-axis",
            _added(
                lambda x, table, start: (
                    x
                    + sinusoidal(start + np.arange(x.shape[0]), x.shape[-1]).reshape(
                        x.shape[0], *[1] * (x.ndim - 2), x.shape[-1]
                    )
                )
            ),
            "The positions run along the first axis, so in a batch all tokens of one sequence got the same "
            "encoding. Tokens are counted along the axis before the last.",
        ),
        Mistake(
            "positions-from-1",
            _added(lambda x, table, start: x + sinusoidal(1 + start + np.arange(x.shape[-2]), x.shape[-1])),
            "Every position is one too high: the first token stands at position start.",
        ),
        Mistake(
            "no-positions",
            _added(lambda x, table, start: x),
            "Nothing was added. Add the encoding of positions start to start + n - 1.",
        ),
        Mistake(
            "scaled-again",
            _added(lambda x, table, start: x * np.sqrt(x.shape[-1]) + table),
            "The vectors were multiplied by the square root of dim once more. That was done when the tokens "
            "were looked up.",
        ),
        Mistake(
            "sum-scaled",
            _added(lambda x, table, start: (x + table) * np.sqrt(x.shape[-1])),
            "The sum was multiplied by the square root of dim. The scale belongs to the words alone, and was "
            "done when they were looked up.",
        ),
        Mistake(
            "encoding-scaled",
            _added(lambda x, table, start: x + table * np.sqrt(x.shape[-1])),
            "The encoding was multiplied by the square root of dim. The scale belongs to the words, and was "
            "done when they were looked up.",
        ),
        Mistake(
            "concatenated",
            _added(lambda x, table, start: np.concatenate([x, np.broadcast_to(table, x.shape)], axis=-1)),
            "The encoding was put beside the vectors, which doubles the width. Add the two.",
        ),
        Mistake(
            "multiplied",
            _added(lambda x, table, start: x * table),
            "The vectors were multiplied with the encoding. Add the two.",
        ),
        Mistake(
            "halves",
            _added(
                lambda x, table, start: (
                    x + sinusoidal(start + np.arange(x.shape[-2]), x.shape[-1], layout="split")
                )
            ),
            "The encoding has all sines first and all cosines after them. Use the interleaved layout, which "
            "is the library's default.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            _added(lambda x, table, start: x + _paired(table[:, 1::2], table[:, 0::2])),
            "Sine and cosine are swapped in the encoding: even columns hold the sine, odd ones the cosine.",
        ),
        Mistake(
            "number-of-the-position",
            _added(lambda x, table, start: x + (start + np.arange(x.shape[-2]))[:, None]),
            "The number of the position was added to every column. Add its encoding, the row of sines and "
            "cosines.",
        ),
        Mistake(
            "subtracted",
            _added(lambda x, table, start: x - table),
            "The encoding was taken away. Add it.",
        ),
    ),
    alternatives=(_add_positions_by_loop, _add_positions_to_each, _add_positions_cut_from_a_table),
    lends=("sinusoidal",),
    hints=(
        "Read n and dim off `x.shape`: they are its last two numbers, whatever stands in front.",
        "`posenc_lib.sinusoidal(positions, dim)` takes an array of positions and gives one row for each. "
        "Which positions are these, from `start` on?",
        "`np.arange(start, start + n)`. A table of shape (n, dim) added to an array of shape (..., n, dim) "
        "is used for every sequence.",
    ),
)

EXERCISES = (
    FREQUENCIES,
    LONGEST_WAVELENGTH,
    SMALLEST_DIM,
    ENCODE,
    SINUSOIDAL,
    TO_SPLIT,
    WRONG_COLUMNS,
    BUGS,
    LAYOUT_OF,
    FORMULA_OF,
    ROW_OF_SUM,
    TABLE_FROM_ROW_ONE,
    DISTANCES,
    WORST_PAIR,
    ENCODE_TIMES,
    FORECAST,
    EMBED,
    ADD_POSITIONS,
)
