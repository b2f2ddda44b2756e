"""What attention asks of axes: where the sequence is, and fewer heads of keys than of queries."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, move_axis, namespace, without_autocast


def heads_first(seq_axis: Any, **given: Array) -> tuple[Array, ...]:
    """The arrays with the sequence on their second-last axis, wherever `seq_axis` says that it is: views."""
    if isinstance(seq_axis, int) and seq_axis == -2:
        return tuple(given.values())
    return tuple(_moved(array, name, seq_axis) for name, array in given.items())


def _moved(array: Array, name: str, seq_axis: Any) -> Array:
    namespace(array)
    if array.ndim < 3:
        raise ValueError(
            f"{name} has shape {tuple(array.shape)}; with seq_axis={seq_axis} give three axes or more"
        )
    return move_axis(array, require.seq_axis(seq_axis, array.ndim), -2)


def seq_back(array: Array, seq_axis: Any) -> Array:
    """The array with its second-last axis where `seq_axis` says."""
    return array if seq_axis == -2 else move_axis(array, -2, seq_axis)


def matmul_by_group(xp: Any, x: Array, y: Array) -> Array:
    """`matmul`, where y may have one head for each group of x's heads, as the keys of grouped queries.

    The heads of a group become more rows of one product, so that nothing of y is repeated.

    Args:
        xp: the array functions.
        x: (..., heads, rows, n).
        y: (..., kv_heads, n, columns), kv_heads a divisor of heads; or fewer axes.
    """
    if y.ndim < 3 or x.ndim < 3 or y.shape[-3] >= x.shape[-3]:
        return matmul(xp, x, y)
    (heads, rows, width), groups = x.shape[-3:], y.shape[-3]
    product = matmul(xp, xp.reshape(x, (*x.shape[:-3], groups, heads // groups * rows, width)), y)
    return xp.reshape(product, (*product.shape[:-3], heads, rows, y.shape[-1]))


def matmul(xp: Any, x: Array, y: Array) -> Array:
    """x @ y, in their own dtype under PyTorch's autocast, too."""
    with without_autocast(x):
        return xp.matmul(x, y)
