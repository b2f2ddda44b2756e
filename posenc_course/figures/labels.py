"""The names of curves, at the curves: no picture has a legend."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation

from posenc_course.figures.picture import SEED, words_left_to_the_page
from posenc_lib._arrays import Array

SIZE = 11.0
"""Of the names, in points."""
_LINE = 1.25 * SIZE
_GAP = SIZE / 2


def label_at_curve(*panels: Axes) -> None:
    """The name of each curve at its right end, once: in the first of the panels in which it is drawn.

    Where curves end close to one another their names keep apart, and a thin piece of each curve leads to its
    name. Call this when all is drawn.
    """
    curves: dict[str, tuple[Axes, Line2D]] = {}
    for axes in panels:
        drawn = {
            str(each.get_label()): (axes, each) for each in axes.get_lines() if np.size(each.get_xdata())
        }
        curves = {name: found for name, found in drawn.items() if not name.startswith("_")} | curves
    notes = {name: _note(axes, curve, name) for name, (axes, curve) in curves.items()}
    with words_left_to_the_page():
        _figure(panels[0]).draw_without_rendering()  # now all is in its place, with room for names
    for axes in panels:
        if own := [(curve, notes[name]) for name, (of, curve) in curves.items() if of is axes]:
            _place(axes, own)


def label_at(axes: Axes, words: str, point: tuple[float, float], away: tuple[float, float]) -> None:
    """Words next to a point of the data: so many points to its right (left, if negative) and above it."""
    across, up = away
    axes.annotate(
        words,
        point,
        away,
        textcoords="offset points",
        fontsize=SIZE,
        ha="left" if across > 0 else "right" if across < 0 else "center",
        va="bottom" if up > 0 else "top" if up < 0 else "center",
    )


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def _note(axes: Axes, curve: Line2D, name: str) -> Annotation:
    dash = curve.get_linestyle()
    look = {"color": curve.get_color(), "linewidth": SEED, "linestyle": "-" if dash == "None" else dash}
    return axes.annotate(
        name,
        (1.0, 0.5),
        (1.0, 0.5),
        xycoords="axes fraction",
        textcoords="axes fraction",
        va="center",
        fontsize=SIZE,
        arrowprops={"arrowstyle": "-", "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 1, **look},
    )


def _place(axes: Axes, curves: Sequence[tuple[Line2D, Annotation]]) -> None:
    """The names of curves in a column right of the axes, from below in the order in which the curves end."""
    found = [(*_end(axes, curve), note) for curve, note in curves]
    found.sort(key=lambda each: (round(each[1], 2), each[2]))
    point = _figure(axes).dpi / 72
    width, height = axes.bbox.width / point, axes.bbox.height / point
    sizes = np.array([_LINE * (1 + note.get_text().count("\n")) for *_, note in found])
    heights = apart([height * y for _x, y, *_ in found], sizes, height)
    for (x, y, _mean, note), up in zip(found, heights, strict=True):
        note.xy = (x, y)
        note.set_position((1 + _GAP / width, up / height))


def _end(axes: Axes, curve: Line2D) -> tuple[float, float, float]:
    """Where it can be seen last, and its mean height: shares of the axes."""
    points = (curve.get_transform() + axes.transAxes.inverted()).transform(curve.get_xydata())
    points = points[np.isfinite(points).all(axis=1)]
    inside = points[((points > -0.01) & (points < 1.01)).all(axis=1)]
    x, y = max(inside.tolist() or np.clip(points, 0, 1).tolist())
    return x, y, float(points[:, 1].mean())


def apart(wanted: Sequence[float], sizes: Array, height: float) -> Array:
    """Places near those wanted, which are in order, of what must neither overlap nor be above a height."""
    before = np.cumsum(sizes) - sizes / 2
    groups: list[list[float]] = []  # of names that touch: they share what they miss
    for each in np.asarray(wanted) - before:
        group = [float(each)]
        while groups and np.mean(groups[-1]) > np.mean(group):
            group = groups.pop() + group
        groups.append(group)
    low = np.concatenate([np.full(len(group), np.mean(group)) for group in groups])
    return np.asarray(np.clip(low, 0, max(height - float(np.sum(sizes)), 0)) + before)
