"""What several exercises of `06-rotary` share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.rotated.rotary import apply_rotary

BASE = 10000.0


FROM_A_PAIR = "RoPE, from one pair to a whole head"


CONVERSION = "Fix a conversion"


Generator = np.random.Generator


Rotate = Callable[[Array, Array], Array]


def _turn(pair: Array, angle: float) -> Array:
    turned = complex(*pair) * np.exp(1j * angle)
    return np.array([turned.real, turned.imag])


def _turned(x: Array, theta: Array, *, half: bool = False, clockwise: bool = False) -> Array:
    """The first 2 * pairs columns of x turned by theta, (n, pairs); the rest passes."""
    dim = 2 * theta.shape[-1]
    first, second = (
        (slice(0, dim // 2), slice(dim // 2, dim)) if half else (slice(0, dim, 2), slice(1, dim, 2))
    )
    turned = (x[:, first] + 1j * x[:, second]) * np.exp((-1j if clockwise else 1j) * theta)
    out = x.astype(np.float64)
    out[:, first], out[:, second] = turned.real, turned.imag
    return out


def _theta(positions: Array, rates: Array) -> Array:
    return np.asarray(np.asarray(positions, dtype=np.float64)[:, None] * rates)


# What is given: ways to put a position into a vector. Those that are not relative each have one bug.
WIDTH = 8


def rotated(x: Array, positions: Array, **settings: Any) -> Array:
    """`apply_rotary` of whole numbers and lists as well: nobody is told that they have to be floats."""
    return np.asarray(apply_rotary(np.asarray(x, dtype=np.float64), np.asarray(positions), **settings))


def interleaved(x: Array, positions: Array) -> Array:
    return rotated(x, positions)


def half(x: Array, positions: Array) -> Array:
    return rotated(x, positions, layout="half")


def clockwise(x: Array, positions: Array) -> Array:
    return rotated(x, -np.asarray(positions))


def score(rotate: Rotate, q: Array, k: Array, query: float, key: float) -> float:
    """The score of a query and a key that stand at these positions."""
    turned_q = rotate(q[None], np.array([query]))
    turned_k = rotate(k[None], np.array([key]))
    return float((turned_q @ turned_k.T)[0, 0])


def two_vectors(seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(2, WIDTH))


def split_heads(weight: Array, heads: int) -> Array:
    return weight.reshape(heads, len(weight) // heads, -1)


def to_interleaved(weight: Array, heads: int) -> Array:
    first, second = np.split(split_heads(weight, heads), 2, axis=1)
    return np.stack([first, second], axis=2).reshape(weight.shape)


def turned_by(x: Array, position: float, base: float, layout: str = "interleaved") -> Array:
    return np.asarray(apply_rotary(x[None], np.array([position]), base=base, layout=layout)[0])  # type: ignore[arg-type]


DECODER = "Your decoder turns its queries and keys"


def turn_heads(
    x: Array,
    positions: Array,
    base: float,
    *,
    half: bool = False,
    clockwise: bool = False,
    power: float = 1.0,
) -> Array:
    dim = x.shape[-1]
    theta = np.asarray(positions, dtype=float)[..., None] * base ** (-power * np.arange(0, dim, 2) / dim)
    first, second = (
        (slice(0, dim // 2), slice(dim // 2, dim)) if half else (slice(0, dim, 2), slice(1, dim, 2))
    )
    turned = (x[..., first] + 1j * x[..., second]) * np.exp((-1j if clockwise else 1j) * theta)
    out = np.array(x, dtype=np.float64)
    out[..., first], out[..., second] = turned.real, turned.imag
    return out


YARN = "YaRN, built from its reasons"


def yarn_by_loop(dim: int, base: float, factor: float, length: int) -> list[float]:
    """As the authors of YaRN write it: a mask for what stays, pair by pair."""

    def found(rotations: float) -> float:
        return dim * math.log(length / (rotations * 2 * math.pi)) / (2 * math.log(base))

    low, high = max(math.floor(found(32)), 0), math.ceil(found(1))
    out = []
    for j in range(dim // 2):
        plain = 1 / base ** (2 * j / dim)
        stays = 1 - min(max((j - low) / (high - low), 0), 1)
        out.append(plain / factor * (1 - stays) + plain * stays)
    return out
