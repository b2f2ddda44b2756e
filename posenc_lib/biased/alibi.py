"""ALiBi: a penalty on the score that grows linearly with distance, a slope per head."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, is_floating, may_look, namespace, narrow, windows_from_the_last
from posenc_lib.biased.relative import offsets, per_head, queries_and_keys, real_dtype


def alibi_slopes(heads: int, *, max_bias: float = 8.0) -> np.ndarray:
    """The slope of each head: 2^(-8/n), 2^(-16/n), ..., 2^-8 for n heads, n a power of two.

    For any other number of heads, n is the largest power of two below it; the heads that are left
    get every second slope of 2n heads, from the first on, which fall between those of n.

    Args:
        heads: number of attention heads, 1 or more.
        max_bias: the 8 in the exponents. Others are `alibi_bias_max` in MPT's config.

    Returns:
        (heads,) NumPy float64, all positive.

    Raises:
        TypeError: heads is not an integer, or max_bias not a number.
        ValueError: heads below 1, or max_bias not finite and positive.

    Who does what (checked against these versions in tests/conformance): BLOOM, MPT, Falcon
    (transformers 5.24.0) and x-transformers 2.31.10 all have these slopes for 4 to 112 heads; 12
    heads are those of 8 and then four of 16. Falcon rounds them to bfloat16, which moves them by up
    to 0.3 %: to load its checkpoints, give `alibi_bias` such slopes, divided by sqrt(head_dim),
    since Falcon adds the bias before it divides the scores.

    Example:
        >>> alibi_slopes(8)
        array([0.5       , 0.25      , 0.125     , 0.0625    , 0.03125   ,
               0.015625  , 0.0078125 , 0.00390625])

    Source: Press et al. 2022, "Train Short, Test Long", section 3; other numbers of heads as in their
    code, fairseq/models/transformer.py of ofirpress/attention_with_linear_biases.
    """
    heads = require.count(heads, "heads")
    max_bias = require.positive(max_bias, "max_bias")
    power = 2 ** (heads.bit_length() - 1)
    slopes = _geometric(power, max_bias)
    between = _geometric(2 * power, max_bias)[0::2]
    return np.concatenate([slopes, between[: heads - power]])


def alibi_bias(
    heads: int,
    queries: int | Array,
    keys: int | Array,
    *,
    causal: bool = True,
    slopes: Array | None = None,
    slopes_after: Array | None = None,
    dtype: Any = None,
) -> Array:
    """The bias slope * (key - query): 0 at the query itself, ever lower into the past.

    Args:
        heads: number of attention heads.
        queries: an int n for the last n of the keys' positions (the last query is at the last
            key, as in `attention(causal=True)`), or positions of shape (..., queries).
        keys: an int n for positions 0 .. n-1, or positions of shape (..., keys).
        causal: True for slope * (key - query) everywhere. That is positive for keys after the query,
            which a causal model never sees: **give `attention` its causal=True as well**. No
            element is infinite, so that the bias can be shifted, added up and cast. False for the
            symmetric -slope * |key - query| of encoders.
        slopes: (heads,), in place of `alibi_slopes(heads)`.
        slopes_after: (heads,), with causal=False: the bias of keys after the query is
            -slopes_after * (key - query). Asymmetric, for encoders that should tell the two sides apart.
        dtype: of the result; by default that of real positions or slopes, else the library's default.

    Returns:
        (heads, queries, keys), or (..., heads, queries, keys) for positions with more axes; in the
        library and on the device of the positions, else of the slopes; NumPy for ints. The product
        is float64 and is rounded once.

    Raises:
        TypeError: heads not an integer, causal not a boolean, positions or slopes not real numbers, arrays of
            different libraries.
        ValueError: heads below 1, slopes not of shape (heads,), NaN, more queries than keys as ints,
            slopes_after with causal=True.

    Who does what: the paper and x-transformers 2.31.10 (which is symmetric always) have 0 on the
    diagonal, as here. BLOOM and Falcon add slope * key, MPT slope * (key - last key), one row
    for every query: the difference is constant along a row, and the softmax does not see it. In
    bfloat16 it does matter: the large values of far rows then lose the small differences of near keys.

    Example:
        >>> alibi_bias(2, 3, 3)[0]  # mask what lies above the diagonal
        array([[ 0.    ,  0.0625,  0.125 ],
               [-0.0625,  0.    ,  0.0625],
               [-0.125 , -0.0625,  0.    ]])
        >>> alibi_bias(2, 1, 4)[0]  # one new query, four keys in the cache
        array([[-0.1875, -0.125 , -0.0625,  0.    ]])

    Source: Press et al. 2022, section 3. The symmetric and the asymmetric form: Press in issue 5 of
    ofirpress/attention_with_linear_biases.
    """
    heads = require.count(heads, "heads")
    before, after = read_slopes(heads, require.flag(causal, "causal"), slopes, slopes_after)
    placed = queries_and_keys(queries, keys, _foreign(slopes, slopes_after))
    dtype = real_dtype(dtype, *placed, *_given(slopes, slopes_after))
    in_line = _stand_in_line(*placed)
    distances = _in_line(*placed) if in_line else offsets(*placed)
    relative, first, *second = per_head(
        distances, slopes=before, **({} if after is None else {"slopes_after": after})
    )
    if after is before:  # one product serves both sides
        bias = first * (0 - namespace(relative).abs(relative))
    else:
        bias = first * relative
        if second:
            bias = namespace(relative).where(relative > 0, -second[0] * relative, bias)
    bias = narrow(bias, placed[0], dtype)
    return windows_from_the_last(bias[..., 0, :], placed[1].shape[0]) if in_line else bias


def _stand_in_line(*positions: Array) -> bool:
    """Whether these are whole numbers, each one above the last: a bias is then the same along a diagonal."""
    return all(
        each.ndim == 1
        and each.shape[0] > 0
        and not is_floating(each)
        and may_look(each)
        and bool((each[1:] - each[:-1] == 1).all())
        for each in positions
    )


def _in_line(queries: Array, keys: Array) -> Array:
    """The distances on all diagonals, (1, queries + keys - 1), from the last query and the first key on."""
    xp = namespace(queries, keys)
    before = offsets(xp.flip(queries[1:]), keys[:1])
    return xp.concat([before.reshape(1, -1), offsets(queries[:1], keys)], axis=-1)


def read_slopes(
    heads: int, causal: bool, slopes: Array | None, slopes_after: Array | None
) -> tuple[Array, Array | None]:
    """The slopes of keys before the query and of those after it; None where one line serves both."""
    before = alibi_slopes(heads) if slopes is None else require.per_head(slopes, heads, "slopes")
    if slopes_after is not None:
        if causal:
            raise ValueError(
                "slopes_after is for keys after the query, which causal=True leaves out; give causal=False"
            )
        return before, require.per_head(slopes_after, heads, "slopes_after")
    return before, None if causal else before


def _geometric(count: int, max_bias: float) -> np.ndarray:
    exponents: np.ndarray = np.arange(1, count + 1, dtype=np.float64) * (-max_bias / count)
    slopes: np.ndarray = np.exp2(exponents)
    return slopes


def _given(*arrays: Any) -> list[Array]:
    return [array for array in arrays if hasattr(array, "dtype")]


def _foreign(*arrays: Any) -> Array | None:
    """The first array, for the library and the device of positions given as ints."""
    return next(iter(_given(*arrays)), None)
