"""Feedback whose text cells cannot do anything: a page that others open in a browser."""

from __future__ import annotations

from typing import Any

import bleach
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter

TAGS = bleach.ALLOWED_TAGS | {
    "br", "caption", "dd", "del", "details", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "img", "kbd", "p", "pre", "s", "small", "span", "sub", "summary", "sup", "table", "tbody", "td", "th",
    "thead", "tr", "u",
}  # fmt: skip
PROTOCOLS = frozenset({"http", "https", "mailto", "data"})


def _is_link(_tag: str, name: str, value: str) -> bool:
    return name == "href" and not value.strip().lower().startswith("data:")


ATTRIBUTES = {
    "*": ["class", "id", "align", "title", "open"],
    "a": _is_link,
    "img": ["src", "alt", "width", "height"],
}


class SafeExporter(HTMLExporter):
    """nbconvert's HTML, where a learner's Markdown brings text and pictures but no scripts."""

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        page = super().markdown2html(context, source)
        safe: str = bleach.clean(page, TAGS, ATTRIBUTES, PROTOCOLS, strip=True)
        return safe
