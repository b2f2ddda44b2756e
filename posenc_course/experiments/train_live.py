"""Train short, test long: what the page "Train short, test long, live" does while the reader watches.

The same model, task and optimiser as in book/web/src/train-live/, which trains it in the page; here it is
repeated with ten seeds, so that the page's text can say what is to be expected.

A row of letters is drawn, none twice, and written again and again until the text is full. From the second
time on, each next letter can be told: find the place where this letter stood before, and say what came after
it. A model does that with a pair of heads in two layers, an induction head.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_course.experiments.decoder import Muon
from posenc_course.experiments.training import Bench, level_then_down, thinned
from posenc_lib.nn import ALiBi, Learned, NoPE, PositionalEncoding, Rotary, Sinusoidal, T5Bias
from posenc_lib.nn.positions import Span

QUESTION = "What does a model that trains for half a minute do on longer texts, by encoding?"

LEAST = 0.99
GATE = "At the trained length, at least 99% of the letters right that can be told."

LETTERS, DIM, HEADS, LAYERS, LENGTH = 64, 32, 2, 2, 32
ROWS, RATE = 32, 0.04
TEST_ROWS = 64
EPSILON = 1e-6
STEEP = (1.0, 1 / 256)
"""Slopes of which the first lets a head look at its neighbours alone."""
TEST_LENGTHS = tuple(range(16, 257, 16))
ENCODINGS = ("none", "sinusoidal", "learned", "rope", "alibi", "alibi-steep", "t5")


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run. ALiBi with a steep slope also gets twice the steps."""
    usual = [(name, 400) for name in ENCODINGS] + [("alibi-steep", 800)]
    return [
        {"encoding": name, "seed": seed, "steps": steps or count}
        for seed in range(seeds or (1 if fast else 10))
        for name, count in ([("t5", 20)] if fast else usual)
    ]


def repeated(generator: torch.Generator, rows: int, length: int) -> tuple[Tensor, Tensor]:
    """Letters of (rows, length + 1), and whether each can be told from those before it.

    A model reads all but the last, and says all but the first. The row that is repeated has from an
    eighth to a fourth of the length, and not less than four letters.
    """
    shortest, longest = max(4, length // 8), max(4, length // 4)
    period = torch.randint(shortest, longest + 1, (rows, 1), generator=generator)
    order = torch.rand(rows, LETTERS, generator=generator).argsort(dim=1)
    place = torch.arange(length + 1)
    return order.gather(1, place % period), place > period


class Layer(nn.Module):
    """Attention with an encoding at its doors, and nothing else."""

    def __init__(self, encoding: PositionalEncoding) -> None:
        super().__init__()
        self.encoding = encoding
        self.query, self.key, self.value, self.out = (
            nn.Parameter(torch.randn(DIM, DIM) * DIM**-0.5) for _ in range(4)
        )
        self.query_shift, self.key_shift = (nn.Parameter(torch.randn(DIM) / 2) for _ in range(2))

    def forward(self, x: Tensor, positions: Span) -> Tensor:
        normed = F.rms_norm(x, (DIM,), eps=EPSILON)
        q, k = normed @ self.query + self.query_shift, normed @ self.key + self.key_shift
        q, k, v = (_by_head(each) for each in (q, k, normed @ self.value))
        q, k = self.encoding.rotate(q, k, positions, positions)
        bias = self.encoding.bias(q, k, positions, positions)
        scores = q @ k.mT * q.shape[-1] ** -0.5 + (0.0 if bias is None else bias)
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        found = (weights @ v).transpose(1, 2).reshape(x.shape)
        y: Tensor = x + found @ self.out
        return y


def _by_head(x: Tensor) -> Tensor:
    """(rows, length, DIM) to (rows, HEADS, length, DIM / HEADS)."""
    return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)


class Model(nn.Module):
    """Two layers of attention, two heads each; RMSNorm without gains; no layer between them."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(LETTERS, DIM))
        self.blocks = [Layer(_encoding(encoding)) for _ in range(LAYERS)]
        self.layers = nn.ModuleList(self.blocks)
        self.head = nn.Parameter(torch.randn(LETTERS, DIM) * 0.02)

    def forward(self, letters: Tensor) -> Tensor:
        """(rows, length) to the scores of the next letter, (rows, length, LETTERS)."""
        positions = Span(0, letters.shape[1])
        x = self.blocks[0].encoding.add(self.embedding[letters], positions)
        for layer in self.blocks:
            x = layer(x, positions)
        scores: Tensor = F.rms_norm(x, (DIM,), eps=EPSILON) @ self.head.mT * DIM**-0.5
        return scores

    def loss(self, letters: Tensor, known: Tensor) -> Tensor:
        """Mean loss of the letters that can be told, in nats."""
        scores = self(letters[:, :-1])
        return F.cross_entropy(scores[known[:, 1:]], letters[:, 1:][known[:, 1:]])

    def optimizers(self) -> list[torch.optim.Optimizer]:
        """Muon for the layers' matrices, Adam for all the rest."""
        matrices = [
            each for layer in self.blocks for each in (layer.query, layer.key, layer.value, layer.out)
        ]
        ours = set(map(id, matrices))
        rest = [each for each in self.parameters() if id(each) not in ours]
        return [
            Muon([{"params": matrices}], rate=RATE),
            torch.optim.Adam(rest, lr=RATE, betas=(0.9, 0.95)),
        ]


def _encoding(name: str) -> PositionalEncoding:
    """One for each layer; what is added is added once, by the first."""
    if name == "t5":  # the buckets end within the training, so that all of them are trained
        return T5Bias(HEADS, buckets=16, max_distance=24, bidirectional=False, std=0.02)
    if name == "learned":
        return Learned(LENGTH, DIM, std=1.0, beyond="clamp")
    others: dict[str, PositionalEncoding] = {
        "none": NoPE(),
        "sinusoidal": Sinusoidal(DIM),
        "rope": Rotary(DIM // HEADS),
        "alibi": ALiBi(HEADS),  # slopes 1/16 and 1/256: no head sees little but the letter before
        "alibi-steep": ALiBi(HEADS, slopes=STEEP),
    }
    return others[name]


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train at one length, test at many.

    Returns:
        curve: the loss, `thinned`;
        lengths; accuracy: of each length, the share of letters right that can be told;
        error: of each length, the standard error over the texts;
        trained: the accuracy at the trained length.
    """
    model = Model(run["encoding"]).to(bench.device)
    optimizers = model.optimizers()
    losses = bench.descend(
        model,
        lambda generator: model.loss(*repeated(generator, ROWS, LENGTH)),
        run["steps"],
        optimizers,
        level_then_down(optimizers, run["steps"]),
        seed=run["seed"],
    )
    generator = torch.Generator().manual_seed(10_000 + run["seed"])
    found = [shares(model, *repeated(generator, TEST_ROWS, length)) for length in TEST_LENGTHS]
    accuracy = [round(float(each.mean()), 4) for each in found]
    return {
        "curve": thinned(losses),
        "lengths": list(TEST_LENGTHS),
        "accuracy": accuracy,
        "error": [round(float(each.std() / len(each) ** 0.5), 4) for each in found],
        "trained": accuracy[TEST_LENGTHS.index(LENGTH)],
    }


@torch.no_grad()
def shares(model: Model, letters: Tensor, known: Tensor) -> Tensor:
    """Of each text, the share of the letters right that can be told."""
    right = (model(letters[:, :-1]).argmax(-1) == letters[:, 1:]) & known[:, 1:]
    found: Tensor = right.sum(dim=1).double() / known[:, 1:].sum(dim=1)
    return found


def shortfall(run: dict[str, Any], result: dict[str, Any]) -> str | None:
    """What a run lacks to be spoken of; None where it passes."""
    if result["trained"] >= LEAST:
        return None
    return f"{result['trained']:.1%} of the letters right at the trained length"
