"""nbgrader's settings: `solutions/` is its source, `exercises/` its release, `course/` holds the rest.

`make exercises` writes the notebooks that nbgrader releases from the text notebooks in `solutions/`.
"""

import os
from pathlib import Path

from posenc_course.grading.handed_back.safe_html import settings
from posenc_course.translation import speak_in

c = get_config()  # noqa: F821 - traitlets defines it in config files

# What learners read, and what `posenc` says: "en", or a language of `posenc_course/locale`, such as "zh_CN".
# POSENC_LANGUAGE, where it is set, comes before it; where neither is, it is the language of the terminal.
LANGUAGE = ""
speak_in(LANGUAGE)

c.CourseDirectory.course_id = "positional-encoding"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "course/submitted"
c.CourseDirectory.autograded_directory = "course/autograded"
c.CourseDirectory.feedback_directory = "course/feedback"

# The gradebook: a file, or a server, such as POSENC_DB_URL=postgresql+psycopg2://user@host/gradebook.
# nbgrader does not create the file's folder itself.
_course = Path(__file__).resolve().parent / "course"
_course.mkdir(exist_ok=True)
c.CourseDirectory.db_url = os.environ.get("POSENC_DB_URL") or f"sqlite:///{_course / 'gradebook.db'}"

c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # replace this line with your answer"}

# Learners' code runs behind walls and is judged outside (`posenc_course.grading`), not in nbgrader's kernel.
# `c.GradeOutside.time_limit` (seconds) and `.memory_limit` (MiB) give a submission more than is usual.
c.Autograde.exporter_class = "posenc_course.grading.nbgrader_plugin.SubmissionExporter"
c.Autograde.autograde_preprocessors = [
    "posenc_course.grading.nbgrader_plugin.GradeOutside",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# What learners wrote is shown, by nbgrader's own feedback and by Formgrader too; nothing of it runs.
c.HTMLExporter.update(settings())
c.GenerateFeedback.exporter_class = "posenc_course.grading.nbgrader_plugin.FeedbackExporter"

# `nbgrader export` writes cells that no spreadsheet program takes for formulas.
c.ExportApp.plugin_class = "posenc_course.grading.report.marks.SafeExport"
