"""Llama 3's rule."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import TURN, Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.angles import frequencies
from posenc_lib.scaling.rules import Llama3Scaling

LLAMA_RATES = frequencies(128, base=500_000.0)


def _llama3_cases(rng: Generator) -> Iterator[Case]:
    yield Case("Llama 3.1", (frequencies(128, base=500_000.0), 8.0, 8192, 1.0, 4.0))
    yield Case("Llama 3.2, factor 32", (frequencies(64, base=500_000.0), 32.0, 8192, 1.0, 4.0))
    yield Case("one pair on the ramp", (np.array([TURN / 4096]), 8.0, 8192, 1.0, 4.0))
    yield Case("a pair at each end of the ramp", (np.array([4.0, 1.0]) * TURN / 1000, 6.0, 1000, 1.0, 4.0))
    yield Case("a factor of 1", (frequencies(16), 1.0, 2048, 1.0, 4.0))
    for _ in range(3):
        low = float(rng.uniform(0.2, 2))
        sizes = (float(rng.uniform(2, 20)), int(rng.integers(300, 9000)), low, low + float(rng.uniform(1, 9)))
        yield Case("numbers, drawn", (frequencies(32, base=float(rng.uniform(5e3, 5e5))), *sizes))


def _turns(rates: Array, length: int) -> Array:
    return np.asarray(length * rates / TURN)


def _kept(turns: Array, low: float, high: float) -> Array:
    return np.clip((turns - low) / (high - low), 0, 1)


def _by_share(rates: Array, factor: float, kept: Array) -> Array:
    return np.asarray(kept * rates + (1 - kept) * rates / factor)


def _llama3(rates: Array, factor: float, length: int, low: float, high: float) -> Array:
    return _by_share(rates, factor, _kept(_turns(rates, length), low, high))


def _llama3_by_loop(rates: Array, factor: float, length: int, low: float, high: float) -> list[float]:
    found = []
    for rate in rates.tolist():
        wave = 2 * math.pi / rate
        if wave < length / high:
            found.append(rate)
        elif wave > length / low:
            found.append(rate / factor)
        else:
            smooth = (length / wave - low) / (high - low)
            found.append((1 - smooth) * rate / factor + smooth * rate)
    return found


def _turned_round(rates: Array, factor: float, length: int, low: float, high: float, on_ramp: Array) -> Array:
    kept = _kept(_turns(rates, length), low, high)
    return _by_share(rates, factor, np.where(on_ramp, 1 - kept, kept))


def _ramp_turned_round(rates: Array, factor: float, length: int, low: float, high: float) -> Array:
    """As the released code asks: by wavelengths, and an end is on the ramp where rounding has it so."""
    waves = TURN / rates
    on_ramp = (waves >= length / high) & (waves <= length / low)
    return _turned_round(rates, factor, length, low, high, on_ramp)


def _line_turned_round(rates: Array, factor: float, length: int, low: float, high: float) -> Array:
    turns = _turns(rates, length)
    return _turned_round(rates, factor, length, low, high, (turns > low) & (turns < high))


def _over_waves(rates: Array, factor: float, length: int, low: float, high: float) -> Array:
    waves = TURN / rates
    return _by_share(rates, factor, np.clip((length / low - waves) / (length / low - length / high), 0, 1))


def _over_pairs(rates: Array, factor: float, length: int, low: float, high: float) -> Array:
    """A straight line in the logarithm of the turns, as a line over the numbers of the pairs is."""
    return _by_share(rates, factor, _kept(np.log(_turns(rates, length)), math.log(low), math.log(high)))


def _waves_mixed(rates: Array, factor: float, length: int, low: float, high: float) -> Array:
    kept = _kept(_turns(rates, length), low, high)
    return np.asarray(1 / (kept / rates + (1 - kept) * factor / rates))


LLAMA3_RATES = Exercise(
    id="08-long-context.llama3_rates",
    title="Llama 3's rule",
    signature="llama3_rates(rates: array of shape (pairs,), in rad/position, factor: float, length: int, "
    "low: "
    "float, high: float) -> array of shape (pairs,)",
    points=4,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda llama3_rates, across, up: curve(
            np.arange(64),
            {"": LLAMA_RATES / np.asarray(llama3_rates(LLAMA_RATES, 8.0, 8192, 1.0, 4.0))},
            across=across,
            up=up,
        ),
        axes=("pair, the fastest first", "slowed by"),
        look="About half of the pairs stay as they are, the last ones are 8 times slower, and a short "
        "steep stretch connects the two.",
    ),
    reference=_llama3,
    make_cases=_llama3_cases,
    relative_tolerance=1e-5,
    absolute_tolerance=1e-12,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one frequency for each pair.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) <= args[0] * (1 + 1e-9)).all()
                and (np.asarray(value) >= args[0] / args[1] * (1 - 1e-9)).all()
            ),
            "Every frequency must lie between what it was and what it was divided by the factor.",
        ),
    ),
    mistakes=(
        Mistake(
            "turned-round",
            lambda rates, factor, length, low, high: _by_share(
                rates, factor, 1 - _kept(_turns(rates, length), low, high)
            ),
            "Your fast pairs are slowed and the slow ones stay. It should be the other way round: pairs "
            "that make few turns in the trained length are divided by the factor.",
        ),
        Mistake(
            "ramp-turned-round",
            _ramp_turned_round,
            "Outside the ramp yours is right. On it you mix the two the wrong way round: the more turns a "
            "pair makes, the less it is slowed. The share belongs to the old frequency.",
        ),
        Mistake(
            "line-turned-round",
            _line_turned_round,
            "Both ends are right. Between them you mix the two the wrong way round: the more turns a pair "
            "makes, the less it is slowed. The share belongs to the old frequency, and the rest to the "
            "divided one.",
        ),
        Mistake(
            "radians-for-turns",
            lambda rates, factor, length, low, high: _by_share(
                rates, factor, _kept(length * rates, low, high)
            ),
            "You count radians, and the rule counts turns: the length times the frequency, divided by 2 pi.",
        ),
        Mistake(
            "line-over-wavelengths",
            _over_waves,
            "Both ends are right. Between them your line is straight in the wavelength; it should be "
            "straight in the number of turns.",
        ),
        Mistake(
            "line-over-pairs",
            _over_pairs,
            "Both ends are right. Between them your line is straight in the logarithm, as it is over the "
            "numbers "
            "of pairs in YaRN's code. Here it is straight in the number of turns.",
        ),
        Mistake(
            "wavelengths-mixed",
            _waves_mixed,
            "Both ends are right. Between them you mix wavelengths. Mix frequencies.",
        ),
        Mistake(
            "a-step",
            lambda rates, factor, length, low, high: np.where(
                _turns(rates, length) <= low, rates / factor, rates
            ),
            "The pairs between the two ends stay as they were. A straight line should lead from one to "
            "the other.",
        ),
        Mistake(
            "not-cut",
            lambda rates, factor, length, low, high: _by_share(
                rates, factor, (_turns(rates, length) - low) / (high - low)
            ),
            "Your line continues beyond its two ends. Cut the share that stays at 0 and at 1.",
        ),
        Mistake(
            "all-divided",
            lambda rates, factor, length, low, high: rates / factor,
            "Every pair is slowed: this is position interpolation. Fast pairs stay.",
        ),
        Mistake(
            "the-longer-text",
            lambda rates, factor, length, low, high: _llama3(
                rates, factor, round(length * factor), low, high
            ),
            "You count the turns in the longer text. Count them in the trained length: that is what a "
            "pair has seen.",
        ),
        Mistake(
            "from-zero",
            lambda rates, factor, length, low, high: _by_share(
                rates,
                factor,
                np.where(_turns(rates, length) <= low, 0, np.clip(_turns(rates, length) / high, 0, 1)),
            ),
            "Your line begins at 0 turns, so the frequency jumps at the lower end. Subtract low from the "
            "turns, "
            "and divide by high - low.",
        ),
        Mistake(
            "multiplied",
            lambda rates, factor, length, low, high: (
                rates * (1 + (factor - 1) * (1 - _kept(_turns(rates, length), low, high)))
            ),
            "Your slow pairs turn faster. Divide by the factor.",
        ),
        Mistake(
            "wavelengths",
            lambda *args: TURN / _llama3(*args),
            "These are wavelengths. Return frequencies, in rad/position.",
        ),
        Mistake(
            "divided-by-high",
            lambda rates, factor, length, low, high: _by_share(
                rates, factor, np.clip((_turns(rates, length) - low) / high, 0, 1)
            ),
            "Your line begins at the right place and rises too slowly. Divide by high - low, so that it "
            "reaches 1 at high.",
        ),
        Mistake(
            "the-middle",
            lambda rates, factor, length, low, high: np.where(
                _turns(rates, length) >= high,
                rates,
                np.where(_turns(rates, length) <= low, rates / factor, (rates + rates / factor) / 2),
            ),
            "Between the two ends all your pairs get the mean of both frequencies. A straight line, in "
            "the number of turns, should lead from one to the other.",
        ),
        Mistake(
            "the-shorter-text",
            lambda rates, factor, length, low, high: _by_share(
                rates, factor, _kept(_turns(rates, length) / factor, low, high)
            ),
            "You count the turns in a text that is shorter by the factor. Count them in the whole "
            "trained length.",
        ),
        Mistake(
            "largest-offset-for-length",
            lambda rates, factor, length, low, high: _llama3(rates, factor, length - 1, low, high),
            "You count the turns over length - 1 positions, the largest offset. This rule counts them "
            "over the length itself.",
        ),
        Mistake(
            "half-turns",
            lambda rates, factor, length, low, high: _by_share(
                rates, factor, _kept(length * rates / math.pi, low, high)
            ),
            "You divide by pi, which is half a turn, so you count twice as many turns as there are. A "
            "whole turn is 2 pi.",
        ),
        Mistake(
            "a-step-at-the-upper-end",
            lambda rates, factor, length, low, high: np.where(
                _turns(rates, length) >= high, rates, rates / factor
            ),
            "All pairs below the upper end are divided by the whole factor. A straight line should lead "
            "from one end to the other.",
        ),
        Mistake(
            "powers-of-the-factor",
            lambda rates, factor, length, low, high: (
                rates / factor ** (1 - _kept(_turns(rates, length), low, high))
            ),
            "Both ends are right. Between them you raise the factor to a power. Mix the two frequencies "
            "instead: the share that stays times the old one, plus the rest times the slowed one.",
        ),
    ),
    alternatives=(
        _llama3_by_loop,
        lambda rates, factor, length, low, high: Llama3Scaling(factor, length, low, high).scale(
            rates, dim=2 * len(rates), base=10000.0
        ),
        lambda rates, factor, length, low, high: (
            rates * np.interp(_turns(rates, length), [low, high], [1 / factor, 1])
        ),
    ),
    hints=(
        "First the number of turns of each pair in the trained length: `length * rates / (2 * np.pi)`.",
        "The share that stays is 0 up to `low`, 1 from `high` on, and a straight line between: `np.clip` "
        "does it.",
        "The new frequency is the share that stays times the old one, plus the rest times the old one "
        "divided by "
        "the factor.",
    ),
)
