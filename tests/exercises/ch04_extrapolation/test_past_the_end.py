"""`04-extrapolation.past_the_end`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch04_extrapolation.past_the_end import PAST_THE_END
from posenc_lib import learned
from tests.exercises.ch04_extrapolation.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_past_the_end_is_what_the_library_does(seed):
    for case in PAST_THE_END.cases(seed):
        table, length, way = case.args
        expected = learned(table, length, beyond=way) if length > len(table) else table[:length]
        np.testing.assert_allclose(PAST_THE_END.reference(*case.args), expected, atol=1e-12)


NOT_KNOWN = (("past_the_end", lambda table, length, way: np.full((length, table.shape[1]), 0.5), None),)
