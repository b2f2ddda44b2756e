"""Encodings that put another number in place of q . k: as a bias that takes attention's own off again."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, namespace
from posenc_lib._heads import matmul_by_group
from posenc_lib.biased.relative import default_scale


def in_place_of_product(products: Array, q: Array, k: Array) -> Array:
    """(products - q . k) / sqrt(head_dim): with it, the scores are products / sqrt(head_dim)."""
    xp = namespace(products, q, k)
    q, k = (xp.astype(x, products.dtype, copy=False) for x in (q, k))
    own = matmul_by_group(xp, q, xp.matrix_transpose(k))
    return (products - own) * default_scale(None, q.shape[-1])


def widened(xp: Any, *arrays: Array) -> list[Array]:
    """The arrays in 32 bits at least, all in the widest dtype among them."""
    wide = xp.result_type(*(array.dtype for array in arrays), xp.float32)
    return [xp.astype(array, wide, copy=False) for array in arrays]


def queries_with_keys(q: Array, k: Array) -> Any:
    """Raise unless these are queries and keys of one kind; return the array functions."""
    for name, array in (("q", q), ("k", k)):
        require.real_array(
            array, name, f"(..., {'queries' if name == 'q' else 'keys'}, head_dim)", 2, more=True
        )
    xp = namespace(q, k)
    require.same_device(q=q, k=k)
    require.same_dtype(q=q, k=k)
    require.same_head_dim(q=q, k=k)
    require.heads_in_groups(q, k=k)
    return xp
