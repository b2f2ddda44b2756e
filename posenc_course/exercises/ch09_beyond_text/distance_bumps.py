"""A molecule, however it lies: Features that no turn changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import MOLECULE, Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _bump_cases(rng: Generator) -> Iterator[Case]:
    yield Case(
        "three atoms in a row", (np.array([[0.0, 0, 0], [1, 0, 0], [3, 0, 0]]), np.array([1.0, 2.0]), 0.5)
    )
    yield Case("one distance, 5", (np.array([[0.0, 0, 0], [0, 3, 4]]), np.array([4.0, 5.0, 6.0]), 1.0))
    for _ in range(4):
        atoms = rng.normal(scale=1.5, size=(int(rng.integers(3, 6)), 3))
        centres = np.sort(rng.uniform(0, 4, size=int(rng.integers(2, 5))))
        yield Case("drawn", (atoms, centres, float(rng.uniform(0.3, 1.5))))


def _lengths(points: Array) -> Array:
    return np.asarray(np.linalg.norm(points[:, None] - points, axis=-1))


def _bumps_of(
    distance: Callable[[Array], Array] = _lengths,
    bump: Callable[[Array, float], Array] = lambda gap, width: np.exp(-((gap / width) ** 2) / 2),
) -> Callable[[Array, Array, float], Array]:
    return lambda points, centres, width: bump(distance(points)[..., None] - centres, width)


_bumps = _bumps_of()


def _bumps_by_loops(points: Array, centres: Array, width: float) -> list[list[list[float]]]:
    return [
        [[math.exp(-((math.dist(a, b) - c) ** 2) / (2 * width * width)) for c in centres] for b in points]
        for a in points
    ]


def _bumps_by_products(points: Array, centres: Array, width: float) -> Array:
    products = points @ points.T
    squares = np.diag(products)
    far = np.sqrt(np.maximum(squares[:, None] + squares - 2 * products, 0))
    far[np.diag_indices(len(points))] = 0
    return np.asarray(np.exp(-0.5 * ((far[..., None] - centres) / width) ** 2))


DISTANCE_BUMPS = Exercise(
    id="09-beyond-text.distance_bumps",
    title="Features that no turn changes",
    step_of=MOLECULE,
    signature="distance_bumps(points: array of shape (n, 3), centres: array of shape (k,), width: float) -> "
    "array of shape (n, n, k)",
    points=2,
    minutes=12,
    difficulty=2,
    draws=Draws(
        lambda distance_bumps, across, up, *names: (
            lambda bumps: curve(
                np.linspace(0, 5, 51), dict(zip(names, bumps, strict=True)), across=across, up=up
            )
        )(
            np.asarray(
                distance_bumps(np.outer(np.linspace(0, 5, 51), [1, 0, 0]), np.array([1.0, 2.0, 3.0]), 0.5)
            )[0].T
        ),
        axes=("distance", "feature", "centre 1", "centre 2", "centre 3"),
        look="Each feature is a bump over the distance, with its top at its centre.",
    ),
    reference=lambda points, centres, width: _bumps(points, centres, width),
    make_cases=_bump_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[0]), len(args[1])),
            "There must be one number for each pair of points and each centre.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) >= -1e-9).all() and (np.asarray(value) <= 1 + 1e-6).all()
            ),
            "A bump is 1 at its top and never below 0.",
        ),
        Property(
            lambda args, value: bool(np.allclose(value, np.swapaxes(value, 0, 1), atol=1e-5)),
            "The distance there is the distance back: the features of a pair should not depend on which "
            "point comes first.",
        ),
    ),
    mistakes=(
        Mistake(
            "squared-distance",
            _bumps_of(lambda points: _lengths(points) ** 2),
            "You compare the square of the distance with the centres. Take its root.",
        ),
        Mistake(
            "no-half",
            _bumps_of(bump=lambda gap, width: np.exp(-((gap / width) ** 2))),
            "Your bumps are too narrow: the square is divided by 2 in the exponent.",
        ),
        Mistake(
            "width-not-squared",
            _bumps_of(bump=lambda gap, width: np.exp(-(gap**2) / (2 * width))),
            "The width is not squared. Divide the gap by the width first, then square it.",
        ),
        Mistake(
            "not-squared",
            _bumps_of(bump=lambda gap, width: np.exp(-np.abs(gap) / (2 * width))),
            "Your bumps have a sharp top. Square the gap.",
        ),
        Mistake(
            "rook",
            _bumps_of(lambda points: np.abs(points[:, None] - points).sum(axis=-1)),
            "You add up the steps along the three axes. Turn the molecule, and that sum changes. Take the "
            "length of the difference.",
        ),
        Mistake(
            "largest-step",
            _bumps_of(lambda points: np.abs(points[:, None] - points).max(axis=-1)),
            "You take the largest step along an axis. Turn the molecule, and that changes. Take the length "
            "of the difference.",
        ),
        Mistake(
            "from-the-origin",
            _bumps_of(lambda points: np.abs(np.subtract.outer(*[np.linalg.norm(points, axis=1)] * 2))),
            "You compare how far each point is from the origin. Move the molecule, and that changes. Take "
            "the distance from point to point.",
        ),
        Mistake(
            "product",
            _bumps_of(lambda points: points @ points.T),
            "You take dot products. They depend on where the origin is. Take distances.",
        ),
        Mistake(
            "density",
            _bumps_of(
                bump=lambda gap, width: np.exp(-((gap / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
            ),
            "You divide by the area under the bump, as in a density. Here the top is 1.",
        ),
        Mistake(
            "the-gap-itself",
            _bumps_of(bump=lambda gap, width: gap / width),
            "This is the gap, measured in widths. Return the bump at that gap.",
        ),
        Mistake(
            "brackets-missing",
            _bumps_of(bump=lambda gap, width: np.exp(-(gap**2) / 2 * width**2)),
            "You multiply by the width squared: after / 2, a * belongs to the whole. Put 2 * width ** 2 in "
            "brackets.",
        ),
        Mistake(
            "two-squared-too",
            _bumps_of(bump=lambda gap, width: np.exp(-((gap / (2 * width)) ** 2))),
            "You square the 2 as well, so your bumps are too wide. Divide the gap by the width, square "
            "it, and then halve it.",
        ),
        Mistake(
            "sum-to-one",
            lambda points, centres, width: (
                _bumps(points, centres, width) / _bumps(points, centres, width).sum(axis=-1, keepdims=True)
            ),
            "You make the features of each pair sum to 1. Each is a bump of its own, with 1 at its top.",
        ),
        Mistake(
            "nothing-for-itself",
            lambda points, centres, width: (
                _bumps(points, centres, width) * (1 - np.eye(len(points)))[..., None]
            ),
            "You set the features of a point with itself to 0. Its distance to itself is 0, and has "
            "bumps as well.",
        ),
    ),
    alternatives=(
        _bumps_by_loops,
        _bumps_by_products,
        lambda *args: _bumps(*args).tolist(),
    ),
    hints=(
        "All differences at once: `points[:, None] - points` has shape (n, n, 3). What is the length of "
        "each?",
        "`np.linalg.norm(..., axis=-1)` gives the distances. Give them one more axis, `[..., None]`, and "
        "subtract the centres.",
        "Divide the gap by the width, square it, halve it, and take `np.exp` of its negative.",
    ),
)
