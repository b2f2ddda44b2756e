"""`05-pitfalls.serve`: its reference, and answers that no list foresaw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posenc_course.exercises.ch05_pitfalls.serve import SERVE, _made_dynamic


def test_a_served_table_is_the_one_that_was_asked_for():
    for case in SERVE.cases():
        make, calls = case.args
        tables, made = SERVE.reference(make, calls)
        assert made == len({tuple(call) for call in calls})
        for table, call in zip(tables, calls, strict=True):
            np.testing.assert_array_equal(table, make(*call))


def test_rows_of_a_longer_table_are_wrong_for_some_encodings():
    """Why length belongs in the key."""
    long, short = (_made_dynamic(length, 4, 100.0) for length in (9, 3))
    assert np.abs(long[:3] - short).max() > 0.01


def by_length_and_width(make, calls):
    known: list[np.ndarray] = []
    tables: list[np.ndarray] = []
    made = 0
    for length, dim, base in calls:
        hit = next((table for table in known if table.shape == (length, dim)), None)
        if hit is None:
            hit, made = make(length, dim, base), made + 1
            known.append(hit)
        tables.append(hit)
    return tables, made


NOT_KNOWN: tuple[tuple[str, Callable[..., Any], str], ...] = (
    ("serve", lambda make, calls: ([], 0), "one table for each call"),
    ("serve", lambda make, calls: ([make(*each) for each in calls], 1), "once for each of them"),
)


WRITTEN_IN_ANOTHER_WAY = (("serve", by_length_and_width, "base-forgotten"),)
