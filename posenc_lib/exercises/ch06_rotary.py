"""Exercises of `06-rotary`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies
from posenc_lib.exercises.exercise import BASIC, Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib.rotated.rotary import apply_rotary
from posenc_lib.scaling.rules import LinearScaling, NTKScaling

CHAPTER = "06-rotary"
BASE = 10000.0
FROM_A_PAIR = "RoPE, from one pair to a whole head"

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


APPLY_ROTARY = Exercise(
    id=f"{CHAPTER}.apply_rotary",
    title="Turn a whole head, or part of it",
    step_of=FROM_A_PAIR,
    signature="apply_rotary(x: array of shape (n, head_dim), positions: array of shape (n,), "
    "rotary_dim: even int) -> array of shape (n, head_dim)",
    points=4,
    minutes=15,
    difficulty=3,
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
    title="Mend a conversion",
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


# --- cached_scores ---------------------------------------------------------------------------------


def _cache_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, cached: int, new: int, head_dim: int) -> Case:
        q, k = rng.normal(size=(2, new, head_dim))
        cache = apply_rotary(rng.normal(size=(cached, head_dim)), np.arange(cached))
        return Case(label, (q, k, cache))

    yield case("5 keys in the cache, one new token", 5, 1, 8)
    yield case("an empty cache, 4 new tokens", 0, 4, 8)
    yield case("3 keys in the cache, 3 new tokens", 3, 3, 4)
    yield case("1 key in the cache, 2 new tokens", 1, 2, 6)
    yield case("700 keys in the cache, 2 new tokens", 700, 2, 4)
    some_cached, some_new = rng.integers(4, 12, size=2).tolist()
    yield case("some keys in the cache, some new tokens", some_cached, some_new, 10)


def _placed(
    query: Callable[[int, int], Array] | None,
    key: Callable[[int, int], Array] | None,
    *,
    cache_too: bool = False,
) -> Callable[..., Array]:
    """Scores with the new tokens at positions that are a function of (cached, new); None: not turned."""

    def scores(q: Array, k: Array, cache: Array) -> Array:
        cached, new = len(cache), len(q)
        if query is not None:
            q = apply_rotary(q, query(cached, new))
        if key is not None:
            k = apply_rotary(k, key(cached, new))
        if cache_too and cached:
            cache = apply_rotary(cache, np.arange(cached))
        return np.asarray(q @ np.concatenate([cache, k]).T)

    return scores


def _following(cached: int, new: int) -> Array:
    return cached + np.arange(new)


def _one_late(cached: int, new: int) -> Array:
    return cached + 1 + np.arange(new)


def _from_zero(cached: int, new: int) -> Array:
    return np.arange(new)


def _all_at_the_end(cached: int, new: int) -> Array:
    return np.full(new, cached)


_right_scores = _placed(_following, _following)


def _scores_one_by_one(q: Array, k: Array, cache: Array) -> Array:
    """As in decoding: each token joins the cache, then its score with everything is taken."""
    keys = list(cache)
    for row, key in enumerate(k):
        keys.append(apply_rotary(key[None], [len(cache) + row])[0])
    return np.array(
        [[apply_rotary(one[None], [len(cache) + t])[0] @ each for each in keys] for t, one in enumerate(q)]
    )


def _scores_by_complex(q: Array, k: Array, cache: Array) -> Array:
    turns = np.exp(1j * _theta(len(cache) + np.arange(len(q)), frequencies(q.shape[1])))
    as_complex = [each[:, 0::2] + 1j * each[:, 1::2] for each in (q, k, cache)]
    keys = np.vstack([as_complex[2], as_complex[1] * turns])
    return np.real((as_complex[0] * turns) @ keys.conj().T)


def _scores_turned_back(q: Array, k: Array, cache: Array) -> Array:
    """All turned back by the length of the cache: only differences count."""
    cached = len(cache)
    keys = np.concatenate([apply_rotary(cache, np.full(cached, -cached)), apply_rotary(k, np.arange(len(k)))])
    return np.asarray(apply_rotary(q, np.arange(len(q))) @ keys.T)


CACHED_SCORES = Exercise(
    id=f"{CHAPTER}.cached_scores",
    title="Scores with a cache of keys",
    signature="cached_scores(q: (new, head_dim), k: (new, head_dim), cache: (cached, head_dim)) "
    "-> array of shape (new, cached + new)",
    points=3,
    minutes=10,
    difficulty=3,
    reference=_right_scores,
    make_cases=_cache_cases,
    absolute_tolerance=1e-4,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[2]) + len(args[1])),
            "There is one row for each new query, and one column for each key: those of the cache first, the "
            "new ones after them.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.diagonal(np.asarray(value), len(args[2])), (args[0] * args[1]).sum(axis=1), atol=1e-3
                )
            ),
            "A new query and the new key of the same token stand at the same position, so turning them must "
            "not change their score. In your answer it does.",
        ),
    ),
    mistakes=(
        Mistake(
            "positions-from-0",
            _placed(_from_zero, _from_zero),
            "The new tokens are counted from 0, as if the cache were empty. They come after the cached ones: "
            "their positions start at len(cache).",
        ),
        Mistake(
            "one-too-far",
            _placed(_one_late, _one_late),
            "The new positions start at len(cache) + 1. The cache holds positions 0 to len(cache) - 1, so "
            "the first new token stands at len(cache).",
        ),
        Mistake(
            "query-one-too-far",
            _placed(_one_late, _following),
            "The keys are right, but each query stands one position too far. The query and the key of a "
            "token share one position.",
        ),
        Mistake(
            "cache-turned-again",
            _placed(_following, _following, cache_too=True),
            "The keys of the cache were turned a second time. They were turned when they were stored: use "
            "them as they are.",
        ),
        Mistake(
            "keys-not-turned",
            _placed(_following, None),
            "The new keys were not turned. Only those of the cache are turned already.",
        ),
        Mistake(
            "queries-not-turned",
            _placed(None, _following),
            "The queries were not turned. A score depends on the difference of two positions, so queries and "
            "keys both have to be turned.",
        ),
        Mistake(
            "nothing-turned",
            _placed(None, None),
            "Neither the new queries nor the new keys were turned. Turn both by their positions, which start "
            "at len(cache).",
        ),
        Mistake(
            "one-position-for-all",
            _placed(_all_at_the_end, _all_at_the_end),
            "All new tokens got one and the same position. They follow each other: len(cache), "
            "len(cache) + 1, and so on.",
        ),
        Mistake(
            "cache-left-out",
            lambda q, k, cache: _right_scores(q, k, cache)[:, len(cache) :],
            "The columns of the cached keys are missing. A new query looks at everything that came before "
            "it: join the cache and the new keys.",
        ),
        Mistake(
            "new-keys-left-out",
            lambda q, k, cache: _right_scores(q, k, cache)[:, : len(cache)],
            "The columns of the new keys are missing. A new query also looks at the new tokens: join the "
            "turned keys to the cache.",
        ),
        Mistake(
            "new-keys-first",
            lambda q, k, cache: np.roll(_right_scores(q, k, cache), len(k), axis=1),
            "The new keys come before those of the cache. Keep the order of the text: the cache first.",
        ),
        Mistake(
            "transposed",
            lambda q, k, cache: _right_scores(q, k, cache).T,
            "The scores are right, but transposed: there must be a row for each query and a column for each "
            "key.",
        ),
        Mistake(
            "scaled",
            lambda q, k, cache: _right_scores(q, k, cache) / np.sqrt(q.shape[1]),
            "The scores were divided by the square root of head_dim. That comes later in attention; return "
            "the plain dot products here.",
        ),
    ),
    alternatives=(_scores_one_by_one, _scores_by_complex, _scores_turned_back),
    lends=("apply_rotary",),
    hints=(
        "The cache holds the tokens at positions 0 to `len(cache) - 1`. Where does the first new token "
        "stand?",
        "`posenc_lib.apply_rotary(x, positions)` turns the rows of `x` by an array of positions. Both the "
        "new queries and the new keys need it, with the same positions.",
        "Join the cache and the turned new keys with `np.concatenate`. The scores are one matrix product.",
    ),
)


# --- ntk_base --------------------------------------------------------------------------------------


def _one_value(rng: Generator) -> Iterator[Case]:
    yield Case("your answer")


NTK_BASE = Exercise(
    id=f"{CHAPTER}.ntk_base",
    title="Predict the base of NTK",
    signature="ntk_base: a number",
    points=1,
    minutes=6,
    difficulty=2,
    kind="value",
    reference=lambda: BASE * 8 ** (128 / 126),
    make_cases=_one_value,
    relative_tolerance=1e-3,
    absolute_tolerance=0.0,
    mistakes=(
        Mistake(
            "factor-alone",
            lambda: BASE * 8,
            "This is the base times the factor. Then the last pair is slowed by a little less than 8, "
            "because its exponent is 126/128 and not 1. Make up for it: raise the factor to the power "
            "128/126.",
        ),
        Mistake(
            "inverted-exponent",
            lambda: BASE * 8 ** (126 / 128),
            "The exponent is upside down. The last pair has frequency base^(-126/128), so the base must grow "
            "by 8^(128/126).",
        ),
        Mistake(
            "pairs-for-dim",
            lambda: BASE * 8 ** (64 / 62),
            "The exponent is 64/62, with the number of pairs in place of dim. Use dim/(dim - 2) = 128/126.",
        ),
        Mistake(
            "base-unchanged",
            lambda: BASE,
            "The base stays where it is in position interpolation. NTK changes the base and leaves the "
            "positions alone.",
        ),
        Mistake(
            "divided",
            lambda: BASE / 8 ** (128 / 126),
            "Your base is smaller, so the waves get shorter. For a longer context the slowest wave must "
            "become longer: multiply.",
        ),
        Mistake(
            "factor-to-the-dim",
            lambda: 8 ** (128 / 126),
            "This is only by how much the base grows. Multiply it by 10000.",
        ),
        Mistake(
            "dynamic",
            lambda: BASE * 57 ** (128 / 126),
            "This is what the rope type dynamic of transformers does at factor 8 and eight times the "
            "length: it puts 8 * 8 - 7 = 57 in place of the factor. Plain NTK uses the factor itself.",
        ),
        Mistake(
            "power-of-base",
            lambda: (BASE * 8) ** (128 / 126),
            "The exponent was put on the base as well. Only the factor is raised to the power 128/126.",
        ),
    ),
    alternatives=(
        lambda: 82_685,
        lambda: float((BASE ** (126 / 128) * 8) ** (128 / 126)),
        lambda: np.float32(1e4 * 8 ** (64 / 63)),
        lambda: float(frequencies(128, scaling=NTKScaling(8.0))[1] ** -64),
    ),
    hints=(
        "The last of the 64 pairs has frequency base^(-126/128). It shall turn eight times more slowly.",
        "So `new_base^(126/128) = 8 * 10000^(126/128)`. Solve it for `new_base`.",
    ),
)


# --- scaled_frequencies ----------------------------------------------------------------------------

PI, NTK = "pi", "ntk"


def _scaled(rule: str, dim: int, factor: float) -> Array:
    return frequencies(dim, scaling=LinearScaling(factor) if rule == PI else NTKScaling(factor))


def _scaling_cases(rng: Generator) -> Iterator[Case]:
    some_dim, some_factor = int(2 * rng.integers(5, 40)), float(rng.uniform(1.5, 9.0))
    for rule in (PI, NTK):
        for dim, factor in ((8, 2), (128, 4), (4, 10), (64, 1), (some_dim, some_factor)):
            yield Case(f"rule {rule}, dim {dim}, factor {factor:g}", (rule, dim, factor))


def _by_rule(
    pi: Callable[[int, float], Array], ntk: Callable[[int, float], Array]
) -> Callable[[str, int, float], Array]:
    return lambda rule, dim, factor: pi(dim, factor) if rule == PI else ntk(dim, factor)


def _pi(dim: int, factor: float) -> Array:
    return frequencies(dim) / factor


def _ntk(dim: int, factor: float) -> Array:
    return frequencies(dim, base=BASE * factor ** (dim / (dim - 2)))


def _scaled_by_loop(rule: str, dim: int, factor: float) -> list[float]:
    base, slower = (BASE, factor) if rule == PI else (BASE * factor ** (dim / (dim - 2)), 1.0)
    return [base ** (-2 * i / dim) / slower for i in range(dim // 2)]


def _scaled_by_series(rule: str, dim: int, factor: float) -> Array:
    last = BASE ** (-(dim - 2) / dim) / factor
    return np.geomspace(1 / factor if rule == PI else 1.0, last, dim // 2)


SCALED_FREQUENCIES = Exercise(
    id=f"{CHAPTER}.scaled_frequencies",
    title="Two ways to a longer context",
    signature='scaled_frequencies(rule: "pi" or "ntk", dim: int, factor: number) '
    "-> array of shape (dim/2,), in rad/position",
    points=3,
    minutes=10,
    difficulty=3,
    reference=_scaled,
    make_cases=_scaling_cases,
    # The smallest frequencies are below 1e-4: an absolute tolerance must not hide an error in them.
    absolute_tolerance=1e-12,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1] // 2,),
            "There must be dim/2 frequencies, one for each pair.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.isclose(np.ravel(value)[-1], BASE ** (-(args[1] - 2) / args[1]) / args[2], rtol=1e-4)
            ),
            "Both rules slow the last pair by exactly the factor. Yours does not.",
        ),
        Property(
            lambda args, value: args[0] == PI or bool(np.isclose(np.ravel(value)[0], 1.0)),
            "NTK leaves the first pair alone: its frequency stays 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "rules-swapped",
            _by_rule(_ntk, _pi),
            "The two rules are swapped: position interpolation divides every frequency by the factor, and "
            "NTK changes the base.",
        ),
        Mistake(
            "always-pi",
            _by_rule(_pi, _pi),
            "NTK came out like position interpolation. It does not divide all frequencies: it raises the "
            "base.",
        ),
        Mistake(
            "multiplied",
            _by_rule(lambda dim, factor: frequencies(dim) * factor, _ntk),
            "Position interpolation makes waves longer, so the frequencies get smaller. Divide by the "
            "factor.",
        ),
        Mistake(
            "base-times-factor",
            _by_rule(_pi, lambda dim, factor: frequencies(dim, base=BASE * factor)),
            "Your NTK multiplies the base by the factor alone, as diffusers does. The last pair is then "
            "slowed by less than the factor. Raise the factor to the power dim/(dim - 2) first.",
        ),
        Mistake(
            "inverted-exponent",
            _by_rule(_pi, lambda dim, factor: frequencies(dim, base=BASE * factor ** ((dim - 2) / dim))),
            "The exponent of the factor is upside down: it is dim/(dim - 2), a little more than 1.",
        ),
        Mistake(
            "base-divided",
            _by_rule(_pi, lambda dim, factor: frequencies(dim, base=BASE / factor ** (dim / (dim - 2)))),
            "Your NTK lowers the base, so the waves get shorter. Multiply the base.",
        ),
        Mistake(
            "pi-on-the-base",
            _by_rule(lambda dim, factor: frequencies(dim, base=BASE * factor), _ntk),
            "Position interpolation leaves the base alone. It divides every frequency, the first one too.",
        ),
        Mistake(
            "both-at-once",
            _by_rule(_pi, lambda dim, factor: _ntk(dim, factor) / factor),
            "Your NTK raises the base and divides by the factor as well. The base alone is enough.",
        ),
        Mistake(
            "factor-ignored",
            lambda rule, dim, factor: frequencies(dim),
            "These are the plain frequencies: the factor has no effect.",
        ),
        Mistake(
            "wavelengths",
            lambda rule, dim, factor: 2 * np.pi / _scaled(rule, dim, factor),
            "These are the wavelengths, in positions. Return the frequencies, in rad/position.",
        ),
    ),
    alternatives=(
        _scaled_by_loop,
        _scaled_by_series,
        lambda rule, dim, factor: (
            frequencies(dim) / factor ** (1.0 if rule == "pi" else np.arange(dim // 2) / max(dim // 2 - 1, 1))
        ),
    ),
    hints=(
        "Position interpolation reads position p as `p / factor`. What does that do to position times "
        "frequency?",
        "NTK keeps the formula base^(-2i/dim) and puts a larger base into it.",
        "The larger base is `10000 * factor ** (dim / (dim - 2))`.",
    ),
)

EXERCISES = (
    TURN_PAIR,
    APPLY_ROTARY,
    IS_RELATIVE,
    TO_HALF,
    CACHED_SCORES,
    NTK_BASE,
    SCALED_FREQUENCIES,
)
