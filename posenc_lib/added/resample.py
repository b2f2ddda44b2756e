"""A learned table of a grid of patches, read as a picture and resampled to another grid."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Literal

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import ArrayT, constant, namespace
from posenc_lib._heads import matmul

MODES = ("bicubic", "bilinear")
Mode = Literal["bicubic", "bilinear"]


def resample_grid(
    table: ArrayT,
    shape: tuple[int, int],
    new_shape: tuple[int, int],
    *,
    mode: Mode = "bicubic",
    antialias: bool = False,
    align_corners: bool = False,
    offset: float = 0.0,
    first: int = 0,
    last: int = 0,
) -> ArrayT:
    """A table of (height, width) patches for an image of another size.

    The table is a picture with dim colours, and the new one is its enlargement or reduction. What a
    checkpoint does must be met exactly: the settings differ by far more than rounding.

    Args:
        table: (..., first + height * width + last, dim), real: the patches in reading order, between rows
            of tokens that are on no grid.
        shape: (height, width) of the grid that it was trained on.
        new_shape: (height, width) of the grid that is wanted.
        mode: "bicubic" or "bilinear".
        antialias: average over all that a new patch covers, where there are fewer of them.
        align_corners: keep the corner patches' middles in the corners; otherwise the picture's edges.
        offset: place the new patches as if they were `offset` more along each axis.
        first, last: how many rows before and after the grid stay as they are, such as a class token's.

    Returns:
        (..., first + new height * new width + last, dim), of the table's library, device and dtype;
        summed in float32 or wider. Gradients reach the table. With new_shape equal to shape, the table.

    Raises:
        TypeError: table not real numbers; sizes, first or last not integers; antialias or align_corners no
            boolean; offset no real number.
        ValueError: a table with another number of rows; a size below 1; unknown mode; negative offset;
            align_corners with antialias or with an offset.

    Who does what (checked in tests/conformance; first=1 where there is a class token):

    - ViT, DeiT, CLIP and SigLIP of transformers 5.24.0: "bicubic".
    - DINOv2 of the same: "bicubic". Its authors' own code is "bicubic" with offset=0.1, or, for the
      models with registers, with antialias=True: that is what the weights were trained and measured with.
    - SigLIP 2 of transformers: "bilinear" with antialias=True, also where images become larger.
    - timm 1.0.31, `resample_abs_pos_embed`: "bicubic" with antialias=True.
    - the first ViT, in JAX: "bilinear" with align_corners=True (`scipy.ndimage.zoom`).
    - BEiT's table of offsets, in transformers: "bilinear" from (2h - 1, 2w - 1) cells with last=3.

    Example:
        >>> import numpy as np
        >>> table = np.asarray([[9.0], [0.0], [1.0], [2.0], [3.0]])  # a class token and 2 by 2 patches
        >>> resample_grid(table, (2, 2), (2, 3), mode="bilinear", first=1)[:, 0]
        array([9. , 0. , 0.5, 1. , 2. , 2.5, 3. ])

    Source: Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", section 3.2; the arithmetic is that of
    torch.nn.functional.interpolate. DINOv2's offset: facebookresearch/dinov2, `vision_transformer.py`,
    `interpolate_pos_encoding`.
    """
    table = require.real_array(table, "table", "(rows, dim)", 2, more=True)
    old, new = read_grid(shape, "shape"), read_grid(new_shape, "new_shape")
    first, last = require.count(first, "first", 0), require.count(last, "last", 0)
    patches = old[0] * old[1]
    if table.shape[-2] != first + patches + last:
        raise ValueError(
            f"table of shape {tuple(table.shape)} has {table.shape[-2]} rows, but a grid of {old} with "
            f"first={first} and last={last} has {first + patches + last}; give (..., rows, dim) with one row "
            "for each patch and other token"
        )
    settings = read_settings(mode, antialias, align_corners, offset)
    if old == new:
        return table
    xp = namespace(table)
    wide = xp.result_type(table.dtype, xp.float32)
    down, across = (
        xp.astype(constant(_weights(n, m, *settings), table), wide) for n, m in zip(old, new, strict=True)
    )
    before, dim = tuple(table.shape[:-2]), table.shape[-1]
    grid = xp.astype(table[..., first : first + patches, :], wide, copy=False)
    rows = matmul(xp, down, xp.reshape(grid, (*before, old[0], old[1] * dim)))
    cells = matmul(xp, across, xp.reshape(rows, (*before, new[0], old[1], dim)))
    resampled = xp.astype(xp.reshape(cells, (*before, new[0] * new[1], dim)), table.dtype, copy=False)
    others = table[..., :first, :], table[..., first + patches :, :]
    return xp.concat([others[0], resampled, others[1]], axis=-2)


def read_grid(shape: Any, name: str) -> tuple[int, int]:
    """(height, width) as two ints."""
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise ValueError(f"{name}={shape!r} is not a grid of patches; give (height, width)")
    return require.count(shape[0], f"{name}[0]"), require.count(shape[1], f"{name}[1]")


def read_settings(
    mode: Any, antialias: Any, align_corners: Any, offset: Any
) -> tuple[Mode, bool, bool, float]:
    """How to resample, all of it understood."""
    require.choice(mode, "mode", MODES)
    antialias = require.flag(antialias, "antialias")
    align_corners = require.flag(align_corners, "align_corners")
    if isinstance(offset, bool) or not isinstance(offset, Real):
        raise TypeError(f"offset={offset!r} is not a real number; give 0 or more patches, such as 0.1")
    if not 0 <= float(offset) < math.inf:
        raise ValueError(f"offset={offset!r} is not allowed; give 0 or more patches, such as 0.1")
    if align_corners and (antialias or offset):
        raise ValueError(
            f"align_corners=True with antialias={antialias} and offset={offset}: corners that stay in "
            "place allow neither of the two; leave out align_corners, or the two others"
        )
    return mode, antialias, align_corners, float(offset)


def _weights(
    old: int, new: int, mode: str, antialias: bool, align_corners: bool, offset: float
) -> np.ndarray:
    """(new, old): how much of each old row a new one is made of; each of its rows sums to 1."""
    if old == new and (antialias or mode == "bilinear"):
        return np.eye(old)  # whatever the offset, as PyTorch does
    step = (old - 1) / max(new - 1, 1) if align_corners else old / (new + offset)
    i = np.arange(new)
    if antialias:  # all rows within the kernel, which is as wide as a new row, at least as an old one
        middles = (i + 0.5) * step - 0.5
        weights: np.ndarray = _kernel(
            mode, (np.arange(old) - middles[:, None]) / max(step, 1.0), sharpness=-0.5
        )
        weights /= weights.sum(axis=1, keepdims=True)
        return weights
    middles = i * step if align_corners else (i + 0.5) * step - 0.5
    below = np.floor(middles).astype(np.int64)
    weights = np.zeros((new, old))
    for tap in (-1, 0, 1, 2):  # beyond the edge is the row at the edge
        share = _kernel(mode, middles - (below + tap), sharpness=-0.75)
        weights += share[:, None] * (np.clip(below + tap, 0, old - 1)[:, None] == np.arange(old))
    return weights


def _kernel(mode: str, distance: np.ndarray, sharpness: float) -> np.ndarray:
    """How much a row at this distance counts: a triangle, or Keys' cubic."""
    x, a = np.abs(distance), sharpness
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * (x**3 - 5 * x**2 + 8 * x - 4)
    cubic = np.where(x <= 1, near, np.where(x < 2, far, 0.0))
    share: np.ndarray = np.maximum(1 - x, 0) if mode == "bilinear" else cubic
    return share
