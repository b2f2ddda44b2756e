"""Your decoder gets forgetting gates: What is left of each key."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import (
    GATES,
    Generator,
    _forget_bias,
    bias_with,
    distances,
    drawn_gates,
    two_chapters,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _bias_cases(rng: Generator) -> Iterator[Case]:
    yield Case("one head, three tokens", (np.array([[-1.0, -2.0, -0.5]]), 3))
    yield Case("all gates alike", (np.full((1, 6), -0.25), 6))
    yield Case("one query, the last", (drawn_gates(rng, 2, 5), 1))
    shut = np.full((1, 7), -0.01)
    shut[0, 3] = -1e4
    yield Case("a gate that is shut", (shut, 7))
    yield Case("gates that are wide open", (np.zeros((2, 4)), 4))
    for _ in range(3):
        keys = int(rng.integers(4, 9))
        yield Case(
            "gates, drawn", (drawn_gates(rng, int(rng.integers(2, 4)), keys), int(rng.integers(2, keys)))
        )


def _by_distance(gate: Callable[[Array, int], Array]) -> Callable[[Array, int], Array]:
    """The distance times one log gate: (heads, queries or 1, keys or 1), of the log gates and the queries."""
    return lambda log_gates, queries: np.tril(
        distances(queries, log_gates.shape[-1]) * gate(log_gates, queries), log_gates.shape[-1] - queries
    )


def _bias_by_loops(log_gates: Array, queries: int) -> Array:
    heads, keys = log_gates.shape
    found = np.zeros((heads, queries, keys))
    for row in range(queries):
        i = keys - queries + row
        for j in range(i):
            found[:, row, j] = log_gates[:, j + 1 : i + 1].sum(axis=-1)
    return found


def _bias_from_the_end(log_gates: Array, queries: int) -> Array:
    """Row by row: the sums of what stands behind each key, taken from the query back."""
    rows = []
    keys = log_gates.shape[-1]
    for i in range(keys - queries, keys):
        row = np.zeros_like(log_gates)
        row[:, :i] = np.cumsum(log_gates[:, i:0:-1], axis=-1)[:, ::-1]
        rows.append(row)
    return np.stack(rows, axis=1)


FORGET_BIAS = Exercise(
    id="10-position-from-content.forget_bias",
    title="What is left of each key",
    step_of=GATES,
    signature="forget_bias(log_gates: array of shape (heads, keys), queries: int) -> array of shape (heads, "
    "queries, keys)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda forget_bias, rows, columns: heat_map(
            np.asarray(forget_bias(two_chapters(), 24))[0], rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="At token 12 a gate is nearly shut: all later queries have lost what came before it.",
    ),
    reference=_forget_bias,
    make_cases=_bias_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1], args[0].shape[1]),
            "The shape is (heads, queries, keys): one matrix for each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value)[:, distances(args[1], args[0].shape[1]) < 0] == 0).all()
            ),
            "A key after its query must get 0.",
        ),
        Property(
            lambda args, value: bool(
                (np.abs(np.asarray(value)[:, distances(args[1], args[0].shape[1]) == 0]) < 1e-5).all()
            ),
            "Between a query and the key of its own token there is no token, so this key must get 0.",
        ),
        Property(
            lambda args, value: bool((np.asarray(value) < 1e-5).all()),
            "A gate can only take away: no bias may be above 0.",
        ),
    ),
    where_not_finite="Keys after the query get 0 here. The mask will hide them.",
    mistakes=(
        Mistake(
            "keys-gate-for-the-querys",
            bias_with(lambda i, j, own, key: (i - own) - (j - key)),
            "You count the key's own gate, and not the query's. A gate fades what came before its token: "
            "the key's own gate leaves the key alone.",
        ),
        Mistake(
            "both-ends",
            bias_with(lambda i, j, own, key: i - j + key),
            "You count one gate too many, that of the key. It fades only what came before the key.",
        ),
        Mistake(
            "neither-end",
            lambda log_gates, queries: np.tril(
                bias_with(lambda i, j, own, key: i - own - j)(log_gates, queries),
                log_gates.shape[-1] - queries - 1,
            ),
            "The query's own gate is missing. It fades everything that came before the query.",
        ),
        Mistake(
            "turned-round",
            lambda *args: -_forget_bias(*args),
            "The sign is reversed: your bias rewards what was forgotten. Take the sum up to the query "
            "minus the sum up to the key.",
        ),
        Mistake(
            "up-to-the-query",
            bias_with(lambda i, j, own, key: i),
            "You sum from the beginning of the text, alike for every key. Only the tokens after the key "
            "count.",
        ),
        Mistake(
            "up-to-the-key",
            bias_with(lambda i, j, own, key: -j),
            "The sum up to the query is missing. A softmax would not notice, since it is the same for a "
            "whole row, but here you should return the bias itself.",
        ),
        Mistake(
            "not-masked",
            bias_with(lambda i, j, own, key: i - j, masked=False),
            "In yours, keys after the query get numbers above 0. They must get 0.",
        ),
        Mistake(
            "products",
            lambda *args: np.exp(_forget_bias(*args)),
            "These are products of gates. The bias is added to scores: it is their logarithm.",
        ),
        Mistake(
            "first-queries",
            lambda log_gates, queries: _forget_bias(log_gates, log_gates.shape[-1])[:, :queries],
            "Your queries are the first tokens. They are the last ones.",
        ),
        Mistake(
            "over-heads",
            lambda log_gates, queries: _forget_sums(np.cumsum(log_gates, axis=0), queries),
            "Your sums run over the heads. They run over the tokens, along the last axis.",
        ),
        Mistake(
            "no-sums",
            lambda log_gates, queries: _forget_sums(log_gates, queries),
            "You subtract the gate of one token from that of another. Subtract the sums up to each token.",
        ),
        Mistake(
            "querys-gate-times-distance",
            _by_distance(lambda log_gates, queries: log_gates[:, log_gates.shape[-1] - queries :, None]),
            "You multiply the distance by the query's own gate. Each token in between has a gate of its own.",
        ),
        Mistake(
            "keys-gate-times-distance",
            _by_distance(lambda log_gates, queries: log_gates[:, None, :]),
            "You multiply the distance by the key's own gate. Each token in between has a gate of its own.",
        ),
        Mistake(
            "mean-gate",
            _by_distance(lambda log_gates, queries: log_gates.mean(axis=-1)[:, None, None]),
            "You take one mean gate for a whole head. That would be ALiBi, whatever the tokens say.",
        ),
        Mistake(
            "swapped",
            lambda *args: np.asarray(_forget_bias(*args)).swapaxes(1, 2),
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "triangle-not-moved",
            lambda *args: np.tril(_forget_bias(*args)),
            "Some keys before their query get 0. The first query is not at the first key: move the triangle.",
        ),
        Mistake(
            "triangle-one-below",
            lambda *args: np.tril(_forget_bias(*args), -1),
            "Your triangle is that of as many queries as keys. With fewer, the first query is at keys - "
            "queries: move the triangle by that.",
        ),
        Mistake(
            "mean-of-the-gates-between",
            lambda log_gates, queries: (
                _forget_bias(log_gates, queries) / np.maximum(distances(queries, log_gates.shape[1]), 1)
            ),
            "You take the mean of the log gates between. Take their sum.",
        ),
    ),
    alternatives=(
        _bias_by_loops,
        _bias_from_the_end,
        lambda log_gates, queries: np.where(
            distances(queries, log_gates.shape[1]) > 0,
            np.cumsum(log_gates, axis=1)[:, -queries:, None] - np.cumsum(log_gates, axis=1)[:, None, :],
            0.0,
        ),
    ),
    hints=(
        "With c for the sums from the beginning up to each token, what is the sum over the tokens after "
        "j, up to i?",
        "`np.cumsum(log_gates, axis=-1)` makes the sums. Those of the queries are the last ones: make them a "
        "column with `[:, -queries:, None]`, and those of the keys a row.",
        "`np.tril(..., k)` keeps what is on the k-th diagonal and below. The first query is at keys - "
        "queries.",
    ),
)


def _forget_sums(sums: Array, queries: int) -> Array:
    """The bias from whatever is given as sums."""
    keys = sums.shape[-1]
    return np.tril(sums[:, keys - queries :, None] - sums[:, None, :], keys - queries) + 0.0
