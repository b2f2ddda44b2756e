"""Which distances does a trained model confuse? Those that the best possible reader confuses, and no others.

A model reads two tokens that stand somewhere among 64 places, and says how far apart they are. A token is the
encoding of its place, of few waves or many but always of the same length, and noise: what else a token holds.
How alike two encodings are decides nothing by itself, but beside the noise: places are taken for each other
whose encodings lie no farther apart than the noise is large.

What can be known is known here: the noise is drawn from a normal distribution, so the best possible reader
can be computed (`best_reader`). A model counts if it comes near to it, and then no learning rate could have
made it much better. The sentences, and what refutes them:

* "A model confuses what the encoding and the noise make alike": its confusions follow the best reader's,
  offset by offset. Refuted where they do not (a low `correlation` in an admitted run).
* "One wave repeats itself": with little noise, the most confused offset is the one that is nearest to a whole
  number of wavelengths, 44. Refuted where another one is.
* "More waves are the cure" can be said of one size of noise only: the share of the best reader tells, before
  any training, where more waves of the same length in all help, and where they hurt.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_course.experiments import decoder, recipes
from posenc_course.experiments.recipes import level, optimizers
from posenc_course.experiments.training import Bench, thinned
from posenc_lib.added import similarity, sinusoidal
from posenc_lib.nn import PositionalEncoding, Transformer
from posenc_lib.nn.positions import Positions, as_tensor, read_places

QUESTION = (
    "Which distances does a trained model confuse, by how many waves its encoding has and how much noise?"
)

SHARE = 0.9
GATE = (
    f"At least {SHARE:.0%} of what the best possible reader has right, on the same kind of places and noise."
)

STORES_EACH = True
PARTS = (sys.modules[__name__], recipes, decoder)

PLACES = 64

PAIRS = (1, 2, 8, 32)
NOISE = (0.1, 0.5)
"""Standard deviation in each column; an encoding has a root mean square of 1/sqrt(2) over all of them."""

ENOUGH = 0.95
"""Of the best reader's share, at which a training ends."""
LOOK_EVERY = 50

FAR = 3
"""Offsets from here on are no neighbours."""


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


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """From one wave to as many as the model is wide, in noise of two sizes."""
    return [
        {
            "pairs": pairs,
            "noise": noise,
            "seed": seed,
            "rate": 0.01,
            "steps": steps or (100 if fast else 1500),
            "rows": 256,
            "dim": 64,
            "layers": 1,
            "heads": 4,
            "places": PLACES,
        }
        for noise in (NOISE[1:2] if fast else NOISE)
        for pairs in (PAIRS[:1] if fast else PAIRS)
        for seed in range(seeds or (1 if fast else 5))
    ]


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train on places drawn at random; test on every pair of places, four times.

    Returns:
        steps: how many it took; solved: whether `ENOUGH` was reached in them;
        curve: `thinned`, of the loss, nats a question;
        accuracy, best: share of right answers, of the model and of the best reader, mean over all distances;
        offsets: 1 to 63;
        confused, best_confused: one an offset, how often the model, or the best reader, says a certain
            distance that is wrong by it, mean over all pairs of such distances;
        kernel: the dot product of two encodings that far apart, by that of one with itself;
        correlation: of the model's confusions with the best reader's, over offsets from `FAR` on; None where
            nothing is confused.
    """
    reader = Transformer(
        None, run["dim"], run["layers"], run["heads"], encoding=FewWaves(run["pairs"]), causal=False
    )
    model = nn.ModuleDict({"reader": reader, "head": nn.Linear(run["dim"], PLACES)}).to(bench.device)
    encodings = FewWaves(run["pairs"]).add(torch.zeros(1, PLACES, run["dim"]), PLACES)[0]

    def noise(rows: int, generator: torch.Generator) -> Tensor:
        return torch.randn(rows, 2, run["dim"], generator=generator) * float(run["noise"])

    def logits(places: Tensor, noises: Tensor) -> Tensor:
        """(n, 64) for two tokens at places (n, 2)."""
        where = places.to(bench.device)
        found: Tensor = model["head"](model["reader"](noises.to(bench.device), positions=where)[:, 1])
        return found

    def loss(generator: torch.Generator) -> Tensor:
        distances = torch.randint(PLACES, (run["rows"],), generator=generator)
        first = (torch.rand(run["rows"], generator=generator) * (PLACES - distances)).long()
        places = torch.stack([first, first + distances], dim=1)
        return F.cross_entropy(logits(places, noise(run["rows"], generator)), distances.to(bench.device))

    every = torch.tensor([(p, p + d) for d in range(PLACES) for p in range(PLACES - d)])

    @torch.no_grad()
    def test(seed: int, times: int) -> tuple[Tensor, Tensor]:
        """(distance, distance said): shares, of the model and of the best reader, of the same noise."""
        places = every.repeat(times, 1)
        noises = noise(len(places), torch.Generator().manual_seed(seed))
        said = logits(places, noises).argmax(-1).cpu()
        best = best_reader(encodings[places] + noises, encodings, run["noise"])
        return _shares(places, said), _shares(places, best)

    def near_the_best() -> bool:
        model_shares, best_shares = test(20_000 + run["seed"], 1)
        return _right(model_shares) >= ENOUGH * _right(best_shares)

    trained_by = optimizers(model, run["rate"])
    losses = bench.descend(
        model,
        loss,
        run["steps"],
        trained_by,
        level(trained_by),
        seed=run["seed"],
        solved=near_the_best,
        look_every=LOOK_EVERY,
    )
    shares, best = test(10_000 + run["seed"], 4)
    offsets = torch.arange(1, PLACES)
    confused, best_confused = _by_offset(shares), _by_offset(best)
    kernel = similarity(offsets.double(), 2 * run["pairs"]) / run["pairs"]
    far = offsets >= FAR
    return {
        "steps": len(losses),
        "solved": len(losses) < run["steps"] or near_the_best(),
        "curve": thinned(losses),
        "accuracy": _rounded(_right(shares)),
        "best": _rounded(_right(best)),
        "offsets": offsets.tolist(),
        "confused": [_rounded(each) for each in confused],
        "best_confused": [_rounded(each) for each in best_confused],
        "kernel": [_rounded(each) for each in kernel],
        "correlation": correlation(confused[far], best_confused[far]),
    }


def shortfall(run: dict[str, Any], result: dict[str, Any]) -> str | None:
    """What a run lacks to be spoken of; None where it passes."""
    if result["accuracy"] >= SHARE * result["best"]:
        return None
    return (
        f"{result['accuracy']:.1%} of the distances right after {result['steps']:,} steps, where the best "
        f"possible reader has {result['best']:.1%}"
    )


def best_reader(tokens: Tensor, encodings: Tensor, noise: float) -> Tensor:
    """The likeliest distance, for who knows encodings and size of the noise: nobody is right more often.

    Distances are all as likely, and so are, for each, the places where it fits.

    Args:
        tokens: (n, 2, dim), encodings and noise.
        encodings: (places, dim).
        noise: its standard deviation in each column.

    Returns:
        (n,) integers.
    """
    count = len(encodings)
    # -|token - encoding|^2 / 2, but for what is the same for all places.
    near = tokens @ encodings.mT - encodings.square().sum(dim=-1) / 2  # (n, 2, places)
    first, second = (near / noise**2).unbind(dim=1)
    likelihoods = [
        torch.logsumexp(first[:, : count - d] + second[:, d:], dim=1) - math.log(count - d)
        for d in range(count)
    ]
    return torch.stack(likelihoods, dim=1).argmax(dim=1)


def _shares(places: Tensor, said: Tensor) -> Tensor:
    """(distance, distance said), rows that sum to 1."""
    distances = places[:, 1] - places[:, 0]
    one_hot = F.one_hot(said, PLACES).double()
    counts = torch.zeros(PLACES, PLACES, dtype=torch.float64).index_add_(0, distances, one_hot)
    return counts / counts.sum(dim=1, keepdim=True)


def _right(shares: Tensor) -> float:
    return float(shares.diagonal().mean())


def _by_offset(shares: Tensor) -> Tensor:
    """(63,): the mean share of answers that are wrong by 1, 2, ..."""
    apart = (torch.arange(PLACES) - torch.arange(PLACES)[:, None]).abs()
    return torch.stack([shares[apart == offset].mean() for offset in range(1, PLACES)])


def _rounded(value: Any) -> float:
    return round(float(value), 5)


def correlation(a: Tensor, b: Tensor) -> float | None:
    """Pearson's, or None where one of them is constant."""
    found = torch.corrcoef(torch.stack([a, b]))[0, 1].item()
    return found if math.isfinite(found) else None
