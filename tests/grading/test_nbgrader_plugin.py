"""`nbgrader autograde` with the course's settings: the same marks as `posenc grade`, the same walls."""

from __future__ import annotations

import shutil
from typing import Any

import nbformat
import pytest
from nbgrader.utils import determine_grade, is_grade

from posenc_course.grading.handed_back.autograded import autograded_notebook
from posenc_course.grading.handed_in.submission import Cell
from posenc_course.grading.recorded.journal import Entry
from posenc_course.grading.recorded.scores import Release, ReleasedCell, auto_comments, auto_scores
from posenc_course.grading.verdicts import ExerciseGrade, SubmissionGrade, Verdict
from tests.grading.class_fixtures import CHAPTER, NO_DIVISION, POINTS, TOTAL, new_class

INTRUDER = """
def frequencies(dim):
    open({target!r}, "w").write("here I was")
    return 10000.0 ** (-2 * np.arange(dim // 2) / dim)
"""


@pytest.fixture(scope="module")
def both(released, tmp_path_factory):
    """The same submissions, graded in one course by posenc and in another by nbgrader."""
    ours = new_class(released, tmp_path_factory.mktemp("ours"))
    deleted = ours.solved(frequencies=NO_DIVISION)
    deleted.cells = [
        c for c in deleted.cells if c.metadata.get("nbgrader", {}).get("grade_id") != "check-encode"
    ]
    doubled = ours.solved()
    doubled.cells += [nbformat.from_dict(c) for c in doubled.cells]
    ours.hand_in("right")
    ours.hand_in("deleted", deleted)
    ours.hand_in("doubled", doubled)
    ours.hand_in("blank", ours.blank())
    ours.hand_in("garbage", "no notebook")
    ours.hand_in("intruder", ours.solved(frequencies=INTRUDER.format(target=str(ours.root / "intruded"))))
    (ours.submitted("right").parent / "stolen.txt").symlink_to("/etc/hostname")
    (ours.root / "course" / "grading").mkdir()
    (ours.root / "course" / "grading" / "secret").write_text("00" * 32)  # the same hidden inputs for both
    theirs = new_class(released, tmp_path_factory.mktemp("theirs"))
    shutil.copytree(ours.root / "course", theirs.root / "course", symlinks=True, dirs_exist_ok=True)
    ours.posenc("grade", CHAPTER)
    theirs.nbgrader("autograde", CHAPTER)
    return ours, theirs


@pytest.mark.slow
def test_both_ways_give_the_same_gradebook(both):
    ours, theirs = both
    assert ours.marks()["right"] == TOTAL
    assert ours.marks()["deleted"] == TOTAL - POINTS["frequencies"]
    assert ours.marks()["garbage"] == 0
    assert ours.records() == theirs.records()


@pytest.mark.slow
def test_both_ways_give_the_same_notebooks(both):
    ours, theirs = both
    for student in ours.marks():
        assert ours.autograded(student).cells == theirs.autograded(student).cells


@pytest.mark.slow
def test_learners_code_does_not_run_as_the_instructor(both):
    for each in both:
        assert not (each.root / "intruded").exists()
        assert not (both[0].root / "intruded").exists()
        assert each.marks()["intruder"] == TOTAL - POINTS["frequencies"]


@pytest.mark.slow
def test_no_followed_link_is_left_for_the_feedback(both):
    _ours, theirs = both
    folder = theirs.root / "course" / "autograded" / "right" / CHAPTER
    assert [each.name for each in folder.iterdir()] == [f"{CHAPTER}.ipynb"]


def released_cell(name: str, **changes) -> ReleasedCell:
    settings = {
        "kind": "code",
        "graded": False,
        "solution": False,
        "task": False,
        "locked": False,
        "points": None,
        "source": "",
        "checksum": None,
    }
    return ReleasedCell(name, **{**settings, **changes})


def test_nbgrader_reads_the_points_that_were_given():
    """Partial credit too, in the points of the release; nothing for a test that the judge does not know."""
    release = Release(
        CHAPTER,
        {},
        {
            each.name: each
            for each in (
                released_cell("frequencies", solution=True),
                released_cell("check-frequencies", graded=True, locked=True, points=4.0, source="check(1)"),
                released_cell("check-encode", graded=True, locked=True, points=3.0),
                released_cell("check-own", graded=True, locked=True, points=5.0, source="assert True"),
                released_cell("essay", kind="markdown", graded=True, solution=True, points=2.0),
                released_cell("task", kind="markdown", task=True, points=1.0),
            )
        },
    )
    exercises = (
        ExerciseGrade(f"{CHAPTER}.frequencies", Verdict.PARTLY, 0.75, 3.0, "Not yet.", "<p>Not yet.</p>"),
        ExerciseGrade(f"{CHAPTER}.encode", Verdict.RIGHT, 3.0, 3.0, "Passed."),
    )
    outputs: dict[int, list[dict[str, Any]]] = {
        0: [
            {"output_type": "stream", "name": "stderr", "text": "only a warning"},
            {
                "output_type": "display_data",
                "metadata": {},
                "data": {"text/html": "<script>evil()</script>", "text/plain": "x"},
            },
        ],
        1: [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}],
    }
    grade = SubmissionGrade("ada", CHAPTER, Verdict.PARTLY, 1, "d", exercises, outputs, ("A <note>.",))
    cells = (
        Cell(0, "def frequencies(dim): ...", "frequencies", "code"),
        Cell(1, "pass  # changed", "check-frequencies", "code"),
        Cell(2, "assert True", "check-own", "code"),
        Cell(3, "my essay", "essay", "markdown"),
    )
    entry = Entry(grade, cells, "d")
    notebook = autograded_notebook(release, entry)
    nbformat.validate(notebook)

    read = {c.metadata.nbgrader.grade_id: determine_grade(c)[0] for c in notebook.cells if is_grade(c)}
    scores = auto_scores(release, entry)
    assert scores == {
        "check-frequencies": 1.0,
        "check-encode": 3.0,
        "check-own": 0.0,
        "essay": None,
        "task": None,
    }
    assert read == {name: score for name, score in scores.items() if name != "task"}
    assert auto_comments(release, entry) == {"frequencies": None, "essay": None, "task": None}

    text = nbformat.writes(notebook)
    assert "evil" not in text
    assert "<note>" not in text
    assert notebook.cells[0].source.replace("\\", "").replace("\u2060", "").endswith("- A <note>.")
    assert "check(1)" in text
    assert "# changed" not in text
