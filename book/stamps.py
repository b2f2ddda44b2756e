"""Whether what something was made of has changed since."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def changed(stamp: Path, files: Iterable[Path], *made: Path) -> bool:
    """Whether the files differ from those that the stamp stands for, or something made of them is gone.

    Then the stamp goes too, until `keep` sets it: what was cut short does not pass for whole.
    """
    if stamp.exists() and stamp.read_text() == _state(files) and all(each.exists() for each in made):
        return False
    stamp.unlink(missing_ok=True)
    return True


def keep(stamp: Path, files: Iterable[Path]) -> None:
    """Remember that everything was made of these files."""
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(_state(files))


def _state(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(str(file).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()
