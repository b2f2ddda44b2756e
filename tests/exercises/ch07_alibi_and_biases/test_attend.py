"""`07-alibi-and-biases.attend`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (
    ("attend", lambda q, k, v, slopes: np.zeros_like(q), None),
    ("attend", lambda q, k, v, slopes: v[:, : q.shape[1]] * 5, "weighted mean"),
)
