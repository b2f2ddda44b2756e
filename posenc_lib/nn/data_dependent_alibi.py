"""Data-dependent ALiBi as a module of the third door."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_lib import _require as require
from posenc_lib.biased.gates import penalties
from posenc_lib.nn.base import wide_dtype
from posenc_lib.nn.doors import ScoreBias, keys_that_count
from posenc_lib.nn.positions import Places


class DataDependentALiBi(ScoreBias):
    """ALiBi whose slope is read from the tokens: each key gives a gate, and all between count.

    It looks at no positions at all, only at the order of the keys; the last query is at the last key.
    Keys at which their own query may not look, such as padding, do not count; in both directions, keys at
    which no query may look.

    x-transformers reads the gates from the layer's input x, by a projection of its own. A bias of this
    library sees queries and keys, so here each head reads them from its keys, sigmoid(w . k + b): that is a
    projection of x as well, through that of the keys.

    Args:
        head_dim: width of a head's keys.
        heads: number of attention heads.
        causal: False for attention in both directions, with gates of their own for keys after the query.
        start: of b: the gates begin at sigmoid(start), 0.993 by default.

    Raises:
        TypeError, ValueError: head_dim or heads below 1; causal no boolean; start not finite; from `bias`,
            more queries than keys.

    Source: x-transformers 2.31.10, `DataDependentAlibi`, after Lin et al. 2025, "Forgetting Transformer".
    """

    per_layer = True
    heads: int
    head_dim: int

    def __init__(self, head_dim: int, heads: int, *, causal: bool = True, start: float = 5.0) -> None:
        super().__init__()
        self.head_dim, self.heads = require.count(head_dim, "head_dim"), require.count(heads, "heads")
        self.causal = self.causal_only = self.reads_between = require.flag(causal, "causal")
        self.start = require.finite(start, "start", "give a number such as 5.0")
        directions = 1 if causal else 2
        self.weight = nn.Parameter(torch.empty(directions, self.heads, self.head_dim))
        self.offset = nn.Parameter(torch.empty(directions, self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw w again, as `nn.Linear` does, and put b to its start."""
        bound = self.head_dim**-0.5
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.constant_(self.offset, self.start)

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        dtype = wide_dtype(k)
        directions, groups = self.weight.shape[0], k.shape[1]  # heads of queries share those of keys
        by_group = self.weight.to(dtype).view(directions, groups, -1, self.head_dim)
        logits = torch.einsum("bgkd,nghd->nbghk", k.to(dtype), by_group).flatten(2, 3)
        log_gates = F.logsigmoid(logits + self.offset.to(dtype)[:, None, :, None])
        if mask is not None:
            log_gates = log_gates.masked_fill(~self._count(mask, q.shape[-2], k.shape[-2]), 0.0)
        bias: Tensor = penalties(log_gates[0], q.shape[-2], None if self.causal else log_gates[1])
        return bias

    def _count(self, mask: Tensor, queries: int, keys: int) -> Tensor:
        """Which keys count, (..., keys)."""
        if self.causal:
            return keys_that_count(mask, queries, keys)
        return mask.any(-2) if mask.ndim > 1 else mask

    def extra_repr(self) -> str:
        return f"{self.head_dim}, {self.heads}, causal={self.causal}"


class FoX(DataDependentALiBi):
    """The bias of the Forgetting Transformer: each token lets through a part of what came before it.

    It looks at no positions at all, only at the order of the keys; the last query is at the last key.
    Keys at which their own query may not look, such as padding, close nothing.

    The paper reads the gates from the layer's input x, sigmoid(w_f . x + b_f). A bias of this library sees
    queries and keys, so here each head reads them from its keys, as `DataDependentALiBi` does, which also has
    the form for both directions.

    Args:
        head_dim: width of a head's keys.
        heads: number of attention heads.
        start: of b_f: the gates begin near sigmoid(start). 0 as a new `nn.Linear` has it; larger ones forget
            less.

    Raises:
        TypeError, ValueError: head_dim or heads below 1; start not finite; from `bias`, more queries than
            keys.

    Source: Lin et al. 2025, "Forgetting Transformer: Softmax Attention with a Forget Gate", section 3.
    """

    causal_only = True

    def __init__(self, head_dim: int, heads: int, *, start: float = 0.0) -> None:
        super().__init__(head_dim, heads, causal=True, start=start)

    def extra_repr(self) -> str:
        return f"{self.head_dim}, {self.heads}"
