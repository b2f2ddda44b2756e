"""What is installed is what is pinned, and the two commands stand in the README."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
INSTALLERS = {"pip", "setuptools", "wheel", "posenc-lib", "posenc-course"}
OF_TORCH = ("nvidia-", "cuda-", "triton")
"""What PyPI's build of PyTorch for GPUs brings; it pins them itself."""


def name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def pins(file: str) -> dict[str, str]:
    lines = (ROOT / file).read_text().splitlines()
    pinned = [line.split("==") for line in lines if line and not line.startswith("#")]
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
    least = re.search(r'requires-python = ">=(.+)"', (ROOT / "pyproject.toml").read_text())[1]
    tried = jobs["test"]["strategy"]["matrix"]["python"]
    assert tried[0] == least
    assert all(isinstance(version, str) for version in tried), "3.10 is no number"


def test_the_development_container_builds_and_serves_the_book():
    told = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert told["postCreateCommand"].endswith("make book")
    assert told["postAttachCommand"] == "make serve"
    assert float(told["image"].partition("python:")[2]) >= 3.11
    assert told["forwardPorts"] == [8000]
