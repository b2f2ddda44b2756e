"""How loud may one score be?: The score that wins."""

from __future__ import annotations

import math

import numpy as np

from posenc_course.exercises.ch01_why_order_matters._shared import ROOT, _margin, share_cases
from posenc_course.exercises.exercise import Exercise, Mistake, Property


def _share_won(keys: int, margin: float) -> float:
    return 1 / (1 + (keys - 1) * math.exp(min(-margin, 700.0)))


WINNING_MARGIN = Exercise(
    id="01-why-order-matters.winning_margin",
    title="The score that wins",
    step_of=ROOT,
    signature="winning_margin(keys: int, share: float) -> float",
    points=1,
    minutes=7,
    difficulty=2,
    reference=lambda keys, share: _margin(keys, share),
    make_cases=share_cases,
    properties=(
        Property(
            lambda args, value: bool(np.isclose(_share_won(args[0], float(value)), args[1])),
            "Test your margin: the softmax of one such score and of keys - 1 zeros must give the winner the "
            "weight share. Yours gives another.",
        ),
    ),
    mistakes=(
        Mistake(
            "counts-itself",
            lambda keys, share: math.log(share / (1 - share) * keys),
            "You let the winner compete with itself: of all the keys, one is the winner, and the others are "
            "one fewer than keys.",
        ),
        Mistake(
            "one-rival",
            lambda keys, share: math.log(share / (1 - share)),
            "This is right for two keys, where the winner has one rival. With more keys, the rivals share "
            "what is left among them, and each of them adds an exponential to the sum below.",
        ),
        Mistake(
            "half-alone",
            lambda keys, share: math.log(keys - 1),
            "This is the margin for half of the weight, whatever the share is. Solve "
            "share = exp(m) / (exp(m) + keys - 1) for m.",
        ),
        Mistake(
            "share-without-the-rest",
            lambda keys, share: math.log(share * (keys - 1)),
            "Your denominator leaves out the winner itself: the weight is exp(m) divided by exp(m) and the "
            "others together, not by the others alone.",
        ),
        Mistake(
            "no-logarithm",
            lambda keys, share: share / (1 - share) * (keys - 1),
            "That is exp(m), the exponential of the margin. The score itself is its logarithm.",
        ),
        Mistake(
            "base-ten",
            lambda keys, share: math.log10(share / (1 - share) * (keys - 1)),
            "You take the logarithm to the base 10. The softmax raises e to the scores, so its inverse is "
            "the natural logarithm: np.log.",
        ),
        Mistake(
            "base-two",
            lambda keys, share: math.log2(share / (1 - share) * (keys - 1)),
            "You take the logarithm to the base 2. The softmax raises e to the scores, so its inverse is the "
            "natural logarithm: np.log.",
        ),
        Mistake(
            "sign",
            lambda keys, share: -_margin(keys, share),
            "The sign is the wrong way round: a key that is to get more than an even share needs a higher "
            "score than the others.",
        ),
        Mistake(
            "ratio-upside-down",
            lambda keys, share: math.log((1 - share) / share * (keys - 1)),
            "The ratio share / (1 - share) is upside down, so a larger share gives you a smaller margin.",
        ),
        Mistake(
            "divided-by-the-rivals",
            lambda keys, share: math.log(share / (1 - share) / (keys - 1)),
            "You divide by the number of rivals. The more rivals there are, the higher the winner must "
            "score: multiply by keys - 1.",
        ),
        Mistake(
            "never-negative",
            lambda keys, share: max(0.0, _margin(keys, share)),
            "It is right while the margin is positive. For less than an even share, the key must score below "
            "the others: leave the margin negative there.",
        ),
        Mistake(
            "share-itself",
            lambda keys, share: math.log(share),
            "The logarithm of the share is not yet a score: how high the winner must score depends on how "
            "many others there are as well.",
        ),
        Mistake(
            "weight",
            lambda keys, share: math.exp(share) / (math.exp(share) + keys - 1),
            "You put the share in as if it were a score, and return a weight. The question goes the other "
            "way: the weight is known, and you are looking for the score.",
        ),
    ),
    alternatives=(
        lambda keys, share: np.log(share) - np.log(1 - share) + np.log(keys - 1),
        lambda keys, share: -math.log((1 / share - 1) / (keys - 1)),
        lambda keys, share: np.log(share * (keys - 1) / (1 - share)),
    ),
    hints=(
        "Take the winner's score as m and all others as 0: what is the softmax of that row?",
        "The winner's weight is exp(m) divided by exp(m) + keys - 1. Set that equal to share.",
        "Multiply by the denominator, and bring the two terms with exp(m) to one side: it becomes "
        "share * (keys - 1) / (1 - share).",
    ),
)
