"""Swin's table of offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import Generator
from posenc_course.exercises.ch09_beyond_text.patch_places import places
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.biased.swin import swin_index


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
        row, column = places(height, width).T
        return index(row[:, None] - row, column[:, None] - column, height, width)

    return table


_window = _window_with(lambda down, right, h, w: (down + h - 1) * (2 * w - 1) + right + w - 1)


def _window_by_loops(height: int, width: int) -> list[list[int]]:
    patches = [(row, column) for row in range(height) for column in range(width)]
    kinds = [(a, b) for a in range(1 - height, height) for b in range(1 - width, width)]
    return [[kinds.index((r - s, c - d)) for s, d in patches] for r, c in patches]


WINDOW_INDEX = Exercise(
    id="09-beyond-text.window_index",
    title="Swin's table of offsets",
    signature="window_index(height: int, width: int) -> array of shape (height * width, height * width)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda window_index, rows, columns: heat_map(window_index(4, 4), rows=rows, columns=columns),
        axes=("query patch", "key patch"),
        look="Blocks within blocks: the number stays the same along the diagonals of a block, and from "
        "block to block along the diagonals.",
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
            "Every number must be a row of the table: from 0, and below the number of offsets.",
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
            "You subtract the query from the key. Here you need the query minus the key.",
        ),
        Mistake(
            "times-the-width",
            _window_with(lambda down, right, h, w: (down + h - 1) * w + right + w - 1),
            "You multiply by the width of the window, which is the same as subtracting running numbers: "
            "then the last patch of a row and the first of the next are neighbours. How many different "
            "offsets to the side are there?",
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
            "You multiply by the number of offsets downwards. A step down should skip all offsets to the "
            "side.",
        ),
        Mistake(
            "not-moved-up",
            _window_with(lambda down, right, h, w: down * (2 * w - 1) + right),
            "Some of your numbers are negative, and NumPy would count from the end of the table. Shift "
            "both offsets, so that the smallest is 0.",
        ),
        Mistake(
            "one-not-moved",
            _window_with(lambda down, right, h, w: (down + h - 1) * (2 * w - 1) + right),
            "Your offsets to the side are still negative on the left, and share rows with others. Shift "
            "both offsets.",
        ),
        Mistake(
            "moved-by-the-size",
            _window_with(lambda down, right, h, w: (down + h) * (2 * w - 1) + right + w),
            "You shift the offsets too far. In a window of n the smallest offset is -(n - 1).",
        ),
        Mistake(
            "without-direction",
            _window_with(lambda down, right, h, w: np.abs(down) * (2 * w - 1) + np.abs(right)),
            "You drop the signs: left and right share a row. Each offset has its own.",
        ),
        Mistake(
            "added",
            _window_with(lambda down, right, h, w: down + h - 1 + right + w - 1),
            "You add the two offsets, so one step down looks like one step across. Each step down should "
            "count for a whole line of the table.",
        ),
        Mistake(
            "across-first",
            _window_with(lambda down, right, h, w: (right + w - 1) * (2 * h - 1) + down + h - 1),
            "Your table is sorted by columns first. In Swin's table the offset downwards decides first.",
        ),
        Mistake(
            "to-the-left",
            _window_with(lambda down, right, h, w: (down + h - 1) * (2 * w - 1) + w - 1 - right),
            "To the side you subtract the query from the key. Here you need the query minus the key, for "
            "both.",
        ),
        Mistake(
            "upwards",
            _window_with(lambda down, right, h, w: (h - 1 - down) * (2 * w - 1) + right + w - 1),
            "Downwards you subtract the query from the key. Here you need the query minus the key, for both.",
        ),
    ),
    alternatives=(
        _window_by_loops,
        lambda height, width: np.asarray(swin_index((height, width))),
        lambda height, width: (
            np.ravel_multi_index(
                tuple((places(height, width)[:, None] - places(height, width) + [height - 1, width - 1]).T),
                (2 * height - 1, 2 * width - 1),
            ).T
        ),
    ),
    hints=(
        "First row and column of each patch, then the differences: `row[:, None] - row` is how far each "
        "query is below each key.",
        "Add `height - 1` to the one and `width - 1` to the other: now both begin at 0.",
        "It is the numbering of patches once more, on a grid that is `2 * width - 1` wide.",
    ),
)
