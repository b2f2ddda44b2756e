"""`08-long-context.chunk_distances`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch08_long_context.chunk_distances import CHUNK_DISTANCES
from posenc_course.exercises.ch08_long_context.grouped_distances import GROUPED_DISTANCES
from posenc_course.exercises.ch08_long_context.kept_positions import KEPT_POSITIONS
from posenc_lib.biased import dual_chunk_distances, self_extend_distances, streaming_distances


def test_maps_are_those_of_the_library():
    for case in (*GROUPED_DISTANCES.cases(1), *GROUPED_DISTANCES.cases(2)):
        tokens, group, window = case.args
        expected = np.tril(self_extend_distances(tokens, tokens, group=group, window=window))
        assert np.array_equal(GROUPED_DISTANCES.reference(*case.args), expected)
    for case in (*CHUNK_DISTANCES.cases(1), *CHUNK_DISTANCES.cases(2)):
        tokens, chunk, window = case.args
        expected = np.tril(dual_chunk_distances(tokens, tokens, chunk=chunk, window=window))
        assert np.array_equal(CHUNK_DISTANCES.reference(*case.args), expected)
    for case in KEPT_POSITIONS.cases(0):
        tokens, sinks, window = case.args
        kept = KEPT_POSITIONS.reference(*case.args)
        assert len(kept) - 1 == streaming_distances(1, tokens, sinks=sinks, window=window)[0, kept[0]]


def test_maps_never_reach_further_than_they_say():
    for tokens, group, window in ((200, 3, 20), (131, 5, 7)):
        found = GROUPED_DISTANCES.reference(tokens, group, window)
        assert found.max() == (tokens - 1) // group + window - window // group
        near = np.tril(np.subtract.outer(range(tokens), range(tokens)))
        assert np.array_equal(found[near < window], near[near < window])
        assert (np.diff(found, axis=1)[np.tril_indices(tokens, -1, tokens - 1)] <= 0).all()
    for tokens, chunk, window in ((200, 12, 5), (97, 8, 8)):
        found = CHUNK_DISTANCES.reference(tokens, chunk, window)
        assert found.max() == chunk + window - 1
        near = np.tril(np.subtract.outer(range(tokens), range(tokens)))
        assert np.array_equal(found[near < window], near[near < window])


def far_at(place):
    """The map with another place for far chunks, written with loops."""

    def distances(tokens, chunk, window):
        found = np.zeros((tokens, tokens))
        for i in range(tokens):
            for j in range(i + 1):
                back = i // chunk - j // chunk
                before = min(i % chunk + chunk, chunk + window - 1)
                found[i, j] = (i % chunk, before, place(i, chunk, window))[min(back, 2)] - j % chunk
        return found

    return distances


NOT_KNOWN = (
    (
        "chunk_distances",
        lambda tokens, chunk, window: np.zeros((tokens, tokens)),
        "at its true distance, i - j",
    ),
    (
        "chunk_distances",
        far_at(lambda i, chunk, window: 3 * chunk),
        "No distance can be above chunk + window - 1",
    ),
    ("chunk_distances", far_at(lambda i, chunk, window: 0), "No distance can be negative"),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "chunk_distances",
        far_at(lambda i, chunk, window: 2 * chunk - 1),
        "far-at-the-end-of-a-second-chunk",
    ),
)
