"""Your decoder turns its queries and keys: All heads at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import DECODER, Generator, turn_heads, turned_by
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.rotated.rotary import apply_rotary


def _heads_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, shape: tuple[int, ...], positions: Any, base: float) -> Case:
        return Case(label, (rng.normal(size=shape), np.asarray(positions), base))

    yield case("two heads, positions 0 to 4", (2, 5, 8), np.arange(5), 10000.0)
    yield case("one row, without heads, at position 7", (1, 4), [7], 10000.0)
    yield case("four heads, one token at position 19, base 300", (4, 1, 6), [19], 300.0)
    yield case("as many heads as tokens, positions from 100 on", (3, 3, 4), [100, 101, 102], 10000.0)
    yield case("texts and heads in front, base 500,000", (2, 3, 4, 8), np.arange(50, 54), 500_000.0)
    # The shape and the base of the first: angles that were kept for it are wrong here.
    yield case("two heads, positions 30 to 34", (2, 5, 8), np.arange(30, 35), 10000.0)
    some = np.sort(rng.integers(0, 900, size=6))
    yield case("random positions, base 1,000", (2, 6, 10), some, 1000.0)


def _heads_overwritten(x: Array, positions: Array, base: float) -> Array:
    theta = positions[:, None] * base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    out = np.array(x)
    a, b = out[..., 0::2], out[..., 1::2]
    a[:] = a * np.cos(theta) - b * np.sin(theta)
    b[:] = b * np.cos(theta) + a * np.sin(theta)
    return out


def _heads_row_by_row(x: Array, positions: Array, base: float) -> list[Any]:
    """Down to single rows, which stand at the positions."""
    if x.ndim > 2:
        return [_heads_row_by_row(each, positions, base) for each in x]
    return [turned_by(row, at, base).tolist() for row, at in zip(x, positions, strict=True)]


def _heads_by_stacking(x: Array, positions: Array, base: float) -> Array:
    theta = np.outer(positions, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    cos, sin, a, b = np.cos(theta), np.sin(theta), x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)


ROTATE_HEADS = Exercise(
    id="06-rotary.rotate_heads",
    title="All heads at once",
    step_of=DECODER,
    signature="rotate_heads(x: array of shape (..., n, head_dim), positions: array of shape (n,), base: "
    "float) -> array of the same shape as x",
    points=2,
    minutes=10,
    difficulty=2,
    reference=lambda x, positions, base: turn_heads(x, positions, base),
    make_cases=_heads_cases,
    absolute_tolerance=1e-4,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay that of x, with all its axes in front.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.linalg.norm(value, axis=-1), np.linalg.norm(args[0], axis=-1), atol=1e-3)
            ),
            "Turning does not change lengths: every row must come out as long as it went in.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(value[..., args[1] == 0, :], args[0][..., args[1] == 0, :], atol=1e-3)
            ),
            "At position 0 all angles are 0, so a row at position 0 must come out as it went in.",
        ),
    ),
    mistakes=(
        Mistake(
            "half-layout",
            lambda x, positions, base: turn_heads(x, positions, base, half=True),
            "Your pairs are columns j and j + head_dim/2. In this decoder neighbours make a pair, columns "
            "2j and 2j + 1.",
        ),
        Mistake(
            "clockwise",
            lambda x, positions, base: turn_heads(x, positions, base, clockwise=True),
            "Every pair turns clockwise. The minus belongs before b sin in the first column of a pair.",
        ),
        Mistake(
            "base-ignored",
            lambda x, positions, base: turn_heads(x, positions, 10000.0),
            "It is right for base 10,000, and for no other. Use the base that is given.",
        ),
        Mistake(
            "row-number-as-position",
            lambda x, positions, base: turn_heads(x, np.arange(x.shape[-2]), base),
            "You turned each row by its row number. With a cache, the first row that you get is not at "
            "position 0.",
        ),
        Mistake(
            "first-position-for-all",
            lambda x, positions, base: turn_heads(x, np.full(x.shape[-2], positions[0]), base),
            "All rows were turned by the first position. Each has its own.",
        ),
        Mistake(
            "one-later",
            lambda x, positions, base: turn_heads(x, positions + 1, base),
            "Every row is turned by one position more than its own. Take the positions as they are.",
        ),
        Mistake(
            "overwritten",
            _heads_overwritten,
            "The first column of each pair is right, and then the second is computed from the new numbers. "
            "Slices of an array are views: compute both columns before you write either.",
        ),
        Mistake(
            "doubled-twice",
            lambda x, positions, base: turn_heads(x, positions, base, power=2.0),
            "The exponent is 4j/head_dim and should be 2j/head_dim: the factor 2 is in it twice.",
        ),
        Mistake(
            "j-over-dim",
            lambda x, positions, base: turn_heads(x, positions, base, power=0.5),
            "The exponent is j/head_dim and should be 2j/head_dim: the factor 2 is missing.",
        ),
        Mistake(
            "one-speed",
            lambda x, positions, base: turn_heads(x, positions, base, power=0.0),
            "All pairs turn by the position itself. Pair j has a frequency of its own.",
        ),
        Mistake(
            "halves-side-by-side",
            lambda x, positions, base: np.concatenate(
                [turn_heads(x, positions, base)[..., 0::2], turn_heads(x, positions, base)[..., 1::2]],
                axis=-1,
            ),
            "The numbers are right, but they are in the wrong columns: all first members of the pairs come "
            "first, then all second ones. Put each back into the column that it came from.",
        ),
        Mistake(
            "added",
            lambda x, positions, base: x + sinusoidal(positions, x.shape[-1], base=base),
            "You add the sinusoidal encoding: that is the first door. Here each pair of x is turned.",
        ),
        Mistake(
            "rising-frequencies",
            lambda x, positions, base: turn_heads(x, positions, base, power=-1.0),
            "Your frequencies rise from pair to pair. The minus in the exponent is missing: base to the "
            "power -2j/head_dim.",
        ),
        Mistake(
            "slow-pairs-first",
            lambda x, positions, base: turn_heads(x[..., ::-1], positions, base, clockwise=True)[..., ::-1],
            "The frequencies are in reverse order. Pair 0 is the fastest, with frequency 1.",
        ),
        Mistake(
            "counted-from-the-first-row",
            lambda x, positions, base: turn_heads(x, positions - positions[0], base),
            "The positions were counted from the first of them. Turn each row by its own position, the "
            "first row too.",
        ),
        Mistake(
            "first-head-alone",
            lambda x, positions, base: (
                turn_heads(x, positions, base)
                if x.ndim < 3
                else np.concatenate([turn_heads(x[:1], positions, base), x[1:]])
            ),
            "Only the first entry of the first axis was turned. Index from the right, x[..., 0::2], and "
            "everything in front is included.",
        ),
    ),
    alternatives=(
        _heads_row_by_row,
        _heads_by_stacking,
        lambda x, positions, base: apply_rotary(x, positions, base=base),
    ),
    hints=(
        "Make the angles an array of shape `(n, head_dim/2)`. NumPy matches it with the last two axes of "
        "`x[..., 0::2]`, and repeats it along all axes in front.",
        "Three dots stand for all axes in front: `x[..., 0::2]` are the first members of all pairs.",
        "Write the two new halves into a new array, or join them with `np.stack(..., axis=-1)` and reshape.",
    ),
)
