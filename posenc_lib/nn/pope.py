"""PoPE as a module of the third door."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib.biased import pope_bias
from posenc_lib.nn.doors import ScoreBias
from posenc_lib.nn.positions import Places, as_tensor
from posenc_lib.rotated import rotary_tables


class PoPE(ScoreBias):
    """PoPE: content decides how long the arrow of a column is, position alone its angle, delta apart.

    Args:
        head_dim: width of a head's queries and keys.
        heads: number of attention heads; each learns its own delta, from 0 on.
        base: as in `posenc_lib.pope_vectors`.

    Raises:
        TypeError, ValueError: a size below 1, or a base that is not positive.

    Source: Gopalakrishnan et al. 2025, "Decoupling the 'What' and 'Where' With Polar Coordinate Positional
    Embeddings", section 3. As in x-transformers, all layers share delta, which counts as the nearest number
    from -2 pi to 0.
    """

    replaces_products = True
    heads: int
    head_dim: int

    def __init__(self, head_dim: int, heads: int, *, base: float = 10000.0) -> None:
        super().__init__()
        self.head_dim, self.heads = require.count(head_dim, "head_dim"), require.count(heads, "heads")
        rotary_tables(1, 2 * self.head_dim, base=base)  # refuses what is wrong now
        self.base = base
        self.delta = nn.Parameter(torch.empty(self.heads, self.head_dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Put delta back to 0."""
        nn.init.zeros_(self.delta)

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        bias: Tensor = pope_bias(
            q,
            k,
            as_tensor(at_q, q.device),
            as_tensor(at_k, k.device),
            delta=self.delta.clamp(-2 * math.pi, 0),
            base=self.base,
        )
        return bias

    def extra_repr(self) -> str:
        return f"{self.head_dim}, {self.heads}, base={self.base:g}"
