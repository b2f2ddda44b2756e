"""Mends what hinders readers on a phone, with a screen reader or without a mouse, in what the theme and
Sphinx make.

The templates `search-button-field.html`, `theme-switcher.html`, `sbt-sidebar-nav.html` and those of the two
toggles belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from gettext import NullTranslations
from html import escape, unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import translators

from posenc_course.translation import N_, _

UNNAMED = re.compile(r"(>(?P<page>[^<]+)</a><details[^>]*>)<summary>")
OPENING = re.compile(r"[(\[“‘\"']+$")
CLOSING = re.compile(r"[.,;:!?)\]”’\"'…]+")
SEARCH = N_("Search...")
UNTRANSLATED = (
    N_("Color mode"),
    N_("Toggle primary sidebar"),
    N_("Toggle secondary sidebar"),
    N_("Main"),
    N_("Link to this heading"),
)
"""Names of controls for which Sphinx and the themes have no Chinese."""
PARAMETERS = re.compile(r'<dl>\s*(<dd><em class="sig-param">.*?)</dl>', re.DOTALL)


class OwnWords(NullTranslations):
    """For what neither Sphinx nor a theme translates."""

    def gettext(self, message: str) -> str:
        return _(message) if message in UNTRANSLATED else super().gettext(message)


def name_summaries(tree: str) -> str:
    """In the navigation, what unfolds a page's subpages is an arrow alone: say what it does."""

    def named(found: re.Match[str]) -> str:
        label = _("Pages below “{page}”").format(page=unescape(found["page"]).strip())
        return f'{found[1]}<summary aria-label="{escape(label)}">'

    return UNNAMED.sub(named, tree)


def mend_body(body: str) -> str:
    """Names that match what is written, and no lists without what a list needs."""
    body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    body = body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')
    return PARAMETERS.sub(_parameters, body)


def _parameters(found: re.Match[str]) -> str:
    items = found[1].replace("<dd>", '<span class="posenc-parameter">').replace("</dd>", "</span>")
    return f"<span>{items}</span>"


def _mend(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    context["theme_search_bar_text"] = _(SEARCH)
    if "body" in context:
        context["body"] = mend_body(context["body"])
    if make := context.get("generate_toctree_html"):
        context["generate_toctree_html"] = _mended(make)


def _mended(make: Callable[..., object]) -> Callable[..., str]:
    return lambda *args, **kwargs: name_summaries(str(make(*args, **kwargs)))


def keep_together(doctree: nodes.document) -> None:
    """No line ends between a formula and the marks that cling to it: a full stop stood alone on the next."""
    for formula in list(doctree.findall(nodes.math)):
        place = formula.parent.index(formula)
        around = formula.parent.children
        before: Any = around[place - 1] if place else None
        after: Any = around[place + 1] if place + 1 < len(around) else None
        opening = OPENING.search(before.astext()) if isinstance(before, nodes.Text) else None
        closing = CLOSING.match(after.astext()) if isinstance(after, nodes.Text) else None
        if not (opening or closing):
            continue
        parent, together = formula.parent, nodes.inline(classes=["posenc-together"])
        parent.replace(formula, together)
        if opening:
            parent.replace(before, nodes.Text(before[: opening.start()]))
            together += nodes.Text(opening[0])
        together += formula
        if closing:
            parent.replace(after, nodes.Text(after[closing.end() :]))
            together += nodes.Text(closing[0])


def _keep_together(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if app.builder.format == "html":
        keep_together(doctree)


def _configure(app: Sphinx, config: Config) -> None:
    config.templates_path.insert(0, str(Path(__file__).parent / "templates"))  # before both themes' own


def setup(app: Sphinx) -> dict[str, bool]:
    translators["general", "sphinx"].add_fallback(OwnWords())
    app.add_css_file("accessible.css")
    app.add_css_file("touch.css", priority=900)  # after what it enlarges
    app.add_js_file("contents.js", loading_method="defer")
    app.add_js_file("focus.js", loading_method="defer")
    app.add_js_file("paper.js", loading_method="defer")
    names = {"figure": _("Figure, scrolls sideways"), "formula": _("Formula, scrolls sideways")}
    names["table"] = _("Table, scrolls sideways")
    data = {f"data-{kind}": name for kind, name in names.items()}
    app.add_js_file("scroll.js", priority=500, loading_method="defer", **data)
    app.connect("config-inited", _configure)
    app.connect("doctree-resolved", _keep_together)
    app.connect("html-page-context", _mend, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
