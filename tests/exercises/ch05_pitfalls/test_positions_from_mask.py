"""`05-pitfalls.positions_from_mask`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch05_pitfalls.positions_from_mask import POSITIONS_FROM_MASK


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_positions_are_those_that_transformers_counts(seed):
    """generation/utils.py: cumsum less 1; padding has a filler there."""
    for case in POSITIONS_FROM_MASK.cases(seed):
        mask = torch.tensor(case.args[0])
        theirs = mask.long().cumsum(-1) - 1
        theirs.masked_fill_(mask == 0, 0)
        np.testing.assert_array_equal(POSITIONS_FROM_MASK.reference(*case.args), theirs)


def numbered_by_column(mask):
    return [list(range(len(row))) for row in mask.tolist()]


NOT_KNOWN = (
    ("positions_from_mask", lambda mask: -mask, "negative"),
    ("positions_from_mask", lambda mask: mask * 7, "0, 1, 2"),
)


WRITTEN_IN_ANOTHER_WAY = (("positions_from_mask", numbered_by_column, "columns"),)
