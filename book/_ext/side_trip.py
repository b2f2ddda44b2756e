"""A section that is beside the main line of its chapter: one row until it is wanted.

    ## KERPLE: a longer tail

    ```{side-trip} 6
    KERPLE lets the far keys fade more slowly, and learns how slowly.
    ```

The number is the minutes that its reading takes (tools/reading_time.py counts them); the sentence says what
is in there. It comes right below the heading, which stays to be seen. The row is a `details`: it opens
without scripts, and book/web/src/fold.js opens it for a link into it. Formats without rows show all of it.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from tags import Tag

from posenc_course.translation import ngettext

logger = logging.getLogger(__name__)


class side_trip(nodes.General, nodes.Element):
    """What its section is about, as a paragraph; and its minutes."""


class SideTripDirective(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        minutes = self.arguments[0]
        if not minutes.isdecimal():
            raise self.error(f"a side trip takes its minutes, such as 6; given was {minutes!r}")
        if not self.content:
            raise self.error("a side trip has no text; say in a sentence what is in it")
        node = side_trip(minutes=int(minutes))
        self.set_source_info(node)
        node += self.parse_content_to_nodes()
        return [node]


class FoldSideTrips(SphinxPostTransform):
    default_priority = 900  # when whatever else looks for its neighbours has found them

    def run(self, **kwargs: object) -> None:
        for opening in list(self.document.findall(side_trip)):
            above = opening.parent
            folds = isinstance(above, nodes.section) and above.index(opening) == 1
            if not folds:
                message = "side-trip: it folds a whole section; put it right below the section's heading"
                logger.error(message, location=opening)
            if folds and self.app.builder.name == "html":
                _fold(opening)
            else:
                opening.replace_self(opening.children)


def _fold(opening: side_trip) -> None:
    section = opening.parent
    minutes = opening["minutes"]
    label = ngettext("Side trip, {minutes} minute", "Side trip, {minutes} minutes", minutes)
    name = Tag.make("strong", {}, label.format(minutes=minutes))
    about = [child for paragraph in opening for child in (nodes.Text(" "), *paragraph.children)]
    row = Tag.make("details", {"class": "posenc-side-trip"}, Tag.make("summary", {}, name, *about))
    row += section[2:]
    section[1:] = [row]


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")  # it has taught Sphinx the tags
    app.add_node(side_trip)
    app.add_directive("side-trip", SideTripDirective)
    app.add_post_transform(FoldSideTrips)
    app.add_css_file("side-trip.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
