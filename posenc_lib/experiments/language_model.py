"""Train short, test long: a small language model of bytes, once for every encoding.

Every model is tested on the same bytes of held-out text, in three ways:

* windows of ever more bytes: the loss by length;
* the longest of them, position by position;
* each byte from exactly as many before it as a text had in training (a sliding window). A model whose loss
  with the whole text before it is lower uses what lies further back. One whose loss is equal only bears it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_lib.experiments.text import source_of, split
from posenc_lib.experiments.training import Bench, thinned
from posenc_lib.nn import Learned, PositionalEncoding, Rotary, T5Bias, Transformer
from posenc_lib.rotated import LinearScaling, NTKScaling, YaRNScaling

QUESTION = "What does a model that was trained on short texts make of longer ones?"

MAIN = ("none", "sinusoidal", "t5", "rope", "alibi")
ALL = (*MAIN, "learned", "hybrid", "t5-near", "transformer-xl", "kerple", "fire")

READS_TEXT = True

SIZE = {"dim": 64, "layers": 2, "heads": 4, "tokens": 512, "rate": 6e-3}
"""Of every model. `tokens` is the size of a batch: as many windows as hold that many bytes."""

FULL = {"steps": 500, "tuning_steps": 50, "times": 16, **SIZE}
FAST = {"steps": 200, "tuning_steps": 0, "times": 8, **SIZE, "dim": 32}

STRETCH = 4
"""RoPE is rescaled, and tuned, for texts so many times as long."""

SAMPLED = 16
"""One byte in so many is read with a sliding window."""

Setting = Callable[[PositionalEncoding, int, int], None]
"""Makes an encoding ready to read, after training: (encoding, length in training, length to come)."""


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False, text: Path | None = None
) -> list[dict[str, Any]]:
    """The settings of every run. `fast` makes smaller models of the main five encodings, one seed each."""
    size = FAST if fast else FULL
    size = size | ({"steps": steps} if steps else {})
    trained = {32: MAIN} if fast else {64: ALL, 128: MAIN}
    source = source_of(text)
    return [
        {"encoding": name, "length": length, "seed": seed, **size, "text": source}
        for seed in range(seeds or (1 if fast else 3))
        for length, names in trained.items()
        for name in names
    ]


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train the model of a run, and test it in each way that its encoding can be set to read."""
    longest = run["times"] * run["length"]
    to_learn, held_out = (
        part.to(bench.device) for part in split(run["text"], least=run["length"] + longest + 1)
    )
    model = build(run).to(bench.device)
    curves = {"training": _train(model, run["length"], run["steps"], to_learn, run, bench, "training")}
    tests = {}
    for name, setting in ways_to_read(run["encoding"]).items():
        tests[name] = examine(model, setting, held_out, run)
        if isinstance(model.encoding, Rotary) and run["tuning_steps"]:
            tuned, length = copy.deepcopy(model), STRETCH * run["length"]
            setting(tuned.encoding, run["length"], length)
            steps = run["tuning_steps"]
            slower = run | {"rate": run["rate"] / 3}
            curves[f"{name}, tuned"] = _train(tuned, length, steps, to_learn, slower, bench, f"tuning-{name}")
            tests[f"{name}, tuned"] = examine(tuned, setting, held_out, run)
    return {
        "lengths": lengths(run),
        "positions": list(range(0, longest, run["length"])),
        "held_out": len(held_out),
        "parameters": sum(each.numel() for each in model.parameters()),
        "curves": curves,
        "tests": tests,
    }


def lengths(run: dict[str, Any]) -> list[int]:
    """The lengths of the tests: that of training, twice that, and so on."""
    return [run["length"] * 2**k for k in range(run["times"].bit_length())]


def build(run: dict[str, Any]) -> Transformer:
    """The model of a run, new."""
    length, heads = run["length"], run["heads"]
    encoding: str | PositionalEncoding = run["encoding"]
    if encoding == "learned":
        encoding = Learned(length, run["dim"], beyond="clamp", std=1.0)
    elif encoding == "t5-near":
        # T5's own 128 is more than a short text shows: the buckets of far bytes would stay as they began.
        encoding = T5Bias(heads, max_distance=length // 2, bidirectional=False, std=run["dim"] ** -0.5)
    return Transformer(256, run["dim"], run["layers"], heads, encoding=encoding, length=length)


def ways_to_read(encoding: str) -> dict[str, Setting]:
    """The ways in which a trained model of that encoding can be set to read texts."""
    if encoding == "learned":
        return {"clamp": _clamp, "interpolate": _interpolate}
    if encoding == "rope":
        return {
            "as trained": _rescale(lambda trained: None),
            "linear": _rescale(lambda trained: LinearScaling(STRETCH)),
            "ntk": _rescale(lambda trained: NTKScaling(STRETCH)),
            "yarn": _rescale(lambda trained: YaRNScaling(STRETCH, trained)),
        }
    return {"as trained": lambda encoding, trained, length: None}


def _clamp(encoding: PositionalEncoding, trained: int, length: int) -> None:
    assert isinstance(encoding, Learned)
    encoding.beyond, encoding.stretch_to = "clamp", None


def _interpolate(encoding: PositionalEncoding, trained: int, length: int) -> None:
    assert isinstance(encoding, Learned)
    encoding.beyond, encoding.stretch_to = "interpolate", max(length, trained)


def _rescale(rule: Callable[[int], Any]) -> Setting:
    def setting(encoding: PositionalEncoding, trained: int, length: int) -> None:
        assert isinstance(encoding, Rotary)
        encoding.scaling = rule(trained)

    return setting


def _train(
    model: nn.Module, length: int, steps: int, text: Tensor, run: dict[str, Any], bench: Bench, name: str
) -> list[list[float]]:
    """Train in place on random windows of a length; the curve of the loss."""
    window = torch.arange(length + 1, device=text.device)

    def loss(generator: torch.Generator) -> Tensor:
        first = torch.randint(len(text) - length, (run["tokens"] // length, 1), generator=generator)
        batch = text[first.to(text.device) + window]
        return F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())

    return thinned(bench.train(model, loss, steps, name=name, rate=run["rate"], seed=run["seed"]))


def examine(
    model: Transformer, setting: Setting, held_out: Tensor, run: dict[str, Any]
) -> dict[str, list[float]]:
    """The losses of a trained model on held-out text, nats a byte.

    Args:
        model: trained on texts of run["length"].
        setting: sets its encoding before texts of a length are read.
        held_out: (bytes,).
        run: its settings.

    Returns:
        "by_length": a number for each of `lengths(run)`, all of which cover the same bytes. The others, for
        each stretch of run["length"] positions of the longest windows: "by_position", of all bytes;
        "sampled_whole", of one byte in `SAMPLED`, after all of the window before it; "sampled_sliding", of
        the same bytes, each after exactly run["length"] bytes.
    """
    trained, longest = run["length"], run["times"] * run["length"]
    windows = (len(held_out) - trained - 1) // longest
    body = held_out[trained : trained + windows * longest + 1]  # what stands before is for sliding windows

    def losses(length: int, among: Tensor) -> Tensor:
        setting(model.encoding, trained, length)
        return losses_of(model, among)

    by_length = {n: losses(n, body.unfold(0, n + 1, n)) for n in lengths(run)}
    whole = by_length[longest]
    sampled = torch.arange(SAMPLED - 1, windows * longest, SAMPLED, device=held_out.device)
    slid = losses(trained, held_out.unfold(0, trained + 1, 1)[sampled + 1])[:, -1]
    return {
        "by_length": _rounded(torch.stack([each.mean() for each in by_length.values()])),
        "by_position": _by_position(whole, run["times"]),
        "sampled_whole": _by_position(whole.flatten()[sampled].view(windows, -1), run["times"]),
        "sampled_sliding": _by_position(slid.view(windows, -1), run["times"]),
    }


@torch.no_grad()
def losses_of(model: nn.Module, windows: Tensor, at_once: int = 4096) -> Tensor:
    """The loss of every byte but the first: (windows, length + 1) to (windows, length), nats."""
    found = []
    for some in torch.split(windows, max(1, at_once // (windows.shape[1] - 1))):
        logits = model(some[:, :-1])
        found.append(F.cross_entropy(logits.transpose(1, 2), some[:, 1:], reduction="none"))
    return torch.cat(found)


def _by_position(losses: Tensor, stretches: int) -> list[float]:
    """(windows, positions) to the mean of each of so many stretches of positions."""
    return _rounded(losses.view(losses.shape[0], stretches, -1).mean(dim=(0, 2)))


def _rounded(losses: Tensor) -> list[float]:
    return [round(each, 5) for each in losses.tolist()]
