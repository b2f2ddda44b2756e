"""Byte models that are trained with one alleged cause taken away, or with it put in: see `causes.py`.

What is changed is the encoding alone. Recipe, text, seeds and tests are those of the byte models.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_course.experiments.decoder import Decoder
from posenc_course.experiments.wrapped import LogLength
from posenc_lib import alibi_slopes, frequencies, sinusoidal
from posenc_lib.nn import NoPE, PositionalEncoding, Rotary, T5Bias
from posenc_lib.nn.doors import ScoreBias
from posenc_lib.nn.positions import Places, Positions, as_tensor, read_places
from posenc_lib.rotated import ProportionalScaling

SETTINGS = ("change", "longest")
"""What else the weights depend on: the last bucket of T5 lies where the tests end."""


def build(run: dict[str, Any]) -> Decoder:
    """The changed model of a run, new."""
    encoding = CHANGES[run["encoding"], run["change"]](run)
    return Decoder(256, run["dim"], run["heads"], [encoding] * run["layers"])


def turning(rates: NDArray[np.float64], length: int) -> NDArray[np.bool_]:
    """Which clocks turn at least once within so many positions."""
    turns: NDArray[np.bool_] = rates * length >= 2 * np.pi
    return turns


class FastSinusoidal(PositionalEncoding):
    """The sinusoidal encoding of its first pairs, the fast ones; the columns of the others stay empty."""

    def __init__(self, dim: int, pairs: int) -> None:
        super().__init__()
        self.dim, self.pairs = dim, pairs

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + p(position), without its slow clocks."""
        places = as_tensor(read_places(positions, x), x.device)
        fast = sinusoidal(places, self.dim, dtype=x.dtype)[..., : 2 * self.pairs]
        return x + F.pad(fast, (0, self.dim - 2 * self.pairs))


class Windows(ScoreBias):
    """Each head looks back so far and no farther, and at all that it sees alike."""

    def __init__(self, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.heads, self.widths = len(widths), widths

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        """(heads, queries, keys): 0 within a head's window, -inf beyond."""
        widths = torch.tensor(self.widths, device=q.device)[:, None, None]
        beyond = as_tensor(at_q, q.device)[:, None] - as_tensor(at_k, q.device) >= widths
        return torch.zeros(beyond.shape, device=q.device).masked_fill(beyond, -math.inf)


class FirstMarked(PositionalEncoding):
    """No encoding but a learned vector that is added to the first token of a text."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.mark = nn.Parameter(torch.randn(dim))

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x, plus the mark at position 0."""
        first = as_tensor(read_places(positions, x), x.device) == 0
        return x + first[:, None] * self.mark


def _fast_sinusoidal(run: dict[str, Any]) -> PositionalEncoding:
    pairs = int(turning(frequencies(run["dim"]), run["length"]).sum())
    return FastSinusoidal(run["dim"], pairs)


def _fast_rotary(run: dict[str, Any]) -> PositionalEncoding:
    """RoPE whose slow pairs do not turn: columns that tell content alone."""
    head_dim = run["dim"] // run["heads"]
    turn = turning(frequencies(head_dim, base=run["base"]), run["length"])
    share = (int(turn.sum()) + 0.5) / len(turn)  # the half: it is rounded down
    return Rotary(head_dim, base=run["base"], scaling=ProportionalScaling(min(1.0, share)))


def _far_buckets(run: dict[str, Any]) -> PositionalEncoding:
    """T5 whose buckets reach to the end of the tests: the training fills the near ones only."""
    return T5Bias(
        run["heads"], max_distance=run["longest"], bidirectional=False, std=float(run["dim"] ** -0.5)
    )


def _windows(run: dict[str, Any]) -> PositionalEncoding:
    """In place of each slope m of ALiBi a window of 1/m: where alike keys would weigh 1/e of the nearest."""
    reaches = np.rint(1 / np.asarray(alibi_slopes(run["heads"])))
    return Windows(tuple(min(run["length"], max(1, int(reach))) for reach in reaches))


CHANGES: dict[tuple[str, str], Callable[[dict[str, Any]], PositionalEncoding]] = {
    ("rope", "no slow clocks"): _fast_rotary,
    ("sinusoidal", "no slow clocks"): _fast_sinusoidal,
    ("none", "first token marked"): lambda run: FirstMarked(run["dim"]),
    ("none", "log n"): lambda run: LogLength(NoPE(), run["length"]),
    ("t5", "buckets beyond the training"): _far_buckets,
    ("alibi", "windows"): _windows,
    ("rope", "log n"): lambda run: LogLength(
        Rotary(run["dim"] // run["heads"], base=run["base"]), run["length"]
    ),
}
"""(encoding, what is changed of it) -> the changed encoding."""
