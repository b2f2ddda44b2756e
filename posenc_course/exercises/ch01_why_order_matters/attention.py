"""Attention for your decoder: Attention, with heads and a mask."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch01_why_order_matters._shared import (
    DECODER,
    Generator,
    _softmax,
    masked,
    past,
    plain_softmax,
    softmax_by_log,
    turned,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.attention import attention

SENTENCE = ["the", "dog", "chases", "the", "cat"]


def _words_that_attend() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of SENTENCE. The k-th value is the k-th unit vector, so that the output is the weights."""
    draw = np.random.default_rng(4)
    vectors = {word: draw.normal(size=(2, 4)) for word in sorted(set(SENTENCE))}
    q, k = np.stack([vectors[word] for word in SENTENCE], axis=1)
    return q, k, np.eye(len(SENTENCE))


def _attention_cases(rng: Generator) -> Iterator[Case]:
    def case(
        label: str,
        causal: bool,
        *axes: int,
        queries: int,
        keys: int,
        head_dim: int,
        value_dim: int,
        size: float = 1.0,
    ) -> Case:
        q = size * rng.normal(size=(*axes, queries, head_dim))
        k = size * rng.normal(size=(*axes, keys, head_dim))
        return Case(label, (q, k, rng.normal(size=(*axes, keys, value_dim)), causal))

    yield case("one head of three tokens", False, queries=3, keys=3, head_dim=4, value_dim=4)
    yield case("one head of three tokens, causal", True, queries=3, keys=3, head_dim=4, value_dim=4)
    yield case("one query, one key", False, queries=1, keys=1, head_dim=2, value_dim=3)
    yield case("two queries, five keys", False, queries=2, keys=5, head_dim=3, value_dim=4)
    yield case("the two newest of five tokens ask, causal", True, queries=2, keys=5, head_dim=3, value_dim=4)
    yield case("every matrix is square", False, queries=4, keys=4, head_dim=4, value_dim=4)
    yield case("head_dim 1", True, queries=4, keys=4, head_dim=1, value_dim=2)
    yield case("head_dim 64", False, queries=4, keys=6, head_dim=64, value_dim=5)
    yield case("scores in the thousands", True, queries=4, keys=4, head_dim=16, value_dim=2, size=60.0)
    yield case("two heads of four tokens", False, 2, queries=4, keys=4, head_dim=3, value_dim=3)
    yield case(
        "two heads, the three newest of five tokens ask, causal",
        True,
        2,
        queries=3,
        keys=5,
        head_dim=4,
        value_dim=2,
    )
    yield case("three heads of three tokens, causal", True, 3, queries=3, keys=3, head_dim=3, value_dim=3)
    yield case("two sentences of two heads, causal", True, 2, 2, queries=3, keys=3, head_dim=2, value_dim=4)


def _scores(q: Array, k: Array) -> Array:
    return q @ turned(k) / np.sqrt(q.shape[-1])


def _weights(scores: Array, causal: bool) -> Array:
    return masked(scores, past(scores)) if causal else _softmax(scores)


def _attention_in_loops(q: Array, k: Array, v: Array, causal: bool) -> Array:
    out = np.zeros((*q.shape[:-1], v.shape[-1]))
    before = k.shape[-2] - q.shape[-2]
    for head in np.ndindex(*q.shape[:-2]):
        for t, query in enumerate(q[head]):
            seen = before + t + 1 if causal else k.shape[-2]
            scores = np.array([sum(query * key) for key in k[head][:seen]]) / len(query) ** 0.5
            weights = np.exp(scores - max(scores))
            for weight, value in zip(weights / sum(weights), v[head], strict=False):
                out[head][t] += weight * value
    return out


def _attention_by_einsum(q: Array, k: Array, v: Array, causal: bool) -> Array:
    scores = np.einsum("...id,...jd->...ij", q * q.shape[-1] ** -0.5, k)
    if causal:
        scores = np.where(past(scores), scores, -np.inf)
    return np.einsum("...ij,...jd->...id", softmax_by_log(scores), v)


def _attention_on_columns(q: Array, k: Array, v: Array, causal: bool) -> Array:
    """Keys down, queries across: the softmax then runs over axis -2, and is right."""
    scores = k @ turned(q) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(turned(past(turned(scores))), scores, -np.inf)
    return turned(plain_softmax(scores, axis=-2)) @ v


ATTENTION = Exercise(
    id="01-why-order-matters.attention",
    title="Attention, with heads and a mask",
    step_of=DECODER,
    adds="Your decoder gets its attention: several heads at once, and no look ahead.",
    signature="attention(q: (..., queries, head_dim), k: (..., keys, head_dim), v: (..., keys, value_dim), "
    "causal: bool) -> array of shape (..., queries, value_dim)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda attention, rows, columns: heat_map(
            attention(*_words_that_attend(), False), rows=rows, columns=columns, words=SENTENCE
        ),
        axes=("query", "key"),
        look="Both rows of “the” are alike: the head knows the words, but not where they are.",
    ),
    reference=lambda q, k, v, causal: attention(q, k, v, causal=causal),
    make_cases=_attention_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (*args[0].shape[:-1], args[2].shape[-1]),
            "The output has one row per query, and each row is as wide as a value: (..., queries, "
            "value_dim).",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.all(value >= args[2].min(axis=-2, keepdims=True) - 1e-9)
                and np.all(value <= args[2].max(axis=-2, keepdims=True) + 1e-9)
            ),
            "Each row of the output is a weighted average of the rows of v, so no entry can leave the "
            "range that v's column covers. Yours does: do the weights of each query sum to 1?",
        ),
    ),
    mistakes=(
        Mistake(
            "no-scale",
            lambda q, k, v, causal: _weights(q @ turned(k), causal) @ v,
            "The scale is missing: divide the scores by the square root of head_dim before the softmax.",
        ),
        Mistake(
            "scale-by-dim",
            lambda q, k, v, causal: _weights(q @ turned(k) / q.shape[-1], causal) @ v,
            "You divide the scores by head_dim. Divide by its square root: the scores of random queries "
            "and keys spread like sqrt(head_dim), not like head_dim.",
        ),
        Mistake(
            "scale-upwards",
            lambda q, k, v, causal: _weights(q @ turned(k) * np.sqrt(q.shape[-1]), causal) @ v,
            "You multiply the scores by sqrt(head_dim). Divide by it: the scale is there to keep large "
            "scores from pushing all the attention onto one key.",
        ),
        Mistake(
            "scale-by-keys",
            lambda q, k, v, causal: _weights(q @ turned(k) / np.sqrt(k.shape[-2]), causal) @ v,
            "You divide by the square root of the number of keys. The scale belongs to the width of the "
            "vectors: use q.shape[-1].",
        ),
        Mistake(
            "scale-by-queries",
            lambda q, k, v, causal: _weights(q @ turned(k) / np.sqrt(q.shape[-2]), causal) @ v,
            "You divide by the square root of the number of queries. The scale belongs to the width of the "
            "vectors: use q.shape[-1].",
        ),
        Mistake(
            "scale-by-value-width",
            lambda q, k, v, causal: _weights(q @ turned(k) / np.sqrt(v.shape[-1]), causal) @ v,
            "You divide by the square root of the width of a value, which may differ from that of a key. "
            "Scores are made of queries and keys: use q.shape[-1].",
        ),
        Mistake(
            "scale-by-second-axis",
            lambda q, k, v, causal: _weights(q @ turned(k) / np.sqrt(q.shape[1]), causal) @ v,
            "It is right for one head. With axes in front, q.shape[1] is no longer head_dim: count from the "
            "end, q.shape[-1].",
        ),
        Mistake(
            "scale-after-softmax",
            lambda q, k, v, causal: _weights(q @ turned(k), causal) / np.sqrt(q.shape[-1]) @ v,
            "The scale comes after the softmax, so the weights no longer sum to 1. Divide the scores by "
            "sqrt(head_dim) first, then take the softmax.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda q, k, v, causal: (
                plain_softmax(
                    np.where(past(_scores(q, k)), _scores(q, k), -np.inf) if causal else _scores(q, k),
                    axis=-2,
                )
                @ v
            ),
            "The softmax runs over the queries (axis -2), so each key shares itself out. Each query must "
            "share out its attention over the keys: axis -1 of the scores.",
        ),
        Mistake(
            "no-softmax",
            lambda q, k, v, causal: (past(_scores(q, k)) if causal else 1) * _scores(q, k) @ v,
            "The raw scores are used as weights. Turn each row of scores into weights with a softmax first.",
        ),
        Mistake(
            "all-axes-turned",
            lambda q, k, v, causal: _weights(q @ k.T / np.sqrt(q.shape[-1]), causal) @ v,
            "It is right for one head. With more axes in front, k.T reverses all of them, the heads too. "
            "Swap the last two alone: np.swapaxes(k, -1, -2).",
        ),
        Mistake(
            "no-transpose",
            lambda q, k, v, causal: _weights(q @ k / np.sqrt(q.shape[-1]), causal) @ v,
            "You multiply q by k without the transpose. Every query must meet every key: the scores have the "
            "shape (..., queries, keys).",
        ),
        Mistake(
            "causal-ignored",
            lambda q, k, v, causal: _softmax(_scores(q, k)) @ v,
            "Everything is right without the mask, but causal makes no difference. Where it is True, a "
            "query gives weight only to itself and to what came before it.",
        ),
        Mistake(
            "always-causal",
            lambda q, k, v, causal: _weights(_scores(q, k), True) @ v,
            "The mask is always on. Where causal is False, every query may look at every key.",
        ),
        Mistake(
            "self-hidden",
            lambda q, k, v, causal: (
                _softmax(np.where(past(_scores(q, k), -1) | (not causal), _scores(q, k), -np.inf)) @ v
            ),
            "Under the mask, no token sees itself, and the first one sees nothing at all. A token may "
            "look at itself and at what came before it.",
        ),
        Mistake(
            "future-kept",
            lambda q, k, v, causal: (
                _softmax(np.where(~past(_scores(q, k), -1) | (not causal), _scores(q, k), -np.inf)) @ v
            ),
            "Under the mask, each token sees itself and its future. The rows of the scores are queries, so "
            "the past is below the diagonal: keep the lower triangle.",
        ),
        Mistake(
            "one-ahead",
            lambda q, k, v, causal: (
                _softmax(np.where(past(_scores(q, k), 1) | (not causal), _scores(q, k), -np.inf)) @ v
            ),
            "Under the mask, each token sees one token of its future: the triangle is one diagonal too "
            "large.",
        ),
        Mistake(
            "future-scores-0",
            lambda q, k, v, causal: _softmax((past(_scores(q, k)) | (not causal)) * _scores(q, k)) @ v,
            "Under the mask, you set the scores of the future to 0. exp(0) is 1, so the future still gets "
            "weight. The score that gives weight 0 is minus infinity.",
        ),
        Mistake(
            "leading-axis-counted",
            lambda q, k, v, causal: (
                (masked(_scores(q, k), np.tri(len(q), dtype=bool)) if causal else _softmax(_scores(q, k))) @ v
            ),
            "It is right for one head. len(q) is the first axis, and with several heads that is the number "
            "of heads: call causal_weights of the step before, or count from the end.",
        ),
        Mistake(
            "queries-and-keys-exchanged",
            lambda q, k, v, causal: _weights(_scores(k, q), causal) @ v,
            "Queries and keys are swapped. The rows of the scores are queries: multiply q by the "
            "transpose of k, and not k by the transpose of q.",
        ),
        Mistake(
            "causal-turned-round",
            lambda q, k, v, causal: _weights(_scores(q, k), not causal) @ v,
            "You mask where causal is False, and not where it is True.",
        ),
        Mistake(
            "first-query-at-first-key",
            lambda q, k, v, causal: (
                (
                    masked(_scores(q, k), np.tri(q.shape[-2], k.shape[-2], dtype=bool))
                    if causal
                    else _softmax(_scores(q, k))
                )
                @ v
            ),
            "It is right where there are as many queries as keys. Where there are fewer, the queries are "
            "the newest tokens, and the last query is at the last key: call causal_weights of the step "
            "before.",
        ),
        Mistake(
            "masked-after-softmax",
            lambda q, k, v, causal: (past(_scores(q, k)) if causal else 1) * _softmax(_scores(q, k)) @ v,
            "You set weights to 0 after the softmax, so the rows no longer sum to 1. Mask the scores before "
            "the softmax, or call causal_weights of the step before.",
        ),
        Mistake(
            "weights-returned",
            lambda q, k, v, causal: _weights(_scores(q, k), causal),
            "These are the attention weights, and they are right. One step is left: mix the values with "
            "them, weights @ v.",
        ),
        Mistake(
            "keys-mixed",
            lambda q, k, v, causal: _weights(_scores(q, k), causal) @ k,
            "The weights are right, but they mix the keys. Keys are only there to be compared with; what "
            "is mixed are the values: weights @ v.",
        ),
    ),
    alternatives=(_attention_in_loops, _attention_by_einsum, _attention_on_columns),
    hints=(
        "Four steps: compare each query with each key, scale, turn each row into weights, mix the values.",
        "Shapes tell you the products: `(queries, head_dim)` times `(head_dim, keys)` gives `(queries, "
        "keys)`, and that times `(keys, value_dim)` gives the output. Axes in front come along by "
        "themselves.",
        "For several heads, `k.T` swaps too much. `np.swapaxes(k, -1, -2)` swaps the last two axes alone.",
        "With `causal`, your `causal_weights` of the step before; without, your `softmax`.",
    ),
)
