"""`07-alibi-and-biases.write`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.checking import report_on
from posenc_course.exercises.ch07_alibi_and_biases._decoder import decode
from posenc_course.exercises.ch07_alibi_and_biases.write import WRITE, _shares, _write


def with_axes_exchanged(tokens, draws, model, temperature):
    """An empty cache whose layers and heads have changed places."""
    layers, heads = len(model["layers"]), model["heads"]
    past = np.zeros((layers, heads, 2, 0, model["embedding"].shape[1] // heads))
    _, past = decode(tokens, model, past)
    return _write(tokens, draws, model, temperature)


NOT_KNOWN = (
    ("write", with_axes_exchanged, None),
    ("write", lambda tokens, draws, model, temperature: np.zeros(len(draws), dtype=int), None),
    ("write", lambda tokens, draws, model, temperature: (draws * 256).astype(int), "number of rows of head"),
)


def test_the_sum_has_to_be_above_the_draw():
    def with_side(side):
        def choose(row, draw, heat):
            return int(np.searchsorted(np.cumsum(_shares(row, heat)), draw, side=side))

        return lambda *given: _write(*given, choose=choose)

    assert report_on(WRITE.id, with_side("right")).passed
    assert not report_on(WRITE.id, with_side("left")).passed
