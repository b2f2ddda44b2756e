"""How loud may one score be?: The width that saturates."""

from __future__ import annotations

import math

import numpy as np

from posenc_course.exercises.ch01_why_order_matters._shared import ROOT, _margin, share_cases
from posenc_course.exercises.exercise import Exercise, Mistake, Property


def _width(keys: int, share: float) -> int:
    return max(1, math.ceil(max(0.0, _margin(keys, share)) ** 2))


SATURATING_WIDTH = Exercise(
    id="01-why-order-matters.saturating_width",
    title="The width that saturates",
    step_of=ROOT,
    signature="saturating_width(keys: int, share: float) -> int",
    points=1,
    minutes=6,
    difficulty=3,
    reference=lambda keys, share: _width(keys, share),
    make_cases=share_cases,
    properties=(
        Property(
            lambda args, value: bool(value >= 1 and value == round(value)),
            "A head is a whole number of columns wide, and at least one: give a whole number, 1 or more.",
        ),
        Property(
            lambda args, value: value < 1 or math.sqrt(value) > _margin(*args) - 1e-9,
            "Test your width: let one score be its square root and all others 0. The softmax gives the "
            "winner less than share, so the head must be wider.",
        ),
        Property(
            lambda args, value: value < 2 or math.sqrt(value - 1) < _margin(*args),
            "A head one column narrower already gives the winner the share. Find the smallest width.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-square",
            lambda keys, share: math.ceil(_margin(keys, share)),
            "You take the margin itself for the width. An unscaled score exceeds the others by the root of "
            "head_dim, so the width is the square of the margin.",
        ),
        Mistake(
            "no-square-at-least-1",
            lambda keys, share: max(1, math.ceil(_margin(keys, share))),
            "You take the margin itself for the width. The margin is the root of head_dim, so square it.",
        ),
        Mistake(
            "root",
            lambda keys, share: max(1, math.ceil(math.sqrt(max(0.0, _margin(keys, share))))),
            "You take the root of the margin. It goes the other way: the margin is the root of head_dim, so "
            "head_dim is the square of the margin.",
        ),
        Mistake(
            "square-of-the-next-whole-number",
            lambda keys, share: max(1, math.ceil(max(0.0, _margin(keys, share))) ** 2),
            "You round the margin up and then square it. Square first, and round the result up.",
        ),
        Mistake(
            "rounded-down",
            lambda keys, share: int(_margin(keys, share) ** 2),
            "You cut the fraction off, so the width is one too small: at it, the weight is still below the "
            "share. And ask what happens where the margin is negative.",
        ),
        Mistake(
            "rounded",
            lambda keys, share: round(_margin(keys, share) ** 2),
            "You round to the nearest whole number, which is at times one too small: the first width at "
            "which the weight reaches the share is the next whole number above. And ask what happens where "
            "the margin is negative.",
        ),
        Mistake(
            "rounded-down-to-at-least-1",
            lambda keys, share: max(1, int(max(0.0, _margin(keys, share)) ** 2)),
            "You cut the fraction off, so the width is one too small: at it, the weight is still below the "
            "share. Take the next whole number above.",
        ),
        Mistake(
            "rounded-to-at-least-1",
            lambda keys, share: max(1, round(max(0.0, _margin(keys, share)) ** 2)),
            "You round to the nearest whole number, and where that is the one below, the weight has not "
            "reached the share yet. Take the next whole number above.",
        ),
        Mistake(
            "not-whole",
            lambda keys, share: _margin(keys, share) ** 2,
            "That is the square of the margin, as it comes. A head has a whole number of columns: take the "
            "first whole number at which the share is reached. And ask what happens where the margin is "
            "negative.",
        ),
        Mistake(
            "negative-margin-squared",
            lambda keys, share: max(1, math.ceil(_margin(keys, share) ** 2)),
            "It is right wherever the margin is positive. A negative margin means that the key may even "
            "score below the others, so every width will do, and the smallest is 1. The square forgets the "
            "sign.",
        ),
        Mistake(
            "plain-square",
            lambda keys, share: math.ceil(_margin(keys, share) ** 2),
            "It is right wherever the margin is positive. Where it is 0 or negative, the key need not score "
            "higher than the others at all: every width will do, and the smallest is 1. The square forgets "
            "the sign.",
        ),
        Mistake(
            "counts-itself",
            lambda keys, share: math.ceil(math.log(share / (1 - share) * keys) ** 2),
            "The margin that you square is that of one key too many: the winner does not compete with "
            "itself. Call winning_margin of the step before.",
        ),
        Mistake(
            "one-rival",
            lambda keys, share: math.ceil(math.log(share / (1 - share)) ** 2),
            "The margin that you square does not depend on the number of keys. Call winning_margin of the "
            "step before.",
        ),
        Mistake(
            "exponential",
            lambda keys, share: math.ceil(share / (1 - share) * (keys - 1)),
            "You take the ratio of the weights for the width. The softmax raises e to the score: take the "
            "logarithm first, which is winning_margin of the step before, and then the square.",
        ),
    ),
    alternatives=(
        lambda keys, share: next(
            d
            for d in range(1, 100_000)
            if math.exp(math.sqrt(d)) >= share * (math.exp(math.sqrt(d)) + keys - 1) - 1e-12
        ),
        lambda keys, share: int(np.ceil(np.maximum(_margin(keys, share), 1e-9) ** 2)),
        lambda keys, share: max(1, -int(-(max(_margin(keys, share), 0.0) ** 2) // 1)),
    ),
    hints=(
        "How far is the winner's score above the others at width d, if nothing is divided? The root of d.",
        "You need the first whole number d with root of d at least `winning_margin(keys, share)`.",
        "`np.ceil` gives the next whole number above. What if the margin is negative?",
    ),
)
