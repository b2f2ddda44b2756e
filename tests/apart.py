"""Tests that run apart: what they prove hangs on a few files, and is proven again when one of them changes.

`peers`: what other libraries and PyTorch's compilers make of ours, and all of `tests/conformance`.
`experiments`: all of `tests/experiments`, which trains small models. `grading`: all of `tests/grading`, with
the attackers and the cluster whose workers are killed. `pdf`: the book on paper. Where they pass, a digest of
what they look at is kept in `_build/`, for this machine alone; while that is current, `make test` leaves them
out. `pages` is kept page by page (`tests/browser/unchanged.py`).

    python -m tests.apart begin           before such a run: which state of the files it is about
    python -m tests.apart begin --again   the same, and what was proven is proven anew
    python -m tests.apart keep            after one that passed
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROVEN = ROOT / "_build" / "apart.sha256"
BEGUN = PROVEN.with_name("apart-begun.sha256")
PLACES = {
    "conformance": "peers",
    "experiments": "experiments",
    "grading": "grading",
    "book/test_pdf.py": "pdf",
}
"""Where all tests have a mark."""
LIBRARY = (
    "constraints.txt",
    "tests/conftest.py",
    "tests/present.py",
    "posenc_lib/*.py",
    *(f"posenc_lib/{folder}/*.py" for folder in ("added", "rotated", "biased", "scaling", "nn")),
)
LOOKED_AT = {
    "peers": (
        *LIBRARY,
        "benchmarks/*.py",
        "tests/compilers.py",
        *("examples/*.py", "tests/test_benchmarks.py", "tests/test_examples.py"),
        *("book/reference/comparison.md", "book/reference/recipes.md"),
        "tests/test_wrong_calls.py",
        *(f"tests/{folder}/*" for folder in ("added", "rotated", "biased", "nn", "conformance")),
    ),
    "experiments": (
        *LIBRARY,
        "posenc_course/*.py",
        "posenc_course/experiments/**/*",
        "tests/experiments/*.py",
        "book/web/src/train-live/sizes.js",
    ),
    "grading": (
        *LIBRARY,
        "posenc_course/**/*",
        "solutions/*.md",
        "exercises/**/*",
        "tests/grading/**/*",
        *("tests/challenges/test_draws.py", "tests/checking/forms.py"),
        *("LICENSE", "nbgrader_config.py", "pyproject.toml"),
        *("book/web/src/certificate-code.js", "book/web/src/sha256.js"),
        *("book/instructors/*.md", "posenc_lib/README.md", "posenc_lib/py.typed"),
        *("book/*.py", "book/locale/*/solutions/*.po", "tools/system.py"),
    ),
    "pdf": (
        *LIBRARY,
        "posenc_course/**/*",
        "benchmarks/**/*",
        "solutions/*.md",
        "exercises/**/*",
        "book/*",
        "book/_*/**/*",
        "book/texts/**/*",
        *("book/web/package-lock.json", "book/web/src/**/*"),
        *("_config.yml", "_toc.yml", "tests/book/test_pdf.py"),
    ),
}
"""The marks, and what a test with each of them looks at."""


def _files(mark: str) -> Iterator[Path]:
    for pattern in LOOKED_AT[mark]:
        yield from (each for each in sorted(ROOT.glob(pattern)) if each.is_file() and each.suffix != ".pyc")


def digest(mark: str) -> str:
    """Of every file that tests with this mark look at, of its place, and of what runs them."""
    found = hashlib.sha256(f"{sys.version} {platform.platform()}\0".encode())
    for file in _files(mark):
        found.update(f"{file.relative_to(ROOT).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return found.hexdigest()


def _lines() -> list[str]:
    return [f"{digest(mark)}  {mark}" for mark in LOOKED_AT]


def _read(kept: Path) -> list[str]:
    return kept.read_text().splitlines() if kept.exists() else []


def proven() -> list[str]:
    """The marks whose tests passed for what is here now."""
    kept = _read(PROVEN)
    return [line.split()[1] for line in _lines() if line in kept]


def begin(*, again: bool = False) -> None:
    """Note the state that is about to be proven; `again`: also of what was proven before."""
    PROVEN.parent.mkdir(exist_ok=True)
    BEGUN.write_text("\n".join(_lines()))
    if again:
        PROVEN.unlink(missing_ok=True)


def keep() -> None:
    """All tests have passed: remember it of the files that are still what they were when the run began."""
    begun = _read(BEGUN)
    PROVEN.write_text("\n".join(line for line in _lines() if line in begun))
    BEGUN.unlink(missing_ok=True)
    print(f"wrote {PROVEN.name}: {', '.join(proven())}")


if __name__ == "__main__":
    if sys.argv[1] == "keep":
        keep()
    else:
        begin(again="--again" in sys.argv)
