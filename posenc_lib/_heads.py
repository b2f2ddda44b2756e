"""What attention asks of axes: fewer heads of keys than of queries."""

from __future__ import annotations

from typing import Any

from posenc_lib._arrays import Array


def matmul_by_group(xp: Any, x: Array, y: Array) -> Array:
    """x @ y, where y may have one head for each group of x's heads, as the keys of grouped queries.

    The heads of a group become more rows of one product, so that nothing of y is repeated.

    Args:
        xp: the array functions.
        x: (..., heads, rows, n).
        y: (..., kv_heads, n, columns), kv_heads a divisor of heads; or fewer axes.
    """
    if y.ndim < 3 or x.ndim < 3 or y.shape[-3] >= x.shape[-3]:
        return xp.matmul(x, y)
    (heads, rows, width), groups = x.shape[-3:], y.shape[-3]
    product = xp.matmul(xp.reshape(x, (*x.shape[:-3], groups, heads // groups * rows, width)), y)
    return xp.reshape(product, (*product.shape[:-3], heads, rows, y.shape[-1]))
