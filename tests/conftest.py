"""What several tests share: a clean copy of the project, and the site built in it."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pytest

from tests import apart

ROOT = Path(__file__).resolve().parents[1]
NO_OTHER_HOST = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""Whatever passes in a browser needs no other site than the one that is served."""
APART = {ROOT / "tests" / place: mark for place, mark in apart.PLACES.items()}

# Before torch is loaded: what the tests compute is small, a second thread would only make the first wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No test hangs on a clock: whatever else the machine does, an example may take as long as it takes.
hypothesis.settings.register_profile(
    "no clock", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("no clock")


def pytest_configure(config: Any) -> None:
    """What is proven for the files as they are runs when it is asked for, by its mark or by its path."""
    if hasattr(config, "workerinput"):
        config.asked_for, config.left_out = config.workerinput["asked_for"], config.workerinput["left_out"]
    else:
        by_path = config.args_source is pytest.Config.ArgsSource.ARGS
        config.asked_for = bool(config.option.markexpr) or by_path
        config.left_out = [] if config.asked_for else apart.proven()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    node.workerinput |= {"asked_for": node.config.asked_for, "left_out": node.config.left_out}


def pytest_report_header(config: Any) -> str:
    return f"left out, as proven for what is here: {', '.join(config.left_out) or 'nothing'}"


def pytest_ignore_collect(collection_path: Path, config: Any) -> bool | None:
    """What is left out is not even imported, which takes seconds for peers."""
    return True if APART.get(collection_path) in config.left_out else None


def pytest_itemcollected(item: pytest.Item) -> None:
    for place in APART.keys() & {item.path, *item.path.parents}:
        item.add_marker(APART[place])


def pytest_collection_modifyitems(config: Any, items: list[pytest.Item]) -> None:
    left_out = [each for each in items if any(map(each.get_closest_marker, config.left_out))]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [each for each in items if each not in left_out] if left_out else items
    _begin_with_what_takes_long(items)


def _begin_with_what_takes_long(items: list[pytest.Item]) -> None:
    """First the file that builds the site, then what is slow, and last of that what needs the site.

    So no process waits for the site while there is something else to do, nor for another at the end.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    on_site = {item.path for item in items if "site" in getattr(item, "fixturenames", ())}
    first = max(on_site, key=lambda path: len(files[path]), default=None)
    turns = sorted(files, key=lambda path: (path != first, path not in slow, path in on_site))
    items[:] = [item for path in turns for item in files[path]]


@pytest.fixture(autouse=True)
def _prints_as_ever():
    """A test may run cells of a chapter in this process, and those say how NumPy shall print."""
    import numpy as np  # here, because its linear algebra too counts the threads when it is loaded

    with np.printoptions():
        yield


def copy_project(to: Path) -> Path:
    """The files that git tracks or would track, as they are now: nothing built comes along."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    # Where people work there is a .venv too, full of other people's pages.
    (to / ".venv").mkdir()
    (to / ".venv" / "README.md").write_text("---\n{{ not yaml }}\n---\n")
    return to


@pytest.fixture(scope="session")
def project(tmp_path_factory) -> Path:
    """A clean copy of the project, for what writes into it."""
    return copy_project(tmp_path_factory.mktemp("project"))


def load_build() -> ModuleType:
    """The module book/build.py, which is a script and no part of a package."""
    spec = importlib.util.spec_from_file_location("build", ROOT / "book" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id) -> Path:
    """The folder of the site, built from clean in the form that needs no other; a warning fails here.

    Where the tests run in several processes, the first that needs it builds it, and the others wait.
    """
    shared = tmp_path_factory.getbasetemp()
    shared = shared if worker_id == "master" else shared.parent
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "built").exists():
            shutil.rmtree(shared / "site", ignore_errors=True)  # of a build that failed in another process
            (shared / "site").mkdir()
            load_build().build(copy_project(shared / "site"), pyodide="own")
            (shared / "built").touch()
    return shared / "site" / "_build" / "html"


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of a process: Playwright can be started once in each."""
    from playwright.sync_api import sync_playwright  # here, because most tests open no page

    from book.chromium import FLAGS, find

    path = find()
    assert path, "no Chromium: run `python -m tools.system`"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=[*FLAGS, NO_OTHER_HOST])
        yield chromium
        chromium.close()
