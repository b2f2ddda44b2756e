"""`04-extrapolation.early_share`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch04_extrapolation.early_share import EARLY_SHARE


def test_the_shares_by_counting_a_million_tokens():
    tokens = np.arange(2**20)
    shares = tuple(float(np.mean(tokens % block < 32)) for block in (64, 1024))
    assert EARLY_SHARE.reference() == shares


NOT_KNOWN = (("early_share", (0.4, 0.1), None),)
