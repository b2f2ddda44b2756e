"""`06-rotary.rotate_heads`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np


def rows_flipped_in_sign(x, positions, base):
    theta = np.outer(positions, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    cos, sin = np.cos(theta), np.sin(theta)
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos + b * sin, b * cos - a * sin], axis=-1).reshape(x.shape)


def with_tables_kept_by_length():
    tables = {}

    def answer(x, positions, base):
        key = len(positions), x.shape[-1], base  # and not at which positions
        if key not in tables:
            theta = np.outer(positions, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))
            tables[key] = np.cos(theta), np.sin(theta)
        cos, sin = tables[key]
        a, b = x[..., 0::2], x[..., 1::2]
        return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)

    return answer


NOT_KNOWN = (
    ("rotate_heads", lambda x, positions, base: -x, None),
    ("rotate_heads", with_tables_kept_by_length(), None),
)


WRITTEN_IN_ANOTHER_WAY = (("rotate_heads", rows_flipped_in_sign, "clockwise"),)
