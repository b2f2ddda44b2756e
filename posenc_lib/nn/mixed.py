"""Door 2 for images, as a module: mixed RoPE, whose directions are learned."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib._arrays import namespace
from posenc_lib.nn.base import wide_dtype
from posenc_lib.nn.doors import TableRotation, for_all_heads, places_of_vectors
from posenc_lib.nn.positions import Places, Positions, in_grid, read_shape
from posenc_lib.nn.tables import rows_of
from posenc_lib.rotated import RotaryTables, rotate
from posenc_lib.rotated.mixed import directions, mixed_speeds, tables_along
from posenc_lib.rotated.tables import Layout
from posenc_lib.rotated.turn import LAYOUTS


class MixedRotary(TableRotation):
    """Mixed RoPE for images: each pair turns by a learned mixture of row and column.

    Args:
        head_dim: width of a head's queries and keys, a multiple of 4.
        shape: (height, width): then a position is the number of a patch in reading order. Without it, and if
            you like with it, positions are coordinates, (2, batch or 1, length), rows first.
        heads: how many heads have rates of their own, all of them in RoPE-ViT; None for one set that all
            share, which suits grouped queries as well.
        base: as in `posenc_lib.mixed_rates`.
        layout: "interleaved" or "half".

    Raises:
        TypeError, ValueError: as `posenc_lib.mixed_rates`; no grid and no coordinates; from `rotate`, a
            position outside the grid, another number of heads than rates.

    Source: Heo et al. 2024, "Rotary Position Embedding for Vision Transformer", section 3.2. Each layer has
    rates of its own.
    """

    per_layer = True

    def __init__(
        self,
        head_dim: int,
        shape: Sequence[int] | None = None,
        *,
        heads: int | None = None,
        base: float = 10.0,
        layout: Layout = "interleaved",
    ) -> None:
        super().__init__()
        self.speeds = mixed_speeds(head_dim, base)
        self.head_dim, self.base = head_dim, base
        self.shape = None if shape is None else read_shape(shape)
        if self.shape is not None and len(self.shape) != 2:
            raise ValueError(f"shape={shape!r} is not an image; give (height, width)")
        self.heads = None if heads is None else require.count(heads, "heads")
        self.layout = require.choice(layout, "layout", LAYOUTS)
        own = () if self.heads is None else (self.heads,)
        self.rates = nn.Parameter(torch.empty(*own, head_dim // 2, 2))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the directions again."""
        with torch.no_grad():
            device = self.rates.device
            turns = torch.rand(self.heads or 1, 1, device=device) * 2.0 * math.pi
            speeds = torch.from_numpy(self.speeds).to(turns.dtype).to(device)
            self.rates.copy_(directions(namespace(turns), speeds, turns).reshape(self.rates.shape))

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        *,
        seq_axis: int = -2,
    ) -> tuple[Tensor, Tensor]:
        """Queries and keys, turned; rounded once in 16-bit dtypes."""
        if self.heads is None:
            return super().rotate(q, k, q_positions, k_positions, seq_axis=seq_axis)
        turned = []
        for name, x, positions in (("q", q, q_positions), ("k", k, k_positions)):
            places = places_of_vectors(positions, x, f"{name}", self.head_dim, seq_axis)
            first = x if seq_axis in (-2, 2) else x.transpose(1, 2)
            if first.shape[1] != self.heads:
                raise ValueError(
                    f"{name} has {first.shape[1]} heads, and heads={self.heads} have rates of their own; "
                    f"give as many, "
                    "or make the encoding with heads=None for rates that all share"
                )
            x_turned = rotate(first, self._tables(first, places), layout=self.layout)
            turned.append(x_turned if seq_axis in (-2, 2) else x_turned.transpose(1, 2))
        return turned[0], turned[1]

    def _for_both(self, x: Tensor, places: Places, seq_axis: int) -> tuple[RotaryTables, RotaryTables]:
        tables = for_all_heads(self._tables(x, places), seq_axis)
        return tables, tables

    def _tables(self, x: Tensor, places: Places) -> RotaryTables:
        require.same_device(**{"vectors": x, "the rates": self.rates})
        dtype, rates = wide_dtype(x), self.rates
        if isinstance(places, Tensor) and places.ndim == 3:
            if places.shape[0] != 2:
                raise ValueError(
                    f"positions of shape {tuple(places.shape)} have {places.shape[0]} axes of coordinates; "
                    f"give 2, as "
                    "(2, batch or 1, length)"
                )
            return tables_along(places, rates, dtype)
        if self.shape is None:
            raise ValueError(
                "positions are one number per token, but MixedRotary turns by 2 coordinates; give a tensor "
                "of shape "
                "(2, batch or 1, length), or the grid as shape="
            )
        places = in_grid(places, self.shape, self)
        along = [torch.arange(n, device=x.device) for n in self.shape]
        cells = torch.stack(torch.meshgrid(*along, indexing="ij"), dim=-1).reshape(-1, 2).float()
        return tables_along(rows_of(cells, places).movedim(-1, 0), rates, dtype)

    def extra_repr(self) -> str:
        return f"{self.head_dim}, shape={self.shape}, heads={self.heads}, base={self.base:g}"
