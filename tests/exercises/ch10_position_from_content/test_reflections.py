"""`10-position-from-content.reflections`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch10_position_from_content.reflections import REFLECTIONS
from tests.exercises.ch10_position_from_content.shared import right

NOT_KNOWN = (
    ("reflections", lambda w, beta: np.triu(right(REFLECTIONS, w, beta)), "is symmetric"),
    ("reflections", lambda w, beta: right(REFLECTIONS, np.abs(w), beta), None),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "reflections",
        lambda w, beta: [np.eye(len(r)) - b * np.outer(r, r) for r, b in zip(w, beta, strict=True)],
        "not-of-length-one",
    ),
)
