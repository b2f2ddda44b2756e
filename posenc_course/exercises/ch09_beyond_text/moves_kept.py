"""Which moves does a score survive?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import TURN, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib._arrays import Array

Moves = tuple[bool, bool, bool]
"""Whether a shift, a turn, a mirror leaves the scores as they are."""


Pairs = Callable[[Array, Array, Array, Array], Array]
"""From x and y of the query, x and y of the key."""


_BOXES: dict[str, tuple[Moves, Pairs]] = {
    "a penalty on the distance": ((True, True, True), lambda x, y, a, b: -np.hypot(x - a, y - b)),
    "a bump of the distance": ((True, True, True), lambda x, y, a, b: np.exp(-((x - a) ** 2) - (y - b) ** 2)),
    "the steps of a rook": ((True, False, True), lambda x, y, a, b: -np.abs(x - a) - np.abs(y - b)),
    "waves of both offsets": ((True, False, True), lambda x, y, a, b: np.cos(x - a) + np.cos(2 * (y - b))),
    "a wave of the offset": ((True, False, False), lambda x, y, a, b: np.sin(x - a + (y - b) / 2)),
    "a liking for what lies to one side": (
        (True, False, False),
        lambda x, y, a, b: np.tanh(x - a) - np.abs(y - b),
    ),
    "a penalty on the distance, and a slope across": (
        (False, False, False),
        lambda x, y, a, b: -np.hypot(x - a, y - b) + 0.1 * (x - y),
    ),
    "dot products": ((False, True, True), lambda x, y, a, b: x * a + y * b),
    "a liking for what lies further out": (
        (False, True, True),
        lambda x, y, a, b: np.hypot(x, y) - 2 * np.hypot(a, b),
    ),
    "on which side of the query it lies": ((False, True, False), lambda x, y, a, b: x * b - y * a),
    "the side, and dot products": (
        (False, True, False),
        lambda x, y, a, b: np.tanh(x * b - y * a) + x * a + y * b,
    ),
    "products of heights": ((False, False, True), lambda x, y, a, b: y * b - np.abs(x - a)),
    "fourth powers": ((False, False, True), lambda x, y, a, b: x**4 + y**4 - a**2 - b**2),
    "a pattern of tiles": (
        (False, False, True),
        lambda x, y, a, b: np.cos(TURN * x) - np.cos(TURN * y) * np.cos(TURN * a),
    ),
    "waves that change with the height": (
        (False, False, False),
        lambda x, y, a, b: np.sin(x - a) * np.cos(y) + b,
    ),
    "products of places": ((False, False, False), lambda x, y, a, b: x - 2 * b + y * a),
    "a penalty on the distance, and a slope": (
        (False, False, False),
        lambda x, y, a, b: -np.hypot(x - a, y - b) + 0.1 * x,
    ),
}


@dataclass(frozen=True)
class PlaneScores:
    """Scores of points in the plane, (n, 2): each with each, (n, n)."""

    kind: str

    def __call__(self, points: Any) -> np.ndarray:
        given = np.asarray(points, dtype=float)
        if given.ndim != 2 or given.shape[1] != 2:
            raise ValueError("give points as an array of shape (n, 2)")
        x, y = given.T
        return np.asarray(_BOXES[self.kind][1](x[:, None], y[:, None], x, y), dtype=float)


def _move_cases(rng: Generator) -> Iterator[Case]:
    wanted = dict.fromkeys(verdict for verdict, _ in _BOXES.values())
    groups = [[kind for kind, (verdict, _) in _BOXES.items() if verdict == each] for each in wanted]
    for kind in enough_of_each(rng, *groups):
        yield Case(kind, (PlaneScores(kind),))


CLOUD = np.array([[0.3, -0.7], [1.1, 0.4], [-0.9, 1.3], [0.8, 1.7], [-1.4, -0.2], [0.1, 0.6]])


SAME = 1e-9


Move = Callable[[Array], Array]


def _turned(points: Array, angle: float) -> Array:
    cos, sin = math.cos(angle), math.sin(angle)
    return np.asarray(points @ np.array([[cos, sin], [-sin, cos]]))


def _unmoved(scores: Any, move: Move, points: Array = CLOUD, most: float = SAME) -> bool:
    return bool(np.abs(np.asarray(scores(move(points))) - np.asarray(scores(points))).max() <= most)


def _shift_by(x: float, y: float) -> Move:
    return lambda points: points + np.array([x, y])


def _turn_by(angle: float) -> Move:
    return lambda points: _turned(points, angle)


SOME_SHIFT = _shift_by(0.37, -1.21)


def _moves_with(
    shift: Move = SOME_SHIFT,
    turn: Move = lambda points: _turned(points, 0.7),
    mirror: Move = lambda points: points * [-1, 1],
    points: Array = CLOUD,
    most: float = SAME,
) -> Callable[[Any], Moves]:
    def moves(scores: Any) -> Moves:
        shifted, turned, mirrored = (_unmoved(scores, move, points, most) for move in (shift, turn, mirror))
        return shifted, turned, mirrored

    return moves


_moves = _moves_with()


def _about_the_middle(points: Array) -> Array:
    middle = points.mean(axis=0)
    return _turned(points - middle, 0.7) + middle


def _moves_by_many(scores: Any) -> list[bool]:
    draw = np.random.default_rng(1)
    points = draw.normal(size=(9, 2))

    def holds(moves: Iterator[Move]) -> bool:
        return all(np.allclose(scores(move(points)), scores(points), atol=1e-8) for move in moves)

    return [
        holds(_shift_by(*step) for step in draw.normal(size=(5, 2))),
        holds(_turn_by(angle) for angle in draw.uniform(0, 6, size=5)),
        holds(iter([lambda p: np.stack([-p[:, 0], p[:, 1]], axis=1)])),
    ]


MOVES_KEPT = Exercise(
    id="09-beyond-text.moves_kept",
    title="Which moves does a score survive?",
    signature="moves_kept(scores: function from points of shape (n, 2) to an (n, n) array) -> three truth "
    "values: a shift, a turn, a mirror",
    points=4,
    minutes=18,
    difficulty=3,
    parts=("a shift", "a turn", "a mirror"),
    reference=_moves,
    make_cases=_move_cases,
    properties=(
        Property(
            lambda args, value: not any(_moves(args[0])[move] and not value[move] for move in range(3)),
            "You say that a move changes these scores, and such a move changes them only by rounding. Do all "
            "points move by one and the same arrow or angle, does the mirror change the sign of x, and do "
            "you compare with np.allclose?",
        ),
        Property(
            lambda args, value: not any(value[move] and not _moves(args[0])[move] for move in range(3)),
            "You say that these scores survive a move, and most moves of that kind change them. Try several "
            "points, and a move, with numbers that are nothing special.",
        ),
    ),
    mistakes=(
        Mistake(
            "exactly-equal",
            _moves_with(most=0.0),
            "You compare with ==, and rounding makes equal scores differ in their last digits. Compare "
            "with np.allclose.",
        ),
        Mistake(
            "quarter-turn",
            _moves_with(turn=lambda points: points[:, ::-1] * [-1, 1]),
            "You try a quarter turn only. A grid survives that, but not most other turns: try an angle "
            "that nobody would choose.",
        ),
        Mistake(
            "half-turn",
            _moves_with(turn=lambda points: -points),
            "You try half a turn only. Steps along rows and columns survive that, but not most other "
            "turns: try an angle that nobody would choose.",
        ),
        Mistake(
            "whole-steps",
            _moves_with(shift=_shift_by(1, 2)),
            "You shift by whole numbers. A pattern of tiles survives that, but not other shifts.",
        ),
        Mistake(
            "shifted-to-the-side",
            _moves_with(shift=_shift_by(0.37, 0)),
            "You shift along x only. A score may survive that and still depend on y.",
        ),
        Mistake(
            "half-turn-for-a-mirror",
            _moves_with(mirror=lambda points: -points),
            "Your mirror keeps on which side of the query a key lies. Do you change the sign of both "
            "coordinates? In the plane that is half a turn, not a mirror. Or are all your points on one line "
            "through the origin?",
        ),
        Mistake(
            "mirror-across-the-diagonal",
            _moves_with(mirror=lambda points: points[:, ::-1]),
            "Your mirror swaps x and y. The mirror here changes the sign of x.",
        ),
        Mistake(
            "mirror-upside-down",
            _moves_with(mirror=lambda points: points * [1, -1]),
            "Your mirror changes the sign of y. The mirror here changes the sign of x.",
        ),
        Mistake(
            "mirror-is-transpose",
            lambda scores: (
                *_moves(scores)[:2],
                bool(np.allclose(scores(CLOUD), np.transpose(scores(CLOUD)))),
            ),
            "For the mirror you compare the scores with their transpose: that makes queries and keys "
            "change roles. A mirror moves the points.",
        ),
        Mistake(
            "about-the-middle",
            _moves_with(turn=_about_the_middle),
            "You turn the points about their middle. That is a turn about the origin and a shift in one, "
            "and a score may survive one of them but not the other.",
        ),
        Mistake(
            "one-point",
            _moves_with(points=CLOUD[:1]),
            "Scores of points with themselves decide. Do you try a single point, or is it enough for you "
            "that some scores stay? Take several points, and ask whether all scores stay.",
        ),
        Mistake(
            "stretched",
            _moves_with(turn=lambda points: points @ np.array([[0.7, 0.7], [-0.7, 0.7]])),
            "Your turn is not one: it changes how far the points are from each other. The matrix is "
            "[[cos, sin], [-sin, cos]], with one minus, of one angle with all its digits.",
        ),
        Mistake(
            "the-sum-alone",
            lambda scores: tuple(
                bool(abs(np.sum(scores(move(CLOUD))) - np.sum(scores(CLOUD))) < SAME)
                for move in (
                    _shift_by(0.37, -1.21),
                    lambda points: _turned(points, 0.7),
                    lambda points: points * [-1, 1],
                )
            ),
            "You compare one number made of all the scores. Differences cancel in it: compare score by "
            "score.",
        ),
    ),
    alternatives=(
        _moves_by_many,
        _moves_with(points=CLOUD[::-1] * 2, most=1e-6),
        lambda scores: np.array(_moves_with(shift=_shift_by(-0.83, 0.19), points=CLOUD[:4])(scores)),
    ),
    hints=(
        "Make some points of your own, with coordinates that are nothing special. Call `scores` for them, "
        "and for the moved ones.",
        "A turn by an angle is `points @ np.array([[cos, sin], [-sin, cos]])`; a mirror is "
        "`points * [-1, 1]`.",
        "Compare with `np.allclose`. A quarter turn and a shift by 1 are special: some scores survive "
        "these but not others.",
    ),
)
