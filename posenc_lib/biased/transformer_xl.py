"""Transformer-XL's relative attention: a key of its own for each distance, and two learned vectors."""

from __future__ import annotations

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, device_of, namespace, surely
from posenc_lib._heads import heads_first, matmul_by_group
from posenc_lib.biased.relative import default_scale


def relative_shift(x: ArrayT, keys: int) -> ArrayT:
    """From a column per distance to a column per key: element (i, j) is x[i, j + queries - 1 - i].

    Column c of x belongs to the relative position key - query = c - (keys - 1), from the farthest
    past to the present and, in the wide form, on into the future. Each row starts one column later than
    the row below it, which one reshape does, without an index for every pair.

    Args:
        x: (..., queries, keys), for causal attention, or (..., queries, queries + keys - 1), which has
            columns for keys after the query as well. The last query is at the last key.
        keys: how many there are, at least as many as queries.

    Returns:
        (..., queries, keys). In the causal form, keys after the query get 0; the original leaves there
        what the reshape moved in from the next row, to be masked.

    Raises:
        TypeError: x not real numbers, or keys not an integer.
        ValueError: x of another width, or more queries than keys.

    Who does what: Transformer-XL's `_rel_shift` is the causal form (its zero column goes before the others);
    XLNet's `rel_shift_bnij` (transformers 5.24.0) takes one column more than the wide form and
    leaves the first one out.

    Example:
        >>> import numpy as np
        >>> relative_shift(np.asarray([[-2, -1, 0]] * 3) * 1.0, 3)
        array([[ 0.,  0.,  0.],
               [-1.,  0.,  0.],
               [-2., -1.,  0.]])

    Source: Dai et al. 2019, "Transformer-XL", appendix B.
    """
    require.real_array(x, "x", "(..., queries, keys)", 2, more=True)
    return _shifted(x, require.count(keys, "keys"))


def _shifted(x: Array, keys: int) -> Array:
    """`relative_shift` of what was looked at already; an exporter's symbol serves as a count."""
    queries, width = x.shape[-2:]
    causal = _is_causal(width, queries, keys, f"x of shape {tuple(x.shape)}")
    xp = namespace(x)
    batch = tuple(x.shape[:-2])
    if surely(queries == 0):
        return xp.zeros((*batch, 0, keys), dtype=x.dtype, device=device_of(x))
    # One more column makes rows of width + 1; read as rows of `width`, each starts a column later.
    padded = xp.concat([x, xp.zeros_like(x[..., :1])], axis=-1)
    flat = xp.reshape(padded, (*batch, queries * (width + 1)))
    shifted = xp.reshape(flat[..., queries - 1 : queries * (width + 1) - 1], (*batch, queries, width))
    return xp.tril(shifted, k=keys - queries) if causal else shifted[..., :keys]


def transformer_xl_bias(
    q: ArrayT,
    k: Array,
    relative_keys: Array,
    u: Array,
    v: Array,
    *,
    scale: float | None = None,
    seq_axis: int = -2,
) -> ArrayT:
    """Transformer-XL's bias: scale * (u . k_j + (q_i + v) . r), with r the relative key of j - i.

    With q_i . k_j / sqrt(head_dim), which `attention` adds, these are the paper's four terms: content
    (a), content against position (b, q . r), and two that no query changes (c, u . k; d, v . r).

    Args:
        q: (..., heads, queries, head_dim), real.
        k: (..., heads, keys, head_dim); its heads may be a divisor of q's, as in `attention`.
        relative_keys: (heads, keys, head_dim), a row per distance, the farthest past first: row c is for
            key - query = c - (keys - 1), so the last row is for the query's own position. For
            attention in both directions, (heads, queries + keys - 1, head_dim), on into the future.
            The paper's are a learned projection of `sinusoidal` of the distance query - key. Heads as
            those of q or of k.
        u, v: (heads, head_dim), learned; `r_w_bias` and `r_r_bias` in the authors' code.
        scale: 1 / sqrt(head_dim) by default, that of `attention`.
        seq_axis: of q and k, as in `attention`; -3 for (..., tokens, heads, head_dim).

    Returns:
        (..., heads, queries, keys). With relative keys for the past only, keys after the query have no
        position term, and must be masked: attention(..., causal=True). The last query is at the last
        key: the keys before the first query are the paper's memory.

    Raises:
        TypeError: arrays not real numbers, or of different libraries.
        ValueError: shapes that do not fit, more queries than keys, different devices.

    Example:
        >>> import numpy as np
        >>> from posenc_lib import attention, sinusoidal
        >>> q, k, values = np.random.default_rng(0).normal(size=(3, 2, 4, 8))  # 2 heads, 4 positions
        >>> relative_keys = np.stack([sinusoidal(np.arange(3, -1, -1), 8)] * 2)  # distances 3, 2, 1, 0
        >>> bias = transformer_xl_bias(q, k, relative_keys, np.zeros((2, 8)), np.zeros((2, 8)))
        >>> attention(q, k, values, bias=bias, causal=True).shape
        (2, 4, 8)

    Source: Dai et al. 2019, section 3.3.
    """
    q, k = heads_first(seq_axis, q=q, k=k)
    require_transformer_xl(q, k, relative_keys, u, v)
    xp = namespace(q, k, relative_keys, u, v)
    by_distance = matmul_by_group(xp, q + v[:, None, :], xp.matrix_transpose(relative_keys))
    of_the_key = matmul_by_group(xp, u[:, None, :], xp.matrix_transpose(k))
    bias = of_the_key + _shifted(by_distance, k.shape[-2])
    return bias * default_scale(scale, q.shape[-1])


def _is_causal(width: int, queries: int, keys: int, what: str) -> bool:
    """Whether there are columns for the past only; ValueError unless the width is one of the two."""
    require.no_more_queries(queries, keys)
    if width not in (keys, queries + keys - 1):
        raise ValueError(
            f"{what} has {width} relative positions; give {keys}, one per key (causal), or "
            f"queries + keys - 1 = {queries + keys - 1} (both directions)"
        )
    return width == keys


def require_transformer_xl(q: Array, k: Array, relative_keys: Array, u: Array, v: Array) -> None:
    """Raise unless the five arrays fit together."""
    given = {"q": q, "k": k, "relative_keys": relative_keys, "u": u, "v": v}
    require.real_array(q, "q", "(..., heads, queries, head_dim)", 3, more=True)
    require.real_array(k, "k", "(..., heads, keys, head_dim)", 3, more=True)
    require.real_array(relative_keys, "relative_keys", "(heads, distances, head_dim)", 3)
    require.real_array(u, "u", "(heads, head_dim)", 2)
    require.real_array(v, "v", "(heads, head_dim)", 2)
    namespace(*given.values())
    require.same_device(**given)
    require.same_dtype(**given)
    heads, queries, head_dim = q.shape[-3:]
    keys = k.shape[-2]
    fits = {
        "k": require.divides(k.shape[-3], heads),
        "relative_keys": require.divides(relative_keys.shape[0], heads),
        "u": u.shape[0] == heads,
        "v": v.shape[0] == heads,
    }
    for name, heads_fit in fits.items():
        if not heads_fit or given[name].shape[-1] != head_dim:
            or_fewer = "" if name in ("u", "v") else " (or a divisor of that)"
            raise ValueError(
                f"{name} of shape {tuple(given[name].shape)} does not fit q of shape {tuple(q.shape)}; it "
                f"needs {heads} heads{or_fewer} and head_dim {head_dim}"
            )
    _is_causal(relative_keys.shape[-2], queries, keys, f"relative_keys of shape {tuple(relative_keys.shape)}")
