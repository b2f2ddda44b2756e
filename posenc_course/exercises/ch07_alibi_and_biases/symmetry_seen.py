"""Symmetry detective: what attention sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import Generator, _gap, softmax
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib._arrays import Array
from posenc_lib.biased.t5 import t5_buckets

Bias = Callable[[Array, Array], Array]

POSITIONS = 64
EVERYWHERE = np.arange(POSITIONS)

ALL, MIRROR, SHIFT, NONE = "all", "mirror", "shift", "none"


@dataclass(frozen=True)
class Box:
    """A closed box: a bias by its rule. Equal to another of the same rule and seed."""

    rule: Callable[[Array, Array, Generator], Array]
    seed: int

    def __call__(self, queries: Array, keys: Array) -> Array:
        """(queries,) and (keys,) to (queries, keys): the same numbers for the same positions, every time."""
        return self.rule(np.asarray(queries), np.asarray(keys), np.random.default_rng(self.seed))


def _slope(rng: Generator) -> float:
    return float(0.1 + 0.05 * rng.random())


def _rows(queries: Array, rng: Generator) -> Array:
    """A number for each query, which its whole row shares."""
    return np.asarray(rng.normal(size=POSITIONS)[queries][:, None])


def _nothing(queries: Array, keys: Array, rng: Generator) -> Array:
    return np.zeros((len(queries), len(keys)))


def _of_the_query(queries: Array, keys: Array, rng: Generator) -> Array:
    return _rows(queries, rng) + 0.0 * keys


def _gift_to_oneself(queries: Array, keys: Array, rng: Generator) -> Array:
    return 2.0 * (_gap(queries, keys) == 0) + _rows(queries, rng)


def _of_the_distance(queries: Array, keys: Array, rng: Generator) -> Array:
    return -_slope(rng) * np.abs(_gap(queries, keys))


def _of_distance_and_row(queries: Array, keys: Array, rng: Generator) -> Array:
    return _of_the_distance(queries, keys, rng) + _rows(queries, rng)


def _of_a_logarithm(queries: Array, keys: Array, rng: Generator) -> Array:
    return -np.log1p(_slope(rng) * np.abs(_gap(queries, keys)))


def _of_the_offset(queries: Array, keys: Array, rng: Generator) -> Array:
    return _slope(rng) * _gap(queries, keys)


def _to_the_first_two(queries: Array, keys: Array, rng: Generator) -> Array:
    return 1.0 * (keys[None, :] < 2) + 0.0 * queries[:, None]


def _of_the_key(queries: Array, keys: Array, rng: Generator) -> Array:
    return _slope(rng) * keys[None, :] + 0.0 * queries[:, None]


def _of_buckets(queries: Array, keys: Array, rng: Generator) -> Array:
    return np.asarray(rng.normal(size=32)[t5_buckets(_gap(queries, keys))])


def _of_two_rows(queries: Array, keys: Array, rng: Generator) -> Array:
    return np.asarray((rows := rng.normal(size=(POSITIONS, 4)))[queries] @ rows[keys].T)


def _of_the_keys_square(queries: Array, keys: Array, rng: Generator) -> Array:
    return 0.01 * _slope(rng) * keys[None, :] ** 2 + 0.0 * queries[:, None]


def _stretched(queries: Array, keys: Array, rng: Generator) -> Array:
    return -np.log1p(np.abs(_gap(queries, keys))) / np.log1p(np.maximum(queries, POSITIONS // 4))[:, None]


def _around_a_ring(queries: Array, keys: Array, rng: Generator) -> Array:
    return _slope(rng) * np.abs(_gap(queries % (POSITIONS // 2), keys % (POSITIONS // 2)))


def _around_one_ring(queries: Array, keys: Array, rng: Generator) -> Array:
    distance = np.abs(_gap(queries, keys))  # the ends of the text are neighbours
    return -_slope(rng) * np.minimum(distance, POSITIONS - distance)


def _with_a_sink(queries: Array, keys: Array, rng: Generator) -> Array:
    return _of_the_distance(queries, keys, rng) + 1.0 * (keys == 0)


def _odd_keys(queries: Array, keys: Array, rng: Generator) -> Array:
    return _of_the_distance(queries, keys, rng) + 0.5 * (keys % 2)


def _one_gift(queries: Array, keys: Array, rng: Generator) -> Array:
    # At a key after the query: an answer that hides those, though there is no mask, misses it.
    return _of_the_distance(queries, keys, rng) + 1.0 * (queries[:, None] == 12) * (keys == 45)


_BOXES = {
    ALL: (
        ("no bias at all", _nothing),
        ("a number for each query", _of_the_query),
        ("a gift to the query's own key", _gift_to_oneself),
    ),
    MIRROR: (
        ("a penalty on the distance", _of_the_distance),
        ("a penalty on the distance, and a number for each query", _of_distance_and_row),
        ("a logarithm of the distance", _of_a_logarithm),
        ("a penalty on the distance around a ring of 64", _around_one_ring),
    ),
    SHIFT: (
        ("slope times the offset", _of_the_offset),
        ("slope times the key, whatever the query", _of_the_key),
        ("a table of buckets", _of_buckets),
    ),
    NONE: (
        ("the product of two rows of a table of positions", _of_two_rows),
        ("the square of the key's position", _of_the_keys_square),
        ("a distance that is measured against the query's position", _stretched),
        ("positions that start again after half of the length", _around_a_ring),
        ("a penalty on the distance, and a gift to key 0", _with_a_sink),
        ("a penalty on the distance, and a gift to odd keys", _odd_keys),
        ("a gift to the first two keys", _to_the_first_two),
        ("a penalty on the distance, and a gift to one key of one query", _one_gift),
    ),
}


def _box_cases(rng: Generator) -> Iterator[Case]:
    for label, rule in enough_of_each(rng, *_BOXES.values()):
        yield Case(label, (Box(rule, int(rng.integers(2**32))),))


Seen = Callable[[Array], Array]
Close = Callable[[Array, Array], Any]


def _lowered(scores: Array) -> Array:
    """Without what a whole row shares."""
    return np.asarray(scores - scores[:, :1])


def _shifts(
    bias: Bias, seen: Seen = softmax, step: int = 1, at: Array = EVERYWHERE, close: Close = np.allclose
) -> bool:
    one, other = at[:-step], at[step:]
    return bool(close(seen(bias(one, one)), seen(bias(other, other))))


def _reordered(bias: Bias, order: Array, seen: Seen = softmax, close: Close = np.allclose) -> bool:
    return bool(close(seen(bias(order, order)), seen(bias(EVERYWHERE, EVERYWHERE))))


def _any_order(bias: Bias, seen: Seen = softmax, close: Close = np.allclose) -> bool:
    """Two reorderings make all others: one step round, and two neighbours that change places."""
    swapped = EVERYWHERE.copy()
    swapped[[0, 1]] = 1, 0
    return all(_reordered(bias, order, seen, close) for order in (np.roll(EVERYWHERE, 1), swapped))


def _named(every: bool, mirror: bool, shift: bool) -> str:
    return ALL if every else NONE if not shift else MIRROR if mirror else SHIFT


def _judged(bias: Bias, seen: Seen = softmax, close: Close = np.allclose) -> str:
    mirror = _reordered(bias, EVERYWHERE[::-1], seen, close)
    return _named(_any_order(bias, seen, close), mirror, _shifts(bias, seen, close=close))


def _judged_by_shift(**slip: Any) -> Callable[[Bias], str]:
    """Right, but for how the shift is tried."""
    return lambda bias: _named(_any_order(bias), _reordered(bias, EVERYWHERE[::-1]), _shifts(bias, **slip))


def _symmetry_without_row(bias: Bias) -> str:
    return _judged(bias, _lowered)


def _symmetry_by_means(bias: Bias) -> str:
    return _judged(bias, lambda scores: scores - scores.mean(axis=1, keepdims=True))


def _symmetry_by_ratios(bias: Bias) -> str:
    """From the whole matrix: ratios of weights within a row, and random orders."""
    weights = np.log(softmax(bias(EVERYWHERE, EVERYWHERE)))
    rng = np.random.default_rng(0)

    def same(one: Array, other: Array) -> bool:
        return bool(np.abs(_lowered(one) - _lowered(other)).max() < 1e-8)

    orders = [rng.permutation(POSITIONS) for _ in range(5)]
    return _named(
        all(same(weights[np.ix_(order, order)], weights) for order in orders),
        same(weights[::-1, ::-1], weights),
        same(weights[1:, 1:], weights[:-1, :-1]),
    )


SYMMETRY_SEEN = Exercise(
    id="07-alibi-and-biases.symmetry_seen",
    title="Symmetry detective: what attention sees",
    signature='symmetry_seen(bias: a function of (positions of queries, positions of keys)) -> "all", '
    '"mirror", "shift" or "none"',
    points=3,
    minutes=15,
    difficulty=4,
    reference=lambda bias: _judged(bias),
    make_cases=_box_cases,
    properties=(
        Property(
            lambda args, value: isinstance(value, str) and value in (ALL, MIRROR, SHIFT, NONE),
            'Return one of the four words: "all", "mirror", "shift" or "none".',
            about="form",
        ),
    ),
    mistakes=(
        # Verdicts say little of how they were found, so the words keep to what was told of which box.
        Mistake(
            "numbers-not-weights",
            lambda bias: _judged(bias, lambda scores: scores),
            "You judge the numbers themselves, and attention does not see all of them. What a whole row "
            "shares "
            "changes no weight. Compare weights, or take the row's own number away first.",
        ),
        Mistake(
            "to-the-bit",
            lambda bias: _judged(bias, close=np.array_equal),
            "You refuse boxes whose numbers differ by rounding alone. Compare with a tolerance: np.allclose.",
        ),
        Mistake(
            "near-the-start",
            _judged_by_shift(at=EVERYWHERE[:8]),
            "You accept boxes that survive a shift near the start of the text and nowhere else. Test all "
            "positions, 0 to 63.",
        ),
        Mistake(
            "half-of-the-text",
            _judged_by_shift(at=EVERYWHERE[POSITIONS // 2 :]),
            "You accept boxes that survive a shift in the second half of the text: one of them favours key "
            "0, and one starts again at 32. Test all positions, 0 to 63.",
        ),
        Mistake(
            "shifted-by-two",
            _judged_by_shift(step=2),
            "You accept a box that knows odd from even. A shift by 2 takes odd positions to odd ones: shift "
            "by 1, since all other shifts are made of those.",
        ),
        Mistake(
            "start-left-out",
            _judged_by_shift(at=EVERYWHERE[1:]),
            "You accept the box that treats key 0 alone differently. Test all positions, 0 to 63, the first "
            "one too.",
        ),
        Mistake(
            "distance-is-all",
            lambda bias: _named(_shifts(bias) and _reordered(bias, EVERYWHERE[::-1]), False, _shifts(bias)),
            'You say "all" where the shift and the mirror change nothing. A penalty on the distance survives '
            "both, and no shuffle. Try an order that is neither.",
        ),
        Mistake(
            "no-weight-differs",
            lambda bias: _named(
                bool(np.ptp(softmax(bias(EVERYWHERE, EVERYWHERE))) < 1e-9),
                _reordered(bias, EVERYWHERE[::-1]),
                _shifts(bias),
            ),
            'You say "all" only where all weights are equal. A bias that favours a query\'s own key '
            "survives every reordering as well: a token is its own key wherever it goes.",
        ),
        Mistake(
            "mirror-is-transpose",
            lambda bias: _named(
                _any_order(bias),
                bool(np.allclose(bias(EVERYWHERE, EVERYWHERE), bias(EVERYWHERE, EVERYWHERE).T)),
                _shifts(bias),
            ),
            "For the mirror you compared the matrix with its transpose, which exchanges queries and keys. A "
            "mirror reverses the text: position p becomes 63 - p for both.",
        ),
        Mistake(
            "mirror-forgotten",
            lambda bias: _named(_any_order(bias), False, _shifts(bias)),
            'You never say "mirror". Some boxes survive reading the text backwards, as well as every shift.',
        ),
        Mistake(
            "mirror-and-shift-exchanged",
            lambda bias: {MIRROR: SHIFT, SHIFT: MIRROR}.get(_judged(bias), _judged(bias)),
            'Your tests are right, but the words "mirror" and "shift" are swapped. "mirror" is for '
            "boxes that survive both.",
        ),
        Mistake(
            "weakest-first",
            lambda bias: SHIFT if _shifts(bias) else NONE,
            'You say "shift" wherever a shift changes nothing. Boxes that survive more than that get the '
            "stronger word: ask for every reordering first, and then for the mirror.",
        ),
        Mistake(
            "a-roll-is-all",
            lambda bias: _named(
                _reordered(bias, np.roll(EVERYWHERE, 1)), _reordered(bias, EVERYWHERE[::-1]), _shifts(bias)
            ),
            'You say "all" for a box that lies on a ring: its first and its last position are neighbours. '
            "Rolling the positions turns the ring, and changes nothing. Try an order that is neither a roll "
            "nor a mirror.",
        ),
        Mistake(
            "backwards-is-all",
            lambda bias: _named(_reordered(bias, EVERYWHERE[::-1]), False, _shifts(bias)),
            'You say "all" wherever reading backwards changes nothing. That is the mirror. For "all", try a '
            "few random orders.",
        ),
        Mistake(
            "mirror-without-shift",
            lambda bias: (
                MIRROR if _judged(bias) != ALL and _reordered(bias, EVERYWHERE[::-1]) else _judged(bias)
            ),
            'You say "mirror" for a box that survives reading backwards and no shift. "mirror" is for boxes '
            "that survive both: ask for the shift first.",
        ),
    ),
    alternatives=(_symmetry_without_row, _symmetry_by_means, _symmetry_by_ratios),
    hints=(
        "With equal scores the weights are the softmax of the bias, row by row. Compare those, not the bias.",
        "`bias(p, p)` with `p = np.arange(64)` is the whole matrix. A shift: `p[:-1]` against `p[1:]`. The "
        "mirror: `p[::-1]` against `p`.",
        "For any reordering, a few random ones settle it: `np.random.default_rng(0).permutation(64)`. Ask "
        "for the strongest symmetry first.",
    ),
)
