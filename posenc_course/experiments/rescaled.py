"""RoPE stretched, and left out, after the training: which runs, and which count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_course.experiments import (
    byte_model,
    byte_models,
    byte_models_beyond_counting,
    decoder,
    gates,
    ngram,
    rescaling,
    results,
    source_text,
    uncertainty,
    wrapped,
)
from posenc_course.experiments.rescaling import measure

__all__ = ["measure"]

QUESTION = "What does each way to read further with RoPE cost at the trained length, and give beyond it?"

GATE = gates.of_the_base(gates.BYTE_MODELS)

STORES_EACH = HAS_FULL = True
SWEEP = byte_models.SWEEP
PARTS = (rescaling, wrapped, byte_model, decoder, ngram, source_text)

SHARE = 0.01
"""Of the bytes of the training: what a tuning may read."""
LONGER = 0.1
"""And ten times that, at the length of training, for a model that has lost its positions: how soon does it
recover? The same for the model as it was, which tells what is due to more training alone."""

FACTORS = (2, 4, 8, 16)
FEWER = (4, 16)
"""Factors of the tunings, in the usual form."""

RULES = {
    "rope": ("plain", "pi", "ntk", "yarn", "yarn-of-llama", "dynamic-ntk", "log-length", "dropped"),
    "none": ("plain", "log-length"),
}
"""Encoding of the training -> how it is read afterwards."""


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False, full: bool = False
) -> list[dict[str, Any]]:
    """The settings of every run: those of the byte model that it begins with, a rule, and its forms."""
    bases = byte_models.longest(byte_models.runs(steps=steps, seeds=seeds, fast=fast, full=full))
    return runs_from(bases, fast=fast, full=full)


def runs_from(bases: list[dict[str, Any]], *, fast: bool = False, full: bool = False) -> list[dict[str, Any]]:
    """The same of models with these settings."""
    factors, fewer = ((2, 4), (4,)) if fast else (FACTORS, FACTORS if full else FEWER)
    tests = {"per_file": 16} if full or fast else {"per_file": 4, "windows": 10}
    return [
        base | tests | {"rule": rule, "forms": forms(base["encoding"], rule, factors, fewer)}
        for base in bases
        for rule in RULES.get(base["encoding"], ())
    ]


def forms(encoding: str, rule: str, factors: tuple[int, ...], tuned: tuple[int, ...]) -> list[list[Any]]:
    """[factor, share] of each form of a rule: how far it is stretched, and what it may read to adapt."""
    stretched: list[list[Any]] = [[factor, 0] for factor in factors]
    short: list[list[Any]] = [[factor, SHARE] for factor in tuned]
    at_home: list[list[Any]] = [[1, 0], [1, SHARE], [1, LONGER]]
    if rule in ("pi", "ntk", "yarn"):
        return stretched + short
    if rule == "yarn-of-llama":
        return [[factor, 0] for factor in tuned]
    if rule == "dropped":
        return at_home
    if rule == "plain" and encoding == "rope":
        return at_home + short
    return at_home[:1]


def difference(
    rule: str,
    *,
    factor: int,
    share: float = 0,
    length: int | None = None,
    encoding: str = "rope",
    full: bool = False,
    name: str = "rescaled",
) -> uncertainty.Finding:
    """A form of a rule less the same model as it was trained, all admitted seeds.

    Args:
        rule, factor, share: which form.
        length: of the windows; None for the large test at the length of training.
        encoding: that of the training.
        full: of the large form.
        name: the experiment that the runs are of.

    Raises:
        ValueError: nothing is stored, there is no such form, or fewer than two seeds of it are admitted.
    """
    stretched, weights = losses(rule, factor, share, length, encoding, full, name)
    plain, _ = losses("plain", 1, 0, length, encoding, full, name)
    # Each seed's model is compared with itself, so what spreads is that difference.
    own = np.subtract(stretched, plain)
    return uncertainty.compare(own, np.zeros_like(own), weights)


def losses(
    rule: str,
    factor: int = 1,
    share: float = 0,
    length: int | None = None,
    encoding: str = "rope",
    full: bool = False,
    name: str = "rescaled",
) -> tuple[list[list[float]], list[int]]:
    """(seeds, files) of the losses of a form, and how much each file weighs; the arguments of `difference`.

    Raises:
        ValueError: nothing is stored or admitted, or there is no such form.
    """
    found: list[list[float]] = []
    weights: list[int] = []
    for each in results.runs(name, full=full, encoding=encoding, rule=rule):
        result = each["result"]
        kinds = {(form["factor"], form["share"]): form for form in result["forms"]}
        if (factor, share) not in kinds:
            raise ValueError(f"{rule} has no form of factor {factor}, share {share}; it has {list(kinds)}")
        form = kinds[factor, share]
        if length is None:
            found.append(form["trained"]["by_file"]["loss"])
            weights = form["trained"]["by_file"]["bytes"]
        else:
            found.append(form["by_length"][result["lengths"].index(length)])
            weights = [1] * len(found[-1])
    return found, weights


def in_a_window(length: int, *, name: str = "rescaled", full: bool = False) -> NDArray[np.float64]:
    """(seeds, files) of the losses that `losses` would give if no rule, but a window read the same bytes.

    The model is left as it was trained, and a window of the length of its training slides along. So a text
    begins as in windows of that length, and from there on each byte has the bytes right before it. The
    byte models' own test has stored both; for the beginnings it has the mean of all that are read.

    Args:
        length: of the text.
        name: the experiment that stretches them.
        full: of the large form.
    """
    files = len(losses("plain", length=length, full=full, name=name)[1])
    models = (
        results.runs("byte-models", full=full, encoding="rope")
        if name == "rescaled"
        else byte_models_beyond_counting.kept("rope")
    )
    tested = [each["result"]["longer"] for each in models]
    begins = np.array([each["by_length"][0] for each in tested])
    slides = np.mean([each["sliding"] for each in tested], axis=2)
    share = tested[0]["lengths"][0] / length
    return np.asarray(share * begins + (1 - share) * slides)[:, :files]


def above_the_window(
    rule: str,
    *,
    factor: int,
    length: int,
    share: float = 0,
    name: str = "rescaled",
) -> uncertainty.Finding:
    """A form of a rule less the same model in a window that slides, on the same bytes, all admitted seeds.

    Args:
        rule, factor, length, share, name: which form; the arguments of `difference`.

    Raises:
        ValueError: as `difference` does.
    """
    stretched, weights = losses(rule, factor, share, length, name=name)
    above = np.subtract(stretched, in_a_window(length, name=name))
    return uncertainty.compare(above, np.zeros_like(above), weights)
