"""Needles by length and depth, of models that beat counting before they learned to look for one.

The models are those of `byte_models_beyond_counting`, three seeds (the first seed's weights are those of
`byte_models_beyond_counting_again`, as in `copies`). Kinds, tunings and maps are those of `needle`, in its
usual form; windows in place of the hybrid that these models lack.

Written before the first run. The gate at the length of training is that of `needle`. What a map shows is
compared by the same rule as there, and beside each comparison stands that of the first round. Where the two
differ, both are told, and the sentence says of which models it speaks.
"""

from __future__ import annotations

import sys
from typing import Any

from posenc_course.experiments import (
    byte_models_beyond_counting,
    gates,
    needle,
    rescaling,
    retrieval,
    wrapped,
)
from posenc_course.experiments.byte_models_beyond_counting import SWEEP, counted
from posenc_course.experiments.training import Bench

__all__ = ["SWEEP"]

QUESTION = "Where in a long text does a model that beats counting still find what it was asked for?"

GATE = needle.gate_after(gates.of_the_base(gates.BYTE_MODELS_BEYOND_COUNTING))
STORES_EACH = True
PARTS = (retrieval, rescaling, wrapped, *byte_models_beyond_counting.PARTS, sys.modules[__name__])

MAPS = (
    ("rope", "plain"),
    ("alibi", "plain"),
    ("rope-window-and-none", "plain"),
    ("rope", "yarn"),
    ("rope", "pi"),
)
"""The encoding of the training, and the rule by which RoPE is read from the tuning on."""


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run: those of the model that it begins with, and of the tuning."""
    maps = MAPS[:1] if fast else MAPS
    encodings = dict.fromkeys(encoding for encoding, _ in maps)
    models = byte_models_beyond_counting.runs_of(encodings, steps=steps, seeds=seeds, fast=fast)
    return needle.runs_from(models, maps, needle.FAST if fast else needle.SMALL)


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Tune the model of a run, and draw its map; beside it, what counting makes of the same bytes."""
    return retrieval.measure(run, bench) | {"counted": counted(run["learn"], run["length"])}
