"""Other libraries, loaded by the first test that asks them: to collect the tests must not take seconds."""

from __future__ import annotations

import importlib
import os
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"


class Peer:
    """A module of that name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") and attribute != "__version__":  # what pytest asks of all that it sees
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


transformers = Peer("transformers")
x_transformers = Peer("x_transformers.x_transformers")


def modeling(model: str) -> Peer:
    """The module of transformers that holds this model."""
    return Peer(f"transformers.models.{model}.modeling_{model}")
