"""Positions that are not word numbers: hours, bases of DNA, metres, pixels.

* `times`: hourly temperatures of Seattle, read at irregular hours; the position is the number of the reading,
  or its hour. Real data (the package vega_datasets).
* `dna`: bases with the period of the double helix, 10.5. Generated from the model that `dna` states.
* `field`: the height of the ground at Jacksboro Fault, from coordinates. Real data (matplotlib's samples).
* `patches`: handwritten digits of 8 x 8 pixels, one token for every 2 x 2 of them. Real data (scikit-learn).
"""

from __future__ import annotations

import csv
import importlib.util
import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_lib.added import fourier_features, gaussian_frequencies
from posenc_lib.experiments.training import Bench, thinned
from posenc_lib.nn import Transformer

QUESTION = "What does the right kind of position bring for times, periods, fields and images?"


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False
) -> Iterator[dict[str, Any]]:
    """Every signal with several encodings of its positions."""
    model = {"dim": 32, "layers": 2, "heads": 4}
    for signal, variants in (_FAST if fast else _VARIANTS).items():
        for variant in variants:
            for seed in range(seeds or (1 if fast else 3)):
                run = {"signal": signal, "seed": seed, **variant}
                if signal != "field":
                    run |= model
                yield run | {"steps": steps or (_FAST_STEPS if fast else _STEPS)[signal]}


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train and test on one signal; see the function of that name for what it returns."""
    return SIGNALS[run["signal"]](run, bench)


class VectorModel(nn.Module):
    """A Transformer from vectors to vectors, with a linear map before and after it."""

    def __init__(self, run: dict[str, Any], inputs: int, outputs: int, length: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, run["dim"])
        self.between = Transformer(
            None,
            run["dim"],
            run["layers"],
            run["heads"],
            encoding=run["encoding"],
            causal=False,
            length=length,
        )
        self.last = nn.Linear(run["dim"], outputs)

    def forward(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """(batch, length, inputs) to (batch, length, outputs)."""
        y: Tensor = self.last(self.between(self.first(x), positions=positions))
        return y


# Times: what was the temperature at an hour when nobody read it?

READINGS, HOURS, HIDDEN = 24, 72, 4


@cache
def temperatures() -> Tensor:
    """Degrees Celsius, hour by hour, Seattle 2010."""
    return torch.tensor([(fahrenheit - 32) / 1.8 for fahrenheit in _seattle()])


def _seattle() -> list[float]:
    # Without importing the package, which would need pandas.
    found = importlib.util.find_spec("vega_datasets")
    if found is None or not found.submodule_search_locations:
        raise ValueError("the package vega_datasets is missing; run `make setup`")
    path = Path(found.submodule_search_locations[0]) / "_data" / "seattle-temps.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [float(row["temp"]) for row in csv.DictReader(file)]


def times(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """24 readings at random hours of three days, 4 of them hidden; the model says those.

    Of every 30 days the last 10 are held out for the test.

    Returns:
        training: `thinned` curve of the loss, mean square in units of the series' variance;
        error: root mean square error on 2,000 held-out windows, degrees C;
        error_of_mean: that of the mean of the window's visible readings.
    """
    series = temperatures()
    mean, spread = series.mean(), series.std()
    model = VectorModel(run, inputs=2, outputs=1, length=READINGS).to(bench.device)

    def readings(rows: int, generator: torch.Generator, held_out: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Hours since the window began, standardised temperatures, and which are hidden; (rows, 24) each."""
        months = len(series) // 720
        first, span = (480, 240 - HOURS) if held_out else (0, 480 - HOURS)
        starts = 720 * torch.randint(months, (rows, 1), generator=generator)
        starts += first + torch.randint(span + 1, (rows, 1), generator=generator)
        hours = torch.rand(rows, HOURS, generator=generator).argsort(dim=1)[:, :READINGS].sort(dim=1).values
        hidden = torch.rand(rows, READINGS, generator=generator).argsort(dim=1) < HIDDEN
        values = (series[starts + hours] - mean) / spread
        return hours.to(bench.device), values.to(bench.device), hidden.to(bench.device)

    def said(hours: Tensor, values: Tensor, hidden: Tensor) -> Tensor:
        inputs = torch.stack([values.masked_fill(hidden, 0.0), hidden.float()], dim=-1)
        answer: Tensor = model(inputs, hours if run["positions"] == "time" else None)[..., 0]
        return answer

    def loss(generator: torch.Generator) -> Tensor:
        hours, values, hidden = readings(32, generator, held_out=False)
        return F.mse_loss(said(hours, values, hidden)[hidden], values[hidden])

    losses = bench.train(model, loss, run["steps"], seed=run["seed"])
    hours, values, hidden = readings(2000, _unseen(run), held_out=True)
    with torch.no_grad():
        error = (said(hours, values, hidden) - values)[hidden]
    visible = (values * ~hidden).sum(dim=1, keepdim=True) / (READINGS - HIDDEN)
    return {
        "training": thinned(losses),
        "error": (error.square().mean().sqrt() * spread).item(),
        "error_of_mean": ((visible - values)[hidden].square().mean().sqrt() * spread).item(),
    }


# DNA: the next base, where A and T come back every 10.5 bases.

BASES, PERIOD, STRENGTH = 96, 10.5, 0.9


def strong_pairs(rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Sequences (rows, 96) of A, T, C, G as 0 to 3, and their phases (rows, 1), uniform from 0 to 10.5.

    At place p of a sequence of phase u, A and T have the probability (1 + 0.9 cos(2 pi (p + u) / 10.5)) / 4
    each, C and G the rest, in equal shares.
    """
    phases = PERIOD * torch.rand(rows, 1, generator=generator)
    weak = torch.rand(rows, BASES, generator=generator) < _weak_chance(phases)
    second = torch.randint(2, (rows, BASES), generator=generator)
    return torch.where(weak, second, 2 + second), phases


def _weak_chance(phases: Tensor) -> Tensor:
    """Probability of A or T, at each place: (n, 1) to (n, 96)."""
    return (1 + STRENGTH * torch.cos(2 * math.pi * (torch.arange(BASES) + phases) / PERIOD)) / 2


def best_possible(sequences: Tensor) -> Tensor:
    """Nats of each base but the first, (rows, 95), for one who knows the model, but not the phases."""
    chance = _weak_chance(torch.arange(0, PERIOD, 0.05, dtype=torch.float64)[:, None])
    weak = (sequences < 2)[:, None, :]
    log_each = torch.where(weak, chance.log(), (1 - chance).log())  # (rows, phases, 96)
    so_far = log_each.cumsum(dim=-1).logsumexp(dim=1)
    return so_far[:, :-1] - so_far[:, 1:] + math.log(2)


def dna(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """A language model of bases.

    Returns:
        training: `thinned` curve of the loss, nats a base;
        loss: on 500 unseen sequences, nats a base;
        best: of who knows the model that the bases come from; log 4, 1.386, is that of who knows nothing.
    """
    model = Transformer(
        4, run["dim"], run["layers"], run["heads"], encoding=run["encoding"], length=BASES
    ).to(bench.device)

    def nats(sequences: Tensor) -> Tensor:
        sequences = sequences.to(bench.device)
        return F.cross_entropy(model(sequences[:, :-1]).flatten(0, 1), sequences[:, 1:].flatten())

    losses = bench.train(
        model, lambda generator: nats(strong_pairs(12, generator)[0]), run["steps"], seed=run["seed"]
    )
    unseen, _ = strong_pairs(500, _unseen(run))
    with torch.no_grad():
        loss = nats(unseen).item()
    return {"training": thinned(losses), "loss": loss, "best": best_possible(unseen).mean().item()}


# A field: the height of the ground, from two coordinates.

BANDS = ((0, 2), (2, 4), (4, 8), (8, 16), (16, 32))
"""Cycles across the field."""


@cache
def heights() -> Tensor:
    """Metres above the sea, every fourth point of the data both ways: (86, 101)."""
    from matplotlib.cbook import get_sample_data

    path = get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)
    return torch.tensor(np.load(path)["elevation"][::4, ::4].astype(np.float32))


def features(run: dict[str, Any], points: Tensor) -> Tensor:
    """What the network reads of points (n, 2): the coordinates, or Fourier features of them."""
    if run["encoding"] == "coordinates":
        return 2 * points - 1
    directions = gaussian_frequencies(64, 2, scale=run["cycles"], seed=run["seed"])
    found: Tensor = fourier_features(points, directions)
    return found


def field(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """A network of three layers learns every other point, as on the black fields of a chess board.

    Returns:
        training: `thinned` curve of the loss, mean square in units of the field's variance;
        error_learned, error_between: root mean square error at the points it learnt and at those between, m;
        spread: of the heights, m;
        left: for each of `BANDS`, what share of the field's amplitude is left in the error.
    """
    truth = heights()
    rows, columns = truth.shape
    grid = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    points = torch.stack(grid, dim=-1).flatten(0, 1) / max(rows, columns)
    learned = ((grid[0] + grid[1]) % 2 == 0).flatten()
    inputs = features(run, points).to(bench.device)
    mean, spread = truth.mean(), truth.std()
    targets = ((truth.flatten() - mean) / spread).to(bench.device)
    network = nn.Sequential(
        nn.Linear(inputs.shape[1], 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)
    ).to(bench.device)

    losses = bench.train(
        network,
        lambda _: F.mse_loss(network(inputs[learned])[:, 0], targets[learned]),
        run["steps"],
        seed=run["seed"],
        rate=1e-2,
    )
    with torch.no_grad():
        error = ((network(inputs)[:, 0] - targets).cpu() * spread).double()
    return {
        "training": thinned(losses),
        "error_learned": error[learned].square().mean().sqrt().item(),
        "error_between": error[~learned].square().mean().sqrt().item(),
        "spread": spread.item(),
        "left": _left_by_band(error.reshape(truth.shape), (truth - mean).double()),
    }


def _left_by_band(error: Tensor, truth: Tensor) -> list[float]:
    """Amplitude of the error by that of the field, among waves of so many cycles across its longer side."""
    rows, columns = truth.shape
    window = torch.hann_window(rows, dtype=truth.dtype)[:, None] * torch.hann_window(
        columns, dtype=truth.dtype
    )
    longer = max(rows, columns)
    cycles = torch.hypot(torch.fft.fftfreq(rows)[:, None] * longer, torch.fft.rfftfreq(columns) * longer)
    left = []
    for low, high in BANDS:
        band = (cycles >= low) & (cycles < high)
        power = [torch.fft.rfft2(part * window).abs().square()[band].sum() for part in (error, truth)]
        left.append((power[0] / power[1]).sqrt().item())
    return left


# Images: one token a patch.

PATCHES = 4
"""A side of an image, in patches of 2 x 2 pixels."""

LEARNED_IMAGES = 1200


@cache
def digits() -> tuple[Tensor, Tensor]:
    """1,797 images, (1797, 16 patches in reading order, 4 pixels), from -1 to 1, and what each shows."""
    from sklearn.datasets import load_digits  # type: ignore[import-untyped]

    found = load_digits()
    pixels = torch.tensor(found.images / 8 - 1, dtype=torch.float32)
    patches = pixels.unfold(1, 2, 2).unfold(2, 2, 2)  # (1797, row, column, 2, 2)
    return patches.reshape(len(pixels), PATCHES**2, 4), torch.tensor(found.target)


def patches(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Which digit an image shows. The last 597 images are held out.

    Returns:
        training: `thinned` curve of the loss, nats an image;
        accuracy: share of held-out images named right.
    """
    images, shown = (part.to(bench.device) for part in digits())
    model = VectorModel(run, inputs=4, outputs=10, length=PATCHES**2).to(bench.device)

    def logits(which: Tensor | slice) -> Tensor:
        scores: Tensor = model(images[which]).mean(dim=1)
        return scores

    def loss(generator: torch.Generator) -> Tensor:
        which = torch.randint(LEARNED_IMAGES, (64,), generator=generator)
        return F.cross_entropy(logits(which), shown[which])

    losses = bench.train(model, loss, run["steps"], seed=run["seed"])
    unseen = slice(LEARNED_IMAGES, None)
    with torch.no_grad():
        right = logits(unseen).argmax(-1) == shown[unseen]
    return {"training": thinned(losses), "accuracy": right.double().mean().item()}


def _unseen(run: dict[str, Any]) -> torch.Generator:
    return torch.Generator().manual_seed(10_000 + run["seed"])


SIGNALS: dict[str, Callable[[dict[str, Any], Bench], dict[str, Any]]] = {
    "times": times,
    "dna": dna,
    "field": field,
    "patches": patches,
}

_VARIANTS: dict[str, list[dict[str, Any]]] = {
    "times": [
        {"encoding": encoding, "positions": positions}
        for encoding, positions in (
            ("none", "index"),
            ("sinusoidal", "index"),
            ("sinusoidal", "time"),
            ("rope", "index"),
            ("rope", "time"),
        )
    ],
    "dna": [{"encoding": encoding} for encoding in ("none", "learned", "sinusoidal", "rope", "alibi")],
    "field": [
        {"encoding": "coordinates"},
        *({"encoding": "fourier", "cycles": cycles} for cycles in (1.0, 4.0, 16.0)),
    ],
    "patches": [
        {"encoding": encoding} for encoding in ("none", "learned", "sinusoidal", "grid", "rope", "axial")
    ],
}
_STEPS = {"times": 300, "dna": 300, "field": 400, "patches": 300}
_FAST: dict[str, list[dict[str, Any]]] = {
    "times": [_VARIANTS["times"][1], _VARIANTS["times"][2]],
    "dna": [{"encoding": "none"}, {"encoding": "learned"}],
    "field": [{"encoding": "coordinates"}, {"encoding": "fourier", "cycles": 4.0}],
    "patches": [{"encoding": "none"}, {"encoding": "grid"}],
}
_FAST_STEPS = {"times": 100, "dna": 100, "field": 100, "patches": 100}
