"""A million steps in twenty products: Twice as far, each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import Generator, turning, turns_of
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.angles import frequencies


def _ladder_cases(rng: Generator) -> Iterator[Case]:
    for label, turns, m in (
        ("one clock, three doublings", np.asarray([0.5]), 3),
        ("width 4, base 10000, six doublings", frequencies(4), 6),
        ("width 8, base 100, one matrix only", frequencies(8, base=100), 1),
        ("a fast clock and one that runs backwards, four doublings", np.asarray([2.4, -0.7]), 4),
        ("clocks that follow no rule, twenty doublings", rng.uniform(0.1, 1.5, size=3), 20),
        ("random clocks", rng.uniform(0.1, 1.5, size=4), int(rng.integers(4, 9))),
    ):
        yield Case(label, (turning(turns), m))


def _ladder(one_step: np.ndarray, exponents: Any) -> np.ndarray:
    turns = turns_of(one_step)
    return np.stack([turning(turns * float(k)) for k in exponents])


def _squared(one_step: np.ndarray, m: int) -> list[np.ndarray]:
    rungs = [one_step]
    while len(rungs) < m:
        rungs.append(rungs[-1] @ rungs[-1])
    return rungs


def _squared_number_by_number(one_step: np.ndarray, m: int) -> np.ndarray:
    rungs = [one_step]
    for _ in range(m - 1):
        rungs.append(rungs[-1] ** 2)
    return np.stack(rungs)


DOUBLINGS = Exercise(
    id="03-relative-position.doublings",
    title="Twice as far, each time",
    step_of="A million steps in twenty products",
    signature="doublings(one_step: array of shape (dim, dim), m: int) -> array of shape (m, dim, dim)",
    points=1,
    minutes=7,
    difficulty=2,
    reference=lambda one_step, m: _ladder(one_step, 2 ** np.arange(m)),
    make_cases=_ladder_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], *args[0].shape),
            "Return m matrices on top of each other, each as large as the one that is given.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[0], args[0], atol=1e-3)),
            "The first matrix goes one step: it is the one that is given.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.swapaxes(value, 1, 2) @ value, np.eye(len(args[0])), atol=1e-3)
            ),
            "Each of the matrices must be a rotation: its transpose times itself must be the identity. In "
            "float32, rounding alone undoes that: compute in float64.",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[1:], value[:-1] @ value[:-1], atol=1e-3)),
            "Each of the matrices must be the one before it times itself. Yours are not.",
        ),
    ),
    mistakes=(
        Mistake(
            "one-step-more-each-time",
            lambda one_step, m: _ladder(one_step, np.arange(1, m + 1)),
            "Each matrix goes one step further than the one before: 1, 2, 3, 4 steps. That takes a million "
            "products to get a million steps far. Multiply the last matrix by itself, not by the first.",
        ),
        Mistake(
            "number-by-number",
            _squared_number_by_number,
            "The numbers of the matrix were squared one by one, as ** and * do in NumPy. Two turns one after "
            "the other are a product of matrices, which is written with @.",
        ),
        Mistake(
            "twice-the-numbers",
            lambda one_step, m: 2.0 ** np.arange(m)[:, None, None] * one_step,
            "The numbers of the matrix were doubled. What should double is how far it goes: apply the matrix "
            "twice, which is a product with itself.",
        ),
        Mistake(
            "starts-with-two-steps",
            lambda one_step, m: _ladder(one_step, 2 ** np.arange(1, m + 1)),
            "Your first matrix goes two steps already. The first of the m matrices is the one that is given; "
            "it goes one.",
        ),
        Mistake(
            "starts-with-no-step",
            lambda one_step, m: _ladder(one_step, [0, *(2 ** np.arange(m - 1))]),
            "Your first matrix goes nowhere: it is the identity. The first should go one step, the second "
            "two.",
        ),
        Mistake(
            "one-too-many",
            lambda one_step, m: _ladder(one_step, 2 ** np.arange(m + 1)),
            "There is one matrix too many. The one that is given counts as the first, so m - 1 doublings "
            "make m matrices.",
        ),
        Mistake(
            "the-last-alone",
            lambda one_step, m: _ladder(one_step, [2 ** (m - 1)])[0],
            "This is only the last of the matrices. Keep all of them: the next step needs each.",
        ),
        Mistake(
            "four-times-as-far",
            lambda one_step, m: _ladder(one_step, 4 ** np.arange(m)),
            "Each matrix goes four times as far as the one before. One product of the last matrix with "
            "itself is enough.",
        ),
        Mistake(
            "backwards",
            lambda one_step, m: _ladder(one_step, -(2 ** np.arange(m))),
            "The matrices go backwards: each is the transpose of what it should be.",
        ),
        Mistake(
            "all-the-same",
            lambda one_step, m: np.stack([one_step] * m),
            "All the matrices go one step. Multiply the last one by itself to get the next.",
        ),
    ),
    alternatives=(
        _squared,
        lambda one_step, m: [np.linalg.matrix_power(one_step, 2**j) for j in range(m)],
        lambda one_step, m: np.stack(_squared(one_step, m)).tolist(),
    ),
    hints=(
        "If M goes k steps, what does M @ M do?",
        "Start with a list that holds `one_step`, and append the product of the last matrix with itself "
        "until there are m.",
    ),
)
