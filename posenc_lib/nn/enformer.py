"""Door 3 for genomes, as a module: Enformer's attention by relative bases."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib.biased import enformer_features
from posenc_lib.nn.base import wide_dtype
from posenc_lib.nn.biased import TransformerXL


class Enformer(TransformerXL):
    """Enformer's relative attention: Transformer-XL's, with bases of the distance in place of waves.

    Args:
        dim: width of the model.
        heads: number of attention heads, a divisor of dim.
        features: of each distance, a multiple of 6; 192 in Enformer.
        length: the longest distance to be told apart, as in `posenc_lib.enformer_features`.
        causal: make relative keys for the past alone.

    Raises:
        TypeError, ValueError: as `posenc_lib.enformer_features`; heads that do not divide dim; from `bias`,
            real positions.

    Source: Avsec et al. 2021, "Effective gene expression prediction from sequence by integrating long-range
    interactions", methods. The start is that of `TransformerXL`.
    """

    def __init__(
        self, dim: int, heads: int, *, features: int = 48, length: int = 1536, causal: bool = False
    ) -> None:
        head_dim = require.head_width(dim, heads)
        features = require.count(features, "features")
        enformer_features([0.0], features, length=length)
        super().__init__(features, 1, causal=causal)
        self.heads, self.head_dim, self.features, self.length = heads, head_dim, features, length
        self.to_key = nn.Linear(features, dim, bias=False)
        self.u = nn.Parameter(torch.empty(heads, head_dim))
        self.v = nn.Parameter(torch.empty(heads, head_dim))
        self.reset_parameters()

    def _encoded(self, first: int, last: int, like: Tensor) -> Tensor:
        """(distances, features), of the relative positions first .. last."""
        dtype = wide_dtype(like)
        encoded: Tensor = enformer_features(
            torch.arange(first, last + 1, device=like.device), self.features, length=self.length, dtype=dtype
        )
        return encoded

    def extra_repr(self) -> str:
        sizes = f"{self.heads * self.head_dim}, {self.heads}, features={self.features}"
        return f"{sizes}, length={self.length}, causal={self.causal}"
