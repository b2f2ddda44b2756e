"""Which learning rate suits each encoding of `byte_models_larger`: trainings of a quarter of the steps."""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_models, source_text
from posenc_course.experiments.byte_model import loss_to_choose_by as measure
from posenc_course.experiments.byte_model_rates import PARTS, SHARE
from posenc_course.experiments.byte_models_beyond_counting import ENCODINGS

__all__ = ["PARTS", "measure"]

QUESTION = "Which learning rate suits each encoding in models four times as large?"

STORES_EACH = True

SHARES = (0.25, 0.5, 1.0)
"""Of the rate that the small models' sweep found."""

LARGER = byte_models.FULL | {
    "dim": 256,
    "heads": 8,
    "length": 512,
    "longest": 8192,
    "base": 850.0,  # 11 of 16 pairs turn at least once in 512 positions, as in the small ones in 256
}


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run: each encoding at each rate."""
    size = byte_models.FAST if fast else LARGER
    size = size | {"steps": steps or size["steps"] // SHARE}
    swept, text = byte_models.best_rates(), source_text.source()
    return [
        {"encoding": name, "seed": seed, "rate": swept[name] * share, **size, "text": text}
        for name in (ENCODINGS[:1] if fast else ENCODINGS)
        for share in (SHARES[:1] if fast else SHARES)
        for seed in range(seeds or 1)
    ]
