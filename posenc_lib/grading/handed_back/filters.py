"""Markdown as HTML in which every tag is one of ours; see `safe_html`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import quote

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from posenc_lib.grading.handed_back.safe_html import (
    HARMLESS,
    PICTURES,
    WORD_JOINER,
    highlight_code,
    is_base64,
)

_LINK = re.compile(r"(?:https?://|mailto:|#|[\w./-]+(?:#|$))", re.IGNORECASE)
_ESCAPED_TAG = re.compile(rf"&lt;(/?(?:{HARMLESS}))&gt;")


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
