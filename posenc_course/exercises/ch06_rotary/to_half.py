"""Fix a conversion: Head by head."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import CONVERSION, Generator, split_heads, to_interleaved
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _weight_cases(rng: Generator) -> Iterator[Case]:
    for heads, head_dim, width in ((2, 4, 8), (1, 6, 6), (3, 2, 6), (4, 4, 16), (2, 8, 5), (3, 6, 18)):
        # Distinct numbers, so that no reordering can pass by chance.
        rows = heads * head_dim
        numbers = rng.permutation(rows * width).reshape(rows, width) / 4
        yield Case(f"heads: {heads}, each of width {head_dim}; columns: {width}", (numbers, heads))


def to_half(weight: Array, heads: int) -> Array:
    per_head = split_heads(weight, heads)
    return np.concatenate([per_head[:, 0::2], per_head[:, 1::2]], axis=1).reshape(weight.shape)


def _sizes(weight: Array, heads: int) -> Array:
    """What the first column of each head holds, in order of size and without signs."""
    return np.asarray(np.sort(np.abs(split_heads(weight, heads)[..., 0]), axis=1))


def _odd_rows_first(weight: Array, heads: int) -> Array:
    per_head = split_heads(weight, heads)
    return np.concatenate([per_head[:, 1::2], per_head[:, 0::2]], axis=1).reshape(weight.shape)


def _heads_last(weight: Array, heads: int) -> Array:
    taking_turns = weight.reshape(-1, heads, weight.shape[1])
    return np.concatenate([taking_turns[0::2], taking_turns[1::2]]).reshape(weight.shape)


def _over_the_whole_matrix(weight: Array, heads: int) -> Array:
    return np.concatenate([weight[0::2], weight[1::2]])


def _to_half_by_rows(weight: Array, heads: int) -> list[list[float]]:
    head_dim, rows = len(weight) // heads, []
    for head in range(heads):
        own = weight[head * head_dim : (head + 1) * head_dim].tolist()
        rows += own[0::2] + own[1::2]
    return rows


def _to_half_by_transpose(weight: Array, heads: int) -> Array:
    return weight.reshape(heads, -1, 2, weight.shape[1]).transpose(0, 2, 1, 3).reshape(weight.shape)


def _to_half_by_matrix(weight: Array, heads: int) -> Array:
    head_dim = len(weight) // heads
    one_head = np.eye(head_dim)[[*range(0, head_dim, 2), *range(1, head_dim, 2)]]
    return np.kron(np.eye(heads), one_head) @ weight


TO_HALF = Exercise(
    id="06-rotary.to_half",
    title="Head by head",
    step_of=CONVERSION,
    signature="to_half(weight: array of shape (heads * head_dim, width), heads: int) "
    "-> array of the same shape",
    points=3,
    minutes=10,
    difficulty=3,
    reference=to_half,
    make_cases=_weight_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay (heads * head_dim, width): only the order of the rows changes.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(_sizes(np.asarray(value), args[1]), _sizes(args[0], args[1]))
            ),
            "Every head must keep its own rows: a row never moves from one head to another.",
        ),
        Property(
            lambda args, value: bool((np.asarray(value) >= 0).all()),
            "Some of your numbers have a minus, and none of the given ones has. The minus of rotate_half "
            "belongs to the turn; a conversion only moves rows.",
        ),
    ),
    mistakes=(
        Mistake(
            "whole-matrix",
            _over_the_whole_matrix,
            "This is the conversion that you were given: it reorders the rows of the whole matrix, and so "
            "mixes the heads. Reorder the rows of each head on its own.",
        ),
        Mistake(
            "other-direction",
            to_interleaved,
            "This goes the other way, from half to interleaved. Gather the even rows of each head into its "
            "first half.",
        ),
        Mistake(
            "columns",
            lambda weight, heads: np.concatenate([weight[:, 0::2], weight[:, 1::2]], axis=1),
            "The columns were reordered. Columns belong to the input. The rows make the queries and keys, "
            "so it is the rows that have to move.",
        ),
        Mistake(
            "unchanged",
            lambda weight, heads: weight,
            "The weights came back as they were. A reshape alone moves nothing: the rows of each head have "
            "to change places.",
        ),
        Mistake(
            "odd-rows-first",
            _odd_rows_first,
            "The odd rows of each head come first. The first members of the pairs are its even rows, "
            "counted from 0: they go into the first half.",
        ),
        Mistake(
            "halves-exchanged",
            lambda weight, heads: np.roll(
                split_heads(weight, heads), len(weight) // heads // 2, axis=1
            ).reshape(weight.shape),
            "The two halves of each head are swapped, but each is still interleaved. Take every second "
            "row: 0::2 and 1::2.",
        ),
        Mistake(
            "heads-last",
            _heads_last,
            "You read the rows as (head_dim, heads), as if the heads took turns. The rows of one head are "
            "next to each other: reshape to (heads, head_dim, width).",
        ),
        Mistake(
            "axes-left",
            lambda weight, heads: weight.reshape(heads, -1, 2, weight.shape[1]).transpose(0, 2, 1, 3),
            "The rows are in the right order, but they lie along axes of their own. Reshape the result to "
            "the shape of weight.",
        ),
        Mistake(
            "transposed",
            lambda weight, heads: to_half(weight, heads).T,
            "The result is right, but transposed. A row of the weights is one column of the queries: keep "
            "the shape (heads * head_dim, width).",
        ),
        Mistake(
            "first-head-alone",
            lambda weight, heads: np.concatenate(
                [to_half(weight[: len(weight) // heads], 1), weight[len(weight) // heads :]]
            ),
            "Only the first head was reordered. Every head has to be.",
        ),
    ),
    alternatives=(_to_half_by_rows, _to_half_by_transpose, _to_half_by_matrix),
    hints=(
        "Try the given version with one head and with two. Which rows does it bring together?",
        "`weight.reshape(heads, head_dim, width)` gives each head its own block of rows.",
        "Inside each block, take the rows `0::2` and after them the rows `1::2`. Then go back to the old "
        "shape.",
    ),
)
