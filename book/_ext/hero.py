"""The picture of the first page: the hands of an encoding, which move.

    ```{hero-picture}
    ```

It is made of these:

* here: the picture as it is without scripts, or where the reader wants no motion;
* `book/web/src/hero.js`: how it moves; `words-landing.js` beside it: what its button and its counter say;
* `book/_static/hero.css`: how it looks.

`tests/browser/test_landing.py` looks at it.
"""

from __future__ import annotations

import math

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from tags import Tag

from posenc_course.colours import CSS
from posenc_course.translation import _
from posenc_lib.angles import frequencies

DIM = 16
SHOWN = 12_345
"""The position that the hands show before they move."""
MIDDLE = 44
"""Of a dial, across and down."""


class HeroPicture(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        turns = frequencies(DIM)
        clocks = [_clock(float(turn)) for turn in turns]
        alt = _(
            "Eight clocks, each with a hand that stands for one pair of columns of a sinusoidal encoding."
        )
        drawing = Tag.make("div", {"class": "posenc-clocks", "role": "img", "aria-label": alt}, *clocks)
        counter = Tag.make(
            "p", {"class": "posenc-counter"}, _("Token {position}").format(position=f"{SHOWN:,}")
        )
        below = _(
            "The eight hands of a sinusoidal encoding. The number below each says after how many tokens it "
            "has gone round once. No two tokens find all eight in the same place: that is how each of them "
            "can be told where it is."
        )
        caption = Tag.make("figcaption", {}, below)
        attributes = {"class": "posenc-hero-picture", "style": CSS}
        return [Tag.make("figure", attributes, caption, counter, drawing)]


def _clock(turn: float) -> Tag:
    """A dial with its hand, and after how many tokens it has gone round."""
    middle = str(MIDDLE)
    dial = Tag.make("circle", {"cx": middle, "cy": middle, "r": "40"})
    line = {"x1": middle, "y1": middle, "x2": middle, "y2": str(MIDDLE - 34)}
    angle = math.degrees(SHOWN * turn) % 360
    about = {"transform": f"rotate({angle:.2f} {middle} {middle})", "data-turn": repr(turn)}
    hand = Tag.make("g", {"class": "posenc-hand"} | about, Tag.make("line", line))
    once = Tag.make("text", {"x": middle, "y": "106"}, f"{round(2 * math.pi / turn):,}")
    return Tag.make("svg", {"viewBox": f"0 0 {2 * MIDDLE} 112"}, dial, hand, once)


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")  # it has taught Sphinx the tags
    app.add_directive("hero-picture", HeroPicture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
