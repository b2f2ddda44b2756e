"""FoX, PoPE and PaTH beside the byte models: position that is made from content, trained by the same recipe.

All but the encoding is that of the byte models: text, steps, seeds, gate, and a learning rate that was chosen
from as many. Written before the first run: at the length of training, each is compared with RoPE by the rule
of the other byte models (`byte_models.difference`); beyond it, by the rise from windows of 256 bytes to
windows of 4,096 of the same bytes (`byte_models.rise`). No more is concluded from three seeds of one size.
"""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_models
from posenc_course.experiments.byte_models import GATE, PARTS, measure

__all__ = ["GATE", "PARTS", "measure"]

QUESTION = "What does position that is made from content give a language model, beside RoPE?"

STORES_EACH = True
SWEEP = byte_models.SWEEP

ENCODINGS = ("fox", "pope", "path")


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run: those of RoPE's byte models, and other encodings."""
    return byte_models.like_rope(ENCODINGS, steps=steps, seeds=seeds, fast=fast)
