"""Trained models that are read with another encoding than they learnt with, and encodings around another."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from torch import Tensor

from posenc_course.experiments.decoder import Decoder
from posenc_lib.nn import PositionalEncoding
from posenc_lib.nn.positions import Positions, as_tensor, places_of_heads


def with_encodings(model: Decoder, change: Callable[[Any], PositionalEncoding]) -> Decoder:
    """A copy of the model whose layers have what `change` makes of their encodings."""
    return change_encodings(copy.deepcopy(model), change)


def change_encodings(model: Decoder, change: Callable[[Any], PositionalEncoding]) -> Decoder:
    """The model itself, with what `change` makes of its layers' encodings."""
    for number, layer in enumerate(model.layers):
        normalised: Any = layer.encoding
        normalised.encoding = model.encodings[number] = change(normalised.encoding)
    return model.eval()


class Around(PositionalEncoding):
    """Another encoding, as it is: what a subclass does not say otherwise."""

    def __init__(self, encoding: Any) -> None:
        super().__init__()
        self.encoding = encoding

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        added: Tensor = self.encoding.add(x, positions)
        return added

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        *,
        seq_axis: int = -2,
    ) -> tuple[Tensor, Tensor]:
        turned: tuple[Tensor, Tensor] = self.encoding.rotate(
            q, k, q_positions, k_positions, seq_axis=seq_axis
        )
        return turned

    def bias(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        mask: Tensor | None = None,
        *,
        seq_axis: int = -2,
    ) -> Tensor | None:
        bias: Tensor | None = self.encoding.bias(q, k, q_positions, k_positions, mask, seq_axis=seq_axis)
        return bias


class LogLength(Around):
    """Scores that grow with the logarithm of how many keys there are, n: times log n / log(length).

    At `length` keys they are what they were. Without it, each further key takes weight from all others; with
    it, a key whose score is above the others by enough keeps its weight at any n.

    Args:
        encoding: what else tells positions.
        length: of the training.
        least: no factor is below it: 1 leaves all texts as they are up to the length of training.

    Source: Su 2021 (kexue.fm/archives/8823); Chiang and Cholak 2022, "Overcoming a Theoretical Limitation of
    Self-Attention", section 5.3.
    """

    def __init__(self, encoding: Any, length: int, least: float = 0.0) -> None:
        super().__init__(encoding)
        self.length, self.least = length, least

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        *,
        seq_axis: int = -2,
    ) -> tuple[Tensor, Tensor]:
        """As the other encoding rotates; the query that sees n keys is multiplied."""
        keys = 1 + as_tensor(places_of_heads(q_positions, q), q.device)
        factor = (keys.to(q.dtype).log() / math.log(self.length)).clamp(min=self.least)
        q, k = super().rotate(q, k, q_positions, k_positions, seq_axis=seq_axis)
        return q * factor[:, None], k
