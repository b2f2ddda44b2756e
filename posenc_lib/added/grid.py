"""The sinusoidal encoding on grids: images, volumes, video."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Literal

from posenc_lib import _require as require
from posenc_lib._arrays import Array, constant, namespace, result_dtype
from posenc_lib.added.sinusoidal import LAYOUTS as LAYOUTS_OF_ONE_AXIS
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import Spacing

LAYOUTS = (*LAYOUTS_OF_ONE_AXIS, "split-across")
GridLayout = Literal["interleaved", "split", "split-cos-first", "split-across"]
Axes = Literal["xy", "yx", "zxy", "zyx", "xyz", "xzy", "yxz", "yzx"]
AXES: dict[int, tuple[Axes, ...]] = {2: ("xy", "yx"), 3: ("zxy", "zyx", "xyz", "xzy", "yxz", "yzx")}
"""The orders of columns that can be named; the first is the default."""


def grid_sinusoidal(
    shape: Sequence[int | Array],
    dim: int | Sequence[int],
    *,
    axes: Axes | None = None,
    base: float = 10000.0,
    layout: GridLayout = "split",
    spacing: Spacing = "paper",
    dtype: Any = None,
) -> Array:
    """Sinusoidal encoding of the points of a grid: each axis fills its own share of the columns.

    Args:
        shape: (height, width) or (depth, height, width), as pictures and videos are stored: y before
            x, and z (or time) before both. In place of a number of positions, an axis may be given by
            its coordinates, a 1-d array: np.arange(1, 17), or np.arange(32) / 2.
        dim: width of the encoding, shared evenly; or one even width for each axis, in the order of
            `axes`.
        axes: whose columns come first: "xy" (default) or "yx" for two, "zxy" (default) or any other
            order of the three letters for three.
        base: the constant of the geometric series of wavelengths ("temperature" in vision code).
        layout: within each axis' columns, as in `sinusoidal`: "split" (default), "interleaved" or
            "split-cos-first". Or "split-across": the sines of all axes, then the cosines of all.
        spacing: of the frequencies, as in `sinusoidal`. Each axis has the series of its own width.
        dtype: of the result; by default that of real coordinates, else the library's default.

    Returns:
        (height, width, dim) or (depth, height, width, dim), in the library and on the device of the
        coordinates (NumPy for numbers). Patches in reading order are its reshape to (-1, dim). Models
        with a class token put a row of zeros before them.

    Raises:
        TypeError: sizes or widths are not integers, coordinates not numbers, or dtype not a real type.
        ValueError: not two or three axes; widths that are odd or do not add up; a negative size;
            coordinates that are not 1-d, or are NaN; unknown axes, layout or spacing; different devices.

    Who does what (checked against these versions in tests/conformance):

    - MAE, and the model ViTMAE of transformers 5.24.0: axes="xy", layout="split".
    - `build_2d_sinusoidal_position_embedding` of the same: axes="yx" (ViTMAE swaps the halves).
    - diffusers 0.42.1, pictures: "xy", "split", with coordinates np.arange(n) / (n / base_size) / scale.
    - diffusers 0.42.1, videos: "zxy", "split", dim=(d/4, 3d/8, 3d/8).
    - timm 1.0.31: "yx", "split-across"; with interleave_sin_cos=True, "split". reverse_coord=True lists the
      tokens column by column, and the columns of x first.
    - DETR of transformers 5.24.0: "yx", "interleaved", coordinates 1 .. n, or those divided by n + 1e-6 and
      multiplied by 2*pi.
    - positional-encodings 6.0.3: "yx" and "zyx", "interleaved".

    Example:
        >>> grid_sinusoidal((14, 14), 768).reshape(-1, 768).shape  # 14 by 14 patches
        (196, 768)
        >>> video = grid_sinusoidal((8, 30, 45), (64, 96, 96))  # time, x, y
        >>> video.shape
        (8, 30, 45, 256)

    Source: He et al. 2022, "Masked Autoencoders Are Scalable Vision Learners", whose code (pos_embed.py)
        set the order; Vaswani et al. 2017, section 3.5, for each axis.
    """
    coordinates = _read_shape(shape)
    letters = "zyx"[-len(coordinates) :]
    axes = require.choice(AXES[len(letters)][0] if axes is None else axes, "axes", AXES[len(letters)])
    require.choice(layout, "layout", LAYOUTS)
    widths = _read_widths(dim, axes)
    xp = namespace(*coordinates)
    require.same_device(**dict(zip(letters, coordinates, strict=True)))
    dtype = xp.result_type(*(result_dtype(along, dtype) for along in coordinates))

    sizes = tuple(along.shape[0] for along in coordinates)
    blocks = []
    for letter, width in zip(axes, widths, strict=True):
        axis = letters.index(letter)
        encoded = sinusoidal(
            coordinates[axis],
            width,
            base=base,
            layout="split" if layout == "split-across" else layout,
            spacing=spacing,
            dtype=dtype,
        )
        others = [1] * len(sizes)
        others[axis] = sizes[axis]
        blocks.append(xp.broadcast_to(xp.reshape(encoded, (*others, width)), (*sizes, width)))
    if layout == "split-across":
        sines = [block[..., : block.shape[-1] // 2] for block in blocks]
        cosines = [block[..., block.shape[-1] // 2 :] for block in blocks]
        blocks = sines + cosines
    return xp.concat(blocks, axis=-1)


def _read_shape(shape: Any) -> list[Array]:
    """One 1-d array of coordinates per axis, all of one library."""
    if not isinstance(shape, (tuple, list)) or len(shape) not in AXES:
        raise ValueError(
            f"shape={shape!r} is not a grid; give (height, width) or (depth, height, width), each a number "
            "of positions or a 1-d array of coordinates (for one axis: sinusoidal)"
        )
    arrays = [axis for axis in shape if not isinstance(axis, Integral)]
    coordinates = [require.positions(axis) for axis in shape]
    if arrays:
        coordinates = [
            constant(along, arrays[0]) if isinstance(axis, Integral) else along
            for axis, along in zip(shape, coordinates, strict=True)
        ]
    for along in coordinates:
        if along.ndim != 1:
            raise ValueError(
                f"an axis has coordinates of shape {tuple(along.shape)}; give a 1-d array, or a number n "
                "for 0 .. n-1"
            )
    return coordinates


def _read_widths(dim: Any, axes: str) -> tuple[int, ...]:
    """How many columns each axis fills, in the order of `axes`."""
    if isinstance(dim, (tuple, list)):
        if len(dim) != len(axes):
            raise ValueError(
                f"dim={dim!r} gives {len(dim)} widths to {len(axes)} axes; give one even width for each of "
                f"{axes!r}"
            )
        return tuple(require.even_dim(width, f"dim[{i}]") for i, width in enumerate(dim))
    width = require.even_dim(dim)
    if width % (2 * len(axes)):
        raise ValueError(
            f"dim={width} cannot be shared evenly by {len(axes)} axes in (sin, cos) pairs; give a multiple "
            f"of {2 * len(axes)}, or a tuple with one even width for each of {axes!r}"
        )
    return (width // len(axes),) * len(axes)
