"""Chromium, which prints the book, and in which the tests open it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# First the one that draws no window around its pages: the same pages, for a sixth less of a processor.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ON_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")

# A browser that asks nobody for anything: what it requests is what the page requests.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def find() -> str | None:
    """Path of a Chromium or Chrome; the variable CHROMIUM wins."""
    if named := os.environ.get("CHROMIUM"):
        return shutil.which(named)
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    return found or (str(ON_MAC) if ON_MAC.exists() else None)
