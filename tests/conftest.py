"""What several tests share: a clean copy of the project, and the site built in it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from tests.pyodide.distribution import assemble

ROOT = Path(__file__).resolve().parents[1]

# Before torch is loaded: what the tests compute is small, a second thread would only make the first wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.hookimpl(tryfirst=True)  # before xdist looks for the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What one of several processes does: all that needs the site, which takes long to build; else a file."""
    for item in items:
        needs_site = "site" in getattr(item, "fixturenames", ())
        item.add_marker(pytest.mark.xdist_group("site" if needs_site else item.nodeid.partition("::")[0]))


def _copy_project(to: Path) -> Path:
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
    return _copy_project(tmp_path_factory.mktemp("project"))


def load_build() -> ModuleType:
    """The module book/build.py, which is a script and no part of a package."""
    spec = importlib.util.spec_from_file_location("build", ROOT / "book" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def site(project, tmp_path_factory) -> Path:
    """The folder of the site, built from clean in the form that needs no other; a warning fails here."""
    return load_build().build(project, assemble(tmp_path_factory.mktemp("pyodide")))
