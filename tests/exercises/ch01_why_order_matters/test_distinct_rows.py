"""`01-why-order-matters.distinct_rows`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch01_why_order_matters.distinct_rows import DISTINCT_ROWS
from posenc_lib import attention


@pytest.mark.parametrize("seed", range(20))
def test_the_sentence_really_gives_five_and_six_different_rows(seed):
    rng = np.random.default_rng(seed)
    words = ["the", "cat", "sat", "on", "the", "mat"]
    vector_of = {word: rng.normal(size=8) for word in words}
    x = np.stack([vector_of[word] for word in words])
    q, k, v = (x @ rng.normal(size=(8, 4)) / np.sqrt(8) for _ in range(3))
    rows = [len(np.unique(attention(q, k, v, causal=causal).round(9), axis=0)) for causal in (False, True)]
    assert tuple(rows) == DISTINCT_ROWS.reference()


@pytest.mark.parametrize("prediction", [(6, 4), (3, 3), (5, 1)])
def test_a_possible_number_of_rows_is_not_called_impossible(prediction):
    report = report_on("01-why-order-matters.distinct_rows", prediction)
    assert not report.passed
    assert report.mistake is None
    assert "six rows come out" not in str(report)


NOT_KNOWN = (
    ("distinct_rows", (720, 6), "six rows come out"),
    ("distinct_rows", (1, 5), "Which tokens share a query?"),
    ("distinct_rows", (2, 6), "Your first number is too small"),
    ("distinct_rows", (5, 1), "Your second number is too small"),
    ("distinct_rows", (6, 1), "so they share a row"),
    ("distinct_rows", (4, 5), "that row counts once"),
    ("distinct_rows", (4, 5), "Do they still share a row?"),
)
