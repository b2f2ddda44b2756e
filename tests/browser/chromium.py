"""Find a Chromium, or install one where that is ours to do.

python tests/browser/chromium.py --install
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")

# A browser that asks nobody for anything: what it requests is what the page requests.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

HELP = """\
error: no Chromium was found, and the site is tested in a real one.
  Debian, Ubuntu:  sudo apt install chromium
  Fedora:          sudo dnf install chromium
  macOS:           brew install --cask google-chrome
  elsewhere:       install Chromium or Chrome, and set CHROMIUM to its path
"""


def find() -> str | None:
    """Path of a Chromium or Chrome; the variable CHROMIUM wins."""
    if named := os.environ.get("CHROMIUM"):
        return named
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    return found or (str(MAC) if MAC.exists() else None)


def install() -> None:
    """Install Debian's Chromium as root; elsewhere say how to get one, and exit."""
    apt = shutil.which("apt-get")
    if not apt or os.geteuid() != 0:
        sys.exit(HELP)
    print("installing Chromium (once)", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    packages = ["--no-install-recommends", "chromium", "fonts-dejavu-core"]
    for command in ([apt, "-qq", "update"], [apt, "-qq", "-y", "install", *packages]):
        if subprocess.run(command, env=environment, stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit(f"error: {' '.join(command)} failed; its message is above\n{HELP}")


if __name__ == "__main__":
    if find() is None and "--install" in sys.argv:
        install()
    if find() is None:
        sys.exit(HELP)
