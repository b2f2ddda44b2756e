"""Other libraries, loaded by the first test that asks them: to collect the tests must not take seconds."""

from __future__ import annotations

import importlib
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
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


def timm_file(name: str) -> ModuleType:
    """One file of timm.layers: importing timm itself needs torchvision, which its encodings do not."""
    spec = find_spec("timm")
    assert spec is not None
    assert spec.origin is not None
    if "timm_layers" not in sys.modules:
        sys.modules["timm_layers"] = ModuleType("timm_layers")
        sys.modules["timm_layers"].__path__ = [str(Path(spec.origin).parent / "layers")]
    return importlib.import_module(f"timm_layers.{name}")
