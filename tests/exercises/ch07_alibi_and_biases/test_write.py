"""`07-alibi-and-biases.write`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (
    ("write", lambda tokens, draws, model, temperature: np.zeros(len(draws), dtype=int), None),
    ("write", lambda tokens, draws, model, temperature: (draws * 256).astype(int), "number of rows of head"),
)
