"""Four programs, four symptoms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property

_LINES = (14, 13, 8, 7)


def _four(**changed: int) -> Callable[[], tuple[int, ...]]:
    """The right answer, with other lines for some of the listings."""
    return lambda: tuple(changed.get(name, line) for name, line in zip("abcd", _LINES, strict=True))


INNOCENT = {
    "a": {
        (19, 20): "In listing A, lines 19 and 20 keep the last keys and values, as they should. What is "
        "wrong from then on is the position of the next token.",
        (17, 18): "In listing A, lines 17 and 18 put the new keys and values behind the old ones, which is "
        "right. Were they right when they were made?",
        (10, 21): "In listing A, lines 10 and 21 count what was read, and count it right. Which line should "
        "use that number?",
        (22,): "In listing A, line 22 lets a single new token see everything that is kept, and that is "
        "right. Look at what happens before.",
        (15, 16): "In listing A, line 15 adds the rows of the positions that it is given, and line 16 uses "
        "the sum. Which line makes the positions?",
        (2, 5, 6, 7, 8, 9, 11, 12, 13): "In listing A, that line does the same for token 66 as for token 2, "
        "and is right. What is different from the 66th token on? Look for a number that stops growing.",
    },
    "b": {
        (12,): "In listing B, line 12 cuts what is known and what is asked, and cuts it right: each token is "
        "asked for the next. Which of these questions are fair?",
        (5, 8): "In listing B, the mask marks the tokens, and only these. Does it mark the right ones when "
        "it is used?",
        (20,): "In listing B, line 20 takes the mean over what counts. What counts was decided before.",
        (15, 16, 17, 18, 19): "In listing B, lines 15 to 19 make the loss of each place, and make it right. "
        "Which places are counted?",
        (2, 3, 4, 6, 7, 9, 11, 14): "In listing B, that line is right: the model reads the tokens, and "
        "padding comes after them. Why does it learn to write padding where a sentence could end?",
    },
    "c": {
        (16,): "In listing C, line 16 says in which type the finished table is wanted, and that is right. "
        "Where is the type used too early?",
        (10, 11, 12): "In listing C, that line puts numbers between -1 and 1 into float16, which holds them "
        "well. Which numbers does it not hold well?",
        (9,): "In listing C, line 9 multiplies what it is given, in float64. What is it given?",
        (2, 3, 4, 5, 7): "In listing C, the frequencies are computed in float64, and stay there. What are "
        "they multiplied with?",
        (6, 13, 14, 15, 17): "In listing C, that line is right: if the table is right, so is what comes of "
        "it. Where do two neighbours become the same?",
    },
    "d": {
        (13, 14, 15, 20): "In listing D, no text reacts to the words of another one, so its mask is right. "
        "What else does a text need, to be as it would be alone?",
        (9,): "In listing D, line 9 subtracts the start of its text from each column, which is right if the "
        "starts are. Are they?",
        (6, 8): "In listing D, line 6 finds where each text ends, and line 8 numbers the columns, both of "
        "them right. Is a start made of an end as it should be?",
        (
            2,
            3,
            4,
            11,
            12,
        ): "In listing D, every token gets the number of its text, and that is right: texts do "
        "not see each other. What else does a text need, to be as it would be alone?",
        (5, 16, 17, 18, 19, 21): "In listing D, that line uses the positions that it is given. Compute those "
        "of the second text by hand, for lengths 3 and 5.",
    },
}
"""Lines that are right, by listing, and what to look at instead."""


def _not(place: int, lines: tuple[int, ...]) -> Callable[[tuple[Any, ...], tuple[float, ...]], bool]:
    return lambda args, value: value[place] not in lines


BROKEN_LINES = Exercise(
    id="05-pitfalls.broken_lines",
    title="Four programs, four symptoms",
    signature="broken_lines: four whole numbers, the broken line of each of the listings A to D",
    points=4,
    minutes=20,
    difficulty=4,
    kind="value",
    parts=("listing A", "listing B", "listing C", "listing D"),
    reference=lambda: _LINES,
    make_cases=lambda rng: iter([Case("your four line numbers")]),
    properties=tuple(
        Property(_not("abcd".index(listing), lines), lead)
        for listing, leads in INNOCENT.items()
        for lines, lead in leads.items()
    ),
    mistakes=(
        Mistake(
            "a-the-last-keys",
            _four(a=19),
            "Three of four are right. In listing A, line 19 keeps the last keys, as it should. What is wrong "
            "from then on is the position of the next token.",
        ),
        Mistake(
            "b-the-mean",
            _four(b=20),
            "Three of four are right. In listing B, line 20 takes the mean over what counts. What counts was "
            "decided before.",
        ),
        Mistake(
            "c-the-angles",
            _four(c=9),
            "Three of four are right. In listing C, line 9 multiplies what it is given, in float64. What is "
            "it given?",
        ),
        Mistake(
            "d-the-mask",
            _four(d=15),
            "Three of four are right. In listing D, no text reacts to the words of another one, so line 15 "
            "is innocent. What else does a text need, to be as it would be alone?",
        ),
        Mistake(
            "counted-from-zero",
            lambda: tuple(line - 1 for line in _LINES),
            "You count from 0. The lines are numbered from 1, in the comment at the end of each.",
        ),
    ),
    alternatives=(
        lambda: list(_LINES),
        lambda: np.array(_LINES),
        lambda: tuple(map(float, _LINES)),
    ),
    hints=(
        "Read the symptom first. Which lines run in the case that goes wrong, and not in the one that goes "
        "right?",
        "Write shapes and positions next to the lines, for the smallest case that shows the symptom.",
        "Copy a listing into a cell, and run the chapter's test for its symptom on it.",
    ),
)
