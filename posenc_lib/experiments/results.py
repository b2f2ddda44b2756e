"""Read the stored results. Needs NumPy only."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent / "results"


@cache
def stored(name: str) -> dict[str, Any]:
    """The stored result of an experiment: what it asked, how it ran, and every run.

    Raises:
        ValueError: nothing is stored under that name.
    """
    path = FOLDER / f"{name}.json"
    if not path.exists():
        known = ", ".join(sorted(each.stem for each in FOLDER.glob("*.json"))) or "none"
        raise ValueError(
            f"no result {name!r} is stored (there are: {known}); "
            f"make it: python -m posenc_lib.experiments {name}"
        )
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def runs(name: str, **settings: Any) -> list[dict[str, Any]]:
    """The runs of a stored experiment whose settings are these, all seeds.

    Raises:
        ValueError: nothing is stored, or no run has these settings.
    """
    every = stored(name)["runs"]
    found = [each for each in every if all(each["run"].get(key) == value for key, value in settings.items())]
    if not found:
        raise ValueError(f"no run of {name!r} has {settings}; there are: {sorted(_kinds(every))}")
    return found


def mean_and_spread(values: Iterable[Any]) -> tuple[Any, Any]:
    """Mean over the seeds, and the distance from the lowest to the highest; arrays go elementwise."""
    stacked = np.asarray(list(values), dtype=np.float64)
    return stacked.mean(axis=0), stacked.max(axis=0) - stacked.min(axis=0)


def _kinds(every: list[dict[str, Any]]) -> set[str]:
    return {json.dumps({k: v for k, v in each["run"].items() if k != "seed"}) for each in every}
