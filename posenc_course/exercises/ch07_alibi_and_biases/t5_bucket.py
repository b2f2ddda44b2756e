"""T5's buckets: The bucket of any offset."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import T5, Generator, _gap
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import BASIC, Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.biased.t5 import t5_buckets

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
    # Here more of a side's buckets are wide than not: 3 of 5, and 5 of 9.
    yield Case(
        "10 buckets, max_distance 20", (np.array([0, -1, 2, -3, 5, -6, -10, 13, 19, -30]), 10, 20, True)
    )
    yield Case("past only: near keys", (-np.arange(16), 32, 128, False), group=PAST_ONLY)
    yield Case(
        "past only: far keys, 9 buckets, max_distance 50",
        (-np.array([5, 8, 12, 15, 20, 27, 35, 49, 500]), 9, 50, False),
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
    onto: int | None = None,
    times: float | None = None,
    early: bool = False,
    stretch: float = 1.0,
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
    grown = np.floor(grown) if early else grown * stretch
    factor = side - exact if times is None else side * times
    wide = (exact if onto is None else onto) + to_whole(grown * factor)
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
    id="07-alibi-and-biases.t5_bucket",
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
            "The sign is wrong: the offset is key - query, so negative numbers are the past, which has the "
            "first half of the buckets.",
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
        Mistake(
            "exact-forgotten",
            _with(onto=0),
            "Your wide buckets begin at 0, where the narrow ones are. Add exact to what comes out of the "
            "logarithm.",
        ),
        Mistake(
            "all-of-a-side",
            _with(times=1.0),
            "The logarithm was multiplied by all buckets of a side, n. Only n - exact of them are wide.",
        ),
        Mistake(
            "rounded-too-early",
            _with(early=True),
            "The quotient of the logarithms was rounded down before it was multiplied, and it is below 1 up "
            "to max_distance. Multiply by n - exact first.",
        ),
        Mistake(
            "not-whole",
            _with(to_whole=lambda x: x),
            "Your buckets have fractions. A bucket is a row of a table: round the logarithm down.",
        ),
        Mistake(
            "two-logarithms",
            lambda relative, buckets, max_distance, bidirectional: _bucketed(
                relative, buckets, max_distance, bidirectional, stretch=1 / math.log(2)
            ),
            "The two logarithms have different bases, 2 above and e below. Any base will do, if both have "
            "the same.",
        ),
        Mistake(
            "future-for-past",
            lambda relative, buckets, max_distance, bidirectional: _bucketed(
                relative if bidirectional else -np.asarray(relative), buckets, max_distance, bidirectional
            ),
            "With bidirectional=False you count keys after the query, and those before it share bucket 0. "
            "It is the other way round: the distance is max(-relative, 0).",
        ),
        Mistake(
            "always-both-sides",
            lambda relative, buckets, max_distance, bidirectional: _bucketed(
                relative, buckets, max_distance, True
            ),
            "With bidirectional=False the buckets are still shared out between two sides. There the past "
            "has all of them.",
        ),
        Mistake(
            "always-the-past",
            lambda relative, buckets, max_distance, bidirectional: _bucketed(
                relative, buckets, max_distance, False
            ),
            "With bidirectional=True only the past has buckets. There each direction has half of them.",
        ),
        Mistake(
            "exact-of-both-sides",
            lambda relative, buckets, max_distance, bidirectional: _bucketed(
                relative, buckets, max_distance, bidirectional, exact_share=1.0 if bidirectional else 0.5
            ),
            "With bidirectional=True, exact is half of all buckets, so no side has a wide one. It is half "
            "of the buckets of one side.",
        ),
        Mistake(
            "always-a-quarter",
            lambda relative, buckets, max_distance, bidirectional: _bucketed(
                relative, buckets, max_distance, bidirectional, exact_share=0.5 if bidirectional else 0.25
            ),
            "With bidirectional=False, exact is a quarter of the buckets. It is half of the buckets of one "
            "side, and there the only side has all of them.",
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
