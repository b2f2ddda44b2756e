"""PoPE: content decides on lengths alone, and position on angles alone."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, namespace
from posenc_lib._heads import heads_first, matmul_by_group, seq_back
from posenc_lib.biased.instead import in_place_of_product, queries_with_keys, widened
from posenc_lib.biased.relative import of_heads, queries_and_keys
from posenc_lib.rotated.rotary import apply_rotary


def pope_vectors(
    x: ArrayT,
    positions: int | Array,
    *,
    delta: Array | None = None,
    base: float = 10000.0,
    seq_axis: int = -2,
) -> ArrayT:
    """Queries or keys in polar coordinates: column c is an arrow, softplus(x_c) long, turned p w_c + delta_c.

    In RoPE two columns make a pair, which has an angle before it is turned: content moves the position that a
    pair looks for. Here each column has an arrow of its own, with frequency w_c = base^(-c / dim), and
    content decides on its length alone.

    Args:
        x: (..., seq, dim), real: queries, or keys.
        positions: as in `apply_rotary`.
        delta: (dim,), or (heads, dim) for (..., heads, seq, dim): an angle more, learned, for keys alone.
            The paper keeps it between -2 pi and 0.
        base: the constant of the geometric series of wavelengths.
        seq_axis: of x, as in `apply_rotary`.

    Returns:
        (..., seq, 2 * dim), of x's dtype: all cosines, then all sines. The dot product of such a query at i
        and such a key at j is the sum over c of softplus(q_c) softplus(k_c) cos((j - i) w_c + delta_c).

    Raises:
        TypeError, ValueError: as `apply_rotary`; delta no real numbers, or of another shape.

    Example:
        >>> import numpy as np
        >>> pope_vectors(np.zeros((2, 1)), 2).round(3)  # softplus(0) = 0.693, turned by 0 and by 1 rad
        array([[0.693, 0.   ],
               [0.375, 0.583]])

    Who does what: x-transformers 2.31.10, `PolarEmbedding`, and PoPE-pytorch 0.2.1 have these numbers (the
    latter with cosine and sine side by side).

    Source: Gopalakrishnan et al. 2025, "Decoupling the 'What' and 'Where' With Polar Coordinate Positional
    Embeddings", section 3.
    """
    (x,) = heads_first(seq_axis, x=x)
    require.real_array(x, "x", "(..., seq, dim)", 2, more=True)
    lengths = _softplus(x)
    xp = namespace(x)
    if delta is None:
        arrows = xp.concat([lengths, xp.zeros_like(lengths)], axis=-1)
    else:
        angle = xp.astype(_read_delta(delta, x), lengths.dtype, copy=False)
        arrows = xp.concat([lengths * xp.cos(angle), lengths * xp.sin(angle)], axis=-1)
    turned = apply_rotary(arrows, positions, base=base, layout="half")
    return seq_back(xp.astype(turned, x.dtype, copy=False), seq_axis)


def pope_bias(
    q: ArrayT,
    k: Array,
    queries: int | Array,
    keys: int | Array,
    *,
    delta: Array | None = None,
    base: float = 10000.0,
    seq_axis: int = -2,
) -> ArrayT:
    """PoPE as a bias: with it, the scores of `attention` are products of `pope_vectors` / sqrt(head_dim).

    Where speed counts, give `attention` the vectors themselves, those of queries times sqrt(2), since they
    are twice as wide.

    Args:
        q: (..., queries, head_dim), real.
        k: (..., keys, head_dim); its heads may be a divisor of q's, as in `attention`.
        queries, keys: where they are, as in `relative_positions`.
        delta: (head_dim,) or (heads, head_dim), of the keys, as in `pope_vectors`; heads are those of q.
        base: as in `pope_vectors`.
        seq_axis: of q and k, as in `attention`.

    Returns:
        (..., queries, keys), of q's dtype or float32 where that has fewer bits.

    Raises:
        TypeError, ValueError: as `pope_vectors` and `relative_positions`; shapes of q and k that do not fit.

    Example:
        >>> import numpy as np
        >>> q = k = np.zeros((3, 4))  # no content: position alone
        >>> bias = pope_bias(q, k, 3, 3)
        >>> np.allclose(bias, bias.T), bool(bias[0, 0] > bias[0, 1] > bias[0, 2])
        (True, True)

    Source: Gopalakrishnan et al. 2025, section 3.
    """
    q, k = heads_first(seq_axis, q=q, k=k)
    xp = queries_with_keys(q, k)
    at_q, at_k = of_heads(q, k, *queries_and_keys(queries, keys, q))
    wide_q, wide_k = widened(xp, q, k)
    if delta is not None:
        require.real_array(delta, "delta", "(dim,) or (heads, dim)", 1, more=True)
        if q.ndim > 2 and k.ndim > 2 and delta.ndim > 1:  # a head of keys for each head's angles
            wide_k = xp.repeat(wide_k, q.shape[-3] // k.shape[-3], axis=-3)
    turned_q = pope_vectors(wide_q, at_q, base=base)
    turned_k = pope_vectors(wide_k, at_k, delta=delta, base=base)
    return in_place_of_product(matmul_by_group(xp, turned_q, xp.matrix_transpose(turned_k)), q, k)


def _softplus(x: Array) -> Array:
    """log(1 + e^x), in 32 bits at least."""
    xp = namespace(x)
    (wide,) = widened(xp, x)
    return xp.logaddexp(wide, xp.zeros_like(wide))


def _read_delta(delta: Any, x: Array) -> Array:
    """delta as it fits beside x, (..., seq, dim)."""
    require.real_array(delta, "delta", "(dim,) or (heads, dim)", 1, more=True)
    xp = namespace(x, delta)
    require.same_device(x=x, delta=delta)
    require.all_hold(xp.isfinite(delta), delta, "delta must be finite")
    by_head = delta if delta.ndim == 1 else delta[:, None, :]
    if delta.ndim > 2 or delta.shape[-1] != x.shape[-1] or not require.spreads(by_head.shape, x.shape):
        raise ValueError(
            f"delta of shape {tuple(delta.shape)} does not fit x of shape {tuple(x.shape)}; give (dim,), or "
            "(heads, dim) for (..., heads, seq, dim)"
        )
    return by_head
