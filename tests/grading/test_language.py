"""A class in Chinese: its notebooks, what the judge writes, and the same marks as in English."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from book import catalogues
from book.editions import translated_page
from posenc_course.exercises import exercise, exercises_of
from posenc_course.translation import speak
from tests.grading.class_fixtures import LIGHT, Class

pytestmark = [pytest.mark.slow, pytest.mark.grading]

ROOT = Path(__file__).resolve().parents[2]
CHINESE = "zh_CN"
WRONG = f"{LIGHT}.past_the_end"


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Class:
    """A course whose chapter was released in Chinese; `posenc` speaks it, too."""
    root = tmp_path_factory.mktemp("chinese")
    catalogues.compiled(CHINESE)
    (root / "solutions").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", root)
    page = ROOT / "solutions" / f"{LIGHT}.md"
    (root / "solutions" / page.name).write_text(translated_page(page, CHINESE, ROOT, str))
    command = [sys.executable, "-m", "posenc_course.grading.release"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POSENC_LANGUAGE", CHINESE)
        subprocess.run(command, cwd=root, check=True)
    return Class(root, LIGHT)


@pytest.fixture
def spoken(monkeypatch):
    monkeypatch.setenv("POSENC_LANGUAGE", CHINESE)
    yield
    speak("en")


def test_a_chinese_notebook_has_the_same_exercises_points_and_code(course):
    english = nbformat.read(ROOT / "exercises" / LIGHT / f"{LIGHT}.ipynb", as_version=4)

    def graded(notebook: nbformat.NotebookNode) -> list[dict[str, object]]:
        every = [dict(each.metadata.nbgrader) for each in notebook.cells if "nbgrader" in each.metadata]
        return [{name: each[name] for name in each if name != "checksum"} for each in every]

    chinese = course.blank()
    assert graded(chinese) == graded(english)
    words = "".join(each.source for each in chinese.cells if each.cell_type == "markdown")
    assert len(re.findall("[\u4e00-\u9fff]", words)) > 1_500
    assert "<summary>提示1</summary>" in words
    assert "约" in words
    assert '_speak("zh_CN")' in "".join(each.source for each in chinese.cells if each.cell_type == "code")


@pytest.mark.usefixtures("spoken")
def test_the_judge_writes_chinese_and_gives_the_marks_that_it_gives_in_english(course):
    asked = exercise(WRONG)
    course.hand_in("right")
    wrong = "def past_the_end(table, length, how):\n    return table"
    course.hand_in("wrong", course.solved(past_the_end=wrong))
    course.as_typed("grade", LIGHT)
    full = sum(each.points for each in exercises_of(LIGHT))
    assert course.marks() == {"right": full, "wrong": full - asked.points}
    written = str(course.autograded("wrong"))
    assert "还没对" in written or "没有" in written
    assert len(re.findall("[\u4e00-\u9fff]", written)) > 1_500


def test_one_command_puts_chinese_notebooks_where_the_english_ones_are(project):
    command = [sys.executable, "-m", "book.editions"]
    refused = subprocess.run([*command, "tlh"], cwd=project, capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stderr == "error: there are no catalogues of 'tlh'; there are those of zh_CN\n"
    done = subprocess.run([*command, CHINESE], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = sorted((project / "exercises").glob("*/*.ipynb"))
    assert len(made) == len(list((ROOT / "exercises").glob("*/*.ipynb")))
    for path in made:
        assert f"released {path.relative_to(project)}" in done.stdout
        assert re.search("[\u4e00-\u9fff]{4}", path.read_text()), path
