"""A learned table, and its end: Three ways past the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import (
    TABLE,
    WAYS,
    Generator,
    _stretch,
    corners,
    read_between,
    stretch_by_tents,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _way_cases(rng: Generator) -> Iterator[Case]:
    for way in WAYS:
        for rows, dim, length in ((4, 2, 7), (5, 3, 5), (6, 2, 3), (3, 4, 4), (7, 1, 23)):
            yield Case(f"{way}: {rows} rows, {length} positions", (rng.normal(size=(rows, dim)), length, way))
    rows, length = int(rng.integers(8, 15)), int(rng.integers(16, 40))
    for way in WAYS:
        yield Case(f"{way}: {rows} rows, {length} positions", (rng.normal(size=(rows, 3)), length, way))


def past_the_end(table: Array, length: int, way: str) -> Array:
    rows = len(table)
    if length <= rows:
        return table[:length]
    if way == "interpolate":
        return _stretch(table, length)
    last = table[-1:] if way == "clamp" else 0 * table[-1:]
    return np.concatenate([table, np.repeat(last, length - rows, axis=0)])


Reads = Callable[[Array, int], Any]


def _read_with(**ways: Reads) -> Callable[[Array, int, str], Any]:
    """As the reference, but for these ways where the text is longer than the table."""

    def read(table: Array, length: int, way: str) -> Any:
        wrong = ways.get(way) if length > len(table) else None
        return past_the_end(table, length, way) if wrong is None else wrong(table, length)

    return read


def _with_tail(tail: Callable[[Array], Array]) -> Reads:
    """The rows that there are, and after them one row again and again."""
    return lambda table, length: np.concatenate(
        [table, np.repeat(tail(table)[None], length - len(table), axis=0)]
    )


def _one_row_early(table: Array, length: int) -> Array:
    read = _with_tail(lambda rows: 0 * rows[-1])(table, length)
    read[len(table) - 1] = 0
    return read


def _past_by_loop(table: Array, length: int, way: str) -> list[Any]:
    rows, read = table.tolist(), []
    for position in range(length):
        if position < len(rows) and (way != "interpolate" or length <= len(rows)):
            read.append(rows[position])
        elif way == "clamp":
            read.append(rows[-1])
        elif way == "zero":
            read.append([0.0] * table.shape[1])
        else:
            read.append(_stretch(table, length)[position].tolist())
    return read


def _past_by_index(table: Array, length: int, way: str) -> Array:
    position = np.arange(length)
    if way == "interpolate" and length > len(table):
        return stretch_by_tents(table, length)
    inside = (position < len(table))[:, None]
    row = table[np.minimum(position, len(table) - 1)]
    return row * inside if way == "zero" else row


PAST_THE_END = Exercise(
    id="04-extrapolation.past_the_end",
    title="Three ways past the end",
    step_of=TABLE,
    adds="Your decoder gets a learned table, and three ways past its end.",
    signature="past_the_end(table: array of shape (rows, dim), length: int, way: text) -> array of shape "
    "(length, dim)",
    points=3,
    minutes=12,
    difficulty=2,
    reference=past_the_end,
    make_cases=_way_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], args[0].shape[1]),
            "There is one row for each of the length positions, and as many columns as in the table.",
            about="form",
        ),
        Property(
            lambda args, value: args[1] > len(args[0]) or bool(np.allclose(value, args[0][: args[1]])),
            "A text that is no longer than the table gets the rows as they are, in all three ways.",
        ),
        Property(
            lambda args, value: (
                args[2] != "interpolate"
                or args[1] <= len(args[0])
                or not np.allclose(value[: len(args[0])], args[0])
            ),
            "The table is still there as it was, with something behind it. To interpolate is to stretch the "
            "whole table over the whole text.",
        ),
    ),
    mistakes=(
        Mistake(
            "all-clamped",
            _read_with(zero=_with_tail(lambda t: t[-1]), interpolate=_with_tail(lambda t: t[-1])),
            "All three ways repeat the last row. That is clamp alone: look at what way says.",
        ),
        Mistake(
            "short-texts-stretched",
            lambda table, length, way: (
                _stretch(table, length)
                if way == "interpolate" and length != len(table)
                else past_the_end(table, length, way)
            ),
            "A short text is stretched too: its few tokens are spread over the whole table. Stretch only "
            "where the text is longer than the table.",
        ),
        Mistake(
            "last-row-lost",
            _read_with(zero=_one_row_early),
            "Your zeros begin one position too early. The last row of the table was learned, and its "
            "position keeps it.",
        ),
        Mistake(
            "zeros-one-late",
            _read_with(
                zero=lambda table, length: (
                    table[np.minimum(np.arange(length), len(table) - 1)]
                    * (np.arange(length) <= len(table))[:, None]
                )
            ),
            "Your zeros begin one position too late: the last row comes twice. Positions 0 to rows - 1 have "
            "a row, so the first zeros are at position rows.",
        ),
        Mistake(
            "first-row-again",
            _read_with(clamp=_with_tail(lambda t: t[0])),
            "Past its end your clamped table repeats its first row. It should repeat the last one.",
        ),
        Mistake(
            "row-before-last",
            _read_with(clamp=_with_tail(lambda t: t[-2])),
            "Past its end your clamped table repeats the row before the last. Rows are counted from 0, so "
            "the last one is row rows - 1.",
        ),
        Mistake(
            "wrapped",
            _read_with(clamp=lambda table, length: table[np.arange(length) % len(table)]),
            "Your clamped table begins again from its first row, as % does. It should stay at its last row.",
        ),
        Mistake(
            "mean-row",
            _read_with(zero=_with_tail(lambda t: t.mean(axis=0) + 0.0)),
            "Past the end, your zero way adds the mean of all rows. It should add nothing.",
        ),
        Mistake(
            "all-zero",
            _read_with(zero=lambda table, length: np.zeros((length, table.shape[1]))),
            "In a long text, your zero way drops the whole table. The rows of the table stay where they are, "
            "and the zeros come after them.",
        ),
        Mistake(
            "interpolate-is-clamp",
            _read_with(interpolate=_with_tail(lambda t: t[-1])),
            "Your interpolated table is the clamped one. Spread the rows over all positions: that is what "
            "stretch does.",
        ),
        Mistake(
            "clamp-and-zero-swapped",
            _read_with(zero=_with_tail(lambda t: t[-1]), clamp=_with_tail(lambda t: 0 * t[-1])),
            "Clamp and zero are swapped: clamp repeats the last row, and zero adds nothing.",
        ),
        Mistake(
            "all-end-in-zeros",
            _read_with(clamp=_with_tail(lambda t: 0 * t[-1]), interpolate=_with_tail(lambda t: 0 * t[-1])),
            "All three ways put zeros past the end. That is zero alone: look at what way says.",
        ),
        Mistake(
            "interpolate-is-wrapped",
            _read_with(interpolate=lambda table, length: table[np.arange(length) % len(table)]),
            "Your interpolated table begins again from its first row. Spread the rows over all positions: "
            "that is what stretch does.",
        ),
        Mistake(
            "last-row-lost-in-clamp",
            _read_with(
                clamp=lambda table, length: table[np.minimum(np.arange(length), len(table) - 2)],
            ),
            "Your clamped table stops one row early and never uses its last row. Rows are counted from 0, so "
            "the last one is row rows - 1.",
        ),
        Mistake(
            "rows-by-length",
            _read_with(
                interpolate=lambda table, length: read_between(
                    table, np.minimum(np.arange(length) * len(table) / length, len(table) - 1)
                )
            ),
            "Your interpolated table reads at p * rows / length. Both ends stay where they are, so it is "
            "p * (rows - 1) / (length - 1), as in stretch.",
        ),
        Mistake(
            "goes-on-in-a-line",
            _read_with(
                interpolate=lambda table, length: np.concatenate(
                    [
                        table,
                        table[-1] + np.arange(1, length - len(table) + 1)[:, None] * (table[-1] - table[-2]),
                    ]
                )
            ),
            "You continue past the end in a straight line, with the last step of the table. To interpolate "
            "is to read between the rows that you have.",
        ),
        Mistake(
            "nearest-row",
            _read_with(
                interpolate=lambda table, length: table[np.rint(corners(len(table), length)).astype(int)]
            ),
            "Each position got the nearest row, so neighbours share one. Read between the two rows.",
        ),
    ),
    alternatives=(
        _past_by_loop,
        _past_by_index,
        lambda table, length, way: past_the_end(table, length, way).tolist(),
    ),
    hints=(
        "Begin with what all three ways share: a text that is no longer than the table.",
        "`np.minimum(position, rows - 1)` is the row that clamp reads. For zero, the same rows are replaced "
        "by zeros where `position >= rows`.",
        "`stretch(table, length)` from the first step does the third way, where `length > rows`.",
    ),
)
