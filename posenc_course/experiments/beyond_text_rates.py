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
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_course.experiments import beyond_text, beyond_text_again, results, uncertainty
from posenc_course.experiments.beyond_text import GATE, shortfall
from posenc_course.experiments.beyond_text_again import AtRate
from posenc_course.experiments.training import Bench

__all__ = ["GATE", "shortfall"]

QUESTION = "What of the findings beyond text depends on the one learning rate of all?"

STORES_EACH = True
PARTS = (beyond_text, beyond_text_again)

USUAL = 0.003
RATES = (0.001, 0.01)


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


def scores(case: str, encoding: str, rate: float) -> NDArray[np.float64]:
    """(seeds, 2) score and, where there is one, score elsewhere (NaN where not); admitted or not."""
    name, own = ("beyond-text", {}) if rate == USUAL else ("beyond-text-rates", {"rate": rate})
    which: dict[str, Any] = {"case": case, "encoding": encoding, **own}
    found = [each["result"] for each in results.runs(name, every=True, **which)]
    return np.array([[each["score"], each["elsewhere"]] for each in found], dtype=np.float64)


def best_rate(case: str, encoding: str) -> float:
    """The rate with the highest mean score; the usual one where others are no higher."""
    rates = (USUAL, *RATES)
    return rates[int(np.argmax([scores(case, encoding, rate)[:, 0].mean() for rate in rates]))]


def comparison(case: str, one: str, other: str, *, tuned: bool) -> tuple[str, str]:
    """Verdicts on one less the other, in score and elsewhere: each at its best rate, or both at the usual.

    "" where nothing was tested elsewhere.
    """
    a, b = (
        scores(case, name, best_rate(case, name) if tuned else USUAL).T[:, :, None] for name in (one, other)
    )
    score, elsewhere = (
        "" if np.isnan(x).any() or np.isnan(y).any() else uncertainty.compare(x, y, [1]).verdict
        for x, y in zip(a, b, strict=True)
    )
    return score, elsewhere


def changed() -> list[tuple[str, str, str, tuple[str, str], tuple[str, str]]]:
    """Case, two encodings, and the verdicts before and after, of each pair of which they differ."""
    pairs = ((case, *pair) for case, names in beyond_text.VARIANTS.items() for pair in combinations(names, 2))
    both = ((*pair, comparison(*pair, tuned=False), comparison(*pair, tuned=True)) for pair in pairs)
    return [each for each in both if each[-2] != each[-1]]
