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
        look="What lies along w, here from left to right, stays, is erased or turns round.",
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
            "Each of these matrices is symmetric. Yours are not.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-of-length-one",
            reflect_with(lambda w, beta: beta * square(w)),
            "Your w is not brought to length 1.",
        ),
        Mistake(
            "divided-once",
            reflect_with(lambda w, beta: beta * outer(w, units(w))),
            "You divide by the length once. Both factors of the product are to have length 1.",
        ),
        Mistake(
            "length-over-tokens",
            reflect_with(lambda w, beta: beta * square(w / np.maximum(np.linalg.norm(w, axis=0), 1e-300))),
            "You divide by lengths that run over the tokens. Each token's own vector gets length 1.",
        ),
        Mistake(
            "one-length-for-all",
            reflect_with(lambda w, beta: beta * square(w) / (w * w).sum()),
            "You divide by one length of all vectors together. Each token's own vector gets length 1.",
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
            "You take beta twice. A beta of 2 is what reflects; there is no 2 in front of it.",
        ),
        Mistake(
            "beta-not-used",
            reflect_with(lambda w, beta: square(units(w)) + 0 * beta),
            "Your matrices do not hang on beta.",
        ),
        Mistake(
            "beta-squared",
            reflect_with(lambda w, beta: beta**2 * square(units(w))),
            "Beta stands in both factors of your product. It counts once.",
        ),
        Mistake(
            "added",
            reflect_with(lambda w, beta: -beta * square(units(w))),
            "You add to the identity. What lies along w is taken away.",
        ),
        Mistake(
            "what-is-taken",
            lambda w, beta: beta[:, None, None] * square(units(w)),
            "This is what is taken away. The identity minus it is asked for.",
        ),
        Mistake(
            "one-for-identity",
            lambda w, beta: 1 - beta[:, None, None] * square(units(w)),
            "You subtract from 1 everywhere. The identity has 1 on its diagonal alone.",
        ),
        Mistake(
            "inner-for-outer",
            reflect_with(lambda w, beta: beta * np.eye(w.shape[1]) + 0 * w.sum()),
            "You multiply w with itself to one number. A column times a row makes a matrix.",
        ),
        Mistake(
            "products-so-far",
            lambda w, beta: _multiplied(_reflections(w, beta)),
            "You multiply the matrices of all tokens so far. One token's own matrix is asked for.",
        ),
        Mistake(
            "beta-taken-for-two",
            reflect_with(lambda w, beta: 2 * square(units(w)) + 0 * beta),
            "You take 2 for every beta. That is what a reflection has; here each token has a number of "
            "its own.",
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
