"""The text of the language models: the source of the running Python's own standard library.

It is on every machine, nothing is downloaded, and what is named once returns hundreds of bytes later. Every
file is in one part only: to learn from, to choose settings by, or held out for the tests.

Licence of the text: Python Software Foundation License, version 2.
"""

from __future__ import annotations

import hashlib
import platform
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

LICENCE = "PSF-2.0"

LEFT_OUT = frozenset(
    {
        *("test", "tests", "idle_test"),
        *("site-packages", "dist-packages", "__pycache__"),  # no part of Python
        *("ensurepip", "idlelib", "tkinter", "turtledemo", "lib2to3", "distutils"),  # not there everywhere
        *("encodings", "pydoc_data"),  # tables that were generated
    }
)
"""Folders whose files are not read, wherever they stand."""

MADE_BY_A_BUILD = ("config-", "_sysconfig", "lib-dynload", "sitecustomize", "usercustomize")
"""Files and folders that begin so differ from one build of the same Python to the next."""

HELD_OUT, CHOOSING, OF = 3, 1, 20
"""Of so many files: held out, and to choose settings by, on average."""


class File(NamedTuple):
    """Its path below the standard library, with slashes, and its content."""

    path: str
    content: bytes


class Split(NamedTuple):
    """The three parts. Files stand in the order of their paths' hashes: the first few are a fair sample."""

    learn: tuple[File, ...]
    choose: tuple[File, ...]
    held_out: tuple[File, ...]


@cache
def split(root: Path | None = None) -> Split:
    """The files of the standard library, or of another folder, in three parts; newlines as on Linux."""
    files = sorted(_files(root or Path(sysconfig.get_path("stdlib"))), key=lambda file: _digest(file.path))
    parts: dict[str, list[File]] = {part: [] for part in Split._fields}
    for file in files:
        parts[_part(file.path)].append(file)
    return Split(*map(tuple, parts.values()))


def source() -> dict[str, Any]:
    """What tells this text from any other, as plain data, for the settings of a run."""
    every = split()
    digest = hashlib.sha256()
    for part in every:
        for file in part:
            digest.update(f"{file.path}\0{len(file.content)}\0".encode() + file.content)
    return {
        "name": "standard library of Python",
        "python": platform.python_version(),
        "licence": LICENCE,
        "bytes": {name: sum(len(file.content) for file in part) for name, part in every._asdict().items()},
        "files": {name: len(part) for name, part in every._asdict().items()},
        "sha256": digest.hexdigest(),
    }


def require(wanted: dict[str, Any]) -> Split:
    """The split, if this Python's text is the one that a run was set up for.

    Raises:
        ValueError: it is another.
    """
    here = source()
    if here["sha256"] != wanted["sha256"]:
        raise ValueError(
            f"the run is about the source of Python {wanted['python']} ({wanted['sha256'][:12]}), but this "
            f"is that of Python {here['python']} ({here['sha256'][:12]}); use that one, or start again"
        )
    return split()


def joined(files: tuple[File, ...], size: int | None = None) -> bytes:
    """Their contents one after the other, or the first so many bytes of that.

    Raises:
        ValueError: there is less.
    """
    content = b"".join(file.content for file in files)
    if size is not None and size > len(content):
        raise ValueError(f"size={size:,}; there are {len(content):,} bytes to learn from")
    return content[:size]


def windows(files: tuple[File, ...], length: int, most: int) -> list[tuple[str, int]]:
    """Where windows lie that are wholly within one file and do not overlap: (path, first byte).

    Of each file at most so many, spread evenly over it.
    """
    found = []
    for file in files:
        count = min(most, len(file.content) // length)
        slot = len(file.content) / max(1, count)
        found += [(file.path, int((number + 0.5) * slot - length / 2)) for number in range(count)]
    return found


def _files(root: Path) -> list[File]:
    found = []
    for path in root.rglob("*.py"):
        names = path.relative_to(root).parts
        if LEFT_OUT.isdisjoint(names) and not any(name.startswith(MADE_BY_A_BUILD) for name in names):
            found.append(File("/".join(names), path.read_bytes().replace(b"\r\n", b"\n")))
    return found


def _digest(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()


def _part(path: str) -> str:
    place = int(_digest(path)[-8:], 16) % OF
    if place < HELD_OUT:
        return "held_out"
    return "choose" if place < HELD_OUT + CHOOSING else "learn"
