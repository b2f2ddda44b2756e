"""One language model of bytes: trained on short texts, and read on longer ones.

It learns the source of Python's standard library, where what is named once comes back hundreds of bytes
later. All models are tested on the same bytes of files that none of them saw:

* windows of the length of training: here a model has to beat what counting can do (`ngram.py`), or nothing
  that it does is worth a word;
* windows of ever more bytes, of one file each: the loss by length;
* the longest of them, position by position;
* the same bytes in a sliding window, no more before each than a text of the training had;
* and texts that the model writes on, from the 128th, the 400th and the 2,000th byte of a file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from posenc_course.experiments import decoder, source_text, training, uncertainty
from posenc_course.experiments.decoder import Decoder, layers_with
from posenc_course.experiments.keys import key_of
from posenc_course.experiments.ngram import NGram
from posenc_course.experiments.training import Bench, level_then_down, thinned
from posenc_lib.nn import FIRE, LayerCache, TransformerXL

ORDERS = (3, 4, 5, 6)
THE_ORDER = 5
"""The n-gram that a model has to beat."""
STRIDE = 4
"""A sliding window moves on by a quarter of its length: no byte has less than three quarters before it."""

STARTS = (128, 400, 2000)
WRITTEN = 160
TEMPERATURE = 0.8

PIECE = 512
"""Bytes."""


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train the model of a run, and test it in each way."""
    text = source_text.require(run["text"])
    model, curve = trained(run, bench)
    return {
        "parameters": sum(each.numel() for each in model.parameters()),
        "curve": curve,
        "trained": at_the_trained_length(model, text.held_out, run),
        "longer": beyond(model, text.held_out, run),
        "written": [written(model, text.held_out, run, start) for start in STARTS if start < run["longest"]],
    }


# --- the models


TRAINING = ("encoding", "seed", "rate", "dim", "layers", "heads", "length", "base", "batch", "steps", "learn")
"""The settings on which the weights depend, beside the text."""


def trained(
    run: dict[str, Any],
    bench: Bench,
    make: Callable[[dict[str, Any]], Decoder] | None = None,
    settings: Sequence[str] = (),
) -> tuple[Decoder, list[list[float]]]:
    """The trained model of a run and the curve of its loss; trained now, unless it is kept.

    Args:
        make: of a module of its own, makes another model than `build`.
        settings: names of what else in the run its weights depend on.
    """
    text = source_text.require(run["text"])
    model = (make or build)(run).to(bench.device)
    settings_of_it = {name: run[name] for name in (*TRAINING, *settings, "text")}
    parts = [sys.modules[__name__], decoder, source_text, training]
    parts += [] if make is None else [sys.modules[make.__module__]]
    content = source_text.joined(text.learn, run["learn"])
    curve = bench.once(model, key_of(settings_of_it, parts), lambda: train(model, run, content, bench))
    return model, curve


def build(run: dict[str, Any]) -> Decoder:
    """The model of a run, new."""
    encodings, windows = layers_with(
        run["encoding"],
        dim=run["dim"],
        heads=run["heads"],
        layers=run["layers"],
        length=run["length"],
        base=run["base"],
    )
    return Decoder(256, run["dim"], run["heads"], encodings, windows)


def train(
    model: Decoder, run: dict[str, Any], content: bytes, bench: Bench, name: str = "model"
) -> list[list[float]]:
    """Train in place on random windows of a text; the curve of the loss.

    `name` tells the trainings of one run apart.
    """
    text = as_tensor(content).to(bench.device)
    window = torch.arange(run["length"] + 1, device=text.device)
    optimizers = model.optimizers(run["rate"])

    def loss(generator: torch.Generator) -> Tensor:
        first = torch.randint(len(text) - run["length"], (run["batch"], 1), generator=generator)
        batch = text[first.to(text.device) + window]
        return F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())

    schedules = level_then_down(optimizers, run["steps"])
    losses = bench.descend(model, loss, run["steps"], optimizers, schedules, name=name, seed=run["seed"])
    return thinned(losses)


# --- the tests


def at_the_trained_length(
    model: Decoder, files: tuple[source_text.File, ...], run: dict[str, Any]
) -> dict[str, Any]:
    """The loss on windows of the length of training, by file, beside the n-grams' on the same bytes."""
    length = run["length"]
    places = source_text.windows(files, length + 1, most=16)
    found = losses_of(model, cut(files, places, length + 1)).double().cpu().numpy()
    counted = counted_losses(run["text"]["sha256"], run["learn"])
    of_ngrams = {
        order: np.stack([counted[order][path][first + 1 : first + 1 + length] for path, first in places])
        for order in ORDERS
    }
    names = list(dict.fromkeys(path for path, _ in places))
    rows = [[number for number, (path, _) in enumerate(places) if path == name] for name in names]
    by_file = [float(found[each].mean()) for each in rows]
    weights = [len(each) * length for each in rows]
    mean, uncertain = uncertainty.mean_over_files(by_file, weights)
    stretches = found.reshape(len(found), 16, -1)
    return {
        "loss": round(mean, 5),
        "uncertainty": round(uncertain, 5),
        "second_half": round(float(found[:, length // 2 :].mean()), 5),
        "by_position": rounded(stretches.mean(axis=(0, 2))),
        "ngram": {str(order): round(float(each.mean()), 5) for order, each in of_ngrams.items()},
        "by_file": {
            "bytes": weights,
            "loss": rounded(by_file),
            "ngram": rounded([float(of_ngrams[THE_ORDER][each].mean()) for each in rows]),
        },
    }


def beyond(model: Decoder, files: tuple[source_text.File, ...], run: dict[str, Any]) -> dict[str, Any]:
    """The loss on longer and longer windows: for each of the same bytes, in rows of one file each.

    Returns:
        "lengths"; "by_length": for each of them a row of means, one a file; "whole" and "sliding": for each
        file a row of means, one for each stretch of the length of training: of the longest windows, and of
        windows of the length of training that slide over the same bytes.
    """
    trained, longest = run["length"], run["longest"]
    places = source_text.windows(files, trained + longest + 1, most=1)[: run["windows"]]
    rows = cut(files, places, trained + longest + 1).to(next(model.parameters()).device)
    body = rows[:, trained:]
    lengths = [trained * 2**k for k in range((longest // trained).bit_length())]
    by_length = [
        losses_of(model, body.unfold(1, n + 1, n).flatten(0, 1)).view(len(rows), -1) for n in lengths
    ]
    step = trained // STRIDE
    sliding = rows[:, step:].unfold(1, trained + 1, step).flatten(0, 1)
    slid = losses_of(model, sliding)[:, -step:].reshape(len(rows), -1)
    return {
        "lengths": lengths,
        "by_length": [rounded(each.mean(dim=1).tolist()) for each in by_length],
        "whole": _by_stretch(by_length[-1], trained),
        "sliding": _by_stretch(slid, trained),
    }


def _by_stretch(losses: Tensor, width: int) -> list[list[float]]:
    return [rounded(row) for row in losses.view(len(losses), -1, width).mean(dim=2).tolist()]


def written(
    model: Decoder, files: tuple[source_text.File, ...], run: dict[str, Any], start: int
) -> dict[str, Any]:
    """What the model writes after the first so many bytes of a held-out passage."""
    (place,) = source_text.windows(files, run["longest"] + 1, most=1)[:1]
    read = cut(files, [place], start + 1)[:, :-1].to(next(model.parameters()).device)
    generator = torch.Generator().manual_seed(run["seed"])
    memory = [LayerCache() for _ in model.layers]
    text, new = read, read
    with torch.no_grad():
        for _ in range(WRITTEN):
            likely = (model(new, memory)[0, -1] / TEMPERATURE).softmax(-1).cpu()
            new = torch.multinomial(likely, 1, generator=generator)[None].to(read.device)
            text = torch.cat([text, new], dim=1)
    shown = bytes(text[0].tolist()).decode("latin-1")
    return {"start": start, "read": shown[max(0, start - 100) : start], "written": shown[start:]}


@torch.no_grad()
def losses_of(model: Decoder, windows: Tensor, at_once: int = 8192) -> Tensor:
    """The loss of every byte but the first: (windows, length + 1) to (windows, length), nats.

    Windows whose bias is costly are read piece by piece, with a cache of keys, which comes to the same.
    """
    device, length = next(model.parameters()).device, windows.shape[1] - 1
    in_pieces = length > PIECE and isinstance(model.encodings[0], (FIRE, TransformerXL))
    found = []
    for some in torch.split(windows, 8 if in_pieces else max(1, at_once // length)):
        memory = [LayerCache() for _ in model.layers] if in_pieces else None
        each = some.to(device)
        pieces = torch.split(each[:, :-1], PIECE if in_pieces else length, dim=1)
        logits = torch.cat([model(piece, memory) for piece in pieces], dim=1)
        found.append(F.cross_entropy(logits.transpose(1, 2), each[:, 1:], reduction="none"))
    return torch.cat(found)


@cache
def counted_losses(sha256: str, learn: int) -> dict[int, dict[str, Any]]:
    """The losses of the n-grams that counted the same bytes: order -> file -> (bytes,)."""
    text = source_text.split()
    counted = source_text.joined(text.learn, learn)
    return {
        order: {file.path: model.losses(file.content) for file in text.held_out}
        for order, model in _ngrams(counted)
    }


def _ngrams(counted: bytes) -> Iterator[tuple[int, NGram]]:
    for order in ORDERS:
        yield order, NGram(counted, order)


def cut(files: tuple[source_text.File, ...], places: list[tuple[str, int]], length: int) -> Tensor:
    """(places, length): the bytes from each place on."""
    content = {file.path: file.content for file in files}
    return torch.stack([as_tensor(content[path][first : first + length]) for path, first in places])


def as_tensor(content: bytes) -> Tensor:
    """(bytes,), int64."""
    return torch.from_numpy(np.frombuffer(content, dtype=np.uint8).astype(np.int64))


def rounded(values: Any) -> list[float]:
    return [round(float(each), 4) for each in values]


def loss_to_choose_by(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train the model of a run; its loss at the length of training, on files that no test looks at."""
    text = source_text.require(run["text"])
    model, curve = trained(run, bench)
    places = source_text.windows(text.choose, run["length"] + 1, most=16)
    losses = losses_of(model, cut(text.choose, places, run["length"] + 1))
    return {"loss": round(float(losses.double().mean()), 5), "curve": curve}
