"""A million steps in twenty products: Any offset from these."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import Generator, turning, turns_of
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import shift_matrix
from posenc_lib.angles import frequencies


def _offset_cases(rng: Generator) -> Iterator[Case]:
    for label, turns, offset in (
        ("width 4, base 10000, 5 steps", frequencies(4), 5),
        ("width 4, base 100, no step", frequencies(4, base=100), 0),
        ("one clock, 1 step", np.asarray([0.7]), 1),
        ("a fast clock and one that runs backwards, 7 steps", np.asarray([2.4, -0.7]), 7),
        ("width 6, base 1000, 3 steps back", frequencies(6, base=1000), -3),
        ("clocks that follow no rule, 64 steps", rng.uniform(0.1, 1.5, size=2), 64),
        ("width 8, a million steps and three", frequencies(8), 1_000_003),
        ("width 4, five million steps and one back", frequencies(4), -5_000_001),
        ("random clocks, far on", rng.uniform(0.1, 1.5, size=3), int(rng.integers(5000, 500_000))),
        ("random clocks, far back", rng.uniform(0.1, 1.5, size=3), -int(rng.integers(5000, 500_000))),
    ):
        yield Case(label, (turning(turns), offset))


def _far(one_step: np.ndarray, offset: float) -> np.ndarray:
    return turning(turns_of(one_step) * offset)


def _by_squaring(one_step: np.ndarray, offset: int) -> np.ndarray:
    moved, rung = np.eye(len(one_step)), one_step if offset >= 0 else one_step.T
    left = abs(offset)
    while left:
        if left % 2:
            moved = moved @ rung
        rung, left = rung @ rung, left // 2
    return moved


def _by_halves(one_step: np.ndarray, offset: int) -> np.ndarray:
    if offset < 0:
        return _by_halves(one_step, -offset).T
    if offset == 0:
        return np.eye(len(one_step))
    half = _by_halves(one_step, offset // 2)
    return np.asarray(half @ half @ one_step if offset % 2 else half @ half)


def _highest_power(offset: int) -> int:
    return 0 if offset == 0 else int(np.sign(offset)) * 2 ** (abs(offset).bit_length() - 1)


def _digits_reversed(offset: int) -> int:
    return int(np.sign(offset)) * int(format(abs(offset), "b")[::-1], 2)


def _sum_of_rungs(one_step: np.ndarray, offset: int) -> np.ndarray:
    total, sign = np.zeros_like(one_step), int(np.sign(offset))
    for j, digit in enumerate(reversed(format(abs(offset), "b"))):
        if digit == "1":
            total += _far(one_step, sign * 2**j)
    return total


SHIFT_BY = Exercise(
    id="03-relative-position.shift_by",
    title="Any offset from these",
    step_of="A million steps in twenty products",
    signature="shift_by(one_step: array of shape (dim, dim), offset: int) -> array of shape (dim, dim)",
    points=2,
    minutes=12,
    difficulty=4,
    draws=Draws(
        lambda shift_by, rows, columns: heat_map(
            shift_by(shift_matrix(1, 16), 5), rows=rows, columns=columns
        ),
        axes=("row", "column"),
        look="Each pair has a rotation of its own on the diagonal, and everything else is 0.",
    ),
    reference=_far,
    make_cases=_offset_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == args[0].shape,
            "The matrix must be as large as the one that is given.",
            about="form",
        ),
        Property(
            lambda args, value: args[1] != 0 or bool(np.allclose(value, np.eye(len(args[0])))),
            "Zero steps move nothing: for offset 0 the matrix is the identity.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.asarray(value).T @ value, np.eye(len(args[0])), atol=1e-3)
            ),
            "The matrix must be a rotation: its transpose times itself must be the identity. In float32, "
            "rounding alone undoes that: compute in float64.",
        ),
    ),
    mistakes=(
        Mistake(
            "forwards-only",
            lambda one_step, offset: _far(one_step, abs(offset)),
            "For a negative offset your matrix goes forwards. To go back is to undo a turn, and the "
            "transpose of a rotation does that.",
        ),
        Mistake(
            "backwards",
            lambda one_step, offset: _far(one_step, -offset),
            "Your matrix goes the other way: forwards for negative offsets, and back for positive ones. The "
            "transpose belongs to the negative ones alone.",
        ),
        Mistake(
            "nothing-for-negative",
            lambda one_step, offset: _far(one_step, max(offset, 0)),
            "For a negative offset your matrix is the identity, as if a loop had not run at all. Take the "
            "transpose of the matrix for the positive offset.",
        ),
        Mistake(
            "largest-power-alone",
            lambda one_step, offset: _far(one_step, _highest_power(offset)),
            "Only the largest power of two that fits was used: 5 steps become 4. Multiply by the matrix of "
            "each power whose binary digit is 1.",
        ),
        Mistake(
            "digits-from-the-left",
            lambda one_step, offset: _far(one_step, _digits_reversed(offset)),
            "The binary digits were read from the wrong end: the first digit that is written belongs to the "
            "largest power of two. The last one belongs to the matrix of one step.",
        ),
        Mistake(
            "added-up",
            _sum_of_rungs,
            "The matrices of the powers were added up. Shifts one after the other are a product of their "
            "matrices.",
        ),
        Mistake(
            "one-step-too-many",
            lambda one_step, offset: _far(one_step, offset + 1),
            "Your matrix goes one step too far, as happens when the product begins with one_step. It "
            "begins with the identity, which is what no step at all does.",
        ),
        Mistake(
            "one-step-too-few",
            lambda one_step, offset: _far(one_step, offset - 1),
            "Your matrix goes one step too few.",
        ),
        Mistake(
            "power-of-each-number",
            lambda one_step, offset: one_step ** float(offset),
            "Each number of the matrix was raised to the power of the offset, as ** does in NumPy. The "
            "power of a matrix is a product of matrices: use @.",
        ),
        Mistake(
            "times-the-offset",
            lambda one_step, offset: offset * one_step,
            "This is the matrix of one step, times the offset. A shift by k is k steps one after the "
            "other: it is the angle that is multiplied, not the matrix.",
        ),
        Mistake(
            "twenty-digits-alone",
            lambda one_step, offset: _far(one_step, int(np.sign(offset)) * (abs(offset) % 2**20)),
            "It is right up to a million and a little more. Farther offsets come out too short, because "
            "only the twenty lowest binary digits were used. Make as many doublings as the offset has "
            "digits.",
        ),
        Mistake(
            "negated",
            lambda one_step, offset: _far(one_step, abs(offset)) * (1 if offset >= 0 else -1),
            "For a negative offset, you took the negative of the matrix. To go back is to undo a turn, and "
            "the transpose of a rotation does that.",
        ),
        Mistake(
            "highest-digit-left-out",
            lambda one_step, offset: _far(one_step, offset - _highest_power(offset)),
            "The highest binary digit was left out: 5 steps become 1. How many doublings does your loop "
            "use, and does it reach the last one?",
        ),
        Mistake(
            "lowest-digit-left-out",
            lambda one_step, offset: _far(one_step, int(np.sign(offset)) * (abs(offset) // 2 * 2)),
            "The lowest binary digit was left out, so odd offsets come out one step short.",
        ),
        Mistake(
            "digits-one-too-high",
            lambda one_step, offset: _far(one_step, 2 * offset),
            "Your matrix goes twice as far as it should: each digit was given the doubling of the next one. "
            "The last digit belongs to the matrix of one step.",
        ),
        Mistake(
            "all-doublings",
            lambda one_step, offset: _far(
                one_step, int(np.sign(offset)) * (2 ** abs(offset).bit_length() - 1 if offset else 0)
            ),
            "All the doublings were multiplied together. Use only those whose binary digit is 1.",
        ),
        Mistake(
            "digits-up-to-1024",
            lambda one_step, offset: _far(one_step, int(np.sign(offset)) * (abs(offset) % 1024)),
            "Far offsets come out too short: only the ten lowest binary digits were used. Make as many "
            "doublings as the offset has digits.",
        ),
    ),
    alternatives=(
        _by_squaring,
        _by_halves,
        lambda one_step, offset: np.linalg.matrix_power(one_step if offset >= 0 else one_step.T, abs(offset)),
    ),
    hints=(
        "13 steps are 8 + 4 + 1 steps: the binary digits of 13 are 1101. Each digit that is 1 is one of your "
        "doublings.",
        "Go through the digits from the right: `offset % 2` is the last one, and `offset // 2` takes it "
        "away.",
        "For a negative offset, make the matrix of the positive one and transpose it.",
    ),
)
