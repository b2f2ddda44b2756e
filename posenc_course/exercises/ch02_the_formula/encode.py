"""The whole table: One row, by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import (
    ANY_REAL_POSITION,
    BASE,
    ON_THE_CIRCLE,
    TABLE,
    TABLE_SLIPS,
    assemble,
    row_by_columns,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies


def _row(position: float, dim: int) -> Any:
    return sinusoidal(np.asarray(position, dtype=np.float64), dim)


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
    return assemble(np.float32(position) * rates)


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


def _as_many_digits_as_there_are(args: tuple[Any, ...], value: Any) -> bool:
    given, right = np.asarray(value, dtype=np.float64), np.asarray(_row(*args))
    wrong = given != right
    off = [np.abs(given - np.round(right, digits)) for digits in (1, 2, 3, 4)]
    # What is close enough is given as exactly right: of a rounded row, it has few digits as well.
    rounded = any((each[wrong] < 1e-9).all() and (each < 1e-4).all() for each in off)
    return not (wrong.any() and rounded)


ENCODE = Exercise(
    id="02-the-formula.encode",
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
        ON_THE_CIRCLE,
        *ANY_REAL_POSITION,
        Property(
            _as_many_digits_as_there_are,
            "These are the right numbers, rounded to a few digits. Return them as they come.",
        ),
    ),
    mistakes=tuple(Mistake(name, answer, message) for name, answer, message in TABLE_SLIPS),
    alternatives=(row_by_columns, _row_by_pairs, _row_by_complex, _row_in_float32),
    hints=(
        "Work in pairs: for each i from 0 to dim/2 - 1 there is one angle, and two numbers made of it.",
        "The angle of pair i is `position / 10000 ** (2 * i / dim)`.",
        "Start with an empty list. For each i, append `math.sin(angle)` and then `math.cos(angle)`.",
    ),
)
