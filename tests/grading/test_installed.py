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

from posenc_course.exercises import all_exercises, assignments
from posenc_course.grading.faults import not_installed
from tests.grading.samples import CHAPTER
from tests.present import present

ROOT = Path(__file__).resolve().parents[2]
INSTALL = "pip install 'posenc_course[grading]'"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which there is NumPy, and nothing else but ours."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)
    [packages] = folder.glob("lib/python*/site-packages")
    installed = Path(np.__file__).parents[1]
    for each in (*installed.glob("numpy*"), ROOT / "posenc_lib", ROOT / "posenc_course"):
        (packages / each.name).symlink_to(each)
    return folder / "bin" / "python"


@pytest.mark.parametrize("arguments", [["grade", CHAPTER], ["report", CHAPTER]])
def test_without_its_extra_the_command_says_which_to_install(bare, arguments):
    command = [bare, "-m", "posenc_course.grading", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    assert ended.returncode == 1
    assert ended.stdout == ""
    [sentence] = ended.stderr.splitlines()
    assert sentence.startswith("error: ")
    assert sentence.endswith(INSTALL)


def test_help_needs_nothing_but_the_library(bare):
    command = [bare, "-m", "posenc_course.grading", "grade", "--help"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env={})
    assert "--scheduler" in ended.stdout


def test_torch_has_an_extra_of_its_own():
    assert "'posenc_lib[torch]'" in not_installed(ModuleNotFoundError("torch", name="torch.nn"))


def test_the_extra_has_all_that_grading_imports():
    about = tomllib.loads((ROOT / "posenc_course" / "pyproject.toml").read_text())
    extra = about["project"]["optional-dependencies"]["grading"]
    closed = {"numpy"} | closure({plain(each) for each in extra})
    owners = packages_distributions()
    for path in (ROOT / "posenc_course" / "grading").rglob("*.py"):
        for name in imported(path) - set(sys.stdlib_module_names) - {"posenc_lib", "posenc_course", "torch"}:
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


WINGS = ("posenc_lib", "posenc_course")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both wings' wheels and source archives, built from a copy of the files."""
    folder = tmp_path_factory.mktemp("built")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *WINGS, "*.toml", "LICENSE"],
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
    for source in (folder / "source", folder / "source" / "posenc_course"):
        subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, check=True)
    return folder


def opened(built: Path, wing: str) -> tuple[set[str], str]:
    """The files of a wing's wheel, and what it says of itself."""
    [wheel] = built.glob(f"{wing}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        files = archive.namelist()
        [about] = [archive.read(name).decode() for name in files if name.endswith(".dist-info/METADATA")]
    return set(files), about


def test_the_library_serves_from_its_wheel_with_numpy_alone(built, bare, tmp_path):
    [wheel] = built.glob("posenc_lib-*.whl")
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


def test_the_course_serves_from_its_wheel_beside_the_librarys(built, bare, tmp_path):
    """All of it is in the wheel that is imported, and a check runs where nothing else of ours is."""
    for wheel in built.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import posenc_course\n"
        "from posenc_course import check\n"
        f"assert posenc_course.__file__.startswith({str(tmp_path)!r}), posenc_course.__file__\n"
        "from posenc_lib import frequencies\n"
        "from posenc_course.exercises import all_exercises, assignments\n"
        "from posenc_course.trained import trained_model\n"
        "print(check('02-the-formula.frequencies', lambda dim: frequencies(dim)).passed)\n"
        "print(len(all_exercises()), len(assignments()), trained_model('rope')['heads'])\n"
    )
    done = subprocess.run(
        [bare, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path, env={}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True", f"{len(all_exercises())} {len(assignments())} 4"]


def test_the_library_is_small_and_holds_nothing_of_the_course(built):
    files, about = opened(built, "posenc_lib")
    [wheel] = built.glob("posenc_lib-*.whl")
    assert wheel.stat().st_size < 400_000
    packages = ("", "added/", "biased/", "nn/", "rotated/", "scaling/")
    modules = {name for name in files if name.startswith("posenc_lib/")}
    assert {f"{name.rpartition('/')[0]}/" for name in modules} == {f"posenc_lib/{each}" for each in packages}
    assert {Path(name).suffix for name in modules} == {".py", ".typed"}
    assert "posenc_course" not in about
    assert "Provides-Extra: torch" in about
    assert re.findall(r"^Provides-Extra: (.+)$", about, re.M) == ["torch"]


def test_no_folder_of_the_course_is_left_out(built):
    """Its packages are written down one by one in posenc_course/pyproject.toml."""
    files, about = opened(built, "posenc_course")
    listed = {f"posenc_course/{name}" for name in sources("posenc_course", ".py")}
    assert {name for name in files if name.endswith(".py")} == listed
    models = {name.rpartition("/")[2] for name in files if name.endswith(".safetensors")}
    assert models == {"rope.safetensors", "alibi.safetensors"}  # the exercises run them
    templates = {f"posenc_course/{name}" for name in sources("posenc_course", ".j2")}
    assert {name for name in files if name.endswith(".j2")} == templates
    assert not {name for name in files if name.endswith((".toml", ".md"))}
    assert {"posenc_course/challenges/bugs.json", "posenc_course/experiments/results/causes.json"} <= files
    assert re.findall(r"^Provides-Extra: (.+)$", about, re.M) == ["torch", "figures", "grading"]
    assert re.search(r"^Requires-Dist: posenc_lib==", about, re.M)


def sources(wing: str, suffix: str) -> set[str]:
    """The files of a wing with this suffix, from its folder on."""
    top = ROOT / wing
    skipped = {"build", "__pycache__"}
    found = (path.relative_to(top) for path in top.rglob(f"*{suffix}"))
    return {each.as_posix() for each in found if not skipped & set(each.parts)}


@pytest.mark.parametrize("wing", WINGS)
def test_a_wheel_and_its_archive_say_what_they_are(built, wing):
    files, about = opened(built, wing)
    assert {name.partition("/")[0].partition("-")[0] for name in files} == {wing}
    assert {f"{wing}/py.typed", f"{wing}/__init__.py"} <= files
    for line in ("Requires-Python: >=3.11", "License-Expression: MIT", "Classifier: Typing :: Typed"):
        assert line in about
    assert f"# {wing}\n" in about
    assert ("exercises" in present(re.search("^Summary: (.*)$", about, re.M))[1]) == (wing == "posenc_course")
    [archive] = built.glob(f"{wing}-*.tar.gz")
    with tarfile.open(archive) as opened_archive:
        inside = {name.partition("/")[2] for name in opened_archive.getnames()}
    expected = {"pyproject.toml", "LICENSE"}
    of_library = {"posenc_lib/__init__.py", "posenc_lib/README.md", "posenc_lib/nn/added.py"}
    of_course = {"__init__.py", "README.md", "grading/sandbox/walls.py", "challenges/bugs.json"}
    assert expected | (of_library if wing == "posenc_lib" else of_course) <= inside


def version() -> str:
    import posenc_lib

    return posenc_lib.__version__
