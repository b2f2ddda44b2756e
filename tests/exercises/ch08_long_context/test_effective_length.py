"""`08-long-context.effective_length`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (
    ("effective_length", lambda lengths, scores, mark: int(np.min(lengths)), None),
    (
        "effective_length",
        lambda lengths, scores, mark: float(np.max(scores)),
        "Return one of the given lengths",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "effective_length",
        lambda lengths, scores, mark: int(
            max((n for n, s in zip(lengths, scores, strict=True) if s >= mark), default=0)
        ),
        "longest-that-passes",
    ),
)
