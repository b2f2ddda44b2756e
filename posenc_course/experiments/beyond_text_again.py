"""Beyond text, asked again: more steps, a lower rate, and what the first round left out.

`beyond-text` trains all its encodings for the same few steps, at one rate. Where one of them learned nothing,
or not in every run, that may be the training's doing. So these run again:

* "longer": with four times the steps;
* "slower": as long, at a tenth of the rate, for the waves of Time2Vec, which may never settle.

Two questions are new:

* "real time": RoPE that turns by the time, where the first round had only time that is added;
* "counted": in `resolution`, axial RoPE is told where the quarters of a patch lie, in old patches. Here the
  same model counts its rows and columns, from 0 to 7 where it knows 0 to 3, as M-RoPE does.

The rules were written before the first run. An encoding that passes the gate in all three seeds when it is
trained for longer had too short a training. Time2Vec that finds more than half of the effect in all three
seeds at the lower rate, and not at the usual one, did not settle. What is counted or measured, and what is
known a year later, is told apart as everywhere: by the 95% interval over the seeds (`uncertainty.compare`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from posenc_course.experiments import beyond_text
from posenc_course.experiments.beyond_text import GATE, shortfall
from posenc_course.experiments.training import Bench
from posenc_lib.nn import AxialRotary

__all__ = ["GATE", "shortfall"]

QUESTION = "What do more steps, a lower rate, RoPE on real time and counted patches change beyond text?"

STORES_EACH = True
PARTS = (beyond_text, sys.modules[__name__])

LONGER = 1200
COUNTED = "axial-counted"
TRIALS: tuple[dict[str, Any], ...] = (
    {"case": "resolution", "encoding": COUNTED, "change": "counted", "steps": 400, "rate": 0.003},
    {"case": "week", "encoding": "rope", "change": "real time", "steps": 300, "rate": 0.003},
    {"case": "week", "encoding": "time2vec", "change": "longer", "steps": LONGER, "rate": 0.003},
    {"case": "week", "encoding": "time2vec", "change": "slower", "steps": LONGER, "rate": 0.0003},
    {"case": "strands", "encoding": "enformer-both", "change": "longer", "steps": LONGER, "rate": 0.003},
    {"case": "strands", "encoding": "enformer-distance", "change": "longer", "steps": LONGER, "rate": 0.003},
    {"case": "strands", "encoding": "alibi", "change": "longer", "steps": LONGER, "rate": 0.003},
)


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False
) -> Iterator[dict[str, Any]]:
    """Every trial with every seed; in the fast form, the two that are new."""
    for trial in TRIALS[:2] if fast else TRIALS:
        own = {"steps": steps or (60 if fast else trial["steps"])}
        for seed in range(seeds or (1 if fast else 3)):
            yield {**trial, **own, "seed": seed, "dim": 32, "layers": 2, "heads": 4}


class Counted(AxialRotary):
    """Axial RoPE whose rows and columns are counted from 0, however small the patches are."""

    def _tables(self, x: Tensor, places: Any) -> Any:
        along = torch.arange(math.isqrt(x.shape[-2]))
        return self._make(torch.stack(torch.meshgrid(along, along, indexing="ij")).reshape(2, 1, -1), x.dtype)


@dataclass(frozen=True)
class AtRate(Bench):
    """A bench that trains at this rate, whatever it is asked for."""

    only: float = 3e-3

    def train(
        self,
        model: nn.Module,
        loss: Callable[[torch.Generator], Tensor],
        steps: int,
        *,
        name: str = "model",
        rate: float = 3e-3,
        seed: int = 0,
    ) -> list[float]:
        """As `Bench.train`."""
        return super().train(model, loss, steps, name=name, rate=self.only, seed=seed)


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train and test one case, as `beyond_text.measure`."""
    at_rate = AtRate(bench.device, bench.folder, bench.progress, bench.models, run["rate"])
    if run["encoding"] == COUNTED:
        # As the axial RoPE of `beyond_text.resolution`.
        run = {**run, "encoding": Counted(run["dim"] // run["heads"], axes=2, base=100.0)}
    return beyond_text.measure(run, at_rate)
