"""Enformer's relative bases: features of a distance in a genome, near ones fine and far ones coarse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, constant, namespace, narrow, result_dtype, widen_all

_KINDS = 6
"""Three kinds of function, each of |offset| and of sign(offset) times that."""
_SHORTEST = 8.0
"""Half-life of the steepest exponential."""
_NEVER_0 = 1e-8


def enformer_features(offsets: ArrayT, features: int, *, length: int, dtype: Any = None) -> ArrayT:
    """What Enformer knows of a relative position: exponentials, windows and bumps of its distance.

    A third of the functions halve every 8, ..., length positions; a third are 1 up to a distance of 0, 2, 6,
    14, ... positions and 0 beyond; a third are bumps (gamma densities) spread evenly up to length. The first
    half of the features is the same for both directions; the second has the sign of the offset. A learned map
    of the first half alone makes an encoding that does not know before from after: that is what the other
    strand of a genome, read backwards, asks for.

    Args:
        offsets: (...), key - query, in positions (of 128 base pairs each in Enformer) or in base pairs.
        features: how many, a multiple of 6.
        length: the longest distance to be told apart; 1,536 in Enformer, 8 or more.
        dtype: of the result; by default that of real offsets, else the library's default.

    Returns:
        (..., features), in the library and on the device of the offsets. As `relative_keys` of
        `transformer_xl_bias`, after a learned map to (heads, distances, head_dim), they are Enformer's
        attention.

    Raises:
        TypeError: offsets are not numbers, features or length not integers, dtype not a real type.
        ValueError: NaN, features no multiple of 6, length below 8.

    Example:
        >>> import numpy as np
        >>> enformer_features(np.asarray([-8, 0, 8]), 6, length=64).round(3)
        array([[ 0.5  ,  0.   ,  0.056, -0.5  , -0.   , -0.056],
               [ 1.   ,  1.   ,  0.   ,  0.   ,  0.   ,  0.   ],
               [ 0.5  ,  0.   ,  0.056,  0.5  ,  0.   ,  0.056]])

    Source: Avsec et al. 2021, "Effective gene expression prediction from sequence by integrating long-range
        interactions", methods, "Model architecture"; deepmind-research, `enformer/attention_module.py`.
        Borzoi has the windows alone.
    """
    offsets = require.numbers(offsets, "offsets")
    features, length = require.count(features, "features"), require.count(length, "length", 8)
    if features % _KINDS:
        raise ValueError(
            f"features={features} cannot be split between {_KINDS} kinds of function; give a multiple of "
            f"{_KINDS}"
        )
    dtype = result_dtype(offsets, dtype)
    (wide,) = widen_all(offsets)
    xp = namespace(wide)
    each = features // _KINDS

    def beside(numbers: np.ndarray) -> Array:
        return xp.astype(constant(numbers, wide), wide.dtype)

    distance = xp.abs(wide)[..., None]
    half_lives = 2.0 ** np.linspace(math.log2(_SHORTEST), math.log2(length), each)
    widths = 2.0 ** np.arange(1, each + 1) - 1.0
    number = np.arange(1, each + 1)
    shape, rate = 4.0 * number**2, 4.0 * number * each / length  # means number * length / each, of one spread
    scale = shape * np.log(rate) - np.asarray([math.lgamma(4 * n * n) for n in range(1, each + 1)])
    tops = np.floor((shape - 1) / rate) + np.asarray([[0.0], [1.0]])  # whole distances beside each top
    highest = np.exp((shape - 1) * np.log(np.maximum(tops, 1.0)) - rate * tops + scale).max()
    there = distance > 0
    log = xp.log(xp.where(there, distance, xp.ones_like(distance)))
    bumps = xp.exp(beside(shape - 1) * log - beside(rate) * distance + beside(scale))
    bumps = xp.where(there, bumps, xp.zeros_like(bumps))
    found = xp.concat(
        [
            xp.exp(distance * beside(-math.log(2.0) / half_lives)),
            xp.astype(beside(widths) > distance, wide.dtype),
            (bumps + _NEVER_0) / beside(highest + _NEVER_0),
        ],
        axis=-1,
    )
    sign = xp.astype(wide > 0, wide.dtype) - xp.astype(wide < 0, wide.dtype)  # array-api-compat's has no vmap
    signed = found * sign[..., None]
    return narrow(xp.concat([found, signed], axis=-1), offsets, dtype)
