"""What the capstone's models do with the encodings of the course: the ladder on which an answer is placed.

The models are those of `posenc_course.exercises.boxes`, trained in NumPy; the encodings are the library's own
functions, as far as they need no training of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import posenc_lib as lib
from posenc_course.exercises import boxes, capstone
from posenc_course.exercises.boxes import DIM, HEAD_DIM, HEADS, STEPS, TESTED, TRAINED
from posenc_course.experiments.training import Bench
from posenc_lib._arrays import Array

QUESTION = "What do the capstone's models do on four times the length, by encoding?"

PARTS = (boxes,)

STEEP = (1.0, 1 / 256)
OWN = -10.0
"""What is added to a step's score of itself where it is to be left out."""


def _own(positions: Array) -> Array:
    return OWN * np.eye(len(positions))


def _alibi(positions: Array, slopes: Any = None) -> Array:
    return np.asarray(lib.alibi_bias(HEADS, positions, positions, slopes=slopes))


def _log(positions: Array) -> Array:
    ones = np.ones(HEADS)
    return np.asarray(lib.kerple_bias(2 * ones, ones, positions, positions))


def _rope(positions: Array) -> Array:
    return np.asarray(positions[:, None] * lib.frequencies(HEAD_DIM))


def _squeezed(positions: Array) -> Array:
    return positions * min(1.0, TRAINED / len(positions))


ENCODINGS: dict[str, Callable[[Array], dict[str, Any]]] = {
    "none": lambda p: {},
    "sinusoidal": lambda p: {"added": lib.sinusoidal(p, DIM)},
    "sinusoidal, interpolated": lambda p: {"added": lib.sinusoidal(_squeezed(p), DIM)},
    "rope": lambda p: {"rotated": _rope(p)},
    "rope, interpolated": lambda p: {"rotated": _rope(_squeezed(p))},
    "alibi": lambda p: {"biased": _alibi(p)},
    "alibi, one steep slope": lambda p: {"biased": _alibi(p, np.array(STEEP))},
    "sandwich": lambda p: {"biased": lib.sandwich_bias(HEADS, p, p)},
    "kerple": lambda p: {"biased": _log(p)},
    "rope and alibi": lambda p: {"rotated": _rope(p), "biased": _alibi(p)},
    "own step left out": lambda p: {"biased": np.stack([_own(p)] * HEADS)},
    "rope, own step left out": lambda p: {"rotated": _rope(p), "biased": np.stack([_own(p)] * HEADS)},
    "alibi, own step left out": lambda p: {"biased": _alibi(p) + _own(p)},
    "logarithm, own step left out": capstone.ENCODING.reference,
}


COMPARED = ("logarithm, own step left out", "alibi, own step left out")
REPORTED = range(10, 15)
"""The runs of the report that serves as an example: `solutions/capstone.md`."""


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run: the seeds are those of a mark, and for two encodings those of `REPORTED`."""
    names = ["alibi"] if fast else list(ENCODINGS)
    pairs = [(name, seed) for seed in range(seeds or (1 if fast else len(capstone.SEEDS))) for name in names]
    if not fast and seeds is None:
        pairs += [(name, seed) for name in COMPARED for seed in REPORTED]
    count = steps or (20 if fast else STEPS)
    return [{"encoding": name, "seed": seed, "steps": count} for name, seed in pairs]


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train at one length, test there and at four times the length.

    Returns:
        trained, tested: the share of cards told, after `TRAINED` steps and after `TESTED`.
    """
    tables = [
        capstone.tables_of(ENCODINGS[run["encoding"]](np.arange(n, dtype=np.float64)), n)
        for n in (TRAINED, TESTED)
    ]
    trained, tested = boxes.accuracies(tables[0], tables[1], run["seed"], run["steps"])
    return {"trained": round(trained, 4), "tested": round(tested, 4)}
