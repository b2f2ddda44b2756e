"""Door 2 for video, as a module: what V-JEPA 2 does in the place of a rotation."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from posenc_lib import _require as require
from posenc_lib._heads import heads_first, seq_back
from posenc_lib.nn.base import PositionalEncoding
from posenc_lib.nn.doors import places_of_vectors
from posenc_lib.nn.positions import Positions, as_tensor, in_grid, read_shape
from posenc_lib.rotated import vjepa2_mix
from posenc_lib.rotated.vjepa2 import columns_of_an_axis


class VJEPA2(PositionalEncoding):
    """V-JEPA 2's mixing of columns by frame, row and column: meant as a rotation, but not one.

    For its checkpoints. `posenc_lib.vjepa2_mix` says what is wrong; a new model takes `AxialRotary`.

    Args:
        head_dim: width of a head's queries and keys, 6 or more.
        shape: (frames, height, width), in patches: then a position is the number of a patch in reading
            order. Positions may as well be coordinates, (3, batch or 1, length).
        base: as in `posenc_lib.vjepa2_mix`.

    Raises:
        TypeError, ValueError: as `posenc_lib.vjepa2_mix`; no grid of three axes; from `rotate`, a position
            outside the grid.

    Source: Assran et al. 2025, "V-JEPA 2"; transformers, `modeling_vjepa2.py`.
    """

    def __init__(self, head_dim: int, shape: Sequence[int], *, base: float = 10000.0) -> None:
        super().__init__()
        self.head_dim, self.shape = require.count(head_dim, "head_dim"), read_shape(shape)
        columns_of_an_axis(self.head_dim)
        if len(self.shape) != 3:
            raise ValueError(f"shape={self.shape} is not a video; give (frames, height, width), in patches")
        self.base = require.positive(base, "base")

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        *,
        seq_axis: int = -2,
    ) -> tuple[Tensor, Tensor]:
        """Queries and keys, mixed."""
        return self._mixed(q, "q", q_positions, seq_axis), self._mixed(k, "k", k_positions, seq_axis)

    def _mixed(self, x: Tensor, name: str, positions: Positions, seq_axis: int) -> Tensor:
        places = places_of_vectors(positions, x, name, self.head_dim, seq_axis)
        if isinstance(places, Tensor) and places.ndim == 3:
            coordinates = places
        else:
            patches = as_tensor(in_grid(places, self.shape, self), x.device)
            _, height, width = self.shape
            coordinates = torch.stack(
                [patches // (height * width), patches // width % height, patches % width]
            )
        if coordinates.ndim == 3:  # (3, batch, length), beside all heads
            coordinates = coordinates[:, :, None]
        (first,) = heads_first(seq_axis, x=x)
        mixed: Tensor = seq_back(vjepa2_mix(first, coordinates, base=self.base), seq_axis)
        return mixed

    def extra_repr(self) -> str:
        return f"{self.head_dim}, shape={self.shape}, base={self.base:g}"
