"""Fourier features: sines and cosines of coordinates along given directions."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, constant, namespace, narrow, result_dtype, widen
from posenc_lib.added.sinusoidal import LAYOUTS, Layout, join_pairs


def fourier_features(
    coordinates: ArrayT, matrix: Array, *, layout: Layout = "split", dtype: Any = None
) -> ArrayT:
    """sin and cos of 2*pi * (matrix @ v) for each vector v of coordinates.

    Args:
        coordinates: (..., axes), integers or reals: points, colours, times; one axis for scalars.
        matrix: (features, axes), in cycles per unit of the coordinates; each row is a direction and a
            frequency. Make it with `gaussian_frequencies` or `power_of_two_frequencies`, or learn it:
            gradients reach it. NumPy, or the library of the coordinates.
        layout: "split" (all sines, then all cosines), "split-cos-first" or "interleaved".
        dtype: of the result; by default that of real coordinates, else the library's default.

    Returns:
        (..., 2 * features), in the library and on the device of the coordinates. The turns are counted
        in float64, whole ones are dropped exactly, and the cast comes last.

    Raises:
        TypeError: not numbers, or a dtype that is not a real type of the library.
        ValueError: NaN; a matrix that is not (features, axes) for these coordinates; different
            devices; unknown layout.

    Who does what: Tancik et al. write cosines first, and their code puts sines first, as does
    `GaussianFourierProjection` of diffusers 0.42.1 by default (which takes the logarithm of
    its input first). NeRF's paper is layout="interleaved" with `power_of_two_frequencies`; its code
    leaves out the factor pi, and groups by frequency before axis.

    Example:
        >>> import numpy as np
        >>> points = np.asarray([[0.0, 0.0], [0.25, 0.5]])
        >>> fourier_features(points, np.asarray([[1.0, 0.0], [0.0, 1.0]])).round(3)
        array([[ 0.,  0.,  1.,  1.],
               [ 1.,  0.,  0., -1.]])

    Source: Tancik et al. 2020, "Fourier Features Let Networks Learn High Frequency Functions in Low
        Dimensional Domains", sections 4 and 6.
    """
    require.choice(layout, "layout", LAYOUTS)
    coordinates = require.numbers(coordinates, "coordinates")
    matrix = require.numbers(matrix, "matrix entries")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"matrix has shape {tuple(matrix.shape)}; give (features, axes), neither of them 0")
    if coordinates.ndim == 0 or coordinates.shape[-1] != matrix.shape[1]:
        raise ValueError(
            f"coordinates of shape {tuple(coordinates.shape)} and a matrix of shape {tuple(matrix.shape)} "
            "do not fit; give (..., axes) and (features, axes), with x[..., None] for single numbers"
        )
    dtype = result_dtype(coordinates, dtype)
    wide = widen(coordinates)
    if isinstance(matrix, np.ndarray):
        directions = constant(matrix.astype(np.float64), wide)
    else:
        require.same_device(coordinates=coordinates, matrix=matrix)
        directions = widen(matrix)
    xp = namespace(wide, directions)
    turns = xp.matmul(wide, xp.matrix_transpose(directions))
    theta = (turns - xp.round(turns)) * (2.0 * math.pi)
    return narrow(join_pairs(xp, xp.sin(theta), xp.cos(theta), layout), coordinates, dtype)


def gaussian_frequencies(
    features: int, axes: int, *, scale: float, seed: int | np.random.Generator
) -> np.ndarray:
    """Random directions for `fourier_features`, drawn from a normal distribution.

    The dot product of two features over their number tends to exp(-2 pi^2 scale^2 r^2) at distance r: the
    scale sets how fast it falls with distance, that is, how fine the detail.

    Args:
        features: number of rows.
        axes: number of coordinates.
        scale: standard deviation of each entry, in cycles per unit.
        seed: an integer, or a NumPy generator; the same integer gives the same matrix.

    Returns:
        (features, axes) NumPy float64, in cycles per unit.

    Raises:
        TypeError: counts or seed are not integers.
        ValueError: counts below 1, a negative seed, or a scale that is not positive.

    Example:
        >>> gaussian_frequencies(128, 2, scale=10.0, seed=0).shape
        (128, 2)

    Source: Tancik et al. 2020, section 6, the Gaussian mapping; its kernel is the transform of section 4.
    """
    shape = (require.count(features, "features"), require.count(axes, "axes"))
    scale = require.positive(scale, "scale")
    return read_generator(seed).normal(scale=scale, size=shape)


def power_of_two_frequencies(bands: int, axes: int) -> np.ndarray:
    """NeRF's directions for `fourier_features`: each axis by itself, at 2^k * pi rad per unit.

    Args:
        bands: number of frequencies per axis, k = 0 .. bands - 1.
        axes: number of coordinates.

    Returns:
        (axes * bands, axes) NumPy float64, in cycles per unit: all bands of the first axis, then those
        of the second, and so on. The slowest has a wavelength of 2 units: made for [-1, 1].

    Raises:
        TypeError: counts are not integers.
        ValueError: counts below 1.

    Example:
        >>> power_of_two_frequencies(2, 2)
        array([[0.5, 0. ],
               [1. , 0. ],
               [0. , 0.5],
               [0. , 1. ]])

    Source: Mildenhall et al. 2020, "NeRF: Representing Scenes as Neural Radiance Fields for View
        Synthesis", equation 4.
    """
    bands, axes = require.count(bands, "bands"), require.count(axes, "axes")
    return np.kron(np.eye(axes), 2.0 ** np.arange(-1, bands - 1)[:, None])


def read_generator(seed: Any) -> np.random.Generator:
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise TypeError(f"seed={seed!r} is not an integer; give one, or a numpy.random.Generator")
    if seed < 0:
        raise ValueError(f"seed={int(seed)} is negative; give 0 or more")
    return np.random.default_rng(int(seed))
