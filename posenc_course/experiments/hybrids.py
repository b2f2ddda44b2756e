"""A hybrid without its layer that has no position: is it the window that keeps its loss from rising?

Both hybrids among the byte models leave each fourth layer without position. The one whose other layers see
everything loses with length, the one whose other layers see a window does not. Here is the third: the same
windows, and RoPE in every layer, also in those that see everything. All else is that of the byte models.

The rule was written before the first run. The *rise* is the loss in windows of 4,096 bytes less that of the
same bytes in windows of the length of training. "higher" over the seeds: windows alone do not hold this
model, and the layer without position has a share in what holds the other. Else the windows are enough.
"""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_models, uncertainty
from posenc_course.experiments.byte_models import GATE, PARTS, measure

__all__ = ["GATE", "PARTS", "measure"]

QUESTION = "Is it the window that keeps a hybrid's loss from rising, or the layer without position?"

STORES_EACH = True
SWEEP = byte_models.SWEEP

ENCODING = "rope-window-and-rope"


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run: those of RoPE's byte models, and another encoding."""
    return byte_models.like_rope([ENCODING], steps=steps, seeds=seeds, fast=fast)


def rise() -> uncertainty.Finding:
    """By how much the loss rises from windows of the length of training to windows of 4,096 bytes.

    Raises:
        ValueError: nothing is stored, or fewer than two seeds are admitted.
    """
    return byte_models.rise(ENCODING, name="hybrids")
