"""`03-relative-position.shift_by`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.checking import report_on
from posenc_course.exercises.ch03_relative_position.doublings import DOUBLINGS
from posenc_course.exercises.ch03_relative_position.shift_by import SHIFT_BY
from tests.exercises.ch03_relative_position.shared import HALF_SEEN, SEEDS, turned_by


@pytest.mark.parametrize("seed", SEEDS)
def test_doublings_and_offsets_are_powers_of_the_one_step(seed):
    for case in DOUBLINGS.cases(seed):
        one_step, m = case.args
        for j, matrix in enumerate(DOUBLINGS.reference(one_step, m)):
            assert matrix == pytest.approx(np.linalg.matrix_power(one_step, 2**j), abs=1e-8)
    for case in SHIFT_BY.cases(seed):
        one_step, offset = case.args
        power = np.linalg.matrix_power(one_step, offset)
        assert SHIFT_BY.reference(one_step, offset) == pytest.approx(power, abs=1e-7)


def never_transposes(one_step, offset):
    moved, square, left = np.eye(len(one_step)), one_step, abs(offset)
    while left:
        moved = moved @ square if left & 1 else moved
        square, left = square @ square, left >> 1
    return moved


NOT_KNOWN = (
    ("shift_by", lambda one_step, offset: np.eye(len(one_step)), None),
    *(
        ("shift_by", lambda one_step, offset, angle=angle: turned_by(angle, one_step, offset), "a fast clock")
        for angle in HALF_SEEN
    ),
)


WRITTEN_IN_ANOTHER_WAY = (("shift_by", never_transposes, "forwards-only"),)


def test_who_multiplies_in_float32_is_told_that_rounding_undoes_it():
    def in_float32(one_step, offset):
        return torch.linalg.matrix_power(torch.tensor(one_step).float(), int(offset)).numpy()

    assert "In float32, rounding alone undoes that" in str(report_on(SHIFT_BY.id, in_float32))
