"""A picture in two directions: Where is patch number 17?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import PICTURE, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _place_cases(rng: Generator) -> Iterator[Case]:
    yield Case("2 rows of 3 patches", (2, 3))
    yield Case("3 rows of 2 patches", (3, 2))
    yield Case("a row of 5", (1, 5))
    yield Case("a column of 4", (4, 1))
    for _ in range(3):
        yield Case("drawn", (int(rng.integers(3, 12)), int(rng.integers(3, 12))))


def places(height: int, width: int) -> Array:
    return np.ascontiguousarray(np.indices((height, width)).reshape(2, -1).T)


def _down_the_columns(height: int, width: int) -> Array:
    return places(width, height)[:, ::-1]


def _every_second_turned(height: int, width: int) -> Array:
    row, column = places(height, width).T
    return np.stack([row, np.where(row % 2, width - 1 - column, column)], axis=1)


PATCH_PLACES = Exercise(
    id="09-beyond-text.patch_places",
    title="Where is patch number 17?",
    step_of=PICTURE,
    signature="patch_places(height: int, width: int) -> array of shape (height * width, 2)",
    points=1,
    minutes=6,
    difficulty=1,
    reference=places,
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
            lambda height, width: places(height, width)[:, ::-1],
            "Your two numbers are swapped: the row comes first.",
        ),
        Mistake(
            "down-the-columns",
            _down_the_columns,
            "You count down the columns, as np.meshgrid does unless it is told otherwise. Patches are "
            "read like text: one whole row, then the next.",
        ),
        Mistake(
            "divided-by-the-height",
            lambda height, width: np.stack(np.divmod(np.arange(height * width), height), axis=1),
            "You divide by the number of rows. How many patches come before a new row begins?",
        ),
        Mistake(
            "counted-from-one",
            lambda height, width: places(height, width) + 1,
            "You count from 1. The patch at the upper left is in row 0 and column 0.",
        ),
        Mistake(
            "from-the-bottom",
            lambda height, width: places(height, width) * [-1, 1] + [height - 1, 0],
            "Your rows count from the bottom, as in a plot. In a picture the first row is at the top.",
        ),
        Mistake(
            "lines-turned",
            _every_second_turned,
            "Every second row of yours runs from right to left. All rows are read from left to right.",
        ),
        Mistake(
            "axes-first",
            lambda height, width: places(height, width).T,
            "You return all rows, and then all columns. Transpose the array: one line for each patch.",
        ),
        Mistake(
            "still-a-grid",
            lambda height, width: places(height, width).reshape(height, width, 2),
            "The patches are still in a grid. Return one long list of them, in reading order.",
        ),
        Mistake(
            "the-number-itself",
            lambda height, width: np.repeat(np.arange(height * width)[:, None], 2, axis=1),
            "This is the running number of the patch, twice. Split it into row and column.",
        ),
        Mistake(
            "remainder-by-the-height",
            lambda height, width: np.stack(
                [np.arange(height * width) // width, np.arange(height * width) % height], axis=1
            ),
            "Your rows are right. For the column, take the remainder of dividing by the width too.",
        ),
        Mistake(
            "fractions",
            lambda height, width: np.stack(
                [np.arange(height * width) / width, np.arange(height * width) % width], axis=1
            ),
            "Your rows have fractions. Divide with //, which drops the remainder.",
        ),
    ),
    alternatives=(
        lambda height, width: [[row, column] for row in range(height) for column in range(width)],
        lambda height, width: np.stack(np.divmod(np.arange(height * width), width), axis=1),
        lambda height, width: np.argwhere(np.ones((height, width))),
    ),
    hints=(
        "How many patches have been read when row 2 begins? Two whole rows.",
        "Divide the running number by the width: what is the quotient, and what is the remainder?",
        "`np.divmod(np.arange(height * width), width)` gives both; `np.stack` puts them side by side.",
    ),
)
