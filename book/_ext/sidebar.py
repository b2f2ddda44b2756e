"""The list of pages beside the text: chapters first, and of each other part one line that opens.

A page in `exercises/` repeats the exercises of its chapter, to be read; the list leads to the chapter alone.
Without scripts the parts open as well: they are `details`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx.application import Sphinx

REPEATED = "exercises/"


def shortened(listed: str) -> str:
    """The list of pages as the theme makes it, its parts folded but for the first and the reader's own."""
    soup = BeautifulSoup(listed, "html.parser")
    for link in soup.select(f'a[href*="{REPEATED}"]'):
        entry = link.find_parent("li")
        if entry is not None and "current" not in entry.get_attribute_list("class"):
            entry.decompose()
    for leftover in soup.select("li > details:not(:has(a))"):
        leftover.decompose()  # what opened the entries that are gone
    for caption, pages in list(_parts(soup))[1:]:
        part = soup.new_tag("details", attrs={"class": "posenc-part"})
        if pages.select_one(".current"):
            part["open"] = ""
        name = soup.new_tag("summary")
        name.string = caption.get_text()
        caption.replace_with(part)
        part.extend([name, pages.extract()])
    return str(soup)


def _parts(soup: BeautifulSoup) -> Iterator[tuple[Tag, Tag]]:
    """The caption of each part, and its pages."""
    for caption in soup.select("p.caption"):
        pages = caption.find_next_sibling("ul")
        if pages is not None:
            yield caption, pages


def _shorten(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    whole: Callable[..., Any] | None = context.get("generate_toctree_html")
    if whole is None:
        return

    def listed(kind: str, **options: Any) -> Any:
        made = whole(kind=kind, **options)
        return shortened(str(made)) if kind == "sidebar" else made

    context["generate_toctree_html"] = listed


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _shorten, priority=960)  # once the theme has put its own there
    app.add_css_file("sidebar.css")
    app.add_js_file("sidebar.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
