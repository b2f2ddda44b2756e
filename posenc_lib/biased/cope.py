"""CoPE: positions that count what the query finds worth counting, not tokens."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, clip, default_integer, namespace
from posenc_lib._heads import heads_first, matmul_by_group
from posenc_lib.attention import allowed_keys
from posenc_lib.biased.relative import default_scale
from posenc_lib.biased.shaw import pick


def cope_bias(
    q: ArrayT,
    k: Array,
    table: Array,
    *,
    causal: bool = True,
    mask: Array | None = None,
    scale: float | None = None,
    gate_scale: float | None = None,
    seq_axis: int = -2,
) -> ArrayT:
    """CoPE's bias: scale * q_i . e[p_ij], where p_ij counts the keys from j to i, as far as gates are open.

    The gate is g_it = sigmoid(gate_scale * q_i . k_t), and p_ij the sum of g_it over t = j .. i. It
    is a real number: e[p] lies between the two rows of the table next to it.

    Args:
        q: (..., queries, head_dim), real.
        k: (..., keys, head_dim); its heads may be a divisor of q's, as in `attention`.
        table: (positions, head_dim), learned, or (heads, positions, head_dim): row p is e[p]. Counts
            beyond the last row stay there.
        causal: count no key after the query. The last query is at the last key. CoPE is defined for
            causal attention; False counts all keys from j on.
        mask: booleans, True where the query may look at the key; broadcasts to (..., queries, keys). What
            may not be looked at is not counted: give padding here as well as to `attention`.
        scale: of q . e; 1 / sqrt(head_dim) by default, that of `attention`.
        gate_scale: of q . k inside the gate; 1 / sqrt(head_dim) by default.
        seq_axis: of q and k, as in `attention`; -3 for (..., tokens, heads, head_dim).

    Returns:
        (..., queries, keys), of the dtype of q. Counts are float32 at least, since bfloat16 could not
        count past 256.

    Raises:
        TypeError: q, k or table not real numbers; a mask that is not boolean; causal not a boolean;
            arrays of different libraries.
        ValueError: shapes that do not fit, different devices, more queries than keys with `causal`.

    Who does what: the paper's equations have neither scale (give 1.0 for both). Its listing, and
    x-transformers 2.31.10, divide the gate's product by sqrt(head_dim) but not q . e (scale=1.0). The
    authors' training code, projects/cope of facebookresearch/RAM, divides both by default, as here.
    Those two build the causal mask into the gates; q . k of `attention` and of the gate are the same number,
    computed twice here, since a bias cannot see the scores.

    Example:
        >>> import numpy as np
        >>> q, k = np.ones((1, 3, 4)), np.full((1, 3, 4), 100.0)  # every gate wide open
        >>> table = np.arange(4.0)[:, None] * np.ones(4)  # e[p] = (p, p, p, p)
        >>> cope_bias(q, k, table, scale=0.25)[0]  # then p counts tokens, the query itself included
        array([[1., 0., 0.],
               [2., 1., 0.],
               [3., 2., 1.]])

    Source: Golovneva et al. 2024, "Contextual Position Encoding: Learning to Count What's Important",
    equations 3 to 5.
    """
    q, k = heads_first(seq_axis, q=q, k=k)
    xp = _require_fit(q, k, table, mask, require.flag(causal, "causal"))
    head_dim = q.shape[-1]
    wide = xp.result_type(q.dtype, xp.float32)
    logits = xp.astype(matmul_by_group(xp, q, xp.matrix_transpose(k)), wide) * default_scale(
        gate_scale, head_dim
    )
    gates = _sigmoid(xp, logits)
    allowed = allowed_keys(xp, gates, mask, causal)
    if allowed is not None:
        gates = xp.where(allowed, gates, xp.zeros_like(gates))

    count = xp.flip(xp.cumulative_sum(xp.flip(gates, axis=-1), axis=-1), axis=-1)
    count = clip(count, 0, table.shape[-2] - 1)
    below = xp.floor(count)
    part = count - below
    whole = xp.astype(below, default_integer(xp))
    at_each_row = matmul_by_group(xp, q, xp.matrix_transpose(table)) * default_scale(scale, head_dim)
    lower = pick(at_each_row, whole)
    upper = pick(at_each_row, clip(whole + 1, 0, table.shape[-2] - 1))
    return xp.astype(lower * (1 - part) + upper * part, q.dtype, copy=False)


def _sigmoid(xp: Any, x: Array) -> Array:
    """1 / (1 + e^-x) by way of tanh, which overflows nowhere."""
    return 0.5 * (xp.tanh(0.5 * x) + 1.0)


def _require_fit(q: Array, k: Array, table: Array, mask: Array | None, causal: bool) -> Any:
    given = {"q": q, "k": k, "table": table}
    for name, array in given.items():
        require.real_array(
            array, name, f"(..., {'positions' if name == 'table' else 'tokens'}, head_dim)", 2, more=True
        )
    if mask is not None:
        given["mask"] = mask
    xp = namespace(*given.values())
    require.same_device(**given)
    require.same_dtype(q=q, k=k, table=table)
    require.same_head_dim(q=q, k=k, table=table)
    if table.shape[-2] < 1:
        raise ValueError(f"table has shape {tuple(table.shape)}; give at least one row, for count 0")
    queries, keys = q.shape[-2], k.shape[-2]
    if causal:
        require.no_more_queries(queries, keys)
    batch = require.heads_in_groups(q, k=k, table=table)
    if mask is not None:
        require.mask(mask, (*batch, queries, keys))
    return xp
