"""Shaw's relative keys: a learned vector for each clipped distance, met by the query."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, clip, move_axis, namespace, take_along_last_axis
from posenc_lib._heads import heads_first, matmul, matmul_by_group
from posenc_lib.biased.relative import default_scale, offsets, queries_and_keys


def shaw_bias(
    q: ArrayT,
    table: Array,
    queries: int | Array,
    keys: int | Array,
    *,
    scale: float | None = None,
    seq_axis: int = -2,
) -> ArrayT:
    """Shaw's bias: scale * q_i . w_r, with r = key - query, clipped to -k .. k.

    It depends on the content of the query, and so is computed again from every q. Adding it to
    q_i . k_j / sqrt(head_dim) gives the paper's score, q_i . (k_j + w_r) / sqrt(head_dim).

    Args:
        q: (..., queries, head_dim), real.
        table: (2k + 1, head_dim), learned: row r + k is for the relative position r, so that row k is
            the query's own. (heads, 2k + 1, head_dim) for a table per head; the paper shares one. With
            grouped queries there may be one for each head of keys.
        queries: an int n for the last n of the keys' positions, or integers of shape
            (..., queries): as many as q has.
        keys: an int n for positions 0 .. n-1, or integers of shape (..., keys).
        scale: 1 / sqrt(head_dim) by default, that of `attention`.
        seq_axis: of q, as in `attention`; -3 for (..., queries, heads, head_dim).

    Returns:
        (..., queries, keys), the bias for `attention`; where positions have more axes, these are the
        first axes of q, (..., heads, queries, head_dim).

    Raises:
        TypeError: q or table not real numbers, positions not integers, arrays of different libraries.
        ValueError: shapes that do not fit, a table with an even number of rows, different devices.

    The rows are in the order of tensor2tensor's code (`_generate_relative_positions_matrix`).

    Example:
        >>> import numpy as np
        >>> q = np.ones((1, 3, 4))
        >>> table = np.arange(5.0)[:, None] * np.ones(4)  # k = 2: row r + 2 is full of r + 2
        >>> shaw_bias(q, table, 3, 3, scale=0.25)
        array([[[2., 3., 4.],
                [1., 2., 3.],
                [0., 1., 2.]]])

    Source: Shaw et al. 2018, "Self-Attention with Relative Position Representations", section 3.2 and
    equation 4.
    """
    (q,) = heads_first(seq_axis, q=q)
    xp, rows = _read(q, "q", table, queries, keys)
    against_each_row = matmul_by_group(xp, q, xp.matrix_transpose(table)) * default_scale(scale, q.shape[-1])
    return pick(against_each_row, beside_heads(rows))


def shaw_values(weights: ArrayT, table: Array, queries: int | Array, keys: int | Array) -> ArrayT:
    """Shaw's second term, on the values: sum over keys j of weights_ij * w_r, r = key - query, clipped.

    No bias can do this: it is the exception among the three doors. Add the result to the output of
    `attention(..., return_weights=True)`. The authors found that it adds little to the relative keys.

    Args:
        weights: (..., queries, keys), the attention weights.
        table: (2k + 1, value_dim), learned, or (heads, 2k + 1, value_dim).
        queries, keys: as in `shaw_bias`.

    Returns:
        (..., queries, value_dim).

    Raises:
        TypeError: weights or table not real numbers, positions not integers, arrays of different libraries.
        ValueError: shapes that do not fit, a table with an even number of rows, different devices.

    Example:
        >>> import numpy as np
        >>> weights = np.asarray([[1.0, 0.0], [0.25, 0.75]])
        >>> table = np.asarray([[-1.0], [0.0], [1.0]])  # k = 1
        >>> shaw_values(weights, table, 2, 2)
        array([[ 0.  ],
               [-0.25]])

    Source: Shaw et al. 2018, equation 3; its section 4.3 on how little the value term adds.
    """
    xp, rows = _read(weights, "weights", table, queries, keys)
    require.one_each(rows, weights.shape[-1], "keys", "weights")
    picked = xp.take(table, xp.reshape(rows, (-1,)), axis=-2)
    vectors = xp.reshape(picked, (*table.shape[:-2], *rows.shape, table.shape[-1]))
    if table.ndim == 3:
        vectors = move_axis(xp.repeat(vectors, weights.shape[-3] // table.shape[0], axis=0), 0, -4)
    elif rows.ndim > 2:
        vectors = vectors[..., None, :, :, :]  # one table for all heads
    return matmul(xp, weights[..., None, :], vectors)[..., 0, :]


def pick(x: Array, columns: Array) -> Array:
    """x[..., i, columns[..., i, j]] as element (..., i, j); x is (..., queries, width)."""
    xp = namespace(x, columns)
    spread = xp.broadcast_to(columns, (*x.shape[:-1], columns.shape[-1]))
    return take_along_last_axis(x, spread)


def _read(x: Array, name: str, table: Array, queries: int | Array, keys: int | Array) -> tuple[Any, Array]:
    """The array functions, and the table's row for each query and key; checks what was given."""
    xp = read_table(x, name, table)
    placed = queries_and_keys(queries, keys, x)
    require.one_each(placed[0], x.shape[-2], "queries", name)
    relative = require.whole(offsets(*placed))
    require_rows(relative, name, x)
    require.same_device(**{name: x, "table": table, "positions": relative})
    reach = table.shape[-2] // 2
    return xp, clip(relative, -reach, reach) + reach


def require_rows(relative: Array, name: str, x: Array) -> None:
    """Raise ValueError unless the positions are one row for all, or one for each row of the batch."""
    batch = relative.shape[:-2]
    if batch and not (len(batch) == x.ndim - 3 and require.spreads(batch, x.shape[:-3])):
        raise ValueError(
            f"positions of shape {tuple(relative.shape[:-1])} do not fit {name} of shape {tuple(x.shape)}; "
            "give (queries,), or (batch, queries) where rows of (batch, heads, queries, ...) differ"
        )


def read_table(x: Array, name: str, table: Array) -> Any:
    """Raise unless x, the queries or the weights, and the table fit; return the array functions."""
    shape = "(..., queries, head_dim)" if name == "q" else "(..., queries, keys)"
    require.real_array(x, name, shape, 2, more=True)
    require.real_array(table, "table", "(2k + 1, head_dim) or (heads, 2k + 1, head_dim)", 2, more=True)
    xp = namespace(x, table)
    require.same_dtype(**{name: x, "table": table})
    if table.shape[-2] % 2 == 0:
        raise ValueError(f"table has {table.shape[-2]} rows; it needs 2k + 1, for the distances -k .. k")
    if name == "q":
        require.same_head_dim(q=x, table=table)
    if table.ndim > 3 or (
        table.ndim == 3 and (x.ndim < 3 or not require.divides(table.shape[0], x.shape[-3]))
    ):
        raise ValueError(
            f"table of shape {tuple(table.shape)} does not fit the heads of {name} of shape "
            f"{tuple(x.shape)}; give (2k + 1, head_dim) for all heads, or (heads, 2k + 1, head_dim), with as "
            "many heads or a divisor"
        )
    return xp


def beside_heads(rows: Array) -> Array:
    """(batch, queries, keys) -> (batch, 1, queries, keys), to broadcast against all heads."""
    return rows if rows.ndim == 2 else rows[..., None, :, :]
