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


def sets_to(word):
    def answer(model, n, vocab):
        tokens = np.arange(n) % vocab
        best = 0
        for seen in range(n):
            changed = tokens.copy()
            changed[seen] = word
            moved = np.flatnonzero(np.abs(model(changed) - model(tokens)).reshape(n, -1).max(axis=1) > 1e-12)
            best = max([best, *(seen - moved[moved < seen])])
        return int(best)

    return answer


def asks_about_word_8(model, n, vocab):
    return sets_to(vocab)(model, n, vocab)


NOT_KNOWN = (
    *(("how_far_ahead", sets_to(word), "sees one token ahead, at ") for word in (1, 5, 7)),
    ("how_far_ahead", asks_about_word_8, "give tokens from 0 to 7"),
    ("how_far_ahead", lambda model, n, vocab: n + 2, "n - 1"),
    ("how_far_ahead", lambda model, n, vocab: 0, "What this model sees of the future is faint"),
)


WRITTEN_IN_ANOTHER_WAY = (("how_far_ahead", watches_one_row, "first-row-alone"),)
