"""Language models of bytes, trained on 256 of them and read on up to 4,096: which runs, and which count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_course.experiments import byte_model, decoder, gates, ngram, results, source_text, uncertainty
from posenc_course.experiments.byte_model import measure

__all__ = ["measure"]

QUESTION = "What does each encoding give a language model, at the length of its training and beyond?"

GATE = gates.BYTE_MODELS
STORES_EACH = HAS_FULL = True
SWEEP = "byte-model-rates"
PARTS = (byte_model, decoder, ngram, source_text)

FIRST = ("rope", "none", "alibi", "t5", "sinusoidal", "learned")
THEN = ("kerple", "fire", "transformer-xl", "rope-partial", "rope-and-none", "rope-window-and-none")
ENCODINGS = (*FIRST, *THEN)
LATER = ("rope-window-and-rope", "fox", "pope", "path")
"""Those that other experiments train like these: `byte_models_beyond_counting`, `hybrids`, `by_content`."""

LONGER = {"learned": 3, "none": 3}
"""How many times longer some are trained once more, in the usual form: with the steps that all have they do
not pass the gate, and the course wants to show one that does. Both are stored."""

SMALL = {
    "dim": 128,
    "layers": 4,
    "heads": 4,
    "length": 256,
    "base": 300.0,  # of RoPE: 11 of 16 pairs turn at least once in 256 positions; LLaMA 2: 46 of 64
    "batch": 8,
    "steps": 600,
    "learn": 1_200_000,
    "longest": 4096,
    "windows": 20,
}
FULL = SMALL | {"steps": 3600, "learn": 6_400_000, "windows": 32}
FAST = SMALL | {"dim": 16, "layers": 4, "heads": 2, "length": 32, "batch": 8, "steps": 30}
FAST |= {"learn": 20_000, "longest": 128, "windows": 3}


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False, full: bool = False
) -> list[dict[str, Any]]:
    """The settings of every run, the most important encodings first, each with its own learning rate."""
    size = FAST if fast else FULL if full else SMALL
    size = size | ({"steps": steps} if steps else {})
    rates = dict.fromkeys(ENCODINGS, 0.02) if fast else best_rates(full)
    text = source_text.source()
    longer = {} if fast or full else LONGER
    return [
        {"encoding": name, "seed": seed, "rate": rates.get(name), **size, "text": text}
        | ({"steps": size["steps"] * longer[name]} if group is longer else {})
        for group in ((("rope", "none"),) if fast else (FIRST, longer, THEN))
        for seed in range(seeds or (1 if fast else 3))
        for name in group
    ]


def like_rope(
    encodings: Iterable[str], *, steps: int | None = None, seeds: int | None = None, fast: bool = False
) -> list[dict[str, Any]]:
    """The settings of RoPE's runs with other encodings, each with its own learning rate."""
    rates = dict.fromkeys(encodings, 0.02) if fast else best_rates()
    of_rope = [each for each in runs(steps=steps, seeds=seeds, fast=fast) if each["encoding"] == "rope"]
    return [each | {"encoding": name, "rate": rates[name]} for name in encodings for each in of_rope]


def longest(of: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each encoding and seed the longest training: the models that other experiments begin with."""
    most: dict[tuple[str, int], dict[str, Any]] = {}
    for run in of:
        which = run["encoding"], run["seed"]
        most[which] = max(most.get(which, run), run, key=lambda each: int(each["steps"]))
    return list(most.values())


def best_rates(full: bool = False, *, sweep: str = SWEEP) -> dict[str, float]:
    """Of each encoding whose sweep is stored, the learning rate with the lowest loss in it."""
    best: dict[str, tuple[float, float]] = {}
    for each in results.stored_so_far(sweep, full):
        tried = (each["result"]["loss"], each["run"]["rate"])
        best[each["run"]["encoding"]] = min(tried, best.get(each["run"]["encoding"], tried))
    return {name: rate for name, (_, rate) in best.items()}


def difference(
    one: str,
    other: str,
    *,
    name: str = "byte-models",
    full: bool = False,
    one_from: str = "",
    **of_the_one: Any,
) -> uncertainty.Finding:
    """Of two encodings, all admitted seeds of each: the difference of their losses at the length of training.

    Args:
        one, other: the encodings; the difference is that of the one less the other.
        name: the experiment that they are from.
        full: its large form.
        one_from: the experiment that the one is from, if it is another.
        of_the_one: which of its runs, if not all.

    Raises:
        ValueError: nothing is stored, or fewer than two seeds of one of them are admitted.
    """
    a, b = (
        [each["result"]["trained"]["by_file"] for each in results.runs(origin, full=full, **which)]
        for origin, which in (
            (one_from or name, {"encoding": one, **of_the_one}),
            (name, {"encoding": other}),
        )
    )
    return uncertainty.compare([seed["loss"] for seed in a], [seed["loss"] for seed in b], a[0]["bytes"])


def by_length(encoding: str, *, name: str = "byte-models", **settings: Any) -> NDArray[np.float64]:
    """(seeds, lengths) the loss of the admitted runs in windows of each length, of the same bytes.

    Raises:
        ValueError: nothing is stored, or no run with these settings is admitted.
    """
    found = results.runs(name, encoding=encoding, **settings)
    return np.array([np.mean(each["result"]["longer"]["by_length"], axis=1) for each in found])


def rise(encoding: str, *, name: str = "byte-models") -> uncertainty.Finding:
    """By how much the loss is higher in the longest windows than in those of the training, of the same bytes.

    Raises:
        ValueError: nothing is stored, or fewer than two seeds are admitted.
    """
    found = rises(encoding, name=name)
    return uncertainty.compare(found, np.zeros_like(found), np.ones(found.shape[1]))


def rise_while_sliding(encoding: str, *, name: str = "byte-models") -> uncertainty.Finding:
    """The loss in windows that slide: that of the last stretch of the text, less that of the first.

    A stretch is as long as the texts of the training, and so are the windows. Each is read from scratch.

    Raises:
        ValueError: nothing is stored, or fewer than two seeds are admitted.
    """
    found = np.array([each["result"]["longer"]["sliding"] for each in results.runs(name, encoding=encoding)])
    return uncertainty.compare(found[..., -1], found[..., 0], np.ones(found.shape[1]))


def rises(encoding: str, *, name: str = "byte-models", at: int = -1, **settings: Any) -> NDArray[np.float64]:
    """(seeds, files) the same of each admitted run and each file.

    Args:
        encoding, name, settings: which runs.
        at: the place of the longer windows among the lengths of the test.

    Raises:
        ValueError: nothing is stored, or no run with these settings is admitted.
    """
    found = [
        each["result"]["longer"]["by_length"] for each in results.runs(name, encoding=encoding, **settings)
    ]
    return np.array([np.subtract(each[at], each[0]) for each in found])


def gain_of_the_whole(encoding: str, *, name: str = "byte-models", full: bool = False) -> uncertainty.Finding:
    """Loss after all of the text less loss after its last bytes, of the same bytes past the trained length.

    Each model is compared with itself, so the spread of the seeds is that of this difference: "lower" where a
    model gains by what lies farther back than its training reached, "higher" where it suffers.

    Raises:
        ValueError: nothing is stored, or fewer than two seeds are admitted.
    """
    found = [each["result"]["longer"] for each in results.runs(name, full=full, encoding=encoding)]
    past = [np.subtract(each["whole"], each["sliding"])[:, 1:].mean(axis=1) for each in found]
    return uncertainty.compare(past, np.zeros_like(past), np.ones(len(past[0])))
