"""RoPE, from one pair to a whole head: Turn a whole head, or part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import BASE, FROM_A_PAIR, Generator, _theta, _turn, _turned
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import BASIC, Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies

PARTIAL, FAR = "part of the head", "far positions"


def _rotary_cases(rng: Generator) -> Iterator[Case]:
    def inputs(positions: Any, head_dim: int, rotary_dim: int) -> tuple[Array, Array, int]:
        positions = np.asarray(positions)
        return rng.normal(size=(len(positions), head_dim)), positions, rotary_dim

    yield Case("positions 0 to 4, head_dim 8", inputs(np.arange(5), 8, 8))
    yield Case("one pair", inputs([0, 1, 5], 2, 2))
    yield Case("as many positions as columns", inputs([3, 1, 4, 15], 4, 4))
    yield Case("positions from 100 on, head_dim 16", inputs(np.arange(100, 106), 16, 16))
    yield Case("out of order and negative, head_dim 6", inputs([7, -2, 0, 31], 6, 6))
    yield Case("one row, at position 2.25, head_dim 4", inputs([2.25], 4, 4))
    yield Case("the first 4 of 12 columns", inputs([2, 9, 40], 12, 4), group=PARTIAL)
    yield Case("the first 8 of 10 columns", inputs(rng.integers(0, 99, size=5), 10, 8), group=PARTIAL)
    yield Case("position 1,000,000, head_dim 8", inputs([1_000_000, 999_983], 8, 8), group=FAR)


def _rotary(x: Array, positions: Array, rotary_dim: int) -> Array:
    return _turned(x, _theta(positions, frequencies(rotary_dim)))


def _with_exponents(exponents: Callable[[Array, int], Array]) -> Callable[[Array, Array, int], Array]:
    """The rotation with other frequencies: base ** -exponents(pair numbers, rotary_dim)."""
    return lambda x, positions, rotary_dim: _turned(
        x, _theta(positions, BASE ** -exponents(np.arange(rotary_dim // 2), rotary_dim))
    )


def _mixed_layouts(x: Array, positions: Array, rotary_dim: int) -> Array:
    """Tables that stand twice side by side, with pairs that are neighbours."""
    theta = np.tile(_theta(positions, frequencies(rotary_dim)), 2)
    part, out = x[:, :rotary_dim], x.astype(np.float64)
    quarter = np.stack([-part[:, 1::2], part[:, 0::2]], axis=-1).reshape(part.shape)
    out[:, :rotary_dim] = part * np.cos(theta) + quarter * np.sin(theta)
    return out


def _bent(x: Array, positions: Array, rotary_dim: int) -> Array:
    theta = _theta(positions, frequencies(rotary_dim))
    out, a, b = x.astype(np.float64), x[:, 0:rotary_dim:2], x[:, 1:rotary_dim:2]
    out[:, 0:rotary_dim:2] = a * np.cos(theta) - b * np.sin(theta)
    out[:, 1:rotary_dim:2] = b * np.cos(theta) - a * np.sin(theta)
    return out


def _overwritten_columns(x: Array, positions: Array, rotary_dim: int) -> Array:
    theta = _theta(positions, frequencies(rotary_dim))
    out = x.astype(np.float64)
    a, b = out[:, 0:rotary_dim:2], out[:, 1:rotary_dim:2]
    a[:] = a * np.cos(theta) - b * np.sin(theta)
    b[:] = b * np.cos(theta) + a * np.sin(theta)
    return out


def _last_columns(x: Array, positions: Array, rotary_dim: int) -> Array:
    rest = x.shape[1] - rotary_dim
    return np.concatenate([x[:, :rest], _rotary(x[:, rest:], positions, rotary_dim)], axis=1)


def _rotary_by_loops(x: Array, positions: Array, rotary_dim: int) -> list[list[float]]:
    rows = []
    for row, position in zip(x.tolist(), positions.tolist(), strict=True):
        for j in range(rotary_dim // 2):
            angle = position / 10000 ** (2 * j / rotary_dim)
            row[2 * j : 2 * j + 2] = _turn(np.array(row[2 * j : 2 * j + 2]), angle).tolist()
        rows.append(row)
    return rows


def _rotary_by_repeated_tables(x: Array, positions: Array, rotary_dim: int) -> Array:
    theta = np.repeat(positions[:, None] * 10000.0 ** (-np.arange(0, rotary_dim, 2) / rotary_dim), 2, axis=1)
    part = x[:, :rotary_dim]
    quarter = np.empty_like(part)
    quarter[:, 0::2], quarter[:, 1::2] = -part[:, 1::2], part[:, 0::2]
    return np.hstack([part * np.cos(theta) + quarter * np.sin(theta), x[:, rotary_dim:]])


def _rotary_by_matrices(x: Array, positions: Array, rotary_dim: int) -> Array:
    out = x.copy()
    for row, position in enumerate(positions):
        matrix = np.eye(x.shape[1])
        for j, rate in enumerate(frequencies(rotary_dim)):
            c, s = np.cos(position * rate), np.sin(position * rate)
            matrix[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = [[c, -s], [s, c]]
        out[row] = matrix @ x[row]
    return out


def _far_is_exact(args: tuple[Any, ...], value: Any) -> bool:
    """False only where far rows are nearly right, as they are with angles in float32."""
    x, positions, rotary_dim = args
    far = np.abs(positions) >= 100_000
    error = np.abs(np.asarray(value, dtype=np.float64) - _rotary(x, positions, rotary_dim))[far]
    return not (error.size and 1e-3 < error.max() < 0.5)


def _scores_of(rows: Any) -> np.ndarray:
    """Of each row with each."""
    return np.asarray(np.inner(rows, rows))


APPLY_ROTARY = Exercise(
    id="06-rotary.apply_rotary",
    title="Turn a whole head, or part of it",
    step_of=FROM_A_PAIR,
    signature="apply_rotary(x: array of shape (n, head_dim), positions: array of shape (n,), "
    "rotary_dim: even int) -> array of shape (n, head_dim)",
    points=4,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda apply_rotary, rows, columns: heat_map(
            _scores_of(apply_rotary(np.ones((24, 16)), np.arange(24), 16)),
            rows=rows,
            columns=columns,
        ),
        axes=("position of the query", "position of the key"),
        look="Every row is the same vector, so the scores are equal along each diagonal: they depend on the "
        "offset alone.",
    ),
    reference=_rotary,
    make_cases=_rotary_cases,
    credit=((BASIC, 0.5), (PARTIAL, 0.25), (FAR, 0.25)),
    # float32 is good to 2e-4 at position 100; position 1,000,000 needs float64 angles.
    absolute_tolerance=1e-3,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay (n, head_dim): what does not turn passes through.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.linalg.norm(value, axis=1), np.linalg.norm(args[0], axis=1), atol=1e-2)
            ),
            "Turning does not change lengths: every row must come out as long as it went in.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.asarray(value)[:, args[2] :], args[0][:, args[2] :], atol=1e-9)
            ),
            "The columns from rotary_dim on must come out as they went in.",
        ),
        Property(
            _far_is_exact,
            "Far positions must be as exact as near ones. At position 1,000,000 an angle computed in "
            "float32 is off by up to about 0.06 rad. Compute it in float64.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.asarray(value)[args[1] == 0], args[0][args[1] == 0], atol=1e-3)
            ),
            "At position 0 all angles are 0, so a row at position 0 must come out as it went in.",
        ),
    ),
    mistakes=(
        Mistake(
            "half-layout",
            lambda x, positions, rotary_dim: _turned(
                x, _theta(positions, frequencies(rotary_dim)), half=True
            ),
            "Your pairs are columns j and j + rotary_dim/2: that is the half layout of LLaMA's checkpoints. "
            "Here neighbours make a pair, columns 2j and 2j + 1.",
        ),
        Mistake(
            "mixed-layouts",
            _mixed_layouts,
            "The two layouts are mixed: your pairs are neighbours, but your cosines and sines are written "
            "out twice, one copy after the other, so the two columns of a pair turn by different angles. "
            "Repeat each angle for both of its columns: np.repeat, not np.tile.",
        ),
        Mistake(
            "clockwise",
            lambda x, positions, rotary_dim: _turned(
                x, _theta(positions, frequencies(rotary_dim)), clockwise=True
            ),
            "Every pair turns clockwise. The minus belongs before b sin in the first column of a pair; the "
            "second column is b cos + a sin.",
        ),
        Mistake(
            "two-minus-signs",
            _bent,
            "Both columns of a pair have a minus before the sine, so the pair is bent instead of turned. "
            "The second column is b cos + a sin.",
        ),
        Mistake(
            "overwritten",
            _overwritten_columns,
            "The first column of each pair is right, and then the second is computed from the new numbers. "
            "Slices of an array are views: compute both columns before you write either.",
        ),
        Mistake(
            "row-number-as-position",
            lambda x, positions, rotary_dim: _rotary(x, np.arange(len(x)), rotary_dim),
            "You turned each row by its row number. Row r must turn by positions[r], which may start "
            "anywhere and come in any order.",
        ),
        Mistake(
            "doubled-twice",
            _with_exponents(lambda j, dim: 4 * j / dim),
            "The exponent is 4j/rotary_dim and should be 2j/rotary_dim. That happens when the steps 0, 2, "
            "4, ... are doubled again.",
        ),
        Mistake(
            "j-over-dim",
            _with_exponents(lambda j, dim: j / dim),
            "The exponent is j/rotary_dim and should be 2j/rotary_dim: the factor 2 is missing.",
        ),
        Mistake(
            "no-frequencies",
            _with_exponents(lambda j, dim: 0.0 * j),
            "All pairs turn by the position itself. Pair j has a frequency of its own, 10000 to the power "
            "-2j/rotary_dim.",
        ),
        Mistake(
            "frequencies-of-the-whole-head",
            lambda x, positions, rotary_dim: _turned(
                x, _theta(positions, frequencies(x.shape[1])[: rotary_dim // 2])
            ),
            "Where only part of the head turns, your frequencies are still those of the whole head. Put "
            "rotary_dim, not head_dim, into the exponent.",
        ),
        Mistake(
            "all-of-it-turned",
            lambda x, positions, rotary_dim: _rotary(x, positions, x.shape[1]),
            "The whole head turns, whatever rotary_dim says. Turn only the first rotary_dim columns, and "
            "leave the rest as it is.",
        ),
        Mistake(
            "rest-dropped",
            lambda x, positions, rotary_dim: _rotary(x, positions, rotary_dim)[:, :rotary_dim],
            "The columns that do not turn are missing. Join them to the right of those that do.",
        ),
        Mistake(
            "rest-zeroed",
            lambda x, positions, rotary_dim: (
                _rotary(x, positions, rotary_dim) * (np.arange(x.shape[1]) < rotary_dim)
            ),
            "The columns that do not turn came out as zeros. They should pass through unchanged: start from "
            "a copy of x, not from zeros.",
        ),
        Mistake(
            "last-columns",
            _last_columns,
            "You turned the last rotary_dim columns. Turn the first ones, and let the others pass.",
        ),
        Mistake(
            "added",
            lambda x, positions, rotary_dim: np.concatenate(
                [x[:, :rotary_dim] + sinusoidal(positions, rotary_dim), x[:, rotary_dim:]], axis=1
            ),
            "You add the sinusoidal encoding: that is the first door. Here each pair of x is turned.",
        ),
        Mistake(
            "rising-frequencies",
            _with_exponents(lambda j, dim: -2 * j / dim),
            "Your frequencies rise from pair to pair. The minus in the exponent is missing: 10000 to the "
            "power -2j/rotary_dim.",
        ),
        Mistake(
            "slow-pairs-first",
            _with_exponents(lambda j, dim: (2 * j / dim)[::-1]),
            "The frequencies are in reverse order. Pair 0 is the fastest, with frequency 1.",
        ),
        Mistake(
            "slowest-is-the-base",
            _with_exponents(lambda j, dim: j / max(dim // 2 - 1, 1)),
            "Your slowest pair has frequency 1/10000. The exponents are 2j/rotary_dim, which never reaches "
            "1.",
        ),
        Mistake(
            "halves-side-by-side",
            lambda x, positions, rotary_dim: np.concatenate(
                [_rotary(x, positions, rotary_dim)[:, start:rotary_dim:2] for start in (0, 1)]
                + [x[:, rotary_dim:]],
                axis=1,
            ),
            "The numbers are right, but they are in the wrong columns: all first members of the pairs come "
            "first, then all second ones. Put each back into the column that it came from.",
        ),
        Mistake(
            "counted-from-the-first-row",
            lambda x, positions, rotary_dim: _rotary(x, positions - positions[0], rotary_dim),
            "The positions were counted from that of the first row. Turn each row by its own position, the "
            "first row too.",
        ),
        Mistake(
            "one-later",
            lambda x, positions, rotary_dim: _rotary(x, positions + 1, rotary_dim),
            "Every row is turned by one position too many. Take the positions as they are: at position 0 "
            "nothing turns.",
        ),
    ),
    alternatives=(_rotary_by_loops, _rotary_by_repeated_tables, _rotary_by_matrices),
    hints=(
        "First make the angles, one for each position and pair: an array of shape `(n, rotary_dim/2)`.",
        "The first members of the pairs are `x[:, 0:rotary_dim:2]`, the second ones `x[:, 1:rotary_dim:2]`.",
        "Start with `out = x.copy()` and write the two turned halves into its columns. Both are computed "
        "from `x`, not from `out`.",
        "With `rotary_dim = head_dim` all columns turn. The frequencies are `10000.0 ** "
        "(-np.arange(0, rotary_dim, 2) / rotary_dim)`.",
    ),
)
