"""What an answer draws once it has passed: SVG, made with NumPy alone, the same in a notebook and in a page.

Text and axes take the colour of the page's own text. What is given comes from a learner's function: anything
that is no picture is refused with a ValueError that says what it was.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posenc_course.colours import BLUE, COLOURS
from posenc_course.translation import _

Numbers = NDArray[np.float64]

WIDTH, LEFT, RIGHT, TOP = 480, 72, 10, 10
MOST_CELLS = 250_000
MOST_POINTS = 20_000
DASHES = ("", "7 4", "2 4", "9 3 2 3")

# From the lowest number to the highest: red, green and blue at even steps, as the still pictures have them.
COOLWARM = np.array(
    [
        *((59, 76, 192), (78, 104, 216), (98, 130, 234), (119, 154, 247), (141, 176, 254), (163, 194, 254)),
        *((185, 208, 249), (204, 217, 237), (221, 220, 220), (236, 211, 197), (245, 196, 172)),
        *((247, 176, 147), (244, 152, 122), (235, 125, 98), (221, 95, 75), (202, 59, 55), (180, 4, 38)),
    ],
    dtype=np.float64,
)


@dataclass(frozen=True)
class Drawing:
    """A picture, and its alt text."""

    kind: Literal["heat map", "curve", "arrows"]
    svg: str
    alt: str

    def said_by(self, name: str) -> str:
        """Whose it is, in a sentence."""
        sentences = {
            "heat map": _("This heat map was drawn by your {name}."),
            "curve": _("This curve was drawn by your {name}."),
            "arrows": _("These arrows were drawn by your {name}."),
        }
        return sentences[self.kind].format(name=name)

    def figure(self, caption: str) -> str:
        """As HTML, with a caption in which `code` stands between backticks."""
        parts = escape(caption).split("`")
        words = "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
        return (
            f'<figure class="posenc-drawn" style="margin:.6em 0">{self.svg}'
            f"<figcaption>{words}</figcaption></figure>"
        )

    def _repr_html_(self) -> str:
        return f'<figure class="posenc-drawn" style="margin:.6em 0">{self.svg}</figure>'

    def __repr__(self) -> str:
        return _("Drawing: {what}").format(what=self.alt)


@dataclass(frozen=True)
class Draws:
    """How a right answer draws the chapter's figure, and what is to be seen in it."""

    make: Callable[..., Drawing]
    """Of the learner's function, and `axes`: calls it, and gives what it returned to a function below."""
    look: str
    """A sentence."""
    axes: tuple[str, ...] = ()
    """What the axes are called."""

    def by(self, answer: Callable[..., Any]) -> Drawing:
        """What this answer draws.

        Raises:
            Exception: whatever the answer raises; ValueError where it gave nothing to draw.
        """
        return self.make(answer, *map(_, self.axes))


def heat_map(
    values: Any, *, rows: str, columns: str, words: Sequence[str] = (), starts: tuple[int, int] = (0, 0)
) -> Drawing:
    """Numbers of shape (rows, columns), the first row on top. What is not finite stays empty.

    Args:
        rows, columns: what they count.
        words: stand at the rows and at the columns, in place of their numbers.
        starts: the numbers of the first row and the first column.

    Raises:
        ValueError: it is no table of numbers.

    Example:
        >>> heat_map(np.eye(3), rows="query", columns="key").alt
        'A heat map of 3 rows (query) and 3 columns (key). Its numbers go from 0 to 1.'
    """
    table = _numbers(values, 2, MOST_CELLS)
    high, wide = table.shape
    low, top = _range(table)
    across = WIDTH - LEFT - RIGHT - 50
    cell = min(across / wide, 40.0)
    across, down = cell * wide, min(max(cell * high, 60.0), 300.0)
    bottom = TOP + down
    names_x, names_y = (words[:wide], words[:high]) if words else ((), ())
    drawn = [
        _image(_paint(table, low, top), LEFT, TOP, across, down),
        _frame(LEFT, TOP, across, down),
        *_ticks_below(names_x or _counted(wide, starts[1], 6), wide, LEFT, across, bottom),
        *_ticks_beside(names_y or _counted(high, starts[0], 5), high, TOP, down),
        _label(columns, LEFT + across / 2, bottom + 36),
        _label(rows, LEFT - 58, TOP + down / 2, turned=True),
        _image(_paint(np.linspace(top, low, 64)[:, None], low, top), LEFT + across + 14, TOP, 12, down),
        _frame(LEFT + across + 14, TOP, 12, down),
        _text(_short(top), LEFT + across + 30, TOP + 9, "start"),
        _text(_short(low), LEFT + across + 30, bottom, "start"),
    ]
    alt = _(
        "A heat map of {high} rows ({rows}) and {wide} columns ({columns}). "
        "Its numbers go from {low} to {top}."
    ).format(high=high, rows=rows, wide=wide, columns=columns, low=_short(low), top=_short(top))
    return Drawing("heat map", _svg(drawn, LEFT + across + 70, bottom + 44, alt), alt)


def curve(x: Any, lines: Mapping[str, Any], *, across: str, up: str) -> Drawing:
    """One line for each name, of numbers over the same `x`.

    Args:
        across, up: what the two axes measure.

    Raises:
        ValueError: a line is no row of as many numbers as `x`.

    Example:
        >>> curve(range(3), {"": [1, 4, 9]}, across="n", up="square").alt
        'A curve: square, from 1 to 9, over n, from 0 to 2.'
    """
    at = _numbers(x, 1, MOST_POINTS)
    found = {name: _numbers(line, 1, MOST_POINTS) for name, line in lines.items()}
    for line in found.values():
        if line.shape != at.shape:
            wrong = _("the curve has {count} numbers, and {wanted} were asked for")
            raise ValueError(wrong.format(count=len(line), wanted=len(at)))
    low, top = _range(np.stack(list(found.values())))
    first, last = _range(at)
    wide, down, bottom = WIDTH - LEFT - RIGHT, 200.0, TOP + 200.0
    place_x = LEFT + wide * (at - first) / (last - first or 1)
    drawn = [_frame(LEFT, TOP, wide, down), _label(across, LEFT + wide / 2, bottom + 36)]
    drawn += [_label(up, LEFT - 58, TOP + down / 2, turned=True)]
    for tick in _round_numbers(first, last, 6):
        drawn.append(_text(_short(tick), LEFT + wide * (tick - first) / (last - first or 1), bottom + 16))
    for tick in _round_numbers(low, top, 4):
        drawn.append(
            _text(_short(tick), LEFT - 6, bottom - down * (tick - low) / (top - low or 1) + 4, "end")
        )
    for number, (name, line) in enumerate(found.items()):
        place_y = bottom - down * (line - low) / (top - low or 1)
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        drawn.append(_line(place_x, place_y, colour, dash))
        if name:
            y = bottom + 58 + 18 * number
            drawn += [_line(np.array([LEFT, LEFT + 30]), np.array([y - 4, y - 4]), colour, dash)]
            drawn += [_text(name, LEFT + 38, y, "start")]
    alt = _("A curve: {up}, from {low} to {top}, over {across}, from {first} to {last}.").format(
        up=up, low=_short(low), top=_short(top), across=across, first=_short(first), last=_short(last)
    )
    named = sum(map(bool, found))
    return Drawing("curve", _svg(drawn, WIDTH, bottom + 44 + 18 * named, alt), alt)


def arrows(tips: Any, names: Sequence[str]) -> Drawing:
    """An arrow from the middle of a circle to each of these points (x, y), with its name at the tip.

    Raises:
        ValueError: the points are not of shape (names, 2), or not finite.

    Example:
        >>> arrows([[1, 0], [0, 1]], ["east", "north"]).alt
        'Arrows from one point to: east (1, 0); north (0, 1).'
    """
    points = _numbers(tips, 2, MOST_POINTS)
    if points.shape != (len(names), 2) or not np.isfinite(points).all():
        wrong = _("arrows have {count} tips of two finite numbers each, and not {given}")
        raise ValueError(wrong.format(count=len(names), given=_told(tips)))
    reach = float(np.hypot(*points.T).max()) or 1.0
    middle, radius = 150.0, 112.0
    drawn = [
        f'<circle cx="{middle}" cy="{middle}" r="{radius}" fill="none" stroke="currentColor" '
        'stroke-opacity=".35"/>'
    ]
    for number, ((x, y), name) in enumerate(zip(points / reach, names, strict=True)):
        colour = COLOURS[number % len(COLOURS)]
        tip = (middle + radius * x, middle - radius * y)
        drawn.append(_arrow(middle, tip, colour))
        drawn.append(_text(name, middle + (radius + 18) * x, middle - (radius + 18) * y + 4))
    places = "; ".join(
        f"{name} ({_short(x)}, {_short(y)})" for (x, y), name in zip(points, names, strict=True)
    )
    alt = _("Arrows from one point to: {places}.").format(places=places)
    return Drawing("arrows", _svg(drawn, 2 * middle, 2 * middle, alt), alt)


# --- What was given -------------------------------------------------------------------------------


def _numbers(given: Any, dimensions: int, most: int) -> Numbers:
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "biuf":
            found = np.array(found.tolist(), dtype=np.float64)
        found = found.astype(np.float64)
    except Exception as problem:  # a learner's own class may do anything
        nothing = _("there are no numbers to draw in {given}")
        raise ValueError(nothing.format(given=_told(given))) from problem
    if found.ndim != dimensions or not 0 < found.size <= most:
        raise ValueError(_("it cannot be drawn: {given}").format(given=_told(given)))
    return found


def _told(given: Any) -> str:
    """What it is, not what it holds: that may be long."""
    shape = getattr(given, "shape", None)
    name = type(given).__name__
    if not isinstance(shape, tuple):
        return name
    return _("{name} of shape {shape}").format(name=name, shape=tuple(shape))


def _range(values: Numbers) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    if not finite.size:
        raise ValueError(_("it cannot be drawn: none of its numbers is finite"))
    return float(finite.min()), float(finite.max())


# --- Pieces of SVG --------------------------------------------------------------------------------


def _paint(values: Numbers, low: float, top: float) -> NDArray[np.uint8]:
    """Red, green, blue and opacity. With numbers on both sides of 0 its colour is grey, else 0 is nothing."""
    limit = max(abs(low), abs(top)) or 1.0
    share = np.where(np.isfinite(values), values / limit, 0.0)
    pixels = np.empty((*values.shape, 4))
    if low < 0 < top:
        places = (share + 1) / 2 * (len(COOLWARM) - 1)
        for part in range(3):
            pixels[..., part] = np.interp(places, np.arange(len(COOLWARM)), COOLWARM[:, part])
        pixels[..., 3] = 255
    else:
        pixels[..., :3] = [int(BLUE[i : i + 2], 16) for i in (1, 3, 5)]
        pixels[..., 3] = 255 * np.abs(share)
    pixels[~np.isfinite(values), 3] = 0
    return np.rint(pixels).astype(np.uint8)


def _image(pixels: NDArray[np.uint8], x: float, y: float, width: float, height: float) -> str:
    address = base64.b64encode(_png(pixels)).decode()
    return (
        f'<image href="data:image/png;base64,{address}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" preserveAspectRatio="none" style="image-rendering:pixelated"/>'
    )


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """A picture of shape (height, width, 4) as a file (https://www.w3.org/TR/png-3)."""
    high, wide, _parts = pixels.shape
    rows = np.concatenate([np.zeros((high, 1), np.uint8), pixels.reshape(high, -1)], axis=1)  # 0: as it is

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", wide, high, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)), chunk(b"IEND", b""))
    )


def _frame(x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="none" '
        'stroke="currentColor" stroke-opacity=".5"/>'
    )


def _line(x: Numbers, y: Numbers, colour: str, dash: str) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True) if math.isfinite(b))
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'


def _arrow(middle: float, tip: tuple[float, float], colour: str) -> str:
    x, y = tip
    length = math.hypot(x - middle, y - middle)
    if length < 1e-9:
        return f'<circle cx="{middle}" cy="{middle}" r="3" fill="{colour}"/>'
    along_x, along_y = (x - middle) / length, (y - middle) / length
    barbs = (
        f"{x - 11 * along_x - side * 5 * along_y:.1f} {y - 11 * along_y + side * 5 * along_x:.1f}"
        for side in (1, -1)
    )
    return (
        f'<path d="M{middle} {middle}L{x:.1f} {y:.1f}" stroke="{colour}" stroke-width="2"/>'
        f'<path d="M{x:.1f} {y:.1f}L{"L".join(barbs)}Z" fill="{colour}"/>'
    )


def _text(words: str, x: float, y: float, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _label(words: str, x: float, y: float, turned: bool = False) -> str:
    if not turned:
        return _text(words, x, y)
    place = f'transform="translate({x:.1f} {y:.1f}) rotate(-90)"'
    return f'<text {place} text-anchor="middle">{escape(words)}</text>'


def _counted(size: int, start: int, about: int) -> dict[int, str]:
    """Index -> number, of those that are round."""
    first, last = start, start + size - 1
    ticks = (round(tick) for tick in _round_numbers(first, last, about) if tick == round(tick))
    return {tick - start: str(tick) for tick in ticks}


def _ticks_below(
    names: Mapping[int, str] | Sequence[str], count: int, left: float, width: float, bottom: float
) -> list[str]:
    middles = {i: left + width * (i + 0.5) / count for i in range(count)}
    return [_text(name, middles[i], bottom + 16) for i, name in _by_index(names)]


def _ticks_beside(
    names: Mapping[int, str] | Sequence[str], count: int, top: float, height: float
) -> list[str]:
    middles = {i: top + height * (i + 0.5) / count for i in range(count)}
    return [_text(name, LEFT - 6, middles[i] + 4, "end") for i, name in _by_index(names)]


def _by_index(names: Mapping[int, str] | Sequence[str]) -> list[tuple[int, str]]:
    return list(names.items() if isinstance(names, Mapping) else enumerate(names))


def _round_numbers(low: float, high: float, about: int) -> list[float]:
    """Between two ends, about so many."""
    if high <= low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def _short(value: float) -> str:
    """With three digits that count: 0.125, 12.5, 131,000."""
    shown = f"{value:.3g}"
    return (f"{float(shown):,.0f}" if 1000 <= abs(value) < 1e9 else shown).replace("-", "−")


def _svg(drawn: list[str], width: float, height: float, alt: str) -> str:
    return (
        f'<svg role="img" aria-label="{escape(alt)}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" fill="currentColor" font-size="12" font-family="sans-serif" '
        f'style="max-width:100%;height:auto">{"".join(drawn)}</svg>'
    )
