"""What is installed is what is pinned, and the two commands stand in the README."""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.metadata import distributions, packages_distributions, requires
from pathlib import Path

import jupytext
import pytest
import yaml
from packaging.requirements import Requirement

from tests.present import present

ROOT = Path(__file__).resolve().parents[1]
INSTALLERS = {"pip", "setuptools", "wheel", "posenc-lib", "posenc-course"}
OF_TORCH = ("nvidia-", "cuda-", "triton")
"""What PyPI's build of PyTorch for GPUs brings; it pins them itself."""


def name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def pins(file: str) -> dict[str, str]:
    lines = (ROOT / file).read_text().splitlines()
    pinned = [line.partition(";")[0].split("==") for line in lines if line and not line.startswith("#")]
    return {name(package): version for package, version in pinned}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems bring a few packages of their own")
def test_every_installed_package_is_pinned_to_its_version():
    here = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    installed = {name(d.metadata["Name"]): d.version for d in distributions(path=here)}
    pinned = pins("constraints.txt")
    ours = {n: v for n, v in installed.items() if n not in INSTALLERS and not n.startswith(OF_TORCH)}
    wrong = {n: v for n, v in ours.items() if pinned.get(n) != v.partition("+")[0]}
    assert wrong == {}, "run `make lock`"


def test_requirements_and_constraints_agree():
    pinned = pins("constraints.txt")
    files = ("requirements.txt", "requirements-test.txt", "requirements-no-deps.txt")
    for package, version in (each for file in files for each in pins(file).items()):
        assert pinned.get(package) == version or package in INSTALLERS


def test_the_installed_packages_fit_together():
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    without_needs = tuple(pins("requirements-no-deps.txt"))
    amiss = [line for line in done.stdout.splitlines() if not name(line).startswith(without_needs)]
    assert [line for line in amiss if line != "No broken requirements found."] == []


@pytest.mark.parametrize("command", ["make serve", "make test"])
def test_the_readme_names_the_command_and_the_makefile_has_it(command):
    assert command in (ROOT / "README.md").read_text()
    assert f"\n{command.removeprefix('make ')}:" in (ROOT / "Makefile").read_text()


def test_ci_runs_the_test_command():
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_workflows_call_what_the_makefile_has():
    workflows = [yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    steps = [step for flow in workflows for job in flow["jobs"].values() for step in job["steps"]]
    called = {name for step in steps for name in re.findall(r"\bmake ([\w-]+)", step.get("run", ""))}
    assert called == {"test", "test-all", "book", "site"}
    makefile = (ROOT / "Makefile").read_text()
    assert [name for name in called if f"\n{name}:" not in makefile] == []


def test_everything_runs_once_a_week():
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "weekly.yml").read_text())
    assert re.fullmatch(r"\d+ \d+ \* \* \d", flow[True]["schedule"][0]["cron"])  # YAML reads "on" as true
    assert flow["jobs"]["test-all"]["steps"][-1]["run"] == "make test-all"


def test_the_workflow_tries_every_python_that_is_promised():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]
    least = present(re.search(r'requires-python = ">=(.+)"', (ROOT / "pyproject.toml").read_text()))[1]
    tried = jobs["test"]["strategy"]["matrix"]["python"]
    assert tried[0] == least
    assert all(isinstance(version, str) for version in tried), "3.10 is not a number"


def test_binder_has_a_python_that_the_library_wants():
    """With a folder of its own, Binder does not read `requires-python`, and takes 3.10."""
    told = (ROOT / ".binder" / "runtime.txt").read_text().strip().removeprefix("python-")
    assert tuple(map(int, told.split("."))) >= (3, 11)


def test_the_development_container_builds_and_serves_the_book():
    told = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert told["postCreateCommand"].endswith("make book")
    assert told["postAttachCommand"] == "make serve"
    assert float(told["image"].partition("python:")[2]) >= 3.11
    assert told["forwardPorts"] == [8000]


# What `make serve` installs is enough for what it runs, and it goes on where it was.

OF_TESTS = {
    "playwright": {"book/pdf.py"},  # make pdf, which has the tests' set-up
    "zstandard": {"posenc_course/experiments/counting.py"},
    "jax": {"posenc_lib/_arrays.py"},  # where somebody has it
}
"""What requirements-test.txt has, and who may import it all the same."""


def brought_along(first: Iterable[str]) -> set[str]:
    """These packages, and all that they need here."""
    found: set[tuple[str, frozenset[str]]] = set()
    todo = [Requirement(each) for each in first]
    while todo:
        asked = todo.pop()
        one = (name(asked.name), frozenset(asked.extras))
        if one not in found:
            found.add(one)
            needs = map(Requirement, requires(asked.name) or [])
            extras = ["", *asked.extras]
            todo += [
                each
                for each in needs
                if not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in extras)
            ]
    return {package for package, _ in found}


def sources() -> Iterator[tuple[Path, str]]:
    """The Python of the book, of the course and of the library, and that of the texts' cells."""
    for folder in ("book", "posenc_course", "posenc_lib", "solutions"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix == ".py":
                yield path, path.read_text()
            elif path.suffix == ".md" and "kernelspec:" in path.read_text():
                code = [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code"]
                yield path, re.sub(r"^\s*[%!].*$", "", "\n".join(code), flags=re.MULTILINE)


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_what_book_and_course_import_is_in_their_requirements():
    packages, enough = packages_distributions(), brought_along(pins("requirements.txt"))
    missing = {
        (module, path.relative_to(ROOT).as_posix())
        for path, source in sources()
        for module in imported(source)
        if module in packages and not {name(each) for each in packages[module]} & (enough | INSTALLERS)
    }
    assert missing == {(module, path) for module, paths in OF_TESTS.items() for path in paths}


def test_binder_installs_what_chapters_import():
    lines = (ROOT / ".binder" / "requirements.txt").read_text().splitlines()
    asked = [line for line in lines if not line.startswith(("#", "-"))]
    asked = [
        re.sub(r"^\./posenc_course", "posenc_course", re.sub(r"^\.\[", "posenc_lib[", each)) for each in asked
    ]
    packages, enough = packages_distributions(), brought_along(asked)
    assert "jupytext" in enough  # without it, a chapter is a text
    chapters = {path: source for path, source in sources() if re.match(r"\d\d-", path.name)}
    missing = {
        (module, path.name)
        for path, source in chapters.items()
        for module in imported(source)
        if module in packages and not {name(each) for each in packages[module]} & enough
    }
    assert missing == set()


STEPS = {
    ".venv/.python": "-m venv .venv",
    ".venv/.torch": "step 1 of 3",
    ".venv/.packages": "step 2 of 3",
    ".venv/.book": "step 3 of 3",
    ".venv/.ready": "set-up for the tests",
}


@pytest.fixture
def set_up(tmp_path):
    """A copy of what a set-up looks at, with everything done."""
    every = [ROOT / each for each in ("Makefile", "pyproject.toml", "posenc_course/pyproject.toml")]
    for path in (*every, *ROOT.glob("*.txt")):
        to = tmp_path / path.relative_to(ROOT)
        to.parent.mkdir(exist_ok=True)
        shutil.copy(path, to)
        os.utime(to, (1_000_000_000,) * 2)
    (tmp_path / ".venv").mkdir()
    for place, stamp in enumerate(STEPS):
        (tmp_path / stamp).touch()
        os.utime(tmp_path / stamp, (1_000_000_001 + place,) * 2)
    return tmp_path


@pytest.mark.parametrize("missing", STEPS)
def test_a_set_up_that_was_cut_off_goes_on_where_it_was(set_up, missing):
    for stamp in list(STEPS)[list(STEPS).index(missing) :]:
        (set_up / stamp).unlink()
    told = subprocess.run(["make", "-n", "setup"], cwd=set_up, capture_output=True, text=True, check=True)
    done = [stamp for stamp, step in STEPS.items() if step in told.stdout]
    assert done == list(STEPS)[list(STEPS).index(missing) :]


def test_what_make_serve_sets_up_leaves_out_the_tests(set_up):
    for stamp in STEPS:
        (set_up / stamp).unlink()
    told = subprocess.run(["make", "-n", "serve"], cwd=set_up, capture_output=True, text=True, check=True)
    assert STEPS[".venv/.book"] in told.stdout
    assert STEPS[".venv/.ready"] not in told.stdout


@pytest.mark.parametrize("on_a_terminal", [True, False])
def test_pip_shows_how_far_it_is_on_a_terminal(set_up, on_a_terminal):
    (set_up / ".venv" / "bin").mkdir()
    (set_up / ".venv" / "bin" / "pip").write_text('#!/bin/sh\necho "$@" >> pip.log\n')
    (set_up / ".venv" / "bin" / "pip").chmod(0o755)
    (set_up / ".venv" / ".torch").unlink()
    ours, theirs = pty.openpty() if on_a_terminal else os.pipe()
    subprocess.run(["make", ".venv/.torch"], cwd=set_up, stdout=theirs, stderr=theirs, check=True)
    os.close(ours)
    os.close(theirs)
    assert ("--quiet" in (set_up / "pip.log").read_text()) != on_a_terminal
