"""What grading needs is in its extra, and where it is not installed, the command says how to get it."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
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


AT_THE_ROOT = ("pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the wheel and of the source archive, built from a copy of the files."""
    folder = tmp_path_factory.mktemp("built")
    listed = subprocess.run(
        [
            "git",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "posenc_lib",
            "*.toml",
            "*.md",
            "LICENSE",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / "source" / name)
    code = (
        "import setuptools.build_meta as backend\n"
        f"backend.build_sdist({str(folder)!r}); backend.build_wheel({str(folder)!r})"
    )
    subprocess.run([sys.executable, "-c", code], cwd=folder / "source", capture_output=True, check=True)
    return folder


def test_the_wheel_serves_with_numpy_alone(built, bare, tmp_path):
    [wheel] = built.glob("*.whl")
    code = (
        f"import sys; sys.path.insert(0, {str(wheel)!r})\n"
        "import posenc_lib\n"
        "from posenc_lib import *\n"
        "assert '.whl' in posenc_lib.__file__, posenc_lib.__file__\n"
        "cos, sin = rotary_tables(3, 8)\n"
        "print(posenc_lib.__version__, cos.shape, len(catalogue()), dir(posenc_lib)[0])\n"
        "try:\n"
        "    posenc_lib.nn\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [bare, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path, env={}
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith(f"{version()} (3, 4) ")
    assert "posenc_lib[torch]" in second


def test_the_wheel_and_the_archive_say_what_they_are_and_hold_what_is_needed(built):
    [wheel], [archive] = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as opened:
        files = opened.namelist()
        [about] = [opened.read(name).decode() for name in files if name.endswith("/METADATA")]
    assert {name.partition("/")[0].partition("-")[0] for name in files} == {"posenc_lib"}
    assert {"posenc_lib/py.typed", "posenc_lib/nn/__init__.py"} <= set(files)
    models = {name.rpartition("/")[2] for name in files if name.endswith(".safetensors")}
    assert models == {
        "rope.safetensors",
        "alibi.safetensors",
    }  # the exercises run them; to all others it is dead weight
    assert "exercises" in re.search("^Summary: (.*)$", about, re.M)[1]
    for line in ("Requires-Python: >=3.11", "License-Expression: MIT", "Classifier: Typing :: Typed"):
        assert line in about
    with tarfile.open(archive) as opened:
        inside = {name.partition("/")[2] for name in opened.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "posenc_lib/__init__.py"} <= inside


def test_the_changelog_begins_with_what_is_to_come_and_tells_of_the_version():
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(version())}\] - \d{{4}}-\d\d-\d\d", headings[1])
    assert re.fullmatch(r"\d+\.\d+\.\d+", version())


def version() -> str:
    import posenc_lib

    return posenc_lib.__version__
