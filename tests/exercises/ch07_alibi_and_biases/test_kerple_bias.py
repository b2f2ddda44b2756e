"""`07-alibi-and-biases.kerple_bias`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from posenc_course.exercises.ch07_alibi_and_biases.kerple_bias import KERPLE_BIAS
from tests.exercises.ch07_alibi_and_biases.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_kerple_is_the_papers_formula_in_exact_arithmetic(seed):
    for case in KERPLE_BIAS.cases(seed):
        r1, r2, queries, keys, kind = case.args
        got = KERPLE_BIAS.reference(*case.args)
        with mpmath.workdps(30):
            for h, i, j in np.ndindex(*got.shape):
                d = mpmath.mpf(abs(i + keys - queries - j))
                one, two = mpmath.mpf(float(r1[h])), mpmath.mpf(float(r2[h]))
                exact = -one * (mpmath.log(1 + two * d) if kind == "log" else d**two if d else 0)
                assert got[h, i, j] == pytest.approx(float(exact), rel=1e-12)


def as_under_a_causal_mask(r1, r2, queries, keys, kind):
    bias = KERPLE_BIAS.reference(r1, r2, queries, keys, kind)
    bias[:, ~np.tri(queries, keys, keys - queries, dtype=bool)] = -np.inf
    return bias


WRITTEN_IN_ANOTHER_WAY = (("kerple_bias", as_under_a_causal_mask, "future-hidden"),)


NOT_KNOWN = (
    ("kerple_bias", lambda r1, r2, queries, keys, kind: np.zeros((len(r1), queries, keys)), None),
    ("kerple_bias", lambda r1, r2, queries, keys, kind: np.zeros((queries, keys)), "one matrix for each"),
)
