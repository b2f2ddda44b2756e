"""`05-pitfalls.may_look`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch05_pitfalls.may_look import MAY_LOOK
from posenc_course.exercises.ch05_pitfalls.positions_in_text import POSITIONS_IN_TEXT
from posenc_course.exercises.ch05_pitfalls.targets_that_count import TARGETS_THAT_COUNT
from posenc_lib import packed_mask, packed_positions


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_packed_texts_are_those_of_the_library(seed):
    """Texts by their numbers here, by their ends there."""
    for case in MAY_LOOK.cases(seed):
        (texts,) = case.args
        at = np.flatnonzero(texts != -1)
        starts = np.flatnonzero(np.append(True, np.diff(texts[at]) != 0))
        ends = np.append(starts, len(at))
        np.testing.assert_array_equal(POSITIONS_IN_TEXT.reference(texts)[at], packed_positions(ends))
        np.testing.assert_array_equal(
            MAY_LOOK.reference(texts)[np.ix_(at, at)], packed_mask(ends, causal=True)
        )
        assert TARGETS_THAT_COUNT.reference(texts).sum() == len(at) - (len(ends) - 1)


NOT_KNOWN = (
    ("may_look", lambda texts: np.eye(len(texts)) > 0, "It may look at all of them"),
    (
        "may_look",
        lambda texts: np.tril((texts[:, None] == texts) & (texts > 0)),
        "Is text number 0 taken for padding?",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("may_look", lambda texts: np.tril(np.ones((len(texts),) * 2)) > 0, "causal-alone"),
)
