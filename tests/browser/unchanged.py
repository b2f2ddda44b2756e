"""Which pages are as they were when their tests passed: those are not opened again.

A test of every page (`test_site.py`) is remembered page by page, with a digest of what it looked at: the page
as it was built, the styles and scripts of the site, the browser, and the tests. Any other file of tests here
is remembered as a whole, with a digest of every file of the site and of the book that was opened while its
tests ran, by the server or by a test, and of all that is code. Both are kept in `_build/`, for this machine
alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

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


OPENED = KEPT.with_name("opened")
CODE = (
    *("constraints.txt", "pyproject.toml", "_config.yml", "_toc.yml", "requirements*.txt"),
    *(f"{wing}/**/*" for wing in ("posenc_lib", "posenc_course", "tools", "benchmarks", "solutions")),
    *("exercises/**/*", ".binder/*"),
    *("book/**/*.py", "book/_*/**/*", "book/web/*.json", "book/web/src/**/*"),
    *("tests/*.py", "tests/browser/*.py", "tests/book/*.py", "tests/challenges/*.py", "tests/grading/*.py"),
)
"""What any test here may look at without opening it while it runs: what is imported, and what makes pages."""
SERVED_BY_ANOTHER_PROCESS = ("test_machine.py",)
"""Files of tests that are not remembered: what another process opens is not noted."""
BY_CHAPTER = ("cells", "chapters")
"""Folders of `_static` with a file a chapter: of these only what was opened is looked at."""


class Opened:
    """What a file of tests opened of the site and of the project when it last passed as a whole."""

    def __init__(self, tests: Path, site: Path, browser: str, kept: Path = OPENED, root: Path = ROOT):
        self._roots, self._kept = {"site": site, "project": root}, kept / f"{tests.stem}.json"
        self._around = _digest([browser, sys.version, platform.platform(), _in_any_case(site, root)])
        self._begun = time.time()

    def has_passed(self) -> bool:
        """Whether all that it opened, and all that is looked at in any case, is as it was."""
        if not self._kept.exists():
            return False
        before = json.loads(self._kept.read_text())
        return bool(self._state(before["opened"]) == before["state"])

    def forget(self) -> None:
        self._kept.unlink(missing_ok=True)

    def remember(self, paths: Iterable[str]) -> None:
        """Keep what was opened, unless something of it was written meanwhile."""
        self.forget()
        opened = sorted(set(self._names(paths)))
        if any(file.exists() and file.stat().st_mtime > self._begun for file in self._files(opened)):
            return
        self._kept.parent.mkdir(parents=True, exist_ok=True)
        self._kept.write_text(json.dumps({"state": self._state(opened), "opened": opened}, indent=0))

    def _names(self, paths: Iterable[str]) -> Iterator[str]:
        """Of the files that count only where they are opened, by the root that they are in."""
        for path in (Path.cwd() / each for each in paths):
            for name, root in self._roots.items():
                if path.is_relative_to(root):
                    found = f"{name}/{path.relative_to(root).as_posix()}"
                    yield from [found] if counts_where_opened(found) else []

    def _files(self, names: Iterable[str]) -> list[Path]:
        parts = (name.partition("/") for name in names)
        return [self._roots[root] / path for root, _, path in parts]

    def _state(self, names: list[str]) -> str:
        contents = [file.read_bytes() if file.is_file() else b"" for file in self._files(names)]
        return _digest([self._around, *names, *contents])


@cache
def _in_any_case(site: Path, root: Path) -> str:
    """A digest of which pages there are, of what they share, and of all code. Once in each process."""
    pages = sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html"))
    files = [file for file in (site / "_static").rglob("*") if not counts_where_opened(_named(site, file))]
    files += [file for pattern in CODE for file in root.glob(pattern) if "__pycache__" not in file.parts]
    contents = ((file.name, file.read_bytes()) for file in sorted(files) if file.is_file())
    return _digest([*pages, *(part for each in contents for part in each)])


def _named(site: Path, file: Path) -> str:
    return f"site/{file.relative_to(site).as_posix()}"


def counts_where_opened(name: str) -> bool:
    """Whether a file of the site (`site/...`) or the project (`project/...`) counts only where it is opened.

    All else of the site, and all code of the project, is looked at in any case.
    """
    root, *parts = name.split("/")
    if root == "project":
        return parts[0] == "book" and not name.endswith(".py")
    return parts[0] != "_static" or parts[1:2] in ([each] for each in BY_CHAPTER)


_noted: set[str] | None = None


def _note(event: str, given: tuple[Any, ...]) -> None:
    if event == "open" and _noted is not None and isinstance(given[0], (str, os.PathLike)):
        _noted.add(os.fspath(given[0]))


sys.addaudithook(_note)


@contextlib.contextmanager
def noting_what_is_opened() -> Iterator[set[str]]:
    """The files that this process opens meanwhile: also those that its servers send to a browser."""
    global _noted
    _noted = set()
    try:
        yield _noted
    finally:
        _noted = None


def _digest(parts: Iterable[str | bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        found.update(b"%d:%b" % (len(content), content))
    return found.hexdigest()
