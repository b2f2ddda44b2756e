"""What and where: Where a pair looks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import WHAT_AND_WHERE, Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _favourite_cases(rng: Generator) -> Iterator[Case]:
    one = np.array([1.0, 0.0])
    yield Case("query and key alike", (np.array([1.0, 2.0, -3.0, 0.5]),) * 2 + (np.array([1.0, 0.1]),))
    yield Case("a quarter turn ahead", (one, np.array([0.0, 1.0]), np.array([0.25])))
    yield Case("a quarter turn behind", (one, np.array([0.0, -1.0]), np.array([0.25])))
    yield Case("the short way round", (np.array([-1.0, 0.3]), np.array([-1.0, -0.4]), np.array([0.5])))
    for _ in range(4):
        pairs = int(rng.integers(2, 6))
        yield Case(
            "pairs, drawn",
            (*(rng.normal(size=(2, 2 * pairs))), 10 ** rng.uniform(-3, 0, size=pairs)),
        )


def _angles(x: Array) -> Array:
    return np.arctan2(x[1::2], x[0::2])


def _wrapped(angle: Array) -> Array:
    """The same direction, between minus half a turn and half a turn."""
    return np.asarray(np.angle(np.exp(1j * angle)))


def _favourite_offsets(q: Array, k: Array, rates: Array) -> Array:
    return np.asarray(_wrapped(_angles(q) - _angles(k)) / rates)


def _favourites_with(
    difference: Callable[[Array, Array], Array], wrap: Callable[[Array], Array] = _wrapped
) -> Callable[[Array, Array, Array], Array]:
    return lambda q, k, rates: np.asarray(wrap(difference(_angles(q), _angles(k))) / rates)


def _halves_for_neighbours(x: Array) -> Array:
    return np.stack(np.split(x, 2), axis=1).ravel()


FAVOURITE_OFFSETS = Exercise(
    id="10-position-from-content.favourite_offsets",
    title="Where a pair looks",
    step_of=WHAT_AND_WHERE,
    signature="favourite_offsets(q: array of shape (dim,), k: array of shape (dim,), rates: array of shape "
    "(dim/2,), in rad/position) -> array of shape (dim/2,)",
    points=3,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda favourite_offsets, across, up: curve(
            np.linspace(-90, 90, 61),
            {
                f"{rate} rad/position": [
                    np.ravel(
                        favourite_offsets(
                            np.array([1.0, 0.0]), np.array([math.cos(a), math.sin(a)]), np.array([rate])
                        )
                    )[0]
                    for a in np.radians(np.linspace(-90, 90, 61))
                ]
                for rate in (1.0, 0.25)
            },
            across=across,
            up=up,
        ),
        axes=("angle of the key, in degrees", "favourite offset"),
        look="What a key says moves the place at which its pair counts most, and moves it further if the "
        "pair is slow.",
    ),
    reference=_favourite_offsets,
    make_cases=_favourite_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[2]),
            "There must be one offset for each pair.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.abs(value) * args[2] <= math.pi * (1 + 1e-6)).all()),
            "The nearest peak is never more than half a turn of the pair away.",
        ),
    ),
    mistakes=(
        Mistake(
            "turned-round",
            _favourites_with(lambda q, k: k - q),
            "The sign is reversed. The key's arrow turns with the offset: how far must it turn to point "
            "where the query's points?",
        ),
        Mistake(
            "not-the-nearest",
            _favourites_with(lambda q, k: q - k, lambda angle: angle),
            "Each of these offsets is a peak, but not always the one nearest to 0. The other way round "
            "may be shorter.",
        ),
        Mistake(
            "never-negative",
            _favourites_with(lambda q, k: q - k, lambda angle: angle % (2 * math.pi)),
            "Your peaks lie at 0 or above, even where one below 0 is nearer.",
        ),
        Mistake(
            "without-direction",
            _favourites_with(lambda q, k: np.abs(_wrapped(q - k))),
            "Your offsets have no sign. The sign says whether the key is before or after the query.",
        ),
        Mistake(
            "angles-alone",
            lambda q, k, rates: _wrapped(_angles(q) - _angles(k)),
            "These are angles. How many positions does the pair need to turn that far?",
        ),
        Mistake(
            "times-the-rate",
            lambda q, k, rates: _wrapped(_angles(q) - _angles(k)) * rates,
            "You multiply the angle by the rate. Positions are angle over rate.",
        ),
        Mistake(
            "turns",
            lambda q, k, rates: _favourite_offsets(q, k, rates) / (2 * math.pi),
            "You divide by a whole turn as well. Angle and rate are both in radians.",
        ),
        Mistake(
            "degrees",
            lambda q, k, rates: np.degrees(_favourite_offsets(q, k, rates)),
            "Your angles are in degrees, and the rates in radians.",
        ),
        Mistake(
            "query-alone",
            _favourites_with(lambda q, k: q),
            "You look only at the query's angle. The key has one too.",
        ),
        Mistake(
            "key-alone",
            _favourites_with(lambda q, k: -k),
            "You look only at the key's angle. The query has one too.",
        ),
        Mistake(
            "added",
            _favourites_with(lambda q, k: q + k),
            "You add the two angles. Take their difference.",
        ),
        Mistake(
            "trough",
            _favourites_with(lambda q, k: q - k + math.pi),
            "At these offsets the arrows point in opposite directions, and the product is smallest.",
        ),
        Mistake(
            "half-layout",
            lambda q, k, rates: _favourite_offsets(
                _halves_for_neighbours(q), _halves_for_neighbours(k), rates
            ),
            "You pair column c with column c + dim/2. Neighbours make a pair here.",
        ),
        Mistake(
            "arctan-of-the-ratio",
            lambda q, k, rates: _wrapped(np.arctan(q[1::2] / q[0::2]) - np.arctan(k[1::2] / k[0::2])) / rates,
            "The arctangent of a ratio cannot tell an arrow from the opposite one. np.arctan2 takes both "
            "numbers.",
        ),
        Mistake(
            "whole-numbers",
            lambda q, k, rates: np.round(_favourite_offsets(q, k, rates)),
            "You round to whole positions. Return the offset as a real number.",
        ),
        Mistake(
            "wrapped-after-dividing",
            lambda q, k, rates: _wrapped((_angles(q) - _angles(k)) / rates),
            "You wrap after dividing by the rate, and positions are not angles. Wrap the angle first, "
            "then divide.",
        ),
        Mistake(
            "wrapped-by-half-a-turn",
            lambda q, k, rates: ((_angles(q) - _angles(k) + math.pi / 2) % math.pi - math.pi / 2) / rates,
            "You wrap the angle by half a turn, so some of your offsets are where the arrows point in "
            "opposite directions. A whole turn is 2 pi.",
        ),
        Mistake(
            "half-a-turn-off",
            lambda q, k, rates: ((_angles(q) - _angles(k)) % (2 * math.pi) - math.pi) / rates,
            "You subtract pi after %, which moves every angle by half a turn. Add pi before % as well.",
        ),
        Mistake(
            "arcsine",
            lambda q, k, rates: (
                np.arcsin(
                    np.clip(
                        (q[1::2] * k[0::2] - q[0::2] * k[1::2])
                        / np.hypot(q[0::2], q[1::2])
                        / np.hypot(k[0::2], k[1::2]),
                        -1,
                        1,
                    )
                )
                / rates
            ),
            "The arcsine never goes beyond a quarter turn. np.arctan2 knows the whole circle.",
        ),
    ),
    alternatives=(
        lambda q, k, rates: np.angle((q[0::2] + 1j * q[1::2]) * (k[0::2] - 1j * k[1::2])) / rates,
        lambda q, k, rates: (
            np.arctan2(q[1::2] * k[0::2] - q[0::2] * k[1::2], q[0::2] * k[0::2] + q[1::2] * k[1::2]) / rates
        ),
        lambda q, k, rates: [
            math.remainder(
                math.atan2(q[2 * c + 1], q[2 * c]) - math.atan2(k[2 * c + 1], k[2 * c]), 2 * math.pi
            )
            / rate
            for c, rate in enumerate(rates.tolist())
        ],
    ),
    hints=(
        "Draw the two arrows of a pair. Put the query at position 0 and the key at the offset: then the "
        "key's arrow turns by offset times rate. When is the product of the two largest?",
        "The angle of an arrow (a, b) is `np.arctan2(b, a)`. The key has to turn by the query's angle "
        "minus its own.",
        "To take the short way round, wrap the angle: `np.angle(np.exp(1j * angle))` lies between minus "
        "pi and pi. Then divide by the rate.",
    ),
)
