"""Read the distance back: All distances that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import Generator, distances_in_a_loop
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import similarity, sinusoidal
from posenc_lib.angles import frequencies


def _fits(product: float, dim: int, base: float, reach: int, tolerance: float) -> np.ndarray:
    """Where among the distances 0 to reach the dot product is within the tolerance."""
    return np.asarray(np.abs(similarity(np.arange(reach + 1), dim, base=base) - product) <= tolerance)


def _distances_cases(rng: Generator) -> Iterator[Case]:
    for label, dim, base, reach, tolerance, true in (
        ("width 64, no doubt", 64, 10000.0, 30, 0.05, 3),
        ("width 64, two candidates or more", 64, 10000.0, 60, 0.3, 25),
        ("width 2: one clock comes round again and again", 2, 10000.0, 100, 0.05, 11),
        ("width 8, base 100", 8, 100.0, 80, 0.1, 17),
        ("the same place", 16, 10000.0, 50, 0.05, 0),
        ("the farthest distance", 16, 1000.0, 40, 0.1, 40),
        ("random distance, width 4", 4, 10000.0, 200, 0.02, int(rng.integers(5, 190))),
        ("random distance, width 32", 32, 500.0, 300, 0.05, int(rng.integers(5, 290))),
    ):
        kernel = similarity(np.arange(reach + 1), dim, base=base)
        while True:  # no distance stands on the border of the tolerance
            product = round(float(kernel[true] + tolerance * rng.uniform(-0.6, 0.6)), 6)
            if np.abs(np.abs(kernel - product) / tolerance - 1).min() > 1e-3:
                break
        yield Case(label, (product, dim, base, reach, tolerance))


def _distances_from_rows(product: float, dim: int, base: float, reach: int, tolerance: float) -> np.ndarray:
    table = sinusoidal(reach + 1, dim, base=base)
    return np.flatnonzero(np.abs(table @ table[0] - product) <= tolerance)


def _chosen(product: float, dim: int, base: float, reach: int, tolerance: float, *, last: bool) -> Any:
    return np.flatnonzero(_fits(product, dim, base, reach, tolerance))[-1 if last else 0]


def _whole(value: np.ndarray, reach: int) -> bool:
    """Whether it is a list of whole numbers from 0 to reach."""
    return value.ndim == 1 and bool(np.isin(value, np.arange(reach + 1)).all())


def _of_lists(
    holds: Callable[[np.ndarray, np.ndarray, float, float], bool],
) -> Callable[[tuple[Any, ...], Any], bool]:
    """Asked of (whether each distance is listed, its dot product, the one given, the tolerance)."""

    def asked(args: tuple[Any, ...], value: Any) -> bool:
        product, dim, base, reach, tolerance = args
        if value.dtype.kind not in "iuf" or not _whole(value, reach):
            return True
        listed = np.isin(np.arange(reach + 1), value)
        return holds(listed, similarity(np.arange(reach + 1), dim, base=base), product, tolerance)

    return asked


POSSIBLE_DISTANCES = Exercise(
    id="03-relative-position.possible_distances",
    title="All distances that fit",
    step_of="Read the distance back",
    signature="possible_distances(product: number, dim: int, base: number, reach: int, tolerance: number) "
    "-> whole numbers, the smallest first",
    points=2,
    minutes=9,
    difficulty=3,
    reference=lambda product, dim, base, reach, tolerance: np.flatnonzero(
        _fits(product, dim, base, reach, tolerance)
    ),
    make_cases=_distances_cases,
    properties=(
        Property(
            lambda args, value: (
                value.dtype.kind not in "iuf" or not np.isfinite(value).all() or _whole(value, args[3])
            ),
            "Return a plain list of distances: whole numbers from 0 to reach.",
            about="form",
        ),
        Property(
            _of_lists(
                lambda listed, kernel, product, tolerance: bool(
                    (abs(kernel - product) <= tolerance)[listed].all()
                )
            ),
            "You list a distance whose dot product is more than the tolerance away. The absolute "
            "difference may be the tolerance at most, whichever way the error goes.",
            about="form",
        ),
        Property(
            _of_lists(
                lambda listed, kernel, product, tolerance: bool(
                    listed[(kernel >= product) & (kernel <= product + tolerance)].all()
                )
            ),
            "Your list lacks a distance whose dot product is larger than the one that was measured, but "
            "within the tolerance. The error may go either way.",
            about="form",
        ),
        Property(
            _of_lists(
                lambda listed, kernel, product, tolerance: bool(
                    listed[(kernel <= product) & (kernel >= product - tolerance)].all()
                )
            ),
            "Your list lacks a distance whose dot product is smaller than the one that was measured, but "
            "within the tolerance. The error may go either way.",
            about="form",
        ),
        Property(
            lambda args, value: value.ndim != 1 or bool((np.diff(value) >= 0).all()),
            "Give the smallest distance first, and go upwards.",
        ),
    ),
    mistakes=(
        Mistake(
            "nearest-alone",
            lambda product, dim, base, reach, tolerance: np.asarray(
                [np.abs(similarity(np.arange(reach + 1), dim, base=base) - product).argmin()]
            ),
            "You return only the distance whose dot product comes nearest. All those within the tolerance "
            "are possible: the measurement cannot tell them apart.",
        ),
        Mistake(
            "first-alone",
            lambda *args: np.asarray([_chosen(*args, last=False)]),
            "You return only the smallest distance that fits. The kernel does not fall all the way: further "
            "on, others may fit as well.",
        ),
        Mistake(
            "until-it-is-passed",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                np.cumprod(similarity(np.arange(reach + 1), dim, base=base) >= product - tolerance)
                * _fits(product, dim, base, reach, tolerance)
            ),
            "You stop where the dot product has fallen below the one that is given. It may rise again: "
            "look at all distances up to reach.",
        ),
        Mistake(
            "usual-base",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                _fits(product, dim, 10000.0, reach, tolerance)
            ),
            "The base is taken to be 10000, whatever is given. Use it in the frequencies: base to the power "
            "-2i/dim.",
        ),
        Mistake(
            "reach-left-out",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                _fits(product, dim, base, reach, tolerance)[:-1]
            ),
            "You do not look at the distance reach itself: range(reach) ends one before it.",
        ),
        Mistake(
            "zero-left-out",
            lambda product, dim, base, reach, tolerance: (
                1 + np.flatnonzero(_fits(product, dim, base, reach, tolerance)[1:])
            ),
            "You do not look at the distance 0. Two rows may be at the same place.",
        ),
        Mistake(
            "counted-from-one",
            lambda product, dim, base, reach, tolerance: (
                1 + np.flatnonzero(_fits(product, dim, base, reach, tolerance))
            ),
            "All your distances are one too large. The first number of the kernel belongs to distance 0.",
        ),
        Mistake(
            "columns-for-pairs",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                np.abs(2 * similarity(np.arange(reach + 1), dim, base=base) - product) <= tolerance
            ),
            "Each clock is counted twice, as if there were dim of them. A pair of columns adds one cosine, "
            "and there are dim / 2 pairs.",
        ),
        Mistake(
            "share-of-the-peak",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                np.abs(similarity(np.arange(reach + 1), dim, base=base) / (dim / 2) - product) <= tolerance
            ),
            "The dot product was divided by its peak before it was compared. The product that is given was "
            "not.",
        ),
        Mistake(
            "as-truth-values",
            lambda product, dim, base, reach, tolerance: _fits(product, dim, base, reach, tolerance).astype(
                float
            ),
            "You return for each distance whether it fits. Return the distances themselves: np.flatnonzero "
            "gives the places where an array is true.",
        ),
        Mistake(
            "both-directions",
            lambda *args: np.concatenate(
                [
                    -np.flatnonzero(_fits(*args))[::-1][np.flatnonzero(_fits(*args))[::-1] > 0],
                    np.flatnonzero(_fits(*args)),
                ]
            ),
            "Negative offsets are listed too. They do fit, since the dot product is blind to direction; "
            "but a distance is 0 or more.",
        ),
        Mistake(
            "half-the-tolerance",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                _fits(product, dim, base, reach, tolerance / 2)
            ),
            "You allow half the tolerance only. A distance is possible if its dot product is at most the "
            "tolerance away, to either side.",
        ),
        Mistake(
            "sines",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                np.abs(
                    np.sin(np.arange(reach + 1)[:, None] * frequencies(dim, base=base)).sum(axis=1) - product
                )
                <= tolerance
            ),
            "The sines were added up. The dot product of two rows is the sum of the cosines of the offset "
            "times the frequencies.",
        ),
        Mistake(
            "exponent-without-the-two",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                _fits(product, dim, base**0.5, reach, tolerance)
            ),
            "The exponent of the frequencies is i/dim where it should be 2i/dim.",
        ),
    ),
    alternatives=(
        distances_in_a_loop,
        _distances_from_rows,
        lambda *args: [int(k) for k, fits in enumerate(_fits(*args)) if fits],
    ),
    hints=(
        "Which dot product does the distance k have? It is a sum of dim / 2 cosines.",
        "`np.arange(reach + 1)[:, None] * rates` holds all angles: a row for each distance, a column for "
        "each clock.",
        "`np.flatnonzero(np.abs(kernel - product) <= tolerance)` lists the places that fit.",
    ),
)
