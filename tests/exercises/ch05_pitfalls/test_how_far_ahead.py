"""`05-pitfalls.how_far_ahead`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch05_pitfalls.how_far_ahead import HOW_FAR_AHEAD


@pytest.mark.parametrize("seed", [0, 1])
def test_models_look_as_far_ahead_as_they_were_made_to(seed):
    for case in HOW_FAR_AHEAD.cases(seed):
        model, n, _ = case.args
        last = n - 1 if model.only_at < 0 else model.only_at + model.ahead
        assert HOW_FAR_AHEAD.reference(*case.args) == min(model.ahead, last), case.label


def watches_one_row(model, n, vocab):
    """Only the first row is watched; the tokens are changed all at once, from behind."""
    tokens = np.zeros(n, dtype=int)
    best = 0
    for s in range(1, n):
        changed = tokens.copy()
        changed[s] = 1
        best = s if np.abs(model(changed)[0] - model(tokens)[0]).max() > 1e-9 else best
    return best


NOT_KNOWN = (
    ("how_far_ahead", lambda model, n, vocab: n + 2, "n - 1"),
    ("how_far_ahead", lambda model, n, vocab: 0, "What this model sees of the future is faint"),
)


WRITTEN_IN_ANOTHER_WAY = (("how_far_ahead", watches_one_row, "first-row-alone"),)
