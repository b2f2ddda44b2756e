"""`06-rotary.stretched_base`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import mpmath
import pytest

from posenc_course.exercises.ch06_rotary.stretched_base import STRETCHED_BASE
from posenc_lib import NTKScaling, frequencies


def test_the_stretched_base_slows_its_pair_and_is_that_of_ntk_for_the_last():
    for case in STRETCHED_BASE.cases():
        dim, pair, factor, base = case.args
        found = STRETCHED_BASE.reference(*case.args)
        with mpmath.workdps(30):
            old, new = (mpmath.power(each, mpmath.mpf(-2 * pair) / dim) for each in (base, found))
            assert float(old / new) == pytest.approx(factor)
    assert NTKScaling(8.0).scale(frequencies(128), dim=128, base=10000.0) == pytest.approx(
        frequencies(128, base=STRETCHED_BASE.reference(128, 63, 8.0, 10000.0))
    )


NOT_KNOWN = (("stretched_base", lambda dim, pair, factor, base: base + factor, None),)


WRITTEN_IN_ANOTHER_WAY = (("stretched_base", lambda dim, pair, factor, base: factor * base, "factor-alone"),)
