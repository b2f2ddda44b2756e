"""The journal: what is in it stays, whatever happens to the process."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from posenc_course.grading.handed_in.submission import Cell
from posenc_course.grading.recorded.journal import Entry, Journal
from posenc_course.grading.verdicts import ExerciseGrade, SubmissionGrade, Verdict

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "02-the-formula"


def entry(student: str = "ada", points: float = 2.0) -> Entry:
    exercise = ExerciseGrade(
        f"{CHAPTER}.frequencies", Verdict.PARTLY, points, 3.0, "Not yet.", "<p>Not yet.</p>"
    )
    grade = SubmissionGrade(
        student,
        CHAPTER,
        Verdict.PARTLY,
        seed=7,
        digest="d1",
        exercises=(exercise,),
        outputs={0: [{"output_type": "stream", "name": "stdout", "text": "1 ≤ 2\n"}]},
        notes=("A cell is missing.",),
    )
    cells = (
        Cell(0, "print('1 ≤ 2')", "frequencies", "code"),
        Cell(1, "text", None, "markdown", {"a.png": {"image/png": "AAAA"}}),
    )
    return Entry(grade, cells, "d1")


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path) as journal:
        yield journal


def test_an_entry_comes_back_as_it_was(journal):
    journal.add(entry())
    assert journal.entry(CHAPTER, "ada") == entry()
    assert journal.entry(CHAPTER, "bob") is None
    assert journal.entry("01-other", "ada") is None


def test_grades_come_in_order_and_without_outputs(journal):
    for student in ("bob", "ada", "阿达"):
        journal.add(entry(student))
    grades = list(journal.grades(CHAPTER))
    assert [each.student for each in grades] == ["ada", "bob", "阿达"]
    assert grades[0] == replace(entry().grade, outputs={})


def test_a_new_grade_takes_the_place_of_the_old_and_is_unfinished_again(journal):
    journal.add(entry())
    journal.mark_in_gradebook(CHAPTER, ["ada"])
    journal.mark_written_up(CHAPTER, "ada", feedback=True)
    assert journal.unfinished(CHAPTER, feedback=True) == []
    journal.add(entry(points=3.0))
    assert journal.unfinished(CHAPTER, feedback=True) == ["ada"]
    [grade] = journal.grades(CHAPTER)
    assert grade.points == 3.0


def test_a_grade_is_finished_once_it_is_recorded_and_written_up(journal):
    journal.add(entry())
    journal.mark_written_up(CHAPTER, "ada", feedback=True)
    assert journal.unfinished(CHAPTER, feedback=True) == ["ada"]
    journal.mark_in_gradebook(CHAPTER, ["ada"])
    assert journal.unfinished(CHAPTER, feedback=True) == []


def test_feedback_that_was_left_out_is_still_to_be_written(journal):
    journal.add(entry())
    journal.mark_in_gradebook(CHAPTER, ["ada"])
    journal.mark_written_up(CHAPTER, "ada", feedback=False)
    assert journal.unfinished(CHAPTER, feedback=False) == []
    assert journal.unfinished(CHAPTER, feedback=True) == ["ada"]


def test_what_was_added_survives_kill_9(tmp_path):
    program = (
        "import sys, os, signal\n"
        "from dataclasses import replace\n"
        "from pathlib import Path\n"
        "from tests.grading.test_journal import entry, Journal\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for number in range(5): journal.add(entry(f's{number}'))\n"
        "journal._db.execute('BEGIN')\n"
        "journal.add(entry('half'))\n"  # in a transaction that does not end
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, timeout=120)
    assert done.returncode == -signal.SIGKILL
    with Journal(tmp_path) as journal:
        assert sorted(journal.fingerprints(CHAPTER)) == [f"s{number}" for number in range(5)]
        assert journal.entry(CHAPTER, "s4") == entry("s4")


def test_a_grade_is_on_the_disk_when_add_returns(journal, tmp_path):
    """Only FULL waits for the disk in WAL mode."""
    assert journal._db.execute("PRAGMA synchronous").fetchone() == (2,)
    journal.add(entry())
    with Journal(tmp_path) as other:
        assert other.entry(CHAPTER, "ada") == entry()
