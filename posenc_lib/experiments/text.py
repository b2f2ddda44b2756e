"""The text that the language model reads: what to learn from, and what is held out for the tests."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

PYDOC = "pydoc_data.topics"
HELD_OUT = 0.05
"""Share of the text that no model learns from, at its end."""


def source_of(file: Path | None = None) -> dict[str, Any]:
    """Which text it is, as plain data: name, file, size in bytes and digest.

    Args:
        file: a file of the user's; None for the language reference that every Python carries.

    Raises:
        ValueError: the file cannot be read.
    """
    content = _read(file)
    return {
        "name": PYDOC if file is None else file.name,
        "file": None if file is None else str(file),
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def split(source: dict[str, Any], least: int) -> tuple[Tensor, Tensor]:
    """The text as two tensors of bytes, int64: to learn from, and held out.

    A paragraph that occurs again is left out, so that none is in both parts.

    Args:
        source: from `source_of`.
        least: bytes that the held-out part must have.

    Raises:
        ValueError: the text has changed since, or is too short.
    """
    content = _read(None if source["file"] is None else Path(source["file"]))
    if hashlib.sha256(content).hexdigest() != source["sha256"]:
        raise ValueError(f"the text {source['name']} has changed since the experiment began; begin it anew")
    once = b"\n\n".join(dict.fromkeys(content.split(b"\n\n")))
    cut = len(once) - int(HELD_OUT * len(once))
    if len(once) - cut < least:
        raise ValueError(
            f"{source['name']} has {len(once):,} bytes without repetitions; the tests need {least:,} in the "
            f"last {HELD_OUT:.0%}: give a text of {int(least / HELD_OUT) + 1:,} bytes or more"
        )
    numbers = torch.tensor(list(once))
    return numbers[:cut], numbers[cut:]


def _read(file: Path | None) -> bytes:
    if file is None:
        from pydoc_data.topics import topics

        return "\n\n".join(topics.values()).encode()
    try:
        return file.read_bytes()
    except OSError as error:
        raise ValueError(f"the text {file} cannot be read ({error.strerror}); give a text file") from None
