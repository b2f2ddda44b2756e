"""axe, which looks at a page for what keeps people out."""

from __future__ import annotations

from pathlib import Path

from tools.web import packages


def axe() -> Path:
    """The script."""
    return packages() / "axe-core" / "axe.min.js"
