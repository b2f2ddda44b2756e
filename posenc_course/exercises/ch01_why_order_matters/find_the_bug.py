"""Five programs, five broken lines."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.exercise import Case, Exercise, Mistake

FIND_THE_BUG = Exercise(
    id="01-why-order-matters.find_the_bug",
    title="Five programs, five broken lines",
    signature="find_the_bug: five whole numbers, the broken line of each of the listings A to E",
    points=3,
    minutes=15,
    difficulty=3,
    kind="value",
    parts=("listing A", "listing B", "listing C", "listing D", "listing E"),
    reference=lambda: (9, 12, 9, 3, 14),
    make_cases=lambda rng: iter([Case("your five line numbers")]),
    mistakes=(
        Mistake(
            "a-the-join",
            lambda: (23, 12, 9, 3, 14),
            "Four of five are right. In listing A, line 23 is innocent: line 22 has put the heads of one "
            "token side by side, and 23 only joins them. Where are the heads of one token pulled apart?",
        ),
        Mistake(
            "a-the-turn-back",
            lambda: (22, 12, 9, 3, 14),
            "Four of five are right. In listing A, line 22 brings the heads of one token together again, "
            "as it should. Where are they pulled apart?",
        ),
        Mistake(
            "a-the-mask",
            lambda: (18, 12, 9, 3, 14),
            "Four of five are right. In listing A the mask is as it should be: with one head nobody looks "
            "ahead. Ask what each row of q holds when there are two heads.",
        ),
        Mistake(
            "b-where-it-is-used",
            lambda: (9, 13, 9, 3, 14),
            "Four of five are right. In listing B, line 13 uses a number that is already wrong. Which "
            "line makes it?",
        ),
        Mistake(
            "b-the-softmax",
            lambda: (9, 22, 9, 3, 14),
            "Four of five are right. In listing B every row sums to 1, so line 22 does its work. The "
            "weights are too even because the scores are too small.",
        ),
        Mistake(
            "c-the-loop",
            lambda: (9, 12, 8, 3, 14),
            "Four of five are right. In listing C the loop visits every token. What may the token at t "
            "see in there?",
        ),
        Mistake(
            "c-the-mix",
            lambda: (9, 12, 13, 3, 14),
            "Four of five are right. In listing C, line 13 mixes the values of the tokens that are seen, "
            "with the right weights. Which tokens are these?",
        ),
        Mistake(
            "d-the-exponential",
            lambda: (9, 12, 9, 4, 14),
            "Four of five are right. In listing D, line 4 takes away what it is given. What it is given "
            "is wrong for some rows.",
        ),
        Mistake(
            "d-the-division",
            lambda: (9, 12, 9, 6, 14),
            "Four of five are right. In listing D, line 6 divides 0 by 0 and so gives the NaN, but it is "
            "not to blame. Why are all exponentials of a row 0?",
        ),
        Mistake(
            "e-the-heads",
            lambda: (9, 12, 9, 3, 15),
            "Four of five are right. In listing E, line 15 splits each of the three into heads, rightly. "
            "Are the three what their names say?",
        ),
        Mistake(
            "e-the-stack",
            lambda: (9, 12, 9, 3, 12),
            "Four of five are right. In listing E, line 12 stacks the three matrices in the usual order. "
            "Are they taken apart again in the same order?",
        ),
        Mistake(
            "counted-from-zero",
            lambda: (8, 11, 8, 2, 13),
            "You count from 0. The lines are numbered from 1, in the comment at the end of each.",
        ),
    ),
    alternatives=(
        lambda: [9, 12, 9, 3, 14],
        lambda: np.array([9, 12, 9, 3, 14]),
        lambda: (9.0, 12.0, 9.0, 3.0, 14.0),
    ),
    hints=(
        "Read the symptom first, and ask which lines could bring it about. In A, for example: which lines "
        "behave otherwise with two heads than with one?",
        "Write the shape of each array behind its line, for `n = 3`, `dim = 4` and two heads. What does "
        "row 0 of head 0 hold?",
        "You may copy a listing into a cell and run it: compare its output with that of your own "
        "`attention`.",
    ),
)
