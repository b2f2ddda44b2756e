"""The tables that every encoding of this door ends in: a cosine and a sine for each position and pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import (
    Array,
    default_float,
    in_order,
    is_floating,
    moved,
    namespace,
    narrow,
    register_pytree,
    result_dtype,
)

Layout = Literal["interleaved", "half"]


@dataclass(frozen=True, eq=False)
class RotaryTables:
    """What `rotate` turns by: a cosine and a sine for each position and pair.

    Indexing picks positions: `tables[100:101]` are those of one decoding step, `tables[rows]` with
    an array of indices those of each row of a batch. Unpacking gives the two arrays: `cos, sin = tables`.
    For PyTorch and JAX they are a pytree, so that they pass through `jit`, `vmap` and `torch.export`.

    Args:
        cos, sin: (..., dim/2) each, of one real dtype, library and device. Where an encoding also
            scales the pair (an attention factor, xPos), both are multiplied by that scale.

    Raises:
        TypeError: one of them is not an array of real numbers, or their libraries or dtypes differ.
        ValueError: their shapes or devices differ, or hold no pair.

    Example:
        >>> from posenc_lib.rotated import rotary_tables
        >>> tables = rotary_tables(1000, 64)  # once, for the longest text
        >>> tables.dim, tables.cos.shape
        (64, (1000, 32))
        >>> tables[999:].cos.shape  # for the next token alone
        (1, 32)
    """

    cos: Array
    sin: Array

    def __post_init__(self) -> None:
        namespace(self.cos, self.sin)
        if self.cos.dtype != self.sin.dtype or not is_floating(self.cos):
            raise TypeError(f"cos is {self.cos.dtype}, sin {self.sin.dtype}; give one real dtype for both")
        if self.cos.shape != self.sin.shape or self.cos.ndim == 0 or self.cos.shape[-1] == 0:
            raise ValueError(
                f"cos of shape {tuple(self.cos.shape)} and sin of shape {tuple(self.sin.shape)}; give "
                "(..., dim/2) for both, with one pair or more"
            )
        require.same_device(cos=self.cos, sin=self.sin)
        register_pytree(RotaryTables, self.cos)

    @property
    def dim(self) -> int:
        """How many columns of a vector they turn: two per pair."""
        pairs: int = self.cos.shape[-1]
        return 2 * pairs

    def to(self, *where: Any, **options: Any) -> RotaryTables:
        """The same tables on another device or of another dtype, given as for `torch.Tensor.to`.

        For arrays of other libraries give one or both by their names, `device` and `dtype`, or in this order.
        Tables of 16 bits serve vectors of their own dtype alone.

        Raises:
            TypeError: the dtype holds no real numbers, or is of another library.
        """
        return RotaryTables(moved(self.cos, *where, **options), moved(self.sin, *where, **options))

    def __iter__(self) -> Iterator[Array]:
        return iter((self.cos, self.sin))

    def __reduce__(self) -> tuple[type[RotaryTables], tuple[Array, Array]]:
        return RotaryTables, (self.cos, self.sin)

    def __getitem__(self, index: Any) -> RotaryTables:
        parts = index if isinstance(index, tuple) else (index,)
        for part in parts:
            if isinstance(part, np.ndarray) and part.dtype.kind not in "iub":  # PyTorch would round them
                raise IndexError(f"the index has dtype {part.dtype}; give integers, or booleans")
        picked = RotaryTables(self.cos[index], self.sin[index])
        # Not asked of a slice alone: a compiler would make a number of a length that it keeps open.
        reaches = not isinstance(index, slice) and _reaches_last_axis(parts, self.cos.shape)
        if picked.dim != self.dim or reaches:
            raise IndexError(
                f"the index {index!r} reaches into the {self.dim // 2} pairs of each position; index only "
                f"the positions, which have shape {tuple(self.cos.shape[:-1])}"
            )
        return picked


def _reaches_last_axis(index: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Whether the index picks from the last axis, rather than to leave it whole."""
    parts = [part for part in index if part is not None]
    masks = [part.ndim for part in parts if str(getattr(part, "dtype", "")).endswith("bool")]
    from_the_end = any(part is Ellipsis for part in parts)
    if not from_the_end and len(parts) - len(masks) + sum(masks) < len(shape):
        return False
    last = parts[-1]
    whole = isinstance(last, slice) and range(shape[-1])[last] == range(shape[-1])
    return last is not Ellipsis and not whole


def tables_of(theta: Array, like: Array, dtype: Any, scale: Any = 1.0) -> RotaryTables:
    """Tables of float64 angles in rad, both multiplied by `scale`, cast last; the pairs of a position lie
    side by side in memory, however its positions did."""
    xp = namespace(theta)
    dtype = table_dtype(like, dtype)
    cos, sin = (narrow(f(theta) * scale, like, dtype) for f in (xp.cos, xp.sin))
    return RotaryTables(in_order(cos), in_order(sin))


def table_dtype(like: Array, dtype: Any) -> Any:
    """The dtype asked for, else the library's default real type, float32 if that has fewer bits."""
    if dtype is not None:
        return result_dtype(like, dtype)
    xp = namespace(like)
    usual = default_float(xp)
    return usual if xp.finfo(usual).bits >= 32 else xp.float32
