"""Read the distance back: The first blind spot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import Generator, distances_in_a_loop
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import similarity


def _doubt_cases(rng: Generator) -> Iterator[Case]:
    asked = [
        ("width 64, base 10000", 64, 10000.0, 100, 0.1),
        ("width 2", 2, 10000.0, 60, 0.001),
        ("width 8, base 100", 8, 100.0, 150, 0.01),
        ("width 2, the farthest distance alone looks like 0", 2, 10000.0, 44, 0.001),
        ("width 64, only near distances: no doubt", 64, 10000.0, 5, 0.1),
        ("one distance alone: no doubt", 8, 10000.0, 0, 0.5),
    ]
    for number in range(1, 13):
        dim, base = int(2 * rng.integers(2, 33)), float(rng.integers(50, 20_000))
        reach, tolerance = int(rng.integers(30, 200)), float(10 ** rng.uniform(-4, -0.3))
        asked.append((f"random width and base, no. {number}", dim, base, reach, tolerance))
    for label, dim, base, reach, tolerance in asked:
        gaps = _gaps(dim, base, reach)
        while gaps.size and np.abs(gaps / tolerance - 1).min() < 1e-4:
            tolerance *= 1.001  # no two products differ by just the tolerance
        yield Case(label, (dim, base, reach, tolerance))


def _gaps(dim: int, base: float, reach: int) -> np.ndarray:
    kernel = similarity(np.arange(reach + 1), dim, base=base)
    one, other = np.triu_indices(reach + 1, k=1)
    return np.asarray(np.abs(kernel[one] - kernel[other]))


def _close_pairs(dim: int, base: float, reach: int, tolerance: float) -> np.ndarray:
    """Pairs of distances that look alike: (pairs, 2), the smaller distance first."""
    one, other = np.triu_indices(reach + 1, k=1)
    return np.stack([one, other], axis=1)[_gaps(dim, base, reach) <= tolerance]


def _doubt(dim: int, base: float, reach: int, tolerance: float) -> int:
    pairs = _close_pairs(dim, base, reach, tolerance)
    return int(pairs.min()) if len(pairs) else -1


def _later_of_the_first_pair(dim: int, base: float, reach: int, tolerance: float) -> int:
    pairs = _close_pairs(dim, base, reach, tolerance)
    return int(pairs[0, 1]) if len(pairs) else -1


def _smallest_later_one(dim: int, base: float, reach: int, tolerance: float) -> int:
    pairs = _close_pairs(dim, base, reach, tolerance)
    return int(pairs[:, 1].min()) if len(pairs) else -1


def _neighbours_alike(dim: int, base: float, reach: int, tolerance: float) -> int:
    close = np.flatnonzero(np.abs(np.diff(similarity(np.arange(reach + 1), dim, base=base))) <= tolerance)
    return int(close[0]) if len(close) else -1


def _first_rise(dim: int, base: float, reach: int, tolerance: float) -> int:
    rises = np.flatnonzero(np.diff(similarity(np.arange(reach + 1), dim, base=base)) > 0)
    return int(rises[0]) if len(rises) else -1


def _doubt_in_loops(dim: int, base: float, reach: int, tolerance: float) -> int:
    for distance in range(reach + 1):
        product = float(similarity(distance, dim, base=base))
        if len(distances_in_a_loop(product, dim, base, reach, tolerance)) > 1:
            return distance
    return -1


def _doubt_by_matrix(dim: int, base: float, reach: int, tolerance: float) -> int:
    kernel = similarity(np.arange(reach + 1), dim, base=base)
    alike = (np.abs(kernel[:, None] - kernel) <= tolerance).sum(axis=1) > 1
    return int(alike.argmax()) if alike.any() else -1


FIRST_DOUBT = Exercise(
    id="03-relative-position.first_doubt",
    title="The first blind spot",
    step_of="Read the distance back",
    signature="first_doubt(dim: int, base: number, reach: int, tolerance: number) -> int",
    points=1,
    minutes=8,
    difficulty=3,
    reference=_doubt,
    make_cases=_doubt_cases,
    properties=(
        Property(
            lambda args, value: value == round(value) and -1 <= value <= args[2],
            "Return a whole number from 0 to reach, or -1 if no distance is in doubt.",
        ),
        Property(
            lambda args, value: not 0 <= value <= args[2] or value in _close_pairs(*args),
            "The distance that you return is not in doubt: no other distance up to reach has a dot product "
            "within the tolerance of its own.",
        ),
        Property(
            lambda args, value: value not in _close_pairs(*args) or value == _doubt(*args),
            "A smaller distance is in doubt as well. Compare each distance with all others, smaller and "
            "larger, from 0 to reach.",
        ),
        Property(
            lambda args, value: value != -1 or _doubt(*args) == -1,
            "You return -1, but two distances have dot products within the tolerance of each other. Compare "
            "each distance with all others, from 0 to reach.",
        ),
    ),
    mistakes=(
        Mistake(
            "fits-itself",
            lambda dim, base, reach, tolerance: 0,
            "Every distance fits its own dot product, so each has one candidate at least. There is doubt "
            "where there is a second.",
        ),
        Mistake(
            "zero-for-none",
            lambda *args: max(_doubt(*args), 0),
            "Where no distance is in doubt you return 0, which says that distance 0 is. Return -1 there.",
        ),
        Mistake(
            "nothing-for-none",
            lambda *args: _doubt(*args) if _doubt(*args) >= 0 else None,
            "Where no distance is in doubt, your function returns None: it ends without a return. Return -1 "
            "there, after the loop.",
        ),
        Mistake(
            "reach-for-none",
            lambda dim, base, reach, tolerance: (
                _doubt(dim, base, reach, tolerance) if _doubt(dim, base, reach, tolerance) >= 0 else reach + 1
            ),
            "Where no distance is in doubt you return the number of distances. Return -1 there.",
        ),
        Mistake(
            "reach-left-out",
            lambda dim, base, reach, tolerance: _doubt(dim, base, max(reach - 1, 0), tolerance),
            "You do not look at the distance reach itself: range(reach) ends one before it.",
        ),
        Mistake(
            "later-of-the-pair",
            _later_of_the_first_pair,
            "You return the distance that the first doubtful one is mistaken for. Return the smaller of "
            "the two.",
        ),
        Mistake(
            "repeats-an-earlier-one",
            _smallest_later_one,
            "You return the first distance that looks like a smaller one. The smaller one is in doubt as "
            "well, and comes first.",
        ),
        Mistake(
            "neighbours-alone",
            _neighbours_alike,
            "You compare each distance with the next one only. The kernel may come back to an old value "
            "much later: compare with all distances up to reach.",
        ),
        Mistake(
            "first-rise",
            _first_rise,
            "You look for the first place where the kernel rises. A rise need not bring it back to an old "
            "value within the tolerance, and where it does, the doubt may begin earlier.",
        ),
        Mistake(
            "usual-base",
            lambda dim, base, reach, tolerance: _doubt(dim, 10000.0, reach, tolerance),
            "The base is taken to be 10000, whatever is given. Pass it on.",
        ),
        Mistake(
            "one-too-large",
            lambda *args: _doubt(*args) + 1 if _doubt(*args) >= 0 else -1,
            "Your distance is one too large: the count begins at 0.",
        ),
        Mistake(
            "how-many",
            lambda *args: len(np.unique(_close_pairs(*args))) or -1,
            "You count how many distances are in doubt. Return the smallest of them.",
        ),
    ),
    alternatives=(
        _doubt_in_loops,
        _doubt_by_matrix,
        lambda *args: min((int(a) for a, _ in _close_pairs(*args)), default=-1),
    ),
    hints=(
        "For each distance, make its dot product and ask your `possible_distances` which distances fit it.",
        "A distance is certain if it is the only one that fits its own product.",
    ),
)
