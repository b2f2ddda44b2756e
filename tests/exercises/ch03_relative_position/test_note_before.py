"""`03-relative-position.note_before`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np


def notes_of_the_wrong_end(tokens, vocab):
    own = np.eye(vocab)[tokens]
    return np.hstack([own, np.roll(own, 1, axis=0)])


NOT_KNOWN = (("note_before", lambda tokens, vocab: np.zeros((len(tokens), 2 * vocab)), "own word"),)


WRITTEN_IN_ANOTHER_WAY = (("note_before", notes_of_the_wrong_end, "first-notes-the-last"),)
