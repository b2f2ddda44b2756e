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

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from posenc_course.experiments import beyond_text, beyond_text_again, uncertainty
from posenc_course.experiments.beyond_text import GATE, shortfall
from posenc_course.experiments.beyond_text_again import AtRate
from posenc_course.experiments.results import runs as runs_of
from posenc_course.experiments.training import Bench
from posenc_course.experiments.uncertainty import Reals

__all__ = ["GATE", "shortfall"]

QUESTION = "What of the findings beyond text depends on the one learning rate of all?"

STORES_EACH = True
PARTS = (beyond_text, beyond_text_again)

USUAL = 0.003
"""The rate of the first round."""
RATES = (0.001, 0.01)
"""Beside it."""


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


def highest(scores: Mapping[float, Sequence[float]]) -> float:
    """The rate with the highest mean. Where several are level: the usual one if it is one of them, or else
    the lowest."""
    means = {rate: round(float(np.mean(each)), 6) for rate, each in scores.items()}  # scores have four places
    level = [rate for rate, mean in means.items() if mean == max(means.values())]
    return USUAL if USUAL in level else min(level)


def at_rate(case: str, encoding: str, rate: float) -> list[dict[str, Any]]:
    """The stored runs of an encoding in a case at one of the three rates, admitted or not."""
    if rate == USUAL:
        return runs_of("beyond-text", every=True, case=case, encoding=encoding)
    return runs_of("beyond-text-rates", every=True, case=case, encoding=encoding, rate=rate)


def best_rate(case: str, encoding: str) -> float:
    """The best of the three, by all of its seeds, admitted or not."""
    return highest(
        {
            rate: [each["result"]["score"] for each in at_rate(case, encoding, rate)]
            for rate in (USUAL, *RATES)
        }
    )


def admitted(case: str, encoding: str, key: str = "score", rate: float | None = None) -> Reals:
    """What the runs that pass the gate have, at this rate, or at the best one."""
    found = at_rate(case, encoding, best_rate(case, encoding) if rate is None else rate)
    return np.array([each["result"][key] for each in found if each["verdict"] == "admitted"])


def compare(
    case: str, one: str, other: str, key: str = "score", rate: float | None = None
) -> uncertainty.Finding | None:
    """Two encodings, each at its best rate, or both at this one.

    None where fewer than two runs of either are admitted: then there is no verdict.
    """
    first, second = (admitted(case, name, key, rate) for name in (one, other))
    if min(len(first), len(second)) < 2:
        return None
    return uncertainty.compare(first[:, None], second[:, None], [1])


def before_and_after() -> dict[tuple[str, str, str, str], tuple[uncertainty.Finding, uncertainty.Finding]]:
    """Of all pairs of encodings, what the first round found, and what is found with each at its best rate.

    Returns:
        by case, `score` or `elsewhere`, and the two encodings; those without a verdict are left out.
    """
    found = {}
    for case, encodings in beyond_text.VARIANTS.items():
        moved = at_rate(case, encodings[0], USUAL)[0]["result"]["elsewhere"] is not None
        for key in ("score", "elsewhere") if moved else ("score",):
            for one, other in combinations(encodings, 2):
                before, after = compare(case, one, other, key, USUAL), compare(case, one, other, key)
                if before and after:
                    found[case, key, one, other] = before, after
    return found
