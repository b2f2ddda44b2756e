"""The sinusoidal encoding, and the two facts that make it special: a shift is a rotation, and the
dot product of two encodings depends on their offset alone."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, overload

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, constant, namespace, narrow, result_dtype
from posenc_lib.added.by_shifts import evenly_spaced, shifted_table
from posenc_lib.angles import SPACINGS, Spacing, angles, frequencies

LAYOUTS = ("interleaved", "split", "split-cos-first")
Layout = Literal["interleaved", "split", "split-cos-first"]
ODD = ("truncate", "pad")
Odd = Literal["truncate", "pad"]


@overload
def sinusoidal(
    positions: int,
    dim: int,
    *,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    spacing: Spacing = "paper",
    odd: Odd | None = None,
    dtype: Any = None,
) -> np.ndarray: ...


@overload
def sinusoidal(
    positions: ArrayT,
    dim: int,
    *,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    spacing: Spacing = "paper",
    odd: Odd | None = None,
    dtype: Any = None,
) -> ArrayT: ...


def sinusoidal(
    positions: int | Array,
    dim: int,
    *,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    spacing: Spacing = "paper",
    odd: Odd | None = None,
    dtype: Any = None,
) -> Array:
    """Sinusoidal positional encoding.

    Column 2i holds sin(position * w_i) and column 2i + 1 holds cos(position * w_i), with
    w_i = base^(-2i/dim) for i = 0 .. dim/2 - 1.

    Args:
        positions: an int n for positions 0 .. n-1, or an array of any shape (...): integers or
            reals, negative ones too. They need not be token numbers: time stamps, diffusion
            steps or metres serve as well, once in a unit in which neighbours are about 1 apart
            (the shortest wavelength is 2*pi units, the longest under 2*pi*base).
        dim: width of the encoding; even, unless `odd` says otherwise.
        base: the constant of the geometric series of wavelengths.
        layout: "interleaved" as in the paper (sin, cos, sin, cos, ...), "split" (all sines, then
            all cosines) or "split-cos-first" (all cosines, then all sines).
        spacing: of the frequencies: "paper", or "tensor2tensor"; see `frequencies`.
        odd: what to do with an odd dim, which is refused by default. "truncate" writes the paper's
            formula as it is, so that the last sine has no cosine; "pad" adds a column of zeros
            to the encoding of dim - 1.
        dtype: of the result; by default that of real positions, else the library's default.

    Returns:
        (..., dim), in the library and on the device of `positions` (NumPy for an int; give
        torch.arange(n) for a tensor). Angles are float64, good to 2e-16 rad times the position, and
        the cast comes last: in float32, position 10,000,000 is as exact as position 1. Positions that
        were themselves rounded (bfloat16 holds no odd number above 256) stay so: give integers, and
        ask for a narrow result by `dtype`. A long list of evenly spaced integers takes a faster
        way, which agrees with the plain one to the error of the angles.

    Raises:
        TypeError: positions are not numbers, dim not an integer, or dtype not a real type of the library.
        ValueError: n < 0; NaN positions; odd dim without `odd`; base not positive; unknown layout,
            spacing or odd; "truncate" with tensor2tensor's spacing, which nobody defines.

    Who does what (checked against these versions in tests/conformance): the paper's interleaved form is
    that of positional-encodings 6.0.3, diffusers 0.42.1 (`SinusoidalPositionalEmbedding`) and
    SpeechT5's encoder; "split" with the paper's spacing that of Marian, GPT-J and x-transformers 2.31.10
    (which scales it by dim^-1/2); "split" with tensor2tensor's spacing that of M2M100 and Whisper
    (transformers 5.24.0); "split-cos-first" with it that of MusicGen. Diffusers' time steps take
    either spacing (`downscale_freq_shift` 0 or 1) and either order (`flip_sin_to_cos`). Odd dims:
    Marian truncates, M2M100 and MusicGen pad, positional-encodings drops the last column of the
    encoding of dim + 1, whose frequencies differ.

    Example:
        >>> sinusoidal(3, 4).round(4)
        array([[ 0.    ,  1.    ,  0.    ,  1.    ],
               [ 0.8415,  0.5403,  0.01  ,  1.    ],
               [ 0.9093, -0.4161,  0.02  ,  0.9998]])
        >>> import numpy as np
        >>> seconds = np.asarray([0.0, 0.25, 17.5])  # irregular times
        >>> sinusoidal(seconds, 8).shape
        (3, 8)

    Source: Vaswani et al. 2017, section 3.5.
    """
    require.choice(layout, "layout", LAYOUTS)
    rates, missing = _read_width(dim, base, spacing, odd)
    positions = require.positions(positions)
    dtype = result_dtype(positions, dtype)
    spaced = None if missing else evenly_spaced(positions, dim)
    if spaced is not None:
        return shifted_table(*spaced, positions, rates, layout=layout, dtype=dtype)
    theta = angles(positions, rates)
    xp = namespace(theta)
    sines, cosines = xp.sin(theta), xp.cos(theta)
    if missing == "cosine":
        table = _join_but_last_cosine(xp, sines, cosines, layout)
    else:
        table = join_pairs(xp, sines, cosines, layout)
    if missing == "column":
        table = xp.concat([table, xp.zeros_like(table[..., :1])], axis=-1)
    return narrow(table, positions, dtype)


def shift_matrix(
    offset: float | Array,
    dim: int,
    *,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    spacing: Spacing = "paper",
) -> Array:
    """The matrix M with PE(p + offset) = M @ PE(p) at every position p.

    Each (sin, cos) pair is turned by offset * w_i: M is block-diagonal, orthogonal, and does not
    depend on p. This is the angle-addition identity.

    Args:
        offset: how many positions to move, of any sign, whole or not; an array of shape (...)
            gives one matrix each.
        dim, base, layout, spacing: as in `sinusoidal`; dim even.

    Returns:
        (..., dim, dim), in the library and on the device of `offset` (NumPy for a number).

    Raises:
        TypeError: offset is not a number, or dim not an integer.
        ValueError: NaN offset; odd dim; base not positive; unknown layout or spacing.

    Example:
        >>> import numpy as np
        >>> moved = shift_matrix(5, 8) @ sinusoidal(np.asarray(100), 8)
        >>> bool(np.allclose(moved, sinusoidal(np.asarray(105), 8)))
        True

    Source: Vaswani et al. 2017, section 3.5 (stated there without proof).
    """
    require.choice(layout, "layout", LAYOUTS)
    dim = require.even_dim(dim)
    offset = require.numbers(offset, "offset")
    theta = angles(offset, frequencies(dim, base=base, spacing=spacing))
    xp = namespace(theta)
    cosines = join_pairs(xp, xp.cos(theta), xp.cos(theta), layout)
    sines = join_pairs(xp, xp.sin(theta), xp.sin(theta), layout)
    turn = constant(quarter_turn(dim, layout), theta)
    identity = constant(np.eye(dim), theta)
    matrix = cosines[..., None] * identity + sines[..., None] * turn
    return narrow(matrix, offset, result_dtype(offset))


def similarity(
    offsets: float | Array, dim: int, *, base: float = 10000.0, spacing: Spacing = "paper"
) -> Array:
    """Dot product of two sinusoidal encodings that are `offsets` positions apart.

    PE(t) . PE(t + offset) = sum over i of cos(offset * w_i), whatever t is. Largest, dim/2, at 0.

    Args:
        offsets: one number or an array of shape (...), of any sign.
        dim, base, spacing: as in `sinusoidal`; dim even (the layout does not matter).

    Returns:
        (...), in the library and on the device of `offsets` (NumPy for a number).

    Raises:
        TypeError: offsets are not numbers, or dim not an integer.
        ValueError: NaN offsets; odd dim; base not positive; unknown spacing.

    Example:
        >>> import numpy as np
        >>> similarity(np.asarray([-1, 0, 1]), 64).round(2)
        array([30.92, 32.  , 30.92])

    Source: Vaswani et al. 2017, section 3.5: it follows from the shift being a rotation.
    """
    rates = frequencies(dim, base=base, spacing=spacing)
    offsets = require.numbers(offsets, "offsets")
    theta = angles(offsets, rates)
    xp = namespace(theta)
    return narrow(xp.sum(xp.cos(theta), axis=-1), offsets, result_dtype(offsets))


def quarter_turn(dim: int, layout: str) -> np.ndarray:
    """The (dim, dim) matrix J that turns every (sin, cos) pair by 90 degrees: (s, c) -> (c, -s)."""
    sines, cosines = columns(dim, layout)
    turn = np.zeros((dim, dim))
    turn[sines, cosines] = 1.0
    turn[cosines, sines] = -1.0
    return turn


def columns(dim: int, layout: str) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the sine columns and of the cosine columns, pair by pair."""
    numbers = np.arange(dim)
    if layout == "interleaved":
        return numbers[0::2], numbers[1::2]
    first, second = numbers[: dim // 2], numbers[dim // 2 :]
    return (first, second) if layout == "split" else (second, first)


def _read_width(dim: Any, base: float, spacing: Spacing, odd: Odd | None) -> tuple[np.ndarray, str | None]:
    """The frequencies for this width, and what an odd one lacks: None, "cosine" or "column"."""
    if odd is not None:
        require.choice(odd, "odd", ODD)
    width = 0 if isinstance(dim, bool) or not isinstance(dim, Integral) else int(dim)
    if width < 1 or width % 2 == 0:
        return frequencies(dim, base=base, spacing=spacing), None
    if odd is None:
        raise ValueError(
            f"dim={width} is odd, so its last sine has no cosine; give an even integer, or say "
            "odd='truncate' (leave that cosine out, as Marian does) or odd='pad' (the encoding of "
            "dim - 1 and a column of zeros, as M2M100 does)"
        )
    if odd == "pad":
        if width == 1:
            raise ValueError("dim=1 with odd='pad' leaves no (sin, cos) pair at all; give 2 or more")
        return frequencies(width - 1, base=base, spacing=spacing), "column"
    if require.choice(spacing, "spacing", SPACINGS) != "paper":
        raise ValueError(
            "odd='truncate' is the paper's own formula, and means nothing with "
            f"spacing={spacing!r}; give odd='pad', as tensor2tensor does"
        )
    rates: np.ndarray = require.positive(base, "base") ** (-np.arange(0.0, width, 2.0) / width)
    return rates, "cosine"


def join_pairs(xp: Any, sines: Array, cosines: Array, layout: str) -> Array:
    """Lay the two members of each pair, both (..., dim/2), out as (..., dim)."""
    if layout == "split":
        return xp.concat([sines, cosines], axis=-1)
    if layout == "split-cos-first":
        return xp.concat([cosines, sines], axis=-1)
    return xp.reshape(xp.stack([sines, cosines], axis=-1), (*sines.shape[:-1], 2 * sines.shape[-1]))


def _join_but_last_cosine(xp: Any, sines: Array, cosines: Array, layout: str) -> Array:
    """As `join_pairs`, less the cosine of the last pair: an odd number of columns."""
    if layout == "interleaved":
        return join_pairs(xp, sines, cosines, layout)[..., :-1]
    return join_pairs(xp, sines, cosines[..., :-1], layout)
