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
    (
        "grouped_distances",
        lambda tokens, group, window: np.maximum(np.subtract.outer(range(tokens), range(tokens)), 0) // group,
        "A key less than window back must keep its true distance",
    ),
)


def window_off_first(tokens, group, window):
    found = np.zeros((tokens, tokens))
    for i in range(tokens):
        for j in range(i + 1):
            found[i, j] = i - j if i - j < window else (i - window) // group + window - j // group
    return found


WRITTEN_IN_ANOTHER_WAY = (("grouped_distances", window_off_first, "window-taken-off-before-dividing"),)
