"""What stands in the margin of a chapter where a window is wide enough (`book/_static/margin.css`).

A short aside, which elsewhere is a row that opens, stands open beside the text. Where a chapter first names a
source, its title stands there, with a link to it; elsewhere the name leads to the list of sources. Formats
without a margin have neither.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from progress import door_of
from pybtex.richtext import Text
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from tags import Tag

LONGEST = 75
"""Words of an aside that stands in the margin."""
TEXT = (nodes.inline, nodes.emphasis, nodes.strong, nodes.paragraph)
LISTS = (nodes.list_item, nodes.bullet_list, nodes.enumerated_list)


class FillMargin(SphinxPostTransform):
    default_priority = 950  # when citations are links, and side trips (side_trip.py) have their rows

    def run(self, **kwargs: object) -> None:
        if self.app.builder.name == "html" and door_of(self.env.docname.rpartition("/")[2]):
            for box in self.document.findall(nodes.admonition):
                if _is_short_aside(box):
                    box["classes"].append("posenc-aside")
            self._add_sources()

    def _add_sources(self) -> None:
        """Above each paragraph or list, what it is the first to name."""
        cited: Any = self.env.get_domain("cite")
        sources = {each.citation_id: each.entry for each in cited.citations}
        for link in list(self.document.findall(nodes.reference)):
            name = link.get("refuri", "").partition("#")[2] or link.get("refid")
            block = _block(link)
            if block is not None and name in sources:
                block.parent.insert(block.parent.index(block), _note(sources.pop(name)))


def _is_short_aside(box: nodes.admonition) -> bool:
    """One that opens, and is nothing but a few words."""
    inside = box.children[1:]
    words = sum(len(each.astext().split()) for each in inside)
    plain = all(isinstance(each, nodes.paragraph) for each in inside)
    kinds = {each for each in box["classes"] if not each.startswith("admonition-")}
    return kinds == {"dropdown"} and plain and words <= LONGEST and _is_of_text(box.parent)


def _block(node: nodes.Node) -> Any:
    """The paragraph or list that it is in, unless that is in a box."""
    while isinstance(node.parent, (*TEXT, *LISTS)):
        node = node.parent
    return node if isinstance(node, (nodes.paragraph, *LISTS)) and _is_of_text(node.parent) else None


def _is_of_text(parent: Any) -> bool:
    """A section, or what is in the row of a side trip."""
    kind = parent["attributes"].get("class", "") if isinstance(parent, Tag) else ""
    return isinstance(parent, nodes.section) or kind == "posenc-side-trip"


def _note(entry: Any) -> Tag:
    """Who wrote it, when, and its title."""
    names = [" ".join(map(str, each.last_names)) for each in entry.persons["author"]]
    who = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
    title = Text.from_latex(entry.fields["title"]).render_as("text")
    doi, url = entry.fields.get("doi"), entry.fields.get("url", "")
    place = {"class": "reference external", "href": f"https://doi.org/{doi}" if doi else url}
    said = f"{Text.from_latex(who).render_as('text')} {entry.fields['year']}. "
    return Tag.make("p", {"class": "posenc-source", "role": "note"}, said, Tag.make("a", place, title))


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("progress")
    app.add_post_transform(FillMargin)
    app.add_css_file("margin.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
