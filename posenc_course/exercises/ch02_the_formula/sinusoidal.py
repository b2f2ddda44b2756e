"""The whole table: All rows at once."""

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
    row_by_columns,
    table_by_phase,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import BASIC, Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies

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
        ("negative whole positions, dim 8", np.asarray([-3, 0, 2, -1]), 8),
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
    return [row_by_columns(float(position), dim) for position in positions]


def _table_by_complex(positions: np.ndarray, dim: int) -> np.ndarray:
    turned = np.exp(1j * np.outer(positions, frequencies(dim)))
    table = np.zeros((positions.size, dim))
    table[:, ::2] = turned.imag
    table[:, 1::2] = turned.real
    return table


def _table_cast_last(positions: np.ndarray, dim: int) -> np.ndarray:
    return table_by_phase(positions, dim).astype(np.float32)


def _table_of_integers(positions: np.ndarray, dim: int) -> Any:
    return _table(positions, dim).astype(np.asarray(positions).dtype)


def _far_is_exact(args: tuple[Any, ...], value: Any) -> bool:
    """False only where far positions are nearly right, as they are with angles in float32."""
    positions, dim = args
    far = np.abs(positions) >= FAR
    error = np.abs(np.asarray(value, dtype=np.float64) - _table(positions, dim))[far]
    return not (error.size and 1e-4 < error.max() < 0.2)


SINUSOIDAL = Exercise(
    id="02-the-formula.sinusoidal",
    title="All rows at once",
    step_of=TABLE,
    signature="sinusoidal(positions: array of shape (n,), dim: int) -> array of shape (n, dim)",
    points=4,
    minutes=10,
    difficulty=3,
    draws=Draws(
        lambda sinusoidal, rows, columns: heat_map(sinusoidal(np.arange(60), 64), rows=rows, columns=columns),
        axes=("position", "column"),
        look="The waves on the left are fast. Towards the right they get slower and slower.",
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
        ON_THE_CIRCLE,
        *ANY_REAL_POSITION,
        Property(
            _far_is_exact,
            "Far positions must be as exact as near ones. At position 1,000,000 an angle in float32 may "
            "be off by 0.06 rad, and in float64 it is not.",
        ),
    ),
    mistakes=(
        *(Mistake(name, answer, message) for name, answer, message in TABLE_SLIPS),
        Mistake(
            "row-number-as-position",
            lambda positions, dim: sinusoidal(len(positions), dim),
            "The row number was used in place of the position. Row k must encode positions[k], which may be "
            "any number: out of order, negative or fractional.",
        ),
        Mistake(
            "counted-from-the-first",
            lambda positions, dim: _table(np.asarray(positions) - positions[0], dim),
            "The positions were counted from the first one that is given. Use them as they are.",
        ),
        Mistake(
            "sorted",
            lambda positions, dim: _table(np.sort(positions), dim),
            "The rows come in ascending order of their positions. Row k must encode positions[k], in "
            "whatever order these come.",
        ),
        Mistake(
            "divided-by-the-length",
            lambda positions, dim: _table(np.asarray(positions) / len(positions), dim),
            "The positions were divided by how many there are. Then one step means something else in every "
            "text: use the positions as they are.",
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
    alternatives=(_table_by_slices, _table_by_rows, _table_by_complex, table_by_phase, _table_cast_last),
    hints=(
        "First make the angles, one for each position and pair: an array of shape `(n, dim/2)`.",
        "`positions[:, None]` has shape `(n, 1)`; times frequencies of shape `(dim/2,)` it broadcasts to "
        "`(n, dim/2)`.",
        "Make an empty table of shape `(n, dim)`. Its even columns are `table[:, 0::2]`, its odd ones "
        "`table[:, 1::2]`.",
    ),
)
