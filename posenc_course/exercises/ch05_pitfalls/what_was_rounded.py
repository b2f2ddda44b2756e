"""What was rounded?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib._arrays import Array
from posenc_lib.angles import frequencies

_ROUNDED = ("nothing", "positions", "frequencies", "table")


def _to_bfloat16(numbers: Array) -> Array:
    """The nearest numbers of eight significant bits; of two as near, the one that ends in 0."""
    significand, exponent = np.frexp(np.asarray(numbers, dtype=np.float64))
    return np.ldexp(np.round(significand * 256) / 256, exponent)


def _rounded_table(positions: Array, dim: int, rounded: str) -> Array:
    at, rates = np.asarray(positions, dtype=np.float64), frequencies(dim)
    at = _to_bfloat16(at) if rounded == "positions" else at
    rates = _to_bfloat16(rates) if rounded == "frequencies" else rates
    theta = np.outer(at, rates)
    table = np.stack([np.sin(theta), np.cos(theta)], axis=-1).reshape(len(at), dim)
    return _to_bfloat16(table) if rounded == "table" else table


def _depends_on_the_way(positions: Array, dim: int) -> bool:
    """Whether PyTorch, which rounds to float32 first, rounds a number of the table another way."""
    exact = _rounded_table(positions, dim, "nothing")
    return bool((_to_bfloat16(exact) != _to_bfloat16(exact.astype(np.float32))).any())


SIZE_TELLS_NOTHING = (
    ("positions", 8, 7250, 64),
    ("frequencies", 24, 4500, 64),
    ("positions", 16, 7750, 64),
    ("frequencies", 8, 2000, 64),
)
"""Errors of 1.938, 1.9997, 1.9998 and 0.2: no bound between them tells positions from frequencies."""


def _rounded_cases(rng: Generator) -> Iterator[Case]:
    drawn = (
        (rounded, 2 * int(rng.integers(4, 17)), int(rng.integers(2000, 9000)), int(rng.integers(60, 80)))
        for rounded in enough_of_each(rng, *([each] for each in _ROUNDED))
    )
    for rounded, dim, start, rows in (*drawn, *SIZE_TELLS_NOTHING):
        while rounded == "table" and _depends_on_the_way(np.arange(start, start + rows), dim):
            start -= 1
        positions = np.arange(start, start + rows)
        table = _rounded_table(positions, dim, rounded)
        yield Case(f"dim {dim}, from position {start:,}", (positions, table))


def _exact_rows(positions: Array, table: Array) -> Array:
    return _rounded_table(positions, table.shape[1], "nothing")


def _some_rows_equal(table: Array) -> bool:
    return bool((np.abs(np.diff(table, axis=0)).max(axis=1) < 1e-9).any())


def _what_was_rounded(positions: Array, table: Array) -> str:
    error = np.abs(table - _exact_rows(positions, table)).max()
    if error < 1e-6:
        return "nothing"
    if error < 0.01:
        return "table"
    return "positions" if _some_rows_equal(table) else "frequencies"


def _rounded_by_trying(positions: Array, table: Array) -> str:
    errors = [np.abs(table - _rounded_table(positions, table.shape[1], each)).max() for each in _ROUNDED]
    return _ROUNDED[int(np.argmin(errors))]


def _rounded_by_steps(positions: Array, table: Array) -> str:
    """A step is a turn: of the same size everywhere, unless positions were rounded."""
    pairs = table[:, 0::2] + 1j * table[:, 1::2]
    if np.abs(np.abs(pairs) - 1).max() > 1e-6:
        return "table"  # rounded numbers are off the circle
    turns = np.angle(pairs[1:] / pairs[:-1])[:, 1:]
    if np.ptp(turns, axis=0).max() > 1e-6:
        return "positions"
    return "nothing" if np.allclose(table, _exact_rows(positions, table), atol=1e-6) else "frequencies"


def _rounded_by_digits(positions: Array, table: Array) -> str:
    if np.array_equal(_to_bfloat16(table), table):
        return "table"
    if len(np.unique(table.round(9), axis=0)) < len(table):
        return "positions"
    right = np.allclose(table, _exact_rows(positions, table), atol=1e-6)
    return "nothing" if right else "frequencies"


def _right_about(rounded: str) -> Callable[[tuple[Array, Array], str], bool]:
    """Whether this is not taken for another one."""
    return lambda args, value: (
        _what_was_rounded(*args) != rounded or value == rounded or value not in _ROUNDED
    )


WHAT_WAS_ROUNDED = Exercise(
    id="05-pitfalls.what_was_rounded",
    title="What was rounded?",
    signature="what_was_rounded(positions: whole numbers of shape (n,), table: array of shape (n, dim)) "
    '-> "nothing", "positions", "frequencies" or "table"',
    points=3,
    minutes=15,
    difficulty=3,
    reference=_what_was_rounded,
    make_cases=_rounded_cases,
    properties=(
        Property(lambda args, value: value in _ROUNDED, "Return one of the four words.", about="form"),
        Property(
            _right_about("nothing"),
            "Every number of this table is right to nine digits. Do you compare with the interleaved layout, "
            "and at these positions?",
        ),
        Property(
            _right_about("table"),
            "In this table every number is off a little, by 0.002 at the most: that is what rounding does to "
            "numbers between -1 and 1. Compare it with the exact table before anything else.",
        ),
        Property(
            _right_about("positions"),
            "In this table some neighbours have the very same row, and other rows are far from the exact "
            "ones: positions were lost. How large the error is does not tell you that.",
        ),
        Property(
            _right_about("frequencies"),
            "In this table rows are far from the exact ones, and no two neighbours share a row, so no "
            "position was lost. How large the error is does not tell you that.",
        ),
    ),
    mistakes=(
        Mistake(
            "any-error-is-the-table",
            lambda positions, table: (
                "table" if np.abs(table - _exact_rows(positions, table)).max() > 1e-6 else "nothing"
            ),
            "You blame the table for every error. Rounding moves a number between -1 and 1 by 0.002 at the "
            "most: how large is the error?",
        ),
        Mistake(
            "any-error-is-the-positions",
            lambda positions, table: (
                "positions" if np.abs(table - _exact_rows(positions, table)).max() > 1e-6 else "nothing"
            ),
            "You blame the positions for every error. Where positions were rounded, some neighbours have the "
            "same row: check that.",
        ),
        Mistake(
            "large-error-is-the-positions",
            lambda positions, table: _instead(positions, table, "frequencies", "positions"),
            "You recognise a rounded table. But large errors have two causes: do some neighbours share a "
            "row, or does each have its own?",
        ),
        Mistake(
            "large-error-is-the-frequencies",
            lambda positions, table: _instead(positions, table, "positions", "frequencies"),
            "You tell small errors from large ones. But not all large ones come from the frequencies: in "
            "some of these tables, neighbours have the very same row.",
        ),
        Mistake(
            "positions-and-frequencies-confused",
            lambda positions, table: {"positions": "frequencies", "frequencies": "positions"}.get(
                _what_was_rounded(positions, table), _what_was_rounded(positions, table)
            ),
            "You confuse positions with frequencies. Which of the two makes neighbours equal, and which "
            "makes clocks run at another speed?",
        ),
        Mistake(
            "table-not-noticed",
            lambda positions, table: _instead(positions, table, "table", "nothing"),
            "You take a table whose numbers were rounded for exact. Its error is small, but much larger than "
            "what float64 leaves.",
        ),
        Mistake(
            "table-for-frequencies",
            lambda positions, table: _instead(positions, table, "table", "frequencies"),
            "You take a table whose numbers were rounded for one with other frequencies. How large is the "
            "error? In a rounded table it is small everywhere.",
        ),
        Mistake(
            "frequencies-not-noticed",
            lambda positions, table: _instead(positions, table, "frequencies", "nothing"),
            "You take a table with other frequencies for exact. All its neighbours differ, as they should, "
            "but the rows are those of other clocks: compare every column with the exact table.",
        ),
    ),
    alternatives=(_rounded_by_trying, _rounded_by_steps, _rounded_by_digits),
    lends=("sinusoidal",),
    hints=(
        "Compare with the exact table, `posenc_lib.sinusoidal(positions, dim)`. How large is the largest "
        "error?",
        "A rounded number between -1 and 1 is off by 0.002 at most. A larger error has another cause.",
        "bfloat16 skips positions from 257 on. So look for two neighbours with the same row: that is what "
        "`np.diff(table, axis=0)` shows.",
    ),
)


def _instead(positions: Array, table: Array, found: str, said: str) -> str:
    right = _what_was_rounded(positions, table)
    return said if right == found else right
