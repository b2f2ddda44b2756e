"""The filters of nbgrader's templates: each tag that they write is one of ours; see `safe_html`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from html import escape
from typing import Any
from urllib.parse import quote

from jinja2 import pass_context
from nbconvert import filters as nbconverts
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from posenc_course.grading.handed_back.safe_html import (
    HARMLESS,
    MOST_RENDERED,
    WORD_JOINER,
    inert,
    plain,
    printable,
)
from posenc_course.grading.untrusted import PICTURES, is_base64, without_unseen

_coloured: Any = nbconverts.ansi2html
_LINK = re.compile(r"(?:https?://|mailto:|#|[\w./-]+(?:#|$))", re.IGNORECASE)
_ESCAPED_TAG = re.compile(rf"&lt;(/?(?:{HARMLESS}))&gt;")


@pass_context
def markdown2html(context: Any, source: str) -> str:
    """A text cell, or a comment, as HTML."""
    cell = context.get("cell") or {}
    text = inert(source)
    if len(text) > MOST_RENDERED:
        return plain(text)

    try:
        page = render(text, cell.get("attachments") or {})
    except (RecursionError, ValueError, KeyError, IndexError, TypeError, AttributeError):
        page = plain(text)
    # Here nothing has to be kept apart any more.
    return page.replace(f"&lt;{WORD_JOINER}", "&lt;").replace(f"&amp;{WORD_JOINER}", "&amp;")


def highlight_code(source: str, language: str | None = None, metadata: Any = None) -> str:
    """Python in colours, whatever language the notebook says it is; plain text where it is long."""
    if len(source) > MOST_RENDERED:
        return plain(source)
    return str(highlight(without_unseen(source) or " ", *_python()))


def ansi2html(text: str) -> str:
    """What a cell printed, in its colours unless they are too many."""
    # What is left of a sign for colours is no colour.
    return str(_coloured(printable(text))).replace("\x1b", "\N{REPLACEMENT CHARACTER}")


def strip_files_prefix(page: str) -> str:
    """The page as it is. nbconvert's own filter takes a time that grows as the square of a cell's length."""
    return page


@cache
def _python() -> tuple[Any, Any]:
    return PythonLexer(), HtmlFormatter(cssclass="highlight hl-ipython3")


def render(source: str, attachments: Mapping[str, Any]) -> str:
    """The HTML of a text; `attachments` are its pictures, in nbformat's form."""
    return MarkdownWithMath(renderer=_Renderer(attachments)).render(source)


class _Renderer(IPythonRenderer):
    """Its methods get text and give HTML, as mistune's do."""

    def __init__(self, attachments: Mapping[str, Any]) -> None:
        super().__init__(escape=False, allow_harmful_protocols=False, exclude_anchor_links=True)
        self.attachments = dict(attachments)

    def inline_html(self, html: str) -> str:
        return _ESCAPED_TAG.sub(r"<\1>", escape(html))

    def block_html(self, html: str) -> str:
        return self.inline_html(html)

    def block_code(self, code: str, info: str | None = None) -> str:
        if (info or "").split(maxsplit=1)[:1] in (["python"], ["py"], ["ipython3"]):
            return highlight_code(code.replace(WORD_JOINER, ""))
        return f"<pre><code>{escape(code)}</code></pre>\n"

    def link(self, text: str, url: str, title: str | None = None) -> str:
        if not _LINK.match(url):
            return f"{text} ({escape(url)})"
        target = escape(quote(url, safe=":/?#[]@!$&'()*+,;=%-._~"))
        return f'<a href="{target}" rel="noopener noreferrer">{text}</a>'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that was pasted in; of any other its name and address, as text."""
        pasted = self.attachments.get(url.removeprefix("attachment:"))
        for kind, data in pasted.items() if isinstance(pasted, dict) else ():
            if kind in PICTURES and isinstance(data, str) and is_base64(data):
                return f'<img src="data:{kind};base64,{data}" alt="{escape(re.sub("<[^>]*>", "", text))}">'
        return f"{text} ({escape(url)})"
