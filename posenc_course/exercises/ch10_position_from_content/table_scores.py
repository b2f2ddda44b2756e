"""A table that the query reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import Generator
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _table_cases(rng: Generator) -> Iterator[Case]:
    def inputs(m: int, n: int, dim: int, reach: int) -> tuple[Array, ...]:
        sizes = ((m, dim), (n, dim), (2 * reach + 1, dim))
        return tuple(rng.normal(size=size) for size in sizes)

    yield Case("four tokens, reach 2", inputs(4, 4, 3, 2))
    yield Case("a text far longer than the table", inputs(9, 9, 4, 1))
    yield Case("one query, the last", inputs(1, 7, 4, 3))
    yield Case("a table longer than the text", inputs(3, 3, 2, 6))
    yield Case("one vector for all", inputs(3, 5, 4, 0))
    for _ in range(3):
        n = int(rng.integers(5, 12))
        sizes = (int(rng.integers(2, n)), n, int(rng.integers(2, 6)), int(rng.integers(1, 4)))
        yield Case("sizes, drawn", inputs(*sizes))


Rows = Callable[[Array, int], Array]


def _clipped(offsets: Array, reach: int) -> Array:
    return np.clip(offsets, -reach, reach) + reach


def _table_with(
    rows: Rows = _clipped,
    *,
    behind: Callable[[int, int], int] = lambda m, n: n - m,
    score: Callable[[Array, Array, float], Array] = lambda product, table, root: (product + table) / root,
    content: Callable[[Array, Array, Array], Array] = lambda q, k, vectors: np.einsum(
        "id,ijd->ij", q, vectors
    ),
) -> Callable[[Array, Array, Array], Array]:
    """`content`: what the picked vectors, of shape (m, n, dim), are multiplied with."""

    def scores(q: Array, k: Array, table: Array) -> Array:
        m, n = len(q), len(k)
        offsets = np.arange(n) - (np.arange(m) + behind(m, n))[:, None]
        picked = table[rows(offsets, len(table) // 2)]
        return np.asarray(score(q @ k.T, content(q, k, picked), math.sqrt(q.shape[1])))

    return scores


def _table_scores(q: Array, k: Array, table: Array) -> Array:
    return _table_with()(q, k, table)


def _table_by_loops(q: Array, k: Array, table: Array) -> Array:
    m, n, reach = len(q), len(k), (len(table) - 1) // 2
    found = np.empty((m, n))
    for row in range(m):
        for j in range(n):
            offset = j - (n - m + row)
            found[row, j] = q[row] @ (k[j] + table[max(-reach, min(reach, offset)) + reach])
    return found / q.shape[1] ** 0.5


def _table_products_first(q: Array, k: Array, table: Array) -> Array:
    """Each query with each row of the table once; then numbers are picked, and no vectors."""
    m, n, reach = len(q), len(k), len(table) // 2
    columns = np.clip(np.arange(n) - np.arange(n - m, n)[:, None], -reach, reach) + reach
    return (q @ k.T + np.take_along_axis(q @ table.T, columns, axis=1)) / np.sqrt(q.shape[1])


TABLE_SCORES = Exercise(
    id="10-position-from-content.table_scores",
    title="A table that the query reads",
    signature="table_scores(q: array of shape (m, dim), k: array of shape (n, dim), table: array of shape "
    "(2 * reach + 1, dim)) -> array of shape (m, n)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda table_scores, rows, columns: heat_map(
            table_scores(np.ones((24, 1)), np.zeros((24, 1)), np.cos(np.arange(-6, 7) / 3)[:, None]),
            rows=rows,
            columns=columns,
        ),
        axes=("query", "key"),
        look="Near the diagonal each offset has its own score, and beyond the reach of the table all "
        "share one.",
    ),
    reference=_table_scores,
    make_cases=_table_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[1])),
            "There must be a row for each query and a column for each key.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "no-table",
            _table_with(score=lambda product, table, root: product / root),
            "These are plain scores: the table changes nothing.",
        ),
        Mistake(
            "table-alone",
            _table_with(score=lambda product, table, root: table / root),
            "The product of query and key is missing. Add the table's part to it.",
        ),
        Mistake(
            "not-divided",
            _table_with(score=lambda product, table, root: product + table),
            "Nothing is divided by the root of dim.",
        ),
        Mistake(
            "table-not-divided",
            _table_with(score=lambda product, table, root: product / root + table),
            "The table's part is not divided by the root of dim. The query is multiplied by key plus "
            "vector, and all of it is divided.",
        ),
        Mistake(
            "query-minus-key",
            _table_with(lambda offsets, reach: _clipped(-offsets, reach)),
            "Your offset is query minus key. Row 0 is for keys far before the query: key minus query.",
        ),
        Mistake(
            "not-moved",
            _table_with(lambda offsets, reach: np.clip(offsets, -reach, reach)),
            "Your offsets are not shifted by the reach: offset 0 takes row 0, and for NumPy row -1 is "
            "the last one.",
        ),
        Mistake(
            "round-again",
            _table_with(lambda offsets, reach: (offsets + reach) % (2 * reach + 1)),
            "Beyond its reach your table starts again. All far keys should share its outermost row.",
        ),
        Mistake(
            "nothing-far-away",
            lambda q, k, table: np.where(
                np.abs(np.arange(len(k)) - np.arange(len(k) - len(q), len(k))[:, None]) <= len(table) // 2,
                _table_scores(q, k, table),
                q @ k.T / math.sqrt(q.shape[1]),
            ),
            "In yours, far keys get no vector at all. They should share the outermost row of the table.",
        ),
        Mistake(
            "one-short",
            _table_with(
                lambda offsets, reach: np.clip(offsets, -max(reach - 1, 0), max(reach - 1, 0)) + reach
            ),
            "Your reach is one short: the outermost rows of the table are never read.",
        ),
        Mistake(
            "first-queries",
            _table_with(behind=lambda m, n: 0),
            "Your queries are the first tokens. They are the last m of the n.",
        ),
        Mistake(
            "key-reads",
            _table_with(content=lambda q, k, vectors: np.einsum("jd,ijd->ij", k, vectors)),
            "You multiply the table's vector by the key. Multiply it by the query.",
        ),
        Mistake(
            "both-read",
            _table_with(content=lambda q, k, vectors: np.einsum("ijd,ijd->ij", q[:, None] + k, vectors)),
            "In yours, key and query both read the table. Only the query should.",
        ),
        Mistake(
            "nobody-asks",
            _table_with(content=lambda q, k, vectors: vectors.sum(axis=-1)),
            "You sum the table's vector. Multiply it by the query, which weights its columns.",
        ),
        Mistake(
            "masked",
            lambda q, k, table: np.tril(_table_scores(q, k, table), len(k) - len(q)),
            "In yours, keys after the query get 0. There is no mask here.",
        ),
        Mistake(
            "past-alone",
            _table_with(lambda offsets, reach: np.clip(offsets, -reach, 0) + reach),
            "In yours, all keys after the query share one row. The table has rows for them too.",
        ),
        Mistake(
            "root-of-tokens",
            lambda q, k, table: _table_scores(q, k, table) * math.sqrt(q.shape[1] / len(k)),
            "You divide by the root of the number of keys. Use dim, the number of columns.",
        ),
        Mistake(
            "distance",
            _table_with(lambda offsets, reach: _clipped(np.abs(offsets), reach)),
            "You drop the sign of the offset: before and after share a row. Each offset has its own.",
        ),
        Mistake(
            "distance-from-row-0",
            _table_with(lambda offsets, reach: np.minimum(np.abs(offsets), reach)),
            "You use the distance as the row. Row 0 is for the offset -reach: clip the offset, and add "
            "the reach.",
        ),
        Mistake(
            "last-row-not-read",
            _table_with(lambda offsets, reach: np.clip(offsets + reach, 0, max(2 * reach - 1, 0))),
            "You never read the last row of the table. It has 2 * reach + 1 rows: the last is number 2 * "
            "reach.",
        ),
        Mistake(
            "divided-by-dim",
            _table_with(score=lambda product, table, root: (product + table) / root**2),
            "You divide by dim. Divide by its square root.",
        ),
        Mistake(
            "multiplied",
            _table_with(score=lambda product, table, root: product * table / root),
            "You multiply the two products. Add them.",
        ),
    ),
    alternatives=(
        _table_by_loops,
        _table_products_first,
        lambda q, k, table: (
            np.einsum(
                "id,ijd->ij",
                q,
                k
                + table[
                    np.clip(
                        np.arange(len(k)) - np.arange(len(k) - len(q), len(k))[:, None],
                        -(len(table) // 2),
                        len(table) // 2,
                    )
                    + len(table) // 2
                ],
            )
            / len(k[0]) ** 0.5
        ),
    ),
    hints=(
        "The reach is `len(table) // 2`. Which row is for a key at the query's own place, and which for "
        "one far before it?",
        "The offsets are `np.arange(n) - np.arange(n - m, n)[:, None]`; clip them to the reach, and add it.",
        "With these rows, `table[rows]` has shape (m, n, dim). A shorter way needs no such array: take `q @ "
        "table.T` once, and pick from it.",
    ),
)
