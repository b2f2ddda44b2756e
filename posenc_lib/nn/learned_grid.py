"""Door 1 for images, as a module: a learned table of patches that can be resampled."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib.added import resample_grid
from posenc_lib.added.resample import Mode, read_grid, read_settings
from posenc_lib.nn.added import add_rows, read_input
from posenc_lib.nn.base import PositionalEncoding, trunc_normal_
from posenc_lib.nn.positions import Positions, in_grid, read_places
from posenc_lib.nn.tables import rows_of


class LearnedGrid(PositionalEncoding):
    """A learned vector for each patch of an image, and for the tokens before them: ViT, DINOv2, SigLIP.

    A position is the number of the patch in reading order, after the class token where there is one.

    Args:
        shape: (height, width), in patches.
        dim: width of x.
        first: tokens before the patches that have a row of their own: 1 for ViT's class token.
        stretch_to: (height, width) of the images at hand, to whose patches the table is resampled; by
            default `shape`. Set the attribute after training, for larger images.
        mode, antialias, align_corners, offset: how to resample, as in `posenc_lib.resample_grid`.
        std: standard deviation of the rows at the start.

    Raises:
        TypeError, ValueError: as `posenc_lib.resample_grid`; dim below 1; std not positive; from `add`, a
            position outside the grid.

    Example:
        >>> import torch
        >>> encoding = LearnedGrid((14, 14), 768, first=1)  # ViT-B/16 at 224 pixels
        >>> encoding.stretch_to = (24, 24)  # at 384
        >>> encoding(torch.zeros(1, 577, 768)).shape
        torch.Size([1, 577, 768])

    Source: Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", section 3. The start is that of timm.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        dim: int,
        *,
        first: int = 0,
        stretch_to: tuple[int, int] | None = None,
        mode: Mode = "bicubic",
        antialias: bool = False,
        align_corners: bool = False,
        offset: float = 0.0,
        std: float = 0.02,
    ) -> None:
        super().__init__()
        self.shape, self.first = read_grid(shape, "shape"), require.count(first, "first", 0)
        self.stretch_to = None if stretch_to is None else read_grid(stretch_to, "stretch_to")
        self.mode, self.antialias, self.align_corners, self.offset = read_settings(
            mode, antialias, align_corners, offset
        )
        self.std = require.positive(std, "std")
        rows = self.first + self.shape[0] * self.shape[1]
        self.table = nn.Parameter(torch.empty(rows, require.count(dim, "dim")))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the rows again."""
        trunc_normal_(self.table, self.std)

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + table[position], with the table resampled to `stretch_to`."""
        shape = self.shape if self.stretch_to is None else read_grid(self.stretch_to, "stretch_to")
        places = read_places(positions, read_input(x, self.table.shape[1]))
        places = in_grid(places, shape, self, first=self.first)
        table: Tensor = resample_grid(
            self.table,
            self.shape,
            shape,
            mode=self.mode,
            antialias=self.antialias,
            align_corners=self.align_corners,
            offset=self.offset,
            first=self.first,
        )
        return add_rows(x, rows_of(table, places))

    def extra_repr(self) -> str:
        return f"{self.shape}, {self.table.shape[1]}, first={self.first}, mode={self.mode!r}"
