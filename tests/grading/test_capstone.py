"""The capstone in class: steps of credit behind real walls, texts that wait for a person, and their marks."""

from __future__ import annotations

import csv

import nbformat
import pytest

from tests.grading.class_fixtures import ROOT, Class, release_to

pytestmark = pytest.mark.slow

CAPSTONE = "capstone"
PLAN, REPORT = 5, 10

TEXT = (ROOT / "solutions" / f"{CAPSTONE}.md").read_text()
TOGETHER = TEXT[TEXT.index("def encoding(positions):") :].partition("```")[0]
"""The third function, as it is given."""
ALIBI = f"""
def each_token(positions):
    return None  # a door that stays shut

def each_pair(queries, keys):
    return -np.array([1 / 16, 1 / 256])[:, None, None] * (queries[:, None] - keys)

{TOGETHER}"""
PEEKS = """
from posenc_course.exercises import boxes

def encoding(positions):
    texts = boxes.draw(0, 64, len(positions))
    return {"biased": texts}
"""
OTHER_EACH_TIME = """
def encoding(positions):
    n = len(positions)
    return {"biased": np.random.default_rng().normal(size=(2, n, n))}
"""
NOT_FINITE = """
def encoding(positions):
    return {"added": np.full((len(positions), 32), np.inf)}
"""


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    return release_to(tmp_path_factory.mktemp("course"), [CAPSTONE])


def written(work: Class) -> nbformat.NotebookNode:
    """Plan and report alone."""
    notebook = work.blank()
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") in ("plan", "report"):
            cell.source = "What I did, and what I saw."
    return notebook


def with_a_blank_copy_of_the_report(work: Class) -> nbformat.NotebookNode:
    """Right below the one that is written."""
    notebook, blank = written(work), work.blank()
    is_report = [cell.metadata.get("nbgrader", {}).get("grade_id") == "report" for cell in notebook.cells]
    at = is_report.index(True)
    copy = blank.cells[at]
    copy.id = "one-more"
    notebook.cells.insert(at + 1, copy)
    return notebook


@pytest.fixture(scope="module")
def graded(released) -> Class:
    work = Class(released, CAPSTONE)
    blank = {"plan": "", "report": ""}
    untouched = work.blank()
    for cell in untouched.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "encoding":
            cell.source = ALIBI
    work.hand_in("ada")
    work.hand_in("alibi", untouched)
    work.hand_in("doubled", with_a_blank_copy_of_the_report(work))
    lost = written(work)
    for cell in lost.cells:
        cell.metadata.pop("nbgrader", None)
    work.hand_in("lost", lost)
    for name, answer in (("peeks", PEEKS), ("other", OTHER_EACH_TIME), ("infinite", NOT_FINITE)):
        work.hand_in(name, work.solved(encoding=answer, **blank))
    work.posenc("grade", CAPSTONE)
    return work


def rows(work: Class) -> dict[str, dict[str, str]]:
    work.posenc("report", CAPSTONE, "--marks", "marks.csv", "--force")
    with (work.root / "marks.csv").open(encoding="utf-8-sig") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_an_encoding_is_worth_what_its_models_do_and_a_hostile_one_nothing(graded):
    marks = {student: float(row["encoding"]) for student, row in rows(graded).items()}
    assert marks == {"ada": 10, "alibi": 6, "peeks": 0, "other": 0, "infinite": 0, "doubled": 0, "lost": 0}
    assert "Part of it is right: 6 of 10 points." in graded.feedback("alibi")
    assert "This is ALiBi with its own slopes" in graded.feedback("alibi")
    assert "calls the library" in graded.feedback("peeks")
    assert "it gave different numbers" in graded.feedback("other")
    assert "not finite" in graded.feedback("infinite")


def test_what_a_person_grades_waits_for_one_and_what_nobody_wrote_does_not(graded):
    waits = {student: row["needs_manual_grade"] for student, row in rows(graded).items()}
    assert waits["ada"] == "yes"
    assert waits["alibi"] == "no"  # untouched, as released: nothing by itself
    assert "need a manual grade" in graded.posenc("report", CAPSTONE)


def test_a_text_waits_for_a_person_and_has_its_box_whatever_became_of_its_cell(graded):
    with graded.gradebook() as gradebook:
        report = gradebook.find_grade("report", CAPSTONE, CAPSTONE, "doubled")
        assert report.needs_manual_grade
    for student in ("doubled", "lost"):
        cells = graded.autograded(student).cells
        boxes = {cell.metadata.nbgrader.grade_id for cell in cells if "nbgrader" in cell.metadata}
        assert {"plan", "report"} <= boxes
    assert "If its text is in another cell, it counts here" in graded.feedback("lost")


def test_points_given_by_hand_count_and_stay_when_it_is_graded_again(graded):
    with graded.gradebook() as gradebook:
        for name, points in (("plan", 4.0), ("report", 7.0)):
            grade = gradebook.find_grade(name, CAPSTONE, CAPSTONE, "ada")
            assert grade.needs_manual_grade
            assert grade.max_score == {"plan": PLAN, "report": REPORT}[name]
            grade.manual_score, grade.needs_manual_grade = points, False  # as Formgrader does
            comment = gradebook.find_comment(name, CAPSTONE, CAPSTONE, "ada")
            comment.manual_comment = "R6 is where it comes apart."
        gradebook.db.commit()
    assert rows(graded)["ada"]["needs_manual_grade"] == "no"
    graded.nbgrader("generate_feedback", CAPSTONE, "--student", "ada", "--force")
    assert "R6 is where it comes apart." in graded.feedback("ada")
    assert graded.marks()["ada"] == 10 + 4 + 7
    graded.posenc("grade", CAPSTONE, "--student", "ada", "--again")
    again = rows(graded)["ada"]
    assert (float(again["plan"]), float(again["report"]), float(again["points"])) == (4, 7, 21)


def test_nbgrader_itself_gives_the_same_marks(graded):
    before = {name: found for name, found in graded.records().items() if name == "alibi"}
    graded.nbgrader("autograde", CAPSTONE, "--student", "alibi", "--force")
    assert {name: found for name, found in graded.records().items() if name == "alibi"} == before
