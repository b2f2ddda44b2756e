"""A trained decoder, of your own functions: Rows of one size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._decoder import SMALL, WHOLE, Generator, _normed
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _norm_cases(rng: Generator) -> Iterator[Case]:
    for label, shape in (
        ("one row", (1, 4)),
        ("five rows", (5, 8)),
        ("two heads of three rows", (2, 3, 6)),
        ("long rows", (3, 40)),
    ):
        gain = rng.uniform(0.4, 2.0, size=shape[-1])
        yield Case(label, (rng.normal(loc=0.5, scale=3.0, size=shape), gain))
    rows = rng.normal(loc=0.5, size=(3, 4))
    rows[1] = 0
    yield Case("a row of zeros among others", (rows, rng.uniform(0.4, 2.0, size=4)))
    rows = rng.normal(loc=0.5, size=(3, 4))
    rows[1] = 3e-4 * rng.normal(loc=0.5, size=4)
    yield Case("a row of tiny numbers among others", (rows, rng.uniform(0.4, 2.0, size=4)))
    yield Case("large numbers", (1e4 * rng.normal(loc=0.5, size=(2, 6)), rng.uniform(0.4, 2.0, size=6)))


TINY = 0.01
"""A row below this size shows what was added to its mean of squares."""


def _size(value: Any) -> Any:
    return np.sqrt((np.asarray(value) ** 2).mean(axis=-1))


def _only_tiny_rows_are_wrong(args: tuple[Any, ...], value: Any) -> bool:
    wrong = ~np.isclose(value, _normed(*args)).all(axis=-1)
    return bool(wrong.any() and (_size(args[0])[wrong] < TINY).all())


NORMED = Exercise(
    id="07-alibi-and-biases.normed",
    title="Rows of one size",
    step_of=WHOLE,
    adds="Your decoder gets its norm: no row is louder than another before it is looked at.",
    signature="normed(x: (..., width), gain: (width,)) -> array of the shape of x",
    points=1,
    minutes=6,
    difficulty=1,
    reference=lambda x, gain: _normed(x, gain),
    make_cases=_norm_cases,
    where_not_finite="A row of zeros has the size 0. Add the small number to the mean before you divide by "
    "its root.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape stays as it is: every row only changes its size.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(_size(np.asarray(value) / args[1])[_size(args[0]) > TINY], 1, atol=1e-3)
            ),
            "Without the gains, the mean of the squares of each row must be 1.",
        ),
        Property(
            lambda args, value: not _only_tiny_rows_are_wrong(args, value),
            "In a row of tiny numbers the small number counts. It is 2.0**-23, and it is added to the mean "
            "of the squares, before the root.",
        ),
    ),
    mistakes=(
        Mistake(
            "mean-taken-off",
            lambda x, gain: _normed(x - x.mean(axis=-1, keepdims=True), gain),
            "The mean was taken off first. That is LayerNorm. This norm divides, and shifts nothing.",
        ),
        Mistake(
            "standard-deviation",
            lambda x, gain: x / np.sqrt(x.var(axis=-1, keepdims=True) + SMALL) * gain,
            "You divide by the standard deviation, which does not see the mean of the row. Divide by the "
            "root of the mean of the squares.",
        ),
        Mistake(
            "length",
            lambda x, gain: x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + SMALL) * gain,
            "You divide by the length of the row. Take the mean of the squares, not their sum.",
        ),
        Mistake(
            "no-root",
            lambda x, gain: x / ((x * x).mean(axis=-1, keepdims=True) + SMALL) * gain,
            "You divide by the mean of the squares. Take its root first.",
        ),
        Mistake(
            "all-rows-together",
            lambda x, gain: x / np.sqrt((x * x).mean() + SMALL) * gain,
            "All rows are divided by one number. Each row has a size of its own: take the mean over the "
            "last axis.",
        ),
        Mistake(
            "mean-of-absolute-values",
            lambda x, gain: x / (np.abs(x).mean(axis=-1, keepdims=True) + SMALL) * gain,
            "You divide by the mean of the absolute values. Square, take the mean, then the root.",
        ),
        Mistake(
            "without-gain",
            lambda x, gain: _normed(x, np.ones_like(gain)),
            "The gains are missing. After the division, each column is multiplied by its gain.",
        ),
        Mistake(
            "gain-added",
            lambda x, gain: _normed(x, np.ones_like(gain)) + gain,
            "The gains were added. They are factors, one for each column.",
        ),
        Mistake(
            "gain-first",
            lambda x, gain: _normed(x * gain, np.ones_like(gain)),
            "You applied the gains before the norm, which takes a part of them away again. Divide first.",
        ),
        Mistake(
            "one-plus-gain",
            lambda x, gain: _normed(x, 1 + gain),
            "Each column was multiplied by 1 more than its gain. Some models store gains that way; this "
            "file holds the gains themselves.",
        ),
        Mistake(
            "small-number-outside-the-root",
            lambda x, gain: x / (np.sqrt((x * x).mean(axis=-1, keepdims=True)) + SMALL) * gain,
            "You added the small number after the root. Add it to the mean of the squares, before the root: "
            "for tiny rows that makes a difference.",
        ),
        Mistake(
            "another-small-number",
            lambda x, gain: x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * gain,
            "The small number that you add is 1e-5, as in some other models. These weights were trained "
            "with 2.0**-23: tiny rows come out too short.",
        ),
        Mistake(
            "one-in-a-million",
            lambda x, gain: x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6) * gain,
            "The small number that you add is 1e-6, as in some other models. These weights were trained "
            "with 2.0**-23: tiny rows come out too short.",
        ),
    ),
    alternatives=(
        lambda x, gain: gain * x * ((x**2).mean(-1, keepdims=True) + SMALL) ** -0.5,
        lambda x, gain: np.einsum(
            "...i,i,...->...i", x, gain, 1 / np.sqrt(np.einsum("...i,...i->...", x, x) / len(gain) + SMALL)
        ),
        lambda x, gain: np.apply_along_axis(
            lambda row: row / np.sqrt(np.sum(row**2) / row.size + SMALL) * gain, -1, x
        ),
    ),
    hints=(
        "Three things, one after the other: how large each row is, the division, the gains.",
        "`(x * x).mean(axis=-1, keepdims=True)` has one number for each row, in a shape that divides.",
    ),
)
