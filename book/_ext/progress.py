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
from posenc_lib.exercises import Exercise, all_exercises, wholes

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
        by_chapter = groupby(wholes(all_exercises()), lambda steps: steps[0].chapter)
        exercises = {name: list(group) for name, group in by_chapter}
        pages = {chapter_of(page): page for page in self.env.found_docs if page.startswith("book/")}
        made = []
        for chapter in sorted((quizzes.keys() | boxes.keys() | exercises.keys()) & pages.keys()):
            uri = self._uri(pages[chapter])
            rows = [_whole_row(each, uri) for each in exercises.get(chapter, [])]
            if chapter in boxes:
                rows.append(_predictions_row(boxes[chapter], uri))
            if chapter in quizzes:
                rows.append(_quiz_row(quizzes[chapter][1], uri))
            title = self.env.titles[pages[chapter]].astext()
            heading = Tag.make("h2", {}, link(uri, title))
            made.append(Tag.make("section", {"class": "posenc-chapter"}, heading, Tag.make("ul", {}, *rows)))
        return made


def _whole_row(steps: tuple[Exercise, ...], chapter_uri: str) -> Tag:
    """An exercise; where it has several steps, with a row for each of them inside."""
    if len(steps) == 1:
        return _exercise_row(steps[0], chapter_uri)
    inside = Tag.make("ul", {}, *(_exercise_row(each, chapter_uri) for each in steps))
    title = link(_uri_of(steps[0], chapter_uri), _(steps[0].step_of))
    return Tag.make("li", {"data-steps": _ids(steps)}, title, _points(steps), inside)


def _exercise_row(exercise: Exercise, chapter_uri: str) -> Tag:
    attributes = {"data-exercise": exercise.id, "data-points": str(exercise.points)}
    row = Tag.make("li", attributes, link(_uri_of(exercise, chapter_uri), _(exercise.title)))
    if not exercise.in_page:
        row["attributes"] |= {"data-elsewhere": ""}
        row += Tag.make("span", {"class": "posenc-points"}, _("in the notebook, not counted here"))
    else:
        row += _points((exercise,))
    return row


def _points(steps: tuple[Exercise, ...]) -> Tag:
    points = sum(each.points for each in steps)
    one, many = _("1 point"), _("{points} points").format(points=points)
    return Tag.make("span", {"class": "posenc-points"}, one if points == 1 else many)


def _uri_of(exercise: Exercise, chapter_uri: str) -> str:
    return f"{chapter_uri}#exercise-{exercise.function.replace('_', '-')}"


def _ids(steps: tuple[Exercise, ...], between: str = " ") -> str:
    """Of those that count: of what a page can check."""
    return between.join(each.id for each in steps if each.in_page)


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
        # The steps of one exercise are joined by a plus.
        counted = (_ids(steps, "+") for steps in wholes(all_exercises()))
        context["posenc_exercises"] = " ".join(filter(None, counted))


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")
    app.setup_extension("predict")
    app.add_directive("progress", Progress)
    app.add_post_transform(FillProgress)
    app.connect("config-inited", _find_bar)
    app.connect("html-page-context", _add_bar)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
