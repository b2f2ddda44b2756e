"""`07-alibi-and-biases.slope_of`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np

from posenc_course.checking import report_on

NOT_KNOWN = (
    (
        "slope_of",
        lambda weights: np.mean(np.diff(np.log(weights), axis=1)),
        "Weights of keys after the query are exactly 0",
    ),
    ("slope_of", lambda weights: weights, "Return one number"),
    ("slope_of", lambda weights: np.log(weights[-1, -1]), "not negative"),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("slope_of", lambda weights: math.log2(weights[1, 1] / weights[1, 0]), "base-two"),
    ("slope_of", lambda weights: math.exp(math.log(weights[1, 1]) - math.log(weights[1, 0])), "ratio"),
)


def test_two_weights_of_a_column_are_told_about_rows():
    told = str(
        report_on("07-alibi-and-biases.slope_of", lambda weights: np.log(weights[0, 0] / weights[1, 0]))
    )
    assert "two weights in one row" in told
