"""Does a byte model copy? The same passage twice in one window: what does the second reading cost?

The models are those that beat the best n-gram: of `byte_models_beyond_counting` (the first seed's weights
were not kept there, so these are of `byte_models_beyond_counting_again`), the other encodings, and the second
size. A model that has learned to find what came before, and what followed it, knows the second reading in
advance.

The rule was written when four models had been seen (RoPE, T5, ALiBi and the learned table, one seed of each):
a model *copies* if its second reading costs less than its first by more than the 95% interval over files; of
an encoding it is said that it does, or does not, where all its seeds agree. The other encodings and the
second size were added when two seeds of the first four were known, and no more of the others.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from torch import Tensor

from posenc_course.experiments import (
    byte_model,
    byte_models_beyond_counting,
    byte_models_beyond_counting_others,
    byte_models_larger,
    source_text,
    uncertainty,
)
from posenc_course.experiments.byte_model import rounded
from posenc_course.experiments.byte_models_beyond_counting import SWEEP
from posenc_course.experiments.decoder import Decoder
from posenc_course.experiments.training import Bench

__all__ = ["SWEEP"]

QUESTION = "What does a passage cost that a model reads a second time?"

STORES_EACH = True
PARTS = (*byte_models_beyond_counting.PARTS, sys.modules[__name__])

SKIPPED = 8
"""The first of so many parts of each reading is not counted: there is nothing yet to find it by."""


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """Those of the models."""
    others = () if fast else (byte_models_beyond_counting_others, byte_models_larger)
    of = (byte_models_beyond_counting, *others)
    return [run for module in of for run in module.runs(steps=steps, seeds=seeds, fast=fast)]


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Read a passage twice with the model of a run; what `read_twice` returns."""
    text = source_text.require(run["text"])
    model, _ = byte_model.trained(run, bench)
    return read_twice(model, text, run)


def read_twice(model: Decoder, text: source_text.Split, run: dict[str, Any]) -> dict[str, Any]:
    """Read a passage of each held-out file, half as long as the training's texts, twice in a row.

    Returns:
        "first", "second": for each file the mean loss of each reading, nats per byte;
        "by_place": the loss at each place of the window, the mean of all files.
    """
    half = run["length"] // 2
    places = source_text.windows(text.held_out, half, most=1)
    twice = byte_model.cut(text.held_out, places, half).repeat(1, 2)
    losses = byte_model.losses_of(model, twice).double().cpu()
    return {
        "first": _without_beginning(losses[:, : half - 1]),
        "second": _without_beginning(losses[:, half - 1 :]),
        "by_place": rounded(losses.mean(dim=0).tolist()),
    }


def _without_beginning(losses: Tensor) -> list[float]:
    return rounded(losses[:, losses.shape[1] // SKIPPED :].mean(dim=1).tolist())


def gain(result: dict[str, Any]) -> tuple[float, float]:
    """What the second reading saves, the mean of all files, and half its 95% interval over files."""
    saved = np.subtract(result["first"], result["second"])
    return uncertainty.mean_over_files(saved, np.ones(len(saved)))
