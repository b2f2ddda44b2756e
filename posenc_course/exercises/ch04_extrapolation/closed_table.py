"""Detective: a table behind a closed door."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import WAYS, Generator
from posenc_course.exercises.ch04_extrapolation.past_the_end import past_the_end
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array

LONG = 300
"""Tokens: the longest text that a closed table is asked about."""


@dataclass(frozen=True)
class ClosedTable:
    """A learned table that may be asked: the length of a text to the rows of its positions."""

    table: tuple[tuple[float, ...], ...]
    way: str

    def __call__(self, length: int) -> Array:
        table, position = np.array(self.table), np.arange(min(int(length), LONG))
        if self.way == "wrap":
            return np.asarray(table[position % len(table)])
        return past_the_end(table, len(position), self.way)


CLOSED = (*WAYS, "wrap")


def _closed_cases(rng: Generator) -> Iterator[Case]:
    for way in CLOSED:
        for kind in ("", ", with a row that comes twice", ", with a row of zeros"):
            table = rng.normal(size=(int(rng.integers(12, 40)), 3))
            place = len(table) // 2
            if (LONG - 1) % len(table) == place:
                table = table[:-1]  # the longest text must not end on the row of zeros
                place = len(table) // 2
            if "twice" in kind:
                table[place + 1] = table[place]
                table[place - 2] = table[0]
            elif kind:
                table[place] = 0
            yield Case(f"{way}{kind}", (ClosedTable(tuple(map(tuple, table.tolist())), way),))


def _same(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=0, atol=1e-9))


def _first(holds: Callable[[int], bool]) -> int:
    return next(n for n in range(1, LONG) if holds(n))


def _opened(rows: Callable[[int], Any], **wrong: Callable[[Array], int]) -> tuple[int, str]:
    """How many rows there are, and what comes after them; `wrong` counts in its own way for some."""
    long = np.asarray(rows(LONG))
    if not _same(np.asarray(rows(LONG // 2)), long[: LONG // 2]):
        grown = _first(lambda n: not _same(np.asarray(rows(n + 1))[:n], np.asarray(rows(n))))
        return wrong.get("interpolate", lambda _: grown)(long), "interpolate"
    if not long[-1].any():
        return wrong.get("zero", lambda long: int(np.flatnonzero(long.any(axis=1))[-1]) + 1)(long), "zero"
    if _same(long[LONG // 2 :], long[-1]):
        held = wrong.get("clamp", lambda long: _first(lambda n: _same(long[n:], long[-1])) + 1)
        return held(long), "clamp"
    return wrong.get("wrap", lambda long: _first(lambda n: _same(long[n:], long[:-n])))(long), "wrap"


def _opened_by_lengths(rows: Callable[[int], Any]) -> list[Any]:
    """The shortest text whose rows are not what a longer table would have: by one property of each way."""
    texts = [np.asarray(rows(n)) for n in (2, LONG // 3, LONG)]
    if np.abs(texts[1] - texts[2][: LONG // 3]).max() > 1e-9:
        n = 2
        while np.abs(np.asarray(rows(n + 1))[:n] - np.asarray(rows(n))).max() < 1e-9:
            n += 1
        return [n, "interpolate"]
    tail = texts[2][LONG // 2 :]
    if np.ptp(tail, axis=0).max() < 1e-9:
        n = LONG
        while n > 1 and np.abs(texts[2][n - 1] - tail[-1]).max() < 1e-9:
            n -= 1
        return [n, "zero"] if np.abs(tail).max() < 1e-9 else [n + 1, "clamp"]
    for n in range(1, LONG):
        if np.abs(texts[2][n:] - texts[2][:-n]).max() < 1e-9:
            return [n, "wrap"]
    return [0, "wrap"]


def _knows(way: str) -> Callable[[tuple[Any, ...], Any], bool]:
    return lambda args, value: args[0].way != way or value[1] == way


def _counts(way: str) -> Callable[[tuple[Any, ...], Any], bool]:
    return lambda args, value: args[0].way != way or value[1] != way or value[0] == len(args[0].table)


CLOSED_TABLE = Exercise(
    id="04-extrapolation.closed_table",
    title="Detective: a table behind a closed door",
    signature="closed_table(rows: from a number of tokens to an array of shape (tokens, dim)) -> (int, text)",
    parts=("how many rows were learned", "what comes after them"),
    points=4,
    minutes=20,
    difficulty=4,
    reference=lambda rows: _opened(rows),
    make_cases=_closed_cases,
    properties=(
        Property(
            _knows("interpolate"),
            "This table is stretched. A text that is shorter than the table does not show that: compare two "
            "texts that are both longer than 50.",
        ),
        Property(
            _knows("clamp"),
            "In this table every late position has the same row, and it is not a row of zeros.",
        ),
        Property(_knows("zero"), "In this table every late position has a row of zeros."),
        Property(
            _knows("wrap"),
            "In this table the late rows are not all the same, and they do not move when the text grows. "
            "Look for rows that come again.",
        ),
        Property(
            _counts("interpolate"),
            "Your word is right, and the number is not. As soon as a text has one token more than the table "
            "has rows, its first rows change. What is the longest text whose rows stay the same?",
        ),
        Property(
            _counts("clamp"),
            "Your word is right, and the number is not. Go back from the end while the rows are equal. The "
            "first of these equal rows is the last one that was learned, and counts.",
        ),
        Property(
            _counts("zero"),
            "Your word is right, and the number is not. The last row that holds anything but zeros was "
            "learned, and all rows before it as well, a row of zeros included.",
        ),
        Property(
            _counts("wrap"),
            "Your word is right, and the number is not. Take the smallest shift by which the whole text "
            "agrees with itself: a single row may come twice in a table.",
        ),
    ),
    mistakes=(
        Mistake(
            "length-as-rows",
            lambda rows: (LONG, _opened(rows)[1]),
            "The first value is the length of the text that you asked for. How many of these rows were "
            "learned?",
        ),
        Mistake(
            "last-index",
            lambda rows: (_opened(rows)[0] - 1, _opened(rows)[1]),
            "The first value is one too small everywhere: it is the number of the last row, and rows are "
            "counted from 0.",
        ),
        Mistake(
            "one-more",
            lambda rows: (_opened(rows)[0] + 1, _opened(rows)[1]),
            "The first value is one too large everywhere: you count the first invented row too.",
        ),
        Mistake(
            "first-repeat",
            lambda rows: _opened(rows, clamp=lambda long: _first(lambda n: _same(long[n], long[n - 1]))),
            "You stop at the first row that equals the one before it. A table may well have learned the "
            "same row twice: look for the place from which on all rows are the same.",
        ),
        Mistake(
            "first-zero",
            lambda rows: _opened(rows, zero=lambda long: _first(lambda n: not long[n].any())),
            "You stop at the first row of zeros. A table may have learned such a row: look for the last row "
            "that holds anything else.",
        ),
        Mistake(
            "first-return",
            lambda rows: _opened(rows, wrap=lambda long: _first(lambda n: _same(long[n], long[0]))),
            "You stop where row 0 comes again. A table may have learned the same row twice: from there on, "
            "all rows have to repeat.",
        ),
        Mistake(
            "one-length",
            lambda rows: (LONG, "clamp") if _opened(rows)[1] == "interpolate" else _opened(rows),
            "The stretched tables go unnoticed: you may have asked for one length only. Ask for two lengths "
            "above 50, and compare the rows that both have.",
        ),
        Mistake(
            "different-rows-counted",
            lambda rows: (
                _opened(rows)[0]
                if _opened(rows)[1] == "interpolate"
                else len(np.unique(np.asarray(rows(LONG)), axis=0)),
                _opened(rows)[1],
            ),
            "You count the different rows. A table may have learned the same row twice, and past the end of "
            "some tables there are zeros, which are not a learned row.",
        ),
        Mistake(
            "wrap-as-clamp",
            lambda rows: (_opened(rows)[0], _opened(rows)[1].replace("wrap", "clamp")),
            "You took a table that begins again from its first row for one that is held at its last. Are all "
            "late rows the same?",
        ),
        Mistake(
            "zero-as-clamp",
            lambda rows: (_opened(rows)[0], _opened(rows)[1].replace("zero", "clamp")),
            "You took zeros for a last row that is held. Look at the numbers: past the end, a clamped table "
            "repeats its own last row.",
        ),
        Mistake(
            "names-first",
            lambda rows: _opened(rows)[::-1],
            "The two values are swapped: the number of rows comes first, then the word.",
        ),
    ),
    alternatives=(
        _opened_by_lengths,
        lambda rows: list(_opened(rows)),
        lambda rows: (np.int64(_opened(rows)[0]), _opened(rows)[1]),
    ),
    hints=(
        "Ask for one long text, and for one half as long. In only one of the four ways does the same "
        "position get different rows in the two.",
        "For the other three, look at the end of the long text: zeros, one row again and again, or neither.",
        "Count from the end for clamp and zero. For wrap, the number of rows is the smallest shift by which "
        "the whole text agrees with itself. For interpolate, let the text grow by one token until its rows "
        "change.",
    ),
)
