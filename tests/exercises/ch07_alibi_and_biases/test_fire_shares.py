"""`07-alibi-and-biases.fire_shares`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np


def fire_of_the_whole_text(queries, keys, c, threshold):
    here = np.arange(keys - queries, keys)[:, None]
    gone = np.where(np.arange(keys) > here, 0, here - np.arange(keys))
    return np.log(c * gone + 1) / np.log(c * max(threshold, keys - 1) + 1)


NOT_KNOWN = (
    ("fire_shares", lambda queries, keys, c, threshold: np.full((queries, keys), 2.0), "between 0 and 1"),
    ("fire_shares", lambda queries, keys, c, threshold: np.zeros((keys, keys)), None),
)


WRITTEN_IN_ANOTHER_WAY = (("fire_shares", fire_of_the_whole_text, "share-of-the-text"),)
