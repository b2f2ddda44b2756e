"""CoPE, from its gates: Gates, added up."""

from __future__ import annotations

import math
from collections.abc import Iterator

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
    sigmoid,
    softmax,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _count_cases(rng: Generator) -> Iterator[Case]:
    yield Case("every gate half open: three tokens", (np.zeros((3, 2)), np.ones((3, 2))))
    wide = np.full((3, 4), 40.0)
    yield Case("every gate wide open: three tokens", (wide, wide))
    stops = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]) @ np.diag([80.0, -80.0])
    yield Case("one full stop among five tokens", (np.ones((5, 2)), stops))
    for n, d in ((1, 3), (4, 4), (7, 3)):
        q, k = rng.normal(size=(2, n, d))
        yield Case(f"random: tokens {n}, head_dim {d}", (2 * q, 2 * k))


COPE_COUNTS = Exercise(
    id="07-alibi-and-biases.cope_counts",
    title="Gates, added up",
    step_of=COPE,
    signature="cope_counts(q: array of shape (n, head_dim), k: (n, head_dim)) -> array of shape (n, n)",
    points=2,
    minutes=12,
    difficulty=3,
    reference=lambda q, k: right_counts(q, k),
    make_cases=_count_cases,
    where_not_finite="The exponential of a large number overflows: e to the x for a gate that is wide open, "
    "or e to the -x for one that is nearly shut. 0.5 * (np.tanh(x / 2) + 1) is the same gate and does not.",
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
            lambda q, k: np.tril(np.cumsum(cope_gates(q, k), axis=1)),
            "The gates were added up from key 0 on. A position counts from key j up to the query: add from "
            "the right.",
        ),
        Mistake(
            "key-left-out",
            lambda q, k: np.tril(from_the_right(cope_gates(q, k)) - cope_gates(q, k)),
            "The gate of key j itself is missing. The sum runs from t = j to t = i, with both ends.",
        ),
        Mistake(
            "query-left-out",
            lambda q, k: np.tril(from_the_right(np.tril(cope_gates(q, k), -1))),
            "The gate of the query's own key is missing. The sum runs from t = j to t = i, with both ends.",
        ),
        Mistake(
            "no-root",
            lambda q, k: np.tril(from_the_right(cope_gates(q, k, root=False))),
            "The scores were not divided by the root of head_dim before the gate.",
        ),
        Mistake(
            "future-counted",
            lambda q, k: from_the_right(cope_gates(q, k, causal=False)),
            "The gates of keys after the query were counted. Shut them first: np.tril(gates).",
        ),
        Mistake(
            "future-hidden-too-late",
            lambda q, k: np.tril(from_the_right(cope_gates(q, k, causal=False))),
            "The keys after the query were set to 0 at the end, but by then their gates were in all the "
            "sums. "
            "Shut them first, and add up afterwards.",
        ),
        Mistake(
            "softmax-for-sigmoid",
            lambda q, k: np.tril(
                from_the_right(
                    softmax(np.where(np.tri(len(q)) > 0, q @ k.T / math.sqrt(q.shape[1]), -np.inf))
                )
            ),
            "The gates were made by a softmax, so they share one whole among them. Each opens on its own: 1 "
            "/ (1 + e^-x).",
        ),
        Mistake(
            "hard-gates",
            lambda q, k: np.tril(from_the_right(cope_gates(q, k, gate=lambda x: 1.0 * (x > 0)))),
            "Your gates are open or shut and nothing between. A gate is 1 / (1 + e^-x), and 1/2 at x = 0.",
        ),
        Mistake(
            "gate-upside-down",
            lambda q, k: np.tril(from_the_right(cope_gates(q, k, gate=lambda x: sigmoid(-x)))),
            "The gates are upside down: they shut where the query finds the key interesting. The exponent "
            "is minus x: 1 / (1 + e^-x).",
        ),
        Mistake(
            "not-summed",
            lambda q, k: cope_gates(q, k),
            "These are the gates. A position is their sum, from key j up to the query.",
        ),
        Mistake(
            "down-a-column",
            lambda q, k: np.tril(np.cumsum(cope_gates(q, k)[::-1], axis=0)[::-1]),
            "The gates were added down a column, over queries. Each query adds its own gates, along its row.",
        ),
        Mistake(
            "keys-ask",
            lambda q, k: np.tril(from_the_right(cope_gates(k, q))),
            "Queries and keys are swapped in the gates: row i belongs to query i.",
        ),
        Mistake(
            "width-without-root",
            lambda q, k: np.tril(from_the_right(cope_gates(q / math.sqrt(q.shape[1]), k))),
            "The scores were divided by head_dim. Divide by its root before the gate.",
        ),
        Mistake(
            "tanh-without-the-half",
            lambda q, k: np.tril(from_the_right(cope_gates(2 * q, k))),
            "Your gates are too steep, as if x were doubled. Written with np.tanh, the sigmoid is "
            "(np.tanh(x / 2) + 1) / 2: is the first half missing?",
        ),
        Mistake(
            "rounded",
            lambda q, k: np.round(right_counts(q, k)),
            "The counts were rounded. A gate may be half open, and a count 1.5: keep the fractions.",
        ),
        Mistake(
            "rounded-down",
            lambda q, k: np.floor(right_counts(q, k)),
            "The counts were rounded down. A gate may be half open, and a count 1.5: keep the fractions.",
        ),
        Mistake(
            "mean",
            lambda q, k: (
                right_counts(q, k) / np.maximum(1, 1 + np.arange(len(q))[:, None] - np.arange(len(q)))
            ),
            "These are mean gates. A position is their sum, from key j up to the query.",
        ),
        Mistake(
            "not-reversed-back",
            lambda q, k: np.tril(np.cumsum(cope_gates(q, k)[:, ::-1], axis=1)),
            "You reversed each row and added up, but the row is still reversed. Reverse it again: [:, ::-1].",
        ),
        Mistake(
            "whole-row",
            lambda q, k: np.tril(np.tile(cope_gates(q, k).sum(axis=1)[:, None], len(q))),
            "Every key got the sum of the whole row. Key j counts the gates from j on, and not those before "
            "it.",
        ),
        Mistake(
            "future-half-open",
            lambda q, k: np.tril(from_the_right(sigmoid(np.tril(q @ k.T / math.sqrt(q.shape[1]))))),
            "You put 0 for the scores of keys after the query, and a score of 0 opens a gate half. Shut the "
            "gates themselves: np.tril after the sigmoid.",
        ),
        Mistake(
            "future-hidden",
            lambda q, k: np.where(np.tri(len(q)) > 0, right_counts(q, k), -np.inf),
            "Keys after the query got minus infinity. These are counts, not scores: put 0 there.",
        ),
        Mistake(
            "one-less",
            lambda q, k: np.tril(right_counts(q, k) - 1),
            "You took 1 off each count. The sum runs from t = j to t = i, with both ends.",
        ),
    ),
    alternatives=(counts_by_loops, counts_by_product, counts_by_difference),
    hints=(
        "First the gates, (n, n): one sigmoid of each score. Then shut those of keys after the query.",
        "`np.cumsum` adds from the left. Reverse each row with `[:, ::-1]`, add, and reverse it again.",
        "`np.tril(np.cumsum(gates[:, ::-1], axis=1)[:, ::-1])`, with `gates = np.tril(1 / (1 + "
        "np.exp(-scores)))`.",
    ),
)
