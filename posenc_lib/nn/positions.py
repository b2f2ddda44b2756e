"""Where tokens are, in every form in which a module may be told."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib._arrays import is_plain_tensor, values_are_known


class Span(NamedTuple):
    """The whole positions start, start + 1, ..., stop - 1. Unlike a `range` it may be of symbolic length."""

    start: int
    stop: int


Places = Span | Tensor
"""Positions as the encodings read them."""

Positions = int | range | Span | Tensor
"""Where tokens are. An int n means 0 .. n-1, a `range` or a `Span` any positions without a gap (these are
fastest: what they need is known without looking). A tensor is (length,), or (batch, length) where rows
differ, of integers or reals; coordinates of several axes are (axes, batch or 1, length)."""


_WIDE_UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)
"""Dtypes of which PyTorch finds neither the least nor the largest."""


def read_places(positions: Any, tokens: Tensor, name: str = "positions") -> Places:
    """Positions of the tokens on the second-last axis of `tokens`.

    Raises:
        TypeError: positions are not an int, a range or a tensor, or are booleans.
        ValueError: another number of positions than tokens, another device, a negative int.
    """
    places = _read(positions, tokens, name)
    count = places.stop - places.start if isinstance(places, Span) else places.shape[-1]
    if count != tokens.shape[-2]:
        raise ValueError(
            f"{name} are {count} for {tokens.shape[-2]} tokens, in vectors of shape {tuple(tokens.shape)}; "
            "give one per token"
        )
    return places


def _read(positions: Any, tokens: Tensor, name: str) -> Places:
    if isinstance(positions, Span):
        return positions
    if isinstance(positions, Tensor):
        if not is_plain_tensor(positions):
            require.tensors(**{name: positions})
        if positions.dtype == torch.bool or positions.is_complex():
            raise TypeError(
                f"{name} have dtype {positions.dtype}; give integers or real numbers, one per token "
                "(a padding mask is its own argument)"
            )
        if not 1 <= positions.ndim <= 3:
            raise ValueError(
                f"{name} have shape {tuple(positions.shape)}; give (length,), (batch, length), or "
                "(axes, batch or 1, length) for coordinates of several axes"
            )
        require.same_device(**{name: positions, "the tokens": tokens})
        return positions.long() if positions.dtype in _WIDE_UNSIGNED else positions
    if isinstance(positions, range):
        if positions.step == 1:
            return Span(positions.start, max(positions.start, positions.stop))
        return torch.arange(positions.start, positions.stop, positions.step, device=tokens.device)
    if not isinstance(positions, bool) and isinstance(positions, (Integral, torch.SymInt)):
        count: Any = positions
        if count < 0:
            raise ValueError(f"{name}={count} is negative; give the number of tokens, {tokens.shape[-2]}")
        return Span(0, count)
    raise TypeError(
        f"{name} is of type {type(positions).__name__}; give an int n for 0 .. n-1, a range, or a tensor of "
        "integers or real numbers"
    )


def places_of_heads(positions: Any, x: Tensor, name: str = "positions") -> Places:
    """Positions of queries or keys x, (batch, heads, length, head_dim), as `read_places`.

    Raises:
        TypeError, ValueError: as `read_places`; rows of positions that are not those of the batch.
    """
    places = read_places(positions, x, name)
    if (
        isinstance(places, Tensor)
        and places.ndim > 1
        and not require.spreads(places.shape[-2:-1], x.shape[:1])
    ):
        raise ValueError(
            f"{name} of shape {tuple(places.shape)} have {places.shape[-2]} rows, for a batch of "
            f"{x.shape[0]}, in vectors of shape {tuple(x.shape)}; give (length,), (batch, length), or "
            "(axes, batch or 1, length) for coordinates of several axes"
        )
    return places


def as_tensor(places: Places, device: torch.device) -> Tensor:
    """The places as a tensor of at least one axis."""
    return torch.arange(places.start, places.stop, device=device) if isinstance(places, Span) else places


def one_axis(places: Places, encoding: nn.Module) -> Places:
    """The places, if they are one number per token."""
    if isinstance(places, Tensor) and places.ndim == 3:
        raise ValueError(
            f"positions of shape {tuple(places.shape)} are coordinates of several axes; "
            f"{type(encoding).__name__} takes one number per token: (length,) or (batch, length)"
        )
    return places


def read_shape(shape: Any) -> tuple[int, ...]:
    """The sizes of a grid, all known: (height, width) or (depth, height, width)."""
    if not isinstance(shape, (tuple, list)) or len(shape) not in (2, 3):
        raise ValueError(f"shape={shape!r} is not a grid; give (height, width) or (depth, height, width)")
    return tuple(require.count(n, f"shape[{i}]") for i, n in enumerate(shape))


def in_grid(places: Places, shape: tuple[int, ...], encoding: nn.Module, *, first: int = 0) -> Places:
    """The places, if they are numbers of cells of the grid, in reading order, after so many other tokens."""
    return among(
        places,
        first + math.prod(shape),
        encoding,
        of=f"cells of the grid {shape}, in reading order",
        outside=f"the grid {shape}, whose cells are",
        remedy=", in reading order; give fewer tokens or a larger grid",
    )


def among(places: Places, count: int, encoding: nn.Module, *, of: str, outside: str, remedy: str) -> Places:
    """The places, if they are whole numbers 0 .. count - 1; the rest is for the messages."""
    places = one_axis(places, encoding)
    if isinstance(places, Tensor):
        if places.is_floating_point():
            raise TypeError(
                f"positions have dtype {places.dtype}; they are numbers of {of}, so give integers"
            )
        if not values_are_known(places) or places.numel() == 0:
            return places
        first, last = int(places.min()), int(places.max())
    else:
        first, last = places.start, max(places.stop - 1, places.start)
    if first < 0 or last >= count:
        wrong = first if first < 0 else last
        raise ValueError(f"position {wrong} is outside {outside} 0 to {count - 1}{remedy}")
    return places
