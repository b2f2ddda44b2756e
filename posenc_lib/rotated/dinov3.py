"""DINOv3's rotation: patches by their place in the picture, from -1 to 1, whatever its resolution."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, constant, drawn_evenly, namespace, narrow, result_dtype, widen
from posenc_lib.angles import angles, frequencies
from posenc_lib.rotated.axial import read_axes
from posenc_lib.rotated.tables import RotaryTables, tables_of

NORMALIZE = ("separate", "min", "max")
Normalize = Literal["separate", "min", "max"]


def patch_coordinates(shape: tuple[int, int], *, normalize: Normalize = "separate") -> np.ndarray:
    """Where the middle of each patch is: 2 (i + 1/2) / size - 1, rows and columns.

    Args:
        shape: (height, width), in patches.
        normalize: the size that i is divided by. "separate", each axis by its own, so that both reach
            from -1 to 1; "max", both by the larger, so that the picture keeps its proportions; "min", both
            by the smaller, so that the longer axis reaches beyond 1.

    Returns:
        (2, height * width) NumPy float64, rows first, patches in reading order.

    Raises:
        TypeError: sizes are not integers.
        ValueError: not (height, width), a size below 1, unknown normalize.

    Example:
        >>> patch_coordinates((2, 4))[1]  # columns
        array([-0.75, -0.25,  0.25,  0.75, -0.75, -0.25,  0.25,  0.75])

    Source: Siméoni et al. 2025, "DINOv3", whose name for the augmentation is RoPE-box jittering;
    facebookresearch/dinov3, `layers/rope_position_encoding.py`.
    """
    sizes = read_patches(shape)
    require.choice(normalize, "normalize", NORMALIZE)
    by = {"separate": sizes, "min": (min(sizes),) * 2, "max": (max(sizes),) * 2}[normalize]
    along = [2.0 * (np.arange(n) + 0.5) / size - 1.0 for n, size in zip(sizes, by, strict=True)]
    return np.stack(np.meshgrid(*along, indexing="ij")).reshape(2, -1)


def augment_coordinates(
    coordinates: ArrayT,
    generator: Any,
    *,
    shift: float | None = None,
    jitter: float | None = None,
    rescale: float | None = None,
) -> ArrayT:
    """Coordinates moved and stretched at random, for training: ((c + shift) * jitter) * rescale.

    One draw serves all patches, so that offsets keep their directions and a model meets many
    resolutions and proportions. Draw once for a step, and let all layers use the result.

    Args:
        coordinates: (axes, ...), such as `patch_coordinates` gives.
        generator: of NumPy, `np.random.default_rng(seed)`, or of PyTorch, `torch.Generator()`. Each call
            draws from it, only for what is asked: first shift, then jitter, then rescale.
        shift: each axis moves by a number from -shift to shift; 0 or more.
        jitter: each axis is multiplied by a number of its own from 1/jitter to jitter, whose logarithm is
            drawn evenly; 1 or more.
        rescale: both are multiplied by one number from 1/rescale to rescale; 1 or more.

    Returns:
        (axes, ...), of the coordinates' library and device; of their dtype, or the library's default real
        one for integers.

    Raises:
        TypeError: coordinates or a limit not real numbers; a generator of neither library.
        ValueError: NaN, no axis of coordinates, a limit out of its range.

    Example:
        >>> import numpy as np
        >>> corner = np.asarray([[1.0], [1.0]])
        >>> augment_coordinates(corner, np.random.default_rng(0), rescale=2.0).round(3)
        array([[1.209],
               [1.209]])

    Source: as `patch_coordinates`. With torch.manual_seed and a CPU generator of the same seed, the numbers
    of transformers 5.24.0 and of timm 1.0.31 are drawn. DINOv3 was trained with rescale=2 alone.
    """
    coordinates = read_axes(coordinates)
    change = draw_change(generator, coordinates.shape[0], shift=shift, jitter=jitter, rescale=rescale)
    return narrow(change.of(widen(coordinates)), coordinates, result_dtype(coordinates))


def dinov3_tables(
    coordinates: Array,
    dim: int,
    *,
    base: float = 100.0,
    periods: tuple[float, float] | None = None,
    dtype: Any = None,
) -> RotaryTables:
    """Tables for DINOv3's RoPE: each axis turns pairs of its own by 2 pi coordinate / period.

    Args:
        coordinates: (axes, ...), such as `patch_coordinates` gives: rows first.
        dim: how many columns turn, shared evenly by the axes in pairs.
        base: the periods are base^(i/n), i = 0 .. n - 1, for the n pairs of each axis: 1 is half of the
            picture's width.
        periods: (shortest, longest) in place of the base, both reached, in a geometric series.
        dtype: as in `rotary_tables`.

    Returns:
        Tables of shape (..., dim/2), for `rotate` with layout "half". Class and register tokens do not turn:
        rotate the patches alone, as `posenc_lib.nn.DINOv3Rotary` does with `first`.

    Raises:
        TypeError: coordinates are not numbers, dim not an integer, base or periods not real numbers.
        ValueError: NaN; a dim that the axes cannot share; base or periods not above 0.

    DINOv3's published files hold the periods rounded to bfloat16; transformers and timm compute them again in
    float32, and so does this, in float64.

    Example:
        >>> tables = dinov3_tables(patch_coordinates((14, 14)), 64)
        >>> tables.cos.shape
        (196, 32)

    Source: as `patch_coordinates`.
    """
    dim = require.even_dim(dim)
    coordinates = read_axes(coordinates)
    axes = coordinates.shape[0]
    if dim % (2 * axes):
        raise ValueError(
            f"dim={dim} has {dim // 2} pairs, which {axes} axes cannot share equally; give a multiple of "
            f"{2 * axes}"
        )
    rates = 2.0 * math.pi * _turns(dim // (2 * axes), base, periods)
    turned = [angles(coordinates[axis, ...], rates) for axis in range(axes)]
    return tables_of(namespace(turned[0]).concat(turned, axis=-1), coordinates, dtype)


def read_patches(shape: Any) -> tuple[int, int]:
    """(height, width) as two ints."""
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise ValueError(f"shape={shape!r} is not a grid of patches; give (height, width)")
    return require.count(shape[0], "shape[0]"), require.count(shape[1], "shape[1]")


class Change(NamedTuple):
    """What was drawn: for each axis a shift, and after it a factor."""

    shift: tuple[float, ...]
    factor: tuple[float, ...]

    def of(self, coordinates: Array) -> Array:
        """(axes, ...) coordinates, changed."""
        shift, factor = (constant(np.asarray(each), coordinates) for each in self)
        return changed(coordinates, shift, factor)


def changed(coordinates: Array, shift: Array, factor: Array) -> Array:
    """(axes, ...) coordinates, moved and then stretched by (axes,) numbers each."""
    xp = namespace(coordinates, shift, factor)
    by_axis = (-1, *(1,) * (coordinates.ndim - 1))
    return (coordinates + xp.reshape(shift, by_axis)) * xp.reshape(factor, by_axis)


def draw_change(
    generator: Any, axes: int, *, shift: float | None, jitter: float | None, rescale: float | None
) -> Change:
    """Draw what `augment_coordinates` does, in the order in which DINOv3 draws."""
    limits = read_limits(shift, jitter, rescale)
    moved = [0.0] * axes
    stretched = [1.0] * axes
    common = 1.0
    if limits.shift is not None:
        moved = drawn_evenly(generator, -limits.shift, limits.shift, axes)
    if limits.jitter is not None:
        reach = math.log(limits.jitter)
        stretched = [math.exp(x) for x in drawn_evenly(generator, -reach, reach, axes)]
    if limits.rescale is not None:
        reach = math.log(limits.rescale)
        common = math.exp(drawn_evenly(generator, -reach, reach, 1)[0])
    return Change(tuple(moved), tuple(common * x for x in stretched))


class Limits(NamedTuple):
    """How far the three random changes reach; None where one is not made."""

    shift: float | None
    jitter: float | None
    rescale: float | None


def read_limits(shift: Any, jitter: Any, rescale: Any) -> Limits:
    """The limits as floats; ValueError where one is out of its range."""
    return Limits(
        _read_limit(shift, "shift", 0.0),
        _read_limit(jitter, "jitter", 1.0),
        _read_limit(rescale, "rescale", 1.0),
    )


def _read_limit(given: Any, name: str, least: float) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, Real):
        raise TypeError(
            f"{name}={given!r} is not a real number; give {least:g} or more, or None to leave it out"
        )
    limit = float(given)
    if not least <= limit < math.inf:
        raise ValueError(f"{name}={given!r} is not allowed; give a finite number, {least:g} or more")
    return limit


def _turns(pairs: int, base: float, periods: Any) -> np.ndarray:
    """(pairs,) turns for each unit of the coordinate: one over the period."""
    if periods is None:
        return frequencies(2 * pairs, base=base)
    if not isinstance(periods, (tuple, list)) or len(periods) != 2:
        raise TypeError(f"periods={periods!r}; give two numbers, (shortest, longest)")
    shortest, longest = (
        require.positive(period, name)
        for period, name in zip(periods, ("periods[0]", "periods[1]"), strict=True)
    )
    turns: np.ndarray = (longest / shortest) ** -np.linspace(0.0, 1.0, pairs) / shortest
    return turns
