"""What V-JEPA 2 does to queries and keys instead of a rotation."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, namespace, narrow
from posenc_lib._heads import heads_first, seq_back
from posenc_lib.angles import angles, frequencies
from posenc_lib.rotated.axial import read_axes
from posenc_lib.rotated.turn import require_broadcast, require_vectors

AXES = 3
"""Frame, row, column."""


def vjepa2_mix(x: ArrayT, positions: Array, *, base: float = 10000.0, seq_axis: int = -2) -> ArrayT:
    """Queries or keys of V-JEPA 2, each pair of columns mixed by two different angles.

    Meant as RoPE along frames, rows and columns, it is not a rotation: the code repeats the list of angles as
    (t0, t1, t0, t1), which belongs to the half layout, but mixes neighbouring columns, which would need
    (t0, t0, t1, t1). So the members (a, b) of a pair become

        a' = a cos s - b sin s
        b' = b cos t + a sin t        with s and t the angles of their two columns.

    Lengths change, and a score depends on more than the offset of two patches. The published weights were
    trained with it, and need it; for a new model take `axial_tables`.

    Args:
        x: (..., head_dim), real. Each axis mixes 2 * (head_dim // 6) columns; what is left stays as it is.
        positions: (3, ...): frame, row and column, broadcasting to x.shape[:-1].
        base: the constant of every axis' geometric series.
        seq_axis: as in `attention`; -3 for (..., seq, heads, head_dim), where positions are (3, ..., 1, seq).

    Returns:
        (..., head_dim), of x's library, device and dtype; angles are computed in float64, and the result
        is rounded once.

    Raises:
        TypeError: x not real vectors, positions not numbers, arrays of different libraries.
        ValueError: head_dim below 6; positions not of 3 axes, NaN, or of a shape that does not broadcast;
            base not above 0; different devices.

    Example:
        >>> import numpy as np
        >>> x = np.eye(12)[0]  # two pairs for each axis
        >>> mixed = vjepa2_mix(x, np.asarray([1.0, 0.0, 0.0]))
        >>> mixed[:2].round(3)  # cos 1, and sin 0.01: of two angles, not of one
        array([0.54, 0.01])

    Source: Assran et al. 2025, "V-JEPA 2", section 2.1, for the intent; facebookresearch/vjepa2,
    `src/models/utils/modules.py`, `rotate_queries_or_keys`, whose pull request 15 names the slip. The same
    is in transformers 5.24.0, `modeling_vjepa2.py`.
    """
    xp = require_vectors(x)
    (x,) = heads_first(seq_axis, x=x)
    width = columns_of_an_axis(x.shape[-1])
    positions = read_axes(positions)
    if positions.shape[0] != AXES:
        raise ValueError(
            f"positions of shape {tuple(positions.shape)} have {positions.shape[0]} axes of coordinates; "
            "give (3, ...): frame, row and column"
        )
    namespace(x, positions)
    require.same_device(x=x, positions=positions)
    require_broadcast("positions", tuple(positions.shape[1:]), x, -2)
    dtype = xp.result_type(x.dtype, xp.float32)
    rates = frequencies(width, base=base)
    parts = []
    for axis in range(AXES):
        columns = xp.astype(x[..., axis * width : (axis + 1) * width], dtype, copy=False)
        parts.append(_mixed(xp, columns, angles(positions[axis, ...], rates), positions, dtype))
    parts.append(xp.astype(x[..., AXES * width :], dtype, copy=False))
    return seq_back(xp.astype(xp.concat(parts, axis=-1), x.dtype, copy=False), seq_axis)


def columns_of_an_axis(head_dim: int) -> int:
    """How many columns of a head each of the three axes mixes."""
    if head_dim < 2 * AXES:
        raise ValueError(f"head_dim={head_dim} has no pair of columns for each of 3 axes; give 6 or more")
    return 2 * (head_dim // (2 * AXES))


def _mixed(xp: Any, x: Array, theta: Array, positions: Array, dtype: Any) -> Array:
    """x of (..., width), mixed by the angles (..., width/2), which are repeated as a whole: the slip."""
    wide = namespace(theta)
    repeated = wide.concat([theta, theta], axis=-1)
    cos, sin = (narrow(f(repeated), positions, dtype) for f in (wide.cos, wide.sin))
    a, b = x[..., 0::2], x[..., 1::2]
    first = a * cos[..., 0::2] - b * sin[..., 0::2]
    second = b * cos[..., 1::2] + a * sin[..., 1::2]
    return xp.reshape(xp.stack([first, second], axis=-1), x.shape)
