"""What a run has to reach before the book may speak of it: here, the gates of the byte models.

An experiment has its gate as `GATE`. One that begins with the byte models takes theirs from here. When a gate
changes, nothing is trained again: the next run applies it to what is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.experiments import uncertainty
from posenc_course.experiments.byte_model import THE_ORDER

Run = dict[str, Any]
Result = dict[str, Any]


@dataclass(frozen=True)
class Gate:
    """In words, and in code."""

    words: str
    shortfall: Callable[[Run, Result], str | None]
    """What a run lacks, in one sentence; None where it passes."""


def of(experiment: Any) -> Gate | None:
    """The gate of an experiment's module; None where it has none.

    Some say it as two names, `GATE` in words and `shortfall`: what they have stored is kept under their own
    code (`keys.py`), and would have to be trained again for another way to say the same.
    """
    gate = getattr(experiment, "GATE", None)
    return Gate(gate, experiment.shortfall) if isinstance(gate, str) else gate


def behind_witten_bell(run: Run, result: Result) -> str | None:
    """Of a byte model."""
    found = result["trained"]
    counted = found["ngram"][str(THE_ORDER)]
    gain, uncertain = uncertainty.mean_over_files(
        np.subtract(found["by_file"]["ngram"], found["by_file"]["loss"]), found["by_file"]["bytes"]
    )
    if gain > uncertain:
        return None
    return (
        f"{found['loss']:.3f} nats a byte at the length of training, where the {THE_ORDER}-gram has "
        f"{counted:.3f}; the gain, {gain:.3f}, is not above its 95% interval over files, {uncertain:.3f}"
    )


def behind_kneser_ney(run: Run, result: Result) -> str | None:
    """Of a byte model of the second round."""
    found, best = result["trained"], result["counted"]
    weights = found["by_file"]["bytes"]
    gain, uncertain = uncertainty.mean_over_files(
        np.subtract(best["by_file"], found["by_file"]["loss"]), weights
    )
    if gain > uncertain:
        return None
    counted_loss = np.average(best["by_file"], weights=weights)
    return (
        f"{found['loss']:.3f} nats a byte at the length of training, where a Kneser-Ney {best['order']}-gram "
        f"has {counted_loss:.3f}; the gain, {gain:.3f}, is not above its 95% interval over files, "
        f"{uncertain:.3f}"
    )


BYTE_MODELS = Gate(
    "At the length of training, on held-out text, better than an interpolated Witten-Bell 5-gram that "
    "counted the same bytes, by more than the 95% interval over files.",
    behind_witten_bell,
)

BYTE_MODELS_BEYOND_COUNTING = Gate(
    "At the length of training, on held-out text, better than the best n-gram that counted the same bytes, "
    "by more than the 95% interval over files: modified Kneser-Ney, of the orders 2 to 8 the one with the "
    "lowest loss on files that no test looks at, its discounts tuned on them.",
    behind_kneser_ney,
)


def of_the_base(models: Gate) -> Gate:
    """That of what begins with trained models: they pass theirs, at the length of training.

    Its results have the test of the model that they begin with as "base".
    """
    return Gate(
        f"The model that it begins with passes the gate of the byte models. {models.words}",
        lambda run, result: models.shortfall(run, result | {"trained": result["base"]}),
    )
