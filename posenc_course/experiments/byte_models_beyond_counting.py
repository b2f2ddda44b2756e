"""The byte models, trained until they know more than counting does: five times the text, many more steps.

They are to replace `byte_models`, whose gate a better way to count passes too. Written before the first run:

* `GATE` holds for every encoding. The order of the n-gram and its discounts are chosen on files that no
  test looks at.
* All have the same steps. An encoding of which a seed does not pass is trained once more, all seeds of it,
  with three times as many; both are stored and shown. One that does not pass then either gives no verdict.
* The learning rates are half of those that the sweep of short trainings found, which tried as many for each
  encoding (`RATE`): so much longer a training wants a lower one. (RoPE's was looked at, with another seed:
  after 400 steps half the rate was ahead.)

Four encodings come first, all three seeds of each (`ENCODINGS`); `byte_models_beyond_counting_others` has
the rest. Written when one seed of each of the four was known, before the second of any: once all twelve are
there and pass, they may be quoted ahead of the others. Their losses at the length of training are compared by
`difference`, each pair of encodings; their rises to the longest windows by `rise`, each encoding; and what
the whole text gives past the trained length by `gain_of_the_whole`, each encoding (all in `byte_models`).
Beside each verdict stands that of the byte models of the first round. Where the two differ in direction, both
are told, and no sentence may say only the one that suits it. Other findings wait for the other encodings.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from posenc_course.experiments import (
    byte_model,
    byte_models,
    decoder,
    gates,
    kneser_ney,
    ngram,
    results,
    source_text,
)
from posenc_course.experiments.kneser_ney import KneserNey
from posenc_course.experiments.training import Bench

QUESTION = "What does each encoding give a language model that knows more than counting does?"

GATE = gates.BYTE_MODELS_BEYOND_COUNTING
STORES_EACH = True
SWEEP = "byte-model-rates"
PARTS = (byte_model, decoder, ngram, kneser_ney, source_text)

ENCODINGS = ("rope", "alibi", "sinusoidal", "rope-window-and-none")

RATE = 0.5
SIZE = byte_models.FULL  # 3,600 steps on 6.4 MB


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run: one seed of all encodings, then the next."""
    return runs_of(("rope",) if fast else ENCODINGS, steps=steps, seeds=seeds, fast=fast)


def runs_of(
    encodings: Iterable[str],
    *,
    steps: int | None = None,
    seeds: int | None = None,
    fast: bool = False,
    size: dict[str, Any] = SIZE,
    rates: dict[str, float] | None = None,
) -> list[dict[str, Any]]:
    """The same of these encodings, of another size and at other learning rates if they are given."""
    size = (byte_models.FAST if fast else size) | ({"steps": steps} if steps else {})
    if rates is None:
        rates = {name: rate * RATE for name, rate in byte_models.best_rates().items()}
    text = source_text.source()
    return [
        {"encoding": name, "seed": seed, "rate": 0.02 if fast else rates.get(name), **size, "text": text}
        for seed in range(seeds or (1 if fast else 3))
        for name in encodings
    ]


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train and test the model of a run; beside it, what counting makes of the same bytes."""
    return byte_model.measure(run, bench) | {"counted": counted(run["learn"], run["length"])}


@cache
def counted(learn: int, length: int) -> dict[str, Any]:
    """The best modified Kneser-Ney on the windows of the test: its order, and its loss by file.

    It looks past the beginning of a window, up to seven bytes, which no model can.
    """
    text = source_text.split()
    model = KneserNey(source_text.joined(text.learn, learn))
    model.tune([file.content for file in text.choose])
    order = 2 + int(np.argmin(np.mean(list(_by_file(model, text.choose, length).values()), axis=0)[1:]))
    found = {path: losses[order - 1] for path, losses in _by_file(model, text.held_out, length).items()}
    return {"order": order, "files": list(found), "by_file": byte_model.rounded(found.values())}


def _by_file(model: KneserNey, files: tuple[source_text.File, ...], length: int) -> dict[str, Any]:
    """Of each file the mean loss of each order, in the windows of the test."""
    losses = {file.path: model.losses(file.content) for file in files}
    windows: dict[str, list[Any]] = {}
    for path, first in source_text.windows(files, length + 1, most=16):
        windows.setdefault(path, []).append(losses[path][:, first + 1 : first + 1 + length].mean(axis=1))
    return {path: np.mean(each, axis=0) for path, each in windows.items()}


def kept(encoding: str) -> list[dict[str, Any]]:
    """The stored runs of the models whose weights were kept, one a seed: later experiments begin with these.

    Of the four, the first seed is the one that was trained again; of the others there is one seed.

    Raises:
        ValueError: none is stored, or none is admitted.
    """
    if encoding not in ENCODINGS:
        return results.runs("byte-models-beyond-counting-others", encoding=encoding, seed=0)
    first = results.runs("byte-models-beyond-counting-again", encoding=encoding)
    seeds = {each["run"]["seed"] for each in first}
    others = results.runs("byte-models-beyond-counting", encoding=encoding)
    return first + [each for each in others if each["run"]["seed"] not in seeds]
