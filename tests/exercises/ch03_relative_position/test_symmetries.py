"""`03-relative-position.symmetries`: its reference, and answers that no list foresaw."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from posenc_course.exercises.ch03_relative_position.symmetries import _SCORES, SYMMETRIES, Scores
from tests.exercises.ch03_relative_position.shared import SEEDS


def test_every_verdict_on_a_symmetry_is_that_of_all_moves():
    """Shifts over all diagonals, the mirror by its definition, reorderings by all those of five positions."""
    for kind, (verdict, _) in _SCORES.items():
        for seed in SEEDS:
            matrix = Scores(kind, seed)(np.arange(64))
            shift = max(np.ptp(np.diagonal(matrix, k)) for k in range(-63, 64))
            mirror = np.abs(matrix - matrix[::-1, ::-1]).max()
            some = matrix[np.ix_([0, 9, 30, 50, 63], [0, 9, 30, 50, 63])]
            orders = max(np.abs(some[np.ix_(p, p)] - some).max() for p in permutations(range(5)))
            # Far from the border: no tolerance that a learner may choose decides.
            for broken, stays in zip((shift, mirror, orders), verdict, strict=True):
                assert broken < 1e-9 if stays else broken > 0.05, kind
            assert SYMMETRIES.reference(Scores(kind, seed)) == verdict


@pytest.mark.parametrize("positions", [[0, 64], [-1, 0], [[1, 2]], [0.5, 1.0], 3])
def test_scores_refuse_positions_that_they_do_not_have(positions):
    (scores,) = SYMMETRIES.cases(0)[0].args
    with pytest.raises(ValueError, match="give"):
        scores(positions)


def transposed_for_the_mirror(scores):
    s = scores(np.arange(64))
    shift = all(np.allclose(np.diag(s, k), np.diag(s, k)[0]) for k in range(-63, 64))
    order = np.random.default_rng(1).permutation(64)
    return shift, bool(np.allclose(s, s.T)), bool(np.allclose(s[order][:, order], s))


def with_any_order(order):
    """Tries this order alone, and takes it for all."""

    def answer(scores):
        shift, mirror, _ = SYMMETRIES.reference(scores)
        return shift, mirror, bool(np.allclose(scores(np.array(order)), scores(np.arange(64))))

    return answer


def by_two_rows(scores):
    s = scores(np.arange(64))
    return bool(np.allclose(s[0, :-1], s[1, 1:])), *SYMMETRIES.reference(scores)[1:]


def shift_of_later_keys_alone(scores):
    s = scores(np.arange(64))
    return all(np.ptp(np.diagonal(s, k)) < 1e-9 for k in range(64)), *SYMMETRIES.reference(scores)[1:]


def with_one_longer_shift(step):
    def answer(scores):
        shift = np.allclose(scores(np.arange(64 - step)), scores(np.arange(step, 64)))
        return bool(shift), *SYMMETRIES.reference(scores)[1:]

    return answer


NOT_KNOWN = (
    *(
        ("symmetries", with_one_longer_shift(step), "Compare all of 0 to 62 with 1 to 63")
        for step in (3, 5, 7, 9, 11, 15, 31, 63)
    ),
    ("symmetries", by_two_rows, "You say that a shift changes nothing"),
    ("symmetries", shift_of_later_keys_alone, "a bonus for one query at one earlier key"),
    ("symmetries", lambda scores: (True, True, False), None),
    *(
        ("symmetries", with_any_order(order), "You say that no reordering changes anything")
        for order in (np.roll(np.arange(64), 1), [1, 0, *range(2, 64)], [63, *range(1, 63), 0])
    ),
    ("symmetries", lambda scores: (False, False, False), "You say that a shift changes the scores"),
    ("symmetries", lambda scores: (True, False, False), "You say that a shift changes nothing"),
    ("symmetries", lambda scores: (False, True, False), "You say that a mirror changes nothing"),
    ("symmetries", lambda scores: (False, False, False), "You say that a mirror changes the scores"),
    ("symmetries", lambda scores: (False, False, False), "You say that some reordering"),
)


WRITTEN_IN_ANOTHER_WAY = (("symmetries", transposed_for_the_mirror, "mirror-is-transpose"),)
