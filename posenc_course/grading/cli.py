"""The command `posenc`: what an instructor types in the course's folder."""

from __future__ import annotations

import argparse
import gettext
import importlib
import os
import re
import statistics
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import posenc_course
from posenc_course.grading import interrupts
from posenc_course.grading.faults import CourseError, not_installed, of_disk
from posenc_course.grading.limits import Limits
from posenc_course.grading.report.formats import FORMATS
from posenc_course.grading.terminal import and_more, counted, left, wrapped
from posenc_course.grading.untrusted import visible
from posenc_course.grading.verdicts import NOT_GRADED, Verdict
from posenc_course.translation import DOMAIN, FOLDER, N_, _, speak_in

if TYPE_CHECKING:
    from posenc_course.grading.report.class_report import ClassReport
    from posenc_course.grading.run import Remark, Summary

SHOWN, MOST_SHOWN = 20, 2000
"""Lines of a list in the summary, and characters of a line; what is left out is in a file."""
LANGUAGE = re.compile(r"""^LANGUAGE *= *(['"])(?P<language>[^'"\n]*)\1""", re.MULTILINE)
"""As `nbgrader_config.py` writes it."""
OF_ARGPARSE = (
    N_("usage: "),
    N_("options"),
    N_("positional arguments"),
    N_("show this help message and exit"),
    N_("%(prog)s: error: %(message)s\n"),
    N_("argument %(argument_name)s: %(message)s"),
    N_("the following arguments are required: %s"),
    N_("unrecognized arguments: %s"),
    N_("ambiguous option: %(option)s could match %(matches)s"),
    N_("invalid choice: %(value)r (choose from %(choices)s)"),
    N_("ignored explicit argument %r"),
    N_("expected one argument"),
    N_("expected at least one argument"),
)
"""What argparse says by itself. It looks that up in the text domain that `speak_as_the_class` sets."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 where everything was done; 1 where anything was not; 128 and the signal's number where it was
        interrupted (130 after Ctrl-C, 143 after SIGTERM); 70 for a fault of posenc's own.
    """
    with interrupts.handled(to_the_end=arguments is None):
        speak_as_the_class()
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


def speak_as_the_class() -> None:
    """Use the language of POSENC_LANGUAGE, or the one that the course's `nbgrader_config.py` writes out.

    The help, and what is wrong with the command line, are read before any course is loaded.
    """
    try:
        found = LANGUAGE.search(Path("nbgrader_config.py").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    speak_in(found["language"] if found else "")
    gettext.bindtextdomain(DOMAIN, str(FOLDER))
    gettext.textdomain(DOMAIN)


def _told(error: BaseException) -> int:
    """Say what stopped the command, in one sentence; the exit status."""
    match error:
        case KeyboardInterrupt():
            print(interrupts.sentence(), file=sys.stderr)
            return getattr(error, "status", 130)
        case CourseError():
            sentence, status = str(error), 1
        case BrokenPipeError():
            # Whoever read the output has read enough: say nothing, and nothing more at the end either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 1
        case OSError():
            sentence, status = of_disk(error), 1
        case ImportError():
            sentence, status = not_installed(error), 1
        case MemoryError():
            sentence, status = _("there is not enough memory. End other programs, or use --jobs 1"), 1
        case Exception():
            sentence, status = _fault(error), 70
        case _:
            raise error
    print(visible(_("error: {sentence}").format(sentence=sentence)), file=sys.stderr)
    return status


def _fault(error: Exception) -> str:
    """What nobody foresaw: the traceback goes to a file, for whoever can fix it."""
    with tempfile.NamedTemporaryFile("w", prefix="posenc-fault-", suffix=".txt", delete=False) as file:
        traceback.print_exception(error, file=file)
    return _(
        "this is a bug in posenc, not a mistake of yours or a learner's ({error}). What was graded is kept. "
        "Please report it, with the file {file}"
    ).format(error=f"{type(error).__name__}: {error}", file=file.name)


class _Help(argparse.HelpFormatter):
    """Breaks lines where there are no spaces, too."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in wrapped(text, width))


class _Parser(argparse.ArgumentParser):
    """One whose subcommands have the same kind of help."""

    def __init__(self, **named: Any) -> None:
        super().__init__(formatter_class=_Help, **named)


Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"


def parser() -> argparse.ArgumentParser:
    """All subcommands."""
    top = _Parser(prog="posenc", description=_("Grade a class. Run it in the course's folder."))
    version = f"posenc {posenc_course.__version__}"
    top.add_argument(
        "--version", action="version", version=version, help=_("show program's version number and exit")
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    _add_grade(commands)
    _add_report(commands)
    _add_move(commands)
    _add_verify(commands)
    return top


def _add_grade(commands: Commands) -> None:
    grade = commands.add_parser(
        "grade",
        help=_("grade every submission of an assignment"),
        description=_("Grade every submission that is new or has changed. An interrupted run continues."),
    )
    limits = Limits()
    grade.add_argument("assignment", metavar="ASSIGNMENT")
    grade.add_argument(
        "--jobs",
        type=_positive_int,
        default=0,
        metavar="N",
        help=_("worker processes (default: one per core)"),
    )
    grade.add_argument(
        "--student", nargs="+", action="extend", default=[], metavar="S", help=_("only these students")
    )
    grade.add_argument("--again", action="store_true", help=_("also grade what was graded before"))
    grade.add_argument(
        "--time-limit",
        type=_positive_float,
        default=limits.cpu_seconds,
        metavar="S",
        help=_(
            "seconds of processor time for one submission, and four times as many by the clock "
            "(default: %(default)g)"
        ),
    )
    grade.add_argument(
        "--memory-limit",
        type=_positive_int,
        default=limits.memory_bytes // 2**20,
        metavar="MIB",
        help=_("memory for one submission (default: %(default)d MiB)"),
    )
    grade.add_argument("--no-feedback", action="store_true", help=_("write no feedback pages"))
    grade.add_argument(
        "--unsafe",
        action="store_true",
        help=_(
            "where the sandbox cannot work: run learners' code with your rights; it can then read the "
            "gradebook and other submissions, change your files and use the network"
        ),
    )
    grade.add_argument(
        "--scheduler",
        default="",
        metavar="URL",
        help=_(
            "grade on the workers of this Dask scheduler, such as tls://host:8786 (default: this machine)"
        ),
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
    with tqdm(desc=chosen.assignment, unit=_("submission"), file=sys.stderr) as bar:

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
            _("nothing was handed in for {assignment}: there is no {folder}").format(
                assignment=chosen.assignment, folder=course.submitted / "<student>" / chosen.assignment
            )
        )
    return 0 if summary.complete else 1


def _counts(summary: Summary) -> str:
    return _(", ").join(counted(count, verdict) for verdict, count in sorted(summary.verdicts.items()))


def table(assignment: str, summary: Summary, shown: int | None = SHOWN) -> str:
    """The summary of a grading run, to be read on a terminal; of each list so many lines, all for None."""
    graded = sum(summary.verdicts.values())
    rows = [(_(verdict), summary.verdicts[verdict]) for verdict in Verdict if summary.verdicts[verdict]]
    rows += [(_(NOT_GRADED), len(summary.not_graded))] if summary.not_graded else []
    told = _("{assignment}: {now} graded now, {before} graded before and unchanged")
    lines = [told.format(assignment=assignment, now=graded, before=summary.graded_before)]
    lines += [f"  {left(name, 14)}{count:>6}" for name, count in rows]
    if summary.points:
        mean = _("{mean} of {most:g} points")
        points = mean.format(mean=f"{statistics.fmean(summary.points):>6.2f}", most=summary.max_points)
        lines.append("  " + left(_("mean"), 14) + points)
    not_graded = [f"{who}: {why}" for who, why in summary.not_graded.items()]
    lines += _listed(_("Could not be graded:"), not_graded, shown)
    lines += _listed(_("Handed in elsewhere, and not graded:"), summary.misplaced, shown)
    tampered = [f"{who}: {', '.join(answers)}" for who, answers in summary.tampered.items()]
    lines += _listed(_("Tampered; look at the notebook before you talk to the learner:"), tampered, shown)
    lines += _listed(_("Remarks:"), _gravest_first(summary.remarks), shown)
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
        [and_more(left_out)] if left_out else []
    )


def keep_whole(state: Path, assignment: str, summary: Summary) -> str:
    """Where the table leaves something out, write all of it to a file in `state`; a sentence says so."""
    from posenc_course.grading.course import write_atomically

    whole = table(assignment, summary, shown=None)
    if whole == table(assignment, summary):
        return ""
    path = state / f"summary-{assignment}.txt"
    write_atomically(path, f"{whole}\n", 0o600)
    return _("The full list is in {path}").format(path=path)


def _add_report(commands: Commands) -> None:
    report = commands.add_parser(
        "report",
        help=_("marks, pass rates and named mistakes of an assignment"),
        description=_("Show how the class did, from what grading stored; nothing is run again."),
    )
    report.add_argument("assignment", metavar="ASSIGNMENT")
    report.add_argument(
        "--marks",
        type=Path,
        action=_Once,
        metavar="FILE",
        help=_("write everyone's marks to this CSV file"),
    )
    report.add_argument(
        "--format",
        choices=("csv", *FORMATS),
        help=_("columns of the marks (default: csv, with everything)"),
    )
    report.add_argument(
        "--column",
        metavar="NAME",
        help=_("heading of the marks in {systems} (default: the assignment's name)").format(
            systems=_systems()
        ),
    )
    report.add_argument(
        "--picture",
        type=Path,
        action=_Once,
        metavar="FILE",
        help=_("draw the named mistakes: FILE.svg is the picture, FILE.html a page with tables; no names"),
    )
    report.add_argument("--force", action="store_true", help=_("overwrite existing files"))
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
            told = _("{path} could not be written: {problem}")
            raise CourseError(told.format(path=path, problem=error.strerror)) from error
    print(as_text(report))
    for path, _text, _mode in files:
        print(_("wrote {path}").format(path=path))
    for remark in _remarks(report, chosen):
        print(_("note: {sentence}").format(sentence=visible(remark)), file=sys.stderr)
    return 0


def _systems() -> str:
    return _(" or ").join(each.system for each in FORMATS.values())


def _require_sense(chosen: argparse.Namespace) -> None:
    if not chosen.marks and (chosen.format or chosen.column):
        raise CourseError(
            _("--format and --column are about the marks: say where to write them, --marks FILE")
        )
    if chosen.column and chosen.format not in FORMATS:
        add = _(" or ").join(f"--format {name}" for name in FORMATS)
        told = _("--column names the marks in {systems}: add {option}")
        raise CourseError(told.format(systems=_systems(), option=add))
    if chosen.picture and chosen.picture.suffix not in (".svg", ".html"):
        told = _("--picture {path} was given; give a name that ends in .svg or .html")
        raise CourseError(told.format(path=chosen.picture))
    wanted = [path for path in (chosen.marks, chosen.picture) if path]
    if len({path.absolute() for path in wanted}) < len(wanted):
        told = _("marks and picture cannot both be written to {path}")
        raise CourseError(told.format(path=chosen.marks))
    for path in wanted:
        if not path.parent.is_dir():
            told = _("{path} cannot be written: there is no folder {folder}. Make it first")
            raise CourseError(told.format(path=path, folder=path.parent))
    there = [str(path) for path in wanted if path.is_symlink() or path.exists()]
    if there and not chosen.force:
        told = _("{path} already exists; choose another name, or add --force")
        raise CourseError(told.format(path=", ".join(there)))


def _remarks(report: ClassReport, chosen: argparse.Namespace) -> Iterator[str]:
    from posenc_course.grading.report.class_report import some
    from posenc_course.grading.report.spreadsheet import is_harmful

    waiting = [line.student for line in report.lines if line.verdict == NOT_GRADED]
    if waiting:
        told = _("{students}: handed in, but not graded. Run: posenc grade {assignment}")
        yield told.format(students=some(waiting), assignment=report.assignment)
    if not chosen.marks:
        return
    without = [line.student for line in report.lines if line.marks is None]
    if without and chosen.format in FORMATS:
        told = _("left out of {path}, because they have no mark: {students}")
        yield told.format(path=chosen.marks, students=some(without))
    names = (
        (line.student, line.last_name, line.first_name, line.email, line.lms_user_id) for line in report.lines
    )
    changed = [each for of_one in names for each in of_one if is_harmful(each)]
    if changed:
        yield _(
            "a spreadsheet program would take these for formulas, so an apostrophe was put before them: "
            "{cells}"
        ).format(cells=some(changed))


def _add_move(commands: Commands) -> None:
    move = commands.add_parser(
        "move",
        help=_("copy the gradebook to another database, with everything in it"),
        description=_(
            "Copy the course's gradebook to an empty database: names, due dates, extensions, comments and "
            "marks, those given by hand too. The old one stays as it is."
        ),
    )
    move.add_argument("url", metavar="URL", help=_("such as postgresql+psycopg2://grader@host/gradebook"))
    move.set_defaults(run=_move, needs=("nbgrader.api",))


def _move(chosen: argparse.Namespace) -> int:
    from posenc_course.grading.course import Course, find_own_programs
    from posenc_course.grading.faults import shown_url
    from posenc_course.grading.recorded.move import move

    find_own_programs()
    course, _config = Course.load(Path.cwd())
    moved = move(course, chosen.url)
    each = _("{what}: {count}")
    counts = _(", ").join(each.format(what=_(what), count=count) for what, count in moved.items())
    told = _("moved to {url}, with everything that belongs to them: {counts}")
    print(told.format(url=shown_url(chosen.url), counts=counts))
    told = _("{url} stays as it was. Set POSENC_DB_URL to the new address wherever nbgrader runs")
    print(told.format(url=shown_url(course.db_url)))
    return 0


def _add_verify(commands: Commands) -> None:
    verify = commands.add_parser(
        "verify",
        help=_("check a certificate's code against an exported progress file"),
        description=_(
            "Compute the code of a certificate again from an exported progress file. The code proves "
            "practice, not identity: it is a checksum, not a signature."
        ),
    )
    verify.add_argument("file", metavar="FILE", nargs="?", help=_("the exported progress file (asked for)"))
    verify.add_argument("code", metavar="CODE", nargs="?", help=_("as on the certificate (asked for)"))
    verify.add_argument(
        "--answers",
        action="store_true",
        help=_("judge the answers in the file again, behind walls; run it in the course's folder"),
    )
    verify.set_defaults(run=_verify, needs=("posenc_course.grading.verify",))


def _verify(chosen: argparse.Namespace) -> int:
    from posenc_course.grading import verify

    file = chosen.file or _asked(_("Exported progress file: "))
    code = chosen.code or _asked(_("Code on the certificate: "))
    progress = verify.read(Path(file))
    certificate = verify.find(progress, code)
    print(verify.said(certificate))
    if not chosen.answers:
        print(f"{_(verify.LIMITS)}\n{_(verify.NOT_JUDGED)}")
        return 0
    grades = verify.judged(progress, certificate, Path.cwd())
    print(f"{verify.said_of_answers(grades)}\n{_(verify.LIMITS)}")
    return 0 if all(each.verdict is Verdict.RIGHT for each in grades) else 1


def _asked(question: str) -> str:
    """What is typed, where the command line does not say it."""
    try:
        typed = input(question).strip()
    except EOFError:
        typed = ""
    if not typed:
        raise CourseError(_("give the exported file and the code: posenc verify FILE CODE"))
    return typed


def _positive_int(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        told = _("{text} was given; give a whole number, 1 or more")
        raise argparse.ArgumentTypeError(told.format(text=text))
    return number


def _positive_float(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        told = _("{text} was given; give a number of seconds above 0")
        raise argparse.ArgumentTypeError(told.format(text=text))
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
            told = _("{option} was given twice, as {before} and as {value}; give it once")
            parser.error(told.format(option=option, before=before, value=value))
        setattr(chosen, self.dest, value)
