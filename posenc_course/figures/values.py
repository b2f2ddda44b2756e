"""What a page says of a picture in numbers: the cells of its heat maps, the points of its curves.

They are written beside the picture as it is drawn; book/web/src/picture-values.js says them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.container import ErrorbarContainer
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from posenc_course.translation import _
from posenc_lib._arrays import Array

MOST_CELLS = 1200
"""A heat map of more is not told cell by cell: its numbers would weigh more than its picture."""

MOST_POINTS = 100
"""Of a longer curve so many are told, evenly, with its highest and its lowest."""


def cells(axes: Axes) -> dict[str, Any] | None:
    """What the page says of each cell of a heat map; None of other axes.

    Where it lies, as shares of the picture's width and height from its left top corner; what its rows,
    columns and colours are called; and its numbers, row by row from the top.
    """
    map_ = heat_map(axes)
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
    others = (each for other in axes.figure.axes if (each := heat_map(other)) is not None)
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


def curves(axes: Axes) -> dict[str, Any] | None:
    """What the page says of the points of curves; None of axes without any.

    Where the axes lie, as shares of the picture's width and height from its left top corner; what each axis
    is called, where it begins and ends, and whether in equal steps or in equal factors; and the points of
    each curve.
    """
    if not axes.axison or heat_map(axes):
        return None
    down, across = _scale(axes, "y"), _scale(axes, "x")
    found = [_points(name, seen) for line, name in _lines(axes) if len(seen := _seen(axes, line))]
    if not (down and across and found):
        return None
    box = axes.get_window_extent()
    return {
        "place": _place(axes, [(box.x0, box.y1), (box.x1, box.y0)]),
        "title": axes.get_title(),
        "down": down,
        "across": across,
        "curves": found,
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
        if line.get_transform() == axes.transData and id(line) not in caps:
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


def heat_map(axes: Axes) -> AxesImage | QuadMesh | None:
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
