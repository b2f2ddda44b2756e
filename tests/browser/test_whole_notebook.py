"""The whole notebook of an exercise page: in JupyterLite on the same site, and elsewhere if that is set."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import expect

from posenc_course.exercises import all_exercises, exercise
from posenc_course.grading.judging.grader import Grader
from tests.grading.samples import graded

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
from whole_notebook import NEEDS_TORCH, for_browser  # noqa: E402

PAGES = sorted(path.with_suffix("") for path in (ROOT / "exercises").glob("*/*.ipynb"))
FORMULA, CHAPTER = "exercises/02-the-formula/02-the-formula", "book/02-the-formula"
FREQUENCIES = "def frequencies(dim):\n    return 10000.0 ** (-2 * np.arange(dim // 2) / dim)"
PASSED_OVER = "This cell needs PyTorch, which a browser does not have."


@contextmanager
def whole_notebook(browser, page: str, way_in: str):
    """The notebook, opened from its page into a tab of its own.

    `asked` is every address that it asked for, and `missing` those that were not there.
    """
    context = browser.new_context(viewport={"width": 1300, "height": 1100})
    reader = context.new_page()
    asked, missing = [], []
    context.on("request", lambda request: asked.append(request.url))
    context.on("response", lambda response: missing.append(response.url) if response.status >= 400 else None)
    reader.goto(page, wait_until="domcontentloaded")
    with context.expect_page() as opened:
        reader.get_by_role("link", name=way_in).click()
    assert reader.url == page  # what the reader had is still there
    tab = opened.value
    tab.asked, tab.missing = asked, missing
    tab.locator(".jp-CodeCell .cm-content").first.wait_for()
    # Its kernel is there, and nobody was asked which one it is to be.
    expect(tab.locator(".jp-NotebookPanel-toolbar")).to_contain_text("Python (Pyodide)")
    yield tab
    context.close()


@pytest.fixture(scope="module")
def lite(browser, address):
    with whole_notebook(browser, f"{address}/{FORMULA}.html", "Open the whole notebook") as tab:
        yield tab


def run_cell(tab, source_holds: str, new_source: str = ""):
    """Run one cell, and return where its output will be."""
    cell = tab.locator(".jp-CodeCell", has_text=source_holds).first
    cell.locator(".cm-content").click()
    if new_source:
        tab.keyboard.press("Control+a")
        tab.keyboard.insert_text(new_source)
    tab.keyboard.press("Control+Enter")
    return cell


def test_an_answer_is_checked_and_torch_is_passed_over_in_the_browser(lite, address):
    run_cell(lite, "In a browser, this brings")
    run_cell(lite, "import numpy as np")
    answer = run_cell(lite, "def frequencies", FREQUENCIES)
    checked = run_cell(lite, 'check("02-the-formula.frequencies"')
    expect(checked.locator(".jp-OutputArea-output").last).to_contain_text("Passed")
    expect(answer.locator(".jp-OutputArea-output")).to_have_count(0)
    cell = run_cell(lite, "def sinusoidal", f"{NEEDS_TORCH}\nimport torch\ndef sinusoidal(): ...")
    expect(cell.locator(".jp-OutputArea-output")).to_contain_text(PASSED_OVER)
    assert [url for url in lite.asked if re.search(r"_static/pyodide/\w+/pyodide\.asm\.wasm$", url)]
    assert [url for url in lite.asked if not url.startswith((address, "data:", "blob:"))] == []
    assert lite.missing == []


def test_the_judge_of_a_chinese_notebook_speaks_chinese(browser, address):
    page = f"{address}/zh/{FORMULA}.html"
    with whole_notebook(browser, page, "打开整个笔记本") as tab:
        run_cell(tab, "import piplite")
        run_cell(tab, "import numpy as np")
        run_cell(tab, "def frequencies", FREQUENCIES.replace("2 *", ""))
        checked = run_cell(tab, 'check("02-the-formula.frequencies"')
        expect(checked.locator(".jp-OutputArea-output").last).to_contain_text(
            "还没通过：「每个列对一个频率」"
        )
        run_cell(tab, "def frequencies", FREQUENCIES)
        checked = run_cell(tab, 'check("02-the-formula.frequencies"')
        said = re.compile("(?<!还没)通过：「每个列对一个频率」")
        expect(checked.locator(".jp-OutputArea-output").last).to_contain_text(said)
        assert tab.missing == []


def test_what_was_saved_in_the_browser_can_be_handed_in_and_is_graded(lite, tmp_path):
    run_cell(lite, "def frequencies", FREQUENCIES)
    lite.keyboard.press("Control+s")
    with lite.expect_download() as download:
        lite.get_by_role("menuitem", name="File", exact=True).click()
        lite.get_by_role("menuitem", name="Download", exact=True).click()
    with Grader() as grader:
        grade = graded(grader, download.value.path().read_bytes(), tmp_path)
    points = {each.exercise_id: each.points for each in grade.exercises}
    right = exercise("02-the-formula.frequencies")
    assert points == {name: right.points if name == right.id else 0 for name in points}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_notebook_in_the_browser_has_every_cell_of_the_one_that_is_handed_out(site, page):
    given = nbformat.read(page.with_suffix(".ipynb"), as_version=4)
    here = nbformat.read(site / "_static" / "lite" / "files" / f"{page.name}.ipynb", as_version=4)
    first, *cells = here.cells
    assert first.id == "browser"
    assert [(c.id, c.metadata) for c in cells] == [(c.id, c.metadata) for c in given.cells]
    torch = {e.function for e in all_exercises() if e.chapter == page.name and not e.in_page}
    marked = {c.id for c in cells if c.source.startswith(NEEDS_TORCH)}
    assert {f"check-{name}".replace("_", "-") for name in torch} <= marked
    assert torch or not marked
    for cell, original in zip(cells, given.cells, strict=True):
        assert cell.source.endswith(original.source)
        assert (cell.source != original.source) == (cell.id in marked)


def test_what_needs_torch_is_marked_with_all_of_its_exercise():
    cells = [
        new_markdown_cell("## One"),
        new_code_cell("import numpy as np"),
        new_markdown_cell("## Another"),
        new_code_cell("import torch"),
        new_code_cell("def f(x):\n    return x"),
    ]
    first, *marked = for_browser(new_notebook(cells=cells), "first").cells
    assert first.source == "first"
    assert [cell.source.startswith(NEEDS_TORCH) for cell in marked] == [False, False, False, True, True]


def test_the_first_cell_does_nothing_where_jupyter_is_not_in_a_browser(tmp_path):
    (tmp_path / "first.ipy").write_text((ROOT / "book" / "lite" / "first_cell.ipy").read_text())
    subprocess.run([sys.executable, "-m", "IPython", tmp_path / "first.ipy"], check=True)


# The buttons, on a site of two pages.


@pytest.fixture
def build_buttons(tmp_path):
    """Builds an exercise page and a chapter with the project's own extension and these settings."""

    def build(shown: str = FORMULA, **settings: str) -> str:
        for name in ("nbgrader_config.py", "book/lite", "exercises"):
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, tmp_path / name, dirs_exist_ok=True)
            else:
                shutil.copy(ROOT / name, tmp_path / name)
        page = tmp_path / f"{FORMULA}.ipynb"
        notebook = nbformat.read(page, as_version=4)
        notebook.cells = [nbformat.v4.new_markdown_cell("# Exercises")]
        nbformat.write(notebook, page)
        (tmp_path / f"{CHAPTER}.md").write_text("# A chapter\n")
        (tmp_path / "index.md").write_text(f"# A page\n\n```{{toctree}}\n{CHAPTER}\n{FORMULA}\n```\n")
        given = "posenc_lite = False\n"
        given += "".join(f"posenc_{name} = {value!r}\n" for name, value in settings.items())
        (tmp_path / "conf.py").write_text(
            f"import sys; sys.path.insert(0, {str(ROOT / 'book' / '_ext')!r})\n"
            "extensions = ['myst_nb', 'whole_notebook']\n"
            "exclude_patterns = ['exercises/01*']\nnb_execution_mode = 'off'\n"
            "html_theme = 'sphinx_book_theme'\n" + given
        )
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", tmp_path, tmp_path / "html"],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise ValueError(done.stderr)
        return (tmp_path / "html" / f"{shown}.html").read_text()

    return build


def test_what_is_not_set_has_no_button(build_buttons):
    page = build_buttons()
    assert f'href="../../_sources/{FORMULA}.ipynb"' in page
    for name in ("Open the whole", "Colab", "Binder", "JupyterHub"):
        assert name not in page


def test_one_setting_each_gives_colab_binder_and_a_hub(build_buttons):
    page = build_buttons(
        repository="https://github.com/someone/course",
        branch="2027",
        binder="https://binder.example.org/",
        jupyterhub="https://hub.example.org",
    )
    file = f"{FORMULA}.ipynb"
    assert f'href="https://colab.research.google.com/github/someone/course/blob/2027/{file}"' in page
    assert "git+https://github.com/someone/course" in page
    lab = f"lab%2Ftree%2F{file.replace('/', '%2F')}"
    assert f'href="https://binder.example.org/v2/gh/someone/course/2027?urlpath={lab}"' in page
    assert 'href="https://hub.example.org/hub/user-redirect/lab"' in page


def test_a_chapter_opens_in_binder_where_that_is_set(build_buttons):
    repository, binder = "https://github.com/someone/course", "https://mybinder.org"
    assert "Binder" not in build_buttons(CHAPTER, repository=repository)
    page = build_buttons(CHAPTER, repository=repository, binder=binder)
    [way] = re.findall(r'<p class="posenc-elsewhere"><a [^>]*href="([^"]*)"', page)
    assert way == f"{binder}/v2/gh/someone/course/main?urlpath=lab%2Ftree%2F{quote(CHAPTER, safe='')}.md"


def test_binder_opens_a_chapter_as_a_notebook(tmp_path):
    """JupyterLab would show it as a text. Which viewer is meant, jupytext knows."""
    bin = Path(sys.executable).parent
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(tmp_path), "PATH": f"{bin}:{os.environ['PATH']}"}
    subprocess.run([ROOT / ".binder" / "postBuild"], env=environment, check=True)
    [settings] = tmp_path.rglob("default_setting_overrides.json")
    viewers = json.loads(settings.read_text())["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"]
    assert viewers == {"markdown": "Jupytext Notebook"}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"repository": "someone/course"}, "give the address of a repository on GitHub"),
        ({"binder": "https://mybinder.org"}, "posenc_binder needs posenc_repository"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_to_do(build_buttons, settings, says):
    with pytest.raises(ValueError, match=says):
        build_buttons(**settings)


def test_jupyterlite_is_set_to_take_nothing_from_outside(site):
    settings = json.loads((site / "_static" / "lite" / "jupyter-lite.json").read_text())
    kernel = settings["jupyter-config-data"]["litePluginSettings"][
        "@jupyterlite/pyodide-kernel-extension:kernel"
    ]
    assert kernel["disablePyPIFallback"]
    assert (site / "_static" / "lite" / kernel["pyodideUrl"]).resolve().is_file()
    assert list((site / "_static" / "lite" / "pypi").glob("posenc_page-*.whl"))
