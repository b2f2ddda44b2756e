"""`09-beyond-text.moves_kept`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch09_beyond_text.moves_kept import _BOXES, PlaneScores, _turned


def test_the_closed_boxes_keep_what_is_said_of_them():
    """Many shifts, turns and points, drawn; what is said to break a box does so by far more than rounding."""
    rng = np.random.default_rng(0)
    for kind, (verdict, _) in _BOXES.items():
        scores, points = PlaneScores(kind), rng.uniform(-2, 2, size=(9, 2))
        moved = (
            [points + rng.uniform(-3, 3, size=2) for _ in range(6)],
            [_turned(points, angle) for angle in rng.uniform(0.2, 6, size=6)],
            [points * [-1, 1]],
        )
        for holds, ways in zip(verdict, moved, strict=True):
            gaps = [np.abs(scores(way) - scores(points)).max() for way in ways]
            assert max(gaps) < 1e-10 if holds else max(gaps) > 0.05, kind


POINTS = np.random.default_rng(5).normal(size=(6, 2))


def exactly_equal(scores):
    """With points of one's own, no list can know which scores come out equal to the last digit."""
    moved = (POINTS + np.array([0.3, 0.4]), _turned(POINTS, 0.5), POINTS * [-1, 1])
    return tuple(bool(np.array_equal(scores(each), scores(POINTS))) for each in moved)


def turned_once_round(scores):
    moved = (POINTS + np.array([0.3, 0.4]), _turned(POINTS, 2 * np.pi), POINTS * [-1, 1])
    return tuple(bool(np.allclose(scores(each), scores(POINTS))) for each in moved)


NOT_KNOWN = (
    ("moves_kept", lambda scores: (True, False, True), None),
    ("moves_kept", exactly_equal, "such a move changes them only by rounding"),
    (
        "moves_kept",
        turned_once_round,
        "Try several points, and a move, with numbers that are nothing special",
    ),
)


def test_a_shift_along_the_diagonal_is_not_every_shift():
    scores = PlaneScores("a penalty on the distance, and a slope across")
    points = np.random.default_rng(0).normal(size=(6, 2))
    np.testing.assert_allclose(scores(points + 0.7), scores(points))
    assert not np.allclose(scores(points + np.array([0.7, -0.2])), scores(points))
