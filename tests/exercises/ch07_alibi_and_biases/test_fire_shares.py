"""`07-alibi-and-biases.fire_shares`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np


def fire_of_the_whole_text(queries, keys, c, threshold):
    here = np.arange(keys - queries, keys)[:, None]
    gone = np.where(np.arange(keys) > here, 0, here - np.arange(keys))
    return np.log(c * gone + 1) / np.log(c * max(threshold, keys - 1) + 1)


def with_logarithms_of_negative_numbers(queries, keys, c, threshold):
    here = np.arange(keys - queries, keys)[:, None]
    gone = here - np.arange(keys)
    return np.log(1 + c * gone) / np.log(1 + c * np.maximum(threshold, here)) * (gone >= 0)


NOT_KNOWN = (
    ("fire_shares", with_logarithms_of_negative_numbers, "keys after the query are at a negative distance"),
    ("fire_shares", lambda queries, keys, c, threshold: np.full((queries, keys), 2.0), "between 0 and 1"),
    ("fire_shares", lambda queries, keys, c, threshold: np.zeros((keys, keys)), None),
)


def fire_divided_by(below):
    """`below`: of the position, the number of keys, c and the threshold."""

    def shares(queries, keys, c, threshold):
        out = np.zeros((queries, keys))
        for row, i in zip(out, range(keys - queries, keys), strict=True):
            row[: i + 1] = np.log1p(c * np.arange(i, -1, -1)) / below(i, keys, c, threshold)
        return out

    return shares


of_i_plus_one = fire_divided_by(lambda i, n, c, threshold: np.log1p(c * max(threshold, i + 1)))
of_n = fire_divided_by(lambda i, n, c, threshold: np.log1p(c * max(threshold, n)))
raw_threshold = fire_divided_by(lambda i, n, c, threshold: max(threshold, np.log1p(c * i)))


WRITTEN_IN_ANOTHER_WAY = (
    ("fire_shares", fire_of_the_whole_text, "share-of-the-text"),
    ("fire_shares", of_i_plus_one, "position-plus-one"),
    ("fire_shares", of_n, "length-of-the-text"),
    ("fire_shares", raw_threshold, "threshold-without-logarithm"),
)
