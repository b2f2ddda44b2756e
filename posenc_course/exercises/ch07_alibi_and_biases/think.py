"""A trained decoder, of your own functions: The wide layer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._decoder import WHOLE, Generator, _think
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _think_cases(rng: Generator) -> Iterator[Case]:
    for label, rows, width, wide in (
        ("one row", 1, 3, 5),
        ("four rows", 4, 6, 24),
        ("one column", 5, 1, 4),
        ("many rows", 12, 4, 9),
        ("as wide as before", 3, 5, 5),
    ):
        widen, narrow = rng.normal(size=(wide, width)), rng.normal(size=(width, wide))
        yield Case(label, (rng.normal(size=(rows, width)), widen, narrow))
    square = rng.normal(size=(2, 4, 4))
    yield Case("square matrices", (rng.normal(size=(4, 4)), square[0], square[1]))


THINK = Exercise(
    id="07-alibi-and-biases.think",
    title="The wide layer",
    step_of=WHOLE,
    adds="Your decoder gets its wide layer: each row is thought over by itself.",
    signature="think(x: (n, dim), widen: (wide, dim), narrow: (dim, wide)) -> (n, dim)",
    points=1,
    minutes=6,
    difficulty=1,
    reference=lambda x, widen, narrow: _think(x, widen, narrow),
    make_cases=_think_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The rows come back as wide as they were: (n, dim).",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "no-square",
            lambda x, widen, narrow: np.maximum(x @ widen.T, 0) @ narrow.T,
            "Negative numbers became 0, and the others stayed as they were. They have to be squared.",
        ),
        Mistake(
            "negatives-squared-too",
            lambda x, widen, narrow: (x @ widen.T) ** 2 @ narrow.T,
            "Negative numbers were squared too, and so became positive. First everything below 0 becomes 0.",
        ),
        Mistake(
            "squared-at-the-end",
            lambda x, widen, narrow: (np.maximum(x @ widen.T, 0) @ narrow.T) ** 2,
            "The square comes too late. Square the wide rows, then make them narrow.",
        ),
        Mistake(
            "cut-at-the-end",
            lambda x, widen, narrow: np.maximum(np.maximum(x @ widen.T, 0) ** 2 @ narrow.T, 0),
            "What comes out was cut at 0 as well. Only the wide rows are.",
        ),
        Mistake(
            "sign-kept",
            lambda x, widen, narrow: np.abs(x @ widen.T) * (x @ widen.T) @ narrow.T,
            "Negative numbers were squared with their sign. They become 0.",
        ),
        Mistake(
            "small-ones-cut",
            lambda x, widen, narrow: np.maximum(x @ widen.T, 1) ** 2 @ narrow.T,
            "What is below 1 was raised to 1. The limit is 0.",
        ),
        Mistake(
            "input-added",
            lambda x, widen, narrow: x + _think(x, widen, narrow),
            "Your result contains the input. The whole decoder adds it later; return only what will be "
            "added.",
        ),
        Mistake(
            "sigmoid",
            lambda x, widen, narrow: (x @ widen.T) / (1 + np.exp(-(x @ widen.T))) @ narrow.T,
            "This is SiLU, which other models have here. These weights were trained with the square.",
        ),
        Mistake(
            "nothing-between",
            lambda x, widen, narrow: x @ widen.T @ narrow.T,
            "Two products with nothing between them are one product. Cut and square the wide rows.",
        ),
        Mistake(
            "cubed",
            lambda x, widen, narrow: np.maximum(x @ widen.T, 0) ** 3 @ narrow.T,
            "What is left was raised to the power 3. Square it.",
        ),
        Mistake(
            "doubled",
            lambda x, widen, narrow: 2 * np.maximum(x @ widen.T, 0) @ narrow.T,
            "What is left was doubled. Square it: ** 2, not * 2.",
        ),
        Mistake(
            "x-cut-first",
            lambda x, widen, narrow: (np.maximum(x, 0) @ widen.T) ** 2 @ narrow.T,
            "You cut x itself off at 0. First multiply by widen, then cut the wide rows.",
        ),
        Mistake(
            "tanh",
            lambda x, widen, narrow: np.tanh(x @ widen.T) @ narrow.T,
            "The wide rows went through np.tanh. Set what is negative to 0, and square what is left.",
        ),
        Mistake(
            "cut-after-the-square",
            lambda x, widen, narrow: np.maximum((x @ widen.T) ** 2 @ narrow.T, 0),
            "You squared the wide rows, negative numbers too, and cut at the end. Cut the wide rows first.",
        ),
        Mistake(
            "square-matrices-not-transposed",
            lambda x, widen, narrow: (
                np.maximum(x @ (widen if len(widen) == x.shape[1] else widen.T), 0) ** 2
                @ (narrow if len(narrow) == len(widen) else narrow.T)
            ),
            "It is right except where the matrices are square: there you do not transpose them. A matrix of "
            "the file has a row for each number that comes out, so it is always x @ matrix.T.",
        ),
    ),
    alternatives=(
        lambda x, widen, narrow: np.square(np.clip(x @ widen.T, 0, None)) @ narrow.T,
        lambda x, widen, narrow: np.einsum(
            "dw,nw->nd", narrow, np.where((wide := np.einsum("wd,nd->nw", widen, x)) > 0, wide * wide, 0)
        ),
        lambda x, widen, narrow: np.stack(
            [narrow @ (np.maximum(widen @ row, 0) * (widen @ row)) for row in x]
        ).tolist(),
    ),
    hints=(
        "A matrix of the file has a row for each number that comes out. The rows of x are on its left, so "
        "it has to be transposed.",
        "`np.maximum(wide, 0)` sets everything below 0 to 0.",
    ),
)
