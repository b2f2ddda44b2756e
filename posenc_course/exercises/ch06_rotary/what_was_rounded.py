"""Rounding detective."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import (
    WIDTH,
    Generator,
    Rotate,
    interleaved,
    score,
    two_vectors,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib._arrays import Array
from posenc_lib.angles import frequencies
from posenc_lib.rotated.rotary import apply_rotary


def _to_bits(numbers: Array, bits: int) -> Array:
    """Rounded to so many significant binary digits; bfloat16 keeps 8, float16 11."""
    mantissa, exponent = np.frexp(np.asarray(numbers, dtype=np.float64))
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits))


@dataclass(frozen=True)
class _Rounded:
    """RoPE of base 10,000 over neighbours, in which one thing was rounded."""

    what: str
    bits: int = 8

    def __call__(self, x: Array, positions: Array) -> Array:
        x = np.asarray(x, dtype=np.float64)
        rates, at = frequencies(WIDTH), np.asarray(positions, dtype=np.float64)
        rates = _to_bits(rates, self.bits) if self.what == "frequencies" else rates
        at = _to_bits(at, self.bits) if self.what == "positions" else at
        theta = at[:, None] * rates
        cos, sin = np.cos(theta), np.sin(theta)
        if self.what == "tables":
            cos, sin = _to_bits(cos, self.bits), _to_bits(sin, self.bits)
        out, a, b = np.empty_like(x), x[:, 0::2], x[:, 1::2]
        out[:, 0::2], out[:, 1::2] = a * cos - b * sin, b * cos + a * sin
        return out


_DIGITS = {8: "as in bfloat16", 11: "as in float16"}


_ROUNDED: tuple[tuple[tuple[str, Rotate], ...], ...] = (
    (("nothing is rounded", _Rounded("nothing")),),
    *(
        tuple(
            (f"{what} rounded to {bits} bits, {words}", _Rounded(what, bits))
            for bits, words in _DIGITS.items()
        )
        for what in ("frequencies", "positions", "tables")
    ),
)


def _rounded_cases(rng: Generator) -> Iterator[Case]:
    for label, rotate in enough_of_each(rng, *_ROUNDED):
        yield Case(label, (rotate,))


def _row_of_ones(rotate: Rotate, *positions: float) -> Array:
    return rotate(np.ones((len(positions), WIDTH)), np.array(positions))


def _keeps_every_length(rotate: Rotate, positions: tuple[float, ...] = (3, 77, 5001)) -> bool:
    lengths = np.linalg.norm(_row_of_ones(rotate, *positions), axis=1)
    return bool(np.allclose(lengths, np.sqrt(WIDTH), rtol=1e-7))


def _right_at(rotate: Rotate, *positions: float) -> bool:
    exact = apply_rotary(np.ones((len(positions), WIDTH)), np.array(positions))
    return bool(np.allclose(_row_of_ones(rotate, *positions), exact, rtol=0, atol=1e-7))


def _what_was_rounded(rotate: Rotate, *, near: float = 1, far: float = 4097) -> str:
    """Tables change lengths, frequencies are wrong at once, positions are wrong far away alone."""
    if not _keeps_every_length(rotate):
        return "tables"
    if not _right_at(rotate, near):
        return "frequencies"
    return "nothing" if _right_at(rotate, far) else "positions"


def _told_as(**other: str) -> Callable[[Rotate], str]:
    """The right word, but for some of them another."""

    def told(rotate: Rotate) -> str:
        right = _what_was_rounded(rotate)
        return other.get(right, right)

    return told


def _rounded_by_symmetry(rotate: Rotate) -> str:
    """Which promise is broken: lengths, neighbours that differ, or the angle of an offset."""
    if not _keeps_every_length(rotate):
        return "tables"
    rows = _row_of_ones(rotate, 30_001, 30_002, 30_003)
    if np.abs(np.diff(rows, axis=0)).max(axis=1).min() < 1e-3:
        return "positions"
    return "nothing" if _right_at(rotate, 100) else "frequencies"


def _rounded_by_score(rotate: Rotate) -> str:
    q, k = two_vectors(2)
    offset = 5
    here, there = (score(rotate, q, k, 9 + s, 9 + s - offset) for s in (0, 50_001))
    exact = score(interleaved, q, k, 9, 9 - offset)
    if not _keeps_every_length(rotate):
        return "tables"
    if abs(here - there) > 1e-6:
        return "positions"
    return "nothing" if abs(here - exact) < 1e-7 else "frequencies"


_MISSED = {
    "nothing": "You find something where nothing was rounded. Is your own rotation exact, and your "
    "tolerance not too tight? Even in float64 the last digits differ, and at a far position a few more of "
    "them.",
    "frequencies": "You miss rounded frequencies. They are wrong at position 1 already, in the fourth or "
    "fifth decimal place, while every row keeps its length.",
    "positions": "You miss rounded positions. They are exact near 0, and wrong at a far odd position such "
    "as 4,097.",
    "tables": "You miss rounded tables. Does every row keep its length, to seven digits?",
}
_WORDS = tuple(_MISSED)


def _word(value: object) -> str:
    return value.strip().lower() if isinstance(value, str) else ""


WHAT_WAS_ROUNDED = Exercise(
    id="06-rotary.what_was_rounded",
    title="Rounding detective",
    signature="what_was_rounded(rotate: a function from x of shape (n, 8) and positions of shape (n,) to an "
    "array "
    'of shape (n, 8)) -> "nothing", "frequencies", "positions" or "tables"',
    points=3,
    minutes=15,
    difficulty=4,
    reference=_what_was_rounded,
    make_cases=_rounded_cases,
    properties=(
        Property(
            lambda args, value: value in _WORDS,
            "Answer with one of the four words, in small letters.",
            about="form",
        ),
        *(
            Property(
                lambda args, value, word=word: (  # type: ignore[misc]
                    _word(value) not in _WORDS or args[0].what != word or _word(value) == word
                ),
                message,
                about="form",
            )
            for word, message in _MISSED.items()
        ),
        Property(
            lambda args, value: _word(value) != "tables" or args[0].what == "tables",
            "You say tables where every row keeps its length. The size of an error tells you little, since "
            "each of the three can be small or large. Ask which promise is broken.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "near-alone",
            lambda rotate: _what_was_rounded(rotate, far=200),
            "You miss rounded positions: everywhere you look, they are exact. Eight bits hold all whole "
            "numbers up to 256, eleven bits up to 2,048, and both hold round ones such as 4,096. Look "
            "further away, at an odd position.",
        ),
        Mistake(
            "looks-to-2000",
            lambda rotate: _what_was_rounded(rotate, far=1999),
            "You find positions that were rounded to eight bits, but not to eleven. Those are exact up to "
            "2,048, and further out the round ones still are, such as 60,000: look at an odd position above "
            "2,048.",
        ),
        Mistake(
            "relative-is-nothing",
            _told_as(frequencies="nothing"),
            "You miss rounded frequencies. They pass every common shift, as exact ones do: compare with the "
            "exact rotation, at a position that no rounding changes.",
        ),
        Mistake(
            "frequencies-and-positions-exchanged",
            _told_as(frequencies="positions", positions="frequencies"),
            "You have swapped frequencies and positions. Small whole positions are exact in any of these "
            "formats; rounded frequencies are wrong from position 1 on.",
        ),
        Mistake(
            "far-is-positions",
            _told_as(frequencies="positions"),
            "You call it positions whenever the result is wrong far away. Rounded frequencies are wrong "
            "there too: look at position 1 as well, with a tight tolerance.",
        ),
        Mistake(
            "lengths-not-asked",
            _told_as(tables="frequencies"),
            "You take rounded tables for rounded frequencies: both are wrong near position 0. What happens "
            "to the length of a row, to seven digits, when its cosine and its sine are rounded separately?",
        ),
        Mistake(
            "positions-alone",
            _told_as(frequencies="nothing", tables="nothing"),
            "You find only rounded positions. The other two make small errors near position 0, one part in "
            "a thousand or less: compare with a tight tolerance, in all pairs.",
        ),
        Mistake(
            "relative-or-not",
            _told_as(frequencies="nothing", tables="positions"),
            "You ask only whether it is relative. Rounded frequencies are relative, and rounded tables are "
            "not: you need two more questions to tell the four apart.",
        ),
    ),
    alternatives=(
        _rounded_by_symmetry,
        _rounded_by_score,
        lambda rotate: _what_was_rounded(rotate, near=7, far=50_001),
    ),
    hints=(
        "Ask three questions of it. Does every row keep its length? Is position 1 right? Is a far position "
        "right?",
        "You can write the exact rotation yourself, with `np.exp(1j * angle)`, and compare. At position 1 "
        "the exact angles are 1, 0.1, 0.01 and 0.001.",
        "A rounded cosine and a rounded sine no longer have squares that sum to 1. Position 4,097 needs 13 "
        "bits.",
    ),
)
