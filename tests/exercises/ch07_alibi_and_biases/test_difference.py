"""`07-alibi-and-biases.difference`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from posenc_course.exercises.ch07_alibi_and_biases.difference import COUNTS, DIFFERENCE


@pytest.mark.parametrize("seed", range(3))
def test_every_difference_is_what_it_was_made_to_be(seed):
    """Welch's error of the seeds and the paired one of the files, by SciPy's word."""
    for case in DIFFERENCE.cases(seed):
        a, b, t = case.args
        of_files = 1.96 * stats.sem(a.mean(axis=0) - b.mean(axis=0))
        of_seeds = t * np.hypot(stats.sem(a.mean(axis=1)), stats.sem(b.mean(axis=1)))
        gap = a.mean() - b.mean()
        counts = case.label in COUNTS
        assert (abs(gap) > np.hypot(of_files, of_seeds)) == counts
        expected = ("lower" if gap < 0 else "higher") if counts else "none"
        assert DIFFERENCE.reference(a, b, t) == expected


NOT_KNOWN = (
    ("difference", lambda a, b, t: "none", None),
    ("difference", lambda a, b, t: "better", "one of the three words"),
)
