"""`03-relative-position.doublings`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from tests.exercises.ch03_relative_position.shared import HALF_SEEN, turned_by


def one_product_more_each_time(one_step, m):
    matrices = [one_step]
    for _ in range(m - 1):
        matrices.append(one_step @ matrices[-1])
    return matrices


NOT_KNOWN = (
    *(
        (
            "doublings",
            lambda one_step, m, angle=angle: [turned_by(angle, one_step, 2**j) for j in range(m)],
            "a fast clock",
        )
        for angle in HALF_SEEN
    ),
    ("doublings", lambda one_step, m: np.zeros((m, *one_step.shape)), "must be a rotation"),
    (
        "doublings",
        lambda one_step, m: np.stack([one_step, *[one_step.T] * (m - 1)]),
        "times itself",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (("doublings", one_product_more_each_time, "one-step-more-each-time"),)
