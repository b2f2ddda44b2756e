"""`02-the-formula.longest_wavelength`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import mpmath
import pytest

from posenc_course.exercises.ch02_the_formula.longest_wavelength import LONGEST_WAVELENGTH


def test_the_longest_wave_of_the_width_and_base_that_are_asked_for():
    with mpmath.workdps(30):
        assert float(2 * mpmath.pi * mpmath.power(500_000, mpmath.mpf(126) / 128)) == pytest.approx(
            LONGEST_WAVELENGTH.reference()
        )


NOT_KNOWN = (
    ("longest_wavelength", 2_500_000, None),
    ("longest_wavelength", 2_600_000, "within two percent"),
    ("longest_wavelength", 4_000_000, "No wave is longer"),
)
