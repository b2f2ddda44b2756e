"""ALiBi whose slope is read from the tokens: each token between query and key adds a penalty of its own."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, namespace


def data_dependent_alibi(
    log_gates: Array, queries: int | None = None, *, log_gates_after: Array | None = None
) -> Array:
    """The sum of log gates from the key to the query: of the tokens t with key < t <= query.

    A gate is a number between 0 and 1 that a token gives, of each head: how much of what stood before it
    may still be looked at. Where all gates of a head are exp(-slope), this is ALiBi.

    Args:
        log_gates: (..., heads, keys), 0 or less: the logarithm of each token's gate, `log sigmoid` of
            something learned. Padding is to have 0: it does not count.
        queries: how many, the last ones of the keys; by default all.
        log_gates_after: the same for keys after the query, where both directions are looked at: then the
            bias of a key after the query is the sum over query < t <= key. By default those keys get 0,
            and must be masked: attention(..., causal=True).

    Returns:
        (..., heads, queries, keys), 0 or less, for `attention`; of the gates' library and device, in
        their dtype or in float32 where that has fewer bits.

    Raises:
        TypeError: log gates no real numbers, queries no integer, arrays of different libraries.
        ValueError: more queries than keys, log gates above 0, two arrays of different shapes or devices.

    Example:
        >>> import numpy as np
        >>> data_dependent_alibi(np.asarray([[-1.0, -2.0, -0.5]]))[0]
        array([[ 0. ,  0. ,  0. ],
               [-2. ,  0. ,  0. ],
               [-2.5, -0.5,  0. ]])

    Source: x-transformers 2.31.10, `DataDependentAlibi`, after Lin et al. 2025, "Forgetting Transformer";
    the form for both directions is of that library. Its scores of keys after the query, which causal
    attention masks, are above 0 where these are 0.
    """
    given = {"log_gates": log_gates}
    if log_gates_after is not None:
        given["log_gates_after"] = log_gates_after
    for name, gates in given.items():
        _require_gates(gates, name, "(..., heads, keys)", 1)
    namespace(*given.values())
    require.same_device(**given)
    if len({gates.shape for gates in given.values()}) > 1:
        shapes = require.shapes(**given)
        raise ValueError(f"the two directions differ in shape: {shapes}; give one number each per token")
    count = log_gates.shape[-1] if queries is None else require.count(queries, "queries", 0)
    return penalties(log_gates, count, log_gates_after)


def penalties(log_gates: Array, queries: int, log_gates_after: Array | None) -> Array:
    """`data_dependent_alibi` of what was looked at already; an exporter's symbol serves as a count."""
    keys = log_gates.shape[-1]
    require.no_more_queries(queries, keys)
    xp, sums = _sums(log_gates)
    before = xp.tril(sums[..., keys - queries :, None] - sums[..., None, :], k=keys - queries)
    if log_gates_after is None:
        return before
    _, sums = _sums(log_gates_after)
    return before + xp.triu(sums[..., None, :] - sums[..., keys - queries :, None], k=keys - queries)


def per_row_alibi(log_gates: Array) -> Array:
    """The sum of log gates that each query gives by itself: of the tokens t with key <= t < query.

    Args:
        log_gates: (..., queries, keys), 0 or less: what query i makes of token t, `log sigmoid` of a product
            of two small vectors. The last query stands at the last key.

    Returns:
        (..., queries, keys), 0 or less; keys after the query get 0, and must be masked. In the gates' dtype,
        or in float32 where that has fewer bits.

    Raises:
        TypeError: log gates no real numbers.
        ValueError: fewer than two axes, more queries than keys, log gates above 0.

    Example:
        >>> import numpy as np
        >>> per_row_alibi(np.full((3, 3), -1.0))  # ALiBi again
        array([[ 0.,  0.,  0.],
               [-1.,  0.,  0.],
               [-2., -1.,  0.]])

    Source: x-transformers 2.31.10, `PerRowDataDependentAlibi`.
    """
    _require_gates(log_gates, "log_gates", "(..., queries, keys)", 2)
    queries, keys = log_gates.shape[-2:]
    require.no_more_queries(queries, keys)
    xp = namespace(log_gates)
    earlier = xp.flip(xp.tril(log_gates, k=keys - queries - 1), axis=-1)
    return xp.flip(_sums(earlier)[1], axis=-1) + 0.0  # no -0


def _sums(log_gates: Array) -> tuple[Any, Array]:
    """The array functions, and the sums up to each token, in float32 at least."""
    xp = namespace(log_gates)
    wide = xp.astype(log_gates, xp.result_type(log_gates.dtype, xp.float32), copy=False)
    return xp, xp.cumulative_sum(wide, axis=-1)


def _require_gates(log_gates: Array, name: str, shape: str, ndim: int) -> None:
    """Raise unless these are logarithms of numbers up to 1."""
    require.real_array(log_gates, name, shape, ndim, more=True)
    message = f"{name} must be logarithms of numbers up to 1, so 0 or less"
    require.all_hold(log_gates <= 0, log_gates, message)
