"""`03-relative-position.first_doubt`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch03_relative_position.first_doubt import FIRST_DOUBT
from posenc_lib import sinusoidal
from tests.exercises.ch03_relative_position.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_doubt_has_a_partner_and_none_before_it_has(seed):
    for case in FIRST_DOUBT.cases(seed):
        dim, base, reach, tolerance = case.args
        rows = sinusoidal(reach + 1, dim, base=base)
        kernel = rows @ rows[0]
        partners = [int((np.abs(kernel - each) <= tolerance).sum()) - 1 for each in kernel]
        first = FIRST_DOUBT.reference(*case.args)
        assert first == next((k for k, count in enumerate(partners) if count), -1)
        assert first == -1 or not case.label.endswith("no doubt")


NOT_KNOWN = (
    ("first_doubt", lambda dim, base, reach, tolerance: reach // 2, "A smaller distance is in doubt as well"),
    ("first_doubt", lambda dim, base, reach, tolerance: -1, "You return -1, but"),
    ("first_doubt", lambda *args: max(FIRST_DOUBT.reference(*args) - 1, 0), "is not in doubt"),
)
