"""A picture for a page: drawn once, readable on a light and on a dark page, with words for those who
cannot see it.

Axes and text take the colour of the page's own text (SVG's `currentColor`). Everything else uses
`posenc_course/colours.py` and `DIVERGING`, chosen to stand out against white and near-black alike.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from posenc_course.colours import BLUE, COLOURS
from posenc_course.figures import moves as moving
from posenc_course.figures import values
from posenc_course.figures.moves import Move
from posenc_course.translation import _

# Widths of lines, in points.
SEED = 0.8
"""One of several runs, the edge of a cell, what leads to a name."""
GUIDE = 1.5
"""What helps to read the others: chance, a trained length, the rim of a clock."""
CURVE = 2.0
BOLD = 2.5
"""A hand of a clock, and what must show beside or below a curve."""
BAND = 5.0
"""What other lines lie upon."""

DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
DIVERGING = "coolwarm"
SHADES = LinearSegmentedColormap.from_list("shades", [(*to_rgb(BLUE), 0.0), (*to_rgb(BLUE), 0.85)])
"""Of weights and shares: none is the page itself, and more is bluer, on a light page and on a dark one."""

# Matplotlib knows no `currentColor`: draw with a colour that nobody else uses, and replace it.
_INK = "#010203"

LARGER = 1.1
"""The page's face is narrower than the one that Matplotlib measures with: so much larger, it still fits."""
LEGIBLE = 9.0 * LARGER
"""Text of a picture is never shown smaller, in CSS pixels; exponents are."""
_FACE = re.compile(r"font-family: 'DejaVu Sans'(?:,[^;]*)?; ?")
_TEXT = re.compile(r"<text\b.*?</text>", re.DOTALL)
_TEXT_SIZE = re.compile(r"font-size: ([\d.]+)px")
_LEFT = re.compile(r'(<text style="[^"]*)" transform="translate\([\d.-]+ ([\d.-]+)\)"')
_COORDINATES = re.compile(r'\s(?:d|x|y|x1|x2|y1|y2|width|height|points)="[^"]+"')
_FINE = re.compile(r"-?\d+\.\d{2,}")
_NAMED = re.compile(r'(\bid="|href="#|url\(#)([^")]+)')

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "posenc",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "image.cmap": DIVERGING,
    "image.interpolation": "none",  # a pixel for each cell, which the page enlarges
    "legend.frameon": False,
    "lines.linewidth": CURVE,
    "figure.constrained_layout.use": True,
    "axes.prop_cycle": cycler(color=list(COLOURS), linestyle=list(DASHES)),
    **dict.fromkeys(
        (
            "text.color",
            "axes.labelcolor",
            "axes.edgecolor",
            "axes.titlecolor",
            "xtick.color",
            "ytick.color",
            "grid.color",
            "legend.labelcolor",
        ),
        _INK,
    ),
}


@dataclass(frozen=True)
class Picture:
    """An SVG and its alt text. A notebook and the book show it by themselves."""

    svg: str
    alt: str

    def _repr_html_(self) -> str:
        return f'<figure class="posenc-figure">{self.svg}</figure>'

    def __repr__(self) -> str:
        return f"Picture: {self.alt}"


@contextmanager
def canvas(width: float = 7.0, height: float = 3.5) -> Iterator[Figure]:
    """A matplotlib figure, in inches, with the book's style.

    with canvas() as figure:
        axes = figure.subplots()
        ...
        return finish(figure, alt="...")
    """
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height))
        figure.patch.set_alpha(0.0)
        yield figure


@contextmanager
def words_left_to_the_page() -> Iterator[None]:
    """Matplotlib need not have the signs of a word: the page draws it, with a face that has them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def finish(figure: Figure, *, alt: str, moves: Sequence[Move] = (), tells: bool = True) -> Picture:
    """The drawn figure as a `Picture`. Call it inside `canvas`.

    Args:
        moves: what a page shows before, once; they end in the picture as it is drawn.
        tells: whether a page says the points of curves. Where places are not values, they would mislead.

    Raises:
        ValueError: the alt text is missing, an axis has numbers but no label, or what moves is not drawn.
    """
    if len(alt) < 20:
        raise ValueError(f"alt={alt!r} does not describe the picture; say what a reader would see in it")
    for axes in figure.axes:
        axes.patch.set_alpha(0.0)
        if values.heat_map(axes):  # its cells are frame enough, and so are the colours of its scale
            axes.grid(visible=False)
            axes.spines[:].set_visible(False)
        for axis in (axes.xaxis, axes.yaxis):
            shown = axes.axison and axis.get_visible() and any(t.get_text() for t in axis.get_ticklabels())
            if shown and not axis.get_label().get_text():
                raise ValueError(f"the {axis.axis_name} axis has numbers but no label; name what it measures")
    for text in figure.findobj(Text):
        if (said := text.get_text()) and (translated := _(said)) != said:
            text.set_text(translated)
    moving.name(moves)
    several = _name_several_lines(figure)
    buffer = io.StringIO()
    with words_left_to_the_page():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    told = {
        "cells": [each for axes in figure.axes if (each := values.cells(axes))],
        "curves": [each for axes in figure.axes if tells and not moves and (each := values.curves(axes))],
    }
    svg = buffer.getvalue()
    for text in several:
        svg = _aligned(svg, text)
    return Picture(_for_page(svg, alt, told, moves), alt)


def _name_several_lines(figure: Figure) -> list[Text]:
    """The texts of several lines that are not aligned at the left, each with a name in the picture."""
    found = [
        text
        for text in figure.findobj(Text)
        if "\n" in text.get_text() and text.get_rotation() == 0 and text.get_horizontalalignment() != "left"
    ]
    for number, text in enumerate(found):
        text.set_gid(text.get_gid() or f"lines-{number}")
    return found


def _aligned(svg: str, text: Text) -> str:
    """Each line placed by its middle or its end, as Matplotlib places a single one.

    It places the lines of several by their left, which fits its own face and English alone.
    """
    begin = svg.find(f'id="{text.get_gid()}"')
    if begin < 0:  # it is not shown
        return svg
    anchor = "middle" if text.get_horizontalalignment() == "center" else "end"
    figure = text.get_figure(root=True)
    assert figure is not None
    with words_left_to_the_page():
        box = text.get_window_extent()
    x = ((box.x0 + box.x1) / 2 if anchor == "middle" else box.x1) * 72 / figure.dpi
    placed = rf'\1; text-anchor: {anchor}" x="{x:.1f}" y="\2"'
    lines = text.get_text().count("\n") + 1
    return svg[:begin] + _LEFT.sub(placed, svg[begin:], count=lines)


def _for_page(svg: str, alt: str, told: Mapping[str, Sequence[Any]], moves: Sequence[Move] = ()) -> str:
    """Strip the XML prologue, take the page's text colour, scale with the page, make ids unique."""
    svg = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    # Matplotlib's style sheet is one rule for `*`: inside a page it would reach the whole page.
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    # Nobody sees half a tenth of a point, and a third of a picture's weight was finer.
    svg = _COORDINATES.sub(lambda all_: _FINE.sub(lambda one: f"{float(one[0]):.1f}", all_[0]), svg)
    # In the face of the page.
    svg = _FACE.sub("", svg)
    svg = _TEXT_SIZE.sub(lambda found: f"font-size: {LARGER * float(found[1]):.4g}px", svg)
    # Clip paths are called by a hash of coordinates that are not rounded: their last bits may differ.
    clips = {name: f"clip-{number}" for number, name in enumerate(re.findall(r'<clipPath id="([^"]+)"', svg))}
    svg = _NAMED.sub(lambda found: found[1] + clips.get(found[2], found[2]), svg)
    prefix = f"p{hashlib.sha256(svg.encode()).hexdigest()[:8]}-"
    sheet, lasts = moving.sheet(moves, svg, prefix) if moves else ("", 0)
    svg = _NAMED.sub(rf"\g<1>{prefix}\g<2>", svg)
    width = re.search(r'width="([\d.]+)pt"', svg)
    assert width is not None
    # As wide as it takes to read its text; on a narrow page it scrolls (book/_static/scroll.js).
    legible = float(width[1]) * min(LEGIBLE / _smallest_text(svg), 1.2)
    head = (
        f'<svg role="img" aria-label="{escape(alt, quote=True)}" '
        f'style="width:100%;min-width:{legible:.0f}px;max-width:{float(width[1]) * 1.2:.0f}px;height:auto;'
        "overflow:visible;stroke-linejoin:round;stroke-linecap:butt;font-family:var(--pst-font-family-base,sans-serif)"
    )
    head += f';--lasts:{lasts:g}s" class="posenc-moving"' if moves else '"'
    for kind, each in told.items():
        if each:
            words = json.dumps(each, separators=(",", ":"), ensure_ascii=False)
            head += f' data-{kind}="{escape(words, quote=True)}"'
    opening = re.sub(r'\s(width|height)="[\d.]+pt"', "", svg[: svg.index(">")])
    body = svg[svg.index(">") + 1 :].rstrip()
    drawn = f"{opening.removeprefix('<svg')}>{f'<style>{sheet}</style>' if moves else ''}{body}"
    return head + _without_idle_ids(drawn)


def _without_idle_ids(svg: str) -> str:
    """Matplotlib names each group; kept are the names that something refers to."""
    used = set(re.findall(r"#([\w-]+)", svg))
    return re.sub(r'\sid="([^"]+)"', lambda named: named[0] if named[1] in used else "", svg)


def _smallest_text(svg: str) -> float:
    """The size of the smallest text, of each the size of its largest part."""
    sizes = [[float(size) for size in _TEXT_SIZE.findall(text)] for text in _TEXT.findall(svg)]
    return min((max(each) for each in sizes if each), default=LEGIBLE)
