"""What stands in the margin of a chapter where a window is wide enough (`book/_static/margin.css`).

A short aside, which elsewhere is a row that opens, stands open there. Where a chapter first names a source,
its title stands beside the paragraph, with a link to it; elsewhere the name leads to the list of sources.
A cell with the tag `beside` is there by its style alone. Formats without a margin have none of these.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from progress import door_of
from pybtex.backends.plaintext import Backend
from pybtex.richtext import Text
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from tags import Tag, add_nodes

LONGEST = 75
"""Words of an aside that stands in the margin."""
BESIDE_A_SOURCE = 20
"""Words of a paragraph that are about as tall as the note of a source."""
PLAIN = Backend()
HAN = re.compile("[\u4e00-\u9fff]")
LISTS = (nodes.list_item, nodes.bullet_list, nodes.enumerated_list)
INLINE = (nodes.inline, nodes.emphasis, nodes.strong)
ROWS = {"posenc-side-trip", "posenc-outcome"}
"""What text may be in, beside sections. A note is in there with it, and is not seen while the text is not."""


class SourceNote(Tag):
    """Beside a paragraph and, though it is in there, no part of what the paragraph says."""

    def astext(self) -> str:
        return ""


class FillMargin(SphinxPostTransform):
    default_priority = 950  # when citations are links, and side trips (side_trip.py) have their rows

    def run(self, **kwargs: object) -> None:
        if self.app.builder.name == "html" and door_of(self.env.docname.rpartition("/")[2]):
            for box in self.document.findall(nodes.admonition):
                if _is_short_aside(box):
                    box["classes"].append("posenc-aside")
            self._add_sources()

    def _add_sources(self) -> None:
        """At the start of each paragraph, what it is the first to name, as far as there is room beside it."""
        cited: Any = self.env.get_domain("cite")
        sources = {each.citation_id: each.entry for each in cited.citations}
        notes: dict[nodes.paragraph, list[Tag]] = {}
        for link in self.document.findall(nodes.reference):
            name = link.get("refuri", "").partition("#")[2] or link.get("refid")
            paragraph = _paragraph(link)
            if paragraph is None or name not in sources:
                continue
            beside = notes.setdefault(paragraph, [])
            if len(beside) * BESIDE_A_SOURCE + _taken(paragraph) < words(paragraph):
                beside.append(_note(sources.pop(name)))
        for paragraph, beside in notes.items():
            paragraph[:0] = beside


def words(node: nodes.Element) -> int:
    """Two Chinese characters count as a word: they are as wide."""
    text = node.astext()
    return len(text.split()) + len(HAN.findall(text)) // 2


def _is_short_aside(box: nodes.admonition) -> bool:
    """One that opens, and is nothing but a few words."""
    inside = box.children[1:]
    plain = all(isinstance(each, nodes.paragraph) for each in inside)
    kinds = {each for each in box["classes"] if not each.startswith("admonition-")}
    return kinds == {"dropdown"} and plain and sum(map(words, inside)) <= LONGEST and _is_text(box.parent)


def _taken(paragraph: nodes.paragraph) -> int:
    """How many words of it are beside the aside that stands before it, which comes first in the margin."""
    before = paragraph.previous_sibling()
    return (
        words(before) if isinstance(before, nodes.admonition) and "posenc-aside" in before["classes"] else 0
    )


def _paragraph(node: nodes.Node) -> nodes.paragraph | None:
    """The one that it is in, unless that is in a box."""
    while isinstance(node.parent, INLINE):
        node = node.parent
    above = node.parent
    around = above.parent
    while isinstance(around, LISTS):
        around = around.parent
    return above if isinstance(above, nodes.paragraph) and _is_text(around) else None


def _is_text(around: Any) -> bool:
    kind = around["attributes"].get("class") if isinstance(around, Tag) else None
    return isinstance(around, nodes.section) or kind in ROWS


def _note(entry: Any) -> Tag:
    """Who wrote it, when, and its title."""
    names = [" ".join(map(str, each.last_names)) for each in entry.persons["author"]]
    who = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
    title = Text.from_latex(entry.fields["title"]).render(PLAIN)
    doi, url = entry.fields.get("doi"), entry.fields.get("url", "")
    place = {"class": "reference external", "href": f"https://doi.org/{doi}" if doi else url}
    said = f"{Text.from_latex(who).render(PLAIN)} {entry.fields['year']}. "
    own = {"class": "posenc-source", "role": "note"}
    return SourceNote.make("span", own, said, Tag.make("a", place, title))


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("progress")
    add_nodes(app, SourceNote)
    app.add_post_transform(FillMargin)
    app.add_css_file("margin.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
