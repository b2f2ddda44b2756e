"""Which distances does a trained model confuse? Those at which its encoding repeats itself, or nearly.

A model reads two tokens that stand somewhere among 64 places, and says how far apart they are. It has but few
waves to tell places by; the fewer, the more alike are the encodings of some places that lie far apart. What
the tokens hold besides is nothing, or a random vector each, as an encoding is in truth added to something.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_lib.added import similarity, sinusoidal
from posenc_lib.experiments.training import Bench, thinned
from posenc_lib.nn import PositionalEncoding, Transformer
from posenc_lib.nn.positions import Positions, as_tensor, read_places

QUESTION = "Does a trained model confuse the distances at which its encoding's kernel has side lobes?"

PLACES = 64


class FewWaves(PositionalEncoding):
    """The sinusoidal encoding of width 2 * pairs, added to the first columns of x, as long as that of full
    width."""

    def __init__(self, pairs: int) -> None:
        super().__init__()
        self.pairs = pairs

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + p(position)."""
        places = as_tensor(read_places(positions, x), x.device)
        waves = sinusoidal(places, 2 * self.pairs, dtype=x.dtype)
        scale = math.sqrt(x.shape[-1] / 2 / self.pairs)
        return x + F.pad(scale * waves, (0, x.shape[-1] - 2 * self.pairs))


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False
) -> Iterator[dict[str, Any]]:
    """From one wave to as many as the model is wide."""
    variants = [(1, 0.0), (4, 0.0)] if fast else [(1, 0.0), (4, 0.0), (1, 1.0), (2, 1.0), (4, 1.0), (32, 1.0)]
    for pairs, content in variants:
        for seed in range(seeds or (1 if fast else 3)):
            yield {
                "pairs": pairs,
                "content": content,
                "seed": seed,
                "steps": steps or (200 if fast else 600),
                "rows": 256,
                "dim": 64,
                "layers": 1,
                "heads": 4,
                "places": PLACES,
            }


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train on places drawn at random, test on every pair of places, four times.

    Returns:
        training: `thinned` curve of the loss, nats a question;
        accuracy: mean over the 64 distances;
        offsets: 1 to 63;
        confused: one an offset, how often the model says a certain distance that is wrong by it, mean over
            all pairs of such distances;
        kernel: the dot product of two encodings that far apart, by that of one with itself;
        correlation: of the two, over offsets from 3 on, which are no neighbours; None where nothing is
            confused.
    """
    reader = Transformer(
        None, run["dim"], run["layers"], run["heads"], encoding=FewWaves(run["pairs"]), causal=False
    )
    model = nn.ModuleDict({"reader": reader, "head": nn.Linear(run["dim"], PLACES)}).to(bench.device)

    def logits(first: Tensor, distances: Tensor, generator: torch.Generator) -> Tensor:
        """(n, 64) for tokens at `first` and at `first + distances`, both (n,)."""
        places = torch.stack([first, first + distances], dim=1).to(bench.device)
        content = run["content"] * torch.randn(*places.shape, run["dim"], generator=generator)
        found: Tensor = model["head"](model["reader"](content.to(bench.device), positions=places)[:, 1])
        return found

    def loss(generator: torch.Generator) -> Tensor:
        distances = torch.randint(PLACES, (run["rows"],), generator=generator)
        first = (torch.rand(run["rows"], generator=generator) * (PLACES - distances)).long()
        return F.cross_entropy(logits(first, distances, generator), distances.to(bench.device))

    losses = bench.train(model, loss, run["steps"], seed=run["seed"])
    every = torch.tensor([(p, d) for d in range(PLACES) for p in range(PLACES - d)])
    first, distances = every.repeat(4, 1).T
    unseen = torch.Generator().manual_seed(10_000 + run["seed"])
    with torch.no_grad():
        said = F.one_hot(logits(first, distances, unseen).argmax(-1).cpu(), PLACES).double()
    shares = torch.zeros(PLACES, PLACES, dtype=torch.float64).index_add_(0, distances, said)
    shares /= shares.sum(dim=1, keepdim=True)  # (distance, distance said)

    offsets = torch.arange(1, PLACES)
    apart = (torch.arange(PLACES) - torch.arange(PLACES)[:, None]).abs()
    confused = torch.stack([shares[apart == offset].mean() for offset in offsets])
    kernel = similarity(offsets.double(), 2 * run["pairs"]) / run["pairs"]
    far = offsets >= 3
    return {
        "training": thinned(losses),
        "accuracy": shares.diagonal().mean().item(),
        "offsets": offsets.tolist(),
        "confused": confused.tolist(),
        "kernel": kernel.tolist(),
        "correlation": correlation(confused[far], kernel[far]),
    }


def correlation(a: Tensor, b: Tensor) -> float | None:
    """Pearson's, or None where one of them is constant."""
    found = torch.corrcoef(torch.stack([a, b]))[0, 1].item()
    return found if math.isfinite(found) else None
