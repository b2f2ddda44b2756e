"""`03-relative-position.match`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch03_relative_position._shared import match_weights
from posenc_course.exercises.ch03_relative_position.match import MATCH
from posenc_course.exercises.ch03_relative_position.note_before import NOTE_BEFORE
from posenc_lib import attention, shift_matrix, sinusoidal
from tests.exercises.ch03_relative_position.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_notes_and_matches_come_out_of_the_library_s_attention(seed):
    for case in NOTE_BEFORE.cases(seed):
        tokens, vocab = case.args
        words, places = np.eye(vocab)[tokens], sinusoidal(len(tokens), 64)
        keys = places @ shift_matrix(1, 64).T
        _, weights = attention(800.0 * places, keys, places, causal=True, return_weights=True)
        expected = np.concatenate([words, weights @ words], axis=1)
        assert NOTE_BEFORE.reference(tokens, vocab) == pytest.approx(expected, abs=0.01)
    for case in MATCH.cases(seed):
        notes, vocab = case.args
        q, k = 5000.0 * notes[:, :vocab], notes[:, vocab:]
        _, weights = attention(q, k, k, causal=True, return_weights=True)
        assert MATCH.reference(notes, vocab) == pytest.approx(weights, abs=1e-6)


def finds_itself(notes, vocab):
    s = 500 * notes[:, :vocab] @ notes[:, :vocab].T
    s[np.triu_indices(len(s), 1)] = -1e9
    e = np.exp(s - s.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def only_exact_notes(notes, vocab):
    fits = (notes[:, :vocab] @ notes[:, vocab:].T == 1) & np.tri(len(notes), dtype=bool)
    fits = np.where(fits.any(axis=1, keepdims=True), fits, np.tri(len(notes)))
    return fits / fits.sum(axis=1, keepdims=True)


NOT_KNOWN = (
    ("match", only_exact_notes, "soft notes"),
    ("match", lambda notes, vocab: np.eye(len(notes))[::-1], "comes after it"),
    ("match", lambda notes, vocab: match_weights(notes, vocab, loudness=5.0), "at most 0.01"),
    (
        "match",
        lambda notes, vocab: np.where(
            np.ptp(MATCH.reference(notes, vocab), axis=1, keepdims=True) < 0.9,
            np.eye(len(notes)),
            MATCH.reference(notes, vocab),
        ),
        "share the weight equally",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (("match", finds_itself, "word-with-word"),)
