"""The causes again, in byte models that beat counting: what makes their loss rise beyond their length?

The models are those of `byte_models_beyond_counting`, three seeds of RoPE, of the sinusoidal encoding and of
ALiBi, and none is trained again: each is read differently beyond its length, as in `causes`. (The first
seed's weights are those of `byte_models_beyond_counting_again`, as in `copies`.) Causes that take a training
of their own are not asked here.

Written before the first run. A rise, its causes and their outcomes are those of `causes`, by the same code.
Beside each outcome stands that of the first round. Where the two differ, both are told, and the sentence says
of which models it speaks; where they agree, it may speak of both rounds.
"""

from __future__ import annotations

import sys
from typing import Any

from posenc_course.experiments import (
    ablations,
    byte_models_beyond_counting,
    readings,
    wrapped,
)
from posenc_course.experiments.byte_models_beyond_counting import GATE, SWEEP, counted
from posenc_course.experiments.training import Bench

__all__ = ["GATE", "SWEEP"]

QUESTION = "What makes the loss of models that beat counting rise beyond the length of training?"

STORES_EACH = True
PARTS = (*byte_models_beyond_counting.PARTS, wrapped, ablations, readings, sys.modules[__name__])

ENCODINGS = ("rope", "sinusoidal", "alibi")


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of the models, all seeds of one encoding, then the next."""
    models = byte_models_beyond_counting.runs_of(
        ENCODINGS[:1] if fast else ENCODINGS, steps=steps, seeds=seeds, fast=fast
    )
    read = [model | {"change": readings.READ} for model in models]
    return sorted(read, key=lambda run: ENCODINGS.index(run["encoding"]))


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Read the model of a run in several ways; beside it, what counting makes of the same bytes."""
    return readings.measure(run, bench) | {"counted": counted(run["learn"], run["length"])}
