"""The map of the course: under each door its chapters, each a row of nodes that opens to their names.

`{progress}` draws it, below how far the reader is and the way back to where they were. `{your-work}` is the
place of what can be done with the work. On the page of a chapter's notebook stands that chapter's part of the
map, small. What is done is known in the reader's browser alone: a script fills the nodes, and draws the small
bar that stands in the sidebar of every page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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

from posenc_course.colours import BLUE, GREEN, ORANGE, PURPLE
from posenc_course.exercises import BESIDE, Exercise, all_exercises, exercises_of, wholes
from posenc_course.translation import _

BAR = "progress-bar.html"
SMALL = {"class": "posenc-map posenc-small"}


@dataclass(frozen=True)
class Door:
    """A part of the map, and the chapters that open this door."""

    title: str
    chapters: range
    colour: str


DOORS = (
    Door(_("Added to the input"), range(1, 6), BLUE),
    Door(_("Rotated into queries and keys"), range(6, 7), PURPLE),
    Door(_("Biased at the scores"), range(7, 8), GREEN),
    Door(_("All three doors"), range(8, 100), ORANGE),
)


class Progress(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        mark(self.env, "progress")
        return [ProgressPlace()]


class YourWork(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        return [Tag.make("div", {"class": "posenc-work"})]


class ProgressPlace(nodes.General, nodes.Element):
    """Where the map will be."""


class FillProgress(SphinxPostTransform):
    """Draws the map once all chapters have been read."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        for place in list(self.document.findall(ProgressPlace)):
            reviews = [self._uri(page) for page in marked(self.env, "review")]
            attributes = {"class": "posenc-map posenc-progress"}
            attributes |= {"data-review": reviews[0]} if reviews else {}
            made = Tag.make("div", attributes, self._overview(), *self._doors(_depth(place)))
            place.replace_self(made)
        if self.env.docname.startswith("exercises/"):
            self._add_part()

    def _add_part(self) -> None:
        """On the page of a chapter's notebook: how far the reader is with that chapter."""
        title = next(self.document.findall(nodes.title), None)
        chapter = chapter_of(self.env.docname)
        if title is None or not exercises_of(chapter) or chapter in BESIDE:
            return
        rows = self._exercise_rows(chapter)
        said = _(
            "How far you are with them. Each leads to its place in the chapter, where you can write and "
            "check:"
        )
        part = Tag.make("div", SMALL, Tag.make("p", {}, said), Tag.make("ul", {}, *rows))
        title.parent.insert(title.parent.index(title) + 1, part)

    def _uri(self, page: str) -> str:
        return str(self.app.builder.get_relative_uri(self.env.docname, page))

    def _pages(self) -> dict[str, str]:
        return {chapter_of(page): page for page in self.env.found_docs if page.startswith("book/")}

    def _overview(self) -> Tag:
        """Where to start; a script adds how far the reader is, and turns it into the way back (go-on.js)."""
        first = next(page for name, page in sorted(self._pages().items()) if name[0].isdigit())
        start = way_in(self._uri(first), self.env.titles[first].astext())
        said = Tag.make("div", {"class": "posenc-said-of-all"})
        ways_in = Tag.make("div", {"class": "posenc-ways-in"}, start)
        return Tag.make("div", {"class": "posenc-overview"}, said, ways_in)

    def _doors(self, depth: int) -> Iterator[Tag]:
        rows = dict(self._rows())
        for door in DOORS:
            chapters = [name for name in rows if _number(name) in door.chapters]
            if chapters:
                title = Tag.make(f"h{depth + 1}", {}, door.title)
                made = (self._chapter(name, rows[name], depth + 2) for name in chapters)
                look = {"class": "posenc-door", "style": f"--door:{door.colour}"}
                yield Tag.make("section", look, title, *made)

    def _chapter(self, chapter: str, rows: list[Tag], level: int) -> Tag:
        """A row with a node for each of its parts. It opens to their names."""
        page = self._pages()[chapter]
        heading = Tag.make(f"h{level}", {}, self.env.titles[page].astext())
        nodes_of = Tag.make("span", {"class": "posenc-nodes", "aria-hidden": "true"}, *map(_node, rows))
        count = len(counted(exercises_of(chapter)))
        tally = Tag.make("span", {"class": "posenc-tally"}, _("{count} exercises").format(count=count))
        return Tag.make(
            "details",
            {"class": "posenc-chapter", "data-chapter": chapter},
            Tag.make("summary", {}, heading, nodes_of, tally),
            Tag.make("p", {}, link(self._uri(page), _("To the chapter"))),
            Tag.make("ul", {}, *rows),
        )

    def _rows(self) -> Iterator[tuple[str, list[Tag]]]:
        """Each chapter with its exercises, its predictions and its quiz."""
        quizzes = {chapter_of(page): (page, asked) for page, asked in quiz_pages(self.env).items()}
        boxes = {chapter_of(page): found for page, found in predictions(self.env).items()}
        exercises = {each.chapter for each in all_exercises()}
        pages = self._pages()
        for chapter in sorted((quizzes.keys() | boxes.keys() | exercises) & pages.keys()):
            if not chapter[0].isdigit():  # a page beside the chapters, with a prediction of its own
                continue
            uri = self._uri(pages[chapter])
            rows = self._exercise_rows(chapter)
            if chapter in boxes:
                rows.append(_predictions_row(boxes[chapter], uri))
            if chapter in quizzes:
                rows.append(_quiz_row(quizzes[chapter][1], uri))
            yield chapter, rows

    def _exercise_rows(self, chapter: str) -> list[Tag]:
        """Numbered: 2.1, 2.2 and so on."""
        uri = self._uri(self._pages()[chapter])
        rows = [_whole_row(each, uri) for each in wholes(exercises_of(chapter))]
        for count, row in enumerate(rows, start=1):
            row["attributes"] |= {"data-number": f"{_number(chapter)}.{count}"}
        return rows


def way_in(uri: str, title: str) -> Tag:
    """The button that leads to the first chapter, and that a script turns to where the reader was."""
    said = (Tag.make("strong", {}, _("Start with chapter 1")), Tag.make("span", {}, title))
    return Tag.make("a", {"class": "posenc-start reference internal", "href": uri}, *said)


def _node(row: Tag) -> Tag:
    """What stands for a row in a closed chapter: an exercise has a number, what is beside them none."""
    number = row["attributes"].get("data-number", "").rpartition(".")[2]
    return Tag.make("span", {"class": "posenc-node" if number else "posenc-node posenc-beside"}, number)


def door_of(chapter: str) -> Door | None:
    """The door that a chapter opens."""
    number = _number(chapter) if chapter[0].isdigit() else 0
    return next((door for door in DOORS if number in door.chapters), None)


def counted(exercises: Iterable[Exercise]) -> list[str]:
    """Those that a page can check, each as the ids of its steps, joined by a plus."""
    return [ids for steps in wholes(exercises) if (ids := _ids(steps, "+"))]


def _number(chapter: str) -> int:
    """Of `02-the-formula`: 2."""
    return int(chapter.partition("-")[0])


def _depth(place: nodes.Node) -> int:
    """How many sections stand around it: the level of the heading above."""
    found = 0
    while place := place.parent:
        found += isinstance(place, nodes.section)
    return found


def _whole_row(steps: tuple[Exercise, ...], chapter_uri: str) -> Tag:
    """An exercise; where it has several steps, with a row for each of them inside."""
    if len(steps) == 1:
        return _exercise_row(steps[0], chapter_uri)
    inside = Tag.make("ul", {}, *(_exercise_row(each, chapter_uri) for each in steps))
    title = _place(_uri_of(steps[0], chapter_uri), _(steps[0].step_of))
    return Tag.make("li", {"data-steps": _ids(steps)}, title, _points(steps), inside)


def _exercise_row(exercise: Exercise, chapter_uri: str) -> Tag:
    attributes = {"data-exercise": exercise.id, "data-points": str(exercise.points)}
    row: Tag = Tag.make("li", attributes, _place(_uri_of(exercise, chapter_uri), _(exercise.title)))
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


def _place(uri: str, name: str) -> Tag:
    """A link whose name a node of the small map shows when it is looked at."""
    attributes = {"class": "reference internal", "href": uri}
    return Tag.make("a", attributes, Tag.make("span", {"class": "posenc-name"}, name))


def _ids(steps: tuple[Exercise, ...], between: str = " ") -> str:
    """Of those that count: of what a page can check."""
    return between.join(each.id for each in steps if each.in_page)


def _quiz_row(asked: list[Question], chapter_uri: str) -> Tag:
    names = " ".join(question["attributes"]["data-question"] for question in asked)
    fragment = asked[0].parent["attributes"]["id"]
    return Tag.make(
        "li",
        {"data-questions": names},
        _place(f"{chapter_uri}#{fragment}", _("Quiz")),
        Tag.make("span", {"class": "posenc-points"}, _("{count} questions").format(count=len(asked))),
    )


def _predictions_row(boxes: list[Prediction], chapter_uri: str) -> Tag:
    one, many = _("1 box"), _("{count} boxes").format(count=len(boxes))
    return Tag.make(
        "li",
        {"data-predictions": " ".join(box["attributes"]["data-prediction"] for box in boxes)},
        _place(f"{chapter_uri}#{boxes[0]['attributes']['id']}", _("Predictions")),
        Tag.make("span", {"class": "posenc-points"}, one if len(boxes) == 1 else many),
    )


def _colour(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """A chapter has the colour of its door (templates/layout.html)."""
    if door := door_of(pagename.rpartition("/")[2]):
        context["posenc_door"] = door.colour


def _find_bar(app: Sphinx, config: Config) -> None:
    config.templates_path.append(str(Path(__file__).parent / "templates"))


def _add_bar(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Above the navigation, where a sidebar and a progress page are."""
    pages = marked(app.env, "progress")
    sidebars = context.get("sidebars") or []
    if pages and sidebars:
        context["sidebars"] = [*sidebars[:-1], BAR, sidebars[-1]]
        context["posenc_progress_page"] = pages[0]
        context["posenc_exercises"] = " ".join(counted(all_exercises()))


def _keep_address(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The certificate had a page of its own, to which others may have linked."""
    for page in marked(app.env, "progress"):
        yield "book/certificate", {"posenc_leads_to": page, "posenc_place": "#certificate"}, "leads-on.html"


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")
    app.setup_extension("predict")
    app.add_directive("progress", Progress)
    app.add_directive("your-work", YourWork)
    app.add_css_file("map.css")
    app.add_post_transform(FillProgress)
    app.connect("config-inited", _find_bar)
    app.connect("html-collect-pages", _keep_address)
    app.connect("html-page-context", _add_bar)
    app.connect("html-page-context", _colour)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
