"""A score of Transformer-XL: Four terms, one score."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import XL, Generator, late, softmax
from posenc_course.exercises.ch07_alibi_and_biases.relative_shift import right_shift
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.biased.transformer_xl import transformer_xl_bias


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
    unshifted: str = "",
    root: float | bool = True,
    fill: float = -np.inf,
) -> Array:
    """The four terms, without those that are left out."""
    of_distance = np.ones((len(q), 1)) * (r @ v)
    terms = {
        "a": q @ k.T,
        "b": q @ r.T if "b" in unshifted else right_shift(q @ r.T),
        "c": np.ones((len(q), 1)) * (k @ u),
        "d": of_distance if "d" in unshifted else right_shift(of_distance),
    }
    scores = sum(term for name, term in terms.items() if name not in leave)
    hidden = late(len(q), len(k)) > 0
    return np.where(hidden, fill, scores / (np.sqrt(q.shape[1]) if root is True else root or 1))


def _xl_without(name: str, words: str) -> Mistake:
    return Mistake(f"without-{name}", lambda q, k, r, u, v: _xl(q, k, r, u, v, leave=name), words)


def _xl_unshifted(q: Array, k: Array, r: Array, u: Array, v: Array) -> Array:
    scores = ((q + u) @ k.T + (q + v) @ r.T) / np.sqrt(q.shape[1])
    return np.where(late(len(q), len(k)) > 0, -np.inf, scores)


def _xl_shifted_whole(q: Array, k: Array, r: Array, u: Array, v: Array) -> Array:
    scores = right_shift((q + u) @ k.T + (q + v) @ r.T) / np.sqrt(q.shape[1])
    return np.where(late(len(q), len(k)) > 0, -np.inf, scores)


def _xl_in_two(q: Array, k: Array, r: Array, u: Array, v: Array) -> Array:
    """As the authors compute it: (q + u) with k, and (q + v) with r."""
    scores = ((q + u) @ k.T + right_shift((q + v) @ r.T)) / np.sqrt(q.shape[1])
    scores[late(len(q), len(k)) > 0] = -np.inf
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
    id="07-alibi-and-biases.xl_scores",
    title="Four terms, one score",
    step_of=XL,
    signature="xl_scores(q: array of shape (queries, head_dim), k: (keys, head_dim), r: (keys, head_dim), "
    "u: (head_dim,), v: (head_dim,)) -> array of shape (queries, keys)",
    points=2,
    minutes=10,
    difficulty=3,
    reference=lambda q, k, r, u, v: _xl(q, k, r, u, v),
    make_cases=_xl_cases,
    where_not_finite="Minus infinity belongs to the keys after the query and to no others. The last query "
    "is at the last key: where there are fewer queries than keys, move the diagonal by keys - queries. A "
    "mask of zeros and ones times minus infinity is NaN where it is 0: choose with np.where.",
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
            "The vectors u and v are swapped: u meets the keys, and v meets the distances.",
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
            "query is at the last key. Move the diagonal of your triangle by keys - queries.",
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
            "Keys after the query got the score 0, which is not small. To hide a key, its score must be "
            "minus infinity.",
        ),
        Mistake(
            "future-has-content",
            lambda q, k, r, u, v: ((q + u) @ k.T + right_shift((q + v) @ r.T)) / np.sqrt(q.shape[1]),
            "Keys after the query are still open: they have the two terms of the key. Put minus infinity "
            "there.",
        ),
        Mistake(
            "width-without-root",
            lambda q, k, r, u, v: _xl(q, k, r, u, v, root=q.shape[1]),
            "The scores were divided by head_dim. Divide by its root.",
        ),
        Mistake(
            "root-of-the-keys",
            lambda q, k, r, u, v: _xl(q, k, r, u, v, root=math.sqrt(len(k))),
            "The scores were divided by the root of the number of keys. Divide by the root of head_dim.",
        ),
        Mistake(
            "fourth-not-shifted",
            lambda q, k, r, u, v: _xl(q, k, r, u, v, unshifted="d"),
            "The fourth term, v · r, still has a column for each distance. It needs the shift as well: add "
            "it to the second one first, (q + v) · r.",
        ),
        Mistake(
            "second-not-shifted",
            lambda q, k, r, u, v: _xl(q, k, r, u, v, unshifted="b"),
            "The second term, q · r, still has a column for each distance. It needs the shift as well.",
        ),
        Mistake(
            "large-number",
            lambda q, k, r, u, v: _xl(q, k, r, u, v, fill=-1e9),
            "You put a large negative number where minus infinity is wanted. Write -np.inf.",
        ),
        Mistake(
            "u-for-both",
            lambda q, k, r, u, v: _xl(q, k, r, u, u),
            "The vector u meets the distances too. It meets the keys, and v meets the distances.",
        ),
        Mistake(
            "both-to-the-query",
            lambda q, k, r, u, v: _xl(q + u + v, k, r, 0 * u, 0 * v),
            "Both u and v were added to the query. Only u joins it where it meets a key, and only v where "
            "it meets a distance.",
        ),
        Mistake(
            "added-to-the-keys",
            lambda q, k, r, u, v: _xl(q, k + u, r + v, 0 * u, 0 * v),
            "You added u to the keys and v to the distances. They join the query: (q + u) · k and (q + v) · "
            "r.",
        ),
        Mistake(
            "first-alone-divided",
            lambda q, k, r, u, v: (
                _xl(q, k, r, u, v, leave="bcd", fill=0.0) + _xl(q, k, r, u, v, leave="a", root=False)
            ),
            "Only the first term was divided by the root of head_dim. All four are.",
        ),
        Mistake(
            "weights",
            lambda q, k, r, u, v: softmax(_xl(q, k, r, u, v)),
            "These are the weights. Return the scores, before the softmax.",
        ),
        Mistake(
            "self-hidden",
            lambda q, k, r, u, v: np.where(late(len(q), len(k)) >= 0, -np.inf, _xl(q, k, r, u, v)),
            "The query's own key is hidden too. A token may look at itself: hide only the keys after it.",
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
