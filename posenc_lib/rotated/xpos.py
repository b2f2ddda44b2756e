"""xPos: rotation, and a decay with distance that depends on the frequency."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import (
    Array,
    constant,
    extremes,
    namespace,
    refused_unless,
    widen,
)
from posenc_lib.angles import angles, frequencies
from posenc_lib.rotated.tables import RotaryTables, table_dtype, tables_of


def xpos_tables(
    positions: int | Array,
    dim: int,
    *,
    base: float = 10000.0,
    scale_base: float = 512.0,
    gamma: float = 0.4,
    center: float = 0.0,
    dtype: Any = None,
) -> tuple[RotaryTables, RotaryTables]:
    """Tables for xPos, one for queries and one for keys.

    Pair i of a query at n is turned and multiplied by z_i^((n - center) / scale_base), that of a key at
    m by z_i^-((m - center) / scale_base), with z_i = (2i/dim + gamma) / (1 + gamma). A score's part
    then shrinks by z_i^((n - m) / scale_base): fast pairs fade first. It is made for causal
    attention, where n >= m.

    Args:
        positions, dim, base, dtype: as in `rotary_tables`.
        scale_base: positions over which a pair fades by z_i.
        gamma: the larger, the weaker the decay; above 0.
        center: the position at which nothing is scaled. Scores do not depend on it, as long as queries
            and keys share it; a center near the positions keeps the scales in the dtype's range. The
            authors' code takes the middle of the sequence, which moves as a cache of keys
            grows: choose one and keep it.

    Returns:
        (tables of queries, tables of keys), of shape (..., dim/2) each, for `rotate`.

    Raises:
        TypeError: as `rotary_tables`; center is not a real number.
        ValueError: as `rotary_tables`; center is not finite; scale_base or gamma not above 0; positions so
            far from the center that the dtype cannot hold their scale.

    Source: Sun et al. 2022, "A Length-Extrapolatable Transformer" (xPos); microsoft/torchscale,
    `xpos_relative_position.py`.

    Example:
        >>> import numpy as np
        >>> of_queries, of_keys = xpos_tables(np.arange(100, 105), 8, center=102)
        >>> np.hypot(of_queries.cos, of_queries.sin)[:, 0].round(4)  # the fastest pair fades
        array([1.0049, 1.0024, 1.    , 0.9976, 0.9951])
    """
    rates = frequencies(dim, base=base)
    positions = require.positions(positions)
    scale_base, gamma = require.positive(scale_base, "scale_base"), require.positive(gamma, "gamma")
    decay = np.log((np.arange(0, dim, 2, dtype=np.float64) / dim + gamma) / (1 + gamma))
    exponent = (widen(positions)[..., None] - require.finite(center, "center", _CENTER)) / scale_base
    exponent = exponent * constant(decay, exponent)
    exponent = _in_range(exponent, positions, table_dtype(positions, dtype), center, decay / scale_base)
    theta = angles(positions, rates)
    exp = namespace(theta).exp
    return (
        tables_of(theta, positions, dtype, exp(exponent)),
        tables_of(theta, positions, dtype, exp(-exponent)),
    )


_CENTER = "give a center near the positions, the same for queries and keys"


def _in_range(exponent: Array, positions: Array, dtype: Any, center: float, decay: np.ndarray) -> Array:
    """The exponents, unless the dtype would turn e to one of them into 0 or infinity: that is refused."""
    limits = namespace(positions).finfo(dtype)
    most = min(math.log(float(limits.max)), -math.log(float(limits.smallest_normal)))
    ends = extremes(positions)
    if ends is None:
        xp = namespace(exponent)
        message = f"positions reach so far from center that the dtype cannot hold their scale; {_CENTER}"
        return refused_unless(exponent, xp.all(xp.abs(exponent) <= most), message)
    reach = -float(decay.min()) * max(abs(end - center) for end in ends)
    if reach > most:
        raise ValueError(
            f"positions are so far from center={center!r} that {dtype} cannot hold their scale, "
            f"e^{reach:.0f}; {_CENTER}"
        )
    return exponent
