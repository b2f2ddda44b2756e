"""`03-relative-position.key_of_next`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_lib import sinusoidal


def not_transposed(dim, base):
    w = np.zeros((dim, dim))
    for j in range(0, dim, 2):
        a = 1 / base ** (j / dim)
        w[j, j] = w[j + 1, j + 1] = np.cos(a)
        w[j, j + 1], w[j + 1, j] = np.sin(a), -np.sin(a)
    return w


NOT_KNOWN = (
    ("key_of_next", lambda dim, base: np.zeros((dim, dim)), "must be the row of position 1"),
    (
        "key_of_next",
        lambda dim, base: np.outer(*sinusoidal(2, dim, base=base)) / (dim / 2),
        "must be the row of position 2",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (("key_of_next", not_transposed, "keys-of-the-place-before"),)
