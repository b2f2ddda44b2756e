"""RoPE, from one pair to a whole head: Turn one pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import FROM_A_PAIR, Generator, _turn
from posenc_course.exercises.drawing import Draws, arrows
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _cos_sin(position: float, frequency: float) -> tuple[float, float]:
    return float(np.cos(position * frequency)), float(np.sin(position * frequency))


def _with_matrix(rows: Callable[[float, float], list[list[float]]]) -> Callable[[Array, float, float], Array]:
    """The pair times a matrix of the cosine and the sine of its angle."""
    return lambda pair, position, frequency: np.asarray(rows(*_cos_sin(position, frequency))) @ pair


def _turn_by_polar(pair: Array, position: float, frequency: float) -> list[float]:
    length, start = np.hypot(*pair), np.arctan2(pair[1], pair[0])
    angle = start + position * frequency
    return [length * np.cos(angle), length * np.sin(angle)]


def _overwritten(pair: Array, position: float, frequency: float) -> Array:
    c, s = _cos_sin(position, frequency)
    a, b = pair
    a = a * c - b * s
    b = b * c + a * s
    return np.array([a, b])


def _pair_cases(rng: Generator) -> Iterator[Case]:
    yield Case("an arrow along the first axis, a quarter turn", (np.array([1.0, 0.0]), 5, np.pi / 10))
    yield Case("an arrow along the second axis, a quarter turn", (np.array([0.0, 1.0]), 5, np.pi / 10))
    yield Case("position 0", (rng.normal(size=2), 0, 0.5))
    yield Case("position 7, frequency 0.1", (rng.normal(size=2), 7, 0.1))
    yield Case("a negative position", (rng.normal(size=2), -3, 0.25))
    yield Case("position 2.5, frequency 1", (rng.normal(size=2), 2.5, 1.0))
    yield Case("position 1,000,000", (rng.normal(size=2), 1_000_000, 0.01))
    yield Case("a long arrow", (100 * rng.normal(size=2), int(rng.integers(10, 50)), 0.3))


TURN_PAIR = Exercise(
    id="06-rotary.turn_pair",
    title="Turn one pair",
    step_of=FROM_A_PAIR,
    signature="turn_pair(pair: array of shape (2,), position: number, frequency: number, in rad/position) "
    "-> array of shape (2,)",
    points=2,
    minutes=6,
    difficulty=1,
    draws=Draws(
        lambda turn_pair: arrows(
            np.stack([turn_pair(np.array([1.0, 0.0]), position, 0.5) for position in range(6)]),
            [str(position) for position in range(6)],
        ),
        look="The pair (1, 0) at positions 0 to 5: each step turns it by half a radian, and its length "
        "stays the same.",
    ),
    reference=lambda pair, position, frequency: _turn(pair, position * frequency),
    make_cases=_pair_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (2,),
            "A pair goes in and a pair comes out: return two numbers.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.isclose(np.linalg.norm(value), np.linalg.norm(args[0]), rtol=1e-4)),
            "Turning does not change the length: the pair that comes out must be as long as the one that "
            "went in.",
        ),
    ),
    mistakes=(
        Mistake(
            "clockwise",
            lambda pair, position, frequency: _turn(pair, -position * frequency),
            "Your pair turns clockwise. RoPE turns counterclockwise as the position grows: the minus goes "
            "before b sin in the first number, and the second number has a plus.",
        ),
        Mistake(
            "two-minus-signs",
            _with_matrix(lambda c, s: [[c, -s], [-s, c]]),
            "Both of your numbers have a minus before the sine, so the pair is bent instead of turned. The "
            "second number is b cos + a sin, with a plus.",
        ),
        Mistake(
            "two-plus-signs",
            _with_matrix(lambda c, s: [[c, s], [s, c]]),
            "Both of your numbers have a plus before the sine, so the pair changes its length. The first "
            "number is a cos - b sin, with a minus.",
        ),
        Mistake(
            "overwritten",
            _overwritten,
            "The first number is right, and then the second is computed from the new a instead of the "
            "old one. Keep both old numbers until both new ones are done.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            _with_matrix(lambda c, s: [[s, -c], [c, s]]),
            "Sine and cosine are swapped: at position 0 your pair makes a quarter turn. There the cosine "
            "is 1, and the pair must stay as it is.",
        ),
        Mistake(
            "members-swapped",
            lambda pair, position, frequency: _turn(pair, position * frequency)[::-1],
            "The two numbers come out in the wrong order. The first is a cos - b sin, the second "
            "b cos + a sin.",
        ),
        Mistake(
            "degrees",
            lambda pair, position, frequency: _turn(pair, np.deg2rad(position * frequency)),
            "The angle was taken as degrees and converted. Position times frequency is in radians already.",
        ),
        Mistake(
            "two-pi",
            lambda pair, position, frequency: _turn(pair, 2 * np.pi * position * frequency),
            "The angle was multiplied by 2 pi, as if the frequency counted turns. It counts radians per "
            "position: leave out the 2 pi.",
        ),
        Mistake(
            "frequency-ignored",
            lambda pair, position, frequency: _turn(pair, position),
            "The angle is the position alone. Multiply it by the frequency.",
        ),
        Mistake(
            "divided-by-frequency",
            lambda pair, position, frequency: _turn(pair, position / frequency),
            "The position was divided by the frequency. Multiply the two: radians per position, times "
            "positions.",
        ),
        Mistake(
            "added",
            lambda pair, position, frequency: pair + np.array(_cos_sin(position, frequency)[::-1]),
            "You add the sine and the cosine to the pair: that is the first door, the encoding of chapter 2. "
            "Here the pair itself turns.",
        ),
        Mistake(
            "reflected",
            _with_matrix(lambda c, s: [[c, s], [s, -c]]),
            "Your pair is mirrored, not turned: at position 0 its second number changes its sign. The first "
            "number is a cos - b sin, the second a sin + b cos.",
        ),
        Mistake(
            "last-sign-wrong",
            _with_matrix(lambda c, s: [[c, -s], [s, -c]]),
            "The first number is right. In the second, both terms have a plus: a sin + b cos.",
        ),
        Mistake(
            "start-forgotten",
            lambda pair, position, frequency: np.hypot(*pair) * np.array(_cos_sin(position, frequency)),
            "Your pair has the right length, and starts from the first axis whatever it was. Add the angle "
            "that it had before the turn: np.arctan2(b, a).",
        ),
        Mistake(
            "frequency-added",
            lambda pair, position, frequency: _turn(pair, position + frequency),
            "The angle is position plus frequency. Multiply the two.",
        ),
        Mistake(
            "half-a-turn-lost",
            lambda pair, position, frequency: _turn(pair, position * frequency % np.pi),
            "Angles were cut off at pi, half a turn, so some pairs point the opposite way. A whole turn is "
            "2 pi, and cosine and sine take any angle.",
        ),
    ),
    alternatives=(
        _with_matrix(lambda c, s: [[c, -s], [s, c]]),
        _turn_by_polar,
        lambda pair, position, frequency: (
            pair * np.cos(position * frequency) + np.array([-pair[1], pair[0]]) * np.sin(position * frequency)
        ),
    ),
    hints=(
        "The angle is position times frequency, in radians. What must come out for the pair (1, 0)? And for "
        "(0, 1)?",
        "The new pair is (a cos - b sin, b cos + a sin).",
        "With complex numbers it is one product: (a + ib) times `np.exp(1j * angle)`. Its real and its "
        "imaginary part are the new pair.",
    ),
)
