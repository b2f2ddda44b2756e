"""T5's bias: one learned number per head and bucket of distance; far buckets are wide."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, clip, default_integer, device_of, move_axis, namespace
from posenc_lib.biased.relative import offsets, queries_and_keys


def t5_buckets(
    relative_positions: int | Array,
    *,
    buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = True,
) -> Array:
    """The bucket of each relative position, key - query.

    Of the n buckets of one direction, the first n/2 hold one distance each, 0 .. n/2 - 1. The others
    grow geometrically, up to max_distance; every longer distance is in the last one.

    Args:
        relative_positions: whole numbers, key - query (negative for the past), of any shape; see
            `relative_positions`.
        buckets: how many in all, rows of the learned table. With `bidirectional`, an even number, 4
            or more; otherwise 2 or more.
        max_distance: where the last bucket begins at the latest; above the distances that have a bucket of
            their own, which are buckets/4 of them with `bidirectional`, else buckets/2.
        bidirectional: True as in T5's encoder: the first half of the buckets is for keys up to the
            query, the second for keys after it. False as in its decoder: all are for the past, and keys
            after the query, which are masked, share bucket 0 with the query itself.

    Returns:
        int64 of the same shape, 0 .. buckets - 1, in the library and on the device of the
        relative positions (NumPy for a number).

    Raises:
        TypeError: relative positions are not integers; buckets or max_distance not an integer;
            bidirectional no boolean.
        ValueError: buckets too few, or odd with bidirectional; max_distance too small.

    Who does what: T5's code rounds a float32 logarithm down. Here the borders are whole numbers, found
    in integer arithmetic; transformers 5.24.0 and x-transformers 2.31.10 put every distance to
    100,000 into the same bucket (tests/conformance). The sign is theirs as well; Shaw et al. have the
    same.

    Example:
        >>> import numpy as np
        >>> t5_buckets(np.asarray([0, -1, -7, -8, -16, -128, -10_000, 1, 128]))
        array([ 0,  1,  7,  8, 10, 15, 15, 17, 31])

    Source: Raffel et al. 2020, section 2.1; the rule is in their code, mesh_tensorflow's
    transformer_layers.py, `_relative_position_bucket`.
    """
    relative_positions = require.numbers(relative_positions, "relative_positions")
    require.whole(relative_positions, "relative_positions")
    bidirectional = require.flag(bidirectional, "bidirectional")
    one_side = _buckets_of_one_side(require.count(buckets, "buckets", 2), bidirectional)
    borders = _borders(one_side, _read_max_distance(max_distance, one_side))

    xp = namespace(relative_positions)
    whole = default_integer(xp)
    relative = xp.astype(relative_positions, whole)
    furthest = borders[-1]
    relative = clip(relative, -furthest, furthest)
    distance = xp.abs(relative) if bidirectional else -clip(relative, -furthest, 0)
    first = xp.asarray(borders, dtype=whole, device=device_of(relative))
    bucket = xp.searchsorted(first, distance, side="right")
    if bidirectional:
        bucket = bucket + one_side * xp.astype(relative > 0, bucket.dtype)
    return xp.astype(bucket, whole, copy=False)


def t5_bias(
    table: ArrayT,
    queries: int | Array,
    keys: int | Array,
    *,
    max_distance: int = 128,
    bidirectional: bool = True,
) -> ArrayT:
    """T5's bias: table[bucket(key - query), head].

    Args:
        table: (buckets, heads), learned: `relative_attention_bias.weight` of a T5 checkpoint.
        queries: an int n for the last n of the keys' positions, or integers of shape (..., queries).
        keys: an int n for positions 0 .. n-1, or integers of shape (..., keys).
        max_distance, bidirectional: as in `t5_buckets`; T5's decoder has bidirectional=False.

    Returns:
        (heads, queries, keys), or (..., heads, queries, keys) for positions with more axes; in the
        library and on the device of the table, and of its dtype.

    Raises:
        TypeError: table not real numbers, positions not integers, arrays of different libraries.
        ValueError: table not of two axes, different devices, and what `t5_buckets` refuses.

    T5 itself does not divide scores by sqrt(head_dim), so give `attention` q * sqrt(head_dim) to run
    its checkpoints. All layers of a stack share the table of the first one.

    Example:
        >>> import numpy as np
        >>> table = np.arange(32.0)[:, None]  # 32 buckets, 1 head: shows which bucket is where
        >>> t5_bias(table, 3, 3)[0]
        array([[ 0., 17., 18.],
               [ 1.,  0., 17.],
               [ 2.,  1.,  0.]])

    Source: Raffel et al. 2020, section 2.1.
    """
    table = require.real_array(table, "table", "(buckets, heads)", 2)
    placed = queries_and_keys(queries, keys, table)
    bucket = t5_buckets(
        offsets(*placed), buckets=table.shape[0], max_distance=max_distance, bidirectional=bidirectional
    )
    return by_head(table, bucket)


def by_head(table: Array, rows: Array) -> Array:
    """table[rows], (..., queries, keys, heads), with the heads moved before the queries."""
    xp = namespace(table, rows)
    require.same_device(table=table, positions=rows)
    picked = xp.take(xp.matrix_transpose(table), xp.reshape(rows, (-1,)), axis=1)
    return move_axis(xp.reshape(picked, (table.shape[1], *rows.shape)), 0, -3)


def _buckets_of_one_side(buckets: int, bidirectional: bool) -> int:
    if not bidirectional:
        return buckets
    if buckets < 4 or buckets % 2:
        raise ValueError(
            f"buckets={buckets} cannot be split between the two directions; give an even number, 4 or more "
            "(or bidirectional=False)"
        )
    return buckets // 2


def _read_max_distance(given: Any, one_side: int) -> int:
    max_distance = require.count(given, "max_distance")
    if max_distance <= one_side // 2:
        raise ValueError(
            f"max_distance={max_distance} is too small: distances 0 to {one_side // 2 - 1} have a bucket "
            f"each, so the others must reach further; give {one_side // 2 + 1} or more"
        )
    if max_distance > _FURTHEST:
        raise ValueError(f"max_distance={max_distance} is beyond 64-bit integers; give {_FURTHEST} at most")
    return max_distance


_FURTHEST = 2**62


def _borders(one_side: int, max_distance: int) -> tuple[int, ...]:
    """The shortest distance of each bucket but the first: 1, 2, ..., then growing geometrically.

    Bucket exact + m, of which there are `steps`, begins at the smallest distance n with
    (n / exact)^steps >= (max_distance / exact)^m, which is decided in whole numbers.
    """
    exact = one_side // 2
    steps = one_side - exact
    borders = list(range(1, exact + 1))
    for m in range(1, steps):
        wanted = max_distance**m * exact ** (steps - m)
        border = int(exact * (max_distance / exact) ** (m / steps))
        while border**steps < wanted:
            border += 1
        while (border - 1) ** steps >= wanted:
            border -= 1
        borders.append(border)
    return tuple(borders)
