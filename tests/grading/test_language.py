"""A class in Chinese: its notebooks, what the judge writes, and the same marks as in English."""

from __future__ import annotations

import argparse
import ast
import inspect
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
from posenc_course.grading.cli import OF_ARGPARSE
from posenc_course.grading.terminal import width
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


def english(printed: str) -> list[str]:
    """Words in a row, all English; names, options and commands are none."""
    return re.findall(r"(?:\b[A-Za-z']{2,}[,;:]? ){2,}[a-z']{2,}", re.sub(r"posenc \w+", "", printed))


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


@pytest.fixture(scope="module")
def graded(course) -> Class:
    """The class: a learner who is right, one who is wrong, and work that is damaged or in the wrong place."""
    course.hand_in("right")
    wrong = "def past_the_end(table, length, how):\n    return table"
    course.hand_in("wrong", course.solved(past_the_end=wrong))
    course.hand_in("broken", "{")
    elsewhere = course.root / "course" / "submitted" / "lost" / f"{LIGHT}s" / f"{LIGHT}.ipynb"
    elsewhere.parent.mkdir(parents=True)
    shutil.copy(course.submitted("right"), elsewhere)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POSENC_LANGUAGE", CHINESE)
        course.printed = course.as_typed("grade", LIGHT, status=1)
    return course


def test_the_judge_writes_chinese_and_gives_the_marks_that_it_gives_in_english(graded):
    full = sum(each.points for each in exercises_of(LIGHT))
    assert graded.marks() == {"right": full, "wrong": full - exercise(WRONG).points, "broken": 0}
    written = str(graded.autograded("wrong"))
    assert "还没对" in written or "没有" in written
    assert len(re.findall("[\u4e00-\u9fff]", written)) > 1_500
    page = re.sub(r"<(style|code|pre|svg).*?</\1>|<[^>]+>", " ", graded.feedback("wrong"), flags=re.DOTALL)
    assert "学习者的答案" in page
    assert "得分：" in page
    assert english(page) == []
    assert "anchor:" not in page, "what headings of translated pages hold is not to be read"


def test_what_grading_prints_is_chinese(graded):
    assert f"{LIGHT}：这次评了3份" in graded.printed
    assert "放错了地方" in graded.printed
    assert "里面不是JSON" in graded.printed
    assert english(graded.printed) == []


@pytest.mark.usefixtures("spoken")
def test_the_report_is_chinese_and_its_marks_are_for_machines(graded):
    printed = graded.as_typed("report", LIGHT, "--marks", "marks.csv", "--picture", "mistakes.html")
    assert "通过率" in printed
    assert english(printed) == []
    page = (graded.root / "mistakes.html").read_text()
    assert '<html lang="zh-CN">' in page
    assert english(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)) == []
    header, *lines = (graded.root / "marks.csv").read_text().splitlines()
    assert header.startswith("student,last_name,first_name,email,submitted,verdict,points")
    assert [line.split(",")[5] for line in lines] == ["malformed", "right", "partly"]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--help"], 0, "给一个班评分"),
        (["grade", "--help"], 0, "只评这些学生"),
        (["report", "--help"], 0, "Canvas或Moodle"),
        (["move", "--help"], 0, "成绩册"),
        (["verify", "--help"], 0, "校验码"),
        (["grade"], 2, "缺少必需的参数"),
        (["grade", LIGHT, "--jobs", "none"], 2, "请给一个整数"),
        (["grade", LIGHT, "--quickly"], 2, "不认识的参数"),
        (["report", LIGHT, "--format", "pdf"], 2, "没有'pdf'这个选择"),
        (["grade", "no-such-chapter"], 1, "作业'no-such-chapter'里没有练习"),
        (["verify", "nowhere.json", "7K3QD"], 1, "没有nowhere.json这个文件"),
    ],
)
@pytest.mark.usefixtures("spoken")
def test_help_and_errors_are_chinese(course, monkeypatch, arguments, status, said):
    monkeypatch.setenv("COLUMNS", "80")
    printed = course.as_typed(*arguments, status=status)
    assert said in printed
    assert english(printed) == []
    assert status or max(map(width, printed.splitlines())) <= 80


def test_the_course_says_which_language_and_the_variable_comes_first(course, monkeypatch):
    config = course.root / "nbgrader_config.py"
    as_it_was = config.read_text()
    monkeypatch.delenv("POSENC_LANGUAGE", raising=False)
    help = {}
    try:
        config.write_text(as_it_was.replace('LANGUAGE = ""', f'LANGUAGE = "{CHINESE}"'))
        help["of the course"] = course.as_typed("grade", "--help")
        nothing = course.as_typed("grade", "no-such-chapter", status=1)
        monkeypatch.setenv("POSENC_LANGUAGE", "en")
        help["of the variable"] = course.as_typed("grade", "--help")
        monkeypatch.setenv("POSENC_LANGUAGE", "tlh")
        unknown = course.as_typed("grade", "no-such-chapter", status=1)
    finally:
        config.write_text(as_it_was)
    assert "只评这些学生" in help["of the course"]
    assert "错误：作业'no-such-chapter'里没有练习" in nothing
    assert "only these students" in help["of the variable"]
    assert unknown.startswith("posenc: the language 'tlh' is not known; known are en, zh_CN. Using English\n")
    assert unknown.count("tlh") == 1
    assert "error: there are no exercises in the assignment 'no-such-chapter'" in unknown


def test_what_argparse_says_is_in_the_catalogue_as_argparse_writes_it():
    said = {
        each.value
        for each in ast.walk(ast.parse(inspect.getsource(argparse)))
        if isinstance(each, ast.Constant)
    }
    assert set(OF_ARGPARSE) <= said


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
        assert f"已发布{path.relative_to(project)}" in done.stdout
        assert re.search("[\u4e00-\u9fff]{4}", path.read_text()), path
