"""KERPLE: a penalty on distance with two learned numbers per head, logarithmic or a power."""

from __future__ import annotations

from typing import Any, Literal

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, namespace, narrow
from posenc_lib.biased.relative import offsets, per_head, queries_and_keys, real_dtype

KINDS = ("log", "power")
Kind = Literal["log", "power"]


def kerple_bias(
    r1: ArrayT,
    r2: Array,
    queries: int | Array,
    keys: int | Array,
    *,
    kind: Kind = "log",
    dtype: Any = None,
) -> ArrayT:
    """KERPLE's bias: -r1 log(1 + r2 |key - query|), or -r1 |key - query|^r2.

    Args:
        r1: (heads,), learned, above 0.
        r2: (heads,), learned, above 0; in the power variant at most 2.
        queries: an int n for the last n of the keys' positions, or positions of shape (..., queries).
        keys: an int n for positions 0 .. n-1, or positions of shape (..., keys).
        kind: "log", which the paper recommends, or "power"; with r2 = 1 that is ALiBi with learned slopes.
        dtype: of the result; by default that of r1.

    Returns:
        (heads, queries, keys), or (..., heads, queries, keys) for positions with more axes, symmetric in
        query and key; in the library and on the device of r1. Computed in float64, rounded once.

    Raises:
        TypeError: r1, r2 or positions not real numbers; arrays of different libraries.
        ValueError: r1 and r2 not of one shape (heads,), not positive, or r2 above 2 with "power";
            unknown kind; NaN; more queries than keys as ints; different devices.

    Who does what: the authors' code (`ParallelKerpleLog` and `ParallelKerplePower` in
    megatron/mpu/layers.py of chijames/KERPLE) clamps r1 and r2 to 0.01 or more in every forward pass; here
    what is out of range is refused, so that training code decides. It adds the bias to the scaled scores,
    as `attention` does.

    Example:
        >>> import numpy as np
        >>> kerple_bias(np.asarray([1.0]), np.asarray([1.0]), 1, 4).round(3)  # -log 4, -log 3, ...
        array([[[-1.386, -1.099, -0.693, -0.   ]]])

    Source: Chi et al. 2022, "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation",
    its logarithmic and its power variant.
    """
    r1, r2 = read_kerple(r1, r2, kind)
    placed = queries_and_keys(queries, keys, r1)
    namespace(r1, r2, *placed)
    dtype = real_dtype(dtype, r1)
    relative, first, second = per_head(offsets(*placed), r1=r1, r2=r2)
    xp = namespace(relative)
    distance = xp.abs(relative)
    grown = xp.log1p(second * distance) if kind == "log" else _power(xp, distance, second)
    return narrow(-first * grown, placed[0], dtype)


def _power(xp: Any, distance: Array, exponent: Array) -> Array:
    """distance^exponent, without a power of 0, whose second derivative PyTorch takes for NaN."""
    apart = distance > 0
    power = xp.where(apart, distance, xp.ones_like(distance)) ** exponent
    return xp.where(apart, power, xp.zeros_like(power))


def read_kerple(r1: Array, r2: Array, kind: str) -> tuple[Array, Array]:
    """The two parameters, in range."""
    require.choice(kind, "kind", KINDS)
    r1 = require.per_head(r1, None, "r1")
    r2 = require.per_head(r2, r1.shape[0], "r2")
    require.all_hold(r1 > 0, r1, "r1 must be above 0")
    require.all_hold(r2 > 0, r2, "r2 must be above 0")
    if kind == "power":
        require.all_hold(r2 <= 2, r2, "r2 must be 2 or less in the power variant")
    return r1, r2
