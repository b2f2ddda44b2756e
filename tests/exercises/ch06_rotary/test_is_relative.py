"""`06-rotary.is_relative`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.checking import report_on
from posenc_course.exercises.ch06_rotary._shared import WIDTH
from posenc_course.exercises.ch06_rotary.is_relative import _NOT_RELATIVE, _RELATIVE, IS_RELATIVE

RELATIVE = ("interleaved", "half", "large_base", "interpolated", "clockwise", "in_part")


def test_six_functions_are_relative_and_eight_have_a_bug():
    """Each by brute force: the matrix of scores of all basis vectors at many places."""
    basis = np.eye(WIDTH)

    def product(rotate, query, key):
        at = [rotate(basis, np.full(WIDTH, place)) for place in (query, key)]
        return at[0] @ at[1].T

    assert (len(_RELATIVE), len(_NOT_RELATIVE)) == (6, 8)
    for _, rotate in (*_RELATIVE, *_NOT_RELATIVE):
        shifted = [product(rotate, 30 + s, 10 + s) for s in (0, 1, 17, 495, 3000)]
        relative = all(np.allclose(shifted[0], other, atol=1e-7) for other in shifted)
        moves = not np.allclose(product(rotate, 30, 10), product(rotate, 30, 11))
        assert (relative and moves) == (rotate.__name__ in RELATIVE), rotate
        assert IS_RELATIVE.reference(rotate) == (rotate.__name__ in RELATIVE), rotate


def test_one_position_will_do_for_all_rows():
    def by_rows_at_one_place(rotate):
        q, k = np.random.default_rng(0).normal(size=(2, 1, WIDTH)).repeat(3, axis=1)
        score = [
            (rotate(q, [a]) @ rotate(k, b).T)[0, 0] for a, b in ((9, 2), (10, 3), (6_009, 6_002), (9, 5))
        ]
        return bool(np.allclose(score[:3], score[0], atol=1e-6) and not np.isclose(score[0], score[3]))

    assert report_on(IS_RELATIVE.id, by_rows_at_one_place).passed


def moves_both_but_forgets_the_other_half(rotate):
    x = np.random.default_rng(3).normal(size=(2, 8))
    here, there = (rotate(x, np.array(places)) for places in ([40, 11], [9040, 9011]))
    return bool(abs(here[0] @ here[1] - there[0] @ there[1]) < 1e-6)


def ones_for_both(rotate):
    at = np.array([[5, 1], [2005, 2001], [5, 4]])
    same, moved, nearer = (one @ other for one, other in (rotate(np.ones((2, 8)), pair) for pair in at))
    return bool(np.isclose(same, moved) and not np.isclose(same, nearer))


def asks_whether_vectors_change(rotate):
    """And not whether the score does, when the difference does."""
    x = np.random.default_rng(1).normal(size=(2, 8))
    near, far = rotate(x, np.array([9, 2])), rotate(x, np.array([5009, 5002]))
    return bool(np.isclose(near[0] @ near[1], far[0] @ far[1]) and not np.allclose(near, x))


NOT_KNOWN = (
    ("is_relative", lambda rotate: True, None),
    ("is_relative", asks_whether_vectors_change, "vectors that all turn by the same angles"),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("is_relative", moves_both_but_forgets_the_other_half, "ignores-nothing"),
    ("is_relative", ones_for_both, "query-is-key"),
)
