"""The command `posenc`: what an instructor types in the course's folder."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from posenc_lib.grading.grades import Limits, Verdict
from posenc_lib.grading.report import add_report
from posenc_lib.grading.visible import visible

if TYPE_CHECKING:
    from posenc_lib.grading.grade import Summary

SHOWN = 20
"""Lines of a list in the summary; what is left out is counted."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 where everything was done; 1 where anything was not; 130 where it was interrupted.
    """
    options = parser().parse_args(arguments)
    from posenc_lib.grading.course import CourseError, find_own_programs

    find_own_programs()
    try:
        return int(options.run(options))
    except CourseError as error:
        print(f"error: {visible(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; what was graded is kept. Run the command again to go on", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """All subcommands."""
    top = argparse.ArgumentParser(prog="posenc", description="Grade a class. Run it in the course's folder.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    _add_grade(commands)
    add_report(commands)
    return top


def _add_grade(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    grade = commands.add_parser(
        "grade",
        help="grade every submission of an assignment",
        description="Grade every submission that was not graded as it is now. A run that was ended goes on.",
    )
    limits = Limits()
    grade.add_argument("assignment", metavar="ASSIGNMENT")
    grade.add_argument(
        "--jobs", type=_positive_int, default=0, metavar="N", help="worker processes (default: one a core)"
    )
    grade.add_argument(
        "--student", nargs="+", action="extend", default=[], metavar="S", help="only these students"
    )
    grade.add_argument("--again", action="store_true", help="grade what was graded before, too")
    grade.add_argument(
        "--time-limit",
        type=_positive_float,
        default=limits.cpu_seconds,
        metavar="S",
        help="seconds of the processor for one submission, and four times as many by the clock "
        "(default: %(default)g)",
    )
    grade.add_argument(
        "--memory-limit",
        type=_positive_int,
        default=limits.memory_bytes // 2**20,
        metavar="MIB",
        help="memory for one submission (default: %(default)d MiB)",
    )
    grade.add_argument("--no-feedback", action="store_true", help="write no feedback pages")
    grade.add_argument(
        "--unsafe",
        action="store_true",
        help="where the sandbox cannot work: run learners' code with your rights; it can then read the "
        "gradebook and other submissions, change your files and use the network",
    )
    grade.add_argument(
        "--scheduler",
        default="",
        metavar="URL",
        help="grade on the workers of this Dask scheduler, such as tls://host:8786 (default: this machine)",
    )
    grade.set_defaults(run=_grade)


def _grade(chosen: argparse.Namespace) -> int:
    from tqdm import tqdm  # type: ignore[import-untyped]

    from posenc_lib.grading.course import Course
    from posenc_lib.grading.grade import Options, grade_class

    options = Options(
        jobs=chosen.jobs,
        students=tuple(dict.fromkeys(chosen.student)),
        again=chosen.again,
        feedback=not chosen.no_feedback,
        limits=replace(Limits.of_time(chosen.time_limit), memory_bytes=chosen.memory_limit * 2**20),
        unsafe=chosen.unsafe,
        scheduler=chosen.scheduler,
    )
    course, config = Course.load(Path.cwd())
    with tqdm(desc=chosen.assignment, unit="submission", file=sys.stderr) as bar:

        def progress(summary: Summary, finished: int, total: int) -> None:
            bar.total = total
            bar.set_postfix_str(_counts(summary), refresh=False)
            bar.update(finished - bar.n)

        summary = grade_class(course, config, chosen.assignment, options, progress)
        bar.refresh()
    print(table(chosen.assignment, summary))
    return 1 if summary.not_graded else 0


def _counts(summary: Summary) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(summary.verdicts.items()))


def table(assignment: str, summary: Summary) -> str:
    """The summary of a grading run, to be read on a terminal."""
    graded = sum(summary.verdicts.values())
    rows = [(str(verdict), summary.verdicts[verdict]) for verdict in Verdict if summary.verdicts[verdict]]
    rows += [("not graded", len(summary.not_graded))] if summary.not_graded else []
    lines = [f"{assignment}: {graded} graded now, {summary.graded_before} graded before and unchanged"]
    lines += [f"  {name:<14}{count:>6}" for name, count in rows]
    if summary.points:
        mean = statistics.fmean(summary.points)
        lines.append(f"  {'mean':<14}{mean:>6.2f} of {summary.max_points:g} points")
    lines += _listed("Could not be graded:", [f"{who}: {why}" for who, why in summary.not_graded.items()])
    remarks = [f"{who}: {each}" for who, all_of_one in summary.remarks.items() for each in all_of_one]
    lines += _listed("Remarks:", remarks)
    return "\n".join(lines)


def _listed(heading: str, items: list[str]) -> list[str]:
    if not items:
        return []
    left_out = len(items) - SHOWN
    return [heading, *(f"  {visible(each)}" for each in items[:SHOWN])] + (
        [f"  ... and {left_out} more; the feedback pages have them all"] if left_out > 0 else []
    )


def _positive_int(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} was given; give 1 or more")
    return number


def _positive_float(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text} was given; give a number of seconds above 0")
    return number
