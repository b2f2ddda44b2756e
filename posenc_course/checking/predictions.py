"""What a cell shows, told to the `{predict}` box above it (book/_ext/predict.py)."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

RECORD = "application/papermill.record/"  # what myst_nb keeps of a cell's output and does not show


def key_of(box: str) -> str:
    return f"predict:{box}"


def outcome(box: str, value: Any) -> None:
    """Tell the book what came out. It does not build where the answer that the box marks is another.

    Args:
        box: the id of the box.
        value: where it asks for a number, that number; where it has options, one truth for each.

    Raises:
        TypeError: the value is neither.
    """
    given = np.asarray(value)
    if not (given.ndim == 1 and given.dtype.kind == "b") and not (
        given.ndim == 0 and given.dtype.kind in "iuf"
    ):
        raise TypeError(f"the outcome of {box!r} is {value!r}; give one number, or a list of True and False")
    ipython = sys.modules.get("IPython")  # there is none in a page, where cells run too
    if ipython is not None and ipython.get_ipython() is not None:
        from IPython.display import display

        display(
            {f"{RECORD}application/json": json.dumps(given.tolist())},
            raw=True,
            metadata={"scrapbook": {"name": key_of(box), "mime_prefix": RECORD}},
        )
