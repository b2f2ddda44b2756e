"""`02-the-formula.worst_pair`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from posenc_course.exercises.ch02_the_formula.worst_pair import WORST_PAIR
from tests.exercises.ch02_the_formula.shared import SEEDS, exact_row


@SEEDS
def test_the_worst_pair_is_the_worst_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    for length, dim, base in ((60, 4, 50.0), (2, 4, 10_000.0), (int(rng.integers(10, 80)), 2, 700.0)):
        rows = np.asarray([exact_row(position, dim, base) for position in range(length)])
        pairs = itertools.combinations(range(length), 2)
        # Rounding decides which of those that tie is least; the first of them is asked for.
        apart = {pair: round(float(np.linalg.norm(rows[pair[0]] - rows[pair[1]])), 9) for pair in pairs}
        assert WORST_PAIR.reference(length, dim, base) == min(apart, key=lambda pair: (apart[pair], pair))


def test_the_worst_pair_of_the_text_has_turned_300_and_3_times():
    assert WORST_PAIR.reference(10_000, 4, 10_000.0) == (0, 1885)
    assert 1885 / (2 * math.pi) == pytest.approx(300, abs=0.01)
    assert 1885 / 100 / (2 * math.pi) == pytest.approx(3, abs=1e-4)


NOT_KNOWN = (
    ("worst_pair", lambda length, dim, base: (0, length - 1), "Try every offset"),
    # The largest offset is one of them.
    (
        "worst_pair",
        lambda length, dim, base: WORST_PAIR.reference(max(length - 1, 2), dim, base),
        "Try every offset",
    ),
)
