"""RoPE at twice the rate, as long as `byte_models_beyond_counting`: is it the rate that holds it back?

Written when two of RoPE's three seeds were known there (1.088 and 1.086 nats at the length of training) and
one of ALiBi's (0.988), before the first run. If RoPE stays behind all of ALiBi's seeds, by more than the
uncertainty over files, this rate does not close the gap; if it does not stay behind, no sentence may say that
RoPE is behind. Half the rate was to be tried as well, and has not been: of lower rates nothing may be said.
"""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_models_beyond_counting
from posenc_course.experiments.byte_models_beyond_counting import GATE, PARTS, RATE, SWEEP, measure

__all__ = ["GATE", "PARTS", "SWEEP", "measure"]

QUESTION = "Is it too low a learning rate that holds RoPE back in the longer training?"

STORES_EACH = True
SHARE = 1.0
"""Of the rate that the sweep found."""


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """RoPE's first seed, or more of them."""
    usual = byte_models_beyond_counting.runs_of(("rope",), steps=steps, seeds=seeds or 1, fast=fast)
    return [run | {"rate": run["rate"] * SHARE / RATE} for run in usual]
