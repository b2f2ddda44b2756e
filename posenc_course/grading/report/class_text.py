"""The report on a class as text and tables, to be read on a terminal."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter

from posenc_course.grading.report.class_report import ClassReport, histogram, shown, some
from posenc_course.grading.report.spreadsheet import harmless
from posenc_course.grading.terminal import and_more, counted, left, right, width, wrapped
from posenc_course.grading.verdicts import Verdict
from posenc_course.translation import _

LISTED = 20
"""Lines of a list; the rest is counted."""
BAR = 40
"""Characters of the longest bar."""
MARGIN, ACROSS = " " * 13, 87
"""Before what is told of a mistake, and the columns of its lines."""


def as_text(report: ClassReport) -> str:
    """The report to be read on a terminal."""
    lines = [*headline(report), "", *_bars(report), *_aligned(*exercise_table(report)), ""]
    if not report.mistakes:
        lines.append(no_mistake())
    else:
        lines.append(_("Named mistakes:"))
    for each in report.mistakes:
        lines.append(f"{each.count:>5}  {each.share:>4.0%}  {each.function}: {each.name}")
        lines += [MARGIN + line for line in wrapped(each.message, ACROSS)]
    return "\n".join([*lines, *_to_look_at(report)])


def no_mistake() -> str:
    """What is said in place of a list of them."""
    return _("No submission makes a mistake that has a name.")


def _to_look_at(report: ClassReport) -> list[str]:
    """Who tampered, and answers that are alike or improbably long: for a terminal, with names."""
    tampered = [
        f"{shown(line.student)}: {', '.join(line.tampered)}" for line in report.lines if line.tampered
    ]
    alike = [f"{some(each.students)}: {', '.join(each.exercises)}" for each in report.alike]
    others = _("the other cells together")
    long = [
        _("{student}: {exercise} ({lines} lines, {characters} characters; usual: {usual})").format(
            student=shown(each.student),
            exercise=each.exercise or others,
            lines=each.lines,
            characters=each.characters,
            usual=each.usual,
        )
        for each in report.outsized
    ]
    found = (
        (
            _("Tampered: the answer calls the library where it may not, or tried to deceive the judge:"),
            tampered,
        ),
        (_("Alike except for names, and hardly by chance:"), alike),
        (_("Far longer than those of the class and the model answer:"), long),
    )
    lines = [part for heading, items in found if items for part in ("", heading, *_first(items))]
    if not lines:
        return []
    return [
        *lines,
        "",
        _("These are reasons to look, not proof. Read the notebooks, and ask the learners."),
    ]


def _first(items: list[str]) -> list[str]:
    rest = [and_more(len(items) - LISTED)] if len(items) > LISTED else []
    return [f"  {each}" for each in items[:LISTED]] + rest


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
    return [_("How the points are spread, in steps of {step}:").format(step=width), *rows, ""]


def headline(report: ClassReport) -> list[str]:
    points = [line.points for line in report.graded if line.points is not None]
    without = Counter(line.verdict for line in report.lines if line.marks is None)
    manual = sum(line.needs_manual_grade for line in report.lines)
    counts = [_("{count} graded").format(count=len(points))]
    counts += [counted(count, why) for why, count in sorted(without.items())]
    lines = [_("{what}: {count}").format(what=report.assignment, count=_(", ").join(counts))]
    if points:
        told = _(
            "Marks with manual grades and late penalties: mean {mean:.2f}, median {median:g} of {most} points"
        )
        mean, median = statistics.fmean(points), statistics.median(points)
        lines.append(told.format(mean=mean, median=median, most=harmless(report.max_points)))
    if manual:
        lines.append(_("{count} still need a manual grade: their marks may rise").format(count=manual))
    return lines


def exercise_table(report: ClassReport) -> tuple[list[str], list[list[str]]]:
    """Of the graded submissions, as the judge saw them: manual grades are not in it."""
    header = [_("exercise"), _("graded"), _("right"), _("pass rate"), _("partly"), _("other verdicts")]
    header += [_("no named mistake"), _("mean points"), _("of")]
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
                _(", ").join(counted(each.verdicts[verdict], verdict) for verdict in others) or "–",
                str(each.unnamed),
                f"{each.points:.2f}",
                harmless(each.max_points),
            ]
        )
    return header, rows


def mistake_table(report: ClassReport) -> tuple[list[str], list[list[str]]]:
    header = [_("exercise"), _("mistake"), _("submissions"), _("share"), _("what the learner was told")]
    rows = [
        [each.function, each.name, str(each.count), f"{each.share:.0%}", each.message]
        for each in report.mistakes
    ]
    return header, rows


def _aligned(header: list[str], rows: list[list[str]]) -> list[str]:
    widths = [max(width(row[place]) for row in [header, *rows]) for place in range(len(header))]
    text = {place for place in range(len(header)) if any(re.search(r"[^\W\d]", row[place]) for row in rows)}
    return [
        "  ".join(
            (left if place in text else right)(cell, columns)
            for place, (cell, columns) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [header, *rows]
    ]
