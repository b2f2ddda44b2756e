"""One base away, or a thousand: Features of an offset."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import GENOME, Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _bases_cases(rng: Generator) -> Iterator[Case]:
    yield Case("offsets -8, 0 and 8", (np.array([-8, 0, 8]), 2, 64))
    yield Case("at the edges of the windows", (np.array([0, 1, -1, 2, 3, -3, 6, 7, -7]), 3, 128))
    yield Case("Enformer's length", (np.array([-1536, -100, 5, 1536]), 4, 1536))
    for _ in range(3):
        count, length = int(rng.integers(2, 6)), int(rng.integers(20, 3000))
        yield Case("drawn", (rng.integers(-length, length + 1, size=7), count, length))


Basis = Callable[[Array, int, int], Array]


def _half_lives(count: int, length: int) -> Array:
    return np.asarray(8 * (length / 8) ** (np.arange(count) / (count - 1)))


def _falling(distance: Array, count: int, length: int) -> Array:
    return np.asarray(2.0 ** (-distance[:, None] / _half_lives(count, length)))


def _windows(distance: Array, count: int, length: int) -> Array:
    return np.asarray((distance[:, None] < 2.0 ** np.arange(1, count + 1) - 1).astype(float))


def _bases_with(
    falling: Basis = _falling,
    windows: Basis = _windows,
    sign: Callable[[Array], Array] = np.sign,
    distance: Callable[[Array], Array] = np.abs,
) -> Callable[[Array, int, int], Array]:
    def bases(offsets: Array, count: int, length: int) -> Array:
        far = distance(offsets)
        both = np.concatenate([falling(far, count, length), windows(far, count, length)], axis=1)
        return np.concatenate([both, both * sign(offsets)[:, None]], axis=1)

    return bases


_bases = _bases_with()


def _bases_by_loops(offsets: Array, count: int, length: int) -> list[list[float]]:
    rows = []
    for offset in offsets.tolist():
        way = abs(offset)
        lives = [
            math.exp(math.log(8) + (math.log(length) - math.log(8)) * k / (count - 1)) for k in range(count)
        ]
        one = [math.exp(-math.log(2) * way / life) for life in lives]
        one += [1.0 if way < 2**k - 1 else 0.0 for k in range(1, count + 1)]
        rows.append(one + [each * ((offset > 0) - (offset < 0)) for each in one])
    return rows


def _bases_by_halves(offsets: Array, count: int, length: int) -> Array:
    half_lives = np.logspace(np.log2(8), np.log2(length), count, base=2)
    far = np.abs(offsets)[:, None]
    one = np.hstack([0.5 ** (far / half_lives), far + 1 < 2 ** (1 + np.arange(count))])
    return np.hstack([one, np.sign(offsets)[:, None] * one])


LOG_DISTANCE_BASES = Exercise(
    id="09-beyond-text.log_distance_bases",
    title="Features of an offset",
    step_of=GENOME,
    signature="log_distance_bases(offsets: array of shape (n,) of ints, count: int, length: int) -> array of "
    "shape (n, 4 * count)",
    points=3,
    minutes=14,
    difficulty=3,
    draws=Draws(
        lambda log_distance_bases, across, up, fast, slow, window, signed: (
            lambda offsets, table: curve(
                offsets,
                {fast: table[:, 0], slow: table[:, 2], window: table[:, 5], signed: table[:, 8]},
                across=across,
                up=up,
            )
        )(np.arange(-40, 41), np.asarray(log_distance_bases(np.arange(-40, 41), 3, 64))),
        axes=(
            "offset",
            "feature",
            "half-life 8",
            "half-life 64",
            "window",
            "half-life 64, with the sign",
        ),
        look="Three of these features are the same on both sides of 0, and the one with the sign flips: "
        "only that one can tell before from after.",
    ),
    reference=lambda offsets, count, length: _bases(offsets, count, length),
    make_cases=_bases_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), 4 * args[1]),
            "There must be 4 * count features for each offset.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.abs(value) <= 1 + 1e-6).all()),
            "No feature can be above 1 or below -1.",
        ),
        Property(
            lambda args, value: bool(
                (
                    np.abs(np.asarray(value)[:, : 2 * args[1]] - np.abs(np.asarray(value)[:, : 2 * args[1]]))
                    <= 1e-6
                ).all()
            ),
            "The features of the first half depend on the distance only, and cannot be negative.",
        ),
    ),
    mistakes=(
        Mistake(
            "evenly-spaced",
            _bases_with(
                falling=lambda d, count, length: 2.0 ** (-d[:, None] / np.linspace(8, length, count))
            ),
            "Your half-lives are evenly spaced. Each should be the one before it, times a fixed factor.",
        ),
        Mistake(
            "to-a-third",
            _bases_with(falling=lambda d, count, length: np.exp(-d[:, None] / _half_lives(count, length))),
            "Over a half-life your features fall to 0.37. They should fall to a half.",
        ),
        Mistake(
            "not-the-distance",
            _bases_with(distance=lambda offsets: offsets),
            "You use the offset with its sign, so on one side the features grow above 1. Use the "
            "distance, without a sign.",
        ),
        Mistake(
            "window-too-wide",
            _bases_with(
                windows=lambda d, count, length: (d[:, None] <= 2.0 ** np.arange(1, count + 1) - 1) * 1.0
            ),
            "The windows hold one distance too many: a distance of exactly 2^k - 1 is outside.",
        ),
        Mistake(
            "windows-from-0",
            _bases_with(windows=lambda d, count, length: (d[:, None] < 2.0 ** np.arange(count) - 1) * 1.0),
            "Your first window is empty: not even offset 0 is in it. The powers begin with 2.",
        ),
        Mistake(
            "no-sign",
            _bases_with(sign=lambda offsets: np.ones(len(offsets))),
            "Your second half repeats the first. It should carry the sign of the offset: without it, "
            "before and after look the same.",
        ),
        Mistake(
            "sign-turned",
            _bases_with(sign=lambda offsets: -np.sign(offsets)),
            "The sign of the second half is reversed. Use that of the offset.",
        ),
        Mistake(
            "zero-counts-as-after",
            _bases_with(sign=lambda offsets: np.where(offsets < 0, -1, 1)),
            "At offset 0 your second half says after. It is neither there, and the sign is 0.",
        ),
        Mistake(
            "kind-by-kind",
            lambda offsets, count, length: _bases(offsets, count, length)[
                :, np.arange(4 * count).reshape(2, 2, count).swapaxes(0, 1).ravel()
            ],
            "In yours, each kind is next to its own copy with the sign. Here all features without a sign "
            "come first.",
        ),
        Mistake(
            "windows-first",
            lambda offsets, count, length: _bases(offsets, count, length)[
                :, np.arange(4 * count).reshape(2, 2, count)[:, ::-1].ravel()
            ],
            "Your windows come before the falling features. They should come after them.",
        ),
        Mistake(
            "from-one",
            _bases_with(
                falling=lambda d, count, length: (
                    2.0 ** (-d[:, None] / (1.0 * length) ** (np.arange(count) / (count - 1)))
                )
            ),
            "Your half-lives begin at 1. The shortest should be 8.",
        ),
        Mistake(
            "doubling",
            _bases_with(falling=lambda d, count, length: 0.5 ** (d[:, None] / (8 * 2.0 ** np.arange(count)))),
            "Your half-lives double, whatever the length is. The last should be length: choose the "
            "factor so that it comes out.",
        ),
        Mistake(
            "longest-first",
            _bases_with(falling=lambda d, count, length: _falling(d, count, length)[:, ::-1]),
            "Your half-lives fall from length to 8. They should rise from 8 to length.",
        ),
        Mistake(
            "length-not-reached",
            _bases_with(
                falling=lambda d, count, length: (
                    0.5 ** (d[:, None] / (8 * (length / 8) ** (np.arange(count) / count)))
                )
            ),
            "Your longest half-life falls short of length. From the first to the last there are count - "
            "1 steps.",
        ),
        Mistake(
            "rings",
            _bases_with(
                windows=lambda d, count, length: (
                    (
                        (d[:, None] < 2.0 ** np.arange(1, count + 1) - 1)
                        & (d[:, None] >= 2.0 ** np.arange(count) - 1)
                    )
                    * 1.0
                )
            ),
            "Your windows leave out what the smaller ones hold. Each should hold every distance below "
            "its edge.",
        ),
        Mistake(
            "outside-the-windows",
            _bases_with(
                windows=lambda d, count, length: (d[:, None] >= 2.0 ** np.arange(1, count + 1) - 1) * 1.0
            ),
            "Your windows are 1 outside and 0 inside. It should be the other way round.",
        ),
    ),
    alternatives=(_bases_by_loops, _bases_by_halves, lambda *args: _bases(*args).tolist()),
    hints=(
        "Evenly spaced in the logarithm: `2 ** np.linspace(np.log2(8), np.log2(length), count)`.",
        "A feature with half-life h is `0.5 ** (distance / h)`. A window is a comparison, as 0 and 1.",
        "Join both kinds with `np.concatenate(..., axis=1)`, and join that with itself times "
        "`np.sign(offsets)[:, None]`.",
    ),
)
