"""`07-alibi-and-biases.reach`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import mpmath

from posenc_course.exercises.ch07_alibi_and_biases.reach import REACH


def test_the_weights_fall_below_one_hundredth_just_there():
    for distance, slope in zip(REACH.reference(), (mpmath.mpf(1) / 2, mpmath.mpf(1) / 256), strict=True):
        assert mpmath.exp(-slope * distance) < mpmath.mpf(1) / 100 <= mpmath.exp(-slope * (distance - 1))


NOT_KNOWN = (("reach", (1179, 5), "smaller one"),)


WRITTEN_IN_ANOTHER_WAY = (("reach", (math.log(100) // 0.5, math.log(100) // (1 / 256)), "rounded-down"),)
