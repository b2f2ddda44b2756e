"""Five rotations, five broken lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake


def _one_value(rng: Generator) -> Iterator[Case]:
    yield Case("your five line numbers")


def _lines(**other: int) -> Callable[[], tuple[int, ...]]:
    """The broken lines, but for some listings another one."""
    right = {"a": 5, "b": 13, "c": 11, "d": 12, "e": 15}
    return lambda: tuple((right | other).values())


BROKEN_ROTATIONS = Exercise(
    id="06-rotary.broken_rotations",
    title="Five rotations, five broken lines",
    signature="broken_rotations: five whole numbers, the broken line of each of the listings A to E",
    points=3,
    minutes=20,
    difficulty=4,
    kind="value",
    parts=("listing A", "listing B", "listing C", "listing D", "listing E"),
    reference=_lines(),
    make_cases=_one_value,
    mistakes=(
        Mistake(
            "a-the-call",
            _lines(a=9),
            "Four of five are right. In listing A, line 9 hands over all that is needed. What is made of it?",
        ),
        Mistake(
            "a-the-pairs",
            _lines(a=4),
            "Four of five are right. In listing A, line 4 counts the pairs that turn, and there are as many "
            "as it says. How fast does each of them turn?",
        ),
        Mistake(
            "b-the-positions",
            _lines(b=14),
            "Four of five are right. In listing B, line 14 goes on from a number that is already wrong. "
            "Which line makes it?",
        ),
        Mistake(
            "b-the-join",
            _lines(b=17),
            "Four of five are right. In listing B, line 17 joins the keys in their order, the old ones "
            "first. Ask at which positions the new ones were turned.",
        ),
        Mistake(
            "c-the-tables",
            _lines(c=6),
            "Four of five are right. In listing C, line 6 repeats the angles as the half layout needs them. "
            "Which way does a pair turn?",
        ),
        Mistake(
            "c-the-sum",
            _lines(c=14),
            "Four of five are right. In listing C, line 14 is what it should be, if quarter_turn is. Feed "
            "it the pair (1, 0), at an angle of a quarter turn.",
        ),
        Mistake(
            "d-the-quarter-turn",
            _lines(d=7),
            "Four of five are right. In listing D, lines 7 and 8 make the quarter turn of neighbours, "
            "rightly. Which angle does each column get?",
        ),
        Mistake(
            "d-the-turn",
            _lines(d=14),
            "Four of five are right. In listing D, line 14 is what it should be. Write down the four angles "
            "of a head of four columns, as it gets them.",
        ),
        Mistake(
            "e-the-base",
            _lines(e=4),
            "Four of five are right. In listing E, line 4 is the rule of NTK. Is it given the same factor "
            "at each call?",
        ),
        Mistake(
            "e-the-positions",
            _lines(e=16),
            "Four of five are right. In listing E, the new tokens stand where they should. With which "
            "frequencies were the old keys turned?",
        ),
        Mistake(
            "e-the-join",
            _lines(e=18),
            "Four of five are right. In listing E, line 18 joins keys that do not fit each other. Where "
            "does it come from that they do not?",
        ),
        Mistake(
            "counted-from-zero",
            lambda: tuple(each - 1 for each in _lines()()),
            "You count from 0. The lines are numbered from 1, in the comment at the end of each.",
        ),
    ),
    alternatives=(
        lambda: list(_lines()()),
        lambda: np.array(_lines()()),
        lambda: tuple(float(each) for each in _lines()()),
    ),
    hints=(
        "Read the symptom first, and ask which lines could bring it about. In B, for example: what is the "
        "same when there are as many heads as tokens?",
        "For C, feed the turn a single pair, and draw where it goes. For D, write down the angle that each "
        "column gets.",
        "You may copy a listing into a cell and run it beside your own `rotate_heads`.",
    ),
)
