"""Which learning rate suits each encoding: short trainings of the byte models, and files to choose by."""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_model, decoder, source_text
from posenc_course.experiments.byte_model import loss_to_choose_by as measure
from posenc_course.experiments.byte_models import ENCODINGS, FAST, FULL, LATER, SMALL

__all__ = ["measure"]

QUESTION = "Which learning rate suits each encoding?"

STORES_EACH = HAS_FULL = True
PARTS = (byte_model, decoder, source_text)

RATES = (0.015, 0.03, 0.06, 0.12)
SHARE = 4
"""A sweep has one step for so many of the training."""


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False, full: bool = False
) -> list[dict[str, Any]]:
    """The settings of every run, in the order of the encodings' importance."""
    size = FAST if fast else FULL if full else SMALL
    shorter = size | {"steps": steps or size["steps"] // SHARE}
    text = source_text.source()
    return [
        {"encoding": name, "rate": rate, "seed": seed, **shorter, "text": text}
        for name in (ENCODINGS[:1] if fast else ENCODINGS if full else (*ENCODINGS, *LATER))
        for rate in RATES
        for seed in range(seeds or 1)
    ]
