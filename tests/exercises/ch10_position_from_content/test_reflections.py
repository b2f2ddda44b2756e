"""`10-position-from-content.reflections`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch10_position_from_content.reflections import REFLECTIONS
from tests.exercises.ch10_position_from_content.shared import right

NOT_KNOWN = (
    ("reflections", lambda w, beta: np.triu(right(REFLECTIONS, w, beta)), "must be symmetric"),
    ("reflections", lambda w, beta: right(REFLECTIONS, np.abs(w), beta), None),
    ("reflections", lambda w, beta: right(REFLECTIONS, w, np.sqrt(beta)), "Along its own w"),
    (
        "reflections",
        lambda w, beta: right(REFLECTIONS, w, np.zeros(len(w))) * (1 + beta)[:, None, None],
        "At a right angle to w",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "reflections",
        lambda w, beta: [np.eye(len(r)) - b * np.outer(r, r) for r, b in zip(w, beta, strict=True)],
        "not-of-length-one",
    ),
    (
        "reflections",
        lambda w, beta: right(
            REFLECTIONS, w, beta * (w * w).sum(axis=1) / (np.sqrt((w * w).sum(axis=1)) + 1e-8) ** 2
        ),
        "a-little-added-to-the-length",
    ),
)
