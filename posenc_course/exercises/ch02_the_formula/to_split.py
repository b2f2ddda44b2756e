"""The whole table: From interleaved to split."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import TABLE
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal


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
    id="02-the-formula.to_split",
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
        Property(
            lambda args, value: bool(np.array_equal(value[:, : value.shape[1] // 2], args[0][:, 0::2])),
            "The left half must hold the even columns, 0, 2, 4, ..., in that order. Yours does not.",
        ),
        Property(
            lambda args, value: bool(np.array_equal(value[:, value.shape[1] // 2 :], args[0][:, 1::2])),
            "The right half must hold the odd columns, 1, 3, 5, ..., in that order. Yours does not.",
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
            "The left and the right half are swapped, but both are still interleaved. Take every second "
            "column: table[:, 0::2] and table[:, 1::2].",
        ),
        Mistake(
            "sorted",
            lambda table: np.sort(table, axis=1),
            "Each row was sorted by size. What decides is the number of the column, not the value in it.",
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
            "The sines and the cosines are separated, but along a third axis. Reshape the result to "
            "(n, dim).",
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
