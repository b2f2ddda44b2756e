"""Trigonometry in row 1 only: The whole table from one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import (
    ROW_ONE,
    Row,
    _halves,
    by_parts,
    clock_hands,
    paired,
    parted,
    row_of_sum,
)
from posenc_course.exercises.ch02_the_formula.sinusoidal import _table
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal


def _table_by_sums(rule: Row, *, first: Any = None) -> Callable[[np.ndarray, int], np.ndarray]:
    """Each row from the one before it and row 1."""

    def table(row: np.ndarray, length: int) -> np.ndarray:
        rows = [clock_hands(*np.zeros(len(row) // 2)) if first is None else first(row)]
        while len(rows) < length:
            rows.append(np.asarray(rule(rows[-1], row)))
        return np.stack(rows)

    return table


def _table_by_doubling(row: np.ndarray, length: int) -> np.ndarray:
    """Rows 0 to 2n - 1 from rows 0 to n - 1: each is moved on by n."""
    step = np.asarray(row)
    table = clock_hands(np.zeros(len(row) // 2))
    while len(table) < length:
        moved = row_of_sum(table, np.broadcast_to(step, table.shape))
        table, step = np.concatenate([table, moved]), row_of_sum(step, step)
    return table[:length]


def _table_by_powers(row: np.ndarray, length: int) -> np.ndarray:
    turned = (row[1::2] + 1j * row[0::2]) ** np.arange(length)[:, None]
    return paired(turned.imag, turned.real)


def _table_by_angles(row: np.ndarray, length: int) -> np.ndarray:
    theta = np.arange(length)[:, None] * np.arctan2(row[0::2], row[1::2])
    return paired(np.sin(theta), np.cos(theta))


def _table_by_chebyshev(row: np.ndarray, length: int) -> Any:
    """sin((k + 1) a) = 2 cos a sin(k a) - sin((k - 1) a), and the same of the cosine."""
    rows = [clock_hands(*np.zeros(len(row) // 2)), np.asarray(row)]
    twice = 2 * np.repeat(row[1::2], 2)
    while len(rows) < length:
        rows.append(twice * rows[-1] - rows[-2])
    return rows[:length]


def _from_angles(
    angles_of: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Callable[[np.ndarray, int], Any]:
    return lambda row, length: clock_hands(*(k * angles_of(*parted(row)) for k in range(length)))


def _doubled_each_time(row: np.ndarray, length: int) -> np.ndarray:
    rows = [clock_hands(*np.zeros(len(row) // 2)), np.asarray(row)]
    while len(rows) < length:
        rows.append(row_of_sum(rows[-1], rows[-1]))
    return np.stack(rows[:length])


def _row_one_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("row 1 at width 4, 3 rows", (_table(np.arange(2), 4)[1], 3))
    yield Case("row 1 at width 16, 20 rows", (_table(np.arange(2), 16)[1], 20))
    yield Case("length 1: row 0 alone", (_table(np.arange(2), 6)[1], 1))
    yield Case("length 2", (clock_hands(2.5, -0.4), 2))
    yield Case("one clock that runs backwards, 9 rows", (clock_hands(-1.9), 9))
    for length in (5, int(rng.integers(6, 12)), int(rng.integers(15, 25))):
        dim = int(2 * rng.integers(2, 9))
        row = clock_hands(*rng.uniform(-np.pi, np.pi, size=dim // 2))
        yield Case(f"clocks of any speed, width {dim}, length {length}", (row, length))


TABLE_FROM_ROW_ONE = Exercise(
    id="02-the-formula.table_from_row_one",
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
            _table_by_sums(row_of_sum, first=np.asarray),
            "The table begins at position 1. Its first row is that of position 0, where every hand is at "
            "twelve o'clock: 0, 1, 0, 1, ...",
        ),
        Mistake(
            "begins-with-zeros",
            _table_by_sums(row_of_sum, first=np.zeros_like),
            "All rows are zeros, because the first one is. At position 0 the sines are 0, and "
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
            "Each number was raised to the power of the position. That works for a pair taken as one "
            "complex number, cosine + i sine, but not for the sine and the cosine by themselves.",
        ),
        Mistake(
            "doubled-each-time",
            _doubled_each_time,
            "Each row was added to itself, so the positions run 0, 1, 2, 4, 8, ... Add row 1 to the row "
            "before, each time.",
        ),
        Mistake(
            "plus-in-the-cosine",
            _table_by_sums(by_parts(lambda sa, ca, sb, cb: (sa * cb + ca * sb, ca * cb + sa * sb))),
            "The cosine of a sum has a minus: cos a cos b - sin a sin b. Here it has a plus.",
        ),
        Mistake(
            "backwards",
            _table_by_sums(by_parts(lambda sa, ca, sb, cb: (sa * cb - ca * sb, ca * cb + sa * sb))),
            "The positions run backwards: 0, -1, -2, ... Each step must add the angle of row 1, and not take "
            "it away.",
        ),
        Mistake(
            "row-1-again-and-again",
            lambda row, length: np.concatenate(
                [clock_hands(np.zeros(len(row) // 2)), np.tile(row, (length - 1, 1))]
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
            "angle-from-the-quotient",
            _from_angles(lambda sines, cosines: np.arctan(sines / cosines)),
            "The angle was taken from sine / cosine with np.arctan, which cannot tell an angle from the one "
            "half a turn further. np.arctan2(sine, cosine) can; or add angles without ever asking for one.",
        ),
        Mistake(
            "halves",
            _table_by_sums(_halves(row_of_sum), first=lambda row: np.repeat([0.0, 1.0], len(row) // 2)),
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
        _table_by_sums(row_of_sum),
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
