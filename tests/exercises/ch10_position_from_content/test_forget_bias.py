"""`10-position-from-content.forget_bias`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch10_position_from_content.forget_bias import FORGET_BIAS
from tests.exercises.ch10_position_from_content.shared import right

NOT_KNOWN = (
    (
        "forget_bias",
        lambda gates, queries: np.where(
            np.arange(gates.shape[1]) > np.arange(gates.shape[1])[-queries:, None],
            -np.inf,
            right(FORGET_BIAS, gates, queries),
        ),
        "Keys after the query get 0 here",
    ),
    (
        "forget_bias",
        lambda gates, queries: right(FORGET_BIAS, gates, queries) - 0.5,
        "this key must get 0",
    ),
    ("forget_bias", lambda gates, queries: right(FORGET_BIAS, gates, queries) / 2, None),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "forget_bias",
        lambda gates, queries: np.array(
            [
                [
                    [row[j:i].sum() if j < i else 0.0 for j in range(len(row))]
                    for i in range(len(row) - queries, len(row))
                ]
                for row in gates
            ]
        ),
        "keys-gate-for-the-querys",
    ),
)
