"""`03-relative-position.split_heads`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (
    ("split_heads", lambda x, heads: np.zeros((heads, len(x), x.shape[1] // heads)), "must come back"),
    ("split_heads", lambda x, heads: np.roll(x, 1).reshape(heads, len(x), -1), "Head 0 must hold the first"),
)
