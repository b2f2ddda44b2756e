"""Waves of a point: Sines and cosines along directions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import TURN, WAVES, Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.fourier import fourier_features, gaussian_frequencies


def _wave_cases(rng: Generator) -> Iterator[Case]:
    yield Case(
        "the corners of a square", (np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([[0.25, 0.5]]))
    )
    yield Case("numbers in a row", (np.array([[0.0], [0.125], [0.25]]), np.array([[1.0], [2.0], [4.0]])))
    yield Case("two axes, each by itself", (rng.uniform(-1, 1, size=(4, 2)), np.eye(2)))
    for _ in range(3):
        axes, features = int(rng.integers(2, 4)), int(rng.integers(2, 6))
        points = rng.uniform(-1, 1, size=(5, axes))
        yield Case("drawn", (points, rng.normal(scale=3, size=(features, axes))))


def _point_waves(points: Array, directions: Array) -> Array:
    angle = TURN * points @ directions.T
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)


def _of_angles(angle: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def waves(points: Array, directions: Array) -> Array:
        theta = angle(points, directions)
        return np.concatenate([np.sin(theta), np.cos(theta)], axis=1)

    return waves


def _waves_by_loops(points: Array, directions: Array) -> list[list[float]]:
    rows = []
    for point in points.tolist():
        turns = [sum(p * d for p, d in zip(point, way, strict=True)) for way in directions.tolist()]
        rows.append([f(2 * math.pi * turn) for f in (math.sin, math.cos) for turn in turns])
    return rows


def _waves_by_arrows(points: Array, directions: Array) -> Array:
    tips = np.exp(2j * np.pi * np.einsum("pa,fa->pf", points, directions))
    return np.hstack([tips.imag, tips.real])


def _likeness(point_waves: Callable[..., Any], scale: float) -> Array:
    """Of points on a line with the one at 0."""
    at = np.linspace(-1, 1, 101)[:, None]
    table = np.asarray(point_waves(at, gaussian_frequencies(256, 1, scale=scale, seed=0)))
    return np.asarray(table @ table[50] / 256)


POINT_WAVES = Exercise(
    id="09-beyond-text.point_waves",
    title="Sines and cosines along directions",
    step_of=WAVES,
    signature="point_waves(points: array of shape (n, axes), directions: array of shape (features, axes), in "
    "turns per unit) -> array of shape (n, 2 * features)",
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda point_waves, across, up, low, middle, high: curve(
            np.linspace(-1, 1, 101),
            {name: _likeness(point_waves, scale) for name, scale in ((low, 0.5), (middle, 2.0), (high, 8.0))},
            across=across,
            up=up,
        ),
        axes=("place of the other point", "likeness to the point at 0", "scale 0.5", "scale 2", "scale 8"),
        look="Random directions at three scales: the larger the scale, the nearer a point has to be to "
        "look like the one at 0.",
    ),
    reference=_point_waves,
    make_cases=_wave_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), 2 * len(args[1])),
            "There must be a sine and a cosine for each point and each direction.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.square(value)[:, : len(args[1])] + np.square(value)[:, len(args[1]) :], 1, atol=1e-4
                )
            ),
            "A sine and its cosine belong to one angle: their squares should sum to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "radians",
            _of_angles(lambda points, directions: points @ directions.T),
            "Your angles are in turns. Multiply by 2 pi.",
        ),
        Mistake(
            "half-turns",
            _of_angles(lambda points, directions: np.pi * points @ directions.T),
            "You multiply by pi. A whole turn is 2 pi.",
        ),
        Mistake(
            "cosines-first",
            lambda points, directions: np.roll(_point_waves(points, directions), len(directions), axis=1),
            "Your cosines come first. All sines should come first, then all cosines.",
        ),
        Mistake(
            "side-by-side",
            lambda points, directions: (
                _point_waves(points, directions)
                .reshape(len(points), 2, -1)
                .swapaxes(1, 2)
                .reshape(len(points), -1)
            ),
            "Each sine is next to its cosine. All sines should come first, then all cosines.",
        ),
        Mistake(
            "directions-of-length-one",
            _of_angles(
                lambda points, directions: (
                    TURN * points @ (directions / np.linalg.norm(directions, axis=1, keepdims=True)).T
                )
            ),
            "You divide the directions by their lengths. The length is the frequency, so keep it.",
        ),
        Mistake(
            "largest-part-alone",
            _of_angles(
                lambda points, directions: (
                    TURN
                    * points
                    @ (directions * (np.abs(directions) == np.abs(directions).max(1)[:, None])).T
                )
            ),
            "Only the largest part of each direction counts in yours. All coordinates should: take the "
            "dot product.",
        ),
        Mistake(
            "sum-of-coordinates",
            _of_angles(lambda points, directions: TURN * np.outer(points.sum(1), directions.sum(1))),
            "You add up coordinates before you multiply. Each coordinate is multiplied by its own part of "
            "the direction.",
        ),
        Mistake(
            "distances",
            _of_angles(
                lambda points, directions: TURN * np.linalg.norm(points[:, None] - directions[None], axis=-1)
            ),
            "You take the distance between point and direction. Take their dot product.",
        ),
        Mistake(
            "wave-of-the-length",
            _of_angles(
                lambda points, directions: (
                    TURN * np.outer(np.linalg.norm(points, axis=1), np.linalg.norm(directions, axis=1))
                )
            ),
            "Your angle is the length of the point times the length of the direction. The angle between "
            "the two matters as well: take the dot product.",
        ),
        Mistake(
            "degrees",
            _of_angles(lambda points, directions: 360 * points @ directions.T),
            "Your angles are in degrees. The functions of NumPy take radians.",
        ),
        Mistake(
            "backwards",
            _of_angles(lambda points, directions: -TURN * points @ directions.T),
            "Your sines have the wrong sign: the angle is plus 2 pi times the dot product.",
        ),
        Mistake(
            "first-axis-alone",
            _of_angles(lambda points, directions: TURN * np.outer(points[:, 0], directions[:, 0])),
            "Only the first coordinate counts in yours. All coordinates should: take the dot product.",
        ),
        Mistake(
            "mean-of-products",
            _of_angles(lambda points, directions: TURN * points @ directions.T / points.shape[1]),
            "You take the mean of the products. A dot product is their sum.",
        ),
    ),
    alternatives=(
        _waves_by_loops,
        _waves_by_arrows,
        lambda points, directions: fourier_features(points, directions),
    ),
    hints=(
        "How many turns does a wave make from the origin to the point? The dot product of the point with the "
        "direction.",
        "`points @ directions.T` holds all these dot products, in turns.",
        "Multiply by `2 * np.pi`, and join the sines and the cosines with `np.concatenate(..., axis=1)`.",
    ),
)
