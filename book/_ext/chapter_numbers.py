"""Says the chapter's number where a link leads into another chapter: “Three doors (chapter 1)”."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

from posenc_course.translation import _

INTO_CHAPTER = re.compile(r"(?:.*/)?(?P<page>(?P<number>\d\d)-[a-z][a-z0-9-]*)\.html#.")
SAYS_IT = re.compile(r"\d+\. |.*\bchapter\b", re.IGNORECASE | re.DOTALL)


def say_numbers(doctree: nodes.document, docname: str) -> None:
    for link in doctree.findall(nodes.reference):
        found = INTO_CHAPTER.match(link.get("refuri", ""))
        text = link.astext()
        if found is None or docname.endswith(f"/{found['page']}") or not text or SAYS_IT.match(text):
            continue
        told = _("(chapter {number})").format(number=int(found["number"]))
        said = told[1:-1] in text  # as its language says it
        if not said and link.get("internal") and "/exercises/" not in f"/{link['refuri']}":
            link += nodes.Text(f" {told}")


def _say_numbers(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if app.builder.format == "html":
        say_numbers(doctree, docname)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", _say_numbers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
