"""Prove it by test: is it relative?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import (
    WIDTH,
    Generator,
    Rotate,
    _turned,
    clockwise,
    half,
    interleaved,
    rotated,
    score,
    two_vectors,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies
from posenc_lib.scaling.rules import LinearScaling

TRAINED = 512
FARTHEST = 10**9


def large_base(x: Array, positions: Array) -> Array:
    return rotated(x, positions, base=500000.0)


def interpolated(x: Array, positions: Array) -> Array:
    return rotated(x, positions, scaling=LinearScaling(8.0))


def in_part(x: Array, positions: Array) -> Array:
    return rotated(x, positions, rotary_dim=WIDTH // 2)


def unchanged(x: Array, positions: Array) -> Array:
    return np.array(x, dtype=np.float64)


def turned_alike(x: Array, positions: Array) -> Array:
    return rotated(x, np.ones(len(x)))


def added(x: Array, positions: Array) -> Array:
    return np.asarray(np.asarray(x) + sinusoidal(np.asarray(positions), WIDTH))


def squared(x: Array, positions: Array) -> Array:
    return rotated(x, np.asarray(positions) ** 2)


def growing(x: Array, positions: Array) -> Array:
    return rotated(x, positions) * (1 + np.asarray(positions)[:, None] / 1000)


def clamped(x: Array, positions: Array) -> Array:
    return rotated(x, np.minimum(positions, TRAINED - 1))


def at_its_own_pace(x: Array, positions: Array) -> Array:
    """Each row turns a little faster or slower, as its content says."""
    pace = 1 + 0.1 * np.tanh(np.asarray(x)[:, :1])
    theta = pace * np.asarray(positions)[:, None] * frequencies(WIDTH)
    return _turned(np.asarray(x), theta)


def wrong_sign_in_the_last_pair(x: Array, positions: Array) -> Array:
    x, out = np.asarray(x), rotated(x, positions)
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
    ("vectors that all turn by the same angles", turned_alike),
    ("an encoding that is added", added),
    ("angles that grow with the square of the position", squared),
    ("vectors that grow with the position", growing),
    (f"a table that ends at position {TRAINED - 1}", clamped),
    ("a wrong sign in the last pair", wrong_sign_in_the_last_pair),
    ("angles that depend on the content too", at_its_own_pace),
)


@dataclass(frozen=True)
class Rotation:
    """One of them. It looks at what it is given first: no error tells which one it is."""

    rotate: Rotate

    def __call__(self, x: Any, positions: Any) -> Array:
        rows, places = np.asarray(x), np.asarray(positions)
        if rows.dtype.kind not in "iuf" or rows.ndim != 2 or rows.shape[1] != WIDTH:
            raise ValueError(f"give rows of {WIDTH} real numbers: an array of shape (n, {WIDTH})")
        if places.shape in ((), (1,)):
            places = np.broadcast_to(places, rows.shape[:1])
        if places.dtype.kind not in "iuf" or places.shape != rows.shape[:1]:
            raise ValueError("give one position for each row: an array of shape (n,)")
        if not np.all(np.abs(places.astype(np.float64)) <= FARTHEST):
            raise ValueError(f"give positions up to {FARTHEST:,}, on either side of 0")
        return self.rotate(rows, places.astype(np.float64))


def _rotate_cases(rng: Generator) -> Iterator[Case]:
    for label, rotate in enough_of_each(rng, _RELATIVE, _NOT_RELATIVE):
        yield Case(label, (Rotation(rotate),))


def _survives(rotate: Rotate, shifts: tuple[float, ...], q: Array, k: Array) -> bool:
    scores = [score(rotate, q, k, 9 + shift, 2 + shift) for shift in shifts]
    return bool(np.allclose(scores, scores[0], atol=1e-6))


def _sees_difference(rotate: Rotate, q: Array, k: Array) -> bool:
    return not np.isclose(score(rotate, q, k, 9, 2), score(rotate, q, k, 9, 5))


_SHIFTS = (0, 1, 10, 600, 5000)


def _is_relative(rotate: Rotate) -> bool:
    q, k = two_vectors()
    return _survives(rotate, _SHIFTS, q, k) and _sees_difference(rotate, q, k)


def _exactly_equal(rotate: Rotate) -> bool:
    q, k = two_vectors()
    scores = {score(rotate, q, k, 9 + shift, 2 + shift) for shift in _SHIFTS}
    return len(scores) == 1 and _sees_difference(rotate, q, k)


def _keeps_lengths(rotate: Rotate) -> bool:
    x, positions = two_vectors(), np.array([3, 4000])
    lengths = np.linalg.norm(rotate(x, positions), axis=1)
    return bool(np.allclose(lengths, np.linalg.norm(x, axis=1)))


def _first_pair_only(rotate: Rotate) -> bool:
    q, k = np.zeros((2, WIDTH))
    q[0] = k[1] = 1.0
    return _survives(rotate, _SHIFTS, q, k) and _sees_difference(rotate, q, k)


def _one_place_only(rotate: Rotate) -> bool:
    q, k = two_vectors()
    return _survives(rotate, (0, 1, 2, 10), q, k) and _sees_difference(rotate, q, k)


def _key_moved_alone(rotate: Rotate) -> bool:
    q, k = two_vectors()
    scores = [score(rotate, q, k, 9, 2 + shift) for shift in _SHIFTS]
    return bool(np.allclose(scores, scores[0], atol=1e-6))


def _query_as_key(rotate: Rotate) -> bool:
    q, _ = two_vectors()
    return _survives(rotate, _SHIFTS, q, q) and _sees_difference(rotate, q, q)


def _cosines_alone(rotate: Rotate) -> bool:
    """The cosine of the angle between the two in place of their dot product."""
    q, k = two_vectors()

    def of_length_one(x: Array, positions: Array) -> Array:
        turned = rotate(x, positions)
        return turned / np.linalg.norm(turned, axis=1, keepdims=True)

    return _survives(of_length_one, _SHIFTS, q, k) and _sees_difference(of_length_one, q, k)


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
    q, k = two_vectors(5)
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
        if abs(score(rotate, q, k, query, key) - score(rotate, q, k, query + shift, key + shift)) > 1e-5:
            return False
    return abs(score(rotate, q, k, 0, 0) - score(rotate, q, k, 3, 0)) > 1e-5


def _relative_by_whole_numbers(rotate: Rotate) -> bool:
    """Vectors and positions of whole numbers, given as lists."""
    q, k = [3, -1, 4, 1, -5, 9, 2, -6], [2, 7, -1, 8, 2, 8, -1, 8]

    def scores(query: int, key: int) -> float:
        turned = np.asarray(rotate([q, k], [query, key]))
        return float(turned[0] @ turned[1])

    same = [scores(9 + shift, 2 + shift) for shift in (0, 1, 40, 700, 6000)]
    return bool(np.ptp(same) < 1e-6 and abs(scores(9, 2) - scores(9, 5)) > 1e-6)


IS_RELATIVE = Exercise(
    id="06-rotary.is_relative",
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
            lambda rotate: _survives(rotate, _SHIFTS, *two_vectors()),
            "Your test lets a function pass that ignores the positions: its scores survive every shift, "
            "because nothing ever moves them. Ask also that the score changes when the difference does.",
        ),
        Mistake(
            "one-place-only",
            _one_place_only,
            "Your test lets a table pass that ends at position 511. Compare scores near position 0 with "
            "scores thousands of positions later, and with a tight tolerance.",
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
            "Your test finds nothing relative, not even a right rotation. Do the query and the key both move "
            "by the same number, and do you compare their scores? And rounding makes scores differ in the "
            "last digits: compare with np.isclose or np.allclose, not with ==.",
        ),
        Mistake(
            "lengths-only",
            _keeps_lengths,
            "Your test checks that lengths stay the same. Every rotation keeps them, whatever its angle, "
            "and so does a function that does nothing. Compare scores: dot products of a turned query and a "
            "turned key.",
        ),
        Mistake(
            "key-moved-alone",
            _key_moved_alone,
            "Your test accepts only a function that ignores the positions. Move the query and the key by "
            "the same number, and compare their scores rather than the turned vectors. When only one of the "
            "two moves, the score must change.",
        ),
        Mistake(
            "other-way-round",
            lambda rotate: not _is_relative(rotate),
            "Your test is right, but its answers are reversed: return True where the function is relative.",
        ),
        Mistake(
            "query-is-key",
            _query_as_key,
            "Your test lets a function pass whose angles depend on the content as well. That happens when "
            "the query and the key are the same vector, which turns at the same pace in both places: use "
            "two different ones.",
        ),
        Mistake(
            "difference-alone",
            lambda rotate: _sees_difference(rotate, *two_vectors()),
            "Your test lets everything pass whose score changes with the difference. The score must also "
            "stay the same when both positions move by the same number.",
        ),
        Mistake(
            "cosines-alone",
            _cosines_alone,
            "Your test lets a function pass that makes vectors longer as the position grows. A score is the "
            "dot product itself: do not divide it by the lengths.",
        ),
    ),
    alternatives=(_relative_by_whole_numbers, _relative_by_basis, _relative_by_diagonals, _relative_by_luck),
    hints=(
        "Choose a query and a key, and make them different. `rotate(q[None], np.array([t]))` is the query "
        "at position t.",
        "The score is the dot product of the turned query and the turned key. Compute it for `(t, u)` and "
        "for `(t + s, u + s)`, with some small s and some large ones.",
        "A function that returns `x` as it is passes that test. What must happen to the score when only `u` "
        "changes?",
        "Use random vectors, so that no pair of columns is left out, and `np.isclose` to compare.",
    ),
)
