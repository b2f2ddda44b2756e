"""The first seeds of some encodings once more: is a model trained on another device the same finding?

The twelve models of `byte_models_beyond_counting` were trained on a processor, those of
`byte_models_beyond_counting_others` on a GPU. There, numbers are rounded in another order, and after
thousands of steps the weights have nothing in common. Written before the first run: if one of the four
differs from its twin by more than the seeds of its encoding differ among themselves, no sentence may compare
models of the two devices.

Three of the others had been trained on a processor before there was a GPU for all of them (`OTHERS`). So that
no run is lost, these are kept here, and their twins of the GPU stand with the others. The rule was not
written for them: T5's twins differ by 0.010, and T5's two seeds of the GPU by as much.
"""

from __future__ import annotations

from typing import Any

from posenc_course.experiments.byte_models_beyond_counting import (
    ENCODINGS,
    GATE,
    PARTS,
    SWEEP,
    measure,
    runs_of,
)

__all__ = ["GATE", "PARTS", "SWEEP", "measure"]

QUESTION = "Does a byte model come out the same when another device has trained it?"

STORES_EACH = True

OTHERS = ("none", "t5", "learned")


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The first seed of each of the four and of the three, or more of them."""
    encodings = ("rope",) if fast else (*ENCODINGS, *OTHERS)
    return [run | {"again": True} for run in runs_of(encodings, steps=steps, seeds=seeds or 1, fast=fast)]
