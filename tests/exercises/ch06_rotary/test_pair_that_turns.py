"""`06-rotary.pair_that_turns`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import mpmath
import pytest

from posenc_course.exercises.ch06_rotary.pair_that_turns import PAIR_THAT_TURNS


def test_the_pair_that_turns_so_often_does():
    for case in PAIR_THAT_TURNS.cases():
        turns, length, dim, base = case.args
        pair = PAIR_THAT_TURNS.reference(*case.args)
        with mpmath.workdps(30):
            assert float(length * mpmath.power(base, -2 * pair / dim) / (2 * mpmath.pi)) == pytest.approx(
                turns
            )


def with_a_logarithm_of_each_kind(turns, length, dim, base):
    return dim * math.log10(length / turns / math.tau) / math.log(base) / 2


NOT_KNOWN = (("pair_that_turns", lambda turns, length, dim, base: dim / 4, None),)


WRITTEN_IN_ANOTHER_WAY = (("pair_that_turns", with_a_logarithm_of_each_kind, "two-logarithms"),)
