"""A learning rate beyond the sweep, for an encoding whose best was the largest of it: T5's bias.

The best rate of the sweep once more, and twice that. The rule, written when one trial of the larger had been
seen: if it is worse, the sweep has found T5's rate, and T5 is compared like all others; else it is not.
"""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_model_rates
from posenc_course.experiments.byte_model_rates import PARTS, measure

__all__ = ["PARTS", "measure"]

QUESTION = "Is a learning rate larger than all of the sweep better for T5's bias?"

STORES_EACH = True

LARGEST = max(byte_model_rates.RATES)


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of both runs."""
    run = byte_model_rates.runs(steps=steps, seeds=seeds, fast=fast)[0] | {"encoding": "t5"}
    return [run | {"rate": rate} for rate in (LARGEST, 2 * LARGEST)]
