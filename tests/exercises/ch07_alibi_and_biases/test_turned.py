"""`07-alibi-and-biases.turned`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np


def with_tables_kept_by_length():
    tables = {}

    def answer(x, start, base):
        n, width = x.shape[-2:]
        key = n, width, base  # and not where it starts
        if key not in tables:
            angles = np.outer(start + np.arange(n), base ** (-np.arange(0, width, 2) / width))
            tables[key] = np.cos(angles), np.sin(angles)
        cos, sin = tables[key]
        a, b = x[..., 0::2], x[..., 1::2]
        return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)

    return answer


NOT_KNOWN = (
    ("turned", with_tables_kept_by_length(), None),
    ("turned", lambda x, start, base: x + start, "every row must be as long"),
    ("turned", lambda x, start, base: x, None),
    ("turned", lambda x, start, base: x[..., ::-1], "At position 0"),
)
