"""Needles by length and depth: which runs, and which count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_course.experiments import (
    byte_model,
    byte_models,
    decoder,
    gates,
    ngram,
    rescaling,
    results,
    retrieval,
    source_text,
    wrapped,
)
from posenc_course.experiments.gates import Gate
from posenc_course.experiments.retrieval import measure

__all__ = ["measure"]

QUESTION = "Where in a long text does a model still find what it was asked for?"

LEAST = 0.99


def gate_after(of_the_base: Gate) -> Gate:
    """That of a tuning which begins with models that have to pass another gate."""

    def shortfall(run: dict[str, Any], result: dict[str, Any]) -> str | None:
        lacks = of_the_base.shortfall(run, result)
        if lacks is not None:
            return f"before the tuning: {lacks}"
        if result["trained"] >= LEAST:
            return None
        share, steps = result["trained"], result["steps"]
        return f"{share:.2%} of the values right at the length of training, after {steps:,} steps"

    return Gate(
        "At the length of training, at least 99% of the values right, in files that no training saw; and "
        + "the model"
        + of_the_base.words.removeprefix("The model"),
        shortfall,
    )


BASE_GATES = {
    "needle": gates.of_the_base(gates.BYTE_MODELS),
    "needle-beyond-counting": gates.of_the_base(gates.BYTE_MODELS_BEYOND_COUNTING),
}
"""Of the models that each round begins with."""
GATE = gate_after(BASE_GATES["needle"])

STORES_EACH = HAS_FULL = True
SWEEP = byte_models.SWEEP
PARTS = (retrieval, rescaling, wrapped, byte_model, decoder, ngram, source_text)

MAPS = (
    ("rope", "plain"),
    ("rope", "pi"),
    ("rope", "yarn"),
    ("alibi", "plain"),
    ("rope-and-none", "plain"),
)
"""The encoding of the training, and the rule by which RoPE is read from the tuning on."""
MORE = (("rope-window-and-none", "plain"),)
"""In the large form too."""
HARDER = (("rope", "plain"), ("rope", "yarn"), ("alibi", "plain"))
"""Those that learn the harder kinds as well."""

SMALL = {
    "tuning_steps": 1200,
    "harder_steps": 600,
    "tuning_rate": 0.6,  # of the rate of the training
    "test_rows": 400,
    "times": [1, 2, 4, 8],
    "depths": 8,
    "cases": 12,
    "factor": 8,  # of PI and YaRN
    "k": 0.1,  # of YaRN
}
FULL = SMALL | {
    "tuning_steps": 2400,
    "harder_steps": 2400,
    "test_rows": 1000,
    "times": [1, 2, 3, 4, 6, 8, 16],
    "cases": 32,
}
FULL |= {"factor": 16}
FAST = SMALL | {
    "tuning_steps": 4,
    "harder_steps": 3,
    "test_rows": 20,
    "times": [1, 2],
    "depths": 3,
    "cases": 2,
    "factor": 2,
}


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False, full: bool = False
) -> list[dict[str, Any]]:
    """The settings of every run: those of the byte model that it begins with, and of the tuning."""
    bases = byte_models.runs(steps=steps, seeds=seeds, fast=fast, full=full)
    return runs_from(bases, MAPS + MORE if full else MAPS, FAST if fast else FULL if full else SMALL)


def runs_from(
    bases: list[dict[str, Any]], maps: tuple[tuple[str, str], ...], size: dict[str, Any]
) -> list[dict[str, Any]]:
    """The same of models with these settings, for these maps: one seed of all, then the next."""
    size = size | {"longest_map": max(size["times"]) * bases[0]["length"]}
    return [
        base | size | {"rule": rule} | ({} if (encoding, rule) in HARDER else {"harder_steps": 0})
        for seed in range(max(base["seed"] for base in bases) + 1)
        for encoding, rule in maps
        for base in bases
        if (base["encoding"], base["seed"]) == (encoding, seed)
    ]


def by_length(encoding: str, rule: str, *, name: str = "needle") -> NDArray[np.float64]:
    """(seeds, lengths) the share of the values found, all depths together, of each admitted run.

    Raises:
        ValueError: nothing is stored, or no such run is admitted.
    """
    found = [each["result"]["exact"] for each in results.runs(name, encoding=encoding, rule=rule)]
    return np.asarray(np.mean(found, axis=2))


def harder(
    encoding: str, rule: str, kind: str, *, full: bool = False, name: str = "needle"
) -> list[dict[str, Any]]:
    """What "harder" holds, of the seeds that can do this kind at the length of training after it.

    It is a test of its own: whether a run passed after the first tuning does not count here.

    Raises:
        ValueError: nothing is stored.
    """
    every = results.runs(name, every=True, full=full, encoding=encoding, rule=rule)
    begun_well = [found for each in every if BASE_GATES[name].shortfall({}, found := each["result"]) is None]
    return [each["harder"] for each in begun_well if each["harder"]["trained"][kind] >= LEAST]
