"""xPos: rotation, and a decay with distance that depends on the frequency."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import (
    Array,
    constant,
    is_compiling,
    namespace,
    refuse_unless,
    values_are_known,
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
        TypeError: as `rotary_tables`; center is no real number.
        ValueError: as `rotary_tables`; center is not finite; scale_base or gamma not above 0; positions so
            far from the center that the dtype cannot hold their scale.

    Source: Sun et al. 2022, "A Length-Extrapolatable Transformer" (xPos); microsoft/torchscale,
    `xpos_relative_position.py`.

    Example:
        >>> of_queries, of_keys = xpos_tables(np.arange(100, 105), 8, center=102)
        >>> np.hypot(of_queries.cos, of_queries.sin)[:, 0].round(4)  # the fastest pair fades
        array([1.0049, 1.0024, 1.    , 0.9976, 0.9951])
    """
    rates = frequencies(dim, base=base)
    positions = require.positions(positions)
    scale_base, gamma = require.positive(scale_base, "scale_base"), require.positive(gamma, "gamma")
    decay = np.log((np.arange(0, dim, 2, dtype=np.float64) / dim + gamma) / (1 + gamma))
    exponent = (widen(positions)[..., None] - _read_center(center)) / scale_base
    exponent = exponent * constant(decay, exponent)
    _require_range(exponent, positions, table_dtype(positions, dtype), center)
    theta = angles(positions, rates)
    exp = namespace(theta).exp
    return (
        tables_of(theta, positions, dtype, exp(exponent)),
        tables_of(theta, positions, dtype, exp(-exponent)),
    )


def _read_center(center: Any) -> float:
    if isinstance(center, bool) or not isinstance(center, Real):
        raise TypeError(f"center={center!r} is no real number; give a position")
    number = float(center)
    if not -math.inf < number < math.inf:
        raise ValueError(f"center={center!r} is not finite; give a position")
    return number


def _require_range(exponent: Array, positions: Array, dtype: Any, center: Any) -> None:
    """Refuse scales that the dtype would turn into 0 or infinity."""
    limits = namespace(positions).finfo(dtype)
    furthest = min(math.log(float(limits.max)), -math.log(float(limits.smallest_normal)))
    xp = namespace(exponent)
    if 0 in exponent.shape:
        return
    remedy = "give a center near the positions, the same for queries and keys"
    if not values_are_known(exponent):
        if is_compiling():
            refuse_unless(
                xp.all(xp.abs(exponent) <= furthest),
                "positions reach so far from center that the dtype cannot hold their scale; " + remedy,
            )
        return
    reach = float(xp.max(xp.abs(exponent)))
    if reach > furthest:
        raise ValueError(
            f"positions reach so far from center={center!r} that {dtype} cannot hold their scale, "
            f"e^{reach:.0f}; {remedy}"
        )
