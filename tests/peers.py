"""What other libraries and PyTorch's Inductor make of ours: proven again whenever one of the two has changed.

Such a test bears the mark `peers`. `make test-peers` runs them all, and where they pass keeps a digest of all
that they look at; while that is current, `make test` leaves them out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROVEN = ROOT / "tests" / "peers.sha256"
LOOKED_AT = (
    "constraints.txt",
    "benchmarks/*.py",
    "posenc_lib/*.py",
    *(f"posenc_lib/{folder}/*.py" for folder in ("added", "rotated", "biased", "scaling", "nn")),
    "tests/compilers.py",
    "tests/test_benchmarks.py",
    "tests/rotated/published.json",
    *(f"tests/{folder}/*.py" for folder in ("added", "rotated", "biased", "nn", "conformance")),
)


def _files() -> Iterator[Path]:
    for pattern in LOOKED_AT:
        yield from sorted(ROOT.glob(pattern))


def digest() -> str:
    """Of every file that a test of peers looks at, and of its place."""
    found = hashlib.sha256()
    for file in _files():
        found.update(f"{file.relative_to(ROOT).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return found.hexdigest()


def proven() -> bool:
    """Whether the tests of peers passed for what is here now."""
    return PROVEN.exists() and PROVEN.read_text().strip() == digest()


if __name__ == "__main__":
    PROVEN.write_text(digest() + "\n")
    print(f"wrote {PROVEN.relative_to(ROOT)}")
