"""The gate that is ALiBi."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _slope_cases(rng: Generator) -> Iterator[Case]:
    yield Case("ALiBi's slopes of 8 heads", (2.0 ** -np.arange(1, 9),))
    yield Case("a gate of a half", (np.array([math.log(2)]),))
    yield Case("slopes near 0", (np.array([1e-3, 1e-9, 3e-16]),))
    yield Case("steep slopes", (np.array([3.0, 30.0, 400.0, 2000.0]),))
    for _ in range(3):
        yield Case("slopes, drawn", (10 ** rng.uniform(-3, 1, size=int(rng.integers(2, 7))),))


def _alibi_logits(slopes: Array) -> Array:
    return np.asarray(-slopes - np.log(-np.expm1(-slopes)))


ALIBI_LOGITS = Exercise(
    id="10-position-from-content.alibi_logits",
    title="The gate that is ALiBi",
    signature="alibi_logits(slopes: array of shape (heads,), above 0) -> array of shape (heads,)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda alibi_logits, across, up: curve(
            np.linspace(0.01, 3, 100), {"": alibi_logits(np.linspace(0.01, 3, 100))}, across=across, up=up
        ),
        axes=("slope", "logit"),
        look="As the slope goes to 0 the logit grows without end: a gate has to be wide open to forget "
        "nothing.",
    ),
    reference=_alibi_logits,
    make_cases=_slope_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one logit for each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.diff(np.asarray(value)[np.argsort(args[0])]) < 1e-4).all()),
            "The steeper the slope, the more the gate is shut: a larger slope must have a smaller logit.",
        ),
        Property(
            lambda args, value: bool(
                (np.abs(np.asarray(value) + np.log(args[0]))[args[0] < 1e-6] < 1e-4).all()
            ),
            "For a slope near 0 the logit is nearly minus its logarithm. Yours is not: does 1 - gate "
            "lose its digits there, or is something added to it?",
        ),
        Property(
            lambda args, value: bool((np.abs(np.asarray(value) + args[0])[args[0] > 100] < 1e-4).all()),
            "For a steep slope the logit is nearly minus the slope. Yours is not: has the gate become 0 "
            "on the way, or is it cut?",
        ),
    ),
    where_not_finite="For a steep slope the gate is 0 in a computer, and for one near 0 it is 1. Find a "
    "form that never takes the logarithm of 0 and never raises e to something large. "
    "np.expm1 is exact near 0.",
    mistakes=(
        Mistake(
            "minus-slopes",
            lambda slopes: -slopes,
            "This is the logarithm of the gate. Which logit gives a gate with this logarithm?",
        ),
        Mistake(
            "the-gate",
            lambda slopes: np.exp(-slopes),
            "This is the gate. From which logit does the sigmoid make it?",
        ),
        Mistake(
            "turned-round",
            lambda slopes: -_alibi_logits(slopes),
            "The sign is reversed: this is the logit of 1 minus the gate.",
        ),
        Mistake(
            "slope-as-logit",
            lambda slopes: 1.0 * slopes,
            "You return the slopes. A gate is the sigmoid of its logit, and its logarithm is minus the "
            "slope.",
        ),
        Mistake(
            "for-small-slopes",
            lambda slopes: -np.log(slopes),
            "This is right only for small slopes. You used 1 / (1 + slope) in place of the gate, or the "
            "slope in place of 1 - gate and left out the logarithm of the gate.",
        ),
        Mistake(
            "slope-for-the-rest",
            lambda slopes: -slopes - np.log(slopes),
            "You used the slope in place of 1 - gate. The two are alike only for small slopes.",
        ),
        Mistake(
            "log-of-the-rest",
            lambda slopes: np.log(-np.expm1(-slopes)),
            "This is the logarithm of 1 minus the gate. The logit is the logarithm of the gate minus that.",
        ),
        Mistake(
            "minus-log-of-the-rest",
            lambda slopes: -np.log(-np.expm1(-slopes)),
            "The logarithm of the gate itself is missing: the logit is the logarithm of gate / (1 - gate).",
        ),
        Mistake(
            "added",
            lambda slopes: -slopes + np.log(-np.expm1(-slopes)),
            "You multiply the gate by 1 minus the gate. The logit is the logarithm of their ratio.",
        ),
        Mistake(
            "powers-of-two",
            lambda slopes: _alibi_logits(slopes * math.log(2)),
            "Your gate is 2 to the power of minus the slope. ALiBi adds to a score, and the softmax "
            "raises e to it: use e.",
        ),
        Mistake(
            "log-of-the-gate-once-more",
            lambda slopes: -np.logaddexp(0, slopes),
            "You go through the sigmoid once more. You need its inverse.",
        ),
    ),
    alternatives=(
        lambda slopes: [-m - math.log(-math.expm1(-m)) for m in slopes.tolist()],
        lambda slopes: np.where(slopes > 30, -slopes, -np.log(np.expm1(np.minimum(slopes, 30)))),
        lambda slopes: np.where(
            slopes < 1,
            -np.log(np.expm1(np.minimum(slopes, 1))),
            -slopes - np.log1p(-np.exp(-np.maximum(slopes, 1))),
        ),
    ),
    hints=(
        "What must the gate be, so that its logarithm is minus the slope? And which x gives this gate as "
        "`1 / (1 + exp(-x))`?",
        "Solved for x, it is the logarithm of gate / (1 - gate). Write it as the difference of two "
        "logarithms: one of them you know without computing it.",
        "For a slope near 0, 1 - gate loses all its digits. `-np.expm1(-slopes)` is the same number and "
        "keeps them.",
    ),
)
