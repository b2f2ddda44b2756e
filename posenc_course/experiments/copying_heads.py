"""Which head copies? Each byte model's heads: where they look, and what is left of its copying without them.

A head that copies looks, from a place whose last bytes have come before, at the byte that followed them then:
an induction head (Olsson et al. 2022, arXiv:2209.11895). Its *score* is how much of its attention lies there,
the mean over places that have such bytes, in windows of the training's length, on files to choose by. Then
each head is removed, one at a time: what it gives is replaced by nothing. What the second reading of a
passage saves, with the head and without it, is measured as in `copies`, on the files of the test.

The models are those of `byte_models_beyond_counting` whose weights were kept: three seeds of the four, and
one of the others that beat counting.

Written when the six models of the lab had been seen, and no other. (Of those, on the first bytes of the lab's
own text, where few places repeat, the four that copy have a head with a score of 0.29 to 0.37, where even
attention has 0.01, and the two that do not have none above 0.04.
Without that head, three of the four save less than half.) For all models:

* a model's *copying head* is the one with the highest score on the files to choose by;
* it *carries the copying* where the model saves more than 0.1 nats, and without it less than half of that;
* of the models that save more than 0.1 it may be said that "one head carries it" only with the count of those
  where it does, and with what the removal of each other head leaves.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np
import torch
from torch import Tensor

from posenc_course.experiments import byte_model, byte_models_beyond_counting, copies, source_text
from posenc_course.experiments.byte_model import rounded
from posenc_course.experiments.byte_models_beyond_counting import SWEEP
from posenc_course.experiments.decoder import Decoder
from posenc_course.experiments.training import Bench

__all__ = ["SWEEP"]

QUESTION = "Which head of a byte model copies, and what is left of its copying without it?"

STORES_EACH = True
PARTS = (*byte_models_beyond_counting.PARTS, copies, sys.modules[__name__])

OTHERS = (
    "t5",
    "learned",
    "transformer-xl",
    "kerple",
    "fire",
    "rope-partial",
    "rope-and-none",
    "rope-window-and-rope",
    "pope",
)

ALIKE = 4
"""So many bytes in a row have to have come before."""


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """Those of the models."""
    four = byte_models_beyond_counting.runs(steps=steps, seeds=seeds, fast=fast)
    if fast:
        return four
    return four + byte_models_beyond_counting.runs_of(OTHERS, steps=steps, seeds=1)


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Score the heads of a run's model, and remove them one at a time.

    Returns:
        scores: a row for each layer, a number for each head;
        even: what attention that is spread evenly would score;
        first, second: for each file the mean loss of each reading, as `copies.read_twice`;
        without: the same of the model without a head, {"layer", "head", "first", "second"}.
    """
    text = source_text.require(run["text"])
    model, _ = byte_model.trained(run, bench)
    scores, even = scores_of(model, text.choose, run["length"])
    layers, heads = scores.shape
    without = [
        {"layer": layer, "head": head} | readings(knocked_out(model, layer, head), text, run)
        for layer in range(layers)
        for head in range(heads)
    ]
    told = {"scores": [rounded(row) for row in scores.tolist()], "even": round(even, 5)}
    return told | readings(model, text, run) | {"without": without}


def readings(model: Decoder, text: source_text.Split, run: dict[str, Any]) -> dict[str, Any]:
    """For each file the mean loss of the first and of the second reading of a passage."""
    found = copies.read_twice(model, text, run)
    return {which: found[which] for which in ("first", "second")}


@torch.no_grad()
def scores_of(
    model: Decoder, files: tuple[source_text.File, ...], length: int
) -> tuple[np.ndarray[Any, Any], float]:
    """(layers, heads) the share of attention on what followed the same bytes before, and that of an even one.

    The mean over all places that have such bytes, in one window of each file.
    """
    windows = byte_model.cut(files, source_text.windows(files, length, most=1), length)
    followed = followed_before(windows)
    rows = followed.any(dim=-1)
    heads: list[Any] = [layer.attention for layer in model.layers]
    for attention in heads:
        attention.record_weights = True
    model(windows.to(next(model.parameters()).device))
    weights = torch.stack([attention.weights.cpu() for attention in heads])
    for attention in heads:
        attention.record_weights = False
    shares = (weights * followed[:, None]).sum(dim=-1)  # (layers, windows, heads, queries)
    visible = torch.arange(1, length + 1)
    even = (followed.sum(dim=-1) / visible)[rows].mean()
    return shares.movedim(2, 1)[:, :, rows].mean(dim=-1).numpy(), float(even)


def followed_before(tokens: Tensor) -> Tensor:
    """(windows, queries, keys): is the key what followed, earlier, the query's last `ALIKE` tokens?"""
    last = tokens.unfold(1, ALIKE, 1)  # the tokens that end at ALIKE - 1, ALIKE, ...
    same = (last[:, :, None] == last[:, None]).all(dim=-1).tril(-1)
    found = torch.zeros(len(tokens), tokens.shape[1], tokens.shape[1], dtype=torch.bool)
    found[:, ALIKE - 1 :, ALIKE:] = same[:, :, :-1]
    return found


def knocked_out(model: Decoder, layer: int, head: int) -> Decoder:
    """The same model, in which a head gives nothing to what is after it."""
    other = copy.deepcopy(model)
    attention: Any = other.layers[layer].attention
    columns = slice(head * attention.head_dim, (head + 1) * attention.head_dim)
    with torch.no_grad():
        attention.out_proj.weight[:, columns] = 0
    return other


def saved(result: dict[str, Any]) -> float:
    """What the second reading saves, nats per byte, the mean of all files."""
    return float(np.mean(result["first"]) - np.mean(result["second"]))


def copying_head(result: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """The highest score, and the readings without its head."""
    scores = np.array(result["scores"])
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    (without,) = [each for each in result["without"] if (each["layer"], each["head"]) == (layer, head)]
    return float(scores.max()), without
