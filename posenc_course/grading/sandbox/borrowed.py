"""Names of the library inside the walls: nothing lies behind them but a question to the judge outside."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

OURS = ("posenc_course", "posenc_lib")
STAND_IN = Path(__file__).with_name("stand_in.py")


class NotForAnswers(RuntimeError):
    """A name of the library was called where the answer should be the learner's own."""


given: dict[str, Any] = {}
"""What the notebook gave to `check`, by exercise id: the answer as it was at that moment."""


def _nobody(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    raise NotForAnswers(name)


ask: Callable[[str, tuple[Any, ...], dict[str, Any]], Any] = _nobody
"""Asks the judge outside for the value of a call; the learner's side sets it."""


class Borrowed:
    """A name whose calls are answered from outside."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return ask(self._name, args, kwargs)

    def __getattr__(self, name: str) -> Borrowed:
        if name.startswith("_"):
            raise AttributeError(name)
        return Borrowed(f"{self._name}.{name}")

    def __repr__(self) -> str:
        return f"<{self._name}, answered from outside>"


class StandInFinder:
    """Lets any `import` of a module of ours succeed, with a module whose names are all borrowed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] not in OURS or "." not in name:
            return None
        return importlib.util.spec_from_file_location(name, STAND_IN, submodule_search_locations=[])


def install() -> None:
    """Add the finder behind all others."""
    sys.meta_path.append(StandInFinder())
