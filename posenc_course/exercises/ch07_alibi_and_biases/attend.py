"""A trained decoder, of your own functions: Attention that keeps and fades."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._decoder import (
    WHOLE,
    Generator,
    _slopes,
    attend,
    attended_finitely,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _attend_cases(rng: Generator) -> Iterator[Case]:
    def of(heads: int, m: int, n: int, width: int, slopes: Array, loud: float = 1.0) -> tuple[Array, ...]:
        q, k, v = rng.normal(size=(heads, m, width)), *rng.normal(size=(2, heads, n, width))
        return loud * q, k, v, slopes

    yield Case("two heads, no slopes", of(2, 5, 5, 4, np.zeros(2)))
    yield Case("two heads, two slopes", of(2, 5, 5, 4, np.array([0.9, 0.3])))
    yield Case("one new query, six keys", of(2, 1, 6, 3, np.array([0.5, 0.1])))
    yield Case("the last three of seven", of(2, 3, 7, 4, np.array([0.7, 0.2])))
    yield Case("steep and flat heads", of(4, 8, 8, 2, _slopes(4)))
    q, k, v, slopes = of(2, 4, 6, 5, np.array([1.5, 0.4]), loud=3e5)
    # In one head hidden keys have the largest scores; in the other, those of no key are above -10,000.
    signs = np.array([1, -1])[:, None, None]
    yield Case("very loud scores", (signs * np.abs(q), np.cumsum(0.1 + np.abs(k), axis=1), v, slopes))
    yield Case("one token alone", of(1, 1, 1, 3, np.array([0.25])))


def _attended_one_by_one(q: Array, k: Array, v: Array, slopes: Array) -> Array:
    heads, m, width = q.shape
    past = k.shape[1] - m
    out = np.zeros(q.shape)
    for h in range(heads):
        for i in range(m):
            seen = past + i + 1
            scores = [q[h, i] @ k[h, j] / width**0.5 - slopes[h] * (past + i - j) for j in range(seen)]
            raised = np.exp(np.array(scores) - max(scores))
            out[h, i] = raised / raised.sum() @ v[h, :seen]
    return out


def _attended_with_one_row(q: Array, k: Array, v: Array, slopes: Array) -> Array:
    """The bias of the keys' positions alone: a row shares the rest."""
    m, n = q.shape[1], k.shape[1]
    scores = (
        np.einsum("hid,hjd->hij", q, k) / np.sqrt(q.shape[2])
        + np.multiply.outer(slopes, np.arange(n))[:, None]
    )
    scores[:, np.triu(np.ones((m, n), dtype=bool), n - m + 1)] = -np.inf
    raised = np.exp(scores - scores.max(-1)[..., None])
    return np.einsum("hij,hjd->hid", raised / raised.sum(-1)[..., None], v)


ATTEND = Exercise(
    id="07-alibi-and-biases.attend",
    title="Attention that keeps and fades",
    step_of=WHOLE,
    adds="Your decoder gets its third door: ALiBi's bias, for queries that come after keys it has kept.",
    signature="attend(q: (heads, m, width), k: (heads, n, width), v: (heads, n, width), slopes: (heads,)) "
    "-> (heads, m, width)",
    points=2,
    minutes=12,
    difficulty=3,
    reference=lambda q, k, v, slopes: attend(q, k, v, slopes),
    make_cases=_attend_cases,
    where_not_finite="Hide the keys first, then take the largest score of each row off, then exp. Hide them "
    "with np.where: a mask of zeros and ones times minus infinity is NaN where it is 0. And see that each "
    "query has at least one key: its own.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "Return a row for each query of each head: (heads, m, width).",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) <= args[2].max(axis=1, keepdims=True) + 1e-6).all()
                and (np.asarray(value) >= args[2].min(axis=1, keepdims=True) - 1e-6).all()
            ),
            "Each number is a weighted mean of one column of the values, and so lies between the smallest "
            "and the largest of it.",
        ),
        Property(
            lambda args, value: (
                args[0].shape[1] < args[1].shape[1]
                or bool(np.allclose(np.asarray(value)[:, 0], args[2][:, 0]))
            ),
            "Where nothing is kept, the first query sees only its own key: its row is the first value.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-mask",
            lambda q, k, v, slopes: attend(q, k, v, slopes, hidden=lambda m, n: np.zeros((m, n), dtype=bool)),
            "Queries see keys that come after them. They must not get any weight.",
        ),
        Mistake(
            "mask-from-zero",
            lambda q, k, v, slopes: attend(
                q, k, v, slopes, hidden=lambda m, n: np.arange(n) > np.arange(m)[:, None]
            ),
            "The mask places the first query at position 0. The queries are the last m of the n places: the "
            "last one sees all keys.",
        ),
        Mistake(
            "bias-from-zero",
            lambda q, k, v, slopes: attend(
                q, k, v, slopes, distances=lambda m, n: np.arange(m)[:, None] - np.arange(n)
            ),
            "The distances are counted as if the first query were at position 0. The queries are the last m "
            "of the n places.",
        ),
        Mistake(
            "far-rewarded",
            lambda q, k, v, slopes: attend(q, k, v, slopes, sign=1),
            "The bias rewards distance. It is a penalty: minus the slope times the distance.",
        ),
        Mistake(
            "no-bias",
            lambda q, k, v, slopes: attend(q, k, v, 0 * slopes),
            "The slopes have no effect. Take the slope times the distance off each score.",
        ),
        Mistake(
            "bias-divided",
            lambda q, k, v, slopes: attend(q, k, v, slopes, divide_all=True),
            "The bias was divided by the root of the width, too. Divide the products alone, then add the "
            "bias.",
        ),
        Mistake(
            "no-scale",
            lambda q, k, v, slopes: attend(q, k, v, slopes, scale=1.0),
            "The products are not divided by the root of the width of a head.",
        ),
        Mistake(
            "width-without-root",
            lambda q, k, v, slopes: attend(q, k, v, slopes, scale=1 / q.shape[-1]),
            "The products were divided by the width of a head. Divide by its root.",
        ),
        Mistake(
            "width-of-all-heads",
            lambda q, k, v, slopes: attend(
                q, k, v, slopes, scale=1 / np.sqrt(q.shape[-1] * (1 + len(slopes)) - q.shape[-1])
            ),
            "The products were divided by the root of the width of all heads together. Use the width of one "
            "head.",
        ),
        Mistake(
            "slopes-turned-round",
            lambda q, k, v, slopes: attend(q, k, v, slopes[::-1]),
            "The slopes went to the heads in the wrong order. Head 0 gets slope 0.",
        ),
        Mistake(
            "one-slope-for-all",
            lambda q, k, v, slopes: attend(q, k, v, np.full_like(slopes, slopes[0])),
            "All heads have the slope of the first. Each has its own.",
        ),
        Mistake(
            "root-of-the-keys",
            lambda q, k, v, slopes: attend(q, k, v, slopes, scale=1 / np.sqrt(k.shape[-2])),
            "The products were divided by the root of the number of keys. Divide by the root of the width "
            "of a head.",
        ),
        Mistake(
            "slopes-of-your-own",
            lambda q, k, v, slopes: attend(q, k, v, _slopes(len(slopes))),
            "You made slopes of your own. Use those that are given: a model without ALiBi has slopes of 0.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda q, k, v, slopes: attend(q, k, v, slopes, axis=-2),
            "The softmax runs over the queries. Take it over the keys, the last axis.",
        ),
    ),
    alternatives=(_attended_one_by_one, _attended_with_one_row, attended_finitely),
    hints=(
        "Query i is at place n - m + i. How far back is key j?",
        "`np.arange(n - m, n)[:, None] - np.arange(n)` holds all distances; where it is negative, the key "
        "comes after the query.",
        "Scores, then the bias, then the mask, then a softmax over the keys, then the values.",
    ),
)
