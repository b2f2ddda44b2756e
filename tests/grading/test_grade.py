"""A class, graded by the real command: marks, feedback, and that nothing is lost whatever happens."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime
from html import escape
from pathlib import Path

import nbformat
import pytest
from traitlets.config import Config

import posenc_course
from posenc_course.exercises import all_exercises
from posenc_course.grading import cli, run
from posenc_course.grading.course import Course, write_atomically
from posenc_course.grading.processes.helper import Died
from posenc_course.grading.processes.workers import Task, Workers
from tests.grading.class_fixtures import (
    CHAPTER,
    LIGHT,
    LIGHT_TOTAL,
    NO_DIVISION,
    POINTS,
    TOTAL,
    Class,
    new_class,
)

pytestmark = pytest.mark.slow

LATE = """
c.LateSubmissionPlugin.penalty_method = "zero"
"""


def other_kernel(work: Class) -> nbformat.NotebookNode:
    notebook = work.solved()
    notebook.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}
    return notebook


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory) -> Class:
    """A class with all sorts of submissions, graded once."""
    work = new_class(released, tmp_path_factory.mktemp("class"))
    work.hand_in("right")
    work.hand_in("known", work.solved(frequencies=NO_DIVISION))
    work.hand_in("blank", work.blank())
    work.hand_in("阿达 O'Neil <b>")
    work.hand_in("garbage", "no notebook")
    work.hand_in("r", other_kernel(work))
    work.hand_in("empty", "")
    with work.hand_in("huge", "x").open("wb") as file:
        file.truncate(500 * 2**20)
    work.hand_in("misnamed").rename(work.submitted("misnamed").with_name("homework.ipynb"))
    work.submitted("link").parent.mkdir(parents=True)
    work.submitted("link").symlink_to(work.submitted("right"))
    (work.submitted("right").parent / "notes.txt").write_text("mine")
    (work.submitted("right").parent / "stolen.txt").symlink_to("/etc/hostname")
    work.printed = work.as_typed("grade", CHAPTER, "--jobs", "2")
    return work


@pytest.mark.parametrize(
    ("student", "expected"),
    [
        ("right", TOTAL),
        ("known", TOTAL - POINTS["frequencies"]),
        ("blank", 0.0),
        ("阿达 O'Neil <b>", TOTAL),
        *[(bad, 0.0) for bad in ("garbage", "r", "empty", "huge", "misnamed", "link")],
    ],
)
def test_each_submission_gets_its_mark(graded, student, expected):
    assert graded.marks()[student] == expected


@pytest.mark.parametrize(
    ("student", "told"),
    [
        ("known", "Divide the exponent by dim"),
        ("garbage", "does not contain JSON"),
        ("r", "another language (R)"),
        ("empty", "The file is empty"),
        ("huge", "The file has 500 MB; at most 32 MB are allowed"),
        ("misnamed", "called homework.ipynb; it must be called"),
        ("link", "a link to another place"),
    ],
)
def test_the_feedback_says_what_was_wrong(graded, student, told):
    assert told in graded.feedback(student)
    assert told not in graded.feedback("right")


def test_the_feedbacks_list_of_contents_names_the_exercises(graded):
    assert_contents_name_the_exercises(graded.feedback("known"))


def assert_contents_name_the_exercises(page: str) -> None:
    assert "Test cell" not in page
    for each in all_exercises():
        if each.chapter == CHAPTER:
            assert f'<a href="#check-{each.function}">{escape(each.title)}</a> (Score:' in page


def test_the_summary_counts_verdicts_and_says_why(graded):
    for line in (
        "10 graded now",
        "right              2",
        "partly             1",
        "unwritten          1",
        "malformed          6",
    ):
        assert line in graded.printed
    assert "garbage: The file is not a notebook" in graded.printed
    assert "Could not be graded" not in graded.printed


def test_the_gradebook_is_complete(graded):
    with graded.gradebook() as gradebook:
        for student in ("right", "garbage"):
            submission = gradebook.find_submission(CHAPTER, student)
            assert submission.max_score == TOTAL
            assert not submission.needs_manual_grade
        comments = {c.name: c.comment for n in submission.notebooks for c in n.comments}
        blank = gradebook.find_submission(CHAPTER, "blank")
        assert {c.comment for n in blank.notebooks for c in n.comments} == {"No response."}
    assert set(comments) == set(POINTS)


def test_other_files_come_along_but_no_link_is_followed(graded):
    folder = graded.root / "course" / "autograded" / "right" / CHAPTER
    assert sorted(each.name for each in folder.iterdir()) == [f"{CHAPTER}.ipynb", "notes.txt"]


def test_nbgrader_can_go_on_from_there(graded):
    """Its own feedback and export read what was written."""
    ours = graded.feedback("known")
    graded.nbgrader("generate_feedback", CHAPTER, "--student", "known", "--force")
    assert graded.feedback("known").count("Divide the exponent by dim") == ours.count(
        "Divide the exponent by dim"
    )
    assert_contents_name_the_exercises(graded.feedback("known"))
    graded.nbgrader("export", "--to", "course/marks.csv")
    assert "garbage" in (graded.root / "course" / "marks.csv").read_text()


def journal_rows(work: Class) -> dict[str, tuple[str, int]]:
    """From student to when it was graded (to the row: a second grading makes a new one) and to its seed."""
    path = work.root / "course" / "grading" / "journal.db"
    if not path.exists():
        return {}
    with contextlib.closing(sqlite3.connect(path)) as db, contextlib.suppress(sqlite3.OperationalError):
        return {
            student: (rowid, seed)
            for student, rowid, seed in db.execute(
                "SELECT student, rowid, json_extract(grade, '$.seed') FROM entries"
            )
        }
    return {}


@pytest.fixture
def small(released, tmp_path) -> Class:
    work = new_class(released, tmp_path)
    for student in ("ada", "bob", "cem"):
        work.hand_in(student)
    return work


def test_only_what_changed_is_graded_again(small):
    small.posenc("grade", CHAPTER)
    before, records = journal_rows(small), small.records()
    assert "0 graded now, 3 graded before" in small.posenc("grade", CHAPTER)
    assert journal_rows(small) == before
    small.hand_in("bob", small.solved(frequencies=NO_DIVISION))
    assert "1 graded now, 2 graded before" in small.posenc("grade", CHAPTER)
    after = journal_rows(small)
    assert {s for s in after if after[s] != before[s]} == {"bob"}
    assert after["bob"][1] == before["bob"][1]  # the seed stays
    assert small.marks() == {"ada": TOTAL, "bob": TOTAL - POINTS["frequencies"], "cem": TOTAL}
    assert small.records()["ada"] == records["ada"]
    assert "1 graded now" in small.posenc("grade", CHAPTER, "--student", "cem", "--again")


def test_what_a_person_gave_survives_and_late_work_is_penalised(small):
    """Manual marks, extra credit and comments stay; the course's own plugin decides about late work."""
    with (small.root / "nbgrader_config.py").open("a") as file:
        file.write(LATE)
    small.posenc("grade", CHAPTER)
    with small.gradebook() as gradebook:
        grade = gradebook.find_grade("check-frequencies", CHAPTER, CHAPTER, "ada")
        grade.manual_score, grade.extra_credit = 0.5, 0.25
        gradebook.find_comment("frequencies", CHAPTER, CHAPTER, "ada").manual_comment = "See me."
        gradebook.find_assignment(CHAPTER).duedate = datetime(2026, 1, 1)
        gradebook.db.commit()
    (small.submitted("cem").parent / "timestamp.txt").write_text("2026-01-02 10:00:00 UTC")
    (small.submitted("bob").parent / "timestamp.txt").write_text("yesterday, honestly")
    printed = small.posenc("grade", CHAPTER, "--again")
    assert "bob: timestamp.txt does not contain a date and time" in printed
    marks = small.marks()
    assert marks["ada"] == TOTAL - POINTS["frequencies"] + 0.75
    assert marks["bob"] == TOTAL
    with small.gradebook() as gradebook:
        late = gradebook.find_submission(CHAPTER, "cem")
        assert late.timestamp == datetime(2026, 1, 2, 10)
        assert late.late_submission_penalty == TOTAL
        grade = gradebook.find_grade("check-frequencies", CHAPTER, CHAPTER, "ada")
        assert grade.needs_manual_grade
        assert grade.auto_score == POINTS["frequencies"]
    assert "See me." in small.feedback("ada")
    assert f"Late submission penalty (Score: -{TOTAL}" in small.feedback("cem")


def test_a_run_that_is_killed_goes_on(released_light, tmp_path):
    work = new_class(released_light, tmp_path, LIGHT)
    everyone = [f"s{number:02}" for number in range(12)]
    for student in everyone:
        work.hand_in(student)
    run = subprocess.Popen(
        work.command("grade", LIGHT, "--jobs", "2"), cwd=work.root, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: len(journal_rows(work)) >= 2 or run.poll() is not None)
    finally:
        run.kill()
        run.wait()
    killed_at = journal_rows(work)
    assert 2 <= len(killed_at) < len(everyone), "the run was not killed half way"
    assert work.marks() == {} or set(work.marks().values()) == {LIGHT_TOTAL}
    work.posenc("grade", LIGHT)
    after = journal_rows(work)
    assert {student: after[student] for student in killed_at} == killed_at  # graded once
    assert work.marks() == dict.fromkeys(everyone, LIGHT_TOTAL)
    for student in everyone:
        assert work.feedback(student)
        assert work.autograded(student)
    assert not list((work.root / "course").rglob(".part-*"))


def test_workers_do_not_outlive_a_run_that_is_killed(released_light, tmp_path):
    work = new_class(released_light, tmp_path, LIGHT)
    for student in ("ada", "bob", "cem"):
        work.hand_in(student)
    run = subprocess.Popen(
        work.command("grade", LIGHT, "--jobs", "1"), cwd=work.root, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: journal_rows(work) or run.poll() is not None)
        family = descendants(run.pid)
        assert len(family) >= 2
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family))


def test_a_second_run_is_refused_and_told_who_is_at_it(small):
    (small.root / "course" / "grading").mkdir()
    with (small.root / "course" / "grading" / "lock").open("w") as lock:
        lock.write("process 4711 on elsewhere, since this morning")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        printed = small.posenc("grade", CHAPTER, status=1)
        assert "another grading run is using this course: process 4711 on elsewhere" in printed
        assert small.marks() == {}
    assert "3 graded now" in small.posenc("grade", CHAPTER)  # whoever held it is gone


def test_a_wrong_call_says_what_to_do(small, tmp_path_factory):
    assert "the assignments are 01-why-order-matters" in small.posenc("grade", "99-nothing", status=1)
    assert "nothing was handed in" in small.posenc("grade", CHAPTER, "--student", "eve", status=1)
    assert "release it first" in small.posenc("grade", "01-why-order-matters", status=1)
    for name in ("..", "../../etc", "02 the formula"):
        assert f"no exercises in the assignment {name!r}" in small.posenc("grade", name, status=1)
    for wrong in ("0", "x", "1e9"):
        printed = small.posenc("grade", CHAPTER, "--jobs", wrong, status=2)
        assert f"{wrong} was given; give a whole number, 1 or more" in printed
    printed = small.posenc("grade", CHAPTER, "--time-limit", "x", status=2)
    assert "x was given; give a number of seconds above 0" in printed
    assert small.posenc("--version") == f"posenc {posenc_course.__version__}\n"
    small.root = tmp_path_factory.mktemp("no-course")
    assert "there is no nbgrader_config.py" in small.posenc("grade", CHAPTER, status=1)


def test_a_lost_timestamp_is_told_before_lost_metadata(released_light, tmp_path):
    """One notebook came back from Colab without nbgrader's names: two remarks, and told second."""
    work = new_class(released_light, tmp_path, LIGHT)
    bare = work.solved()
    for cell in bare.cells:
        cell.metadata.pop("nbgrader", None)
    work.hand_in("ada", bare)
    work.hand_in("ivy").with_name("timestamp.txt").write_text("yesterday evening")
    lines = work.posenc("grade", LIGHT).splitlines()
    first, *others = [each.strip() for each in lines[lines.index("Remarks:") + 1 :]]
    assert first.startswith("ivy: timestamp.txt does not contain a date and time")
    told = [each for each in others if each.startswith("ada: ")]
    assert [each.partition(": ")[2].partition(":")[0] for each in told] == [
        "Answer cells that are missing",
        "Checks that are missing",
    ]


def test_remarks_come_gravest_first_and_what_is_cut_off_stands_in_a_file(tmp_path):
    """Harmless notes of one learner, or of all, push nobody's late penalty out of sight."""
    everyone = [f"learner-{number}" for number in range(60)]
    summary = run.Summary(remarks=[run.Remark(each, "Checks that are missing: all.", 2) for each in everyone])
    summary.remarks += [run.Remark("ivy", f"note {number}", 1) for number in range(30)]
    summary.remarks.append(run.Remark("zoe", "timestamp.txt is empty; it was ignored.", 0))
    lines = cli.table(CHAPTER, summary).splitlines()
    shown = lines[lines.index("Remarks:") + 1 :]
    assert shown[0] == "  zoe: timestamp.txt is empty; it was ignored."
    assert shown[-1] == f"  ... and {32 - cli.SHOWN} more"
    said = cli.keep_whole(tmp_path, CHAPTER, summary)
    path = tmp_path / f"summary-{CHAPTER}.txt"
    assert said == f"The full list is in {path}"
    whole = path.read_text()
    assert all(f"ivy: note {number}\n" in whole for number in range(30))
    assert whole.endswith(f"  {', '.join(everyone)}: Checks that are missing: all.\n")
    assert path.stat().st_mode & 0o777 == 0o600
    summary.remarks = summary.remarks[-1:]
    assert cli.keep_whole(tmp_path, CHAPTER, summary) == ""


def test_a_name_that_the_gradebook_cannot_hold_is_told(small):
    small.hand_in("x" * 200)
    small.submitted("\udcff").parent.mkdir(parents=True)  # a byte that is no UTF-8
    printed = small.posenc("grade", CHAPTER, status=1)
    assert "3 graded now" in printed
    assert "nbgrader's gradebook holds 128" in printed
    assert "not valid UTF-8" in printed


@contextlib.contextmanager
def tmpfs(folder: Path, size: str) -> Iterator[None]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)])
    if mounted.returncode != 0:
        pytest.skip("no disk can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_told_before_a_mark_is_lost(released_light, tmp_path):
    root, beside = tmp_path / "course", tmp_path / "submissions"
    root.mkdir()
    with tmpfs(root, "80M"):
        work = new_class(released_light, root, LIGHT)
        everyone = [f"s{number:02}" for number in range(8)]
        for student in everyone:
            work.hand_in(student)
        filler = root / "filler"
        filler.write_bytes(bytes(40 * 2**20))
        assert "is nearly full" in work.posenc("grade", LIGHT, status=1)  # at the start
        filler.unlink()

        run = subprocess.Popen(
            work.command("grade", LIGHT, "--jobs", "1"),
            cwd=root,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            wait_until(lambda: journal_rows(work) or run.poll() is not None)
            with contextlib.suppress(OSError), filler.open("wb") as file:
                while True:
                    file.write(bytes(2**16))
            _printed, errors = run.communicate(timeout=300)
        finally:
            run.kill()
        assert run.returncode == 1, errors
        assert "full" in errors.splitlines()[-1]
        before = journal_rows(work)
        assert before

        filler.unlink()
        work.posenc("grade", LIGHT)
        assert work.marks() == dict.fromkeys(everyone, LIGHT_TOTAL)
        after = journal_rows(work)
        assert {student: after[student] for student in before} == before
    shutil.rmtree(beside, ignore_errors=True)


def test_a_file_is_written_wholly_or_not_at_all(tmp_path):
    path = tmp_path / "page.html"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_a_worker_that_dies_costs_nobody_else_anything():
    tasks = [Task(f"s{number}", square, lambda number=number: (number,)) for number in range(20)]
    tasks.insert(7, Task("killer", die, lambda: ()))
    with Workers(2) as workers:
        results = {task.student: future for task, future in workers.run(tasks)}
    assert {student: future.result() for student, future in results.items() if student != "killer"} == {
        f"s{number}": number**2 for number in range(20)
    }
    assert isinstance(results["killer"].exception(), Died)


def test_who_dies_by_bad_luck_is_tried_once_more_alone(tmp_path):
    tasks = [Task(f"s{number}", square, lambda number=number: (number,)) for number in range(6)]
    tasks.insert(2, Task("unlucky", dies_once, lambda: (tmp_path,)))
    with Workers(2) as workers:
        results = {task.student: future.result() for task, future in workers.run(tasks)}
        beside = Path(f"/proc/{results['unlucky']}")
        assert beside.exists()  # it goes on
        os.kill(results["unlucky"], signal.SIGKILL)  # while it has nothing to do
        wait_until(lambda: not beside.exists() or "zombie" in (beside / "status").read_text())
        assert {future.result() for _task, future in workers.run(tasks[:2])} == {0, 1}
    assert len(results) == 7


def dies_once(folder: Path) -> int:
    """Ends its process the first time; the second time, gives it."""
    seen = folder / "seen"
    if not seen.exists():
        seen.touch()
        die()
    return os.getpid()


def square(number: int) -> int:
    return number**2


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """All processes under this one, as the kernel has it."""
    children = [
        int(child)
        for listing in Path(f"/proc/{pid}/task").glob("*/children")
        for child in listing.read_text().split()
    ]
    return children + [each for child in children for each in descendants(child)]


def wait_until(condition) -> None:
    """Wait for what another process does; give up after long enough."""
    for _attempt in range(3000):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen within five minutes")


def test_without_bubblewrap_the_command_says_one_sentence_and_grades_nobody(released_light, tmp_path):
    work = new_class(released_light, tmp_path, LIGHT)
    work.hand_in("ada")
    done = subprocess.run(
        work.command("grade", LIGHT),
        cwd=work.root,
        env=os.environ | {"PATH": str(tmp_path / "nothing")},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 1
    progress = f"{LIGHT}: "
    [told] = [line for line in done.stderr.splitlines() if line and not line.startswith(progress)]
    assert told.startswith("error: bubblewrap (the command bwrap) was not found")
    assert "apt install bubblewrap" in told
    assert work.marks() == {}


def test_a_folder_that_cannot_be_looked_into_is_not_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    course = Course.from_config(Config(), tmp_path)
    course.submitted.mkdir(parents=True)
    (course.submitted / "bob").symlink_to("bob")  # a loop: to look gives an error, to anybody
    assert course.students("04-extrapolation") == ["bob"]
