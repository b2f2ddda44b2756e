"""Find the slip: Five programs, five slips."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import SLIPS, one_value
from posenc_course.exercises.exercise import Exercise, Mistake

RIGHT_LINES = (10, 13, 17, 8, 19)
"""Of the programs A to E in `solutions/`, the line that holds the slip; the tests run and mend them."""


def _lines_with(**changed: int) -> Callable[[], tuple[int, ...]]:
    """The right lines, but for these programs."""
    lines = dict(zip("abcde", RIGHT_LINES, strict=True)) | changed
    return lambda: tuple(lines.values())


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
    mistakes=(
        Mistake(
            "counted-from-0",
            lambda: tuple(line - 1 for line in RIGHT_LINES),
            "Each of your numbers is one too small: the lines are numbered from 1, as written beside them.",
        ),
        Mistake(
            "loop-of-A",
            _lines_with(a=9),
            "Four are right. In A the loop may well run over every second column; what it does with that "
            "number is the slip, one line further.",
        ),
        Mistake(
            "columns-of-B",
            _lines_with(b=15),
            "Four are right. In B the columns are filled as they should be; what is filled in has the wrong "
            "shape. Print the shape of theta.",
        ),
        Mistake(
            "wavelengths-of-C",
            _lines_with(c=9),
            "Four are right. In C the wavelengths are right, as its first print shows. See what happens to "
            "the turns.",
        ),
        Mistake(
            "exponents-of-D",
            _lines_with(d=7),
            "Four are right. In D the exponents are right: 2i/dim, with i counting pairs. See what is made "
            "of them.",
        ),
        Mistake(
            "table-of-E",
            _lines_with(e=7),
            "Four are right. In E the table is right. See which of its rows reach which token.",
        ),
        Mistake(
            "what-is-printed",
            lambda: (25, 24, 24, 24, 26),
            "These are the lines that show the fault. The slip stands where the wrong numbers are made.",
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
