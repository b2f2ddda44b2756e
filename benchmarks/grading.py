"""How many submissions an hour: `posenc grade` beside plain `nbgrader autograde`, on one class, in one run.

    python -m benchmarks.grading [--students 100] [--curve 10 100 1000] [--smoke] [--out FILE]

Plain nbgrader runs with its own settings: its kernel, its judge, one submission at a time. Both write
gradebook and autograded notebooks; feedback is timed on its own.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import psutil
from tqdm import tqdm

from benchmarks.measure import machine
from posenc_course.grading.release import release

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results" / "grading"
CHAPTER = "02-the-formula"
GOAL = 15.0
"""Times the throughput of plain `nbgrader autograde`, at least, on 2 cores."""

PLAIN_SETTINGS = """
from pathlib import Path
c = get_config()
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "course/submitted"
c.CourseDirectory.autograded_directory = "course/autograded"
c.CourseDirectory.feedback_directory = "course/feedback"
c.CourseDirectory.course_id = "positional-encoding"
c.CourseDirectory.db_url = "sqlite:///" + str(Path(__file__).resolve().parent / "course" / "gradebook.db")
"""

WRONG_ANSWERS = {
    "frequencies": "def frequencies(dim):\n    return 10000.0 ** -np.arange(0.0, dim, 2)",
    "sinusoidal": "def sinusoidal(positions, dim):\n    return np.zeros((len(positions), dim))",
}
"""Every fourth learner makes the first mistake, every fifth the second."""


def hand_in(course: Path, students: int) -> None:
    """Put as many submissions into the course: the model answers, some with a mistake."""
    released = course / "exercises" / CHAPTER / f"{CHAPTER}.ipynb"
    for number in range(students):
        wrong = [name for name, every in (("frequencies", 4), ("sinusoidal", 5)) if number % every == 1]
        path = course / "course" / "submitted" / f"learner-{number:05}" / CHAPTER / f"{CHAPTER}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(_solved(released, {name: WRONG_ANSWERS[name] for name in wrong}), path)


def _solved(released: Path, answers: dict[str, str]) -> nbformat.NotebookNode:
    text = jupytext.read(ROOT / "solutions" / f"{CHAPTER}.md")
    model = iter(cell.source for cell in text.cells if "### BEGIN SOLUTION" in cell.source)
    notebook = nbformat.read(released, as_version=4)
    for cell in notebook.cells:
        settings = cell.metadata.get("nbgrader", {})
        if settings.get("solution"):
            source = next(model)
            cell.source = answers.get(settings.grade_id, source)
    return notebook


def new_course(folder: Path, settings: str | None = None) -> Path:
    """A course with the chapter released: with the project's settings, or those given."""
    (folder / "solutions").mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    shutil.copy(ROOT / "solutions" / f"{CHAPTER}.md", folder / "solutions")
    release(folder)
    if settings is not None:
        (folder / "nbgrader_config.py").write_text(settings)
    return folder


def timed(command: Sequence[str], course: Path) -> tuple[float, int]:
    """Seconds, and the largest memory of all its processes together in bytes (shared pages counted once)."""
    started = time.perf_counter()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with (course / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=course,
            env=os.environ | {"PATH": path},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        peak = [0]
        watcher = threading.Thread(target=_watch, args=(process, peak), daemon=True)
        watcher.start()
        status = process.wait()
    seconds = time.perf_counter() - started
    watcher.join()
    if status:
        sys.exit(
            f"error: {' '.join(command)} ended with {status}:\n{(course / 'log.txt').read_text()[-3000:]}"
        )
    return seconds, peak[0]


def _watch(process: subprocess.Popen[bytes], peak: list[int]) -> None:
    while process.poll() is None:
        peak[0] = max(peak[0], sum(_memory_shares(process.pid)))
        time.sleep(1)


def _memory_shares(pid: int) -> Iterator[int]:
    try:
        processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for each in processes:
        try:
            yield each.memory_full_info().pss
        except psutil.Error:
            continue


def marks(course: Path) -> dict[str, float]:
    """Every learner's points, from the gradebook."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'course' / 'gradebook.db'}", "positional-encoding") as gradebook:
        return {each.student.id: each.score for each in gradebook.assignment_submissions(CHAPTER)}


def run(students: int, curve: Sequence[int], jobs: int) -> dict[str, Any]:
    """Grade the same class both ways, then classes of other sizes our way."""
    grade = ["posenc_course.grading", "grade", CHAPTER, "--jobs", str(jobs)]
    steps = 4 + len(curve)
    with (
        tempfile.TemporaryDirectory(prefix="posenc-bench-") as folder,
        tqdm(total=steps, file=sys.stderr) as bar,
    ):

        def step(name: str) -> None:
            bar.update()
            bar.set_postfix_str(name)

        ours, plain = (
            new_course(Path(folder) / name, settings)
            for name, settings in (("ours", None), ("plain", PLAIN_SETTINGS))
        )
        for course in (ours, plain):
            hand_in(course, students)
        seconds, memory = timed([*grade, "--no-feedback"], ours)
        step("ours")
        plain_seconds, plain_memory = timed(["nbgrader", "autograde", CHAPTER, "--create"], plain)
        step("plain")
        if marks(ours) != marks(plain):
            sys.exit("error: the two ways give different marks")
        plain_feedback, _ = timed(["nbgrader", "generate_feedback", CHAPTER], plain)
        step("plain feedback")
        with_feedback = new_course(Path(folder) / "with-feedback")
        hand_in(with_feedback, students)
        all_seconds, all_memory = timed(grade, with_feedback)
        step("ours with feedback")
        points = []
        for size in curve:
            course = new_course(Path(folder) / f"class-of-{size}")
            hand_in(course, size)
            taken, used = timed([*grade, "--no-feedback"], course)
            points.append({"students": size, "seconds": taken, "memory_bytes": used})
            shutil.rmtree(course)
            step(f"{size} students")
    return {
        "students": students,
        "jobs": jobs,
        "ours": {"seconds": seconds, "memory_bytes": memory},
        "plain": {"seconds": plain_seconds, "memory_bytes": plain_memory},
        "times_the_throughput": plain_seconds / seconds,
        "goal": GOAL,
        "ours_with_feedback": {"seconds": all_seconds, "memory_bytes": all_memory},
        "plain_with_feedback": {"seconds": plain_seconds + plain_feedback},
        "curve": points,
    }


def table(found: dict[str, Any]) -> str:
    """What was measured, as lines of text."""
    students = found["students"]

    def line(name: str, way: dict[str, float]) -> str:
        memory = f", {way['memory_bytes'] / 2**20:,.0f} MiB" if "memory_bytes" in way else ""
        return f"{name:34} {way['seconds']:8.1f} s, {way['seconds'] / students:6.3f} s a submission{memory}"

    lines = [
        f"{students} submissions of {CHAPTER}, {found['jobs']} workers",
        line("posenc grade --no-feedback", found["ours"]),
        line("nbgrader autograde", found["plain"]),
        f"  {found['times_the_throughput']:.1f} times the throughput (goal: at least {found['goal']:g})",
        line("posenc grade, with feedback", found["ours_with_feedback"]),
        line("nbgrader autograde, then feedback", found["plain_with_feedback"]),
    ]
    lines += [
        f"class of {each['students']:>6}: {each['seconds']:8.1f} s, "
        f"{each['seconds'] / each['students']:.3f} s a submission, {each['memory_bytes'] / 2**20:,.0f} MiB"
        for each in found["curve"]
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--students", type=int, default=100, help="in the class graded both ways (100)")
    parser.add_argument(
        "--curve", type=int, nargs="*", default=[10, 100, 300, 1000], help="other class sizes"
    )
    parser.add_argument("--jobs", type=int, default=2, help="workers of ours (2)")
    parser.add_argument("--smoke", action="store_true", help="two students, to see that all of it runs")
    parser.add_argument("--out", type=Path, help="where to write (benchmarks/results/grading/cpu.json)")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.students, options.curve = 2, [1]
    found = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine("cpu", options.jobs),
        **run(options.students, options.curve, options.jobs),
    }
    print(table(found))
    if options.out or not options.smoke:
        out = options.out or RESULTS / "cpu.json"
        out.write_text(json.dumps(found, indent=1) + "\n")
        print(f"written: {out}")


if __name__ == "__main__":
    main()
