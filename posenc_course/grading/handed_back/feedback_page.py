"""The feedback page, as nbgrader's own template makes it."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, cast

from nbformat import NotebookNode

from posenc_course.exercises import exercises_of
from posenc_course.grading.handed_back.safe_html import settings
from posenc_course.grading.recorded.scores import Standing
from posenc_course.translation import N_, _

OF_NBGRADER = (
    ('<span class="nbgrader-label">{}</span>', N_("Student's answer")),
    ('<span class="nbgrader-label">{} <code>', N_("Grade cell:")),
    ('<a href="#top">{}</a>', N_("(Top)")),
    ("<b>{}</b>", N_("Comments:")),
    ('">{}</a></li>', N_("Comment")),
    ('">{}</a> (', N_("Written response")),
    ('<li class="late-penalty">{} (', N_("Late submission penalty")),
)
"""What its template says, and where: nothing that a learner writes is shown with such tags."""
SCORE = re.compile(r"Score: (?=-?[\d.]+(?: / [\d.]+)?(?:\)</| <a href=\"#top\">))")


def feedback_page(notebook: NotebookNode, assignment: str, standing: Standing) -> str:
    """The page that nbgrader's own template makes of an autograded notebook."""
    for cell in notebook.cells:
        settings = cell.metadata.get("nbgrader")
        if settings is None:
            continue
        if settings.solution or settings.task:
            settings.comment = standing.comments.get(settings.grade_id)
        if settings.grade or settings.task:
            settings.score = standing.scores.get(settings.grade_id, 0.0)
    facts = {
        "notebook": assignment,
        "score": standing.score,
        "max_score": standing.max_score,
        "late_penalty": standing.penalty,
    }
    page: str = _exporter().from_notebook_node(notebook, {"nbgrader": facts})[0]
    return in_our_words(page, assignment)


def in_our_words(page: str, assignment: str) -> str:
    """The page in the language of the class, with the exercises' names where nbgrader writes "Test cell"."""
    for each in exercises_of(assignment):
        link = f'<a href="#check-{each.function}">'
        page = page.replace(f"{link}Test cell</a>", f"{link}{escape(_(each.title))}</a>", 1)
    for place, words in OF_NBGRADER:
        page = page.replace(place.format(words), place.format(_(words)))
    return SCORE.sub(_("Score: "), page)


@cache
def _exporter() -> Any:
    """nbgrader's feedback template, made ready once a process."""
    from nbconvert.exporters import HTMLExporter
    from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
    from traitlets.config import Config

    config = Config()
    config.HTMLExporter.update(settings())
    config.HTMLExporter.template_name = "feedback"
    formgrader = Path(config.HTMLExporter.extra_template_basedirs[-1]).parent
    styles = formgrader / "static" / "node_modules" / "bootstrap" / "dist" / "css"
    config.HTMLExporter.extra_template_paths = [str(styles)]
    exporter: Any = cast(Any, HTMLExporter)(config=config)
    exporter._preprocessors = []
    exporter.register_preprocessor(CSSHTMLHeaderPreprocessor, enabled=True)
    return exporter
