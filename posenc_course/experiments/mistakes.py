"""What mistakes cost: trained byte models, read with a mistake and without, on the same bytes.

No weight changes. The loss that a mistake costs is that of a model which passes the gate, by file. For RoPE,
what a mistake of precision does to each score stands beside it, by offset and by position, and there two
mistakes part that sound alike. Rounded positions put neighbours at one place, the more so the farther from 0.
Rounded frequencies are other frequencies, as exactly relative as the true ones: their error grows with the
offset, and at one offset it is the same everywhere.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from posenc_course.experiments import (
    byte_model,
    byte_models,
    decoder,
    ngram,
    results,
    source_text,
    uncertainty,
    wrapped,
)
from posenc_course.experiments.byte_model import cut, rounded
from posenc_course.experiments.decoder import Decoder
from posenc_course.experiments.gates import BYTE_MODELS as GATE
from posenc_course.experiments.gates import behind_witten_bell as shortfall
from posenc_course.experiments.training import Bench
from posenc_course.experiments.wrapped import Around, with_encodings
from posenc_lib import frequencies
from posenc_lib.nn import PositionalEncoding, Rotary
from posenc_lib.nn.positions import Positions, as_tensor, read_places

__all__ = ["GATE", "shortfall"]  # stored runs are kept under this very code, so it stays

QUESTION = "What do mistakes with precision, layouts, offsets and padding cost a trained model?"

STORES_EACH = HAS_FULL = True
SWEEP = "byte-model-rates"
PARTS = (byte_model, decoder, ngram, source_text, wrapped, sys.modules[__name__])

ENCODINGS = ("rope", "alibi", "t5", "sinusoidal", "learned", "none")

STARTS = (0, 256, 4096, 65536)
"""Where the first token of a text stands."""

OFFSETS = (0, 1, 5, 16, 64, 256, 1024)
"""How far back the key stands whose score is looked at."""

PADDED = (2, 32, 128)
"""How many tokens of padding, before texts of half the length of training: at most as many as fit into it."""
PAD = 0
"""A byte that no training text has."""

PASSAGES = 8
"""At most, of each file."""


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False, full: bool = False
) -> list[dict[str, Any]]:
    """Those of the byte models whose encodings are looked at."""
    every = byte_models.longest(byte_models.runs(steps=steps, seeds=seeds, fast=fast, full=full))
    wanted = ENCODINGS[:1] if fast else ENCODINGS
    return [run for name in wanted for run in every if run["encoding"] == name]


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train the model of a run, or take what is kept, and read it with each mistake.

    Returns:
        trained: as `byte_model.at_the_trained_length`;
        bytes: of each file, how many are read;
        cases: {"mistake", "at" (where the text begins, or the tokens of padding), "wrong", "mended": the loss
            of each file};
        scores: of RoPE, for each mistake of precision, a row for each of `STARTS` with the root mean square
            error of the scores at each of `OFFSETS`, as a share of the scores' own spread.
    """
    text = source_text.require(run["text"])
    model, _ = byte_model.trained(run, bench)
    files = text.held_out[: run["windows"]]
    places = source_text.windows(files, run["length"] + 1, most=PASSAGES)
    passages = cut(files, places, run["length"] + 1).to(bench.device)
    names = list(dict.fromkeys(path for path, _ in places))
    of_file = torch.tensor([names.index(path) for path, _ in places])

    def by_file(losses: Tensor) -> list[float]:
        per_passage = losses.double().mean(dim=1).cpu()
        sums = torch.zeros(len(names), dtype=torch.float64).index_add_(0, of_file, per_passage)
        return rounded(sums / torch.bincount(of_file))

    cases = _of_padding(model, passages, run["length"] // 2, by_file)
    found = {
        "trained": byte_model.at_the_trained_length(model, text.held_out, run),
        "bytes": (torch.bincount(of_file) * run["length"]).tolist(),
    }
    if run["encoding"] != "rope":
        return found | {"cases": cases}
    return found | {
        "cases": [*_of_rope(model, passages, by_file), *cases],
        "scores": errors_of_scores(*queries_and_keys(model, passages[:4]), base=run["base"]),
    }


ByFile = Callable[[Tensor], list[float]]
"""From the losses of all passages, (passages, bytes), to the mean of each file."""


# --- RoPE that turns wrongly

Angles = Callable[[Tensor, Tensor], Tensor]
"""From positions (n,) and rates (pairs,), both float64, to angles (n, pairs)."""


def _in_bfloat16(x: Tensor) -> Tensor:
    """Rounded to the 8 bits of bfloat16."""
    return x.to(torch.bfloat16).double()


PRECISION: dict[str, Angles] = {
    "positions in bfloat16": lambda at, rates: _in_bfloat16(at)[:, None] * rates,
    "frequencies in bfloat16": lambda at, rates: at[:, None] * _in_bfloat16(rates),
    "angles in bfloat16": lambda at, rates: _in_bfloat16(at[:, None] * rates),
    "angles in float32": lambda at, rates: (at.float()[:, None] * rates.float()).double(),
}
"""How the angles lose precision. The first three are mistakes that libraries have made."""


def exact(at: Tensor, rates: Tensor) -> Tensor:
    """position * frequency"""
    return at[:, None] * rates


class Misread(PositionalEncoding):
    """RoPE whose angles are made in a way of their own.

    Args:
        encoding: the RoPE of the training.
        angles: how.
        start: where the first token stands.
        q_at, k_at: where a query, and a key, is taken to stand.
        base: another one than that of the training.
    """

    def __init__(
        self,
        encoding: Rotary,
        angles: Angles = exact,
        *,
        start: int = 0,
        q_at: Callable[[Tensor], Tensor] = lambda at: at,
        k_at: Callable[[Tensor], Tensor] = lambda at: at,
        base: float | None = None,
    ) -> None:
        super().__init__()
        self.rates = torch.from_numpy(frequencies(encoding.head_dim, base=base or encoding.base))
        self.angles, self.start, self.q_at, self.k_at = angles, start, q_at, k_at

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        *,
        seq_axis: int = -2,
    ) -> tuple[Tensor, Tensor]:
        """Queries and keys, turned."""
        at_q, at_k = (
            self.start + as_tensor(read_places(at, x), x.device).double()
            for at, x in ((q_positions, q), (k_positions, k))
        )
        rates = self.rates.to(q.device)
        return turned(q, self.angles(self.q_at(at_q), rates)), turned(k, self.angles(self.k_at(at_k), rates))


def turned(x: Tensor, angles: Tensor) -> Tensor:
    """Each pair (2j, 2j + 1) of x (..., n, columns) turned by its angle (n, columns / 2)."""
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def _other_layout(rope: Rotary) -> PositionalEncoding:
    return Rotary(rope.head_dim, base=rope.base, layout="half")


WRONG_TURNS: dict[str, Callable[[Rotary], PositionalEncoding]] = {
    "the other layout": _other_layout,
    "base 10,000": lambda rope: Misread(rope, base=10000.0),
    "keys turned the other way": lambda rope: Misread(rope, k_at=lambda at: -at),
    "both turned the other way": lambda rope: Misread(rope, q_at=lambda at: -at, k_at=lambda at: -at),
    "keys not turned": lambda rope: Misread(rope, k_at=lambda at: 0 * at),
    "queries one ahead": lambda rope: Misread(rope, q_at=lambda at: at + 1),
    "all one ahead": lambda rope: Misread(rope, start=1),
}
"""Of the last, nothing is to be seen."""


def _of_rope(model: Decoder, passages: Tensor, by_file: ByFile) -> list[dict[str, Any]]:
    """The cases of precision, at each start, and of wrong turns."""

    def loss(change: Callable[[Any], PositionalEncoding]) -> list[float]:
        return by_file(byte_model.losses_of(with_encodings(model, change), passages))

    right = {start: loss(partial(Misread, start=start)) for start in STARTS}
    cases = []
    for name, angles in PRECISION.items():
        for start in STARTS:
            wrong = loss(partial(Misread, angles=angles, start=start))
            cases.append({"mistake": name, "at": start, "wrong": wrong, "mended": right[start]})
    for name, change in WRONG_TURNS.items():
        cases.append({"mistake": name, "at": 0, "wrong": loss(change), "mended": right[0]})
    return cases


class _Recorded(Misread):
    """RoPE as it was, that keeps the queries and keys before they turn."""

    def rotate(self, q: Tensor, k: Tensor, *where: Any, **more: Any) -> tuple[Tensor, Tensor]:
        self.kept = q, k
        return super().rotate(q, k, *where, **more)


@torch.no_grad()
def queries_and_keys(model: Decoder, passages: Tensor) -> tuple[Tensor, Tensor]:
    """Of all layers and heads, before they turn: (vectors, head_dim) each, of the same tokens."""
    other = with_encodings(model, _Recorded)
    other(passages[:, :-1])
    kept: list[Any] = other.encodings
    q, k = (torch.cat([each.kept[which].flatten(0, 2) for each in kept]).double().cpu() for which in (0, 1))
    return q, k


def errors_of_scores(q: Tensor, k: Tensor, *, base: float) -> dict[str, list[list[float]]]:
    """For each mistake of precision, by start and by offset; a query meets the key of its own token.

    The unit is the spread of the scores before anything turns.
    """
    rates = torch.from_numpy(frequencies(q.shape[-1], base=base))

    def scores(angles: Angles, position: int, offset: int) -> Tensor:
        at = torch.tensor([position + offset, position], dtype=torch.float64)
        of_query, of_key = angles(at, rates)[:, None]
        return (turned(q, of_query) * turned(k, of_key)).sum(dim=-1)

    spread = (q * k).sum(dim=-1).std()
    return {
        name: [
            [
                round(
                    float((scores(angles, at, far) - scores(exact, at, far)).square().mean().sqrt() / spread),
                    6,
                )
                for far in OFFSETS
            ]
            for at in STARTS
        ]
        for name, angles in PRECISION.items()
    }


# --- padding


class _Padded(Around):
    """An encoding, of texts before which so many tokens of padding stand that nobody may look at."""

    def __init__(self, encoding: PositionalEncoding, count: int) -> None:
        super().__init__(encoding)
        self.count = count

    def bias(self, q: Tensor, k: Tensor, *where: Any, **more: Any) -> Tensor:
        """As the encoding has it, and -inf for padding; a token of padding sees itself."""
        bias = super().bias(q, k, *where, **more)
        at_q, at_k = (torch.arange(x.shape[-2], device=x.device) for x in (q, k))
        hidden = (at_k < self.count) & (at_k != at_q[:, None])
        bias = torch.zeros(hidden.shape, dtype=q.dtype, device=q.device) if bias is None else bias
        return bias.masked_fill(hidden, -math.inf)


def _of_padding(model: Decoder, passages: Tensor, length: int, by_file: ByFile) -> list[dict[str, Any]]:
    """Padding before the text: read like text, or hidden, but counted by the positions."""
    texts = passages[:, : length + 1]
    right = by_file(byte_model.losses_of(model, texts))
    cases = []
    for count in (each for each in PADDED if each <= length):
        padded = F.pad(texts, (count, 0), value=PAD)
        hiding = with_encodings(model, partial(_Padded, count=count))
        for name, reader in (("padding read", model), ("padding counted", hiding)):
            wrong = by_file(byte_model.losses_of(reader, padded)[:, count:])
            cases.append({"mistake": name, "at": count, "wrong": wrong, "mended": right})
    return cases


# --- what the runs say


def cost(
    mistake: str, encoding: str, at: int = 0, *, full: bool = False, name: str = "mistakes"
) -> uncertainty.Finding:
    """What a mistake costs, in nats a byte, over all admitted seeds.

    Raises:
        ValueError: nothing is stored or admitted, or there is no such case.
    """
    found = results.runs(name, full=full, encoding=encoding)
    cases = [
        case
        for each in found
        for case in each["result"]["cases"]
        if (case["mistake"], case["at"]) == (mistake, at)
    ]
    if not cases:
        known = sorted({(case["mistake"], case["at"]) for case in found[0]["result"]["cases"]})
        raise ValueError(f"there is no case {mistake!r} at {at} of {encoding!r}; the cases are: {known}")
    wrong, mended = (np.array([case[which] for case in cases]) for which in ("wrong", "mended"))
    # The same weights read the same bytes twice: what differs is each seed's own difference.
    return uncertainty.compare(wrong - mended, np.zeros_like(wrong), found[0]["result"]["bytes"])
