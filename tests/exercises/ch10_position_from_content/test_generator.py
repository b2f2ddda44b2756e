"""`10-position-from-content.generator`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch10_position_from_content.generator import GENERATOR
from tests.exercises.ch10_position_from_content.shared import right

NOT_KNOWN = (
    (
        "generator",
        lambda rates, slope: np.diag(np.append(np.repeat(rates, 2), [slope, slope])),
        "so it must hold zeros",
    ),
    ("generator", lambda rates, slope: right(GENERATOR, rates, slope) / 2, None),
)
