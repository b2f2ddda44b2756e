"""`02-the-formula.embed`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (("embed", lambda tokens, embedding: embedding[tokens] * 2, None),)


WRITTEN_IN_ANOTHER_WAY = (
    ("embed", lambda tokens, embedding: np.take(embedding, tokens, axis=0), "no-scale"),
)
