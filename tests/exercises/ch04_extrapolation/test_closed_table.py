"""`04-extrapolation.closed_table`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import pytest

from posenc_course.exercises.ch04_extrapolation.closed_table import CLOSED_TABLE


@pytest.mark.parametrize("seed", range(12))
def test_a_closed_table_is_told_as_it_was_built(seed):
    """Flaws included: rows that come twice, and rows of zeros."""
    cases = CLOSED_TABLE.cases(seed)
    assert {case.args[0].way for case in cases} == {"clamp", "zero", "interpolate", "wrap"}
    for case in cases:
        (rows,) = case.args
        assert CLOSED_TABLE.reference(rows) == (len(rows.table), rows.way)


def learned_zeros_skipped(rows):
    count, word = CLOSED_TABLE.reference(rows)
    return (int(rows(300).any(axis=1).sum()) if word == "zero" else count), word


NOT_KNOWN = (
    ("closed_table", lambda rows: (7, "zero"), None),
    ("closed_table", learned_zeros_skipped, "a row of zeros included"),
)
