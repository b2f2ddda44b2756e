"""Rotation by rows and columns at once: each pair turns along a direction of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, constant, move_axis, namespace, widen
from posenc_lib.added.fourier import read_generator
from posenc_lib.angles import frequencies
from posenc_lib.rotated.axial import read_axes
from posenc_lib.rotated.tables import RotaryTables, tables_of


def mixed_tables(positions: Array, rates: Array, *, dtype: Any = None) -> RotaryTables:
    """Tables for mixed RoPE: pair t turns by rates[t] . position, a sum over the axes.

    Axial RoPE is the case in which each pair's rates are 0 but for one axis: it tells rows and columns, and
    a diagonal only through both. Here a pair can look along any direction, and the directions are learned.
    Scores still depend on offsets alone.

    Args:
        positions: (axes, ...), one number for each axis, as in `axial_tables`: rows first.
        rates: (pairs, axes), radians per unit; or (heads, pairs, axes) where heads have their own. NumPy, or
            the library of the positions. Make them with `mixed_rates`; gradients reach them.
        dtype: as in `rotary_tables`.

    Returns:
        Tables of shape (..., pairs), or (..., heads, length, pairs) for positions (axes, ..., length), for
        `rotate`. With layout "interleaved" that is RoPE-Mixed.

    Raises:
        TypeError: positions or rates are not numbers, or of different libraries.
        ValueError: NaN, rates that do not fit the axes, positions without a length beside rates for heads,
            different devices.

    Who does what: the authors' code and timm 1.0.31 store (2, layers, heads, pairs), for columns first: give
    np.stack([stored[1], stored[0]], -1)[layer].

    Example:
        >>> import numpy as np
        >>> patches = np.indices((3, 4)).reshape(2, -1)  # rows and columns of 12 patches
        >>> diagonal = np.asarray([[1.0, 1.0], [1.0, -1.0]])  # two pairs, one for each diagonal
        >>> mixed_tables(patches, diagonal).cos.shape
        (12, 2)

    Source: Heo et al. 2024, "Rotary Position Embedding for Vision Transformer", section 3.2, equation 7.
    """
    positions = read_axes(positions)
    rates = require.numbers(rates, "rates")
    axes = positions.shape[0]
    if rates.ndim not in (2, 3) or 0 in rates.shape or rates.shape[-1] != axes:
        raise ValueError(
            f"rates of shape {tuple(rates.shape)} and positions of shape {tuple(positions.shape)} do not "
            f"fit; "
            f"give (pairs, {axes}), or (heads, pairs, {axes})"
        )
    if rates.ndim == 3 and positions.ndim == 1:
        raise ValueError(
            f"positions of shape {tuple(positions.shape)} are a single position, but rates differ by head; "
            f"give ({axes}, ..., length)"
        )
    if not isinstance(rates, np.ndarray):
        namespace(positions, rates)
        require.same_device(positions=positions, rates=rates)
    return tables_along(positions, rates, dtype)


def tables_along(positions: Array, rates: Array, dtype: Any) -> RotaryTables:
    """`mixed_tables` of what was looked at already."""
    wide = widen(move_axis(positions, 0, -1))
    along = constant(rates.astype(np.float64), wide) if isinstance(rates, np.ndarray) else widen(rates)
    xp = namespace(wide, along)
    if rates.ndim == 3:
        wide = wide[..., None, :, :]  # (..., 1, length, axes) beside (heads, axes, pairs)
    return tables_of(xp.matmul(wide, xp.matrix_transpose(along)), positions, dtype)


def mixed_rates(
    head_dim: int, *, heads: int | None = None, base: float = 10.0, seed: int | np.random.Generator = 0
) -> np.ndarray:
    """Where the rates of mixed RoPE start: two directions at right angles, each with a series of frequencies.

    Args:
        head_dim: width of a head's queries and keys, a multiple of 4.
        heads: how many heads have rates of their own; None for one set that all share.
        base: of the geometric series, for images of tens of patches.
        seed: of the direction of each head; an integer or a NumPy generator.

    Returns:
        (head_dim / 2, 2), or (heads, head_dim / 2, 2), NumPy float64, rows first.

    Raises:
        TypeError: head_dim, heads or seed not integers, base not a real number.
        ValueError: head_dim no multiple of 4, heads below 1, base not above 0, a negative seed.

    Example:
        >>> import numpy as np
        >>> np.linalg.norm(mixed_rates(8), axis=-1).round(3)  # twice the same two frequencies
        array([1.   , 0.316, 1.   , 0.316])

    Source: Heo et al. 2024, section 3.2; the start is that of its code, `init_random_2d_freqs`.
    """
    speeds = mixed_speeds(head_dim, base)
    number = 1 if heads is None else require.count(heads, "heads")
    turns = read_generator(seed).uniform(0.0, 2.0 * math.pi, (number, 1))
    rates: np.ndarray = directions(np, speeds, turns)
    return rates[0] if heads is None else rates


def mixed_speeds(head_dim: int, base: float) -> np.ndarray:
    """(head_dim / 4,) rad per unit: the series of each of the two directions."""
    head_dim = require.even_dim(head_dim, "head_dim")
    if head_dim % 4:
        raise ValueError(f"head_dim={head_dim} cannot be split between two directions; give a multiple of 4")
    return frequencies(head_dim // 2, base=base)


def directions(xp: Any, speeds: Array, turns: Array) -> Array:
    """(heads, pairs, 2): for each turn, (heads, 1), the speeds along it and at right angles to it."""
    sin, cos = xp.sin(turns), xp.cos(turns)
    rows = xp.concat([speeds * sin, speeds * cos], axis=-1)
    columns = xp.concat([speeds * cos, speeds * -sin], axis=-1)
    return xp.stack([rows, columns], axis=-1)
