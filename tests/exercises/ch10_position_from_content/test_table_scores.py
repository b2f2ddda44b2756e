"""`10-position-from-content.table_scores`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import pytest

from posenc_course.exercises.ch10_position_from_content.table_scores import TABLE_SCORES
from posenc_lib.biased import shaw_bias
from tests.exercises.ch10_position_from_content.shared import cases, right


def test_a_table_that_the_query_reads_is_shaws():
    for q, k, table in cases(TABLE_SCORES):
        expected = q @ k.T / math.sqrt(q.shape[1]) + shaw_bias(q, table, len(q), len(k))
        assert right(TABLE_SCORES, q, k, table) == pytest.approx(expected)


NOT_KNOWN = (("table_scores", lambda q, k, table: right(TABLE_SCORES, q, k, table) * len(table), None),)
