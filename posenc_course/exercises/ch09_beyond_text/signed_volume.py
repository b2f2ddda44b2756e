"""A molecule, however it lies: Left hand or right hand?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import MOLECULE, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake
from posenc_lib._arrays import Array


def _corner_cases(rng: Generator) -> Iterator[Case]:
    right = np.vstack([np.zeros(3), np.eye(3)])
    yield Case("the three axes", (right,))
    yield Case("the same in a mirror", (right * [-1, 1, 1],))
    yield Case("moved far away", (right + np.array([10, -20, 30]),))
    yield Case("all in one plane", (np.array([[0.0, 0, 1], [2, 0, 1], [0, 3, 1], [4, 5, 1]]),))
    for _ in range(4):
        yield Case("drawn", (rng.normal(scale=2, size=(4, 3)),))


def _volume(corners: Array) -> float:
    return float(np.linalg.det(corners[1:] - corners[0]) / 6)


def _volume_by_hand(corners: Array) -> float:
    a, b, c = (corners[1:] - corners[0]).tolist()
    cross = (b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0])
    return float(np.dot(a, cross)) / 6


SIGNED_VOLUME = Exercise(
    id="09-beyond-text.signed_volume",
    title="Left hand or right hand?",
    step_of=MOLECULE,
    signature="signed_volume(corners: array of shape (4, 3)) -> float",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_volume,
    make_cases=_corner_cases,
    mistakes=(
        Mistake(
            "without-sign",
            lambda corners: abs(_volume(corners)),
            "The size is right, but you drop the sign, and with it the hand: a molecule and its mirror "
            "image look the same again.",
        ),
        Mistake(
            "other-hand",
            lambda corners: -_volume(corners),
            "The sign is reversed. Take the three arrows in the order in which the corners are given, "
            "each from the first corner.",
        ),
        Mistake(
            "box",
            lambda corners: 6 * _volume(corners),
            "This is the volume of the box that the three arrows span. The body with four corners is a sixth "
            "of it.",
        ),
        Mistake(
            "half-of-it",
            lambda corners: 3 * _volume(corners),
            "You halve the box, as for a triangle. The body with four corners is a sixth of it.",
        ),
        Mistake(
            "third-of-it",
            lambda corners: 2 * _volume(corners),
            "You take a third of the box, as for a pyramid on the whole base. Here the base is only a "
            "triangle.",
        ),
        Mistake(
            "from-the-origin",
            lambda corners: float(np.linalg.det(corners[:3]) / 6),
            "You use the corners themselves as arrows, so the origin becomes a corner and the last one "
            "does not count. Subtract the first corner from the others.",
        ),
        Mistake(
            "from-the-origin-without-the-first",
            lambda corners: float(np.linalg.det(corners[1:]) / 6),
            "You use the corners themselves as arrows. Move the molecule, and the number changes: "
            "subtract the first corner.",
        ),
        Mistake(
            "hand-alone",
            lambda corners: float(np.sign(np.round(_volume(corners), 12))),
            "This is only the sign. Return the volume, with its sign.",
        ),
        Mistake(
            "lengths-multiplied",
            lambda corners: float(np.prod(np.linalg.norm(corners[1:] - corners[0], axis=1)) / 6),
            "You multiply the lengths of the arrows, as if they were at right angles. The determinant "
            "takes the angles into account, and the hand.",
        ),
        Mistake(
            "area-alone",
            lambda corners: float(
                np.linalg.norm(np.cross(corners[1] - corners[0], corners[2] - corners[0])) / 6
            ),
            "You use two of the three arrows: that is an area. Multiply the cross product by the third "
            "arrow.",
        ),
        Mistake(
            "quarter-of-it",
            lambda corners: 6 * _volume(corners) / 4,
            "You take a quarter of the box. The body with four corners is a sixth of it.",
        ),
    ),
    alternatives=(
        _volume_by_hand,
        lambda corners: float(np.linalg.det(np.diff(corners, axis=0)) / 6),
        lambda corners: (
            np.dot(corners[1] - corners[0], np.cross(corners[2] - corners[0], corners[3] - corners[0])) / 6
        ),
        lambda corners: float(np.linalg.det(np.hstack([np.ones((4, 1)), corners])) / 6),
    ),
    hints=(
        "Three arrows lead from the first corner to the three others.",
        "`np.linalg.det` of three arrows is the volume of the box that they span, with a sign for the hand.",
        "The body with four corners is a sixth of the box: `np.linalg.det(corners[1:] - corners[0]) / 6`.",
    ),
)
