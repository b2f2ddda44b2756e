"""A temperature that grows with the length of the text, as modules of the second door."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib._heads import heads_first, seq_back
from posenc_lib.nn.base import PositionalEncoding, wide_dtype
from posenc_lib.nn.doors import places_of_vectors
from posenc_lib.nn.positions import Positions, as_tensor, one_axis
from posenc_lib.rotated import QueryTemperature
from posenc_lib.rotated.settings import Formula


class LogTemperature(PositionalEncoding):
    """Queries times a factor that grows with the logarithm of how many keys they see. It turns nothing.

    The more keys, the flatter a softmax: the factor makes up for it. In Llama 4 it is all that the layers
    without rotation know of positions. For causal attention, where the query at position p sees p + 1 keys.

    Args:
        formula, beta, length: as in `posenc_lib.rotated.QueryTemperature`.

    Raises:
        TypeError, ValueError: as `QueryTemperature`; from `rotate`, positions below 0.

    Source: Su 2021 (kexue.fm/archives/8823); Llama 4's: transformers, `modeling_llama4.py`.
    """

    causal_only = True
    heads: int | None = None

    def __init__(self, formula: Formula = "log", beta: float = 1.0, length: float = 512.0) -> None:
        super().__init__()
        self.temperature = QueryTemperature(formula, beta, length)

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        *,
        seq_axis: int = -2,
    ) -> tuple[Tensor, Tensor]:
        """Queries times their factors, rounded once, and keys as they are."""
        places = one_axis(places_of_vectors(q_positions, q, "q", None, seq_axis), self)
        of_keys = one_axis(places_of_vectors(k_positions, k, "k", None, seq_axis), self)
        require.numbers(as_tensor(of_keys, k.device), "k_positions")  # not used, and refused if wrong
        require.same_device(q=q, k=k)
        require.same_head_dim(q=q, k=k)
        (by_head,) = heads_first(seq_axis, q=q)
        require.vectors_of_heads(by_head, "q", self.heads)
        factors = self._of_heads(self.temperature(as_tensor(places, q.device)).to(q.device, wide_dtype(q)))
        scaled: Tensor = seq_back((by_head * factors[..., None]).to(q.dtype), seq_axis)
        return scaled, k

    def _of_heads(self, factors: Tensor) -> Tensor:
        """(length,) -> (length,) or (heads, length); (batch, length) -> (batch, 1 or heads, length)."""
        return factors if factors.ndim == 1 else factors[:, None]

    def extra_repr(self) -> str:
        given = self.temperature
        return f"{given.formula!r}, beta={given.beta:g}, length={given.length:g}"


class ScalableSoftmax(LogTemperature):
    """Scalable-Softmax: scores times s ln(n), n the number of keys a query sees, s learned by each head.

    For causal attention, where the query at position p sees p + 1 keys.

    Args:
        heads: number of attention heads.
        length: of the texts it is trained on: s begins at 1 / ln(length), so that the factor there is 1.

    Raises:
        TypeError, ValueError: heads below 1, length not above 1; from `rotate`, positions below 0.

    Source: Nakanishi 2025, "Scalable-Softmax Is Superior for Attention". The start is ours.
    """

    per_layer = True
    heads: int

    def __init__(self, heads: int, *, length: float = 512.0) -> None:
        super().__init__("log", 1.0, length)
        self.heads = require.count(heads, "heads")
        self.scale = nn.Parameter(torch.empty(self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Put s back to its start."""
        nn.init.constant_(self.scale, 1 / math.log(self.temperature.length))

    def _of_heads(self, factors: Tensor) -> Tensor:
        logs = factors * math.log(self.temperature.length)
        return logs[..., None, :] * self.scale.to(logs.dtype)[:, None]

    def extra_repr(self) -> str:
        return f"{self.heads}, length={self.temperature.length:g}"
