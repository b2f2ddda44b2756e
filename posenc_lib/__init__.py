"""Positional encodings for Transformers, by the door through which position enters attention.

Added to the input (`posenc_lib.added`): `sinusoidal`, `shift_matrix`, `similarity`, `learned`, ...
Rotated into queries and keys (`posenc_lib.rotated`): `apply_rotary`, `rotary_tables`, `rotate`, scalings, ...
Biased onto the scores (`posenc_lib.biased`): `alibi_bias`, `t5_buckets`, `kerple_bias`, ...
The one attention with all three doors as arguments: `attention`. All encodings in a list: `catalogue`.
For learners: `check("<chapter>.<function>", answer)`.

Every public name of the doors is a name of this package. Importing it loads NumPy and nothing else; a
door is loaded when one of its names is used. The torch modules are in `posenc_lib.nn`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if {PurePath(each).name for each in sys.orig_argv[1:3]} & {"posenc", "posenc_lib.grading"}:
    # As a command: Ctrl-C during the imports, too, gets a sentence.
    importlib.import_module("posenc_lib.grading.interrupts").end_at_once()

from posenc_lib.angles import frequencies
from posenc_lib.attention import attention
from posenc_lib.catalogue import catalogue
from posenc_lib.packed import packed_mask, packed_positions

if TYPE_CHECKING:
    from posenc_lib.added import *  # noqa: F403
    from posenc_lib.biased import *  # noqa: F403
    from posenc_lib.checking import check
    from posenc_lib.rotated import *  # noqa: F403

__version__ = "0.1.0"

__all__ = ["attention", "catalogue", "check", "frequencies", "packed_mask", "packed_positions"]
_DOORS = ("added", "rotated", "biased")


def __getattr__(name: str) -> Any:
    if name == "check":
        return importlib.import_module("posenc_lib.checking").check
    for door in [] if name.startswith("_") else _DOORS:
        module = importlib.import_module(f"posenc_lib.{door}")
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module 'posenc_lib' has no attribute {name!r}")


def __dir__() -> list[str]:
    doors = [importlib.import_module(f"posenc_lib.{door}") for door in _DOORS]
    return sorted({*globals(), *__all__, *(name for door in doors for name in door.__all__)})
