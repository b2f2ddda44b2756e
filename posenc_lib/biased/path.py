"""PaTH: each token between key and query turns what the query looks for, by a reflection of its own."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, device_of, namespace, without_autocast
from posenc_lib._heads import heads_first
from posenc_lib.biased.instead import in_place_of_product, queries_with_keys, widened


def path_products(
    q: ArrayT, k: Array, w: Array, beta: Array, *, block: int | None = 64, seq_axis: int = -2
) -> ArrayT:
    """q_i . H_i H_(i-1) ... H_(j+1) k_j, where token t has H_t = I - beta_t w_t w_t^T.

    With |w| = 1, H_t leaves alone what is at right angles to w_t, and multiplies what lies along it by 1 -
    beta_t: beta = 0 changes nothing, 1 erases, 2 reflects. There is no other position in it.

    Args:
        q: (..., queries, head_dim), real: the last ones of the keys.
        k: (..., keys, head_dim); its heads may be a divisor of q's, as in `attention`.
        w: (..., keys, head_dim), of k's heads or of q's; vectors of length 1 in the paper.
        beta: (..., keys), from 0 to 2 in the paper.
        block: how many tokens are taken at once. 1 is the definition, one factor after the other. More is the
            same by the UT transform: a triangular system for each block, and products of matrices. None takes
            all tokens as one block: most arithmetic, fewest steps, and fit to be compiled for any length.
        seq_axis: of q, k and w, as in `attention`; beta is (..., keys) behind the heads in any case.

    Returns:
        (..., queries, keys), of q's dtype or float32 where that has fewer bits; 0 for keys after the query.

    Raises:
        TypeError: arrays of other libraries, tensors of other dtypes, or not real numbers; block not an
            integer.
        ValueError: shapes that do not fit, more queries than keys, a block below 1, different devices.

    Example:
        >>> import numpy as np
        >>> q, k = np.ones((2, 2)), np.asarray([[1.0, 3.0], [1.0, 3.0]])
        >>> along = np.asarray([[1.0, 0.0], [0.0, 1.0]])
        >>> path_products(q, k, along, np.asarray([1.0, 2.0]))  # the second token reflects the second column
        array([[ 4.,  0.],
               [-2.,  4.]])

    Who does what: flash-linear-attention 0.6.0, `naive_path_attn`, blocks of 64. With its forget gate
    (PaTH-FoX) add `fox_bias`.

    Source: Yang et al. 2025, "PaTH Attention: Position Encoding via Accumulating Householder
    Transformations", sections 2 and 3.
    """
    q, k, w = heads_first(seq_axis, q=q, k=k, w=w)
    xp = _require_fit(q, k, w, beta)
    first = k.shape[-2] - q.shape[-2]
    size = None if block is None else require.count(block, "block")
    q, k, w, beta = widened(xp, q, k, w, beta)
    with without_autocast(q):
        return _products(xp, q, k, w, beta, first, size)


def path_bias(
    q: ArrayT, k: Array, w: Array, beta: Array, *, block: int | None = 64, seq_axis: int = -2
) -> ArrayT:
    """PaTH as a bias: with it, the scores of `attention` are `path_products` / sqrt(head_dim).

    Args:
        q, k, w, beta, block, seq_axis: as in `path_products`.

    Returns:
        (..., queries, keys); keys after the query must be masked.

    Raises:
        TypeError, ValueError: as `path_products`.

    Example:
        >>> import numpy as np
        >>> q = k = np.ones((3, 4))
        >>> path_bias(q, k, q / 2, np.zeros(3)).any()  # nothing reflects: plain attention
        np.False_

    Source: Yang et al. 2025, "PaTH Attention", section 2.
    """
    products = path_products(q, k, w, beta, block=block, seq_axis=seq_axis)
    q, k = heads_first(seq_axis, q=q, k=k)
    xp, behind = namespace(q), k.shape[-2] - q.shape[-2]
    return xp.tril(in_place_of_product(products, q, k), k=behind)


def _products(xp: Any, q: Array, k: Array, w: Array, beta: Array, first: int, size: int | None) -> Array:
    """`path_products` of what was looked at already; the first query is at token `first`."""
    keys = k.shape[-2]
    if q.ndim > 2:  # each head of queries has keys and reflections of its own
        k, w, beta = _for_each(xp, q, k, 3), _for_each(xp, q, w, 3), _for_each(xp, q, beta, 2)
    if size is None or keys <= size or first == keys:
        return _Block(xp, k, w, beta, 0, keys).within(xp, q, first)[0]
    blocks = [_Block(xp, k, w, beta, at, min(at + size, keys)) for at in range(0, keys, size)]
    rows = [
        _rows(xp, q[..., max(own.start - first, 0) : own.stop - first, :], blocks[: number + 1], first, keys)
        for number, own in enumerate(blocks)
        if own.stop > first
    ]
    return rows[0] if len(rows) == 1 else xp.concat(rows, axis=-2)


class _Block:
    """Tokens start .. stop - 1 of the text: their keys, and what their factors do together.

    With L the part of beta w w^T below the diagonal, y = (I + L)^-1 (beta w) holds the rows for which
    H_last ... H_first = I - w^T y; and each part of the product in the same way, by the same rows.
    """

    def __init__(self, xp: Any, k: Array, w: Array, beta: Array, start: int, stop: int) -> None:
        self.start, self.stop = start, stop
        self.k, self.w = k[..., start:stop, :], w[..., start:stop, :]
        scaled = self.w * beta[..., start:stop, None]
        below = xp.tril(scaled @ xp.matrix_transpose(self.w), k=-1)
        one = xp.eye(stop - start, dtype=below.dtype, device=device_of(below))
        against_keys = xp.tril(scaled @ xp.matrix_transpose(self.k), k=-1)
        inverse = xp.linalg.inv(below + one)
        self.y, self.y_with_keys = inverse @ scaled, inverse @ against_keys

    def within(self, xp: Any, q: Array, first: int) -> tuple[Array, Array]:
        """Products of queries, from token `first` on, with the keys here; and the queries, carried on.

        Carried on are H_start^T ... H_i^T q_i: what the query looks for before this block.
        """
        ahead = first - self.start
        reach = xp.tril(q @ xp.matrix_transpose(self.w), k=ahead)
        own = q @ xp.matrix_transpose(self.k) - reach @ self.y_with_keys
        return xp.tril(own, k=ahead), q - reach @ self.y

    def before(self, xp: Any, q: Array) -> tuple[Array, Array]:
        """Products of queries that were carried to the end of this block; and these, carried to its start."""
        reach = q @ xp.matrix_transpose(self.w)
        return q @ xp.matrix_transpose(self.k) - reach @ self.y_with_keys, q - reach @ self.y


def _rows(xp: Any, q: Array, blocks: list[_Block], first: int, keys: int) -> Array:
    """The products of queries of the last of these blocks, with all keys."""
    own = blocks[-1]
    part, q = own.within(xp, q, max(own.start, first))
    parts = [part]
    for block in reversed(blocks[:-1]):
        part, q = block.before(xp, q)
        parts.insert(0, part)
    if own.stop < keys:
        shape = (*part.shape[:-1], keys - own.stop)
        parts.append(xp.zeros(shape, dtype=part.dtype, device=device_of(part)))
    return parts[0] if len(parts) == 1 else xp.concat(parts, axis=-1)


def _for_each(xp: Any, q: Array, array: Array, axis: int) -> Array:
    """The array with a head for each head of q; its heads are on this axis from the end."""
    if array.ndim < axis or array.shape[-axis] in (1, q.shape[-3]):
        return array
    return xp.repeat(array, q.shape[-3] // array.shape[-axis], axis=-axis)


def _require_fit(q: Array, k: Array, w: Array, beta: Array) -> Any:
    queries_with_keys(q, k)
    require.real_array(w, "w", "(..., keys, head_dim)", 2, more=True)
    require.real_array(beta, "beta", "(..., keys)", 1, more=True)
    given = {"q": q, "k": k, "w": w, "beta": beta}
    xp = namespace(*given.values())
    require.same_device(**given)
    require.same_dtype(**given)
    require.same_head_dim(q=q, k=k, w=w)
    keys = k.shape[-2]
    if w.shape[-2] != keys or beta.shape[-1] != keys:
        raise ValueError(f"{require.shapes(k=k, w=w, beta=beta)}; give one w and one beta for each key")
    require.all_hold(xp.isfinite(w), w, "w must be finite")
    require.all_hold(xp.isfinite(beta), beta, "beta must be finite")
    require.no_more_queries(q.shape[-2], keys)
    require.heads_in_groups(q, k=k, w=w, beta=beta[..., None])
    return xp
