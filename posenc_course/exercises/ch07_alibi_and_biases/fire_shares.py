"""FIRE, from its formula: What the network reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import (
    FIRE,
    Generator,
    late,
    shares_by_base,
    shares_by_loops,
    shares_by_rows,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.biased.fire import fire_distances


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


def shares_of_the_library(queries: int, keys: int, c: float, threshold: float) -> Array:
    return np.tril(np.asarray(fire_distances(queries, keys, c=c, threshold=threshold)), keys - queries)


FIRE_SHARES = Exercise(
    id="07-alibi-and-biases.fire_shares",
    title="What the network reads",
    step_of=FIRE,
    signature="fire_shares(queries: int, keys: int, c: float, threshold: float) -> array of shape (queries, "
    "keys)",
    points=2,
    minutes=10,
    difficulty=3,
    reference=shares_of_the_library,
    make_cases=_share_cases,
    where_not_finite="Three things to look at. Is the 1 there in psi(x) = log(1 + c x)? With it, psi of 0 is "
    "0. Is the threshold there? From position 0 the longest distance would be 0, and 0 / 0 is NaN: divide "
    "by psi of max(threshold, i). And keys after the query are at a negative distance, where psi may have "
    "no result: raise it to 0 first, with np.maximum.",
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
            "Your threshold has no effect. A query before the threshold counts as if it were there: divide "
            "by psi of max(threshold, i).",
        ),
        Mistake(
            "smaller-of-the-two",
            _shares_with(reach=lambda i, threshold, keys: np.maximum(np.minimum(threshold, i), 1)),
            "You took the smaller one of threshold and position, so shares grow above 1. Take the larger "
            "one.",
        ),
        Mistake(
            "threshold-added",
            _shares_with(reach=lambda i, threshold, keys: threshold + i),
            "The threshold was added to the position. The query counts as if it were at the larger of the "
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
            "Your c stretches the distance and not what it is divided by. It belongs in both logarithms.",
        ),
        Mistake(
            "c-outside",
            _shares_with(psi=lambda x, c: c * np.log(1 + x)),
            "Your shares do not depend on c. In front of the logarithms it would cancel out: it multiplies "
            "the distance, inside them.",
        ),
        Mistake(
            "queries-from-zero",
            _shares_with(from_zero=True),
            "The queries were placed at the first positions. They are the newest tokens: query i is at "
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
            "last query is at the last key. Move the diagonal of your triangle by keys - queries.",
        ),
        Mistake(
            "from-the-start",
            lambda queries, keys, c, threshold: np.where(
                late(queries, keys) <= 0,
                np.log(1 + c * np.arange(keys))
                / np.log(1 + c * np.maximum(threshold, np.arange(keys - queries, keys)[:, None])),
                0.0,
            ),
            "The key's position was divided, and not its distance from the query: the query's own key must "
            "get 0.",
        ),
        Mistake(
            "position-plus-one",
            _shares_with(reach=lambda i, threshold, keys: np.maximum(threshold, i + 1)),
            "Each query was measured against i + 1, how many keys it sees. Its longest distance is one "
            "less: from position i back to key 0, that is i.",
        ),
        Mistake(
            "length-of-the-text",
            _shares_with(reach=lambda i, threshold, keys: np.maximum(threshold, keys)),
            "Every query was measured against the length of the text. Each has its own longest distance: "
            "from position i, that is i.",
        ),
        Mistake(
            "divided-by-the-length",
            _shares_with(reach=lambda i, threshold, keys: keys, below=lambda x, c: x),
            "You divided by the number of keys. Divide by psi of the query's own longest distance, "
            "max(threshold, i).",
        ),
        Mistake(
            "threshold-without-logarithm",
            lambda queries, keys, c, threshold: _shares(
                queries,
                keys,
                c,
                threshold,
                reach=lambda i, threshold, keys: i,
                below=lambda i, c: np.maximum(threshold, np.log(1 + c * i)),
            ),
            "The threshold was compared with psi(i). It is a position: first max(threshold, i), then psi of "
            "that.",
        ),
        Mistake(
            "future-hidden",
            _shares_with(future=lambda share: -np.inf),
            "Keys after the query got minus infinity. This is only what the network reads: put 0 there, and "
            "hide them in the next step.",
        ),
    ),
    alternatives=(shares_by_loops, shares_by_base, shares_by_rows),
    hints=(
        "Each row is divided by a number of its own. Write these numbers as a column: `i[:, None]`.",
        "With `i = np.arange(keys - queries, keys)[:, None]`, the distance is `i - np.arange(keys)` and the "
        "longest one `np.maximum(threshold, i)`.",
        "`np.log1p(c * x)` of both, divided. Where the distance is negative, put 0: `np.maximum(distance, "
        "0)` "
        "does it.",
    ),
)
