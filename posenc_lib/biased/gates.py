"""ALiBi whose slope is read from the tokens: each token between query and key adds a penalty of its own.

Sums up to a token grow with the text, and a penalty is a small difference of two: they are float64 where a
library and device have it. After 100,000 tokens float32 would be off by several hundredths between
neighbours.
"""

from __future__ import annotations

import math
from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, namespace, values_are_known, widest

FAR = -1e4
"""Log gates below this are summed apart, so that one of -1e30 does not drown those after it."""


def fox_bias(logits: ArrayT, queries: int | None = None) -> ArrayT:
    """The bias of the Forgetting Transformer: D_ij, the sum of log f_t over the tokens t with j < t <= i.

    The forget gate f_t = sigmoid(logit_t) of a token says, for each head, how much of what came before it
    may still be looked at. Where all logits of a head are the same, f = exp(-slope), this is ALiBi.

    Args:
        logits: (..., heads, keys), real: what a layer makes of each token, w_f . x_t + b_f. Padding is to
            have a large number, such as 1e9: it then closes nothing. Minus infinity is a gate of exactly 0:
            nothing before it is looked at any more, as from the first token of another packed text.
        queries: how many, the last ones of the keys; by default all. So a cache holds the logits of its keys.

    Returns:
        (..., heads, queries, keys), 0 or less, minus infinity behind a gate that is shut, for
        `attention(..., causal=True)`; 0 for keys after the query, which must be masked. Of the logits'
        library and device, in their dtype or in float32 where that has fewer bits.

    Raises:
        TypeError: logits not real numbers, queries not an integer.
        ValueError: more queries than keys; NaN.

    Example:
        >>> import numpy as np
        >>> half = np.zeros((1, 3))  # each token lets through half of what came before it
        >>> np.exp(fox_bias(half)[0])[-1]
        array([0.25, 0.5 , 1.  ])

    Who does what: flash-linear-attention 0.6.0, `naive_forgetting_attn`, adds the same numbers, from the log
    gates and by sums in float32. x-transformers has the form for both directions: `data_dependent_alibi`.

    Source: Lin et al. 2025, "Forgetting Transformer: Softmax Attention with a Forget Gate", section 3.
    """
    require.real_array(logits, "logits", "(..., heads, keys)", 1, more=True)
    require.all_hold(logits == logits, logits, "logits contain NaN; give numbers")
    keys = logits.shape[-1]
    return penalties(
        log_sigmoid(logits), keys if queries is None else require.count(queries, "queries", 0), None
    )


def log_sigmoid(x: Array) -> Array:
    """log(1 / (1 + e^-x)), in 32 bits at least, for any x."""
    xp = namespace(x)
    wide = xp.astype(x, xp.result_type(x.dtype, xp.float32), copy=False)
    shut = wide == -math.inf  # where logaddexp has no gradient
    nothing = xp.zeros_like(wide)
    return xp.where(shut, wide, -xp.logaddexp(nothing, -xp.where(shut, nothing, wide)))


def data_dependent_alibi(
    log_gates: ArrayT, queries: int | None = None, *, log_gates_after: Array | None = None
) -> ArrayT:
    """The sum of log gates from the key to the query: of the tokens t with key < t <= query.

    A gate is a number between 0 and 1 that a token gives, of each head: how much of what came before it
    may still be looked at. Where all gates of a head are exp(-slope), this is ALiBi.

    Args:
        log_gates: (..., heads, keys), 0 or less: the logarithm of each token's gate, `log sigmoid` of
            something learned. Padding should have 0: it does not count. Minus infinity is a gate of 0:
            nothing before it is looked at.
        queries: how many, the last ones of the keys; by default all.
        log_gates_after: the same for keys after the query, where both directions are looked at: then the
            bias of a key after the query is the sum over query < t <= key. By default those keys get 0,
            and must be masked: attention(..., causal=True).

    Returns:
        (..., heads, queries, keys), 0 or less, minus infinity behind a gate of 0, for `attention`; of the
        gates' library and device, in their dtype or in float32 where that has fewer bits.

    Raises:
        TypeError: log gates not real numbers, queries not an integer, arrays of different libraries.
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
        raise ValueError(f"the two directions differ in shape: {shapes}; give one number per token for each")
    count = log_gates.shape[-1] if queries is None else require.count(queries, "queries", 0)
    return penalties(log_gates, count, log_gates_after)


def penalties(log_gates: Array, queries: int, log_gates_after: Array | None) -> Array:
    """`data_dependent_alibi` of what was looked at already; an exporter's symbol serves as a count."""
    keys = log_gates.shape[-1]
    require.no_more_queries(queries, keys)
    xp, behind = namespace(log_gates), keys - queries
    bias = xp.tril(_between(log_gates, behind), k=behind)
    if log_gates_after is not None:
        bias = bias + xp.triu(_between(log_gates_after, behind, ahead=True), k=behind)
    return xp.astype(bias, _kept_dtype(log_gates), copy=False)


def per_row_alibi(log_gates: ArrayT) -> ArrayT:
    """The sum of log gates that each query gives by itself: of the tokens t with key <= t < query.

    Args:
        log_gates: (..., queries, keys), 0 or less: what query i makes of token t, `log sigmoid` of a product
            of two small vectors. The last query is at the last key.

    Returns:
        (..., queries, keys), 0 or less; keys after the query get 0, and must be masked. In the gates' dtype,
        or in float32 where that has fewer bits.

    Raises:
        TypeError: log gates not real numbers.
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
    bias = xp.flip(xp.cumulative_sum(widest(earlier), axis=-1), axis=-1) + 0.0  # no -0
    return xp.astype(bias, _kept_dtype(log_gates), copy=False)


def _between(log_gates: Array, behind: int, *, ahead: bool = False) -> Array:
    """The sums of log gates over key < t <= query, or with `ahead` over query < t <= key; elsewhere anything.

    A sum is the difference of two sums up to a token. What is far below 0 is summed apart and counted, so
    that each takes off at least `FAR`, even next to one of -1e30. What is minus infinity is only counted: the
    difference of two infinities would be none.
    """
    gates = widest(log_gates)
    xp = namespace(gates)

    def summed(terms: Array) -> Array:
        sums = xp.cumulative_sum(terms, axis=-1)
        at_query, at_key = sums[..., behind:, None], sums[..., None, :]
        return at_key - at_query if ahead else at_query - at_key

    near, nothing = gates > FAR, xp.zeros_like(gates)
    bias = summed(xp.where(near, gates, nothing))
    if values_are_known(near) and bool(xp.all(near)):
        return bias
    shut = gates == -math.inf
    cut = summed(xp.astype(shut, gates.dtype)) != 0
    far = xp.where(near | shut, nothing, gates)
    lowest = -float(xp.finfo(gates.dtype).max) * 2.0**-32  # so many of these have a sum
    apart = summed(xp.where(far < lowest, xp.full_like(far, lowest), far))
    least = FAR * summed(xp.astype(far < 0, gates.dtype))  # what is left of one that another drowns
    bias = bias + xp.where(apart < least, apart, least)
    return xp.where(cut, xp.full_like(bias, -math.inf), bias)


def _kept_dtype(log_gates: Array) -> Any:
    xp = namespace(log_gates)
    return xp.result_type(log_gates.dtype, xp.float32)


def _require_gates(log_gates: Array, name: str, shape: str, ndim: int) -> None:
    """Raise unless these are logarithms of numbers up to 1."""
    require.real_array(log_gates, name, shape, ndim, more=True)
    message = f"{name} must be logarithms of numbers up to 1, so 0 or less"
    require.all_hold(log_gates <= 0, log_gates, message)
