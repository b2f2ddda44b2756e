"""The progress page, `{progress}`: every chapter with its exercises, its predictions and its quiz, and links.

Which of them are done is known in the reader's browser alone: a script fills it in, and draws the small bar
that stands in the sidebar of every page.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from predict import Prediction, predictions
from quiz import Question, chapter_of, link, mark, marked, quiz_pages
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from tags import Tag

from posenc_lib.checking.messages import _
from posenc_lib.exercises import Exercise, all_exercises

BAR = "progress-bar.html"


class Progress(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        mark(self.env, "progress")
        return [ProgressPlace()]


class ProgressPlace(nodes.General, nodes.Element):
    """Where the chapters will stand."""


class FillProgress(SphinxPostTransform):
    """Lists the chapters once all of them have been read."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        for place in list(self.document.findall(ProgressPlace)):
            reviews = [self._uri(page) for page in marked(self.env, "review")]
            attributes = {"class": "posenc-progress", **({"data-review": reviews[0]} if reviews else {})}
            place.replace_self(Tag.make("div", attributes, *self._chapters()))

    def _uri(self, page: str) -> str:
        return str(self.app.builder.get_relative_uri(self.env.docname, page))

    def _chapters(self) -> list[Tag]:
        quizzes = {chapter_of(page): (page, asked) for page, asked in quiz_pages(self.env).items()}
        boxes = {chapter_of(page): found for page, found in predictions(self.env).items()}
        exercises = {name: list(group) for name, group in groupby(all_exercises(), lambda e: e.chapter)}
        pages = {chapter_of(page): page for page in self.env.found_docs if page.startswith("book/")}
        made = []
        for chapter in sorted((quizzes.keys() | boxes.keys() | exercises.keys()) & pages.keys()):
            uri = self._uri(pages[chapter])
            rows = [_exercise_row(each, uri) for each in exercises.get(chapter, [])]
            if chapter in boxes:
                rows.append(_predictions_row(boxes[chapter], uri))
            if chapter in quizzes:
                rows.append(_quiz_row(quizzes[chapter][1], uri))
            title = self.env.titles[pages[chapter]].astext()
            heading = Tag.make("h2", {}, link(uri, title))
            made.append(Tag.make("section", {"class": "posenc-chapter"}, heading, Tag.make("ul", {}, *rows)))
        return made


def _exercise_row(exercise: Exercise, chapter_uri: str) -> Tag:
    uri = f"{chapter_uri}#exercise-{exercise.function.replace('_', '-')}"
    one, many = _("1 point"), _("{points} points").format(points=exercise.points)
    return Tag.make(
        "li",
        {"data-exercise": exercise.id, "data-points": str(exercise.points)},
        link(uri, _(exercise.title)),
        Tag.make("span", {"class": "posenc-points"}, one if exercise.points == 1 else many),
    )


def _quiz_row(asked: list[Question], chapter_uri: str) -> Tag:
    names = " ".join(question["attributes"]["data-question"] for question in asked)
    fragment = asked[0].parent["attributes"]["id"]
    return Tag.make(
        "li",
        {"data-questions": names},
        link(f"{chapter_uri}#{fragment}", _("Quiz")),
        Tag.make("span", {"class": "posenc-points"}, _("{count} questions").format(count=len(asked))),
    )


def _predictions_row(boxes: list[Prediction], chapter_uri: str) -> Tag:
    one, many = _("1 box"), _("{count} boxes").format(count=len(boxes))
    return Tag.make(
        "li",
        {"data-predictions": " ".join(box["attributes"]["data-prediction"] for box in boxes)},
        link(f"{chapter_uri}#{boxes[0]['attributes']['id']}", _("Predictions")),
        Tag.make("span", {"class": "posenc-points"}, one if len(boxes) == 1 else many),
    )


def _find_bar(app: Sphinx, config: Config) -> None:
    config.templates_path.append(str(Path(__file__).parent / "templates"))


def _add_bar(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Above the navigation, where a sidebar and a progress page are."""
    pages = marked(app.env, "progress")
    sidebars = context.get("sidebars") or []
    if pages and sidebars:
        context["sidebars"] = [*sidebars[:-1], BAR, sidebars[-1]]
        context["posenc_progress_page"] = pages[0]
        context["posenc_exercises"] = " ".join(each.id for each in all_exercises())


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")
    app.setup_extension("predict")
    app.add_directive("progress", Progress)
    app.add_post_transform(FillProgress)
    app.connect("config-inited", _find_bar)
    app.connect("html-page-context", _add_bar)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
