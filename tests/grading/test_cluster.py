"""The same class on a Dask cluster: a real scheduler and real workers over TLS, some of which are killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import dask
import nbformat
import pytest
from distributed import Client

from posenc_course.grading import cluster as grading_cluster
from posenc_course.grading.cluster import Cluster
from posenc_course.grading.faults import CourseError
from posenc_course.grading.limits import Limits
from posenc_course.grading.one import grade_file
from posenc_course.grading.processes.workers import Task
from tests.grading.class_fixtures import LIGHT, LIGHT_TOTAL, ROOT, Class, new_class, points
from tests.grading.test_grade import wait_until

pytestmark = pytest.mark.slow

PATIENT = ("--time-limit", "600")  # Whatever else the machine does, no submission runs out of time.
CERTIFICATE = (
    "openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=grading",
    "-keyout key.pem -out certificate.pem",
)

# Without walls the learner's code can find the grader above it, and end it.
ENDS_ITS_GRADER = """
import os, pathlib, signal
pid = os.getppid()
while b"posenc_course.grading.cluster_worker" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
    pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
os.kill(pid, signal.SIGKILL)
"""
WRONG = "def far_gap(losses, trained): return 0.0"
WAITS = """
import time
time.sleep({seconds})
"""


class DaskCluster:
    """A scheduler and workers on this machine, as an operator starts them. A context manager."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder = folder
        self._first = workers
        self.scheduler: subprocess.Popen[bytes]
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> DaskCluster:
        subprocess.run(" ".join(CERTIFICATE).split(), cwd=self._folder, check=True, stderr=subprocess.DEVNULL)
        self._patch = pytest.MonkeyPatch()
        for name, value in self.settings().items():
            self._patch.setenv(name, value)
        dask.config.refresh()
        file = self._folder / "scheduler.json"
        options = ["--protocol", "tls", "--host", "127.0.0.1", "--port", "0"]
        options += ["--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file)]
        self.scheduler = self._start("scheduler", *options)
        wait_until(file.exists)
        self._file = file
        for _number in range(self._first):
            self.add_worker()
        if self._first:
            self.client.wait_for_workers(self._first, timeout=300)
        return self

    def __exit__(self, *_exception: object) -> None:
        if "client" in vars(self):
            self.client.close()
        for each in [*self.workers, self.scheduler]:
            each.kill()
            each.wait()
        self._patch.undo()
        dask.config.refresh()

    def settings(self) -> dict[str, str]:
        """What every process of the cluster, and whoever grades on it, has in its environment."""
        tls = "DASK_DISTRIBUTED__COMM__TLS__"
        certificate, key = str(self._folder / "certificate.pem"), str(self._folder / "key.pem")
        settings = {
            "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true",
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
            f"{tls}CA_FILE": certificate,
        }
        for who in ("SCHEDULER", "WORKER", "CLIENT"):
            settings |= {f"{tls}{who}__CERT": certificate, f"{tls}{who}__KEY": key}
        return settings

    def add_worker(self) -> None:
        options = ["--scheduler-file", str(self._file), "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        options += ["--local-directory", str(self._folder)]
        self.workers.append(self._start("worker", *options))

    def kill_a_worker_that_grades(self) -> None:
        """SIGKILL to the first worker that has a task."""
        busy: list[int] = []

        def somebody_grades() -> bool:
            addresses = [each for each, tasks in self.client.processing().items() if tasks]
            busy[:] = self.client.run(os.getpid, workers=addresses[:1]).values() if addresses else []
            return bool(busy)

        wait_until(somebody_grades)
        victim = next(each for each in self.workers if each.pid == busy[0])
        victim.kill()
        victim.wait()
        self.workers.remove(victim)

    @cached_property
    def client(self) -> Client:
        return Client(self.address, set_as_default=False)

    @property
    def address(self) -> str:
        return json.loads(self._file.read_text())["address"]

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        log = (self._folder / f"{arguments[0]}.log").open("ab")
        with log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments], cwd=ROOT, stdout=log, stderr=log
            )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[DaskCluster]:
    with DaskCluster(tmp_path_factory.mktemp("cluster"), workers=3) as one:
        yield one


@pytest.fixture
def work(released_light, tmp_path) -> Class:
    return new_class(released_light, tmp_path, LIGHT)


def started(work: Class, cluster: DaskCluster, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        work.command("grade", LIGHT, "--scheduler", cluster.address, *PATIENT, *more),
        cwd=work.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def with_cell(work: Class, source: str) -> nbformat.NotebookNode:
    """A right notebook, in which this runs as well."""
    notebook = work.solved()
    notebook.cells.insert(1, nbformat.v4.new_code_cell(source, id="one-more"))
    return notebook


def journalled(work: Class) -> list[tuple[int, str, str]]:
    """Row, student and grade of each entry; a second grading of a student would have made a new row."""
    path = work.root / "course" / "grading" / "journal.db"
    with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute(
            "SELECT rowid, student, json_remove(grade, '$.seconds') FROM entries ORDER BY student"
        ).fetchall()
    return []


def test_a_worker_is_killed_and_each_submission_is_graded_once(cluster, work):
    for number in range(3):
        work.hand_in(f"right-{number}", with_cell(work, WAITS.format(seconds=1)))
        work.hand_in(f"known-{number}", work.solved(far_gap=WRONG))
        work.hand_in(f"blank-{number}", work.blank())
        work.hand_in(f"阿达-{number}", with_cell(work, WAITS.format(seconds=1)))
        work.hand_in(f"garbage-{number}", "no notebook")
    wait_until(lambda: len(cluster.client.nthreads()) == 3)
    run = started(work, cluster)
    try:
        wait_until(lambda: len(journalled(work)) > 3 or run.poll() is not None)
        cluster.kill_a_worker_that_grades()
        assert run.poll() is None, "the run had ended before the worker was killed"
        printed, errors = run.communicate(timeout=400)
    finally:
        run.kill()
    assert run.returncode == 0, errors
    assert "15 graded now" in printed
    rows = journalled(work)
    assert sorted(row for row, _student, _grade in rows) == list(range(1, 16))  # no second mark
    assert len(cluster.workers) == 2
    records, grades = work.records(), [row[1:] for row in rows]

    work.posenc("grade", LIGHT, "--again", *PATIENT)
    assert work.records() == records
    assert [row[1:] for row in journalled(work)] == grades
    without_gap = LIGHT_TOTAL - points(LIGHT)["far_gap"]
    assert {work.marks()[f"known-{number}"] for number in range(3)} == {without_gap}


def test_what_ends_its_grader_costs_the_cluster_nothing(cluster, work):
    alive = [each.pid for each in cluster.workers]
    for student in ("ada", "killer", "zoe"):
        work.hand_in(student, with_cell(work, ENDS_ITS_GRADER) if student == "killer" else None)
    run = started(work, cluster, "--unsafe")
    printed, errors = run.communicate(timeout=400)
    assert run.returncode == 0, errors
    assert work.marks() == {"ada": LIGHT_TOTAL, "killer": 0.0, "zoe": LIGHT_TOTAL}
    assert "crashed            1" in printed
    assert "The grader itself stopped every time it graded this notebook" in work.feedback("killer")
    assert [each.pid for each in cluster.workers if each.poll() is None] == alive


def test_a_submission_whose_workers_are_killed_stops_nobody_else(cluster, work):
    work.hand_in("unlucky", with_cell(work, WAITS.format(seconds=15)))
    run = started(work, cluster)
    try:
        for _worker in range(2):
            cluster.add_worker()
            cluster.kill_a_worker_that_grades()
        printed, errors = run.communicate(timeout=400)
    finally:
        run.kill()
    assert run.returncode == 1, errors
    assert "one Dask worker after another ended while grading this submission" in printed
    assert work.marks() == {}
    work.hand_in("unlucky")
    work.hand_in("next")
    printed, errors = started(work, cluster).communicate(timeout=400)
    assert work.marks() == {"next": LIGHT_TOTAL, "unlucky": LIGHT_TOTAL}, errors


def test_a_lost_scheduler_ends_the_run_and_loses_nothing(work, tmp_path_factory):
    for number in range(8):
        work.hand_in(f"s{number}")
    with DaskCluster(tmp_path_factory.mktemp("lost"), workers=1) as cluster:
        run = started(work, cluster)
        try:
            wait_until(lambda: journalled(work) or run.poll() is not None)
            cluster.scheduler.send_signal(signal.SIGKILL)
            _printed, errors = run.communicate(timeout=400)
        finally:
            run.kill()
    assert run.returncode == 1, errors
    assert "was lost" in errors
    assert "run the command again" in errors.splitlines()[-1]
    before = journalled(work)
    assert 0 < len(before) < 8
    work.posenc("grade", LIGHT, *PATIENT)
    assert journalled(work)[: len(before)] == before
    assert work.marks() == {f"s{number}": LIGHT_TOTAL for number in range(8)}


@pytest.mark.parametrize("when", ["before a task is sent", "before a grade is fetched"])
def test_a_scheduler_is_lost_at_any_moment(work, tmp_path_factory, monkeypatch, when):
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "3s")
    files = {student: work.hand_in(student) for student in ("ada", "ben", "eve")}
    with DaskCluster(tmp_path_factory.mktemp("lost"), workers=1) as cluster:

        def lose() -> None:
            cluster.scheduler.kill()
            cluster.scheduler.wait()

        class LosesIt(Cluster):
            def _hand_over(self, *arguments):
                lose()
                super()._hand_over(*arguments)

        tasks = [
            Task(
                student,
                grade_file,
                lambda path=path, student=student: (path, student, LIGHT, 1, Limits(), False),
            )
            for student, path in files.items()
        ]
        with LosesIt(cluster.address, 1) as workers:
            if when == "before a task is sent":
                lose()
            told: list[BaseException | None] = []
            try:
                told.extend(result.exception() for _task, result in workers.run(tasks))
            except CourseError as error:
                told.append(error)
    assert told
    assert all(isinstance(each, CourseError) and "was lost" in str(each) for each in told), told


def test_what_is_missing_is_told(work, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "2s")
    work.hand_in("ada")
    nowhere = "tcp://127.0.0.1:1"
    assert f"no Dask scheduler answers at {nowhere}" in work.posenc(
        "grade", LIGHT, "--scheduler", nowhere, status=1
    )
    monkeypatch.undo()
    with DaskCluster(tmp_path_factory.mktemp("empty"), workers=0) as cluster:
        told = work.posenc("grade", LIGHT, "--scheduler", cluster.address, status=1)
        assert f"has no workers; start some: dask worker {cluster.address}" in told
    assert work.marks() == {}


def test_another_library_grades_nothing(cluster, work, monkeypatch):
    path = work.hand_in("ada")
    monkeypatch.setattr(grading_cluster, "library_digest", lambda: "of an older version")
    task = Task("ada", grade_file, lambda: (path, "ada", LIGHT, 1, Limits(), False))
    with Cluster(cluster.address, 1) as workers:
        [(_task, result)] = workers.run([task])
        with pytest.raises(CourseError, match="is not the same as here"):
            result.result()
