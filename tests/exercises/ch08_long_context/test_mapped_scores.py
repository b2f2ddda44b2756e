"""`08-long-context.mapped_scores`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch08_long_context.mapped_scores import MAPPED_SCORES
from posenc_lib import apply_rotary
from tests.exercises.ch08_long_context.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_at_true_distances_are_those_of_rope(seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, 7, 8))
    true = np.subtract.outer(range(7), range(7))
    plain = apply_rotary(q, 7, base=700.0) @ apply_rotary(k, 7, base=700.0).T / math.sqrt(8)
    assert MAPPED_SCORES.reference(q, k, true, 700.0) == pytest.approx(plain)


NOT_KNOWN = (
    ("mapped_scores", lambda q, k, distances, base: distances * 1.0, None),
    ("mapped_scores", lambda *args: MAPPED_SCORES.reference(*args).squeeze(), "one token"),
)


def test_a_map_may_have_fractions():
    def of_whole_distances(q, k, distances, base):
        return MAPPED_SCORES.reference(q, k, np.round(distances), base)

    assert not report_on(MAPPED_SCORES.id, of_whole_distances).passed


def test_keys_rotated_forwards_are_no_wrong_query():
    def keys_forwards(q, k, distances, base):
        size, dim = q.shape
        found = np.empty((size, len(k)))
        for i in range(size):
            for j in range(len(k)):
                found[i, j] = q[i] @ apply_rotary(k[j : j + 1], [distances[i, j]], base=base)[0]
        return found / math.sqrt(dim)

    told = str(report_on(MAPPED_SCORES.id, keys_forwards))
    assert "The rotation goes the wrong way" in told
    assert "The query is rotated" not in told


def test_rotating_query_and_key_alike_is_told_to_change_nothing():
    def both_alike(q, k, distances, base):
        def turned(vector, distance):
            return apply_rotary(vector[None], [distance], base=base)[0]

        pairs = np.ndindex(len(q), len(k))
        scores = [turned(q[i], distances[i, j]) @ turned(k[j], distances[i, j]) for i, j in pairs]
        return np.reshape(scores, (len(q), len(k))) / math.sqrt(q.shape[1])

    assert "Rotating both alike changes nothing" in str(report_on(MAPPED_SCORES.id, both_alike))
