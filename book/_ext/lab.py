"""`{lab}`: trained models that run in the page (book/web/src/lab.js).

    ```{lab}
    Python: python.txt
    A shopping list: list.txt
    ```

Each line names a text to begin with and the file that holds it, in `book/texts/`. Nothing of the models is
loaded before the reader asks for them. Without scripts, the first text and a sentence are shown.
"""

from __future__ import annotations

import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from tags import Tag

from posenc_course.colours import CSS
from posenc_course.translation import _

TEXTS = Path(__file__).resolve().parents[1] / "texts"
SHOWN = 256
"""Bytes of the first text that are shown before anything runs."""


class Lab(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        texts = [self._text(line) for line in self.content if line.strip()]
        if not texts:
            raise self.error("the lab has no text; give lines of the form `name: file`")
        first = texts[0]["text"].encode()[:SHOWN].decode(errors="ignore")
        still = Tag.make("pre", {"class": "posenc-lab-still"}, first)
        ask = _(
            "Two trained models will read this text side by side, one with RoPE and one with ALiBi. "
            "They take 1.8 MB, and what runs them 0.7 MB."
        )
        without = _(
            "The models run in JavaScript, which is switched off here. This is what they would read first."
        )
        start = Tag.make("div", {"class": "posenc-lab-start"}, Tag.make("p", {}, ask))
        noscript = Tag.make("noscript", {}, Tag.make("p", {}, without))
        attributes = {"class": "posenc-lab", "style": CSS, "data-texts": json.dumps(texts)}
        return [Tag.make("div", attributes, start, noscript, still)]

    def _text(self, line: str) -> dict[str, str]:
        name, _colon, file = (part.strip() for part in line.partition(":"))
        path = TEXTS / file
        if not file or not path.is_file():
            there = ", ".join(sorted(each.name for each in TEXTS.glob("*.txt")))
            raise self.error(f"{line.strip()!r}: give a name, a colon, and one of {there}")
        self.env.note_dependency(str(path))
        return {"key": path.stem, "name": name, "text": path.read_text(encoding="utf-8")}


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")  # it has taught Sphinx the tags
    app.add_directive("lab", Lab)
    app.add_css_file("lab.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
