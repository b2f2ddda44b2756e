"""Read the stored results. Needs NumPy only."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from posenc_course.experiments import NEXT

FOLDER = Path(__file__).resolve().parent / "results"


def path_of(name: str, full: bool = False) -> Path:
    """Where the result of an experiment lies, in its usual or its large form."""
    folder = FOLDER / "next" if name in NEXT else FOLDER
    return folder / f"{name}{'-full' if full else ''}.json"


@cache
def stored(name: str, full: bool = False) -> dict[str, Any]:
    """The stored result of an experiment: what it asked, how it ran, and every run, admitted or not.

    Raises:
        ValueError: nothing is stored under that name.
    """
    path = path_of(name, full)
    if not path.exists():
        known = ", ".join(sorted(each.stem for each in FOLDER.glob("*.json"))) or "none"
        raise ValueError(
            f"no result {name!r} is stored (the stored results are: {known}); "
            f"make it: python -m posenc_course.experiments {name}{' --full' if full else ''}"
        )
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def stored_so_far(name: str, full: bool = False) -> list[dict[str, Any]]:
    """The runs of an experiment that are stored by now, none where nothing is."""
    path = path_of(name, full)
    found: list[dict[str, Any]] = (
        json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else []
    )
    return found


def runs(name: str, *, every: bool = False, full: bool = False, **settings: Any) -> list[dict[str, Any]]:
    """The runs of a stored experiment whose settings are these, all seeds, that pass its gate.

    Args:
        name: of the experiment.
        every: those that do not pass too; their "verdict" is "not admitted", and "reason" says why.
        full: of the large form.
        settings: which runs.

    Raises:
        ValueError: nothing is stored, no run has these settings, or none of those that have passes.
    """
    all_of_it = stored(name, full)["runs"]
    found = [
        each for each in all_of_it if all(each["run"].get(key) == value for key, value in settings.items())
    ]
    if not found:
        raise ValueError(f"no run of {name!r} has {settings}; the runs have: {sorted(_kinds(all_of_it))}")
    passed = [each for each in found if every or each.get("verdict") != "not admitted"]
    if not passed:
        reasons = "; ".join(sorted({each["reason"] for each in found}))
        raise ValueError(
            f"no run of {name!r} with {settings} passes the gate of its experiment ({reasons}); give "
            "every=True to read it anyway, and show it for what it is"
        )
    return passed


def _kinds(every: list[dict[str, Any]]) -> set[str]:
    return {json.dumps({k: v for k, v in each["run"].items() if k != "seed"}) for each in every}
