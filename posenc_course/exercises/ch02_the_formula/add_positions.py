"""Tokens to vectors: Add the positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import INPUT, paired, row_by_columns, table_by_phase
from posenc_course.exercises.ch02_the_formula.sinusoidal import _table
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal


def _positions_cases(rng: np.random.Generator) -> Iterator[Case]:
    for label, shape, start in (
        ("5 tokens, dim 8", (5, 8), 0),
        ("4 sequences of 3 tokens, dim 6", (4, 3, 6), 0),
        ("as many sequences as tokens, dim 4", (3, 3, 4), 0),
        ("one token at position 7, dim 4", (1, 4), 7),
        # float32 is exact so far out only at the frequency 1.
        ("2 sequences of 3 tokens, dim 2, from position 100,000", (2, 3, 2), 100_000),
        ("40 tokens, dim 16", (40, 16), 0),
        ("axes (2, 2) of sequences, from position 5", (2, 2, 6, 8), 5),
        ("vectors of zeros", (2, 4, 8), int(rng.integers(1, 400))),
    ):
        x = np.zeros(shape) if label == "vectors of zeros" else rng.normal(size=shape)
        yield Case(label, (x, start))


def _added(rule: Callable[[np.ndarray, np.ndarray, int], Any]) -> Callable[[Any, int], Any]:
    """What the rule makes of (x, the encoding of its positions, start)."""

    def answer(x: Any, start: int) -> Any:
        x = np.asarray(x, dtype=np.float64)
        return rule(x, sinusoidal(start + np.arange(x.shape[-2]), x.shape[-1]), start)

    return answer


def _add_positions_by_loop(x: np.ndarray, start: int) -> np.ndarray:
    out = np.array(x, dtype=np.float64)
    for place in range(out.shape[-2]):
        out[..., place, :] += row_by_columns(start + place, out.shape[-1])
    return out


def _add_positions_to_each(x: np.ndarray, start: int) -> Any:
    if x.ndim > 2:
        return np.stack([_add_positions_to_each(each, start) for each in x])
    return _table(np.arange(start, start + len(x)), x.shape[1]) + x


def _add_positions_cut_from_a_table(x: np.ndarray, start: int) -> Any:
    count, dim = x.shape[-2:]
    return x + table_by_phase(np.arange(start + count), dim)[start:]


def _on_circles(added: np.ndarray) -> bool:
    return bool(np.allclose(added[..., 0::2] ** 2 + added[..., 1::2] ** 2, 1, atol=1e-3))


ADD_POSITIONS = Exercise(
    id="02-the-formula.add_positions",
    title="Add the positions",
    signature="add_positions(x: array of shape (..., n, dim), start: int) -> array of the same shape",
    step_of=INPUT,
    adds="Your decoder gets its input: tokens become vectors, and each vector carries its position.",
    points=3,
    minutes=10,
    difficulty=3,
    reference=_added(lambda x, table, start: x + table),
    make_cases=_positions_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay as it is: a vector is added to each token, nothing is appended.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.any(args[0])) or bool(np.allclose(value[0], value[-1])),
            "All sequences of a batch must get the same encoding: vectors of zeros must come out alike.",
        ),
        Property(
            lambda args, value: _on_circles(value - args[0]),
            "What you added to a token is not a row of the encoding: there, the squares of the sine and the "
            "cosine of each pair add up to 1. Add the encoding once, to x as it is, and scale nothing.",
        ),
    ),
    mistakes=(
        Mistake(
            "start-ignored",
            _added(lambda x, table, start: x + sinusoidal(x.shape[-2], x.shape[-1])),
            "The positions begin at 0, whatever start is. The first token is at position start, the next at "
            "start + 1, and so on.",
        ),
        Mistake(
            "start-for-all",
            _added(lambda x, table, start: x + table[0]),
            "Every token got the encoding of position start. Only the first token is there: count on from "
            "it.",
        ),
        Mistake(
            "start-as-a-step",
            _added(
                lambda x, table, start: x + sinusoidal(np.arange(x.shape[-2]) * max(start, 1), x.shape[-1])
            ),
            "The positions were multiplied by start. Add it: they run start, start + 1, start + 2, ...",
        ),
        Mistake(
            "positions-along-the-first-axis",
            _added(
                lambda x, table, start: (
                    x
                    + sinusoidal(start + np.arange(x.shape[0]), x.shape[-1]).reshape(
                        x.shape[0], *[1] * (x.ndim - 2), x.shape[-1]
                    )
                )
            ),
            "The positions run along the first axis, so in a batch all tokens of one sequence got the same "
            "encoding. Tokens are counted along the axis before the last.",
        ),
        Mistake(
            "positions-from-1",
            _added(lambda x, table, start: x + sinusoidal(1 + start + np.arange(x.shape[-2]), x.shape[-1])),
            "Every position is one too high: the first token is at position start.",
        ),
        Mistake(
            "no-positions",
            _added(lambda x, table, start: x),
            "Nothing was added. Add the encoding of positions start to start + n - 1.",
        ),
        Mistake(
            "start-taken-away",
            _added(lambda x, table, start: x + sinusoidal(np.arange(x.shape[-2]) - start, x.shape[-1])),
            "You took start away from the positions. Add it: they run start, start + 1, start + 2, ...",
        ),
        Mistake(
            "sequences-counted",
            _added(lambda x, table, start: x + sinusoidal(start + np.arange(len(x)), x.shape[-1])),
            "It is right for a single sequence. In a batch, len(x) is the number of sequences: the number "
            "of tokens is x.shape[-2].",
        ),
        Mistake(
            "scaled-again",
            _added(lambda x, table, start: x * np.sqrt(x.shape[-1]) + table),
            "The vectors were multiplied by the square root of dim once more. That was done when the tokens "
            "were looked up.",
        ),
        Mistake(
            "sum-scaled",
            _added(lambda x, table, start: (x + table) * np.sqrt(x.shape[-1])),
            "The sum was multiplied by the square root of dim. The scale belongs to the words alone, and was "
            "done when they were looked up.",
        ),
        Mistake(
            "encoding-scaled",
            _added(lambda x, table, start: x + table * np.sqrt(x.shape[-1])),
            "The encoding was multiplied by the square root of dim. The scale belongs to the words, and was "
            "done when they were looked up.",
        ),
        Mistake(
            "concatenated",
            _added(lambda x, table, start: np.concatenate([x, np.broadcast_to(table, x.shape)], axis=-1)),
            "The encoding was put next to the vectors, which doubles the width. Add the two.",
        ),
        Mistake(
            "multiplied",
            _added(lambda x, table, start: x * table),
            "The vectors were multiplied with the encoding. Add the two.",
        ),
        Mistake(
            "halves",
            _added(
                lambda x, table, start: (
                    x + sinusoidal(start + np.arange(x.shape[-2]), x.shape[-1], layout="split")
                )
            ),
            "The encoding has all sines first and all cosines after them. Use the interleaved layout, which "
            "is the library's default.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            _added(lambda x, table, start: x + paired(table[:, 1::2], table[:, 0::2])),
            "Sine and cosine are swapped in the encoding: even columns hold the sine, odd ones the cosine.",
        ),
        Mistake(
            "number-of-the-position",
            _added(lambda x, table, start: x + (start + np.arange(x.shape[-2]))[:, None]),
            "The number of the position was added to every column. Add its encoding, the row of sines and "
            "cosines.",
        ),
        Mistake(
            "subtracted",
            _added(lambda x, table, start: x - table),
            "The encoding was taken away. Add it.",
        ),
    ),
    alternatives=(_add_positions_by_loop, _add_positions_to_each, _add_positions_cut_from_a_table),
    lends=("sinusoidal",),
    hints=(
        "Read n and dim off `x.shape`: they are its last two numbers, whatever comes before them.",
        "`posenc_lib.sinusoidal(positions, dim)` takes an array of positions and gives one row for each. "
        "Which positions are these, from `start` on?",
        "`np.arange(start, start + n)`. A table of shape (n, dim) added to an array of shape (..., n, dim) "
        "is used for every sequence.",
    ),
)
