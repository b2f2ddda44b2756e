"""Door 1 as modules: x + p(position)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib.added import (
    fourier_features,
    gaussian_frequencies,
    grid_sinusoidal,
    hybrid,
    learned,
    sinusoidal,
)
from posenc_lib.added.grid import Axes, GridLayout
from posenc_lib.added.learned import BEYOND, Beyond
from posenc_lib.added.sinusoidal import Layout, Odd
from posenc_lib.angles import Spacing
from posenc_lib.nn.base import PositionalEncoding, for_tracer, wide_dtype
from posenc_lib.nn.positions import Positions, as_tensor, in_grid, one_axis, read_places, read_shape
from posenc_lib.nn.tables import KeptTables, rows_of


class Sinusoidal(PositionalEncoding):
    """The fixed sines and cosines of the first Transformer.

    Args:
        dim: width of x; even, unless `odd` says otherwise.
        base, layout, spacing, odd: as in `posenc_lib.sinusoidal`.
        scale: factor on the encoding. Each number of it has a root mean square of 0.71 * scale: choose
            the scale by what the content has (x-transformers takes dim^-0.5, for embeddings that small).

    Raises:
        TypeError, ValueError: as `posenc_lib.sinusoidal`; scale is not positive.

    Example:
        >>> import torch
        >>> from torch import nn
        >>> model = nn.Sequential(nn.Embedding(256, 64), Sinusoidal(64))
        >>> model(torch.zeros(2, 10, dtype=torch.long)).shape
        torch.Size([2, 10, 64])

    Source: Vaswani et al. 2017, section 3.5.
    """

    def __init__(
        self,
        dim: int,
        *,
        base: float = 10000.0,
        layout: Layout = "interleaved",
        spacing: Spacing = "paper",
        odd: Odd | None = None,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        self.dim, self.base, self.layout, self.spacing, self.odd = dim, base, layout, spacing, odd
        self.scale = require.positive(scale, "scale")
        self._make(torch.arange(1), torch.float32)  # refuses what is wrong now, not at the first use
        self._kept = KeptTables()

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + scale * p(position), rounded once."""
        places = one_axis(read_places(positions, read_input(x, self.dim)), self)
        dtype = wide_dtype(x)
        rows = self._kept.rows(
            places,
            lambda at: self._make(at, dtype),
            settings=(self.dim, self.base, self.layout, self.spacing, self.odd),
            device=x.device,
            dtype=dtype,
            width=self.dim,
        )
        return add_rows(x, rows if self.scale == 1 else rows * self.scale)

    def _make(self, positions: Tensor, dtype: torch.dtype) -> Tensor:
        table: Tensor = sinusoidal(
            positions,
            self.dim,
            base=self.base,
            layout=self.layout,
            spacing=self.spacing,
            odd=self.odd,
            dtype=dtype,
        )
        return table

    def extra_repr(self) -> str:
        return f"{self.dim}, base={self.base:g}, layout={self.layout!r}"


class Learned(PositionalEncoding):
    """A learned vector for each position: BERT, GPT-2.

    Args:
        length: how many positions have a row.
        dim: width of x.
        beyond: what is past the last row: "raise", "clamp", "zero" or "interpolate", as in
            `posenc_lib.learned`.
        stretch_to: how many positions "interpolate" stretches the table over; by default `length`. Set
            the attribute after training, to read longer texts.
        std: standard deviation of the rows at the start. BERT and GPT-2 have 0.02, for rows and for token
            embeddings alike: give that of your own token embeddings.

    Raises:
        TypeError, ValueError: length or dim below 1; unknown `beyond`; stretch_to without "interpolate".

    Source: Gehring et al. 2017, section 3.1; Devlin et al. 2019; Radford et al. 2019. The start is that of
    `initializer_range` in their code.
    """

    def __init__(
        self,
        length: int,
        dim: int,
        *,
        beyond: Beyond = "raise",
        stretch_to: int | None = None,
        std: float = 0.02,
    ) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(require.count(length, "length"), require.count(dim, "dim")))
        self.beyond = require.choice(beyond, "beyond", BEYOND)
        self.stretch_to = stretch_to
        self.std = require.positive(std, "std")
        self.reset_parameters()
        learned(self.table.detach()[:1], 1, beyond=beyond, length=stretch_to)  # refuses what does not fit

    def reset_parameters(self) -> None:
        """Draw the rows again."""
        nn.init.normal_(self.table, std=self.std)

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + table[position]."""
        places = one_axis(read_places(positions, read_input(x, self.table.shape[1])), self)
        return add_rows(x, self._rows(as_tensor(places, x.device)))

    def _rows(self, positions: Tensor) -> Tensor:
        rows: Tensor = learned(self.table, positions, beyond=self.beyond, length=self.stretch_to)
        return rows

    def extra_repr(self) -> str:
        return f"{self.table.shape[0]}, {self.table.shape[1]}, beyond={self.beyond!r}"


class Hybrid(Learned):
    """Sinusoidal plus learned: a fixed structure at every position, and a correction where trained.

    Args:
        length, dim, stretch_to, std: as in `Learned`; dim even.
        beyond: as in `Learned`; "zero" by default: past the table the sinusoidal part continues alone.
        base, layout, spacing: as in `Sinusoidal`.

    Raises:
        TypeError, ValueError: as `Learned` and `Sinusoidal`.

    Source: the sum of Vaswani et al. 2017, section 3.5, and Gehring et al. 2017, section 3.1.
    """

    def __init__(
        self,
        length: int,
        dim: int,
        *,
        beyond: Beyond = "zero",
        stretch_to: int | None = None,
        std: float = 0.02,
        base: float = 10000.0,
        layout: Layout = "interleaved",
        spacing: Spacing = "paper",
    ) -> None:
        super().__init__(length, dim, beyond=beyond, stretch_to=stretch_to, std=std)
        self.base, self.layout, self.spacing = base, layout, spacing
        self._rows(torch.arange(1))

    def _rows(self, positions: Tensor) -> Tensor:
        wide = self.table.to(wide_dtype(self.table))  # so that a bfloat16 module has exact waves
        rows: Tensor = hybrid(
            wide,
            positions,
            beyond=self.beyond,
            length=self.stretch_to,
            base=self.base,
            layout=self.layout,
            spacing=self.spacing,
        )
        return rows


class FourierFeatures(PositionalEncoding):
    """Sines and cosines of coordinates along random directions: points in space, irregular times.

    Args:
        dim: width of x, even: dim/2 directions.
        axes: number of coordinates per token. Where it is 1, positions are (length,) or (batch, length);
            where it is more, they are (axes, batch or 1, length).
        scale: standard deviation of the directions, in cycles per unit of the coordinates: the larger, the
            finer the detail. The dot product of two encodings falls as exp(-2 pi^2 scale^2 distance^2).
        seed: of the directions. They are part of the settings, like `base` elsewhere, not of the state
            dict; the same seed gives the same directions.
        learned: let the directions be trained, from that start; then they are in the state dict.
        layout: as in `posenc_lib.fourier_features`.

    Raises:
        TypeError, ValueError: odd dim, axes below 1, scale not positive, unknown layout.

    Source: Tancik et al. 2020, sections 4 and 6; learned directions: Li et al. 2021, "Learnable Fourier
    Features for Multi-Dimensional Spatial Positional Encoding", section 3, without its network.
    """

    def __init__(
        self,
        dim: int,
        *,
        axes: int = 1,
        scale: float,
        seed: int = 0,
        learned: bool = False,
        layout: Layout = "split",
    ) -> None:
        super().__init__()
        directions = gaussian_frequencies(require.even_dim(dim) // 2, axes, scale=scale, seed=seed)
        fourier_features(np.zeros((1, axes)), directions, layout=layout)
        self.dim, self.axes, self.layout = dim, axes, layout
        self._start = directions
        self.directions: nn.Parameter | np.ndarray = directions
        if require.flag(learned, "learned"):
            self.directions = nn.Parameter(torch.tensor(directions, dtype=torch.get_default_dtype()))

    def reset_parameters(self) -> None:
        """Put learned directions back to where they started."""
        if isinstance(self.directions, nn.Parameter):
            self.directions.data.copy_(torch.from_numpy(self._start))

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + p(coordinates), rounded once."""
        places = read_places(positions, read_input(x, self.dim))
        if self.axes == 1:
            coordinates = as_tensor(one_axis(places, self), x.device)[..., None]
        elif isinstance(places, Tensor) and places.ndim == 3 and places.shape[0] == self.axes:
            coordinates = places.movedim(0, -1)
        else:
            given = f"of shape {tuple(places.shape)}" if isinstance(places, Tensor) else f"{places!r}"
            raise ValueError(
                f"positions {given} are not coordinates of {self.axes} axes; give a tensor of shape "
                f"({self.axes}, batch or 1, length)"
            )
        directions = for_tracer(self.directions, x.device)
        features = fourier_features(coordinates, directions, layout=self.layout, dtype=wide_dtype(x))
        return add_rows(x, features)

    def extra_repr(self) -> str:
        return f"{self.dim}, axes={self.axes}, learned={isinstance(self.directions, nn.Parameter)}"


class Grid(PositionalEncoding):
    """Sinusoidal encoding of the patches of an image, or of the cells of a volume.

    A position is the number of the patch in reading order: row by row, and slice by slice.

    Args:
        shape: (height, width) or (depth, height, width), in patches.
        dim: width of x.
        axes, base, layout, spacing: as in `posenc_lib.grid_sinusoidal`.

    Raises:
        TypeError, ValueError: as `posenc_lib.grid_sinusoidal`; from `add`, a position outside the grid.

    Example:
        >>> import torch
        >>> patches = torch.zeros(1, 196, 768)  # ViT-B/16 at 224 pixels
        >>> Grid((14, 14), 768)(patches).shape
        torch.Size([1, 196, 768])

    Source: He et al. 2022, "Masked Autoencoders Are Scalable Vision Learners".
    """

    def __init__(
        self,
        shape: Sequence[int],
        dim: int,
        *,
        axes: Axes | None = None,
        base: float = 10000.0,
        layout: GridLayout = "split",
        spacing: Spacing = "paper",
    ) -> None:
        super().__init__()
        self.shape = read_shape(shape)
        self.dim, self.axes, self.base, self.layout, self.spacing = dim, axes, base, layout, spacing
        self._make(torch.device("cpu"), torch.float32)
        self._kept = KeptTables()

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + p(row, column), rounded once."""
        places = in_grid(read_places(positions, read_input(x, self.dim)), self.shape, self)
        dtype = wide_dtype(x)
        table = self._kept.whole(
            lambda: self._make(x.device, dtype),
            settings=(self.shape, self.dim, self.axes, self.base, self.layout, self.spacing),
            device=x.device,
            dtype=dtype,
        )
        return add_rows(x, rows_of(table, places))

    def _make(self, device: torch.device, dtype: torch.dtype) -> Tensor:
        along = [torch.arange(n, device=device) for n in self.shape]
        table: Tensor = grid_sinusoidal(
            along,
            self.dim,
            axes=self.axes,
            base=self.base,
            layout=self.layout,
            spacing=self.spacing,
            dtype=dtype,
        )
        return table.reshape(-1, table.shape[-1])

    def extra_repr(self) -> str:
        return f"{self.shape}, {self.dim}"


def read_input(x: Any, dim: int) -> Tensor:
    require.tensors(f" of shape (..., length, {dim})", x=x)
    if not x.is_floating_point():
        raise TypeError(
            f"x has dtype {x.dtype}; an encoding is added to real vectors, such as embeddings of tokens"
        )
    if x.ndim < 2 or x.shape[-1] != dim:
        raise ValueError(f"x has shape {tuple(x.shape)}; give (..., length, {dim})")
    tensor: Tensor = x
    return tensor


def add_rows(x: Tensor, rows: Tensor) -> Tensor:
    """x + rows in the wider of the two dtypes, rounded to x's own once."""
    require.same_device(**{"x": x, "the table": rows})
    require_rows(rows.shape[:-1], x)
    return (x + rows).to(x.dtype)


def require_rows(shape: tuple[int, ...], x: Tensor) -> None:
    """Raise ValueError unless positions of this shape belong to the tokens of x in one way only."""
    if not require.spreads(shape, x.shape[:-1]):
        raise ValueError(
            f"positions of shape {tuple(shape)} do not fit x of shape {tuple(x.shape)}; give "
            "(length,), or (batch, length), one row of positions for each row of x"
        )
    if require.fits_in_front(shape, x.shape[:-1]):
        raise ValueError(
            f"positions of shape {tuple(shape)} may be meant for the first or for the second axis "
            f"of x of shape {tuple(x.shape)}; give x as (rows, length, {x.shape[-1]}), and positions as "
            "(rows, length)"
        )
