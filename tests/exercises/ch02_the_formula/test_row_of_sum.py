"""`02-the-formula.row_of_sum`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np


def with_a_plus(here, there):
    out = np.empty_like(here)
    for even in range(0, len(here), 2):
        out[even] = here[even] * there[even + 1] + here[even + 1] * there[even]
        out[even + 1] = here[even + 1] * there[even + 1] + here[even] * there[even]
    return out


NOT_KNOWN = (("row_of_sum", lambda here, there: here - there, None),)


WRITTEN_IN_ANOTHER_WAY = (("row_of_sum", with_a_plus, "plus-in-the-cosine"),)
