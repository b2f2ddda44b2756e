"""What moves in a picture before it is as it is drawn.

The picture is where all moves end: it is what paper shows, and a page without scripts or with less motion. A
page lets a picture move once, when it is seen (book/_static/figures.css, book/web/src/moves.js).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.text import Annotation

LONGEST = 5.0
"""Seconds. What moves longer by itself needs a button that stops it (WCAG 2.2.2)."""


@dataclass(frozen=True)
class At:
    """How something is shown at a time; whatever is not said is as in the picture.

    Attributes:
        time: in seconds.
        by: how far it is from its place, right and up, in the units of its axes.
        turn: by how many degrees it is turned, anticlockwise.
        grow: how many times as wide and as high it is.
        opacity: from 0 to 1.
        drawn: which share of a line is there, from its first point.
    """

    time: float
    by: tuple[float, float] = (0.0, 0.0)
    turn: float = 0.0
    grow: tuple[float, float] = (1.0, 1.0)
    opacity: float = 1.0
    drawn: float = 1.0


@dataclass(frozen=True)
class Move:
    """What some artists do: what they are like at some times, of which the last is as in the picture.

    Attributes:
        artists: they do the same. Each is one that matplotlib draws by itself, and they have the same axes.
        steps: before the first they are as at the first.
        about: the point, in the units of the axes, about which they turn and grow.
    """

    artists: Sequence[Artist]
    steps: Sequence[At]
    about: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        times = [step.time for step in self.steps]
        if times != sorted(set(times)) or times[0] < 0 or len(times) < 2:
            raise ValueError(f"the times {times} do not rise from 0 or later")
        if self.steps[-1] != At(times[-1]):
            raise ValueError(f"{self.steps[-1]} is not the picture; end each move there")
        if times[-1] >= LONGEST:
            raise ValueError(f"a move that ends after {times[-1]} s is too long; stay below {LONGEST} s")


def appear(*artists: Artist, start: float, end: float) -> Move:
    """They fade in."""
    return Move(artists, (At(start, opacity=0), At(end)))


def draw(*lines: Line2D, start: float, end: float) -> Move:
    """Each line is drawn, from its first point to its last."""
    return Move(lines, (At(start, drawn=0), At(end)))


def tick(
    hand: Sequence[Artist], degrees: float, ticks: int, *, every: float, about: tuple[float, float]
) -> Move:
    """A hand comes to its place by turning so many times by so many degrees, clockwise, for a second each."""
    steps = [
        At(0.4 + every * number + moved, turn=degrees * (ticks - number - moved))
        for number in range(ticks)
        for moved in (0, 1)
    ]
    return Move(hand, steps, about)


def name(moves: Sequence[Move]) -> None:
    """Give each artist the name under which its element is found."""
    for number, artist in enumerate(_artists(moves)):
        if artist.get_gid():
            raise ValueError(f"{artist} has two moves; say in one what it does")
        artist.set_gid(f"m{number}")
        if isinstance(artist, Annotation) and artist.arrow_patch and not artist.get_text():
            artist.arrow_patch.set_gid(artist.get_gid())  # which is all that is drawn of it


def sheet(moves: Sequence[Move], svg: str, prefix: str) -> tuple[str, float]:
    """Moves of what is drawn as `svg`, as CSS, and how many seconds they take.

    Without a duration, which they get from the page's own sheet, they do nothing.

    Args:
        prefix: of the ids on the page.

    Raises:
        ValueError: an artist is not drawn, or is drawn as what cannot do what it shall.
    """
    lasts = max(move.steps[-1].time for move in moves)
    rules: list[str] = []
    names: dict[str, str] = {}
    for move in moves:
        for artist in move.artists:
            keyframes = _keyframes(move, artist, lasts, svg)
            name = names.setdefault(keyframes, f"{prefix}k{len(names)}")
            origin = ""
            if any(step.turn or step.grow != (1, 1) for step in move.steps):
                x, y = _point(artist, move.about)
                origin = f";transform-origin:{x:.1f}px {y:.1f}px"
            # A line says of itself how it is dashed; of its group it would not take it over.
            line = ">path" if "stroke-dash" in keyframes else ""
            rules.append(f"#{prefix}{artist.get_gid()}{line}{{animation-name:{name}{origin}}}")
    rules += [f"@keyframes {name}{{{keyframes}}}" for keyframes, name in names.items()]
    return "".join(rules), lasts


def _artists(moves: Sequence[Move]) -> Iterator[Artist]:
    return (artist for move in moves for artist in move.artists)


def _keyframes(move: Move, artist: Artist, lasts: float, svg: str) -> str:
    group = re.search(rf'<(\w+) [^>]*\bid="{artist.get_gid()}".*?</g>', svg, re.DOTALL)
    if not group:
        raise ValueError(f"{artist} is to move and is not drawn")
    said = [_style(step, move, artist, group[0]) for step in move.steps]
    if group[1] != "g" and "transform" in said[0]:  # it is where its own transform puts it
        raise ValueError(f"{artist} is drawn as <{group[1]}>, which can only appear")
    at = [f"{100 * step.time / lasts:.4g}%" for step in move.steps]
    at[0] = "0%" if move.steps[0].time == 0 else f"0%,{at[0]}"
    at[-1] = "to" if move.steps[-1].time == lasts else f"{at[-1]},to"
    return "".join(f"{when}{{{style}}}" for when, style in zip(at, said, strict=True))


def _style(step: At, move: Move, artist: Artist, group: str) -> str:
    """One keyframe: it says whatever changes at all in this move, and nothing else."""
    changes = {
        name for each in move.steps for name in vars(each) if getattr(each, name) != getattr(At(0), name)
    }
    transforms = []
    if "by" in changes:
        (x0, y0), (x1, y1) = _point(artist, (0, 0)), _point(artist, step.by)
        transforms.append(f"translate({x1 - x0:.1f}px,{y1 - y0:.1f}px)")
    if "turn" in changes:
        transforms.append(f"rotate({0 - step.turn:.4g}deg)")
    if "grow" in changes:
        transforms.append(f"scale({step.grow[0]:.4g},{step.grow[1]:.4g})")
    there = replace(step, time=0, opacity=1, drawn=1) == At(0)
    said = [f"transform:{'none' if there else ''.join(transforms)}"] if transforms else []
    if "opacity" in changes:
        said.append(f"opacity:{step.opacity:g}")
    if "drawn" in changes:
        dashes, hidden = _dashes(artist, group)
        shown = " ".join(f"{each:.4g}" for each in dashes)
        said.append(f"stroke-dasharray:{shown};stroke-dashoffset:{(1 - step.drawn) * hidden:.4g}")
    return ";".join(said)


def _dashes(artist: Artist, group: str) -> tuple[list[float], float]:
    """The dashes of a whole line and a gap that is longer, and by how much to move them so that none is seen.

    As they are moved back, the line comes out of its first point, and all of its dashes move along.
    """
    if not isinstance(artist, Line2D) or artist.axes is None:
        raise ValueError(f"{artist} is not a line, which could be drawn from its first point")
    points = np.array([_point(artist, xy) for xy in np.column_stack(artist.get_data())])
    length = float(np.hypot(*np.diff(points, axis=0).T).sum())
    found = re.search(r"stroke-dasharray: ([\d., ]+)", group)
    if not found:
        ends = 2 * artist.get_linewidth()  # they may be square, and reach beyond it
        return [length, length + 2 * ends], length + ends
    pattern = [float(each) for each in found[1].split(",")]
    pattern *= math.ceil(length / sum(pattern))
    return [*pattern, 0, 2 * length], sum(pattern)


def _point(artist: Artist, xy: Sequence[float]) -> tuple[float, float]:
    """Where a point of an artist's axes lies in the SVG, whose unit is 1/72 inch."""
    if artist.axes is None:
        raise ValueError(f"{artist} is in no axes; it can only appear")
    figure = artist.axes.get_figure(root=True)
    assert figure is not None
    x, y = figure.transFigure.inverted().transform(artist.axes.transData.transform(xy))
    width, height = 72 * figure.get_size_inches()
    return float(x * width), float((1 - y) * height)
