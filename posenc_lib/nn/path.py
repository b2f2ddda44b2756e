"""PaTH as a module of the third door."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_lib import _require as require
from posenc_lib._arrays import is_compiling
from posenc_lib.biased import path_bias
from posenc_lib.nn.base import wide_dtype
from posenc_lib.nn.doors import ScoreBias, keys_that_count
from posenc_lib.nn.positions import Places


class PaTH(ScoreBias):
    """PaTH: each token between key and query turns the scores, by a reflection that is read from it.

    It looks at no positions at all, only at the order of the keys; the last query is at the last key.
    Keys at which their own query may not look, such as padding, reflect nothing.

    The paper reads w and beta from the layer's input x, w by two thin matrices and a convolution of three
    tokens. A bias of this library sees queries and keys, so here each head reads both from its keys: w is W
    k, made 1 long, and beta is 2 sigmoid(u . k + b).

    Args:
        head_dim: width of a head's keys.
        heads: number of attention heads.
        start: of b; 0 begins with beta about 1, as in the paper's code, and -5 with hardly any reflection.

    Raises:
        TypeError, ValueError: head_dim or heads below 1; start not finite; from `bias`, more queries than
            keys.

    Source: Yang et al. 2025, "PaTH Attention: Position Encoding via Accumulating Householder
    Transformations".
    """

    per_layer = True
    causal_only = True
    replaces_products = True
    reads_between = True
    heads: int
    head_dim: int

    def __init__(self, head_dim: int, heads: int, *, start: float = 0.0) -> None:
        super().__init__()
        self.head_dim, self.heads = require.count(head_dim, "head_dim"), require.count(heads, "heads")
        self.start = require.finite(start, "start", "give a number such as 0.0")
        self.to_w = nn.Parameter(torch.empty(self.heads, self.head_dim, self.head_dim))
        self.to_beta = nn.Parameter(torch.empty(self.heads, self.head_dim))
        self.offset = nn.Parameter(torch.empty(self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw W and u again, as `nn.Linear` does, and put b to its start."""
        for weight in (self.to_w, self.to_beta):
            nn.init.uniform_(weight, -(self.head_dim**-0.5), self.head_dim**-0.5)
        nn.init.constant_(self.offset, self.start)

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        dtype, groups = wide_dtype(k), k.shape[1]  # heads of queries share those of keys
        q, k = q.to(dtype), k.to(dtype)
        to_w = self.to_w.to(dtype).view(groups, -1, self.head_dim, self.head_dim)
        to_beta = self.to_beta.to(dtype).view(groups, -1, self.head_dim)
        w = F.normalize(torch.einsum("bgkd,ghed->bghke", k, to_w).flatten(1, 2), dim=-1)
        logits = torch.einsum("bgkd,ghd->bghk", k, to_beta).flatten(1, 2)
        beta = 2 * torch.sigmoid(logits + self.offset.to(dtype)[:, None])
        if mask is not None:
            beta = beta * keys_that_count(mask, q.shape[-2], k.shape[-2])
        bias: Tensor = path_bias(q, k, w, beta, block=None if is_compiling() else 64)
        return bias

    def extra_repr(self) -> str:
        return f"{self.head_dim}, {self.heads}"
