"""YaRN, built from its reasons: Turn, and speak up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import YARN, Generator, _theta, _turned, yarn_by_loop
from posenc_course.exercises.ch06_rotary.yarn_frequencies import yarn
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.angles import frequencies
from posenc_lib.rotated.rotary import apply_rotary
from posenc_lib.scaling.rules import YaRNScaling


def _yarn_turn_cases(rng: Generator) -> Iterator[Case]:
    for label, n, dim, args in (
        ("factor 4, base 300, 256 positions", 4, 16, (300.0, 4.0, 256)),
        ("at factor 1 nothing changes", 3, 8, (10000.0, 1.0, 2048)),
        ("factor 16, 4,096 positions", 5, 64, (10000.0, 16.0, 4096)),
        ("factor 32, base 500,000", 3, 32, (500_000.0, 32.0, 8192)),
    ):
        positions = np.sort(rng.integers(0, 5000, size=n))
        yield Case(label, (rng.normal(size=(n, dim)), positions, *args))


def _yarn_turned(
    x: Array,
    positions: Array,
    base: float,
    factor: float,
    length: int,
    *,
    louder: Callable[[float], float] = lambda factor: 0.1 * math.log(factor) + 1,
    half: bool = False,
) -> Array:
    theta = _theta(positions, yarn(x.shape[1], base, factor, length))
    return louder(factor) * _turned(x, theta, half=half)


def _yarn_by_the_library(x: Array, positions: Array, base: float, factor: float, length: int) -> Array:
    rule = YaRNScaling(factor, length)
    return np.asarray(apply_rotary(x, positions, base=base, scaling=rule))


def _yarn_by_tables(x: Array, positions: Array, base: float, factor: float, length: int) -> Array:
    theta = np.outer(positions, yarn_by_loop(x.shape[1], base, factor, length))
    louder = 1 + np.log(factor) / 10
    cos, sin = louder * np.cos(theta), louder * np.sin(theta)
    a, b = x[:, 0::2], x[:, 1::2]
    return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)


YARN_ROTATE = Exercise(
    id="06-rotary.yarn_rotate",
    title="Turn, and speak up",
    step_of=YARN,
    signature="yarn_rotate(x: array of shape (n, dim), positions: array of shape (n,), base: float, factor: "
    "float, length: int) -> array of shape (n, dim)",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_yarn_turned,
    make_cases=_yarn_turn_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay (n, dim).",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "not-louder",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 1.0),
            "The pairs are turned rightly, and are as long as before. YaRN also makes each query and each "
            "key longer, by 0.1 times the logarithm of the factor, plus 1.",
        ),
        Mistake(
            "squared-already",
            lambda *args: _yarn_turned(*args, louder=lambda factor: (0.1 * math.log(factor) + 1) ** 2),
            "Each row was made longer twice. Queries and keys are multiplied once each, and so the score "
            "gets the square.",
        ),
        Mistake(
            "quieter",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 1 / (0.1 * math.log(factor) + 1)),
            "Your rows are shorter than before, which spreads attention out. YaRN makes it sharper: "
            "multiply.",
        ),
        Mistake(
            "log-of-ten",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 0.1 * math.log10(factor) + 1),
            "You took the logarithm to base 10. It is the natural one.",
        ),
        Mistake(
            "log-of-two",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 0.1 * math.log2(factor) + 1),
            "You took the logarithm to base 2. It is the natural one.",
        ),
        Mistake(
            "root",
            lambda *args: _yarn_turned(*args, louder=lambda factor: math.sqrt(0.1 * math.log(factor) + 1)),
            "You took the root, so that the score gets the factor once. In YaRN each of the two vectors "
            "gets all of it.",
        ),
        Mistake(
            "one-forgotten",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 0.1 * math.log(factor)),
            "The 1 is missing: for factor 1, nothing may change.",
        ),
        Mistake(
            "times-the-factor",
            lambda *args: _yarn_turned(*args, louder=lambda factor: factor),
            "Each row was multiplied by the factor of the context. It is 0.1 times its logarithm, plus 1.",
        ),
        Mistake(
            "half-layout",
            lambda *args: _yarn_turned(*args, half=True),
            "Your pairs are columns j and j + dim/2. Here neighbours make a pair, columns 2j and 2j + 1.",
        ),
        Mistake(
            "plain-frequencies",
            lambda x, positions, base, factor, length: (
                (0.1 * math.log(factor) + 1)
                * _turned(x, _theta(positions, frequencies(x.shape[1], base=base)))
            ),
            "The rows have the right length, but they turn at the old frequencies. Take those of your "
            "yarn_frequencies.",
        ),
        Mistake(
            "plain-rope",
            lambda x, positions, base, factor, length: apply_rotary(x, positions, base=base),
            "This is RoPE as before: the old frequencies, and rows as long as they were. Two things have "
            "to change.",
        ),
        Mistake(
            "interpolated",
            lambda x, positions, base, factor, length: (
                (0.1 * math.log(factor) + 1)
                * _turned(x, _theta(positions, frequencies(x.shape[1], base=base) / factor))
            ),
            "All frequencies are divided by the factor: that is position interpolation. Take those of your "
            "yarn_frequencies.",
        ),
    ),
    alternatives=(
        _yarn_by_the_library,
        _yarn_by_tables,
        lambda *args: np.asarray(_yarn_turned(*args)).tolist(),
    ),
    hints=(
        "Two things happen: a turn, with the frequencies of your `yarn_frequencies`, and a multiplication.",
        "The number is `0.1 * math.log(factor) + 1`, the same for all pairs.",
    ),
)
