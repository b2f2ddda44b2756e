"""Wide enough: Predict the longest wave."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import BASE, WIDE_ENOUGH, one_value
from posenc_course.exercises.exercise import Exercise, Mistake, Property
from posenc_lib.angles import frequencies

ASKED_DIM, ASKED_BASE = 128, 500_000.0
"""Another width and another base than those of the chapter: of a head of Llama 3."""


LONGEST = 2 * np.pi * ASKED_BASE ** (126 / 128)


LONGEST_WAVELENGTH = Exercise(
    id="02-the-formula.longest_wavelength",
    title="Predict the longest wave",
    signature="longest_wavelength: a number, in positions",
    step_of=WIDE_ENOUGH,
    points=1,
    minutes=5,
    difficulty=2,
    kind="value",
    reference=lambda: LONGEST,
    make_cases=one_value,
    relative_tolerance=5e-4,
    absolute_tolerance=0.0,
    properties=(
        Property(
            lambda args, value: value < 2.001 * np.pi * ASKED_BASE,
            "No wave is longer than 2 pi times the base, and yours is. Is the last exponent below 1?",
        ),
        Property(
            lambda args, value: not 5e-4 < abs(value / LONGEST - 1) < 0.02,
            "That is within two percent of the right number. Work it out to three digits or better.",
        ),
    ),
    mistakes=(
        Mistake(
            "two-pi-times-base",
            lambda: 2 * np.pi * ASKED_BASE,
            "This is 2 pi times the base, the wavelength of a pair number dim/2. The pairs end one earlier, "
            "at number dim/2 - 1.",
        ),
        Mistake(
            "half-a-turn",
            lambda: np.pi * ASKED_BASE ** (126 / 128),
            "This is half of the wave: a whole turn is 2 pi radians, not pi.",
        ),
        Mistake(
            "one-pair-too-early",
            lambda: 2 * np.pi * ASKED_BASE ** (124 / 128),
            "This is the wave of pair 62. At width 128 there are 64 pairs, counted from 0, so the last one "
            "has i = 63.",
        ),
        Mistake(
            "base-itself",
            lambda: ASKED_BASE,
            "This is the base. The longest wave is 2 pi times the base to the power 2i/dim, for the last i.",
        ),
        Mistake(
            "width-and-base-of-the-chapter",
            lambda: 2 * np.pi * BASE ** (510 / 512),
            "This is the longest wave of the chapter's own example, with width 512 and base 10,000. Here the "
            "width is 128 and the base 500,000.",
        ),
        Mistake(
            "divided-by-two-pi",
            lambda: ASKED_BASE ** (126 / 128) / (2 * np.pi),
            "You divided by 2 pi. 1 over the frequency is the number of positions for one radian, and a "
            "whole turn is 2 pi of them: multiply.",
        ),
        Mistake(
            "no-two-pi",
            lambda: ASKED_BASE ** (126 / 128),
            "This is 1 over the frequency: the positions for one radian. A whole turn is 2 pi radians, so "
            "multiply by 2 pi.",
        ),
        Mistake(
            "shortest",
            lambda: 2 * np.pi,
            "This is the shortest wavelength, that of pair 0. The longest belongs to the last pair.",
        ),
        Mistake(
            "last-column-as-i",
            lambda: 2 * np.pi * ASKED_BASE ** (127 / 128),
            "The exponent has the number of the last column. Both columns of the last pair share the "
            "number of its first one, 2i.",
        ),
        Mistake(
            "i-over-dim",
            lambda: 2 * np.pi * ASKED_BASE ** (63 / 128),
            "The exponent is i/dim where it should be 2i/dim: the last pair has i = 63.",
        ),
        Mistake(
            "frequency",
            lambda: ASKED_BASE ** (-126 / 128),
            "This is the lowest frequency, in rad/position. The wavelength is 2 pi divided by it.",
        ),
        Mistake(
            "degrees",
            lambda: 360 * ASKED_BASE ** (126 / 128),
            "A whole turn was taken as 360. The angles of the formula are in radians, so a whole turn is 2 "
            "pi.",
        ),
        Mistake(
            "base-10000",
            lambda: 2 * np.pi * BASE ** (126 / 128),
            "This is the longest wave for the base 10000. Here the base is 500,000.",
        ),
        Mistake(
            "power-of-the-whole",
            lambda: (2 * np.pi * ASKED_BASE) ** (126 / 128),
            "The 2 pi was raised to the power as well. Only the base is: multiply by 2 pi afterwards.",
        ),
    ),
    alternatives=(
        lambda: float(2 * np.pi / frequencies(ASKED_DIM, base=ASKED_BASE)[-1]),
        lambda: 2_559_193,
        lambda: np.float32(2_559_000.0),
        lambda: np.geomspace(2 * np.pi, 2 * np.pi * ASKED_BASE, 65)[63],
    ),
    hints=(
        "Which pair turns slowest? What is its number i at this width?",
        "Its frequency is the base to the power -2i/dim. How many positions does it need for a whole turn of "
        "2 pi radians?",
    ),
)
