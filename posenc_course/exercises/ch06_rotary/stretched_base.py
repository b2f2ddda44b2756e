"""Which base slows this pair?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake


def _stretch_cases(rng: Generator) -> Iterator[Case]:
    for label, args in (
        ("the last pair of 64, eight times slower", (128, 63, 8.0, 10000.0)),
        ("pair 32 of 64, four times slower", (128, 32, 4.0, 10000.0)),
        ("pair 1 of two, ten times slower", (4, 1, 10.0, 10000.0)),
        ("at factor 1 nothing changes", (64, 20, 1.0, 500_000.0)),
        ("base 500,000, pair 40 of 64", (128, 40, 8.0, 500_000.0)),
        ("a pair that shall turn faster", (32, 10, 0.5, 1000.0)),
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
            "This is right for the last pair alone: it is the rule of NTK. Here another pair may be asked "
            "for.",
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
            "This is only by how much the base grows. Multiply it by the old base.",
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
            "The base is as it was, and so is the speed of the pair.",
        ),
    ),
    alternatives=(
        lambda dim, pair, factor, base: (base ** (-2 * pair / dim) / factor) ** (-dim / (2 * pair)),
        lambda dim, pair, factor, base: np.exp(np.log(base) + np.log(factor) * dim / (2 * pair)),
        lambda dim, pair, factor, base: (base ** (pair / (dim / 2)) * factor) ** (dim / 2 / pair),
    ),
    hints=(
        "The frequency of the pair is base to the power -2 pair/dim. It shall become `factor` times smaller.",
        "So `new ** (2 * pair / dim) == factor * base ** (2 * pair / dim)`. Solve it for `new`.",
    ),
)
