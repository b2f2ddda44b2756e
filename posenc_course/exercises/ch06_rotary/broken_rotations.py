"""Five rotations, five broken lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _one_value(rng: Generator) -> Iterator[Case]:
    yield Case("your five line numbers")


def _lines(**other: int) -> Callable[[], tuple[int, ...]]:
    """The broken lines, but for some listings another one."""
    right = {"a": 5, "b": 13, "c": 11, "d": 12, "e": 15}
    return lambda: tuple((right | other).values())


_TEMPTING = {
    (0, 4): (
        "a-the-pairs",
        "In listing A, line 4 counts the pairs that turn, and there are as many as it says. How "
        "fast does each of them turn?",
    ),
    (0, 7): (
        "a-the-part",
        "In listing A, lines 7 and 8 cut the row where they should. How fast does each pair of the "
        "part turn?",
    ),
    (0, 9): (
        "a-the-call",
        "In listing A, line 9 passes on everything that is needed. What does the function do with it?",
    ),
    (0, 12): (
        "a-the-turn",
        "In listing A, line 12 turns each pair by the angle that it is given. Where does that "
        "angle come from?",
    ),
    (0, 14): (
        "a-the-join",
        "In listing A, line 14 puts the columns that pass behind those that turn, as it should. "
        "How fast does each pair turn?",
    ),
    (1, 12): (
        "b-the-new-ones",
        "In listing B, line 12 counts the new tokens along the right axis. Compare it with the next line.",
    ),
    (1, 14): (
        "b-the-positions",
        "In listing B, line 14 starts from a number that is already wrong. Which line makes it?",
    ),
    (1, 16): (
        "b-the-turn",
        "In listing B, line 16 turns the new keys by the positions that it is given. Are they "
        "the right ones?",
    ),
    (1, 17): (
        "b-the-join",
        "In listing B, line 17 joins the keys in their order, the old ones first. Ask at which "
        "positions the new ones were turned.",
    ),
    (1, 18): (
        "b-the-scores",
        "In listing B, line 18 multiplies queries and keys head by head, as it should. At which "
        "positions were the new ones turned?",
    ),
    (2, 6): (
        "c-the-tables",
        "In listing C, line 6 repeats the angles as the half layout needs them. Which way does a pair turn?",
    ),
    (2, 10): (
        "c-the-halves",
        "In listing C, line 10 cuts the head in two, as the half layout does. What is made of "
        "the two halves?",
    ),
    (2, 13): (
        "c-the-call",
        "In listing C, line 13 asks for the right angles. Which way does a pair turn by them?",
    ),
    (2, 14): (
        "c-the-sum",
        "In listing C, line 14 is right, provided that quarter_turn is. Feed it the pair (1, 0), "
        "at an angle of a quarter turn.",
    ),
    (3, 4): (
        "d-the-angles",
        "In listing D, line 4 makes one right angle for each pair. What happens to the angles after that?",
    ),
    (3, 7): (
        "d-the-quarter-turn",
        "In listing D, lines 7 and 8 make the quarter turn of neighbours, and they are "
        "right. Which angle does each column get?",
    ),
    (3, 8): (
        "d-the-other-half",
        "In listing D, lines 7 and 8 make the quarter turn of neighbours, and both are "
        "right. Which angle does each column get?",
    ),
    (3, 11): (
        "d-the-call",
        "In listing D, line 11 gets one angle for each pair, as it should. How do two columns get "
        "the same one?",
    ),
    (3, 14): (
        "d-the-turn",
        "In listing D, line 14 is what it should be. Write down the four angles of a head of four "
        "columns, as this line gets them.",
    ),
    (4, 2): (
        "e-the-numbers",
        "In listing E, line 2 is right, but one of its two numbers is never used. Which line should use it?",
    ),
    (4, 4): (
        "e-the-base",
        "In listing E, line 4 is the rule of NTK. Does it get the same factor at each call?",
    ),
    (4, 5): (
        "e-the-frequencies",
        "In listing E, line 5 makes frequencies of whatever base it is given. Is that base "
        "the same at each call?",
    ),
    (4, 7): (
        "e-the-angles",
        "In listing E, line 7 multiplies the right positions with the frequencies of this call. "
        "Were the old keys turned with the same ones?",
    ),
    (4, 14): (
        "e-the-counts",
        "In listing E, line 14 counts the old and the new tokens, both along the right axis. "
        "Which number changes from call to call, and should not?",
    ),
    (4, 16): (
        "e-the-positions",
        "In listing E, the new tokens get the right positions. With which frequencies were "
        "the old keys turned?",
    ),
    (4, 17): (
        "e-the-turn",
        "In listing E, line 17 turns queries and keys in the same way, with one factor. Did the "
        "previous call use that factor too?",
    ),
    (4, 18): (
        "e-the-join",
        "In listing E, line 18 joins keys that do not fit together. What made them different?",
    ),
}
"""Lines that look broken and are not: listing (from 0) and line; a name, and what to look at instead."""


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
    properties=tuple(
        Property(
            lambda args, value, place=place, line=line: value[place] != line,  # type: ignore[misc]
            words,
        )
        for (place, line), (_, words) in _TEMPTING.items()
    ),
    mistakes=(
        *(
            Mistake(name, _lines(**{"abcde"[place]: line}), f"Four of five are right. {words}")
            for (place, line), (name, words) in _TEMPTING.items()
        ),
        Mistake(
            "counted-from-zero",
            lambda: tuple(each - 1 for each in _lines()()),
            "You count from 0. The lines are numbered from 1, in the comment at the end of each line.",
        ),
    ),
    alternatives=(
        lambda: list(_lines()()),
        lambda: np.array(_lines()()),
        lambda: tuple(float(each) for each in _lines()()),
    ),
    hints=(
        "Read the symptom first, and ask which lines could cause it. In B, for example: what is the same "
        "when there are as many heads as tokens?",
        "For C, feed the turn a single pair, and draw where it goes. For D, write down the angle that each "
        "column gets.",
        "You may copy a listing into a cell and run it next to your own `rotate_heads`.",
    ),
)
