"""CoPE, from its gates: Between two rows of the table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import (
    COPE,
    Generator,
    cope_gates,
    counts_by_difference,
    counts_by_loops,
    counts_by_product,
    from_the_right,
    right_counts,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.biased.cope import cope_bias


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
    counts: Callable[[Array, Array], Array] = right_counts,
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
    p = np.minimum(counts_by_loops(q, k), len(table) - 1)
    columns = [np.interp(p, np.arange(len(table)), column) for column in table.T]
    bias = np.einsum("id,dij->ij", q, np.stack(columns)) / math.sqrt(q.shape[1])
    bias[np.triu_indices(len(q), 1)] = -np.inf
    return np.asarray(bias)


def _cope_by_hats(q: Array, k: Array, table: Array) -> Array:
    """Each row of the table counts by how near the count is to its number."""
    p = np.minimum(counts_by_product(q, k), len(table) - 1)
    near = np.maximum(0.0, 1 - np.abs(p[..., None] - np.arange(len(table))))
    bias = (near * (q @ table.T)[:, None]).sum(axis=-1) / math.sqrt(q.shape[1])
    return np.where(np.arange(len(q)) > np.arange(len(q))[:, None], -np.inf, bias)


def _cope_row_by_row(q: Array, k: Array, table: Array) -> list[list[float]]:
    """A query at a time: its products with the table, read between two numbers, which also cuts off."""
    counts, rows = counts_by_difference(q, k), q @ table.T / q.shape[1] ** 0.5
    return [
        [*np.interp(counts[i, : i + 1], np.arange(len(table)), rows[i]), *[-math.inf] * (len(q) - 1 - i)]
        for i in range(len(q))
    ]


COPE_BIAS = Exercise(
    id="07-alibi-and-biases.cope_bias",
    title="Between two rows of the table",
    step_of=COPE,
    signature="cope_bias(q: array of shape (n, head_dim), k: (n, head_dim), table: (rows, head_dim)) "
    "-> array of shape (n, n)",
    points=3,
    minutes=15,
    difficulty=4,
    reference=lambda q, k, table: _right_cope(q, k, table),
    where_not_finite="Minus infinity belongs to the keys after the query and to no others: keep the lower "
    "triangle, with the diagonal. A mask of zeros and ones times minus infinity is NaN where it is 0: choose "
    "with np.where.",
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
            "rounded-to-a-row",
            _cope_with(part=lambda p: np.round(p) - np.floor(p)),
            "Each count was rounded to a row, with np.round. Between two rows, take a share of both: at "
            "1.25, three quarters of row 1 and one quarter of row 2.",
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
            "The two shares are swapped. Near a whole count, the row of that count has nearly all.",
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
            _cope_with(counts=lambda q, k: np.tril(from_the_right(np.tril(cope_gates(q, k), -1)))),
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
            "You added the score of query and key as well. Return the bias alone.",
        ),
        Mistake(
            "begun-anew",
            lambda q, k, table: _cope(
                q, k, table, counts=lambda q, k: np.mod(right_counts(q, k), max(len(table) - 1, 1))
            ),
            "Your counts begin again at row 0 once they are beyond the last row. They should stay at the "
            "last row.",
        ),
        Mistake(
            "width-without-root",
            lambda q, k, table: _cope(q, k, table) / math.sqrt(q.shape[1]),
            "The bias was divided by head_dim. Divide by its root.",
        ),
        Mistake(
            "steps-counted",
            _cope_with(counts=lambda q, k: np.tril(np.arange(len(q))[:, None] - np.arange(len(q)))),
            "The tokens were counted, each as a whole, and the query's own not at all. A position is the "
            "sum of the gates, from step 1.",
        ),
        Mistake(
            "key-left-out",
            _cope_with(counts=lambda q, k: np.tril(right_counts(q, k) - cope_gates(q, k))),
            "The gate of key j itself is missing in the counts. The sum runs from t = j to t = i, with both "
            "ends.",
        ),
        Mistake(
            "from-the-left",
            _cope_with(counts=lambda q, k: np.tril(np.cumsum(cope_gates(q, k), axis=1))),
            "The counts run from key 0 on. A position counts from key j up to the query: use your "
            "cope_counts.",
        ),
        Mistake(
            "gates-without-root",
            _cope_with(counts=lambda q, k: np.tril(from_the_right(cope_gates(q, k, root=False)))),
            "The scores were not divided by the root of head_dim before the gate. Use your cope_counts.",
        ),
        Mistake(
            "large-number",
            _cope_with(fill=-1e9),
            "You put a large negative number where minus infinity is wanted. Write -np.inf.",
        ),
        Mistake(
            "self-hidden",
            lambda q, k, table: np.where(np.tri(len(q), k=-1) > 0, _cope(q, k, table), -np.inf),
            "The query's own key is hidden too. A token may look at itself: hide only the keys after it.",
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
