"""What the first page shows for what it says: stored runs, a named mistake, a measured claim.

    ```{trained-here}                               how models that train in a page do on longer texts
    ```
    ```{named-mistake} 02-the-formula.frequencies   a wrong answer, and what the judge says of it
    def frequencies(dim): ...
    ```
    ```{what-is-left}                               of a rise, when its alleged cause is taken away
    ```

Nothing of it is written by hand: the runs are those that the chapters quote, and the judge judges when the
page is built.
"""

from __future__ import annotations

import numpy as np
from docutils import nodes
from quiz import link
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from tags import Tag

from posenc_course.checking import report_on
from posenc_course.colours import CSS
from posenc_course.experiments.results import runs
from posenc_course.translation import _

CURVES = {"t5": ("T5", "green"), "rope": ("RoPE", "purple"), "sinusoidal": (_("sinusoidal"), "blue")}
LEFT, RIGHT, TOP, BOTTOM = 8, 232, 10, 104
"""Of the curves, in a drawing that is 320 wide and 142 high."""
LINE = 15
"""From a name to the one below."""


class TrainedHere(SphinxDirective):
    """The share of letters that each model names, by the length of the text."""

    def run(self) -> list[nodes.Node]:
        trained, longest = 32, 256
        parts: list[nodes.Node] = []
        written = 0.0  # how far down there are names
        for encoding, (name, colour) in CURVES.items():
            found = [each["result"] for each in runs("train-live", encoding=encoding)]
            shares = np.mean([each["accuracy"] for each in found], axis=0)
            points = [(_across(n, longest), _up(y)) for n, y in zip(found[0]["lengths"], shares, strict=True)]
            d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            parts.append(Tag.make("path", {"class": colour, "d": d}))
            written = max(points[-1][1] + 4, written + LINE)
            parts.append(_text(RIGHT + 8, written, f"{name} {shares[-1]:.0%}"))
        at = f"{_across(trained, longest):.1f}"
        mark = {"class": "ink dashed", "x1": at, "x2": at, "y1": str(TOP), "y2": str(BOTTOM)}
        floor = {"class": "ink", "x1": str(LEFT), "x2": str(RIGHT), "y1": str(BOTTOM), "y2": str(BOTTOM)}
        below = _text(float(at) + 5, BOTTOM - 6, _("trained on {count} letters").format(count=trained))
        end = _text(RIGHT, BOTTOM + 16, _("{count} letters").format(count=longest), "end")
        alt = _(
            "Share of letters named, by the length of the text. Three models know nearly all at the length "
            "they were trained on. At eight times that, T5’s still knows most, RoPE’s and the sinusoidal one "
            "few."
        )
        return [_drawing(alt, Tag.make("line", mark), Tag.make("line", floor), *parts, below, end)]


class WhatIsLeft(SphinxDirective):
    """Bars: the rise of the loss on longer texts, as the model is and with some of its clocks stopped."""

    def run(self) -> list[nodes.Node]:
        named = {
            "as it is": _("the model as it is"),
            "slow clocks stop": _("slow clocks stopped"),
            "fast clocks stop": _("fast clocks stopped"),
            "all clocks stop": _("all clocks stopped"),
        }
        rises = {read: rise(read) for read in named}
        parts: list[nodes.Node] = [_text(LEFT, 12, _("Rise of the loss, in nats per byte"))]
        for row, (read, name) in enumerate(named.items()):
            y = 20 + 30 * row
            width = 250 * rises[read] / rises["as it is"]
            look = "full accent" if row else "full grey"
            bar = {"class": look, "x": str(LEFT), "y": str(y + 16), "height": "9", "width": f"{width:.1f}"}
            parts += [_text(LEFT, y + 11, name), Tag.make("rect", bar)]
            parts.append(_text(LEFT + width + 6, y + 25, f"{rises[read]:.3f}"))
        alt = _("Bars: how far the loss rises at four times the trained length, with some clocks stopped.")
        return [_drawing(alt, *parts)]


def rise(read: str) -> float:
    """How far a RoPE model's loss rises at four times its trained length, when it is read so."""
    found = [each["result"] for each in runs("causes", encoding="rope", change="read differently")]
    return float(np.mean([np.mean(each["read"][read]) - np.mean(each["short"]) for each in found]))


class NamedMistake(SphinxDirective):
    """Code that somebody might write, and the judge's own words about it."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        written: dict[str, object] = {"np": np}
        exec(code, written)  # it is ours, out of a page of the book
        chapter, _dot, function = self.arguments[0].partition(".")
        report = report_on(self.arguments[0], written[function])
        if report.mistake is None:
            raise ExtensionError(f"{self.arguments[0]}: the judge names no mistake here, but says: {report}")
        listing = nodes.literal_block(code, code, language="python")
        said = [Tag.make("p", {}, each) for each in report.explanation]
        headline = Tag.make("p", {}, Tag.make("strong", {}, f"✗ {report.headline}"))
        uri = self.env.app.builder.get_relative_uri(self.env.docname, f"book/{chapter}")
        try_it = link(f"{uri}#exercise-{function.replace('_', '-')}", _("Try the exercise"))
        return [
            listing,
            Tag.make("div", {"class": "posenc-judge"}, headline, *said),
            Tag.make("p", {}, try_it),
        ]


def _across(length: float, longest: float) -> float:
    return LEFT + (RIGHT - LEFT) * length / longest


def _up(share: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * share


def _text(x: float, y: float, said: str, anchor: str = "start") -> Tag:
    return Tag.make("text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}, said)


def _drawing(alt: str, *parts: nodes.Node) -> Tag:
    about = {"class": "posenc-drawing", "viewBox": "0 0 320 142", "style": CSS}
    return Tag.make("svg", about | {"role": "img", "aria-label": alt}, *parts)


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")  # it has taught Sphinx the tags
    app.add_directive("trained-here", TrainedHere)
    app.add_directive("what-is-left", WhatIsLeft)
    app.add_directive("named-mistake", NamedMistake)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
