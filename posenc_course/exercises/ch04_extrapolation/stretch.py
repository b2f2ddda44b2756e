"""A learned table, and its end: Stretch it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import (
    TABLE,
    Generator,
    _stretch,
    corners,
    read_between,
    stretch_by_tents,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal


def _stretch_cases(rng: Generator) -> Iterator[Case]:
    yield Case(
        "3 rows over 5 positions", (np.array([[0.0, 10.0, -1.0], [2.0, 20.0, 1.0], [4.0, 40.0, 0.5]]), 5)
    )
    for rows, dim, length in ((2, 1, 7), (4, 4, 4), (5, 3, 12), (8, 2, 32), (9, 2, 5), (6, 6, 11)):
        yield Case(f"{rows} rows over {length} positions", (rng.normal(size=(rows, dim)), length))
    rows, length = int(rng.integers(5, 20)), int(rng.integers(25, 60))
    yield Case(f"{rows} rows over {length} positions", (rng.normal(size=(rows, 3)), length))


def _shares_swapped(table: Array, length: int) -> Array:
    places = corners(len(table), length)
    below = np.clip(np.floor(places).astype(int), 0, len(table) - 2)
    share = (places - below)[:, None]
    return table[below] * share + table[below + 1] * (1 - share)


def _centred(table: Array, length: int) -> Array:
    places = (np.arange(length) + 0.5) * len(table) / length - 0.5
    return read_between(table, np.clip(places, 0, len(table) - 1))


def _rows_by_length(table: Array, length: int) -> Array:
    places = np.arange(length) * len(table) / length
    return read_between(table, np.clip(places, 0, len(table) - 1))


def _past_the_last_row(table: Array, length: int) -> Array:
    return read_between(table, np.minimum(np.arange(length) * len(table) / (length - 1), len(table) - 1))


def _short_texts_cut(table: Array, length: int) -> Array:
    return table[:length] if length < len(table) else _stretch(table, length)


def _zeros_after(table: Array, length: int) -> Array:
    stretched = np.zeros((length, table.shape[1]))
    stretched[: len(table)] = table[:length]
    return stretched


def _stretch_by_column(table: Array, length: int) -> Array:
    places = np.linspace(0, len(table) - 1, length)
    return np.stack([np.interp(places, np.arange(len(table)), column) for column in table.T], axis=1)


def _stretch_by_loop(table: Array, length: int) -> list[list[float]]:
    stretched = []
    for position in range(length):
        place = position * (len(table) - 1) / (length - 1)
        below = min(int(place), len(table) - 2)
        share = place - below
        stretched.append(
            [(1 - share) * a + share * b for a, b in zip(*table[below : below + 2], strict=True)]
        )
    return stretched


STRETCH = Exercise(
    id="04-extrapolation.stretch",
    title="Stretch it",
    step_of=TABLE,
    signature="stretch(table: array of shape (rows, dim), length: int) -> array of shape (length, dim)",
    points=4,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda stretch, rows, columns: heat_map(stretch(sinusoidal(16, 32), 64), rows=rows, columns=columns),
        axes=("position", "column"),
        look="Sixteen rows cover 64 positions now, and every wave is about four times as long.",
    ),
    reference=_stretch,
    make_cases=_stretch_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], args[0].shape[1]),
            "The stretched table has a row for each of the length positions, and as many columns as before.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[0], args[0][0])),
            "Position 0 must keep row 0 of the table.",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[-1], args[0][-1])),
            "The last position must get the last row of the table.",
        ),
    ),
    mistakes=(
        Mistake(
            "clamped",
            lambda table, length: table[np.minimum(np.arange(length), len(table) - 1)],
            "The table is not stretched: it ends where it ended, and its last row is repeated. Position p "
            "should read at place p * (rows - 1) / (length - 1).",
        ),
        Mistake(
            "wrapped",
            lambda table, length: table[np.arange(length) % len(table)],
            "The table starts again from its first row where it ends, so a far position looks like a near "
            "one. Spread the rows over all positions instead.",
        ),
        Mistake(
            "zeros",
            _zeros_after,
            "The rows past the end are zeros. Spread the rows that you have over all positions, so that each "
            "position lies between two of them.",
        ),
        Mistake(
            "rows-by-length",
            _rows_by_length,
            "The place is p * rows / length, so the last row is not reached exactly at the last position. "
            "Count the gaps, not the posts: p * (rows - 1) / (length - 1).",
        ),
        Mistake(
            "gaps-by-length",
            lambda table, length: read_between(table, np.arange(length) * (len(table) - 1) / length),
            "The place is p * (rows - 1) / length, so the last position falls short of the last row. There "
            "are length - 1 gaps between length positions: divide by length - 1.",
        ),
        Mistake(
            "rows-over-gaps",
            _past_the_last_row,
            "The place is p * rows / (length - 1), so the last row is reached too early. From the first row "
            "to the last there are rows - 1 steps: p * (rows - 1) / (length - 1).",
        ),
        Mistake(
            "short-texts-cut",
            _short_texts_cut,
            "Longer texts are right. Where there are fewer positions than rows, you took the first rows. "
            "Here the same formula holds: the last position gets the last row.",
        ),
        Mistake(
            "centred",
            _centred,
            "The rows are taken as cells with centres, as image libraries do by default "
            "(align_corners=False). Then both ends are cut off. Here the first and the last position keep "
            "the first and the last row: p * (rows - 1) / (length - 1).",
        ),
        Mistake(
            "nearest",
            lambda table, length: table[np.rint(corners(len(table), length)).astype(int)],
            "Each position got the nearest row, so neighbours share a row and cannot be told apart. Read "
            "between the two rows, in proportion to how near each is.",
        ),
        Mistake(
            "row-below",
            lambda table, length: table[np.floor(corners(len(table), length)).astype(int)],
            "Each position got the row before its place, so neighbours share a row. Add the share of the row "
            "after: (1 - share) * before + share * after.",
        ),
        Mistake(
            "row-above",
            lambda table, length: table[np.ceil(corners(len(table), length)).astype(int)],
            "Each position got the row after its place, so neighbours share a row. Add the share of the row "
            "before: (1 - share) * before + share * after.",
        ),
        Mistake(
            "half-and-half",
            lambda table, length: (
                table[np.floor(corners(len(table), length)).astype(int)] / 2
                + table[np.ceil(corners(len(table), length)).astype(int)] / 2
            ),
            "Each position got the mean of its two rows, half of each. Mix them in proportion to how near "
            "each is: at place 1.25 row 1 counts 0.75 and row 2 counts 0.25.",
        ),
        Mistake(
            "shares-swapped",
            _shares_swapped,
            "The two shares are swapped. At place 1.25 row 1 is the nearer one, so it counts 0.75 and row 2 "
            "counts 0.25.",
        ),
        Mistake(
            "columns",
            lambda table, length: _stretch_by_column(table.T, length).T if table.shape[1] > 1 else table,
            "The columns were stretched. Positions are the rows: the result has shape (length, dim).",
        ),
    ),
    alternatives=(_stretch_by_column, _stretch_by_loop, stretch_by_tents),
    hints=(
        "Position 0 reads row 0, and position `length - 1` reads row `rows - 1`. Where does position p "
        "read, if all steps are equally long?",
        "The place of position p is `p * (rows - 1) / (length - 1)`. Its whole part is the row before, and "
        "what is left is the share of the row after.",
        "The last place has no row after it. There, let row `rows - 2` be the row before, and give the row "
        "after a share of 1. Or let `np.interp` read each column.",
    ),
)
