"""What mistakes cost models that beat counting: RoPE, the sinusoidal encoding and ALiBi, three seeds each.

The models are those of `byte_models_beyond_counting` (the first seed's weights are those of
`byte_models_beyond_counting_again`, as in `copies`), and no weight changes. Mistakes and tests are those of
`mistakes`.

Written before the first run. A cost and its verdict are those of `mistakes.cost`. Beside each stands that of
the first round. Where two verdicts differ, both are told, and the sentence says of which models it speaks.
"""

from __future__ import annotations

import sys
from typing import Any

from posenc_course.experiments import byte_models_beyond_counting, mistakes, wrapped
from posenc_course.experiments.byte_models_beyond_counting import GATE, SWEEP, counted
from posenc_course.experiments.training import Bench

__all__ = ["GATE", "SWEEP"]

QUESTION = "What do mistakes cost a model that beats counting?"

STORES_EACH = True
PARTS = (*byte_models_beyond_counting.PARTS, wrapped, mistakes, sys.modules[__name__])

ENCODINGS = ("rope", "sinusoidal", "alibi")


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of the models."""
    return byte_models_beyond_counting.runs_of(
        ENCODINGS[:1] if fast else ENCODINGS, steps=steps, seeds=seeds, fast=fast
    )


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Read the model of a run with each mistake; beside it, what counting makes of the same bytes."""
    return mistakes.measure(run, bench) | {"counted": counted(run["learn"], run["length"])}
