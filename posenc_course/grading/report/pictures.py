"""The pictures of a class's report: how many have how many points, and which named mistakes were made."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.ticker import MaxNLocator

from posenc_course.colours import BLUE
from posenc_course.figures.picture import Picture, canvas, finish
from posenc_course.translation import _

SHOWN = 20
"""Bars; rarer mistakes are counted in the title."""


def marks_spread(width: int, counts: Sequence[int], *, of: float) -> Picture:
    """One column a class of points.

    Args:
        width: of a class, in points; the first one begins at 0.
        counts: how many submissions are in each.
        of: points of the assignment.
    """
    starts = [width * number for number in range(len(counts))]
    with canvas(width=7.6, height=2.6) as figure:
        axes = figure.subplots()
        bars = axes.bar(starts, counts, align="edge", color=BLUE, width=0.92 * width)
        axes.bar_label(bars, [str(count) if count else "" for count in counts], padding=2)
        axes.set_xticks(starts)
        axes.set_xlabel(_("points, of {most:g}").format(most=of))
        axes.set_ylabel(_("submissions"))
        axes.set_ylim(0, 1.2 * max([*counts, 1]))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(False, axis="x")
        axes.set_axisbelow(True)
        column = _("{start} or more: {count}")
        columns = _("; ").join(
            column.format(start=start, count=count)
            for start, count in zip(starts, counts, strict=True)
            if count
        )
        told = _(
            "Bar chart of how many of {submissions} submissions have how many of {most:g} points, in steps "
            "of {step}. {columns}."
        )
        alt = told.format(submissions=sum(counts), most=of, step=width, columns=columns)
        return finish(figure, alt=alt)


def mistakes_made(mistakes: Sequence[tuple[str, str, int]], *, submissions: int) -> Picture:
    """One bar a named mistake, the most frequent on top.

    Args:
        mistakes: (exercise, name of the mistake, how many submissions make it).
        submissions: how many were graded.

    Raises:
        ValueError: there is no mistake to draw.
    """
    if not mistakes:
        raise ValueError("mistakes is empty; there is nothing to draw")
    ordered = sorted(mistakes, key=lambda each: -each[2])
    shown = ordered[:SHOWN]
    places = range(len(shown))
    counts = [count for _exercise, _name, count in shown]
    with canvas(width=7.6, height=1.3 + 0.32 * len(shown)) as figure:
        axes = figure.subplots()
        bars = axes.barh(places, counts, color=BLUE, height=0.65)
        axes.bar_label(bars, [f"{count} ({count / submissions:.0%})" for count in counts], padding=4)
        axes.set_yticks(places, [f"{exercise}: {name}" for exercise, name, _count in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_ylabel(_("named mistake"))
        axes.set_xlabel(_("submissions that make it, of {submissions}").format(submissions=submissions))
        axes.set_xlim(0, 1.18 * max(counts))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        axes.set_axisbelow(True)
        if len(ordered) > SHOWN:
            most = _("The {shown} most frequent of {count} named mistakes")
            axes.set_title(most.format(shown=SHOWN, count=len(ordered)))
        bar = _("{exercise}, {name}: {count}")
        first = _("; ").join(
            bar.format(exercise=exercise, name=name, count=count) for exercise, name, count in shown[:5]
        )
        told = _(
            "Bar chart of {count} named mistakes by how many of {submissions} submissions make them, the "
            "most frequent on top. {bars}."
        )
        return finish(figure, alt=told.format(count=len(shown), submissions=submissions, bars=first))
