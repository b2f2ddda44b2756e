"""One frequency per pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import BASE, RATE_SLIPS
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.angles import frequencies


def _frequency_cases(rng: np.random.Generator) -> Iterator[Case]:
    for dim in (2, 4, 8, 64, int(2 * rng.integers(10, 100)), int(2 * rng.integers(100, 500))):
        yield Case(f"dim {dim}", (dim,))


def _frequencies_by_loop(dim: int) -> list[float]:
    rates = []
    for i in range(dim // 2):
        rates.append(1 / BASE ** (2 * i / dim))
    return rates


def _is_geometric(args: tuple[Any, ...], value: Any) -> bool:
    return bool(np.allclose(value[1:] * value[0], value[:-1] * value[1:2], rtol=1e-4, atol=0))


FREQUENCIES = Exercise(
    id="02-the-formula.frequencies",
    title="One frequency per pair",
    signature="frequencies(dim: int) -> array of shape (dim/2,), in rad/position",
    points=2,
    minutes=8,
    difficulty=1,
    draws=Draws(
        lambda frequencies, across, up: curve(
            np.arange(32), {"": np.log10(frequencies(64))}, across=across, up=up
        ),
        axes=("pair", "log10 of the frequency"),
        look="Every pair is slower than the one before by the same factor: a straight line.",
    ),
    reference=lambda dim: frequencies(dim),
    make_cases=_frequency_cases,
    # The smallest frequency is about 1e-4: an absolute tolerance must not hide an error in it, nor a relative
    # one a base of 9,999.
    relative_tolerance=1e-5,
    absolute_tolerance=1e-12,
    properties=(
        Property(
            lambda args, value: np.size(value) == args[0] // 2,
            "There must be dim/2 frequencies: one for each (sin, cos) pair, not one for each column.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.isclose(np.ravel(value)[0], 1.0)),
            "The first frequency must be 1, because 10000 to the power 0 is 1.",
        ),
        Property(
            _is_geometric,
            "The frequencies must form a geometric series: each is the one before times the same number.",
        ),
    ),
    mistakes=(
        *(Mistake(name, rates, message) for name, rates, message in RATE_SLIPS),
        Mistake(
            "parentheses-missing",
            lambda dim: BASE**-2 * np.arange(dim // 2) / dim,
            "Only the 2 was taken as the exponent, because ** comes before * and /. Put the whole exponent "
            "in parentheses: 10000.0 ** (-2 * i / dim).",
        ),
        Mistake(
            "column-number-as-i",
            lambda dim: BASE ** (-2 * np.arange(float(dim)) / dim),
            "There is one frequency for each column here, because i was taken as the column number. Let i "
            "count the pairs, from 0 to dim/2 - 1.",
        ),
        Mistake(
            "repeated-for-each-column",
            lambda dim: np.repeat(frequencies(dim), 2),
            "Every frequency is there twice, once for the sine and once for the cosine. Return each only "
            "once: the result has dim/2 elements.",
        ),
        Mistake(
            "one-pair-too-many",
            lambda dim: BASE ** (-2 * np.arange(dim // 2 + 1.0) / dim),
            "There is one frequency too many: i runs up to dim/2, and should stop at dim/2 - 1. The columns "
            "of pair dim/2 would lie past the end of the row.",
        ),
        Mistake(
            "wavelengths",
            lambda dim: 2 * np.pi / frequencies(dim),
            "These are the wavelengths, in positions. The angular frequency is 2 pi divided by the "
            "wavelength, in rad/position.",
        ),
        Mistake(
            "turns",
            lambda dim: frequencies(dim) / (2 * np.pi),
            "These frequencies count turns per position. The formula needs rad per position: leave out the "
            "division by 2 pi.",
        ),
    ),
    alternatives=(
        lambda dim: np.exp(-np.log(BASE) * np.arange(0, dim, 2) / dim),
        _frequencies_by_loop,
        lambda dim: np.geomspace(1, BASE ** (-(dim - 2) / dim), dim // 2),
        lambda dim: np.cumprod(np.append(1.0, np.full(dim // 2 - 1, BASE ** (-2 / dim)))),
        lambda dim: (np.float32(BASE) ** (-2 * np.arange(dim // 2, dtype=np.float32) / dim)).astype(
            np.float32
        ),
    ),
    hints=(
        "How many (sin, cos) pairs fit into dim columns? The result has one element for each pair.",
        "Number the pairs `i = 0, 1, 2, ...` with `np.arange`. What is the last i?",
        "The frequency of pair i is 10000 to the power -2i/dim. Mind that the base is a float: NumPy "
        "refuses to raise an integer to negative integer powers.",
    ),
)
