"""The pictures of a class's report: how many have how many points, and which named mistakes were made."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.ticker import MaxNLocator

from posenc_course.colours import BLUE
from posenc_course.figures.picture import Picture, canvas, finish

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
        axes.set_xlabel(f"points, of {of:g}")
        axes.set_ylabel("submissions")
        axes.set_ylim(0, 1.2 * max([*counts, 1]))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(False, axis="x")
        axes.set_axisbelow(True)
        told = "; ".join(
            f"{start} or more: {count}" for start, count in zip(starts, counts, strict=True) if count
        )
        return finish(
            figure,
            alt=f"Bar chart of how many of {sum(counts)} submissions have how many of {of:g} points, "
            f"in steps of {width}. {told}.",
        )


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
        axes.set_ylabel("named mistake")
        axes.set_xlabel(f"submissions that make it, of {submissions}")
        axes.set_xlim(0, 1.18 * max(counts))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        axes.set_axisbelow(True)
        if len(ordered) > SHOWN:
            axes.set_title(f"The {SHOWN} most frequent of {len(ordered)} named mistakes")
        first = "; ".join(f"{exercise}, {name}: {count}" for exercise, name, count in shown[:5])
        return finish(
            figure,
            alt=f"Bar chart of {len(shown)} named mistakes by how many of {submissions} submissions "
            f"make them, the most frequent on top. {first}.",
        )
