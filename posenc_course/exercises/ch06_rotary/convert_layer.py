"""Fix a conversion: Convert a layer with shared keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import CONVERSION, Generator, to_interleaved
from posenc_course.exercises.ch06_rotary.to_half import to_half
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array

Reorder = Callable[[Array, int], Array]


def _layer_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, heads: int, kv_heads: int, head_dim: int, width: int) -> Case:
        sizes = (heads * head_dim, kv_heads * head_dim)
        w_q, w_k, w_v = (
            rng.permutation(rows * width).reshape(rows, width) / 4 for rows in (*sizes, sizes[1])
        )
        b_q, b_k = (rng.permutation(rows) / 2 for rows in sizes)
        return Case(label, (w_q, w_k, w_v, b_q, b_k, heads, kv_heads))

    yield case("2 query heads, 2 heads of keys, width 4", 2, 2, 4, 6)
    yield case("4 query heads share 2 heads of keys, width 4", 4, 2, 4, 8)
    yield case("6 query heads share 1 head of keys, width 6", 6, 1, 6, 5)
    yield case("one head, width 8", 1, 1, 8, 4)
    heads = int(rng.integers(2, 4))  # 18 rows of keys can be cut into 6 and into 9
    yield case("3 heads of keys, and a multiple of query heads", 3 * heads, 3, 6, 7)


def _column(reorder: Reorder) -> Reorder:
    """The same for a bias, which has one number per row."""
    return lambda bias, heads: reorder(bias[:, None], heads)[:, 0]


def _unchanged(weight: Array, heads: int) -> Array:
    return weight


def _layer_with(
    *,
    q: Reorder = to_half,
    k: Reorder = to_half,
    v: Reorder = _unchanged,
    b_q: Reorder = to_half,
    b_k: Reorder = to_half,
    for_keys: str = "kv_heads",
) -> Callable[..., tuple[Array, ...]]:
    def convert(
        w_q: Array, w_k: Array, w_v: Array, bias_q: Array, bias_k: Array, heads: int, kv_heads: int
    ) -> tuple[Array, ...]:
        few = heads if for_keys == "heads" else kv_heads
        return (
            q(w_q, heads),
            k(w_k, few),
            v(w_v, few),
            _column(b_q)(bias_q, heads),
            _column(b_k)(bias_k, few),
        )

    return convert


def _keys_as_many_as_queries(
    w_q: Array, w_k: Array, w_v: Array, b_q: Array, b_k: Array, heads: int, kv_heads: int
) -> tuple[Array, ...]:
    """The keys' rows cut into as many heads as there are of queries, as far as that goes."""

    def forced(weight: Array) -> Array:
        rows = np.arange(len(weight)).reshape(heads, -1) if len(weight) % heads == 0 else None
        if rows is None:
            return weight
        return weight[np.concatenate([np.concatenate([each[0::2], each[1::2]]) for each in rows])]

    return to_half(w_q, heads), forced(w_k), w_v, _column(to_half)(b_q, heads), forced(b_k)


def _layer_by_index(
    w_q: Array, w_k: Array, w_v: Array, b_q: Array, b_k: Array, heads: int, kv_heads: int
) -> list[Array]:
    head_dim = len(w_q) // heads
    inside = np.arange(head_dim).reshape(-1, 2).T.ravel()
    of_q, of_k = ((head_dim * np.arange(count)[:, None] + inside).ravel() for count in (heads, kv_heads))
    return [w_q[of_q], w_k[of_k], w_v, b_q[of_q], b_k[of_k]]


CONVERT_LAYER = Exercise(
    id="06-rotary.convert_layer",
    title="Convert a layer with shared keys",
    step_of=CONVERSION,
    signature="convert_layer(w_q, w_k, w_v: (rows, width), b_q, b_k: (rows,), heads: int, kv_heads: int) "
    "-> the five arrays, as the new layout wants them",
    points=2,
    minutes=10,
    difficulty=3,
    parts=(
        "the weights of the queries",
        "the weights of the keys",
        "the weights of the values",
        "the bias of the queries",
        "the bias of the keys",
    ),
    reference=lambda w_q, w_k, w_v, b_q, b_k, heads, kv_heads: _layer_with()(
        w_q, w_k, w_v, b_q, b_k, heads, kv_heads
    ),
    make_cases=_layer_cases,
    properties=(
        Property(
            lambda args, value: [np.shape(each) for each in value] == [np.shape(each) for each in args[:5]],
            "Each array must keep its shape. They come in this order: w_q, w_k, w_v, b_q, b_k.",
            about="form",
        ),
        Property(
            lambda args, value: all(
                np.array_equal(np.sort(np.ravel(one)), np.sort(np.ravel(other)))
                for one, other in zip(value, args[:5], strict=True)
            ),
            "A conversion only moves numbers: each of the five must hold those that it came with, signs "
            "included. Are the five in the right order: w_q, w_k, w_v, b_q, b_k?",
        ),
    ),
    mistakes=(
        Mistake(
            "biases-left",
            _layer_with(b_q=_unchanged, b_k=_unchanged),
            "The weights are right, and the biases are as they were. A bias adds one number to each column "
            "of the queries: its numbers have to change places just like the rows of the weights.",
        ),
        Mistake(
            "values-too",
            _layer_with(v=to_half),
            "You reordered the values as well. Nothing turns them, and the next matrix expects their old "
            "order: leave them as they are.",
        ),
        Mistake(
            "queries-alone",
            _layer_with(k=_unchanged, b_k=_unchanged),
            "Only the queries have a new order. Then the numbers of a query meet the wrong numbers of a "
            "key: both must be reordered in the same way.",
        ),
        Mistake(
            "keys-alone",
            _layer_with(q=_unchanged, b_q=_unchanged),
            "Only the keys have a new order. Then the numbers of a key meet the wrong numbers of a query: "
            "both must be reordered in the same way.",
        ),
        Mistake(
            "keys-as-many-as-queries",
            _keys_as_many_as_queries,
            "You cut the rows of the keys into as many heads as the queries have. Several query heads share "
            "one head of keys here, so the keys have only kv_heads.",
        ),
        Mistake(
            "queries-as-few-as-keys",
            lambda w_q, w_k, w_v, b_q, b_k, heads, kv_heads: _layer_with()(
                w_q, w_k, w_v, b_q, b_k, kv_heads, kv_heads
            ),
            "You cut the rows of the queries into as few heads as the keys have. Cut the queries into "
            "heads, and the keys into kv_heads.",
        ),
        Mistake(
            "other-direction",
            _layer_with(q=to_interleaved, k=to_interleaved, b_q=to_interleaved, b_k=to_interleaved),
            "This goes the other way, from half to interleaved. Gather the even rows of each head into its "
            "first half.",
        ),
        Mistake(
            "biases-over-all-heads",
            _layer_with(b_q=lambda bias, heads: to_half(bias, 1), b_k=lambda bias, heads: to_half(bias, 1)),
            "The weights are right. But each bias was reordered as one long head: reorder the numbers of "
            "each head on their own.",
        ),
        Mistake(
            "nothing-changed",
            _layer_with(q=_unchanged, k=_unchanged, b_q=_unchanged, b_k=_unchanged),
            "All five came back as they were. The rows that make queries and keys have to change places.",
        ),
        Mistake(
            "bias-of-queries-left",
            _layer_with(b_q=_unchanged),
            "Four of five are right. The bias of the queries is as it was: its numbers have to change "
            "places just like the rows of w_q.",
        ),
        Mistake(
            "bias-of-keys-left",
            _layer_with(b_k=_unchanged),
            "Four of five are right. The bias of the keys is as it was: its numbers have to change places "
            "just like the rows of w_k.",
        ),
        Mistake(
            "all-as-one-head",
            lambda w_q, w_k, w_v, b_q, b_k, heads, kv_heads: _layer_with()(w_q, w_k, w_v, b_q, b_k, 1, 1),
            "Queries and keys were reordered as if they were one long head, which mixes the heads. Cut the "
            "queries into heads and the keys into kv_heads first.",
        ),
        Mistake(
            "keys-as-one-head",
            lambda w_q, w_k, w_v, b_q, b_k, heads, kv_heads: (
                to_half(w_q, heads),
                to_half(w_k, 1),
                w_v,
                _column(to_half)(b_q, heads),
                _column(to_half)(b_k, 1),
            ),
            "The queries are right. The keys were reordered as if they were one long head: cut them into "
            "kv_heads.",
        ),
        Mistake(
            "biases-of-two-axes",
            lambda w_q, w_k, w_v, b_q, b_k, heads, kv_heads: (
                to_half(w_q, heads),
                to_half(w_k, kv_heads),
                w_v,
                to_half(b_q[:, None], heads),
                to_half(b_k[:, None], kv_heads),
            ),
            "The numbers are right, but your biases have a second axis of length 1. Take it away: [:, 0].",
        ),
        Mistake(
            "values-for-biases",
            _layer_with(v=to_half, b_q=_unchanged, b_k=_unchanged),
            "Two things: you reordered the values, which nothing turns, and left the biases of queries and "
            "keys as they were.",
        ),
    ),
    alternatives=(
        _layer_by_index,
        lambda *layer: list(_layer_with()(*layer)),
        lambda *layer: tuple(each.tolist() for each in _layer_with()(*layer)),
    ),
    hints=(
        "What turns, and what does not? A value is mixed, and never turned.",
        "Your `to_half` takes weights of two axes. `b_q[:, None]` gives a bias a second axis, and `[:, 0]` "
        "takes it away again.",
        "The queries are cut into `heads`, the keys into `kv_heads`.",
    ),
)
