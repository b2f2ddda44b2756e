"""Rotations and ALiBi are one thing: What one position does."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import ONE_THING, Generator, _skew
from posenc_course.exercises.ch10_position_from_content.generator import _generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _exponential_cases(rng: Generator) -> Iterator[Case]:
    yield Case("a pair", (_generator(np.array([0.3]), 0.0)[:2, :2],))
    yield Case("only ALiBi", (_generator(np.zeros(0), 0.25),))
    yield Case("RoPE and ALiBi", (_generator(np.array([1.0, 0.1]), 0.5),))
    yield Case("nothing moves", (np.zeros((3, 3)),))
    yield Case("three columns that turn into one another", (_skew(rng, 3, 2.0),))
    yield Case("many turns", (_skew(rng, 4, 60.0),))
    for _ in range(3):
        dim = int(rng.integers(3, 6))
        yield Case("drawn", (_skew(rng, dim, 1.5) + np.triu(rng.normal(size=(dim, dim)), 1) / 2,))


def _series(matrix: Array, terms: int = 18) -> Array:
    term = found = np.eye(len(matrix))
    for n in range(1, terms):
        term = term @ matrix / n
        found = found + term
    return found


def _halvings(matrix: Array) -> int:
    return max(0, math.ceil(math.log2(max(float(np.linalg.norm(matrix)), 1e-9))) + 1)


def one_step(generator: Array) -> Array:
    """A small part of the step by its series, and then squared as often as it was halved."""
    halvings = _halvings(generator)
    part = _series(generator / 2**halvings)
    for _ in range(halvings):
        part = part @ part
    return part


def _one_step_of_eigenvectors(generator: Array) -> Array:
    """Where there are enough of them, and the series where there are not."""
    values, vectors = np.linalg.eig(generator)
    if np.linalg.cond(vectors) > 1e4:
        return np.linalg.matrix_power(_series(generator / 1024), 1024)
    return np.asarray(np.real(vectors * np.exp(values) @ np.linalg.inv(vectors)))


def _entries_squared(part: Array) -> Array:
    for _ in range(10):
        part = part**2
    return part


def _by_symmetric_routine(generator: Array) -> Array:
    values, vectors = np.linalg.eigh(generator)
    return np.asarray(vectors * np.exp(values) @ vectors.T)


ONE_STEP = Exercise(
    id="10-position-from-content.one_step",
    title="What one position does",
    step_of=ONE_THING,
    signature="one_step(generator: array of shape (dim, dim)) -> array of shape (dim, dim)",
    points=3,
    minutes=12,
    difficulty=3,
    reference=one_step,
    make_cases=_exponential_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The exponential of a matrix must have its shape.",
            about="form",
        ),
        Property(
            lambda args, value: (
                not np.allclose(args[0], -args[0].T)
                or bool(np.allclose(np.asarray(value) @ np.asarray(value).T, np.eye(len(value)), atol=1e-4))
            ),
            "Where the generator is skew, the step is a rotation and keeps all lengths. Yours does not. "
            "Does the series end too early, or do large terms cancel? With a smaller matrix neither does "
            "harm.",
        ),
    ),
    where_not_finite="Some power of the matrix grew too large. Make the matrix smaller first, and square "
    "afterwards.",
    mistakes=(
        Mistake(
            "each-number",
            lambda generator: np.exp(generator),
            "You raise e to each number of the matrix. The powers in the series are products of matrices.",
        ),
        Mistake(
            "first-order",
            lambda generator: np.eye(len(generator)) + generator,
            "You stop after the first power. That is enough only where the square of the matrix is 0, as "
            "for ALiBi alone.",
        ),
        Mistake(
            "second-order",
            lambda generator: np.eye(len(generator)) + generator + generator @ generator / 2,
            "You stop after the second power. Add more terms.",
        ),
        Mistake(
            "powers-of-each-number",
            lambda generator: np.eye(len(generator)) + np.exp(generator) - 1,
            "You raise each number to the powers. Multiply matrices, with @.",
        ),
        Mistake(
            "no-identity",
            lambda generator: one_step(generator) - np.eye(len(generator)),
            "The identity is missing: the first term of the series, the power 0.",
        ),
        Mistake(
            "backwards",
            lambda generator: one_step(-generator),
            "This is one step back.",
        ),
        Mistake(
            "half-a-step",
            lambda generator: one_step(generator / 2),
            "This is half a step. You halved the matrix one more time than you squared.",
        ),
        Mistake(
            "two-steps",
            lambda generator: one_step(2 * generator),
            "These are two steps. You squared one more time than you halved.",
        ),
        Mistake(
            "inverse-of-the-rest",
            lambda generator: np.linalg.pinv(np.eye(len(generator)) - generator),
            "This is the sum of all powers, without dividing them: the n-th one is divided by n factorial.",
        ),
        Mistake(
            "cayley",
            lambda generator: np.linalg.solve(
                np.eye(len(generator)) - generator / 2, np.eye(len(generator)) + generator / 2
            ),
            "This is a rotation too, but by another angle: it agrees with the exponential only up to the "
            "second power.",
        ),
        Mistake(
            "transposed",
            lambda generator: one_step(generator.T),
            "Your result is transposed.",
        ),
        Mistake(
            "many-small-steps",
            lambda generator: np.linalg.matrix_power(np.eye(len(generator)) + generator / 1024, 1024),
            "You make 1,024 small steps, each of the first order. The error is small, but too large "
            "here: take more terms in each step.",
        ),
        Mistake(
            "symmetric-routine",
            _by_symmetric_routine,
            "You use np.linalg.eigh, which is for symmetric matrices. These generators are not symmetric.",
        ),
        Mistake(
            "not-squared",
            lambda generator: one_step(generator / 2**10),
            "You made the matrix smaller and did not square afterwards: this is a small part of a step.",
        ),
        Mistake(
            "multiplied-back",
            lambda generator: 2**10 * one_step(generator / 2**10),
            "You multiply the small step by what you divided by. Small steps, one after the other, are a "
            "power: square it.",
        ),
        Mistake(
            "entries-squared",
            lambda generator: _entries_squared(_series(generator / 2**10, 20)),
            "You square each number of the matrix. Multiply the matrix by itself: part @ part.",
        ),
    ),
    alternatives=(
        lambda generator: np.linalg.matrix_power(_series(generator / 256, 30), 256),
        _one_step_of_eigenvectors,
        lambda generator: one_step(generator / 2) @ one_step(generator / 2),
    ),
    hints=(
        "The series is the identity, plus the matrix, plus its square over 2, plus its third power over "
        "6. Each term is the one before times the matrix over n.",
        "The exponential of the whole matrix is the square of that of half the matrix. So how can you "
        "get by with a small matrix?",
        "Divide by `2**s` with s = 10, sum 20 terms, and square the result s times: `part = part @ part`.",
    ),
)
