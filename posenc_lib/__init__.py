"""Positional encodings for Transformers, by the door through which position enters attention.

Added to the input (`posenc_lib.added`): `sinusoidal`, `shift_matrix`, `similarity`, `learned`, ...
Rotated into queries and keys (`posenc_lib.rotated`): `apply_rotary`, `rotary_tables`, `rotate`, scalings, ...
Biased at the scores (`posenc_lib.biased`): `alibi_bias`, `t5_buckets`, `kerple_bias`, ...
The one attention with all three doors as arguments: `attention`. All encodings in a list: `catalogue`.

Every public name of the doors is a name of this package. Importing it loads NumPy and nothing else; a
door is loaded when one of its names is used. The torch modules are in `posenc_lib.nn`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from posenc_lib.angles import frequencies as frequencies
from posenc_lib.attention import attention as attention
from posenc_lib.catalogue import catalogue as catalogue
from posenc_lib.packed import packed_mask as packed_mask
from posenc_lib.packed import packed_positions as packed_positions

if TYPE_CHECKING:
    from posenc_lib.added import *  # noqa: F403
    from posenc_lib.biased import *  # noqa: F403
    from posenc_lib.rotated import *  # noqa: F403

__version__ = "0.2.0"

_DOORS = ("added", "rotated", "biased")
_OWN = ("attention", "catalogue", "frequencies", "packed_mask", "packed_positions")


def _home(name: str) -> str | None:
    """The door that has this public name, or None."""
    for door in _DOORS:
        if name in importlib.import_module(f"posenc_lib.{door}").__all__:
            return f"posenc_lib.{door}"
    return None


def __getattr__(name: str) -> Any:
    if name == "__all__":  # asked for by `from posenc_lib import *`, which loads the doors anyway
        doors = (importlib.import_module(f"posenc_lib.{door}") for door in _DOORS)
        return sorted({*_OWN, *(each for door in doors for each in door.__all__)})
    if name == "nn":
        try:
            return importlib.import_module("posenc_lib.nn")
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            message = "posenc_lib.nn needs PyTorch: pip install 'posenc_lib[torch]'"
            raise ModuleNotFoundError(message, name="torch") from error
    home = None if name.startswith("_") else _home(name)
    if home is None:
        raise AttributeError(f"module 'posenc_lib' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*__getattr__("__all__"), *_DOORS, "nn", "__version__", "__doc__"})
