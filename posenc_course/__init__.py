"""A course on positional encoding: its exercises, what judges and grades them, its figures and experiments.

For learners: `check("<chapter>.<function>", answer)`. For instructors: the command `posenc`.
The encodings are in `posenc_lib`, which knows nothing of this. Importing it loads nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from posenc_course.checking import check as check

__version__ = "0.2.0"
__all__ = ["check"]


def __getattr__(name: str) -> Any:
    if name == "check":
        return importlib.import_module("posenc_course.checking").check
    raise AttributeError(f"module 'posenc_course' has no attribute {name!r}")
