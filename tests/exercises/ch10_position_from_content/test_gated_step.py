"""`10-position-from-content.gated_step`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch10_position_from_content.gated_step import GATED_STEP
from tests.exercises.ch10_position_from_content.shared import right


def parted(answer, part):
    """The right answer of the step, with one of its parts spoiled."""
    return lambda *args: tuple(
        answer(each) if number == part else each for number, each in enumerate(right(GATED_STEP, *args))
    )


NOT_KNOWN = (
    ("gated_step", parted(np.exp, 3), "the kept sums"),
    ("gated_step", lambda *args: right(GATED_STEP, *args)[0], "a tuple of 4 values"),
)
