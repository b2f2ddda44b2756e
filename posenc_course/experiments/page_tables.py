"""What a page needs beside the exported models to run them: the numbers of their encodings, and a list.

    python -m posenc_course.experiments.page_tables FOLDER

A page computes no formula of an encoding itself, but for sines and cosines of angles that it is given
(`book/web/src/lab/doors.js`). The tests compare what it makes of them with the models in PyTorch.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

from posenc_course import trained
from posenc_course.experiments import rescaling, results
from posenc_course.experiments.export import ENCODINGS
from posenc_lib.angles import frequencies
from posenc_lib.biased import alibi_slopes, t5_buckets

RULES = ("none", "pi", "ntk", "yarn")
FACTORS = (2, 4, 8)
ROTATES = ("rope", "rope-and-none")
OF_THE_PAPER = 0.1
"""k of YaRN where none was chosen for a model."""


def place(to: Path, folder: Path = trained.FOLDER) -> None:
    """Put the exported models into a folder of the site, and `models.json` with `tables` beside them."""
    to.mkdir(parents=True)
    files = [file for name in ENCODINGS if (file := folder / f"{name}.safetensors").exists()]
    for file in files:
        shutil.copy(file, to)
    told = {file.stem: {"bytes": file.stat().st_size} | tables(trained.read(file).settings) for file in files}
    (to / "models.json").write_text(json.dumps(told, separators=(",", ":")))


def tables(settings: dict[str, str]) -> dict[str, Any]:
    """Of a model with these settings, as plain data.

    Returns:
        length: of its training;
        slopes: of each head, of "alibi" alone;
        buckets: of each distance back, the last for all beyond, of "t5" alone;
        readings: of those that rotate: {rule: {factor: {"turns", "longer"}}}, the angular frequency of each
            pair, and what its cosines and sines are multiplied by. "none" has the factor 1 alone;
        k: of YaRN, of those that rotate.
    """
    encoding, heads, length = settings["encoding"], int(settings["heads"]), int(settings["length"])
    told: dict[str, Any] = {"length": length}
    if encoding == "alibi":
        told["slopes"] = alibi_slopes(heads).tolist()
    if encoding == "t5":
        farthest = int(settings["max_distance"])
        back = -np.arange(farthest + 1)
        told["buckets"] = t5_buckets(back, max_distance=farthest, bidirectional=False).tolist()
    if encoding in ROTATES:
        told["k"] = k = k_of_yarn(encoding, int(settings["seed"]))
        told["readings"] = {
            rule: {
                factor: reading(settings, rule, factor, k) for factor in ((1,) if rule == "none" else FACTORS)
            }
            for rule in RULES
        }
    return told


def reading(settings: dict[str, str], rule: str, factor: int, k: float) -> dict[str, Any]:
    """RoPE's frequencies by a rule, as `rescaling` reads the models."""
    head_dim, base = int(settings["dim"]) // int(settings["heads"]), float(settings["base"])
    run = {"rule": rule, "length": int(settings["length"]), "base": base}
    scaling = rescaling.scaling(run, factor, 0, k)
    turns = frequencies(head_dim, base=base, scaling=scaling)
    return {"turns": turns.tolist(), "longer": getattr(scaling, "attention_scaling", 1.0)}


def k_of_yarn(encoding: str, seed: int) -> float:
    """The k that was chosen for a model on files that no test looks at; the paper's where none was."""
    for each in results.stored_so_far("rescaled-beyond-counting"):
        run = each["run"]
        if (run["rule"], run["encoding"], run["seed"]) == ("yarn", encoding, seed):
            return float(each["result"]["k"]["chosen"])
    return OF_THE_PAPER


if __name__ == "__main__":
    place(Path(sys.argv[1]))
