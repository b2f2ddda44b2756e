"""Which base slows this pair?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _stretch_cases(rng: Generator) -> Iterator[Case]:
    for label, args in (
        ("the last pair of 64, eight times slower", (128, 63, 8.0, 10000.0)),
        ("pair 32 of 64, four times slower", (128, 32, 4.0, 10000.0)),
        ("pair 1 of two, ten times slower", (4, 1, 10.0, 10000.0)),
        ("at factor 1 nothing changes", (64, 20, 1.0, 500_000.0)),
        ("base 500,000, pair 40 of 64", (128, 40, 8.0, 500_000.0)),
        ("a pair that must turn faster", (32, 10, 0.5, 1000.0)),
    ):
        yield Case(label, args)
    dim = int(2 * rng.integers(8, 40))
    yield Case(
        "random numbers",
        (dim, int(rng.integers(1, dim // 2)), float(rng.uniform(1.5, 9.0)), float(rng.integers(500, 20_000))),
    )


def _stretched(dim: int, pair: int, factor: float, base: float) -> float:
    return float(base * factor ** (dim / (2 * pair)))


STRETCHED_BASE = Exercise(
    id="06-rotary.stretched_base",
    title="Which base slows this pair?",
    signature="stretched_base(dim: int, pair: int, factor: float, base: float) -> float",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_stretched,
    make_cases=_stretch_cases,
    properties=(
        Property(
            lambda args, value: (
                value > 0
                and bool(
                    np.isclose(
                        value ** (-2 * args[1] / args[0]), args[3] ** (-2 * args[1] / args[0]) / args[2]
                    )
                )
            ),
            "Try your base out: raised to the power -2 pair/dim, it must give the old frequency of the pair "
            "divided by the factor.",
        ),
    ),
    mistakes=(
        Mistake(
            "factor-alone",
            lambda dim, pair, factor, base: base * factor,
            "This is the base times the factor. The pair sees only a power of the base, so it would be "
            "slowed by less than the factor.",
        ),
        Mistake(
            "always-the-last",
            lambda dim, pair, factor, base: base * factor ** (dim / (dim - 2)),
            "This is the rule of NTK, which is right only for the last pair. Here it may be any pair.",
        ),
        Mistake(
            "upside-down",
            lambda dim, pair, factor, base: base * factor ** (2 * pair / dim),
            "The exponent is upside down. The pair's frequency is base to the power -2 pair/dim: solve that "
            "for the base.",
        ),
        Mistake(
            "two-missing",
            lambda dim, pair, factor, base: base * factor ** (dim / pair),
            "The exponent is twice what it should be: pair j has the exponent 2j/dim, not j/dim.",
        ),
        Mistake(
            "counted-from-1",
            lambda dim, pair, factor, base: base * factor ** (dim / (2 * (pair + 1))),
            "You count pairs from 1. They are counted from 0: pair 0 has frequency 1, and no base slows it.",
        ),
        Mistake(
            "divided",
            lambda dim, pair, factor, base: base / factor ** (dim / (2 * pair)),
            "Your base makes the pair turn faster. A larger base turns slower: multiply.",
        ),
        Mistake(
            "growth-alone",
            lambda dim, pair, factor, base: factor ** (dim / (2 * pair)),
            "This is only the factor by which the base grows. Multiply it by the old base.",
        ),
        Mistake(
            "power-of-base",
            lambda dim, pair, factor, base: (base * factor) ** (dim / (2 * pair)),
            "The exponent was put on the base as well. Only the factor is raised to that power.",
        ),
        Mistake(
            "usual-base",
            lambda dim, pair, factor, base: 10000.0 * factor ** (dim / (2 * pair)),
            "It is right for base 10,000, and for no other. Use the base that is given.",
        ),
        Mistake(
            "unchanged",
            lambda dim, pair, factor, base: base,
            "You return the base as it was, so the pair turns as fast as before.",
        ),
        Mistake(
            "brackets-missing",
            lambda dim, pair, factor, base: base * factor ** (dim / 2 * pair),
            "Python reads dim / 2 * pair from left to right, so you multiply by the pair. Put brackets "
            "round 2 * pair.",
        ),
        Mistake(
            "upside-down-without-the-two",
            lambda dim, pair, factor, base: base * factor ** (pair / dim),
            "The exponent is upside down, and a 2 is missing in it. The pair's frequency is base to the "
            "power -2 pair/dim: solve that for the base.",
        ),
        Mistake(
            "frequency",
            lambda dim, pair, factor, base: base ** (-2 * pair / dim) / factor,
            "This is how fast the pair should turn. At which base does it do that?",
        ),
        Mistake(
            "counted-to-zero",
            lambda dim, pair, factor, base: base * factor ** (dim / (2 * max(pair - 1, 1))),
            "You took 1 off the number of the pair. It is counted from 0 already.",
        ),
        Mistake(
            "whole-division",
            lambda dim, pair, factor, base: base * factor ** (dim // (2 * pair)),
            "The exponent lost its fraction: // divides and rounds down. Use /.",
        ),
        Mistake(
            "base-to-the-factor",
            lambda dim, pair, factor, base: base**factor,
            "You raised the base to the factor. Then the pair's frequency is raised to it too, and not "
            "divided by it.",
        ),
    ),
    alternatives=(
        lambda dim, pair, factor, base: (base ** (-2 * pair / dim) / factor) ** (-dim / (2 * pair)),
        lambda dim, pair, factor, base: np.exp(np.log(base) + np.log(factor) * dim / (2 * pair)),
        lambda dim, pair, factor, base: (base ** (pair / (dim / 2)) * factor) ** (dim / 2 / pair),
    ),
    hints=(
        "The frequency of the pair is base to the power -2 pair/dim. It must become `factor` times smaller.",
        "So `new ** (2 * pair / dim) == factor * base ** (2 * pair / dim)`. Solve it for `new`.",
    ),
)
