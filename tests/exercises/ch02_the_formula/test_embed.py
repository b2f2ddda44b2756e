"""`02-the-formula.embed`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np


def with_token_0_as_padding(tokens, embedding):
    return embedding[tokens] * np.sqrt(embedding.shape[1]) * (tokens != 0)[..., None]


NOT_KNOWN = (
    ("embed", with_token_0_as_padding, None),
    ("embed", lambda tokens, embedding: embedding[tokens] * 2, "the right rows"),
    ("embed", lambda tokens, embedding: embedding[tokens] * np.sqrt(len(tokens)), "the right rows"),
    ("embed", lambda tokens, embedding: embedding[tokens] * np.sqrt(tokens.size), "the right rows"),
    (
        "embed",
        lambda tokens, embedding: embedding[tokens] * int(np.sqrt(embedding.shape[1])),
        "the right rows",
    ),
    ("embed", lambda tokens, embedding: embedding[np.sort(tokens)], None),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("embed", lambda tokens, embedding: np.take(embedding, tokens, axis=0), "no-scale"),
)
