"""Predict: which claim does it back?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property

CLAIMED = ("defined", "works", "defined", "uses", "works", "none")


def _claims_with(**changed: str) -> Callable[[], tuple[str, ...]]:
    numbers = {"one": 0, "two": 1, "three": 2, "four": 3, "five": 4, "six": 5}
    answer = list(CLAIMED)
    for number, word in changed.items():
        answer[numbers[number]] = word
    return lambda: tuple(answer)


def _not(sentence: int, *words: str) -> Callable[[tuple[object, ...], tuple[str, ...]], bool]:
    return lambda args, value: value[sentence - 1] not in words


WHICH_CLAIM = Exercise(
    id="04-extrapolation.which_claim",
    title="Predict: which claim does it back?",
    signature='which_claim: six words, each of "defined", "works", "uses", "none"',
    parts=("sentence 1", "sentence 2", "sentence 3", "sentence 4", "sentence 5", "sentence 6"),
    points=2,
    minutes=8,
    difficulty=2,
    kind="value",
    reference=lambda: CLAIMED,
    make_cases=lambda rng: iter([Case("your six words")]),
    properties=(
        Property(
            lambda args, value: set(value) <= {"defined", "works", "uses", "none"},
            "Each of the six words is one of defined, works, uses and none.",
        ),
        Property(
            _not(1, "works", "uses"),
            "Sentence 1: a formula was asked for a vector. Was any loss measured?",
        ),
        Property(
            _not(1, "none"),
            "Sentence 1: is there a vector at that position, or an error? That settles the weakest claim.",
        ),
        Property(
            _not(2, "uses"),
            "Sentence 2: the loss stays the same. Did anyone take the far tokens away, to see whether it "
            "rises?",
        ),
        Property(
            _not(2, "defined", "none"),
            "Sentence 2: a model was tested at far positions, on the same bytes. That says more than a "
            "formula.",
        ),
        Property(
            _not(3, "works", "uses"),
            "Sentence 3: the model raises no error. Do you learn how well it predicts?",
        ),
        Property(
            _not(3, "none"),
            "Sentence 3: every position gets some row. Which claim is that enough for?",
        ),
        Property(
            _not(4, "defined", "works", "none"),
            "Sentence 4: the far tokens were taken away, and the loss rose. Which claim is that a test of?",
        ),
        Property(
            _not(5, "uses"),
            "Sentence 5: each byte sees the 255 before it. Is there a far token in the window at all?",
        ),
        Property(
            _not(5, "defined", "none"),
            "Sentence 5: a loss was measured, all through a long text. That says more than a formula.",
        ),
        Property(
            _not(6, "defined", "works", "uses"),
            "Sentence 6 compares two means. What makes the mean of a longer block fall, whatever the model "
            "does?",
        ),
    ),
    mistakes=(
        Mistake(
            "all-defined",
            lambda: ("defined",) * 6,
            "You took all six for claims about a formula. In some of them a model was tested: its loss was "
            "measured.",
        ),
        Mistake(
            "a-vector-works",
            _claims_with(one="works", three="works"),
            "To give something at a position is not to work there. In two of your sentences no model was "
            "asked at all.",
        ),
        Mistake(
            "holding-is-using",
            _claims_with(two="uses", five="uses"),
            "A loss that does not rise says nothing about whether far tokens were read. To find out, you "
            "have to take them away.",
        ),
        Mistake(
            "falling-in-blocks",
            _claims_with(six="uses"),
            "Five are right. A mean that falls in longer blocks may have no other cause than the early "
            "tokens.",
        ),
        Mistake(
            "falling-is-working",
            _claims_with(six="works"),
            "Five are right. No block is longer than the texts of the training, so no far position was "
            "tested. The mean falls because early tokens count for less.",
        ),
        Mistake(
            "using-is-working",
            _claims_with(four="works"),
            "Five are right. In one sentence, tokens were taken away. That tests more than whether the loss "
            "holds.",
        ),
        Mistake(
            "in-reverse",
            lambda: CLAIMED[::-1],
            "The six words come in reverse order. The first belongs to sentence 1.",
        ),
    ),
    alternatives=(
        lambda: list(CLAIMED),
        lambda: tuple(each.upper() for each in CLAIMED),
        lambda: np.array(CLAIMED),
    ),
    hints=(
        "Ask of each sentence: was a model asked, or a formula? And if a model: were far tokens taken away?",
        "Defined: the formula gives something. Works: the loss at far positions does not rise. Uses: it is "
        "lower thanks to tokens that are far away.",
        "One of the six proves none of the three: what makes the mean of a longer block fall by itself?",
    ),
)
