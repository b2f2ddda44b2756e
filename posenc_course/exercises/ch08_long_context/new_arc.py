"""What is new to each pair."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import TURN, Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.angles import frequencies


def _arc_cases(rng: Generator) -> Iterator[Case]:
    yield Case("four pairs of base 10,000, 400 tokens and 1,600", (frequencies(8), 400, 1600))
    yield Case("64 pairs, 4,096 tokens and 131,072", (frequencies(128), 4096, 131_072))
    yield Case("5 tokens and 9", (np.array([1.0, 0.5, 0.01]), 5, 9))
    yield Case("as long as in training", (frequencies(16), 512, 512))
    yield Case("a pair that just comes round", (np.array([TURN / 100, TURN / 101, TURN / 99]), 100, 200))
    for _ in range(3):
        rates = np.sort(10 ** rng.uniform(-5, 0, size=int(rng.integers(3, 9))))[::-1].copy()
        trained = int(rng.integers(10, 5000))
        yield Case("rates, drawn", (rates, trained, trained * int(rng.integers(2, 40))))


def _arcs(rates: Array, length: int) -> Array:
    """What share of its circle each pair meets between any two tokens."""
    return np.minimum((length - 1) * rates / TURN, 1)


def _new_arc(rates: Array, trained: int, longer: int) -> Array:
    return _arcs(rates, longer) - _arcs(rates, trained)


def _new_arc_by_loop(rates: Array, trained: int, longer: int) -> list[float]:
    found = []
    for rate in rates.tolist():
        seen, met = (min(2 * math.pi, rate * (each - 1)) for each in (trained, longer))
        found.append((met - seen) / (2 * math.pi))
    return found


def _new_arc_by_cases(rates: Array, trained: int, longer: int) -> Array:
    known, reached = rates * (trained - 1), rates * (longer - 1)
    new = np.where(reached < TURN, reached - known, TURN - known)
    return np.where(known >= TURN, 0.0, new / TURN)


NEW_ARC = Exercise(
    id="08-long-context.new_arc",
    title="What is new to each pair",
    signature="new_arc(rates: array of shape (pairs,), in rad/position, trained: int, longer: int) -> "
    "array of "
    "shape (pairs,)",
    points=3,
    minutes=12,
    difficulty=2,
    draws=Draws(
        lambda new_arc, across, up: curve(
            np.arange(64), {"": new_arc(frequencies(128), 4096, 131_072)}, across=across, up=up
        ),
        axes=("pair, the fastest first", "share of its circle that is new"),
        look="The fast pairs meet nothing new; from pair 46 on, the slower a pair, the more of its circle is "
        "new.",
    ),
    reference=_new_arc,
    make_cases=_arc_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one share for each pair.",
            about="form",
        ),
        Property(
            lambda args, value: np.asarray(value).dtype.kind != "b",
            "Say how much of its circle is new to each pair, not whether anything is.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) >= -1e-9).all() and (np.asarray(value) <= 1 + 1e-9).all()
            ),
            "A share of the circle lies between 0 and 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "lengths-for-offsets",
            lambda rates, trained, longer: (
                np.minimum(longer * rates / TURN, 1) - np.minimum(trained * rates / TURN, 1)
            ),
            "You multiply by the number of tokens. The largest offset between two of n tokens is n - 1.",
        ),
        Mistake(
            "radians",
            lambda rates, trained, longer: TURN * _new_arc(rates, trained, longer),
            "These are radians. Divide by a whole turn, 2 pi, to get a share of the circle.",
        ),
        Mistake(
            "what-was-seen",
            lambda rates, trained, longer: _arcs(rates, trained),
            "This is the share that was seen in training. What is new is what the longer text adds to it.",
        ),
        Mistake(
            "never-seen",
            lambda rates, trained, longer: 1 - _arcs(rates, trained),
            "You count everything that training did not show. In the longer text, a slow pair may still "
            "not get that far.",
        ),
        Mistake(
            "nothing-taken-off",
            lambda rates, trained, longer: _arcs(rates, longer),
            "This is everything the longer text shows. Subtract what training has shown already.",
        ),
        Mistake(
            "never-round",
            lambda rates, trained, longer: (longer - trained) * rates / TURN,
            "Your arcs grow beyond a whole turn. A pair that has come round once knows its whole circle.",
        ),
        Mistake(
            "the-difference-cut",
            lambda rates, trained, longer: np.minimum((longer - trained) * rates / TURN, 1),
            "You cut the difference at a whole turn. Cut each of the two arcs, and then subtract: a pair "
            "that "
            "came round in training meets nothing new.",
        ),
        Mistake(
            "only-the-long-arc-cut",
            lambda rates, trained, longer: _arcs(rates, longer) - (trained - 1) * rates / TURN,
            "The arc of training is not cut at a whole turn, so fast pairs come out negative.",
        ),
        Mistake(
            "share-of-the-long-arc",
            lambda rates, trained, longer: (
                1 - _arcs(rates, trained) / np.maximum(_arcs(rates, longer), 1e-300)
            ),
            "You divide by the arc of the longer text. Give the share of the whole circle.",
        ),
        Mistake(
            "remainders",
            lambda rates, trained, longer: (
                np.abs((longer - 1) * rates % TURN - (trained - 1) * rates % TURN) / TURN
            ),
            "You compare where the pair is at the two ends. What counts is everything it passes on the "
            "way there.",
        ),
        Mistake(
            "the-other-way-round",
            lambda rates, trained, longer: -_new_arc(rates, trained, longer),
            "The sign is reversed. The longer text shows more, so subtract the arc of training from its arc.",
        ),
        Mistake(
            "percent",
            lambda rates, trained, longer: 100 * _new_arc(rates, trained, longer),
            "These are percentages. A share of the circle lies between 0 and 1: leave out the 100.",
        ),
        Mistake(
            "half-a-circle",
            lambda rates, trained, longer: (
                np.minimum((longer - 1) * rates / np.pi, 1) - np.minimum((trained - 1) * rates / np.pi, 1)
            ),
            "You divide by pi, which is half a turn. A whole circle has 2 pi.",
        ),
        Mistake(
            "known-pairs-set-to-0",
            lambda rates, trained, longer: np.where(
                (trained - 1) * rates >= TURN, 0, np.minimum((longer - trained) * rates / TURN, 1)
            ),
            "Pairs that came round in training are right. For the others you cut the difference: a pair that "
            "saw 0.6 of its circle has only 0.4 left to meet. Cut each of the two arcs, then subtract.",
        ),
        Mistake(
            "remainder-of-the-difference",
            lambda rates, trained, longer: (longer - trained) * rates / TURN % 1,
            "You drop whole turns with %. A pair that comes round has met every angle: cut each arc at 1, "
            "then subtract.",
        ),
        Mistake(
            "share-of-what-was-unseen",
            lambda rates, trained, longer: (
                _new_arc(rates, trained, longer) / np.maximum(1 - _arcs(rates, trained), 1e-300)
            ),
            "You divide by what training left unseen. Give the share of the whole circle.",
        ),
        Mistake(
            "cut-at-one-radian",
            lambda rates, trained, longer: (
                np.minimum((longer - 1) * rates, 1) - np.minimum((trained - 1) * rates, 1)
            ),
            "You cut at 1 radian. Divide by a whole turn, 2 pi, before you cut at 1.",
        ),
    ),
    alternatives=(_new_arc_by_loop, _new_arc_by_cases, lambda *args: _new_arc(*args).tolist()),
    hints=(
        "How far has a pair turned at the largest offset of n tokens? And how much of a circle can it have "
        "seen at most?",
        "The arc of n tokens, as a share, is `(n - 1) * rates / (2 * np.pi)`, cut at 1 with `np.minimum`.",
        "The new share is the arc of the longer text minus the arc of training.",
    ),
)
