"""`08-long-context.grouped_distances`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (
    ("grouped_distances", lambda tokens, group, window: np.zeros((tokens, tokens)), None),
    (
        "grouped_distances",
        lambda tokens, group, window: np.ones((tokens, tokens)),
        "A key after the query must get 0",
    ),
)
