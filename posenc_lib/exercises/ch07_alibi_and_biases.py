"""Exercises of `07-alibi-and-biases`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.biased.alibi import alibi_bias, alibi_slopes
from posenc_lib.biased.t5 import t5_buckets
from posenc_lib.biased.transformer_xl import relative_shift
from posenc_lib.exercises.exercise import BASIC, Case, Exercise, Mistake, Property, enough_of_each

CHAPTER = "07-alibi-and-biases"

Generator = np.random.Generator
Bias = Callable[[Array, Array], Array]


def _gap(queries: Array, keys: Array) -> Array:
    """key - query, (queries, keys)."""
    return np.asarray(keys)[None, :] - np.asarray(queries)[:, None]


# --- offset_only -----------------------------------------------------------------------------------

LENGTH = 512


@dataclass(frozen=True)
class Implementation:
    """A bias that a learner's test is tried on. Equal to another of the same rule and seed."""

    rule: Callable[[Array, Array, Generator], Array]
    seed: int

    def __call__(self, queries: Array, keys: Array) -> Array:
        """(queries,) and (keys,) to (queries, keys): the same numbers for the same positions, every time."""
        return self.rule(np.asarray(queries), np.asarray(keys), np.random.default_rng(self.seed))


def _slope(rng: Generator) -> float:
    return float(0.1 + 0.05 * rng.random())


def _of_the_offset(queries: Array, keys: Array, rng: Generator) -> Array:
    return _slope(rng) * _gap(queries, keys)


def _of_the_distance(queries: Array, keys: Array, rng: Generator) -> Array:
    return -_slope(rng) * np.abs(_gap(queries, keys))


def _of_buckets(queries: Array, keys: Array, rng: Generator) -> Array:
    return np.asarray(rng.normal(size=32)[t5_buckets(_gap(queries, keys))])


def _in_two_products(queries: Array, keys: Array, rng: Generator) -> Array:
    slope = _slope(rng)
    return slope * keys[None, :] - slope * queries[:, None]


def _of_the_key(queries: Array, keys: Array, rng: Generator) -> Array:
    return _slope(rng) * keys[None, :] + 0.0 * queries[:, None]


def _of_two_rows(queries: Array, keys: Array, rng: Generator) -> Array:
    rows = rng.normal(size=(LENGTH, 4))
    return np.asarray(rows[queries] @ rows[keys].T)


def _stretched(queries: Array, keys: Array, rng: Generator) -> Array:
    reach = np.maximum(queries, LENGTH // 8)[:, None]
    return -np.log1p(np.abs(_gap(queries, keys))) / np.log1p(reach)


def _around_a_ring(queries: Array, keys: Array, rng: Generator) -> Array:
    return _slope(rng) * _gap(queries % (LENGTH // 2), keys % (LENGTH // 2))


def _with_a_sink(queries: Array, keys: Array, rng: Generator) -> Array:
    return _of_the_distance(queries, keys, rng) + 1.0 * (keys == 0)


def _wrong_ahead(queries: Array, keys: Array, rng: Generator) -> Array:
    gap = _gap(queries, keys)
    return np.where(gap <= 0, _slope(rng) * gap, 0.01 * keys)


_RIGHT_BIASES = (
    ("slope times the offset", _of_the_offset),
    ("a penalty on the distance", _of_the_distance),
    ("a table of buckets", _of_buckets),
    ("slope times key, minus slope times query", _in_two_products),
)
_WRONG_BIASES = (
    ("slope times the key, whatever the query", _of_the_key),
    ("the product of two rows of a table of positions", _of_two_rows),
    ("a distance that is measured against the query's position", _stretched),
    ("positions that start again after half of the length", _around_a_ring),
    ("a penalty on the distance, and a gift to key 0", _with_a_sink),
    ("right for the past, and wrong for keys after the query", _wrong_ahead),
)


def _bias_cases(rng: Generator) -> Iterator[Case]:
    for label, rule in enough_of_each(rng, _RIGHT_BIASES, _WRONG_BIASES):
        yield Case(label, (Implementation(rule, int(rng.integers(2**32))),))


def _everywhere() -> Array:
    return np.arange(LENGTH)


def _along_diagonals(values: Array) -> bool:
    return bool(np.allclose(values[1:, 1:], values[:-1, :-1]))


def _offset_only(bias: Bias) -> bool:
    return _along_diagonals(bias(_everywhere(), _everywhere()))


def _offset_only_by_first_row(bias: Bias) -> bool:
    """Every entry, against the one of its offset in the first row or the first column."""
    values = bias(_everywhere(), _everywhere())
    gap = _gap(_everywhere(), _everywhere())
    expected = np.where(gap >= 0, values[0][np.abs(gap)], values[:, 0][np.abs(gap)])
    return bool(np.abs(values - expected).max() < 1e-9)


def _offset_only_by_spread(bias: Bias) -> bool:
    values = bias(_everywhere(), _everywhere())
    return all(np.ptp(np.diag(values, k)) < 1e-8 for k in range(1 - LENGTH, LENGTH))


def _offset_only_by_shift(bias: Bias) -> bool:
    here = _everywhere()[:-1]
    return bool(np.allclose(bias(here, here), bias(here + 1, here + 1)))


def _offset_only_in_blocks(bias: Bias) -> bool:
    """A few rows at a time, as one does where the whole matrix is too big."""
    keys = _everywhere()
    for row in range(LENGTH - 1):
        two = bias(np.array([row, row + 1]), keys)
        if not np.allclose(two[0, :-1], two[1, 1:]):
            return False
    return True


def _same_in_two_places(bias: Bias) -> bool:
    start, end = np.arange(16), np.arange(LENGTH - 16, LENGTH)
    return bool(np.allclose(bias(start, start), bias(end, end)))


def _near_the_start(bias: Bias) -> bool:
    here = np.arange(8)
    return bool(np.allclose(bias(here, here), bias(here + 1, here + 1)))


def _to_the_bit(bias: Bias) -> bool:
    values = bias(_everywhere(), _everywhere())
    return bool(np.array_equal(values[1:, 1:], values[:-1, :-1]))


def _symmetric(bias: Bias) -> bool:
    values = bias(_everywhere(), _everywhere())
    return bool(np.allclose(values, values.T))


def _keys_shifted_alone(bias: Bias) -> bool:
    here = _everywhere()[:-1]
    return bool(np.allclose(bias(here, here), bias(here, here + 1)))


def _one_diagonal(bias: Bias) -> bool:
    return bool(np.ptp(np.diag(bias(_everywhere(), _everywhere()))) < 1e-9)


def _same_rows(bias: Bias) -> bool:
    values = bias(_everywhere(), _everywhere())
    return bool(np.allclose(values, values[0]))


def _past_alone(bias: Bias) -> bool:
    return _along_diagonals(np.tril(bias(_everywhere(), _everywhere())))


def _largest_difference(bias: Bias) -> float:
    values = bias(_everywhere(), _everywhere())
    return float(np.abs(values[1:, 1:] - values[:-1, :-1]).max())


OFFSET_ONLY = Exercise(
    id=f"{CHAPTER}.offset_only",
    title="Prove it: the offset alone",
    signature="offset_only(bias: a function of (positions of queries, positions of keys)) -> bool",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_offset_only,
    make_cases=_bias_cases,
    properties=(
        Property(
            lambda args, value: isinstance(value, bool),
            "Return True or False: whether the bias depends on the offset alone.",
            about="form",
        ),
    ),
    mistakes=(
        # Verdicts say little of how they were found, so the words keep to what was accepted and refused.
        Mistake(
            "near-the-start",
            _near_the_start,
            "You accept the two wrong biases that are right near the start of the text. Ask for all "
            "positions, 0 to 511.",
        ),
        Mistake(
            "not-across-the-middle",
            _same_in_two_places,
            "You accept the wrong bias whose positions start again at 256: it is right within each half. "
            "Compare every position with the next, across the middle as well.",
        ),
        Mistake(
            "to-the-bit",
            _to_the_bit,
            "You refuse a right bias whose numbers differ by rounding alone. Compare with a tolerance: "
            "np.allclose.",
        ),
        Mistake(
            "symmetric",
            _symmetric,
            "You accept just those biases in which query and key may change places. A bias can tell before "
            "from after and still depend on the offset alone. Move both positions by the same number "
            "instead.",
        ),
        Mistake(
            "always-false",
            _keys_shifted_alone,
            "You refuse every bias, the right ones too. If you shift positions, shift those of the queries "
            "and those of the keys by the same number: where only one side moves, the offset changes.",
        ),
        Mistake(
            "main-diagonal",
            _one_diagonal,
            "You accept three wrong biases whose main diagonal is constant. That diagonal is offset 0 only: "
            "every other diagonal is an offset too, and must be constant over its whole length.",
        ),
        Mistake(
            "same-rows",
            _same_rows,
            "You accept only the bias whose rows are all alike, which is a bias of the key's position. The "
            "same offset stands one column further right in each row: compare along diagonals.",
        ),
        Mistake(
            "past-alone",
            _past_alone,
            "You accept the wrong bias that goes wrong only for keys after the query. These have an offset "
            "too: compare the whole matrix, not its lower triangle.",
        ),
        Mistake(
            "difference",
            _largest_difference,
            "The right entries are compared, but you return how far they differ. Return whether they agree: "
            "True or False.",
        ),
        Mistake(
            "upside-down",
            lambda bias: not _offset_only(bias),
            "Your test is right, and your verdict is turned round. Return True where the bias depends on the "
            "offset alone.",
        ),
        Mistake(
            "always-true",
            lambda bias: True,
            "You accept every bias. A test that cannot fail proves nothing: look for two pairs of positions "
            "with one offset and different numbers.",
        ),
    ),
    alternatives=(
        _offset_only_by_first_row,
        _offset_only_by_spread,
        _offset_only_by_shift,
        _offset_only_in_blocks,
    ),
    hints=(
        "Write down which positions have the offset -1: (1, 0), (2, 1), (3, 2), ... Where do they stand in "
        "the matrix?",
        "`bias(p, p)` with `p = np.arange(512)` is the whole matrix. One step down and one to the right "
        "leads to the same offset.",
        "`values[1:, 1:]` holds each entry's neighbour of the same offset in `values[:-1, :-1]`. Rounding "
        "may part them by a hair: `np.allclose`.",
    ),
)


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
    return np.asarray(relative_shift(x, x.shape[1]))


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
    title="T5's buckets",
    signature="t5_bucket(relative: whole numbers of any shape, buckets: int, max_distance: int, "
    "bidirectional: bool) -> array of the same shape",
    points=4,
    minutes=15,
    difficulty=3,
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
    signature="alibi_bias(slopes: array of shape (heads,), queries: int, keys: int, causal: bool) "
    "-> array of shape (heads, queries, keys)",
    points=3,
    minutes=12,
    difficulty=2,
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

EXERCISES = (
    OFFSET_ONLY,
    RELATIVE_SHIFT,
    T5_BUCKET,
    ALIBI_SLOPES,
    REACH,
    ALIBI_BIAS,
    SLOPE_OF,
)
