"""DeBERTa's disentangled attention as a module of the third door."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib._heads import matmul_by_group
from posenc_lib.biased import deberta_bias, deberta_buckets
from posenc_lib.nn.doors import ScoreBias
from posenc_lib.nn.positions import Places, as_tensor

TERMS = ("c2p", "p2c")


class DeBERTa(ScoreBias):
    """DeBERTa's disentangled attention: a relative key for the query, and a relative query for the key.

    Its scores are (q_i . k_j + q_i . K_r + k_j . Q_r) / sqrt(3 head_dim), r the bucket of the offset. What
    `Attention` computes by itself is q_i . k_j / sqrt(head_dim), so the bias takes the difference off again.

    Args:
        dim: width of the model, of the table and of the two projections.
        heads: number of attention heads, a divisor of dim.
        buckets, max_distance: as in `posenc_lib.deberta_buckets`; buckets=None as in DeBERTa-v1.
        terms: "c2p" (content to position), "p2c" (position to content), or both.

    Raises:
        TypeError, ValueError: as `posenc_lib.deberta_buckets`; heads that do not divide dim; other terms;
            from `bias`, real positions.

    The projection to keys has no bias, as in v1: one would add the same number to all scores of a query. The
    published models share the table among layers, and v2 and v3 take the projections of queries and keys for
    it: for their weights take `posenc_lib.deberta_bias`.

    Source: He et al. 2021, "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", section 3.1. The
    start, normal with standard deviation 0.02, is the `initializer_range` of its code.
    """

    per_layer = True
    replaces_products = True
    heads: int
    head_dim: int

    def __init__(
        self,
        dim: int,
        heads: int,
        *,
        buckets: int | None = 256,
        max_distance: int = 512,
        terms: tuple[str, ...] = TERMS,
    ) -> None:
        super().__init__()
        self.dim, self.heads = require.count(dim, "dim"), require.count(heads, "heads")
        self.head_dim = require.head_width(dim, heads)
        deberta_buckets(0, buckets=buckets, max_distance=max_distance)  # refuses what is wrong now
        self.buckets, self.max_distance = buckets, max_distance
        self.terms = _read_terms(terms)
        rows = 2 * (max_distance if buckets is None else buckets)
        self.table = nn.Parameter(torch.empty(rows, dim))
        self.to_key = nn.Linear(dim, dim, bias=False) if "c2p" in self.terms else None
        self.to_query = nn.Linear(dim, dim) if "p2c" in self.terms else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table and the projections again."""
        nn.init.normal_(self.table, std=0.02)
        for projection in (self.to_key, self.to_query):
            if projection is not None:
                nn.init.normal_(projection.weight, std=0.02)
                if projection.bias is not None:
                    nn.init.zeros_(projection.bias)

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        terms: Tensor = deberta_bias(
            q,
            k,
            self._by_head(self.to_key, q.dtype),
            self._by_head(self.to_query, q.dtype),
            as_tensor(at_q, q.device),
            as_tensor(at_k, k.device),
            buckets=self.buckets,
            max_distance=self.max_distance,
        )
        too_much = (1 - (1 + len(self.terms)) ** -0.5) * self.head_dim**-0.5
        bias: Tensor = terms - too_much * matmul_by_group(torch, q, k.mT)
        return bias

    def _by_head(self, projection: nn.Linear | None, dtype: torch.dtype) -> Tensor | None:
        """The table through a projection, (heads, rows, head_dim)."""
        if projection is None:
            return None
        projected = projection(self.table).view(-1, self.heads, self.head_dim)
        by_head: Tensor = projected.transpose(0, 1).to(dtype)
        return by_head

    def extra_repr(self) -> str:
        sizes = f"{self.dim}, {self.heads}, buckets={self.buckets}, max_distance={self.max_distance}"
        return f"{sizes}, terms={self.terms}"


def _read_terms(terms: object) -> tuple[str, ...]:
    """One or both of the two, each once."""
    if not isinstance(terms, (tuple, list)) or not terms or len(set(terms)) != len(terms):
        raise ValueError(f"terms={terms!r}; give ('c2p', 'p2c'), or one of the two as a tuple")
    return tuple(require.choice(term, "a term", TERMS) for term in terms)
