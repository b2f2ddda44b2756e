"""Five programs, five broken lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property

RIGHT_LINES = (9, 12, 9, 3, 14)

NUMBERED = set(range(1, 25))
"""The lines of each listing."""

_OF_A_LINE = {
    (
        "A",
        23,
    ): "In listing A, line 23 is innocent: line 22 has put the heads of one token side by side, and 23 "
    "only joins them. Where are the heads of one token pulled apart?",
    ("A", 22): "In listing A, line 22 brings the heads of one token together again, as it should. Where are "
    "they pulled apart?",
    (
        "A",
        18,
    ): "In listing A, the mask is as it should be: with one head no token looks ahead. Ask what each row "
    "of q holds when there are two heads.",
    ("B", 13): "In listing B, line 13 uses a number that is already wrong. Which line makes it?",
    (
        "B",
        22,
    ): "In listing B, every row sums to 1, so line 22 does its work. The weights are too even because "
    "the scores are too small.",
    ("C", 8): "In listing C, the loop visits every token. What may the token at t see in there?",
    ("C", 13): "In listing C, line 13 mixes the values of the tokens that are seen, with the right weights. "
    "Which tokens are these?",
    ("D", 4): "In listing D, line 4 subtracts what it is given. What it is given is wrong for some rows.",
    ("D", 6): "In listing D, line 6 divides 0 by 0 and so gives the NaN, but it is not to blame. Why are all "
    "exponentials of a row 0?",
    ("E", 15): "In listing E, line 15 splits each of the three into heads, and rightly. Are the three what "
    "their names say?",
    (
        "E",
        12,
    ): "In listing E, line 12 stacks the three matrices in the usual order. Are they taken apart again "
    "in the same order?",
}
"""Of the wrong lines that people suspect first: why it is not that one."""

_OF_ANY_OTHER = {
    "A": "In listing A, that line does its work. With one head all is right: which line does something else "
    "when there are two? Ask what row 0 of head 1 holds.",
    "B": "In listing B, that line does its work. Weights that are too even come from scores that are too "
    "small. Which line decides how large the scores are?",
    "C": "In listing C, that line does its work. The first row is right and all later ones are not: which "
    "line treats the first token differently from the others?",
    "D": "In listing D, that line does its work. One enormous token spoils other rows: which line lets a row "
    "depend on the scores of the others?",
    "E": "In listing E, that line does its work. Trained from nothing it learns as well as any other, so "
    "nothing is lost on the way. Which matrix does each of q, k and v come from?",
}


def _not_this(listing: str, lines: set[int]) -> Callable[[tuple[Any, ...], Any], bool]:
    return lambda args, value: value["ABCDE".index(listing)] not in lines


def _known(listing: str) -> set[int]:
    right = RIGHT_LINES["ABCDE".index(listing)]
    return {right, *(line for each, line in _OF_A_LINE if each == listing)}


FIND_THE_BUG = Exercise(
    id="01-why-order-matters.find_the_bug",
    title="Five programs, five broken lines",
    signature="find_the_bug: five whole numbers, the broken line of each of the listings A to E",
    points=3,
    minutes=15,
    difficulty=3,
    kind="value",
    parts=("listing A", "listing B", "listing C", "listing D", "listing E"),
    reference=lambda: RIGHT_LINES,
    make_cases=lambda rng: iter([Case("your five line numbers")]),
    properties=(
        Property(
            lambda args, value: all(line in NUMBERED for line in value),
            "One of your numbers is not at the end of any line of its listing. Every line has its number "
            "there, in a comment.",
        ),
        *(Property(_not_this(each, {line}), message) for (each, line), message in _OF_A_LINE.items()),
        *(
            Property(_not_this(each, NUMBERED - _known(each)), message)
            for each, message in _OF_ANY_OTHER.items()
        ),
    ),
    mistakes=(
        Mistake(
            "counted-from-zero",
            lambda: tuple(line - 1 for line in RIGHT_LINES),
            "You count from 0. The lines are numbered from 1, in the comment at the end of each.",
        ),
        Mistake(
            "from-e-to-a",
            lambda: RIGHT_LINES[::-1],
            "These are the right lines in reverse order. Listing A comes first, and listing E last.",
        ),
    ),
    alternatives=(
        lambda: [9, 12, 9, 3, 14],
        lambda: np.array([9, 12, 9, 3, 14]),
        lambda: (9.0, 12.0, 9.0, 3.0, 14.0),
    ),
    hints=(
        "Read the symptom first, and ask which lines could cause it. In A, for example: which lines do "
        "something else with two heads than with one?",
        "Write the shape of each array next to its line, for `n = 3`, `dim = 4` and two heads. What does "
        "row 0 of head 1 hold?",
        "You may copy a listing into a cell and run it: compare its output with that of your own "
        "`attention`.",
    ),
)
