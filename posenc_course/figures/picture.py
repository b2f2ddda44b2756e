"""A picture for a page: drawn once, readable on a light and on a dark page, with words for those who
cannot see it.

Axes and text take the colour of the page's own text (SVG's `currentColor`). Everything else uses
`posenc_course/colours.py` and `DIVERGING`, chosen to stand out against white and near-black alike.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter

from posenc_course.colours import BLUE, COLOURS
from posenc_course.figures import moves as moving
from posenc_course.figures.moves import Move
from posenc_course.translation import _
from posenc_lib._arrays import Array

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
        if _map(axes):  # its cells are frame enough, and so are the colours of its scale
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
        "cells": [each for axes in figure.axes if (each := _cells(axes))],
        "curves": [each for axes in figure.axes if tells and not moves and (each := _curves(axes))],
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


MOST_CELLS = 1200
"""A heat map of more is not told cell by cell: its numbers would weigh more than its picture."""


MOST_POINTS = 100
"""Of a longer curve so many are told, evenly, with its highest and its lowest."""


def _cells(axes: Axes) -> dict[str, Any] | None:
    """What the page says of each cell of a heat map (book/web/src/picture-values.js); None of other axes.

    Where it lies, as shares of the picture's width and height from its left top corner; what its rows,
    columns and colours are called; and its numbers, row by row from the top.
    """
    map_ = _map(axes)
    if map_ is None or not axes.axison:
        return None
    values = np.asarray(map_.get_array())
    if values.ndim != 2 or values.size > MOST_CELLS:
        return None
    down, across = _names(axes, "y", values.shape[0]), _names(axes, "x", values.shape[1])
    if not (down and across):
        return None
    if isinstance(map_, AxesImage):
        left, right, bottom, top = map_.get_extent()
        ends = [(left, top), (right, bottom)]
    else:
        edges = np.asarray(map_.get_coordinates())
        ends = [tuple(edges[0, 0]), tuple(edges[-1, -1])]
    others = (each for other in axes.figure.axes if (each := _map(other)) is not None)
    scales = (each.colorbar for each in (map_, *others) if each.get_clim() == map_.get_clim())
    colours = next(filter(None, scales), None)
    return {
        "place": _place(axes, axes.transData.transform(ends)),
        "title": axes.get_title(),
        "down": down,
        "across": across,
        "value": colours.ax.get_ylabel() if colours else "",
        "numbers": [[_told(each) for each in row] for row in values.tolist()],
    }


def _curves(axes: Axes) -> dict[str, Any] | None:
    """What the page says of the points of curves (book/web/src/picture-values.js); None of axes without any.

    Where the axes lie, as shares of the picture's width and height from its left top corner; what each axis
    is called, where it begins and ends, and whether in equal steps or in equal factors; and the points of
    each curve.
    """
    if not axes.axison or _map(axes):
        return None
    down, across = _scale(axes, "y"), _scale(axes, "x")
    curves = [_points(name, seen) for line, name in _lines(axes) if len(seen := _seen(axes, line))]
    if not (down and across and curves):
        return None
    box = axes.get_window_extent()
    return {
        "place": _place(axes, [(box.x0, box.y1), (box.x1, box.y0)]),
        "title": axes.get_title(),
        "down": down,
        "across": across,
        "curves": curves,
    }


def _lines(axes: Axes) -> Iterator[tuple[Line2D, str]]:
    """The curves of axes that belong to their data, and what each is called.

    One without a name has that of a curve of the picture that looks alike; "" if there is none.
    """
    bars = [each for each in axes.containers if isinstance(each, ErrorbarContainer)]
    caps = {id(cap) for bar in bars for cap in bar.lines[1]}
    names = {id(bar.lines[0]): str(bar.get_label()) for bar in bars}
    alike = {
        _look(line): _name(line) for every in axes.figure.axes for line in every.get_lines() if _name(line)
    }
    for line in axes.get_lines():
        is_mark = np.size(line.get_xdata()) < (2 if line.get_marker() == "None" else 1)
        if line.get_transform() == axes.transData and id(line) not in caps and not is_mark:
            yield line, _name(line) or _spoken(names.get(id(line), "")) or alike.get(_look(line), "")


def _name(line: Line2D) -> str:
    return _spoken(str(line.get_label()))


def _spoken(label: str) -> str:
    """A label; "" if it is one of Matplotlib's own."""
    return "" if not label or label.startswith("_") else _(label)


def _look(line: Line2D) -> tuple[Any, ...]:
    return line.get_color(), line.get_linestyle()


def _seen(axes: Axes, line: Line2D) -> Array:
    """The points of a curve that lie inside its axes, of shape (points, 2)."""
    points = np.asarray(line.get_xydata(), dtype=float)
    low, high = np.sort(np.transpose([axes.get_xlim(), axes.get_ylim()]), axis=0)
    inside: Array = points[((points >= low) & (points <= high)).all(axis=1)]  # so none that is not a number
    return inside


def _points(name: str, points: Array) -> dict[str, Any]:
    if len(points) > MOST_POINTS:
        thinned = np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(int)
        points = points[np.union1d(thinned, (points[:, 1].argmin(), points[:, 1].argmax()))]
    return {
        "name": name,
        "x": [_told(each, 6) for each in points[:, 0]],
        "y": [_told(each, 4) for each in points[:, 1]],
    }


def _scale(axes: Axes, which: str) -> dict[str, Any] | None:
    """What an axis is called, its ends, and the words at its ticks; None if it shows no values."""
    axis, label = getattr(axes, f"{which}axis"), _label(axes, which)
    ticks = [(float(tick.get_loc()), tick.label1.get_text()) for tick in axis.get_major_ticks()]
    if axis.get_scale() not in ("linear", "log") or not (label and ticks):
        return None
    ends = [_told(end, 6) for end in getattr(axes, f"get_{which}lim")()]
    scale = {"label": label, "ends": ends, "log": axis.get_scale() == "log"}
    if isinstance(axis.get_major_formatter(), FuncFormatter) and not all(_says(*each) for each in ticks):
        scale["ticks"] = {f"{at:g}": words for at, words in ticks if words}
    return scale


def _says(number: float, words: str) -> bool:
    """Whether a tick says its number."""
    try:
        return math.isclose(float(words.replace(",", "").replace("−", "-")), number)
    except ValueError:
        return False


def _place(axes: Axes, corners: Any) -> list[float]:
    """Left, top, width and height of what two corners on the screen hold, as shares of the picture."""
    (x0, y0), (x1, y1) = axes.figure.transSubfigure.inverted().transform(corners)
    return [round(float(each), 4) for each in (x0, 1 - y0, x1 - x0, y0 - y1)]


def _told(value: float, digits: int = 3) -> float | None:
    """A number in so many digits; None of a cell that holds none."""
    return float(f"{value:.{digits}g}") if value is not None and math.isfinite(value) else None


def _map(axes: Axes) -> AxesImage | QuadMesh | None:
    """The heat map of these axes."""
    drawn = (each for each in axes.get_children() if isinstance(each, (AxesImage, QuadMesh)))
    return next(drawn, None)


def _label(axes: Axes, which: str) -> str:
    """That of an axis, or of one that it shares."""
    shared = getattr(axes, f"get_shared_{which}_axes")().get_siblings(axes)
    return next(filter(None, (getattr(each, f"get_{which}label")() for each in (axes, *shared))), "")


def _names(axes: Axes, which: str, count: int) -> list[str] | None:
    """The label of an axis, or of one that it shares, and the words at its ticks, if there are any."""
    label = _label(axes, which)
    ticks = [each.get_text() for each in getattr(axes, f"get_{which}ticklabels")()]
    words = ticks if len(ticks) == count and not all(each.lstrip("−-").isdecimal() for each in ticks) else []
    return [label, *words] if label or words else None


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
        "stroke-linejoin:round;stroke-linecap:butt;font-family:var(--pst-font-family-base,sans-serif)"
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
