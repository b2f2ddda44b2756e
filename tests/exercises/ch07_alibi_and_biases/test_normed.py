"""`07-alibi-and-biases.normed`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (
    ("normed", lambda x, gain: np.ones_like(x), None),
    ("normed", lambda x, gain: x * gain, "must be 1"),
)
