"""Prove by test: which symmetry is left?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib.added.sinusoidal import shift_matrix, sinusoidal

POSITIONS = 64
"""The scores are to be judged at whole positions below this."""

ALL = np.arange(POSITIONS)

Rule = Callable[[np.ndarray, int], np.ndarray]


def _offsets(positions: np.ndarray) -> np.ndarray:
    return np.asarray(positions[None, :] - positions[:, None])


def _sinusoids(positions: np.ndarray, seed: int) -> np.ndarray:
    rows = sinusoidal(positions, 32)
    return np.asarray(rows @ rows.T)


def _looks_back(positions: np.ndarray, seed: int) -> np.ndarray:
    rows = sinusoidal(positions, 32)
    return np.asarray(rows @ shift_matrix(-1, 32).T @ rows.T)


def _projected(positions: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = sinusoidal(positions, 32)
    w_q, w_k = rng.normal(size=(2, 32, 32)) / np.sqrt(32)
    return np.asarray((rows @ w_q) @ (rows @ w_k).T)


def _random_table(positions: np.ndarray, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(POSITIONS, 32))[positions]
    return np.asarray(rows @ rows.T)


def _near_and_far(positions: np.ndarray, seed: int) -> np.ndarray:
    distance = np.abs(_offsets(positions))
    return np.where(distance <= 8, -distance / 2, -positions[:, None] / 50)


def _from_the_middle(positions: np.ndarray) -> np.ndarray:
    return np.abs(positions - (POSITIONS - 1) / 2)


def _one_bonus(query: int, key: int) -> Rule:
    return lambda p, seed: _sinusoids(p, seed) + 1.0 * ((p[:, None] == query) & (p == key))


Verdict = tuple[bool, bool, bool]
"""Whether a shift, a mirror, any reordering leaves the scores as they are."""
EVERY, DISTANCE, OFFSET = (True, True, True), (True, True, False), (True, False, False)
MIRROR, NONE = (False, True, False), (False, False, False)

_SCORES: dict[str, tuple[Verdict, Rule]] = {
    "the same score everywhere": (EVERY, lambda p, seed: np.full((len(p), len(p)), 0.7)),
    "the same score everywhere, and a bonus for a token itself": (
        EVERY,
        lambda p, seed: 2.0 * (_offsets(p) == 0),
    ),
    "dot products of sinusoidal rows": (DISTANCE, _sinusoids),
    "a penalty on distance": (DISTANCE, lambda p, seed: -0.5 * np.abs(_offsets(p))),
    "a penalty on distance that stops at 16": (
        DISTANCE,
        lambda p, seed: -1.0 * np.minimum(np.abs(_offsets(p)), 16),
    ),
    "a wave that comes round every 64 positions": (
        DISTANCE,
        lambda p, seed: np.cos(2 * np.pi * _offsets(p) / POSITIONS),
    ),
    "sinusoidal rows, queries shifted back by one": (OFFSET, _looks_back),
    "a bias that grows with the key's lead": (OFFSET, lambda p, seed: 0.5 * _offsets(p)),
    "a penalty on every key that is ahead": (OFFSET, lambda p, seed: -30.0 * (_offsets(p) > 0)),
    "a liking for the ends of the text": (
        MIRROR,
        lambda p, seed: _from_the_middle(p)[:, None] / 20 + _from_the_middle(p)[None, :] / 10,
    ),
    "a penalty on distance, weaker in the middle": (
        MIRROR,
        lambda p, seed: -np.abs(_offsets(p)) * (1 + _from_the_middle(p)[:, None] / 10),
    ),
    "sinusoidal rows through random projections": (NONE, _projected),
    "rows of a random table": (NONE, _random_table),
    "sinusoidal rows that stop at position 48": (NONE, lambda p, seed: _sinusoids(np.minimum(p, 48), seed)),
    "sinusoidal rows, and a little more for odd keys": (
        NONE,
        lambda p, seed: _sinusoids(p, seed) + 0.1 * (p % 2),
    ),
    "sinusoidal rows, and a bonus for the very first key": (
        NONE,
        lambda p, seed: _sinusoids(p, seed) + 1.0 * (p == 0),
    ),
    "sinusoidal rows, and a bonus for one query at one key": (NONE, _one_bonus(0, 62)),  # shift 1 only
    "sinusoidal rows, and a bonus for one query at one earlier key": (NONE, _one_bonus(41, 20)),
    "a bonus for the very first two keys": (NONE, lambda p, seed: np.tile(1.0 * (p < 2), (len(p), 1))),
    "near keys by distance, far keys by the query's place": (NONE, _near_and_far),
}


@dataclass(frozen=True)
class Scores:
    """A way to score whole positions, 0 to 63: n of them give (n, n), the score of each query and key."""

    kind: str
    seed: int

    def __call__(self, positions: Any) -> np.ndarray:
        given = np.asarray(positions)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise ValueError("give positions as one list or array of whole numbers, such as np.arange(10)")
        if given.size and (given.min() < 0 or given.max() >= POSITIONS):
            raise ValueError("these scores exist for positions 0 to 63; give none outside")
        return np.asarray(_SCORES[self.kind][1](given, self.seed), dtype=float)


def _symmetry_cases(rng: Generator) -> Iterator[Case]:
    groups = [
        [kind for kind, (verdict, _) in _SCORES.items() if verdict == wanted]
        for wanted in (EVERY, DISTANCE, OFFSET, MIRROR, NONE)
    ]
    for kind in enough_of_each(rng, *groups):
        yield Case(kind, (Scores(kind, int(rng.integers(1000))),))


Close = Callable[[Any, Any], bool]


def _shift(scores: Any, step: int = 1, positions: np.ndarray = ALL, close: Close = np.allclose) -> bool:
    return bool(close(scores(positions[:-step]), scores(positions[step:])))


def _mirror(scores: Any, close: Close = np.allclose) -> bool:
    return bool(close(scores(ALL[::-1]), scores(ALL)))


def _any_order(scores: Any, close: Close = np.allclose) -> bool:
    """Two reorderings make all others: one step round, and two neighbours that change places."""
    swapped = ALL.copy()
    swapped[[0, 1]] = 1, 0
    return all(bool(close(scores(order), scores(ALL))) for order in (np.roll(ALL, 1), swapped))


def _by_the_matrix(scores: Any) -> list[bool]:
    matrix = np.asarray(scores(list(range(POSITIONS))))
    lines = [np.diagonal(matrix, k) for k in range(1 - POSITIONS, POSITIONS)]
    others = matrix[~np.eye(POSITIONS, dtype=bool)]
    return [
        all(np.ptp(line) < 1e-9 for line in lines),
        bool(np.allclose(matrix[::-1, ::-1], matrix)),
        bool(np.ptp(np.diagonal(matrix)) < 1e-9 and np.ptp(others) < 1e-9),
    ]


def _by_random_orders(scores: Any) -> Verdict:
    matrix, rng = np.asarray(scores(ALL)), np.random.default_rng(0)
    any_order = all(
        np.allclose(matrix[np.ix_(order, order)], matrix)
        for order in (rng.permutation(ALL) for _ in range(20))
    )
    shift = np.allclose(matrix[1:, 1:], matrix[:-1, :-1])
    return bool(shift), bool(np.abs(matrix - np.flip(matrix)).max() < 1e-6), any_order


def _verdict_of(place: int, right: bool) -> Callable[[tuple[Any, ...], Any], bool]:
    """Of the boxes for which this is right: whether it is what the answer says."""

    def holds(args: tuple[Any, ...], value: Any) -> bool:
        test = (_shift, _mirror, _any_order)[place]
        return bool(value[place] == right) or test(args[0]) != right

    return holds


SYMMETRIES = Exercise(
    id="03-relative-position.symmetries",
    title="Prove by test: which symmetry is left?",
    signature="symmetries(scores: function from n whole positions, 0 to 63, to an (n, n) array) "
    "-> three truth values: a shift, a mirror, any reordering",
    points=4,
    minutes=18,
    difficulty=4,
    parts=("a shift", "a mirror", "any reordering"),
    reference=lambda scores: (_shift(scores), _mirror(scores), _any_order(scores)),
    make_cases=_symmetry_cases,
    properties=(
        Property(
            _verdict_of(0, False),
            "You say that a shift changes nothing, but for some query and key it does. Compare all of 0 to "
            "62 with 1 to 63, number by number.",
        ),
        Property(
            _verdict_of(0, True),
            "You say that a shift changes the scores, but it does not. Compare scores(np.arange(63)) with "
            "scores(np.arange(1, 64)), and leave room for rounding.",
        ),
        Property(
            _verdict_of(1, False),
            "You say that a mirror changes nothing, but for some query and key it does. Compare all 64 "
            "positions, queries and keys both backwards, number by number.",
        ),
        Property(
            _verdict_of(1, True),
            "You say that a mirror changes the scores, but it does not. Position p becomes 63 - p, for the "
            "query and for the key.",
        ),
        Property(
            _verdict_of(2, False),
            "You say that no reordering changes anything, but some do. One order is not enough, be it a "
            "roll, a swap or a mirror: try several random ones, and compare with the scores of "
            "np.arange(64) as they are.",
        ),
        Property(
            _verdict_of(2, True),
            "You say that some reordering changes the scores, but none does: here a score depends only on "
            "whether query and key are the same token.",
        ),
    ),
    mistakes=(
        Mistake(
            "exactly-equal",
            lambda scores: (
                _shift(scores, close=np.array_equal),
                _mirror(scores, close=np.array_equal),
                _any_order(scores, close=np.array_equal),
            ),
            "You compare with ==, and rounding makes equal scores differ in their last digit. Compare with "
            "np.allclose.",
        ),
        Mistake(
            "mirror-is-transpose",
            lambda scores: (
                _shift(scores),
                bool(np.allclose(scores(ALL), scores(ALL).T)),
                _any_order(scores),
            ),
            "For the mirror you compare the matrix with its transpose: that swaps queries and keys. A "
            "mirror reads the text backwards, so position p becomes 63 - p for both.",
        ),
        Mistake(
            "queries-alone-turned-round",
            lambda scores: (
                _shift(scores),
                bool(np.allclose(scores(ALL)[::-1], scores(ALL))),
                _any_order(scores),
            ),
            "For the mirror you reverse the rows of the matrix and leave the columns: the queries move and "
            "the keys stay. Reverse both.",
        ),
        Mistake(
            "shift-is-a-symmetric-matrix",
            lambda scores: (
                bool(np.allclose(scores(ALL), scores(ALL).T)),
                _mirror(scores),
                _any_order(scores),
            ),
            "For the shift you test whether the matrix is symmetric. A score may survive every shift and "
            "still tell before from after. Compare with the scores of shifted positions.",
        ),
        Mistake(
            "any-is-both",
            lambda scores: (_shift(scores), _mirror(scores), _shift(scores) and _mirror(scores)),
            "You call it any reordering where both the shift and the mirror change nothing. A score that "
            "depends on the distance survives both, and no shuffle. Try an order that is neither.",
        ),
        Mistake(
            "any-is-the-mirror",
            lambda scores: (_shift(scores), _mirror(scores), _mirror(scores)),
            "For any reordering you try the mirror alone. It is one of very many orders: try others, at "
            "random for example.",
        ),
        Mistake(
            "all-scores-equal",
            lambda scores: (_shift(scores), _mirror(scores), bool(np.ptp(scores(ALL)) < 1e-9)),
            "You ask whether all scores are equal. A token may score itself differently from all others: "
            "that also survives every reordering, since a token is itself in any order.",
        ),
        Mistake(
            "near-positions-only",
            lambda scores: (_shift(scores, positions=ALL[:32]), _mirror(scores), _any_order(scores)),
            "Your test of the shift looks at the first positions only, and one of these boxes changes "
            "further out. It takes positions 0 to 63: test them all.",
        ),
        Mistake(
            "even-shift",
            lambda scores: (_shift(scores, step=2), _mirror(scores), _any_order(scores)),
            "You shift by an even number, which takes odd positions to odd ones. A score that knows odd from "
            "even slips through. Shift by 1: all other shifts are made of such steps.",
        ),
        Mistake(
            "skips-the-start",
            lambda scores: (_shift(scores, positions=ALL[1:]), _mirror(scores), _any_order(scores)),
            "Your test of the shift leaves out position 0, and one of these boxes treats just that one "
            "differently. Test all of 0 to 63.",
        ),
        Mistake(
            "rolled",
            lambda scores: (
                bool(np.allclose(scores(ALL), np.roll(scores(ALL), (1, 1), axis=(0, 1)))),
                _mirror(scores),
                _any_order(scores),
            ),
            "For the shift you use np.roll, which moves the last row to the top, as if position 0 came "
            "after position 63. A text is not a circle: compare positions 0 to 62 with positions 1 to 63.",
        ),
        Mistake(
            "one-diagonal",
            lambda scores: (
                bool(np.ptp(np.diagonal(scores(ALL))) < 1e-9),
                _mirror(scores),
                _any_order(scores),
            ),
            "For the shift you look only at the main diagonal, which is offset 0. The scores must be equal "
            "along every diagonal.",
        ),
        Mistake(
            "shift-and-mirror-exchanged",
            lambda scores: (_mirror(scores), _shift(scores), _any_order(scores)),
            "Your tests are right, but the first two are swapped: the shift comes first, then the mirror.",
        ),
        Mistake(
            "verdicts-turned-round",
            lambda scores: (not _shift(scores), not _mirror(scores), not _any_order(scores)),
            "Your tests are right, and your verdicts are the wrong way round: return True where the scores "
            "stay what they were.",
        ),
    ),
    alternatives=(
        _by_the_matrix,
        _by_random_orders,
        lambda scores: [bool(each) for each in _by_the_matrix(scores)],
    ),
    hints=(
        "`scores(order)` gives the scores of the positions in that order. If a move leaves all scores as "
        "they are, it gives the same array as `scores(np.arange(64))`.",
        "A shift by 1 is enough: `scores(np.arange(63))` and `scores(np.arange(1, 64))` have the same shape.",
        "For any reordering, a few random ones settle it: `np.random.default_rng(0).permutation(64)`.",
    ),
)
