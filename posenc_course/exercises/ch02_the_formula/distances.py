"""The worst pair: How far apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import BASE, WORST, _distances, _turned
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal


def _distances_by_rows(offsets: Any, dim: int, base: float) -> np.ndarray:
    apart = sinusoidal(np.asarray(offsets, dtype=np.float64), dim, base=base) - np.arange(dim) % 2
    return np.asarray(np.sqrt((apart**2).sum(axis=-1)))


def _distances_by_loop(offsets: Any, dim: int, base: float) -> list[float]:
    def one(offset: float) -> float:
        angles = [offset / base ** (2 * i / dim) for i in range(dim // 2)]
        return float(sum((1 - np.cos(a)) ** 2 + np.sin(a) ** 2 for a in angles) ** 0.5)

    return [one(float(offset)) for offset in offsets]


def _distances_elsewhere(offsets: Any, dim: int, base: float) -> np.ndarray:
    """From another place than position 0."""
    offsets = np.asarray(offsets, dtype=np.float64)
    there, here = sinusoidal(7 + offsets, dim, base=base), sinusoidal(np.asarray(7.0), dim, base=base)
    return np.asarray(np.linalg.norm(there - here, axis=-1))


def _distance_cases(rng: np.random.Generator) -> Iterator[Case]:
    for offsets, dim, base in (
        (np.arange(5), 4, BASE),
        (np.asarray([0, 710, -710]), 2, BASE),
        (np.asarray([44, 628, 10_000]), 4, BASE),
        (np.asarray([-3, 3]), 8, 100.0),
        (np.asarray([1]), 64, BASE),
        (rng.integers(-500, 500, size=6), int(2 * rng.integers(2, 8)), float(rng.integers(50, 5000))),
        (rng.integers(1, 5000, size=4), int(2 * rng.integers(8, 32)), float(rng.integers(50, 5000))),
    ):
        yield Case(
            f"offsets {', '.join(map(str, offsets))} at width {dim}, base {base:g}", (offsets, dim, base)
        )


def _of_angles(rule: Callable[[np.ndarray], Any]) -> Callable[[Any, int, float], Any]:
    return lambda offsets, dim, base: rule(_turned(offsets, dim, base))


def _blind_to_the_sign(offsets: np.ndarray, value: np.ndarray) -> bool:
    found = dict(zip(offsets.tolist(), value.tolist(), strict=True))
    return all(np.isclose(found[-offset], found[offset]) for offset in found if -offset in found)


def _small_ones_lost(args: tuple[Any, ...], value: np.ndarray) -> bool:
    """Whether all distances are 0 that are so small that float32 may lose them."""
    right = _distances(*args)
    small = value[(right > 0) & (right < 1e-3)]
    return small.size > 0 and not small.any()


DISTANCES = Exercise(
    id="02-the-formula.distances",
    title="How far apart",
    signature="distances(offsets: array of shape (n,), dim: int, base: float) -> array of shape (n,)",
    step_of=WORST,
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda distances, across, up: curve(
            np.arange(200), {"": distances(np.arange(200), 64, 10000.0)}, across=across, up=up
        ),
        axes=("offset", "distance"),
        look="Neighbours are close together; further apart, the distance hardly grows, and ripples.",
    ),
    reference=lambda offsets, dim, base: _distances(offsets, dim, base),
    make_cases=_distance_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one distance for each offset.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(value >= 0)),
            "A distance is never negative.",
        ),
        Property(
            lambda args, value: bool(np.all(np.abs(value[np.asarray(args[0]) == 0]) < 1e-6)),
            "At offset 0 the distance is 0: a row does not differ from itself.",
        ),
        Property(
            lambda args, value: not _small_ones_lost(args, value),
            "Two different positions never have the very same row. In float32, 1 - cos loses small "
            "distances: compute in float64, or use 2 sin of half the angle.",
        ),
        Property(
            lambda args, value: bool(np.all(value <= 2 * np.sqrt(args[1] / 2) + 1e-6)),
            "No two rows are farther apart than twice the norm of a row, which is 2 times the square root of "
            "dim/2.",
        ),
        Property(
            lambda args, value: _blind_to_the_sign(args[0], value),
            "The direction does not matter: an offset and its opposite must get the same distance.",
        ),
    ),
    mistakes=(
        Mistake(
            "squared",
            _of_angles(lambda theta: (2 - 2 * np.cos(theta)).sum(axis=-1)),
            "These are the squares of the distances. Take the square root.",
        ),
        Mistake(
            "one-minus-cosine-once",
            _of_angles(lambda theta: np.sqrt((1 - np.cos(theta)).sum(axis=-1))),
            "Under the root there should be 2 - 2 cos for each pair, and not 1 - cos: both the sine and the "
            "cosine move.",
        ),
        Mistake(
            "dot-product",
            _of_angles(lambda theta: np.cos(theta).sum(axis=-1)),
            "This is the dot product of the two rows, which is largest where the distance is smallest.",
        ),
        Mistake(
            "cosine-similarity",
            _of_angles(lambda theta: np.cos(theta).mean(axis=-1)),
            "This is the cosine of the angle between the two rows. What you want is the length of their "
            "difference.",
        ),
        Mistake(
            "sum-of-absolute-values",
            _of_angles(lambda theta: (np.abs(np.sin(theta)) + 1 - np.cos(theta)).sum(axis=-1)),
            "The absolute differences were added up. The distance is the square root of the sum of their "
            "squares.",
        ),
        Mistake(
            "largest-difference",
            _of_angles(lambda theta: np.maximum(np.abs(np.sin(theta)), 1 - np.cos(theta)).max(axis=-1)),
            "This is the largest difference of a single column. The distance takes all columns together.",
        ),
        Mistake(
            "differences-of-norms",
            _of_angles(lambda theta: np.zeros(theta.shape[:-1])),
            "The norms were taken first, and then their difference. All rows have the same norm: subtract "
            "the rows, and take the norm of that.",
        ),
        Mistake(
            "angles-not-wrapped",
            _of_angles(lambda theta: np.linalg.norm(theta, axis=-1)),
            "The angles were compared and not the points on the circles. A hand that has made a whole turn "
            "is where it was before.",
        ),
        Mistake(
            "first-pair-alone",
            _of_angles(lambda theta: np.abs(2 * np.sin(theta[..., 0] / 2))),
            "You look at the first pair only. Take all dim columns.",
        ),
        Mistake(
            "mean-over-pairs",
            _of_angles(lambda theta: np.sqrt((2 - 2 * np.cos(theta)).mean(axis=-1))),
            "The squares were averaged over the pairs. Add them up.",
        ),
        Mistake(
            "mean-over-columns",
            lambda offsets, dim, base: _distances(offsets, dim, base) / np.sqrt(dim),
            "The squares were averaged over the columns. Add them up.",
        ),
        Mistake(
            "divided-by-dim",
            lambda offsets, dim, base: _distances(offsets, dim, base) / dim,
            "The distances were divided by dim. They are lengths: nothing is averaged.",
        ),
        Mistake(
            "exponent-without-the-two",
            lambda offsets, dim, base: _distances(offsets, dim, base**0.5),
            "The exponent of the frequencies is i/dim where it should be 2i/dim.",
        ),
        Mistake(
            "only-cosines",
            _of_angles(lambda theta: np.linalg.norm(1 - np.cos(theta), axis=-1)),
            "Only the cosines were compared. The sines differ too, from the 0 that they are at position 0.",
        ),
        Mistake(
            "base-10000",
            lambda offsets, dim, base: _distances(offsets, dim, BASE),
            "The base was taken as 10000. Use the one that is given.",
        ),
        Mistake(
            "between-neighbours-in-the-list",
            lambda offsets, dim, base: np.linalg.norm(
                np.diff(sinusoidal(np.append(0.0, offsets), dim, base=base), axis=0), axis=-1
            ),
            "Each row was compared with the one before it in the list. Compare each with the row of position "
            "0: the numbers given are offsets.",
        ),
        Mistake(
            "row-of-the-offset",
            _of_angles(lambda theta: np.full(theta.shape[:-1], np.sqrt(theta.shape[-1]))),
            "These are the norms of the rows, which are all the same. Take the row of position 0 away first.",
        ),
        Mistake(
            "only-sines",
            _of_angles(lambda theta: np.linalg.norm(np.sin(theta), axis=-1)),
            "Only the sines were compared. The cosines differ too, from the 1 that they are at position 0.",
        ),
    ),
    alternatives=(_distances_by_rows, _distances_by_loop, _distances_elsewhere),
    hints=(
        "The distance depends on the offset alone, so you may put one of the two at position 0.",
        "The row of position 0 is 0, 1, 0, 1, ... Take the row of each offset, subtract, and take the norm.",
        "In one line: for each pair the squared distance is 2 - 2 cos(offset times frequency). Add these up "
        "over the pairs, and take the root.",
    ),
)
