"""`{live-figure} <name>`: a figure with sliders, drawn by the page itself (book/web/src/figures.js).

    ```{live-figure} clocks
    :position: 40

    What to look at, in a sentence or two.
    ```

The names, the sliders and the picture that is shown without a script come from
posenc_course/figures/interactive.py; an option sets where a slider starts.
"""

from __future__ import annotations

import json
from html import escape
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from posenc_course.colours import CSS
from posenc_course.figures.interactive import FIGURES

SLIDERS = {slider.name for figure in FIGURES.values() for slider in figure.sliders}


class live_figure(nodes.General, nodes.Element):
    """The picture, its settings, and the sentences below it."""


class LiveFigureDirective(SphinxDirective):
    required_arguments = 1
    has_content = True
    option_spec: ClassVar = dict.fromkeys(SLIDERS, lambda given: float(directives.unchanged_required(given)))

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in FIGURES:
            raise self.error(f"there is no live figure {name!r}; there are {', '.join(FIGURES)}")
        if not self.content:
            raise self.error(f"the live figure {name!r} has no text; say in it what a reader should look at")
        try:
            figure = FIGURES[name].at(**self.options)
        except ValueError as error:
            raise self.error(f"live figure {name!r}: {error}") from error
        sliders = [{"name": s.name, "values": s.values, "start": s.start} for s in figure.sliders]
        node = live_figure(
            figure=name, sliders=json.dumps(sliders, separators=(",", ":")), svg=figure.picture().svg
        )
        self.set_source_info(node)
        node += self.parse_content_to_nodes()
        return [node]


def visit_html(writer: HTML5Translator, node: live_figure) -> None:
    writer.body.append(
        f'<div class="posenc-figure-live" style="{CSS}" data-figure="{escape(node["figure"])}" '
        f'data-sliders="{escape(node["sliders"])}">\n'
        f'<figure class="posenc-figure">{node["svg"]}</figure>\n<div class="posenc-caption">\n'
    )


def depart_html(writer: HTML5Translator, node: live_figure) -> None:
    writer.body.append("</div>\n</div>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(live_figure, html=(visit_html, depart_html))
    app.add_directive("live-figure", LiveFigureDirective)
    app.add_css_file("figures.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
