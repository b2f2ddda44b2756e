"""The class with its gradebook in PostgreSQL: a real server that these tests start, on one setting."""

from __future__ import annotations

import contextlib
import csv
import functools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from posenc_course.grading.release import release
from tests.grading.class_fixtures import CHAPTER, NO_DIVISION, POINTS, ROOT, TOTAL, Class, new_class
from tests.grading.test_grade import wait_until
from tools.system import postgresql

pytestmark = pytest.mark.slow

PATIENT = ("--time-limit", "600")  # Whatever else the machine does, no submission runs out of time.
# What PostgreSQL cannot keep in a text, where a learner puts it.
NUL = """
def frequencies(dim):
    raise ValueError("before\\0after")
"""


class Server:
    """A PostgreSQL server with a folder of its own, reached through a socket in it. A context manager."""

    def __init__(self) -> None:
        found = postgresql()
        assert found, "no PostgreSQL: run `python -m tools.system`"
        self._programs = Path(found)
        # Short, as the path of a socket must be, and open to whoever runs the server.
        self._folder = Path(tempfile.mkdtemp(prefix="posenc-pg-", dir="/tmp"))

    def __enter__(self) -> Server:
        # initdb refuses root.
        self._user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:
            shutil.chown(self._folder, self._user)
        self._run("initdb", "--pgdata", "data", "--username", "grader", "--auth", "trust", "--no-sync")
        # As the database of a class would be, this one is reached by its socket alone.
        options = f"-c listen_addresses= -c unix_socket_directories={self._folder} -c fsync=off"
        self._run("pg_ctl", "--pgdata", "data", "--log", "log", "--wait", "--options", options, "start")
        return self

    def __exit__(self, *_exception: object) -> None:
        self._run("pg_ctl", "--pgdata", "data", "--mode", "immediate", "stop")
        shutil.rmtree(self._folder)

    def new_database(self, name: str) -> str:
        """The URL of a new, empty database."""
        self._run("createdb", "--host", str(self._folder), "--username", "grader", "--encoding", "UTF8", "-T",
                  "template0", name)  # fmt: skip
        return f"postgresql+psycopg2://grader@/{name}?host={self._folder}"

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments],
            cwd=self._folder,
            user=self._user if os.geteuid() == 0 else None,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr


class PostgreSQLClass(Class):
    url: str

    def gradebook(self) -> Gradebook:
        return Gradebook(self.url, "positional-encoding")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as one:
        yield one


@pytest.fixture(scope="module")
def work(server, tmp_path_factory) -> Iterator[PostgreSQLClass]:
    """A course whose assignment is released into PostgreSQL, with three submissions."""
    work = PostgreSQLClass(tmp_path_factory.mktemp("class"))
    work.url = server.new_database("gradebook")
    (work.root / "solutions").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", work.root)
    shutil.copy(ROOT / "solutions" / f"{CHAPTER}.md", work.root / "solutions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POSENC_DB_URL", work.url)
        with contextlib.chdir(work.root):
            release(work.root)
        hand_in(work)
        yield work


def hand_in(work: Class) -> None:
    work.hand_in("ada")
    work.hand_in("阿达 O'Neil", work.solved(frequencies=NO_DIVISION))
    work.hand_in("nul", work.solved(frequencies=NUL))


def test_the_whole_cycle_in_postgresql(work, released, tmp_path, monkeypatch):
    """Grade, feedback and export give what they give with SQLite."""
    work.posenc("grade", CHAPTER, *PATIENT)
    assert work.marks() == {
        "ada": TOTAL,
        "nul": TOTAL - POINTS["frequencies"],
        "阿达 O'Neil": TOTAL - POINTS["frequencies"],
    }
    assert "Divide the exponent by dim" in work.feedback("阿达 O'Neil")
    work.nbgrader("export", "--to", "course/marks.csv")
    with (work.root / "course" / "marks.csv").open(encoding="utf-8") as file:
        exported = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert exported == work.marks()
    assert not (work.root / "course" / "gradebook.db").exists()

    monkeypatch.delenv("POSENC_DB_URL")
    lite = new_class(released, tmp_path)
    hand_in(lite)
    lite.posenc("grade", CHAPTER, *PATIENT)
    assert lite.records() == work.records()


def test_a_gradebook_moves_with_all_that_it_holds(server, released, tmp_path, monkeypatch):
    """Names, numbers, due dates, extensions, marks given by hand: and so the late penalty too."""
    monkeypatch.delenv("POSENC_DB_URL", raising=False)
    lite = new_class(released, tmp_path)
    lite.hand_in("dan").with_name("timestamp.txt").write_text("2026-12-02 20:00:00 UTC")
    lite.hand_in("阿达 O'Neil", lite.solved(frequencies=NO_DIVISION))
    with lite.gradebook() as gradebook:
        gradebook.update_or_create_student("dan", first_name="Dan", email="dan@example.org", lms_user_id="17")
        gradebook.update_or_create_assignment(CHAPTER, duedate=datetime(2026, 12, 1, 20))
    with (lite.root / "nbgrader_config.py").open("a") as config:
        config.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    lite.posenc("grade", CHAPTER, *PATIENT)
    with lite.gradebook() as gradebook:
        grade = gradebook.find_grade("check-frequencies", CHAPTER, CHAPTER, "阿达 O'Neil")
        grade.manual_score, grade.extra_credit = 1.5, 0.25
        gradebook.find_comment("frequencies", CHAPTER, CHAPTER, "dan").manual_comment = "Well done"
        gradebook.find_submission(CHAPTER, "dan").extension = timedelta(hours=2)
        gradebook.db.commit()
    url = server.new_database("moved")
    printed = lite.posenc("move", url)
    assert "learners: 2, assignments: 1, submissions: 2" in printed

    moved = PostgreSQLClass(lite.root)
    moved.url = url
    assert moved.records() == lite.records()
    assert everything(moved) == everything(lite)
    assert everything(moved)["dan"] == (
        "Dan",
        "dan@example.org",
        "17",
        datetime(2026, 12, 1, 22),  # nbgrader adds the extension
        timedelta(hours=2),
    )
    assert "holds learners and assignments" in lite.posenc("move", url, status=1)  # nothing is written over
    monkeypatch.setenv("POSENC_DB_URL", url)
    assert "is already in " in lite.posenc("move", url, status=1)
    before = moved.records()["dan"]
    assert ("late", CHAPTER, TOTAL) in before
    lite.posenc("grade", CHAPTER, "--again", "--student", "dan", *PATIENT)
    assert moved.records()["dan"] == before


def everything(work: Class) -> dict[str, tuple[object, ...]]:
    """What the gradebook knows of each learner beside the marks."""
    with work.gradebook() as gradebook:
        return {
            each.student.id: (
                *(each.student.first_name, each.student.email, each.student.lms_user_id),
                *(each.duedate, each.extension),
            )
            for each in gradebook.assignment_submissions(CHAPTER)
        }


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("nonsense", "nonsense is not the address of a database. It looks like postgresql+psycopg2://"),
        ("postgresql+psycopg2://grader@127.0.0.1:1/gradebook", "Connection refused"),
    ],
)
def test_a_move_that_cannot_be_made_says_why(released, tmp_path, monkeypatch, url, told):
    monkeypatch.delenv("POSENC_DB_URL", raising=False)
    printed = new_class(released, tmp_path).posenc("move", url, status=1)
    assert told in printed
    assert "Traceback" not in printed


def test_two_graders_at_once_are_refused(work):
    """As with SQLite: the second is told who is at it, and every submission has one row."""
    for number in range(4):
        work.hand_in(f"s{number}")
    command = functools.partial(
        subprocess.Popen,
        work.command("grade", CHAPTER, "--again", "--jobs", "1", *PATIENT),
        cwd=work.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lock = work.root / "course" / "grading" / "lock"
    lock.unlink(missing_ok=True)
    first = command()
    try:
        wait_until(lambda: (lock.exists() and lock.read_text()) or first.poll() is not None)
        second = command()
        _printed, refused = second.communicate(timeout=400)
        _printed, errors = first.communicate(timeout=400)
    finally:
        first.kill()
    assert first.returncode == 0, errors
    assert second.returncode == 1
    assert "another grading run is using this course: process" in refused
    assert {work.marks()[f"s{number}"] for number in range(4)} == {TOTAL}


def test_a_server_that_is_down_is_told_and_no_grade_is_lost(work, monkeypatch):
    monkeypatch.setenv("POSENC_DB_URL", "postgresql+psycopg2://grader@127.0.0.1:1/gradebook")
    printed = work.posenc("grade", CHAPTER, status=1)
    assert "Connection refused" in printed
    assert "Traceback" not in printed
