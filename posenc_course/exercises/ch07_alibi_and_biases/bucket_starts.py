"""T5's buckets: Where each bucket begins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import T5, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.biased.t5 import t5_buckets


def _start_cases(rng: Generator) -> Iterator[Case]:
    # Where a border is a whole number, rounding decides: the first wide bucket begins at one, and no other.
    yield Case("4 buckets, max_distance 7", (4, 7))
    yield Case("a T5 decoder: 32 buckets, max_distance 128", (32, 128))
    yield Case("2 buckets, max_distance 10", (2, 10))
    # Of 11, exp(log(11)) and 10 ** log10(11) are both a hair above it.
    yield Case("22 buckets, max_distance 499", (22, 499))
    yield Case("16 buckets, max_distance 1000", (16, 1000))
    for _ in range(3):
        buckets, longest = 2 * int(rng.integers(4, 20)), int(rng.integers(80, 900))
        while _borders_meet_whole(buckets, longest):
            longest += 1
        yield Case(f"{buckets} buckets, max_distance {longest}", (buckets, longest))


def _borders(buckets: int, max_distance: int, steps: Any = None, exact: int | None = None) -> Array:
    """Where the wide buckets begin, before rounding to whole distances."""
    exact = buckets // 2 if exact is None else exact
    steps = np.arange(buckets - exact) if steps is None else steps
    return np.asarray(exact * (max_distance / exact) ** (steps / (buckets - exact)))


def _borders_meet_whole(buckets: int, max_distance: int) -> bool:
    wide = _borders(buckets, max_distance)[1:]
    return bool(np.abs(wide - np.round(wide)).min(initial=1.0) < 1e-3)


def _begins_wide_late(starts: Array, exact: int) -> bool:
    """Whether the first wide bucket begins one too late, after buckets of one distance that are right."""
    return bool(starts[exact] == exact + 1) and np.array_equal(starts[:exact], np.arange(exact))


def _starts(wide: Array, exact: int, to_whole: Callable[[Array], Array] = np.ceil) -> Array:
    return np.concatenate([np.arange(exact), to_whole(wide)]).astype(int)


def _right_starts(buckets: int, max_distance: int) -> list[int]:
    """In whole numbers: t reaches step s of w where t^w e^s >= m^s e^w."""
    exact = buckets // 2
    wide, starts, distance = buckets - exact, list(range(exact)), exact
    for step in range(wide):
        while distance**wide * exact**step < max_distance**step * exact**wide:
            distance += 1
        starts.append(distance)
    return starts


def _starts_by_counting(buckets: int, max_distance: int) -> list[int]:
    """Walk along all distances and note where the bucket changes."""
    distances = np.arange(max_distance + 1)
    found = t5_buckets(-distances, buckets=buckets, max_distance=max_distance, bidirectional=False)
    return [int(np.argmax(np.asarray(found) == bucket)) for bucket in range(buckets)]


def _starts_by_factor(buckets: int, max_distance: int) -> list[int]:
    exact = buckets // 2
    factor = (max_distance / exact) ** (1 / (buckets - exact))
    starts, border = list(range(exact)), float(exact)
    for _ in range(buckets - exact):
        starts.append(math.ceil(border - 1e-9))
        border *= factor
    return starts


def _starts_by_formula(buckets: int, max_distance: int) -> Array:
    return _starts(_borders(buckets, max_distance) - 1e-9, buckets // 2)


BUCKET_STARTS = Exercise(
    id="07-alibi-and-biases.bucket_starts",
    title="Where each bucket begins",
    step_of=T5,
    signature="bucket_starts(buckets: int, max_distance: int) -> array of shape (buckets,), whole numbers",
    points=2,
    minutes=10,
    difficulty=3,
    reference=_right_starts,
    make_cases=_start_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0],),
            "Every bucket has one first distance: return as many numbers as there are buckets.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.asarray(value)[0] == 0),
            "Bucket 0 begins at distance 0: the query itself.",
        ),
        Property(
            lambda args, value: bool(np.all(np.diff(np.asarray(value)) > 0)),
            "Each bucket begins farther away than the one before.",
        ),
        Property(
            lambda args, value: bool(
                np.array_equal(np.asarray(value)[: args[0] // 2], np.arange(args[0] // 2))
            ),
            "The first half of the buckets hold one distance each: they begin at 0, 1, 2, and so on.",
        ),
        Property(
            lambda args, value: not _begins_wide_late(np.asarray(value), args[0] // 2),
            "The first wide bucket begins at exact itself, and yours one later. Does rounding lift a border "
            "that should be whole? Take a hair off, such as 1e-9, before you round up.",
        ),
    ),
    mistakes=(
        Mistake(
            "rounded-down",
            lambda buckets, max_distance: _starts(
                _borders(buckets, max_distance), buckets // 2, lambda wide: np.floor(wide + 1e-9)
            ),
            "The borders were rounded down. A distance below the border still belongs to the bucket before. "
            "The new bucket begins at the next whole number above.",
        ),
        Mistake(
            "rounded",
            lambda buckets, max_distance: _starts(_borders(buckets, max_distance), buckets // 2, np.round),
            "The borders were rounded to the nearest whole number. A distance just below a border still "
            "belongs to the bucket before: round up.",
        ),
        Mistake(
            "last-at-max-distance",
            lambda buckets, max_distance: _starts(
                np.geomspace(buckets // 2, max_distance, buckets - buckets // 2) - 1e-9, buckets // 2
            ),
            "Your last bucket begins at max_distance. That is where one more bucket would begin, if there "
            "were one: the steps from exact to max_distance are as many as the wide buckets.",
        ),
        Mistake(
            "one-step-too-far",
            lambda buckets, max_distance: _starts(
                _borders(buckets, max_distance, 1 + np.arange(buckets - buckets // 2)) - 1e-9, buckets // 2
            ),
            "Each of these is the first distance of the next bucket. The first of the wide buckets begins at "
            "exact itself, with no step taken.",
        ),
        Mistake(
            "equally-wide",
            lambda buckets, max_distance: _starts(
                np.linspace(buckets // 2, max_distance, buckets - buckets // 2 + 1)[:-1] - 1e-9, buckets // 2
            ),
            "Your wide buckets are all equally wide. Each is wider than the one before, by the same factor.",
        ),
        Mistake(
            "all-wide",
            lambda buckets, max_distance: np.concatenate(
                [[0], np.ceil(np.geomspace(1, max_distance, buckets)[:-1] - 1e-9)]
            ).astype(int),
            "You spread all buckets on the logarithm. Only the second half are: each of the first half "
            "holds one distance.",
        ),
        Mistake(
            "all-exact",
            lambda buckets, max_distance: np.arange(buckets),
            "Every bucket holds a single distance here. Only the first half of the buckets do.",
        ),
        Mistake(
            "a-quarter-exact",
            lambda buckets, max_distance: _starts(
                _borders(buckets, max_distance, exact=max(1, buckets // 4)) - 1e-9, max(1, buckets // 4)
            ),
            "You halved the buckets twice. All of them are for one direction, and half of them hold one "
            "distance each.",
        ),
        Mistake(
            "doubling",
            lambda buckets, max_distance: _starts(
                (buckets // 2) * 2.0 ** np.arange(buckets - buckets // 2), buckets // 2
            ),
            "Each bucket begins at twice the distance of the one before. The factor depends on max_distance "
            "and on how many wide buckets there are.",
        ),
        Mistake(
            "last-distances",
            lambda buckets, max_distance: (
                [start - 1 for start in _right_starts(buckets, max_distance)[1:]] + [max_distance]
            ),
            "These are the last distances of the buckets. Return the first ones.",
        ),
        Mistake(
            "factor-is-max-distance",
            lambda buckets, max_distance: _starts(
                (exact := buckets // 2) * max_distance ** (np.arange(buckets - exact) / (buckets - exact))
                - 1e-9,
                exact,
            ),
            "Your wide buckets reach from exact to exact times max_distance. From exact to max_distance it "
            "is a factor of max_distance / exact.",
        ),
        Mistake(
            "last-one-replaced",
            lambda buckets, max_distance: [*_right_starts(buckets, max_distance)[:-1], max_distance],
            "All are right but the last: it does not begin at max_distance. The last bucket has its border "
            "as all others, and holds everything beyond.",
        ),
        Mistake(
            "steps-of-all-buckets",
            lambda buckets, max_distance: _starts(
                (exact := buckets // 2) * (max_distance / exact) ** (np.arange(buckets - exact) / buckets)
                - 1e-9,
                exact,
            ),
            "Your steps are too small: the factor was shared out among all buckets. Only the wide ones "
            "share it, buckets - exact of them.",
        ),
        Mistake(
            "next-whole-number",
            lambda buckets, max_distance: _starts(
                np.floor(_borders(buckets, max_distance) + 1e-9) + 1, buckets // 2
            ),
            "You took the whole number after each border, even where the border is whole: the first wide "
            "bucket begins at exact itself. Round up with np.ceil.",
        ),
        Mistake(
            "not-rounded",
            lambda buckets, max_distance: np.concatenate(
                [np.arange(buckets // 2), _borders(buckets, max_distance)]
            ),
            "The borders are right, but not all of them are whole. Distances are whole numbers: round up.",
        ),
        Mistake(
            "factor-from-all-buckets",
            lambda buckets, max_distance: _starts(
                (exact := buckets // 2)
                * (max_distance / buckets) ** (np.arange(buckets - exact) / (buckets - exact))
                - 1e-9,
                exact,
            ),
            "Your factor is max_distance / buckets. The wide buckets begin at exact, so it is max_distance "
            "/ exact.",
        ),
    ),
    alternatives=(_starts_by_counting, _starts_by_factor, _starts_by_formula),
    hints=(
        "The first half needs no formula: distances 0, 1, 2, ...",
        "From `exact = buckets // 2` to max_distance it is a factor of `max_distance / exact`. The wide "
        "buckets divide it into equal factors.",
        "Wide bucket number s begins at `exact * (max_distance / exact) ** (s / (buckets - exact))`, rounded "
        "up to a whole distance.",
    ),
)
