"""`09-beyond-text.point_waves`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (
    ("point_waves", lambda points, directions: np.ones((len(points), 2 * len(directions))), "sum to 1"),
)
