"""`09-beyond-text.grid_encoding`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (
    ("grid_encoding", lambda height, width, dim: np.zeros((height * width, dim)), None),
    ("grid_encoding", lambda height, width, dim: np.full((height * width, dim), 3.0), "between -1 and 1"),
)
