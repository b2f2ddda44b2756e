"""The base of every encoding: three doors, all shut until a subclass opens one."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn


class Run(NamedTuple):
    """The whole positions start, start + 1, ..., stop - 1. Unlike a `range` it may be of symbolic length."""

    start: int
    stop: int


Places = Run | Tensor
"""Positions as the encodings read them."""

Positions = int | range | Run | Tensor
"""Where tokens stand. An int n means 0 .. n-1, a `range` or a `Run` any positions without a gap (these are
fastest: what they need is known without looking). A tensor is (length,), or (batch, length) where rows
differ, of integers or reals; coordinates of several axes are (axes, batch or 1, length)."""


class PositionalEncoding(nn.Module):
    """A positional encoding as a module. Each subclass opens the door through which it enters attention.

    A model calls all three doors and need not know which one does something:

    1. `add`, once, on the input x
    2. `rotate`, in every layer, on queries and keys
    3. `bias`, in every layer, on the scores
    """

    per_layer = False
    """Whether the source gives every layer parameters of its own, rather than one set to all layers."""

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """Door 1: x + p(position).

        Args:
            x: (..., length, dim).
            positions: of its tokens, see `Positions`.

        Returns:
            (..., length, dim), of x's dtype.
        """
        return x

    def rotate(
        self, q: Tensor, k: Tensor, q_positions: Positions, k_positions: Positions
    ) -> tuple[Tensor, Tensor]:
        """Door 2: R(position) q and R(position) k.

        Args:
            q: (batch, heads, queries, head_dim).
            k: (batch, heads, keys, head_dim).
            q_positions, k_positions: of the queries and of the keys, see `Positions`.

        Returns:
            The pair (q, k), shapes and dtypes as given.
        """
        return q, k

    def bias(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        mask: Tensor | None = None,
    ) -> Tensor | None:
        """Door 3: what is added to q k^T / sqrt(head_dim).

        Args:
            q: (batch, heads, queries, head_dim), after `rotate`.
            k: (batch, heads, keys, head_dim), after `rotate`.
            q_positions, k_positions: of the queries and of the keys, see `Positions`.
            mask: booleans that broadcast to the scores, True where a query may look at a key. For an
                encoding that counts keys (CoPE); the others do not look at it.

        Returns:
            None for no bias, else real numbers that broadcast to (batch, heads, queries, keys). They are
            float32 at least where they do not depend on q and k: in bfloat16 a bias of -1000 is off by 2.
            Keys after the query are not masked here: that is the attention's part.
        """
        return None

    def forward(self, x: Tensor, positions: Positions | None = None) -> Tensor:
        """`add`, by default at positions 0 .. length-1, so that the module fits in `nn.Sequential`.

        Raises:
            TypeError: the encoding adds nothing to x, and would be passed over in silence.
        """
        if type(self).add is PositionalEncoding.add and not isinstance(self, NoPE):
            raise TypeError(
                f"{type(self).__name__} adds nothing to x, but enters attention by `rotate` or `bias`; "
                "give it to posenc_lib.nn.Transformer, or to EncoderLayer in nn.TransformerEncoder"
            )
        return self.add(x, Run(0, x.shape[-2]) if positions is None else positions)


class NoPE(PositionalEncoding):
    """No encoding at all: all doors shut.

    Attention then treats tokens as a bag, but for the causal mask, from which a decoder can learn order.

    Source: Haviv et al. 2022, "Transformer Language Models without Positional Encodings Still Learn
    Positional Information"; the name is from Kazemnejad et al. 2023.
    """


def read_places(positions: Any, tokens: Tensor, name: str = "positions") -> Places:
    """Positions of the tokens on the second-last axis of `tokens`.

    Raises:
        TypeError: positions are no int, range or tensor, or booleans.
        ValueError: another number of positions than tokens, another device, a negative int.
    """
    places = _read(positions, tokens, name)
    count = places.stop - places.start if isinstance(places, Run) else places.shape[-1]
    if count != tokens.shape[-2]:
        raise ValueError(
            f"{name} are {count} for {tokens.shape[-2]} tokens, in vectors of shape {tuple(tokens.shape)}; "
            "give one per token"
        )
    return places


def _read(positions: Any, tokens: Tensor, name: str) -> Places:
    if isinstance(positions, Run):
        return positions
    if isinstance(positions, Tensor):
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
        if positions.device != tokens.device:
            raise ValueError(
                f"{name} are on {positions.device}, the tokens on {tokens.device}; move them to one device"
            )
        return positions
    if isinstance(positions, range):
        if positions.step == 1:
            return Run(positions.start, positions.stop)
        return torch.arange(positions.start, positions.stop, positions.step, device=tokens.device)
    if not isinstance(positions, bool) and isinstance(positions, (Integral, torch.SymInt)):
        count: Any = positions
        if count < 0:
            raise ValueError(f"{name}={count} is negative; give the number of tokens, {tokens.shape[-2]}")
        return Run(0, count)
    raise TypeError(
        f"{name} is of type {type(positions).__name__}; give an int n for 0 .. n-1, a range, or a tensor of "
        "integers or real numbers"
    )


def as_tensor(places: Places, device: torch.device) -> Tensor:
    """The places as a tensor of at least one axis."""
    return torch.arange(places.start, places.stop, device=device) if isinstance(places, Run) else places


def one_axis(places: Places, encoding: nn.Module) -> Places:
    """The places, if they are one number per token."""
    if isinstance(places, Tensor) and places.ndim == 3:
        raise ValueError(
            f"positions of shape {tuple(places.shape)} are coordinates of several axes; "
            f"{type(encoding).__name__} takes one number per token: (length,) or (batch, length)"
        )
    return places


def wide_dtype(x: Tensor) -> torch.dtype:
    """float64 for float64, else float32: what tables and biases are made in, whatever the module's dtype."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def for_tracer(values: Any, device: torch.device) -> Any:
    """Fixed numbers as they are; as a tensor while torch.compile traces, which reads no dtype of NumPy's."""
    if isinstance(values, np.ndarray) and torch.compiler.is_compiling():
        return torch.from_numpy(values).to(device)
    return values
