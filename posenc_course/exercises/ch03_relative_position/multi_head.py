"""Your decoder gets heads: Attend in each, and join them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import (
    HEADS,
    Generator,
    _causal,
    softmax,
    softmax_of_the_past,
)
from posenc_course.exercises.ch03_relative_position.split_heads import _split
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _attend_in_heads(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    heads: int,
    *,
    scale: float | None = None,
    weigh: Callable[[np.ndarray], np.ndarray] = lambda scores: softmax(_causal(scores)),
    split: Callable[[np.ndarray, int], np.ndarray] = _split,
    merge: Callable[[np.ndarray], np.ndarray] = lambda mixed: mixed.swapaxes(0, 1).reshape(
        mixed.shape[1], -1
    ),
) -> np.ndarray:
    q, k, v = (split(x @ w, heads) for w in (w_q, w_k, w_v))
    scores = q @ k.swapaxes(1, 2) / (np.sqrt(q.shape[-1]) if scale is None else scale)
    return np.asarray(merge(weigh(scores) @ v) @ w_o)


def _head_cases(rng: Generator) -> Iterator[Case]:
    for n, dim, heads in ((3, 4, 2), (4, 6, 3), (5, 8, 1), (1, 4, 2), (4, 8, 8), (6, 16, 4), (4, 16, 4)):
        weights = rng.normal(size=(4, dim, dim)) / np.sqrt(dim)
        tokens = "1 token" if n == 1 else f"{n} tokens"
        yield Case(f"{tokens}, dim {dim}, heads: {heads}", (rng.normal(size=(n, dim)), *weights, heads))


def _heads_in_loops(x: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, heads: int) -> np.ndarray:
    size = x.shape[1] // heads
    out = np.zeros_like(x)
    for head in range(heads):
        here = slice(head * size, (head + 1) * size)
        q, k, v = x @ w_q[:, here], x @ w_k[:, here], x @ w_v[:, here]
        for t in range(len(x)):
            weights = softmax(q[t] @ k[: t + 1].T / np.sqrt(size))
            out[t, here] = weights @ v[: t + 1]
    return np.asarray(out @ w_o)


def _heads_added_up(x: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, heads: int) -> np.ndarray:
    """Each head through its own rows of w_o, and the results added up."""
    q, k, v = (_split(x @ w, heads) for w in (w_q, w_k, w_v))
    weights = softmax(_causal(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])))
    return np.asarray(sum(weights[h] @ v[h] @ w_o.reshape(heads, -1, x.shape[1])[h] for h in range(heads)))


def _heads_by_einsum(x: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, heads: int) -> np.ndarray:
    q, k, v = (_split(x @ w, heads) for w in (w_q, w_k, w_v))
    scores = np.einsum("htd,hud->htu", q, k) * q.shape[-1] ** -0.5
    raised = np.exp(_causal(scores))
    mixed = np.einsum("htu,hud->thd", raised / raised.sum(axis=-1, keepdims=True), v)
    return np.asarray(mixed.reshape(x.shape) @ w_o)


MULTI_HEAD = Exercise(
    id="03-relative-position.multi_head",
    title="Attend in each, and join them",
    step_of=HEADS,
    adds="Your decoder gets heads: several attentions side by side, each with its own part of the columns.",
    signature="multi_head(x: (n, dim), w_q, w_k, w_v, w_o: (dim, dim) each, heads: int) "
    "-> array of shape (n, dim)",
    points=3,
    minutes=16,
    difficulty=3,
    reference=lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(x, w_q, w_k, w_v, w_o, heads),
    make_cases=_head_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "Return a row of dim numbers for each token, as x has them.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[0], args[0][0] @ args[3] @ args[4], atol=1e-3)),
            "The first token sees only itself, in each head. So its row must be x[0] @ w_v @ w_o.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-causal",
            lambda *args: _attend_in_heads(*args, weigh=softmax),
            "Tokens look ahead. Mask the scores of all keys that come after the query, in each head.",
        ),
        Mistake(
            "sees-not-itself",
            lambda *args: _attend_in_heads(*args, weigh=softmax_of_the_past),
            "A token does not see itself here. The causal mask hides what comes after a query, and leaves "
            "the query's own key.",
        ),
        Mistake(
            "masked-after-the-softmax",
            lambda *args: _attend_in_heads(*args, weigh=lambda scores: np.tril(softmax(scores))),
            "The mask was put on the weights, after the softmax, so the weights of a row no longer sum to "
            "1. Put it on the scores.",
        ),
        Mistake(
            "mask-turned-round",
            lambda *args: _attend_in_heads(
                *args,
                weigh=lambda scores: softmax(np.swapaxes(_causal(np.swapaxes(scores, -1, -2)), -1, -2)),
            ),
            "The mask is the wrong way round: tokens see only themselves and what comes after them. Keep "
            "the scores on and below the diagonal.",
        ),
        Mistake(
            "scale-of-dim",
            lambda x, *rest: _attend_in_heads(x, *rest, scale=np.sqrt(x.shape[1])),
            "You divide the scores by the square root of dim. The queries of a head have only dim / heads "
            "numbers: take the root of that.",
        ),
        Mistake(
            "no-scale",
            lambda *args: _attend_in_heads(*args, scale=1.0),
            "The scale is missing: divide the scores by the square root of the width of a head.",
        ),
        Mistake(
            "scale-not-a-root",
            lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(
                x, w_q, w_k, w_v, w_o, heads, scale=x.shape[1] / heads
            ),
            "You divide by the width of a head itself. Divide by its square root.",
        ),
        Mistake(
            "scale-of-heads",
            lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(
                x, w_q, w_k, w_v, w_o, heads, scale=np.sqrt(heads)
            ),
            "You divide the scores by the square root of the number of heads. It belongs to the width of a "
            "head, dim / heads.",
        ),
        Mistake(
            "scale-of-tokens",
            lambda x, *rest: _attend_in_heads(x, *rest, scale=np.sqrt(len(x))),
            "You divide the scores by the square root of the number of tokens. It belongs to the width of a "
            "head, dim / heads.",
        ),
        Mistake(
            "one-ahead",
            lambda *args: _attend_in_heads(*args, weigh=lambda scores: softmax(_causal(scores, reach=1))),
            "Each token sees one token of its future: the mask is one diagonal too large.",
        ),
        Mistake(
            "future-scores-0",
            lambda *args: _attend_in_heads(*args, weigh=lambda scores: softmax(np.tril(scores))),
            "You set the scores of the future to 0, as np.tril does. exp(0) is 1, so the future still gets "
            "weight. Set them to minus infinity.",
        ),
        Mistake(
            "one-head-for-all",
            lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(x, w_q, w_k, w_v, w_o, 1),
            "All columns make one head here, whatever heads is. Each head has its own "
            "scores, from its own columns.",
        ),
        Mistake(
            "joined-by-a-reshape",
            lambda *args: _attend_in_heads(*args, merge=lambda mixed: mixed.reshape(mixed.shape[1], -1)),
            "The heads were joined by one reshape of (heads, n, size), which puts numbers of other tokens "
            "into a row. Bring the tokens to the front first.",
        ),
        Mistake(
            "split-by-a-reshape",
            lambda *args: _attend_in_heads(*args, split=lambda x, heads: x.reshape(heads, len(x), -1)),
            "The heads were cut by one reshape, which gives a head the numbers of other tokens. Cut each "
            "row, then bring the heads to the front.",
        ),
        Mistake(
            "heads-averaged",
            lambda *args: _attend_in_heads(
                *args, merge=lambda mixed: np.tile(mixed.mean(axis=0), (1, len(mixed)))
            ),
            "The heads were averaged. They are put side by side, each in its own columns, and w_o mixes "
            "them.",
        ),
        Mistake(
            "no-output-matrix",
            lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(x, w_q, w_k, w_v, np.eye(len(w_o)), heads),
            "The joined heads are returned as they are. Multiply them by w_o at the end.",
        ),
        Mistake(
            "input-added",
            lambda x, *rest: x + _attend_in_heads(x, *rest),
            "The input was added at the end, as a whole layer does. Return the attention alone.",
        ),
        Mistake(
            "output-matrix-transposed",
            lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(x, w_q, w_k, w_v, w_o.T, heads),
            "The output matrix was transposed. Rows are on the left of it: joined @ w_o.",
        ),
        Mistake(
            "queries-and-keys-exchanged",
            lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(x, w_k, w_q, w_v, w_o, heads),
            "Queries and keys have changed roles: rows of the scores are queries, made with w_q.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda *args: _attend_in_heads(*args, weigh=lambda scores: softmax(_causal(scores), axis=-2)),
            "The softmax was taken over the queries. Each query has its own weights, which sum to 1 over "
            "the keys: the last axis.",
        ),
    ),
    alternatives=(_heads_in_loops, _heads_added_up, _heads_by_einsum),
    hints=(
        "Make `q`, `k` and `v` of all columns first, then split each of the three into heads.",
        "`q @ k.swapaxes(1, 2)` does all heads at once: NumPy multiplies the last two axes and goes "
        "through the first.",
        "`mixed.swapaxes(0, 1).reshape(n, dim)` puts the heads side by side again, and `w_o` comes last.",
    ),
)
