"""The other encodings of `byte_models_beyond_counting`: the same text, steps, seeds and gate.

What its docstring says of an encoding of which a seed does not pass concerns these too: it is trained once
more, with three times the steps (`LONGER`).
"""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_models
from posenc_course.experiments.byte_models_beyond_counting import GATE, PARTS, measure, runs_of

__all__ = ["GATE", "PARTS", "measure"]

QUESTION = "What do the other encodings give a language model that knows more than counting does?"

STORES_EACH = True
SWEEP = byte_models.SWEEP

ENCODINGS = (
    *("none", "t5", "learned", "transformer-xl", "kerple", "fire", "rope-partial", "rope-and-none"),
    *byte_models.LATER,
)
LONGER = {"none": 3, "fox": 3}


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run: one seed of all encodings, then the next; then those trained longer."""
    usual = runs_of(("none",) if fast else ENCODINGS, steps=steps, seeds=seeds, fast=fast)
    longer = [] if fast else runs_of(LONGER, steps=steps, seeds=seeds)
    return usual + [each | {"steps": each["steps"] * LONGER[each["encoding"]]} for each in longer]
