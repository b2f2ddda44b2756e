"""Sandwich: the dot product of two sinusoidal encodings, taken out of the input and made a bias."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, constant, namespace, narrow
from posenc_lib.angles import angles, frequencies
from posenc_lib.biased.relative import queries_and_keys, real_dtype


def sandwich_bias(
    heads: int,
    queries: int | Array,
    keys: int | Array,
    *,
    dim: int = 128,
    base: float = 10000.0,
    first_pair: int = 0,
    dtype: Any = None,
) -> Array:
    """Sandwich's bias: PE(query) . PE(key) / (8h / heads) in head h = 1 .. heads.

    PE is `sinusoidal`, of which only the dot product of the two positions is left: it is the sum
    over pairs of cos((query - key) w_i), and falls about as the logarithm of the distance. Head 1 falls the
    fastest. No number is learned.

    Args:
        heads: number of attention heads.
        queries: an int n for the last n of the keys' positions, or positions of shape (..., queries).
        keys: an int n for positions 0 .. n-1, or positions of shape (..., keys).
        dim: width of the encoding, even; the paper's one hyperparameter, unrelated to head_dim.
        base: the constant of its geometric series.
        first_pair: 0 for the pairs i = 0 .. dim/2 - 1 of `sinusoidal`, 1 for i = 1 .. dim/2.
        dtype: of the result; by default that of real positions, else the library's default.

    Returns:
        (heads, queries, keys), or (..., heads, queries, keys) for positions with more axes; in the
        library and on the device of the positions, NumPy for ints. Computed in float64, rounded once.

    Raises:
        TypeError: heads, dim or first_pair not an integer; positions not real numbers.
        ValueError: heads below 1; odd dim; base not positive; first_pair neither 0 nor 1; NaN; more queries
            than keys as ints.

    Who does what: NeMo's code sums i = 1 .. dim/2, and subtracts dim/2, which the softmax does not
    see. The pairs that differ are the fastest, of wavelength 2 pi, and one of wavelength 2 pi base.

    Example:
        >>> sandwich_bias(8, 1, 4)[0].round(2)
        array([[52.19, 57.38, 62.09, 64.  ]])

    Source: Chi et al. 2023, "Dissecting Transformer Length Extrapolation via the Lens of Receptive
    Field Analysis".
    """
    heads = require.count(heads, "heads")
    placed = queries_and_keys(queries, keys)
    dtype = real_dtype(dtype, *placed)
    rates = sandwich_rates(dim, base, first_pair)
    encoded = [_encode(positions, rates) for positions in placed]
    xp = namespace(*encoded)
    product = xp.matmul(encoded[0], xp.matrix_transpose(encoded[1]))
    ratio = constant(compression(heads), product)[:, None, None]
    return narrow(product[..., None, :, :] / ratio, placed[0], dtype)


def sandwich_rates(dim: int, base: float, first_pair: int) -> np.ndarray:
    """The angular frequency of each pair, rad/position."""
    dim, base = require.even_dim(dim), require.positive(base, "base")
    if not require.is_count(first_pair) or first_pair not in (0, 1):
        raise ValueError(f"first_pair={first_pair!r} is not allowed; give 0 (the pairs of `sinusoidal`) or 1")
    rates: np.ndarray = frequencies(dim, base=base) * base ** (-2.0 * first_pair / dim)
    return rates


def compression(heads: int) -> np.ndarray:
    """8h / heads for h = 1 .. heads, by which each head's bias is divided."""
    return np.arange(1, heads + 1) * (8.0 / heads)


def _encode(positions: Array, rates: np.ndarray) -> Array:
    theta = angles(positions, rates)
    xp = namespace(theta)
    return xp.concat([xp.sin(theta), xp.cos(theta)], axis=-1)
