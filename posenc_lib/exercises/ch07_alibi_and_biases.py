"""Exercises of `07-alibi-and-biases`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.attention import attention
from posenc_lib.biased.alibi import alibi_bias, alibi_slopes
from posenc_lib.biased.cope import cope_bias
from posenc_lib.biased.fire import fire_bias, fire_distances
from posenc_lib.biased.kerple import kerple_bias
from posenc_lib.biased.t5 import t5_buckets
from posenc_lib.biased.transformer_xl import relative_shift as shift_by_reshape
from posenc_lib.biased.transformer_xl import transformer_xl_bias
from posenc_lib.exercises.drawing import Draws, curve, heat_map
from posenc_lib.exercises.exercise import BASIC, Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib.exercises.shoot_out import DIFFERENCE
from posenc_lib.exercises.trained_decoder import STEPS

CHAPTER = "07-alibi-and-biases"

Generator = np.random.Generator
Bias = Callable[[Array, Array], Array]


def _gap(queries: Array, keys: Array) -> Array:
    """key - query, (queries, keys)."""
    return np.asarray(keys)[None, :] - np.asarray(queries)[:, None]


# --- symmetry_seen ---------------------------------------------------------------------------------

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


def _of_the_key(queries: Array, keys: Array, rng: Generator) -> Array:
    return _slope(rng) * keys[None, :] + 0.0 * queries[:, None]


def _of_buckets(queries: Array, keys: Array, rng: Generator) -> Array:
    return np.asarray(rng.normal(size=32)[t5_buckets(_gap(queries, keys))])


def _of_two_rows(queries: Array, keys: Array, rng: Generator) -> Array:
    rows = rng.normal(size=(POSITIONS, 4))
    return np.asarray(rows[queries] @ rows[keys].T)


def _of_the_keys_square(queries: Array, keys: Array, rng: Generator) -> Array:
    return 0.01 * _slope(rng) * keys[None, :] ** 2 + 0.0 * queries[:, None]


def _stretched(queries: Array, keys: Array, rng: Generator) -> Array:
    reach = np.maximum(queries, POSITIONS // 4)[:, None]
    return -np.log1p(np.abs(_gap(queries, keys))) / np.log1p(reach)


def _around_a_ring(queries: Array, keys: Array, rng: Generator) -> Array:
    return _slope(rng) * np.abs(_gap(queries % (POSITIONS // 2), keys % (POSITIONS // 2)))


def _with_a_sink(queries: Array, keys: Array, rng: Generator) -> Array:
    return _of_the_distance(queries, keys, rng) + 1.0 * (keys == 0)


def _odd_keys(queries: Array, keys: Array, rng: Generator) -> Array:
    return _of_the_distance(queries, keys, rng) + 0.5 * (keys % 2)


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
    ),
}


def _box_cases(rng: Generator) -> Iterator[Case]:
    for label, rule in enough_of_each(rng, *_BOXES.values()):
        yield Case(label, (Box(rule, int(rng.integers(2**32))),))


Seen = Callable[[Array], Array]
Close = Callable[[Array, Array], Any]


def _softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _lowered(scores: Array) -> Array:
    """Without what a whole row shares."""
    return np.asarray(scores - scores[:, :1])


def _shifts(
    bias: Bias, seen: Seen = _softmax, step: int = 1, at: Array = EVERYWHERE, close: Close = np.allclose
) -> bool:
    one, other = at[:-step], at[step:]
    return bool(close(seen(bias(one, one)), seen(bias(other, other))))


def _reordered(bias: Bias, order: Array, seen: Seen = _softmax, close: Close = np.allclose) -> bool:
    return bool(close(seen(bias(order, order)), seen(bias(EVERYWHERE, EVERYWHERE))))


def _any_order(bias: Bias, seen: Seen = _softmax, close: Close = np.allclose) -> bool:
    """Two reorderings make all others: one step round, and two neighbours that change places."""
    swapped = EVERYWHERE.copy()
    swapped[[0, 1]] = 1, 0
    return all(_reordered(bias, order, seen, close) for order in (np.roll(EVERYWHERE, 1), swapped))


def _named(every: bool, mirror: bool, shift: bool) -> str:
    return ALL if every else NONE if not shift else MIRROR if mirror else SHIFT


def _judged(bias: Bias, seen: Seen = _softmax, close: Close = np.allclose) -> str:
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
    weights = np.log(_softmax(bias(EVERYWHERE, EVERYWHERE)))
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
    id=f"{CHAPTER}.symmetry_seen",
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
            "You accept boxes that survive a shift near the start of the text and nowhere else. Ask for all "
            "positions, 0 to 63.",
        ),
        Mistake(
            "half-of-the-text",
            _judged_by_shift(at=EVERYWHERE[POSITIONS // 2 :]),
            "You accept boxes that survive a shift in the second half of the text: one gives something to "
            "key "
            "0, and one starts again at 32. Ask for all positions, 0 to 63.",
        ),
        Mistake(
            "shifted-by-two",
            _judged_by_shift(step=2),
            "You accept a box that knows odd from even. A shift by 2 takes odd positions to odd ones: shift "
            "by "
            "1, every other shift is made of those.",
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
                bool(np.ptp(_softmax(bias(EVERYWHERE, EVERYWHERE))) < 1e-9),
                _reordered(bias, EVERYWHERE[::-1]),
                _shifts(bias),
            ),
            'You say "all" only where all weights are equal. A query that treats its own key differently '
            "also "
            "survives every reordering, since it goes on being itself.",
        ),
        Mistake(
            "mirror-is-transpose",
            lambda bias: _named(
                _any_order(bias),
                bool(np.allclose(bias(EVERYWHERE, EVERYWHERE), bias(EVERYWHERE, EVERYWHERE).T)),
                _shifts(bias),
            ),
            "For the mirror you let queries and keys change roles. A mirror turns the text round, so "
            "position "
            "p becomes 63 - p for both.",
        ),
        Mistake(
            "mirror-forgotten",
            lambda bias: _named(_any_order(bias), False, _shifts(bias)),
            'You never say "mirror". Some boxes survive when the text is read backwards, on top of every '
            "shift.",
        ),
        Mistake(
            "mirror-and-shift-exchanged",
            lambda bias: {MIRROR: SHIFT, SHIFT: MIRROR}.get(_judged(bias), _judged(bias)),
            'Your tests are right, and the words "mirror" and "shift" have changed places. "mirror" is for '
            "boxes that survive both.",
        ),
        Mistake(
            "weakest-first",
            lambda bias: SHIFT if _shifts(bias) else NONE,
            'You say "shift" wherever a shift changes nothing. Boxes that survive more than that get the '
            "stronger word: ask for every reordering first, and then for the mirror.",
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


XL = "A score of Transformer-XL"

# --- relative_shift --------------------------------------------------------------------------------


def _shift_cases(rng: Generator) -> Iterator[Case]:
    for queries, keys in ((3, 3), (1, 1), (1, 4), (2, 5), (5, 5), (4, int(rng.integers(6, 12)))):
        # Distinct numbers from 1 on, so that no number can stand in another's place by chance.
        numbers = 1.0 + rng.permutation(queries * keys).reshape(queries, keys)
        yield Case(f"distinct numbers, queries: {queries}, keys: {keys}", (numbers,))
    yield Case("each column full of its own offset", (np.tile(np.arange(-5.0, 1.0), (6, 1)),))


def _shift_by(x: Array, steps: Callable[[int, int], int], fill: float = 0.0) -> Array:
    """Each row moved to the left by so many steps of its number and the number of rows."""
    shifted = np.full(x.shape, fill)
    for row, values in enumerate(x):
        by = steps(row, len(x))
        for column in range(x.shape[1]):
            if 0 <= column + by < x.shape[1]:
                shifted[row, column] = values[column + by]
    return shifted


def _right_shift(x: Array) -> Array:
    return np.asarray(shift_by_reshape(x, x.shape[1]))


def _shift_by_reshape(x: Array) -> Array:
    """The authors' way, and then the mask."""
    queries, keys = x.shape
    return np.asarray(np.tril(_unmasked(x), keys - queries))


def _unmasked(x: Array) -> Array:
    queries, keys = x.shape
    padded = np.concatenate([np.zeros((queries, 1)), x], axis=1)
    return padded.reshape(keys + 1, queries)[1:].reshape(queries, keys)


def _shift_by_picking(x: Array) -> Array:
    queries, keys = x.shape
    column = np.arange(keys) + (queries - 1 - np.arange(queries))[:, None]
    return np.where(column < keys, np.take_along_axis(x, np.minimum(column, keys - 1), axis=1), 0.0)


def _shift_by_rows(x: Array) -> list[list[float]]:
    rows = x.tolist()
    last = len(rows) - 1
    return [row[last - i :] + [0.0] * (last - i) for i, row in enumerate(rows)]


RELATIVE_SHIFT = Exercise(
    id=f"{CHAPTER}.relative_shift",
    title="The relative shift",
    step_of=XL,
    signature="relative_shift(x: array of shape (queries, keys)) -> array of shape (queries, keys)",
    points=3,
    minutes=12,
    difficulty=4,
    reference=_right_shift,
    make_cases=_shift_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape stays (queries, keys): each row slides to the left inside it.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.asarray(value)[-1], args[0][-1])),
            "The last query stands at the last key, so the last row must stay as it is.",
        ),
        Property(
            lambda args, value: not np.triu(value, k=np.shape(value)[1] - np.shape(value)[0] + 1).any(),
            "Keys after the query have no offset in x, so their entries must be 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "unmasked",
            _unmasked,
            "The shift is right, but the numbers above the diagonal were moved in from the next row. They "
            "mean nothing: set the keys after the query to 0, with np.tril(shifted, keys - queries).",
        ),
        Mistake(
            "rolled",
            lambda x: np.stack([np.roll(row, i + 1 - len(x)) for i, row in enumerate(x)]),
            "Each row was rolled, so what left it on the left came back on the right, where keys after the "
            "query stand. Put 0 there.",
        ),
        Mistake(
            "not-shifted",
            lambda x: np.tril(x, x.shape[1] - x.shape[0]),
            "Nothing was moved: column j still belongs to an offset and not to a key. Row i has to slide to "
            "the left by queries - 1 - i.",
        ),
        Mistake(
            "from-the-top",
            lambda x: _shift_by(x, lambda row, rows: row),
            "Row i was moved by i, so the first row stayed and the last one moved most. It is the other way "
            "round: the last query stands at the last key, and its row is in place already. Move row i by "
            "queries - 1 - i.",
        ),
        Mistake(
            "to-the-right",
            lambda x: _shift_by(x, lambda row, rows: row + 1 - rows),
            "The rows moved to the right. Earlier queries reach less far into the past, so what their row "
            "begins with has to leave on the left.",
        ),
        Mistake(
            "one-too-far",
            lambda x: _shift_by(x, lambda row, rows: rows - row),
            "Each row moved one column too far, and no query meets itself any more. This is what comes out "
            "when the column of zeros is put behind x: it belongs in front. Row i moves by queries - 1 - i.",
        ),
        Mistake(
            "minus-infinity",
            lambda x: _shift_by(x, lambda row, rows: rows - 1 - row, fill=-np.inf),
            "The shift is right, but the keys after the query hold minus infinity. This is a term of the "
            "score, and the causal mask comes later: put 0 there.",
        ),
        Mistake(
            "columns-for-rows",
            lambda x: _shift_by(x.T, lambda row, rows: rows - 1 - row).T,
            "The columns slid upwards. Each row belongs to a query, and it is the rows that slide, to the "
            "left.",
        ),
    ),
    alternatives=(_shift_by_reshape, _shift_by_picking, _shift_by_rows),
    hints=(
        "Column c of `x` belongs to the offset `c - (keys - 1)`. Row i is the query at position `i + keys - "
        "queries`. Which column holds the offset of key j?",
        "It is column `j + queries - 1 - i`: row i slides to the left by `queries - 1 - i`, and the last row "
        "stays.",
        "Without a loop: put a column of zeros in front, reshape to `(keys + 1, queries)`, drop the first "
        "row, reshape back to `(queries, keys)`, and set what lies after the query to 0.",
    ),
)


# --- xl_scores -------------------------------------------------------------------------------------


def _xl_cases(rng: Generator) -> Iterator[Case]:
    def drawn(queries: int, keys: int, d: int) -> tuple[Array, ...]:
        q, (k, r), (u, v) = (rng.normal(size=shape) for shape in ((queries, d), (2, keys, d), (2, d)))
        return q, k, r, u, v

    q = np.array([[0.0, 1.0]])
    k = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    r = np.array([[0.1, -1.0], [0.9, -0.4], [0.8, 0.5], [0.0, 1.0]])
    yield Case(
        "the last word of the chapter's sentence", (q, k, r, np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    )
    yield Case("three queries, three keys", drawn(3, 3, 4))
    yield Case("as many tokens as columns", drawn(4, 4, 4))
    yield Case("two new queries, five keys in all", drawn(2, 5, 4))
    yield Case("one token", drawn(1, 1, 2))
    yield Case("seven queries, nine keys", drawn(7, 9, 3))


def _xl(
    q: Array,
    k: Array,
    r: Array,
    u: Array,
    v: Array,
    *,
    leave: str = "",
    root: bool = True,
    fill: float = -np.inf,
) -> Array:
    """The four terms, without those that are left out."""
    terms = {
        "a": q @ k.T,
        "b": _right_shift(q @ r.T),
        "c": np.ones((len(q), 1)) * (k @ u),
        "d": _right_shift(np.ones((len(q), 1)) * (r @ v)),
    }
    scores = sum(term for name, term in terms.items() if name not in leave)
    hidden = _late(len(q), len(k)) > 0
    return np.where(hidden, fill, scores / (np.sqrt(q.shape[1]) if root else 1))


def _xl_without(name: str, words: str) -> Mistake:
    return Mistake(f"without-{name}", lambda q, k, r, u, v: _xl(q, k, r, u, v, leave=name), words)


def _xl_unshifted(q: Array, k: Array, r: Array, u: Array, v: Array) -> Array:
    scores = ((q + u) @ k.T + (q + v) @ r.T) / np.sqrt(q.shape[1])
    return np.where(_late(len(q), len(k)) > 0, -np.inf, scores)


def _xl_shifted_whole(q: Array, k: Array, r: Array, u: Array, v: Array) -> Array:
    scores = _right_shift((q + u) @ k.T + (q + v) @ r.T) / np.sqrt(q.shape[1])
    return np.where(_late(len(q), len(k)) > 0, -np.inf, scores)


def _xl_in_two(q: Array, k: Array, r: Array, u: Array, v: Array) -> Array:
    """As the authors compute it: (q + u) with k, and (q + v) with r."""
    scores = ((q + u) @ k.T + _right_shift((q + v) @ r.T)) / np.sqrt(q.shape[1])
    scores[_late(len(q), len(k)) > 0] = -np.inf
    return np.asarray(scores)


def _xl_by_loops(q: Array, k: Array, r: Array, u: Array, v: Array) -> list[list[float]]:
    rows = []
    for i, query in enumerate(q):
        here = i + len(k) - len(q)
        rows.append(
            [
                float((query + u) @ k[j] + (query + v) @ r[len(k) - 1 - (here - j)]) / math.sqrt(len(u))
                if j <= here
                else -math.inf
                for j in range(len(k))
            ]
        )
    return rows


def _xl_by_the_library(q: Array, k: Array, r: Array, u: Array, v: Array) -> Array:
    bias = np.asarray(transformer_xl_bias(q[None], k[None], r[None], u[None], v[None]))[0]
    scores = q @ k.T * q.shape[1] ** -0.5 + bias
    scores[np.triu_indices(len(q), len(k) - len(q) + 1, len(k))] = -np.inf
    return np.asarray(scores)


XL_SCORES = Exercise(
    id=f"{CHAPTER}.xl_scores",
    title="Four terms, one score",
    step_of=XL,
    signature="xl_scores(q: array of shape (queries, head_dim), k: (keys, head_dim), r: (keys, head_dim), "
    "u: (head_dim,), v: (head_dim,)) -> array of shape (queries, keys)",
    points=2,
    minutes=10,
    difficulty=3,
    reference=lambda q, k, r, u, v: _xl(q, k, r, u, v),
    make_cases=_xl_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[1])),
            "There is one score for each query and key: the shape is (queries, keys).",
            about="form",
        ),
    ),
    mistakes=(
        _xl_without("a", "The first term is missing: what the query makes of the key, q · k."),
        _xl_without("b", "The second term is missing: what the query makes of the distance, q · r."),
        _xl_without("c", "The third term is missing: what any query makes of the key, u · k."),
        _xl_without("d", "The fourth term is missing: what any query makes of the distance, v · r."),
        _xl_without("cd", "The two terms of u and v are missing: what any query makes of key and distance."),
        Mistake(
            "u-and-v-exchanged",
            lambda q, k, r, u, v: _xl(q, k, r, v, u),
            "The vectors u and v have changed places: u meets the keys, and v meets the distances.",
        ),
        Mistake(
            "no-root",
            lambda q, k, r, u, v: _xl(q, k, r, u, v, root=False),
            "The four terms are right, and nothing was divided. All of them are divided by the root of "
            "head_dim.",
        ),
        Mistake(
            "content-alone-divided",
            lambda q, k, r, u, v: (
                _xl(q, k, r, u, v, leave="bd", fill=0.0)
                + _xl(q, k, r, u, v, leave="ac", root=False, fill=-np.inf)
            ),
            "Only the two terms of the keys were divided by the root of head_dim. All four are.",
        ),
        Mistake(
            "nearest-first",
            lambda q, k, r, u, v: _xl(q, k, r[::-1], u, v),
            "The rows of r were taken nearest first. Its first row belongs to the farthest distance, and its "
            "last row to distance 0.",
        ),
        Mistake(
            "not-shifted",
            _xl_unshifted,
            "The products with r still have a column for each distance, and were added to a column for each "
            "key. Shift them first.",
        ),
        Mistake(
            "neither-shifted-nor-hidden",
            lambda q, k, r, u, v: ((q + u) @ k.T + (q + v) @ r.T) / np.sqrt(q.shape[1]),
            "Two things: the products with r have a column for each distance until they are shifted, and "
            "keys after the query have to be hidden by minus infinity.",
        ),
        Mistake(
            "hidden-as-if-square",
            lambda q, k, r, u, v: np.where(np.tri(len(q), len(k)) > 0, _xl(q, k, r, u, v), -np.inf),
            "Where there are fewer queries than keys, you hide keys that are not after the query: the last "
            "query stands at the last key. Move the diagonal of your triangle by keys - queries.",
        ),
        Mistake(
            "shifted-whole",
            _xl_shifted_whole,
            "The products with k were shifted too. They have a column for each key already: shift only the "
            "products with r.",
        ),
        Mistake(
            "future-open",
            lambda q, k, r, u, v: _xl(q, k, r, u, v, fill=0.0),
            "Keys after the query got the score 0, which is not little. To hide a key, its score must be "
            "minus "
            "infinity.",
        ),
        Mistake(
            "future-has-content",
            lambda q, k, r, u, v: ((q + u) @ k.T + _right_shift((q + v) @ r.T)) / np.sqrt(q.shape[1]),
            "Keys after the query are still open: they have the two terms of the key. Put minus infinity "
            "there.",
        ),
    ),
    alternatives=(_xl_in_two, _xl_by_loops, _xl_by_the_library),
    hints=(
        "Which terms have a column for each key from the start, and which have one for each distance?",
        "`q @ k.T` and `k @ u` fit at once. `q @ r.T` and `r @ v` go through `relative_shift` first.",
        "Two products are enough: `(q + u) @ k.T` and `relative_shift((q + v) @ r.T)`. Divide their sum, and "
        "hide the keys after the query.",
    ),
)


T5 = "T5's buckets"

# --- bucket_starts ---------------------------------------------------------------------------------


def _start_cases(rng: Generator) -> Iterator[Case]:
    # Where a border is a whole number, rounding decides: none of these has one.
    yield Case("4 buckets, max_distance 7", (4, 7))
    yield Case("a T5 decoder: 32 buckets, max_distance 128", (32, 128))
    yield Case("2 buckets, max_distance 10", (2, 10))
    yield Case("12 buckets, max_distance 128", (12, 128))
    yield Case("16 buckets, max_distance 1000", (16, 1000))
    for _ in range(3):
        buckets, longest = 2 * int(rng.integers(4, 20)), int(rng.integers(80, 900))
        while _borders_meet_whole(buckets, longest):
            longest += 1
        yield Case(f"{buckets} buckets, max_distance {longest}", (buckets, longest))


def _borders(buckets: int, max_distance: int, steps: Any = None, exact: int | None = None) -> Array:
    """Where the wide buckets begin, before rounding to whole distances."""
    exact = buckets // 2 if exact is None else exact
    steps = np.arange(buckets - exact) if steps is None else steps
    return np.asarray(exact * (max_distance / exact) ** (steps / (buckets - exact)))


def _borders_meet_whole(buckets: int, max_distance: int) -> bool:
    wide = _borders(buckets, max_distance)[1:]
    return bool(np.abs(wide - np.round(wide)).min(initial=1.0) < 1e-3)


def _starts(wide: Array, exact: int, to_whole: Callable[[Array], Array] = np.ceil) -> Array:
    return np.concatenate([np.arange(exact), to_whole(wide)]).astype(int)


def _right_starts(buckets: int, max_distance: int) -> list[int]:
    """In whole numbers: t reaches step s of w where t^w e^s >= m^s e^w."""
    exact = buckets // 2
    wide, starts, distance = buckets - exact, list(range(exact)), exact
    for step in range(wide):
        while distance**wide * exact**step < max_distance**step * exact**wide:
            distance += 1
        starts.append(distance)
    return starts


def _starts_by_counting(buckets: int, max_distance: int) -> list[int]:
    """Walk along all distances and note where the bucket changes."""
    distances = np.arange(max_distance + 1)
    found = t5_buckets(-distances, buckets=buckets, max_distance=max_distance, bidirectional=False)
    return [int(np.argmax(np.asarray(found) == bucket)) for bucket in range(buckets)]


def _starts_by_factor(buckets: int, max_distance: int) -> list[int]:
    exact = buckets // 2
    factor = (max_distance / exact) ** (1 / (buckets - exact))
    starts, border = list(range(exact)), float(exact)
    for _ in range(buckets - exact):
        starts.append(math.ceil(border - 1e-9))
        border *= factor
    return starts


def _starts_by_formula(buckets: int, max_distance: int) -> Array:
    return _starts(_borders(buckets, max_distance) - 1e-9, buckets // 2)


BUCKET_STARTS = Exercise(
    id=f"{CHAPTER}.bucket_starts",
    title="Where each bucket begins",
    step_of=T5,
    signature="bucket_starts(buckets: int, max_distance: int) -> array of shape (buckets,), whole numbers",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_right_starts,
    make_cases=_start_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0],),
            "Every bucket has one first distance: return as many numbers as there are buckets.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.asarray(value)[0] == 0),
            "Bucket 0 begins at distance 0: the query itself.",
        ),
        Property(
            lambda args, value: bool(np.all(np.diff(np.asarray(value)) > 0)),
            "Each bucket begins farther away than the one before.",
        ),
    ),
    mistakes=(
        Mistake(
            "rounded-down",
            lambda buckets, max_distance: _starts(
                _borders(buckets, max_distance), buckets // 2, lambda wide: np.floor(wide + 1e-9)
            ),
            "The borders were rounded down. A distance below the border is still in the bucket before: the "
            "first one in the new bucket is the next whole number above.",
        ),
        Mistake(
            "rounded",
            lambda buckets, max_distance: _starts(_borders(buckets, max_distance), buckets // 2, np.round),
            "The borders were rounded to the nearest whole number. A distance just below a border is still "
            "in "
            "the bucket before: round up.",
        ),
        Mistake(
            "last-at-max-distance",
            lambda buckets, max_distance: _starts(
                np.geomspace(buckets // 2, max_distance, buckets - buckets // 2) - 1e-9, buckets // 2
            ),
            "Your last bucket begins at max_distance. That is where one more bucket would begin, if there "
            "were one: the steps from exact to max_distance are as many as the wide buckets.",
        ),
        Mistake(
            "one-step-too-far",
            lambda buckets, max_distance: _starts(
                _borders(buckets, max_distance, 1 + np.arange(buckets - buckets // 2)) - 1e-9, buckets // 2
            ),
            "These are the first distances of the bucket after. The first of the wide buckets begins at "
            "exact itself, with no step taken.",
        ),
        Mistake(
            "equally-wide",
            lambda buckets, max_distance: _starts(
                np.linspace(buckets // 2, max_distance, buckets - buckets // 2 + 1)[:-1] - 1e-9, buckets // 2
            ),
            "Your wide buckets are all equally wide. Each is wider than the one before, by the same factor.",
        ),
        Mistake(
            "all-wide",
            lambda buckets, max_distance: np.concatenate(
                [[0], np.ceil(np.geomspace(1, max_distance, buckets)[:-1] - 1e-9)]
            ).astype(int),
            "All buckets were spread on the logarithm. The first half of them hold one distance each.",
        ),
        Mistake(
            "all-exact",
            lambda buckets, max_distance: np.arange(buckets),
            "Every bucket holds a single distance here. Only the first half of the buckets do.",
        ),
        Mistake(
            "a-quarter-exact",
            lambda buckets, max_distance: _starts(
                _borders(buckets, max_distance, exact=max(1, buckets // 4)) - 1e-9, max(1, buckets // 4)
            ),
            "You halved the buckets twice. These are all for one direction: half of them hold one distance "
            "each.",
        ),
        Mistake(
            "doubling",
            lambda buckets, max_distance: _starts(
                (buckets // 2) * 2.0 ** np.arange(buckets - buckets // 2), buckets // 2
            ),
            "Each bucket begins at twice the distance of the one before. The factor depends on max_distance "
            "and on how many wide buckets there are.",
        ),
        Mistake(
            "last-distances",
            lambda buckets, max_distance: (
                [start - 1 for start in _right_starts(buckets, max_distance)[1:]] + [max_distance]
            ),
            "These are the last distances of the buckets. Asked for are the first ones.",
        ),
    ),
    alternatives=(_starts_by_counting, _starts_by_factor, _starts_by_formula),
    hints=(
        "The first half needs no formula: distances 0, 1, 2, ...",
        "From `exact = buckets // 2` to max_distance it is a factor of `max_distance / exact`. The wide "
        "buckets share it in equal factors.",
        "Wide bucket number s begins at `exact * (max_distance / exact) ** (s / (buckets - exact))`, rounded "
        "up to a whole distance.",
    ),
)


# --- t5_bucket -------------------------------------------------------------------------------------

PAST_ONLY = "the past only"


def _bucket_cases(rng: Generator) -> Iterator[Case]:
    # Whole powers, such as 16 and 32 here, lie on a border, where rounding decides: they are left out.
    far = np.array([10, 13, 19, 27, 40, 60, 90, 110, 127])
    past, ahead = -rng.permutation(far), rng.permutation(far)
    yield Case("the query itself and its neighbours", (np.array([0, -1, 1, -2, 2]), 32, 128, True))
    yield Case("distances that have a bucket of their own", (np.arange(-7, 8), 32, 128, True))
    yield Case("wide buckets, keys before the query", (past, 32, 128, True))
    yield Case("wide buckets, keys after the query", (ahead, 32, 128, True))
    yield Case("beyond max_distance", (np.array([-129, -1000, 200, 1_000_000]), 32, 128, True))
    yield Case("a matrix of offsets", (_gap(np.arange(5), np.arange(7)), 32, 128, True))
    yield Case("8 buckets, max_distance 20", (np.array([0, -1, 3, -3, 5, -6, 11, 19, -30]), 8, 20, True))
    yield Case("past only: near keys", (-np.arange(16), 32, 128, False), group=PAST_ONLY)
    yield Case(
        "past only: far keys",
        (-np.array([18, 23, 35, 50, 75, 100, 120, 500]), 32, 128, False),
        group=PAST_ONLY,
    )
    yield Case(
        "past only: keys after the query", (np.array([0, 1, 5, 40, 400]), 32, 128, False), group=PAST_ONLY
    )


def _bucketed(
    relative: Array,
    buckets: int,
    max_distance: int,
    bidirectional: bool,
    *,
    to_whole: Callable[[Array], Array] = np.floor,
    halved: bool = True,
    exact_share: float = 0.5,
    last: bool = True,
    normalised: bool = True,
    ahead: Callable[[Array], Array] = lambda relative: relative > 0,
    other_half: bool = True,
    fold: bool = True,
    ceiling: int | None = None,
) -> Array:
    """T5's rule in floating point, each of its steps open to a slip."""
    relative = np.asarray(relative)
    side = buckets // 2 if bidirectional and halved else buckets
    distance = np.abs(relative) if bidirectional or not fold else np.maximum(-relative, 0)
    if ceiling is not None:
        distance = np.minimum(distance, ceiling)
    exact = int(side * exact_share)
    grown = np.log(np.maximum(distance, 1) / max(exact, 1))
    if normalised:
        grown = grown / math.log(max_distance / max(exact, 1))
    wide = exact + to_whole(grown * (side - exact))
    bucket = np.where(distance < exact, distance, np.minimum(wide, side - 1) if last else wide)
    return np.asarray(bucket + (side * ahead(relative) if bidirectional and other_half else 0))


def _with(**slip: Any) -> Callable[..., Array]:
    return lambda relative, buckets, max_distance, bidirectional: _bucketed(
        relative, buckets, max_distance, bidirectional, **slip
    )


def _right_buckets(relative: Array, buckets: int, max_distance: int, bidirectional: bool) -> Array:
    found = t5_buckets(relative, buckets=buckets, max_distance=max_distance, bidirectional=bidirectional)
    return np.asarray(found)


def _buckets_by_loop(relative: Array, buckets: int, max_distance: int, bidirectional: bool) -> Array:
    side = buckets // 2 if bidirectional else buckets
    exact = side // 2
    found = np.zeros(relative.shape, dtype=int)
    for index, offset in np.ndenumerate(relative):
        distance = abs(int(offset)) if bidirectional else max(-int(offset), 0)
        bucket = distance
        if distance >= exact:
            bucket = exact + int(math.log(distance / exact, max_distance / exact) * (side - exact))
        found[index] = min(bucket, side - 1) + (side if bidirectional and offset > 0 else 0)
    return found


def _buckets_in_float32(relative: Array, buckets: int, max_distance: int, bidirectional: bool) -> Array:
    """As in T5's own code: masks times numbers, and a float32 logarithm."""
    base = np.zeros_like(relative)
    if bidirectional:
        buckets //= 2
        base = base + (relative > 0) * buckets
        distance = np.abs(relative)
    else:
        distance = -np.minimum(relative, 0)
    exact = buckets // 2
    with np.errstate(divide="ignore"):
        grown = np.log(distance.astype(np.float32) / exact) / np.float32(math.log(max_distance / exact))
    wide = exact + np.maximum(grown * (buckets - exact), 0).astype(np.int64)
    return np.asarray(base + np.where(distance < exact, distance, np.minimum(wide, buckets - 1)))


def _buckets_by_borders(relative: Array, buckets: int, max_distance: int, bidirectional: bool) -> Array:
    side = buckets // 2 if bidirectional else buckets
    exact = side // 2
    wide = exact * (max_distance / exact) ** (np.arange(1, side - exact) / (side - exact))
    borders = np.concatenate([np.arange(1, exact + 1), wide])
    distance = np.abs(relative) if bidirectional else np.clip(-relative, 0, None)
    found = np.searchsorted(borders, distance, side="right")
    return found + side * ((relative > 0) & bidirectional)


T5_BUCKET = Exercise(
    id=f"{CHAPTER}.t5_bucket",
    title="The bucket of any offset",
    step_of=T5,
    signature="t5_bucket(relative: whole numbers of any shape, buckets: int, max_distance: int, "
    "bidirectional: bool) -> array of the same shape",
    points=4,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda t5_bucket, rows, columns: heat_map(
            t5_bucket(np.arange(64) - np.arange(64)[:, None], 32, 64, True), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="Near the diagonal each offset has a bucket of its own; far from it many share one.",
    ),
    reference=_right_buckets,
    make_cases=_bucket_cases,
    credit=((BASIC, 0.75), (PAST_ONLY, 0.25)),
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There is one bucket for each offset, so the shape must stay.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all((np.asarray(value) >= 0) & (np.asarray(value) < args[1]))),
            "A bucket is a row of the table: it is at least 0 and below the number of buckets.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value)[np.asarray(args[0]) == 0] == 0)),
            "The query's own key, at offset 0, is in bucket 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "sign-turned",
            lambda relative, *rest: _bucketed(-np.asarray(relative), *rest),
            "The sign is turned: the offset is key - query, so negative numbers are the past. The past has "
            "the first half of the buckets.",
        ),
        Mistake(
            "halves-swapped",
            _with(ahead=lambda relative: relative < 0),
            "The halves are swapped: with bidirectional, keys before the query have the first half of the "
            "buckets, and keys after it the second.",
        ),
        Mistake(
            "zero-taken-as-ahead",
            _with(ahead=lambda relative: relative >= 0),
            "Offset 0 was counted as after the query. It belongs to the first half, in bucket 0: ask for "
            "relative > 0.",
        ),
        Mistake(
            "directions-share",
            _with(other_half=False),
            "Keys before and after the query share their buckets. With bidirectional, add half of the "
            "buckets where relative > 0.",
        ),
        Mistake(
            "not-halved",
            _with(halved=False),
            "Each direction was given all the buckets. With bidirectional the two directions share them: "
            "each has half.",
        ),
        Mistake(
            "rounded",
            _with(to_whole=np.round),
            "The logarithm was rounded to the nearest whole number. Round it down, so that a bucket begins "
            "where the logarithm reaches a whole number.",
        ),
        Mistake(
            "rounded-up",
            _with(to_whole=np.ceil),
            "The logarithm was rounded up. Round it down, so that the first wide bucket begins where the "
            "narrow ones end.",
        ),
        Mistake(
            "no-last-bucket",
            _with(last=False),
            "Beyond max_distance the numbers keep growing, past the end of the table. All longer distances "
            "share the last bucket of their side: take the minimum.",
        ),
        Mistake(
            "one-past-the-end",
            lambda relative, buckets, max_distance, bidirectional: _bucketed(
                relative, buckets, max_distance, bidirectional, last=False, ceiling=max_distance
            ),
            "Distances of max_distance and more get a bucket one past the last of their side. Cut the bucket "
            "off, not the distance: take the minimum of the bucket and the last one.",
        ),
        Mistake(
            "not-divided",
            _with(normalised=False),
            "The logarithm of distance / exact was not divided by the logarithm of max_distance / exact, so "
            "the buckets run out long before max_distance.",
        ),
        Mistake(
            "clipped",
            _with(exact_share=1.0),
            "Each distance has a bucket of its own until they run out, as in a clipped table. Only half of a "
            "side's buckets are that narrow: the others grow with the logarithm.",
        ),
        Mistake(
            "future-as-past",
            _with(fold=False),
            "With bidirectional=False, keys after the query were treated like keys before it. They share "
            "bucket 0 with the query: take max(-relative, 0) as the distance.",
        ),
    ),
    alternatives=(_buckets_by_loop, _buckets_in_float32, _buckets_by_borders),
    hints=(
        "Do one direction first: n buckets for distances 0, 1, 2, ... Of these, `exact = n // 2` hold one "
        "distance each.",
        "From there on, `log(distance / exact) / log(max_distance / exact)` runs from 0 to 1. Times `n - "
        "exact`, rounded down, plus `exact`, is the bucket; the last one is `n - 1`.",
        "With `bidirectional`, n is half of the buckets, the distance is the absolute value, and n is added "
        "where `relative > 0`. Otherwise n is all of them, and the distance is `max(-relative, 0)`.",
        "`np.log(0)` is minus infinity, with a warning. Give the logarithm `np.maximum(distance, 1)`: small "
        "distances do not use it.",
    ),
)


ALIBI = "Your decoder gets ALiBi"

# --- alibi_slopes ----------------------------------------------------------------------------------


def _heads_cases(rng: Generator) -> Iterator[Case]:
    for heads in (8, 1, 2, 16):
        yield Case(f"heads: {heads}, a power of two", (heads,))
    for heads in (12, 3, 6, 20, *(int(rng.integers(power + 1, 2 * power)) for power in (16, 32, 64))):
        yield Case(f"heads: {heads}, no power of two", (heads,))


def _power_below(heads: int) -> int:
    return int(2 ** (heads.bit_length() - 1))


def _geometric(count: int) -> Array:
    return 2.0 ** (-8 * np.arange(1, count + 1) / count)


def _slopes_of(series: Callable[[int], Array]) -> Callable[[int], Array]:
    """The published rule with another series for powers of two."""

    def slopes(heads: int) -> Array:
        power = _power_below(heads)
        return np.concatenate([series(power), series(2 * power)[0::2][: heads - power]])

    return slopes


def _and_then(rest: Callable[[int, int], Array]) -> Callable[[int], Array]:
    """The slopes of the power of two below, and then as many others as are left."""

    def slopes(heads: int) -> Array:
        power = _power_below(heads)
        return np.concatenate([_geometric(power), rest(power, heads - power)])

    return slopes


def _published_recursion(heads: int) -> list[float]:
    """As in the authors' code."""
    if math.log2(heads).is_integer():
        start = 2 ** (-(2 ** -(math.log2(heads) - 3)))
        return [start * start**i for i in range(heads)]
    closest = 2 ** math.floor(math.log2(heads))
    return _published_recursion(closest) + _published_recursion(2 * closest)[0::2][: heads - closest]


def _from_the_next_power(heads: int) -> Array:
    """As in MPT's code: all slopes of the next power of two, every second one first."""
    above = int(2 ** math.ceil(math.log2(heads)))
    slopes = _geometric(above)
    return slopes if above == heads else np.concatenate([slopes[1::2], slopes[0::2]])[:heads]


def _slopes_by_roots(heads: int) -> Array:
    power = _power_below(heads)
    ratio = 0.5 ** (8 / power)
    slopes = [ratio ** (h + 1) for h in range(power)]
    slopes += [ratio ** (h + 0.5) for h in range(heads - power)]
    return np.array(slopes)


ALIBI_SLOPES = Exercise(
    id=f"{CHAPTER}.alibi_slopes",
    title="Mend the slopes of twelve heads",
    step_of=ALIBI,
    signature="alibi_slopes(heads: int) -> array of shape (heads,)",
    points=2,
    minutes=10,
    difficulty=2,
    reference=lambda heads: alibi_slopes(heads),
    make_cases=_heads_cases,
    absolute_tolerance=1e-12,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0],),
            "There is one slope for each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all((np.asarray(value) > 0) & (np.asarray(value) < 1))),
            "Every slope lies between 0 and 1.",
        ),
        Property(
            lambda args, value: len(set(value.tolist())) == args[0],
            "No two heads have the same slope.",
        ),
    ),
    mistakes=(
        Mistake(
            "one-formula-for-all",
            _geometric,
            "This is the version you were given. It is right for powers of two. For 12 heads, the published "
            "slopes are those of 8 heads, and then four that lie between them.",
        ),
        Mistake(
            "cut-from-the-next-power",
            lambda heads: _geometric(int(2 ** math.ceil(math.log2(heads))))[:heads],
            "These are the first slopes of the next larger power of two, so the gentle ones are missing. "
            "Begin with all slopes of the largest power of two that is not above heads.",
        ),
        Mistake(
            "repeated",
            _and_then(lambda power, rest: _geometric(power)[:rest]),
            "Some slopes are there twice: those of the smaller power of two were begun again. (Every second "
            "slope of twice as many heads gives the same, if you begin at the second.) Take the slopes of "
            "twice as many heads from the first on, [0::2].",
        ),
        Mistake(
            "not-every-second",
            _and_then(lambda power, rest: _geometric(2 * power)[:rest]),
            "The heads that are left got the first slopes of twice as many heads, one after the other, and "
            "half of these are there already. Take every second one: [0::2].",
        ),
        Mistake(
            "gentle-ones-between",
            _and_then(lambda power, rest: _geometric(2 * power)[0::2][power - rest :]),
            "The heads that are left got the gentlest of the slopes in between. Take them from the steepest "
            "on: [0::2][:heads - n].",
        ),
        Mistake(
            "sorted",
            lambda heads: np.sort(alibi_slopes(heads))[::-1],
            "The numbers are right, but sorted. A checkpoint's head 8 expects the slope that it was trained "
            "with: keep the slopes of the power of two first, and put the others behind them.",
        ),
        Mistake(
            "from-zero",
            _slopes_of(lambda count: 2.0 ** (-8 * np.arange(count) / count)),
            "The heads are counted from 0, so the first slope is 1. Count them from 1: the slope of the last "
            "head is 2 to the power -8.",
        ),
        Mistake(
            "one-half-to-the-head",
            lambda heads: 2.0 ** -np.arange(1.0, heads + 1),
            "These are 1/2, 1/4, 1/8 and so on, whatever the number of heads. That is right for 8 heads "
            "only. The exponents always end at -8: they are -8 h / n.",
        ),
        Mistake(
            "exponential",
            _slopes_of(lambda count: np.exp(-8 * np.arange(1, count + 1) / count)),
            "The powers are of e, not of 2. Write 2.0 ** or np.exp2 in place of np.exp.",
        ),
        Mistake(
            "negative",
            lambda heads: -alibi_slopes(heads),
            "The slopes are negative. A slope is a positive number; the minus sign belongs to the bias, "
            "-slope * distance.",
        ),
    ),
    alternatives=(_published_recursion, _from_the_next_power, _slopes_by_roots),
    hints=(
        "Which numbers of heads does the given version get right? Try 8 and 12, and look at the first slope.",
        "Let n be the largest power of two that is not above heads: `2 ** (heads.bit_length() - 1)`. The "
        "first n slopes are those of n heads.",
        "The slopes of 2 n heads, `[0::2]`, lie between those of n heads. Take as many as are left: `heads "
        "- n`.",
    ),
)


# --- alibi_bias ------------------------------------------------------------------------------------


def _alibi_cases(rng: Generator) -> Iterator[Case]:
    def slopes(heads: int) -> Array:
        return np.sort(rng.uniform(0.05, 0.9, size=heads))[::-1].copy()

    yield Case("two heads, three tokens, causal", (np.array([0.5, 0.25]), 3, 3, True))
    yield Case("two heads, three tokens, symmetric", (np.array([0.5, 0.25]), 3, 3, False))
    yield Case("one token", (slopes(1), 1, 1, True))
    yield Case("three heads, five tokens, causal", (slopes(3), 5, 5, True))
    yield Case("as many heads as tokens, symmetric", (slopes(4), 4, 4, False))
    yield Case("one new query, six keys in the cache", (slopes(2), 1, 6, True))
    yield Case("two new queries, five keys, causal", (slopes(3), 2, 5, True))
    yield Case("two queries, five keys, symmetric", (slopes(3), 2, 5, False))


def _late(queries: int, keys: int) -> Array:
    """key - query, where the last query stands at the last key."""
    return _gap(np.arange(keys - queries, keys), np.arange(keys))


def _lifted(slopes: Array, gap: Array, causal: bool, *, hidden: Any = None, fill: float = -np.inf) -> Array:
    bias = -np.asarray(slopes)[:, None, None] * np.abs(gap)
    if not causal:
        return np.asarray(bias)
    return np.where(gap > 0 if hidden is None else hidden, fill, bias)


def _hidden_ahead(bias: Array, gap: Array, causal: bool) -> Array:
    return np.where(gap > 0, -np.inf, bias) if causal else bias


def _same_row_for_every_query(slopes: Array, queries: int, keys: int, causal: bool) -> Array:
    if not causal:
        return _lifted(slopes, _late(queries, keys), False)
    row = slopes[:, None, None] * (np.arange(keys) - (keys - 1.0))
    return _hidden_ahead(row, _late(queries, keys), True)


def _right_bias(slopes: Array, queries: int, keys: int, causal: bool) -> Array:
    bias = np.asarray(alibi_bias(len(slopes), queries, keys, causal=causal, slopes=slopes))
    return _hidden_ahead(bias, _late(queries, keys), causal)


def _bias_by_loops(slopes: Array, queries: int, keys: int, causal: bool) -> Array:
    bias = np.zeros((len(slopes), queries, keys))
    for h, slope in enumerate(slopes):
        for i in range(queries):
            here = i + keys - queries
            for j in range(keys):
                bias[h, i, j] = -np.inf if causal and j > here else -slope * abs(here - j)
    return bias


def _bias_by_one_row(slopes: Array, queries: int, keys: int, causal: bool) -> list[Array]:
    """The numbers of all offsets once, and each query its own stretch of them."""
    offsets = np.arange(1 - keys, queries)
    heads = []
    for slope in slopes:
        row = np.where(offsets > 0, -np.inf, slope * offsets) if causal else -slope * np.abs(offsets)
        heads.append(np.stack([row[queries - 1 - i : queries - 1 - i + keys] for i in range(queries)]))
    return heads


def _bias_by_mask(slopes: Array, queries: int, keys: int, causal: bool) -> Array:
    positions = np.arange(keys)
    distance = np.abs(positions[-queries:, None] - positions)
    bias = np.einsum("h,qk->hqk", -slopes, distance)
    if causal:
        bias[:, ~np.tri(queries, keys, keys - queries, dtype=bool)] = -np.inf
    return bias


ALIBI_BIAS = Exercise(
    id=f"{CHAPTER}.alibi_bias",
    title="ALiBi, causal and symmetric",
    step_of=ALIBI,
    adds="Your decoder gets ALiBi's bias: a number for each head, query and key, to add to its scores.",
    signature="alibi_bias(slopes: array of shape (heads,), queries: int, keys: int, causal: bool) "
    "-> array of shape (heads, queries, keys)",
    points=3,
    minutes=12,
    difficulty=2,
    draws=Draws(
        lambda alibi_bias, rows, columns: heat_map(
            np.asarray(alibi_bias(np.array([0.25]), 24, 24, True))[0], rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="The further back a key lies, the more is taken off its score.",
    ),
    reference=_right_bias,
    make_cases=_alibi_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1], args[2]),
            "The shape is (heads, queries, keys): one matrix for each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) <= 0)),
            "ALiBi is a penalty: no number of the bias is above 0.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value)[:, -1, -1] == 0)),
            "The last query stands at the last key, so their distance and their bias are 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "reward",
            lambda slopes, queries, keys, causal: _hidden_ahead(
                slopes[:, None, None] * np.abs(_late(queries, keys)), _late(queries, keys), causal
            ),
            "The sign is turned: far keys are rewarded. The bias is minus slope times distance.",
        ),
        Mistake(
            "queries-from-zero",
            lambda slopes, queries, keys, causal: _lifted(
                slopes, _gap(np.arange(queries), np.arange(keys)), causal
            ),
            "The queries were placed at the first positions. With a cache of keys they are the newest "
            "tokens: query i stands at position i + keys - queries.",
        ),
        Mistake(
            "mask-forgotten",
            lambda slopes, queries, keys, causal: _lifted(slopes, _late(queries, keys), False),
            "With causal=True the keys after the query are still open. Put minus infinity there.",
        ),
        Mistake(
            "raw-offset",
            lambda slopes, queries, keys, causal: (
                slopes[:, None, None] * _late(queries, keys)
                if causal
                else _lifted(slopes, _late(queries, keys), False)
            ),
            "With causal=True the keys after the query have a positive bias, slope times (key - query). They "
            "are to be hidden: put minus infinity there.",
        ),
        Mistake(
            "always-causal",
            lambda slopes, queries, keys, causal: _lifted(slopes, _late(queries, keys), True),
            "The keys after the query are hidden even with causal=False. An encoder looks both ways: there "
            "the bias is minus slope times the distance on both sides.",
        ),
        Mistake(
            "zero-for-the-future",
            lambda slopes, queries, keys, causal: _lifted(slopes, _late(queries, keys), causal, fill=0.0),
            "Keys after the query got 0, which is the best bias of all. To hide a key, its score must be "
            "minus infinity.",
        ),
        Mistake(
            "large-number",
            lambda slopes, queries, keys, causal: _lifted(slopes, _late(queries, keys), causal, fill=-1e9),
            "A large negative number stands where minus infinity was asked for. It often works, but not "
            "where a whole row is hidden or where float16 cannot hold it. Write -np.inf.",
        ),
        Mistake(
            "past-hidden",
            lambda slopes, queries, keys, causal: _lifted(
                slopes, _late(queries, keys), causal, hidden=_late(queries, keys) < 0
            ),
            "The wrong side is hidden: with causal=True a query looks at itself and at what came before. "
            "Hide the keys with key > query.",
        ),
        Mistake(
            "self-hidden",
            lambda slopes, queries, keys, causal: _lifted(
                slopes, _late(queries, keys), causal, hidden=_late(queries, keys) >= 0
            ),
            "The query's own key is hidden too. A token may look at itself: hide only the keys with key > "
            "query.",
        ),
        Mistake(
            "from-one",
            lambda slopes, queries, keys, causal: _lifted(
                slopes, np.sign(_late(queries, keys) - 0.5) * (np.abs(_late(queries, keys)) + 1.0), causal
            ),
            "The distances are counted from 1. A token is at distance 0 from itself, so its bias is 0.",
        ),
        Mistake(
            "row-of-keys",
            _same_row_for_every_query,
            "Every query has the same row here, slope times (key - last key), as in MPT's code. The softmax "
            "cannot tell it from ALiBi under a causal mask, but it was not asked for: the bias of a query's "
            "own key is to be 0.",
        ),
        Mistake(
            "heads-last",
            lambda slopes, queries, keys, causal: np.moveaxis(
                _lifted(slopes, _late(queries, keys), causal), 0, -1
            ),
            "The heads are the last axis. Scores have the shape (heads, queries, keys): give the slopes two "
            "new axes behind, slopes[:, None, None].",
        ),
    ),
    alternatives=(_bias_by_loops, _bias_by_one_row, _bias_by_mask),
    hints=(
        "At which positions do the queries stand when there are fewer of them than keys? The last one stands "
        "at the last key.",
        "`np.arange(keys) - np.arange(keys - queries, keys)[:, None]` is key - query, of shape `(queries, "
        "keys)`.",
        "`slopes[:, None, None]` broadcasts against it. With `causal`, `np.where(offset > 0, -np.inf, "
        "bias)`.",
    ),
)


# --- reach -------------------------------------------------------------------------

STEEP, GENTLE = 0.5, 2.0**-8


def _distances(fall: float, steep: float = STEEP, gentle: float = GENTLE) -> tuple[int, int]:
    """The first whole distances at which slope * distance exceeds `fall`."""
    return math.floor(fall / steep) + 1, math.floor(fall / gentle) + 1


REACH = Exercise(
    id=f"{CHAPTER}.reach",
    title="Predict: how far a head can see",
    signature="reach: two whole numbers, (steepest head, gentlest head)",
    points=1,
    minutes=6,
    difficulty=2,
    kind="value",
    reference=lambda: _distances(math.log(100)),
    parts=("the steepest head", "the gentlest head"),
    make_cases=lambda rng: iter([Case("your prediction")]),
    relative_tolerance=0.0,
    absolute_tolerance=1e-9,
    properties=(
        Property(
            lambda args, value: value[0] < value[1],
            "The steep head sees less far than the gentle one, so your first number must be the smaller one.",
        ),
    ),
    mistakes=(
        Mistake(
            "rounded-down",
            lambda: (9, 1178),
            "You rounded down. At these distances the weight is still a little above one hundredth: go one "
            "position further.",
        ),
        Mistake(
            "swapped",
            lambda: _distances(math.log(100))[::-1],
            "The two numbers are swapped. A steep slope takes weight away quickly, so the steep head sees "
            "the smaller distance.",
        ),
        Mistake(
            "powers-of-two",
            lambda: _distances(math.log2(100)),
            "You took the weight to fall by powers of 2. The softmax raises e to the score: solve exp(-slope "
            "d) = 1/100 with the natural logarithm.",
        ),
        Mistake(
            "powers-of-ten",
            lambda: _distances(math.log10(100)),
            "You took the weight to fall by powers of 10. The softmax raises e to the score: use the natural "
            "logarithm of 100, about 4.6.",
        ),
        Mistake(
            "linear",
            lambda: _distances(0.99),
            "You took the bias off the weight itself, 1 - slope d. It is taken off the score, and the weight "
            "falls as exp(-slope d).",
        ),
        Mistake(
            "no-logarithm",
            lambda: (200, 25600),
            "You divided 100 by the slope. The weight falls exponentially: divide the logarithm of 100 by "
            "the slope.",
        ),
        Mistake(
            "one-slope-too-few",
            lambda: _distances(math.log(100), gentle=2.0**-7),
            "Your first number is right. The slopes of 8 heads are 1/2, 1/4, and so on to 1/256: the last "
            "one is 2 to the power -8.",
        ),
        Mistake(
            "from-one",
            lambda: _distances(math.log(100), steep=1.0, gentle=2.0**-7),
            "You began the slopes with 1. The first of 8 heads has slope 1/2, and the last 1/256.",
        ),
    ),
    alternatives=(
        lambda: [10, 1179],
        lambda: (10.0, 1179.0),
        lambda: tuple(int(np.ceil(np.log(100) / slope)) for slope in alibi_slopes(8)[[0, -1]]),
        lambda: tuple(int(np.argmax(np.exp(-slope * np.arange(5000)) < 0.01)) for slope in (1 / 2, 1 / 256)),
    ),
    hints=(
        "With equal scores, a key at distance d weighs `exp(-slope d)` times as much as the query's own.",
        "Solve `exp(-slope d) = 1/100` for d, with the slopes of the first and the last of 8 heads: 1/2 and "
        "1/256.",
        "d must be a whole number at which the weight is below one hundredth already: round up.",
    ),
)

# --- slope_of --------------------------------------------------------------------------------------


def _weight_cases(rng: Generator) -> Iterator[Case]:
    def weights(slope: float, tokens: int) -> Array:
        """Causal weights of one head where all scores are equal before the bias."""
        offset = _gap(np.arange(tokens), np.arange(tokens))
        raised = np.where(offset > 0, 0.0, np.exp(np.minimum(slope * offset, 0.0)))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    yield Case("slope 1/2, four tokens", (weights(1 / 2, 4),))
    yield Case("slope 1/256, two tokens", (weights(1 / 256, 2),))
    yield Case("slope 1/256, 60 tokens", (weights(1 / 256, 60),))
    yield Case("a random slope, nine tokens", (weights(float(rng.uniform(0.1, 0.9)), 9),))
    yield Case("no bias at all, five tokens", (weights(0.0, 5),))
    yield Case("a slope so steep that far weights are exactly 0", (weights(12.0, 100),))


def _fall(heavier: Any, lighter: Any) -> float:
    """The difference of the scores behind two weights of a row."""
    with np.errstate(all="ignore"):
        return float(np.log(heavier) - np.log(lighter))


def _slope_of(weights: Array) -> float:
    return _fall(weights[-1, -1], weights[-1, -2])


def _slope_by_fit(weights: Array) -> float:
    """A line through the logarithms of all that is above 0 in the last row."""
    keys = np.flatnonzero(weights[-1] > 1e-200)
    return float(np.polyfit(keys, np.log(weights[-1, keys]), 1)[0])


def _slope_by_first_pair(weights: Array) -> float:
    """Row 1 has two weights, 1 / (1 + e^slope) and e^slope / (1 + e^slope)."""
    return math.log(weights[1, 1] / (1 - weights[1, 1]))


def _slope_by_ratios(weights: Array) -> float:
    ratios = [row[i] / row[i - 1] for i, row in enumerate(weights) if i > 0]
    return math.log(sorted(ratios)[len(ratios) // 2])


SLOPE_OF = Exercise(
    id=f"{CHAPTER}.slope_of",
    title="Measure a slope",
    signature="slope_of(weights: array of shape (n, n)) -> float",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_slope_of,
    make_cases=_weight_cases,
    where_not_finite="Far weights of a steep head are exactly 0, and have no logarithm: measure where the "
    "weights are large.",
    properties=(
        Property(
            lambda args, value: np.ndim(value) == 0,
            "Return one number: the slope of this head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(value > -1e-9),
            "A slope is not negative: nearer keys weigh more.",
        ),
    ),
    mistakes=(
        Mistake(
            "negative",
            lambda weights: -_slope_of(weights),
            "The sign is turned. The nearer key weighs more, so take the logarithm of the nearer weight and "
            "subtract that of the farther one.",
        ),
        Mistake(
            "base-two",
            lambda weights: _slope_of(weights) / math.log(2),
            "This is the logarithm to base 2. The softmax raises e to the scores, so take the natural "
            "logarithm, np.log.",
        ),
        Mistake(
            "base-ten",
            lambda weights: _slope_of(weights) / math.log(10),
            "This is the logarithm to base 10. The softmax raises e to the scores, so take the natural "
            "logarithm, np.log.",
        ),
        Mistake(
            "ratio",
            lambda weights: float(weights[-1, -1] / weights[-1, -2]),
            "This is the ratio of two neighbouring weights, which is e to the slope. Take its logarithm.",
        ),
        Mistake(
            "difference",
            lambda weights: float(weights[-1, -1] - weights[-1, -2]),
            "This is the difference of two weights. A bias adds to the score, and so it multiplies the "
            "weight: compare by a ratio, or by the difference of the logarithms.",
        ),
        Mistake(
            "share-lost",
            lambda weights: float(1 - weights[-1, -2] / weights[-1, -1]),
            "This is the share of the weight that is lost from one key to the next, 1 less e to minus the "
            "slope. Take the logarithm of the ratio.",
        ),
        Mistake(
            "down-a-column",
            lambda weights: _fall(weights[-2, 0], weights[-1, 0]),
            "You compare two rows. Each row was divided by a sum of its own, so weights of different queries "
            "cannot be compared. Compare two keys within one row.",
        ),
        Mistake(
            "first-key",
            lambda weights: _fall(weights[-1, -1], weights[-1, 0]) / (len(weights) - 1),
            "You measure down to the farthest key. In a steep head its weight is exactly 0, and the "
            "logarithm of 0 is minus infinity. Measure between the query and its nearest neighbour.",
        ),
        Mistake(
            "fence-posts",
            lambda weights: _fall(weights[-1, -1], weights[-1, 0]) / len(weights),
            "From the first key to the last of n keys it is n - 1 steps, not n. Besides, the farthest weight "
            "may be exactly 0: measure between neighbours near the query.",
        ),
    ),
    alternatives=(_slope_by_fit, _slope_by_first_pair, _slope_by_ratios),
    hints=(
        "All scores are equal before the bias. By which factor does the bias make one key lighter than the "
        "next?",
        "Within one row, neighbouring weights differ by the factor e to the slope, whatever the row was "
        "divided by.",
        "The last row has the query's own weight at `weights[-1, -1]` and that of its neighbour at "
        "`weights[-1, -2]`. Take the logarithm of their ratio.",
    ),
)

# --- kerple_bias -----------------------------------------------------------------------------------


def _kerple_cases(rng: Generator) -> Iterator[Case]:
    def two(heads: int) -> tuple[Array, Array]:
        return rng.uniform(0.3, 2.0, size=heads), rng.uniform(0.2, 1.8, size=heads)

    yield Case("one head, three tokens, log", (np.array([1.0]), np.array([1.0]), 3, 3, "log"))
    yield Case("one head, three tokens, power", (np.array([0.5]), np.array([0.5]), 3, 3, "power"))
    yield Case("three heads, five tokens, log", (*two(3), 5, 5, "log"))
    yield Case("three heads, five tokens, power", (*two(3), 5, 5, "power"))
    yield Case("as many heads as tokens, log", (*two(4), 4, 4, "log"))
    yield Case("one new query, six keys in the cache, log", (*two(2), 1, 6, "log"))
    yield Case("two new queries, five keys, power", (*two(2), 2, 5, "power"))
    yield Case("one token", (*two(2), 1, 1, "log"))


def _kerple(
    r1: Array,
    r2: Array,
    queries: int,
    keys: int,
    kind: str,
    *,
    log: Callable[[Array, Array, Array], Array] = lambda r1, r2, d: -r1 * np.log(1 + r2 * d),
    power: Callable[[Array, Array, Array], Array] = lambda r1, r2, d: -r1 * d**r2,
    gap: Callable[[int, int], Array] | None = None,
) -> Array:
    """Both kinds, each open to a slip."""
    distance = np.abs((gap or _late)(queries, keys)).astype(float)
    with np.errstate(all="ignore"):
        chosen = log if kind == "log" else power
        return np.asarray(chosen(r1[:, None, None], r2[:, None, None], distance))


def _kerple_with(**slip: Any) -> Callable[..., Array]:
    return lambda r1, r2, queries, keys, kind: _kerple(r1, r2, queries, keys, kind, **slip)


def _kerple_by_loops(r1: Array, r2: Array, queries: int, keys: int, kind: str) -> Array:
    bias = np.zeros((len(r1), queries, keys))
    for h, i, j in np.ndindex(*bias.shape):
        distance = abs(i + keys - queries - j)
        bias[h, i, j] = -r1[h] * (math.log1p(r2[h] * distance) if kind == "log" else distance ** r2[h])
    return bias


def _kerple_by_factors(r1: Array, r2: Array, queries: int, keys: int, kind: str) -> list[Array]:
    """The factor on the weight first, where there is one."""
    distance = np.abs(np.arange(keys) - np.arange(keys - queries, keys)[:, None]) * 1.0
    heads = []
    for one, two in zip(r1, r2, strict=True):
        heads.append(
            np.log((1 + two * distance) ** -one) if kind == "log" else -one * np.power(distance, two)
        )
    return heads


def _kerple_by_one_row(r1: Array, r2: Array, queries: int, keys: int, kind: str) -> Array:
    """The penalty of each distance once, and picked for each pair."""
    row = np.arange(max(queries, keys))
    table = np.log1p(np.outer(r2, row)) if kind == "log" else np.power.outer(row, r2).T
    return np.asarray(-(r1[:, None] * table)[:, np.abs(_late(queries, keys))])


KERPLE = Exercise(
    id=f"{CHAPTER}.kerple_bias",
    title="KERPLE: two numbers per head",
    signature='kerple_bias(r1: array of shape (heads,), r2: (heads,), queries: int, keys: int, kind: "log" '
    "or "
    '"power") -> array of shape (heads, queries, keys)',
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda kerple_bias, across, up: curve(
            np.arange(40),
            {
                kind: np.asarray(kerple_bias(np.array([1.0]), np.array([0.5]), 40, 40, kind))[0, -1, ::-1]
                for kind in ("log", "power")
            },
            across=across,
            up=up,
        ),
        axes=("distance", "bias"),
        look="The logarithm falls fast at first and then hardly; the power goes on falling.",
    ),
    reference=lambda r1, r2, queries, keys, kind: np.asarray(kerple_bias(r1, r2, queries, keys, kind=kind)),
    make_cases=_kerple_cases,
    where_not_finite="No key is hidden here: those after the query are at a distance too, and a distance is "
    "never negative. Take the absolute value first.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[2], args[3]),
            "The shape is (heads, queries, keys): one matrix for each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) <= 0)),
            "Both kinds are penalties: no number is above 0.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value)[:, -1, -1] == 0)),
            "The last query stands at the last key, at distance 0, where both kinds give 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "reward",
            lambda r1, r2, queries, keys, kind: -_kerple(r1, r2, queries, keys, kind),
            "The sign is turned: far keys are rewarded. Both kinds have a minus.",
        ),
        Mistake(
            "exchanged",
            lambda r1, r2, queries, keys, kind: _kerple(r2, r1, queries, keys, kind),
            "The numbers r1 and r2 have changed places. The first one stands in front, and the second is "
            "inside, with the distance.",
        ),
        Mistake(
            "always-log",
            lambda r1, r2, queries, keys, kind: _kerple(r1, r2, queries, keys, "log"),
            'The logarithmic kind comes out whatever kind says. For "power" the distance is raised to r2.',
        ),
        Mistake(
            "always-power",
            lambda r1, r2, queries, keys, kind: _kerple(r1, r2, queries, keys, "power"),
            'The power kind comes out whatever kind says. For "log" take the logarithm of 1 + r2 · distance.',
        ),
        Mistake(
            "r2-outside",
            _kerple_with(log=lambda r1, r2, d: -r1 * r2 * np.log(1 + d)),
            "In the logarithmic kind r2 stands outside the logarithm. It multiplies the distance, inside.",
        ),
        Mistake(
            "r1-inside",
            _kerple_with(log=lambda r1, r2, d: -np.log(1 + r1 * r2 * d)),
            "In the logarithmic kind r1 stands inside the logarithm. It multiplies the whole of it.",
        ),
        Mistake(
            "one-multiplied-too",
            _kerple_with(log=lambda r1, r2, d: -r1 * np.log(np.maximum(r2 * (1 + d), 1e-300))),
            "In the logarithmic kind the 1 was multiplied by r2 as well: it is 1 + r2 · distance.",
        ),
        Mistake(
            "base-two",
            _kerple_with(log=lambda r1, r2, d: -r1 * np.log2(1 + r2 * d)),
            "This is the logarithm to base 2. The formula means the natural one, np.log or np.log1p.",
        ),
        Mistake(
            "product-to-the-power",
            _kerple_with(power=lambda r1, r2, d: -((r1 * d) ** r2)),
            "In the power kind r1 was raised to r2 together with the distance. Raise the distance alone.",
        ),
        Mistake(
            "power-as-product",
            _kerple_with(power=lambda r1, r2, d: -r1 * r2 * d),
            "In the power kind the distance was multiplied by r2. It is raised to r2.",
        ),
        Mistake(
            "queries-from-zero",
            _kerple_with(gap=lambda queries, keys: _gap(np.arange(queries), np.arange(keys))),
            "The queries were placed at the first positions. They are the newest tokens: query i stands at "
            "position i + keys - queries.",
        ),
        Mistake(
            "factor-on-the-weight",
            lambda r1, r2, queries, keys, kind: np.exp(_kerple(r1, r2, queries, keys, kind)),
            "This is the factor on the weight. The bias is added to the score, before the softmax raises e "
            "to "
            "it: leave the exponential to the softmax.",
        ),
    ),
    alternatives=(_kerple_by_loops, _kerple_by_factors, _kerple_by_one_row),
    hints=(
        "The last query stands at the last key. Make an array of distances first, of shape (queries, keys).",
        "`np.abs(np.arange(keys) - np.arange(keys - queries, keys)[:, None])`.",
        "`r1[:, None, None]` and `r2[:, None, None]` broadcast against it. `np.log1p(x)` is log(1 + x).",
    ),
)


# --- fire_shares -----------------------------------------------------------------------------------

FIRE = "FIRE, from its formula"


def _share_cases(rng: Generator) -> Iterator[Case]:
    yield Case("the worked example: five tokens, c = 1, threshold 2", (5, 5, 1.0, 2.0))
    yield Case("one token", (1, 1, 1.0, 2.0))
    yield Case("six tokens, c = 0.1, threshold 3.5", (6, 6, 0.1, 3.5))
    yield Case("all queries before the threshold", (4, 4, 0.5, 100.0))
    yield Case("one new query, 40 keys", (1, 40, 0.3, 8.0))
    yield Case("three new queries, nine keys", (3, 9, float(rng.uniform(0.2, 3)), float(rng.uniform(1, 4))))
    yield Case("twelve tokens", (12, 12, float(rng.uniform(0.2, 3)), float(rng.uniform(2, 9))))


def _shares(
    queries: int,
    keys: int,
    c: float,
    threshold: float,
    *,
    reach: Callable[[Array, float, int], Any] = lambda i, threshold, keys: np.maximum(threshold, i),
    psi: Callable[[Any, float], Any] = lambda x, c: np.log(1 + c * x),
    below: Callable[[Any, float], Any] | None = None,
    from_zero: bool = False,
    future: Callable[[Array], Any] = lambda share: 0.0,
) -> Array:
    """The share of each pair, every part of the formula open to a slip."""
    here = np.arange(queries)[:, None] if from_zero else np.arange(keys - queries, keys)[:, None]
    gap = here - np.arange(keys)
    with np.errstate(all="ignore"):
        share = psi(np.abs(gap), c) / (below or psi)(reach(here, threshold, keys), c)
    return np.where(gap >= 0, share, future(share))


def _shares_with(**slip: Any) -> Callable[..., Array]:
    return lambda queries, keys, c, threshold: _shares(queries, keys, c, threshold, **slip)


def _shares_by_loops(queries: int, keys: int, c: float, threshold: float) -> list[list[float]]:
    rows = []
    for i in range(keys - queries, keys):
        reach = math.log1p(c * max(threshold, i))
        rows.append([math.log1p(c * (i - j)) / reach if j <= i else 0.0 for j in range(keys)])
    return rows


def _shares_of_the_library(queries: int, keys: int, c: float, threshold: float) -> Array:
    return np.tril(np.asarray(fire_distances(queries, keys, c=c, threshold=threshold)), keys - queries)


def _shares_by_base(queries: int, keys: int, c: float, threshold: float) -> Array:
    """A quotient of two logarithms is one logarithm, to another base; and clipped in place of masked."""
    here = np.arange(keys - queries, keys)[:, None]
    gone = np.clip(here - np.arange(keys), 0, None)
    return np.asarray(np.log2(1 + c * gone) / np.log2(1 + c * np.where(here > threshold, here, threshold)))


def _shares_by_rows(queries: int, keys: int, c: float, threshold: float) -> Array:
    """Row i is the psi of i, i - 1, ... 0, divided by one number."""
    psi = np.log(1 + c * np.arange(keys))
    shares = np.zeros((queries, keys))
    for row, i in zip(shares, range(keys - queries, keys), strict=True):
        row[: i + 1] = psi[: i + 1][::-1] / np.log(1 + c * max(i, threshold))
    return shares


FIRE_SHARES = Exercise(
    id=f"{CHAPTER}.fire_shares",
    title="What the network reads",
    step_of=FIRE,
    signature="fire_shares(queries: int, keys: int, c: float, threshold: float) -> array of shape (queries, "
    "keys)",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_shares_of_the_library,
    make_cases=_share_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0], args[1]),
            "There is one share for each query and key: the shape is (queries, keys).",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all((np.asarray(value) >= 0) & (np.asarray(value) <= 1))),
            "A share lies between 0 and 1: no distance is longer than the longest one of its query.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value)[:, -1] == 0)),
            "The last key is the last query's own, and after all the others: its share is 0 everywhere.",
        ),
    ),
    mistakes=(
        Mistake(
            "share-of-the-text",
            _shares_with(reach=lambda i, threshold, keys: np.maximum(threshold, keys - 1)),
            "Every query was measured against the last position of the text. Each has its own longest "
            "distance: from position i, that is i.",
        ),
        Mistake(
            "no-threshold",
            _shares_with(reach=lambda i, threshold, keys: np.maximum(i, 1)),
            "The threshold is missing. A query before it is taken to stand there: max(threshold, i).",
        ),
        Mistake(
            "smaller-of-the-two",
            _shares_with(reach=lambda i, threshold, keys: np.maximum(np.minimum(threshold, i), 1)),
            "The smaller one of threshold and position was taken, and shares grow above 1. Take the larger "
            "one.",
        ),
        Mistake(
            "threshold-added",
            _shares_with(reach=lambda i, threshold, keys: threshold + i),
            "The threshold was added to the position. The query is taken to stand at the larger one of the "
            "two.",
        ),
        Mistake(
            "threshold-alone",
            _shares_with(reach=lambda i, threshold, keys: threshold + 0 * i),
            "Every query was measured against the threshold. Those beyond it are measured against their own "
            "position.",
        ),
        Mistake(
            "straight",
            _shares_with(psi=lambda x, c: c * x),
            "There is no logarithm: this is distance over longest distance. Both go through psi first.",
        ),
        Mistake(
            "logarithm-above-alone",
            _shares_with(below=lambda x, c: x),
            "The logarithm was taken of the distance and not of what it is divided by. Both go through psi.",
        ),
        Mistake(
            "logarithm-of-the-quotient",
            lambda queries, keys, c, threshold: np.log1p(
                c * _shares(queries, keys, c, threshold, psi=lambda x, c: x)
            ),
            "You divided first and took the logarithm of the quotient. Take the two logarithms first.",
        ),
        Mistake(
            "c-above-alone",
            _shares_with(below=lambda x, c: np.log(1 + x)),
            "Your c stretches the distance and not what it is divided by. It belongs into both logarithms.",
        ),
        Mistake(
            "c-outside",
            _shares_with(psi=lambda x, c: c * np.log(1 + x)),
            "Your c stands in front of the logarithms, where it cancels. It multiplies the distance, inside.",
        ),
        Mistake(
            "queries-from-zero",
            _shares_with(from_zero=True),
            "The queries were placed at the first positions. They are the newest tokens: query i stands at "
            "position i + keys - queries.",
        ),
        Mistake(
            "future-open",
            _shares_with(future=lambda share: share),
            "Keys after the query have a share too. Put 0 there.",
        ),
        Mistake(
            "hidden-as-if-square",
            lambda queries, keys, c, threshold: np.tril(_shares(queries, keys, c, threshold)),
            "Where there are fewer queries than keys, you put 0 at keys that are not after the query: the "
            "last "
            "query stands at the last key. Move the diagonal of your triangle by keys - queries.",
        ),
        Mistake(
            "from-the-start",
            lambda queries, keys, c, threshold: np.where(
                _late(queries, keys) <= 0,
                np.log(1 + c * np.arange(keys))
                / np.log(1 + c * np.maximum(threshold, np.arange(keys - queries, keys)[:, None])),
                0.0,
            ),
            "The key's position was divided, and not its distance from the query: the query's own key must "
            "get 0.",
        ),
    ),
    alternatives=(_shares_by_loops, _shares_by_base, _shares_by_rows),
    hints=(
        "Each row has a number of its own below the line. Write it as a column: `i[:, None]`.",
        "With `i = np.arange(keys - queries, keys)[:, None]`, the distance is `i - np.arange(keys)` and the "
        "longest one `np.maximum(threshold, i)`.",
        "`np.log1p(c * x)` of both, divided. Where the distance is negative, put 0: `np.maximum(distance, "
        "0)` "
        "does it.",
    ),
)


# --- fire_bias -------------------------------------------------------------------------------------


def _fire_cases(rng: Generator) -> Iterator[Case]:
    def weights(hidden: int, heads: int) -> tuple[Array, ...]:
        shapes = ((hidden,), (hidden,), (heads, hidden), (heads,))
        return tuple(rng.normal(size=shape) for shape in shapes)

    one = np.array([1.0]), np.array([-0.5]), np.array([[-2.0]]), np.array([0.25])
    yield Case("one hidden unit, one head, five tokens", (*one, 5, 5, 1.0, 2.0))
    yield Case("eight hidden units, three heads, five tokens", (*weights(8, 3), 5, 5, 0.5, 2.0))
    yield Case("as many hidden units as heads and tokens", (*weights(4, 4), 4, 4, 1.0, 2.0))
    yield Case("one new query, nine keys", (*weights(6, 2), 1, 9, 0.5, 3.0))
    yield Case("two new queries, seven keys", (*weights(5, 3), 2, 7, 2.0, 1.5))
    yield Case("one token", (*weights(3, 2), 1, 1, 1.0, 2.0))


def _relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


def _fire(
    w1: Array,
    b1: Array,
    w2: Array,
    b2: Array,
    queries: int,
    keys: int,
    c: float,
    threshold: float,
    *,
    read: Callable[..., Array] = _shares_of_the_library,
    inner: Callable[[Array, Array, Array], Array] = lambda x, w1, b1: _relu(x * w1 + b1),
    outer: Callable[[Array, Array], Array] = lambda y, b2: y + b2,
    fill: float | None = -np.inf,
) -> Array:
    """The network on each share, (heads, queries, keys), each layer open to a slip."""
    hidden = inner(read(queries, keys, c, threshold)[..., None], w1, b1)
    bias = np.moveaxis(outer(hidden @ w2.T, b2), -1, 0)
    return bias if fill is None else np.where(_late(queries, keys) > 0, fill, bias)


def _fire_with(**slip: Any) -> Callable[..., Array]:
    return lambda w1, b1, w2, b2, queries, keys, c, threshold: _fire(
        w1, b1, w2, b2, queries, keys, c, threshold, **slip
    )


def _right_fire(
    w1: Array, b1: Array, w2: Array, b2: Array, queries: int, keys: int, c: float, threshold: float
) -> Array:
    bias = fire_bias((w1[:, None], b1, w2, b2), queries, keys, c=c, threshold=threshold)
    return np.where(_late(queries, keys) > 0, -np.inf, np.asarray(bias))


def _fire_by_loops(
    w1: Array, b1: Array, w2: Array, b2: Array, queries: int, keys: int, c: float, threshold: float
) -> Array:
    shares = _shares_by_loops(queries, keys, c, threshold)
    bias = np.full((len(w2), queries, keys), -np.inf)
    for h, i, j in np.ndindex(*bias.shape):
        if j <= i + keys - queries:
            seen = [max(w * shares[i][j] + b, 0.0) for w, b in zip(w1, b1, strict=True)]
            bias[h, i, j] = b2[h] + sum(w * x for w, x in zip(w2[h], seen, strict=True))
    return bias


def _fire_by_einsum(
    w1: Array, b1: Array, w2: Array, b2: Array, queries: int, keys: int, c: float, threshold: float
) -> Array:
    hidden = w1[:, None, None] * _shares_by_base(queries, keys, c, threshold) + b1[:, None, None]
    bias = np.einsum("hu,uqk->hqk", w2, hidden * (hidden > 0)) + b2[:, None, None]
    bias[:, ~np.tri(queries, keys, keys - queries, dtype=bool)] = -np.inf
    return bias


def _fire_head_by_head(
    w1: Array, b1: Array, w2: Array, b2: Array, queries: int, keys: int, c: float, threshold: float
) -> list[Array]:
    """A head at a time, a unit at a time."""
    shares = _shares_by_rows(queries, keys, c, threshold)
    mask = np.where(np.tri(queries, keys, keys - queries) > 0, 0.0, -np.inf)
    units = [np.clip(w * shares + b, 0, None) for w, b in zip(w1, b1, strict=True)]
    return [
        mask + last + sum(w * x for w, x in zip(row, units, strict=True))
        for row, last in zip(w2, b2, strict=True)
    ]


FIRE_BIAS = Exercise(
    id=f"{CHAPTER}.fire_bias",
    title="The network on each share",
    step_of=FIRE,
    signature="fire_bias(w1: array of shape (hidden,), b1: (hidden,), w2: (heads, hidden), b2: (heads,), "
    "queries: int, keys: int, c: float, threshold: float) -> array of shape (heads, queries, keys)",
    points=2,
    minutes=10,
    difficulty=3,
    reference=lambda w1, b1, w2, b2, queries, keys, c, threshold: _right_fire(
        w1, b1, w2, b2, queries, keys, c, threshold
    ),
    make_cases=_fire_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[2]), args[4], args[5]),
            "The shape is (heads, queries, keys): one matrix for each head.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "no-relu",
            _fire_with(inner=lambda x, w1, b1: x * w1 + b1),
            "The hidden units are not cut off at 0, so the network is one straight line. Take "
            "np.maximum(..., 0) of them.",
        ),
        Mistake(
            "relu-at-the-end",
            _fire_with(outer=lambda y, b2: _relu(y + b2)),
            "What comes out of the network was cut off at 0 too. Only the hidden units are: a bias may be "
            "negative.",
        ),
        Mistake(
            "relu-in-the-wrong-place",
            _fire_with(inner=lambda x, w1, b1: x * w1 + b1, outer=lambda y, b2: _relu(y + b2)),
            "The output was cut off at 0 in place of the hidden units. First the hidden units, cut off, and "
            "then w2 and b2.",
        ),
        Mistake(
            "relu-before-b1",
            _fire_with(inner=lambda x, w1, b1: _relu(x * w1) + b1),
            "The hidden units were cut off before b1 was added. Add it first.",
        ),
        Mistake(
            "without-b1",
            _fire_with(inner=lambda x, w1, b1: _relu(x * w1)),
            "Nothing was added to the hidden units: b1 is added to the hidden units before they are cut off "
            "at 0.",
        ),
        Mistake(
            "without-b2",
            _fire_with(outer=lambda y, b2: y),
            "At the end b2 is missing: one number for each head, added at the end.",
        ),
        Mistake(
            "tanh",
            _fire_with(inner=lambda x, w1, b1: np.tanh(x * w1 + b1)),
            "The hidden units went through another curve, which bends everywhere. Here they are cut off at "
            "0: np.maximum(..., 0).",
        ),
        Mistake(
            "distances-read",
            _fire_with(read=lambda queries, keys, c, threshold: np.maximum(-_late(queries, keys), 0)),
            "The network was fed the distance itself. It reads the share, from step 1.",
        ),
        Mistake(
            "as-a-penalty",
            lambda *args: np.where(_late(args[4], args[5]) > 0, -np.inf, -_fire(*args)),
            "The sign is turned. The network's output is the bias itself; it need not be a penalty.",
        ),
        Mistake(
            "hidden-as-if-square",
            lambda *args: np.where(np.tri(args[4], args[5]) > 0, _fire(*args), -np.inf),
            "Where there are fewer queries than keys, you hide keys that are not after the query: the last "
            "query stands at the last key. Move the diagonal of your triangle by keys - queries.",
        ),
        Mistake(
            "future-open",
            _fire_with(fill=None),
            "Keys after the query are still open. Put minus infinity there.",
        ),
        Mistake(
            "zero-for-the-future",
            _fire_with(fill=0.0),
            "Keys after the query got 0, and may still be looked at. To hide a key, its score must be minus "
            "infinity.",
        ),
        Mistake(
            "heads-last",
            lambda *args: np.moveaxis(_fire(*args), 0, -1),
            "The heads are the last axis. Scores have the shape (heads, queries, keys).",
        ),
    ),
    alternatives=(_fire_by_loops, _fire_by_einsum, _fire_head_by_head),
    hints=(
        "Give the shares one more axis behind, for the hidden units: `shares[..., None]`.",
        "`np.maximum(shares[..., None] * w1 + b1, 0)` has the shape (queries, keys, hidden). Then `@ w2.T + "
        "b2`.",
        "The heads are behind now: `np.moveaxis(bias, -1, 0)`. Hide what lies after the query with "
        "`np.where(..., -np.inf, bias)`.",
    ),
)


# --- cope_counts -----------------------------------------------------------------------------------

COPE = "CoPE, from its gates"


def _sigmoid(x: Array) -> Array:
    return np.asarray(0.5 * (np.tanh(0.5 * x) + 1.0))


def _count_cases(rng: Generator) -> Iterator[Case]:
    yield Case("every gate half open: three tokens", (np.zeros((3, 2)), np.ones((3, 2))))
    wide = np.full((3, 4), 40.0)
    yield Case("every gate wide open: three tokens", (wide, wide))
    stops = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]) @ np.diag([80.0, -80.0])
    yield Case("one full stop among five tokens", (np.ones((5, 2)), stops))
    for n, d in ((1, 3), (4, 4), (7, 3)):
        q, k = rng.normal(size=(2, n, d))
        yield Case(f"random: tokens {n}, head_dim {d}", (2 * q, 2 * k))


def _cope_gates(
    q: Array, k: Array, *, root: bool = True, gate: Callable[[Array], Array] = _sigmoid, causal: bool = True
) -> Array:
    gates = gate(q @ k.T / (math.sqrt(q.shape[1]) if root else 1))
    return np.tril(gates) if causal else gates


def _from_the_right(gates: Array) -> Array:
    return np.asarray(np.cumsum(gates[:, ::-1], axis=1)[:, ::-1])


def _right_counts(q: Array, k: Array) -> Array:
    return np.tril(_from_the_right(_cope_gates(q, k)))


def _counts_by_loops(q: Array, k: Array) -> Array:
    n = len(q)
    counts = np.zeros((n, n))
    for i in range(n):
        total = 0.0
        for j in range(i, -1, -1):
            total += 1 / (1 + math.exp(-float(q[i] @ k[j]) / math.sqrt(q.shape[1])))
            counts[i, j] = total
    return counts


def _counts_by_product(q: Array, k: Array) -> Array:
    """A sum over t from j on is a product with a triangle of ones."""
    return np.tril(_cope_gates(q, k) @ np.tri(len(q)))


def _counts_by_difference(q: Array, k: Array) -> Array:
    """The whole row, less what stands before key j."""
    gates = _cope_gates(q, k)
    return np.tril(gates.sum(axis=1, keepdims=True) - np.cumsum(gates, axis=1) + gates)


COPE_COUNTS = Exercise(
    id=f"{CHAPTER}.cope_counts",
    title="Gates, added up",
    step_of=COPE,
    signature="cope_counts(q: array of shape (n, head_dim), k: (n, head_dim)) -> array of shape (n, n)",
    points=2,
    minutes=12,
    difficulty=3,
    reference=lambda q, k: _right_counts(q, k),
    make_cases=_count_cases,
    where_not_finite="The exponential of a large number overflows: e to the -x for a gate that is nearly "
    "shut. 0.5 * (np.tanh(x / 2) + 1) is the same gate and does not.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[0])),
            "There is one count for each query and key: the shape is (n, n).",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) >= 0)),
            "A gate is never below 0, so no count is.",
        ),
        Property(
            lambda args, value: not np.triu(value, 1).any(),
            "Keys after the query are not counted: put 0 there.",
        ),
        Property(
            lambda args, value: bool(np.all(np.diag(value) <= 1)),
            "From the query to itself there is one gate alone, so that count is 1 at most.",
        ),
    ),
    mistakes=(
        Mistake(
            "from-the-left",
            lambda q, k: np.tril(np.cumsum(_cope_gates(q, k), axis=1)),
            "The gates were added up from key 0 on. A position counts from key j up to the query: add from "
            "the right.",
        ),
        Mistake(
            "key-left-out",
            lambda q, k: np.tril(_from_the_right(_cope_gates(q, k)) - _cope_gates(q, k)),
            "The gate of key j itself is missing. The sum runs from t = j to t = i, with both ends.",
        ),
        Mistake(
            "query-left-out",
            lambda q, k: np.tril(_from_the_right(np.tril(_cope_gates(q, k), -1))),
            "The gate of the query's own key is missing. The sum runs from t = j to t = i, with both ends.",
        ),
        Mistake(
            "no-root",
            lambda q, k: np.tril(_from_the_right(_cope_gates(q, k, root=False))),
            "The scores were not divided by the root of head_dim before the gate.",
        ),
        Mistake(
            "future-counted",
            lambda q, k: _from_the_right(_cope_gates(q, k, causal=False)),
            "The gates of keys after the query were counted. Shut them first: np.tril(gates).",
        ),
        Mistake(
            "future-hidden-too-late",
            lambda q, k: np.tril(_from_the_right(_cope_gates(q, k, causal=False))),
            "The keys after the query were set to 0 at the end, but by then their gates were in all the "
            "sums. "
            "Shut them first, and add up afterwards.",
        ),
        Mistake(
            "softmax-for-sigmoid",
            lambda q, k: np.tril(
                _from_the_right(
                    _softmax(np.where(np.tri(len(q)) > 0, q @ k.T / math.sqrt(q.shape[1]), -np.inf))
                )
            ),
            "The gates were made by a softmax, so they share one whole among them. Each is open on its own: "
            "1 / (1 + e^-x).",
        ),
        Mistake(
            "hard-gates",
            lambda q, k: np.tril(_from_the_right(_cope_gates(q, k, gate=lambda x: 1.0 * (x > 0)))),
            "Your gates are open or shut and nothing between. A gate is 1 / (1 + e^-x), and 1/2 at x = 0.",
        ),
        Mistake(
            "gate-upside-down",
            lambda q, k: np.tril(_from_the_right(_cope_gates(q, k, gate=lambda x: _sigmoid(-x)))),
            "The gates are upside down: they shut where the query finds the key interesting. It is e to "
            "minus x.",
        ),
        Mistake(
            "not-summed",
            lambda q, k: _cope_gates(q, k),
            "These are the gates. A position is their sum, from key j up to the query.",
        ),
        Mistake(
            "down-a-column",
            lambda q, k: np.tril(np.cumsum(_cope_gates(q, k)[::-1], axis=0)[::-1]),
            "The gates were added down a column, over queries. Each query adds its own gates, along its row.",
        ),
        Mistake(
            "keys-ask",
            lambda q, k: np.tril(_from_the_right(_cope_gates(k, q))),
            "Queries and keys have changed places in the gates: row i belongs to query i.",
        ),
    ),
    alternatives=(_counts_by_loops, _counts_by_product, _counts_by_difference),
    hints=(
        "First the gates, (n, n): one sigmoid of each score. Then shut those of keys after the query.",
        "`np.cumsum` adds from the left. Turn each row round, add, and turn it back: `[:, ::-1]`.",
        "`np.tril(np.cumsum(gates[:, ::-1], axis=1)[:, ::-1])`, with `gates = np.tril(1 / (1 + "
        "np.exp(-scores)))`.",
    ),
)


# --- cope_bias -------------------------------------------------------------------------------------


def _cope_cases(rng: Generator) -> Iterator[Case]:
    wide = np.full((4, 4), 40.0)
    ladder = np.arange(6.0)[:, None] * np.full(4, 0.01)
    yield Case("every gate wide open", (wide, wide, ladder))
    yield Case(
        "every gate half open", (np.array([[1.0, 0.0]] * 3), np.array([[0.0, 1.0]] * 3), ladder[:, :2] * 100)
    )
    yield Case("more counts than rows", (wide, wide, rng.normal(size=(3, 4))))
    for n, d, rows in ((5, 3, 7), (6, 4, 3), (1, 2, 1)):
        q, k = rng.normal(size=(2, n, d))
        yield Case(
            f"random: tokens {n}, head_dim {d}, rows {rows}", (2 * q, 2 * k, rng.normal(size=(rows, d)))
        )


def _cope(
    q: Array,
    k: Array,
    table: Array,
    *,
    part: Callable[[Array], Array] = lambda p: p - np.floor(p),
    root: bool = True,
    meets: str = "query",
    counts: Callable[[Array, Array], Array] = _right_counts,
    fill: float = -np.inf,
) -> Array:
    p = np.clip(counts(q, k), 0, len(table) - 1)
    lower = np.floor(p).astype(int)
    upper = np.minimum(lower + 1, len(table) - 1)
    of_row = (q if meets == "query" else k) @ table.T

    def at(rows: Array) -> Array:
        if meets == "query":
            return np.take_along_axis(of_row, rows, axis=1)
        return np.take_along_axis(of_row.T, rows, axis=0)

    mixed = at(lower) * (1 - part(p)) + at(upper) * part(p)
    return np.where(np.tri(len(q), dtype=bool), mixed / (math.sqrt(q.shape[1]) if root else 1), fill)


def _cope_with(**slip: Any) -> Callable[..., Array]:
    return lambda q, k, table: _cope(q, k, table, **slip)


def _right_cope(q: Array, k: Array, table: Array) -> Array:
    return np.where(np.tri(len(q), dtype=bool), np.asarray(cope_bias(q, k, table)), -np.inf)


def _cope_by_vectors(q: Array, k: Array, table: Array) -> Array:
    """A vector for each pair, interpolated, and then met by the query."""
    p = np.minimum(_counts_by_loops(q, k), len(table) - 1)
    columns = [np.interp(p, np.arange(len(table)), column) for column in table.T]
    bias = np.einsum("id,dij->ij", q, np.stack(columns)) / math.sqrt(q.shape[1])
    bias[np.triu_indices(len(q), 1)] = -np.inf
    return np.asarray(bias)


def _cope_by_hats(q: Array, k: Array, table: Array) -> Array:
    """Each row of the table counts by how near the count is to its number."""
    p = np.minimum(_counts_by_product(q, k), len(table) - 1)
    near = np.maximum(0.0, 1 - np.abs(p[..., None] - np.arange(len(table))))
    bias = (near * (q @ table.T)[:, None]).sum(axis=-1) / math.sqrt(q.shape[1])
    return np.where(np.arange(len(q)) > np.arange(len(q))[:, None], -np.inf, bias)


def _cope_row_by_row(q: Array, k: Array, table: Array) -> list[list[float]]:
    """A query at a time: its products with the table, read between two numbers, which also cuts off."""
    counts, rows = _counts_by_difference(q, k), q @ table.T / q.shape[1] ** 0.5
    return [
        [*np.interp(counts[i, : i + 1], np.arange(len(table)), rows[i]), *[-math.inf] * (len(q) - 1 - i)]
        for i in range(len(q))
    ]


COPE_BIAS = Exercise(
    id=f"{CHAPTER}.cope_bias",
    title="Between two rows of the table",
    step_of=COPE,
    signature="cope_bias(q: array of shape (n, head_dim), k: (n, head_dim), table: (rows, head_dim)) "
    "-> array of shape (n, n)",
    points=3,
    minutes=15,
    difficulty=4,
    reference=lambda q, k, table: _right_cope(q, k, table),
    make_cases=_cope_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[0])),
            "There is one bias for each query and key: the shape is (n, n).",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "rounded-down",
            _cope_with(part=lambda p: 0.0 * p),
            "Each count was rounded down to a row. Between two rows, take a share of both: at 1.25, three "
            "quarters of row 1 and one quarter of row 2.",
        ),
        Mistake(
            "nearest-row",
            _cope_with(part=lambda p: 1.0 * (p - np.floor(p) > 0.5)),
            "The nearest row was taken. Between two rows, take a share of both: at 1.25, three quarters of "
            "row 1 and one quarter of row 2.",
        ),
        Mistake(
            "rounded-up",
            _cope_with(part=lambda p: 1.0 * (p > np.floor(p))),
            "Each count was rounded up to a row. Between two rows, take a share of both: at 1.25, three "
            "quarters of row 1 and one quarter of row 2.",
        ),
        Mistake(
            "shares-exchanged",
            _cope_with(part=lambda p: 1 - (p - np.floor(p))),
            "The two shares have changed places. Near a whole count, the row of that count has nearly all.",
        ),
        Mistake(
            "mean-of-both",
            _cope_with(part=lambda p: 0.0 * p + 0.5),
            "You take the mean of the two rows everywhere. How much each has depends on where the count lies "
            "between them.",
        ),
        Mistake(
            "no-root",
            _cope_with(root=False),
            "The bias was not divided by the root of head_dim, as the other part of the score is.",
        ),
        Mistake(
            "keys-meet-the-table",
            _cope_with(meets="key"),
            "The keys were multiplied by the table. It is the query that meets the vector of a position.",
        ),
        Mistake(
            "tokens-counted",
            _cope_with(counts=lambda q, k: np.tril(np.arange(1, len(q) + 1)[:, None] - np.arange(len(q)))),
            "The tokens were counted, each as a whole. A position is the sum of the gates, from step 1.",
        ),
        Mistake(
            "query-left-out",
            _cope_with(counts=lambda q, k: np.tril(_from_the_right(np.tril(_cope_gates(q, k), -1)))),
            "The gate of the query's own key is missing in the counts. The sum runs from t = j to t = i, "
            "with "
            "both ends.",
        ),
        Mistake(
            "future-open",
            _cope_with(fill=0.0),
            "Keys after the query got 0, and may still be looked at. To hide a key, its score must be minus "
            "infinity.",
        ),
        Mistake(
            "content-added",
            lambda q, k, table: _cope(q, k, table) + q @ k.T / math.sqrt(q.shape[1]),
            "The score of query and key was added as well. Asked for is the bias alone.",
        ),
        Mistake(
            "begun-anew",
            lambda q, k, table: _cope(
                q, k, table, counts=lambda q, k: np.mod(_right_counts(q, k), max(len(table) - 1, 1))
            ),
            "Counts beyond the last row begin again at row 0. They stay at the last row.",
        ),
    ),
    alternatives=(_cope_by_vectors, _cope_by_hats, _cope_row_by_row),
    hints=(
        "Cut the counts off at the last row first: `np.minimum(counts, len(table) - 1)`.",
        "Multiply each query with all rows of the table, `q @ table.T`, and pick the products afterwards, "
        "with `np.take_along_axis(..., axis=1)`.",
        "`lower = np.floor(counts).astype(int)`, `upper = np.minimum(lower + 1, len(table) - 1)`, and "
        "`part = counts - lower`. The bias is the lower product times 1 - part, plus the upper one times "
        "part.",
    ),
)


# --- without_bias ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kernel:
    """Causal attention that takes no bias and divides by the root of the width that it is given."""

    def __call__(self, q: Array, k: Array, v: Array) -> Array:
        """(heads, n, width) and (heads, n, width) and (heads, n, value_dim) to (heads, n, value_dim)."""
        return np.asarray(attention(np.asarray(q), np.asarray(k), np.asarray(v), causal=True))


def _kernel_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, heads: int, n: int, d: int, slopes: Array) -> Case:
        q, k, v = rng.normal(size=(3, heads, n, d))
        return Case(label, (q, k, v, slopes, Kernel()))

    yield case("one head, four tokens", 1, 4, 4, np.array([0.5]))
    yield case("eight heads, ten tokens", 8, 10, 6, alibi_slopes(8))
    yield case("head_dim 1", 2, 5, 1, np.array([1.0, 0.25]))
    yield case("as many heads as tokens as columns", 4, 4, 4, alibi_slopes(4))
    yield case("one token", 2, 1, 3, np.array([0.5, 0.25]))
    yield case("random slopes", 3, 12, 5, rng.uniform(0.05, 1.0, size=3))


def _through(
    q: Array,
    k: Array,
    v: Array,
    slopes: Array,
    kernel: Callable[..., Array],
    *,
    scale: Callable[[int], float] = lambda d: math.sqrt((d + 1) / d),
    of_slope: Callable[[Array, int], Any] = lambda slopes, d: slopes * math.sqrt(d + 1),
    of_key: Callable[[int], Any] = np.arange,
    of_query: Callable[[int], Any] | None = None,
) -> Array:
    """With one more column: a slope in each query, a position in each key; each part open to a slip."""
    heads, n, d = q.shape
    rows = np.ones(n) if of_query is None else of_query(n)
    for_q = np.asarray(of_slope(slopes, d))[:, None, None] * rows[:, None]
    for_k = np.broadcast_to(np.asarray(of_key(n), dtype=float)[:, None], (heads, n, 1))
    return kernel(np.concatenate([scale(d) * q, for_q], -1), np.concatenate([k, for_k], -1), v)


def _through_with(**slip: Any) -> Callable[..., Array]:
    return lambda q, k, v, slopes, kernel: _through(q, k, v, slopes, kernel, **slip)


def _through_keys(q: Array, k: Array, v: Array, slopes: Array, kernel: Callable[..., Array]) -> Array:
    """All factors on the keys' side, and two columns: slope times (key - query)."""
    heads, n, d = q.shape
    at, ones = np.broadcast_to(np.arange(n)[:, None], (heads, n, 1)), np.ones((heads, n, 1))
    root, lifted = math.sqrt(d + 2), slopes[:, None, None]
    wide_k = np.concatenate([k * root / math.sqrt(d), root * lifted * at, -root * lifted * ones], axis=-1)
    return kernel(np.concatenate([q, ones, 1.0 * at], axis=-1), wide_k, v)


def _through_nothing(q: Array, k: Array, v: Array, slopes: Array, kernel: Callable[..., Array]) -> Array:
    """The kernel is not needed at all by whoever writes attention anew."""
    bias = alibi_bias(len(slopes), q.shape[1], k.shape[1], causal=True, slopes=slopes)
    return np.asarray(attention(q, k, v, bias=bias, causal=True))


def _through_last(q: Array, k: Array, v: Array, slopes: Array, kernel: Callable[..., Array]) -> Array:
    return _through(q, k, v, slopes, kernel, of_key=lambda n: np.arange(n) - (n - 1.0))


WITHOUT_BIAS = Exercise(
    id=f"{CHAPTER}.without_bias",
    title="A kernel that takes no bias",
    signature="without_bias(q: array of shape (heads, n, head_dim), k, v: the same, slopes: (heads,), "
    "kernel: a "
    "function of (q, k, v)) -> array of shape (heads, n, head_dim)",
    points=3,
    minutes=15,
    difficulty=4,
    reference=lambda q, k, v, slopes, kernel: _through_nothing(q, k, v, slopes, kernel),
    make_cases=_kernel_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[2]),
            "What comes back has the shape of v: leave v as wide as it was.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.asarray(value)[:, 0], args[2][:, 0])),
            "The first token sees itself alone, so its output must be its own value.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-bias",
            lambda q, k, v, slopes, kernel: kernel(q, k, v),
            "This is attention without any bias: nothing was added to a score, or what was added is the "
            "same in "
            "a whole row. Write the slope into a new column of q, and the position of the key into one of k.",
        ),
        Mistake(
            "root-forgotten",
            _through_with(scale=lambda d: 1.0, of_slope=lambda slopes, d: slopes),
            "The kernel divides all of the product by the root of the width that it is given, head_dim + 1: "
            "your slopes too, and the scores by a little too much. Multiply beforehand.",
        ),
        Mistake(
            "slope-divided",
            _through_with(of_slope=lambda slopes, d: slopes),
            "The kernel divides your slopes by its root too. Multiply them by the root of head_dim + 1 "
            "beforehand.",
        ),
        Mistake(
            "scores-divided-by-too-much",
            _through_with(scale=lambda d: 1.0),
            "The slopes are right. The other scores are divided by the root of head_dim + 1, and ought to be "
            "by the root of head_dim: multiply q by the quotient.",
        ),
        Mistake(
            "old-root",
            _through_with(scale=lambda d: 1.0, of_slope=lambda slopes, d: slopes * math.sqrt(d)),
            "You reckon with the root of head_dim. The kernel sees one column more, and divides by the root "
            "of "
            "head_dim + 1.",
        ),
        Mistake(
            "slope-with-the-old-root",
            _through_with(of_slope=lambda slopes, d: slopes * math.sqrt(d)),
            "Your q is right. The slopes were multiplied by the root of head_dim; the kernel divides by "
            "that of "
            "head_dim + 1.",
        ),
        Mistake(
            "scores-the-other-way",
            _through_with(scale=lambda d: math.sqrt(d / (d + 1))),
            "Your q was multiplied by the quotient turned round. The kernel divides by too much: make q "
            "longer.",
        ),
        Mistake(
            "sign-turned",
            _through_with(of_key=lambda n: -np.arange(n)),
            "The sign is turned: far keys are rewarded. What a later key gets must be larger.",
        ),
        Mistake(
            "both-positions",
            _through_with(of_query=np.arange),
            "Positions were multiplied with each other. A bias of slope · key needs the slope in the query "
            "and the position in the key, and nothing else.",
        ),
        Mistake(
            "first-slope-for-all",
            _through_with(of_slope=lambda slopes, d: np.full_like(slopes, slopes[0]) * math.sqrt(d + 1)),
            "Every head got the slope of the first one. Each head has its own.",
        ),
        Mistake(
            "slopes-turned-round",
            _through_with(of_slope=lambda slopes, d: slopes[::-1] * math.sqrt(d + 1)),
            "The slopes are in the wrong order: head h has slopes[h].",
        ),
    ),
    alternatives=(_through_with(), _through_keys, _through_last),
    hints=(
        "softmax(s + c) = softmax(s). The bias is slope · key - slope · query: which part does a whole row "
        "share?",
        "Slope times key position is a product of two numbers. Write the one into a new column of q, and the "
        "other into a new column of k, and their dot product has it.",
        "The kernel divides by the root of head_dim + 1. So the slope must be multiplied by that root, and "
        "q by "
        "the root of (head_dim + 1) / head_dim.",
    ),
)

EXERCISES = (
    SYMMETRY_SEEN,
    RELATIVE_SHIFT,
    XL_SCORES,
    BUCKET_STARTS,
    T5_BUCKET,
    REACH,
    SLOPE_OF,
    ALIBI_SLOPES,
    ALIBI_BIAS,
    KERPLE,
    FIRE_SHARES,
    FIRE_BIAS,
    COPE_COUNTS,
    COPE_BIAS,
    WITHOUT_BIAS,
    DIFFERENCE,
    *STEPS,
)
