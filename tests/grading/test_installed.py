"""What grading needs is in its extra, and where it is not installed, the command says how to get it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import numpy as np
import pytest

from posenc_lib.grading.faults import not_installed
from tests.grading.samples import CHAPTER

ROOT = Path(__file__).resolve().parents[2]
INSTALL = "pip install 'posenc_lib[grading]'"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which there is NumPy, and nothing else but the library."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)
    [packages] = folder.glob("lib/python*/site-packages")
    installed = Path(np.__file__).parents[1]
    for each in (*installed.glob("numpy*"), ROOT / "posenc_lib"):
        (packages / each.name).symlink_to(each)
    return folder / "bin" / "python"


@pytest.mark.parametrize("arguments", [["grade", CHAPTER], ["report", CHAPTER]])
def test_without_its_extra_the_command_says_which_to_install(bare, arguments):
    command = [bare, "-m", "posenc_lib.grading", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    assert ended.returncode == 1
    assert ended.stdout == ""
    [sentence] = ended.stderr.splitlines()
    assert sentence.startswith("error: ")
    assert sentence.endswith(INSTALL)


def test_help_needs_nothing_but_the_library(bare):
    command = [bare, "-m", "posenc_lib.grading", "grade", "--help"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env={})
    assert "--scheduler" in ended.stdout


def test_torch_has_an_extra_of_its_own():
    assert "'posenc_lib[torch]'" in not_installed(ModuleNotFoundError("torch", name="torch.nn"))


def test_the_extra_has_all_that_grading_imports():
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"][
        "grading"
    ]
    closed = {"numpy"} | closure({plain(each) for each in extra})
    owners = packages_distributions()
    for path in (ROOT / "posenc_lib" / "grading").rglob("*.py"):
        for name in imported(path) - set(sys.stdlib_module_names) - {"posenc_lib", "torch"}:
            assert {plain(each) for each in owners[name]} & closed, f"{path.name} imports {name}"
    assert "psycopg2-binary" in closed  # SQLAlchemy imports it by the gradebook's address


def imported(path: Path) -> set[str]:
    """The packages that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def plain(requirement: str) -> str:
    """The name of the distribution alone."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def closure(names: set[str]) -> set[str]:
    """These distributions, with all that they require of themselves."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        try:
            needed = requires(name) or []
        except PackageNotFoundError:
            continue
        waiting |= {plain(each) for each in needed if "extra ==" not in each} - found
    return found
