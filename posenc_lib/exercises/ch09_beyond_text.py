"""Exercises of `09-beyond-text`."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.added.fourier import fourier_features, gaussian_frequencies
from posenc_lib.added.graphs import laplacian_eigenvectors, return_probabilities
from posenc_lib.added.grid import grid_sinusoidal
from posenc_lib.added.resample import resample_grid
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.added.strands import reverse_complement
from posenc_lib.added.times import calendar_features
from posenc_lib.added.trees import tree_paths
from posenc_lib.biased.swin import swin_index
from posenc_lib.exercises.drawing import Draws, arrows, curve, heat_map
from posenc_lib.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib.rotated.axial import mrope_positions, owners

CHAPTER = "09-beyond-text"
TURN = 2 * np.pi
PICTURE = "A picture in two directions"
ONE_LINE = "Words and pictures in one line"
GENOME = "Near by one, far by a thousand"
WAVES = "Waves of a point"
MOLECULE = "A molecule, however it lies"
GRAPH = "Waves on a graph"
TREE = "Code is a tree"
SOUND = "What a frame of sound hears"

Generator = np.random.Generator


# --- patch_places and grid_encoding ----------------------------------------------------------------


def _place_cases(rng: Generator) -> Iterator[Case]:
    yield Case("2 rows of 3 patches", (2, 3))
    yield Case("3 rows of 2 patches", (3, 2))
    yield Case("a row of 5", (1, 5))
    yield Case("a column of 4", (4, 1))
    for _ in range(3):
        yield Case("drawn", (int(rng.integers(3, 12)), int(rng.integers(3, 12))))


def _places(height: int, width: int) -> Array:
    return np.ascontiguousarray(np.indices((height, width)).reshape(2, -1).T)


def _down_the_columns(height: int, width: int) -> Array:
    return _places(width, height)[:, ::-1]


def _every_second_turned(height: int, width: int) -> Array:
    row, column = _places(height, width).T
    return np.stack([row, np.where(row % 2, width - 1 - column, column)], axis=1)


PLACES = Exercise(
    id=f"{CHAPTER}.patch_places",
    title="Where is patch number 17?",
    step_of=PICTURE,
    signature="patch_places(height: int, width: int) -> array of shape (height * width, 2)",
    points=1,
    minutes=6,
    difficulty=1,
    reference=_places,
    make_cases=_place_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0] * args[1], 2),
            "There must be one line for each patch, with two numbers: its row and its column.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "column-first",
            lambda height, width: _places(height, width)[:, ::-1],
            "Your two numbers are swapped: the row comes first.",
        ),
        Mistake(
            "down-the-columns",
            _down_the_columns,
            "You count down the columns, as np.meshgrid does unless it is told otherwise. Patches are read "
            "like text: a whole row, then the next.",
        ),
        Mistake(
            "divided-by-the-height",
            lambda height, width: np.stack(np.divmod(np.arange(height * width), height), axis=1),
            "You divide by the number of rows. How many patches come before a new row begins?",
        ),
        Mistake(
            "counted-from-one",
            lambda height, width: _places(height, width) + 1,
            "You count from 1. The patch at the upper left stands in row 0 and column 0.",
        ),
        Mistake(
            "from-the-bottom",
            lambda height, width: _places(height, width) * [-1, 1] + [height - 1, 0],
            "Your rows count from the bottom, as in a plot. In a picture the first row is the uppermost.",
        ),
        Mistake(
            "lines-turned",
            _every_second_turned,
            "Every second row runs from right to left. All rows are read from left to right.",
        ),
        Mistake(
            "axes-first",
            lambda height, width: _places(height, width).T,
            "You return all rows, and then all columns. Turn the array: one line for each patch.",
        ),
        Mistake(
            "still-a-grid",
            lambda height, width: _places(height, width).reshape(height, width, 2),
            "The patches still stand in a grid. Return one long list of them, in reading order.",
        ),
        Mistake(
            "the-number-itself",
            lambda height, width: np.repeat(np.arange(height * width)[:, None], 2, axis=1),
            "This is the running number of the patch, twice. Split it into row and column.",
        ),
    ),
    alternatives=(
        lambda height, width: [[row, column] for row in range(height) for column in range(width)],
        lambda height, width: np.stack(np.divmod(np.arange(height * width), width), axis=1),
        lambda height, width: np.argwhere(np.ones((height, width))),
    ),
    hints=(
        "How many patches have been read when row 2 begins? Two whole rows.",
        "Divide the running number by the width: what comes out, and what remains?",
        "`np.divmod(np.arange(height * width), width)` gives both; `np.stack` puts them side by side.",
    ),
)


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
        row, column = _places(height, width).T
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


GRID = Exercise(
    id=f"{CHAPTER}.grid_encoding",
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
        look="How like the patch in the middle each patch is: those of its own row and its own column stand "
        "out as a cross, since half of their numbers are the same.",
    ),
    reference=lambda height, width, dim: _grid_encoding(height, width, dim),
    make_cases=_grid_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0] * args[1], args[2]),
            "There must be one line for each patch, as wide as dim.",
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
            "Your frequencies fall too slowly. Each half is an encoding of its own, dim/2 columns wide, and "
            "its slowest pair is as slow as in any encoding of that width.",
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
            "You encode the running number of the patch. Then the patch below is as far as a whole row.",
        ),
        Mistake(
            "sines-first",
            _grid_with(_half_split),
            "Within each half you put all sines first. Here sine and cosine of a pair stand side by side.",
        ),
        Mistake(
            "dealt-in-turn",
            _grid_with(_in_turn),
            "The pairs of row and column alternate. The first half of the columns is for the row alone.",
        ),
        Mistake(
            "row-twice",
            _grid_with(lambda row, column, dim: _row_then_column(row, row, dim)),
            "Both of your halves say the row. Nothing tells the patches of one row apart.",
        ),
        Mistake(
            "cosine-first",
            _grid_with(
                lambda row, column, dim: (
                    _row_then_column(row, column, dim).reshape(-1, dim // 2, 2)[..., ::-1].reshape(-1, dim)
                )
            ),
            "In your pairs the cosine comes first. The sine does.",
        ),
        Mistake(
            "down-the-columns",
            lambda height, width, dim: (
                _grid_encoding(height, width, dim).reshape(height, width, dim).swapaxes(0, 1).reshape(-1, dim)
            ),
            "The patches come column by column. They are read like text, row by row.",
        ),
        Mistake(
            "counted-from-one",
            _grid_with(lambda row, column, dim: _row_then_column(row + 1, column + 1, dim)),
            "You count rows and columns from 1. The patch at the upper left has row 0 and column 0.",
        ),
        Mistake(
            "still-a-grid",
            lambda height, width, dim: _grid_encoding(height, width, dim).reshape(height, width, dim),
            "The patches still stand in a grid. Return one line for each of them, in reading order.",
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
        "A half is the sinusoidal encoding that you know, only dim/2 columns wide: once at the rows, once at "
        "the columns.",
        "The frequencies of a half are `10000 ** (-2 * j / half)` with `half = dim // 2`, for j from 0 to "
        "half/2 - 1.",
        "Write a helper that encodes positions in `half` columns, call it for `places[:, 0]` and for "
        "`places[:, 1]`, and join the two with `np.concatenate(..., axis=1)`.",
    ),
)


# --- resized_table ---------------------------------------------------------------------------------


def _resize_cases(rng: Generator) -> Iterator[Case]:
    def table(height: int, width: int, dim: int = 3) -> Array:
        return rng.normal(size=(height, width, dim))

    yield Case("2 by 2 to 2 by 4", (table(2, 2, 1), 2, 4))
    yield Case("4 by 3 to 8 by 6", (table(4, 3), 8, 6))
    yield Case("6 by 5 to 3 by 4", (table(6, 5), 3, 4))
    yield Case("the same size", (table(3, 4), 3, 4))
    yield Case("a row of 1 patch becomes a row of 3", (table(1, 1), 1, 3))
    for _ in range(3):
        sizes = [int(each) for each in rng.integers(3, 9, size=4)]
        yield Case("sizes, drawn", (table(sizes[0], sizes[1], 2), sizes[2] + 2, sizes[3]))


Middles = Callable[[int, int], Array]


def _middles(new: int, old: int) -> Array:
    """Where the middles of the new patches lie, in old patches."""
    return np.asarray((np.arange(new) + 0.5) * old / new - 0.5)


def _between(table: Array, at: Array) -> Array:
    """Rows at real places, on straight lines between their neighbours."""
    low = np.clip(np.floor(at).astype(int), 0, max(len(table) - 2, 0))
    high = np.minimum(low + 1, len(table) - 1)
    share = (at - low)[:, None, None]
    return np.asarray(table[low] * (1 - share) + table[high] * share)


def _within(at: Array, old: int) -> Array:
    return np.clip(at, 0, old - 1)


def _resize_with(
    middles: Middles = _middles,
    inside: Callable[[Array, int], Array] = _within,
    take: Callable[[Array, Array], Array] = _between,
) -> Callable[[Array, int, int], Array]:
    def resize(table: Array, height: int, width: int) -> Array:
        rows = take(table, inside(middles(height, len(table)), len(table)))
        columns = np.swapaxes(rows, 0, 1)
        at = inside(middles(width, len(columns)), len(columns))
        return np.ascontiguousarray(np.swapaxes(take(columns, at), 0, 1))

    return resize


_resized = _resize_with()


def _corners(new: int, old: int) -> Array:
    return np.arange(new) * (old - 1) / max(new - 1, 1)


def _hats(table: Array, at: Array) -> Array:
    weights = np.maximum(0, 1 - np.abs(at[:, None] - np.arange(len(table))))
    return np.asarray(np.einsum("no,owd->nwd", weights, table))


def _nearest(table: Array, at: Array) -> Array:
    return np.asarray(table[np.clip(np.floor(at + 0.5).astype(int), 0, len(table) - 1)])


def _resized_by_interp(table: Array, height: int, width: int) -> Array:
    old_height, old_width, dim = table.shape
    down = np.stack(
        [
            [np.interp(_middles(height, old_height), np.arange(old_height), line) for line in plane.T]
            for plane in np.moveaxis(table, -1, 0)
        ]
    )
    rows = np.moveaxis(down, (0, 1, 2), (2, 1, 0))
    return np.stack(
        [
            np.stack(
                [np.interp(_middles(width, old_width), np.arange(old_width), row[:, d]) for d in range(dim)],
                axis=-1,
            )
            for row in rows
        ]
    )


def _resized_by_library(table: Array, height: int, width: int) -> Array:
    old_height, old_width, dim = table.shape
    flat = table.reshape(-1, dim)
    new = resample_grid(flat, (old_height, old_width), (height, width), mode="bilinear")
    return np.asarray(new).reshape(height, width, dim)


def _along_the_line(table: Array, height: int, width: int) -> Array:
    """As if the patches stood in one long row."""
    flat = table.reshape(-1, 1, table.shape[-1])
    new = _between(flat, _within(_middles(height * width, len(flat)), len(flat)))
    return new.reshape(height, width, -1)


RESIZED = Exercise(
    id=f"{CHAPTER}.resized_table",
    title="A table for a larger picture",
    signature="resized_table(table: array of shape (old height, old width, dim), height: int, width: int) -> "
    "array of shape (height, width, dim)",
    points=4,
    minutes=18,
    difficulty=4,
    draws=Draws(
        lambda resized_table, rows, columns: heat_map(
            np.asarray(resized_table(np.eye(4)[..., None], 24, 24))[..., 0], rows=rows, columns=columns
        ),
        axes=("row of the new patch", "column of the new patch"),
        look="A diagonal of 4 patches in a picture of 24 by 24: straight lines lead from middle to "
        "middle, and beyond the outermost middles nothing changes.",
    ),
    reference=_resized,
    make_cases=_resize_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], args[2], args[0].shape[2]),
            "The new table must have the new height and width, and keep its dim.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.max(value) <= np.max(args[0]) + 1e-6 and np.min(value) >= np.min(args[0]) - 1e-6
            ),
            "What lies between given numbers is never above the largest nor below the smallest of them.",
        ),
    ),
    mistakes=(
        Mistake(
            "corners-stay",
            _resize_with(middles=_corners),
            "You keep the middles of the corner patches in their places. Here the edges of the picture stay, "
            "and the new patches lie evenly between them.",
        ),
        Mistake(
            "upper-left-corners",
            _resize_with(middles=lambda new, old: np.arange(new) * old / new),
            "You line up the upper left corners of the patches. Line up their middles: patch i has its own "
            "at i + 1/2.",
        ),
        Mistake(
            "not-back-to-numbers",
            _resize_with(middles=lambda new, old: (np.arange(new) + 0.5) * old / new),
            "Your places are half a patch too far. Old patch i has its middle at i + 1/2 as well.",
        ),
        Mistake(
            "line-goes-on",
            _resize_with(inside=lambda at, old: at),
            "Beyond the middle of the last patch your straight line goes on. There the last patch counts "
            "alone: cut the places.",
        ),
        Mistake(
            "dark-edges",
            _resize_with(inside=lambda at, old: at, take=_hats),
            "At the edges your numbers are pulled towards 0, as if the picture were surrounded by zeros. "
            "There the last patch counts alone.",
        ),
        Mistake(
            "nearest",
            _resize_with(take=_nearest),
            "You take the nearest old patch. Take the two around each place, each as much as the place is "
            "near.",
        ),
        Mistake(
            "cut-off",
            _resize_with(take=lambda table, at: table[np.floor(at).astype(int)]),
            "You cut the fractions off and take one old patch. Take the two around each place, each as much "
            "as the place is near.",
        ),
        Mistake(
            "the-farther-counts-more",
            _resize_with(take=lambda table, at: _between(table, 2 * np.floor(at) + 1 - at)),
            "The two shares are swapped: the nearer patch must count more.",
        ),
        Mistake(
            "one-long-row",
            _along_the_line,
            "You stretch the patches as one long row. Stretch the rows and the columns, each for itself.",
        ),
        Mistake(
            "averaged-over-all-it-covers",
            lambda table, height, width: np.asarray(
                resample_grid(
                    table.reshape(-1, table.shape[2]),
                    table.shape[:2],
                    (height, width),
                    mode="bilinear",
                    antialias=True,
                )
            ).reshape(height, width, -1),
            "It is right where the picture grows. Where it shrinks you average over all that a new patch "
            "covers; here only the two old ones around its middle count.",
        ),
        Mistake(
            "turned",
            lambda table, height, width: np.swapaxes(_resized(table, width, height), 0, 1),
            "Height and width of the new table are swapped.",
        ),
    ),
    alternatives=(_resized_by_interp, _resized_by_library, _resize_with(take=_hats)),
    hints=(
        "Do one axis after the other: first all columns get `height` rows, then each row gets `width` "
        "columns.",
        "The middle of new patch i lies at `(i + 0.5) * old / new - 0.5`, counted in old patches. Cut it to "
        "0 and `old - 1`.",
        "With `low = np.floor(at)` and `share = at - low`, the new row is `(1 - share)` of row `low` and "
        "`share` of the next.",
    ),
)


# --- window_index ----------------------------------------------------------------------------------


def _window_cases(rng: Generator) -> Iterator[Case]:
    yield Case("2 by 2 patches", (2, 2))
    yield Case("2 by 3 patches", (2, 3))
    yield Case("a row of 4", (1, 4))
    yield Case("a column of 3", (3, 1))
    for _ in range(6):
        yield Case("drawn", (int(rng.integers(2, 8)), int(rng.integers(2, 8))))


def _window_with(
    index: Callable[[Array, Array, int, int], Array],
) -> Callable[[int, int], Array]:
    """From how far the query stands below the key and to its right."""

    def table(height: int, width: int) -> Array:
        row, column = _places(height, width).T
        return index(row[:, None] - row, column[:, None] - column, height, width)

    return table


_window = _window_with(lambda down, right, h, w: (down + h - 1) * (2 * w - 1) + right + w - 1)


def _window_by_loops(height: int, width: int) -> list[list[int]]:
    patches = [(row, column) for row in range(height) for column in range(width)]
    kinds = [(a, b) for a in range(1 - height, height) for b in range(1 - width, width)]
    return [[kinds.index((r - s, c - d)) for s, d in patches] for r, c in patches]


WINDOW = Exercise(
    id=f"{CHAPTER}.window_index",
    title="Swin's table of offsets",
    signature="window_index(height: int, width: int) -> array of shape (height * width, height * width)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda window_index, rows, columns: heat_map(window_index(4, 4), rows=rows, columns=columns),
        axes=("query patch", "key patch"),
        look="Blocks within blocks: along the diagonals of a block, and from block to block along the "
        "diagonals, the number stays.",
    ),
    reference=_window,
    make_cases=_window_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0] * args[1],) * 2,
            "There must be a row for each query patch and a column for each key patch.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) >= 0).all()
                and (np.asarray(value) < (2 * args[0] - 1) * (2 * args[1] - 1)).all()
            ),
            "Every number must be one of a row of the table: from 0, and below the number of offsets.",
        ),
        Property(
            lambda args, value: np.ptp(np.diagonal(value)) == 0,
            "Every patch has the same offset to itself, so all numbers on the diagonal must be equal.",
        ),
    ),
    mistakes=(
        Mistake(
            "key-minus-query",
            _window_with(lambda down, right, h, w: (h - 1 - down) * (2 * w - 1) + w - 1 - right),
            "You subtract the query from the key. Here it is the query minus the key.",
        ),
        Mistake(
            "times-the-width",
            _window_with(lambda down, right, h, w: (down + h - 1) * w + right + w - 1),
            "You multiply by the width of the window. How many different offsets to the side are there? "
            "You multiply by the width of the window, as if running numbers were subtracted: the last "
            "patch of a row and the first of the next are neighbours then. How many different offsets to "
            "the side are there?",
        ),
        Mistake(
            "times-two-widths",
            _window_with(lambda down, right, h, w: (down + h - 1) * 2 * w + right + w - 1),
            "Your table has rows that no offset uses. How many different offsets to the side are there, from "
            "the furthest left to the furthest right?",
        ),
        Mistake(
            "times-the-height",
            _window_with(lambda down, right, h, w: (down + h - 1) * (2 * h - 1) + right + w - 1),
            "You multiply by the number of offsets downwards. A step down passes over all offsets to the "
            "side.",
        ),
        Mistake(
            "not-moved-up",
            _window_with(lambda down, right, h, w: down * (2 * w - 1) + right),
            "Some of your numbers are negative, and NumPy would count from the end of the table. Move both "
            "offsets up, so that the smallest is 0.",
        ),
        Mistake(
            "one-not-moved",
            _window_with(lambda down, right, h, w: (down + h - 1) * (2 * w - 1) + right),
            "Your offsets to the side are still negative on the left, and share rows with others. Move both "
            "offsets up.",
        ),
        Mistake(
            "moved-by-the-size",
            _window_with(lambda down, right, h, w: (down + h) * (2 * w - 1) + right + w),
            "You move the offsets up too far. In a window of n the smallest offset is -(n - 1).",
        ),
        Mistake(
            "without-direction",
            _window_with(lambda down, right, h, w: np.abs(down) * (2 * w - 1) + np.abs(right)),
            "You drop the signs: left and right share a row. Each offset has its own.",
        ),
        Mistake(
            "added",
            _window_with(lambda down, right, h, w: down + h - 1 + right + w - 1),
            "You add the two offsets, and one down and none across is as none down and one across. Each step "
            "down has to count for a whole line of the table.",
        ),
        Mistake(
            "across-first",
            _window_with(lambda down, right, h, w: (right + w - 1) * (2 * h - 1) + down + h - 1),
            "Your table is sorted by columns first. In Swin's table the offset downwards decides first.",
        ),
    ),
    alternatives=(
        _window_by_loops,
        lambda height, width: np.asarray(swin_index((height, width))),
        lambda height, width: (
            np.ravel_multi_index(
                tuple((_places(height, width)[:, None] - _places(height, width) + [height - 1, width - 1]).T),
                (2 * height - 1, 2 * width - 1),
            ).T
        ),
    ),
    hints=(
        "First row and column of each patch, then the differences: `row[:, None] - row` is how far each "
        "query stands below each key.",
        "Add `height - 1` to the one and `width - 1` to the other: now both begin at 0.",
        "It is the numbering of patches once more, on a grid that is `2 * width - 1` wide.",
    ),
)


# --- three_positions and dealt_pairs ---------------------------------------------------------------


def _line_cases(rng: Generator) -> Iterator[Case]:
    def picture(most: int = 6) -> tuple[int, int, int]:
        rows, columns = (int(each) for each in rng.integers(2, most, size=2))
        return 1, rows, columns + most

    yield Case("three words", ([3],))
    yield Case("two words, a picture of 2 by 3, two words", ([2, (1, 2, 3), 2],))
    yield Case("a picture first", ([(1, 3, 2), 2],))
    yield Case("two pictures one after the other", ([1, (1, 2, 2), (1, 4, 1), 1],))
    yield Case("a video of 2 frames", ([1, (2, 2, 3), 2],))
    yield Case("a video of 5 frames of 2 by 2", ([1, (5, 2, 2), 3],))
    for _ in range(3):
        words = [int(each) for each in rng.integers(2, 6, size=3)]
        video = (int(rng.integers(2, 4)), int(rng.integers(4, 7)), 2)
        yield Case("drawn", ([words[0], picture(), words[1], video, words[2]],))


Part = int | tuple[int, int, int]
Block = Callable[[int, int, int], Array]


def _block(frames: int, rows: int, columns: int) -> Array:
    return np.indices((frames, rows, columns)).reshape(3, -1)


def _line_with(
    next_at: Callable[[int, Array, Sequence[int]], int] = lambda at, placed, size: int(placed.max()) + 1,
    block_of: Block = _block,
    place: Callable[[Array, int], Array] = lambda block, at: block + at,
    of_words: Callable[[Array], Array] = lambda count: np.stack([count] * 3),
) -> Callable[[Sequence[Part]], Array]:
    def positions(parts: Sequence[Part]) -> Array:
        at, found = 0, []
        for part in parts:
            size: tuple[int, ...] = (part,) if isinstance(part, int) else part
            if isinstance(part, int):
                found.append(of_words(at + np.arange(part)))
            else:
                found.append(place(block_of(*part), at))
            at = next_at(at, found[-1], size)
        return np.concatenate(found, axis=1)

    return positions


_three = _line_with()


def _three_by_token(parts: Sequence[Part]) -> Array:
    tokens: list[tuple[int, int, int]] = []
    for part in parts:
        start = 1 + max((max(token) for token in tokens), default=-1)
        if isinstance(part, int):
            tokens += [(start + n,) * 3 for n in range(part)]
        else:
            grid = itertools.product(*(range(start, start + size) for size in part))
            tokens += [(t, r, c) for t, r, c in grid]
    return np.array(tokens).T


THREE = Exercise(
    id=f"{CHAPTER}.three_positions",
    title="Time, row and column of each token",
    step_of=ONE_LINE,
    signature="three_positions(parts: list of a number of words, or (frames, rows, columns)) -> array of "
    "shape (3, tokens)",
    points=4,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda three_positions, across, up, *names: (
            lambda lines: curve(np.arange(24), dict(zip(names, lines, strict=True)), across=across, up=up)
        )(np.asarray(three_positions([4, (1, 4, 4), 4]))),
        axes=("token", "position", "time", "row", "column"),
        look="Four words, a picture of 4 by 4 and four words: within the picture the row is a staircase "
        "and the column a saw, and the words go on right above them.",
    ),
    reference=lambda parts: _three(parts),
    make_cases=_line_cases,
    properties=(
        Property(
            lambda args, value: (
                np.shape(value) == (3, sum(e if isinstance(e, int) else math.prod(e) for e in args[0]))
            ),
            "There must be three lines, for time, row and column, with a number for each token.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "as-many-as-tokens",
            _line_with(next_at=lambda at, placed, size: at + math.prod(size)),
            "After a picture you go on by the number of its tokens. It goes on right after the largest of "
            "the numbers that the picture used.",
        ),
        Mistake(
            "goes-on-by-time",
            _line_with(next_at=lambda at, placed, size: at + size[0]),
            "After a picture you go on by its frames. Its rows and columns have used larger numbers.",
        ),
        Mistake(
            "frames-not-counted",
            _line_with(next_at=lambda at, placed, size: at + max(size[1:], default=size[0])),
            "It is right for pictures. A video may have more frames than rows and columns: then what follows "
            "would stand in the midst of it.",
        ),
        Mistake(
            "rows-and-columns-from-0",
            _line_with(place=lambda block, at: block + np.array([[at], [0], [0]])),
            "Within a picture your rows and columns begin at 0. All three begin where the picture begins.",
        ),
        Mistake(
            "one-line",
            lambda parts: np.stack([np.arange(_three(parts).shape[1])] * 3),
            "You number all tokens in one line. The tokens of a picture have a row and a column of their "
            "own.",
        ),
        Mistake(
            "one-too-early",
            _line_with(next_at=lambda at, placed, size: int(placed.max())),
            "Each part begins on the largest number of the part before it. Begin one after it.",
        ),
        Mistake(
            "rows-and-columns-swapped",
            _line_with(block_of=lambda f, r, c: _block(f, r, c)[[0, 2, 1]]),
            "Row and column are swapped. The second of your three lines is for the row.",
        ),
        Mistake(
            "words-have-time-alone",
            _line_with(of_words=lambda count: np.stack([count, 0 * count, 0 * count])),
            "Your words have row 0 and column 0. For a word all three numbers are the same.",
        ),
        Mistake(
            "tokens-first",
            lambda parts: _three(parts).T,
            "The array is turned: its three lines are time, row and column, and each token is a column.",
        ),
        Mistake(
            "column-by-column",
            _line_with(block_of=lambda f, r, c: _block(f, c, r)[[0, 2, 1]]),
            "The tokens of your pictures run down the columns. They are read like text, row by row.",
        ),
        Mistake(
            "goes-on-by-rows",
            _line_with(next_at=lambda at, placed, size: int(placed[1].max()) + 1),
            "You go on after the largest row. Frames and columns may have gone further.",
        ),
        Mistake(
            "goes-on-by-columns",
            _line_with(next_at=lambda at, placed, size: int(placed[2].max()) + 1),
            "You go on after the largest column. Frames and rows may have gone further.",
        ),
        Mistake(
            "each-from-0",
            _line_with(next_at=lambda at, placed, size: 0),
            "Each of your parts begins at 0 again, and words before and after a picture look the same. Go on "
            "where the part before has ended.",
        ),
        Mistake(
            "goes-on-by-the-sum",
            _line_with(next_at=lambda at, placed, size: at + sum(size)),
            "After a picture you go on by frames, rows and columns added up. Only the largest of the three "
            "counts.",
        ),
    ),
    alternatives=(
        _three_by_token,
        lambda parts: mrope_positions(parts),
        lambda parts: _three(parts).tolist(),
    ),
    hints=(
        "Keep one number, the position at which the next part begins. It starts at 0.",
        "The numbers within a picture are `np.indices((frames, rows, columns)).reshape(3, -1)`. Add where it "
        "begins.",
        "After each part go on at the largest number so far, plus 1: `block.max() + 1`.",
    ),
)


def _dealt_cases(rng: Generator) -> Iterator[Case]:
    yield Case("Qwen3-VL: 24, 20, 20", (24, 20, 20))
    yield Case("as many each", (3, 3, 3))
    yield Case("8, 1, 3", (8, 1, 3))
    yield Case("8, 3, 1", (8, 3, 1))
    for _ in range(4):
        height, width = (int(each) for each in rng.integers(1, 9, size=2))
        yield Case("drawn", (2 * max(height, width) + int(rng.integers(0, 9)), height, width))


def _dealt(time: int, height: int, width: int) -> Array:
    return owners((time, height, width), "in turn")


def _dealt_with(start: int = 1, step: int = 3) -> Callable[[int, int, int], Array]:
    def owner(time: int, height: int, width: int) -> Array:
        found = np.zeros(time + height + width, dtype=np.int64)
        for axis, count in ((1, height), (2, width)):
            found[start + axis - 1 :: step][:count] = axis
        return found

    return owner


def _dealt_one_by_one(time: int, height: int, width: int) -> list[int]:
    found = []
    for pair in range(time + height + width):
        turn, axis = divmod(pair, 3)
        found.append(axis if axis and turn < (height, width)[axis - 1] else 0)
    return found


def _dealt_like_cards(time: int, height: int, width: int) -> list[int]:
    """Round and round among those who still want one."""
    left, found = [time, height, width], []
    while any(left):
        for axis in range(3):
            if left[axis]:
                left[axis] -= 1
                found.append(axis)
    return found


def _dealt_by_places(time: int, height: int, width: int) -> Array:
    pairs = np.arange(time + height + width)
    limit = np.array([0, height, width])[pairs % 3]
    return np.asarray(np.where(pairs // 3 < limit, pairs % 3, 0))


DEALT = Exercise(
    id=f"{CHAPTER}.dealt_pairs",
    title="Which of the three turns this pair?",
    step_of=ONE_LINE,
    signature="dealt_pairs(time: int, height: int, width: int) -> array of shape (pairs,): 0, 1 or 2",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_dealt,
    make_cases=_dealt_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (sum(args),),
            "There must be one number for each pair, and there are as many pairs as the three add up to.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "in-runs",
            lambda time, height, width: np.repeat([0, 1, 2], [time, height, width]),
            "You give each axis a run of neighbouring pairs, as Qwen2-VL did: time gets all the fast ones. "
            "Deal them out.",
        ),
        Mistake(
            "round-and-round",
            _dealt_like_cards,
            "Once an axis has its number, you close the gap and go on with the next. Here the places of the "
            "others do not move: what an axis does not take goes to time.",
        ),
        Mistake(
            "by-threes-for-ever",
            lambda time, height, width: np.arange(time + height + width) % 3,
            "You deal to the end. Height and width stop when they have their number.",
        ),
        Mistake(
            "height-and-width-swapped",
            lambda time, height, width: np.array([0, 2, 1])[_dealt(time, width, height)],
            "Height and width are swapped: height takes pair 1, and width pair 2.",
        ),
        Mistake(
            "from-pair-0",
            _dealt_with(start=0),
            "Height begins with pair 0. The very first pair is for time.",
        ),
        Mistake(
            "every-second",
            lambda time, height, width: np.concatenate(
                [[0], np.tile([1, 2], max(height, width)), np.zeros(time + height + width)]
            )[: time + height + width].astype(int),
            "You deal to height and width alone. Of each three pairs one is for time.",
        ),
        Mistake(
            "counts-swapped",
            lambda time, height, width: _dealt(time, width, height),
            "Height takes as many pairs as width should have, and the other way round.",
        ),
        Mistake(
            "by-columns",
            lambda time, height, width: np.repeat(_dealt(time, height, width), 2),
            "Each pair stands there twice, once for each of its columns. One number for a pair is asked for.",
        ),
        Mistake(
            "one-short",
            lambda time, height, width: _dealt(time + 2, height - 1, width - 1),
            "Height and width stop one pair too early.",
        ),
        Mistake(
            "time-first",
            lambda time, height, width: np.concatenate(
                [np.zeros(time, dtype=int), _dealt(max(height, width), height, width)]
            )[: time + height + width],
            "The pairs that only time takes come first. They come last: dealing begins with the first pair.",
        ),
    ),
    alternatives=(_dealt_one_by_one, _dealt_with(), _dealt_by_places),
    hints=(
        "Begin with time everywhere: an array of zeros. Then give pairs to height and to width.",
        "Height takes pairs 1, 4, 7, ... and width takes 2, 5, 8, ...; how many of them?",
        "A slice can do it: `owner[1::3][:height] = 1` writes into the array itself.",
    ),
)


# --- calendar_circles ------------------------------------------------------------------------------

HOUR, DAY = 3600, 86_400
WEEK = 7 * DAY
MONDAY = 4 * DAY


def _time_cases(rng: Generator) -> Iterator[Case]:
    yield Case("the first seconds of 1970, a Thursday", (np.array([0, 1, 3599]),))
    yield Case("around midnight", (np.array([DAY - 60, DAY, DAY + 60]),))
    yield Case("from Sunday to Monday", (MONDAY + np.array([-60, 0, 60]),))
    yield Case("before 1970", (np.array([-1, -DAY, -10 * DAY - 5 * HOUR]),))
    for _ in range(3):
        yield Case("stamps, drawn", (rng.integers(0, 2_000_000_000, size=6),))


def _circle(share: Array) -> list[Array]:
    return [np.sin(TURN * share), np.cos(TURN * share)]


def _of_day(times: Array) -> Array:
    return np.asarray(times % DAY / DAY)


def _of_week(times: Array) -> Array:
    return np.asarray((times - MONDAY) % WEEK / WEEK)


def _circles_with(
    day: Callable[[Array], Array] = _of_day,
    week: Callable[[Array], Array] = _of_week,
    order: Sequence[int] = (0, 1, 2, 3),
) -> Callable[[Array], Array]:
    def circles(times: Array) -> Array:
        columns = [*_circle(day(times)), *_circle(week(times))]
        return np.stack([columns[each] for each in order], axis=-1)

    return circles


_circles = _circles_with()


def _whole_days(times: Array) -> Array:
    return np.asarray(_of_week(times) * 7 // 1 / 7)


def _circles_by_datetime(times: Array) -> list[list[float]]:
    import datetime

    start = datetime.datetime(1970, 1, 1)
    rows = []
    for each in times.tolist():
        stamp = start + datetime.timedelta(seconds=each)
        second = stamp.hour * 3600 + stamp.minute * 60 + stamp.second
        day, week = second / DAY, (stamp.weekday() + second / DAY) / 7
        rows.append([f(2 * math.pi * share) for share in (day, week) for f in (math.sin, math.cos)])
    return rows


def _circles_by_arrows(times: Array) -> Array:
    day, week = np.exp(1j * TURN * times / DAY), np.exp(1j * TURN * (times + 3 * DAY) / WEEK)
    return np.stack([day.imag, day.real, week.imag, week.real], axis=1)


CIRCLES = Exercise(
    id=f"{CHAPTER}.calendar_circles",
    title="A time on two circles",
    signature="calendar_circles(times: array of shape (n,), seconds since 1970) -> array of shape (n, 4)",
    points=3,
    minutes=12,
    difficulty=2,
    draws=Draws(
        lambda calendar_circles, *days: arrows(
            np.asarray(calendar_circles(MONDAY + DAY * np.arange(7)))[:, 2:], days
        ),
        axes=("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
        look="Midnight of each day of a week, with its sine to the right and its cosine upwards: Sunday "
        "stands beside Monday.",
    ),
    reference=_circles,
    make_cases=_time_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), 4),
            "There must be four numbers for each time.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.square(value)[:, ::2] + np.square(value)[:, 1::2], 1, atol=1e-4)
            ),
            "Each sine and its cosine are a point on a circle: their squares must sum to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "week-from-thursday",
            _circles_with(week=lambda times: times % WEEK / WEEK),
            "Your weeks begin on Thursdays, as second 0 did. How many days after it did the first Monday "
            "begin?",
        ),
        Mistake(
            "week-from-sunday",
            _circles_with(week=lambda times: (times - 3 * DAY) % WEEK / WEEK),
            "Your weeks begin on Sundays, as they do when the way to Monday is added and not subtracted. "
            "They are to begin on Mondays.",
        ),
        Mistake(
            "whole-hours",
            _circles_with(day=lambda times: times % DAY // HOUR / 24),
            "You cut the time of the day to whole hours. Minutes and seconds count too.",
        ),
        Mistake(
            "whole-days",
            _circles_with(week=_whole_days),
            "You cut the time of the week to whole days: Monday morning and Monday night are one place.",
        ),
        Mistake(
            "whole-both",
            _circles_with(day=lambda times: times % DAY // HOUR / 24, week=_whole_days),
            "You cut to whole hours and whole days. The circles are to turn without steps.",
        ),
        Mistake(
            "one-short",
            _circles_with(
                day=lambda times: times % DAY / HOUR / 23,
                week=lambda times: (times - MONDAY) % WEEK / DAY / 6,
            ),
            "You divide by the largest number, 23 or 6. A day has 24 hours and a week 7 days; only then does "
            "the circle close where it began.",
        ),
        Mistake(
            "cosine-first",
            _circles_with(order=(1, 0, 3, 2)),
            "Your cosines stand before their sines.",
        ),
        Mistake(
            "sines-first",
            _circles_with(order=(0, 2, 1, 3)),
            "You put both sines first. The two numbers of the day come first, then those of the week.",
        ),
        Mistake(
            "week-first",
            _circles_with(order=(2, 3, 0, 1)),
            "The week comes first in your columns. The day does.",
        ),
        Mistake(
            "half-a-turn",
            _circles_with(day=lambda t: _of_day(t) / 2, week=lambda t: _of_week(t) / 2),
            "Your circles are half circles: evening and morning stand opposite each other. A whole turn is "
            "2 pi.",
        ),
        Mistake(
            "no-turn",
            _circles_with(day=lambda t: _of_day(t) / TURN, week=lambda t: _of_week(t) / TURN),
            "The factor 2 pi is missing: your whole day is 1 radian long.",
        ),
    ),
    alternatives=(
        _circles_by_datetime,
        _circles_by_arrows,
        lambda times: calendar_features(times, ("day", "week")),
    ),
    hints=(
        "`times % 86400` is the second of the day. What share of the day is that?",
        "For the week, subtract the second at which the first Monday began: January 1st of 1970 was a "
        "Thursday.",
        "The angle is `2 * np.pi` times the share. Stack the four columns with `np.stack(..., axis=1)`.",
    ),
)


# --- known_by_then ---------------------------------------------------------------------------------


def _known_cases(rng: Generator) -> Iterator[Case]:
    def arrays(*lists: Sequence[int]) -> tuple[Array, ...]:
        return tuple(np.array(each) for each in lists)

    yield Case("three numbers, no revision", arrays([5, 15, 25], [1, 2, 3], [10, 20, 30]))
    yield Case("a number and its revision", arrays([9, 10, 19, 20, 99], [3, 3], [10, 20]))
    yield Case("revisions in any order", arrays([5, 10, 15, 25], [1, 2, 1, 2, 1], [14, 8, 3, 21, 9]))
    yield Case("a forecast", arrays([4, 6, 60], [50, 50], [5, 55]))
    yield Case("published late", arrays([12, 35], [10, 11, 12], [40, 13, 35]))
    for _ in range(4):
        n = int(rng.integers(7, 12))
        about = rng.integers(0, 60, size=4)[rng.integers(0, 4, size=n)]
        published = rng.permutation(60)[:n]
        now = np.concatenate([rng.integers(0, 70, size=4), published[:3]])
        yield Case("drawn", (now, about, published))


def _known_with(
    seen: Callable[[Array, Array, Array], Array] = lambda now, about, published: published <= now,
    replaced: Callable[[Array, Array], Array] = lambda own, other: other > own,
    same: Callable[[Array, Array], Array] = lambda one, other: one == other,
) -> Callable[[Array, Array, Array], Array]:
    """Seen, and no number that is seen too and about the same day replaces it."""

    def known(now: Array, about: Array, published: Array) -> Array:
        visible = seen(now[:, None], about, published)
        better = same(about[:, None], about) & replaced(published[:, None], published)
        return np.asarray(visible & ~(visible[:, None, :] & better[None]).any(axis=-1))

    return known


_known = _known_with()


def _known_by_loops(now: Array, about: Array, published: Array) -> Array:
    out = np.zeros((len(now), len(about)), dtype=bool)
    for i, moment in enumerate(now.tolist()):
        newest: dict[int, int] = {}
        for j in np.argsort(published).tolist():
            if published[j] <= moment:
                newest[int(about[j])] = j
        out[i, list(newest.values())] = True
    return out


def _known_by_groups(now: Array, about: Array, published: Array) -> Array:
    rows = []
    for moment in now:
        stamps = np.where(published <= moment, published, -1)
        best = np.array([stamps[about == day].max() for day in about])
        rows.append((stamps == best) & (stamps >= 0))
    return np.array(rows)


def _last_ever(now: Array, about: Array, published: Array) -> Array:
    final = np.array([published[j] == published[about == about[j]].max() for j in range(len(about))])
    return np.asarray(final & (published <= now[:, None]))


def _newest_of_all(now: Array, about: Array, published: Array) -> Array:
    return _known_with(same=lambda one, other: one == one + 0 * other)(now, about, published)


KNOWN = Exercise(
    id=f"{CHAPTER}.known_by_then",
    title="What was known by then",
    signature="known_by_then(now: array of shape (queries,), about: array of shape (keys,), published: array "
    "of shape (keys,)) -> array of shape (queries, keys) of booleans",
    points=4,
    minutes=18,
    difficulty=4,
    draws=Draws(
        lambda known_by_then, rows, columns: heat_map(
            known_by_then(np.arange(30), np.array([5, 5, 12, 12, 25]), np.array([8, 16, 14, 20, 10])),
            rows=rows,
            columns=columns,
        ),
        axes=("time of the query", "number"),
        look="Each number is seen once it has been published, and until a revision of it comes.",
    ),
    reference=_known,
    make_cases=_known_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[1])),
            "There must be a row for each query and a column for each key.",
            about="form",
        ),
        Property(
            lambda args, value: not (np.asarray(value, dtype=bool) & (args[2] > args[0][:, None])).any(),
            "Your mask lets the future in: a query sees a number that was published after its own time.",
        ),
    ),
    mistakes=(
        Mistake(
            "by-what-it-is-about",
            _known_with(seen=lambda now, about, published: about <= now),
            "You let a number in once its day has come, with the last revision that there is. What counts "
            "is when each was published, which may be weeks later.",
        ),
        Mistake(
            "last-revision-alone",
            _last_ever,
            "You wait for the last revision of all. Until it came, an earlier number was known, and it is "
            "hidden now.",
        ),
        Mistake(
            "all-revisions",
            lambda now, about, published: published <= now[:, None],
            "Nothing of the future is seen. But a number that has been revised stays beside its revision: "
            "only the newest one that is known is to be seen.",
        ),
        Mistake(
            "first-stays",
            _known_with(replaced=lambda own, other: other < own),
            "Of several numbers about one day you keep the oldest. The newest one that is known replaces it.",
        ),
        Mistake(
            "strictly-before",
            _known_with(seen=lambda now, about, published: published < now),
            "What is published at the very second of the query is known already. Your query has to wait.",
        ),
        Mistake(
            "no-forecasts",
            _known_with(seen=lambda now, about, published: (published <= now) & (about <= now)),
            "You hide forecasts: numbers about a day to come. What has been published is known, whatever it "
            "is about.",
        ),
        Mistake(
            "one-for-all-days",
            _newest_of_all,
            "Only the newest number of all is left. A revision replaces numbers about its own day alone.",
        ),
        Mistake(
            "what-is-hidden",
            lambda *args: ~_known(*args),
            "Your answers are turned round: True stands for what a query may see.",
        ),
        Mistake(
            "turned",
            lambda *args: _known(*args).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "the-future",
            _known_with(seen=lambda now, about, published: published >= now),
            "Your comparison is the wrong way round: queries see what is published after them.",
        ),
    ),
    alternatives=(_known_by_loops, _known_by_groups, lambda *args: _known(*args).tolist()),
    hints=(
        "First the plain mask: `published <= now[:, None]`. Which of those numbers have been replaced?",
        "A number is replaced for a query if another one is about the same day, was published later, and is "
        "visible to this query too.",
        "A loop over the queries is fine: for each day in `about`, find the largest `published` among those "
        "that are visible.",
    ),
)


# --- moves_kept ------------------------------------------------------------------------------------

Moves = tuple[bool, bool, bool]
"""Whether a shift, a turn, a mirror leaves the scores as they are."""
Pairs = Callable[[Array, Array, Array, Array], Array]
"""From x and y of the query, x and y of the key."""

_BOXES: dict[str, tuple[Moves, Pairs]] = {
    "a penalty on the distance": ((True, True, True), lambda x, y, a, b: -np.hypot(x - a, y - b)),
    "a bump of the distance": ((True, True, True), lambda x, y, a, b: np.exp(-((x - a) ** 2) - (y - b) ** 2)),
    "the steps of a rook": ((True, False, True), lambda x, y, a, b: -np.abs(x - a) - np.abs(y - b)),
    "waves of both offsets": ((True, False, True), lambda x, y, a, b: np.cos(x - a) + np.cos(2 * (y - b))),
    "a wave of the offset": ((True, False, False), lambda x, y, a, b: np.sin(x - a + (y - b) / 2)),
    "a liking for what lies to one side": (
        (True, False, False),
        lambda x, y, a, b: np.tanh(x - a) - np.abs(y - b),
    ),
    "dot products": ((False, True, True), lambda x, y, a, b: x * a + y * b),
    "a liking for what lies further out": (
        (False, True, True),
        lambda x, y, a, b: np.hypot(x, y) - 2 * np.hypot(a, b),
    ),
    "on which side of the query it lies": ((False, True, False), lambda x, y, a, b: x * b - y * a),
    "the side, and dot products": (
        (False, True, False),
        lambda x, y, a, b: np.tanh(x * b - y * a) + x * a + y * b,
    ),
    "products of heights": ((False, False, True), lambda x, y, a, b: y * b - np.abs(x - a)),
    "fourth powers": ((False, False, True), lambda x, y, a, b: x**4 + y**4 - a**2 - b**2),
    "a pattern of tiles": (
        (False, False, True),
        lambda x, y, a, b: np.cos(TURN * x) - np.cos(TURN * y) * np.cos(TURN * a),
    ),
    "waves that change with the height": (
        (False, False, False),
        lambda x, y, a, b: np.sin(x - a) * np.cos(y) + b,
    ),
    "products of places": ((False, False, False), lambda x, y, a, b: x - 2 * b + y * a),
    "a penalty on the distance, and a slope": (
        (False, False, False),
        lambda x, y, a, b: -np.hypot(x - a, y - b) + 0.1 * x,
    ),
}


@dataclass(frozen=True)
class PlaneScores:
    """Scores of points in the plane, (n, 2): each with each, (n, n)."""

    kind: str

    def __call__(self, points: Any) -> np.ndarray:
        given = np.asarray(points, dtype=float)
        if given.ndim != 2 or given.shape[1] != 2:
            raise ValueError("give points as an array of shape (n, 2)")
        x, y = given.T
        return np.asarray(_BOXES[self.kind][1](x[:, None], y[:, None], x, y), dtype=float)


def _move_cases(rng: Generator) -> Iterator[Case]:
    wanted = dict.fromkeys(verdict for verdict, _ in _BOXES.values())
    groups = [[kind for kind, (verdict, _) in _BOXES.items() if verdict == each] for each in wanted]
    for kind in enough_of_each(rng, *groups):
        yield Case(kind, (PlaneScores(kind),))


CLOUD = np.array([[0.3, -0.7], [1.1, 0.4], [-0.9, 1.3], [0.8, 1.7], [-1.4, -0.2], [0.1, 0.6]])
SAME = 1e-9
Move = Callable[[Array], Array]


def _turned(points: Array, angle: float) -> Array:
    cos, sin = math.cos(angle), math.sin(angle)
    return np.asarray(points @ np.array([[cos, sin], [-sin, cos]]))


def _unmoved(scores: Any, move: Move, points: Array = CLOUD, most: float = SAME) -> bool:
    return bool(np.abs(np.asarray(scores(move(points))) - np.asarray(scores(points))).max() <= most)


def _shift_by(x: float, y: float) -> Move:
    return lambda points: points + np.array([x, y])


def _turn_by(angle: float) -> Move:
    return lambda points: _turned(points, angle)


SOME_SHIFT = _shift_by(0.37, -1.21)


def _moves_with(
    shift: Move = SOME_SHIFT,
    turn: Move = lambda points: _turned(points, 0.7),
    mirror: Move = lambda points: points * [-1, 1],
    points: Array = CLOUD,
    most: float = SAME,
) -> Callable[[Any], Moves]:
    def moves(scores: Any) -> Moves:
        shifted, turned, mirrored = (_unmoved(scores, move, points, most) for move in (shift, turn, mirror))
        return shifted, turned, mirrored

    return moves


_moves = _moves_with()


def _about_the_middle(points: Array) -> Array:
    middle = points.mean(axis=0)
    return _turned(points - middle, 0.7) + middle


def _moves_by_many(scores: Any) -> list[bool]:
    draw = np.random.default_rng(1)
    points = draw.normal(size=(9, 2))

    def holds(moves: Iterator[Move]) -> bool:
        return all(np.allclose(scores(move(points)), scores(points), atol=1e-8) for move in moves)

    return [
        holds(_shift_by(*step) for step in draw.normal(size=(5, 2))),
        holds(_turn_by(angle) for angle in draw.uniform(0, 6, size=5)),
        holds(iter([lambda p: np.stack([-p[:, 0], p[:, 1]], axis=1)])),
    ]


MOVES = Exercise(
    id=f"{CHAPTER}.moves_kept",
    title="Which moves does a score survive?",
    signature="moves_kept(scores: function from points of shape (n, 2) to an (n, n) array) -> three truth "
    "values: a shift, a turn, a mirror",
    points=4,
    minutes=18,
    difficulty=3,
    parts=("a shift", "a turn", "a mirror"),
    reference=_moves,
    make_cases=_move_cases,
    mistakes=(
        Mistake(
            "exactly-equal",
            _moves_with(most=0.0),
            "You compare with ==, and rounding makes equal scores differ in their last digit. Compare with "
            "np.allclose.",
        ),
        Mistake(
            "quarter-turn",
            _moves_with(turn=lambda points: points[:, ::-1] * [-1, 1]),
            "You try a quarter turn alone. A grid survives that, and still no other turn: try an angle that "
            "nobody would choose.",
        ),
        Mistake(
            "half-turn",
            _moves_with(turn=lambda points: -points),
            "You try half a turn alone. Steps along rows and columns survive that, and still no other turn: "
            "try an angle that nobody would choose.",
        ),
        Mistake(
            "whole-steps",
            _moves_with(shift=_shift_by(1, 2)),
            "You shift by whole numbers. A pattern of tiles survives that, and still no other shift.",
        ),
        Mistake(
            "shifted-to-the-side",
            _moves_with(shift=_shift_by(0.37, 0)),
            "You shift along x alone. A score may follow that and still hang on y.",
        ),
        Mistake(
            "half-turn-for-a-mirror",
            _moves_with(mirror=lambda points: -points),
            "You change the sign of both coordinates. In the plane that is half a turn, and no mirror.",
        ),
        Mistake(
            "mirror-across-the-diagonal",
            _moves_with(mirror=lambda points: points[:, ::-1]),
            "Your mirror swaps x and y. The one that is asked for turns the sign of x.",
        ),
        Mistake(
            "mirror-upside-down",
            _moves_with(mirror=lambda points: points * [1, -1]),
            "Your mirror turns the sign of y. The one that is asked for turns the sign of x.",
        ),
        Mistake(
            "mirror-is-transpose",
            lambda scores: (
                *_moves(scores)[:2],
                bool(np.allclose(scores(CLOUD), np.transpose(scores(CLOUD)))),
            ),
            "For the mirror you compare the scores with their transpose: that lets queries and keys change "
            "roles. A mirror moves the points.",
        ),
        Mistake(
            "about-the-middle",
            _moves_with(turn=_about_the_middle),
            "You turn the points about their middle. That is a turn about the origin and a shift in one, and "
            "a score may survive the one without the other.",
        ),
        Mistake(
            "one-point",
            _moves_with(points=CLOUD[:1]),
            "You try a single point. Its distance to itself is 0 wherever it stands: take several.",
        ),
        Mistake(
            "stretched",
            _moves_with(turn=lambda points: points @ np.array([[0.7, 0.7], [-0.7, 0.7]])),
            "Your turn shrinks the points a little. Take the cosine and the sine of one angle, with all "
            "their digits.",
        ),
        Mistake(
            "the-sum-alone",
            lambda scores: tuple(
                bool(abs(np.sum(scores(move(CLOUD))) - np.sum(scores(CLOUD))) < SAME)
                for move in (
                    _shift_by(0.37, -1.21),
                    lambda points: _turned(points, 0.7),
                    lambda points: points * [-1, 1],
                )
            ),
            "You compare one number made of all the scores. Differences cancel in it: compare score by "
            "score.",
        ),
    ),
    alternatives=(
        _moves_by_many,
        _moves_with(points=CLOUD[::-1] * 2, most=1e-6),
        lambda scores: np.array(_moves_with(shift=_shift_by(-0.83, 0.19), points=CLOUD[:4])(scores)),
    ),
    hints=(
        "Make some points of your own, with coordinates that are nothing special. Call `scores` for them, "
        "and for the moved ones.",
        "A turn by an angle is `points @ np.array([[cos, sin], [-sin, cos]])`; a mirror is "
        "`points * [-1, 1]`.",
        "Compare with `np.allclose`. A turn by a quarter and a shift by 1 are special: some scores survive "
        "them and no other.",
    ),
)


# --- log_distance_bases ----------------------------------------------------------------------------


def _bases_cases(rng: Generator) -> Iterator[Case]:
    yield Case("offsets -8, 0 and 8", (np.array([-8, 0, 8]), 2, 64))
    yield Case("at the edges of the windows", (np.array([0, 1, -1, 2, 3, -3, 6, 7, -7]), 3, 128))
    yield Case("Enformer's length", (np.array([-1536, -100, 5, 1536]), 4, 1536))
    for _ in range(3):
        count, length = int(rng.integers(2, 6)), int(rng.integers(20, 3000))
        yield Case("drawn", (rng.integers(-length, length + 1, size=7), count, length))


Basis = Callable[[Array, int, int], Array]


def _half_lives(count: int, length: int) -> Array:
    return np.asarray(8 * (length / 8) ** (np.arange(count) / (count - 1)))


def _falling(distance: Array, count: int, length: int) -> Array:
    return np.asarray(2.0 ** (-distance[:, None] / _half_lives(count, length)))


def _windows(distance: Array, count: int, length: int) -> Array:
    return np.asarray((distance[:, None] < 2.0 ** np.arange(1, count + 1) - 1).astype(float))


def _bases_with(
    falling: Basis = _falling,
    windows: Basis = _windows,
    sign: Callable[[Array], Array] = np.sign,
    distance: Callable[[Array], Array] = np.abs,
) -> Callable[[Array, int, int], Array]:
    def bases(offsets: Array, count: int, length: int) -> Array:
        far = distance(offsets)
        both = np.concatenate([falling(far, count, length), windows(far, count, length)], axis=1)
        return np.concatenate([both, both * sign(offsets)[:, None]], axis=1)

    return bases


_bases = _bases_with()


def _bases_by_loops(offsets: Array, count: int, length: int) -> list[list[float]]:
    rows = []
    for offset in offsets.tolist():
        way = abs(offset)
        lives = [
            math.exp(math.log(8) + (math.log(length) - math.log(8)) * k / (count - 1)) for k in range(count)
        ]
        one = [math.exp(-math.log(2) * way / life) for life in lives]
        one += [1.0 if way < 2**k - 1 else 0.0 for k in range(1, count + 1)]
        rows.append(one + [each * ((offset > 0) - (offset < 0)) for each in one])
    return rows


def _bases_by_halves(offsets: Array, count: int, length: int) -> Array:
    half_lives = np.logspace(np.log2(8), np.log2(length), count, base=2)
    far = np.abs(offsets)[:, None]
    one = np.hstack([0.5 ** (far / half_lives), far + 1 < 2 ** (1 + np.arange(count))])
    return np.hstack([one, np.sign(offsets)[:, None] * one])


BASES = Exercise(
    id=f"{CHAPTER}.log_distance_bases",
    title="Features of an offset",
    step_of=GENOME,
    signature="log_distance_bases(offsets: array of shape (n,) of ints, count: int, length: int) -> array of "
    "shape (n, 4 * count)",
    points=3,
    minutes=14,
    difficulty=3,
    draws=Draws(
        lambda log_distance_bases, across, up, fast, slow, window, signed: (
            lambda offsets, table: curve(
                offsets,
                {fast: table[:, 0], slow: table[:, 2], window: table[:, 5], signed: table[:, 8]},
                across=across,
                up=up,
            )
        )(np.arange(-40, 41), np.asarray(log_distance_bases(np.arange(-40, 41), 3, 64))),
        axes=(
            "offset",
            "feature",
            "half-life 8",
            "half-life 64",
            "window",
            "half-life 64, with the sign",
        ),
        look="Three of these features are the same on both sides of 0, and the one with the sign is turned "
        "round: only it can tell before from after.",
    ),
    reference=lambda offsets, count, length: _bases(offsets, count, length),
    make_cases=_bases_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), 4 * args[1]),
            "There must be 4 * count features for each offset.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.abs(value) <= 1 + 1e-6).all()),
            "No feature can be above 1 or below -1.",
        ),
        Property(
            lambda args, value: bool(
                (
                    np.abs(np.asarray(value)[:, : 2 * args[1]] - np.abs(np.asarray(value)[:, : 2 * args[1]]))
                    <= 1e-6
                ).all()
            ),
            "The features of the first half look at the distance alone, and none of them is negative.",
        ),
    ),
    mistakes=(
        Mistake(
            "evenly-spaced",
            _bases_with(
                falling=lambda d, count, length: 2.0 ** (-d[:, None] / np.linspace(8, length, count))
            ),
            "Your half-lives are evenly spaced. Each is to be the same number of times the one before it.",
        ),
        Mistake(
            "to-a-third",
            _bases_with(falling=lambda d, count, length: np.exp(-d[:, None] / _half_lives(count, length))),
            "Over a half-life your features fall to 0.37. They are to fall to a half.",
        ),
        Mistake(
            "not-the-distance",
            _bases_with(distance=lambda offsets: offsets),
            "You use the offset with its sign: for keys before the query the features grow above 1. The "
            "distance has no sign.",
        ),
        Mistake(
            "window-too-wide",
            _bases_with(
                windows=lambda d, count, length: (d[:, None] <= 2.0 ** np.arange(1, count + 1) - 1) * 1.0
            ),
            "The windows hold one distance too many: a distance of just 2^k - 1 lies outside.",
        ),
        Mistake(
            "windows-from-0",
            _bases_with(windows=lambda d, count, length: (d[:, None] < 2.0 ** np.arange(count) - 1) * 1.0),
            "Your first window is empty, not even the key itself is in it. The powers begin with 2.",
        ),
        Mistake(
            "no-sign",
            _bases_with(sign=lambda offsets: np.ones(len(offsets))),
            "Your second half repeats the first. It carries the sign of the offset: without it nobody can "
            "tell before from after.",
        ),
        Mistake(
            "sign-turned",
            _bases_with(sign=lambda offsets: -np.sign(offsets)),
            "The sign of the second half is turned round. It is that of the offset.",
        ),
        Mistake(
            "zero-counts-as-after",
            _bases_with(sign=lambda offsets: np.where(offsets < 0, -1, 1)),
            "At offset 0 your second half says after. There it is neither, and the sign is 0.",
        ),
        Mistake(
            "kind-by-kind",
            lambda offsets, count, length: _bases(offsets, count, length)[
                :, np.arange(4 * count).reshape(2, 2, count).swapaxes(0, 1).ravel()
            ],
            "Each kind stands beside its own copy with the sign. Here all features without a sign come "
            "first.",
        ),
        Mistake(
            "windows-first",
            lambda offsets, count, length: _bases(offsets, count, length)[
                :, np.arange(4 * count).reshape(2, 2, count)[:, ::-1].ravel()
            ],
            "Your windows come before the falling features. They come after them.",
        ),
        Mistake(
            "from-one",
            _bases_with(
                falling=lambda d, count, length: (
                    2.0 ** (-d[:, None] / (1.0 * length) ** (np.arange(count) / (count - 1)))
                )
            ),
            "Your half-lives begin at 1. The shortest is 8.",
        ),
    ),
    alternatives=(_bases_by_loops, _bases_by_halves, lambda *args: _bases(*args).tolist()),
    hints=(
        "Evenly spaced in the logarithm: `2 ** np.linspace(np.log2(8), np.log2(length), count)`.",
        "A feature with half-life h is `0.5 ** (distance / h)`. A window is a comparison, as 0 and 1.",
        "Join both kinds with `np.concatenate(..., axis=1)`, and join that with itself times "
        "`np.sign(offsets)[:, None]`.",
    ),
)


# --- both_strands ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class StrandModel:
    """Of bases, (n,) numbers from 0 to 3: what it says of each place, (n,). It reads one strand."""

    seed: int

    def __call__(self, bases: Any) -> np.ndarray:
        given = np.asarray(bases)
        if given.ndim != 1 or given.dtype.kind not in "iu" or ((given < 0) | (given > 3)).any():
            raise ValueError("give bases as one array of whole numbers from 0 to 3")
        taps = np.random.default_rng(self.seed).normal(size=(4, 5))
        seen = sum(np.convolve(np.pad(given == base, 2), taps[base], "valid") for base in range(4))
        return np.asarray(np.tanh(seen) + np.arange(len(given)) / 20)


def _strand_cases(rng: Generator) -> Iterator[Case]:
    def model() -> StrandModel:
        return StrandModel(int(rng.integers(1000)))

    yield Case("AACG", (model(), np.array([0, 0, 1, 2])))
    yield Case("a piece that is its own other strand: ACGT", (model(), np.array([0, 1, 2, 3])))
    yield Case("one base", (model(), np.array([2])))
    for _ in range(4):
        yield Case("drawn", (model(), rng.integers(0, 4, size=int(rng.integers(6, 14)))))


Model = Callable[[Any], Any]


def _strands_with(
    other: Callable[[Array], Array] = lambda bases: 3 - bases[::-1],
    back: Callable[[Array], Array] = lambda values: values[::-1],
    join: Callable[[Array, Array], Array] = lambda one, two: (one + two) / 2,
) -> Callable[[Model, Array], Array]:
    def both(model: Model, bases: Array) -> Array:
        return np.asarray(join(np.asarray(model(bases)), back(np.asarray(model(other(bases))))))

    return both


_both_strands = _strands_with()


def _strands_by_words(model: Model, bases: Array) -> list[float]:
    partner = {"A": "T", "C": "G", "G": "C", "T": "A"}
    word = "".join("ACGT"[base] for base in bases)
    other = np.array(["ACGT".index(partner[letter]) for letter in reversed(word)])
    here, there = model(bases), model(other)
    return [(here[i] + there[len(word) - 1 - i]) / 2 for i in range(len(word))]


STRANDS = Exercise(
    id=f"{CHAPTER}.both_strands",
    title="A model that reads both strands",
    step_of=GENOME,
    signature="both_strands(model: function from (n,) bases to (n,) numbers, bases: array of shape (n,) of 0 "
    "to 3) -> array of shape (n,)",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_both_strands,
    make_cases=_strand_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[1]),
            "There must be one number for each base.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "not-turned-back",
            _strands_with(back=lambda values: values),
            "What the model says of the other strand is still in the order of that strand: its first number "
            "is about the last base of this one.",
        ),
        Mistake(
            "not-complemented",
            _strands_with(other=lambda bases: bases[::-1]),
            "You read this strand backwards. On the other one the partners stand: T for A, G for C.",
        ),
        Mistake(
            "not-reversed",
            _strands_with(other=lambda bases: 3 - bases),
            "You replace the bases by their partners and read them forwards. The other strand is read from "
            "its other end.",
        ),
        Mistake(
            "complement-in-place",
            _strands_with(other=lambda bases: 3 - bases, back=lambda values: values),
            "You only replace the bases by their partners. The other strand is read from its other end, and "
            "what the model says of it has to be turned back.",
        ),
        Mistake(
            "reversed-in-place",
            _strands_with(other=lambda bases: bases[::-1], back=lambda values: values),
            "You read this strand backwards and average by place. On the other strand the partners stand, "
            "and its numbers have to be turned back.",
        ),
        Mistake(
            "summed",
            _strands_with(join=lambda one, two: one + two),
            "You add the two. Their mean is asked for.",
        ),
        Mistake(
            "one-strand",
            lambda model, bases: model(bases),
            "This is the model as it is. Read on the other strand, it would say something else of the same "
            "place.",
        ),
        Mistake(
            "other-strand-alone",
            _strands_with(join=lambda one, two: two),
            "You use the other strand alone. Take the mean of both.",
        ),
        Mistake(
            "larger-of-both",
            _strands_with(join=lambda one, two: np.maximum(one, two)),
            "You take the larger of the two. That follows the strands as well, and the mean is asked for.",
        ),
        Mistake(
            "wrong-partners",
            _strands_with(other=lambda bases: (bases ^ 1)[::-1]),
            "Your partners are A with C, and G with T. A stands across from T, and C from G.",
        ),
        Mistake(
            "one-number",
            lambda model, bases: float(np.mean(model(bases)) + np.mean(model(3 - bases[::-1]))) / 2,
            "One number for the whole piece is the same for both strands, and no longer says where. Give one "
            "for each base.",
        ),
        Mistake(
            "difference",
            _strands_with(join=lambda one, two: (one - two) / 2),
            "You subtract the two. Their mean is asked for.",
        ),
    ),
    alternatives=(
        _strands_by_words,
        _strands_with(other=lambda bases: np.asarray(reverse_complement(bases))),
        lambda model, bases: np.mean([model(bases), np.flip(model(3 - np.flip(bases)))], axis=0),
    ),
    hints=(
        "With A, C, G, T as 0 to 3, the partner of a base is `3 - base`. The other strand is read from its "
        "end: `[::-1]`.",
        "Call the model for both strands. Which number of the second is about the first base of this strand?",
        "The last one: turn the second array back with `[::-1]` before you take the mean.",
    ),
)


# --- point_waves and seen_frequency ----------------------------------------------------------------


def _wave_cases(rng: Generator) -> Iterator[Case]:
    yield Case(
        "the corners of a square", (np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([[0.25, 0.5]]))
    )
    yield Case("numbers in a row", (np.array([[0.0], [0.125], [0.25]]), np.array([[1.0], [2.0], [4.0]])))
    yield Case("two axes, each by itself", (rng.uniform(-1, 1, size=(4, 2)), np.eye(2)))
    for _ in range(3):
        axes, features = int(rng.integers(2, 4)), int(rng.integers(2, 6))
        points = rng.uniform(-1, 1, size=(5, axes))
        yield Case("drawn", (points, rng.normal(scale=3, size=(features, axes))))


def _point_waves(points: Array, directions: Array) -> Array:
    angle = TURN * points @ directions.T
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)


def _of_angles(angle: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def waves(points: Array, directions: Array) -> Array:
        theta = angle(points, directions)
        return np.concatenate([np.sin(theta), np.cos(theta)], axis=1)

    return waves


def _waves_by_loops(points: Array, directions: Array) -> list[list[float]]:
    rows = []
    for point in points.tolist():
        turns = [sum(p * d for p, d in zip(point, way, strict=True)) for way in directions.tolist()]
        rows.append([f(2 * math.pi * turn) for f in (math.sin, math.cos) for turn in turns])
    return rows


def _waves_by_arrows(points: Array, directions: Array) -> Array:
    tips = np.exp(2j * np.pi * np.einsum("pa,fa->pf", points, directions))
    return np.hstack([tips.imag, tips.real])


def _likeness(point_waves: Callable[..., Any], scale: float) -> Array:
    """Of points on a line with the one at 0."""
    at = np.linspace(-1, 1, 101)[:, None]
    table = np.asarray(point_waves(at, gaussian_frequencies(256, 1, scale=scale, seed=0)))
    return np.asarray(table @ table[50] / 256)


POINT_WAVES = Exercise(
    id=f"{CHAPTER}.point_waves",
    title="Sines and cosines along directions",
    step_of=WAVES,
    signature="point_waves(points: array of shape (n, axes), directions: array of shape (features, axes), in "
    "turns per unit) -> array of shape (n, 2 * features)",
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda point_waves, across, up, low, middle, high: curve(
            np.linspace(-1, 1, 101),
            {name: _likeness(point_waves, scale) for name, scale in ((low, 0.5), (middle, 2.0), (high, 8.0))},
            across=across,
            up=up,
        ),
        axes=("place of the other point", "likeness to the point at 0", "scale 0.5", "scale 2", "scale 8"),
        look="Directions are drawn at three scales: the larger the scale, the nearer a point has to be to "
        "look like the one at 0.",
    ),
    reference=_point_waves,
    make_cases=_wave_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), 2 * len(args[1])),
            "There must be a sine and a cosine for each point and each direction.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.square(value)[:, : len(args[1])] + np.square(value)[:, len(args[1]) :], 1, atol=1e-4
                )
            ),
            "A sine and its cosine belong to one angle: their squares must sum to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "radians",
            _of_angles(lambda points, directions: points @ directions.T),
            "Your angles are in turns. Multiply by 2 pi.",
        ),
        Mistake(
            "half-turns",
            _of_angles(lambda points, directions: np.pi * points @ directions.T),
            "You multiply by pi. A whole turn is 2 pi.",
        ),
        Mistake(
            "cosines-first",
            lambda points, directions: np.roll(_point_waves(points, directions), len(directions), axis=1),
            "Your cosines come first. All sines do, and then all cosines.",
        ),
        Mistake(
            "side-by-side",
            lambda points, directions: (
                _point_waves(points, directions)
                .reshape(len(points), 2, -1)
                .swapaxes(1, 2)
                .reshape(len(points), -1)
            ),
            "Each sine stands beside its cosine. All sines come first, and then all cosines.",
        ),
        Mistake(
            "directions-of-length-one",
            _of_angles(
                lambda points, directions: (
                    TURN * points @ (directions / np.linalg.norm(directions, axis=1, keepdims=True)).T
                )
            ),
            "You divide the directions by their lengths. The length is the frequency: it has to stay.",
        ),
        Mistake(
            "largest-part-alone",
            _of_angles(
                lambda points, directions: (
                    TURN
                    * points
                    @ (directions * (np.abs(directions) == np.abs(directions).max(1)[:, None])).T
                )
            ),
            "Only the largest part of each direction counts in yours. All coordinates do: it is a dot "
            "product.",
        ),
        Mistake(
            "sum-of-coordinates",
            _of_angles(lambda points, directions: TURN * np.outer(points.sum(1), directions.sum(1))),
            "You add up coordinates before you multiply. Each coordinate is multiplied by its own part of "
            "the direction.",
        ),
        Mistake(
            "distances",
            _of_angles(
                lambda points, directions: TURN * np.linalg.norm(points[:, None] - directions[None], axis=-1)
            ),
            "You take the distance between point and direction. It is their dot product.",
        ),
        Mistake(
            "wave-of-the-length",
            _of_angles(
                lambda points, directions: (
                    TURN * np.outer(np.linalg.norm(points, axis=1), np.linalg.norm(directions, axis=1))
                )
            ),
            "Your angle is the length of the point times the length of the direction. The angle between the "
            "two counts as well: take the dot product.",
        ),
        Mistake(
            "degrees",
            _of_angles(lambda points, directions: 360 * points @ directions.T),
            "Your angles are in degrees. The functions of NumPy take radians.",
        ),
    ),
    alternatives=(
        _waves_by_loops,
        _waves_by_arrows,
        lambda points, directions: fourier_features(points, directions),
    ),
    hints=(
        "How many turns does a wave make from the origin to the point? The dot product of the point with the "
        "direction.",
        "`points @ directions.T` holds all these dot products, in turns.",
        "Multiply by `2 * np.pi`, and join the sines and the cosines with `np.concatenate(..., axis=1)`.",
    ),
)


def _seen_cases(rng: Generator) -> Iterator[Case]:
    yield Case("up to 16 turns, 8 samples a unit", (np.arange(17.0), 8))
    yield Case("half of the samples, and just beyond", (np.array([4.9, 5.0, 5.1, 9.9, 10.1]), 10))
    yield Case("NeRF's ten bands, 64 samples a unit", (2.0 ** np.arange(-1, 9), 64))
    yield Case("an odd number of samples", (np.array([1.0, 2, 3, 4, 5, 6, 7]), 5))
    for _ in range(3):
        samples = int(rng.integers(4, 60))
        yield Case("drawn", (rng.uniform(0, 4 * samples, size=8), samples))


def _seen(frequencies: Array, samples: int) -> Array:
    return np.asarray(np.abs(frequencies - samples * np.round(frequencies / samples)))


def _folded(frequencies: Array, samples: int) -> Array:
    rest = frequencies % samples
    return np.minimum(rest, samples - rest)


SEEN = Exercise(
    id=f"{CHAPTER}.seen_frequency",
    title="The wave that the samples show",
    step_of=WAVES,
    signature="seen_frequency(frequencies: array of shape (n,), in turns per unit, samples: int) -> array of "
    "shape (n,), in turns per unit",
    points=3,
    minutes=14,
    difficulty=3,
    draws=Draws(
        lambda seen_frequency, across, up: curve(
            np.linspace(0, 32, 257),
            {"": seen_frequency(np.linspace(0, 32, 257), 8)},
            across=across,
            up=up,
        ),
        axes=("frequency of the wave", "frequency that is seen"),
        look="With 8 samples a wave is seen as it is up to a frequency of 4, and from there the line is "
        "folded down and up again.",
    ),
    reference=_seen,
    make_cases=_seen_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one frequency for each that is given.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.asarray(value) >= -1e-9).all()),
            "A frequency is not negative here.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-folded",
            lambda frequencies, samples: frequencies % samples,
            "Whole turns from sample to sample are gone, and that is right. What remains may still be more "
            "than half a turn: then the samples show a slower wave that runs backwards.",
        ),
        Mistake(
            "as-it-is",
            lambda frequencies, samples: frequencies * 1.0,
            "These are the frequencies themselves. A wave that makes more than half a turn from sample to "
            "sample looks like a slower one.",
        ),
        Mistake(
            "cut",
            lambda frequencies, samples: np.minimum(frequencies, samples / 2),
            "You cut at half the samples. A wave that is too fast does not stop there: it looks slower "
            "again.",
        ),
        Mistake(
            "remainder-of-the-half",
            lambda frequencies, samples: frequencies % (samples / 2),
            "At half the samples yours jumps back to 0. It goes down again as it went up.",
        ),
        Mistake(
            "silent",
            lambda frequencies, samples: np.where(frequencies > samples / 2, 0, frequencies),
            "What is too fast vanishes in yours. It is still seen, as a slower wave.",
        ),
        Mistake(
            "with-sign",
            lambda frequencies, samples: frequencies - samples * np.round(frequencies / samples),
            "The sign says that the wave runs backwards. Return its size.",
        ),
        Mistake(
            "folded-once",
            lambda frequencies, samples: np.where(
                frequencies > samples / 2, np.abs(samples - frequencies), frequencies
            ),
            "You fold once. A wave that makes several turns from sample to sample loses all of them.",
        ),
        Mistake(
            "folded-at-the-samples",
            lambda frequencies, samples: np.abs(
                frequencies - 2 * samples * np.round(frequencies / (2 * samples))
            ),
            "You fold at the number of samples. A wave that makes just one turn from sample to sample looks "
            "like none at all.",
        ),
        Mistake(
            "turns-between-samples",
            lambda frequencies, samples: _seen(frequencies, samples) / samples,
            "These are turns from sample to sample. Turns per unit are asked for.",
        ),
        Mistake(
            "wavelength",
            lambda frequencies, samples: 1 / np.maximum(_seen(frequencies, samples), 1e-3),
            "These are wavelengths. Frequencies are asked for.",
        ),
    ),
    alternatives=(
        _folded,
        lambda frequencies, samples: np.arccos(np.cos(TURN * frequencies / samples)) * samples / TURN,
        lambda frequencies, samples: [
            min(abs(each - k * samples) for k in range(6)) for each in frequencies.tolist()
        ],
    ),
    absolute_tolerance=1e-5,
    hints=(
        "How many turns does the wave make from one sample to the next? Whole turns cannot be seen.",
        "Three quarters of a turn forwards look like one quarter backwards.",
        "So look for the multiple of `samples` that is nearest to the frequency, with `np.round`. How far is "
        "it?",
    ),
)


# --- distance_bumps and signed_volume --------------------------------------------------------------


def _bump_cases(rng: Generator) -> Iterator[Case]:
    yield Case(
        "three atoms in a row", (np.array([[0.0, 0, 0], [1, 0, 0], [3, 0, 0]]), np.array([1.0, 2.0]), 0.5)
    )
    yield Case("one distance, 5", (np.array([[0.0, 0, 0], [0, 3, 4]]), np.array([4.0, 5.0, 6.0]), 1.0))
    for _ in range(4):
        atoms = rng.normal(scale=1.5, size=(int(rng.integers(3, 6)), 3))
        centres = np.sort(rng.uniform(0, 4, size=int(rng.integers(2, 5))))
        yield Case("drawn", (atoms, centres, float(rng.uniform(0.3, 1.5))))


def _lengths(points: Array) -> Array:
    return np.asarray(np.linalg.norm(points[:, None] - points, axis=-1))


def _bumps_of(
    distance: Callable[[Array], Array] = _lengths,
    bump: Callable[[Array, float], Array] = lambda gap, width: np.exp(-((gap / width) ** 2) / 2),
) -> Callable[[Array, Array, float], Array]:
    return lambda points, centres, width: bump(distance(points)[..., None] - centres, width)


_bumps = _bumps_of()


def _bumps_by_loops(points: Array, centres: Array, width: float) -> list[list[list[float]]]:
    return [
        [[math.exp(-((math.dist(a, b) - c) ** 2) / (2 * width * width)) for c in centres] for b in points]
        for a in points
    ]


def _bumps_by_products(points: Array, centres: Array, width: float) -> Array:
    products = points @ points.T
    squares = np.diag(products)
    far = np.sqrt(np.maximum(squares[:, None] + squares - 2 * products, 0))
    far[np.diag_indices(len(points))] = 0
    return np.asarray(np.exp(-0.5 * ((far[..., None] - centres) / width) ** 2))


BUMPS = Exercise(
    id=f"{CHAPTER}.distance_bumps",
    title="Features that no turn changes",
    step_of=MOLECULE,
    signature="distance_bumps(points: array of shape (n, 3), centres: array of shape (k,), width: float) -> "
    "array of shape (n, n, k)",
    points=2,
    minutes=12,
    difficulty=2,
    draws=Draws(
        lambda distance_bumps, across, up, *names: (
            lambda bumps: curve(
                np.linspace(0, 5, 51), dict(zip(names, bumps, strict=True)), across=across, up=up
            )
        )(
            np.asarray(
                distance_bumps(np.outer(np.linspace(0, 5, 51), [1, 0, 0]), np.array([1.0, 2.0, 3.0]), 0.5)
            )[0].T
        ),
        axes=("distance", "feature", "centre 1", "centre 2", "centre 3"),
        look="Each feature is a bump over the distance, with its top at its centre.",
    ),
    reference=lambda points, centres, width: _bumps(points, centres, width),
    make_cases=_bump_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[0]), len(args[1])),
            "There must be one number for each pair of points and each centre.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) >= -1e-9).all() and (np.asarray(value) <= 1 + 1e-6).all()
            ),
            "A bump is 1 at its top and never below 0.",
        ),
        Property(
            lambda args, value: bool(np.allclose(value, np.swapaxes(value, 0, 1), atol=1e-5)),
            "The distance there is the distance back: the features of a pair must not hang on which point "
            "comes first.",
        ),
    ),
    mistakes=(
        Mistake(
            "squared-distance",
            _bumps_of(lambda points: _lengths(points) ** 2),
            "You compare the square of the distance with the centres. Take its root.",
        ),
        Mistake(
            "no-half",
            _bumps_of(bump=lambda gap, width: np.exp(-((gap / width) ** 2))),
            "Your bumps are too narrow: the square is divided by 2 in the exponent.",
        ),
        Mistake(
            "width-not-squared",
            _bumps_of(bump=lambda gap, width: np.exp(-(gap**2) / (2 * width))),
            "The width is not squared. Divide the gap by the width, and square it then.",
        ),
        Mistake(
            "not-squared",
            _bumps_of(bump=lambda gap, width: np.exp(-np.abs(gap) / (2 * width))),
            "Your bumps have a sharp top. The gap is squared.",
        ),
        Mistake(
            "rook",
            _bumps_of(lambda points: np.abs(points[:, None] - points).sum(axis=-1)),
            "You add up the steps along the three axes. Turn the molecule, and that sum changes. Take the "
            "length of the difference.",
        ),
        Mistake(
            "largest-step",
            _bumps_of(lambda points: np.abs(points[:, None] - points).max(axis=-1)),
            "You take the largest step along an axis. Turn the molecule, and that changes. Take the length "
            "of the difference.",
        ),
        Mistake(
            "from-the-origin",
            _bumps_of(lambda points: np.abs(np.subtract.outer(*[np.linalg.norm(points, axis=1)] * 2))),
            "You compare how far each point is from the origin. Move the molecule, and that changes. Take "
            "the distance from point to point.",
        ),
        Mistake(
            "product",
            _bumps_of(lambda points: points @ points.T),
            "You take dot products. They hang on where the origin is. Take distances.",
        ),
        Mistake(
            "density",
            _bumps_of(
                bump=lambda gap, width: np.exp(-((gap / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
            ),
            "You divide by the area below the bump, as in a density. Here the top is 1.",
        ),
        Mistake(
            "the-gap-itself",
            _bumps_of(bump=lambda gap, width: gap / width),
            "This is the gap in widths. The bump of it is asked for.",
        ),
    ),
    alternatives=(
        _bumps_by_loops,
        _bumps_by_products,
        lambda *args: _bumps(*args).tolist(),
    ),
    hints=(
        "All differences at once: `points[:, None] - points` has shape (n, n, 3). What is the length of "
        "each?",
        "`np.linalg.norm(..., axis=-1)` gives the distances. Give them one more axis, `[..., None]`, and "
        "subtract the centres.",
        "Divide the gap by the width, square it, halve it, and take `np.exp` of its negative.",
    ),
)


def _corner_cases(rng: Generator) -> Iterator[Case]:
    right = np.vstack([np.zeros(3), np.eye(3)])
    yield Case("the three axes", (right,))
    yield Case("the same in a mirror", (right * [-1, 1, 1],))
    yield Case("moved far away", (right + np.array([10, -20, 30]),))
    yield Case("all in one plane", (np.array([[0.0, 0, 1], [2, 0, 1], [0, 3, 1], [4, 5, 1]]),))
    for _ in range(4):
        yield Case("drawn", (rng.normal(scale=2, size=(4, 3)),))


def _volume(corners: Array) -> float:
    return float(np.linalg.det(corners[1:] - corners[0]) / 6)


def _volume_by_hand(corners: Array) -> float:
    a, b, c = (corners[1:] - corners[0]).tolist()
    cross = (b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0])
    return float(np.dot(a, cross)) / 6


VOLUME = Exercise(
    id=f"{CHAPTER}.signed_volume",
    title="Left hand or right hand?",
    step_of=MOLECULE,
    signature="signed_volume(corners: array of shape (4, 3)) -> float",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_volume,
    make_cases=_corner_cases,
    mistakes=(
        Mistake(
            "without-sign",
            lambda corners: abs(_volume(corners)),
            "The size is right. You drop the sign, and with it the hand: a molecule and its mirror image "
            "look the same again.",
        ),
        Mistake(
            "other-hand",
            lambda corners: -_volume(corners),
            "The sign is turned round. Take the three arrows in the order in which the corners are given.",
        ),
        Mistake(
            "box",
            lambda corners: 6 * _volume(corners),
            "This is the volume of the box that the three arrows span. The body with four corners is a sixth "
            "of it.",
        ),
        Mistake(
            "half-of-it",
            lambda corners: 3 * _volume(corners),
            "You halve the box, as for a triangle. The body with four corners is a sixth of it.",
        ),
        Mistake(
            "third-of-it",
            lambda corners: 2 * _volume(corners),
            "You take a third of the box, as for a pyramid on the whole base. Its base is a triangle here.",
        ),
        Mistake(
            "from-the-origin",
            lambda corners: float(np.linalg.det(corners[:3]) / 6),
            "You take the corners themselves for arrows, so the origin is a corner, and the last one does "
            "not count. Subtract the first corner from the others.",
        ),
        Mistake(
            "from-the-origin-without-the-first",
            lambda corners: float(np.linalg.det(corners[1:]) / 6),
            "You take the corners themselves for arrows. Move the molecule, and the number changes: subtract "
            "the first corner.",
        ),
        Mistake(
            "hand-alone",
            lambda corners: float(np.sign(np.round(_volume(corners), 12))),
            "This is the sign alone. The volume is asked for, with its sign.",
        ),
        Mistake(
            "lengths-multiplied",
            lambda corners: float(np.prod(np.linalg.norm(corners[1:] - corners[0], axis=1)) / 6),
            "You multiply the lengths of the arrows, as if they stood at right angles. The determinant knows "
            "their angles, and their hand.",
        ),
    ),
    alternatives=(
        _volume_by_hand,
        lambda corners: float(np.linalg.det(np.diff(corners, axis=0)) / 6),
        lambda corners: (
            np.dot(corners[1] - corners[0], np.cross(corners[2] - corners[0], corners[3] - corners[0])) / 6
        ),
        lambda corners: float(np.linalg.det(np.hstack([np.ones((4, 1)), corners])) / 6),
    ),
    hints=(
        "Three arrows lead from the first corner to the three others.",
        "`np.linalg.det` of three arrows is the volume of the box that they span, with a sign for the hand.",
        "The body with four corners is a sixth of the box: `np.linalg.det(corners[1:] - corners[0]) / 6`.",
    ),
)


# --- graph_laplacian, graph_waves and heat_between -------------------------------------------------


def _path(nodes: int) -> Array:
    return np.eye(nodes, k=1) + np.eye(nodes, k=-1)


def _ring(nodes: int) -> Array:
    line = np.eye(nodes)
    return np.roll(line, 1, axis=0) + np.roll(line, -1, axis=0)


def _star(nodes: int) -> Array:
    graph = np.zeros((nodes, nodes))
    graph[0, 1:] = graph[1:, 0] = 1
    return graph


def _drawn_graph(rng: Generator, nodes: int) -> Array:
    """Connected, with weights; no two eigenvalues alike, and no wave that is near 0 at the first node."""
    while True:
        upper = np.triu(
            rng.uniform(0.5, 2, size=(nodes, nodes)) * (rng.uniform(size=(nodes, nodes)) < 0.5), 1
        )
        graph = np.round(upper + upper.T, 2)
        values, vectors = np.linalg.eigh(_laplacian(graph))
        if np.diff(values).min() > 0.05 and np.abs(vectors[0]).min() > 0.02:
            return graph


def _graph_cases(rng: Generator) -> Iterator[Case]:
    yield Case("a path of 3", (_path(3),))
    yield Case("a star of 5", (_star(5),))
    yield Case("two pairs that nothing joins", (np.kron(np.eye(2), _path(2)),))
    yield Case("a node that stands alone", (np.pad(_ring(3), ((0, 1), (0, 1))),))
    for _ in range(3):
        yield Case("weights, drawn", (_drawn_graph(rng, int(rng.integers(4, 8))),))


def _laplacian(adjacency: Array) -> Array:
    return np.asarray(np.diag(adjacency.sum(axis=1)) - adjacency)


def _normalised(adjacency: Array) -> Array:
    root = 1 / np.sqrt(np.maximum(adjacency.sum(axis=1), 1e-12))
    return np.asarray(np.eye(len(adjacency)) - root[:, None] * adjacency * root)


def _laplacian_by_edges(adjacency: Array) -> Array:
    found = np.zeros(adjacency.shape)
    for i, j in zip(*np.nonzero(np.triu(adjacency)), strict=True):
        edge = np.zeros(len(adjacency))
        edge[i], edge[j] = 1, -1
        found += adjacency[i, j] * np.outer(edge, edge)
    return found


LAPLACIAN = Exercise(
    id=f"{CHAPTER}.graph_laplacian",
    title="What a node has over its neighbours",
    step_of=GRAPH,
    signature="graph_laplacian(adjacency: array of shape (nodes, nodes)) -> array of shape (nodes, nodes)",
    points=1,
    minutes=6,
    difficulty=2,
    reference=_laplacian,
    make_cases=_graph_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be a row and a column for each node.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=1), 0, atol=1e-4)),
            "Where all neighbours have the same number, the difference is 0: each row must sum to 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "sign-turned",
            lambda adjacency: -_laplacian(adjacency),
            "The sign is turned round: degrees are positive, and edges negative.",
        ),
        Mistake(
            "added",
            lambda adjacency: np.diag(adjacency.sum(axis=1)) + adjacency,
            "You add the neighbours. Subtract them.",
        ),
        Mistake(
            "edges-counted",
            lambda adjacency: np.diag((adjacency > 0).sum(axis=1)) - adjacency,
            "You count the edges of each node. With weights, the degree is the sum of the weights.",
        ),
        Mistake(
            "weights-dropped",
            lambda adjacency: _laplacian((adjacency > 0) * 1.0),
            "You take every edge as 1. Edges have weights.",
        ),
        Mistake(
            "normalised",
            _normalised,
            "You divide by the roots of the degrees: that is the normalised Laplacian. The plain one is "
            "asked for.",
        ),
        Mistake(
            "walker",
            lambda adjacency: (
                np.eye(len(adjacency)) - adjacency / np.maximum(adjacency.sum(axis=1, keepdims=True), 1e-12)
            ),
            "You divide each row by its degree: that belongs to a random walk. The plain Laplacian is asked "
            "for.",
        ),
        Mistake(
            "one-for-the-degree",
            lambda adjacency: np.eye(len(adjacency)) - adjacency,
            "Your diagonal is 1 everywhere. It holds the degree of each node.",
        ),
        Mistake(
            "all-degrees",
            lambda adjacency: np.eye(len(adjacency)) * adjacency.sum() - adjacency,
            "Your diagonal holds the sum of the whole matrix. Sum each row.",
        ),
        Mistake(
            "degrees-everywhere",
            lambda adjacency: adjacency.sum(axis=1, keepdims=True) - adjacency,
            "Your degrees stand in every column. They stand on the diagonal alone.",
        ),
    ),
    alternatives=(
        _laplacian_by_edges,
        lambda adjacency: np.where(
            np.eye(len(adjacency)) > 0, adjacency.sum(axis=0, keepdims=True), -adjacency
        ),
        lambda adjacency: (np.diag(adjacency @ np.ones(len(adjacency))) - adjacency).tolist(),
    ),
    hints=(
        "The degree of a node is the sum of its row.",
        "`np.diag` puts a list on the diagonal of a matrix.",
        "Put the degrees there, and subtract the adjacency.",
    ),
)


def _graph_wave_cases(rng: Generator) -> Iterator[Case]:
    yield Case("a path of 3", (_path(3), 2))
    yield Case("a path of 8", (_path(8), 4))
    for _ in range(4):
        nodes = int(rng.integers(5, 9))
        yield Case("weights, drawn", (_drawn_graph(rng, nodes), int(rng.integers(2, nodes))))


def _by_first(vectors: Array) -> Array:
    return np.asarray(vectors * np.where(vectors[0] < 0, -1, 1))


def _graph_waves(adjacency: Array, count: int) -> Array:
    return _by_first(np.linalg.eigh(_laplacian(adjacency))[1][:, 1 : count + 1])


def _waves_of_adjacency(adjacency: Array, count: int) -> Array:
    return _by_first(np.linalg.eigh(adjacency)[1][:, ::-1][:, 1 : count + 1])


def _by_largest(vectors: Array) -> Array:
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return np.asarray(vectors * np.where(largest < 0, -1, 1))


def _waves_by_svd(adjacency: Array, count: int) -> Array:
    left, _, _ = np.linalg.svd(_laplacian(adjacency))
    return _by_first(left[:, ::-1][:, 1 : count + 1])


def _waves_by_loop(adjacency: Array, count: int) -> Array:
    values, vectors = np.linalg.eigh(_laplacian(adjacency))
    found = []
    for place in np.argsort(values)[1 : count + 1]:
        wave = vectors[:, place]
        found.append(wave / wave[0] * abs(wave[0]))
    return np.stack(found, axis=1)


GRAPH_WAVES = Exercise(
    id=f"{CHAPTER}.graph_waves",
    title="The slowest waves, with a rule for the sign",
    step_of=GRAPH,
    signature="graph_waves(adjacency: array of shape (nodes, nodes), count: int) -> array of shape (nodes, "
    "count)",
    points=3,
    minutes=14,
    difficulty=3,
    draws=Draws(
        lambda graph_waves, across, up, one, two, three: (
            lambda table: curve(
                np.arange(24),
                {one: table[:, 0], two: table[:, 1], three: table[:, 2]},
                across=across,
                up=up,
            )
        )(np.asarray(graph_waves(_path(24), 3))),
        axes=("node", "eigenvector", "the slowest", "the second", "the third"),
        look="On a path of 24 nodes the eigenvectors are cosines: half a wave, a whole one, one and a half.",
    ),
    reference=lambda adjacency, count: _graph_waves(adjacency, count),
    make_cases=_graph_wave_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1]),
            "There must be a row for each node, and a column for each wave.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.asarray(value)[0] > 0).all()),
            "At node 0 every wave is to be positive.",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.square(value).sum(axis=0), 1, atol=1e-3)),
            "Each wave has length 1: the squares of a column must sum to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "with-the-constant",
            lambda adjacency, count: _by_first(np.linalg.eigh(_laplacian(adjacency))[1][:, :count]),
            "Your first wave is the same everywhere: it belongs to the eigenvalue 0 and says nothing. Leave "
            "it out.",
        ),
        Mistake(
            "fastest-first",
            lambda adjacency, count: _by_first(np.linalg.eigh(_laplacian(adjacency))[1][:, ::-1][:, :count]),
            "These are the fastest waves, those of the largest eigenvalues. The slowest are asked for.",
        ),
        Mistake(
            "from-the-end",
            lambda adjacency, count: _by_first(np.linalg.eigh(_laplacian(adjacency))[1][:, -count:]),
            "You take the last columns, those of the largest eigenvalues. The slowest waves stand first.",
        ),
        Mistake(
            "rows-for-columns",
            lambda adjacency, count: _by_first(np.linalg.eigh(_laplacian(adjacency))[1][1 : count + 1].T),
            "You take rows of the matrix of eigenvectors. Each column is an eigenvector.",
        ),
        Mistake(
            "waves-first",
            lambda adjacency, count: _graph_waves(adjacency, count).T,
            "The array is turned: a row for each node, a column for each wave.",
        ),
        Mistake(
            "of-the-adjacency",
            _waves_of_adjacency,
            "These are eigenvectors of the adjacency. Those of the Laplacian are asked for.",
        ),
        Mistake(
            "normalised",
            lambda adjacency, count: _by_first(np.linalg.eigh(_normalised(adjacency))[1][:, 1 : count + 1]),
            "These are eigenvectors of the normalised Laplacian. Those of the plain one are asked for.",
        ),
        Mistake(
            "largest-positive",
            lambda adjacency, count: _by_largest(_graph_waves(adjacency, count)),
            "Your rule for the sign is another one: the largest number of each wave is positive. Here the "
            "one at node 0 is.",
        ),
        Mistake(
            "negative-at-node-0",
            lambda adjacency, count: -_graph_waves(adjacency, count),
            "At node 0 your waves are negative. They are to be positive there.",
        ),
        Mistake(
            "sign-lost",
            lambda adjacency, count: np.abs(_graph_waves(adjacency, count)),
            "You take the size of every number. Then two nodes on opposite sides look alike. A wave may only "
            "be turned round as a whole.",
        ),
        Mistake(
            "one-at-node-0",
            lambda adjacency, count: _graph_waves(adjacency, count) / _graph_waves(adjacency, count)[0],
            "You divide each wave by its number at node 0. Only its sign is to be changed: the length "
            "stays 1.",
        ),
        Mistake(
            "weighted-by-the-eigenvalue",
            lambda adjacency, count: (
                _graph_waves(adjacency, count) * np.linalg.eigvalsh(_laplacian(adjacency))[1 : count + 1]
            ),
            "You multiply each wave by its eigenvalue. The waves themselves are asked for, of length 1.",
        ),
    ),
    alternatives=(
        _waves_by_svd,
        _waves_by_loop,
        lambda adjacency, count: _by_first(laplacian_eigenvectors(adjacency, count, normalization="none")[1]),
    ),
    absolute_tolerance=1e-5,
    hints=(
        "`values, vectors = np.linalg.eigh(laplacian)` gives the eigenvalues in rising order, and an "
        "eigenvector in each column.",
        "The first column is the same everywhere. Take the next `count` of them.",
        "Multiply each column by -1 where its number in row 0 is negative: `np.where(waves[0] < 0, -1, 1)`.",
    ),
)


def _heat_cases(rng: Generator) -> Iterator[Case]:
    yield Case("two nodes", (_path(2), 0.5))
    yield Case("a path of 4", (_path(4), 1.0))
    yield Case("a ring of 6, with equal eigenvalues", (_ring(6), 0.7))
    yield Case("all joined to all", (np.ones((5, 5)) - np.eye(5), 0.3))
    yield Case("two pairs that nothing joins", (np.kron(np.eye(2), _path(2)), 2.0))
    yield Case("no time", (_star(4), 0.0))
    for _ in range(3):
        graph = _drawn_graph(rng, int(rng.integers(4, 8)))
        yield Case("weights, drawn", (graph, float(rng.uniform(0.1, 1.5))))


def _spectrum(
    adjacency: Array,
    of_values: Callable[[Array], Array],
    first: int = 0,
    of: Callable[[Array], Array] = _laplacian,
) -> Array:
    values, vectors = np.linalg.eigh(of(adjacency))
    return np.asarray((vectors * of_values(values))[:, first:] @ vectors[:, first:].T)


def _heat(adjacency: Array, time: float) -> Array:
    return _spectrum(adjacency, lambda values: np.exp(-time * values))


def _heat_by_steps(adjacency: Array, time: float) -> Array:
    """Many small steps, each doubled: the series of the exponential."""
    small = _laplacian(adjacency) * (-time / 2**12)
    step = np.eye(len(adjacency)) + small + small @ small / 2 + small @ small @ small / 6
    for _ in range(12):
        step = step @ step
    return step


def _heat_by_series(adjacency: Array, time: float) -> Array:
    term = total = np.eye(len(adjacency))
    for power in range(1, 150):
        term = term @ (-time * _laplacian(adjacency)) / power
        total = total + term
    return total


def _heat_by_loop(adjacency: Array, time: float) -> Array:
    values, vectors = np.linalg.eigh(_laplacian(adjacency))
    total = np.zeros(adjacency.shape)
    for value, vector in zip(values, vectors.T, strict=True):
        total += math.exp(-time * value) * np.outer(vector, vector)
    return total


def _heat_of_rows(adjacency: Array, time: float) -> Array:
    values, vectors = np.linalg.eigh(_laplacian(adjacency))
    return np.asarray(vectors.T * np.exp(-time * values) @ vectors)


HEAT = Exercise(
    id=f"{CHAPTER}.heat_between",
    title="What no sign can change",
    step_of=GRAPH,
    signature="heat_between(adjacency: array of shape (nodes, nodes), time: float) -> array of shape (nodes, "
    "nodes)",
    points=3,
    minutes=14,
    difficulty=4,
    draws=Draws(
        lambda heat_between, rows, columns: heat_map(
            heat_between(_path(16), 2.0), rows=rows, columns=columns
        ),
        axes=("node where it began", "node where it is"),
        look="On a path of 16 nodes the heat of each node lies around it, and at the two ends it has nowhere "
        "else to go.",
    ),
    reference=lambda adjacency, time: _heat(adjacency, time),
    make_cases=_heat_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one number for each two nodes.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=1), 1, atol=1e-3)),
            "No heat is lost: each row must sum to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "growing",
            lambda adjacency, time: _heat(adjacency, -time),
            "The minus in the exponent is missing: your fast waves grow. They die out first.",
        ),
        Mistake(
            "entry-by-entry",
            lambda adjacency, time: np.exp(-time * _laplacian(adjacency)),
            "You take the exponential of each entry of the matrix. Take it of each eigenvalue, and put the "
            "matrix together again.",
        ),
        Mistake(
            "without-the-constant",
            lambda adjacency, time: _spectrum(adjacency, lambda values: np.exp(-time * values), first=1),
            "The wave that is the same everywhere is missing. Here it counts: it holds the heat that stays.",
        ),
        Mistake(
            "first-step",
            lambda adjacency, time: np.eye(len(adjacency)) - time * _laplacian(adjacency),
            "This is one single step, 1 - t times lambda. The heat falls off as the exponential does.",
        ),
        Mistake(
            "time-in-front",
            lambda adjacency, time: time * _heat(adjacency, 1.0),
            "The time multiplies the exponential in yours. It stands in the exponent.",
        ),
        Mistake(
            "of-the-adjacency",
            lambda adjacency, time: _spectrum(adjacency, lambda v: np.exp(time * v), of=lambda a: a),
            "You take the exponential of the adjacency. That of the Laplacian, with a minus, loses no heat.",
        ),
        Mistake(
            "normalised",
            lambda adjacency, time: _spectrum(adjacency, lambda v: np.exp(-time * v), of=_normalised),
            "You take the normalised Laplacian. Take your own, from the first step.",
        ),
        Mistake(
            "rows-for-columns",
            _heat_of_rows,
            "You take the rows of the matrix of eigenvectors. Each column is an eigenvector.",
        ),
        Mistake(
            "not-weighted",
            lambda adjacency, time: _spectrum(adjacency, lambda values: 0 * values + 1),
            "All your waves count alike, and together they are the identity. Each is weighted by its "
            "exponential.",
        ),
        Mistake(
            "eigenvalues-alone",
            lambda adjacency, time: np.diag(np.exp(-time * np.linalg.eigvalsh(_laplacian(adjacency)))),
            "These are the weights, on a diagonal. Each multiplies the outer product of its wave with "
            "itself.",
        ),
        Mistake(
            "divided",
            lambda adjacency, time: _spectrum(adjacency, lambda values: 1 / (1 + time * values)),
            "You divide by 1 + t times lambda. The heat falls off as the exponential does.",
        ),
    ),
    alternatives=(_heat_by_steps, _heat_by_series, _heat_by_loop),
    hints=(
        "`values, vectors = np.linalg.eigh(graph_laplacian(adjacency))`: now all columns count, the constant "
        "one too.",
        "Multiply each column by `np.exp(-time * value)`: `vectors * np.exp(-time * values)`.",
        "Then multiply by the transpose: the sum over all waves of weight times v times v again is one "
        "matrix product with `vectors.T`.",
    ),
)


def _walk_cases(rng: Generator) -> Iterator[Case]:
    triangle = np.array([[0.0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
    yield Case("a triangle with a tail", (triangle, 3))
    yield Case("a path of 4", (_path(4), 4))
    yield Case("a ring of 5, five steps", (_ring(5), 5))
    yield Case("a star of 5, one step", (_star(5), 1))
    for _ in range(3):
        yield Case("weights, drawn", (_drawn_graph(rng, int(rng.integers(4, 8))), int(rng.integers(3, 6))))


def _steps_of_walk(adjacency: Array) -> Array:
    return np.asarray(adjacency / adjacency.sum(axis=1, keepdims=True))


def _walk_with(
    chances: Callable[[Array], Array] = _steps_of_walk, powers: Callable[[int], Sequence[int]] | None = None
) -> Callable[[Array, int], Array]:
    def returns(adjacency: Array, steps: int) -> Array:
        walk = chances(adjacency)
        wanted = powers(steps) if powers else range(1, steps + 1)
        return np.stack([np.diag(np.linalg.matrix_power(walk, power)) for power in wanted], axis=1)

    return returns


_returns = _walk_with()


def _returns_by_spreading(adjacency: Array, steps: int) -> list[list[float]]:
    """One walker after the other, step by step."""
    rows = []
    for start in range(len(adjacency)):
        at, back = np.eye(len(adjacency))[start], []
        for _ in range(steps):
            at = np.array([sum(at * adjacency[:, to] / adjacency.sum(axis=1)) for to in range(len(at))])
            back.append(float(at[start]))
        rows.append(back)
    return rows


def _first_returns(adjacency: Array, steps: int) -> Array:
    back = _returns(adjacency, steps)
    first = np.zeros_like(back)
    for step in range(steps):
        earlier = sum((first[:, k] * back[:, step - 1 - k] for k in range(step)), np.zeros(len(back)))
        first[:, step] = back[:, step] - earlier
    return first


RETURNS = Exercise(
    id=f"{CHAPTER}.return_chances",
    title="A walker who comes back",
    step_of=GRAPH,
    signature="return_chances(adjacency: array of shape (nodes, nodes), steps: int) -> array of shape "
    "(nodes, "
    "steps)",
    points=2,
    minutes=10,
    difficulty=3,
    draws=Draws(
        lambda return_chances, across, up, square, triangle: curve(
            np.arange(1, 13),
            {
                square: np.asarray(return_chances(_ring(4), 12))[0],
                triangle: np.asarray(return_chances(_ring(3), 12))[0],
            },
            across=across,
            up=up,
        ),
        axes=("steps", "chance to be back", "on a ring of 4", "on a ring of 3"),
        look="On a ring of 4 a walker is back after even numbers of steps alone, and on a triangle "
        "after three as well.",
    ),
    reference=lambda adjacency, steps: _returns(adjacency, steps),
    make_cases=_walk_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1]),
            "There must be a row for each node, and a column for each number of steps.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) >= -1e-9).all() and (np.asarray(value) <= 1 + 1e-6).all()
            ),
            "A chance lies between 0 and 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "from-no-step",
            _walk_with(powers=lambda steps: range(steps)),
            "Your first column is for no step at all, where everybody is at home. Begin with one step.",
        ),
        Mistake(
            "walks-counted",
            _walk_with(chances=lambda adjacency: adjacency),
            "You count ways, and do not weigh them. At each node the chances of all its edges must sum to 1.",
        ),
        Mistake(
            "weights-dropped",
            _walk_with(chances=lambda adjacency: _steps_of_walk((adjacency > 0) * 1.0)),
            "Your walker takes all edges alike. One of twice the weight is taken twice as often.",
        ),
        Mistake(
            "entry-by-entry",
            lambda adjacency, steps: np.stack(
                [np.diag(_steps_of_walk(adjacency) ** power) for power in range(1, steps + 1)], axis=1
            ),
            "You raise each entry to the power: a walker who takes the same step again and again. Multiply "
            "the matrices.",
        ),
        Mistake(
            "first-time",
            _first_returns,
            "These are the chances to be back for the first time. Whoever has been back before counts too.",
        ),
        Mistake(
            "so-far",
            lambda adjacency, steps: np.cumsum(_returns(adjacency, steps), axis=1),
            "Your chances add up from step to step. Each column is for one number of steps alone.",
        ),
        Mistake(
            "last-step-alone",
            lambda adjacency, steps: _returns(adjacency, steps)[:, -1],
            "You give the last number of steps alone. Give a column for each, from 1.",
        ),
        Mistake(
            "steps-first",
            lambda adjacency, steps: _returns(adjacency, steps).T,
            "The array is turned: a row for each node, a column for each number of steps.",
        ),
        Mistake(
            "may-stay",
            _walk_with(chances=lambda adjacency: (np.eye(len(adjacency)) + _steps_of_walk(adjacency)) / 2),
            "Your walker may stay where it is. Each step goes along an edge.",
        ),
        Mistake(
            "all-doubled",
            _walk_with(powers=lambda steps: [2**power for power in range(steps)]),
            "You square the matrix each time, so that the steps double: 1, 2, 4. They go up by one.",
        ),
        Mistake(
            "mean-of-all",
            lambda adjacency, steps: np.tile(_returns(adjacency, steps).mean(axis=0), (len(adjacency), 1)),
            "All nodes get the mean. Each has its own chances: that is what tells them apart.",
        ),
    ),
    alternatives=(
        _returns_by_spreading,
        lambda adjacency, steps: return_probabilities(adjacency, steps),
        _walk_with(chances=lambda adjacency: adjacency / adjacency.sum(axis=0)),
    ),
    hints=(
        "From node i a walker steps to node j with the chance `adjacency[i, j]` over the sum of row i.",
        "If `walk[i, j]` is the chance to be at j after some steps, `walk @ chances` is that after one more.",
        "To be back is to stand on the diagonal: `np.diag(walk)` after each step, one column each.",
    ),
)


# --- expression_parents and step_paths -------------------------------------------------------------


def _drawn_expression(rng: Generator, depth: int) -> str:
    def within() -> str:
        return _drawn_expression(rng, depth - 1)

    kind = int(rng.integers(5)) if depth else 5
    name = "abcdefgxyz"[int(rng.integers(10))]
    if kind == 0:
        return f"({within()} {'+-*/'[int(rng.integers(4))]} {within()})"
    if kind == 1:
        return f"{name}({', '.join(within() for _ in range(int(rng.integers(1, 4))))})"
    if kind == 2:
        return f"{name}[{within()}]"
    if kind == 3:
        return f"(-{within()})"
    if kind == 4:
        return f"({within()} < {within()})"
    return name if rng.integers(2) else str(int(rng.integers(100)))


def _source_cases(rng: Generator) -> Iterator[Case]:
    yield Case("f(g(x), y)", ("f(g(x), y)",))
    yield Case("one name", ("x",))
    yield Case("a * b + c", ("a * b + c",))
    yield Case("a * (b + c)", ("a * (b + c)",))
    yield Case("-x[0] < 3 and y", ("-x[0] < 3 and y",))
    for _ in range(4):
        yield Case("an expression, drawn", (f"h({_drawn_expression(rng, 3)}, {_drawn_expression(rng, 2)})",))


Tree = ast.AST


def _children(node: Tree) -> list[Tree]:
    return [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]


def _parents_with(
    children: Callable[[Tree], Sequence[Tree]] = _children,
    number: Callable[[int, int, int], int] = lambda parent, own, depth: parent,
) -> Callable[[str], list[int]]:
    def parents(source: str) -> list[int]:
        found: list[int] = []

        def visit(node: Tree, parent: int, depth: int) -> None:
            own = len(found)
            found.append(number(parent, own, depth))
            for each in children(node):
                visit(each, own, depth + 1)

        visit(ast.parse(source, mode="eval").body, -1, 0)
        return found

    return parents


_parents = _parents_with()


def _level_by_level(source: str) -> list[int]:
    found, queue = [-1], [(ast.parse(source, mode="eval").body, 0)]
    for node, own in queue:
        for each in _children(node):
            queue.append((each, len(queue)))  # type: ignore[arg-type]
            found.append(own)
    return found


def _children_first(source: str) -> list[int]:
    """Numbers in the order in which a calculation needs them: a node after its children."""
    found: list[int] = []

    def visit(node: Tree) -> int:
        below = [visit(each) for each in _children(node)]
        found.append(-1)
        for each in below:
            found[each] = len(found) - 1
        return len(found) - 1

    visit(ast.parse(source, mode="eval").body)
    return found


def _parents_by_stack(source: str) -> Array:
    found = []
    stack: list[tuple[Tree, int]] = [(ast.parse(source, mode="eval").body, -1)]
    while stack:
        node, parent = stack.pop()
        found.append(parent)
        own = len(found) - 1
        stack += [(each, own) for each in reversed(_children(node))]
    return np.array(found)


def _parents_by_numbers(source: str) -> list[int]:
    """First all nodes, then a table from each to its number."""
    root = ast.parse(source, mode="eval").body

    def walk(node: Tree) -> list[Tree]:
        return [node, *itertools.chain.from_iterable(walk(each) for each in _children(node))]

    nodes = walk(root)
    number = {id(node): place for place, node in enumerate(nodes)}
    found = dict.fromkeys(map(id, nodes), -1)
    for node in nodes:
        found.update({id(each): number[id(node)] for each in _children(node)})
    return [found[id(node)] for node in nodes]


PARENTS = Exercise(
    id=f"{CHAPTER}.expression_parents",
    title="Who stands above whom?",
    step_of=TREE,
    signature="expression_parents(source: str) -> array of shape (nodes,) of ints",
    points=3,
    minutes=15,
    difficulty=3,
    reference=lambda source: np.array(_parents(source)),
    make_cases=_source_cases,
    properties=(
        Property(
            lambda args, value: bool((np.ravel(value)[:1] == -1).all()),
            "The first node is the root, and its parent is -1.",
        ),
        Property(
            lambda args, value: bool((np.ravel(value) < np.arange(np.size(value))).all()),
            "A parent comes before its children, so its number must be smaller than theirs.",
        ),
    ),
    mistakes=(
        Mistake(
            "level-by-level",
            _level_by_level,
            "You number level by level, as ast.walk does. Number a node, then all that is below its first "
            "child, and only then the second child.",
        ),
        Mistake(
            "all-nodes",
            _parents_with(children=lambda node: list(ast.iter_child_nodes(node))),
            "You count operators and contexts such as Load as well. Only nodes of the kind ast.expr count.",
        ),
        Mistake(
            "children-first",
            _children_first,
            "You number a node after its children. It comes before them.",
        ),
        Mistake(
            "from-the-right",
            _parents_with(children=lambda node: _children(node)[::-1]),
            "You visit the children from the last to the first. They are visited in the order of "
            "ast.iter_child_nodes.",
        ),
        Mistake(
            "root-is-its-own",
            _parents_with(number=lambda parent, own, depth: max(parent, 0)),
            "Your root has itself as its parent. It has none: -1.",
        ),
        Mistake(
            "counted-from-one",
            _parents_with(number=lambda parent, own, depth: parent + 1),
            "You count the nodes from 1. The root is node 0.",
        ),
        Mistake(
            "depths",
            _parents_with(number=lambda parent, own, depth: depth),
            "These are depths. The number of the parent is asked for.",
        ),
        Mistake(
            "a-row",
            _parents_with(number=lambda parent, own, depth: own - 1),
            "Each node has the one before it as its parent: that is a row and no tree.",
        ),
        Mistake(
            "own-numbers",
            _parents_with(number=lambda parent, own, depth: own),
            "These are the nodes' own numbers. The number of each node's parent is asked for.",
        ),
        Mistake(
            "with-the-expression",
            lambda source: [-1, *(each + 1 for each in _parents(source))],
            "Your root is the ast.Expression around the expression. Begin with its body.",
        ),
        Mistake(
            "without-functions",
            _parents_with(children=lambda node: node.args if isinstance(node, ast.Call) else _children(node)),
            "You leave out what is called: in f(x), the name f is a child as well, the first one.",
        ),
    ),
    alternatives=(_parents_by_stack, _parents_by_numbers, lambda source: _parents(source)),
    hints=(
        '`ast.parse(source, mode="eval").body` is the root. `ast.iter_child_nodes(node)` gives the children, '
        "with others that do not count.",
        "Write a function within yours that takes a node and the number of its parent. It appends that "
        "number to a list, and calls itself for each child.",
        "The number of the node itself is the length of the list before you append.",
    ),
)


def _drawn_tree(rng: Generator, nodes: int, branching: int) -> Array:
    """Parents before children; nobody has more children than `branching`."""
    parents = [-1]
    while len(parents) < nodes:
        free = [node for node in range(len(parents)) if parents.count(node) < branching]
        parents.append(int(rng.choice(free)))
    return np.array(parents)


def _path_cases(rng: Generator) -> Iterator[Case]:
    yield Case("f(g(x), y): Call, f, Call, g, x, y", (np.array([-1, 0, 0, 2, 2, 0]), 3, 2))
    yield Case("a root alone", (np.array([-1]), 2, 2))
    yield Case("a row of 5, three steps kept", (np.array([-1, 0, 1, 2, 3]), 1, 3))
    yield Case("siblings that stand apart", (np.array([-1, 0, 1, 1, 0, 4]), 2, 3))
    for _ in range(4):
        branching = int(rng.integers(2, 4))
        tree = _drawn_tree(rng, int(rng.integers(8, 12)), branching)
        yield Case("a tree, drawn", (tree, branching, int(rng.integers(2, 4))))


Steps = Callable[[list[int]], list[int]]


def _which_child(parents: Array) -> list[int]:
    return [int((parents[:node] == parent).sum()) for node, parent in enumerate(parents)]


def _paths_with(
    which: Callable[[Array], list[int]] = _which_child,
    steps: Callable[[list[int], int], list[int]] = lambda up, depth: up[:depth],
    branch_first: bool = False,
) -> Callable[[Array, int, int], Array]:
    """From which child each node is, and which steps of its way to the root are kept."""

    def paths(parents: Array, branching: int, depth: int) -> Array:
        child = which(parents)
        out = np.zeros((len(parents), depth, branching))
        for node in range(len(parents)):
            up, at = [], node
            while parents[at] >= 0:
                up.append(child[at])
                at = parents[at]
            for place, step in enumerate(steps(up, depth)):
                if 0 <= step < branching:
                    out[node, place, step] = 1
        return (out.swapaxes(1, 2) if branch_first else out).reshape(len(parents), -1)

    return paths


_paths = _paths_with()


def _paths_from_parents(parents: Array, branching: int, depth: int) -> Array:
    """The parent's path, moved on by one step, with the own step in front."""
    out = np.zeros((len(parents), depth * branching))
    for node, parent in enumerate(parents.tolist()):
        if parent >= 0:
            out[node, branching:] = out[parent, : (depth - 1) * branching]
            out[node, list(parents[:node]).count(parent)] = 1
    return out


def _among_all(parents: Array) -> list[int]:
    """Counted from the last child."""
    return [int((parents[node + 1 :] == parent).sum()) for node, parent in enumerate(parents)]


def _paths_in_place(parents: Array, branching: int, depth: int) -> Array:
    """The parent's path, not moved on."""
    out = np.zeros((len(parents), depth * branching))
    for node, parent in enumerate(parents.tolist()):
        if parent >= 0:
            out[node] = out[parent]
            out[node, list(parents[:node]).count(parent)] = 1
    return out


PATHS = Exercise(
    id=f"{CHAPTER}.step_paths",
    title="The way to the root",
    step_of=TREE,
    signature="step_paths(parents: array of shape (nodes,), branching: int, depth: int) -> array of shape "
    "(nodes, depth * branching)",
    points=3,
    minutes=16,
    difficulty=4,
    draws=Draws(
        lambda step_paths, rows, columns: heat_map(
            step_paths(np.array([-1, 0, 1, 1, 0, 4, 4, 6, 6]), 2, 3), rows=rows, columns=columns
        ),
        axes=("node", "step and child"),
        look="The nine nodes of a * b + c * (d - e), a row each: siblings differ in the first two "
        "columns alone.",
    ),
    reference=lambda parents, branching, depth: _paths(parents, branching, depth),
    make_cases=_path_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1] * args[2]),
            "There must be depth * branching numbers for each node.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.asarray(value)[0] == 0).all()),
            "The root has come no step: its row is 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "from-the-root",
            _paths_with(steps=lambda up, depth: up[::-1][:depth]),
            "Your steps begin at the root. The nearest one, from the node to its parent, comes first.",
        ),
        Mistake(
            "nearest-turned",
            _paths_with(steps=lambda up, depth: up[:depth][::-1]),
            "You keep the right steps, and write them in the wrong order: the nearest comes first.",
        ),
        Mistake(
            "not-moved-on",
            _paths_in_place,
            "You copy the parent's path and do not move it on, so steps of two levels fall into the same "
            "columns. Its first step is the second one of the child.",
        ),
        Mistake(
            "nearest-last",
            _paths_with(steps=lambda up, depth: [-1] * (depth - len(up)) + up[:depth][::-1]),
            "The step to the own parent stands last in yours. It comes first.",
        ),
        Mistake(
            "only-the-nearest",
            _paths_with(steps=lambda up, depth: up[:1]),
            "You keep one step. Go on, from the parent to its own parent, until the root or until depth "
            "steps are kept.",
        ),
        Mistake(
            "children-from-the-right",
            _paths_with(which=_among_all),
            "You count the children from the last one. The first child is number 0.",
        ),
        Mistake(
            "children-from-one",
            _paths_with(which=lambda parents: [each + 1 for each in _which_child(parents)]),
            "You count the children from 1. The first child is number 0.",
        ),
        Mistake(
            "by-branch",
            _paths_with(branch_first=True),
            "You put all steps by the first child together. Each step has its own columns, side by side, one "
            "for each child.",
        ),
        Mistake(
            "first-child-always",
            _paths_with(which=lambda parents: [0] * len(parents)),
            "All steps go by the first child in yours. Which child of its parent a node is, the earlier "
            "siblings say.",
        ),
        Mistake(
            "all-children-so-far",
            _paths_with(which=lambda parents: [max(node - 1, 0) for node in range(len(parents))]),
            "You count all nodes before this one. Only those with the same parent are its siblings.",
        ),
        Mistake(
            "parents-step-first",
            _paths_with(steps=lambda up, depth: up[1 : depth + 1]),
            "The last step, from the parent to the node itself, is missing. Siblings look alike.",
        ),
        Mistake(
            "sums",
            lambda parents, branching, depth: np.cumsum(_paths(parents, branching, depth), axis=1),
            "Your ones add up along the row. Each column says of one step and one child whether it was so.",
        ),
    ),
    alternatives=(
        _paths_from_parents,
        lambda parents, branching, depth: np.asarray(tree_paths(parents, branching, depth)),
        lambda *args: _paths(*args).tolist(),
    ),
    hints=(
        "Which child of its parent is a node? Count the earlier nodes that have the same parent.",
        "A node's path is one step more than its parent's: its own step in front, and the parent's path "
        "moved on by `branching` columns.",
        "Parents come before their children, so one loop over the nodes is enough.",
    ),
)


# --- heard_samples and feels_the_edge --------------------------------------------------------------

WAV2VEC = (np.array([10, 3, 3, 3, 3, 2, 2]), np.array([5, 2, 2, 2, 2, 2, 2]))


def _heard_cases(rng: Generator) -> Iterator[Case]:
    yield Case("one layer", (2, np.array([4]), np.array([3])))
    yield Case("two layers, first frame", (0, np.array([3, 3]), np.array([2, 2])))
    yield Case("two layers", (3, np.array([4, 2]), np.array([3, 1])))
    yield Case("wav2vec 2.0, first frame", (0, *WAV2VEC))
    yield Case("wav2vec 2.0, after a second", (50, *WAV2VEC))
    for _ in range(4):
        layers = int(rng.integers(2, 6))
        strides = rng.integers(1, 5, size=layers)
        yield Case("drawn", (int(rng.integers(1, 40)), strides + rng.integers(0, 4, size=layers), strides))


Heard = tuple[int, int]


def _heard_with(
    first: Callable[[int, Array, Array], int] = lambda frame, kernels, strides: frame * int(strides.prod()),
    reach: Callable[[Array, Array], int] = lambda kernels, strides: int(
        ((kernels - 1) * strides.cumprod() // strides).sum()
    ),
) -> Callable[[int, Array, Array], Heard]:
    def heard(frame: int, kernels: Array, strides: Array) -> Heard:
        start = first(frame, kernels, strides)
        return start, start + reach(kernels, strides)

    return heard


_heard = _heard_with()


def _heard_downwards(frame: int, kernels: Array, strides: Array) -> Heard:
    low = high = frame
    for kernel, stride in zip(kernels[::-1].tolist(), strides[::-1].tolist(), strict=True):
        low, high = low * stride, high * stride + kernel - 1
    return low, high


def _heard_by_sets(frame: int, kernels: Array, strides: Array) -> list[int]:
    inputs = {frame}
    for kernel, stride in zip(kernels[::-1].tolist(), strides[::-1].tolist(), strict=True):
        inputs = {at * stride + tap for at in inputs for tap in range(kernel)}
    return [min(inputs), max(inputs)]


HEARD = Exercise(
    id=f"{CHAPTER}.heard_samples",
    title="From which sample to which?",
    step_of=SOUND,
    signature="heard_samples(frame: int, kernels: array of shape (layers,), strides: array of shape "
    "(layers,)) -> two ints, the first and the last sample",
    points=3,
    minutes=14,
    difficulty=3,
    parts=("the first sample", "the last sample"),
    reference=lambda frame, kernels, strides: _heard(frame, kernels, strides),
    make_cases=_heard_cases,
    mistakes=(
        Mistake(
            "one-past-the-end",
            _heard_with(reach=lambda kernels, strides: _heard(0, kernels, strides)[1] + 1),
            "Your last sample is one too far, as the end of a slice is. Return the last one that is heard.",
        ),
        Mistake(
            "kernels-added",
            _heard_with(reach=lambda kernels, strides: int((kernels - 1).sum())),
            "You add up the kernels as if all took steps of 1. A tap of a later layer lies as far from the "
            "next as all strides below it say.",
        ),
        Mistake(
            "own-stride-too",
            _heard_with(reach=lambda kernels, strides: int(((kernels - 1) * strides.cumprod()).sum())),
            "You widen each kernel by its own stride. How far apart its taps lie, the layers below it "
            "decide.",
        ),
        Mistake(
            "kernels-multiplied",
            _heard_with(reach=lambda kernels, strides: int(kernels.prod()) - 1),
            "You multiply the kernels, as if the pieces of a layer did not overlap.",
        ),
        Mistake(
            "kernels-for-strides",
            _heard_with(first=lambda frame, kernels, strides: frame * int(kernels.prod())),
            "Your frames begin too far from each other: by the product of the kernels. They move by the "
            "strides.",
        ),
        Mistake(
            "whole-widths",
            _heard_with(first=lambda frame, kernels, strides: frame * (_heard(0, kernels, strides)[1] + 1)),
            "Your frames do not overlap: each begins where the one before it ends. They move by the product "
            "of the strides.",
        ),
        Mistake(
            "last-stride",
            _heard_with(first=lambda frame, kernels, strides: frame * int(strides[-1])),
            "You move by the stride of the last layer alone. Below it, each step is multiplied again.",
        ),
        Mistake(
            "strides-added",
            _heard_with(first=lambda frame, kernels, strides: frame * int(strides.sum())),
            "You add the strides. They multiply.",
        ),
        Mistake(
            "layers-turned",
            lambda frame, kernels, strides: _heard(frame, kernels[::-1], strides[::-1]),
            "You take the layers in the wrong order: the first in the list is the one that the samples "
            "enter.",
        ),
        Mistake(
            "whole-kernels",
            _heard_with(reach=lambda kernels, strides: int((kernels * strides.cumprod() // strides).sum())),
            "Each layer reaches one tap too far: between the first and the last of n taps there are n - 1 "
            "steps.",
        ),
        Mistake(
            "last-layer-alone",
            _heard_with(reach=lambda kernels, strides: int(kernels[-1]) - 1),
            "You end after one kernel of the last layer, counted in samples. Its taps are frames of the "
            "layer below, and each of those hears more than one sample.",
        ),
    ),
    alternatives=(_heard_downwards, _heard_by_sets, lambda *args: np.array(_heard(*args))),
    hints=(
        "Go down from the last layer. Frame n of a layer looks at the inputs n * stride to n * stride + "
        "kernel - 1.",
        "Keep two numbers, the first and the last frame that are looked at. What becomes of each, one layer "
        "further down?",
        "The first becomes `first * stride`, and the last `last * stride + kernel - 1`.",
    ),
)


def _edge_cases(rng: Generator) -> Iterator[Case]:
    yield Case("12 tokens, 3 taps, 2 layers", (12, 3, 2))
    yield Case("one tap", (6, 1, 4))
    yield Case("4 taps, 2 layers", (14, 4, 2))
    yield Case("2 taps, 3 layers", (9, 2, 3))
    yield Case("so deep that all feel it", (10, 5, 4))
    for _ in range(4):
        taps, layers = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        yield Case("drawn", (layers * (taps - 1) + int(rng.integers(3, 15)), taps, layers))


def _edge_with(
    reach: Callable[[int, int], tuple[int, int]],
) -> Callable[[int, int, int], Array]:
    """From how many tokens at the beginning and at the end feel it."""

    def feels(length: int, taps: int, layers: int) -> Array:
        at = np.arange(length)
        front, back = reach(taps, layers)
        return (at < front) | (at >= length - back)

    return feels


def _edge_reach(taps: int, layers: int) -> tuple[int, int]:
    return layers * (taps // 2), layers * (taps - 1 - taps // 2)


def _more(by: int, front: int, back: int) -> tuple[int, int]:
    return max(front + by, 0), max(back + by, 0)


_edge = _edge_with(_edge_reach)


def _edge_by_trying(length: int, taps: int, layers: int) -> Array:
    """Which outputs hang on what is added at the ends."""
    before = taps // 2
    touched = np.zeros(length, dtype=bool)
    for _ in range(layers):
        padded = np.concatenate([np.ones(before), touched, np.ones(taps - 1 - before)])
        touched = np.array([padded[t : t + taps].any() for t in range(length)])
    return touched


def _edge_by_numbers(length: int, taps: int, layers: int) -> Array:
    """Positive weights on a text of ones: what stands in the middle of a text without ends is 1."""
    weights = np.linspace(1, 2, taps) / np.linspace(1, 2, taps).sum()
    x = np.ones(length)
    for _ in range(layers):
        padded = np.pad(x, (taps // 2, taps - 1 - taps // 2))
        x = np.array([padded[t : t + taps] @ weights for t in range(length)])
    return np.abs(x - 1) > 1e-12


EDGE = Exercise(
    id=f"{CHAPTER}.feels_the_edge",
    title="Who feels the edge?",
    step_of=SOUND,
    signature="feels_the_edge(length: int, taps: int, layers: int) -> array of shape (length,) of booleans",
    points=3,
    minutes=14,
    difficulty=3,
    draws=Draws(
        lambda feels_the_edge, rows, columns: heat_map(
            np.stack([feels_the_edge(32, 4, layers) for layers in range(1, 8)]),
            rows=rows,
            columns=columns,
            starts=(1, 0),
        ),
        axes=("layers", "token"),
        look="With 4 taps, each layer tells two more tokens of the beginning and one more of the end.",
    ),
    reference=lambda length, taps, layers: _edge(length, taps, layers),
    make_cases=_edge_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0],),
            "There must be one answer for each token.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "one-layer",
            _edge_with(lambda taps, layers: _edge_reach(taps, 1)),
            "You count one layer. The next one passes on what this one has felt.",
        ),
        Mistake(
            "both-sides-alike",
            _edge_with(lambda taps, layers: (layers * (taps // 2),) * 2),
            "With an odd number of taps yours is right. With an even one there is one tap less after the "
            "token than before it.",
        ),
        Mistake(
            "sides-swapped",
            _edge_with(lambda taps, layers: _edge_reach(taps, layers)[::-1]),
            "The two sides are swapped: with an even number of taps, the odd one lies before the token.",
        ),
        Mistake(
            "whole-kernels",
            _edge_with(lambda taps, layers: (layers * (taps - 1),) * 2),
            "You let each layer look as far as all its taps reach, on both sides. They are shared between "
            "the two sides.",
        ),
        Mistake(
            "one-side",
            _edge_with(lambda taps, layers: (layers * (taps - 1), 0)),
            "All your taps lie before the token, as in a causal convolution. Here they lie around it, and "
            "there are two ends.",
        ),
        Mistake(
            "one-too-many",
            _edge_with(lambda taps, layers: _more(1, *_edge_reach(taps, layers))),
            "Yours are one too many on each side. A token that sees its last neighbour, and nothing beyond, "
            "feels no edge.",
        ),
        Mistake(
            "one-too-few",
            _edge_with(lambda taps, layers: _more(-1, *_edge_reach(taps, layers))),
            "Yours are one too few on each side. The token that sees just one step beyond the end feels it.",
        ),
        Mistake(
            "who-does-not",
            lambda *args: ~_edge(*args),
            "Your answers are turned round: True stands for a token that feels an end.",
        ),
        Mistake(
            "layers-doubled",
            _edge_with(
                lambda taps, layers: (taps // 2 * 2 ** (layers - 1), (taps - 1) // 2 * 2 ** (layers - 1))
            ),
            "Your reach doubles from layer to layer. Each layer adds the same number of tokens.",
        ),
        Mistake(
            "front-alone",
            _edge_with(lambda taps, layers: (_edge_reach(taps, layers)[0], 0)),
            "You look at the beginning alone. The text has an end as well.",
        ),
        Mistake(
            "end-alone",
            _edge_with(lambda taps, layers: (0, _edge_reach(taps, layers)[1])),
            "You look at the end alone. The text has a beginning as well.",
        ),
    ),
    alternatives=(_edge_by_trying, _edge_by_numbers, lambda *args: _edge(*args).tolist()),
    hints=(
        "Which tokens of the first layer have a tap that lies beyond an end?",
        "In the next layer it is enough to look at a token that has felt it. How much further does that "
        "reach, on each side?",
        "Before a token there are `taps // 2` taps, and after it `taps - 1 - taps // 2`. Each layer adds so "
        "many.",
    ),
)


EXERCISES = (
    MOVES,
    PLACES,
    GRID,
    RESIZED,
    WINDOW,
    THREE,
    DEALT,
    CIRCLES,
    KNOWN,
    BASES,
    STRANDS,
    POINT_WAVES,
    SEEN,
    BUMPS,
    VOLUME,
    LAPLACIAN,
    GRAPH_WAVES,
    HEAT,
    RETURNS,
    PARENTS,
    PATHS,
    HEARD,
    EDGE,
)
