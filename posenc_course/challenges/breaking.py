"""Break this encoding: a promise about some code, and the judge of an example that breaks it.

The code that the reader sees is the code that the judge runs.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from posenc_course.challenges.draws import Draws
from posenc_course.translation import _, joined
from posenc_lib.added.sinusoidal import sinusoidal

MOST = 1_000_000
"""The largest number that is taken, unless a challenge says otherwise."""
POINTS = 10
COST_OF_A_TRY, MOST_FOR_TRIES = 1, 4
SEARCHED = 10_000
"""Positions among which there is an example of every challenge of `_rows_that_meet`."""
FAR = 2
"""An example more than so many times as large as the smallest does not count: any huge one would do."""
COST_OF_SIZE = 2
"""Of an example that is larger than the smallest."""


@dataclass(frozen=True)
class Field:
    """One whole number that the reader types."""

    name: str
    label: str
    least: int = 0
    most: int = MOST


@dataclass(frozen=True)
class Found:
    """What the judge says of an example."""

    broken: bool
    sentence: str
    size: int = 0
    """Of an example that breaks the promise: the smaller the better."""
    counts: bool = True
    """Whether it was an example at all, and so a try."""
    too_large: bool = False
    """Whether it breaks the promise, but is so large that it is not taken."""


@dataclass(frozen=True)
class Challenge:
    """An encoding that promises too much."""

    family: str
    title: str
    promise: str
    asked: str
    """What counts as small."""
    code: str
    fields: tuple[Field, ...]
    examine: Callable[[Mapping[str, Any], Sequence[int]], Found]
    """From the names that the code defines, and the numbers, to what is to be said."""
    search: Callable[[Mapping[str, Any]], tuple[int, ...]]
    """The smallest example there is."""

    @cached_property
    def names(self) -> dict[str, Any]:
        """What the code defines."""
        import posenc_lib

        names: dict[str, Any] = {"np": np, "posenc_lib": posenc_lib}
        exec(self.code, names)
        return names

    @cached_property
    def best(self) -> tuple[int, ...]:
        """The smallest example, found by search."""
        return self.search(self.names)

    @cached_property
    def smallest(self) -> int:
        """The size of the smallest example."""
        return self.examine(self.names, self.best).size

    def judge(self, typed: Sequence[str]) -> Found:
        """Whether what was typed breaks the promise."""
        numbers: list[int] = []
        for field, text in zip(self.fields, typed, strict=True):
            number = _whole(text)
            if number is None or not field.least <= number <= field.most:
                return Found(False, _out_of_range(field, text), counts=False)
            numbers.append(number)
        found = self.examine(self.names, numbers)
        if found.broken and found.size > FAR * self.smallest:
            far = _(
                "The promise is broken here, but an example less than half as large breaks it too. Find one."
            )
            return Found(False, joined(found.sentence, far), too_large=True)
        return found

    def points(self, found: Found, tries: int) -> int:
        """From 4 to 10: fewer for tries that failed, and for an example that could be smaller."""
        if not found.broken:
            return 0
        large = COST_OF_SIZE if found.size > self.smallest else 0
        return POINTS - large - min(COST_OF_A_TRY * tries, MOST_FOR_TRIES)


def _whole(text: str) -> int | None:
    """A whole number as people type it: 1000, 1 000, 1_000, 1,000, also in full width."""
    plain = unicodedata.normalize("NFKC", str(text)).replace("\N{MINUS SIGN}", "-")
    plain = re.sub(r"[\s_]|(?<=\d),(?=\d{3}(?!\d))", "", plain)
    return int(plain) if re.fullmatch(r"-?[0-9]{1,19}", plain) else None


def _out_of_range(field: Field, text: str) -> str:
    if not str(text).strip():
        return _("“{label}” is empty. Type a whole number from {least} to {most}.").format(
            label=field.label, least=f"{field.least:,}", most=f"{field.most:,}"
        )
    return _("“{label}” was {given}. Type a whole number from {least} to {most}.").format(
        label=field.label, given=str(text)[:40], least=f"{field.least:,}", most=f"{field.most:,}"
    )


def draw(seed: int) -> Challenge:
    """The challenge of a seed."""
    draws = Draws("break", seed)
    return draws.choice(FAMILIES)(draws)


# --- Families


def _rows_that_meet(draws: Draws) -> Challenge:
    dim, base = draws.choice((2, 4, 4, 4)), draws.between(3, 60)
    limit = draws.choice((0.05, 0.02, 0.01) if dim == 2 else (0.3, 0.25, 0.2))
    code = f"def encode(position):\n    return posenc_lib.sinusoidal([position], {dim}, base={base}.0)[0]\n"

    def examine(names: Mapping[str, Any], numbers: Sequence[int]) -> Found:
        one, other = numbers
        if one == other:
            return Found(False, _("These are the same position. Take two different ones."), counts=False)
        rows = names["encode"](one), names["encode"](other)
        apart = float(np.linalg.norm(rows[0] - rows[1]))
        said = _("The rows of {one} and {other} are {apart} apart.")
        text = said.format(one=one, other=other, apart=f"{apart:.4g}")
        return Found(apart < limit, text, max(one, other))

    def search(names: Mapping[str, Any]) -> tuple[int, ...]:
        rows = sinusoidal(SEARCHED, dim, base=float(base))  # how far two are apart hangs on the offset alone
        near = np.linalg.norm(rows - rows[0], axis=1) < limit
        return 0, int(np.flatnonzero(near)[1])

    return Challenge(
        "rows-that-meet",
        _("Two rows that meet"),
        _(
            "Whatever two positions you take, their rows are at least {limit} apart (Euclidean distance)."
        ).format(limit=limit),
        _("The smaller your larger position, the better."),
        code,
        (Field("one", _("One position")), Field("other", _("Another position"))),
        examine,
        search,
    )


def _short_floats(draws: Draws) -> Challenge:
    bits, step = draws.between(5, 12), draws.choice((1, 2, 3))
    code = (
        f"def as_short_float(x):  # a float with {bits} bits after the leading one\n"
        f"    mantissa, exponent = np.frexp(np.float64(x))\n"
        f"    return np.ldexp(np.rint(mantissa * 2**{bits + 1}) / 2**{bits + 1}, exponent)\n"
        f"\n"
        f"def encode(token):\n"
        f"    position = as_short_float({step} * token)\n"
        f"    return posenc_lib.sinusoidal([position], 64)[0]\n"
    )

    def same(names: Mapping[str, Any], one: int, other: int) -> bool:
        return bool(np.array_equal(names["encode"](one), names["encode"](other)))

    def examine(names: Mapping[str, Any], numbers: Sequence[int]) -> Found:
        one, other = numbers
        if one == other:
            return Found(False, _("This is the same token twice. Take two different ones."), counts=False)
        stored = [float(names["as_short_float"](step * each)) for each in numbers]
        said = _("Token {one} is stored at {at_one:g}, and token {other} at {at_other:g}.")
        text = said.format(one=one, other=other, at_one=stored[0], at_other=stored[1])
        return Found(same(names, one, other), text, max(one, other))

    def search(names: Mapping[str, Any]) -> tuple[int, ...]:
        stored = names["as_short_float"](step * np.arange(2 ** (bits + 3), dtype=np.float64))
        second = int(np.flatnonzero(np.diff(stored) == 0)[0]) + 1
        return second - 1, second

    return Challenge(
        "short-floats",
        _("Positions in short floats"),
        _("No two tokens get the same row."),
        _("The smaller the larger of your two tokens, the better."),
        code,
        (Field("one", _("One token")), Field("other", _("Another token"))),
        examine,
        search,
    )


def _rounded_frequencies(draws: Draws) -> Challenge:
    dim, digits = draws.choice((8, 16, 32)), draws.choice((2, 3, 4))
    limit = draws.choice((0.1, 0.25, 0.5, 1.0))
    base = draws.choice((1000, 10_000))
    if (dim, base) == (8, 10_000):
        digits = 2  # 1, 0.1, 0.01 and 0.001: three digits hold them all, and the promise
    code = (
        f"exact = posenc_lib.frequencies({dim}, base={base}.0)\n"
        f"rounded = np.round(exact, {digits})\n"
        f"\n"
        f"def off_by(position):  # rad, of the pair that is worst\n"
        f"    return np.abs(position * rounded - position * exact).max()\n"
    )

    def examine(names: Mapping[str, Any], numbers: Sequence[int]) -> Found:
        off = float(names["off_by"](numbers[0]))
        said = _("At position {position} the worst pair is off by {off} rad.")
        text = said.format(position=numbers[0], off=f"{off:.4g}")
        return Found(off > limit, text, numbers[0])

    def search(names: Mapping[str, Any]) -> tuple[int, ...]:
        guess = max(int(limit / float(names["off_by"](1))) - 1, 1)
        return (next(p for p in range(guess, guess + 4) if names["off_by"](p) > limit),)

    return Challenge(
        "rounded-frequencies",
        _("RoPE with rounded frequencies"),
        _("The rounding never turns a pair by more than {limit} rad.").format(limit=limit),
        _("The smaller your position, the better."),
        code,
        (Field("position", _("A position")),),
        examine,
        search,
    )


def _likeness_that_grows(draws: Draws) -> Challenge:
    dim, base = draws.choice((4, 8, 16, 32, 64)), draws.choice((20, 100, 1000, 10_000))
    margin = draws.choice((0.002, 0.01))
    code = (
        f"def likeness(offset):\n"
        f"    return posenc_lib.similarity([offset], {dim}, base={base}.0)[0] / {dim // 2}\n"
    )

    def growth(names: Mapping[str, Any], offset: int) -> float:
        return float(names["likeness"](offset + 1) - names["likeness"](offset))

    def examine(names: Mapping[str, Any], numbers: Sequence[int]) -> Found:
        (offset,) = numbers
        grown = growth(names, offset)
        said = _("From offset {offset} to {next}, the likeness changes by {grown}.")
        text = said.format(offset=offset, next=offset + 1, grown=f"{grown:+.4g}")
        return Found(grown > margin, text, offset)

    def search(names: Mapping[str, Any]) -> tuple[int, ...]:
        return (next(offset for offset in range(1, MOST) if growth(names, offset) > margin),)

    return Challenge(
        "likeness-that-grows",
        _("Further apart, and more alike"),
        _("One step further away, two rows never become more alike by more than {margin}.").format(
            margin=margin
        ),
        _("The smaller your offset, the better."),
        code,
        (Field("offset", _("An offset d, for which d + 1 is more alike than d")),),
        examine,
        search,
    )


def _forgotten(draws: Draws) -> Challenge:
    heads = draws.choice((4, 8, 16))
    head = draws.below(heads // 2)
    code = (
        f"slope = posenc_lib.alibi_slopes({heads})[{head}]\n"
        f"\n"
        f"def weight(distance):  # beside the token itself, in half precision\n"
        f"    return np.float16(np.exp(-slope * distance))\n"
    )

    def examine(names: Mapping[str, Any], numbers: Sequence[int]) -> Found:
        weight = float(names["weight"](numbers[0]))
        said = _("At distance {distance} the weight is {weight:g}.")
        return Found(weight == 0, said.format(distance=numbers[0], weight=weight), numbers[0])

    def search(names: Mapping[str, Any]) -> tuple[int, ...]:
        return (next(distance for distance in range(1, MOST) if names["weight"](distance) == 0),)

    return Challenge(
        "forgotten",
        _("ALiBi in half precision"),
        _("However far away a token is, its weight is above 0."),
        _("The smaller your distance, the better."),
        code,
        (Field("distance", _("A distance")),),
        examine,
        search,
    )


def _shared_bucket(draws: Draws) -> Challenge:
    buckets, largest = draws.choice((8, 16, 32, 64)), draws.choice((128, 256, 512))
    both = draws.choice((True, False))
    near = draws.choice((0, 0, buckets))  # above this both distances have to be, so that not all look alike
    code = (
        f"def bucket(distance):  # of a token that far back\n"
        f"    return posenc_lib.t5_buckets([-distance], buckets={buckets}, max_distance={largest}, "
        f"bidirectional={both})[0]\n"
    )

    def examine(names: Mapping[str, Any], numbers: Sequence[int]) -> Found:
        one, other = numbers
        if one == other:
            return Found(False, _("This is the same distance twice. Take two different ones."), counts=False)
        found = [int(names["bucket"](each)) for each in numbers]
        said = _("Distance {one} goes into bucket {first}, and distance {other} into bucket {second}.")
        text = said.format(one=one, other=other, first=found[0], second=found[1])
        return Found(found[0] == found[1], text, max(one, other))

    def search(names: Mapping[str, Any]) -> tuple[int, ...]:
        second = next(d for d in range(near + 1, MOST) if names["bucket"](d) == names["bucket"](d - 1))
        return second - 1, second

    promise = _("Any two distances of {near} or more get different buckets.").format(near=near)
    return Challenge(
        "shared-bucket",
        _("One bucket for two distances"),
        promise if near else _("Any two distances get different buckets."),
        _("The smaller the larger of your two distances, the better."),
        code,
        (Field("one", _("One distance"), near), Field("other", _("Another distance"), near)),
        examine,
        search,
    )


def _neighbours(draws: Draws) -> Challenge:
    dim, base = 2 * draws.between(8, 64), draws.between(20, 2000)
    first, second = sinusoidal(2, dim, base=float(base))
    limit = round(float(np.sqrt(((second - first) ** 2).sum() / (dim // 2))), 3)
    code = (
        f"def step(base):  # how far neighbours are apart, for each pair on average\n"
        f"    first, second = posenc_lib.sinusoidal(2, {dim}, base=float(base))\n"
        f"    return np.sqrt(((second - first) ** 2).sum() / {dim // 2})\n"
    )

    def examine(names: Mapping[str, Any], numbers: Sequence[int]) -> Found:
        apart = float(names["step"](numbers[0]))
        said = _("With base {base}, neighbours are {apart} apart.")
        return Found(apart < limit, said.format(base=numbers[0], apart=f"{apart:.4g}"), numbers[0])

    def search(names: Mapping[str, Any]) -> tuple[int, ...]:
        low, high = 2, MOST  # the step falls as the base grows
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if names["step"](middle) < limit else (middle, high)
        return (high,)

    return Challenge(
        "neighbours",
        _("Neighbours that come too close"),
        _("Whatever the base, neighbouring positions stay at least {limit} apart.").format(limit=limit),
        _("The smaller your base, the better."),
        code,
        (Field("base", _("A base"), 2),),
        examine,
        search,
    )


def _cells_that_meet(draws: Draws) -> Challenge:
    down, right = draws.choice(
        ((2, 3), (3, 2), (3, 4), (3, 5), (4, 5), (5, 3), (5, 7), (7, 4), (1, 6), (9, 2))
    )
    code = (
        f"def encode(row, column):  # a cell of a picture\n"
        f"    return posenc_lib.sinusoidal([{down} * row + {right} * column], 64)[0]\n"
    )

    def examine(names: Mapping[str, Any], numbers: Sequence[int]) -> Found:
        one, other = numbers[:2], numbers[2:]
        if tuple(one) == tuple(other):
            return Found(False, _("This is the same cell twice. Take two different ones."), counts=False)
        apart = float(np.linalg.norm(names["encode"](*one) - names["encode"](*other)))
        return Found(
            apart == 0,
            _("The rows of these two cells are {apart} apart.").format(apart=f"{apart:.4g}"),
            sum(numbers),
        )

    def search(names: Mapping[str, Any]) -> tuple[int, ...]:
        shared = math.gcd(down, right)
        return right // shared, 0, 0, down // shared

    return Challenge(
        "cells-that-meet",
        _("Two cells of a picture"),
        _("No two cells of a picture get the same row."),
        _("The smaller the sum of your four numbers, the better."),
        code,
        (
            Field("row", _("Row of one cell")),
            Field("column", _("Column of that cell")),
            Field("other_row", _("Row of another cell")),
            Field("other_column", _("Column of that other cell")),
        ),
        examine,
        search,
    )


FAMILIES: tuple[Callable[[Draws], Challenge], ...] = (
    _rows_that_meet,
    _short_floats,
    _rounded_frequencies,
    _likeness_that_grows,
    _forgotten,
    _shared_bucket,
    _neighbours,
    _cells_that_meet,
)
