"""Four programs, four symptoms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posenc_course.exercises.exercise import Case, Exercise, Mistake

_LINES = (14, 13, 8, 7)


def _four(**changed: int) -> Callable[[], tuple[int, ...]]:
    """The right answer, with other lines for some of the listings."""
    return lambda: tuple(changed.get(name, line) for name, line in zip("abcd", _LINES, strict=True))


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
    mistakes=(
        Mistake(
            "a-the-last-keys",
            _four(a=19),
            "Three of four are right. In listing A, line 19 keeps the last keys, as it should. What is "
            "wrong from then on is where the next token is put.",
        ),
        Mistake(
            "a-the-counter",
            _four(a=21),
            "Three of four are right. In listing A, line 21 counts what was read, rightly. Which line "
            "should ask it?",
        ),
        Mistake(
            "a-the-mask",
            _four(a=22),
            "Three of four are right. In listing A, line 22 lets a single new token see all that is kept, "
            "and that is right. Look at what happens before.",
        ),
        Mistake(
            "a-where-it-is-added",
            _four(a=15),
            "Three of four are right. In listing A, line 15 adds the rows of the positions that it is "
            "given. Which line makes them?",
        ),
        Mistake(
            "b-what-is-asked",
            _four(b=12),
            "Three of four are right. In listing B, line 12 cuts what is known and what is asked, rightly: "
            "each token is asked for the next. Which of these are fair questions?",
        ),
        Mistake(
            "b-the-mask-is-made",
            _four(b=8),
            "Three of four are right. In listing B, line 8 marks the tokens, and only these. Is the mark "
            "used for the right ones later?",
        ),
        Mistake(
            "b-the-mean",
            _four(b=20),
            "Three of four are right. In listing B, line 20 takes the mean over what counts. What counts "
            "was decided before.",
        ),
        Mistake(
            "c-where-the-type-comes-from",
            _four(c=16),
            "Three of four are right. In listing C, line 16 hands on in which type the finished table is "
            "wanted, and that is right. Where is the type used too early?",
        ),
        Mistake(
            "c-the-table",
            _four(c=10),
            "Three of four are right. In listing C, line 10 makes room for numbers between -1 and 1, which "
            "float16 holds well. Which numbers does it not hold well?",
        ),
        Mistake(
            "c-the-angles",
            _four(c=9),
            "Three of four are right. In listing C, line 9 multiplies what it is given, in float64. What "
            "is it given?",
        ),
        Mistake(
            "d-the-mask",
            _four(d=15),
            "Three of four are right. In listing D, nobody reacts to the words of another text, so line 15 "
            "is innocent. What else does a text need to be as it would be alone?",
        ),
        Mistake(
            "d-the-difference",
            _four(d=9),
            "Three of four are right. In listing D, line 9 takes the start of its text away from each "
            "column, which is right if the starts are. Are they?",
        ),
        Mistake(
            "d-the-ends",
            _four(d=6),
            "Three of four are right. In listing D, line 6 adds the lengths up, and finds where each text "
            "ends. Is a start made of it rightly?",
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
        "Write shapes and positions behind the lines, for the smallest case that shows the symptom.",
        "Copy a listing into a cell, and put to it the test of the chapter that belongs to its symptom.",
    ),
)
