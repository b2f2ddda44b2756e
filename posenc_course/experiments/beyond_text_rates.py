"""Beyond text, each encoding at its own learning rate: what of the first round depends on its one rate?

`beyond-text` trains everything at 0.003. Here each case runs with each encoding at a third of that rate and
at three times it, with the same seeds. The rules were written before the first run:

* an encoding's best rate is, of the three, the one with the highest mean score over its seeds, on unseen data
  of the trained kind (`score`, never `elsewhere`); where two are level, the usual one;
* two encodings are compared each at its best rate, by the 95% interval over the seeds
  (`uncertainty.compare`), in `score` and in `elsewhere`;
* a sentence that says of two encodings which does better stands if the verdict here is that of the first
  round. If it is another, the sentence tells it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from posenc_course.experiments import beyond_text, beyond_text_again
from posenc_course.experiments.beyond_text import GATE, shortfall
from posenc_course.experiments.beyond_text_again import AtRate
from posenc_course.experiments.training import Bench

__all__ = ["GATE", "shortfall"]

QUESTION = "What of the findings beyond text depends on the one learning rate of all?"

STORES_EACH = True
PARTS = (beyond_text, beyond_text_again)

RATES = (0.001, 0.01)
"""Beside the 0.003 of the first round."""


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False
) -> Iterator[dict[str, Any]]:
    """Those of the first round, at each of the other rates."""
    for rate in RATES[:1] if fast else RATES:
        for run in beyond_text.runs(steps=steps, seeds=seeds, fast=fast):
            yield {**run, "rate": rate}


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train and test one case, as `beyond_text.measure`."""
    return beyond_text.measure(
        run, AtRate(bench.device, bench.folder, bench.progress, bench.models, run["rate"])
    )
