"""YaRN, built from its reasons: Which pair turns that often?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import YARN, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _turns_cases(rng: Generator) -> Iterator[Case]:
    for label, args in (
        ("32 turns in 4,096 positions, dim 128", (32, 4096, 128, 10000.0)),
        ("one turn in 4,096 positions, dim 128", (1, 4096, 128, 10000.0)),
        ("two turns in 256 positions, dim 32, base 300", (2, 256, 32, 300.0)),
        ("half a turn in 8,192 positions, base 500,000", (0.5, 8192, 128, 500_000.0)),
        ("faster than any pair: the number is below 0", (100, 256, 64, 10000.0)),
        ("slower than any pair: beyond the last", (1, 1_000_000, 16, 10000.0)),
    ):
        yield Case(label, args)
    yield Case(
        "random numbers",
        (float(rng.uniform(1, 9)), int(rng.integers(500, 9000)), int(2 * rng.integers(8, 64)), 1000.0),
    )


def pair_that_turns(turns: float, length: int, dim: int, base: float) -> float:
    return float(dim / 2 * np.log(length / (2 * np.pi * turns)) / np.log(base))


PAIR_THAT_TURNS = Exercise(
    id="06-rotary.pair_that_turns",
    title="Which pair turns that often?",
    step_of=YARN,
    signature="pair_that_turns(turns: float, length: int, dim: int, base: float) -> float",
    points=1,
    minutes=8,
    difficulty=3,
    reference=pair_that_turns,
    make_cases=_turns_cases,
    properties=(
        Property(
            lambda args, value: bool(
                np.isclose(args[1] * args[3] ** (-2 * value / args[2]), 2 * np.pi * args[0])
            ),
            "Try your number j out: length times base to the power -2j/dim must be 2 pi for each turn.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-two-pi",
            lambda turns, length, dim, base: dim / 2 * np.log(length / turns) / np.log(base),
            "A factor 2 pi is missing: a whole turn takes 2 pi radians, not one.",
        ),
        Mistake(
            "columns-for-pairs",
            lambda turns, length, dim, base: dim * np.log(length / (2 * np.pi * turns)) / np.log(base),
            "This is twice the number: you count columns. Count pairs, of which there are dim/2.",
        ),
        Mistake(
            "rounded",
            lambda turns, length, dim, base: np.floor(pair_that_turns(turns, length, dim, base)),
            "You rounded down to a whole pair. Return the number with its fraction: it is rounded in the "
            "next step, once down and once up.",
        ),
        Mistake(
            "log-of-ten",
            lambda turns, length, dim, base: dim / 2 * np.log10(length / (2 * np.pi * turns)),
            "You took the logarithm to base 10, and stopped there. Divide by the logarithm of RoPE's base, "
            "to the same base 10.",
        ),
        Mistake(
            "not-divided",
            lambda turns, length, dim, base: dim / 2 * np.log(length / (2 * np.pi * turns)),
            "The logarithm of the base is missing. Divide by it.",
        ),
        Mistake(
            "base-inside",
            lambda turns, length, dim, base: dim / 2 * np.log(length / (2 * np.pi * turns) / base),
            "You divided by the base inside the logarithm. Divide the one logarithm by the other.",
        ),
        Mistake(
            "upside-down",
            lambda turns, length, dim, base: -pair_that_turns(turns, length, dim, base),
            "The sign is wrong. What goes into the logarithm is the length divided by 2 pi times the turns, "
            "and not the other way up.",
        ),
        Mistake(
            "turns-multiplied",
            lambda turns, length, dim, base: dim / 2 * np.log(length * turns / (2 * np.pi)) / np.log(base),
            "A pair that turns more often has a shorter wave. Divide the length by the turns.",
        ),
        Mistake(
            "turns-forgotten",
            lambda turns, length, dim, base: pair_that_turns(1, length, dim, base),
            "This is the pair that turns once, whatever the number of turns.",
        ),
        Mistake(
            "wavelength",
            lambda turns, length, dim, base: length / turns,
            "This is the wavelength of the pair, in positions. Now find the pair that has it.",
        ),
        Mistake(
            "counted-from-1",
            lambda turns, length, dim, base: pair_that_turns(turns, length, dim, base) + 1,
            "You count pairs from 1. They are counted from 0.",
        ),
        Mistake(
            "two-logarithms",
            lambda turns, length, dim, base: dim / 2 * np.log10(length / (2 * np.pi * turns)) / np.log(base),
            "Your two logarithms have different bases: 10 above, and e below. Any base will do, if it is "
            "the same one in both.",
        ),
        Mistake(
            "log-of-two-above",
            lambda turns, length, dim, base: dim / 2 * np.log2(length / (2 * np.pi * turns)) / np.log(base),
            "Your two logarithms have different bases: 2 above, and e below. Any base will do, if it is the "
            "same one in both.",
        ),
        Mistake(
            "brackets-missing",
            lambda turns, length, dim, base: dim / 2 * np.log(length / 2 * np.pi * turns) / np.log(base),
            "Python reads length / 2 * np.pi * turns from left to right, so pi and the turns end up above "
            "the line. Put brackets round what you divide by.",
        ),
        Mistake(
            "two-pi-multiplied",
            lambda turns, length, dim, base: dim / 2 * np.log(length * 2 * np.pi / turns) / np.log(base),
            "You multiplied by 2 pi where you should divide: length radians are length / (2 pi) turns.",
        ),
        Mistake(
            "half-turns",
            lambda turns, length, dim, base: dim / 2 * np.log(length / (np.pi * turns)) / np.log(base),
            "You count half turns: a whole turn is 2 pi radians, not pi.",
        ),
        Mistake(
            "half-the-number",
            lambda turns, length, dim, base: pair_that_turns(turns, length, dim, base) / 2,
            "This is half the number. Pair j has the exponent 2j/dim: solve it for j, and the factor is "
            "dim/2.",
        ),
        Mistake(
            "rounded-up",
            lambda turns, length, dim, base: np.ceil(pair_that_turns(turns, length, dim, base)),
            "You rounded up to a whole pair. Return the number with its fraction: it is rounded in the next "
            "step, once down and once up.",
        ),
        Mistake(
            "nearest-pair",
            lambda turns, length, dim, base: np.round(pair_that_turns(turns, length, dim, base)),
            "You rounded to the nearest pair. Return the number with its fraction: it is rounded in the "
            "next step, once down and once up.",
        ),
        Mistake(
            "not-below-zero",
            lambda turns, length, dim, base: max(pair_that_turns(turns, length, dim, base), 0.0),
            "It is right except below 0, where you return 0. Return the number as it is: the next step "
            "decides what to do with it.",
        ),
        Mistake(
            "kept-inside-the-head",
            lambda turns, length, dim, base: np.clip(
                pair_that_turns(turns, length, dim, base), 0, dim / 2 - 1
            ),
            "It is right inside the head, and cut off at its first and last pair. Return the number as it "
            "is: the next step decides what to do with it.",
        ),
        Mistake(
            "never-negative",
            lambda turns, length, dim, base: abs(pair_that_turns(turns, length, dim, base)),
            "It is right except below 0, where the minus is lost. Return the number as it is.",
        ),
        Mistake(
            "usual-base",
            lambda turns, length, dim, base: pair_that_turns(turns, length, dim, 10000.0),
            "It is right for base 10,000, and for no other. Use the base that is given.",
        ),
        Mistake(
            "logarithms-exchanged",
            lambda turns, length, dim, base: dim / 2 * np.log(base) / np.log(length / (2 * np.pi * turns)),
            "The two logarithms are swapped. Divide by that of the base.",
        ),
    ),
    alternatives=(
        lambda turns, length, dim, base: -dim / 2 * np.log(2 * np.pi * turns / length) / np.log(base),
        lambda turns, length, dim, base: dim * math.log(length / turns / math.tau, base) / 2,
        lambda turns, length, dim, base: (
            np.float64(dim) / 2 * np.log2(length / (turns * 2 * np.pi)) / np.log2(base)
        ),
    ),
    hints=(
        "In `length` positions, pair j turns `length * base ** (-2 * j / dim)` radians. How many turns are "
        "that?",
        "Set it equal to 2 pi times `turns`, and take logarithms of both sides.",
    ),
)
