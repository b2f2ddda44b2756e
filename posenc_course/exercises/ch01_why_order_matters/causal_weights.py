"""Attention for your decoder: Weights under a causal mask."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch01_why_order_matters._shared import (
    DECODER,
    NOTHING_ADDED_BELOW,
    Generator,
    _softmax,
    careless_softmax,
    masked,
    past,
    plain_softmax,
    turned,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _causal_cases(rng: Generator) -> Iterator[Case]:
    yield Case("three tokens", (rng.normal(size=(3, 3)),))
    yield Case("one token", (np.array([[2.5]]),))
    yield Case("seven tokens", (rng.normal(size=(7, 7)),))
    yield Case("four tokens, all scores 0", (np.zeros((4, 4)),))
    yield Case("a score of 1000 in the future", (np.array([[0.0, 1000.0], [0.0, 1.0]]),))
    yield Case("all scores near 1000", (1000.0 + rng.normal(size=(3, 3)),))
    yield Case("all scores near -1000", (-1000.0 + rng.normal(size=(3, 3)),))
    yield Case("two heads of three tokens", (rng.normal(size=(2, 3, 3)),))
    yield Case("the two newest of five tokens ask", (rng.normal(size=(2, 5)),))
    yield Case("four heads, the newest of six tokens asks", (rng.normal(size=(4, 1, 6)),))
    yield Case(
        "two sentences of three heads, the two newest of four tokens ask", (rng.normal(size=(2, 3, 2, 4)),)
    )


def _masked_then_divided(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        weights = past(scores) * plain_softmax(scores)
        return weights / weights.sum(axis=-1, keepdims=True)


def _causal_row_by_row(scores: Array) -> Array:
    weights = np.zeros_like(scores)
    before = scores.shape[-1] - scores.shape[-2]
    for t in range(scores.shape[-2]):
        weights[..., t, : before + t + 1] = _softmax(scores[..., t, : before + t + 1])
    return weights


def _causal_by_adding(scores: Array) -> Array:
    queries, keys = scores.shape[-2:]
    return _softmax(scores + np.triu(np.full(scores.shape, -np.inf), k=keys - queries + 1))


def _causal_by_multiplying(scores: Array) -> Array:
    """Masked after exp, and safe: the largest score is looked for among the allowed ones only."""
    queries, keys = scores.shape[-2:]
    allowed = np.arange(keys - queries, keys)[:, None] >= np.arange(keys)
    lowest = scores.min()
    peak = np.where(allowed, scores, lowest).max(axis=-1, keepdims=True)
    raised = np.exp(np.minimum(scores - peak, 0.0)) * allowed
    return raised / raised.sum(axis=-1, keepdims=True)


def _masked_after_exp(scores: Array) -> Array:
    raised = past(scores) * np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = raised.sum(axis=-1, keepdims=True)
    return raised / np.where(total == 0, 1.0, total)


CAUSAL_WEIGHTS = Exercise(
    id="01-why-order-matters.causal_weights",
    title="Weights under a causal mask",
    step_of=DECODER,
    adds="Your decoder stops looking ahead.",
    signature="causal_weights(scores: array of shape (..., queries, keys)) -> array of the same shape",
    points=2,
    minutes=10,
    difficulty=3,
    draws=Draws(
        lambda causal_weights, rows, columns: heat_map(
            causal_weights(np.random.default_rng(1).normal(size=(8, 8))), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="Everything above the diagonal is empty: no query looks at what comes after it.",
    ),
    reference=lambda scores: masked(scores, past(scores)),
    make_cases=_causal_cases,
    relative_tolerance=5e-7,
    absolute_tolerance=1e-12,
    where_not_finite="Mask the scores with minus infinity before the softmax, and take each row's largest "
    "remaining score away before exp.",
    properties=(
        Property(
            lambda args, value: bool(np.all(value[..., ~past(args[0])] == 0)),
            "A token looks into its future: the weight of every key after the query must be exactly 0.",
        ),
        Property(
            # Beside a future that is seen, or was the peak, the own weight may have vanished by rounding.
            lambda args, value: bool(
                np.any(value[..., ~past(args[0])] != 0)
                or np.all((value[..., past(args[0]) & ~past(args[0], -1)] != 0) | ~value.any(axis=-1))
            ),
            "A token may look at itself, and one of yours does not: keep the diagonal, on which the last "
            "query meets the last key.",
        ),
        NOTHING_ADDED_BELOW,
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=-1), 1.0)),
            "Each row of weights must sum to 1 after the mask. Yours do not.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-mask",
            lambda scores: _softmax(scores),
            "There is no mask: every token still sees the whole sequence. Set the scores above the "
            "diagonal to minus infinity before the softmax.",
        ),
        Mistake(
            "future-kept",
            lambda scores: masked(scores, ~past(scores, -1)),
            "The triangle is the wrong one: each token sees itself and its future. The rows are the "
            "queries, so the past lies below the diagonal. Keep the lower triangle, np.tril or np.tri.",
        ),
        Mistake(
            "self-hidden",
            lambda scores: masked(scores, past(scores, -1)),
            "The triangle is strict: no token sees itself, and the first one sees nothing at all, so its "
            "softmax is 0 / 0. A token may look at itself: keep the diagonal.",
        ),
        Mistake(
            "one-ahead",
            lambda scores: masked(scores, past(scores, 1)),
            "Each token sees one token of its future: the triangle is one diagonal too large. Keep the "
            "diagonal itself and what is below it.",
        ),
        Mistake(
            "masked-after-softmax",
            lambda scores: past(scores) * _softmax(scores),
            "You set weights to 0 after the softmax, so the rows no longer sum to 1. Mask the scores "
            "before the softmax, with minus infinity.",
        ),
        Mistake(
            "divided-again",
            _masked_then_divided,
            "On paper this is right: mask the weights, then divide each row by its sum. But one large "
            "score in the future takes all the weight, what is left of the past is 0, and 0 / 0 is NaN. "
            "Mask the scores before the softmax.",
        ),
        Mistake(
            "masked-after-exp",
            _masked_after_exp,
            "On paper this is right: take exp, set the future to 0, then divide each row by its sum. But if "
            "a row's largest score lies in the future, exp of its whole past can come out as 0, and there is "
            "nothing left to divide. Mask the scores first, then look for the largest.",
        ),
        Mistake(
            "zero-scores",
            lambda scores: _softmax(past(scores) * scores),
            "You set the future's scores to 0. A score of 0 does not hide anything: exp(0) is 1, so the "
            "future still gets weight. The score that gives weight 0 is minus infinity.",
        ),
        Mistake(
            "mask-added",
            lambda scores: _softmax(scores + past(scores)),
            "You add the mask's ones and zeros to the scores. That only favours the past a little. Add 0 "
            "where a token may look and minus infinity where it may not.",
        ),
        Mistake(
            "zero-times-infinity",
            lambda scores: np.full(scores.shape, np.nan),
            "Every weight is NaN. That happens when a mask of zeros and ones is multiplied by minus "
            "infinity: 0 times infinity is NaN. Pick with np.where instead: np.where(allowed, scores, "
            "-np.inf).",
        ),
        Mistake(
            "equal-weights",
            lambda scores: (past(scores) / past(scores).sum(axis=-1, keepdims=True)) * np.ones(scores.shape),
            "Each query shares its attention out evenly over what it may see. That is right where all scores "
            "are equal. Take the softmax of the scores that are left.",
        ),
        Mistake(
            "scaled",
            lambda scores: masked(scores / np.sqrt(scores.shape[-1]), past(scores)),
            "You divide the scores by a square root first. That comes before, in attention, and belongs to "
            "the width of its heads. Here the scores are taken as they come.",
        ),
        Mistake(
            "moved-the-wrong-way",
            lambda scores: _softmax(
                np.where(past(scores, 2 * (scores.shape[-2] - scores.shape[-1])), scores, -np.inf)
            ),
            "It is right where there are as many queries as keys. Where there are fewer, you move the "
            "diagonal to the left, and the newest tokens see less: it moves to the right, by keys - queries.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda scores: turned(masked(turned(scores), turned(past(scores)))),
            "The mask is right, but the softmax runs over the queries: your columns sum to 1. Each query, "
            "a row, shares out its attention: axis=-1.",
        ),
        Mistake(
            "first-query-at-first-key",
            lambda scores: masked(scores, np.tri(*scores.shape[-2:], dtype=bool)),
            "It is right where there are as many queries as keys. Where there are fewer, the queries are the "
            "newest tokens: the last query is at the last key, and the triangle moves to the right. np.tri "
            "takes k=keys - queries for that.",
        ),
        Mistake(
            "leading-axis-counted",
            lambda scores: masked(scores, np.tri(len(scores), dtype=bool)),
            "It is right for one head. len(scores) is the first axis, and with several heads that is the "
            "number of heads: take queries and keys from scores.shape[-2:].",
        ),
        Mistake(
            "overflow",
            lambda scores: careless_softmax(np.where(past(scores), scores, -np.inf)),
            "The mask is right, but exp overflows for scores near 1000 and vanishes near -1000, and the "
            "division gives NaN. Take each row's largest score away before exp.",
        ),
    ),
    alternatives=(
        _causal_row_by_row,
        _causal_by_adding,
        _causal_by_multiplying,
        lambda scores: plain_softmax(np.where(past(scores), scores, -1e9)),
    ),
    hints=(
        "With as many queries as keys, row t is the query at position t. Which columns may it look at?",
        "`np.tri(queries, keys, dtype=bool)` is `True` on the diagonal and below it. Its argument `k` "
        "moves the diagonal to the right.",
        "The softmax gives weight 0 to a score of minus infinity: `np.where(allowed, scores, -np.inf)`, then "
        "the softmax over the last axis.",
    ),
)
