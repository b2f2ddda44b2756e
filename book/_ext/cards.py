"""The chapters as cards on the first page.

    ```{chapter-card} 02-the-formula
    What the chapter is about, in one line.
    ```

A card brings a drawing (thumbnails.py), the chapter's title, the minutes that its opening states, how many
of its exercises the reader has passed: a script knows that (`book/web/src/progress-bar.js`), and without one
the card says how many there are. The whole card is one link. `book/_static/landing.css` has its looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from progress import counted, door_of
from quiz import link
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from tags import Tag, TextTag
from thumbnails import thumbnail

from posenc_course.colours import RED
from posenc_course.exercises import exercises_of
from posenc_course.translation import _

TIME = re.compile(
    r"\*\*Time:\*\* about (\d+) minutes to read, \d+ more with the side trips?, and about (\d+) for the\s"
)


class ChapterCard(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        card = CardPlace(chapter=self.arguments[0])
        said = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, said)
        card += [TextTag.from_paragraph("p", each) for each in said.findall(nodes.paragraph)]
        return [card]


class CardPlace(nodes.General, nodes.Element):
    """Where a card will be, with its line of text."""


class FillCards(SphinxPostTransform):
    """Once all chapters have been read, their titles are known."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        for place in list(self.document.findall(CardPlace)):
            there = f"book/{place['chapter']}" in self.env.titles  # the capstone is not on paper
            place.replace_self(self._card(place["chapter"], place.children) if there else [])

    def _card(self, chapter: str, said: list[nodes.Node]) -> Tag:
        page = f"book/{chapter}"
        uri = self.app.builder.get_relative_uri(self.env.docname, page)
        title = Tag.make("h3", {}, link(uri, self.env.titles[page].astext()))
        door = door_of(chapter)
        colour = door.colour if door else RED
        attributes = {"class": "posenc-chapter-card", "data-chapter": chapter, "style": f"--door:{colour}"}
        drawing = nodes.raw("", thumbnail(chapter), format="html")
        text = Tag.make("div", {}, title, *said, *_minutes(Path(self.env.doc2path(page))), *_passed(chapter))
        return Tag.make("div", attributes, drawing, text)


def _minutes(source: Path) -> Iterator[Tag]:
    if found := TIME.search(source.read_text(encoding="utf-8")):
        read, practise = found.groups()
        said = _("{read} minutes to read, {practise} to practise").format(read=read, practise=practise)
        yield Tag.make("p", {"class": "posenc-minutes"}, said)


def _passed(chapter: str) -> Iterator[Tag]:
    if chapter[0].isdigit() and (exercises := counted(exercises_of(chapter))):
        many = _("{count} exercises").format(count=len(exercises))
        attributes = {"class": "posenc-passed", "data-exercises": " ".join(exercises)}
        yield Tag.make("p", attributes, many)


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("progress")
    app.add_directive("chapter-card", ChapterCard)
    app.add_post_transform(FillCards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
