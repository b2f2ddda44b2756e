"""What a page brings along: nothing that it does not use, and what a link to it shows elsewhere.

Only the search page loads the index (templates/layout.html); icons
are drawn by icons.css. A page links one style sheet, which imports all others; `book/build.py` makes them one
file, without what no page uses. benchmarks/pages.py says how much a first view may weigh.

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

SHEETS = "sheets.css"
LINKED_BY_THE_THEME = ("styles/theme.css", "styles/pydata-sphinx-theme.css")
"""By a template of its own, in place of which there is ours (templates/static/webpack-macros.html)."""
THEME_SCRIPT = "_static/scripts/pydata-sphinx-theme.js"
MEASURED_BY_THE_THEME = (
    '"pre",".nboutput > .output_area",".cell_output > .output",".jp-RenderedHTMLCommon",'
    '".pst-scrollable-table-container"'
)
NOTHING = '":not(*)"'
OPTIONS = "DOCUMENTATION_OPTIONS."
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


def leave_measuring_to_ours(script: str) -> str:
    """The theme's script without its search for code that scrolls, which scroll.js does.

    It measures each block of code and marks it, so that the whole page is laid out again for the next: on a
    phone, a second of every chapter.

    Raises:
        ValueError: the theme's script is another than this was written for.
    """
    if NOTHING not in script and script.count(MEASURED_BY_THE_THEME) != 1:
        raise ValueError(
            f"{THEME_SCRIPT} does not measure {MEASURED_BY_THE_THEME} in one place: "
            "see what scroll.js has to do beside this version of the theme"
        )
    return script.replace(MEASURED_BY_THE_THEME, NOTHING)


def _leave_measuring_to_ours(app: Sphinx, problem: Exception | None) -> None:
    if problem is None and app.builder.format == "html":
        place = Path(app.outdir) / THEME_SCRIPT
        place.write_text(leave_measuring_to_ours(place.read_text()))


def _link_one_sheet(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    linked = sorted(context["css_files"], key=lambda each: each.priority)
    names = [str(each.filename).removeprefix("_static/") for each in linked]
    imports = dict.fromkeys((*LINKED_BY_THE_THEME, *(name for name in names if name != SHEETS)))
    sheets = "".join(f'@import "{name}";\n' for name in imports)
    place = Path(app.outdir) / "_static" / SHEETS
    if not place.exists() or place.read_text() != sheets:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(sheets)
    context["css_files"] = [each for each, name in zip(linked, names, strict=True) if name == SHEETS]
    context["posenc_one_sheet"] = True  # for the template that would link the theme's


def _run_when_parsed(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """A page stays white while it waits for a script. Only the search page needs one at once."""
    if pagename != "search":
        context["script_files"] = [_deferred(each) for each in context["script_files"]]


def _deferred(script: Any) -> Any:
    """Another, since Sphinx shows the same to all pages. What sets options comes after them, as a module."""
    if script.attributes.get("type") == "module":
        return script
    if script.filename:
        return _with(script, defer="defer")
    return _with(script, type="module") if OPTIONS in script.attributes["body"] else script


def _with(script: Any, **attributes: str) -> Any:
    return type(script)(script.filename, priority=script.priority, **script.attributes | attributes)


def _configure(app: Sphinx, config: Config) -> None:
    config.templates_path.append(str(Path(__file__).parent / "templates"))
    config.html_additional_pages["index"] = "leads-on.html"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_css_file(SHEETS)
    app.add_css_file("type.css")
    app.add_css_file("icons.css")
    app.connect("config-inited", _configure)
    app.connect("html-page-context", _say_what_is_shared)
    app.connect("html-page-context", _link_one_sheet, priority=900)  # when every other has said what it needs
    app.connect("html-page-context", _run_when_parsed, priority=900)
    app.connect("build-finished", _draw_picture)
    app.connect("build-finished", _leave_measuring_to_ours)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
