"""`02-the-formula.embed`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.checking import report_on
from posenc_course.exercises.ch02_the_formula.embed import EMBED


def into_a_copy(tokens, embedding):
    """Gives the name of each row another array, and writes into none."""
    out = np.zeros((*tokens.shape, embedding.shape[1]))
    for place in np.ndindex(tokens.shape):
        row = out[place]
        row = embedding[tokens[place]] * np.sqrt(embedding.shape[1])  # noqa: F841
    return out


def test_zeros_are_not_told_as_the_right_rows():
    assert "the right rows" not in str(report_on(EMBED.id, into_a_copy))


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
    ("embed", into_a_copy, None),
    ("embed", lambda tokens, embedding: embedding[np.sort(tokens)], None),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("embed", lambda tokens, embedding: np.take(embedding, tokens, axis=0), "no-scale"),
)
