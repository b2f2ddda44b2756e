"""Making exercises anew costs nobody what they wrote in them."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.apps import NbGraderAPI

from posenc_course.grading.own_work import KEPT
from posenc_course.grading.release import ReleaseError, release
from tests.conftest import load_build

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "capstone"
"""It has answers of both kinds: programs, and texts that a person grades."""


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("course")
    (root / "solutions").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", root)
    shutil.copy(ROOT / "solutions" / f"{CHAPTER}.md", root / "solutions")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        release(root)
    return root


@pytest.fixture
def course(released, tmp_path, monkeypatch) -> Path:
    shutil.copytree(released, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(course: Path, change) -> str:
    """What the learner's notebook holds after a change."""
    path = course / "exercises" / CHAPTER / f"{CHAPTER}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    change(notebook.cells)
    nbformat.write(notebook, path)
    return path.read_text()


def answer(cells) -> None:
    cell = next(each for each in cells if "raise NotImplementedError" in each.source)
    cell.source = cell.source.replace("raise NotImplementedError", "return 1")


def begin_an_answer(cells) -> None:
    cell = next(each for each in cells if "raise NotImplementedError" in each.source)
    cell.source = cell.source.replace("raise NotImplementedError", "x = 1\n    raise NotImplementedError")


def answer_one_question(cells) -> None:
    cell = next(each for each in cells if each.source.count("YOUR ANSWER HERE") > 1)
    cell.source = cell.source.replace("YOUR ANSWER HERE", "Which base?", 1)


def run_one(cells) -> None:
    next(each for each in cells if each.cell_type == "code").execution_count = 1


def add_one(cells) -> None:
    cells.append(nbformat.v4.new_markdown_cell("what I found"))


CHANGES = (answer, begin_an_answer, answer_one_question, run_one, add_one)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=[each.__name__ for each in CHANGES])
def test_a_notebook_that_was_worked_in_is_kept_and_said_where(course, capsys, change):
    fresh = (course / "exercises" / CHAPTER / f"{CHAPTER}.ipynb").read_text()
    mine = written(course, change)
    release(course)
    kept = course / "exercises" / KEPT / CHAPTER / f"{CHAPTER}.ipynb"
    assert kept.read_text() == mine
    assert str(kept) in capsys.readouterr().err
    assert (course / "exercises" / CHAPTER / f"{CHAPTER}.ipynb").read_text() == fresh


@pytest.mark.slow
def test_what_lies_beside_it_is_kept_and_a_second_one_does_not_replace_the_first(course):
    folder, kept = course / "exercises" / CHAPTER, course / "exercises" / KEPT / CHAPTER
    for text in ("first", "second"):
        (folder / f"{CHAPTER}-Copy1.ipynb").write_text(text)
        (folder / f"{CHAPTER}.ipynb").write_text(text)  # no notebook at all
        release(course)
    assert {path.name: path.read_text() for path in kept.iterdir()} == {
        f"{CHAPTER}-Copy1.ipynb": "first",
        f"{CHAPTER}-Copy1-2.ipynb": "second",
        f"{CHAPTER}.ipynb": "first",
        f"{CHAPTER}-2.ipynb": "second",
    }
    assert [path.name for path in folder.iterdir()] == [f"{CHAPTER}.ipynb"]


@pytest.mark.slow
def test_what_nobody_touched_leaves_nothing(course, capsys):
    checkpoints = course / "exercises" / CHAPTER / ".ipynb_checkpoints"
    checkpoints.mkdir()
    (checkpoints / f"{CHAPTER}-checkpoint.ipynb").touch()
    written(course, lambda _cells: None)  # opened and saved
    release(course)
    assert [path.name for path in (course / "exercises").iterdir()] == [CHAPTER]
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_release_that_fails_leaves_the_folder_as_it_was(course, monkeypatch):
    mine = written(course, answer)
    refuses = {"success": False, "log": "Cannot add or remove cells"}
    monkeypatch.setattr(NbGraderAPI, "generate_assignment", lambda *_, **__: refuses)
    with pytest.raises(ReleaseError, match="Cannot add or remove cells"):
        release(course)
    assert (course / "exercises" / CHAPTER / f"{CHAPTER}.ipynb").read_text() == mine


@pytest.mark.slow
def test_what_a_killed_run_had_set_aside_is_kept_by_the_next(course):
    mine = written(course, answer)
    folder = course / "exercises" / CHAPTER
    folder.rename(folder.with_name(f".{CHAPTER}.before"))
    release(course)
    assert (course / "exercises" / KEPT / CHAPTER / f"{CHAPTER}.ipynb").read_text() == mine
    assert sorted(path.name for path in (course / "exercises").iterdir()) == [CHAPTER, KEPT]


def test_nothing_is_built_of_what_was_kept():
    assert KEPT in load_build().NOT_INPUTS
    assert f"/exercises/{KEPT}/" in (ROOT / ".gitignore").read_text().splitlines()
