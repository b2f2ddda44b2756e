"""The byte models once more, twelve times as large and a hundred times as long in training: for a GPU.

Learning rates are those of the large form's sweep (`byte-model-rates --full`).
"""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_models
from posenc_course.experiments.byte_models import FULL, GATE, PARTS, measure

__all__ = ["GATE", "PARTS", "measure"]

QUESTION = "What does each encoding give a larger language model, at the length of its training and beyond?"

STORES_EACH = True
SWEEP = "byte-model-rates --full"

LARGE = FULL | {
    "dim": 384,
    "layers": 6,
    "heads": 6,
    "base": 280.0,  # 22 of 32 pairs turn at least once in 256 positions, 69% as in the small ones
    "batch": 64,
    "steps": 6100,  # 100 million bytes
}


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run, in the order of the small ones."""
    if fast:
        return byte_models.runs(steps=steps, seeds=seeds, fast=True)
    size = LARGE | ({"steps": steps} if steps else {})
    return [run | size for run in byte_models.runs(seeds=seeds, full=True)]
