"""The picture that returns in every chapter: a sentence in a Transformer block, and the door that is open."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Polygon, Rectangle, Wedge

from posenc_course.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from posenc_course.figures.picture import BOLD, CURVE, GUIDE, SEED, Picture, canvas, finish
from posenc_lib._arrays import Array
from posenc_lib.added import sinusoidal
from posenc_lib.attention import attention
from posenc_lib.rotated import apply_rotary

WORDS = ("dog", "chases", "cat")
DOORS = {"added": "to the input", "rotated": "into q and k", "biased": "at the scores"}
TURN = 0.8
"""Radians a position, of the hands that stand for queries and keys."""

# Of the drawing, in tenths of an inch: a column for each word, a row for each thing that happens to it.
_COLUMNS = dict(zip(WORDS, (7.5, 17.5, 27.5), strict=True))
_COLOURS = dict(zip(WORDS, (BLUE, GREEN, PURPLE), strict=True))
_WORD, _VECTOR, _PLUS, _HANDS, _SCORES, _OUTPUT = 56.2, 51.4, 46.2, 35.0, 22.8, 11.0
_ROWS = dict(zip(DOORS, (_PLUS, _HANDS, _SCORES), strict=True))
_DOOR = 40.3
_LIGHT = ORANGE


def weights(lit: Collection[str] = ()) -> Array:
    """Who attends to whom, (3, 3), with these doors open. The words' vectors are made up."""
    at = np.arange(len(WORDS))
    x = np.random.default_rng(11).normal(size=(len(WORDS), 8))
    if "added" in lit:
        x = x + sinusoidal(at, 8)
    rotate: Callable[[Array], Array] | None = (lambda q: apply_rotary(q, at)) if "rotated" in lit else None
    bias = -0.8 * np.abs(at[:, None] - at) if "biased" in lit else None
    return np.asarray(attention(0.5 * x, x, x, rotate=rotate, bias=bias, return_weights=True)[1])


def transformer_block(*lit: str) -> Picture:
    """“dog chases cat” on its way through a Transformer block that has three doors.

    Args:
        lit: the doors that are open, of "added", "rotated" and "biased"; none where no position comes in.

    Raises:
        ValueError: there is no such door.
    """
    for door in lit:
        if door not in DOORS:
            raise ValueError(f"lit is {door!r}; the doors are {', '.join(DOORS)}")
    with canvas(width=4.6, height=5.85) as figure:
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, 46)
        axes.set_ylim(0.5, 59)
        axes.axis("off")
        axes.add_patch(_box(1.5, 6.5, 32.5, 35.6, GREY, 0.07, 1.2))
        axes.text(2.6, 40.4, "Transformer block", va="center", fontsize=10)
        for door in DOORS:
            _draw_door(axes, door, is_open=door in lit)
        for place, word in enumerate(WORDS):
            _draw_stream(axes, word)
            _draw_sum(axes, word, place if "added" in lit else None)
            _draw_hands(axes, word, TURN * place if "rotated" in lit else 0.0)
        _draw_weights(axes, weights(lit))
        opened = ", ".join(door for door in DOORS if door in lit) or "none"
        return finish(
            figure,
            alt=f"The sentence “{' '.join(WORDS)}” goes through a Transformer block, from top to bottom: the "
            "words, their vectors, queries and keys drawn as hands of clocks, a square of attention weights, "
            "and for each word an output in which the three are mixed. Three doors lead in: added to the "
            "input, rotated into queries and keys, added to the scores as a bias. "
            f"Open and lit: {opened}. All others are shut.",
        )


def _draw_stream(axes: Axes, word: str) -> None:
    """A word, its vector, and the way down to its query and key."""
    x, colour = _COLUMNS[word], _COLOURS[word]
    axes.add_patch(_box(x - 4.3, _WORD - 1.8, 8.6, 3.6, colour, 0.2, 1.8))
    axes.text(x, _WORD - 0.1, word, ha="center", va="center", fontsize=11)
    _bar(axes, x, _VECTOR, [(0.25, colour, depth) for depth in (0.9, 0.35, 0.65, 0.15)])
    for top, bottom in (
        (_WORD - 1.8, _VECTOR + 0.9),
        (_VECTOR - 0.9, _PLUS + 1.3),
        (_PLUS - 1.3, _HANDS + 3.4),
    ):
        _way(axes, (x, top), (x, bottom), colour)
    for side in (-2.1, 2.1):
        _way(axes, (x, _HANDS + 3.4), (x + side, _HANDS + 1.7), colour)
        _way(axes, (x + side, _HANDS - 3.9), (17.5 + 0.35 * (x + side - 17.5), _SCORES + 4.6), colour)


def _draw_sum(axes: Axes, word: str, place: int | None) -> None:
    """The first door's entrance: here something may be added to a vector."""
    x, colour = _COLUMNS[word], GREY if place is None else _LIGHT
    axes.add_patch(
        Circle((x, _PLUS), 1.3, facecolor=(*to_rgb(colour), 0.0 if place is None else 0.35), edgecolor=colour)
    )
    for right, up in ((0.7, 0.0), (0.0, 0.7)):
        axes.plot([x - right, x + right], [_PLUS - up, _PLUS + up], color=colour, lw=GUIDE, linestyle="-")
    if place is not None:
        axes.text(x - 1.7, _PLUS + 1.5, str(place), ha="right", va="center", fontsize=10, fontweight="bold")


def _draw_hands(axes: Axes, word: str, angle: float) -> None:
    """The second door's entrance: query and key as hands of clocks, which may be turned."""
    x, colour = _COLUMNS[word], _COLOURS[word]
    for name, middle in (("q", x - 2.1), ("k", x + 2.1)):
        axes.add_patch(
            Circle(
                (middle, _HANDS), 1.7, facecolor=(*to_rgb(colour), 0.12), edgecolor=colour, linewidth=GUIDE
            )
        )
        if angle:
            axes.add_patch(
                Wedge(
                    (middle, _HANDS), 1.7, 90 - np.degrees(angle), 90, color=_LIGHT, alpha=0.55, linewidth=0
                )
            )
        tip = (middle + 1.5 * np.sin(angle), _HANDS + 1.5 * np.cos(angle))
        axes.plot(*zip((middle, _HANDS), tip, strict=True), color=colour, linewidth=BOLD, linestyle="-")
        axes.text(middle, _HANDS - 2.9, name, ha="center", va="center", fontsize=10)


def _draw_weights(axes: Axes, weight: Array) -> None:
    """The third door's entrance: the square of weights, and what each word takes from the others by it."""
    cell, middle = 2.7, _COLUMNS[WORDS[1]]
    for row, query in enumerate(WORDS):
        top = _SCORES + 1.5 * cell - row * cell
        axes.text(middle - 1.5 * cell - 0.6, top - cell / 2, query, ha="right", va="center", fontsize=9.5)
        for column in range(len(WORDS)):
            shade = (*to_rgb(BLUE), 0.05 + 0.9 * weight[row, column])
            corner = (middle + (column - 1.5) * cell, top - cell)
            axes.add_patch(Rectangle(corner, cell, cell, facecolor=shade, edgecolor=GREY, linewidth=SEED))
        x = _COLUMNS[query]
        mixed = [(share, _COLOURS[word], 0.75) for word, share in zip(WORDS, weight[row], strict=True)]
        _bar(axes, x, _OUTPUT, mixed)
        _way(axes, (middle + 0.35 * (x - middle), _SCORES - 4.3), (x, _OUTPUT + 1.2), GREY)
        axes.add_patch(_arrow((x, _OUTPUT - 1.2), (x, 3.2), GREY))
    axes.text(middle + 1.5 * cell + 0.6, _SCORES + 3.4, "weights", va="center", fontsize=9.5)
    axes.text(middle, 1.8, "to the next block", ha="center", va="center", fontsize=9.5)


def _draw_door(axes: Axes, door: str, *, is_open: bool) -> None:
    """A door, what is said of it, and the beam or the dotted way to where it leads."""
    y, left, width, height = _ROWS[door], _DOOR - 1.7, 3.4, 5.4
    bottom, colour = y - height / 2, _LIGHT if is_open else GREY
    end, reach, half = {"added": (28.8, 5.0, 2.0), "rotated": (31.5, 2.6, 2.4), "biased": (21.9, 21.6, 2.3)}[
        door
    ]
    shade, line = ((_LIGHT, 0.75), CURVE) if is_open else ((GREY, 0.3), GUIDE)
    panel = Rectangle((left, bottom), width, height, facecolor=shade, edgecolor=colour, linewidth=line)
    if is_open:
        _draw_beam(axes, (left, y, height / 2), (reach, y, half))
        axes.add_patch(panel)
        hinge, edge = left + width, left + width + 1.9
        top = bottom + height
        leaf = [(hinge, bottom), (edge, bottom - 0.9), (edge, top - 0.9), (hinge, top)]
        axes.add_patch(Polygon(leaf, facecolor=(*to_rgb(_LIGHT), 0.3), edgecolor=colour, linewidth=CURVE))
    else:
        axes.plot([end, left], [y, y], color=GREY, linewidth=GUIDE, linestyle=":")
        axes.add_patch(panel)
        axes.add_patch(Circle((left + 0.75, y - 0.3), 0.3, color=GREY, linewidth=0))
    weight = "bold" if is_open else "normal"
    axes.text(_DOOR, bottom - 1.6, door, ha="center", va="center", fontsize=11, fontweight=weight)
    axes.text(_DOOR, bottom - 3.5, DOORS[door], ha="center", va="center", fontsize=9.5)


def _draw_beam(axes: Axes, start: tuple[float, float, float], end: tuple[float, float, float]) -> None:
    """Light that fades on its way: from and to are x, y, and half its width there."""
    edges = np.linspace(start, end, 25)
    for (x, y, half), (next_x, next_y, next_half), depth in zip(
        edges[:-1], edges[1:], np.linspace(0.45, 0.1, 24), strict=True
    ):
        corners = [(x, y - half), (x, y + half), (next_x, next_y + next_half), (next_x, next_y - next_half)]
        axes.add_patch(Polygon(corners, facecolor=(*to_rgb(_LIGHT), depth), linewidth=0, zorder=0))


def _bar(axes: Axes, x: float, y: float, parts: Sequence[tuple[float, str, float]]) -> None:
    """A vector: of each part its share of the width, its colour, and how deep that is."""
    width, height = 7.2, 1.8
    left = x - width / 2
    for share, colour, depth in parts:
        axes.add_patch(
            Rectangle((left, y - height / 2), share * width, height, facecolor=(*to_rgb(colour), depth), lw=0)
        )
        left += share * width
    axes.add_patch(
        Rectangle((x - width / 2, y - height / 2), width, height, facecolor="none", edgecolor=GREY, lw=SEED)
    )


def _way(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    axes.plot(*zip(start, end, strict=True), color=colour, linewidth=GUIDE, linestyle="-", alpha=0.6)


def _arrow(start: tuple[float, float], end: tuple[float, float], colour: str) -> FancyArrowPatch:
    return FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=9, shrinkA=0, shrinkB=0, color=colour, linewidth=GUIDE
    )


def _box(
    left: float, bottom: float, width: float, height: float, colour: str, depth: float, line: float
) -> FancyBboxPatch:
    return FancyBboxPatch(
        (left, bottom), width, height, boxstyle="round,pad=0,rounding_size=1",
        facecolor=(*to_rgb(colour), depth), edgecolor=colour, linewidth=line,
    )  # fmt: skip
