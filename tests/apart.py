"""Tests that run apart: what they prove hangs on a few files, and is proven again when one of them changes.

`peers`: what other libraries and PyTorch's compilers make of ours, and all of `tests/conformance`.
`experiments`: all of `tests/experiments`, which trains small models. Where they pass, a digest of what they
look at is kept in `_build/`, for this machine alone; while that is current, `make test` leaves them out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROVEN = ROOT / "_build" / "apart.sha256"
LIBRARY = (
    "constraints.txt",
    "posenc_lib/*.py",
    *(f"posenc_lib/{folder}/*.py" for folder in ("added", "rotated", "biased", "scaling", "nn")),
)
LOOKED_AT = {
    "peers": (
        *LIBRARY,
        "benchmarks/*.py",
        "tests/compilers.py",
        "tests/test_benchmarks.py",
        *(f"tests/{folder}/*" for folder in ("added", "rotated", "biased", "nn", "conformance")),
    ),
    "experiments": (
        *LIBRARY,
        "posenc_course/*.py",
        "posenc_course/experiments/**/*",
        "tests/experiments/*.py",
    ),
}
"""The marks, and what a test with each of them looks at."""


def _files(mark: str) -> Iterator[Path]:
    for pattern in LOOKED_AT[mark]:
        yield from (each for each in sorted(ROOT.glob(pattern)) if each.is_file() and each.suffix != ".pyc")


def digest(mark: str) -> str:
    """Of every file that tests with this mark look at, and of its place."""
    found = hashlib.sha256()
    for file in _files(mark):
        found.update(f"{file.relative_to(ROOT).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return found.hexdigest()


def proven() -> list[str]:
    """The marks whose tests passed for what is here now."""
    kept = PROVEN.read_text().splitlines() if PROVEN.exists() else []
    return [mark for mark in LOOKED_AT if f"{digest(mark)}  {mark}" in kept]


if __name__ == "__main__":
    PROVEN.parent.mkdir(exist_ok=True)
    PROVEN.write_text("".join(f"{digest(mark)}  {mark}\n" for mark in LOOKED_AT))
    print(f"wrote {PROVEN.relative_to(ROOT)}")
