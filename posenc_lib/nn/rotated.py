"""Door 2 as modules: R(position) q and R(position) k."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from posenc_lib import _require as require
from posenc_lib.nn.base import wide_dtype
from posenc_lib.nn.doors import TableRotation, for_all_heads
from posenc_lib.nn.positions import Places, as_tensor, in_grid, one_axis, read_shape
from posenc_lib.nn.tables import KeptTables, rows_of, scaling_key
from posenc_lib.rotated import (
    RopeSettings,
    RotaryTables,
    axial_tables,
    mrope_tables,
    rope_from_config,
    rotary_tables,
    xpos_tables,
)
from posenc_lib.rotated.tables import Layout
from posenc_lib.rotated.turn import LAYOUTS
from posenc_lib.scaling.config import partial_rotary_dim


class Rotary(TableRotation):
    """RoPE: queries and keys turned by angles proportional to their positions.

    All settings are attributes that may be changed at any time, `scaling` for longer texts for instance: the
    next call obeys. Keys in a cache, however, stay as they were rotated.

    Args:
        head_dim: width of a head's queries and keys.
        base, scaling: as in `posenc_lib.rotary_tables`; `scaling` may be a Hugging Face dict.
        layout: "interleaved" or "half", as in `posenc_lib.rotate`.
        rotary_dim: how many columns turn, even; by default all, or what a scaling dict says.

    Raises:
        TypeError, ValueError: as `posenc_lib.apply_rotary`.

    Example:
        >>> import torch
        >>> rope = Rotary(64, base=500_000.0, layout="half")
        >>> q, k = torch.randn(1, 8, 10, 64), torch.randn(1, 2, 10, 64)
        >>> q, k = rope.rotate(q, k, 10, 10)

    Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding".
    """

    def __init__(
        self,
        head_dim: int,
        *,
        base: float = 10000.0,
        layout: Layout = "interleaved",
        rotary_dim: int | None = None,
        scaling: Any = None,
    ) -> None:
        super().__init__()
        self.head_dim = require.count(head_dim, "head_dim")
        if rotary_dim is None and not isinstance(scaling, Mapping):
            require.even_dim(head_dim, "head_dim")
        self.base, self.rotary_dim, self.scaling = base, rotary_dim, scaling
        self.layout = require.choice(layout, "layout", LAYOUTS)
        self._make(torch.arange(1), torch.float32)
        self._kept = KeptTables()

    @classmethod
    def from_config(cls, config: Any, **choices: Any) -> Rotary:
        """The rotation of a checkpoint, from its config; arguments as in `posenc_lib.rope_from_config`.

        Raises:
            TypeError, ValueError: as `posenc_lib.rope_from_config`; the checkpoint has M-RoPE, which
                `MultimodalRotary.from_config` reads.
        """
        return cls.from_settings(rope_from_config(config, **choices))

    @classmethod
    def from_settings(cls, settings: RopeSettings) -> Rotary:
        """The rotation of one layer, such as the `rope` of `posenc_lib.layers_from_config`.

        Raises:
            TypeError: no settings, as for a layer that does not rotate (give it `NoPE`).
            ValueError: the settings have M-RoPE, or turn the other way.
        """
        arguments = _arguments(settings)
        if settings.sections is not None:
            raise ValueError(
                f"this config has M-RoPE with sections {settings.sections}; give them to MultimodalRotary"
            )
        return cls(**arguments)

    def _tables(self, x: Tensor, places: Places) -> RotaryTables:
        dtype, turning = wide_dtype(x), self._turning
        tables: RotaryTables = self._kept.rows(
            one_axis(places, self),
            lambda at: self._make(at, dtype),
            settings=(turning, self.base, scaling_key(self.scaling, turning, self.base)),
            device=x.device,
            dtype=dtype,
            width=turning,
        )
        return tables

    def _make(self, positions: Tensor, dtype: torch.dtype) -> RotaryTables:
        return rotary_tables(positions, self._turning, base=self.base, scaling=self.scaling, dtype=dtype)

    @property
    def _turning(self) -> int:
        """How many columns turn."""
        dim = self.rotary_dim
        if dim is None and self.scaling is not None and isinstance(self.scaling, Mapping):
            dim = partial_rotary_dim(self.scaling, self.head_dim)
        return require.rotary_dim(dim, self.head_dim)

    def extra_repr(self) -> str:
        return f"{self.head_dim}, base={self.base:g}, layout={self.layout!r}, scaling={self.scaling!r}"


def _arguments(settings: RopeSettings) -> dict[str, Any]:
    """What `Rotary` and `MultimodalRotary` have in common, of settings that they can have."""
    if not isinstance(settings, RopeSettings):
        raise TypeError(
            f"settings is of type {type(settings).__name__}; give RopeSettings (for a layer that does "
            "not rotate, whose rope is None, take NoPE())"
        )
    if settings.backwards:
        raise ValueError(
            "this model turns the other way; take its tables and rotation from rope_from_config(config)"
        )
    names = ("head_dim", "base", "layout", "rotary_dim", "scaling")
    return {name: getattr(settings, name) for name in names}


class MultimodalRotary(Rotary):
    """M-RoPE: each pair turns by one of several coordinates: time, height and width.

    Positions of one number per token, (length,) or (batch, length), are those of text, where all axes agree:
    that is plain RoPE. Coordinates are (axes, batch or 1, length).

    Args:
        head_dim, base, rotary_dim, scaling: as in `Rotary`.
        sections: pairs for each axis, rotary_dim/2 in all: (16, 24, 24) in Qwen2-VL.
        interleaved: deal the pairs out in turn, as Qwen3-VL, rather than in runs.
        layout: "half" as in Qwen's models, or "interleaved".

    Raises:
        TypeError, ValueError: as `Rotary` and `posenc_lib.mrope_tables`.

    Source: Wang et al. 2024, "Qwen2-VL", section 2.1.
    """

    def __init__(
        self,
        head_dim: int,
        sections: Sequence[int],
        *,
        interleaved: bool = False,
        base: float = 10000.0,
        layout: Layout = "half",
        rotary_dim: int | None = None,
        scaling: Any = None,
    ) -> None:
        super().__init__(head_dim, base=base, layout=layout, rotary_dim=rotary_dim, scaling=scaling)
        self.sections, self.interleaved = sections, interleaved
        axes = len(sections) if isinstance(sections, Sequence) else 1
        self._make_sections(torch.zeros(axes, 1), torch.float32)

    @classmethod
    def from_settings(cls, settings: RopeSettings) -> MultimodalRotary:
        """As `Rotary.from_settings`, of a layer with M-RoPE.

        Raises:
            TypeError: no settings, as for a layer that does not rotate (give it `NoPE`).
            ValueError: the settings have no M-RoPE, or deal its pairs out with time last, as ERNIE 4.5 VL.
        """
        arguments = _arguments(settings)
        if settings.sections is None:
            raise ValueError("these settings have no M-RoPE; give them to Rotary")
        if settings.time_last:
            raise ValueError(
                "this model deals its pairs out with time last; take its tables and rotation from "
                "rope_from_config(config)"
            )
        return cls(sections=settings.sections, interleaved=settings.sections_interleaved, **arguments)

    def _tables(self, x: Tensor, places: Places) -> RotaryTables:
        if not isinstance(places, Tensor) or places.ndim < 3:
            return super()._tables(x, places)
        return self._make_sections(places, wide_dtype(x))

    def _make_sections(self, coordinates: Tensor, dtype: torch.dtype) -> RotaryTables:
        return mrope_tables(
            coordinates,
            self._turning,
            self.sections,
            interleaved=self.interleaved,
            base=self.base,
            scaling=self.scaling,
            dtype=dtype,
        )

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, sections={tuple(self.sections)}"


class AxialRotary(TableRotation):
    """Axial RoPE: some pairs turn by the row, others by the column, each axis with its own frequencies.

    Args:
        head_dim: width of a head's queries and keys.
        shape: (height, width) or (depth, height, width): then a position is the number of a patch in reading
            order, (length,) or (batch, length). Without it, and if you like with it, positions are
            coordinates, (axes, batch or 1, length), rows first.
        sections, base: as in `posenc_lib.axial_tables`.
        axes: how many coordinates, where there is no shape.
        layout: "interleaved" or "half".

    Raises:
        TypeError, ValueError: as `posenc_lib.axial_tables`; no grid and no coordinates; a position outside
            the grid.

    Source: Su 2021 (kexue.fm/archives/8397); transformers, `modeling_qwen2_vl.py`, for images.
    """

    def __init__(
        self,
        head_dim: int,
        shape: Sequence[int] | None = None,
        *,
        axes: int | None = None,
        sections: Sequence[int] | None = None,
        base: float = 10000.0,
        layout: Layout = "interleaved",
    ) -> None:
        super().__init__()
        self.head_dim = require.even_dim(head_dim, "head_dim")
        self.shape = None if shape is None else read_shape(shape)
        if axes is not None:
            require.count(axes, "axes")
        if self.shape is not None and axes not in (None, len(self.shape)):
            raise ValueError(f"axes={axes} contradicts shape={self.shape}; leave axes out")
        self.axes = axes or (2 if self.shape is None else len(self.shape))
        self.sections, self.base = sections, base
        self.layout = require.choice(layout, "layout", LAYOUTS)
        self._make(torch.zeros(self.axes, 1), torch.float32)
        self._kept = KeptTables()

    def _tables(self, x: Tensor, places: Places) -> RotaryTables:
        dtype = wide_dtype(x)
        if isinstance(places, Tensor) and places.ndim == 3:
            if places.shape[0] != self.axes:
                raise ValueError(
                    f"positions of shape {tuple(places.shape)} have {places.shape[0]} axes of coordinates; "
                    f"give {self.axes}, as ({self.axes}, batch or 1, length)"
                )
            return self._make(places, dtype)
        if self.shape is None:
            raise ValueError(
                f"positions are one number per token, but AxialRotary turns by {self.axes} coordinates; give "
                f"a tensor of shape ({self.axes}, batch or 1, length), or the grid as shape="
            )
        places = in_grid(places, self.shape, self)
        table: RotaryTables = self._kept.whole(
            lambda: self._make(self._cells(x.device), dtype),
            settings=(self.head_dim, self.shape, self.sections and tuple(self.sections), self.base),
            device=x.device,
            dtype=dtype,
        )
        return rows_of(table, places)

    def _cells(self, device: torch.device) -> Tensor:
        """The coordinates of all cells, (axes, cells), in reading order."""
        assert self.shape is not None
        along = [torch.arange(n, device=device) for n in self.shape]
        return torch.stack(torch.meshgrid(*along, indexing="ij")).reshape(self.axes, -1)

    def _make(self, coordinates: Tensor, dtype: torch.dtype) -> RotaryTables:
        return axial_tables(coordinates, self.head_dim, sections=self.sections, base=self.base, dtype=dtype)

    def extra_repr(self) -> str:
        return f"{self.head_dim}, shape={self.shape}, axes={self.axes}, layout={self.layout!r}"


class XPos(TableRotation):
    """xPos: RoPE whose pairs also fade with distance, the fast ones first. For causal attention.

    Its tables are made again in each call.

    Args:
        head_dim: width of a head's queries and keys, even.
        base, scale_base, gamma, center: as in `posenc_lib.xpos_tables`. For texts of many thousand
            positions put the center in their middle: scores do not depend on it, but the range of float32
            ends somewhere. Keys in a cache must have been rotated with the same center.
        layout: "interleaved" or "half".

    Raises:
        TypeError, ValueError: as `posenc_lib.xpos_tables`.

    Source: Sun et al. 2022, "A Length-Extrapolatable Transformer", section 2.
    """

    causal_only = True

    def __init__(
        self,
        head_dim: int,
        *,
        base: float = 10000.0,
        scale_base: float = 512.0,
        gamma: float = 0.4,
        center: float = 0.0,
        layout: Layout = "interleaved",
    ) -> None:
        super().__init__()
        self.head_dim = require.even_dim(head_dim, "head_dim")
        self.base, self.scale_base, self.gamma, self.center = base, scale_base, gamma, center
        self.layout = require.choice(layout, "layout", LAYOUTS)
        known = isinstance(center, (int, float)) and math.isfinite(center)
        self._make(torch.tensor([float(center) if known else 0.0]), torch.float32)

    def _for_both(self, x: Tensor, places: Places, seq_axis: int) -> tuple[RotaryTables, RotaryTables]:
        """Queries shrink with their position, and keys grow."""
        for_q, for_k = self._make(as_tensor(one_axis(places, self), x.device), wide_dtype(x))
        return for_all_heads(for_q, seq_axis), for_all_heads(for_k, seq_axis)

    def _make(self, positions: Tensor, dtype: torch.dtype) -> tuple[RotaryTables, RotaryTables]:
        return xpos_tables(
            positions,
            self.head_dim,
            base=self.base,
            scale_base=self.scale_base,
            gamma=self.gamma,
            center=self.center,
            dtype=dtype,
        )

    def extra_repr(self) -> str:
        return f"{self.head_dim}, base={self.base:g}, scale_base={self.scale_base:g}, center={self.center:g}"
