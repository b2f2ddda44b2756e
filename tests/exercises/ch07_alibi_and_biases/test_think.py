"""`07-alibi-and-biases.think`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (
    ("think", lambda x, widen, narrow: np.sin(x @ widen.T) @ narrow.T, None),
    ("think", lambda x, widen, narrow: np.maximum(x @ widen.T, 0), "as wide as they were"),
)
