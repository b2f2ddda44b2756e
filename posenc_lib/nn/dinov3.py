"""Door 2 for images, as a module: DINOv3's rotation, with its augmentation."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch
from torch import Tensor

from posenc_lib import _require as require
from posenc_lib._arrays import is_compiling, widen
from posenc_lib.nn.base import wide_dtype
from posenc_lib.nn.doors import TableRotation
from posenc_lib.nn.positions import Places, in_grid
from posenc_lib.nn.tables import KeptTables, rows_of
from posenc_lib.rotated import RotaryTables, dinov3_tables, patch_coordinates
from posenc_lib.rotated.dinov3 import Change, Normalize, changed, draw_change, read_limits, read_patches
from posenc_lib.rotated.tables import Layout
from posenc_lib.rotated.turn import LAYOUTS


class DINOv3Rotary(TableRotation):
    """DINOv3's RoPE: patches turn by their place in the picture, from -1 to 1, whatever its resolution.

    A position is the number of the patch in reading order, after the class and register tokens, which do not
    turn. Set `shape` to that of the images at hand.

    Args:
        head_dim: width of a head's queries and keys, a multiple of 4.
        shape: (height, width), in patches.
        first: tokens before the patches: 5 in DINOv3, a class token and four registers.
        base, periods: as in `posenc_lib.dinov3_tables`.
        normalize: as in `posenc_lib.patch_coordinates`.
        shift, jitter, rescale: how far the coordinates move in training, as in
            `posenc_lib.augment_coordinates`; None for not at all.
        layout: "half" as in DINOv3, or "interleaved".

    Raises:
        TypeError, ValueError: as these functions; from `rotate`, a position outside the grid.
        RuntimeError: from `rotate`, in training with an augmentation of which nothing was drawn yet.

    Example:
        >>> import torch
        >>> rope = DINOv3Rotary(64, (14, 14), first=5, rescale=2.0)
        >>> generator = torch.Generator().manual_seed(0)
        >>> rope.draw(generator)  # at the start of each training step
        >>> q, k = rope.rotate(*torch.randn(2, 1, 12, 201, 64), 201, 201)

    Source: Siméoni et al. 2025, "DINOv3"; facebookresearch/dinov3, `layers/rope_position_encoding.py`.
    """

    def __init__(
        self,
        head_dim: int,
        shape: tuple[int, int],
        *,
        first: int = 0,
        base: float = 100.0,
        periods: tuple[float, float] | None = None,
        normalize: Normalize = "separate",
        shift: float | None = None,
        jitter: float | None = None,
        rescale: float | None = None,
        layout: Layout = "half",
    ) -> None:
        super().__init__()
        self.head_dim, self.shape = require.even_dim(head_dim, "head_dim"), read_patches(shape)
        self.first = require.count(first, "first", 0)
        self.base, self.periods, self.normalize = base, periods, normalize
        self.limits = read_limits(shift, jitter, rescale)
        self.layout = require.choice(layout, "layout", LAYOUTS)
        self._drawn: Tensor | None = None  # (2, axes): shift and factor; a tensor does not recompile
        self._draws: Change | None = None  # the same as numbers, by which kept tables are found
        self._make(None, torch.device("cpu"), torch.float32)
        self._kept = KeptTables()

    def draw(self, generator: Any) -> None:
        """Draw the augmentation of this training step, for all layers and calls until the next draw.

        Args:
            generator: of NumPy or PyTorch, as in `posenc_lib.augment_coordinates`.

        In evaluation it has no effect.
        """
        self._draws = draw_change(generator, 2, **self.limits._asdict())
        self._drawn = torch.tensor(self._draws, dtype=torch.float64, device="cpu")

    def _tables(self, x: Tensor, places: Places) -> RotaryTables:
        places = in_grid(places, self.shape, self, first=self.first)
        drawn, dtype = self._drawn_now(), wide_dtype(x)
        table: RotaryTables = self._kept.whole(
            lambda: self._make(drawn, x.device, dtype),
            settings=None if is_compiling() else self._settings(drawn is not None),
            device=x.device,
            dtype=dtype,
        )
        return rows_of(table, places)

    def _settings(self, augmented: bool) -> Hashable:
        """All that the tables depend on, besides the device and the dtype."""
        fixed = (self.head_dim, tuple(self.shape), self.first, self.base, self.periods, self.normalize)
        return (*fixed, self._draws if augmented else None)

    def _drawn_now(self) -> Tensor | None:
        """What was drawn for this step; None in evaluation, and where nothing is augmented."""
        if not self.training or self.limits == (None, None, None):
            return None
        if self._drawn is None:
            raise RuntimeError(
                f"this module trains with {self.limits}, but nothing has been drawn; call draw(generator) at "
                "the start of each step, or eval()"
            )
        return self._drawn

    def _make(self, drawn: Tensor | None, device: torch.device, dtype: torch.dtype) -> RotaryTables:
        """The tables of all tokens, those before the patches included."""
        wide = widen(torch.empty(0, device=device)).device  # where there is float64
        coordinates = torch.from_numpy(patch_coordinates(self.shape, normalize=self.normalize)).to(wide)
        if drawn is not None:
            coordinates = changed(coordinates, *drawn.to(wide))
        tables = dinov3_tables(coordinates, self.head_dim, base=self.base, periods=self.periods, dtype=dtype)
        still = torch.zeros(self.first, self.head_dim // 2, dtype=dtype, device=wide)
        cos, sin = torch.cat([still + 1, tables.cos]), torch.cat([still, tables.sin])
        return RotaryTables(cos.to(device), sin.to(device))

    def extra_repr(self) -> str:
        sizes = f"{self.head_dim}, shape={self.shape}, first={self.first}, base={self.base:g}"
        return f"{sizes}, normalize={self.normalize!r}"
