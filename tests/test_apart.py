"""What passed is left out until what it looks at changes. What failed, or ran in part, proves nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests import apart
from tests.browser.conftest import served
from tests.browser.unchanged import (
    CODE,
    NOT_SHOWN,
    SERVED_BY_ANOTHER_PROCESS,
    TESTS,
    Opened,
    Pages,
    _in_any_case,
    noting_what_is_opened,
)
from tests.present import present

ROOT = Path(__file__).resolve().parents[1]
MARKS = [*apart.LOOKED_AT, "pages"]


@pytest.mark.parametrize("mark", apart.LOOKED_AT)
def test_what_a_mark_looks_at_is_there(mark):
    assert [pattern for pattern in apart.LOOKED_AT[mark] if not any(ROOT.glob(pattern))] == []


def test_every_place_that_runs_apart_is_there_and_looked_at():
    for place, mark in apart.PLACES.items():
        path = ROOT / "tests" / place
        files = [path] if path.is_file() else sorted(path.glob("test_*.py"))
        assert files
        assert set(files) <= set(apart._files(mark))


@pytest.mark.parametrize("mark", apart.LOOKED_AT)
def test_a_mark_looks_at_what_its_tests_import_of_others(mark):
    """Of what is not the library's or the course's own."""
    files = {file.relative_to(ROOT).with_suffix("").as_posix() for file in apart._files(mark)}
    tests = [file.read_text() for file in apart._files(mark) if re.fullmatch(r"test_\w+\.py", file.name)]
    imported = {
        each for test in tests for each in re.findall(r"^from (tests[.\w]*) import (\w+)", test, re.MULTILINE)
    }
    paths = {(of.replace(".", "/"), f"{of}.{name}".replace(".", "/")) for of, name in imported}
    assert [either for either in paths if not files & set(either)] == []


def test_a_mark_looks_at_each_file_that_has_it():
    marked = re.compile(rf"mark\.({'|'.join(apart.LOOKED_AT)})\b")
    for file in (ROOT / "tests").rglob("test_*.py"):
        for mark in set(marked.findall(file.read_text())):
            assert file in set(apart._files(mark)), f"{file.name} has the mark {mark}"


@pytest.mark.parametrize(
    ("mark", "file"),
    [
        ("peers", "examples/jax_transformer.py"),
        ("peers", "book/reference/comparison.md"),
        ("experiments", "book/web/src/train-live/sizes.js"),
        ("grading", "book/editions.py"),
        ("grading", "tools/system.py"),
    ],
)
def test_a_mark_looks_at_what_its_tests_read(mark, file):
    assert ROOT / file in set(apart._files(mark))


def test_make_test_apart_runs_every_mark():
    recipe = (ROOT / "Makefile").read_text().partition("\ntest-apart:")[2]
    assert present(re.search(r'-m "(.+)"', recipe))[1].split(" or ") == MARKS


# A project of two tests, one of which runs apart, and `make` as it is here.

TEST = """
import os, pathlib
def test_it():
    assert "FAILS" not in os.environ
    if name := os.environ.get("WRITES"):
        pathlib.Path(name).write_text("x = 2")
"""
LOOKED_AT = "posenc_course/experiments/one.py"


class Small:
    def __init__(self, root: Path):
        self.root = root
        for name in ("Makefile", "pyproject.toml", "tests/conftest.py", "tests/apart.py"):
            self.write(name, (ROOT / name).read_text())
        for name in ("tests/__init__.py", "tools/__init__.py", "tools/system.py", ".venv/.ready"):
            self.write(name, "")
        self.write(".venv/bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (root / ".venv/bin/python").chmod(0o755)
        self.write("tests/experiments/test_it.py", TEST)
        self.write("tests/test_other.py", "def test_other():\n    pass\n")
        self.write(LOOKED_AT, "x = 1")

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def run(self, *command: str, **settings: str) -> int:
        """How many tests passed; -1 where it failed."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "MAKE"))}
        clean |= {"PYTEST_XDIST_AUTO_NUM_WORKERS": "1"}
        done = subprocess.run(
            command, cwd=self.root, env=clean | settings, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 or settings, done.stdout + done.stderr
        return int(present(re.search(r"(\d+) passed", done.stdout))[1]) if done.returncode == 0 else -1

    def make(self, target: str, **settings: str) -> int:
        ready = [part for each in ("lint", "types", ".venv/.ready") for part in ("--old-file", each)]
        return self.run("make", *ready, target, **settings)

    def with_tests_of_pages(self, text: str) -> None:
        """In place of the test that runs apart: a file of these, with what goes with tests in a browser."""
        shutil.rmtree(self.root / "tests" / "experiments")
        for name in ("__init__.py", "conftest.py", "unchanged.py"):
            self.write(f"tests/browser/{name}", (ROOT / "tests" / "browser" / name).read_text())
        self.write("tests/browser/test_look.py", text)

    def pytest(self, *asked_for: str, **settings: str) -> int:
        return self.run(sys.executable, "-m", "pytest", *asked_for, **settings)


@pytest.fixture
def small(tmp_path):
    return Small(tmp_path)


@pytest.mark.slow
def test_what_passed_is_left_out_until_a_file_of_it_changes(small):
    assert small.make("test") == 2
    assert small.make("test") == 1
    assert small.pytest("tests/experiments") == 1
    assert small.pytest("-m", "experiments") == 1
    assert small.make("test-all") == 2
    small.write(LOOKED_AT, "x = 2")
    assert small.make("test") == 2
    assert small.make("test") == 1


@pytest.mark.slow
@pytest.mark.parametrize("target", ["test", "test-apart", "test-all"])
def test_a_failure_is_not_kept_and_takes_back_what_was(small, target):
    if target != "test":
        assert small.make("test") == 2
    assert small.make(target, FAILS="yes") == -1
    assert small.make("test") == 2


@pytest.mark.slow
def test_a_part_of_the_tests_proves_nothing(small):
    for asked_for in (["-k", "test_it"], ["tests/experiments"], ["-m", "experiments"]):
        assert small.pytest(*asked_for) == 1
    assert small.pytest() == 2


@pytest.mark.slow
def test_what_changed_while_the_tests_ran_is_not_proven(small):
    assert small.make("test", WRITES=LOOKED_AT) == 2
    assert small.make("test") == 2


# Files of tests that open pages.


@pytest.fixture
def project(tmp_path, site):
    """Files of each kind that is looked at in any case, and one text of the book."""
    for name in ("posenc_lib/a.py", "posenc_course/b.json", "book/web/src/c.js", "book/one.md"):
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text("x")
    (site / "_static" / "chapters" / "one.json").write_text("{}")
    return tmp_path / "project"


def opened_by(site: Path, project: Path, browser: str = "1.0") -> Opened:
    _in_any_case.cache_clear()  # as in a process that begins
    return Opened(Path("test_one.py"), site, browser, site.parent / "kept", project)


def read_one(site: Path, project: Path) -> None:
    """What the tests of this file do: a page and a summary by the server, and a text of the book."""
    opened = opened_by(site, project)
    with noting_what_is_opened() as paths, served(site) as address:
        for path in ("book/one.html?shown=1", "_static/chapters/one.json", "_static/all.css"):
            urllib.request.urlopen(f"{address}/{path}").read()
        (project / "book" / "one.md").read_text()
    opened.remember(paths)


@pytest.mark.parametrize(
    ("of", "file", "again"),
    [
        ("site", "book/one.html", True),
        ("site", "book/two.html", False),
        ("site", "book/three.html", True),
        ("site", "_static/chapters/one.json", True),
        ("site", "_static/chapters/two.json", False),
        ("site", "_static/all.css", True),
        ("site", "_static/pyodide/x.js", True),
        ("project", "posenc_lib/a.py", True),
        ("project", "posenc_course/b.json", True),
        ("project", "book/web/src/c.js", True),
        ("project", "book/one.md", True),
        ("project", "book/two.md", False),
    ],
)
def test_a_file_of_tests_runs_again_where_what_it_opened_or_shares_changed(site, project, of, file, again):
    assert not opened_by(site, project).has_passed()
    read_one(site, project)
    assert opened_by(site, project).has_passed()
    assert not opened_by(site, project, browser="1.1").has_passed()
    ({"site": site, "project": project}[of] / file).write_text("changed")
    assert opened_by(site, project).has_passed() is not again


def test_what_was_written_while_the_tests_ran_is_not_remembered(site, project):
    opened = opened_by(site, project)
    with noting_what_is_opened() as paths:
        (site / "book" / "one.html").read_text()
        os.utime(site / "book" / "one.html", (time.time() + 1,) * 2)
    opened.remember(paths)
    assert not opened_by(site, project).has_passed()


def test_all_that_tests_of_pages_import_or_name_is_looked_at():
    """Where another process opens it, nothing is noted. Of the texts of the book that are opened, it is."""
    tests = "".join(test.read_text() for test in (ROOT / "tests" / "browser").glob("*.py"))
    imported = re.findall(r"^ *(?:from|import) ([\w.]+)", tests, re.MULTILINE)
    ours = {each.replace(".", "/") for each in imported if (ROOT / each.partition(".")[0]).is_dir()}
    named = set(re.findall(r'ROOT / "([\w.]+)"', tests)) - {"book", "tests", "_build"}
    files = {file.relative_to(ROOT) for pattern in CODE for file in ROOT.glob(pattern) if file.is_file()}
    covered = {part.as_posix() for file in files for part in (file, file.with_suffix(""), *file.parents)}
    assert ours - covered == set()
    assert named - covered == set()


def test_files_of_tests_whose_pages_another_process_serves_are_named():
    found = [
        test.name
        for test in (ROOT / "tests" / "browser").glob("test_*.py")
        if "tests.book.test_server" in test.read_text()
    ]
    assert sorted(found) == sorted(SERVED_BY_ANOTHER_PROCESS)


OPENS_A_PAGE = """
import os, urllib.request, pytest
from pathlib import Path
from types import SimpleNamespace
from tests.browser import conftest

@pytest.fixture(scope="session")
def site():
    return Path("site").resolve()

@pytest.fixture(scope="session")
def browser():
    return SimpleNamespace(version="1.0", contexts=[])

def read(site, page):
    with conftest.served(site) as address:
        urllib.request.urlopen(f"{address}/book/{page}.html").read()

def test_one(site):
    read(site, "one")
    assert "FAILS" not in os.environ

def test_two(site):
    pass
"""


@pytest.mark.slow
def test_a_file_of_tests_is_left_out_until_a_page_that_it_opened_changes(small, site):
    small.with_tests_of_pages(OPENS_A_PAGE)
    other = 1
    assert small.pytest("-k", "one or other") == 1 + other  # a part of it proves nothing
    assert small.pytest() == 2 + other
    assert small.pytest() == 0 + other
    assert small.pytest("tests/browser") == 2
    (site / "book" / "two.html").write_text("<h1>Another</h1>")
    assert small.pytest() == 0 + other
    (site / "book" / "one.html").write_text("<h1>Another</h1>")
    assert small.pytest(FAILS="yes") == -1
    assert small.pytest() == 2 + other
    assert small.pytest("tests/browser", FAILS="yes") == -1  # as it was when it passed: that counts no more
    assert small.pytest() == 2 + other


# Pages.


@pytest.fixture
def site(tmp_path):
    site = tmp_path / "site"
    for name, text in {
        "book/one.html": '<h1 id="one">One</h1><a href="two.html#two">2</a>',
        "book/two.html": '<h1 id="two">Two</h1>',
        "_static/all.css": "h1 { color: black }",
        **{f"_static/{folder}/x.js": "x" for folder in NOT_SHOWN},
    }.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    return site


def states(site: Path, browser: str = "1.0", tests: Path = ROOT) -> dict[str, str]:
    pages = Pages(site, browser, site / "kept.json", tests)
    looks = {f"{name} {links}": (name, links) for name in ("one", "two") for links in (False, True)}
    return {key: pages.state(f"book/{name}.html", of_links=links) for key, (name, links) in looks.items()}


@pytest.mark.parametrize(
    ("file", "text", "changed"),
    [
        ("book/two.html", '<h1 id="two">2</h1>', {"two False", "two True"}),
        ("book/two.html", '<h1 id="to">Two</h1>', {"two False", "two True", "one True"}),
        ("_static/all.css", "h1 { color: white }", {"one False", "one True", "two False", "two True"}),
        ("_static/new.js", "more()", {"one False", "one True", "two False", "two True"}),
        *((f"_static/{folder}/x.js", "y", set()) for folder in NOT_SHOWN),
    ],
)
def test_a_page_is_looked_at_again_where_something_of_it_changed(site, file, text, changed):
    before = states(site)
    (site / file).write_text(text)
    after = states(site)
    assert {each for each in before if before[each] != after[each]} == changed


def test_pages_are_looked_at_again_in_another_browser_or_by_another_test(site, tmp_path):
    before = states(site)
    assert not before.items() & states(site, browser="1.1").items()
    for name in TESTS:
        copies = tmp_path / name.replace("/", "-")
        for each in TESTS:
            (copies / each).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / each, copies / each)
        assert states(site, tests=copies) == before
        (copies / name).write_text("# changed")
        assert not before.items() & states(site, tests=copies).items()


def test_which_python_a_page_would_load_is_not_looked_at(site):
    found = []
    for digest in ("0123456789ab", "ba9876543210"):
        loads = f'data-pyodide="_static/pyodide/{digest}/" data-sizes="{digest}"'
        (site / "book/one.html").write_text(f'<p {loads} data-library="_static/library/x?v={digest}">')
        found.append(states(site))
    assert found[0] == found[1]


ON_PAGES = f"""
import os, pathlib, pytest
from tests.browser.unchanged import Pages
SITE = pathlib.Path("site").resolve()

@pytest.fixture(scope="module")
def pages():
    return Pages(SITE, "1.0", SITE.parent / "kept.json", pathlib.Path({str(ROOT)!r}))

@pytest.fixture(scope="module", params=["book/one.html", "book/two.html"])
def page(request):
    return request.param

@pytest.mark.parametrize("theme", ["light", "dark"])
def test_look(unless_unchanged, page, theme):
    assert not (page == "book/one.html" and theme == os.environ.get("FAILS"))
"""


@pytest.mark.slow
def test_a_page_that_passed_is_left_out_and_one_that_failed_is_not(small, site):
    small.with_tests_of_pages(ON_PAGES)
    other = 1
    assert small.pytest("-k", "one and light or other") == 1 + other
    assert small.pytest() == 3 + other
    assert small.pytest() == 0 + other
    assert small.pytest("tests/browser") == 4
    (site / "book" / "one.html").write_text("<h1>Another</h1>")
    assert small.pytest(FAILS="dark") == -1
    assert small.pytest() == 1 + other
    assert small.pytest("-m", "pages", FAILS="light") == -1  # as it was when it passed: that counts no more
    assert small.pytest() == 1 + other
