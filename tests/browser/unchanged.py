"""Which pages are as they were when their tests passed: those are not opened again.

A test of a page is remembered with a digest of what it looked at: the page as it was built, the styles and
scripts of the site, the browser, and the tests. It is kept in `_build/`, for this machine alone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "_build" / "pages.json"
TESTS = (
    "tests/conftest.py",
    "tests/present.py",
    "tools/web/package-lock.json",
    *(f"tests/browser/{name}" for name in ("axe.py", "conftest.py", "test_site.py", "unchanged.py")),
)
NOT_SHOWN = ("cells", "chapters", "engine", "library", "lite", "models", "pyodide")
"""Folders of `_static` that a page shows nothing of. Of its own cells, a page names the digest."""
OF_PYTHON = re.compile(r'_static/pyodide/[0-9a-f]+|_static/library/[^"]+| data-sizes="[^"]*"')
"""What a page says of the Python that it would load. These tests load none."""
SHOWS_TOO = {"index.html": ["book/index.html"]}


class Pages:
    """The pages of a site in a browser, and what is remembered of them."""

    def __init__(self, site: Path, browser: str, kept: Path = KEPT, tests: Path = ROOT):
        self._site, self._kept = site, kept
        self._around = _digest([browser, *((tests / name).read_bytes() for name in TESTS)])
        self._passed: dict[str, str] = json.loads(kept.read_text()) if kept.exists() else {}

    def has_passed(self, test: str, state: str) -> bool:
        return self._passed.get(test) == state

    def remember(self, test: str, state: str, passed: bool) -> None:
        """Forget a test that has not passed, whatever was known of it."""
        self._passed.pop(test, None)
        if passed:
            self._passed[test] = state
        self._kept.parent.mkdir(exist_ok=True)
        self._kept.write_text(json.dumps(self._passed, indent=0))

    def state(self, page: str, *, of_links: bool) -> str:
        """A digest of what a test of this page looks at: with `of_links`, also of where they may lead."""
        shown = [self._text(self._site / name) for name in (page, *SHOWS_TOO.get(page, []))]
        return _digest([self._around, self._shared, *shown, *([self._targets] if of_links else [])])

    @cached_property
    def _shared(self) -> str:
        """Of the styles, scripts, fonts and pictures."""
        static = self._site / "_static"
        shown = (each for each in static.iterdir() if each.name not in NOT_SHOWN)
        files = [file for each in shown for file in ([each] if each.is_file() else each.rglob("*"))]
        parts = [(file.relative_to(static).as_posix(), file) for file in files if file.is_file()]
        return _digest(part for name, file in sorted(parts) for part in (name, file.read_bytes()))

    @cached_property
    def _targets(self) -> str:
        """Of all that a link of the site may lead to: its files, and what has an id in a page."""
        files = [file for file in sorted(self._site.rglob("*")) if "pyodide" not in file.parts]
        pages = [file for file in files if file.suffix == ".html"]
        ids = [each for page in pages for each in ("", *re.findall(r'\bid="[^"]*"', page.read_text()))]
        return _digest([*(file.relative_to(self._site).as_posix() for file in files), *ids])

    def _text(self, file: Path) -> str:
        return OF_PYTHON.sub("", file.read_text())


def _digest(parts: Iterable[str | bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        found.update(b"%d:%b" % (len(content), content))
    return found.hexdigest()
