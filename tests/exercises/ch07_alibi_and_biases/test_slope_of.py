"""`07-alibi-and-biases.slope_of`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np

NOT_KNOWN = (
    ("slope_of", lambda weights: weights, "Return one number"),
    ("slope_of", lambda weights: np.log(weights[-1, -1]), "not negative"),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("slope_of", lambda weights: math.log2(weights[1, 1] / weights[1, 0]), "base-two"),
    ("slope_of", lambda weights: math.exp(math.log(weights[1, 1]) - math.log(weights[1, 0])), "ratio"),
)
