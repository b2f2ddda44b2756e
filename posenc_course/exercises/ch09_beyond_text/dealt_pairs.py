"""Words and pictures in one line: Which of the three turns this pair?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import ONE_LINE, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.rotated.axial import owners


def _dealt_cases(rng: Generator) -> Iterator[Case]:
    yield Case("Qwen3-VL: 24, 20, 20", (24, 20, 20))
    yield Case("as many each", (3, 3, 3))
    yield Case("8, 1, 3", (8, 1, 3))
    yield Case("8, 3, 1", (8, 3, 1))
    for _ in range(4):
        height, width = (int(each) for each in rng.integers(1, 9, size=2))
        yield Case("drawn", (2 * max(height, width) + int(rng.integers(0, 9)), height, width))


def _dealt(time: int, height: int, width: int) -> Array:
    return owners((time, height, width), "in turn")


def _dealt_with(start: int = 1, step: int = 3) -> Callable[[int, int, int], Array]:
    def owner(time: int, height: int, width: int) -> Array:
        found = np.zeros(time + height + width, dtype=np.int64)
        for axis, count in ((1, height), (2, width)):
            found[start + axis - 1 :: step][:count] = axis
        return found

    return owner


def _dealt_one_by_one(time: int, height: int, width: int) -> list[int]:
    found = []
    for pair in range(time + height + width):
        turn, axis = divmod(pair, 3)
        found.append(axis if axis and turn < (height, width)[axis - 1] else 0)
    return found


def _dealt_like_cards(time: int, height: int, width: int) -> list[int]:
    """Round and round among those who still want one."""
    left, found = [time, height, width], []
    while any(left):
        for axis in range(3):
            if left[axis]:
                left[axis] -= 1
                found.append(axis)
    return found


def _dealt_by_places(time: int, height: int, width: int) -> Array:
    pairs = np.arange(time + height + width)
    limit = np.array([0, height, width])[pairs % 3]
    return np.asarray(np.where(pairs // 3 < limit, pairs % 3, 0))


DEALT_PAIRS = Exercise(
    id="09-beyond-text.dealt_pairs",
    title="Which of the three turns this pair?",
    step_of=ONE_LINE,
    signature="dealt_pairs(time: int, height: int, width: int) -> array of shape (pairs,): 0, 1 or 2",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_dealt,
    make_cases=_dealt_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (sum(args),),
            "There must be one number for each pair, and there are as many pairs as the three add up to.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "in-runs",
            lambda time, height, width: np.repeat([0, 1, 2], [time, height, width]),
            "You give each axis a run of neighbouring pairs, as Qwen2-VL did: time gets all the fast "
            "ones. Deal the pairs out in turn.",
        ),
        Mistake(
            "round-and-round",
            _dealt_like_cards,
            "Once an axis has its number, you close the gap and continue with the next. Here the others "
            "keep their places: what an axis does not take goes to time.",
        ),
        Mistake(
            "by-threes-for-ever",
            lambda time, height, width: np.arange(time + height + width) % 3,
            "You deal to the end. Height and width should stop when they have their number.",
        ),
        Mistake(
            "height-and-width-swapped",
            lambda time, height, width: np.array([0, 2, 1])[_dealt(time, width, height)],
            "Height and width are swapped: height takes pair 1, and width pair 2.",
        ),
        Mistake(
            "from-pair-0",
            _dealt_with(start=0),
            "Height begins with pair 0. The very first pair is for time.",
        ),
        Mistake(
            "every-second",
            lambda time, height, width: np.concatenate(
                [[0], np.tile([1, 2], max(height, width)), np.zeros(time + height + width)]
            )[: time + height + width].astype(int),
            "You deal only to height and width. One of every three pairs is for time.",
        ),
        Mistake(
            "counts-swapped",
            lambda time, height, width: _dealt(time, width, height),
            "Height takes as many pairs as width should have, and width as many as height.",
        ),
        Mistake(
            "by-columns",
            lambda time, height, width: np.repeat(_dealt(time, height, width), 2),
            "Each pair is there twice, once for each of its columns. Return one number for each pair.",
        ),
        Mistake(
            "one-short",
            lambda time, height, width: _dealt(time + 2, height - 1, width - 1),
            "Height and width stop one pair too early.",
        ),
        Mistake(
            "time-first",
            lambda time, height, width: np.concatenate(
                [np.zeros(time, dtype=int), _dealt(max(height, width), height, width)]
            )[: time + height + width],
            "The pairs that only time takes come first. They should come last: dealing begins with the "
            "first pair.",
        ),
        Mistake(
            "slice-ends-too-early",
            lambda time, height, width: np.array(
                [
                    pair % 3 if pair % 3 and pair < (height, width)[pair % 3 - 1] else 0
                    for pair in range(time + height + width)
                ]
            ),
            "Height and width get too few pairs: in a slice like 1:height:3, height is where it ends, "
            "not how many pairs it takes.",
        ),
        Mistake(
            "counted-from-one",
            lambda time, height, width: _dealt(time, height, width) + 1,
            "You number the three from 1. Time is 0, the row 1 and the column 2.",
        ),
        Mistake(
            "slowest-first",
            lambda time, height, width: _dealt(time, height, width)[::-1],
            "Your list is backwards: dealing begins with the fastest pair, pair 0.",
        ),
    ),
    alternatives=(_dealt_one_by_one, _dealt_with(), _dealt_by_places),
    hints=(
        "Begin with time everywhere: an array of zeros. Then give pairs to height and to width.",
        "Height takes pairs 1, 4, 7, ... and width takes 2, 5, 8, ...; how many of them?",
        "A slice can do it: `owner[1::3][:height] = 1` writes into the array itself.",
    ),
)
