"""Find the slip: Five programs, five slips."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import SLIPS, one_value
from posenc_course.exercises.exercise import Exercise, Mistake, Property

RIGHT_LINES = (10, 13, 17, 8, 19)
"""Of the programs A to E in `solutions/`, the line that holds the slip; the tests run and correct them."""

NUMBERED = {
    "A": set(range(1, 26)) - {2, 3, 14, 15, 22, 23},
    "B": set(range(1, 25)) - {2, 3, 8, 9, 18, 19},
    "C": set(range(1, 26)) - {2, 3, 6, 10, 14, 20, 21},
    "D": set(range(1, 25)) - {2, 3, 9, 10, 16, 17},
    "E": set(range(1, 27)) - {2, 3, 12, 13, 20, 21},
}
"""The lines of each program that are not empty."""


_OF_A_LINE = {
    (
        "A",
        9,
    ): "In program A, the loop may run over every second column. The slip is what the next line does with "
    "that number.",
    (
        "B",
        15,
    ): "In program B, the columns are filled as they should be; what is filled in has the wrong shape. "
    "Print the shape of theta.",
    (
        "C",
        9,
    ): "In program C, the wavelengths are right, as its first print shows. See what happens to the turns.",
    (
        "D",
        7,
    ): "In program D, the exponents are right: 2i/dim, with i counting pairs. See what is made of them.",
    ("E", 7): "In program E, the table is right. See which of its rows reach which token.",
}
"""Of the wrong lines that people suspect first: why it is not that one."""

_OF_ANY_OTHER = {
    "A": "In program A, that line does its work. Position 0 is right whatever the frequencies are, and the "
    "last clock is too slow: which line makes the angle?",
    "B": "In program B, that line does its work. Four equal rows mean that the position of the row does not "
    "matter: which line should bring positions and frequencies together?",
    "C": "In program C, that line does its work. Wavelengths and turns are right, and the hands hardly "
    "move: which line makes angles of the turns?",
    "D": "In program D, that line does its work. The fastest hand is right, and the slower ones are too "
    "fast: which line makes frequencies of the exponents?",
    "E": "In program E, that line does its work. Tokens of one sentence are treated alike and sentences are "
    "not: which line decides what the rows of the table are counted along?",
}


def _not_this(program: str, lines: set[int]) -> Callable[[tuple[Any, ...], Any], bool]:
    return lambda args, value: value["ABCDE".index(program)] not in lines


def _known(program: str) -> set[int]:
    right = RIGHT_LINES["ABCDE".index(program)]
    return {right, *(line for each, line in _OF_A_LINE if each == program)}


BUG_LINES = Exercise(
    id="02-the-formula.bug_lines",
    title="Five programs, five slips",
    step_of=SLIPS,
    signature="bug_lines: five line numbers, those of the programs A to E",
    points=3,
    minutes=15,
    difficulty=3,
    kind="value",
    reference=lambda: RIGHT_LINES,
    make_cases=one_value,
    parts=("program A", "program B", "program C", "program D", "program E"),
    properties=(
        Property(
            lambda args, value: all(
                line in NUMBERED[each] for each, line in zip("ABCDE", value, strict=True)
            ),
            "One of your numbers is not at the end of any line of its program. Every line has its number "
            "there, in a comment; an empty one has none.",
        ),
        *(Property(_not_this(each, {line}), message) for (each, line), message in _OF_A_LINE.items()),
        *(
            Property(_not_this(each, NUMBERED[each] - _known(each)), message)
            for each, message in _OF_ANY_OTHER.items()
        ),
    ),
    mistakes=(
        Mistake(
            "counted-from-0",
            lambda: tuple(line - 1 for line in RIGHT_LINES),
            "Each of your numbers is one too small: the lines are numbered from 1, in the comment at the "
            "end of each.",
        ),
        Mistake(
            "what-is-printed",
            lambda: (25, 24, 24, 24, 26),
            "These are the lines that show the fault. The slip is where the wrong numbers are made.",
        ),
    ),
    alternatives=(
        lambda: list(RIGHT_LINES),
        lambda: np.asarray(RIGHT_LINES),
        lambda: tuple(float(line) for line in RIGHT_LINES),
    ),
    hints=(
        "Run each program, and compare what it prints with `posenc_lib.sinusoidal`'s rows: which columns are "
        "wrong, which rows?",
        "A and D have wrong frequencies, B and E have right ones in the wrong places, C has right ones and "
        "the wrong angles.",
        "Print the frequencies of A and D, the shape of theta in B, the first angles in C, and in E which "
        "row of the table each token gets.",
    ),
)
