"""Files that learners hand in: what is repaired, what is refused, and that nothing else happens."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posenc_course.exercises import exercises_of
from posenc_course.grading.handed_in.submission import MAX_FILE_BYTES, Unreadable, parse, read_file

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "02-the-formula"
RELEASED = (ROOT / "exercises" / CHAPTER / f"{CHAPTER}.ipynb").read_text()


@pytest.fixture
def path(tmp_path) -> Path:
    """Where a student's notebook is expected; its folder exists."""
    folder = tmp_path / "submitted" / "student" / CHAPTER
    folder.mkdir(parents=True)
    return folder / f"{CHAPTER}.ipynb"


def notebook() -> nbformat.NotebookNode:
    return nbformat.reads(RELEASED, as_version=4)


def cell(of: nbformat.NotebookNode, grade_id: str) -> nbformat.NotebookNode:
    return next(c for c in of.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def read(path: Path, written: nbformat.NotebookNode | str | None = None):
    if written is not None:
        path.write_text(written if isinstance(written, str) else nbformat.writes(written))
    return parse(read_file(path), CHAPTER)


def test_a_notebook_as_released_is_read_without_a_note(path):
    submission = read(path, RELEASED)
    expected = notebook().cells
    assert [c.source for c in submission.cells] == [c.source for c in expected]
    assert [c.place for c in submission.cells] == list(range(len(expected)))
    assert submission.notes == ()
    assert submission.digest == read_file(path).fingerprint


def other_kernel() -> str:
    changed = notebook()
    changed.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}
    return nbformat.writes(changed)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "empty"),
        ("not a notebook", "does not contain JSON"),
        ('{"cells": [', "does not contain JSON"),
        ('{"a": 1}', "JSON, but not a notebook"),
        ("[1, 2]", "JSON, but not a notebook"),
        ("3", "JSON, but not a notebook"),
        ("[" * 200_000, "JSON, but not a notebook"),
        ('{"cells": {"a": 1}, "nbformat": 4}', "JSON, but not a notebook"),
        ('{"cells": [], "nbformat": 3}', "old or unknown format"),
        ('{"worksheets": [], "nbformat": 3}', "old or unknown format"),
        ('{"cells": ["x"], "nbformat": 4}', "Cell number 1"),
        ('{"cells": [{"source": [1]}], "nbformat": 4}', "Cell number 1"),
        (json.dumps({"cells": [{"source": ""}] * 5_001, "nbformat": 4}), "5001 cells"),
        (other_kernel(), "another language (R)"),
    ],
)
def test_a_file_that_cannot_be_graded_is_refused_with_the_reason(path, content, told):
    with pytest.raises(Unreadable) as caught:
        read(path, content)
    assert told in caught.value.reason


def test_a_file_that_is_too_big_is_refused_before_it_is_read(path):
    with path.open("wb") as file:
        file.truncate(100 * MAX_FILE_BYTES)  # 3 GB of nothing: to read it would take long
    with pytest.raises(Unreadable, match="3200 MB; at most 32 MB are allowed"):
        read(path)
    assert read_file(path).fingerprint


def test_what_is_no_file_is_refused(path):
    with pytest.raises(Unreadable, match="is missing"):
        read(path)
    os.mkfifo(path)
    with pytest.raises(Unreadable, match="it is not a file"):
        read(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(Unreadable, match="it is not a file"):
        read(path)


def test_a_wrong_name_is_told(path):
    (path.parent / "homework.ipynb").write_text(RELEASED)
    with pytest.raises(Unreadable, match=f"called homework.ipynb; it must be called {CHAPTER}.ipynb"):
        read(path)


@pytest.mark.parametrize("linked", ["file", "assignment", "student"])
def test_no_link_is_followed(path, tmp_path, linked):
    elsewhere = tmp_path / "elsewhere" / CHAPTER
    elsewhere.mkdir(parents=True)
    (elsewhere / f"{CHAPTER}.ipynb").write_text(RELEASED)
    if linked == "file":
        path.symlink_to(elsewhere / f"{CHAPTER}.ipynb")
    else:
        path.parent.rmdir()
        if linked == "assignment":
            path.parent.symlink_to(elsewhere)
        else:
            path.parent.parent.rmdir()
            path.parent.parent.symlink_to(elsewhere.parent)
    assert path.read_text() == RELEASED  # the link works
    with pytest.raises(Unreadable, match="a link to another place"):
        read(path)


def test_cells_that_went_astray_cost_a_note_and_nothing_else(path):
    changed = notebook()
    changed.cells.remove(cell(changed, "check-encode"))
    cell(changed, "check-sinusoidal").source = "pass"
    changed.cells.append(nbformat.from_dict(cell(changed, "frequencies")))
    del cell(changed, "to_split").metadata["nbgrader"]
    changed.cells.insert(0, nbformat.v4.new_code_cell("mine = 1"))
    submission = read(path, changed)
    assert [c.source for c in submission.cells] == [c.source for c in changed.cells]
    assert submission.notes == (
        "Answer cells that are missing: to_split. Each answer was looked for in all other cells.",
        "Cells that occur several times: frequencies (2). All of them were run.",
        "Checks that were changed: check-sinusoidal. The answers were judged as if they were not.",
        "Checks that are missing: check-encode. The answers were judged anyway.",
    )


def test_a_notebook_that_lost_its_metadata_gets_one_note_a_cause_and_no_name_is_lost(path):
    """As after Colab: every cell is there, and nbgrader's names are not."""
    changed = notebook()
    for each in changed.cells:
        each.metadata.pop("nbgrader", None)
    answers, checks = read(path, changed).notes
    for each in exercises_of(CHAPTER):
        assert re.search(rf"[:,] {each.function}[,.]", answers)
        assert re.search(rf"[:,] check-{each.function}[,.]", checks)


def test_an_answer_that_became_text_is_run_as_code(path):
    changed = notebook()
    answer = cell(changed, "encode")
    changed.cells[changed.cells.index(answer)] = nbformat.v4.new_markdown_cell(
        answer.source, metadata=answer.metadata
    )
    submission = read(path, changed)
    assert next(c for c in submission.cells if c.grade_id == "encode").kind == "code"
    assert submission.notes == (
        "Answer cells that were no longer code cells: encode. They were run as code.",
    )


def test_a_source_in_lines_and_halves_of_characters_are_read(path):
    lines = {"cell_type": "code", "source": ["a = 1\n", "b = '\ud800'"], "metadata": {}}
    path.write_text(json.dumps({"cells": [lines], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))
    [only] = read(path).cells
    assert only.source == "a = 1\nb = '?'"


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["cells", "nbformat", "metadata", "source", "cell_type", "nbgrader", "grade_id"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(content=st.binary(max_size=200) | plain.map(lambda each: json.dumps(each).encode()))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_file_is_either_read_or_refused(path, content):
    path.write_bytes(content)
    with suppress(Unreadable):
        assert parse(read_file(path), CHAPTER).digest == read_file(path).fingerprint
