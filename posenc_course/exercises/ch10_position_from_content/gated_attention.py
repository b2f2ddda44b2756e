"""Your decoder gets forgetting gates: Attention that forgets."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import (
    GATES,
    Generator,
    _forget_bias,
    attend_with,
    distances,
    drawn_gates,
    softmax,
    two_chapters,
)
from posenc_course.exercises.ch10_position_from_content.log_gates import _log_gates
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _attention_cases(rng: Generator) -> Iterator[Case]:
    def inputs(heads: int, m: int, n: int, width: int, size: float = 1.0) -> tuple[Array, ...]:
        q, k, v = (rng.normal(size=(heads, each, width)) for each in (m, n, n))
        return size * q, size * k, v, drawn_gates(rng, heads, n)

    yield Case("one head, four tokens", inputs(1, 4, 4, 2))
    yield Case("two heads, the last two queries", inputs(2, 2, 6, 4))
    yield Case("one query, the last", inputs(3, 1, 5, 4))
    yield Case("large scores", inputs(2, 3, 5, 4, 60.0))
    q, k, v, gates = inputs(1, 5, 5, 4)
    gates[0, 2] = -1e4
    yield Case("a gate that is shut", (q, k, v, gates))
    for _ in range(2):
        n = int(rng.integers(4, 8))
        yield Case("sizes, drawn", inputs(int(rng.integers(2, 4)), int(rng.integers(2, n)), n, 6))


def _gated_attention(q: Array, k: Array, v: Array, log_gates: Array) -> Array:
    return attend_with()(q, k, v, log_gates)


def _faded_after_softmax(q: Array, k: Array, v: Array, log_gates: Array) -> Array:
    weights = softmax(
        np.where(
            distances(q.shape[1], k.shape[1]) < 0,
            -np.inf,
            q @ k.swapaxes(1, 2) / math.sqrt(q.shape[2]),
        )
    )
    return np.asarray(weights * np.exp(_forget_bias(log_gates, q.shape[1])) @ v)


def _attend_by_loops(q: Array, k: Array, v: Array, log_gates: Array) -> Array:
    heads, m, width = q.shape
    n = k.shape[1]
    found = np.empty((heads, m, v.shape[2]))
    for h in range(heads):
        for row in range(m):
            i = n - m + row
            scores = [
                k[h, j] @ q[h, row] / width**0.5 + log_gates[h, j + 1 : i + 1].sum() for j in range(i + 1)
            ]
            raised = np.exp(np.array(scores) - max(scores))
            found[h, row] = raised @ v[h, : i + 1] / raised.sum()
    return found


def _attend_by_sums(q: Array, k: Array, v: Array, log_gates: Array) -> Array:
    """The query's own sum is the same for a whole row, and softmax does not see it."""
    m, n = q.shape[1], k.shape[1]
    scores = np.einsum("hid,hjd->hij", q, k) / np.sqrt(q.shape[2]) - np.cumsum(log_gates, axis=1)[:, None]
    scores = np.where(np.tri(m, n, n - m, dtype=bool), scores, -np.inf)
    return softmax(scores) @ v


GATED_ATTENTION = Exercise(
    id="10-position-from-content.gated_attention",
    title="Attention that forgets",
    step_of=GATES,
    signature="gated_attention(q: array of shape (heads, m, width), k: array of shape (heads, n, width), v: "
    "array of shape (heads, n, width), log_gates: array of shape (heads, n)) -> array of shape (heads, m, "
    "width)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda gated_attention, rows, columns: heat_map(
            np.asarray(gated_attention(*np.zeros((2, 1, 24, 24)), np.eye(24)[None], two_chapters()))[0],
            rows=rows,
            columns=columns,
        ),
        axes=("query", "key"),
        look="All products are equal, and still queries look at what came after the gate that is nearly "
        "shut.",
    ),
    reference=_gated_attention,
    make_cases=_attention_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one row for each query of each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) <= args[2].max(axis=1, keepdims=True) + 1e-5).all()
                and (np.asarray(value) >= args[2].min(axis=1, keepdims=True) - 1e-5).all()
            ),
            "With weights that are not negative and sum to 1, no result can leave the range of the "
            "values. Yours does.",
        ),
    ),
    where_not_finite="Subtract each row's largest score before you raise e to it, and do not hide a "
    "whole row.",
    mistakes=(
        Mistake(
            "no-gates",
            attend_with(lambda products, bias, width: products / math.sqrt(width)),
            "This is plain attention: the gates change nothing.",
        ),
        Mistake(
            "turned-round",
            attend_with(lambda products, bias, width: products / math.sqrt(width) - bias),
            "Your queries prefer what was forgotten. You subtract the bias, or you add the running sums "
            "themselves. Add the bias: the sum up to the query minus the sum up to the key.",
        ),
        Mistake(
            "bias-divided-too",
            attend_with(lambda products, bias, width: (products + bias) / math.sqrt(width)),
            "You divide the bias by the root of the width as well. Divide only the products.",
        ),
        Mistake(
            "nothing-divided",
            attend_with(lambda products, bias, width: products + bias),
            "The products are not divided by the root of the width.",
        ),
        Mistake(
            "divided-by-width",
            attend_with(lambda products, bias, width: products / width + bias),
            "You divide the products by the width. Divide by its square root.",
        ),
        Mistake(
            "multiplied-onto-scores",
            attend_with(lambda products, bias, width: products / math.sqrt(width) * np.exp(bias)),
            "You multiply the scores by the gates. Weights are multiplied by gates, so scores get their "
            "logarithms added.",
        ),
        Mistake(
            "after-the-softmax",
            _faded_after_softmax,
            "You multiply by the gates after the softmax, so the weights of a query no longer sum to 1. "
            "Add the bias before the softmax.",
        ),
        Mistake(
            "sees-ahead",
            attend_with(hide=lambda scores, after: scores),
            "Queries see keys that come after them. Hide these with minus infinity.",
        ),
        Mistake(
            "hidden-by-zero",
            attend_with(hide=lambda scores, after: np.where(after, 0.0, scores)),
            "The scores of keys after the query are 0 in yours, and e to the power of 0 is 1, a real "
            "weight. Hide them with minus infinity.",
        ),
        Mistake(
            "softmax-over-queries",
            attend_with(
                hide=lambda scores, after: np.where(after, -1e30, scores),
                weigh=lambda scores: softmax(scores, axis=1),
            ),
            "Your weights sum to 1 over the queries. Each query's weights sum to 1 over its keys.",
        ),
        Mistake(
            "first-queries",
            attend_with(
                bias_of=lambda log_gates, m: _forget_bias(log_gates, log_gates.shape[1])[:, :m],
                hide=lambda scores, after: np.where(
                    np.arange(scores.shape[1])[:, None] < np.arange(scores.shape[2]), -np.inf, scores
                ),
            ),
            "Your queries are at the first places. They are the last m of the n.",
        ),
        Mistake(
            "keys-own-gate",
            attend_with(bias_of=lambda log_gates, m: _forget_bias(log_gates, m) + log_gates[:, None]),
            "You count the key's own gate too. It fades only what came before the key.",
        ),
        Mistake(
            "one-gate-only",
            attend_with(bias_of=lambda log_gates, m: np.repeat(log_gates[:, None], m, axis=1)),
            "You fade each key by its own gate only. All the gates from the key to the query count: use "
            "your forget_bias.",
        ),
        Mistake(
            "logarithms-twice",
            attend_with(bias_of=lambda log_gates, m: _forget_bias(_log_gates(log_gates), m)),
            "You call log_gates on numbers that are logarithms of gates already.",
        ),
        Mistake(
            "root-of-queries",
            attend_with(lambda products, bias, width: products / math.sqrt(products.shape[1]) + bias),
            "You divide by the root of the number of queries. Use the width of a head.",
        ),
        Mistake(
            "gates-added",
            attend_with(lambda products, bias, width: products / math.sqrt(width) + np.exp(bias)),
            "You add the gates themselves to the scores. Add their logarithms, the bias.",
        ),
        Mistake(
            "multiplied-by-the-bias",
            attend_with(lambda products, bias, width: products / math.sqrt(width) * bias),
            "You multiply the scores by the bias. Add it.",
        ),
        Mistake(
            "keys-for-values",
            lambda q, k, v, log_gates: _gated_attention(q, k, k, log_gates),
            "You mix the keys. The weights mix the values.",
        ),
    ),
    alternatives=(
        _attend_by_loops,
        _attend_by_sums,
        lambda q, k, v, log_gates: np.stack(
            [_gated_attention(*(x[h : h + 1] for x in (q, k, v, log_gates)))[0] for h in range(len(q))]
        ),
    ),
    hints=(
        "It is the attention that you know, with your `forget_bias` added to the scores before the softmax.",
        "The products are `q @ k.swapaxes(1, 2)`, of shape (heads, m, n). Divide them by the root of the "
        "width; the bias stays as it is.",
        "Key j comes after query row r where j is more than n - m + r: `np.tri(m, n, n - m)` is 1 where a "
        "key may be seen.",
    ),
)
