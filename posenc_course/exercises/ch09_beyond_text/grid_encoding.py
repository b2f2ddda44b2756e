"""A picture in two directions: Half for the row, half for the column."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import PICTURE, Generator
from posenc_course.exercises.ch09_beyond_text.patch_places import places
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.grid import grid_sinusoidal
from posenc_lib.added.sinusoidal import sinusoidal


def _grid_cases(rng: Generator) -> Iterator[Case]:
    yield Case("2 rows of 3 patches, 8 columns", (2, 3, 8))
    yield Case("3 rows of 2 patches, 4 columns", (3, 2, 4))
    yield Case("a row of 4 patches", (1, 4, 12))
    yield Case("a column of 4 patches", (4, 1, 12))
    for _ in range(3):
        height, width = (int(each) for each in rng.integers(3, 9, size=2))
        yield Case("sizes, drawn", (height, width, 4 * int(rng.integers(2, 9))))


def _grid_with(encode: Callable[[Array, Array, int], Array]) -> Callable[[int, int, int], Array]:
    """An encoding of the patches from their rows and columns."""

    def table(height: int, width: int, dim: int) -> Array:
        row, column = places(height, width).T
        return encode(row, column, dim)

    return table


def _row_then_column(row: Array, column: Array, dim: int) -> Array:
    return np.concatenate([sinusoidal(row, dim // 2), sinusoidal(column, dim // 2)], axis=1)


def _slow_halves(row: Array, column: Array, dim: int) -> Array:
    """The frequencies of the whole width, of which each axis takes the first half."""
    return np.concatenate([sinusoidal(each, dim)[:, : dim // 2] for each in (row, column)], axis=1)


def _in_turn(row: Array, column: Array, dim: int) -> Array:
    pairs = [sinusoidal(each, dim // 2).reshape(len(row), -1, 2) for each in (row, column)]
    return np.stack(pairs, axis=2).reshape(len(row), dim)


def _half_split(row: Array, column: Array, dim: int) -> Array:
    return np.concatenate([sinusoidal(each, dim // 2, layout="split") for each in (row, column)], axis=1)


_grid_encoding = _grid_with(_row_then_column)


def _grid_by_loops(height: int, width: int, dim: int) -> Array:
    out = np.zeros((height, width, dim))
    half = dim // 2
    for row in range(height):
        for column in range(width):
            for j in range(half // 2):
                rate = 10000.0 ** (-2 * j / half)
                out[row, column, 2 * j : 2 * j + 2] = math.sin(row * rate), math.cos(row * rate)
                there = slice(half + 2 * j, half + 2 * j + 2)
                out[row, column, there] = math.sin(column * rate), math.cos(column * rate)
    return out.reshape(-1, dim)


GRID_ENCODING = Exercise(
    id="09-beyond-text.grid_encoding",
    title="Half for the row, half for the column",
    step_of=PICTURE,
    signature="grid_encoding(height: int, width: int, dim: int) -> array of shape (height * width, dim)",
    points=3,
    minutes=12,
    difficulty=2,
    draws=Draws(
        lambda grid_encoding, rows, columns: heat_map(
            (lambda table: (table @ table[112]).reshape(15, 15))(np.asarray(grid_encoding(15, 15, 64))),
            rows=rows,
            columns=columns,
        ),
        axes=("row of the patch", "column of the patch"),
        look="How similar each patch is to the one in the middle: those of its own row and column stand "
        "out as a cross, because half of their numbers are the same.",
    ),
    reference=lambda height, width, dim: _grid_encoding(height, width, dim),
    make_cases=_grid_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0] * args[1], args[2]),
            "There must be one line for each patch, dim numbers long.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.abs(value) <= 1 + 1e-6).all()),
            "Sines and cosines lie between -1 and 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "column-first",
            _grid_with(lambda row, column, dim: _row_then_column(column, row, dim)),
            "Your two halves are swapped: the first half is for the row.",
        ),
        Mistake(
            "frequencies-of-the-whole",
            _grid_with(_slow_halves),
            "Your frequencies fall too slowly. Each half is an encoding of its own, dim/2 columns wide, "
            "with the frequencies of that width.",
        ),
        Mistake(
            "added",
            _grid_with(lambda row, column, dim: sinusoidal(row, dim) + sinusoidal(column, dim)),
            "You add the two encodings. Then row 2, column 5 and row 5, column 2 look the same. Put them "
            "side by side, each in half of the columns.",
        ),
        Mistake(
            "running-number",
            lambda height, width, dim: sinusoidal(height * width, dim),
            "You encode the running number of the patch. Then the patch right below is a whole row away.",
        ),
        Mistake(
            "sines-first",
            _grid_with(_half_split),
            "Within each half you put all sines first. Here the sine and cosine of a pair are side by side.",
        ),
        Mistake(
            "dealt-in-turn",
            _grid_with(_in_turn),
            "The pairs of row and column alternate. The first half of the columns is for the row only.",
        ),
        Mistake(
            "row-twice",
            _grid_with(lambda row, column, dim: _row_then_column(row, row, dim)),
            "Both of your halves encode the row. Nothing tells the patches of one row apart.",
        ),
        Mistake(
            "cosine-first",
            _grid_with(
                lambda row, column, dim: (
                    _row_then_column(row, column, dim).reshape(-1, dim // 2, 2)[..., ::-1].reshape(-1, dim)
                )
            ),
            "In your pairs the cosine comes first. The sine should.",
        ),
        Mistake(
            "down-the-columns",
            lambda height, width, dim: (
                _grid_encoding(height, width, dim).reshape(height, width, dim).swapaxes(0, 1).reshape(-1, dim)
            ),
            "Your patches come column by column. They should come row by row, like text.",
        ),
        Mistake(
            "counted-from-one",
            _grid_with(lambda row, column, dim: _row_then_column(row + 1, column + 1, dim)),
            "You count rows and columns from 1. The patch at the upper left has row 0 and column 0.",
        ),
        Mistake(
            "still-a-grid",
            lambda height, width, dim: _grid_encoding(height, width, dim).reshape(height, width, dim),
            "The patches are still in a grid. Return one line for each of them, in reading order.",
        ),
        Mistake(
            "columns-alternate",
            _grid_with(
                lambda row, column, dim: np.stack(
                    [sinusoidal(row, dim // 2), sinusoidal(column, dim // 2)], axis=2
                ).reshape(len(row), dim)
            ),
            "Your columns alternate between row and column. The first half is for the row only.",
        ),
        Mistake(
            "column-twice",
            _grid_with(lambda row, column, dim: _row_then_column(column, column, dim)),
            "Both of your halves encode the column. Nothing tells the patches of one column apart.",
        ),
        Mistake(
            "row-plus-column",
            _grid_with(lambda row, column, dim: sinusoidal(row + column, dim)),
            "You encode row plus column. Then all patches of a diagonal look the same. Encode them "
            "separately, each in half of the columns.",
        ),
        Mistake(
            "multiplied",
            _grid_with(lambda row, column, dim: sinusoidal(row, dim) * sinusoidal(column, dim)),
            "You multiply the two encodings. Put them side by side, each in half of the columns.",
        ),
    ),
    alternatives=(
        _grid_by_loops,
        lambda height, width, dim: grid_sinusoidal(
            (height, width), dim, axes="yx", layout="interleaved"
        ).reshape(-1, dim),
        lambda height, width, dim: np.concatenate(
            [
                np.repeat(sinusoidal(height, dim // 2), width, axis=0),
                np.tile(sinusoidal(width, dim // 2), (height, 1)),
            ],
            axis=1,
        ),
    ),
    hints=(
        "Each half is the sinusoidal encoding that you know, only dim/2 columns wide: once for the rows, "
        "once for the columns.",
        "The frequencies of a half are `10000 ** (-2 * j / half)` with `half = dim // 2`, for j from 0 to "
        "half/2 - 1.",
        "Write a helper that encodes positions in `half` columns, call it for `places[:, 0]` and for "
        "`places[:, 1]`, and join the two with `np.concatenate(..., axis=1)`.",
    ),
)
