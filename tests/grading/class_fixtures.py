"""A small class for the tests: a released course, notebooks to hand in, the command as a user types it."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from nbgrader.api import Gradebook

from posenc_course.exercises import all_exercises
from posenc_course.grading import run
from posenc_course.grading.cli import main
from posenc_course.grading.processes.workers import Task, Workers
from posenc_course.grading.release import release

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "02-the-formula"
LIGHT = "04-extrapolation"
"""A chapter without PyTorch: its graders are there at once. For what is about processes, not about marks."""


def points(chapter: str) -> dict[str, float]:
    return {each.function: float(each.points) for each in all_exercises() if each.chapter == chapter}


POINTS = points(CHAPTER)
TOTAL, LIGHT_TOTAL = sum(POINTS.values()), sum(points(LIGHT).values())

NO_DIVISION = """
def frequencies(dim):
    return 10000.0 ** -np.arange(0.0, dim, 2)
"""


class Class:
    """A course in a folder of its own, whose learners hand in what a test says."""

    def __init__(self, root: Path, chapter: str = CHAPTER) -> None:
        self.root, self.chapter = root, chapter
        self.printed = ""  # of the one run that tests of a shared class look at

    def blank(self) -> nbformat.NotebookNode:
        """The notebook as released."""
        return nbformat.read(self.root / "exercises" / self.chapter / f"{self.chapter}.ipynb", as_version=4)

    def solved(self, **answers: str) -> nbformat.NotebookNode:
        """The notebook with the model answers, or those given here."""
        text = jupytext.read(ROOT / "solutions" / f"{self.chapter}.md")
        model = iter(cell.source for cell in text.cells if "### BEGIN SOLUTION" in cell.source)
        notebook = self.blank()
        for cell in notebook.cells:
            settings = cell.metadata.get("nbgrader", {})
            if settings.get("solution"):
                source = next(model)
                cell.source = answers.get(settings.grade_id, source).strip()
        return notebook

    def hand_in(self, student: str, work: nbformat.NotebookNode | str | bytes | None = None) -> Path:
        """Put a notebook, or whatever bytes, where nbgrader collects it."""
        path = self.submitted(student)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(work, bytes | str):
            path.write_bytes(work.encode() if isinstance(work, str) else work)
        else:
            nbformat.write(work if work is not None else self.solved(), path)
        return path

    def submitted(self, student: str) -> Path:
        return self.root / "course" / "submitted" / student / self.chapter / f"{self.chapter}.ipynb"

    def autograded(self, student: str) -> nbformat.NotebookNode:
        path = self.root / "course" / "autograded" / student / self.chapter / f"{self.chapter}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        return notebook

    def feedback(self, student: str) -> str:
        return (
            self.root / "course" / "feedback" / student / self.chapter / f"{self.chapter}.html"
        ).read_text()

    def gradebook(self) -> Gradebook:
        return Gradebook(f"sqlite:///{self.root / 'course' / 'gradebook.db'}", "positional-encoding")

    def marks(self) -> dict[str, float]:
        with self.gradebook() as gradebook:
            return {each.student.id: each.score for each in gradebook.assignment_submissions(self.chapter)}

    def records(self) -> dict[str, list[tuple[Any, ...]]]:
        """All that the gradebook holds of each submission."""
        with self.gradebook() as gradebook:
            return {
                each.student.id: sorted(
                    [("grade", g.name, g.auto_score, g.manual_score, g.max_score, g.needs_manual_grade)
                     for n in each.notebooks for g in n.grades]
                    + [("comment", c.name, c.auto_comment or "") for n in each.notebooks for c in n.comments]
                    + [("late", n.name, n.late_submission_penalty or 0.0) for n in each.notebooks],
                    key=repr,
                )
                for each in gradebook.assignment_submissions(self.chapter)
            }  # fmt: skip

    def posenc(self, *arguments: str, status: int = 0) -> str:
        """Run the command in this process, by workers that stay warm, and give what it printed."""
        out, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(errors),
        ):
            patch.chdir(self.root)
            patch.setattr(run, "_workers", _warm_workers)
            got: str | int | None
            try:
                got = main(arguments)
            except SystemExit as refused:
                got = refused.code
        printed = [each.buffer.getvalue().decode() for each in (out, errors)]
        assert got == status, printed
        return "".join(printed)

    def as_typed(self, *arguments: str, status: int = 0) -> str:
        """Run the command as a user does, in a process of its own, and give what it printed."""
        done = subprocess.run(
            self.command(*arguments), cwd=self.root, capture_output=True, text=True, timeout=400
        )
        assert done.returncode == status, done.stdout + done.stderr[-3000:]
        return done.stdout + done.stderr

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "posenc_course.grading", *arguments]

    def nbgrader(self, *arguments: str, status: int = 0) -> str:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=self.root,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            timeout=400,
        )
        assert done.returncode == status, done.stderr[-3000:]
        return done.stdout + done.stderr


class WarmWorkers(Workers):
    """One worker for all runs of this process, so that its start is paid once. It ends where a run fails."""

    _started = False

    def __enter__(self) -> WarmWorkers:
        if not self._started:
            super().__enter__()
            with contextlib.chdir(ROOT):  # where the worker stays; the course may go
                list(self.run([Task("", int, tuple)]))
            self._started = True
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is not None:
            self._started = False
            super().__exit__(kind, *exception)


_warm = WarmWorkers(1)
_cold_workers = run._workers


def _warm_workers(options: run.Options) -> Workers:
    """The warm ones, unless a test asks for others."""
    return _cold_workers(options) if options.jobs or options.scheduler else _warm


def release_to(root: Path, chapters: list[str]) -> Path:
    """A new course in that folder, with these chapters."""
    (root / "solutions").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for chapter in chapters:
        shutil.copy(ROOT / "solutions" / f"{chapter}.md", root / "solutions")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        release(root)
    return root


def new_class(released: Path, root: Path, chapter: str = CHAPTER) -> Class:
    shutil.copytree(released, root, dirs_exist_ok=True)
    return Class(root, chapter)
