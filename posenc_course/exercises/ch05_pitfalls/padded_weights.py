"""A batch for your decoder: No weight for padding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import PADDING, Generator, _mask, softmax
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _padded_score_cases(rng: Generator) -> Iterator[Case]:
    def scores(batch: int, queries: int, keys: int) -> Array:
        return rng.normal(size=(batch, queries, keys))

    yield Case("two sentences, one padded on the right", (scores(2, 3, 5), _mask("ttt..", "ttttt")))
    yield Case("padded on the left, one query", (scores(2, 1, 4), _mask("..tt", "tttt")))
    yield Case("as many sentences as queries and keys", (scores(3, 3, 3), _mask("tt.", "t..", "ttt")))
    yield Case("no padding", (scores(2, 2, 3), _mask("ttt", "ttt")))
    yield Case("all scores far below 0", (scores(2, 3, 3) - 9, _mask("tt.", ".tt")))
    yield Case("all scores near -500", (scores(2, 3, 3) - 500, _mask("tt.", ".tt")))
    loud = scores(1, 2, 4)
    loud[..., -1] = 1000.0
    yield Case("the padding has scores of 1000", (loud, _mask("ttt.")))
    yield Case("the tokens have scores near 1000", (scores(2, 2, 3) + 1000, _mask("tt.", ".tt")))
    yield Case("a sentence of padding alone", (scores(2, 2, 3), _mask("...", "tt.")))


def _without_padding(scores: Array, allowed: Array) -> Array:
    return softmax(np.where(allowed, scores, -np.inf))


def _padded_weights(scores: Array, mask: Array) -> Array:
    allowed = np.broadcast_to(mask[:, None, :] == 1, scores.shape)
    return np.where(allowed, _without_padding(scores, allowed), 0.0)


def _padded_row_by_row(scores: Array, mask: Array) -> Array:
    weights = np.zeros_like(scores)
    for sentence, real in enumerate(mask.astype(bool)):
        for query, row in enumerate(scores[sentence]):
            if real.any():
                weights[sentence, query, real] = softmax(row[real])
    return weights


def _padded_by_multiplying(scores: Array, mask: Array) -> Array:
    """Masked after exp, and safe: the largest score is looked for among the tokens alone."""
    keep = mask[:, None, :].astype(float)
    peak = np.where(keep == 1, scores, -1e300).max(axis=-1, keepdims=True)
    raised = np.exp(np.where(keep == 1, scores - peak, 0.0)) * keep
    total = raised.sum(axis=-1, keepdims=True)
    return raised / np.where(total == 0, 1.0, total)


def _careless(scores: Array, mask: Array) -> Array:
    """Right but for scores so large that exp overflows."""
    with np.errstate(all="ignore"):
        raised = np.exp(np.where(mask[:, None, :] == 1, scores, -np.inf))
        total = raised.sum(axis=-1, keepdims=True)
        return raised / np.where(total == 0, 1.0, total)


def _divided_again(scores: Array, mask: Array) -> Array:
    with np.errstate(all="ignore"):
        weights = softmax(scores) * mask[:, None, :]
        return weights / weights.sum(axis=-1, keepdims=True)


PADDED_WEIGHTS = Exercise(
    id="05-pitfalls.padded_weights",
    title="No weight for padding",
    step_of=PADDING,
    signature="padded_weights(scores: array of shape (batch, queries, keys), mask: array of shape (batch, "
    "keys), 1 for a token and 0 for padding) -> array of shape (batch, queries, keys)",
    points=3,
    minutes=10,
    difficulty=3,
    draws=Draws(
        lambda padded_weights, rows, columns: heat_map(
            np.asarray(padded_weights(np.zeros((1, 8, 8)), np.array([[0, 0, 1, 1, 1, 1, 1, 0]])))[0],
            rows=rows,
            columns=columns,
        ),
        axes=("query", "key"),
        look="No query gives weight to columns of padding, here the first two and the last.",
    ),
    reference=lambda scores, mask: _padded_weights(scores, mask),
    make_cases=_padded_score_cases,
    where_not_finite="Mask before the softmax, with np.where: minus infinity times 0 is NaN too. In a "
    "sentence of padding alone all scores are hidden, and 0 / 0 is NaN: there, all weights should be 0. "
    "Where a sentence has tokens and is NaN all the same, did you hide the tokens in place of the padding?",
    properties=(
        Property(
            lambda args, value: bool(np.all(np.where(args[1][:, None, :] == 0, value, 0) == 0)),
            "Padding still gets weight. Its weight must be exactly 0, for every query.",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=-1)[args[1].any(axis=-1)], 1.0)),
            "The weights of each query must sum to 1 wherever its sentence has a token.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-mask",
            lambda scores, mask: softmax(scores),
            "The mask is not used: padding still gets weight. Set its scores to minus infinity before the "
            "softmax.",
        ),
        Mistake(
            "inverted",
            lambda scores, mask: _padded_weights(scores, 1 - mask),
            "The mask is read the wrong way round: tokens are hidden, and padding is seen. Here 1 is a "
            "token. Libraries differ in this, so look up what True means before you hand a mask to one.",
        ),
        Mistake(
            "inverted-with-infinity",
            lambda scores, mask: _without_padding(scores, np.asarray(mask[:, None, :] != 1)),
            "The mask is read the wrong way round: the tokens are hidden, so a sentence without padding has "
            "nothing left, and its weights are NaN. Here 1 is a token: np.where(mask == 1, scores, -np.inf).",
        ),
        Mistake(
            "inverted-with-a-number",
            lambda scores, mask: softmax(np.where(mask[:, None, :] == 1, -1e9, scores)),
            "The mask is read the wrong way round: the tokens are hidden, and padding is seen. Here 1 is a "
            "token.",
        ),
        Mistake(
            "not-low-enough",
            lambda scores, mask: np.where(
                mask.any(axis=1)[:, None, None], softmax(np.where(mask[:, None, :] == 1, scores, -100.0)), 0.0
            ),
            "It is right as long as the scores of the tokens are well above -100. The score of padding has "
            "to be below any score: minus infinity, or a number such as -1e30.",
        ),
        Mistake(
            "queries-masked",
            lambda scores, mask: np.where(
                mask[:, :, None] == 1, _without_padding(scores, np.asarray(mask[:, :, None] == 1)), 0.0
            ),
            "The mask hides queries where it should hide keys: it is along axis 1 of the scores. The softmax "
            "runs over the keys, the last axis: use mask[:, None, :].",
        ),
        Mistake(
            "after-softmax",
            lambda scores, mask: softmax(scores) * mask[:, None, :],
            "The weights of padding are set to 0 after the softmax, so the others no longer sum to 1. Mask "
            "the scores before the softmax, with minus infinity.",
        ),
        Mistake(
            "divided-again",
            _divided_again,
            "On paper this is right: set the weights of padding to 0, then divide by what is left. But where "
            "padding has large scores, or a sentence has no token, what is left is 0, and 0 / 0 is NaN. Mask "
            "the scores before the softmax, and give 0 where there is no token.",
        ),
        Mistake(
            "zero-scores",
            lambda scores, mask: softmax(scores * mask[:, None, :]),
            "The scores of padding are set to 0. That shuts nothing out: exp(0) is 1, and where the other "
            "scores are below 0, padding even gets the most. The score that gives weight 0 is minus "
            "infinity.",
        ),
        Mistake(
            "mask-added",
            lambda scores, mask: softmax(scores + mask[:, None, :]),
            "The ones and zeros of the mask are added to the scores. That favours the tokens a little, and "
            "shuts nothing out. Add 0 for a token and minus infinity for padding.",
        ),
        Mistake(
            "nan-without-tokens",
            lambda scores, mask: _without_padding(scores, np.asarray(mask[:, None, :] == 1)),
            "It is right except for the sentence of padding alone. There all scores are minus infinity, and "
            "the softmax gives NaN, which spreads through the whole model. Give weight 0 there.",
        ),
        Mistake(
            "overflow",
            _careless,
            "The mask is right, but exp overflows for scores near 1000, and infinity over infinity is NaN. "
            "Subtract the largest score of each row before exp.",
        ),
        Mistake(
            "even-without-tokens",
            lambda scores, mask: softmax(np.where(mask[:, None, :] == 1, scores, -1e9)),
            "It is right except for the sentence of padding alone. All its scores are the same large "
            "negative number, so the softmax gives all its padding the same weight. Give weight 0 there.",
        ),
        Mistake(
            "added-without-tokens",
            lambda scores, mask: softmax(scores + (1 - mask[:, None, :]) * -1e9),
            "It is right except for the sentence of padding alone: the same large number is subtracted from "
            "all its scores, and that changes nothing. Give weight 0 there.",
        ),
        Mistake(
            "one-mask-for-all",
            lambda scores, mask: _padded_weights(scores, np.broadcast_to(mask[:1], mask.shape)),
            "Every sentence got the mask of the first one. Each has its own padding: keep the batch axis, "
            "mask[:, None, :].",
        ),
        Mistake(
            "softmax-over-queries",
            lambda scores, mask: np.where(mask[:, None, :] == 1, softmax(scores, axis=1), 0.0),
            "The softmax runs over the queries. The weights of a query sum to 1 over the keys: the last "
            "axis.",
        ),
    ),
    alternatives=(
        _padded_row_by_row,
        _padded_by_multiplying,
        lambda scores, mask: np.nan_to_num(_without_padding(scores, np.asarray(mask[:, None, :] > 0))),
        lambda scores, mask: softmax(np.where(mask[:, None, :] == 1, scores, -1e30)) * mask[:, None, :],
    ),
    hints=(
        "Along which axis of the scores are the keys? The mask has one number for each key.",
        "`mask[:, None, :]` has shape `(batch, 1, keys)` and broadcasts over the queries.",
        "`np.where(mask[:, None, :] == 1, scores, -np.inf)`, then the softmax over the last axis. What comes "
        "out for a sentence of padding alone? Set it to 0.",
    ),
)
