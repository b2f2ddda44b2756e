"""`10-position-from-content.choose`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np

from posenc_course.exercises.ch10_position_from_content.choose import CHOOSE
from tests.exercises.ch10_position_from_content.shared import cases, right


def test_nobody_is_better_than_the_one_that_is_chosen():
    for losses, errors, admitted, costs in cases(CHOOSE, range(5)):
        chosen = right(CHOOSE, losses, errors, admitted, costs)
        assert (chosen == -1) == (not admitted.any())
        best = losses[admitted].min(initial=np.inf)
        for n in np.flatnonzero(admitted):
            error_of_best = errors[admitted][losses[admitted].argmin()]
            if losses[n] - best <= math.hypot(errors[n], error_of_best):
                assert (costs[chosen], losses[chosen]) <= (costs[n], losses[n])


NOT_KNOWN = (
    (
        "choose",
        lambda losses, errors, admitted, costs: int(np.argmin(losses)),
        "The run that you chose was not admitted",
    ),
    ("choose", lambda losses, errors, admitted, costs: -1, "and only then"),
    (
        "choose",
        lambda losses, errors, admitted, costs: int(np.argmin(np.where(admitted, losses, 9))),
        "Return -1 if no run was admitted",
    ),
)
