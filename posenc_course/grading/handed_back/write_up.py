"""Write what people read of a grade, the autograded notebook and the feedback page: wholly or plainly."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import ParamSpec

from posenc_course.grading.course import PART, Course, write_atomically
from posenc_course.grading.handed_back.autograded import MOST_NOTES, autograded_notebook, cut
from posenc_course.grading.handed_back.feedback_page import feedback_page
from posenc_course.grading.handed_back.safe_html import POLICY, plain
from posenc_course.grading.handed_in.other_files import copy_other_files, read_plain_file
from posenc_course.grading.processes.aside import OverLimit, aside
from posenc_course.grading.recorded.journal import Entry
from posenc_course.grading.recorded.scores import Release, Standing
from posenc_course.grading.untrusted import visible
from posenc_course.translation import _

MOST_PLAIN = 2_000
"""Characters of an answer where the notebook cannot be written as it is."""
MOST_REASON = 200

P = ParamSpec("P")


def write_up(
    course: Course, release: Release, entry: Entry, standing: Standing, feedback: bool
) -> tuple[str, ...]:
    """Write the autograded notebook, and the feedback if asked; each wholly or not at all.

    What a submission makes too costly, or impossible, is written in a plain form, with the same marks.

    Returns:
        Sentences on what was not written, or not copied, as it was.
    """
    remarks = _written(_write_notebook, _write_plain_notebook, course, release, entry)
    if feedback:
        remarks += _written(_write_page, _write_plain_page, course, release, entry, standing)
    return remarks


def _written(
    usual: Callable[P, tuple[str, ...]],
    plainly: Callable[P, tuple[str, ...]],
    *arguments: P.args,
    **named: P.kwargs,
) -> tuple[str, ...]:
    try:
        return aside(usual, *arguments, **named)
    except OverLimit:
        reason = _("it took too long, or too much memory")
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        reason = visible(f"{type(error).__name__}: {error}", MOST_REASON)
    return (
        *plainly(*arguments, **named),
        _("Not everything could be written as usual: {reason}. This plain page has all the marks.").format(
            reason=reason
        ),
    )


def _write_notebook(course: Course, release: Release, entry: Entry) -> tuple[str, ...]:
    student, assignment = entry.grade.student, entry.grade.assignment
    notebook = autograded_notebook(release, entry)
    autograded = course.autograded / student / assignment
    remarks = copy_others(course.submitted / student / assignment, autograded)
    write_atomically(
        autograded / f"{assignment}.ipynb", json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    )
    return remarks


def _write_page(course: Course, release: Release, entry: Entry, standing: Standing) -> tuple[str, ...]:
    assignment = entry.grade.assignment
    _write_feedback(course, entry, feedback_page(autograded_notebook(release, entry), assignment, standing))
    return ()


def _write_plain_notebook(course: Course, release: Release, entry: Entry) -> tuple[str, ...]:
    """The released cells with their verdicts, and the beginning of each answer."""
    cells = tuple(
        replace(cell, source=cut(cell.source, MOST_PLAIN, comment=cell.kind == "code"), attachments={})
        for cell in entry.cells
        if cell.grade_id in release.cells
    )
    return _write_notebook(
        course, release, replace(entry, cells=cells, grade=replace(entry.grade, outputs={}))
    )


def _write_plain_page(course: Course, release: Release, entry: Entry, standing: Standing) -> tuple[str, ...]:
    """Marks and messages alone, without the notebook."""
    rows = "".join(
        f"<tr><td>{escape(each.exercise_id)}</td><td>{each.points:g} / {each.max_points:g}</td>"
        f"<td>{escape(_(each.verdict))}</td><td>{plain(each.feedback)}</td></tr>"
        for each in entry.grade.exercises
    )
    notes = "".join(f"<li>{escape(visible(each))}</li>" for each in entry.grade.notes[:MOST_NOTES])
    explained = _("Your notebook could not be shown here, because it is too large or too complex.")
    score = _("Score: {score:g} / {most:g}").format(score=standing.score, most=standing.max_score)
    title = escape(entry.grade.assignment)
    _write_feedback(
        course,
        entry,
        f"<!DOCTYPE html><html><head><meta charset='utf-8'>{POLICY}<title>{title}</title></head><body>"
        f"<h1>{title}</h1><p>{escape(score)}</p><p>{escape(explained)}</p><ul>{notes}</ul>"
        f"<table border='1'>{rows}</table></body></html>\n",
    )
    return ()


def _write_feedback(course: Course, entry: Entry, page: str) -> None:
    student, assignment = entry.grade.student, entry.grade.assignment
    folder = course.feedback / student / assignment
    for part in folder.glob(f"{PART}*"):  # what a run that was killed had begun to write
        if part.is_file():
            part.unlink()
    write_atomically(folder / f"{assignment}.html", page, mode=0o644)
    # What nbgrader's own feedback has too; its exchange finds the learner's copy by the secret.
    for name in ("timestamp.txt", "submission_secret.txt"):
        data = read_plain_file(course.autograded / student / assignment / name, 1000)
        if data is not None and data.isascii():
            write_atomically(folder / name, data.decode(), mode=0o644)


def copy_others(submitted: Path, autograded: Path) -> tuple[str, ...]:
    """Copy what was handed in beside a notebook, be that readable or not; nothing where a link leads."""
    leads = submitted.is_symlink() or submitted.parent.is_symlink()
    return copy_other_files(None if leads else submitted, autograded)
