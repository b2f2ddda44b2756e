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
        ("one row, factor 32, base 500,000", 1, 32, (500_000.0, 32.0, 8192)),
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
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.linalg.norm(value, axis=1),
                    (0.1 * math.log(args[3]) + 1) * np.linalg.norm(args[0], axis=1),
                    rtol=1e-3,
                )
            ),
            "Your rows do not have the right length. Turning does not change it, and the multiplication "
            "makes each row longer by 0.1 times the logarithm of the factor, plus 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-louder",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 1.0),
            "The pairs turn by the right angles, but they are only as long as before. YaRN also makes each "
            "query and each key longer, by 0.1 times the logarithm of the factor, plus 1.",
        ),
        Mistake(
            "squared-already",
            lambda *args: _yarn_turned(*args, louder=lambda factor: (0.1 * math.log(factor) + 1) ** 2),
            "Each row was made longer twice. Multiply queries and keys once each; the score then gets the "
            "square by itself.",
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
            "You took the logarithm to base 10. Use the natural one, math.log.",
        ),
        Mistake(
            "log-of-two",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 0.1 * math.log2(factor) + 1),
            "You took the logarithm to base 2. Use the natural one, math.log.",
        ),
        Mistake(
            "root",
            lambda *args: _yarn_turned(*args, louder=lambda factor: math.sqrt(0.1 * math.log(factor) + 1)),
            "You took the root, so the score gets the number once. In YaRN each of the two vectors gets all "
            "of it.",
        ),
        Mistake(
            "one-forgotten",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 0.1 * math.log(factor)),
            "The 1 is missing: for factor 1, nothing may change.",
        ),
        Mistake(
            "times-the-factor",
            lambda *args: _yarn_turned(*args, louder=lambda factor: factor),
            "Each row was multiplied by the factor of the context itself. Multiply by 0.1 times its "
            "logarithm, plus 1.",
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
            "This is plain RoPE: the old frequencies, and rows as long as they were. Two things have to "
            "change.",
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
        Mistake(
            "positions-divided-too",
            lambda x, positions, base, factor, length: _yarn_turned(
                x, positions / factor, base, factor, length
            ),
            "You divided the positions by the factor as well. The new frequencies have slowed the pairs "
            "already: take the positions as they are.",
        ),
        Mistake(
            "clockwise",
            lambda x, positions, *rest: _yarn_turned(x, -positions, *rest),
            "Every pair turns clockwise. The minus belongs before b sin in the first column of a pair.",
        ),
        Mistake(
            "row-number-as-position",
            lambda x, positions, *rest: _yarn_turned(x, np.arange(len(x)), *rest),
            "You turned each row by its row number. Row r must turn by positions[r].",
        ),
        Mistake(
            "usual-base",
            lambda x, positions, base, factor, length: _yarn_turned(x, positions, 10000.0, factor, length),
            "It is right for base 10,000, and for no other. Use the base that is given.",
        ),
        Mistake(
            "tenth-forgotten",
            lambda *args: _yarn_turned(*args, louder=lambda factor: math.log(factor) + 1),
            "The 0.1 is missing: each row is multiplied by 0.1 times the logarithm of the factor, plus 1.",
        ),
        Mistake(
            "tenth-of-all",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 0.1 * (math.log(factor) + 1)),
            "The 0.1 belongs to the logarithm alone, and you multiplied the 1 by it too: for factor 1, "
            "nothing may change.",
        ),
        Mistake(
            "one-inside",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 0.1 * math.log(factor + 1)),
            "The 1 was added inside the logarithm. It is added to the result: for factor 1, nothing may "
            "change.",
        ),
        Mistake(
            "angles-multiplied",
            lambda x, positions, base, factor, length: _turned(
                x,
                (0.1 * math.log(factor) + 1) * _theta(positions, yarn(x.shape[1], base, factor, length)),
            ),
            "You multiplied the angles instead of the rows. The angles stay; what grows is the length of "
            "each row.",
        ),
        Mistake(
            "added",
            lambda x, positions, base, factor, length: (
                _yarn_turned(x, positions, base, factor, length, louder=lambda factor: 1.0)
                + 0.1 * math.log(factor)
                + 1
            ),
            "The number was added to each row. Multiply by it: a row becomes longer, and keeps its "
            "direction.",
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
