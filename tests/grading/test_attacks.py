"""Hostile submissions: none gains what it attacks, none costs anybody else anything.

Each file in `attacks/` says in its head what it tries and what it must get. The tests play its accomplice
outside the walls: they tell it where everything is, and listen.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import posenc_course
import posenc_lib
from posenc_course.checking.differences import difference
from posenc_course.checking.judge import right_outcomes
from posenc_course.checking.plain import encode
from posenc_course.exercises import all_exercises
from posenc_course.grading.handed_back.feedback_page import feedback_page
from posenc_course.grading.judging.attempts import PUBLIC_SEED
from posenc_course.grading.judging.grader import Grader
from posenc_course.grading.judging.trial import REPLY_BYTES
from posenc_course.grading.recorded.scores import Standing
from posenc_course.grading.sandbox import cgroup
from posenc_course.grading.sandbox.warm import WarmParent
from posenc_course.grading.verdicts import SubmissionGrade, Verdict
from tests.grading.class_fixtures import CHAPTER, POINTS, TOTAL, new_class
from tests.grading.samples import ANSWERS, ROOT, USUAL, Sample, by_name, graded, samples, solved

ATTACKS = samples("attacks")
BREAKS_WITHOUT_WALLS = [each for each in ATTACKS if each.head.get("without walls") == "breaks"]
SECRET = "marks-of-the-whole-class"


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What lies outside the walls: a course with marks, listening accomplices, the grader's own process."""
    course = tmp_path_factory.mktemp("course")
    course.chmod(0o777)
    for name in ("gradebook.db", "submitted/ada/02-the-formula/02-the-formula.ipynb", "solutions/02.md"):
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).write_text(SECRET)
    before = sorted(course.rglob("*"))
    with contextlib.ExitStack() as stack:
        path, abstract = f"{course}.socket", f"posenc-accomplice-{os.getpid()}"
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = tcp.getsockname()[1]
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", port))
        listening = [tcp]
        for address in (path, "\0" + abstract):
            listening.append(stack.enter_context(socket.socket(socket.AF_UNIX)))
            listening[-1].bind(address)
            listening[-1].listen()
        for each in listening:
            threading.Thread(target=_serve, args=(each,), daemon=True).start()
        threading.Thread(target=_echo, args=(udp,), daemon=True).start()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("POSENC_SECRET", SECRET)
            yield {
                "course": str(course),
                "library": str(Path(posenc_lib.__file__).parent),
                "posenc_course": str(Path(posenc_course.__file__).parent),
                "root": str(ROOT),
                "port": port,
                "socket": path,
                "abstract": abstract,
                "pid": os.getpid(),
                "secret": SECRET,
            }
    assert sorted(course.rglob("*")) == before, "an attack wrote into the course"
    assert {each.read_text() for each in before if each.is_file()} == {SECRET}


def _serve(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(SECRET.encode())


def _echo(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            _, sender = listener.recvfrom(1000)
            listener.sendto(SECRET.encode(), sender)


@pytest.fixture(scope="module")
def grader(outside) -> Iterator[Grader]:
    """One for all attacks: none may harm the next."""
    with Grader() as one:
        yield one


def attack(grader: Grader, sample: Sample, outside: dict[str, Any], folder: Path) -> SubmissionGrade:
    return graded(grader, sample.notebook(f"outside = {outside!r}"), folder, sample.limits)


@pytest.mark.parametrize("sample", ATTACKS, ids=lambda each: each.name)
def test_an_attack_gains_nothing(grader, outside, tmp_path, sample):
    grade = attack(grader, sample, outside, tmp_path)
    found = by_name(grade)
    got = {name: (found[name].verdict.value, found[name].points) for name in sample.attacked}
    assert got == dict.fromkeys(sample.attacked, (sample.verdict.value, 0.0))
    if sample.head.get("others") != "any":
        others = set(ANSWERS) - sample.attacked
        assert {name: found[name].verdict.value for name in others} == dict.fromkeys(others, "right")
    assert_harmless(grade, sample)


@pytest.mark.parametrize("sample", BREAKS_WITHOUT_WALLS, ids=lambda each: each.name)
def test_it_is_the_wall_that_stops_it(open_grader, outside, tmp_path, sample):
    """The same file gains points where no walls stand: it does try what it says."""
    found = by_name(attack(open_grader, sample, outside, tmp_path))
    assert {found[name].verdict for name in sample.attacked} == {Verdict.RIGHT}


@pytest.fixture(scope="module")
def open_grader(outside) -> Iterator[Grader]:
    with Grader(unsafe=True) as one:
        yield one


def assert_harmless(grade: SubmissionGrade, sample: Sample) -> None:
    """What is kept of a submission harms nobody who stores or reads it, and it took no more than its time."""
    kept = json.dumps(grade.to_json(), ensure_ascii=False)
    kept.encode()  # No halves of characters: no file could hold them.
    assert "\\u0000" not in kept  # PostgreSQL takes none.
    assert SECRET not in json.dumps([each.feedback for each in grade.exercises])
    assert not any("<script" in each.feedback_html for each in grade.exercises)
    cells = []
    for outputs in grade.outputs.values():
        cells.append(new_code_cell(outputs=[nbformat.from_dict(each) for each in outputs]))
        for each in outputs:
            assert not {"text/html", "image/svg+xml", "application/javascript"} & set(each.get("data", {}))
    nbformat.validate(new_notebook(cells=cells))
    assert len(json.dumps(grade.outputs)) < 8 * sample.limits.output_bytes + REPLY_BYTES + 10_000
    # Sixty seconds more than allowed would already be a grader that can be held up for as long as one likes.
    assert grade.seconds < sample.limits.wall_seconds + 60


def test_there_are_enough_of_them():
    assert len(ATTACKS) >= 40
    assert len(BREAKS_WITHOUT_WALLS) >= 8


# --- What could be learned from `check` -----------------------------------------------------------------


def _known(case) -> str:
    return json.dumps([None if callable(each) else encode(each) for each in case.args])


@pytest.mark.parametrize(
    "asked", [each for each in all_exercises() if each.kind == "function"], ids=lambda each: each.id
)
def test_a_table_of_the_public_answers_is_not_enough(asked):
    """With the best guess at all other inputs, it may be right by luck, for a few seeds."""
    table = {_known(c): want for c, want in zip(*right_outcomes(asked, PUBLIC_SEED), strict=True)}
    for guess in table.values():
        right = [
            all(
                difference(asked, want, table.get(_known(case), guess)) is None
                for case, want in zip(*right_outcomes(asked, seed), strict=True)
            )
            for seed in range(1, 21)
        ]
        assert sum(right) < 4


# --- Where no control group can be made ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["bomb_memory", "bomb_memory_of_children", "bomb_shared_memory"])
def test_memory_is_limited_without_control_groups_too(outside, tmp_path, monkeypatch, name):
    monkeypatch.setattr("posenc_course.grading.sandbox.cgroup._own_group", lambda controller: None)
    sample = next(each for each in ATTACKS if each.name == name)
    with Grader() as one:
        found = by_name(attack(one, sample, outside, tmp_path))
    assert (found["frequencies"].verdict, found["frequencies"].points) == (Verdict.MEMORY_LIMIT, 0)
    assert found["encode"].verdict is Verdict.RIGHT


def test_many_processes_get_no_more_time_than_one():
    """Else a session that spins in sixty would slow down everybody who is graded beside it."""
    own = cgroup._own_group("cpu")
    if own is None or not os.access(own, os.W_OK):
        pytest.skip("no control group can be made here for processor time")
    with WarmParent() as parent, parent.open(USUAL) as session:
        groups = Path(f"/proc/{session.pid}/cgroup").read_text().splitlines()
        assert any("/posenc-" in line for line in groups if ":cpu" in line or line.startswith("0::"))


# --- What others open in a browser ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<a href='data:text/html,alert(1)'>click</a>",
    ],
)
def test_no_script_in_a_text_cell_reaches_the_feedback(text):
    page = feedback_page(new_notebook(cells=[new_markdown_cell(text)]), CHAPTER, Standing({}, {}, 0.0, 1.0))
    tags = re.findall(r"<[^>]*>", page.rpartition("text_cell_render")[2])
    assert tags
    assert not [tag for tag in tags if re.search(r"<(script|svg|iframe)|onerror|data:text", tag)]


# --- A class with attackers in it, by the real command ------------------------------------------------

TOGETHER = (
    "bomb_files",
    "bomb_forks",
    "bomb_memory_of_children",
    "bomb_output_without_its_limit",
    "forged_depth_where_lent",
    "forged_outputs",
    "hook_that_ends_the_process",
    "librarys_own_in_secret",
    "lying_ufunc",
    "odd_exception",
    "reads_the_gradebook",
    "signals_everybody",
    "tells_hidden_inputs",
    "writes_into_the_course",
)


def marks_of_ones_own() -> nbformat.NotebookNode:
    """Nothing is solved; metadata and outputs of the checks say that everything is."""
    notebook = solved(frequencies="frequencies = None", encode="encode = None")
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.nbgrader.points = 1000
            cell.source = f"print(1000)\n{cell.source}\n1000"
            cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "1000"})]
    return notebook


@pytest.mark.slow
def test_attackers_in_a_class_change_nothing_for_the_others(released, tmp_path):
    work = new_class(released, tmp_path / "class")
    attackers = {each.name: each for each in ATTACKS if each.name in TOGETHER}
    assert len(attackers) == len(TOGETHER)
    facts = {
        "course": str(work.root / "course"),
        "library": str(Path(posenc_lib.__file__).parent),
        "posenc_course": str(Path(posenc_course.__file__).parent),
        "root": str(work.root),
        "pid": os.getpid(),
        "secret": SECRET,
        "port": 9,
        "socket": "",
        "abstract": "",
    }
    for name, sample in attackers.items():
        work.hand_in(name, sample.notebook(f"outside = {facts!r}"))
    work.hand_in("marks_of_ones_own", marks_of_ones_own())
    for honest in ("ada", "middle", "zoe"):
        work.hand_in(honest)
    printed = work.as_typed("grade", CHAPTER, "--jobs", "2", "--time-limit", "120", "--memory-limit", "256")
    assert "Could not be graded" not in printed

    expected = {
        name: TOTAL - sum(POINTS[attacked] for attacked in sample.attacked)
        for name, sample in attackers.items()
    }
    expected["marks_of_ones_own"] = TOTAL - POINTS["frequencies"] - POINTS["encode"]
    assert work.marks() == {**expected, **dict.fromkeys(("ada", "middle", "zoe"), TOTAL)}
    with contextlib.closing(sqlite3.connect(work.root / "course" / "gradebook.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    for student in work.marks():
        work.autograded(student)  # It is a valid notebook.
        assert "<script>alert" not in work.feedback(student)
    assert work.records()["ada"] == work.records()["zoe"]
    # Once more: nothing is left to do, so every grade was kept.
    assert f"{len(expected) + 3} graded before" in work.posenc("grade", CHAPTER).replace("were ", "")
