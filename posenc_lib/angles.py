"""What the added and the rotated door share: one frequency per pair, and position times frequency."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, constant, is_compiling, widen
from posenc_lib.scaling.config import read_scaling

SPACINGS = ("paper", "tensor2tensor")
Spacing = Literal["paper", "tensor2tensor"]


def frequencies(
    dim: int, *, base: float = 10000.0, spacing: Spacing = "paper", scaling: Any = None
) -> np.ndarray:
    """Angular frequency of each (sin, cos) pair: base^(-2i/dim) for i = 0 .. dim/2 - 1.

    Pair 0 turns fastest (1 rad per position, wavelength 2*pi); the last one slowest.

    Args:
        dim: width of the encoding, even.
        base: the constant of the geometric series.
        spacing: "paper" divides the exponent by dim/2, so that the series stops one step short of
            1/base. "tensor2tensor" divides by dim/2 - 1, as that code and those who follow it do
            (fairseq, M2M100, Whisper, MusicGen, diffusion time steps): the slowest pair turns at
            1/base exactly. The two encodings differ by up to 2, the whole range.
        scaling: a rule that changes the frequencies for longer contexts, such as `YaRNScaling`; an
            object with a method `scale(frequencies, *, dim, base)`, or a Hugging Face `rope_scaling` /
            `rope_parameters` dict. Such rules are made for the paper's spacing.

    Returns:
        (dim/2,) NumPy float64, in rad/position.

    Raises:
        TypeError: dim is not an integer, base not a number, or scaling not such a rule.
        ValueError: dim is odd or below 2, base is not finite and positive, the spacing is unknown,
            a scaling rule meets tensor2tensor's spacing, or a dict names no rule that can be built.

    Example:
        >>> frequencies(8)  # each pair turns ten times slower than the one before
        array([1.   , 0.1  , 0.01 , 0.001])
        >>> print(frequencies(8, spacing="tensor2tensor")[-1])  # 1/base
        0.0001

    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.5; tensor2tensor,
        `layers/common_attention.py`, `get_timing_signal_1d`.
    """
    dim = require.even_dim(dim)
    base = require.positive(base, "base")
    require.choice(spacing, "spacing", SPACINGS)
    if scaling is not None:
        base, scaling = read_scaling(scaling, base)
    pairs = dim // 2
    steps = pairs if spacing == "paper" else max(pairs - 1, 1)
    plain: np.ndarray = base ** (-np.arange(pairs, dtype=np.float64) / steps)
    if scaling is None:
        return plain
    if spacing != "paper":
        raise ValueError(
            f"scaling={scaling!r} with spacing={spacing!r}: scaling rules are made for the paper's "
            "spacing; leave out one of the two"
        )
    scaled: np.ndarray = scaling.scale(plain, dim=dim, base=base)
    return scaled if is_compiling() else _read_scaled(scaled, scaling, pairs)  # NumPy's dtypes are not traced


def _read_scaled(scaled: Any, scaling: Any, pairs: int) -> np.ndarray:
    """What a rule gave, which may be somebody else's."""
    wanted = f"scaling={scaling!r} must return {pairs} finite frequencies, one per pair, as a NumPy array"
    if not isinstance(scaled, np.ndarray) or scaled.dtype.kind not in "iuf":
        raise TypeError(f"{wanted}; it returned {type(scaled).__name__}")
    if scaled.shape != (pairs,):
        raise ValueError(f"{wanted}; it returned shape {scaled.shape}")
    if not np.isfinite(scaled).all():
        raise ValueError(f"{wanted}; it returned NaN or infinity")
    return scaled.astype(np.float64, copy=False)


def angles(positions: Array, rates: np.ndarray) -> Array:
    """Position times frequency, in float64: (...,) and (dim/2,) give (..., dim/2), in rad.

    In float32 the product would lose 0.06 rad at position 1,000,000. In float64 it is good to
    1e-9 rad there, so that the sine can be cast to any narrower type last.
    """
    wide = widen(positions)
    return wide[..., None] * constant(rates, wide)
