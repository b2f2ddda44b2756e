"""Exercises of `06-rotary`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies
from posenc_lib.attention import attention
from posenc_lib.exercises.drawing import Draws, arrows, curve, heat_map
from posenc_lib.exercises.exercise import BASIC, Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib.rotated.rotary import apply_rotary
from posenc_lib.scaling.rules import LinearScaling, NTKScaling, YaRNScaling

CHAPTER = "06-rotary"
BASE = 10000.0
FROM_A_PAIR = "RoPE, from one pair to a whole head"
CONVERSION = "Mend a conversion"

Generator = np.random.Generator
Rotate = Callable[[Array, Array], Array]


# --- turn_pair -------------------------------------------------------------------------------------


def _turn(pair: Array, angle: float) -> Array:
    turned = complex(*pair) * np.exp(1j * angle)
    return np.array([turned.real, turned.imag])


def _cos_sin(position: float, frequency: float) -> tuple[float, float]:
    return float(np.cos(position * frequency)), float(np.sin(position * frequency))


def _with_matrix(rows: Callable[[float, float], list[list[float]]]) -> Callable[[Array, float, float], Array]:
    """The pair times a matrix of the cosine and the sine of its angle."""
    return lambda pair, position, frequency: np.asarray(rows(*_cos_sin(position, frequency))) @ pair


def _turn_by_polar(pair: Array, position: float, frequency: float) -> list[float]:
    length, start = np.hypot(*pair), np.arctan2(pair[1], pair[0])
    angle = start + position * frequency
    return [length * np.cos(angle), length * np.sin(angle)]


def _overwritten(pair: Array, position: float, frequency: float) -> Array:
    c, s = _cos_sin(position, frequency)
    a, b = pair
    a = a * c - b * s
    b = b * c + a * s
    return np.array([a, b])


def _pair_cases(rng: Generator) -> Iterator[Case]:
    yield Case("an arrow along the first axis, a quarter turn", (np.array([1.0, 0.0]), 5, np.pi / 10))
    yield Case("an arrow along the second axis, a quarter turn", (np.array([0.0, 1.0]), 5, np.pi / 10))
    yield Case("position 0", (rng.normal(size=2), 0, 0.5))
    yield Case("position 7, frequency 0.1", (rng.normal(size=2), 7, 0.1))
    yield Case("a negative position", (rng.normal(size=2), -3, 0.25))
    yield Case("position 2.5, frequency 1", (rng.normal(size=2), 2.5, 1.0))
    yield Case("position 1,000,000", (rng.normal(size=2), 1_000_000, 0.01))
    yield Case("a long arrow", (100 * rng.normal(size=2), int(rng.integers(10, 50)), 0.3))


TURN_PAIR = Exercise(
    id=f"{CHAPTER}.turn_pair",
    title="Turn one pair",
    step_of=FROM_A_PAIR,
    signature="turn_pair(pair: array of shape (2,), position: number, frequency: number, in rad/position) "
    "-> array of shape (2,)",
    points=2,
    minutes=6,
    difficulty=1,
    draws=Draws(
        lambda turn_pair: arrows(
            np.stack([turn_pair(np.array([1.0, 0.0]), position, 0.5) for position in range(6)]),
            [str(position) for position in range(6)],
        ),
        look="The pair (1, 0) at positions 0 to 5: each step turns it by half a radian, and its length "
        "stays.",
    ),
    reference=lambda pair, position, frequency: _turn(pair, position * frequency),
    make_cases=_pair_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (2,),
            "A pair goes in and a pair comes out: return two numbers.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.isclose(np.linalg.norm(value), np.linalg.norm(args[0]), rtol=1e-4)),
            "A turn changes no length: the pair that comes out must be as long as the one that went in.",
        ),
    ),
    mistakes=(
        Mistake(
            "clockwise",
            lambda pair, position, frequency: _turn(pair, -position * frequency),
            "Your pair turns clockwise. RoPE turns counterclockwise as the position grows: the minus stands "
            "before b sin in the first number, and the second number has a plus.",
        ),
        Mistake(
            "two-minus-signs",
            _with_matrix(lambda c, s: [[c, -s], [-s, c]]),
            "Both of your numbers have a minus before the sine, so the pair does not turn but is bent. "
            "The second number is b cos + a sin, with a plus.",
        ),
        Mistake(
            "two-plus-signs",
            _with_matrix(lambda c, s: [[c, s], [s, c]]),
            "Both of your numbers have a plus before the sine, so the pair changes its length. The first "
            "number is a cos - b sin, with a minus.",
        ),
        Mistake(
            "overwritten",
            _overwritten,
            "The first number is right, and then the second is computed from the new a instead of the "
            "old one. Keep both old numbers until both new ones are done.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            _with_matrix(lambda c, s: [[s, -c], [c, s]]),
            "Sine and cosine are swapped: at position 0 your pair makes a quarter turn. There the cosine "
            "is 1, and the pair must stay as it is.",
        ),
        Mistake(
            "members-swapped",
            lambda pair, position, frequency: _turn(pair, position * frequency)[::-1],
            "The two numbers come out in the wrong order. The first is a cos - b sin, the second "
            "b cos + a sin.",
        ),
        Mistake(
            "degrees",
            lambda pair, position, frequency: _turn(pair, np.deg2rad(position * frequency)),
            "The angle was taken as degrees and converted. Position times frequency is in radians already.",
        ),
        Mistake(
            "two-pi",
            lambda pair, position, frequency: _turn(pair, 2 * np.pi * position * frequency),
            "The angle was multiplied by 2 pi, as if the frequency counted turns. It counts radians per "
            "position: leave out the 2 pi.",
        ),
        Mistake(
            "frequency-ignored",
            lambda pair, position, frequency: _turn(pair, position),
            "The angle is the position alone. Multiply it by the frequency.",
        ),
        Mistake(
            "divided-by-frequency",
            lambda pair, position, frequency: _turn(pair, position / frequency),
            "The position was divided by the frequency. Multiply the two: radians per position, times "
            "positions.",
        ),
        Mistake(
            "added",
            lambda pair, position, frequency: pair + np.array(_cos_sin(position, frequency)[::-1]),
            "You add the sine and the cosine to the pair: that is the first door, the encoding of chapter 2. "
            "Here the pair itself turns.",
        ),
    ),
    alternatives=(
        _with_matrix(lambda c, s: [[c, -s], [s, c]]),
        _turn_by_polar,
        lambda pair, position, frequency: (
            pair * np.cos(position * frequency) + np.array([-pair[1], pair[0]]) * np.sin(position * frequency)
        ),
    ),
    hints=(
        "The angle is position times frequency, in radians. What must come out for the pair (1, 0)?",
        "The new pair is (a cos - b sin, b cos + a sin).",
        "With complex numbers it is one product: (a + ib) times `np.exp(1j * angle)`. Its real and its "
        "imaginary part are the new pair.",
    ),
)


# --- apply_rotary ----------------------------------------------------------------------------------

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
    yield Case("fractional positions, head_dim 4", inputs([0.5, 2.25], 4, 4))
    yield Case("the first 4 of 12 columns", inputs([2, 9, 40], 12, 4), group=PARTIAL)
    yield Case("the first 8 of 10 columns", inputs(rng.integers(0, 99, size=5), 10, 8), group=PARTIAL)
    yield Case("position 1,000,000, head_dim 8", inputs([1_000_000, 999_983], 8, 8), group=FAR)


def _turned(x: Array, theta: Array, *, half: bool = False, clockwise: bool = False) -> Array:
    """The first 2 * pairs columns of x turned by theta, (n, pairs); the rest passes."""
    dim = 2 * theta.shape[-1]
    first, second = (
        (slice(0, dim // 2), slice(dim // 2, dim)) if half else (slice(0, dim, 2), slice(1, dim, 2))
    )
    turned = (x[:, first] + 1j * x[:, second]) * np.exp((-1j if clockwise else 1j) * theta)
    out = x.astype(np.float64)
    out[:, first], out[:, second] = turned.real, turned.imag
    return out


def _theta(positions: Array, rates: Array) -> Array:
    return np.asarray(np.asarray(positions, dtype=np.float64)[:, None] * rates)


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
    id=f"{CHAPTER}.apply_rotary",
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
        look="The same vector stands everywhere, and its scores are equal along each diagonal: they "
        "know the offset alone.",
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
            "A rotation changes no length: every row must come out as long as it went in.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.asarray(value)[:, args[2] :], args[0][:, args[2] :], atol=1e-9)
            ),
            "The columns from rotary_dim on must come out as they went in.",
        ),
        Property(
            _far_is_exact,
            "Far positions must be as exact as near ones. At position 1,000,000 an angle in float32 is off "
            "by up to some 0.06 rad, one in float64 is not.",
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
            "The two layouts are mixed: your pairs are neighbours, but your tables of cosines and sines "
            "stand twice side by side, so that the two of a pair turn by different angles. Repeat each "
            "angle for both of its columns: np.repeat, not np.tile.",
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
            "Both columns of a pair have a minus before the sine, so the pair does not turn but is bent. "
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
            "The row number was used in place of the position. Row r must turn by positions[r], which may "
            "start anywhere and come in any order.",
        ),
        Mistake(
            "doubled-twice",
            _with_exponents(lambda j, dim: 4 * j / dim),
            "The exponent is 4j/rotary_dim where it should be 2j/rotary_dim: the factor 2 is taken twice, as "
            "happens when the steps 0, 2, 4, ... are doubled again.",
        ),
        Mistake(
            "j-over-dim",
            _with_exponents(lambda j, dim: j / dim),
            "The exponent is j/rotary_dim where it should be 2j/rotary_dim: the factor 2 is missing.",
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
            "The whole head turns, whatever rotary_dim says. Turn the first rotary_dim columns and leave the "
            "rest as it is.",
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
            "The columns that do not turn came out as zeros. They pass as they are: start from a copy of x, "
            "not from zeros.",
        ),
        Mistake(
            "last-columns",
            _last_columns,
            "The last rotary_dim columns turn. It is the first ones that turn, and the last ones that pass.",
        ),
        Mistake(
            "added",
            lambda x, positions, rotary_dim: np.concatenate(
                [x[:, :rotary_dim] + sinusoidal(positions, rotary_dim), x[:, rotary_dim:]], axis=1
            ),
            "You add the sinusoidal encoding: that is the first door. Here each pair of x is turned.",
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


# --- is_relative -----------------------------------------------------------------------------------
# What is given: ways to put a position into a vector. Those that are not relative each have one bug.

WIDTH = 8
TRAINED = 512


def interleaved(x: Array, positions: Array) -> Array:
    return apply_rotary(x, positions)


def half(x: Array, positions: Array) -> Array:
    return apply_rotary(x, positions, layout="half")


def large_base(x: Array, positions: Array) -> Array:
    return apply_rotary(x, positions, base=500000.0)


def interpolated(x: Array, positions: Array) -> Array:
    return apply_rotary(x, positions, scaling=LinearScaling(8.0))


def clockwise(x: Array, positions: Array) -> Array:
    return apply_rotary(x, -np.asarray(positions))


def in_part(x: Array, positions: Array) -> Array:
    return apply_rotary(x, positions, rotary_dim=WIDTH // 2)


def unchanged(x: Array, positions: Array) -> Array:
    return np.array(x)


def added(x: Array, positions: Array) -> Array:
    return np.asarray(x + sinusoidal(np.asarray(positions), WIDTH))


def squared(x: Array, positions: Array) -> Array:
    return apply_rotary(x, np.asarray(positions) ** 2)


def growing(x: Array, positions: Array) -> Array:
    return apply_rotary(x, positions) * (1 + np.asarray(positions)[:, None] / 1000)


def clamped(x: Array, positions: Array) -> Array:
    return apply_rotary(x, np.minimum(positions, TRAINED - 1))


def wrong_sign_in_the_last_pair(x: Array, positions: Array) -> Array:
    out = apply_rotary(x, positions)
    slow = np.asarray(positions) * frequencies(WIDTH)[-1]
    out[:, -2] = x[:, -2] * np.cos(slow) + x[:, -1] * np.sin(slow)
    return out


_RELATIVE: tuple[tuple[str, Rotate], ...] = (
    ("neighbours as pairs", interleaved),
    ("columns half a head apart as pairs", half),
    ("base 500,000", large_base),
    ("positions divided by 8", interpolated),
    ("clockwise", clockwise),
    ("half of the columns turn", in_part),
)
_NOT_RELATIVE: tuple[tuple[str, Rotate], ...] = (
    ("vectors that come back as they were given", unchanged),
    ("an encoding that is added", added),
    ("angles that grow with the square of the position", squared),
    ("vectors that grow with the position", growing),
    (f"a table that ends at position {TRAINED - 1}", clamped),
    ("a wrong sign in the last pair", wrong_sign_in_the_last_pair),
)


def _rotate_cases(rng: Generator) -> Iterator[Case]:
    for label, rotate in enough_of_each(rng, _RELATIVE, _NOT_RELATIVE):
        yield Case(label, (rotate,))


def _score(rotate: Rotate, q: Array, k: Array, query: float, key: float) -> float:
    """The score of a query and a key that stand at these positions."""
    turned_q = rotate(q[None], np.array([query]))
    turned_k = rotate(k[None], np.array([key]))
    return float((turned_q @ turned_k.T)[0, 0])


def _two_vectors(seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(2, WIDTH))


def _survives(rotate: Rotate, shifts: tuple[float, ...], q: Array, k: Array) -> bool:
    scores = [_score(rotate, q, k, 9 + shift, 2 + shift) for shift in shifts]
    return bool(np.allclose(scores, scores[0], atol=1e-6))


def _sees_difference(rotate: Rotate, q: Array, k: Array) -> bool:
    return not np.isclose(_score(rotate, q, k, 9, 2), _score(rotate, q, k, 9, 5))


_SHIFTS = (0, 1, 10, 600, 5000)


def _is_relative(rotate: Rotate) -> bool:
    q, k = _two_vectors()
    return _survives(rotate, _SHIFTS, q, k) and _sees_difference(rotate, q, k)


def _exactly_equal(rotate: Rotate) -> bool:
    q, k = _two_vectors()
    scores = {_score(rotate, q, k, 9 + shift, 2 + shift) for shift in _SHIFTS}
    return len(scores) == 1 and _sees_difference(rotate, q, k)


def _keeps_lengths(rotate: Rotate) -> bool:
    x, positions = _two_vectors(), np.array([3, 4000])
    lengths = np.linalg.norm(rotate(x, positions), axis=1)
    return bool(np.allclose(lengths, np.linalg.norm(x, axis=1)))


def _first_pair_only(rotate: Rotate) -> bool:
    q, k = np.zeros((2, WIDTH))
    q[0] = k[1] = 1.0
    return _survives(rotate, _SHIFTS, q, k) and _sees_difference(rotate, q, k)


def _one_place_only(rotate: Rotate) -> bool:
    q, k = _two_vectors()
    return _survives(rotate, (0, 1, 2, 10), q, k) and _sees_difference(rotate, q, k)


def _key_moved_alone(rotate: Rotate) -> bool:
    q, k = _two_vectors()
    scores = [_score(rotate, q, k, 9, 2 + shift) for shift in _SHIFTS]
    return bool(np.allclose(scores, scores[0], atol=1e-6))


def _relative_by_basis(rotate: Rotate) -> bool:
    """The matrix R(t)^T R(u), from all basis vectors, without any random number."""
    basis = np.eye(WIDTH)

    def product(query: int, key: int) -> Array:
        return rotate(basis, np.full(WIDTH, query)) @ rotate(basis, np.full(WIDTH, key)).T

    here = product(3, 1)
    same = all(np.allclose(here, product(3 + s, 1 + s), atol=1e-6) for s in (7, 900, 20_000))
    return bool(same and not np.allclose(here, product(3, 2)))


def _relative_by_diagonals(rotate: Rotate) -> bool:
    """One query and one key at all positions: the matrix of scores has constant diagonals."""
    q, k = _two_vectors(5)
    positions = np.array([0, 1, 2, 3, 4000, 4001, 4002, 4003])
    rows = np.ones((len(positions), 1))
    scores = rotate(rows * q, positions) @ rotate(rows * k, positions).T
    near, far = scores[:4, :4], scores[4:, 4:]
    constant = all(np.ptp(np.diagonal(near, offset)) < 1e-6 for offset in range(-3, 4))
    return bool(constant and np.allclose(near, far, atol=1e-6) and np.ptp(near[0]) > 1e-3)


def _relative_by_luck(rotate: Rotate) -> bool:
    """Many random tries."""
    rng = np.random.default_rng(1)
    for _try in range(20):
        q, k = rng.normal(size=(2, WIDTH))
        (query, key), shift = rng.integers(0, 100, size=2), rng.integers(0, 10_000)
        if abs(_score(rotate, q, k, query, key) - _score(rotate, q, k, query + shift, key + shift)) > 1e-5:
            return False
    return abs(_score(rotate, q, k, 0, 0) - _score(rotate, q, k, 3, 0)) > 1e-5


IS_RELATIVE = Exercise(
    id=f"{CHAPTER}.is_relative",
    title="Prove it by test: is it relative?",
    signature="is_relative(rotate: a function from x of shape (n, 8) and positions of shape (n,) to an array "
    "of shape (n, 8)) -> bool",
    points=4,
    minutes=15,
    difficulty=4,
    reference=_is_relative,
    make_cases=_rotate_cases,
    properties=(
        Property(
            lambda args, value: isinstance(value, bool),
            "Answer with True or False.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "ignores-nothing",
            lambda rotate: _survives(rotate, _SHIFTS, *_two_vectors()),
            "Your test lets a function pass that ignores the positions: its scores survive every shift, "
            "because nothing ever moves them. Ask also that the score changes when the difference does.",
        ),
        Mistake(
            "one-place-only",
            _one_place_only,
            "Your test lets a table pass that ends at position 511, because all the positions that it "
            "compares lie before that end, or all lie after it. Compare a place near position 0 with one "
            "that is thousands of positions on.",
        ),
        Mistake(
            "first-pair-only",
            _first_pair_only,
            "Your vectors have zeros in most columns, so a bug in another pair does not show. Give every "
            "column something to do: random vectors, or all basis vectors.",
        ),
        Mistake(
            "exactly-equal",
            _exactly_equal,
            "Your test finds nothing relative, not even a right rotation. Rounding makes scores differ in "
            "the last digits: compare with np.isclose or np.allclose, not with ==.",
        ),
        Mistake(
            "lengths-only",
            _keeps_lengths,
            "Your test asks whether lengths stay. Every rotation keeps them, by whatever angle, and so does "
            "a function that does nothing. Compare scores: dot products of a turned query and a turned key.",
        ),
        Mistake(
            "key-moved-alone",
            _key_moved_alone,
            "Your test moves the key and leaves the query where it is. Then the difference of the positions "
            "changes, and a relative score must change too. Shift both by the same amount.",
        ),
        Mistake(
            "other-way-round",
            lambda rotate: not _is_relative(rotate),
            "Your test is right, and its answer the wrong way round: return True where the function is "
            "relative.",
        ),
    ),
    alternatives=(_relative_by_basis, _relative_by_diagonals, _relative_by_luck),
    hints=(
        "Choose a query and a key, different ones. `rotate(q[None], np.array([t]))` is the query at position "
        "t.",
        "The score is the dot product of the turned query and the turned key. Compute it for `(t, u)` and "
        "for `(t + s, u + s)`, with some small s and some large ones.",
        "A function that returns `x` as it is passes that test. What must happen to the score when only `u` "
        "changes?",
        "Use random vectors, so that no pair of columns is left out, and `np.isclose` to compare.",
    ),
)


# --- to_half ---------------------------------------------------------------------------------------


def _weight_cases(rng: Generator) -> Iterator[Case]:
    for heads, head_dim, width in ((2, 4, 8), (1, 6, 6), (3, 2, 6), (4, 4, 16), (2, 8, 5), (3, 6, 18)):
        # Distinct numbers, so that no reordering can pass by chance.
        rows = heads * head_dim
        numbers = rng.permutation(rows * width).reshape(rows, width) / 4
        yield Case(f"heads: {heads}, each of width {head_dim}; columns: {width}", (numbers, heads))


def _split_heads(weight: Array, heads: int) -> Array:
    return weight.reshape(heads, len(weight) // heads, -1)


def _to_half(weight: Array, heads: int) -> Array:
    per_head = _split_heads(weight, heads)
    return np.concatenate([per_head[:, 0::2], per_head[:, 1::2]], axis=1).reshape(weight.shape)


def _to_interleaved(weight: Array, heads: int) -> Array:
    first, second = np.split(_split_heads(weight, heads), 2, axis=1)
    return np.stack([first, second], axis=2).reshape(weight.shape)


def _odd_rows_first(weight: Array, heads: int) -> Array:
    per_head = _split_heads(weight, heads)
    return np.concatenate([per_head[:, 1::2], per_head[:, 0::2]], axis=1).reshape(weight.shape)


def _heads_last(weight: Array, heads: int) -> Array:
    taking_turns = weight.reshape(-1, heads, weight.shape[1])
    return np.concatenate([taking_turns[0::2], taking_turns[1::2]]).reshape(weight.shape)


def _over_the_whole_matrix(weight: Array, heads: int) -> Array:
    return np.concatenate([weight[0::2], weight[1::2]])


def _to_half_by_rows(weight: Array, heads: int) -> list[list[float]]:
    head_dim, rows = len(weight) // heads, []
    for head in range(heads):
        own = weight[head * head_dim : (head + 1) * head_dim].tolist()
        rows += own[0::2] + own[1::2]
    return rows


def _to_half_by_transpose(weight: Array, heads: int) -> Array:
    return weight.reshape(heads, -1, 2, weight.shape[1]).transpose(0, 2, 1, 3).reshape(weight.shape)


def _to_half_by_matrix(weight: Array, heads: int) -> Array:
    head_dim = len(weight) // heads
    one_head = np.eye(head_dim)[[*range(0, head_dim, 2), *range(1, head_dim, 2)]]
    return np.kron(np.eye(heads), one_head) @ weight


TO_HALF = Exercise(
    id=f"{CHAPTER}.to_half",
    title="Head by head",
    step_of=CONVERSION,
    signature="to_half(weight: array of shape (heads * head_dim, width), heads: int) "
    "-> array of the same shape",
    points=3,
    minutes=10,
    difficulty=3,
    reference=_to_half,
    make_cases=_weight_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay (heads * head_dim, width): only the order of the rows changes.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.sort(_split_heads(np.asarray(value), args[1])[..., 0], axis=1),
                    np.sort(_split_heads(args[0], args[1])[..., 0], axis=1),
                )
            ),
            "Every head must keep its own rows: a row never moves from one head to another.",
        ),
    ),
    mistakes=(
        Mistake(
            "whole-matrix",
            _over_the_whole_matrix,
            "This is the conversion that was to be mended: it reorders the rows of the whole matrix, and so "
            "mixes the heads. Reorder the rows of each head on its own.",
        ),
        Mistake(
            "other-direction",
            _to_interleaved,
            "This goes the other way, from half to interleaved. Gather the even rows of each head into its "
            "first half.",
        ),
        Mistake(
            "columns",
            lambda weight, heads: np.concatenate([weight[:, 0::2], weight[:, 1::2]], axis=1),
            "The columns were reordered. They belong to the input; the rows make the queries and keys, and "
            "it is these that have to move.",
        ),
        Mistake(
            "unchanged",
            lambda weight, heads: weight,
            "The weights came back as they were. A reshape alone moves nothing: the rows of each head have "
            "to change places.",
        ),
        Mistake(
            "odd-rows-first",
            _odd_rows_first,
            "The odd rows of each head come first. The first members of the pairs are its even rows, "
            "counted from 0: they go into the first half.",
        ),
        Mistake(
            "halves-exchanged",
            lambda weight, heads: np.roll(
                _split_heads(weight, heads), len(weight) // heads // 2, axis=1
            ).reshape(weight.shape),
            "The two halves of each head changed places, but each is still interleaved. Take every second "
            "row: 0::2 and 1::2.",
        ),
        Mistake(
            "heads-last",
            _heads_last,
            "You read the rows as (head_dim, heads), as if the heads took turns. The rows of one head stand "
            "together: reshape to (heads, head_dim, width).",
        ),
        Mistake(
            "axes-left",
            lambda weight, heads: weight.reshape(heads, -1, 2, weight.shape[1]).transpose(0, 2, 1, 3),
            "The rows are in the right order, but they lie along axes of their own. Reshape the result to "
            "the shape of weight.",
        ),
        Mistake(
            "transposed",
            lambda weight, heads: _to_half(weight, heads).T,
            "The result is right, but transposed. A row of the weights is one column of the queries: keep "
            "the shape (heads * head_dim, width).",
        ),
    ),
    alternatives=(_to_half_by_rows, _to_half_by_transpose, _to_half_by_matrix),
    hints=(
        "Try the given version with one head and with two. Which rows does it bring together?",
        "`weight.reshape(heads, head_dim, width)` gives each head its own block of rows.",
        "Inside each block, take the rows `0::2` and after them the rows `1::2`. Then go back to the old "
        "shape.",
    ),
)


# --- convert_layer ---------------------------------------------------------------------------------

Reorder = Callable[[Array, int], Array]


def _layer_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, heads: int, kv_heads: int, head_dim: int, width: int) -> Case:
        sizes = (heads * head_dim, kv_heads * head_dim)
        w_q, w_k, w_v = (
            rng.permutation(rows * width).reshape(rows, width) / 4 for rows in (*sizes, sizes[1])
        )
        b_q, b_k = (rng.permutation(rows) / 2 for rows in sizes)
        return Case(label, (w_q, w_k, w_v, b_q, b_k, heads, kv_heads))

    yield case("2 query heads, 2 heads of keys, width 4", 2, 2, 4, 6)
    yield case("4 query heads share 2 heads of keys, width 4", 4, 2, 4, 8)
    yield case("6 query heads share 1 head of keys, width 6", 6, 1, 6, 5)
    yield case("one head, width 8", 1, 1, 8, 4)
    heads = int(rng.integers(2, 5))
    yield case("3 heads of keys, and a multiple of query heads", 3 * heads, 3, 6, 7)


def _column(reorder: Reorder) -> Reorder:
    """The same for a bias, which has one number per row."""
    return lambda bias, heads: reorder(bias[:, None], heads)[:, 0]


def _unchanged(weight: Array, heads: int) -> Array:
    return weight


def _layer_with(
    *,
    q: Reorder = _to_half,
    k: Reorder = _to_half,
    v: Reorder = _unchanged,
    b_q: Reorder = _to_half,
    b_k: Reorder = _to_half,
    for_keys: str = "kv_heads",
) -> Callable[..., tuple[Array, ...]]:
    def convert(
        w_q: Array, w_k: Array, w_v: Array, bias_q: Array, bias_k: Array, heads: int, kv_heads: int
    ) -> tuple[Array, ...]:
        few = heads if for_keys == "heads" else kv_heads
        return (
            q(w_q, heads),
            k(w_k, few),
            v(w_v, few),
            _column(b_q)(bias_q, heads),
            _column(b_k)(bias_k, few),
        )

    return convert


def _keys_as_many_as_queries(
    w_q: Array, w_k: Array, w_v: Array, b_q: Array, b_k: Array, heads: int, kv_heads: int
) -> tuple[Array, ...]:
    """The keys' rows cut into as many heads as there are of queries, as far as that goes."""

    def forced(weight: Array) -> Array:
        rows = np.arange(len(weight)).reshape(heads, -1) if len(weight) % heads == 0 else None
        if rows is None:
            return weight
        return weight[np.concatenate([np.concatenate([each[0::2], each[1::2]]) for each in rows])]

    return _to_half(w_q, heads), forced(w_k), w_v, _column(_to_half)(b_q, heads), forced(b_k)


def _layer_by_index(
    w_q: Array, w_k: Array, w_v: Array, b_q: Array, b_k: Array, heads: int, kv_heads: int
) -> list[Array]:
    head_dim = len(w_q) // heads
    inside = np.arange(head_dim).reshape(-1, 2).T.ravel()
    of_q, of_k = ((head_dim * np.arange(count)[:, None] + inside).ravel() for count in (heads, kv_heads))
    return [w_q[of_q], w_k[of_k], w_v, b_q[of_q], b_k[of_k]]


CONVERT_LAYER = Exercise(
    id=f"{CHAPTER}.convert_layer",
    title="Convert a layer with shared keys",
    step_of=CONVERSION,
    signature="convert_layer(w_q, w_k, w_v: (rows, width), b_q, b_k: (rows,), heads: int, kv_heads: int) "
    "-> the five arrays, as the new layout wants them",
    points=2,
    minutes=10,
    difficulty=3,
    parts=(
        "the weights of the queries",
        "the weights of the keys",
        "the weights of the values",
        "the bias of the queries",
        "the bias of the keys",
    ),
    reference=_layer_with(),
    make_cases=_layer_cases,
    mistakes=(
        Mistake(
            "biases-left",
            _layer_with(b_q=_unchanged, b_k=_unchanged),
            "The weights are right, and the biases are as they were. A bias adds one number to each column "
            "of the queries: its numbers have to change places as the rows of the weights do.",
        ),
        Mistake(
            "values-too",
            _layer_with(v=_to_half),
            "You reordered the values as well. Nothing turns them, and the next matrix expects their old "
            "order: leave them as they are.",
        ),
        Mistake(
            "queries-alone",
            _layer_with(k=_unchanged, b_k=_unchanged),
            "Only the queries have a new order. Then the numbers of a query meet the wrong numbers of a "
            "key: both must be reordered in the same way.",
        ),
        Mistake(
            "keys-alone",
            _layer_with(q=_unchanged, b_q=_unchanged),
            "Only the keys have a new order. Then the numbers of a key meet the wrong numbers of a query: "
            "both must be reordered in the same way.",
        ),
        Mistake(
            "keys-as-many-as-queries",
            _keys_as_many_as_queries,
            "The rows of the keys were cut into as many heads as there are of queries. Several query heads "
            "share one head of keys here: the keys have kv_heads of them.",
        ),
        Mistake(
            "queries-as-few-as-keys",
            lambda w_q, w_k, w_v, b_q, b_k, heads, kv_heads: _layer_with()(
                w_q, w_k, w_v, b_q, b_k, kv_heads, kv_heads
            ),
            "The rows of the queries were cut into as few heads as there are of keys. The queries have "
            "heads of them, and the keys kv_heads.",
        ),
        Mistake(
            "other-direction",
            _layer_with(q=_to_interleaved, k=_to_interleaved, b_q=_to_interleaved, b_k=_to_interleaved),
            "This goes the other way, from half to interleaved. Gather the even rows of each head into its "
            "first half.",
        ),
        Mistake(
            "biases-over-all-heads",
            _layer_with(b_q=lambda bias, heads: _to_half(bias, 1), b_k=lambda bias, heads: _to_half(bias, 1)),
            "The weights are right. But each bias was reordered as one long head: reorder the numbers of "
            "each head on their own.",
        ),
        Mistake(
            "nothing-changed",
            _layer_with(q=_unchanged, k=_unchanged, b_q=_unchanged, b_k=_unchanged),
            "All five came back as they were. What makes queries and keys has to change its order.",
        ),
    ),
    alternatives=(
        _layer_by_index,
        lambda *layer: list(_layer_with()(*layer)),
        lambda *layer: tuple(each.tolist() for each in _layer_with()(*layer)),
    ),
    hints=(
        "What turns, and what does not? A value is mixed, and never turned.",
        "Your `to_half` takes weights of two axes. A bias becomes such a thing with `b_q[:, None]`, and one "
        "again with `[:, 0]`.",
        "The queries are cut into `heads`, the keys into `kv_heads`.",
    ),
)


# --- aimed_query -----------------------------------------------------------------------------------


def _aim_cases(rng: Generator) -> Iterator[Case]:
    for label, dim, offset, base in (
        ("one pair, three back", 2, 3, 10000.0),
        ("two pairs, 40 back", 4, 40, 10000.0),
        ("eight pairs, one back, base 300", 16, 1, 300.0),
        ("three pairs, offset 0", 6, 0, 10000.0),
        ("four pairs, 5 ahead", 8, -5, 10000.0),
        ("five pairs, far back, base 500,000", 10, int(rng.integers(1000, 9000)), 500_000.0),
    ):
        yield Case(label, (rng.normal(size=dim), offset, base))


def _turned_by(x: Array, position: float, base: float, layout: str = "interleaved") -> Array:
    return np.asarray(apply_rotary(x[None], np.array([position]), base=base, layout=layout)[0])


def _aimed_by_pairs(key: Array, offset: int, base: float) -> list[float]:
    query = []
    for j in range(len(key) // 2):
        angle = offset * base ** (-2 * j / len(key))
        a, b = key[2 * j], key[2 * j + 1]
        query += [a * np.cos(angle) + b * np.sin(angle), b * np.cos(angle) - a * np.sin(angle)]
    return [float(each) for each in query]


def _aimed_by_matrix(key: Array, offset: int, base: float) -> Array:
    """The matrix that takes a key to where it stands as seen from the query, transposed."""
    turn = apply_rotary(np.eye(len(key)), np.full(len(key), offset), base=base)
    return np.asarray(turn @ key)


AIMED_QUERY = Exercise(
    id=f"{CHAPTER}.aimed_query",
    title="Aim a query",
    signature="aimed_query(key: array of shape (dim,), offset: int, base: float) -> array of shape (dim,)",
    points=3,
    minutes=12,
    difficulty=3,
    reference=lambda key, offset, base: _turned_by(key, -offset, base),
    make_cases=_aim_cases,
    absolute_tolerance=1e-4,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The query must be as wide as the key.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.hypot(value[0::2], value[1::2]), np.hypot(args[0][0::2], args[0][1::2]), atol=1e-3
                )
            ),
            "Each pair of the query must be as long as that pair of the key.",
        ),
    ),
    mistakes=(
        Mistake(
            "the-other-way",
            lambda key, offset, base: _turned_by(key, offset, base),
            "Your query looks just as far, but ahead: its score peaks where the key stands after it. Turn "
            "the other way.",
        ),
        Mistake(
            "the-key-itself",
            lambda key, offset, base: np.array(key),
            "This is the key. Its score with itself peaks at offset 0, where all its waves have their "
            "crests.",
        ),
        Mistake(
            "half-layout",
            lambda key, offset, base: _turned_by(key, -offset, base, layout="half"),
            "You turned columns j and j + dim/2 together. Here neighbours make a pair, columns 2j and 2j + "
            "1.",
        ),
        Mistake(
            "one-angle-for-all",
            lambda key, offset, base: np.asarray(
                _turned(key[None], np.full((1, len(key) // 2), float(offset)), clockwise=True)[0]
            ),
            "All pairs were turned by the offset itself. Each pair has a frequency of its own.",
        ),
        Mistake(
            "mirrored",
            lambda key, offset, base: (
                _turned_by(key, offset, base) * np.where(np.arange(len(key)) % 2, -1.0, 1.0)
            ),
            "Your query is the mirror image of the right one when the key is one too: you have used the "
            "conjugate of the key. Turn the key as it is.",
        ),
        Mistake(
            "trough",
            lambda key, offset, base: -_turned_by(key, -offset, base),
            "The score has its deepest trough at this offset, not its crest: your query points away from "
            "the key.",
        ),
        Mistake(
            "base-ignored",
            lambda key, offset, base: _turned_by(key, -offset, 10000.0),
            "It is right for base 10,000, and for no other. Use the base that is given.",
        ),
        Mistake(
            "length-one",
            lambda key, offset, base: _turned_by(key, -offset, base) / np.linalg.norm(key),
            "The direction is right, and the query has length 1. Each of its pairs shall be as long as the "
            "key's.",
        ),
        Mistake(
            "one-too-far",
            lambda key, offset, base: _turned_by(key, -offset - 1, base),
            "Your query looks one further back than it should. The offset is the query's position minus the "
            "key's.",
        ),
        Mistake(
            "doubled-twice",
            lambda key, offset, base: _turned_by(key, -offset, base**2),
            "The exponent of the base is 4j/dim where it should be 2j/dim.",
        ),
    ),
    alternatives=(
        _aimed_by_pairs,
        _aimed_by_matrix,
        lambda *args: _turned_by(args[0], -args[1], args[2]).tolist(),
    ),
    hints=(
        "Take one pair, as two arrows. When is their dot product as high as it can be? When they point the "
        "same way. That has to happen *after* both were turned.",
        "Put the key at position 0 and the query at position `offset`. Turned by its own angle, the query "
        "must then point where the key points.",
        "So turn each pair of the key back, by `offset` times its frequency.",
    ),
)


# --- checkpoint_facts ------------------------------------------------------------------------------

MYSTERY_DIM = 16
_LAYOUTS = ("interleaved", "half")


@dataclass(frozen=True)
class _Rotation:
    """A checkpoint's rotation, of which nobody says how it was made."""

    layout: str
    base: float
    columns: int

    def __call__(self, x: Array, positions: Array) -> Array:
        turned = apply_rotary(
            np.asarray(x, dtype=np.float64),
            np.asarray(positions),
            base=self.base,
            layout=self.layout,
            rotary_dim=self.columns,
        )
        return np.asarray(turned)


def _checkpoint_cases(rng: Generator) -> Iterator[Case]:
    facts = [
        ("half", 10_000.0, MYSTERY_DIM),
        ("interleaved", 10_000.0, MYSTERY_DIM),
        ("half", 500_000.0, MYSTERY_DIM),
        ("interleaved", 10_000.0, 4),
        ("half", 1_000_000.0, 8),
        ("interleaved", 300.0, 12),
        ("half", 10_000.0, 4),
    ]
    for _ in range(3):
        layout, columns = str(rng.choice(_LAYOUTS)), int(2 * rng.integers(2, 9))
        facts.append((layout, float(rng.integers(1000, 1_000_000)), columns))
    for number, each in enumerate(facts, start=1):
        yield Case(f"checkpoint {number}", (_Rotation(*each), MYSTERY_DIM))


def _angle_of_pair(rotate: Rotate, head_dim: int, first: int, second: int, position: float = 1.0) -> float:
    x = np.eye(head_dim)[[first]]
    row = rotate(x, np.array([position]))[0]
    return float(np.arctan2(row[second], row[first]))


Facts = tuple[str, float, int]


def _facts(rotate: Rotate, head_dim: int) -> Facts:
    basis = np.eye(head_dim)
    turned = rotate(basis, np.ones(head_dim))
    columns = int((np.abs(turned - basis).max(axis=1) > 1e-9).sum())
    partner = int(np.abs(turned[0, 1:]).argmax()) + 1
    layout = "interleaved" if partner == 1 else "half"
    # Pair 1 turns by base ** (-2 / columns) in one position.
    first, second = (2, 3) if layout == "interleaved" else (1, 1 + columns // 2)
    return layout, _angle_of_pair(rotate, head_dim, first, second) ** (-columns / 2), columns


def _facts_but(change: Callable[[str, float, int], Facts]) -> Callable[[Rotate, int], Facts]:
    """The facts, with some of them told otherwise."""
    return lambda rotate, head_dim: change(*_facts(rotate, head_dim))


def _other_layout(layout: str) -> str:
    return "half" if layout == "interleaved" else "interleaved"


def _seen_to_move(base: float, columns: int, least: float = 1e-3) -> int:
    """Columns whose pair turns by at least so many radians at position 1."""
    pairs = np.arange(columns // 2)
    return int(2 * (base ** (-2 * pairs / columns) > least).sum())


def _facts_far_away(rotate: Rotate, head_dim: int) -> Facts:
    """Layout and share from a far position, the base from the slowest pair."""
    turned = rotate(np.eye(head_dim), np.full(head_dim, 1000.0))
    columns = int((np.abs(turned - np.eye(head_dim)).max(axis=1) > 1e-9).sum())
    interleaved = abs(turned[0, 1]) > 1e-9
    last = (columns - 2, columns - 1) if interleaved else (columns // 2 - 1, columns - 1)
    slowest = _angle_of_pair(rotate, head_dim, *last)
    return "interleaved" if interleaved else "half", slowest ** (-columns / (columns - 2)), columns


def _facts_by_trying(rotate: Rotate, head_dim: int) -> Facts:
    """The share from one random row; the layout by trying both; the base from where each pair has come."""
    x = np.random.default_rng(1).normal(size=(1, head_dim))
    moved = rotate(x, np.array([1.0]))
    columns = int((np.abs(moved - x) > 1e-9).sum())
    tried = []
    for layout in _LAYOUTS:
        first, second = (
            (slice(0, columns, 2), slice(1, columns, 2))
            if layout == "interleaved"
            else (slice(0, columns // 2), slice(columns // 2, columns))
        )
        ratio = (moved[0, first] + 1j * moved[0, second]) / (x[0, first] + 1j * x[0, second])
        tried.append((float(np.abs(np.abs(ratio) - 1).max()), layout, np.angle(ratio)))
    _, layout, angles = min(tried, key=lambda each: each[0])
    return layout, float(angles[1] ** (-columns / 2)), columns


CHECKPOINT_FACTS = Exercise(
    id=f"{CHAPTER}.checkpoint_facts",
    title="The mystery checkpoint",
    signature="checkpoint_facts(rotate: a function from x of shape (n, head_dim) and positions of shape "
    "(n,) to an array of shape (n, head_dim), head_dim: int) -> layout, base, columns",
    points=4,
    minutes=18,
    difficulty=4,
    parts=("the layout", "the base", "the number of columns that turn"),
    reference=_facts,
    make_cases=_checkpoint_cases,
    relative_tolerance=1e-3,
    mistakes=(
        Mistake(
            "other-layout",
            _facts_but(lambda layout, base, columns: (_other_layout(layout), base, columns)),
            "Base and columns are right, and the layout is the other one. Put a 1 into column 0 alone: into "
            "which second column does the turn carry some of it? Its neighbour means interleaved.",
        ),
        Mistake(
            "always-half",
            _facts_but(lambda layout, base, columns: ("half", base, columns)),
            "You call every layout half. Put a 1 into column 0 alone: into which second column does the turn "
            "carry some of it?",
        ),
        Mistake(
            "always-the-usual-base",
            _facts_but(lambda layout, base, columns: (layout, BASE, columns)),
            "You say base 10,000 for every checkpoint. Read how far a pair other than the first turns in one "
            "position.",
        ),
        Mistake(
            "slow-columns-missed",
            _facts_but(lambda layout, base, columns: (layout, base, _seen_to_move(base, columns))),
            "You miss columns that turn very slowly. At position 1 the slowest pair may move by less than a "
            "hundred-thousandth: look at a far position, or for any change at all.",
        ),
        Mistake(
            "whole-head",
            _facts_but(lambda layout, base, columns: (layout, base, MYSTERY_DIM)),
            "You say for every checkpoint that the whole head turns. Some columns may come out as they went "
            "in.",
        ),
        Mistake(
            "pairs-counted",
            _facts_but(lambda layout, base, columns: (layout, base, columns // 2)),
            "You count pairs. Count the columns: each pair has two.",
        ),
        Mistake(
            "columns-that-pass",
            _facts_but(lambda layout, base, columns: (layout, base, MYSTERY_DIM - columns)),
            "You count the columns that pass. Count those that turn.",
        ),
        Mistake(
            "exponent-of-the-whole-head",
            _facts_but(lambda layout, base, columns: (layout, base ** (MYSTERY_DIM / columns), columns)),
            "The base is right where the whole head turns. Where a part of it does, the exponent counts in "
            "the columns that turn, and not in head_dim.",
        ),
        Mistake(
            "exponent-without-the-two",
            _facts_but(lambda layout, base, columns: (layout, base**2, columns)),
            "Your base is the square of the right one. Pair 1 has the frequency base to the power "
            "-2/columns.",
        ),
        Mistake(
            "upside-down",
            _facts_but(lambda layout, base, columns: (layout, 1 / base, columns)),
            "Your base is 1 divided by the right one: a sign is missing in the exponent.",
        ),
        Mistake(
            "wavelength",
            _facts_but(lambda layout, base, columns: (layout, 2 * np.pi * base ** (2 / columns), columns)),
            "This is the wavelength of pair 1, in positions. Solve its frequency, base to the power "
            "-2/columns, for the base.",
        ),
    ),
    alternatives=(
        _facts_far_away,
        _facts_by_trying,
        lambda rotate, head_dim: list(_facts(rotate, head_dim)),
    ),
    hints=(
        "Feed it rows that have a single 1, `np.eye(head_dim)`, all at position 1. Row c of the result says "
        "where column c has gone.",
        "A column that turns has a cosine left on the diagonal, and a sine in the column of its partner. "
        "Slow pairs hide well: their cosine is 1 to ten digits, their sine is not 0.",
        "Pair 0 turns by 1 radian, whatever the base. Pair 1 turns by base to the power -2/columns: "
        "`np.arctan2` of its sine and cosine is that number.",
    ),
)


# --- rotate_heads ----------------------------------------------------------------------------------

DECODER = "Your decoder turns its queries and keys"


def _heads_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, shape: tuple[int, ...], positions: Any, base: float) -> Case:
        return Case(label, (rng.normal(size=shape), np.asarray(positions), base))

    yield case("two heads, positions 0 to 4", (2, 5, 8), np.arange(5), 10000.0)
    yield case("one row, without heads, at position 7", (1, 4), [7], 10000.0)
    yield case("four heads, one token at position 19, base 300", (4, 1, 6), [19], 300.0)
    yield case("as many heads as tokens, positions from 100 on", (3, 3, 4), [100, 101, 102], 10000.0)
    yield case("texts and heads in front, base 500,000", (2, 3, 4, 8), np.arange(50, 54), 500_000.0)
    some = np.sort(rng.integers(0, 900, size=6))
    yield case("random positions, base 1,000", (2, 6, 10), some, 1000.0)


def _turn_heads(
    x: Array,
    positions: Array,
    base: float,
    *,
    half: bool = False,
    clockwise: bool = False,
    power: float = 1.0,
) -> Array:
    dim = x.shape[-1]
    theta = np.asarray(positions, dtype=float)[..., None] * base ** (-power * np.arange(0, dim, 2) / dim)
    first, second = (
        (slice(0, dim // 2), slice(dim // 2, dim)) if half else (slice(0, dim, 2), slice(1, dim, 2))
    )
    turned = (x[..., first] + 1j * x[..., second]) * np.exp((-1j if clockwise else 1j) * theta)
    out = np.array(x, dtype=np.float64)
    out[..., first], out[..., second] = turned.real, turned.imag
    return out


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
    return [_turned_by(row, at, base).tolist() for row, at in zip(x, positions, strict=True)]


def _heads_by_stacking(x: Array, positions: Array, base: float) -> Array:
    theta = np.outer(positions, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    cos, sin, a, b = np.cos(theta), np.sin(theta), x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)


ROTATE_HEADS = Exercise(
    id=f"{CHAPTER}.rotate_heads",
    title="All heads at once",
    step_of=DECODER,
    signature="rotate_heads(x: array of shape (..., n, head_dim), positions: array of shape (n,), base: "
    "float) -> array of the same shape as x",
    points=2,
    minutes=10,
    difficulty=2,
    reference=lambda x, positions, base: _turn_heads(x, positions, base),
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
            "A rotation changes no length: every row must come out as long as it went in.",
        ),
    ),
    mistakes=(
        Mistake(
            "half-layout",
            lambda x, positions, base: _turn_heads(x, positions, base, half=True),
            "Your pairs are columns j and j + head_dim/2. In this decoder neighbours make a pair, columns "
            "2j and 2j + 1.",
        ),
        Mistake(
            "clockwise",
            lambda x, positions, base: _turn_heads(x, positions, base, clockwise=True),
            "Every pair turns clockwise. The minus belongs before b sin in the first column of a pair.",
        ),
        Mistake(
            "base-ignored",
            lambda x, positions, base: _turn_heads(x, positions, 10000.0),
            "It is right for base 10,000, and for no other. Use the base that is given.",
        ),
        Mistake(
            "row-number-as-position",
            lambda x, positions, base: _turn_heads(x, np.arange(x.shape[-2]), base),
            "The row number was used in place of the position. With a cache, the first row that you get "
            "does not stand at position 0.",
        ),
        Mistake(
            "first-position-for-all",
            lambda x, positions, base: _turn_heads(x, np.full(x.shape[-2], positions[0]), base),
            "All rows were turned by the first of the positions. Each has its own.",
        ),
        Mistake(
            "one-later",
            lambda x, positions, base: _turn_heads(x, positions + 1, base),
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
            lambda x, positions, base: _turn_heads(x, positions, base, power=2.0),
            "The exponent is 4j/head_dim where it should be 2j/head_dim: the factor 2 is taken twice.",
        ),
        Mistake(
            "j-over-dim",
            lambda x, positions, base: _turn_heads(x, positions, base, power=0.5),
            "The exponent is j/head_dim where it should be 2j/head_dim: the factor 2 is missing.",
        ),
        Mistake(
            "one-speed",
            lambda x, positions, base: _turn_heads(x, positions, base, power=0.0),
            "All pairs turn by the position itself. Pair j has a frequency of its own.",
        ),
        Mistake(
            "halves-side-by-side",
            lambda x, positions, base: np.concatenate(
                [_turn_heads(x, positions, base)[..., 0::2], _turn_heads(x, positions, base)[..., 1::2]],
                axis=-1,
            ),
            "The numbers are right and stand in the wrong columns: all first members of the pairs come "
            "first, then all second ones. Put each back into the column that it came from.",
        ),
        Mistake(
            "added",
            lambda x, positions, base: x + sinusoidal(positions, x.shape[-1], base=base),
            "You add the sinusoidal encoding: that is the first door. Here each pair of x is turned.",
        ),
    ),
    alternatives=(
        _heads_row_by_row,
        _heads_by_stacking,
        lambda x, positions, base: apply_rotary(x, positions, base=base),
    ),
    hints=(
        "Angles are an array of shape `(n, head_dim/2)`. NumPy lines it up with the last two axes of `x[..., "
        "0::2]`, and repeats it for all axes in front.",
        "Three dots stand for all axes in front: `x[..., 0::2]` are the first members of all pairs.",
        "Write the two new halves into a new array, or join them with `np.stack(..., axis=-1)` and reshape.",
    ),
)


# --- rotary_attention ------------------------------------------------------------------------------


def _decoder_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, heads: int, past: int, new: int, head_dim: int, base: float) -> Case:
        q, k, v = rng.normal(size=(3, heads, new, head_dim))
        old_k, old_v = rng.normal(size=(2, heads, past, head_dim))
        return Case(label, (q, k, v, _turn_heads(old_k, np.arange(past), base), old_v, base))

    yield case("an empty cache, four tokens", 2, 0, 4, 8, 10000.0)
    yield case("five tokens in the cache, one new", 2, 5, 1, 8, 10000.0)
    yield case("three tokens in the cache, three new", 2, 3, 3, 4, 10000.0)
    yield case("one head, one token in the cache, two new, base 300", 1, 1, 2, 6, 300.0)
    yield case("700 tokens in the cache, two new", 2, 700, 2, 4, 10000.0)
    past, new = rng.integers(4, 12, size=2).tolist()
    yield case("some in the cache, some new", 3, past, new, 10, 1000.0)


def _softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _attend(
    q: Array,
    k: Array,
    v: Array,
    cached_k: Array,
    cached_v: Array,
    scale: float | None = None,
    reach: Any = "past",
) -> Array:
    """Attention of turned queries to the cache and the turned new keys; `reach`: of the causal mask."""
    keys, values = np.concatenate([cached_k, k], axis=-2), np.concatenate([cached_v, v], axis=-2)
    scores = q @ np.swapaxes(keys, -1, -2) / (scale or np.sqrt(q.shape[-1]))
    new, every = scores.shape[-2:]
    if reach is not None:
        seen = np.tri(new, every, k=every - new if reach == "past" else reach, dtype=bool)
        scores = np.where(seen, scores, -np.inf)
    return np.asarray(_softmax(scores) @ values)


def _decoder_with(
    query_at: Callable[[int, int], Array] | None = lambda past, new: past + np.arange(new),
    key_at: Callable[[int, int], Array] | None = lambda past, new: past + np.arange(new),
    *,
    store_turned: bool = True,
    turn_cache: bool = False,
    turn_values: bool = False,
    **attending: Any,
) -> Callable[..., tuple[Array, Array, Array]]:
    """Rotary attention with positions that are functions of (past, new); None: not turned."""

    def attend(
        q: Array, k: Array, v: Array, cached_k: Array, cached_v: Array, base: float
    ) -> tuple[Array, Array, Array]:
        past, new = cached_k.shape[-2], k.shape[-2]
        turned_q = q if query_at is None else _turn_heads(q, query_at(past, new), base)
        turned_k = k if key_at is None else _turn_heads(k, key_at(past, new), base)
        if turn_values:
            v = _turn_heads(v, past + np.arange(new), base)
        seen = _turn_heads(cached_k, np.arange(past), base) if turn_cache else cached_k
        stored = turned_k if store_turned else k
        return (
            _attend(turned_q, turned_k, v, seen, cached_v, **attending),
            np.concatenate([cached_k, stored], axis=-2),
            np.concatenate([cached_v, v], axis=-2),
        )

    return attend


def _new_tokens_first(
    q: Array, k: Array, v: Array, cached_k: Array, cached_v: Array, base: float
) -> tuple[Array, Array, Array]:
    at = cached_k.shape[-2] + np.arange(k.shape[-2])
    q, k = _turn_heads(q, at, base), _turn_heads(k, at, base)
    keys, values = np.concatenate([k, cached_k], axis=-2), np.concatenate([v, cached_v], axis=-2)
    return _attend(q, cached_k, cached_v, k, v), keys, values


def _decoder_one_by_one(
    q: Array, k: Array, v: Array, cached_k: Array, cached_v: Array, base: float
) -> tuple[Array, Array, Array]:
    """As a model that writes: each token joins the cache, then looks at it."""
    rows = []
    for t in range(q.shape[-2]):
        at, here = np.array([cached_k.shape[-2]]), slice(t, t + 1)
        cached_k = np.concatenate([cached_k, apply_rotary(k[:, here], at, base=base)], axis=1)
        cached_v = np.concatenate([cached_v, v[:, here]], axis=1)
        weights = _softmax(
            apply_rotary(q[:, here], at, base=base) @ cached_k.swapaxes(1, 2) / q.shape[-1] ** 0.5
        )
        rows.append(weights @ cached_v)
    return np.concatenate(rows, axis=1), cached_k, cached_v


def _decoder_by_library(
    q: Array, k: Array, v: Array, cached_k: Array, cached_v: Array, base: float
) -> tuple[Array, Array, Array]:
    at = cached_k.shape[-2] + np.arange(k.shape[-2])
    keys = np.concatenate([cached_k, apply_rotary(k, at, base=base)], axis=-2)
    values = np.concatenate([cached_v, v], axis=-2)
    return attention(apply_rotary(q, at, base=base), keys, values, causal=True), keys, values


ROTARY_ATTENTION = Exercise(
    id=f"{CHAPTER}.rotary_attention",
    title="Attend, and go on where the cache ends",
    step_of=DECODER,
    adds="Your decoder gets rotation of its queries and keys, at positions that go on where the cache ends.",
    signature="rotary_attention(q, k, v: (heads, new, head_dim), cached_k, cached_v: (heads, past, "
    "head_dim), base: float) -> output (heads, new, head_dim), keys and values (heads, past + new, "
    "head_dim)",
    points=4,
    minutes=18,
    difficulty=4,
    parts=("the output", "the keys of the cache", "the values of the cache"),
    reference=_decoder_with(),
    make_cases=_decoder_cases,
    absolute_tolerance=1e-4,
    mistakes=(
        Mistake(
            "positions-from-0",
            _decoder_with(lambda past, new: np.arange(new), lambda past, new: np.arange(new)),
            "The new tokens are counted from 0, as if the cache were empty. They come after what it holds.",
        ),
        Mistake(
            "one-too-far",
            _decoder_with(
                lambda past, new: past + 1 + np.arange(new), lambda past, new: past + 1 + np.arange(new)
            ),
            "The new positions start one too late. A cache of n tokens holds positions 0 to n - 1, so the "
            "next one stands at n.",
        ),
        Mistake(
            "heads-counted",
            lambda q, k, v, cached_k, cached_v, base: _decoder_with(
                lambda past, new: len(cached_k) + np.arange(new),
                lambda past, new: len(cached_k) + np.arange(new),
            )(q, k, v, cached_k, cached_v, base),
            "The new positions start at the number of heads: the length of an array is that of its first "
            "axis. The tokens stand along the last but one.",
        ),
        Mistake(
            "queries-from-0",
            _decoder_with(lambda past, new: np.arange(new)),
            "The keys are right, but the queries are counted from 0. The query and the key of a token share "
            "one position.",
        ),
        Mistake(
            "one-position-for-all",
            _decoder_with(lambda past, new: np.full(new, past), lambda past, new: np.full(new, past)),
            "All new tokens got one and the same position. They follow each other.",
        ),
        Mistake(
            "cache-turned-again",
            _decoder_with(turn_cache=True),
            "The keys of the cache were turned a second time. They were turned when they were stored: use "
            "them as they are.",
        ),
        Mistake(
            "stored-unturned",
            _decoder_with(store_turned=False),
            "The output is right, but the new keys are stored as they were before the turn. The next call "
            "would take them for turned ones.",
        ),
        Mistake(
            "keys-not-turned",
            _decoder_with(key_at=None),
            "The new keys were not turned. Only those of the cache are turned already.",
        ),
        Mistake(
            "queries-not-turned",
            _decoder_with(query_at=None),
            "The queries were not turned. A score depends on the difference of two positions, so queries "
            "and keys both have to be turned.",
        ),
        Mistake(
            "nothing-turned",
            _decoder_with(query_at=None, key_at=None),
            "Neither the new queries nor the new keys were turned.",
        ),
        Mistake(
            "values-turned",
            _decoder_with(turn_values=True),
            "The values were turned as well. They are what is mixed, and stay as they are.",
        ),
        Mistake(
            "sees-the-future",
            _decoder_with(reach=None),
            "A new token sees the new ones that come after it. Each sees the cache, itself, and the new "
            "tokens before it.",
        ),
        Mistake(
            "mask-forgets-the-cache",
            _decoder_with(reach=0),
            "Your mask counts from the first key of the cache, so the first new token sees one key alone. "
            "It sees all of the cache and itself.",
        ),
        Mistake(
            "new-tokens-first",
            _new_tokens_first,
            "The new keys and values come before those of the cache. Keep the order of the text: the cache "
            "first.",
        ),
        Mistake(
            "not-scaled",
            _decoder_with(scale=1.0),
            "The scores were not divided by the square root of head_dim.",
        ),
        Mistake(
            "new-alone-returned",
            lambda q, k, v, cached_k, cached_v, base: (
                _decoder_with()(q, k, v, cached_k, cached_v, base)[0],
                _turn_heads(k, cached_k.shape[-2] + np.arange(k.shape[-2]), base),
                v,
            ),
            "The output is right. But you return the new keys and values alone; the next call needs the old "
            "ones too.",
        ),
    ),
    alternatives=(
        _decoder_one_by_one,
        _decoder_by_library,
        lambda *args: [each.tolist() for each in _decoder_with()(*args)],
    ),
    hints=(
        "How many tokens does the cache hold? They stand along the last but one axis. The first new token "
        "stands right after them.",
        "Turn `q` and `k` with your `rotate_heads`, then join the keys with `np.concatenate([cached_k, k], "
        "axis=-2)`, and the values as they are.",
        "New token i sees `past + i + 1` keys: `np.tri(new, past + new, k=past, dtype=bool)` is true where "
        "it may look.",
    ),
)


# --- what_was_rounded ------------------------------------------------------------------------------


def _to_bits(numbers: Array, bits: int) -> Array:
    """Rounded to so many significant binary digits; bfloat16 keeps 8, float16 11."""
    mantissa, exponent = np.frexp(np.asarray(numbers, dtype=np.float64))
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits))


@dataclass(frozen=True)
class _Rounded:
    """RoPE of base 10,000 over neighbours, in which one thing was rounded."""

    what: str
    bits: int = 8

    def __call__(self, x: Array, positions: Array) -> Array:
        x = np.asarray(x, dtype=np.float64)
        rates, at = frequencies(WIDTH), np.asarray(positions, dtype=np.float64)
        rates = _to_bits(rates, self.bits) if self.what == "frequencies" else rates
        at = _to_bits(at, self.bits) if self.what == "positions" else at
        theta = at[:, None] * rates
        cos, sin = np.cos(theta), np.sin(theta)
        if self.what == "tables":
            cos, sin = _to_bits(cos, self.bits), _to_bits(sin, self.bits)
        out, a, b = np.empty_like(x), x[:, 0::2], x[:, 1::2]
        out[:, 0::2], out[:, 1::2] = a * cos - b * sin, b * cos + a * sin
        return out


_DIGITS = {8: "as in bfloat16", 11: "as in float16"}
_ROUNDED: tuple[tuple[tuple[str, Rotate], ...], ...] = (
    (("nothing is rounded", _Rounded("nothing")),),
    *(
        tuple(
            (f"{what} rounded to {bits} bits, {words}", _Rounded(what, bits))
            for bits, words in _DIGITS.items()
        )
        for what in ("frequencies", "positions", "tables")
    ),
)


def _rounded_cases(rng: Generator) -> Iterator[Case]:
    for label, rotate in enough_of_each(rng, *_ROUNDED):
        yield Case(label, (rotate,))


def _row_of_ones(rotate: Rotate, *positions: float) -> Array:
    return rotate(np.ones((len(positions), WIDTH)), np.array(positions))


def _keeps_every_length(rotate: Rotate, positions: tuple[float, ...] = (3, 77, 5001)) -> bool:
    lengths = np.linalg.norm(_row_of_ones(rotate, *positions), axis=1)
    return bool(np.allclose(lengths, np.sqrt(WIDTH), rtol=1e-7))


def _right_at(rotate: Rotate, *positions: float) -> bool:
    exact = apply_rotary(np.ones((len(positions), WIDTH)), np.array(positions))
    return bool(np.allclose(_row_of_ones(rotate, *positions), exact, rtol=0, atol=1e-7))


def _what_was_rounded(rotate: Rotate, *, near: float = 1, far: float = 4097) -> str:
    """Tables change lengths, frequencies are wrong at once, positions are wrong far away alone."""
    if not _keeps_every_length(rotate):
        return "tables"
    if not _right_at(rotate, near):
        return "frequencies"
    return "nothing" if _right_at(rotate, far) else "positions"


def _told_as(**other: str) -> Callable[[Rotate], str]:
    """The right word, but for some of them another."""

    def told(rotate: Rotate) -> str:
        right = _what_was_rounded(rotate)
        return other.get(right, right)

    return told


def _rounded_by_symmetry(rotate: Rotate) -> str:
    """Which promise is broken: lengths, neighbours that differ, or the angle of an offset."""
    if not _keeps_every_length(rotate):
        return "tables"
    rows = _row_of_ones(rotate, 30_001, 30_002, 30_003)
    if np.abs(np.diff(rows, axis=0)).max(axis=1).min() < 1e-3:
        return "positions"
    return "nothing" if _right_at(rotate, 100) else "frequencies"


def _rounded_by_score(rotate: Rotate) -> str:
    q, k = _two_vectors(2)
    offset = 5
    here, there = (_score(rotate, q, k, 9 + s, 9 + s - offset) for s in (0, 50_001))
    exact = _score(interleaved, q, k, 9, 9 - offset)
    if not _keeps_every_length(rotate):
        return "tables"
    if abs(here - there) > 1e-6:
        return "positions"
    return "nothing" if abs(here - exact) < 1e-7 else "frequencies"


WHAT_WAS_ROUNDED = Exercise(
    id=f"{CHAPTER}.what_was_rounded",
    title="Rounding detective",
    signature="what_was_rounded(rotate: a function from x of shape (n, 8) and positions of shape (n,) to an "
    "array "
    'of shape (n, 8)) -> "nothing", "frequencies", "positions" or "tables"',
    points=3,
    minutes=15,
    difficulty=4,
    reference=_what_was_rounded,
    make_cases=_rounded_cases,
    properties=(
        Property(
            lambda args, value: value in ("nothing", "frequencies", "positions", "tables"),
            "Answer with one of the four words, in small letters.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "near-alone",
            lambda rotate: _what_was_rounded(rotate, far=200),
            "Rounded positions escape you: as far as you look, they are exact. Eight bits hold all whole "
            "numbers up to 256, eleven bits up to 2,048. Look further away.",
        ),
        Mistake(
            "looks-to-2000",
            lambda rotate: _what_was_rounded(rotate, far=1999),
            "You find positions that were rounded to eight bits, and not those with eleven: they are exact "
            "up to 2,048. Look further away.",
        ),
        Mistake(
            "relative-is-nothing",
            _told_as(frequencies="nothing"),
            "You take rounded frequencies for none. They pass every common shift, as true ones do: compare "
            "with the exact rotation, at a position where positions are surely exact.",
        ),
        Mistake(
            "frequencies-and-positions-exchanged",
            _told_as(frequencies="positions", positions="frequencies"),
            "Frequencies and positions have changed places. Small whole positions are exact in any of these "
            "formats; frequencies are wrong from position 1 on.",
        ),
        Mistake(
            "far-is-positions",
            _told_as(frequencies="positions"),
            "You call it positions whenever the result is wrong far away. Rounded frequencies are wrong "
            "there too: look at position 1 as well.",
        ),
        Mistake(
            "lengths-not-asked",
            _told_as(tables="frequencies"),
            "You take rounded tables for rounded frequencies: both are wrong near position 0. What do a "
            "cosine and a sine that were rounded one by one do to the length of a row?",
        ),
        Mistake(
            "positions-alone",
            _told_as(frequencies="nothing", tables="nothing"),
            "You find rounded positions alone. The other two are small errors near position 0, about one "
            "part in a thousand: compare with a tight tolerance, in all pairs.",
        ),
        Mistake(
            "relative-or-not",
            _told_as(frequencies="nothing", tables="positions"),
            "You ask whether it is relative, and nothing more. Rounded frequencies are relative, and rounded "
            "tables are not: two more questions tell the four apart.",
        ),
    ),
    alternatives=(
        _rounded_by_symmetry,
        _rounded_by_score,
        lambda rotate: _what_was_rounded(rotate, near=7, far=50_001),
    ),
    hints=(
        "Ask three questions of it. Does every row keep its length? Is position 1 right? Is a far position "
        "right?",
        "You can write the exact rotation yourself, with `np.exp(1j * angle)`, and compare. At position 1 "
        "the exact angles are 1, 0.1, 0.01 and 0.001.",
        "A rounded cosine and a rounded sine no longer have squares that sum to 1. Position 4,097 needs 13 "
        "bits.",
    ),
)


# --- stretched_base --------------------------------------------------------------------------------


def _stretch_cases(rng: Generator) -> Iterator[Case]:
    for label, args in (
        ("the last pair of 64, eight times slower", (128, 63, 8.0, 10000.0)),
        ("pair 32 of 64, four times slower", (128, 32, 4.0, 10000.0)),
        ("pair 1 of two, ten times slower", (4, 1, 10.0, 10000.0)),
        ("at factor 1 nothing changes", (64, 20, 1.0, 500_000.0)),
        ("base 500,000, pair 40 of 64", (128, 40, 8.0, 500_000.0)),
        ("a pair that shall turn faster", (32, 10, 0.5, 1000.0)),
    ):
        yield Case(label, args)
    dim = int(2 * rng.integers(8, 40))
    yield Case(
        "random numbers",
        (dim, int(rng.integers(1, dim // 2)), float(rng.uniform(1.5, 9.0)), float(rng.integers(500, 20_000))),
    )


def _stretched(dim: int, pair: int, factor: float, base: float) -> float:
    return float(base * factor ** (dim / (2 * pair)))


STRETCHED_BASE = Exercise(
    id=f"{CHAPTER}.stretched_base",
    title="Which base slows this pair?",
    signature="stretched_base(dim: int, pair: int, factor: float, base: float) -> float",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_stretched,
    make_cases=_stretch_cases,
    mistakes=(
        Mistake(
            "factor-alone",
            lambda dim, pair, factor, base: base * factor,
            "This is the base times the factor. The pair sees only a power of the base, so it would be "
            "slowed by less than the factor.",
        ),
        Mistake(
            "always-the-last",
            lambda dim, pair, factor, base: base * factor ** (dim / (dim - 2)),
            "This is right for the last pair alone: it is the rule of NTK. Here another pair may be asked "
            "for.",
        ),
        Mistake(
            "upside-down",
            lambda dim, pair, factor, base: base * factor ** (2 * pair / dim),
            "The exponent is upside down. The pair's frequency is base to the power -2 pair/dim: solve that "
            "for the base.",
        ),
        Mistake(
            "two-missing",
            lambda dim, pair, factor, base: base * factor ** (dim / pair),
            "The exponent is twice what it should be: pair j has the exponent 2j/dim, not j/dim.",
        ),
        Mistake(
            "counted-from-1",
            lambda dim, pair, factor, base: base * factor ** (dim / (2 * (pair + 1))),
            "You count pairs from 1. They are counted from 0: pair 0 has frequency 1, and no base slows it.",
        ),
        Mistake(
            "divided",
            lambda dim, pair, factor, base: base / factor ** (dim / (2 * pair)),
            "Your base makes the pair turn faster. A larger base turns slower: multiply.",
        ),
        Mistake(
            "growth-alone",
            lambda dim, pair, factor, base: factor ** (dim / (2 * pair)),
            "This is only by how much the base grows. Multiply it by the old base.",
        ),
        Mistake(
            "power-of-base",
            lambda dim, pair, factor, base: (base * factor) ** (dim / (2 * pair)),
            "The exponent was put on the base as well. Only the factor is raised to that power.",
        ),
        Mistake(
            "usual-base",
            lambda dim, pair, factor, base: 10000.0 * factor ** (dim / (2 * pair)),
            "It is right for base 10,000, and for no other. Use the base that is given.",
        ),
        Mistake(
            "unchanged",
            lambda dim, pair, factor, base: base,
            "The base is as it was, and so is the speed of the pair.",
        ),
    ),
    alternatives=(
        lambda dim, pair, factor, base: (base ** (-2 * pair / dim) / factor) ** (-dim / (2 * pair)),
        lambda dim, pair, factor, base: np.exp(np.log(base) + np.log(factor) * dim / (2 * pair)),
        lambda dim, pair, factor, base: (base ** (pair / (dim / 2)) * factor) ** (dim / 2 / pair),
    ),
    hints=(
        "The frequency of the pair is base to the power -2 pair/dim. It shall become `factor` times smaller.",
        "So `new ** (2 * pair / dim) == factor * base ** (2 * pair / dim)`. Solve it for `new`.",
    ),
)


# --- YaRN: pair_that_turns, yarn_frequencies, yarn_rotate ------------------------------------------

YARN = "YaRN, built from its reasons"
FAST, SLOW = 32, 1
"""Pairs that turn more often than FAST times in training stay; those that turn less than SLOW times yield."""


def _turns_cases(rng: Generator) -> Iterator[Case]:
    for label, args in (
        ("32 turns in 4,096 positions, dim 128", (32, 4096, 128, 10000.0)),
        ("one turn in 4,096 positions, dim 128", (1, 4096, 128, 10000.0)),
        ("two turns in 256 positions, dim 32, base 300", (2, 256, 32, 300.0)),
        ("half a turn in 8,192 positions, base 500,000", (0.5, 8192, 128, 500_000.0)),
        ("faster than any pair: the number is below 0", (100, 256, 64, 10000.0)),
        ("slower than any pair: beyond the last", (1, 1_000_000, 16, 10000.0)),
    ):
        yield Case(label, args)
    yield Case(
        "random numbers",
        (float(rng.uniform(1, 9)), int(rng.integers(500, 9000)), int(2 * rng.integers(8, 64)), 1000.0),
    )


def _pair_that_turns(turns: float, length: int, dim: int, base: float) -> float:
    return float(dim / 2 * np.log(length / (2 * np.pi * turns)) / np.log(base))


PAIR_THAT_TURNS = Exercise(
    id=f"{CHAPTER}.pair_that_turns",
    title="Which pair turns so often?",
    step_of=YARN,
    signature="pair_that_turns(turns: float, length: int, dim: int, base: float) -> float",
    points=1,
    minutes=8,
    difficulty=3,
    reference=_pair_that_turns,
    make_cases=_turns_cases,
    mistakes=(
        Mistake(
            "no-two-pi",
            lambda turns, length, dim, base: dim / 2 * np.log(length / turns) / np.log(base),
            "A factor 2 pi is missing: a whole turn takes 2 pi radians, not one.",
        ),
        Mistake(
            "columns-for-pairs",
            lambda turns, length, dim, base: dim * np.log(length / (2 * np.pi * turns)) / np.log(base),
            "This is twice the number: you count columns. Count pairs, of which there are dim/2.",
        ),
        Mistake(
            "rounded",
            lambda turns, length, dim, base: np.floor(_pair_that_turns(turns, length, dim, base)),
            "You rounded to a whole pair. Return the number with its fraction: it is rounded in the next "
            "step, once down and once up.",
        ),
        Mistake(
            "log-of-ten",
            lambda turns, length, dim, base: dim / 2 * np.log10(length / (2 * np.pi * turns)),
            "You took the logarithm to base 10. Divide by the logarithm of the base of RoPE.",
        ),
        Mistake(
            "not-divided",
            lambda turns, length, dim, base: dim / 2 * np.log(length / (2 * np.pi * turns)),
            "The logarithm of the base is missing, by which you must divide.",
        ),
        Mistake(
            "base-inside",
            lambda turns, length, dim, base: dim / 2 * np.log(length / (2 * np.pi * turns) / base),
            "You divided by the base inside the logarithm. Divide the one logarithm by the other.",
        ),
        Mistake(
            "upside-down",
            lambda turns, length, dim, base: -_pair_that_turns(turns, length, dim, base),
            "The sign is wrong: inside the logarithm stands how long the wave is, length divided by turns.",
        ),
        Mistake(
            "turns-multiplied",
            lambda turns, length, dim, base: dim / 2 * np.log(length * turns / (2 * np.pi)) / np.log(base),
            "A pair that turns more often has a shorter wave. Divide the length by the turns.",
        ),
        Mistake(
            "turns-forgotten",
            lambda turns, length, dim, base: _pair_that_turns(1, length, dim, base),
            "This is the pair that turns once, whatever number of turns is asked for.",
        ),
        Mistake(
            "wavelength",
            lambda turns, length, dim, base: length / turns,
            "This is the wavelength of the pair, in positions. Which pair has it?",
        ),
        Mistake(
            "counted-from-1",
            lambda turns, length, dim, base: _pair_that_turns(turns, length, dim, base) + 1,
            "You count pairs from 1. They are counted from 0.",
        ),
    ),
    alternatives=(
        lambda turns, length, dim, base: -dim / 2 * np.log(2 * np.pi * turns / length) / np.log(base),
        lambda turns, length, dim, base: dim * math.log(length / turns / math.tau, base) / 2,
        lambda turns, length, dim, base: (
            np.float64(dim) / 2 * np.log2(length / (turns * 2 * np.pi)) / np.log2(base)
        ),
    ),
    hints=(
        "In `length` positions, pair j turns `length * base ** (-2 * j / dim)` radians. How many turns are "
        "that?",
        "Set it equal to 2 pi times `turns`, and take logarithms of both sides.",
    ),
)


def _yarn_cases(rng: Generator) -> Iterator[Case]:
    for label, args in (
        ("dim 128, 4,096 positions, factor 4", (128, 10000.0, 4.0, 4096)),
        ("dim 128, base 500,000, 8,192 positions, factor 16", (128, 500_000.0, 16.0, 8192)),
        ("dim 32, base 300, 256 positions, factor 8", (32, 300.0, 8.0, 256)),
        ("a short training: no pair turns often enough", (64, 10000.0, 2.0, 100)),
        ("the ramp ends beyond the last pair", (64, 10000.0, 4.0, 131_072)),
        ("at factor 1 nothing changes", (64, 10000.0, 1.0, 2048)),
    ):
        yield Case(label, args)
    yield Case(
        "random numbers",
        (int(2 * rng.integers(20, 60)), 10000.0, float(rng.uniform(2, 20)), int(rng.integers(1000, 9000))),
    )


def _yarn(dim: int, base: float, factor: float, length: int) -> Array:
    return frequencies(dim, base=base, scaling=YaRNScaling(factor, length))


Ramp = Callable[[int, float, int], Array]


def _ends(dim: int, base: float, length: int) -> tuple[float, float]:
    first, last = (_pair_that_turns(turns, length, dim, base) for turns in (FAST, SLOW))
    return max(math.floor(first), 0), math.ceil(last)


def _ramp(dim: int, base: float, length: int) -> Array:
    """0 for pairs that stay, 1 for those that are slowed."""
    first, last = _ends(dim, base, length)
    return np.asarray(np.clip((np.arange(dim // 2) - first) / (last - first), 0, 1))


def _mixed(ramp: Ramp) -> Callable[[int, float, float, int], Array]:
    def scaled(dim: int, base: float, factor: float, length: int) -> Array:
        share, plain = ramp(dim, base, length), frequencies(dim, base=base)
        return np.asarray((1 - share) * plain + share * plain / factor)

    return scaled


def _ramp_between(first: float, last: float, dim: int) -> Array:
    return np.asarray(np.clip((np.arange(dim // 2) - first) / (last - first), 0, 1))


def _ramp_unrounded(dim: int, base: float, length: int) -> Array:
    first, last = (_pair_that_turns(turns, length, dim, base) for turns in (FAST, SLOW))
    return _ramp_between(max(first, 0), last, dim)


def _ramp_inwards(dim: int, base: float, length: int) -> Array:
    first, last = (_pair_that_turns(turns, length, dim, base) for turns in (FAST, SLOW))
    return _ramp_between(max(math.ceil(first), 0), math.floor(last), dim)


def _ramp_over_turns(dim: int, base: float, length: int) -> Array:
    turns = length * frequencies(dim, base=base) / (2 * np.pi)
    return np.asarray(1 - np.clip((turns - SLOW) / (FAST - SLOW), 0, 1))


def _ramp_negative(dim: int, base: float, length: int) -> Array:
    first, last = (_pair_that_turns(turns, length, dim, base) for turns in (FAST, SLOW))
    return _ramp_between(math.floor(first), math.ceil(last), dim)


def _ramp_unclipped(dim: int, base: float, length: int) -> Array:
    first, last = _ends(dim, base, length)
    return np.asarray((np.arange(dim // 2) - first) / (last - first))


def _ramp_cut_short(dim: int, base: float, length: int) -> Array:
    first, last = _ends(dim, base, length)
    return _ramp_between(first, min(last, dim // 2 - 1), dim)


def _step_instead(dim: int, base: float, length: int) -> Array:
    return (np.arange(dim // 2) >= _ends(dim, base, length)[1]).astype(np.float64)


def _yarn_by_waves(dim: int, base: float, factor: float, length: int) -> Array:
    """Mixes the wavelengths instead of the frequencies."""
    share, plain = _ramp(dim, base, length), frequencies(dim, base=base)
    return np.asarray(plain / (1 - share + share * factor))


def _yarn_by_loop(dim: int, base: float, factor: float, length: int) -> list[float]:
    """As the authors of YaRN write it: a mask for what stays, pair by pair."""

    def found(rotations: float) -> float:
        return dim * math.log(length / (rotations * 2 * math.pi)) / (2 * math.log(base))

    low, high = max(math.floor(found(32)), 0), math.ceil(found(1))
    out = []
    for j in range(dim // 2):
        plain = 1 / base ** (2 * j / dim)
        stays = 1 - min(max((j - low) / (high - low), 0), 1)
        out.append(plain / factor * (1 - stays) + plain * stays)
    return out


def _yarn_by_interpolation(dim: int, base: float, factor: float, length: int) -> Array:
    share = np.interp(np.arange(dim // 2), _ends(dim, base, length), [1.0, 1 / factor])
    return np.asarray(base ** (-np.arange(0, dim, 2) / dim) * share)


YARN_FREQUENCIES = Exercise(
    id=f"{CHAPTER}.yarn_frequencies",
    title="Slow the slow pairs alone",
    step_of=YARN,
    signature="yarn_frequencies(dim: int, base: float, factor: float, length: int) "
    "-> array of shape (dim/2,), in rad/position",
    points=3,
    minutes=15,
    difficulty=4,
    draws=Draws(
        lambda yarn_frequencies, across, up: curve(
            np.arange(32),
            {"": np.asarray(yarn_frequencies(64, 10000.0, 4.0, 2048)) / frequencies(64)},
            across=across,
            up=up,
        ),
        axes=("pair", "new frequency / old"),
        look="The fast pairs stay as they are, the slow ones are four times slower, and between them "
        "is a ramp.",
    ),
    reference=_yarn,
    make_cases=_yarn_cases,
    # The smallest frequencies are below 1e-4: an absolute tolerance must not hide an error in them.
    absolute_tolerance=1e-12,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0] // 2,),
            "There must be dim/2 frequencies, one for each pair.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (value <= frequencies(args[0], base=args[1]) * (1 + 1e-9)).all()
                and (value >= frequencies(args[0], base=args[1]) / args[2] * (1 - 1e-9)).all()
            ),
            "Every frequency must lie between what it was and what it was divided by the factor.",
        ),
    ),
    mistakes=(
        Mistake(
            "ramp-turned-round",
            _mixed(lambda dim, base, length: 1 - _ramp(dim, base, length)),
            "Your fast pairs are slowed, and the slow ones stay. It is the slow pairs that meet angles "
            "which they do not know.",
        ),
        Mistake(
            "not-rounded",
            _mixed(_ramp_unrounded),
            "The ramp begins and ends between two pairs. The code with which checkpoints were trained "
            "rounds its beginning down and its end up.",
        ),
        Mistake(
            "rounded-inwards",
            _mixed(_ramp_inwards),
            "The ramp is rounded inwards. Round its beginning down and its end up.",
        ),
        Mistake(
            "ramp-over-turns",
            _mixed(_ramp_over_turns),
            "Your ramp is linear in the number of turns, as in the paper's formula. Here it is linear in "
            "the number of the pair, as in the authors' code.",
        ),
        Mistake(
            "beginning-below-0",
            _mixed(_ramp_negative),
            "It is right where some pair turns 32 times. Where none does, your ramp begins before pair 0: "
            "let it begin at 0 then.",
        ),
        Mistake(
            "not-clipped",
            _mixed(_ramp_unclipped),
            "Your ramp goes on outside of its two ends, below 0 and above 1. Clip it.",
        ),
        Mistake(
            "cut-at-the-last-pair",
            _mixed(_ramp_cut_short),
            "It is right where the ramp ends within the head. Where it ends beyond the last pair, you pull "
            "its end back to that pair, and so slow it by the whole factor.",
        ),
        Mistake(
            "a-step",
            _mixed(_step_instead),
            "The pairs between the two ends stay as they were. There a ramp leads from the one to the other.",
        ),
        Mistake(
            "all-divided",
            lambda dim, base, factor, length: frequencies(dim, base=base) / factor,
            "All frequencies are divided: that is position interpolation. Fast pairs stay.",
        ),
        Mistake(
            "ntk",
            lambda dim, base, factor, length: frequencies(dim, base=base, scaling=NTKScaling(factor)),
            "You raised the base: that is NTK. Here fast pairs stay exactly, slow ones are divided by the "
            "factor.",
        ),
        Mistake(
            "waves-mixed",
            _yarn_by_waves,
            "The two ends are right. On the ramp you mix the wavelengths; mix the frequencies.",
        ),
        Mistake(
            "longer-length",
            lambda dim, base, factor, length: _mixed(_ramp)(dim, base, factor, round(length * factor)),
            "You count turns within the longer context. What a pair has learned is decided by the length of "
            "its training.",
        ),
        Mistake(
            "multiplied",
            lambda dim, base, factor, length: (
                frequencies(dim, base=base) * (1 + _ramp(dim, base, length) * (factor - 1))
            ),
            "Your slow pairs turn faster. They have to turn slower: divide by the factor.",
        ),
        Mistake(
            "wavelengths",
            lambda dim, base, factor, length: 2 * np.pi / _yarn(dim, base, factor, length),
            "These are the wavelengths, in positions. Return the frequencies, in rad/position.",
        ),
    ),
    alternatives=(_yarn_by_loop, _yarn_by_interpolation, _mixed(_ramp)),
    hints=(
        "First the two ends: your `pair_that_turns` for 32 turns, rounded down and at least 0, and for one "
        "turn, rounded up.",
        "The ramp is 0 up to the first end, 1 from the last one on, and a straight line between: `np.clip` "
        "of `(j - first) / (last - first)`.",
        "A pair with ramp r gets `(1 - r)` times its old frequency plus `r` times its old frequency divided "
        "by the factor.",
    ),
)


def _yarn_turn_cases(rng: Generator) -> Iterator[Case]:
    for label, n, dim, args in (
        ("factor 4, base 300, 256 positions", 4, 16, (300.0, 4.0, 256)),
        ("at factor 1 nothing changes", 3, 8, (10000.0, 1.0, 2048)),
        ("factor 16, 4,096 positions", 5, 64, (10000.0, 16.0, 4096)),
        ("factor 32, base 500,000", 3, 32, (500_000.0, 32.0, 8192)),
    ):
        positions = np.sort(rng.integers(0, 5000, size=n))
        yield Case(label, (rng.normal(size=(n, dim)), positions, *args))


def _yarn_turned(
    x: Array,
    positions: Array,
    base: float,
    factor: float,
    length: int,
    *,
    louder: Callable[[float], float] = lambda factor: 0.1 * math.log(factor) + 1,
    half: bool = False,
) -> Array:
    theta = _theta(positions, _yarn(x.shape[1], base, factor, length))
    return louder(factor) * _turned(x, theta, half=half)


def _yarn_by_the_library(x: Array, positions: Array, base: float, factor: float, length: int) -> Array:
    rule = YaRNScaling(factor, length)
    return np.asarray(apply_rotary(x, positions, base=base, scaling=rule))


def _yarn_by_tables(x: Array, positions: Array, base: float, factor: float, length: int) -> Array:
    theta = np.outer(positions, _yarn_by_loop(x.shape[1], base, factor, length))
    louder = 1 + np.log(factor) / 10
    cos, sin = louder * np.cos(theta), louder * np.sin(theta)
    a, b = x[:, 0::2], x[:, 1::2]
    return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)


YARN_ROTATE = Exercise(
    id=f"{CHAPTER}.yarn_rotate",
    title="Turn, and speak up",
    step_of=YARN,
    signature="yarn_rotate(x: array of shape (n, dim), positions: array of shape (n,), base: float, factor: "
    "float, length: int) -> array of shape (n, dim)",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_yarn_turned,
    make_cases=_yarn_turn_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay (n, dim).",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "not-louder",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 1.0),
            "The pairs are turned rightly, and are as long as before. YaRN also makes each query and each "
            "key longer, by 0.1 times the logarithm of the factor, plus 1.",
        ),
        Mistake(
            "squared-already",
            lambda *args: _yarn_turned(*args, louder=lambda factor: (0.1 * math.log(factor) + 1) ** 2),
            "Each row was made longer twice. Queries and keys are multiplied once each, and so the score "
            "gets the square.",
        ),
        Mistake(
            "quieter",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 1 / (0.1 * math.log(factor) + 1)),
            "Your rows are shorter than before, which spreads attention out. YaRN makes it sharper: "
            "multiply.",
        ),
        Mistake(
            "log-of-ten",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 0.1 * math.log10(factor) + 1),
            "You took the logarithm to base 10. It is the natural one.",
        ),
        Mistake(
            "log-of-two",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 0.1 * math.log2(factor) + 1),
            "You took the logarithm to base 2. It is the natural one.",
        ),
        Mistake(
            "root",
            lambda *args: _yarn_turned(*args, louder=lambda factor: math.sqrt(0.1 * math.log(factor) + 1)),
            "You took the root, so that the score gets the factor once. In YaRN each of the two vectors "
            "gets all of it.",
        ),
        Mistake(
            "one-forgotten",
            lambda *args: _yarn_turned(*args, louder=lambda factor: 0.1 * math.log(factor)),
            "The 1 is missing: for factor 1, nothing may change.",
        ),
        Mistake(
            "times-the-factor",
            lambda *args: _yarn_turned(*args, louder=lambda factor: factor),
            "Each row was multiplied by the factor of the context. It is 0.1 times its logarithm, plus 1.",
        ),
        Mistake(
            "half-layout",
            lambda *args: _yarn_turned(*args, half=True),
            "Your pairs are columns j and j + dim/2. Here neighbours make a pair, columns 2j and 2j + 1.",
        ),
        Mistake(
            "plain-frequencies",
            lambda x, positions, base, factor, length: (
                (0.1 * math.log(factor) + 1)
                * _turned(x, _theta(positions, frequencies(x.shape[1], base=base)))
            ),
            "The rows have the right length, but they turn at the old frequencies. Take those of your "
            "yarn_frequencies.",
        ),
        Mistake(
            "plain-rope",
            lambda x, positions, base, factor, length: apply_rotary(x, positions, base=base),
            "This is RoPE as before: the old frequencies, and rows as long as they were. Two things have "
            "to change.",
        ),
        Mistake(
            "interpolated",
            lambda x, positions, base, factor, length: (
                (0.1 * math.log(factor) + 1)
                * _turned(x, _theta(positions, frequencies(x.shape[1], base=base) / factor))
            ),
            "All frequencies are divided by the factor: that is position interpolation. Take those of your "
            "yarn_frequencies.",
        ),
    ),
    alternatives=(
        _yarn_by_the_library,
        _yarn_by_tables,
        lambda *args: np.asarray(_yarn_turned(*args)).tolist(),
    ),
    hints=(
        "Two things happen: a turn, with the frequencies of your `yarn_frequencies`, and a multiplication.",
        "The number is `0.1 * math.log(factor) + 1`, the same for all pairs.",
    ),
)


# --- broken_rotations ------------------------------------------------------------------------------


def _one_value(rng: Generator) -> Iterator[Case]:
    yield Case("your five line numbers")


def _lines(**other: int) -> Callable[[], tuple[int, ...]]:
    """The broken lines, but for some listings another one."""
    right = {"a": 5, "b": 13, "c": 11, "d": 12, "e": 15}
    return lambda: tuple((right | other).values())


BROKEN_ROTATIONS = Exercise(
    id=f"{CHAPTER}.broken_rotations",
    title="Five rotations, five broken lines",
    signature="broken_rotations: five whole numbers, the broken line of each of the listings A to E",
    points=3,
    minutes=20,
    difficulty=4,
    kind="value",
    parts=("listing A", "listing B", "listing C", "listing D", "listing E"),
    reference=_lines(),
    make_cases=_one_value,
    mistakes=(
        Mistake(
            "a-the-call",
            _lines(a=9),
            "Four of five are right. In listing A, line 9 hands over all that is needed. What is made of it?",
        ),
        Mistake(
            "a-the-pairs",
            _lines(a=4),
            "Four of five are right. In listing A, line 4 counts the pairs that turn, and there are as many "
            "as it says. How fast does each of them turn?",
        ),
        Mistake(
            "b-the-positions",
            _lines(b=14),
            "Four of five are right. In listing B, line 14 goes on from a number that is already wrong. "
            "Which line makes it?",
        ),
        Mistake(
            "b-the-join",
            _lines(b=17),
            "Four of five are right. In listing B, line 17 joins the keys in their order, the old ones "
            "first. Ask at which positions the new ones were turned.",
        ),
        Mistake(
            "c-the-tables",
            _lines(c=6),
            "Four of five are right. In listing C, line 6 repeats the angles as the half layout needs them. "
            "Which way does a pair turn?",
        ),
        Mistake(
            "c-the-sum",
            _lines(c=14),
            "Four of five are right. In listing C, line 14 is what it should be, if quarter_turn is. Feed "
            "it the pair (1, 0), at an angle of a quarter turn.",
        ),
        Mistake(
            "d-the-quarter-turn",
            _lines(d=7),
            "Four of five are right. In listing D, lines 7 and 8 make the quarter turn of neighbours, "
            "rightly. Which angle does each column get?",
        ),
        Mistake(
            "d-the-turn",
            _lines(d=14),
            "Four of five are right. In listing D, line 14 is what it should be. Write down the four angles "
            "of a head of four columns, as it gets them.",
        ),
        Mistake(
            "e-the-base",
            _lines(e=4),
            "Four of five are right. In listing E, line 4 is the rule of NTK. Is it given the same factor "
            "at each call?",
        ),
        Mistake(
            "e-the-positions",
            _lines(e=16),
            "Four of five are right. In listing E, the new tokens stand where they should. With which "
            "frequencies were the old keys turned?",
        ),
        Mistake(
            "e-the-join",
            _lines(e=18),
            "Four of five are right. In listing E, line 18 joins keys that do not fit each other. Where "
            "does it come from that they do not?",
        ),
        Mistake(
            "counted-from-zero",
            lambda: tuple(each - 1 for each in _lines()()),
            "You count from 0. The lines are numbered from 1, in the comment at the end of each.",
        ),
    ),
    alternatives=(
        lambda: list(_lines()()),
        lambda: np.array(_lines()()),
        lambda: tuple(float(each) for each in _lines()()),
    ),
    hints=(
        "Read the symptom first, and ask which lines could bring it about. In B, for example: what is the "
        "same when there are as many heads as tokens?",
        "For C, feed the turn a single pair, and draw where it goes. For D, write down the angle that each "
        "column gets.",
        "You may copy a listing into a cell and run it beside your own `rotate_heads`.",
    ),
)

EXERCISES = (
    TURN_PAIR,
    APPLY_ROTARY,
    IS_RELATIVE,
    AIMED_QUERY,
    TO_HALF,
    CONVERT_LAYER,
    CHECKPOINT_FACTS,
    ROTATE_HEADS,
    ROTARY_ATTENTION,
    WHAT_WAS_ROUNDED,
    STRETCHED_BASE,
    PAIR_THAT_TURNS,
    YARN_FREQUENCIES,
    YARN_ROTATE,
    BROKEN_ROTATIONS,
)
