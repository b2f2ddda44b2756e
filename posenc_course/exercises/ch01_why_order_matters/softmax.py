"""Attention for your decoder: A softmax that survives everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch01_why_order_matters._shared import (
    DECODER,
    NOTHING_ADDED_BELOW,
    Generator,
    _softmax,
    careless_softmax,
    plain_softmax,
    quietly,
    softmax_by_log,
)
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import BASIC, Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array

ONE_SCORE = np.arange(-4, 4.1, 0.25)


def _softmax_cases(rng: Generator) -> Iterator[Case]:
    yield Case("five scores", (rng.normal(size=5),))
    yield Case("one score", (np.array([-3.7]),))
    yield Case("two rows of three scores", (rng.normal(size=(2, 3)),))
    yield Case("four rows of four scores", (rng.normal(size=(4, 4)),))
    yield Case(
        "two sentences of two heads, each with three rows of four scores", (rng.normal(size=(2, 2, 3, 4)),)
    )
    yield Case("a score of minus infinity", (np.array([0.5, -np.inf, 1.0]),))
    yield Case("scores around 1000", (np.array([1000.0, 1001.0, 999.5]),), group="large scores")
    yield Case("scores around -1000", (np.array([-1000.0, -1001.0, -1000.5]),), group="large scores")
    yield Case(
        "one row around 1000, one around 0", (np.array([[1000.0, 1001.0], [0.0, 1.0]]),), group="large scores"
    )
    apart = np.array([[3000.0, 0.0, -3000.0], [0.0, 1.0, -1.0]])
    yield Case("scores far apart", (apart,), group="large scores")
    nothing = "rows that may see nothing"
    yield Case("a row of minus infinity alone", (np.full(4, -np.inf),), group=nothing)
    some = rng.normal(size=(2, 3, 4))
    some[0, 1] = some[1, 2] = -np.inf
    some[1, 0, :3] = -np.inf
    yield Case("two heads, in each a row of minus infinity", (some,), group=nothing)


def _global_peak(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max())
        return raised / raised.sum(axis=-1, keepdims=True)


def _axes_lost(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=-1))
        return raised / raised.sum(axis=-1)


def _sum_axis_lost(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return raised / raised.sum(axis=-1)


def _without_exponential(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        return scores / scores.sum(axis=-1, keepdims=True)


def _max_axis_lost(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=-1))
        return raised / raised.sum(axis=-1, keepdims=True)


def _in_the_order_of_scores(args: tuple[Any, ...], value: Any) -> bool:
    """Whether no score has a smaller weight than a lower one of its row."""
    scores, weights = (each.reshape(-1, args[0].shape[-1]) for each in (args[0], np.asarray(value)))
    higher = scores[:, :, None] > scores[:, None, :]
    return not (higher & (weights[:, :, None] < weights[:, None, :] - 1e-9)).any()


def _apart(args: tuple[Any, ...], value: Any) -> bool:
    """Whether scores of a row that differ clearly have different weights."""
    scores, weights = (each.reshape(-1, args[0].shape[-1]) for each in (args[0], np.asarray(value)))
    with np.errstate(invalid="ignore"):
        higher = (scores[:, :, None] > scores[:, None, :] + 1e-3) & np.isfinite(scores[:, None, :])
    equal = np.abs(weights[:, :, None] - weights[:, None, :]) < 1e-12
    return not (higher & equal & (weights[:, :, None] > 1e-6)).any()


def _softmax_over_first_axis(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        return plain_softmax(scores, axis=0)


def _softmax_by_rows(scores: Array) -> Array:
    def one_row(row: Array) -> Array:
        if max(row) == -np.inf:
            return np.zeros(len(row))
        raised = np.exp(row - max(row))
        return raised / sum(raised)

    return np.apply_along_axis(one_row, -1, scores)


def _softmax_by_replacing(scores: Array) -> Array:
    """The largest score, or 0 where there is none; a sum of 0 becomes 1."""
    peak = scores.max(axis=-1, keepdims=True)
    raised = np.exp(scores - np.where(np.isinf(peak), 0.0, peak))
    total = raised.sum(axis=-1, keepdims=True)
    return raised / np.where(total == 0, 1.0, total)


SOFTMAX = Exercise(
    id="01-why-order-matters.softmax",
    title="A softmax that survives everything",
    step_of=DECODER,
    adds="Your decoder gets its softmax: scores become weights.",
    signature="softmax(scores: array of shape (..., keys)) -> array of shape (..., keys)",
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda softmax, across, up: curve(
            ONE_SCORE,
            {"": [np.asarray(softmax(np.array([score, 0.0, 0.0, 0.0])))[0] for score in ONE_SCORE]},
            across=across,
            up=up,
        ),
        axes=("score of one key, where three others score 0", "its weight"),
        look="Among equal scores it takes a quarter; each point more or less moves the weight along an S.",
    ),
    reference=lambda scores: _softmax(scores),
    make_cases=_softmax_cases,
    # A small number in the denominator must show; float32 is good enough.
    relative_tolerance=5e-7,
    absolute_tolerance=1e-12,
    credit=((BASIC, 0.5), ("large scores", 0.25), ("rows that may see nothing", 0.25)),
    where_not_finite="Softmax does not change when the same number is taken from every score of a row. So "
    "take the row's largest score away before exp: then no exponential is too large. A row of minus "
    "infinity alone has no largest score to take away: minus infinity less minus infinity is NaN.",
    properties=(
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=-1), np.isfinite(args[0]).any(axis=-1))),
            "The weights of each row, along the last axis, must sum to 1, or to 0 where the row may see "
            "nothing. Yours do not.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) >= 0)),
            "No weight can be negative: each is an exponential divided by a sum of exponentials. Are these "
            "logarithms of weights?",
        ),
        Property(
            _in_the_order_of_scores,
            "A higher score of the row got a smaller weight than a lower one. Check the sign in exp, and "
            "that each row is handled by itself.",
        ),
        Property(
            _apart,
            "Different scores of one row got equal weights. Were they cut off, by np.clip say, to keep exp "
            "from overflowing? Take the row's largest score away instead: that keeps their differences.",
        ),
        NOTHING_ADDED_BELOW,
    ),
    mistakes=(
        Mistake(
            "overflow",
            careless_softmax,
            "The formula is right, but exp(1000) is infinity, exp(-1000) is 0, and dividing such numbers "
            "gives NaN. Take each row's largest score away from the row before you call exp: the weights "
            "stay the same and nothing overflows.",
        ),
        Mistake(
            "global-peak",
            _global_peak,
            "You take the largest score of the whole array away from every row. A row far below it then "
            "becomes all zeros, and 0 / 0 is NaN. Take each row's own largest score: "
            "scores.max(axis=-1, keepdims=True).",
        ),
        Mistake(
            "first-axis",
            _softmax_over_first_axis,
            "Your columns sum to 1, not your rows: the softmax runs over the first axis. Each query "
            "shares out its attention over the keys, and the keys are the last axis. Use axis=-1.",
        ),
        Mistake(
            "all-elements",
            lambda scores: plain_softmax(scores, axis=None),
            "All your weights together sum to 1, because max and sum run over the whole array. Each row "
            "must sum to 1 by itself: give axis=-1 and keepdims=True to both.",
        ),
        Mistake(
            "axes-lost",
            _axes_lost,
            "Without keepdims=True, max and sum drop the last axis. NumPy then lines their result up with "
            "the columns instead of the rows. Give keepdims=True to both.",
        ),
        Mistake(
            "sum-axis-lost",
            _sum_axis_lost,
            "The largest score is taken away row by row, as it should be. But the sum drops the last axis, "
            "so NumPy divides column j by the sum of row j. Give keepdims=True to sum as well.",
        ),
        Mistake(
            "no-exponential",
            _without_exponential,
            "You divide the scores by their sum. Softmax takes exp of them first, which makes every weight "
            "positive, and only then divides by the sum.",
        ),
        Mistake(
            "max-axis-lost",
            _max_axis_lost,
            "The sum is taken row by row, as it should be. But max drops the last axis, so NumPy takes the "
            "largest score of row j away from column j. Give keepdims=True to max as well.",
        ),
        Mistake(
            "base-two",
            lambda scores: _softmax(scores * np.log(2.0)),
            "You raise 2 to the scores. Softmax raises e to them: np.exp.",
        ),
        Mistake(
            "scaled",
            lambda scores: _softmax(scores / np.sqrt(scores.shape[-1])),
            "You divide the scores by a square root first. That belongs to attention, and to the width of "
            "its heads. Here the scores are taken as they come.",
        ),
        Mistake(
            "blocked-scores-as-0",
            lambda scores: plain_softmax(np.where(np.isinf(scores), 0.0, scores)),
            "You replace minus infinity by 0. A score of 0 is an ordinary score, and exp(0) is 1: a key "
            "that must not be seen gets weight again. Leave minus infinity as it is, except in a row that "
            "holds nothing else.",
        ),
        Mistake(
            "not-normalised",
            lambda scores: quietly(lambda: np.exp(scores - scores.max(axis=-1, keepdims=True))),
            "The exponentials are right, but they do not sum to 1 yet. Divide each row by its own sum.",
        ),
        Mistake(
            "empty-row",
            plain_softmax,
            "Everything is right except the row that may see nothing. Its largest score is minus infinity, "
            "and minus infinity less minus infinity is NaN. Give such a row weights of 0.",
        ),
        Mistake(
            "empty-row-shared-out",
            lambda scores: plain_softmax(np.where(np.isinf(scores), -1e9, scores)),
            "A row that may see nothing shares its weight out evenly here: all its scores are the same large "
            "negative number, and the softmax sees only differences. Such a row must get weights of 0.",
        ),
        Mistake(
            "nan-painted-over",
            lambda scores: np.nan_to_num(careless_softmax(scores)),
            "You turn every NaN into 0, including those of large scores. Where scores are around 1000, the "
            "weights are ordinary numbers: take each row's largest score away before exp.",
        ),
    ),
    alternatives=(
        softmax_by_log,
        _softmax_by_rows,
        _softmax_by_replacing,
        lambda scores: np.nan_to_num(plain_softmax(scores)),
    ),
    hints=(
        "Write it for one row first: take `exp` of every score, then divide by the sum.",
        "What does NumPy give for `exp(1000)`? Show on paper that softmax stays the same when you take the "
        "same number away from every score of a row.",
        "`scores.max(axis=-1, keepdims=True)` has one number per row and still broadcasts against `scores`. "
        "The sum needs the same two arguments.",
        "For a row of minus infinity alone, take 0 away instead of its largest score: then all "
        "exponentials are 0, and so is their sum. What can you divide by instead, to get 0?",
    ),
)
