"""nbgrader's own commands on our configuration: release, seven submissions, autograde, feedback, export."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbgrader.api import Gradebook

from posenc_course.exercises import all_exercises
from posenc_course.grading.release import release

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "02-the-formula"
POINTS = {e.function: e.points for e in all_exercises() if e.chapter == CHAPTER}
TOTAL = sum(POINTS.values())

KNOWN_MISTAKE = """
def frequencies(dim):
    return 10000.0 ** -np.arange(0.0, dim, 2)
"""
OWN_MISTAKE = """
def frequencies(dim):
    values = 10000.0 ** (-2 * np.arange(dim // 2) / dim)
    return np.round(values, 3)
"""
WARNS = """
def frequencies(dim):
    import warnings
    warnings.warn("this only warns")
    return 10000.0 ** (-2 * np.arange(dim // 2) / dim)
"""


def nbgrader(course: Path, *arguments: str) -> str:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def solved(released: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The released notebook with the model answers typed in."""
    text = jupytext.read(ROOT / "solutions" / f"{CHAPTER}.md")
    answers = iter(c.source for c in text.cells if "### BEGIN SOLUTION" in c.source)
    notebook = nbformat.from_dict(released)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = next(answers)
    return notebook


def with_answer(notebook: nbformat.NotebookNode, code: str) -> nbformat.NotebookNode:
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "frequencies":
            cell.source = code.strip()
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course with five submissions, graded by nbgrader's own commands."""
    root = tmp_path_factory.mktemp("class")
    (root / "solutions").mkdir()
    (root / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text())
    (root / "solutions" / f"{CHAPTER}.md").write_text((ROOT / "solutions" / f"{CHAPTER}.md").read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        [released] = release(root)
    blank = nbformat.read(released, as_version=4)

    def fresh() -> nbformat.NotebookNode:
        return nbformat.read(released, as_version=4)

    deleted = solved(fresh())
    deleted.cells = [
        c for c in deleted.cells if c.metadata.get("nbgrader", {}).get("grade_id") != "check-frequencies"
    ]
    submissions = {
        "right": solved(fresh()),
        "known": with_answer(solved(fresh()), KNOWN_MISTAKE),
        "own": with_answer(solved(fresh()), OWN_MISTAKE),
        "warns": with_answer(solved(fresh()), WARNS),
        "blank": blank,
        "deleted": deleted,
        "deleted-wrong": with_answer(nbformat.from_dict(deleted.copy()), KNOWN_MISTAKE),
    }
    for student, notebook in submissions.items():
        path = root / "course" / "submitted" / student / CHAPTER / f"{CHAPTER}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)

    nbgrader(root, "autograde", CHAPTER)
    nbgrader(root, "generate_feedback", CHAPTER)
    nbgrader(root, "export", "--to", "course/marks.csv")
    return root


def mark(course: Path, student: str) -> float:
    with Gradebook(f"sqlite:///{course / 'course' / 'gradebook.db'}", "positional-encoding") as gradebook:
        return gradebook.find_submission(CHAPTER, student).score


def feedback(course: Path, student: str) -> str:
    return (course / "course" / "feedback" / student / CHAPTER / f"{CHAPTER}.html").read_text()


LOST = POINTS["frequencies"]


@pytest.mark.parametrize(
    ("student", "expected"),
    [
        ("right", TOTAL),
        ("known", TOTAL - LOST),
        ("own", TOTAL - LOST),
        ("warns", TOTAL),
        ("blank", 0),
        ("deleted", TOTAL),  # an answer is found by its name
        ("deleted-wrong", TOTAL - LOST),  # deleting a check does not save a wrong answer
    ],
)
def test_each_submission_gets_its_mark(course, student, expected):
    assert mark(course, student) == expected


def test_the_feedback_of_a_known_mistake_names_it(course):
    [mistake] = [
        m
        for e in all_exercises()
        if e.id == f"{CHAPTER}.frequencies"
        for m in e.mistakes
        if m.name == "no-division-by-dim"
    ]
    assert mistake.message in feedback(course, "known")
    assert mistake.message not in feedback(course, "own")
    assert mistake.message not in feedback(course, "right")


def test_the_feedback_of_another_mistake_shows_where_it_goes_wrong(course):
    text = feedback(course, "own")
    assert "Not yet: " in text
    assert "expected" in text


def test_the_export_holds_every_mark(course):
    with (course / "course" / "marks.csv").open() as file:
        rows = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert rows["right"] == TOTAL
    assert rows["known"] == TOTAL - LOST
    assert rows["blank"] == 0
