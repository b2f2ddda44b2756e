"""A second size: byte models that beat counting, with four times the weights and texts of twice the length.

The same four encodings as `byte_models_beyond_counting`, three seeds of each, the same text and steps, and a
learning rate for each from a sweep of their own. Written before the first run: the comparisons are those that
are named there, by the same rules, and copying by that of `copies`. A finding *holds at both sizes* where
both verdicts are the same; where they differ, both are told, and no sentence may say only one.
"""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_models
from posenc_course.experiments.byte_models_beyond_counting import ENCODINGS, GATE, PARTS, measure, runs_of
from posenc_course.experiments.byte_models_larger_rates import LARGER

__all__ = ["GATE", "PARTS", "measure"]

QUESTION = "Which findings of the small byte models hold at a second size?"

STORES_EACH = True
SWEEP = "byte-models-larger-rates"


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run: one seed of all encodings, then the next."""
    encodings, rates = ENCODINGS[:1] if fast else ENCODINGS, byte_models.best_rates(sweep=SWEEP)
    return runs_of(encodings, steps=steps, seeds=seeds, fast=fast, size=LARGER, rates=rates)
