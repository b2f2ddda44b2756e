"""The hero of the first page: its opening words, and beside them the hands of an encoding, which move.

    ```{hero-picture}
    ```

It is made of these:

* `book/index.md`: the words, in `{div} posenc-hero`, and this block;
* here: the picture as it stands still, without scripts or where the reader wants no motion;
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
ACROSS = 4
"""Clocks in a row."""


class HeroPicture(SphinxDirective):
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
        attributes = {"class": "posenc-hero-picture", "style": CSS}
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


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")  # it has taught Sphinx the tags
    app.add_directive("hero-picture", HeroPicture)
    app.add_css_file("hero.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
