"""Trained byte models as small files that a page can read, and what the rounding costs them."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from posenc_course import trained
from posenc_course.experiments import (
    byte_model,
    byte_models,
    byte_models_beyond_counting,
    decoder,
    ngram,
    source_text,
)
from posenc_course.experiments.byte_model import at_the_trained_length
from posenc_course.experiments.decoder import Decoder
from posenc_course.experiments.training import Bench
from posenc_lib.nn import Learned, T5Bias

QUESTION = "What does a byte model lose as a small file?"

MOST_BYTES = 1_500_000
MOST_LOSS = 0.005
GATE = "At most 1.5 MB, and on held-out text at most 0.005 nats a byte worse than before it was rounded."

STORES_EACH = True
SWEEP = byte_models.SWEEP
PARTS = (trained, byte_model, decoder, ngram, source_text, sys.modules[__name__])

ENCODINGS = ("rope", "alibi", "sinusoidal", "t5", "rope-and-none", "learned")

LARGE = 4096
"""Numbers in a matrix from which on it is rounded."""

Arrays = dict[str, NDArray[Any]]


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of the models to export: of each encoding the best that beats counting and was kept.

    Raises:
        ValueError: of an encoding no model is stored that is admitted.
    """
    if fast:
        return byte_models.runs(steps=steps, seeds=1, fast=True)[:1]
    return [
        min(byte_models_beyond_counting.kept(name), key=lambda each: each["result"]["trained"]["loss"])["run"]
        for name in ENCODINGS
    ]


def shortfall(run: dict[str, Any], result: dict[str, Any]) -> str | None:
    """What a file lacks; None where it passes."""
    if result["bytes"] > MOST_BYTES:
        return f"{result['bytes']:,} bytes are too many for a page"
    if result["cost"] > MOST_LOSS:
        return f"rounded, it has {result['cost']:.4f} nats a byte more"
    return None


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Write the file of a model, and test the model that it holds.

    Returns:
        sha256, bytes: of the file;
        loss, rounded, cost: nats a byte at the length of training on held-out text: of the model as trained,
        of the one in the file, and the difference.
    """
    assert bench.models is not None
    text = source_text.require(run["text"])
    model, _ = byte_model.trained(run, bench)
    content = written(model, run)
    digest = hashlib.sha256(content).hexdigest()
    bench.models.mkdir(parents=True, exist_ok=True)
    (bench.models / f"{digest}.safetensors").write_bytes(content)
    loss = at_the_trained_length(model, text.held_out, run)["loss"]
    held = at_the_trained_length(loaded(content, run).to(bench.device), text.held_out, run)["loss"]
    cost = round(held - loss, 5)
    return {"sha256": digest, "bytes": len(content), "loss": loss, "rounded": held, "cost": cost}


def publish(result: dict[str, Any], work: Path, folder: Path) -> None:
    """Put the files that pass beside the result, each under the name of its encoding.

    Raises:
        ValueError: the work folder does not hold them any more.
    """
    for each in result["runs"]:
        if each["verdict"] != "admitted":
            continue
        name, digest = each["run"]["encoding"], each["result"]["sha256"]
        there, made = folder / f"{name}.safetensors", work / f"{digest}.safetensors"
        if there.exists() and hashlib.sha256(there.read_bytes()).hexdigest() == digest:
            continue
        if not made.exists():
            raise ValueError(
                f"the file of {name!r} is not in {work}; remove the stored result, and export again"
            )
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, there)


# --- the file


def written(model: Decoder, run: dict[str, Any]) -> bytes:
    """The content of a model's file; `posenc_course/trained.py` says what stands where."""
    exact = {name: each.detach().cpu().numpy().astype("<f4") for name, each in parameters_of(model).items()}
    arrays = {part: each for name, array in exact.items() for part, each in _rounded(name, array)}
    whole = dict(sorted(arrays.items(), key=lambda each: each[1].dtype == np.int8))  # floats first, on fours
    header: dict[str, Any] = {"__metadata__": _settings(model, run)}
    end = 0
    for name, array in whole.items():
        kind = "I8" if array.dtype == np.int8 else "F32"
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    told = json.dumps(header).encode()
    told += b" " * (-len(told) % 8)
    return struct.pack("<Q", len(told)) + told + b"".join(array.tobytes() for array in whole.values())


IN_A_LAYER = {
    "norm1": "norm1.weight",
    "qkv": "attention.in_proj_weight",
    "norm_q": "encoding.norm_q.weight",
    "norm_k": "encoding.norm_k.weight",
    "out": "attention.out_proj.weight",
    "norm2": "norm2.weight",
    "widen": "widen.weight",
    "narrow": "narrow.weight",
}
"""Name in the file -> name in the model."""


def parameters_of(model: Decoder) -> dict[str, Tensor]:
    """All that the model has learned, under the names of the file."""
    found: dict[str, Tensor] = {"embedding": model.embedding.weight}
    if isinstance(encoding := model.encodings[0], Learned):
        found["positions"] = encoding.table
    if isinstance(encoding, T5Bias):
        found["buckets"] = encoding.table
    for number, layer in enumerate(model.layers):
        within = dict(layer.named_parameters())
        found |= {f"layers.{number}.{name}": within[its] for name, its in IN_A_LAYER.items()}
    return found | {"norm": model.norm.weight, "head": model.head.weight}


def _rounded(name: str, array: NDArray[Any]) -> list[tuple[str, NDArray[Any]]]:
    """A large matrix as whole numbers, and the scale of each row."""
    if array.ndim < 2 or array.size < LARGE:
        return [(name, array)]
    scale = np.maximum(np.abs(array).max(axis=1), np.finfo(np.float32).tiny) / 127
    whole = np.rint(array / scale[:, None]).astype(np.int8)
    return [(name, whole), (f"{name}.scale", scale.astype("<f4"))]


def _settings(model: Decoder, run: dict[str, Any]) -> dict[str, str]:
    """What a reader of the file has to know, as text."""
    kept = {name: run[name] for name in ("encoding", "seed", "dim", "heads", "layers", "length", "base")}
    if isinstance(encoding := model.encodings[0], T5Bias):
        kept["max_distance"] = encoding.max_distance
    text = run["text"]
    kept |= {"text": f"{text['name']} {text['python']}", "licence of the text": text["licence"]}
    return {name: str(value) for name, value in kept.items()}


def loaded(content: bytes, run: dict[str, Any]) -> Decoder:
    """The model of a file, in PyTorch."""
    model = byte_model.build(run)
    weights = trained.read(content).weights
    with torch.no_grad():
        for name, parameter in parameters_of(model).items():
            parameter.copy_(torch.from_numpy(weights[name].copy()))
    return model.eval()
