"""The command `posenc`: what an instructor types in the course's folder."""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import posenc_course
from posenc_course.grading import interrupts
from posenc_course.grading.faults import CourseError, not_installed, of_disk
from posenc_course.grading.limits import Limits
from posenc_course.grading.report.formats import FORMATS
from posenc_course.grading.untrusted import visible
from posenc_course.grading.verdicts import Verdict

if TYPE_CHECKING:
    from posenc_course.grading.report.class_report import ClassReport
    from posenc_course.grading.run import Remark, Summary

SHOWN, MOST_SHOWN = 20, 2000
"""Lines of a list in the summary, and characters of a line; what is left out is in a file."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 where everything was done; 1 where anything was not; 128 and the signal's number where it was
        interrupted (130 after Ctrl-C, 143 after SIGTERM); 70 for a fault of posenc's own.
    """
    with interrupts.handled(to_the_end=arguments is None):
        options = parser().parse_args(arguments)
        try:
            for module in options.needs:
                importlib.import_module(module)
            interrupts.unwind()
            status = int(options.run(options))
            sys.stdout.flush()
        except BaseException as error:
            interrupts.ignore()
            status = _told(error)
        return status


def _told(error: BaseException) -> int:
    """Say what stopped the command, in one sentence; the exit status."""
    match error:
        case KeyboardInterrupt():
            sentence, status = interrupts.SENTENCE.strip(), getattr(error, "status", 130)
        case CourseError():
            sentence, status = f"error: {error}", 1
        case BrokenPipeError():
            # Whoever read the output has read enough: say nothing, and nothing more at the end either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 1
        case OSError():
            sentence, status = f"error: {of_disk(error)}", 1
        case ImportError():
            sentence, status = f"error: {not_installed(error)}", 1
        case MemoryError():
            sentence, status = "error: there is not enough memory. End other programs, or use --jobs 1", 1
        case Exception():
            sentence, status = _fault(error), 70
        case _:
            raise error
    print(visible(sentence), file=sys.stderr)
    return status


def _fault(error: Exception) -> str:
    """What nobody foresaw: the traceback goes to a file, for whoever can fix it."""
    with tempfile.NamedTemporaryFile("w", prefix="posenc-fault-", suffix=".txt", delete=False) as file:
        traceback.print_exception(error, file=file)
    return (
        f"error: this is a bug in posenc, not a mistake of yours or a learner's ({type(error).__name__}: "
        f"{error}). What was graded is kept. Please report it, with the file {file.name}"
    )


def parser() -> argparse.ArgumentParser:
    """All subcommands."""
    top = argparse.ArgumentParser(prog="posenc", description="Grade a class. Run it in the course's folder.")
    top.add_argument("--version", action="version", version=f"posenc {posenc_course.__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    _add_grade(commands)
    _add_report(commands)
    _add_move(commands)
    _add_verify(commands)
    return top


def _add_grade(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    grade = commands.add_parser(
        "grade",
        help="grade every submission of an assignment",
        description="Grade every submission that is new or has changed. An interrupted run continues.",
    )
    limits = Limits()
    grade.add_argument("assignment", metavar="ASSIGNMENT")
    grade.add_argument(
        "--jobs", type=_positive_int, default=0, metavar="N", help="worker processes (default: one per core)"
    )
    grade.add_argument(
        "--student", nargs="+", action="extend", default=[], metavar="S", help="only these students"
    )
    grade.add_argument("--again", action="store_true", help="also grade what was graded before")
    grade.add_argument(
        "--time-limit",
        type=_positive_float,
        default=limits.cpu_seconds,
        metavar="S",
        help="seconds of processor time for one submission, and four times as many by the clock "
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
    grade.set_defaults(run=_grade, needs=("tqdm", "posenc_course.grading.run"))


def _grade(chosen: argparse.Namespace) -> int:
    from tqdm import tqdm

    from posenc_course.grading.course import Course, find_own_programs
    from posenc_course.grading.run import Options, grade_class

    options = Options(
        jobs=chosen.jobs,
        students=tuple(dict.fromkeys(chosen.student)),
        again=chosen.again,
        feedback=not chosen.no_feedback,
        limits=replace(Limits.of_time(chosen.time_limit), memory_bytes=chosen.memory_limit * 2**20),
        unsafe=chosen.unsafe,
        scheduler=chosen.scheduler,
    )
    find_own_programs()
    course, config = Course.load(Path.cwd())
    with tqdm(desc=chosen.assignment, unit="submission", file=sys.stderr) as bar:

        def progress(summary: Summary, finished: int, total: int) -> None:
            bar.total = total
            bar.set_postfix_str(_counts(summary), refresh=False)
            bar.update(finished - bar.n)

        summary = grade_class(course, config, chosen.assignment, options, progress)
        bar.refresh()
    print(table(chosen.assignment, summary))
    if said := keep_whole(course.state, chosen.assignment, summary):
        print(said)
    if not (summary.graded_before or summary.verdicts or summary.not_graded or summary.misplaced):
        raise CourseError(
            f"nothing was handed in for {chosen.assignment}: there is no "
            f"{course.submitted}/<student>/{chosen.assignment}"
        )
    return 0 if summary.complete else 1


def _counts(summary: Summary) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(summary.verdicts.items()))


def table(assignment: str, summary: Summary, shown: int | None = SHOWN) -> str:
    """The summary of a grading run, to be read on a terminal; of each list so many lines, all for None."""
    graded = sum(summary.verdicts.values())
    rows = [(str(verdict), summary.verdicts[verdict]) for verdict in Verdict if summary.verdicts[verdict]]
    rows += [("not graded", len(summary.not_graded))] if summary.not_graded else []
    lines = [f"{assignment}: {graded} graded now, {summary.graded_before} graded before and unchanged"]
    lines += [f"  {name:<14}{count:>6}" for name, count in rows]
    if summary.points:
        mean = statistics.fmean(summary.points)
        lines.append(f"  {'mean':<14}{mean:>6.2f} of {summary.max_points:g} points")
    not_graded = [f"{who}: {why}" for who, why in summary.not_graded.items()]
    lines += _listed("Could not be graded:", not_graded, shown)
    lines += _listed("Handed in elsewhere, and not graded:", summary.misplaced, shown)
    tampered = [f"{who}: {', '.join(answers)}" for who, answers in summary.tampered.items()]
    lines += _listed("Tampered; look at the notebook before you talk to the learner:", tampered, shown)
    lines += _listed("Remarks:", _gravest_first(summary.remarks), shown)
    return "\n".join(lines)


def _gravest_first(remarks: Sequence[Remark]) -> list[str]:
    """What may change a mark before what costs nothing; what several learners share is said once."""
    whose: dict[str, list[str]] = {}
    for each in sorted(remarks, key=lambda remark: remark.gravity):
        whose.setdefault(each.sentence, []).append(each.student)
    return [f"{', '.join(dict.fromkeys(students))}: {sentence}" for sentence, students in whose.items()]


def _listed(heading: str, items: list[str], shown: int | None) -> list[str]:
    if not items:
        return []
    left_out = len(items[shown:]) if shown else 0
    most = MOST_SHOWN if shown else sum(map(len, items))
    return [heading, *(f"  {visible(each, most)}" for each in items[:shown])] + (
        [f"  ... and {left_out} more"] if left_out else []
    )


def keep_whole(state: Path, assignment: str, summary: Summary) -> str:
    """Where the table leaves something out, write all of it to a file in `state`; a sentence says so."""
    from posenc_course.grading.course import write_atomically

    whole = table(assignment, summary, shown=None)
    if whole == table(assignment, summary):
        return ""
    path = state / f"summary-{assignment}.txt"
    write_atomically(path, f"{whole}\n", 0o600)
    return f"The full list is in {path}"


def _add_report(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    report = commands.add_parser(
        "report",
        help="marks, pass rates and named mistakes of an assignment",
        description="Show how the class did, from what grading stored; nothing is run again.",
    )
    report.add_argument("assignment", metavar="ASSIGNMENT")
    report.add_argument(
        "--marks", type=Path, action=_Once, metavar="FILE", help="write everyone's marks to this CSV file"
    )
    report.add_argument(
        "--format",
        choices=("csv", *FORMATS),
        help="columns of the marks (default: csv, with everything)",
    )
    report.add_argument(
        "--column",
        metavar="NAME",
        help=f"heading of the marks in {_systems()} (default: the assignment's name)",
    )
    report.add_argument(
        "--picture",
        type=Path,
        action=_Once,
        metavar="FILE",
        help="draw the named mistakes: FILE.svg is the picture, FILE.html a page with tables; no names",
    )
    report.add_argument("--force", action="store_true", help="overwrite existing files")
    report.set_defaults(run=_report, needs=("nbgrader.api",))


def _report(chosen: argparse.Namespace) -> int:
    """Where anything stops it, no file is written."""
    from posenc_course.grading.course import Course, find_own_programs, write_atomically
    from posenc_course.grading.report import marks
    from posenc_course.grading.report.class_report import class_report
    from posenc_course.grading.report.class_text import as_text

    _require_sense(chosen)
    find_own_programs()
    course, config = Course.load(Path.cwd())
    report = class_report(course, chosen.assignment)
    files: list[tuple[Path, str, int]] = []
    if chosen.marks:
        if chosen.format in FORMATS:
            exporter = marks.EXPORTERS[chosen.format](config=config)
            exporter.column = chosen.column or exporter.column
            text = exporter.as_csv(report)
        else:
            text = marks.as_csv(marks.everything(report))
        files.append((chosen.marks, text, marks.FOR_ONE))
    if chosen.picture:
        from posenc_course.grading.report.class_page import as_page, as_svg

        draw = as_svg if chosen.picture.suffix == ".svg" else as_page
        files.append((chosen.picture, draw(report), 0o644))
    for path, text, mode in files:
        try:
            write_atomically(path, text, mode)
        except OSError as error:
            raise CourseError(f"{path} could not be written: {error.strerror}") from error
    print(as_text(report))
    for path, _text, _mode in files:
        print(f"wrote {path}")
    for remark in _remarks(report, chosen):
        print(f"note: {visible(remark)}", file=sys.stderr)
    return 0


def _systems() -> str:
    return " or ".join(each.system for each in FORMATS.values())


def _require_sense(chosen: argparse.Namespace) -> None:
    if not chosen.marks and (chosen.format or chosen.column):
        raise CourseError("--format and --column are about the marks: say where to write them, --marks FILE")
    if chosen.column and chosen.format not in FORMATS:
        add = " or ".join(f"--format {name}" for name in FORMATS)
        raise CourseError(f"--column names the marks in {_systems()}: add {add}")
    if chosen.picture and chosen.picture.suffix not in (".svg", ".html"):
        raise CourseError(f"--picture {chosen.picture} was given; give a name that ends in .svg or .html")
    wanted = [path for path in (chosen.marks, chosen.picture) if path]
    if len({path.absolute() for path in wanted}) < len(wanted):
        raise CourseError(f"marks and picture cannot both be written to {chosen.marks}")
    for path in wanted:
        if not path.parent.is_dir():
            raise CourseError(f"{path} cannot be written: there is no folder {path.parent}. Make it first")
    there = [str(path) for path in wanted if path.is_symlink() or path.exists()]
    if there and not chosen.force:
        raise CourseError(f"{', '.join(there)} already exists; choose another name, or add --force")


def _remarks(report: ClassReport, chosen: argparse.Namespace) -> Iterator[str]:
    from posenc_course.grading.report.class_report import NOT_GRADED, some
    from posenc_course.grading.report.spreadsheet import is_harmful

    waiting = [line.student for line in report.lines if line.verdict == NOT_GRADED]
    if waiting:
        yield f"{some(waiting)}: handed in, but not graded. Run: posenc grade {report.assignment}"
    if not chosen.marks:
        return
    without = [line.student for line in report.lines if line.marks is None]
    if without and chosen.format in FORMATS:
        yield f"left out of {chosen.marks}, because they have no mark: {some(without)}"
    names = (
        (line.student, line.last_name, line.first_name, line.email, line.lms_user_id) for line in report.lines
    )
    changed = [each for of_one in names for each in of_one if is_harmful(each)]
    if changed:
        yield (
            "a spreadsheet program would take these for formulas, so an apostrophe was put before them: "
            f"{some(changed)}"
        )


def _add_move(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    move = commands.add_parser(
        "move",
        help="copy the gradebook to another database, with everything in it",
        description="Copy the course's gradebook to an empty database: names, due dates, extensions, "
        "comments and marks, those given by hand too. The old one stays as it is.",
    )
    move.add_argument("url", metavar="URL", help="such as postgresql+psycopg2://grader@host/gradebook")
    move.set_defaults(run=_move, needs=("nbgrader.api",))


def _move(chosen: argparse.Namespace) -> int:
    from posenc_course.grading.course import Course, find_own_programs
    from posenc_course.grading.faults import shown_url
    from posenc_course.grading.recorded.move import move

    find_own_programs()
    course, _config = Course.load(Path.cwd())
    moved = move(course, chosen.url)
    counts = ", ".join(f"{what}: {count}" for what, count in moved.items())
    print(f"moved to {shown_url(chosen.url)}, with everything that belongs to them: {counts}")
    print(
        f"{shown_url(course.db_url)} stays as it was. Set POSENC_DB_URL to the new address wherever "
        "nbgrader runs"
    )
    return 0


def _add_verify(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verify = commands.add_parser(
        "verify",
        help="check a certificate's code against an exported progress file",
        description="Compute the code of a certificate again from an exported progress file. The code proves "
        "practice, not identity: it is a checksum, not a signature.",
    )
    verify.add_argument("file", metavar="FILE", nargs="?", help="the exported progress file (asked for)")
    verify.add_argument("code", metavar="CODE", nargs="?", help="as on the certificate (asked for)")
    verify.add_argument(
        "--answers",
        action="store_true",
        help="judge the answers in the file again, behind walls; run it in the course's folder",
    )
    verify.set_defaults(run=_verify, needs=("posenc_course.grading.verify",))


def _verify(chosen: argparse.Namespace) -> int:
    from posenc_course.grading import verify

    file = chosen.file or _asked("Exported progress file: ")
    code = chosen.code or _asked("Code on the certificate: ")
    progress = verify.read(Path(file))
    certificate = verify.find(progress, code)
    print(verify.said(certificate))
    if not chosen.answers:
        print(f"{verify.LIMITS}\n{verify.NOT_JUDGED}")
        return 0
    grades = verify.judged(progress, certificate, Path.cwd())
    print(f"{verify.said_of_answers(grades)}\n{verify.LIMITS}")
    return 0 if all(each.verdict is Verdict.RIGHT for each in grades) else 1


def _asked(question: str) -> str:
    """What is typed, where the command line does not say it."""
    try:
        typed = input(question).strip()
    except EOFError:
        typed = ""
    if not typed:
        raise CourseError("give the exported file and the code: posenc verify FILE CODE")
    return typed


def _positive_int(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} was given; give a whole number, 1 or more")
    return number


def _positive_float(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text} was given; give a number of seconds above 0")
    return number


class _Once(argparse.Action):
    """An option that may be given once: the second would silently take the first one's place."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        chosen: argparse.Namespace,
        value: object,
        option: str | None = None,
    ) -> None:
        before = getattr(chosen, self.dest)
        if before is not None:
            parser.error(f"{option} was given twice, as {before} and as {value}; give it once")
        setattr(chosen, self.dest, value)
