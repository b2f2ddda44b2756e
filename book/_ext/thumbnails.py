"""A small drawing for each chapter: its idea, in one style, for the cards of the first page (cards.py).

Each is 120 wide and 72 high, and made of looks that landing.css knows: `ink` for what is there, `accent` for
what the chapter is about, and `full` for a shape that is filled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

Point = tuple[float, float]


def thumbnail(chapter: str) -> str:
    """The drawing as SVG; the card's title says what it is of, so no reader hears of it.

    Raises:
        ValueError: nobody has drawn one for this chapter.
    """
    if chapter not in DRAWN:
        raise ValueError(f"{chapter!r} has no thumbnail; draw one here (there are: {', '.join(DRAWN)})")
    inside = "".join(DRAWN[chapter]())
    return f'<svg class="posenc-thumbnail" viewBox="0 0 120 72" aria-hidden="true">{inside}</svg>'


def _path(look: str, points: Iterable[Point]) -> str:
    return f'<path class="{look}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'


def _curve(look: str, d: str) -> str:
    return f'<path class="{look}" d="{d}"/>'


def _line(look: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return _path(look, [(x1, y1), (x2, y2)])


def _circle(look: str, x: float, y: float, r: float) -> str:
    return f'<circle class="{look}" cx="{x:.1f}" cy="{y:.1f}" r="{r:g}"/>'


def _box(look: str, x: float, y: float, width: float, height: float, more: str = "") -> str:
    return f'<rect class="{look}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="1.5"{more}/>'


def _around(x: float, y: float, r: float, turn: float) -> Point:
    """A point of a circle; `turn` in turns, counterclockwise from the right."""
    return x + r * math.cos(math.tau * turn), y - r * math.sin(math.tau * turn)


def _arc(look: str, x: float, y: float, r: float, start: float, end: float) -> str:
    steps = max(int(60 * abs(end - start)), 2)
    return _path(look, [_around(x, y, r, start + (end - start) * step / steps) for step in range(steps + 1)])


def _arrow(look: str, tail: Point, tip: Point) -> str:
    (x1, y1), (x2, y2) = tail, tip
    back = math.atan2(y1 - y2, x1 - x2)
    sides = [(x2 + 6 * math.cos(back + side), y2 + 6 * math.sin(back + side)) for side in (0.5, -0.5)]
    return _line(look, x1, y1, x2, y2) + _path(look, [sides[0], (x2, y2), sides[1]])


def _bag() -> Iterable[str]:
    """Two orders of three things, and the one bag that both leave."""

    def thing(kind: int, x: float, y: float) -> str:
        if kind == 0:
            return _box("accent full", x - 5, y - 5, 10, 10)
        if kind == 1:
            return _circle("accent", x, y, 5)
        return _curve("ink full", f"M{x:g} {y - 6:g}l6 10.5h-12z")

    for y, order in ((19, (0, 1, 2)), (53, (2, 1, 0))):
        yield from (thing(kind, 13 + 18 * place, y) for place, kind in enumerate(order))
        yield _curve("ink", f"M59 {y}C68 {y} 68 36 75 36")
    yield _circle("ink", 96, 36, 20)
    yield from (thing(kind, x, y) for kind, x, y in ((0, 88, 31), (2, 103, 32), (1, 96, 47)))


def _waves() -> Iterable[str]:
    """Three waves, each slower than the one above, and what they say at one position."""
    here = 71
    for middle, wavelength in ((17, 15), (36, 34), (55, 80)):

        def height(x: float, middle: float = middle, wavelength: float = wavelength) -> float:
            return middle - 7 * math.sin(math.tau * (x - 10) / wavelength)

        yield _path("ink", [(x / 2, height(x / 2)) for x in range(20, 221)])
        yield _circle("accent full", here, height(here), 3.5)
    yield _line("accent dashed", here, 5, here, 67)


def _look_back() -> Iterable[str]:
    """The same step back, here and there."""
    for place in range(7):
        x = 12 + 16 * place
        yield _circle("accent full" if place in (1, 5) else "ink", x, 48, 5)
        if place in (2, 6):
            yield _curve("accent", f"M{x} 40C{x} 22 {x - 16} 22 {x - 16} 39")
            yield _path("accent", [(x - 20.5, 34), (x - 16, 40), (x - 11.5, 34)])


def _past_the_end() -> Iterable[str]:
    """A loss that is low up to the trained length, and rises past it."""
    yield _box("accent tint", 10, 8, 46, 54)
    yield _line("ink", 10, 62, 112, 62)
    yield _curve("accent", "M12 24C20 44 34 49 56 50")
    yield _curve("accent dashed", "M56 50C78 50 92 42 110 12")
    yield _line("ink", 56, 8, 56, 62)


def _hunt() -> Iterable[str]:
    """Lines of code, and one that somebody looks at closely."""
    for row, (start, end) in enumerate(((10, 62), (20, 84), (20, 56), (20, 70), (10, 48))):
        y = 12 + 12 * row
        if row != 2:
            yield _line("ink", start, y, end, y)
    yield _path("accent", [(20 + x, 36 + 2.5 * math.sin(x * math.tau / 9)) for x in range(46)])
    yield _circle("accent tint", 70, 36, 17)
    yield _circle("accent", 70, 36, 17)
    yield _line("accent heavy", 82.5, 48.5, 97, 63)


def _turned() -> Iterable[str]:
    """Two arrows, and the same two turned together: the angle between them stays."""
    x, y, r = 60, 37, 29
    yield _circle("ink", x, y, r)
    for look, turn in (("ink", 0.02), ("accent", 0.36)):
        yield _arrow(look, (x, y), _around(x, y, r - 3, turn))
        yield _arrow(look, (x, y), _around(x, y, r - 3, turn + 0.14))
        yield _arc(look, x, y, 13, turn, turn + 0.14)


def _bias() -> Iterable[str]:
    """The scores of a causal head: the farther back, the paler."""
    for query in range(6):
        for key in range(query + 1):
            deep = f' style="fill-opacity:{0.95 * 0.62 ** (query - key):.2f}"'
            yield _box("accent full flat", 28 + 11 * key, 4 + 11 * query, 9, 9, deep)
    yield _line("ink", 28, 72 - 1.5, 92, 72 - 1.5)


def _new_angles() -> Iterable[str]:
    """How far three hands went in training, and where a longer text takes them."""
    x, y = 60, 37
    for r, met in ((29, 1.0), (20, 0.28), (11, 0.1)):
        yield _arc("accent", x, y, r, 0.25, 0.25 - met)
        if met < 1:
            yield _arc("ink dashed", x, y, r, 0.25 - met, -0.75)
    yield _line("ink", x, y, x, y - 32)


def _patch_and_atom() -> Iterable[str]:
    """A picture in patches, and a molecule."""
    for row in range(3):
        for column in range(3):
            look = "accent full" if (row, column) == (1, 2) else "ink"
            yield _box(look, 8 + 16 * column, 13 + 16 * row, 14, 14)
    ring = [_around(90, 37, 19, 1 / 12 + corner / 6) for corner in range(7)]
    yield _path("ink", ring)
    yield from (_circle("accent full" if i in (0, 3) else "ink full", *ring[i], 4.5) for i in range(6))


def _two_rulers() -> Iterable[str]:
    """The same words on a ruler that counts, and on one whose steps the words set."""
    even = [12 + 16 * place for place in range(7)]
    own = [12, 20, 28, 62, 70, 78, 108]
    yield _line("ink", 8, 18, 112, 18)
    yield _line("accent", 8, 56, 112, 56)
    for above, below in zip(even, own, strict=True):
        yield _line("ink", above, 12, above, 18)
        yield _line("ink faint", above, 20, below, 50)
        yield _circle("accent full", below, 56, 3.5)


def _piles() -> Iterable[str]:
    """Two boxes with their cards; the one on top is asked for."""
    for left, cards in ((14, 2), (68, 3)):
        yield _path("ink", [(left, 24), (left, 64), (left + 38, 64), (left + 38, 24)])
        for card in range(cards):
            look = "accent full" if (left, card) == (68, 2) else "ink"
            yield _box(look, left + 6, 51 - 12 * card, 26, 8)
    yield _arrow("accent", (87, 4), (87, 20))


DRAWN: dict[str, Callable[[], Iterable[str]]] = {
    "01-why-order-matters": _bag,
    "02-the-formula": _waves,
    "03-relative-position": _look_back,
    "04-extrapolation": _past_the_end,
    "05-pitfalls": _hunt,
    "06-rotary": _turned,
    "07-alibi-and-biases": _bias,
    "08-long-context": _new_angles,
    "09-beyond-text": _patch_and_atom,
    "10-position-from-content": _two_rulers,
    "capstone": _piles,
}
