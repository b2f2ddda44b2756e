"""The first seed of four encodings once more: is a model trained on another device the same finding?

The twelve models of `byte_models_beyond_counting` were trained on a processor, those of
`byte_models_beyond_counting_others` on a GPU. There, numbers are rounded in another order, and after
thousands of steps the weights have nothing in common. Written before the first run: if one of the four
differs from its twin by more than the seeds of its encoding differ among themselves, no sentence may compare
models of the two devices.
"""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_models_beyond_counting
from posenc_course.experiments.byte_models_beyond_counting import GATE, PARTS, SWEEP, measure

__all__ = ["GATE", "PARTS", "SWEEP", "measure"]

QUESTION = "Does a byte model come out the same when another device has trained it?"

STORES_EACH = True


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The first seed of each of the four, or more of them."""
    return [
        run | {"again": True}
        for run in byte_models_beyond_counting.runs(steps=steps, seeds=seeds or 1, fast=fast)
    ]
