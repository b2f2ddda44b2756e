"""RoPE at two more rates, as long as `byte_models_beyond_counting`: is it the rate that holds it back?

Written when two of RoPE's three seeds were known there (1.088 and 1.086 nats at the length of training) and
one of ALiBi's (0.988), before the first run of these. RoPE is given the rate of its sweep and a quarter of
it, where all have the half there. If at each of the three rates it stays behind all of ALiBi's seeds at their
one rate, by more than the uncertainty over files, then another rate within this range does not close the gap.
If at one of them it does not, then no sentence may say that RoPE is behind.
"""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_models_beyond_counting
from posenc_course.experiments.byte_models_beyond_counting import GATE, PARTS, RATE, SWEEP, measure

__all__ = ["GATE", "PARTS", "SWEEP", "measure"]

QUESTION = "Is it its learning rate that holds RoPE back in the longer training?"

STORES_EACH = True
SHARES = (1.0, 0.25)
"""Of the rate that the sweep found."""


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """RoPE's first seed, or more of them, at each rate."""
    usual = byte_models_beyond_counting.runs_of(("rope",), steps=steps, seeds=seeds or 1, fast=fast)
    return [run | {"rate": run["rate"] * share / RATE} for share in SHARES for run in usual]
