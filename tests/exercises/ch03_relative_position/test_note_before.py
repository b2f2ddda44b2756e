"""`03-relative-position.note_before`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import noted_by, place_weights


def notes_of_the_wrong_end(tokens, vocab):
    own = np.eye(vocab)[tokens]
    return np.hstack([own, np.roll(own, 1, axis=0)])


NOT_KNOWN = (
    ("note_before", lambda tokens, vocab: np.zeros((len(tokens), 2 * vocab)), "own word"),
    (
        "note_before",
        lambda tokens, vocab: noted_by(place_weights(len(tokens), loudness=20), tokens, vocab),
        "make its queries louder",
    ),
    (
        "note_before",
        lambda tokens, vocab: noted_by(place_weights(len(tokens), loudness=38), tokens, vocab),
        "make its queries louder",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (("note_before", notes_of_the_wrong_end, "first-notes-the-last"),)
