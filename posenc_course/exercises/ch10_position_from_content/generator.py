"""Rotations and ALiBi are one thing: One matrix for both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import ONE_THING, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _generator_cases(rng: Generator) -> Iterator[Case]:
    yield Case("one pair", (np.array([1.0]), 0.5))
    yield Case("no pair, only ALiBi", (np.zeros(0), 0.25))
    yield Case("no slope, only RoPE", (np.array([1.0, 0.01]), 0.0))
    yield Case("two pairs", (np.array([1.0, 0.1]), 0.0625))
    for _ in range(4):
        rates = 10 ** rng.uniform(-2, 0, size=int(rng.integers(2, 6)))
        yield Case("rates, drawn", (rates, float(rng.uniform(0.01, 1))))


def _generator_with(
    *,
    down: float = 1.0,
    up: float = -1.0,
    at: tuple[int, int] = (-2, -1),
    sign: float = 1.0,
    halves: bool = False,
) -> Callable[[Array, float], Array]:
    """The factor below the diagonal and above it; where the slope stands, and its sign."""

    def generator(rates: Array, slope: float) -> Array:
        pairs = len(rates)
        found = np.zeros((2 * pairs + 2, 2 * pairs + 2))
        first = np.arange(pairs) if halves else 2 * np.arange(pairs)
        second = first + (pairs if halves else 1)
        found[second, first] = down * rates
        found[first, second] = up * rates
        found[at] += sign * slope
        return found

    return generator


def _generator(rates: Array, slope: float) -> Array:
    return _generator_with()(rates, slope)


def _generator_by_kron(rates: Array, slope: float) -> Array:
    size = 2 * len(rates) + 2
    found = np.zeros((size, size))
    found[:-2, :-2] = np.kron(np.diag(rates), [[0.0, -1.0], [1.0, 0.0]])
    found[size - 2, size - 1] = slope
    return found


def _generator_by_diagonals(rates: Array, slope: float) -> Array:
    """The numbers right above the diagonal, and right below it."""
    beside = np.zeros(2 * len(rates) + 1)
    beside[0:-1:2] = rates
    found = np.diag(beside, -1) - np.diag(beside, 1)
    found[-2, -1] = slope
    return found


def _turned_by_one(rates: Array, slope: float) -> Array:
    """What one position does."""
    found = np.eye(2 * len(rates) + 2)
    for c, rate in enumerate(rates):
        cos, sin = math.cos(rate), math.sin(rate)
        found[2 * c : 2 * c + 2, 2 * c : 2 * c + 2] = [[cos, -sin], [sin, cos]]
    found[-2, -1] = slope
    return found


def _slope_at(rates: Array, slope: float, *places: tuple[int, int]) -> Array:
    found = _generator(rates, 0.0)
    for place in places:
        found[place] = slope
    return found


GENERATOR = Exercise(
    id="10-position-from-content.generator",
    title="One matrix for both",
    step_of=ONE_THING,
    signature="generator(rates: array of shape (pairs,), in rad/position, slope: float) -> array of shape "
    "(2 * pairs + 2, 2 * pairs + 2)",
    points=3,
    minutes=15,
    difficulty=3,
    reference=_generator,
    make_cases=_generator_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (2 * len(args[0]) + 2,) * 2,
            "The matrix must have two rows and columns for each pair, and two more.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.abs(np.diag(np.asarray(value))) < 1e-6).all()),
            "The diagonal makes columns grow or fade by themselves. Neither a rotation nor a bias does "
            "that, so it must hold zeros.",
        ),
    ),
    mistakes=(
        Mistake(
            "turns-back",
            _generator_with(down=-1.0, up=1.0),
            "Your pairs turn the wrong way: the first column should turn towards the second.",
        ),
        Mistake(
            "both-of-one-sign",
            _generator_with(up=1.0),
            "The two numbers of a pair have the same sign. That would stretch and squeeze it, not turn it.",
        ),
        Mistake(
            "both-negative",
            _generator_with(down=-1.0),
            "Both numbers of a pair are negative. That would stretch and squeeze it, not turn it.",
        ),
        Mistake(
            "one-number-a-pair",
            _generator_with(up=0.0),
            "Each of your pairs has only one number. What goes from the first column to the second has "
            "to come back.",
        ),
        Mistake(
            "slope-below",
            _generator_with(at=(-1, -2)),
            "Your slope is below the diagonal. Of the two extra columns, the query has its 1 in the "
            "first, and the key in the second.",
        ),
        Mistake(
            "slope-turned-round",
            _generator_with(sign=-1.0),
            "The sign of the slope is reversed. For the past, the offset, key minus query, is negative "
            "already.",
        ),
        Mistake(
            "slope-turns",
            lambda rates, slope: (
                _generator_with()(rates, slope) + _generator_with(at=(-1, -2), sign=-1.0)(0 * rates, slope)
            ),
            "Your last two columns turn. That makes a wave, but a bias that grows with the distance "
            "never comes back.",
        ),
        Mistake(
            "half-layout",
            lambda rates, slope: _generator_with(halves=True)(rates, slope),
            "You pair columns that lie half the width apart. Neighbours make a pair here.",
        ),
        Mistake(
            "one-step",
            _turned_by_one,
            "This is the exponential, what one position does. Return the generator itself.",
        ),
        Mistake(
            "rates-as-turns",
            lambda rates, slope: _generator(2 * math.pi * rates, slope),
            "You multiply the rates by a whole turn. They are in radians already.",
        ),
        Mistake(
            "rates-as-wavelengths",
            lambda rates, slope: _generator(2 * math.pi / rates, slope),
            "These are wavelengths. Use the rates: how far a pair turns in one position.",
        ),
        Mistake(
            "no-slope",
            lambda rates, slope: _generator(rates, 0.0),
            "The slope is not used.",
        ),
        Mistake(
            "no-rates",
            lambda rates, slope: _generator(0 * rates, slope),
            "The rates are not used: no pair turns.",
        ),
        Mistake(
            "slope-on-the-diagonal",
            _generator_with(at=(-1, -1)),
            "Your slope is on the diagonal, where its exponential would grow without end. The bias is a "
            "straight line.",
        ),
        Mistake(
            "all-transposed",
            lambda rates, slope: _generator(rates, slope).T,
            "Rows and columns are swapped: the query is on the left of the matrix, and the key on the right.",
        ),
        Mistake(
            "slope-in-the-corner",
            lambda rates, slope: _slope_at(rates, slope, (0, -1)),
            "Your slope is in the corner of the matrix. It belongs where the query's 1 meets the key's "
            "1: next to last row, last column.",
        ),
        Mistake(
            "slope-twice",
            lambda rates, slope: _slope_at(rates, slope, (-2, -1), (-1, -2)),
            "Your slope is above the diagonal and below it. Only the query's 1 meets the key's 1: above.",
        ),
        Mistake(
            "sines-of-the-rates",
            lambda rates, slope: _generator(np.sin(rates), slope),
            "You take sines of the rates. Those belong to a whole step: the generator holds the rates.",
        ),
        Mistake(
            "extra-columns-first",
            lambda rates, slope: np.roll(_generator(rates, slope), (2, 2), (0, 1)),
            "Your two extra columns come first. They should come last.",
        ),
        Mistake(
            "everything-negative",
            lambda rates, slope: -_generator(rates, slope),
            "All your signs are reversed: this is the generator of minus the offset.",
        ),
    ),
    alternatives=(
        _generator_by_kron,
        _generator_by_diagonals,
        lambda rates, slope: _generator(rates, slope).tolist(),
    ),
    hints=(
        "For a small step t the exponential is nearly the identity plus t times the generator. Write a "
        "rotation by the small angle a in this form: its cosine is nearly 1, and its sine nearly a.",
        "So a pair has its rate below the diagonal, and minus its rate above it.",
        "The score of q and k takes row times matrix times column. For the bias, what number belongs "
        "where the query's 1 meets the key's 1?",
    ),
)
