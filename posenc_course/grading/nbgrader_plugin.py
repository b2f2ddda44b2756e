"""The same grading inside `nbgrader autograde`: learners' code never runs with the instructor's rights.

`nbgrader_config.py` names these classes. The marks are those of `posenc grade`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float, Integer
from traitlets.config import Config

from posenc_course.grading.course import Course
from posenc_course.grading.handed_back.autograded import autograded_notebook
from posenc_course.grading.handed_back.feedback_page import in_our_words
from posenc_course.grading.handed_back.write_up import copy_others
from posenc_course.grading.handed_in.submission import Unreadable, parse_aside, read_file
from posenc_course.grading.limits import Limits
from posenc_course.grading.one import grade_file, unjudged
from posenc_course.grading.recorded.gradebook import GradebookWriter
from posenc_course.grading.recorded.journal import Entry, Journal
from posenc_course.grading.recorded.scores import Release
from posenc_course.grading.verdicts import Verdict


class SubmissionExporter(NotebookExporter):
    """Reads submissions as `posenc grade` does, so that a file that is no notebook stops nothing."""

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> tuple[str, Any]:
        course = Course.from_config(self.config, Path.cwd())
        facts = (resources or {}).get("nbgrader", {})
        student, assignment = facts.get("student", ""), facts.get("assignment", "")
        if Path(filename).absolute() != course.submitted_file(student, assignment):
            return cast(tuple[str, Any], super().from_filename(filename, resources, **kw))
        release = _release(course, assignment, self.config)
        entry = _ungraded(course, student, assignment)
        notebook = autograded_notebook(release, entry)
        return cast(tuple[str, Any], cast(Any, self).from_notebook_node(notebook, resources, **kw))


class FeedbackExporter(HTMLExporter):
    """nbgrader's feedback in the language of the class, with the exercises' names."""

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> tuple[str, Any]:
        page, resources = cast(tuple[str, Any], super().from_notebook_node(nb, resources, **kw))
        return in_our_words(page, resources["nbgrader"]["assignment"]), resources


class GradeOutside(NbGraderPreprocessor):
    """In the place of nbgrader's `Execute`: run the submission behind walls, and judge it outside."""

    time_limit = Float(Limits.cpu_seconds, help="Seconds of the processor for one submission.").tag(
        config=True
    )
    memory_limit = Integer(Limits.memory_bytes // 2**20, help="MiB for one submission.").tag(config=True)
    unsafe = Bool(False, help="Run learners' code with your rights where the sandbox cannot work.").tag(
        config=True
    )

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        course = Course.from_config(self.config, Path.cwd())
        student, assignment = resources["nbgrader"]["student"], resources["nbgrader"]["assignment"]
        limits = replace(Limits.of_time(self.time_limit), memory_bytes=self.memory_limit * 2**20)
        path = course.submitted_file(student, assignment)
        with course.lock(), Journal(course.state) as journal:
            seed = course.seed(student, assignment)
            entry = grade_file(path, student, assignment, seed, limits, self.unsafe)
            journal.add(entry)
        _copy_again(course, entry)
        return autograded_notebook(_release(course, assignment, self.config), entry), resources


def _release(course: Course, assignment: str, config: Config) -> Release:
    with GradebookWriter(course.db_url, course.course_id, assignment, config) as marks:
        return marks.release


def _ungraded(course: Course, student: str, assignment: str) -> Entry:
    """What was handed in, before anything of it ran."""
    found = read_file(course.submitted_file(student, assignment))
    try:
        submission = parse_aside(found, assignment)
    except Unreadable as error:
        return unjudged(Verdict.MALFORMED, student, assignment, 0, found.fingerprint, error.reason)
    nothing = unjudged(Verdict.MALFORMED, student, assignment, 0, found.fingerprint)
    return replace(nothing, cells=submission.cells)


def _copy_again(course: Course, entry: Entry) -> None:
    """In the place of what nbgrader copied, also from where links lead, what `posenc grade` copies."""
    student, assignment = entry.grade.student, entry.grade.assignment
    copy_others(course.submitted / student / assignment, course.autograded / student / assignment)
