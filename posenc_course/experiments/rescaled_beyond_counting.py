"""RoPE stretched, and left out, after a training that beat counting.

The models are RoPE's of `byte_models_beyond_counting`, three seeds (the first seed's weights are those of
`byte_models_beyond_counting_again`, as in `copies`). Rules, forms, tests and what a tuning may read are those
of `rescaled`.

Written before the first run. What each form gives, against the same model as it was trained and against a
window that slides, is asked as there: `rescaled.difference` and `rescaled.above_the_window`. Beside each
verdict stands that of the first round. Where the two differ, both are told, and the sentence says of which
models it speaks; where they agree, it may speak of both rounds.
"""

from __future__ import annotations

import sys
from typing import Any

from posenc_course.experiments import byte_models_beyond_counting, gates, rescaled, rescaling, wrapped
from posenc_course.experiments.byte_models_beyond_counting import SWEEP, counted
from posenc_course.experiments.training import Bench

__all__ = ["SWEEP"]

QUESTION = "What does each way to read further with RoPE cost, and give, where the model beats counting?"

GATE = gates.of_the_base(gates.BYTE_MODELS_BEYOND_COUNTING)
STORES_EACH = True
PARTS = (rescaling, wrapped, *byte_models_beyond_counting.PARTS, sys.modules[__name__])


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run: those of the model that it begins with, a rule, and its forms."""
    models = byte_models_beyond_counting.runs_of(("rope",), steps=steps, seeds=seeds, fast=fast)
    return rescaled.runs_from(models, fast=fast)


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Read the model of a run by its rule; beside it, what counting makes of the same bytes."""
    return rescaling.measure(run, bench) | {"counted": counted(run["learn"], run["length"])}
