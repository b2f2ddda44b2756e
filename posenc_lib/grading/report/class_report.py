"""How a class did: marks for a spreadsheet, Canvas or Moodle; pass rates; which named mistakes were made.

Nothing is run again. Verdicts and mistakes come from the journal, marks from nbgrader's gradebook, so that
manual grades, extra credit and late penalties count.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import statistics
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from posenc_lib.checking.messages import _
from posenc_lib.exercises import all_exercises
from posenc_lib.grading.course import Course, find_own_programs, write_atomically
from posenc_lib.grading.faults import CourseError, told
from posenc_lib.grading.recorded.journal import Journal
from posenc_lib.grading.report import likeness, spreadsheet
from posenc_lib.grading.report.likeness import Alike, Outsized
from posenc_lib.grading.report.spreadsheet import harmless, is_harmful
from posenc_lib.grading.untrusted import visible
from posenc_lib.grading.verdicts import ExerciseGrade, SubmissionGrade, Verdict

if TYPE_CHECKING:
    from posenc_lib.figures.picture import Picture

Form = Literal["csv", "canvas", "moodle"]

NO_SUBMISSION = "no submission"
NOT_GRADED = "not graded"
"""Handed in, but no grading run has got to it."""
ELSEWHERE = "graded elsewhere"
"""In the gradebook, but not by this course's grading."""

NAMED = 5
"""Students that a message names; the rest is counted."""
LISTED = 20
"""Lines of a list; the rest is counted."""
BAR = 40
"""Characters of the longest bar."""


@dataclass(frozen=True)
class Line:
    """One student of the class, with what the gradebook says."""

    student: str
    verdict: str
    """A `Verdict`, or why there is none."""
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    """Its number in Canvas or the like, where nbgrader was told."""
    submitted: datetime | None = None
    """In UTC, where nbgrader knows it."""
    marks: Mapping[str, float] | None = None
    """Points by column, manual grades and extra credit included; None where there is no grade."""
    late_penalty: float = 0.0
    needs_manual_grade: bool = False
    judged: Mapping[str, float] = field(default_factory=dict)
    """What nbgrader calls the auto score of each column."""
    tampered: tuple[str, ...] = ()
    """Answers with that verdict, whatever the whole submission has."""

    @property
    def points(self) -> float | None:
        """What counts in the end, as in nbgrader's own export."""
        return None if self.marks is None else max(0.0, sum(self.marks.values()) - self.late_penalty)


@dataclass(frozen=True)
class ExerciseLine:
    """How one exercise came out in the class, as the judge saw it."""

    function: str
    verdicts: Counter[Verdict]
    points: float
    """Mean, without manual grades."""
    max_points: float
    unnamed: int
    """Wrong or partly right answers whose mistake has no name."""

    @property
    def submissions(self) -> int:
        return sum(self.verdicts.values())

    @property
    def pass_rate(self) -> float:
        return self.verdicts[Verdict.RIGHT] / self.submissions


@dataclass(frozen=True)
class MistakeLine:
    """One named mistake, and how many made it."""

    function: str
    name: str
    message: str
    """What the learners were told; empty where the exercise knows the mistake no more."""
    count: int
    share: float
    """Of the graded submissions."""


@dataclass(frozen=True)
class ClassReport:
    """All that is known of a class and one assignment."""

    assignment: str
    columns: Mapping[str, float]
    """Each graded cell, by name, with its points."""
    lines: tuple[Line, ...]
    exercises: tuple[ExerciseLine, ...]
    mistakes: tuple[MistakeLine, ...]
    """The most frequent first."""
    alike: tuple[Alike, ...] = ()
    outsized: tuple[Outsized, ...] = ()

    @property
    def graded(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.marks is not None)

    @property
    def max_points(self) -> float:
        return sum(self.columns.values())


def class_report(course: Course, assignment: str) -> ClassReport:
    """The report of one assignment.

    Raises:
        CourseError: nothing of it was graded, or the gradebook does not hold the latest grades.
    """
    with told(course.state, course.db_url):
        return _class_report(course, assignment)


def _class_report(course: Course, assignment: str) -> ClassReport:
    grades = _journal(course, assignment)
    columns, students = _gradebook(course, assignment)
    _require_current(assignment, grades, columns, students)
    everyone = {name: Line(name, NO_SUBMISSION) for name in students}
    # A folder's name need not be valid text; such a submission is never graded.
    handed_in = [os.fsencode(n).decode(errors="backslashreplace") for n in course.students(assignment)]
    everyone |= {name: Line(name, NOT_GRADED) for name in handed_in}
    for name, line in students.items():
        verdict = ELSEWHERE if line.marks is not None else everyone[name].verdict
        if name in grades:
            line = replace(line, verdict=str(grades[name].verdict), tampered=grades[name].tampered)
            everyone[name] = line
        else:
            everyone[name] = replace(line, verdict=verdict)
    likenesses, sizes = _likenesses(course, assignment)
    exercises = [each for grade in grades.values() for each in grade.exercises]
    return ClassReport(
        assignment,
        columns,
        tuple(everyone[name] for name in sorted(everyone)),
        tuple(_exercise_lines(exercises)),
        tuple(_mistake_lines(exercises, len(grades))),
        tuple(likenesses),
        tuple(sizes),
    )


# --- What is read ----------------------------------------------------------------------------


def _journal(course: Course, assignment: str) -> dict[str, SubmissionGrade]:
    grades: dict[str, SubmissionGrade] = {}
    if (course.state / "journal.db").exists():
        with Journal(course.state) as journal:
            grades = {grade.student: grade for grade in journal.grades(assignment)}
    if not grades:
        raise CourseError(f"nothing of {assignment!r} was graded; run this first: posenc grade {assignment}")
    return grades


def _likenesses(course: Course, assignment: str) -> tuple[list[Alike], list[Outsized]]:
    """Answers that are alike beyond chance, and answers of improbable size."""
    exercises = [each for each in all_exercises() if each.chapter == assignment]
    own = [folder / assignment / f"{assignment}.ipynb" for folder in (course.source, course.released)]
    with Journal(course.state) as journal:
        everyone = [
            likeness.answers(student, cells, exercises) for student, cells in journal.cells(assignment)
        ]
    known = likeness.natural(exercises, *own)
    return likeness.alike(everyone, known), likeness.outsized(everyone, likeness.model_sizes(exercises, *own))


def _gradebook(course: Course, assignment: str) -> tuple[dict[str, float], dict[str, Line]]:
    """Columns with their points, and everyone whom the gradebook knows."""
    from nbgrader import api
    from sqlalchemy import func, select

    submission, notebook, grade = api.SubmittedAssignment, api.SubmittedNotebook, api.Grade
    try:
        with api.Gradebook(course.db_url, course.course_id) as gradebook:
            found = gradebook.find_assignment(assignment)
            cells = _columns(found)
            by_hand = func.coalesce(grade.manual_score, grade.auto_score, 0.0)
            scores = gradebook.db.execute(
                select(
                    submission.student_id,
                    grade.cell_id,
                    by_hand + func.coalesce(grade.extra_credit, 0.0),
                    func.coalesce(grade.auto_score, 0.0),
                    grade.needs_manual_grade,
                )
                .join_from(submission, notebook, notebook.assignment_id == submission.id)
                .join(grade, grade.notebook_id == notebook.id)
                .where(submission.assignment_id == found.id)
            ).all()
            penalties = gradebook.db.execute(
                select(
                    submission.student_id,
                    submission.timestamp,
                    func.sum(func.coalesce(notebook.late_submission_penalty, 0.0)),
                )
                .join_from(submission, notebook, notebook.assignment_id == submission.id)
                .where(submission.assignment_id == found.id)
                .group_by(submission.student_id, submission.timestamp)
            ).all()
            people = gradebook.db.execute(select(api.Student.__table__)).all()
    except api.MissingEntry as error:
        raise CourseError(
            f"nbgrader's gradebook knows no assignment {assignment!r}; release it: make exercises"
        ) from error
    marks: dict[str, dict[str, float]] = {student: {} for student, _when, _penalty in penalties}
    judged: dict[str, dict[str, float]] = {student: {} for student in marks}
    unfinished = set()
    for student, cell, score, auto, needs_person in scores:
        marks[student][cells[cell][0]] = float(score)
        judged[student][cells[cell][0]] = float(auto)
        if needs_person:
            unfinished.add(student)
    late = {student: (when, float(penalty)) for student, when, penalty in penalties}
    lines = {
        person.id: Line(
            person.id,
            NO_SUBMISSION,
            person.last_name or "",
            person.first_name or "",
            person.email or "",
            person.lms_user_id or "",
            late.get(person.id, (None, 0.0))[0],
            marks.get(person.id),
            late.get(person.id, (None, 0.0))[1],
            person.id in unfinished,
            judged.get(person.id, {}),
        )
        for person in people
    }
    return dict(cells.values()), lines


def _columns(assignment: Any) -> dict[str, tuple[str, float]]:
    """From the id of each graded cell to its column's name and its points, in the order of the notebook."""
    columns = {}
    for notebook in assignment.notebooks:
        place = {cell.name: number for number, cell in enumerate(notebook.source_cells)}
        order = _order_of_exercises(assignment.name)
        graded = [*notebook.grade_cells, *notebook.task_cells]
        for cell in sorted(graded, key=lambda c: (order.get(c.name, len(order)), place.get(c.name, 0))):
            name = cell.name.removeprefix("check-") if cell.name in order else cell.name
            name = name if notebook.name == assignment.name else f"{notebook.name}/{name}"
            columns[cell.id] = (name, float(cell.max_score or 0.0))
    return columns


def _order_of_exercises(assignment: str) -> dict[str, int]:
    found = (each for each in all_exercises() if each.chapter == assignment)
    return {f"check-{each.function}": number for number, each in enumerate(found)}


def _require_current(
    assignment: str,
    grades: Mapping[str, SubmissionGrade],
    columns: Mapping[str, float],
    students: Mapping[str, Line],
) -> None:
    """CourseError where the gradebook does not hold what the journal does, after a run that was ended."""
    behind = [
        name
        for name, grade in grades.items()
        if name not in students or _differs(grade, students[name], columns)
    ]
    if behind:
        raise CourseError(
            f"the gradebook lacks the latest grade of {_some(behind)}: a grading run was ended, is at work, "
            f"or the assignment was released anew. Run: posenc grade {assignment} "
            "(where that changes nothing, add --again)"
        )


def _differs(grade: SubmissionGrade, line: Line, columns: Mapping[str, float]) -> bool:
    for each in grade.exercises:
        function = each.exercise_id.partition(".")[2]
        if function not in columns or not each.max_points:
            continue
        expected = min(each.points / each.max_points, 1.0) * columns[function]
        if not math.isclose(line.judged.get(function, math.nan), expected, abs_tol=1e-6):
            return True
    return False


# --- What is counted -------------------------------------------------------------------------


def _exercise_lines(grades: Sequence[ExerciseGrade]) -> Iterator[ExerciseLine]:
    by_exercise: dict[str, list[ExerciseGrade]] = {}
    for grade in grades:
        by_exercise.setdefault(grade.exercise_id, []).append(grade)
    for exercise_id, of_one in by_exercise.items():
        judged_wrong = [each for each in of_one if each.verdict in (Verdict.WRONG, Verdict.PARTLY)]
        yield ExerciseLine(
            function=exercise_id.partition(".")[2],
            verdicts=Counter(each.verdict for each in of_one),
            points=statistics.fmean(each.points for each in of_one),
            max_points=of_one[-1].max_points,
            unnamed=sum(each.mistake is None for each in judged_wrong),
        )


def _mistake_lines(grades: Iterable[ExerciseGrade], submissions: int) -> list[MistakeLine]:
    counts = Counter((each.exercise_id, each.mistake) for each in grades if each.mistake)
    return [
        MistakeLine(
            function=exercise_id.partition(".")[2],
            name=str(name),
            message=_message(exercise_id, str(name)),
            count=count,
            share=count / submissions,
        )
        for (exercise_id, name), count in counts.most_common()
    ]


def _message(exercise_id: str, name: str) -> str:
    known = next((each for each in all_exercises() if each.id == exercise_id), None)
    messages = {each.name: each.message for each in known.mistakes} if known else {}
    return _(messages[name]) if name in messages else ""


# --- What is written -------------------------------------------------------------------------


def marks_csv(report: ClassReport, form: Form, column: str | None = None) -> str:
    """Marks as CSV.

    Args:
        form: `csv` lists the whole class with everything that is known. `canvas` and `moodle` list those who
            have a mark: there, an empty one would wipe out the mark that stands in the other system.
        column: heading of the marks, as the other system has it; the assignment's name if None.
    """
    rows: Iterable[Sequence[object]]
    if form == "canvas":
        rows = _canvas(report, column or report.assignment)
    elif form == "moodle":
        rows = _moodle(report, column or report.assignment)
    else:
        rows = _everything(report)
    text = io.StringIO()
    spreadsheet.write(text, rows)
    return text.getvalue()


def _everything(report: ClassReport) -> Iterator[Sequence[object]]:
    yield (
        *("student", "last_name", "first_name", "email", "submitted", "verdict"),
        *("points", "max_points", "late_penalty", "needs_manual_grade", "tampered"),
        *report.columns,
    )
    for line in report.lines:
        submitted = line.submitted.isoformat(sep=" ", timespec="seconds") if line.submitted else ""
        marks = line.marks or {}
        yield (
            *(line.student, line.last_name, line.first_name, line.email, submitted, line.verdict),
            *(line.points, report.max_points),
            line.late_penalty if line.marks is not None else None,
            "yes" if line.needs_manual_grade else "no",
            " ".join(line.tampered),
            *(marks.get(name) for name in report.columns),
        )


def _canvas(report: ClassReport, column: str) -> Iterator[Sequence[object]]:
    """Canvas finds a student by `ID`, `SIS User ID`, `SIS Login ID`, or name, in this order.

    Columns and order: Instructure, "How do I import grades in the Gradebook?",
    https://community.canvaslms.com/t5/Instructor-Guide/How-do-I-import-grades-in-the-Gradebook/ta-p/807
    and instructure/canvas-lms, lib/gradebook_importer.rb, `row_has_student_headers?` and `process_student`.
    """
    yield "Student", "ID", "SIS User ID", "SIS Login ID", "Section", column
    yield "Points Possible", "", "", "", "", report.max_points
    for line in report.graded:
        name = ", ".join(part for part in (line.last_name, line.first_name) if part)
        yield name or line.student, line.lms_user_id, "", line.student, "", line.points


def _moodle(report: ClassReport, column: str) -> Iterator[Sequence[object]]:
    """For "Grades > Import > CSV file", with the columns of Moodle's own export.

    https://docs.moodle.org/en/Grade_import. An assignment's offline grading worksheet cannot be made here: it
    knows its rows by participant numbers that only Moodle has.
    """
    yield "First name", "Last name", "ID number", "Email address", column
    for line in report.graded:
        yield line.first_name, line.last_name, line.student, line.email, line.points


def as_text(report: ClassReport) -> str:
    """The report to be read on a terminal."""
    lines = [*_headline(report), "", *_bars(report), *_aligned(*_exercise_table(report)), ""]
    if not report.mistakes:
        lines.append("No submission makes a mistake that has a name.")
    else:
        lines.append("Named mistakes:")
    for each in report.mistakes:
        lines.append(f"{each.count:>5}  {each.share:>4.0%}  {each.function}: {each.name}")
        lines += textwrap.wrap(each.message, 100, initial_indent=" " * 13, subsequent_indent=" " * 13)
    return "\n".join([*lines, *_to_look_at(report)])


def _to_look_at(report: ClassReport) -> list[str]:
    """Who tampered, and answers that are alike or improbably long: for a terminal, with names."""
    tampered = [
        f"{_name(line.student)}: {', '.join(line.tampered)}" for line in report.lines if line.tampered
    ]
    alike = [f"{_some(each.students)}: {', '.join(each.exercises)}" for each in report.alike]
    long = [
        f"{_name(each.student)}: {each.exercise or _('the other cells together')} "
        f"({each.lines} lines, {each.characters} characters; usual are {each.usual})"
        for each in report.outsized
    ]
    found = (
        (
            _("Tampered: the answer calls the library's own function, or tried to deceive the judge:"),
            tampered,
        ),
        (_("Alike up to names, and rarely so by chance:"), alike),
        (_("Far longer than the class's and the model answer:"), long),
    )
    lines = [part for heading, items in found if items for part in ("", heading, *_first(items))]
    if not lines:
        return []
    return [
        *lines,
        "",
        _("These are reasons to look, and no proofs. Read the notebooks, and ask the learners."),
    ]


def _first(items: list[str]) -> list[str]:
    rest = [f"  ... and {len(items) - LISTED} more"] if len(items) > LISTED else []
    return [f"  {each}" for each in items[:LISTED]] + rest


def histogram(report: ClassReport) -> tuple[int, list[int]]:
    """How many have how many points: the width of the classes, at most eleven, and the count in each."""
    points = [line.points for line in report.graded if line.points is not None]
    most = max([report.max_points, *points, 1.0])
    width = math.ceil(most / 10)
    counts = Counter(int(each // width) for each in points)
    return width, [counts[number] for number in range(int(most // width) + 1)]


def _bars(report: ClassReport) -> list[str]:
    """The histogram on a terminal."""
    width, counts = histogram(report)
    if not sum(counts):
        return []
    shown = min(1.0, BAR / max(counts))
    rows = [
        f"{number * width:>7}  {'█' * math.ceil(count * shown) + ' ' if count else ''}{count}"
        for number, count in enumerate(counts)
    ]
    return [_("How many have so many points, in steps of {step}:").format(step=width), *rows, ""]


def as_page(report: ClassReport) -> str:
    """The report as an HTML page that needs no other file. It names no student."""
    title = f"{report.assignment}: how the class did"
    parts = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(line)}</p>" for line in _headline(report))]
    parts += [f"<h2>Points</h2><figure>{_marks_picture(report).svg}</figure>"] if report.graded else []
    parts += ["<h2>Exercises</h2>", _html_table(*_exercise_table(report)), "<h2>Named mistakes</h2>"]
    if report.mistakes:
        parts += [f"<figure>{_picture(report).svg}</figure>", _html_table(*_mistake_table(report))]
    else:
        parts.append("<p>No submission makes a mistake that has a name.</p>")
    return _PAGE.format(title=escape(title), style=_STYLE, body="\n".join(parts))


def as_svg(report: ClassReport) -> str:
    """The picture of the mistakes as a file of its own, on a ground of its own, light or dark.

    Raises:
        CourseError: there is no named mistake to draw.
    """
    if not report.mistakes:
        raise CourseError("no submission makes a mistake that has a name: there is nothing to draw")
    opening, rest = _picture(report).svg.split(">", 1)
    return f"{opening}><style>{_SVG_STYLE}</style>{rest}\n"


def _picture(report: ClassReport) -> Picture:
    from posenc_lib.grading.report.pictures import mistakes_made

    rows = [(each.function, each.name, each.count) for each in report.mistakes]
    return mistakes_made(rows, submissions=report.exercises[0].submissions)


def _marks_picture(report: ClassReport) -> Picture:
    from posenc_lib.grading.report.pictures import marks_spread

    return marks_spread(*histogram(report), of=report.max_points)


def _headline(report: ClassReport) -> list[str]:
    points = [line.points for line in report.graded if line.points is not None]
    without = Counter(line.verdict for line in report.lines if line.marks is None)
    manual = sum(line.needs_manual_grade for line in report.lines)
    counted = [f"{len(points)} graded", *(f"{count} {why}" for why, count in sorted(without.items()))]
    lines = [f"{report.assignment}: {', '.join(counted)}"]
    if points:
        lines.append(
            f"Marks with manual grades and late penalties: mean {statistics.fmean(points):.2f}, "
            f"median {statistics.median(points):g} of {harmless(report.max_points)} points"
        )
    if manual:
        lines.append(f"{manual} still need a manual grade: their marks may rise")
    return lines


def _exercise_table(report: ClassReport) -> tuple[list[str], list[list[str]]]:
    """Of the graded submissions, as the judge saw them: manual grades are not in it."""
    header = ["exercise", "graded", "right", "pass rate", "partly", "other verdicts", "no named mistake"]
    header += ["mean points", "of"]
    rows = []
    for each in report.exercises:
        others = (v for v in Verdict if v not in (Verdict.RIGHT, Verdict.PARTLY) and each.verdicts[v])
        rows.append(
            [
                each.function,
                str(each.submissions),
                str(each.verdicts[Verdict.RIGHT]),
                f"{each.pass_rate:.0%}",
                str(each.verdicts[Verdict.PARTLY]),
                ", ".join(f"{each.verdicts[verdict]} {verdict}" for verdict in others) or "–",
                str(each.unnamed),
                f"{each.points:.2f}",
                harmless(each.max_points),
            ]
        )
    return header, rows


def _mistake_table(report: ClassReport) -> tuple[list[str], list[list[str]]]:
    header = ["exercise", "mistake", "submissions", "share", "what the learner was told"]
    rows = [
        [each.function, each.name, str(each.count), f"{each.share:.0%}", each.message]
        for each in report.mistakes
    ]
    return header, rows


def _aligned(header: list[str], rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in [header, *rows]) for place in range(len(header))]
    text = {place for place, cell in enumerate(rows[0]) if place == 0 or "," in cell or " " in cell}
    return [
        "  ".join(
            cell.ljust(width) if place in text else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [header, *rows]
    ]


def _html_table(header: list[str], rows: list[list[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _name(student: str) -> str:
    return visible(student, 128)


def _some(names: Sequence[str]) -> str:
    """A few of them, safe to print on a terminal."""
    shown = ", ".join(_name(name) for name in names[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
  color: #1f2328; background: #ffffff; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .3rem .7rem; text-align: left; vertical-align: top; border-bottom: 1px solid #80808066; }
figure { margin: 1rem 0; }
@media (prefers-color-scheme: dark) { body { color: #f0f6fc; background: #0d1117; } }
"""
_SVG_STYLE = (
    "svg{color:#1f2328;background:#ffffff}"
    "@media(prefers-color-scheme:dark){svg{color:#f0f6fc;background:#0d1117}}"
)


# --- The command -----------------------------------------------------------------------------


def add_report(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `posenc report` to the commands."""
    report = commands.add_parser(
        "report",
        help="marks, pass rates and named mistakes of an assignment",
        description="Show how the class did, from what grading stored; nothing is run again.",
    )
    report.add_argument("assignment", metavar="ASSIGNMENT")
    report.add_argument("--marks", type=Path, metavar="FILE", help="write everyone's marks to this CSV file")
    report.add_argument(
        "--format",
        choices=("csv", "canvas", "moodle"),
        help="columns of the marks (default: csv, with all there is)",
    )
    report.add_argument(
        "--column",
        metavar="NAME",
        help="heading of the marks in Canvas or Moodle (default: the assignment's name)",
    )
    report.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="draw the named mistakes: FILE.svg is the picture, FILE.html a page with tables; no names",
    )
    report.add_argument("--force", action="store_true", help="write over files that are there")
    report.set_defaults(run=run, needs=("nbgrader.api",))


def run(chosen: argparse.Namespace) -> int:
    """Run `posenc report`; CourseError says what stopped it, and then no file is written."""
    _require_sense(chosen)
    find_own_programs()
    course, _config = Course.load(Path.cwd())
    report = class_report(course, chosen.assignment)
    files: list[tuple[Path, str, int]] = []
    if chosen.marks:
        form = cast(Form, chosen.format or "csv")
        files.append((chosen.marks, marks_csv(report, form, chosen.column), 0o600))
    if chosen.picture:
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


def _require_sense(chosen: argparse.Namespace) -> None:
    if not chosen.marks and (chosen.format or chosen.column):
        raise CourseError("--format and --column are about the marks: say where to write them, --marks FILE")
    if chosen.column and chosen.format not in ("canvas", "moodle"):
        raise CourseError(
            "--column names the marks in Canvas or Moodle: add --format canvas or --format moodle"
        )
    if chosen.picture and chosen.picture.suffix not in (".svg", ".html"):
        raise CourseError(f"--picture {chosen.picture} was given; give a name that ends in .svg or .html")
    wanted = [path for path in (chosen.marks, chosen.picture) if path]
    if len({path.absolute() for path in wanted}) < len(wanted):
        raise CourseError(f"marks and picture cannot both be written to {chosen.marks}")
    there = [str(path) for path in wanted if path.is_symlink() or path.exists()]
    if there and not chosen.force:
        raise CourseError(f"{', '.join(there)} is there already; choose another name, or add --force")


def _remarks(report: ClassReport, chosen: argparse.Namespace) -> Iterator[str]:
    waiting = [line.student for line in report.lines if line.verdict == NOT_GRADED]
    if waiting:
        yield f"{_some(waiting)}: handed in, not graded. Run: posenc grade {report.assignment}"
    if not chosen.marks:
        return
    without = [line.student for line in report.lines if line.marks is None]
    if without and chosen.format in ("canvas", "moodle"):
        yield f"left out of {chosen.marks}, having no mark: {_some(without)}"
    names = (
        (line.student, line.last_name, line.first_name, line.email, line.lms_user_id) for line in report.lines
    )
    changed = [each for of_one in names for each in of_one if is_harmful(each)]
    if changed:
        yield (
            "a spreadsheet program would take these for formulas, so an apostrophe was put before them: "
            f"{_some(changed)}"
        )
