"""What an instructor may meet: each gets one sentence that says what to do, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from posenc_course.grading.cli import main
from posenc_course.grading.interrupts import sentence
from tests.grading.class_fixtures import CHAPTER, TOTAL, Class, new_class
from tests.grading.test_grade import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory) -> Class:
    work = new_class(released, tmp_path_factory.mktemp("class"))
    work.hand_in("ada")
    work.hand_in("bob", work.blank())
    work.posenc("grade", CHAPTER)
    return work


def garbage(path: Path) -> None:
    path.write_bytes(b"no database at all" * 1000)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def sql(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute(statement)
            db.commit()

    return change


def write(text: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.write_text(text, encoding="latin-1")

    return change


def a_file_instead(path):
    shutil.rmtree(path)
    path.touch()


def make_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


CONFIG = "../nbgrader_config.py"
GRADEBOOK, JOURNAL, SECRET = "gradebook.db", "grading/journal.db", "grading/secret"
OTHER = "ALTER TABLE grade RENAME COLUMN auto_score TO old"
NEWER = "UPDATE entries SET grade = replace(grade, '\"right\"', '\"a verdict of the future\"')"
FAULTS = {
    "gradebook: garbage": (GRADEBOOK, garbage, "is damaged", ("grade", "report")),
    "gradebook: cut": (GRADEBOOK, cut, "is damaged", ("grade", "report")),
    "gradebook: other": (GRADEBOOK, sql(OTHER), "nbgrader db upgrade", ("report",)),
    "gradebook: folder": (GRADEBOOK, make_a_folder, "cannot be opened or written", ("grade", "report")),
    "journal: garbage": (JOURNAL, garbage, "the journal", ("grade", "report")),
    "journal: cut": (JOURNAL, cut, "the journal", ("grade", "report")),
    "journal: newer": (JOURNAL, sql("PRAGMA user_version = 99"), "another version", ("grade", "report")),
    "journal: verdict": (JOURNAL, sql(NEWER), "another version", ("report",)),
    "journal: entry": (JOURNAL, sql("UPDATE entries SET grade = '{\"'"), "is damaged", ("report",)),
    "journal: cells": (JOURNAL, sql("UPDATE entries SET bulk = X'00'"), "is damaged", ("report",)),
    "journal: other": (JOURNAL, sql("ALTER TABLE entries DROP COLUMN bulk"), "is damaged", ("report",)),
    "secret: empty": (SECRET, write(""), "secret", ("grade",)),
    "secret: short": (SECRET, write("00" * 31), "secret", ("grade",)),
    "secret: no hex": (SECRET, write("zz" * 32), "secret", ("grade",)),
    "secret: bytes": (SECRET, write("\xff\x00" * 32), "secret", ("grade",)),
    "secret: lost": (SECRET, Path.unlink, "secret", ("grade",)),
    "secret: folder": (SECRET, make_a_folder, "Move it to another place", ("grade",)),
    "state: a file": ("grading", a_file_instead, "in the way", ("grade",)),
    "config: broken": (CONFIG, write("c = get_config(\n"), "Fix it first", ("grade", "report")),
    "config: raises": (CONFIG, write("1 / 0"), "Fix it first", ("grade", "report")),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_in_a_sentence_and_nothing_is_lost(graded, tmp_path, monkeypatch, capsys, fault):
    root = tmp_path / "copy"
    shutil.copytree(graded.root, root)
    name, spoil, told, commands = FAULTS[fault]
    spoil(root / "course" / name)
    before = {
        path: path.read_bytes() for path in root.rglob("*") if path.is_file() and "-" not in path.suffix
    }
    monkeypatch.chdir(root)
    for command in commands:
        assert main([command, CHAPTER]) == 1
        errors = capsys.readouterr().err
        lines = [line for line in errors.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, errors
        assert told in lines[0]
        assert "Traceback" not in errors
    kept = {path for path in before if "lock" not in path.name and "journal" not in path.name}
    assert all(path.read_bytes() == before[path] for path in kept)  # no secret and no gradebook is made anew


def test_a_locked_gradebook_is_told(graded, tmp_path, monkeypatch, capsys):
    root = tmp_path / "copy"
    shutil.copytree(graded.root, root)
    Class(root).hand_in("cem")
    with contextlib.closing(sqlite3.connect(root / "course" / "gradebook.db", isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        monkeypatch.chdir(root)
        assert main(["report", CHAPTER]) == 1
        assert "another program has locked the gradebook" in capsys.readouterr().err


def test_a_fault_of_our_own_is_called_so(graded, monkeypatch, capsys):
    from posenc_course.grading.report import class_report

    def fails(*_arguments: object) -> None:
        raise RuntimeError("nobody foresaw\x1b[2J this")

    monkeypatch.setattr(class_report, "class_report", fails)
    monkeypatch.chdir(graded.root)
    assert main(["report", CHAPTER]) == 70
    errors = capsys.readouterr().err
    assert "this is a bug in posenc" in errors
    assert r"nobody foresaw\x1b[2J this" in errors
    kept = Path(errors.rpartition(" ")[2].strip())
    assert "Traceback" in kept.read_text()
    kept.unlink()


def test_nothing_handed_in_is_no_success(released, tmp_path):
    work = new_class(released, tmp_path)
    assert "nothing was handed in" in work.posenc("grade", CHAPTER, status=1)
    path = work.hand_in("ada")
    path.parent.rename(path.parent.with_name("02-the-fromula"))
    printed = work.posenc("grade", CHAPTER, status=1)
    assert f"ada/02-the-fromula/{CHAPTER}.ipynb is in the wrong place" in printed
    work.hand_in("bob")
    work.hand_in("ada")
    (work.submitted("ada").parent / "spare.ipynb").write_text("{}")
    printed = work.posenc("grade", CHAPTER)
    assert "2 graded now" in printed
    assert f"ada: next to {CHAPTER}.ipynb there is spare.ipynb, which was not graded" in printed
    assert "ada: ada/02-the-fromula" in printed  # a remark: her work is in its place now
    assert work.marks() == {"ada": TOTAL, "bob": TOTAL}


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_in_the_first_seconds_gets_a_sentence(graded, tmp_path, number, status):
    """During the imports, the set-up, the start of the workers: whenever it comes."""
    root = tmp_path / "copy"
    shutil.copytree(graded.root, root)
    work = Class(root)
    for student in ("cem", "dora"):
        work.hand_in(student)
    lock = root / "course" / "grading" / "lock"
    for stage in ("imports", "set-up", "workers"):
        lock.unlink(missing_ok=True)
        run = subprocess.Popen(
            work.command("grade", CHAPTER),
            cwd=root,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        while run.poll() is None and not has_come_to(stage, run.pid, lock):
            time.sleep(0.01)
        if number == signal.SIGINT:
            os.killpg(run.pid, number)  # as a terminal does
        else:
            run.send_signal(number)
        _printed, errors = run.communicate(timeout=300)
        assert run.returncode == status, errors
        assert errors.endswith(f"{sentence()}\n")
        assert "Traceback" not in errors
        wait_until(lambda group=run.pid: not is_alive(group))  # nothing that it started outlives it
    assert "2 graded now" in work.posenc("grade", CHAPTER)


def has_come_to(stage: str, pid: int, lock: Path) -> bool:
    match stage:
        case "imports":
            return "numpy" in Path(f"/proc/{pid}/maps").read_text()
        case "set-up":
            return lock.exists()
    return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
