"""What a page brings along: nothing that it does not use, and what a link to it shows elsewhere.

Only the search page loads the index (templates/layout.html); icons
are drawn by icons.css. benchmarks/pages.py says how much a first view may weigh.

A link that is shared shows a title, a sentence and a picture. Their addresses are whole where `html.baseurl`
of _config.yml says where the site will be, and relative where nobody knows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from posenc_course.figures import preview

PICTURE = "_static/preview.png"
LONGEST = 200
"""Characters of a description; what shows it cuts it there."""


def described(doctree: nodes.document) -> str:
    """The first paragraphs of a page that are words alone, as one line."""
    said = ""
    for paragraph in doctree.findall(nodes.paragraph):
        if _is_text(paragraph.parent) and not paragraph.next_node(nodes.math):
            said = f"{said} {' '.join(paragraph.astext().split())}".strip()
        if len(said) >= LONGEST / 2:
            break
    return shortened(said)


def _is_text(parent: nodes.Element) -> bool:
    """Neither a box nor a list; on the first page the opening words are in a block of their own."""
    return isinstance(parent, nodes.section) or "posenc-hero" in parent["classes"]


def shortened(said: str) -> str:
    """Whole words, and a sign where some are left out."""
    return said if len(said) <= LONGEST else f"{said[:LONGEST].rpartition(' ')[0].rstrip('.,;:')} …"


def _say_what_is_shared(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    address = app.config.html_baseurl
    front = app.config.root_doc
    if doctree is None:  # the pages that Sphinx makes; the root page leads to the first
        if pagename != "index":
            return
        doctree, context["title"] = app.env.get_doctree(front), app.config.html_title
    context["posenc_shared"] = {
        "title": context["title"],
        "description": described(doctree) or app.config.html_title,
        "picture": f"{address.rstrip('/')}/{PICTURE}" if address else context["pathto"](PICTURE, 1),
        "alt": preview.alt(),
    }


def _draw_picture(app: Sphinx, problem: Exception | None) -> None:
    if problem is None and app.builder.format == "html":
        (Path(app.outdir) / PICTURE).write_bytes(preview.draw())


def _configure(app: Sphinx, config: Config) -> None:
    config.templates_path.append(str(Path(__file__).parent / "templates"))
    config.html_additional_pages["index"] = "root.html"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_css_file("type.css")
    app.add_css_file("icons.css")
    app.connect("config-inited", _configure)
    app.connect("html-page-context", _say_what_is_shared)
    app.connect("build-finished", _draw_picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
