"""Wide enough: The narrowest that will do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import BASE, WIDE_ENOUGH
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.angles import frequencies


def _longest(dim: int, *, turn: float = 2 * np.pi, base: float = BASE) -> float:
    return float(turn * base ** ((dim - 2) / dim))


def _first_that_reaches(length: float, dims: list[int], longest: Callable[[int], float]) -> int:
    return next((dim for dim in dims if longest(dim) >= length), 0)


def _smallest_dim(length: float, dims: list[int]) -> int:
    return _first_that_reaches(length, dims, _longest)


def _smallest_dim_by_algebra(length: float, dims: list[int]) -> int:
    # 2 pi base^(1 - 2/dim) >= length, solved for dim.
    short_of_base = 1 - np.log(length / (2 * np.pi)) / np.log(BASE)
    if short_of_base <= 0:
        return 0
    wide_enough = [dim for dim in dims if dim >= 2 / short_of_base]
    return min(wide_enough, default=0)


def _smallest_dim_vectorised(length: float, dims: list[int]) -> Any:
    widths = np.asarray(dims)
    reaches = 2 * np.pi * BASE ** (1 - 2 / widths) >= length
    return widths[np.argmax(reaches)] if reaches.any() else 0


def _smallest_dim_by_loop(length: float, dims: list[int]) -> int:
    for dim in dims:
        if 2 * np.pi / frequencies(dim)[-1] >= length:
            return dim
    return 0


def _some_widths(rng: np.random.Generator) -> list[int]:
    return sorted(int(each) for each in 2 * rng.choice(np.arange(1, 40), size=6, replace=False))


def _smallest_dim_cases(rng: np.random.Generator) -> Iterator[Case]:
    for length, dims in (
        (5, [2, 4]),
        (7, [2, 4]),
        (600, [2, 4, 8]),
        (2000, [4, 6, 8]),
        (3000, [6, 8, 16, 32]),
        (50_000, [64, 128, 256, 512]),
        (60_000, [128, 256, 512, 1024]),
        (62_000, [64, 512, 1024, 2048]),
        (70_000, [64, 512, 4096]),
        (1, [768]),
        (1, [2, 4]),
        (int(rng.integers(8, 600)), [2, 4, 6]),
        # So that no list of known answers passes.
        *((int(10 ** rng.uniform(1, 4.7)), _some_widths(rng)) for _ in range(3)),
    ):
        yield Case(f"length {length:,} among {dims}", (length, dims))


SMALLEST_DIM = Exercise(
    id="02-the-formula.smallest_dim",
    title="The narrowest that will do",
    signature="smallest_dim(length: int, dims: list of even ints, ascending) -> int",
    step_of=WIDE_ENOUGH,
    points=3,
    minutes=12,
    difficulty=3,
    reference=_smallest_dim,
    make_cases=_smallest_dim_cases,
    relative_tolerance=1e-9,
    properties=(
        Property(
            lambda args, value: int(value) in (0, *args[1]),
            "The answer must be one of the given widths, or 0 where none is wide enough.",
        ),
        Property(
            lambda args, value: value not in args[1] or _longest(int(value)) >= args[0],
            "The longest wave of the width that you return is shorter than the length. It is 2 pi times "
            "10000 to the power (dim - 2)/dim.",
        ),
        Property(
            lambda args, value: (
                value not in args[1] or all(_longest(d) < args[0] for d in args[1] if d < value)
            ),
            "One of the smaller widths already reaches the length. The longest wave of a width is 2 pi times "
            "10000 to the power (dim - 2)/dim.",
        ),
        Property(
            lambda args, value: value != 0 or all(_longest(dim) < args[0] for dim in args[1]),
            "You return 0, but one of the widths reaches the length. The longest wave of a width is 2 pi "
            "times 10000 to the power (dim - 2)/dim.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-two-pi",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: _longest(dim, turn=1.0)),
            "The factor 2 pi is missing from the wavelength: a whole turn is 2 pi radians, not one. "
            "Multiply 1/frequency by 2 pi.",
        ),
        Mistake(
            "half-a-turn",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: _longest(dim, turn=np.pi)),
            "The wavelength was taken as pi over the frequency, which is half a turn. A whole turn is 2 pi "
            "radians.",
        ),
        Mistake(
            "degrees",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: _longest(dim, turn=360.0)),
            "A whole turn was taken as 360. The frequencies are in radians per position, so a whole turn is "
            "2 pi.",
        ),
        Mistake(
            "i-over-dim",
            lambda length, dims: _first_that_reaches(
                length, dims, lambda dim: 2 * np.pi * BASE ** ((dim // 2 - 1) / dim)
            ),
            "The exponent of the last pair is i/dim where it should be 2i/dim: the factor 2 is missing.",
        ),
        Mistake(
            "nothing-where-none-reaches",
            lambda length, dims: next((dim for dim in dims if _longest(dim) >= length), None),
            "Where no width is wide enough, your function returns None: it ends without a return. Return 0 "
            "there, after the loop.",
        ),
        Mistake(
            "first-of-an-empty-list",
            lambda length, dims: [dim for dim in dims if _longest(dim) >= length][0],  # noqa: RUF015
            "Where no width is wide enough, your list of wide ones is empty and has no first element. "
            "Return 0 there.",
        ),
        Mistake(
            "first-that-is-too-narrow",
            lambda length, dims: next((dim for dim in dims if _longest(dim) <= length), 0),
            "The comparison is the wrong way round: this is the first width whose longest wave is no longer "
            "than the length.",
        ),
        Mistake(
            "pair-dim-half",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: 2 * np.pi * BASE),
            "Every width was given the wavelength 2 pi times 10000, which no width reaches. The last pair "
            "is number dim/2 - 1, so its exponent is (dim - 2)/dim.",
        ),
        Mistake(
            "last-column-as-i",
            lambda length, dims: _first_that_reaches(
                length, dims, lambda dim: 2 * np.pi * BASE ** ((dim - 1) / dim)
            ),
            "The exponent is (dim - 1)/dim, with the number of the last column. Both columns of the last "
            "pair use 2i = dim - 2.",
        ),
        Mistake(
            "shortest-wavelength",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: 2 * np.pi),
            "The length was compared with the shortest wavelength, 2 pi, that of pair 0. Take the longest, "
            "that of the last pair.",
        ),
        Mistake(
            "frequency-for-wavelength",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: frequencies(dim)[-1]),
            "The length was compared with a frequency. Turn it into a wavelength first: 2 pi divided by the "
            "frequency.",
        ),
        Mistake(
            "base-1000",
            lambda length, dims: _first_that_reaches(length, dims, lambda dim: _longest(dim, base=1000.0)),
            "The base is 1000 where it should be 10000. Count the zeros: four.",
        ),
        Mistake(
            "widest",
            lambda length, dims: next((dim for dim in reversed(dims) if _longest(dim) >= length), 0),
            "This is the widest of those that are wide enough. You want the smallest: stop at the first that "
            "reaches.",
        ),
        Mistake(
            "last-that-is-too-narrow",
            lambda length, dims: next((dim for dim in reversed(dims) if _longest(dim) < length), 0),
            "This is the last width that is too narrow. Take the first one whose longest wavelength is at "
            "least the length.",
        ),
        Mistake(
            "place-in-the-list",
            lambda length, dims: next((k for k, dim in enumerate(dims) if _longest(dim) >= length), 0),
            "This is the place in the list. Return the width at that place.",
        ),
        Mistake(
            "pairs-for-columns",
            lambda length, dims: _smallest_dim(length, dims) // 2,
            "This is the number of pairs. Return dim, the number of columns, which is twice as many.",
        ),
        Mistake(
            "last-where-none-reaches",
            lambda length, dims: _smallest_dim(length, dims) or dims[-1],
            "Where no width is wide enough, you return the last one. Return 0 there, so that the caller can "
            "see that no width will do.",
        ),
        Mistake(
            "width-against-length",
            lambda length, dims: next((dim for dim in dims if dim >= length), 0),
            "The width itself was compared with the length. Compare the longest wavelength of that width: "
            "it grows much faster than the width does.",
        ),
    ),
    alternatives=(_smallest_dim_by_algebra, _smallest_dim_vectorised, _smallest_dim_by_loop),
    hints=(
        "For one width, compute the wavelength of its last pair. Which i is the last?",
        "That wavelength is 2 pi times 10000 to the power (dim - 2)/dim.",
        "Go through dims in order and return the first whose wavelength is at least length; return 0 after "
        "the loop.",
    ),
)
