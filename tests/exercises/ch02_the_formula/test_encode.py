"""`02-the-formula.encode`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np

from posenc_course.checking import report_on
from posenc_course.exercises.ch02_the_formula.encode import ENCODE, _row


def sines_then_cosines(position, dim):
    angles = [position * 10000 ** (-2 * i / dim) for i in range(dim // 2)]
    return [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]


def whole_division(position, dim):
    angles = [position // 10000 ** (2 * i / dim) for i in range(dim // 2)]
    return [number for angle in angles for number in (math.sin(angle), math.cos(angle))]


def test_what_was_not_rounded_is_not_told_that_it_was():
    """Its wrong numbers are round, and the right ones have all their digits."""
    assert "rounded" not in str(report_on(ENCODE.id, whole_division))


CUTS = (int, round, math.floor, math.ceil)


NOT_KNOWN = (
    ("encode", lambda position, dim: [0.0, 1.0] * (dim // 2), None),
    *(("encode", lambda p, dim, cut=cut: _row(cut(p), dim), "the fraction was cut off") for cut in CUTS),
    ("encode", lambda position, dim: _row(abs(position), dim), "its sign was lost"),
    ("encode", lambda position, dim: np.round(_row(position, dim), 4), "rounded to a few digits"),
    ("encode", whole_division, None),
)


def sines_by_a_root(position, dim):
    cosines = [math.cos(position / 10000 ** (2 * i / dim)) for i in range(dim // 2)]
    return [number for c in cosines for number in (math.sqrt(max(0.0, 1 - c * c)), c)]


WRITTEN_IN_ANOTHER_WAY = (
    ("encode", sines_then_cosines, "halves"),
    ("encode", sines_by_a_root, "sine-from-the-cosine"),
)
