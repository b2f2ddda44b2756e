"""The picture of a class's report: which named mistakes it made."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.ticker import MaxNLocator

from posenc_lib.figures.picture import BLUE, Picture, canvas, finish

SHOWN = 20
"""Bars; rarer mistakes are counted in the title."""


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
