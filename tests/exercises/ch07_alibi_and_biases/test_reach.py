"""`07-alibi-and-biases.reach`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import mpmath

from posenc_course.exercises.ch07_alibi_and_biases.reach import REACH


def test_the_weights_fall_below_one_hundredth_just_there():
    for distance, slope in zip(REACH.reference(), (mpmath.mpf(1) / 2, mpmath.mpf(1) / 256), strict=True):
        assert mpmath.exp(-slope * distance) < mpmath.mpf(1) / 100 <= mpmath.exp(-slope * (distance - 1))


NOT_KNOWN = (
    ("reach", (1179, 5), "smaller one"),
    ("reach", (4.6, 1178.9), "Give whole numbers"),
    ("reach", (9, 1179), "distance 9 is just too near"),
    ("reach", (10, 1178), "just too near: times the slope it is 4.6016"),
    ("reach", (11, 256), "your distance is too far"),
    ("reach", (11, 256), "still well above one hundredth"),
)


def test_what_is_said_of_two_distances_that_are_just_too_near():
    assert round(math.exp(-9 / 2), 4) == 0.0111
    assert round(1178 / 256, 4) == 4.6016
    assert round(math.exp(-1178 / 256), 5) == 0.01004


WRITTEN_IN_ANOTHER_WAY = (
    ("reach", (math.log(100) // 0.5, math.log(100) // (1 / 256)), "rounded-down"),
    ("reach", (4, 512), "two-powers-of-ten"),
    ("reach", (1, 177), "half-of-the-weight-rounded-down"),
)
