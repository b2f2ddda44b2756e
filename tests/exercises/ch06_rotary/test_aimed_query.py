"""`06-rotary.aimed_query`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch06_rotary.aimed_query import AIMED_QUERY
from posenc_lib import apply_rotary


def test_an_aimed_query_scores_nowhere_higher():
    for case in AIMED_QUERY.cases():
        key, offset, base = case.args
        query = AIMED_QUERY.reference(key, offset, base)
        tried = np.arange(offset - 300, offset + 301)
        turned = apply_rotary(np.repeat(query[None], len(tried), axis=0), tried, base=base)
        assert (turned @ key).max() == pytest.approx(key @ key)
        assert turned[300] @ key == pytest.approx(key @ key)


NOT_KNOWN = (("aimed_query", lambda key, offset, base: np.roll(key, 1), "as long as the same pair"),)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "aimed_query",
        lambda key, offset, base: apply_rotary(key[None], [offset], base=base)[0],
        "the-other-way",
    ),
)
