"""What people expect of a project that they may join is there, and fits the rest of it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import posenc_lib
from tests import apart
from tests.browser import unchanged
from tools.system import PROGRAMS

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
HOOKS = {
    hook["id"]: hook
    for repository in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    for hook in repository["hooks"]
}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_digest_and_say_their_version(workflow):
    """A tag can be moved to other code after somebody has looked at it."""
    used = re.findall(r"uses: (.+)", workflow.read_text())
    assert used
    assert [
        each for each in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", each)
    ] == []


def test_only_publishing_may_write():
    for workflow in WORKFLOWS:
        flow = yaml.safe_load(workflow.read_text())
        assert flow["permissions"] == {"contents": "read"}
        may_write = {
            name for name, job in flow["jobs"].items() if "write" in job.get("permissions", {}).values()
        }
        assert may_write <= {"publish"}


def test_pages_are_published_of_what_passed():
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "pages.yml").read_text())
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
    assert flow[True]["workflow_run"]["workflows"] == [tests["name"]]  # YAML reads the key "on" as true
    condition = flow["jobs"]["build"]["if"]
    assert "conclusion == 'success'" in condition
    # A pull request of a fork may come from a branch that is called main, too.
    assert "workflow_run.event != 'pull_request'" in condition


@pytest.mark.parametrize("name", ["tests", "weekly"])
def test_a_workflow_installs_what_the_tests_look_for(name):
    """What `python -m tools.system` may install only as root. A runner has two browsers and a compiler."""
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())
    told = " ".join(step.get("run", "") for job in flow["jobs"].values() for step in job["steps"])
    there = ("Chromium", "Firefox", "a C++ compiler")
    wanted = {each for of in PROGRAMS if of.name not in there for each in of.debian}
    assert {"bubblewrap", "fonts-noto-cjk"} <= wanted
    assert wanted <= set(told.split())


def test_a_release_tries_its_wheels_and_not_the_checkout():
    """Without -I, Python looks first into the folder that it is started in."""
    written = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    tried = re.findall(r"bin/python (.*?)-c ", written)
    assert len(tried) == 3
    assert all("-I " in options for options in tried)


def test_how_to_release_names_each_place_of_the_number():
    told = (ROOT / "CONTRIBUTING.md").read_text().partition("## Release a version")[2].partition("\n## ")[0]
    places = ("CITATION.cff", "posenc_course/pyproject.toml", "__init__.py", "BROKEN", "Unreleased")
    assert [place for place in places if place not in told] == []


def test_what_was_proven_is_kept_from_push_to_push_and_once_a_week_proven_anew():
    tests, weekly = (
        yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())
        for name in ("tests", "weekly")
    )
    steps = tests["jobs"]["test"]["steps"]
    [cache] = [each for each in steps if each.get("uses", "").startswith("actions/cache@")]
    kept = {path.relative_to(ROOT).as_posix() for path in (apart.PROVEN, unchanged.KEPT, unchanged.OPENED)}
    assert set(cache["with"]["path"].split()) == kept
    assert steps.index(cache) < steps.index(next(each for each in steps if each.get("run") == "make test"))
    anew = weekly["jobs"]["test-all"]["steps"]
    assert "make test-all" in [each.get("run") for each in anew]
    assert not [each for each in anew if each.get("uses", "").startswith("actions/cache@")]


def test_hooks_have_the_pinned_versions():
    from_npm = json.loads((ROOT / "tools" / "web" / "package.json").read_text())["devDependencies"]
    pinned = (ROOT / "requirements-test.txt").read_text().splitlines()
    pinned += [f"{name}@{version}" for name, version in from_npm.items()]
    wanted = [tool for hook in HOOKS.values() for tool in hook["additional_dependencies"]]
    assert wanted
    assert [tool for tool in wanted if tool not in pinned] == []


def test_the_hook_finds_no_misspelling():
    hook = HOOKS["codespell"]
    listed = subprocess.run(
        ["git", "ls-files", "*.md", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [each for each in listed.stdout.splitlines() if not re.search(hook["exclude"], each)]
    command = [str(Path(sys.executable).with_name("codespell")), *shlex.split(hook["entry"])[1:]]
    found = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "")


def test_the_citation_is_of_this_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == posenc_lib.__version__
    assert {"cff-version", "title", "message", "authors", "license"} <= cited.keys()


def test_the_changelog_begins_with_what_is_to_come_and_tells_of_the_version():
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    version = posenc_lib.__version__
    assert headings[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d", headings[1])
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)


def test_security_points_to_what_the_sandbox_promises():
    text = (ROOT / "SECURITY.md").read_text()
    (named,) = re.findall(r"`(book/\S+\.md)`", text)
    assert (ROOT / named).exists()
