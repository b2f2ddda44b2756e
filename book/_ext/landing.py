"""What the first page of the book does besides its hero (go-on.js and sentence.js of book/web/src).

    ```{ways-in} 01-why-order-matters         where to start, and where the reader was
    ```
    ```{your-sentence} dog chases cat         a sentence whose words can be moved, and its attention map
    :shut:                                    without doors, and with what each word gets
    ```

Without scripts, the sentence is a sentence.
"""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from tags import Tag

from posenc_course.colours import CSS
from posenc_course.translation import _


class WaysIn(SphinxDirective):
    """Names the chapter to start with; where the reader was is known to the reader's browser alone."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [WaysInPlace(chapter=self.arguments[0])]


class WaysInPlace(nodes.General, nodes.Element):
    """Where the two links will stand."""


class FillWaysIn(SphinxPostTransform):
    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        for place in list(self.document.findall(WaysInPlace)):
            uri = self.app.builder.get_relative_uri(self.env.docname, f"book/{place['chapter']}")
            look = "posenc-start reference internal"
            start = Tag.make("a", {"class": look, "href": uri}, _("Start with chapter 1"))
            go_on = Tag.make("a", {"class": "posenc-go-on", "href": uri, "hidden": ""})
            place.replace_self(Tag.make("p", {"class": "posenc-ways-in"}, start, " ", go_on))


class YourSentence(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"shut": directives.flag}

    def run(self) -> list[nodes.Node]:
        sentence = self.arguments[0]
        without = Tag.make(
            "p", {}, _("This part needs JavaScript. Its sentence: “{words}”").format(words=sentence)
        )
        attributes = {"class": "posenc-sentence", "style": CSS, "data-words": sentence}
        attributes |= {f"data-{name}": "" for name in self.options}
        return [Tag.make("div", attributes, Tag.make("noscript", {}, without))]


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")  # it has taught Sphinx the tags
    app.add_directive("ways-in", WaysIn)
    app.add_directive("your-sentence", YourSentence)
    app.add_post_transform(FillWaysIn)
    app.add_css_file("landing.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
