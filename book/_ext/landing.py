"""What the first page lets a reader do (go-on.js, two-orders.js and sentence.js of book/web/src).

    ```{ways-in} 01-why-order-matters         where to start, or where the reader was
    ```
    ```{two-orders} The dog chases the cat    a sentence, and another order of its words: what attention sees
    :other: The cat chases the dog
    What is to be said of the attention.
    ```
    ```{your-sentence} dog chases cat         a sentence whose words can be moved, and its attention map
    ```

Without scripts, a sentence is a sentence.
"""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from progress import counted, way_in
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from tags import Tag, TextTag

from posenc_course.colours import CSS
from posenc_course.exercises import all_exercises
from posenc_course.translation import _


class WaysIn(SphinxDirective):
    """Names the chapter to start with; where the reader was is known to the reader's browser alone."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [WaysInPlace(chapter=self.arguments[0])]


class WaysInPlace(nodes.General, nodes.Element):
    """Where the button will be."""


class FillWaysIn(SphinxPostTransform):
    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        for place in list(self.document.findall(WaysInPlace)):
            page = f"book/{place['chapter']}"
            uri = self.app.builder.get_relative_uri(self.env.docname, page)
            title = self.env.titles[page].astext()
            start = way_in(uri, title)
            chapters = {each.chapter for each in all_exercises()}
            facts = _("{chapters} chapters, {exercises} exercises. No install, no account.").format(
                chapters=len(chapters), exercises=len(counted(all_exercises()))
            )
            place.replace_self(Tag.make("div", {"class": "posenc-ways-in"}, start, Tag.make("p", {}, facts)))


class YourSentence(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True
    look = "posenc-sentence"

    def run(self) -> list[nodes.Node]:
        sentence = self.arguments[0]
        without = Tag.make(
            "p", {}, _("This part needs JavaScript. Its sentence: “{words}”").format(words=sentence)
        )
        attributes = {"class": self.look, "style": CSS, "data-words": sentence}
        attributes |= {f"data-{name}": given for name, given in self.options.items()}
        return [Tag.make("div", attributes, Tag.make("noscript", {}, without))]


class TwoOrders(YourSentence):
    option_spec: ClassVar = {"other": directives.unchanged_required}
    has_content = True
    look = "posenc-orders"

    def run(self) -> list[nodes.Node]:
        said = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, said)
        below = [TextTag.from_paragraph("p", each) for each in said.findall(nodes.paragraph)]
        return [Tag.make("div", {"class": "posenc-touch"}, *super().run(), *below)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("progress")  # with it comes what has taught Sphinx the tags
    app.add_directive("ways-in", WaysIn)
    app.add_directive("two-orders", TwoOrders)
    app.add_directive("your-sentence", YourSentence)
    app.add_post_transform(FillWaysIn)
    for sheet in ("landing.css", "hero.css", "sentence.css"):
        app.add_css_file(sheet)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
