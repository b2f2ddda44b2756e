"""What the encodings of one door share: they read what a model gives them here, and compute in a hook."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from posenc_lib import _require as require
from posenc_lib._arrays import surely, without_autocast
from posenc_lib._heads import heads_first
from posenc_lib.nn.base import PositionalEncoding
from posenc_lib.nn.positions import Places, Positions, one_axis, places_of_heads
from posenc_lib.rotated import RotaryTables, rotate
from posenc_lib.rotated.tables import Layout


class TableRotation(PositionalEncoding):
    """Door 2: queries and keys turned by tables of cosines and sines."""

    head_dim: int
    layout: Layout

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
        at_q = places_of_vectors(q_positions, q, "q", self.head_dim, seq_axis)
        for_q, for_k = self._for_both(q, at_q, seq_axis)
        require.vectors_of_heads(k, "k", head_dim=self.head_dim)
        if k_positions is not q_positions or k.dtype != q.dtype or k.shape[seq_axis] != q.shape[seq_axis]:
            at_k = places_of_vectors(k_positions, k, "k", self.head_dim, seq_axis)
            _, for_k = self._for_both(k, at_k, seq_axis)
        return (
            rotate(q, for_q, layout=self.layout, seq_axis=seq_axis),
            rotate(k, for_k, layout=self.layout, seq_axis=seq_axis),
        )

    def _for_both(self, x: Tensor, places: Places, seq_axis: int) -> tuple[RotaryTables, RotaryTables]:
        """Tables for queries and for keys; they are the same where nothing fades with distance."""
        tables = for_all_heads(self._tables(x, places), seq_axis)
        return tables, tables

    def _tables(self, x: Tensor, places: Places) -> RotaryTables:
        """Tables for vectors like x: (length, pairs), or (batch, length, pairs) where rows differ."""
        raise NotImplementedError


class ScoreBias(PositionalEncoding):
    """Door 3: numbers that are added to the scores.

    Attributes:
        heads, head_dim: how many heads queries have, and how wide one is; None for any.
    """

    heads: int | None = None
    head_dim: int | None = None

    def bias(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        mask: Tensor | None = None,
        *,
        seq_axis: int = -2,
    ) -> Tensor:
        """(heads, queries, keys), or (batch, heads, queries, keys) where rows of the batch differ.

        In float32 at least, or of q's dtype where it depends on queries and keys; under autocast, too.
        """
        require.vectors_of_heads(q, "q")
        require.vectors_of_heads(k, "k")
        q, k = heads_first(seq_axis, q=q, k=k)
        require.vectors_of_heads(q, "q", self._query_heads(), self.head_dim)
        require.vectors_of_heads(k, "k", q.shape[1], q.shape[3], grouped=True)
        if k.shape[0] != q.shape[0]:
            raise ValueError(
                f"q has {q.shape[0]} rows in its batch, but k has {k.shape[0]}; give the same number for both"
            )
        if k.device != q.device:
            require.same_device(q=q, k=k)
        at_q = one_axis(places_of_heads(q_positions, q, "q_positions"), self)
        at_k = one_axis(places_of_heads(k_positions, k, "k_positions"), self)
        if mask is not None:
            require.tensors(mask=mask)
            require.same_device(q=q, mask=mask)
            require.mask(mask, (*q.shape[:3], k.shape[2]))
        with without_autocast(q):
            return self._bias(q, k, at_q, at_k, mask)

    def _query_heads(self) -> int | None:
        return self.heads

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        """The bias for queries and keys of (batch, heads, length, head_dim), and where these are."""
        raise NotImplementedError


def places_of_vectors(positions: Any, x: Any, name: str, head_dim: int | None, seq_axis: int) -> Places:
    """Where queries or keys are, after a look at their shape."""
    require.vectors_of_heads(x, name, head_dim=head_dim)
    (first,) = heads_first(seq_axis, x=x)
    return places_of_heads(positions, first, f"{name}_positions")


def for_all_heads(tables: RotaryTables, seq_axis: int) -> RotaryTables:
    """(batch, length, pairs) -> (batch, 1, length, pairs), to fit (batch, heads, length, head_dim)."""
    if tables.cos.ndim < 3 or seq_axis not in (-2, 2):
        return tables
    return RotaryTables(tables.cos[:, None], tables.sin[:, None])


def keys_that_count(mask: Tensor, queries: int, keys: int) -> Tensor:
    """Which keys count, (..., keys) booleans: those that their own query may look at.

    The last query is at the last key. Of keys whose own query is not there, those that any query sees.

    Args:
        mask: as in `PositionalEncoding.bias`.
        queries, keys: how many.
    """
    if mask.ndim == 1 or surely(mask.shape[-2] == 1):
        return mask.any(-2) if mask.ndim > 1 else mask
    key = torch.arange(keys, device=mask.device)
    own = torch.arange(queries, device=mask.device)[:, None] + (keys - queries)
    return (mask & ((key == own) | (key < keys - queries))).any(-2)
