"""What the first page of the book does (hands.js, go-on.js, sentence.js of book/web/src).

    ```{moving-picture}                       the hands of a sinusoidal encoding, from token to token
    ```
    ```{ways-in} 01-why-order-matters         where to start, and where the reader was
    ```
    ```{your-sentence} dog chases cat         a sentence whose words can be moved, and its attention map
    :shut:                                    without doors, and with what each word gets
    ```

Without scripts, the picture stands still, and the sentence is a sentence.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from tags import Tag

from posenc_course.colours import CSS
from posenc_course.translation import _
from posenc_lib.angles import frequencies

DIM = 16
SHOWN = 12_345
"""The position that the hands show before they move."""
ACROSS = 4
"""Clocks in a row."""


class MovingPicture(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        turns = frequencies(DIM)
        clocks = [_clock(place, float(turn)) for place, turn in enumerate(turns)]
        size = {"viewBox": f"0 0 {100 * ACROSS} {110 * len(clocks) // ACROSS}"}
        alt = _(
            "Eight clocks, each with a hand that stands for one pair of columns of a sinusoidal encoding."
        )
        drawing = Tag.make("svg", size | {"role": "img", "aria-label": alt}, *clocks)
        counter = Tag.make(
            "p", {"class": "posenc-counter"}, _("Token {position}").format(position=f"{SHOWN:,}")
        )
        below = _(
            "The eight hands of a sinusoidal encoding. The number below each says after how many tokens it "
            "has gone round once. No two tokens find all eight in the same place: that is how each of them "
            "can be told where it is."
        )
        caption = Tag.make("figcaption", {}, below)
        attributes = {"class": "posenc-hands", "style": CSS}
        return [Tag.make("figure", attributes, caption, counter, drawing)]


def _clock(place: int, turn: float) -> Tag:
    """A dial with its hand, and after how many tokens it has gone round."""
    x, y = 50 + 100 * (place % ACROSS), 46 + 110 * (place // ACROSS)
    angle = math.degrees(SHOWN * turn) % 360
    dial = Tag.make("circle", {"cx": str(x), "cy": str(y), "r": "40"})
    line = {"x1": str(x), "y1": str(y), "x2": str(x), "y2": str(y - 34)}
    about = {"transform": f"rotate({angle:.2f} {x} {y})", "data-turn": repr(turn)}
    hand = Tag.make("g", {"class": "posenc-hand"} | about, Tag.make("line", line))
    once = f"{round(2 * math.pi / turn):,}"
    return Tag.make("g", {}, dial, hand, Tag.make("text", {"x": str(x), "y": str(y + 58)}, once))


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
    for name, directive in (
        ("moving-picture", MovingPicture),
        ("ways-in", WaysIn),
        ("your-sentence", YourSentence),
    ):
        app.add_directive(name, directive)
    app.add_post_transform(FillWaysIn)
    app.add_css_file("landing.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
