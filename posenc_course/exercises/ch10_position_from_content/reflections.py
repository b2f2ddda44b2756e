"""PaTH, by its definition and by its cache: What one token does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import (
    PATH,
    Generator,
    outer,
    reflect_with,
    square,
    units,
)
from posenc_course.exercises.drawing import Draws, arrows
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _reflection_cases(rng: Generator) -> Iterator[Case]:
    yield Case("one token along the first column", (np.array([[1.0, 0.0]]), np.array([2.0])))
    yield Case("beta 0, 1 and 2", (rng.normal(size=(3, 3)), np.array([0.0, 1.0, 2.0])))
    yield Case(
        "a long vector and a short one", (np.array([[30.0, 40.0], [3e-5, 4e-5]]), np.array([2.0, 0.5]))
    )
    yield Case("dim 1", (rng.normal(size=(2, 1)), np.array([0.5, 1.5])))
    for _ in range(3):
        n, dim = int(rng.integers(2, 6)), int(rng.integers(3, 6))
        yield Case(
            "vectors, drawn", (rng.normal(size=(n, dim)) * rng.uniform(0.2, 4), rng.uniform(0, 2, size=n))
        )


def _reflections(w: Array, beta: Array) -> Array:
    return reflect_with(lambda w, beta: beta * square(units(w)))(w, beta)


def _along(matrices: Array, vectors: Array) -> Array:
    """Each matrix times its own vector."""
    return np.einsum("tij,tj->ti", matrices, vectors)


def _across(w: Array) -> Array:
    """A vector at a right angle to each."""
    ones = np.ones_like(w)
    return np.asarray(ones - (ones * units(w)).sum(axis=1, keepdims=True) * units(w))


REFLECTIONS = Exercise(
    id="10-position-from-content.reflections",
    title="What one token does",
    step_of=PATH,
    signature="reflections(w: array of shape (n, dim), beta: array of shape (n,)) -> array of shape (n, dim, "
    "dim)",
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda reflections, *names: arrows(
            np.asarray(reflections(np.tile([[2.0, 0.0]], (3, 1)), np.array([0.0, 1.0, 2.0])))
            @ np.array([0.6, 0.8]),
            names,
        ),
        axes=("beta 0", "beta 1", "beta 2"),
        look="What lies along w, here from left to right, stays, is erased, or is reversed.",
    ),
    reference=_reflections,
    make_cases=_reflection_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (*args[0].shape, args[0].shape[1]),
            "There must be one square matrix for each token.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.asarray(value), np.asarray(value).swapaxes(1, 2), atol=1e-5)
            ),
            "Each of these matrices must be symmetric. Yours are not.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(_along(value, units(args[0])), (1 - args[1])[:, None] * units(args[0]), atol=1e-5)
            ),
            "Along its own w, each matrix must multiply by 1 - beta. Yours do not.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(_along(value, _across(args[0])), _across(args[0]), atol=1e-5)
            ),
            "At a right angle to w, each matrix must change nothing. Yours do.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-of-length-one",
            reflect_with(lambda w, beta: beta * square(w)),
            "You do not bring w to length 1.",
        ),
        Mistake(
            "divided-once",
            reflect_with(lambda w, beta: beta * outer(w, units(w))),
            "You divide by the length once. Both factors of the product should have length 1.",
        ),
        Mistake(
            "length-over-tokens",
            reflect_with(lambda w, beta: beta * square(w / np.maximum(np.linalg.norm(w, axis=0), 1e-300))),
            "You take lengths over the tokens. Each token's own vector should get length 1.",
        ),
        Mistake(
            "one-length-for-all",
            reflect_with(lambda w, beta: beta * square(w) / (w * w).sum()),
            "You divide by one length for all vectors together. Each token's own vector should get length 1.",
        ),
        Mistake(
            "largest-number-one",
            reflect_with(lambda w, beta: beta * square(w / np.abs(w).max(axis=1, keepdims=True))),
            "You divide each vector by its largest number. Divide by its length, the root of the sum of "
            "squares.",
        ),
        Mistake(
            "two-already-there",
            reflect_with(lambda w, beta: 2 * beta * square(units(w))),
            "You double beta. A beta of 2 reflects already: there is no 2 in front of it.",
        ),
        Mistake(
            "beta-not-used",
            reflect_with(lambda w, beta: square(units(w)) + 0 * beta),
            "Your matrices do not depend on beta.",
        ),
        Mistake(
            "beta-squared",
            reflect_with(lambda w, beta: beta**2 * square(units(w))),
            "Beta is in both factors of your product. It should count once.",
        ),
        Mistake(
            "added",
            reflect_with(lambda w, beta: -beta * square(units(w))),
            "You add to the identity. Subtract what lies along w.",
        ),
        Mistake(
            "what-is-taken",
            lambda w, beta: beta[:, None, None] * square(units(w)),
            "This is what is taken away. Return the identity minus this.",
        ),
        Mistake(
            "one-for-identity",
            lambda w, beta: 1 - beta[:, None, None] * square(units(w)),
            "You subtract from 1 everywhere. The identity has 1 only on its diagonal.",
        ),
        Mistake(
            "inner-for-outer",
            reflect_with(lambda w, beta: beta * np.eye(w.shape[1]) + 0 * w.sum()),
            "You multiply w with itself and get one number. Multiply a column by a row: that makes a matrix.",
        ),
        Mistake(
            "products-so-far",
            lambda w, beta: _multiplied(_reflections(w, beta)),
            "You multiply the matrices of all tokens so far. Return each token's own matrix.",
        ),
        Mistake(
            "beta-taken-for-two",
            reflect_with(lambda w, beta: 2 * square(units(w)) + 0 * beta),
            "You use 2 for every beta, as in a plain reflection. Here each token has its own number.",
        ),
        Mistake(
            "squared-length-in-each",
            reflect_with(lambda w, beta: beta * square(w / (w * w).sum(axis=1, keepdims=True))),
            "You divide both factors by the squared length. Divide each by the length, or their product "
            "by the squared length once.",
        ),
        Mistake(
            "a-little-added-to-the-length",
            reflect_with(
                lambda w, beta: beta * square(w / (np.linalg.norm(w, axis=1, keepdims=True) + 1e-8))
            ),
            "You add a small number to the length, and for a short vector it is not small. No vector has "
            "length 0 here: leave it out.",
        ),
    ),
    alternatives=(
        lambda w, beta: np.stack(
            [np.eye(len(row)) - b * np.outer(row, row) / (row @ row) for row, b in zip(w, beta, strict=True)]
        ),
        lambda w, beta: (
            np.eye(w.shape[1]) - np.einsum("t,ti,tj->tij", beta / np.einsum("ti,ti->t", w, w), w, w)
        ),
        lambda w, beta: _reflections(w, beta).tolist(),
    ),
    hints=(
        "The length of each row is `np.linalg.norm(w, axis=1, keepdims=True)`.",
        "For rows u of shape (n, dim), `u[:, :, None] * u[:, None, :]` holds a column times a row for each "
        "token.",
        "Beta needs two more axes, `beta[:, None, None]`; `np.eye(dim)` is the identity.",
    ),
)


def _multiplied(matrices: Array) -> Array:
    found = [matrices[0]]
    for matrix in matrices[1:]:
        found.append(matrix @ found[-1])
    return np.stack(found)
