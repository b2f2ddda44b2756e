"""RoPE's byte models beat counting, and do not copy. One thing is changed at a time: after which do they?

Three seeds of each change, and all else as in `byte_models_beyond_counting`. What was known when this was
written: the passage read twice (`copies`) of two seeds of four encodings, of which RoPE's alone did not copy.
The rules, before the first run:

* a change *lets RoPE copy* where all three of its seeds copy, by the rule of `copies`; it does not where none
  does; anything between is told as it is, and no more is said of it;
* what a change gives at the length of training is `byte_models.difference`, against RoPE as it is;
* of a change that lets it copy it may be said that it takes away what holds RoPE back *in these models*, of
  this base and this length; of one that does not, that it is not the cause alone.

The guesses: every pair of RoPE turns within the training's texts with the small base that these models have,
so that no column says "the same content, wherever it stands" (a larger base would give some); the rate; the
norms of queries and keys, which bound the scores; or time, if copying is learned late.
"""

from __future__ import annotations

import sys
from typing import Any

from posenc_course.experiments import byte_model, byte_models_beyond_counting, copies, source_text
from posenc_course.experiments.byte_models_beyond_counting import GATE, SWEEP
from posenc_course.experiments.decoder import Decoder
from posenc_course.experiments.training import Bench

__all__ = ["GATE", "SWEEP"]

QUESTION = "What has to change before a byte model with RoPE copies?"

STORES_EACH = True
PARTS = (*byte_models_beyond_counting.PARTS, copies, sys.modules[__name__])

CHANGES: dict[str, dict[str, float]] = {
    "base 10,000": {"base": 10_000.0},
    "base 500,000": {"base": 500_000.0},
    "half the rate": {"rate": 0.5},
    "no norms": {},
    "three times the steps": {"steps": 3},
}
"""What is changed; rate and steps are shares of the usual."""

WITHOUT_NORMS = "no norms"


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """One seed of all changes, then the next."""
    return [
        changed(run, change)
        for run in byte_models_beyond_counting.runs_of(("rope",), steps=steps, seeds=seeds, fast=fast)
        for change in (WITHOUT_NORMS,) * fast or CHANGES
    ]


def changed(run: dict[str, Any], change: str) -> dict[str, Any]:
    """The settings of a run after a change."""
    new = CHANGES[change]
    return run | {
        "change": change,
        "base": new.get("base", run["base"]),
        "rate": run["rate"] * new.get("rate", 1),
        "steps": run["steps"] * int(new.get("steps", 1)),
    }


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train the model of a run; its losses as for `byte_model.measure`, and those of a passage read twice."""
    text = source_text.require(run["text"])
    model, curve = byte_model.trained(run, bench, without_norms if run["change"] == WITHOUT_NORMS else None)
    return {
        "parameters": sum(each.numel() for each in model.parameters()),
        "curve": curve,
        "trained": byte_model.at_the_trained_length(model, text.held_out, run),
        "longer": byte_model.beyond(model, text.held_out, run),
        "counted": byte_models_beyond_counting.counted(run["learn"], run["length"]),
        **copies.read_twice(model, text, run),
    }


def without_norms(run: dict[str, Any]) -> Decoder:
    """The model of a run, its queries and keys as their projections make them."""
    model = byte_model.build(run)
    for layer, encoding in zip(model.layers, model.encodings, strict=True):
        layer.encoding = encoding
    return model
