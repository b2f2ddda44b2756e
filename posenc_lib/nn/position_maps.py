"""RoPE with other distances than the true ones, as modules of the third door."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from posenc_lib import _require as require
from posenc_lib.biased import dual_chunk_bias, dual_chunk_distances, self_extend_bias
from posenc_lib.nn.doors import ScoreBias
from posenc_lib.nn.positions import Places, as_tensor
from posenc_lib.rotated import rotary_tables
from posenc_lib.rotated.tables import Layout
from posenc_lib.rotated.turn import LAYOUTS


class _MappedRotary(ScoreBias):
    """Scores of RoPE by a map of positions, in place of q . k, which `Attention` computes by itself.

    So queries and keys are not rotated, and a cache holds keys as they were.
    """

    replaces_products = True
    head_dim: int

    def __init__(self, head_dim: int, base: float, layout: Layout, scaling: Any) -> None:
        super().__init__()
        self.head_dim = require.even_dim(head_dim, "head_dim")
        self.base, self.scaling = base, scaling
        self.layout = require.choice(layout, "layout", LAYOUTS)
        rotary_tables(1, self.head_dim, base=base, scaling=scaling)  # refuses what is wrong now

    @property
    def _rotation(self) -> dict[str, Any]:
        return {"base": self.base, "layout": self.layout, "scaling": self.scaling}


class SelfExtend(_MappedRotary):
    """RoPE that counts keys beyond a window in groups, so that a model reads further than it was trained.

    Made for a trained model: train with `Rotary` (or with group=1, which is the same), and read with this.

    Args:
        head_dim: width of a head's queries and keys, even.
        group, window: as in `posenc_lib.self_extend_distances`.
        base, layout, scaling: as in `Rotary`.

    Raises:
        TypeError, ValueError: as `Rotary`; group or window no integer, or below 1; from `bias`, real
            positions.

    Source: Jin et al. 2024, "LLM Maybe LongLM: Self-Extend LLM Context Window Without Tuning".
    """

    def __init__(
        self,
        head_dim: int,
        *,
        group: int,
        window: int,
        base: float = 10000.0,
        layout: Layout = "interleaved",
        scaling: Any = None,
    ) -> None:
        super().__init__(head_dim, base, layout, scaling)
        self.group, self.window = require.count(group, "group"), require.count(window, "window")

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        bias: Tensor = self_extend_bias(
            q,
            k,
            as_tensor(at_q, q.device),
            as_tensor(at_k, k.device),
            group=self.group,
            window=self.window,
            **self._rotation,
        )
        return bias

    def extra_repr(self) -> str:
        return f"{self.head_dim}, group={self.group}, window={self.window}, base={self.base:g}"


class DualChunk(_MappedRotary):
    """RoPE of dual chunk attention: no query meets a distance above chunk + window - 1, in any text.

    Made for a trained model, as `SelfExtend`; in texts of at most `chunk` tokens it is `Rotary`.

    Args:
        head_dim: width of a head's queries and keys, even.
        chunk, window: as in `posenc_lib.dual_chunk_distances`.
        base, layout, scaling: as in `Rotary`.

    Raises:
        TypeError, ValueError: as `Rotary`; chunk or window no integer, below 1, or window above chunk; from
            `bias`, real positions.

    Source: An et al. 2024, "Training-Free Long-Context Scaling of Large Language Models".
    """

    causal_only = True

    def __init__(
        self,
        head_dim: int,
        *,
        chunk: int,
        window: int,
        base: float = 10000.0,
        layout: Layout = "interleaved",
        scaling: Any = None,
    ) -> None:
        super().__init__(head_dim, base, layout, scaling)
        self.chunk, self.window = chunk, window
        dual_chunk_distances(1, 1, chunk=chunk, window=window)  # refuses what is wrong now

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        bias: Tensor = dual_chunk_bias(
            q,
            k,
            as_tensor(at_q, q.device),
            as_tensor(at_k, k.device),
            chunk=self.chunk,
            window=self.window,
            **self._rotation,
        )
        return bias

    def extra_repr(self) -> str:
        return f"{self.head_dim}, chunk={self.chunk}, window={self.window}, base={self.base:g}"
