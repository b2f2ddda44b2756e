"""Exercises of `08-long-context`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.angles import frequencies
from posenc_lib.exercises.drawing import Draws, arrows, curve, heat_map
from posenc_lib.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.rotated.rotary import apply_rotary
from posenc_lib.scaling.rules import Llama3Scaling

CHAPTER = "08-long-context"
TURN = 2 * np.pi
LLAMA_RATES = frequencies(128, base=500_000.0)
STEPS = np.arange(0, 131_072, 64)
SELF_EXTEND = "Self-Extend, from its map"
STREAM = "A cache that streams"

Generator = np.random.Generator


# --- new_arc ---------------------------------------------------------------------------------------


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
    id=f"{CHAPTER}.new_arc",
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
            "These are radians. Divide by a whole turn, 2 pi: a share of the circle is asked for.",
        ),
        Mistake(
            "what-was-seen",
            lambda rates, trained, longer: _arcs(rates, trained),
            "This is the share that was seen in training. What is new is what the longer text adds to it.",
        ),
        Mistake(
            "never-seen",
            lambda rates, trained, longer: 1 - _arcs(rates, trained),
            "You count all that training did not show. A slow pair may not get so far in the longer text "
            "either.",
        ),
        Mistake(
            "nothing-taken-off",
            lambda rates, trained, longer: _arcs(rates, longer),
            "This is all that the longer text shows. Take off what training showed already.",
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
            "The arc of training is not cut at a whole turn, and fast pairs get less than nothing.",
        ),
        Mistake(
            "share-of-the-long-arc",
            lambda rates, trained, longer: (
                1 - _arcs(rates, trained) / np.maximum(_arcs(rates, longer), 1e-300)
            ),
            "You divide by the arc of the longer text. The share of the whole circle is asked for.",
        ),
        Mistake(
            "remainders",
            lambda rates, trained, longer: (
                np.abs((longer - 1) * rates % TURN - (trained - 1) * rates % TURN) / TURN
            ),
            "You compare where the pair stands at the two ends. What counts is all that it came by on its "
            "way there.",
        ),
        Mistake(
            "the-other-way-round",
            lambda rates, trained, longer: -_new_arc(rates, trained, longer),
            "The sign is turned round: the longer text shows more, so take the arc of training off its own.",
        ),
        Mistake(
            "percent",
            lambda rates, trained, longer: 100 * _new_arc(rates, trained, longer),
            "This is per cent. A share of the circle lies between 0 and 1: leave out the 100.",
        ),
        Mistake(
            "half-a-circle",
            lambda rates, trained, longer: (
                np.minimum((longer - 1) * rates / np.pi, 1) - np.minimum((trained - 1) * rates / np.pi, 1)
            ),
            "You divide by pi, which is half a turn. A whole circle has 2 pi.",
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


# --- llama3_rates ----------------------------------------------------------------------------------


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


def _over_waves(rates: Array, factor: float, length: int, low: float, high: float) -> Array:
    waves = TURN / rates
    return _by_share(rates, factor, np.clip((length / low - waves) / (length / low - length / high), 0, 1))


def _over_pairs(rates: Array, factor: float, length: int, low: float, high: float) -> Array:
    """A straight line in the logarithm of the turns, as a line over the numbers of the pairs is."""
    return _by_share(rates, factor, _kept(np.log(_turns(rates, length)), math.log(low), math.log(high)))


def _waves_mixed(rates: Array, factor: float, length: int, low: float, high: float) -> Array:
    kept = _kept(_turns(rates, length), low, high)
    return np.asarray(1 / (kept / rates + (1 - kept) * factor / rates))


LLAMA3 = Exercise(
    id=f"{CHAPTER}.llama3_rates",
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
        look="About half of the pairs stay as they are, the last ones are 8 times slower, and a steep bend "
        "leads over.",
    ),
    reference=_llama3,
    make_cases=_llama3_cases,
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
            "Your fast pairs are slowed and the slow ones stay. It is the slow ones that meet what is new.",
        ),
        Mistake(
            "radians-for-turns",
            lambda rates, factor, length, low, high: _by_share(
                rates, factor, _kept(length * rates, low, high)
            ),
            "You count radians where turns are meant: the length times the frequency, divided by 2 pi.",
        ),
        Mistake(
            "line-over-wavelengths",
            _over_waves,
            "Both ends are right. Between them your line is straight in the wavelength; it has to be "
            "straight "
            "in the number of turns.",
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
            "The pairs between the two ends stay as they were. A straight line leads from the one to the "
            "other.",
        ),
        Mistake(
            "not-cut",
            lambda rates, factor, length, low, high: _by_share(
                rates, factor, (_turns(rates, length) - low) / (high - low)
            ),
            "Your line goes on outside of its two ends. Cut the share that stays at 0 and at 1.",
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
            "You count the turns in the longer text. What a pair knows was decided by the length of its "
            "training.",
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
            "Between the two ends all your pairs get the mean of both frequencies. A straight line leads "
            "from "
            "the one to the other, by the number of turns.",
        ),
        Mistake(
            "the-shorter-text",
            lambda rates, factor, length, low, high: _by_share(
                rates, factor, _kept(_turns(rates, length) / factor, low, high)
            ),
            "You count the turns in a text that is shorter by the factor. What a pair knows was decided by "
            "the whole length of its training.",
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


# --- query_scale -----------------------------------------------------------------------------------


def _scale_cases(rng: Generator) -> Iterator[Case]:
    yield Case("around the first step", (np.array([0, 8190, 8191, 8192]), 0.1, 8192))
    yield Case("far out", (np.array([131_071, 1_000_000, 9_999_999]), 0.1, 8192))
    yield Case("one position", (np.array([20]), 0.5, 4))
    yield Case("beta 0 changes nothing", (np.arange(5), 0.0, 2))
    yield Case("each position a step", (np.arange(4), 1.0, 1))
    for _ in range(3):
        length = int(rng.integers(3, 60))
        yield Case("drawn", (rng.integers(0, 2000, size=6), float(rng.uniform(0.05, 2)), length))


def _scale_with(
    steps: Callable[[Array, int], Array], log: Callable[[Array], Array] = np.log
) -> Callable[[Array, float, int], Array]:
    return lambda positions, beta, length: 1 + beta * log(1 + steps(np.asarray(positions), length))


_query_scale = _scale_with(lambda p, length: (p + 1) // length)


QUERY_SCALE = Exercise(
    id=f"{CHAPTER}.query_scale",
    title="A query that speaks up",
    signature="query_scale(positions: array of shape (n,) of ints, beta: float, length: int) -> array of "
    "shape (n,)",
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda query_scale, across, up: curve(
            STEPS, {"": query_scale(STEPS, 0.1, 8192)}, across=across, up=up
        ),
        axes=("position of the query", "factor"),
        look="It begins at 1 and grows by steps, each smaller than the one before.",
    ),
    reference=_query_scale,
    make_cases=_scale_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one factor for each position.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "no-fraction-cut",
            _scale_with(lambda p, length: (p + 1) / length),
            "The fraction must be cut off: within a stretch of that many positions the factor stays the "
            "same.",
        ),
        Mistake(
            "counted-from-zero",
            _scale_with(lambda p, length: p // length),
            "Your steps come one position late. The position is counted from 1 in this formula: p + 1.",
        ),
        Mistake(
            "one-outside-missing",
            lambda *args: _query_scale(*args) - 1,
            "The 1 in front is missing: the first queries would be multiplied by 0.",
        ),
        Mistake(
            "one-inside-missing",
            lambda positions, beta, length: 1 + beta * np.log(np.maximum((positions + 1) // length, 1)),
            "The 1 within the logarithm is missing. At the first step the factor is to grow already, by the "
            "logarithm of 2.",
        ),
        Mistake(
            "log-of-two",
            _scale_with(lambda p, length: (p + 1) // length, np.log2),
            "You took the logarithm to base 2. It is the natural one.",
        ),
        Mistake(
            "log-of-ten",
            _scale_with(lambda p, length: (p + 1) // length, np.log10),
            "You took the logarithm to base 10. It is the natural one.",
        ),
        Mistake(
            "rounded-up",
            _scale_with(lambda p, length: -(-(p + 1) // length)),
            "You round up. The fraction is cut off, so the first positions get the factor 1.",
        ),
        Mistake(
            "beta-inside",
            lambda positions, beta, length: 1 + np.log(1 + beta * ((positions + 1) // length)),
            "Your logarithm has beta within it. It multiplies the logarithm.",
        ),
        Mistake(
            "last-for-all",
            lambda positions, beta, length: np.full(
                len(positions), _query_scale(np.array([np.max(positions) + 1]), beta, length)[0]
            ),
            "All your queries get one factor, that of the end of the text. Each query has its own, by its "
            "position.",
        ),
        Mistake(
            "log-of-the-ratio",
            lambda positions, beta, length: np.log(positions + 2) / np.log(length + 1),
            "You divide two logarithms, which is the rule before this one in the chapter. Llama 4 adds: 1 "
            "plus "
            "beta times one logarithm.",
        ),
        Mistake(
            "rounded",
            _scale_with(lambda p, length: np.round((p + 1) / length)),
            "You round to the nearest whole number. The fraction is cut off: use //.",
        ),
        Mistake(
            "logarithm-cut",
            lambda positions, beta, length: 1 + beta * np.floor(np.log(1 + (positions + 1) / length)),
            "You cut off the fraction of the logarithm. Cut that of the division, and then take the "
            "logarithm.",
        ),
        Mistake(
            "log-of-nothing",
            lambda positions, beta, length: 1 + beta * np.log((positions + 1) // length),
            "The 1 within the logarithm is missing: for the first positions the fraction is 0, and 0 has no "
            "logarithm.",
        ),
    ),
    alternatives=(
        lambda positions, beta, length: [
            1 + beta * math.log(math.floor((p + 1) / length) + 1) for p in positions.tolist()
        ],
        lambda positions, beta, length: beta * np.log1p(np.floor((positions + 1.0) / length)) + 1,
        lambda *args: np.asarray(_query_scale(*args), dtype=np.float64).tolist(),
    ),
    hints=(
        "For whole numbers `//` divides and cuts off the fraction.",
        "What must come out for positions 0 to length - 2? There the fraction is 0, and the factor is 1.",
        "Put together: 1, plus `beta` times `np.log` of 1 plus the fraction that was cut.",
    ),
)


# --- grouped_distances and mapped_scores -----------------------------------------------------------


def _i_j(tokens: int) -> tuple[Array, Array]:
    return np.arange(tokens)[:, None], np.arange(tokens)[None, :]


def _past(distances: Array) -> Array:
    """Zero for keys after the query."""
    return np.tril(distances)


def _map_cases(rng: Generator) -> Iterator[Case]:
    yield Case("12 tokens, groups of 3, window 6", (12, 3, 6))
    yield Case("groups of 1 change nothing", (9, 1, 4))
    yield Case("a window longer than the text", (7, 2, 9))
    yield Case("a window of 5, groups of 3", (14, 3, 5))
    yield Case("a window of 1, groups of 4", (13, 4, 1))
    for _ in range(3):
        tokens, group = int(rng.integers(15, 40)), int(rng.integers(2, 6))
        yield Case("sizes, drawn", (tokens, group, int(rng.integers(2, 12))))


def _extend_with(
    far: Callable[[Array, Array, int, int], Array], inside: Callable[[Array, int], Array] = lambda d, w: d < w
) -> Callable[[int, int, int], Array]:
    def distances(tokens: int, group: int, window: int) -> Array:
        i, j = _i_j(tokens)
        return _past(np.where(inside(i - j, window), i - j, far(i, j, group, window)))

    return distances


def _far(i: Array, j: Array, group: int, window: int) -> Array:
    return i // group - j // group + window - window // group


_extended = _extend_with(_far)


def _grouped(tokens: int, group: int, window: int) -> Array:
    return _extended(tokens, group, window)


def _extended_by_loops(tokens: int, group: int, window: int) -> list[list[int]]:
    rows = [[0] * tokens for _ in range(tokens)]
    for i in range(tokens):
        for j in range(i + 1):
            rows[i][j] = i - j
            if i - j >= window:
                rows[i][j] = (i // group + window - window // group) - j // group
    return rows


OF_A_MAP = (
    Property(
        lambda args, value: np.shape(value) == (args[0], args[0]),
        "There must be a row for each query and a column for each key.",
        about="form",
    ),
    Property(
        lambda args, value: bool((np.triu(np.asarray(value), 1) == 0).all()),
        "A key after the query must get 0.",
    ),
)
"""What a table of distances promises, whichever map it is of."""


GROUPED = Exercise(
    id=f"{CHAPTER}.grouped_distances",
    title="The distances that queries take",
    step_of=SELF_EXTEND,
    signature="grouped_distances(tokens: int, group: int, window: int) -> array of shape (tokens, tokens)",
    points=3,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda grouped_distances, rows, columns: heat_map(
            grouped_distances(24, 3, 6), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="Beside the diagonal every key has a distance of its own; beyond it, keys share one in threes.",
    ),
    reference=_grouped,
    make_cases=_map_cases,
    properties=OF_A_MAP,
    mistakes=(
        Mistake(
            "window-one-too-wide",
            _extend_with(_far, lambda d, w: d <= w),
            "Your window holds one key too many. Keys less than window back keep their distance; the one "
            "that "
            "stands exactly so far back is counted in groups.",
        ),
        Mistake(
            "not-moved",
            _extend_with(lambda i, j, group, window: i // group - j // group),
            "Beyond the window your distances start small again, and far keys look near. Move them on by "
            "window - window // group.",
        ),
        Mistake(
            "moved-by-the-window",
            _extend_with(lambda i, j, group, window: i // group - j // group + window),
            "You move the groups by the whole window, and distances are left out between. Take off window // "
            "group, which the groups count already.",
        ),
        Mistake(
            "difference-in-groups",
            _extend_with(lambda i, j, group, window: (i - j) // group + window - window // group),
            "You divide the difference. Query and key are counted in groups each on their own, and then "
            "subtracted: only so it is a rotation of each of the two.",
        ),
        Mistake(
            "fractions",
            _extend_with(lambda i, j, group, window: i / group - j / group + window - window / group),
            "Your groups have fractions. A group has one number for all its positions: divide with //.",
        ),
        Mistake(
            "fraction-of-the-window",
            _extend_with(lambda i, j, group, window: i // group - j // group + window - window / group),
            "The groups are right. The window, too, is divided without a remainder: window // group.",
        ),
        Mistake(
            "all-in-groups",
            _extend_with(_far, lambda d, w: d < 0),
            "Near keys are counted in groups as well. Within the window the true distance stays.",
        ),
        Mistake(
            "true-everywhere",
            lambda tokens, group, window: _past(np.subtract(*_i_j(tokens))),
            "These are the true distances everywhere. Those of window and more are to be counted in groups.",
        ),
        Mistake(
            "cut-at-the-window",
            lambda tokens, group, window: _past(np.minimum(np.subtract(*_i_j(tokens)), window)),
            "All far keys get one distance. They are to be told apart, group by group.",
        ),
        Mistake(
            "swapped",
            lambda tokens, group, window: _extended(tokens, group, window).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "difference-beyond-the-window",
            _extend_with(lambda i, j, group, window: window + (i - j - window) // group),
            "You count in groups how far a key lies beyond the window, which is a difference. Query and key "
            "are each counted in groups on their own, and then subtracted.",
        ),
        Mistake(
            "difference-not-moved",
            _extend_with(lambda i, j, group, window: (i - j) // group),
            "You divide the difference, and far keys look near. Count query and key in groups each on their "
            "own, subtract, and move on by window - window // group.",
        ),
        Mistake(
            "rounded",
            _extend_with(
                lambda i, j, group, window: (
                    np.round(i / group) - np.round(j / group) + window - window // group
                )
            ),
            "You round to the nearest group. A position belongs to the group whose number is position // "
            "group.",
        ),
        Mistake(
            "moved-too-far",
            _extend_with(lambda i, j, group, window: i // group - j // group + window + window // group),
            "You add window // group. The groups count these positions already: take it off.",
        ),
    ),
    alternatives=(
        _extended_by_loops,
        lambda tokens, group, window: np.tril(
            np.where(
                np.arange(tokens)[:, None] - np.arange(tokens) >= window,
                (np.arange(tokens) // group + window - window // group)[:, None] - np.arange(tokens) // group,
                np.arange(tokens)[:, None] - np.arange(tokens),
            )
        ),
        lambda tokens, group, window: _extended(tokens, group, window).astype(float),
    ),
    hints=(
        "Make the numbers of the queries a column, `np.arange(tokens)[:, None]`, and those of the keys a "
        "row.",
        "There are two arrays of distances, the true ones and those in groups. `np.where` chooses between "
        "them.",
        "`np.tril` puts 0 where the key comes after the query.",
    ),
)


def _score_cases(rng: Generator) -> Iterator[Case]:
    def inputs(n: int, dim: int, distances: Array, base: float) -> tuple[Array, Array, Array, float]:
        return rng.normal(size=(n, dim)), rng.normal(size=(n, dim)), distances, base

    i, j = _i_j(5)
    yield Case("true distances, 5 tokens", inputs(5, 8, i - j, 10000.0))
    yield Case("all distances 0", inputs(4, 4, np.zeros((4, 4), dtype=np.int64), 10000.0))
    yield Case("Self-Extend, groups of 3, window 4", inputs(10, 8, _extended(10, 3, 4), 10000.0))
    yield Case("Self-Extend, base 500", inputs(9, 6, _extended(9, 2, 3), 500.0))
    yield Case("one pair", inputs(3, 2, _extended(3, 2, 1), 10000.0))
    for _ in range(2):
        n, dim = int(rng.integers(3, 8)), 2 * int(rng.integers(2, 6))
        yield Case("distances, drawn", inputs(n, dim, rng.integers(0, 50, size=(n, n)), 1000.0))


def _pairs(x: Array) -> Array:
    return np.asarray(x[:, 0::2] + 1j * x[:, 1::2])


def _mapped(q: Array, k: Array, distances: Array, base: float) -> Array:
    turned = np.exp(1j * distances[:, :, None] * frequencies(q.shape[1], base=base))
    found = (_pairs(q)[:, None] * _pairs(k).conj()[None] * turned).sum(axis=-1)
    return np.asarray(found.real / math.sqrt(q.shape[1]))


def _shares(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _neighbours(x: Array) -> Array:
    """Columns j and j + dim/2 side by side."""
    return np.stack(np.split(x, 2, axis=1), axis=-1).reshape(x.shape)


def _mapped_by_loops(q: Array, k: Array, distances: Array, base: float) -> Array:
    n, dim = q.shape
    found = np.empty((n, len(k)))
    for i in range(n):
        for j in range(len(k)):
            turned = apply_rotary(q[i : i + 1], np.array([distances[i, j]]), base=base)[0]
            found[i, j] = turned @ k[j] / dim**0.5
    return found


def _mapped_by_key(q: Array, k: Array, distances: Array, base: float) -> Array:
    """Each key turned back, once for each query."""
    rows = []
    for query, each in zip(q, distances, strict=True):
        rows.append(apply_rotary(k, -each, base=base) @ query / np.sqrt(q.shape[1]))
    return np.stack(rows)


def _mapped_in_parts(q: Array, k: Array, distances: Array, base: float) -> Array:
    total = np.zeros(distances.shape)
    for pair, rate in enumerate(frequencies(q.shape[1], base=base)):
        a, b = q[:, 2 * pair, None], q[:, 2 * pair + 1, None]
        c, d = k[None, :, 2 * pair], k[None, :, 2 * pair + 1]
        total += (a * c + b * d) * np.cos(distances * rate) + (a * d - b * c) * np.sin(distances * rate)
    return total / np.sqrt(q.shape[1])


MAPPED = Exercise(
    id=f"{CHAPTER}.mapped_scores",
    title="Scores at these distances",
    step_of=SELF_EXTEND,
    signature="mapped_scores(q: array of shape (n, dim), k: array of shape (n, dim), distances: array of "
    "shape "
    "(n, n), base: float) -> array of shape (n, n)",
    points=4,
    minutes=18,
    difficulty=4,
    draws=Draws(
        lambda mapped_scores, rows, columns: heat_map(
            np.tril(mapped_scores(np.ones((24, 8)), np.ones((24, 8)), _extended(24, 3, 6), 10000.0)),
            rows=rows,
            columns=columns,
        ),
        axes=("query", "key"),
        look="All words are alike here, so the score shows the distance alone: stripes that become blocks "
        "far from the diagonal.",
    ),
    reference=_mapped,
    make_cases=_score_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[2]),
            "There must be one score for each query and key.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "other-way",
            lambda q, k, distances, base: _mapped(q, k, -distances, base),
            "The query is turned the wrong way against the key. A query that stands behind its key has "
            "turned "
            "further: by the distance, counterclockwise.",
        ),
        Mistake(
            "root-missing",
            lambda q, k, distances, base: _mapped(q, k, distances, base) * math.sqrt(q.shape[1]),
            "The scores are not divided by the square root of dim.",
        ),
        Mistake(
            "divided-by-dim",
            lambda q, k, distances, base: _mapped(q, k, distances, base) / math.sqrt(q.shape[1]),
            "The scores are divided by dim. It is its square root.",
        ),
        Mistake(
            "not-turned",
            lambda q, k, distances, base: q @ k.T / math.sqrt(q.shape[1]),
            "These are scores without any position. Each pair turns by its frequency times the distance.",
        ),
        Mistake(
            "true-distances",
            lambda q, k, distances, base: _mapped(q, k, np.subtract(*_i_j(len(q))), base),
            "You turn by the true positions. The distance of each query and key is given, and may be "
            "another one.",
        ),
        Mistake(
            "first-row-for-all",
            lambda q, k, distances, base: _mapped(q, k, np.repeat(distances[-1:], len(q), axis=0), base),
            "All queries take the distances of the last one. Each row has its own.",
        ),
        Mistake(
            "half-layout",
            lambda q, k, distances, base: _mapped(_neighbours(q), _neighbours(k), distances, base),
            "Your pairs are columns j and j + dim/2. Here neighbours make a pair, columns 2j and 2j + 1.",
        ),
        Mistake(
            "base-not-used",
            lambda q, k, distances, base: _mapped(q, k, distances, 10000.0),
            "Your base is 10,000, whatever is given. Take the one that is handed over.",
        ),
        Mistake(
            "all-pairs-alike",
            lambda q, k, distances, base: (
                (_pairs(q)[:, None] * _pairs(k).conj()[None] * np.exp(1j * distances[:, :, None]))
                .sum(-1)
                .real
                / math.sqrt(q.shape[1])
            ),
            "All pairs turn by the distance itself. Pair j has a frequency of its own.",
        ),
        Mistake(
            "not-mirrored",
            lambda q, k, distances, base: (
                (
                    _pairs(q)[:, None]
                    * _pairs(k)[None]
                    * np.exp(1j * distances[:, :, None] * frequencies(q.shape[1], base=base))
                )
                .sum(-1)
                .real
                / math.sqrt(q.shape[1])
            ),
            "The product of two arrows is their score only if one of them is mirrored: take the conjugate of "
            "the key.",
        ),
        Mistake(
            "both-turned",
            lambda q, k, distances, base: _mapped(q, k, 2 * distances, base),
            "The distance is counted twice, as happens when the query is turned by it and the key back by "
            "it. "
            "Turn one of the two.",
        ),
        Mistake(
            "weights",
            lambda q, k, distances, base: _shares(_mapped(q, k, distances, base)),
            "These are weights. Scores are asked for, before the softmax.",
        ),
        Mistake(
            "root-of-the-pairs",
            lambda q, k, distances, base: _mapped(q, k, distances, base) * math.sqrt(2),
            "You divide by the square root of the number of pairs. It is that of dim, which is twice as "
            "many.",
        ),
        Mistake(
            "lengths",
            lambda q, k, distances, base: (
                np.abs(
                    (
                        _pairs(q)[:, None]
                        * _pairs(k).conj()[None]
                        * np.exp(1j * distances[:, :, None] * frequencies(q.shape[1], base=base))
                    ).sum(axis=-1)
                )
                / math.sqrt(q.shape[1])
            ),
            "You take the length of the complex sum. The score is its real part.",
        ),
        Mistake(
            "causal-too",
            lambda q, k, distances, base: _past(_mapped(q, k, distances, base)),
            "You put 0 where a key comes after its query. Return all scores: a mask is applied later.",
        ),
        Mistake(
            "exponent-halved",
            lambda q, k, distances, base: _mapped(q, k, distances, math.sqrt(base)),
            "Your slow pairs turn too fast. The frequency of pair j is base ** (-2 * j / dim): the 2 is "
            "missing.",
        ),
        Mistake(
            "swapped",
            lambda q, k, distances, base: _mapped(q, k, distances, base).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
    ),
    alternatives=(_mapped_by_loops, _mapped_by_key, _mapped_in_parts),
    hints=(
        "A score is the real part of a sum over pairs: the query's arrow, times the key's mirrored, times "
        "the "
        "arrow of the distance.",
        "As complex numbers the pairs of q are `q[:, 0::2] + 1j * q[:, 1::2]`. Give the arrays axes for "
        "query, "
        "key and pair: `[:, None]`, `[None]`, and `distances[:, :, None]`.",
        "The arrow of the distance is `np.exp(1j * distances[:, :, None] * rates)`. Sum over the last axis.",
    ),
)


# --- chunk_distances -------------------------------------------------------------------------------


def _chunk_cases(rng: Generator) -> Iterator[Case]:
    yield Case("18 tokens, chunks of 6, window 4", (18, 6, 4))
    yield Case("one chunk", (5, 8, 3))
    yield Case("two chunks", (12, 6, 2))
    yield Case("a window as long as a chunk", (17, 5, 5))
    yield Case("a window of 1", (14, 4, 1))
    for _ in range(3):
        chunk = int(rng.integers(3, 9))
        yield Case("sizes, drawn", (int(rng.integers(15, 40)), chunk, int(rng.integers(1, chunk + 1))))


def _chunks_with(
    middle: Callable[[Array, int, int], Array],
    far: Callable[[Array, int, int], Array],
    key: Callable[[Array, int], Array] = lambda j, chunk: j % chunk,
) -> Callable[[int, int, int], Array]:
    """Where a query stands for the chunk before its own, and for all before that."""

    def distances(tokens: int, chunk: int, window: int) -> Array:
        i, j = _i_j(tokens)
        back = i // chunk - j // chunk
        own = i % chunk
        stands = np.where(
            back == 0, own, np.where(back == 1, middle(own, chunk, window), far(own, chunk, window))
        )
        return _past(stands - key(j, chunk))

    return distances


def _successive(own: Array, chunk: int, window: int) -> Array:
    return np.minimum(own + chunk, chunk + window - 1)


def _last_place(own: Array, chunk: int, window: int) -> Array:
    return np.full_like(own, chunk + window - 1)


_chunked = _chunks_with(_successive, _last_place)


def _distances_cut(tokens: int, chunk: int, window: int) -> Array:
    i, j = _i_j(tokens)
    back, last = i // chunk - j // chunk, chunk + window - 1
    return _past(np.where(back == 0, i - j, np.where(back == 1, np.minimum(i - j, last), last)))


def _chunked_by_loops(tokens: int, chunk: int, window: int) -> list[list[int]]:
    rows = []
    for i in range(tokens):
        row = []
        for j in range(tokens):
            back = i // chunk - j // chunk
            if back == 0:
                stands = i % chunk
            elif back == 1 and i % chunk < window:
                stands = i % chunk + chunk
            else:
                stands = chunk + window - 1
            row.append(stands - j % chunk if j <= i else 0)
        rows.append(row)
    return rows


def _chunked_by_parts(tokens: int, chunk: int, window: int) -> Array:
    found = np.zeros((tokens, tokens))
    for start in range(0, tokens, chunk):
        for i in range(start, min(start + chunk, tokens)):
            keys = np.arange(i + 1)
            found[i, : i + 1] = chunk + window - 1 - keys % chunk
            if start:
                before = np.arange(start - chunk, start)
                found[i, before] = min(i - start + chunk, chunk + window - 1) - before % chunk
            own = np.arange(start, i + 1)
            found[i, own] = i - own
    return found


CHUNKS = Exercise(
    id=f"{CHAPTER}.chunk_distances",
    title="Dual chunk attention",
    signature="chunk_distances(tokens: int, chunk: int, window: int) -> array of shape (tokens, tokens)",
    points=4,
    minutes=18,
    difficulty=4,
    draws=Draws(
        lambda chunk_distances, rows, columns: heat_map(
            chunk_distances(24, 6, 4), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="The same triangle in each chunk, and before it the same stripes for every chunk further back.",
    ),
    reference=_chunked,
    make_cases=_chunk_cases,
    properties=OF_A_MAP,
    mistakes=(
        Mistake(
            "one-place-further",
            _chunks_with(
                lambda own, chunk, window: np.minimum(own + chunk, chunk + window),
                lambda own, chunk, window: np.full_like(own, chunk + window),
            ),
            "Your queries stand one place too far for other chunks. The furthest place is chunk + window - "
            "1.",
        ),
        Mistake(
            "no-limit-for-the-chunk-before",
            _chunks_with(lambda own, chunk, window: own + chunk, _last_place),
            "For the chunk before its own, a late query stands too far. It goes no further than chunk + "
            "window - 1.",
        ),
        Mistake(
            "chunk-before-as-far-chunks",
            _chunks_with(_last_place, _last_place),
            "The chunk before is treated like all the others. For its keys a query at the beginning of its "
            "chunk "
            "stands only chunk further, so that near keys keep their true distances.",
        ),
        Mistake(
            "far-chunks-as-the-chunk-before",
            _chunks_with(_successive, _successive),
            "All earlier chunks are treated like the one right before. For those further back the query "
            "stands at "
            "the last place, wherever it is in its chunk.",
        ),
        Mistake(
            "same-place-for-all",
            _chunks_with(lambda own, chunk, window: own, lambda own, chunk, window: own),
            "Your query stands at its own place for all chunks, so that far keys look near or even ahead "
            "of it.",
        ),
        Mistake(
            "keys-not-by-chunk",
            _chunks_with(_successive, _last_place, key=lambda j, chunk: j),
            "Your keys count from the beginning of the text. Each counts from the beginning of its own "
            "chunk.",
        ),
        Mistake(
            "true-everywhere",
            lambda tokens, chunk, window: _past(np.subtract(*_i_j(tokens))),
            "These are the true distances everywhere. They are to stay below chunk + window.",
        ),
        Mistake(
            "cut",
            lambda tokens, chunk, window: _past(np.minimum(np.subtract(*_i_j(tokens)), chunk + window - 1)),
            "You cut the true distances at their largest. Keys of far chunks are told apart by their places "
            "within their chunk.",
        ),
        Mistake(
            "only-the-chunk",
            _chunks_with(
                lambda own, chunk, window: np.full_like(own, chunk),
                lambda own, chunk, window: np.full_like(own, chunk),
            ),
            "For other chunks your queries stand at chunk. The window is what they may stand beyond it.",
        ),
        Mistake(
            "swapped",
            lambda tokens, chunk, window: _chunked(tokens, chunk, window).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "distances-cut",
            _distances_cut,
            "You cut distances. It is the place of the query that has a limit; take the key's place within "
            "its "
            "chunk off it afterwards.",
        ),
        Mistake(
            "window-for-the-limit",
            _chunks_with(lambda own, chunk, window: np.minimum(own + chunk, window - 1), _last_place),
            "For the chunk before, your limit is window - 1. The query may stand so far beyond the end of a "
            "chunk: chunk + window - 1.",
        ),
        Mistake(
            "window-forgotten",
            _chunks_with(
                lambda own, chunk, window: np.minimum(own + chunk, chunk - 1),
                lambda own, chunk, window: np.full_like(own, chunk - 1),
            ),
            "For other chunks your queries stand at the end of one chunk. They may stand up to window "
            "further "
            "on: at chunk + window - 1.",
        ),
        Mistake(
            "the-larger-one",
            _chunks_with(lambda own, chunk, window: np.maximum(own + chunk, chunk + window - 1), _last_place),
            "For the chunk before you take the larger of the two places. The smaller one is asked for: "
            "chunk + window - 1 is a limit.",
        ),
    ),
    alternatives=(
        _chunked_by_loops,
        _chunked_by_parts,
        lambda tokens, chunk, window: _chunked(tokens, chunk, window).astype(float),
    ),
    hints=(
        "How many chunks back is a key? `i // chunk - j // chunk`: 0, 1, or more.",
        "A key always counts as `j % chunk`. Only the place of the query differs between the three cases.",
        "The three places are `i % chunk`; the smaller one of `i % chunk + chunk` and `chunk + window - "
        "1`; and "
        "`chunk + window - 1`.",
    ),
)


# --- largest_offsets -------------------------------------------------------------------------------


def _one_value(rng: Generator) -> Iterator[Case]:
    yield Case("your five offsets")


def _offsets(**other: int) -> Callable[[], tuple[int, ...]]:
    right = {"a": 131_071, "b": 4095, "c": 8191, "d": 2209, "e": 2047}
    return lambda: tuple((right | other).values())


OFFSETS = Exercise(
    id=f"{CHAPTER}.largest_offsets",
    title="The largest offset that turns",
    signature="largest_offsets: five whole numbers, one for each of the models A to E",
    points=3,
    minutes=12,
    difficulty=3,
    kind="value",
    parts=("model A", "model B", "model C", "model D", "model E"),
    reference=_offsets(),
    make_cases=_one_value,
    mistakes=(
        Mistake(
            "counted-keys",
            lambda: tuple(each + 1 for each in _offsets()()),
            "You count keys. Between the first and the last of n keys the offset is n - 1.",
        ),
        Mistake(
            "layers-that-do-not-turn",
            _offsets(b=131_071),
            "Four of five are right. In model B, ask only the layers that turn.",
        ),
        Mistake(
            "chunks-as-a-text",
            _offsets(c=131_071),
            "Four of five are right. In model C, how far back can a query of a layer that turns look?",
        ),
        Mistake(
            "groups-from-nothing",
            _offsets(d=1249),
            "Four of five are right. In model D the groups are moved up, to go on where the window ended.",
        ),
        Mistake(
            "groups-one-late",
            _offsets(d=2210),
            "Four of five are right. In model D, the last of 20,000 tokens stands at 19,999.",
        ),
        Mistake(
            "true-distance",
            _offsets(d=19_999),
            "Four of five are right. In model D, far keys are counted in groups.",
        ),
        Mistake(
            "sinks-in-the-text",
            _offsets(e=131_071),
            "Four of five are right. In model E positions are counted in the cache, not in the text.",
        ),
        Mistake(
            "window-alone",
            _offsets(e=2043),
            "Four of five are right. In model E the sinks stand in the cache as well, before the window.",
        ),
    ),
    alternatives=(
        lambda: list(_offsets()()),
        lambda: np.array(_offsets()()),
        lambda: tuple(float(each) for each in _offsets()()),
    ),
    hints=(
        "Ask of each model: which layers turn, and which keys can a query see in one of those?",
        "For D, take the formula with the last query and the first key. For E, draw the cache.",
    ),
)


# --- kept_positions and moved_keys -----------------------------------------------------------------


def _kept_cases(rng: Generator) -> Iterator[Case]:
    yield Case("10,000 tokens, 4 sinks, window 6", (10_000, 4, 6))
    yield Case("fewer tokens than fit", (7, 4, 6))
    yield Case("just as many as fit", (10, 4, 6))
    yield Case("one more than fits", (11, 4, 6))
    yield Case("no sink", (20, 0, 5))
    yield Case("fewer tokens than sinks", (2, 4, 3))
    for _ in range(3):
        yield Case("drawn", (int(rng.integers(30, 300)), int(rng.integers(1, 6)), int(rng.integers(2, 20))))


def _kept_positions(tokens: int, sinks: int, window: int) -> Array:
    at = np.arange(tokens)
    return at[(at < sinks) | (at >= tokens - window)]


KEPT = Exercise(
    id=f"{CHAPTER}.kept_positions",
    title="What stays in the cache",
    step_of=STREAM,
    signature="kept_positions(tokens: int, sinks: int, window: int) -> array of shape (kept,) of ints",
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda kept_positions, rows, columns: heat_map(
            [np.isin(np.arange(24), kept_positions(tokens, 2, 6)) * 1 for tokens in range(1, 25)],
            rows=rows,
            columns=columns,
            starts=(1, 0),
        ),
        axes=("tokens read", "position in the text"),
        look="Two sinks stay for ever, and a window of six moves on with the text.",
    ),
    reference=_kept_positions,
    make_cases=_kept_cases,
    mistakes=(
        Mistake(
            "some-twice",
            lambda tokens, sinks, window: np.concatenate(
                [np.arange(sinks), np.arange(max(tokens - window, 0), tokens)]
            ),
            "It is right for a long text. In a short one, sinks and window overlap, and a position must "
            "not come "
            "twice.",
        ),
        Mistake(
            "window-holds-the-sinks",
            lambda tokens, sinks, window: _kept_positions(tokens, sinks, max(window - sinks, 0)),
            "Your cache is too small: you take the sinks off the window. The last window of tokens stay, "
            "beside "
            "the sinks.",
        ),
        Mistake(
            "no-sinks",
            lambda tokens, sinks, window: np.arange(max(tokens - window, 0), tokens),
            "The sinks are missing: the first tokens stay, whatever the length.",
        ),
        Mistake(
            "one-too-many",
            lambda tokens, sinks, window: _kept_positions(tokens, sinks, window + 1),
            "Your window holds one too many. The last of n tokens stands at n - 1.",
        ),
        Mistake(
            "one-too-few",
            lambda tokens, sinks, window: _kept_positions(tokens, sinks, window - 1),
            "Your window holds one too few. The last token itself is one of them.",
        ),
        Mistake(
            "places-in-the-cache",
            lambda tokens, sinks, window: np.arange(len(_kept_positions(tokens, sinks, window))),
            "These are places in the cache. Where did the kept tokens stand in the text?",
        ),
        Mistake(
            "which-were-dropped",
            lambda tokens, sinks, window: np.arange(sinks, max(tokens - window, sinks)),
            "These are the ones to throw away. Return those that stay.",
        ),
        Mistake(
            "a-mask",
            lambda tokens, sinks, window: (
                np.isin(np.arange(tokens), _kept_positions(tokens, sinks, window)) * 1
            ),
            "This says of each token whether it stays. Return the positions of those that do.",
        ),
        Mistake(
            "some-twice-by-slices",
            lambda tokens, sinks, window: np.concatenate(
                [np.arange(tokens)[:sinks], np.arange(tokens)[max(tokens - window, 0) :]]
            ),
            "It is right for a long text. In a short one, the two slices overlap, and a position must not "
            "come "
            "twice.",
        ),
        Mistake(
            "one-sink-too-many",
            lambda tokens, sinks, window: _kept_positions(tokens, sinks + 1, window),
            "You keep one sink too many. The first n tokens stand at 0 to n - 1.",
        ),
        Mistake(
            "backwards",
            lambda tokens, sinks, window: _kept_positions(tokens, sinks, window)[::-1],
            "These are the right positions, the last one first. Return them in the order of the text.",
        ),
    ),
    alternatives=(
        lambda tokens, sinks, window: sorted(
            {*range(min(sinks, tokens)), *range(max(tokens - window, 0), tokens)}
        ),
        lambda tokens, sinks, window: [at for at in range(tokens) if at < sinks or tokens - at <= window],
        lambda tokens, sinks, window: np.unique(
            np.r_[0 : min(sinks, tokens), max(tokens - window, 0) : tokens]
        ),
    ),
    hints=(
        "A token stays if it is one of the first sinks or one of the last window tokens.",
        "With `at = np.arange(tokens)` the two conditions are `at < sinks` and `at >= tokens - window`.",
        "Join them with `|`, and no position comes twice.",
    ),
)


def _moved_cases(rng: Generator) -> Iterator[Case]:
    def inputs(heads: int, dim: int, old: Any, new: Any, base: float) -> tuple[Array, Array, Array, float]:
        old, new = np.asarray(old), np.asarray(new)
        x = rng.normal(size=(heads, len(old), dim))
        return apply_rotary(x, old, base=base), old, new, base

    yield Case("all move up by one", inputs(2, 8, np.arange(1, 7), np.arange(6), 10000.0))
    yield Case("sinks stay, the others move up", inputs(2, 8, [0, 1, 96, 97, 98], np.arange(5), 10000.0))
    yield Case("nothing moves", inputs(1, 4, np.arange(4), np.arange(4), 10000.0))
    yield Case("moved on by 100", inputs(3, 6, np.arange(4), 100 + np.arange(4), 10000.0))
    yield Case("base 500,000", inputs(2, 16, [0, 500, 501], [0, 1, 2], 500_000.0))
    for _ in range(2):
        n = int(rng.integers(3, 7))
        old = np.sort(rng.choice(3000, size=n, replace=False))
        yield Case("drawn", inputs(2, 8, old, np.arange(n), float(rng.uniform(500, 20_000))))


def _rotated_ones(positions: Array) -> Array:
    """One head of keys (1, 0), turned for these positions."""
    return np.asarray(apply_rotary(np.tile([1.0, 0.0], (1, len(positions), 1)), positions))


def _moved(keys: Array, old: Array, new: Array, base: float) -> Array:
    return np.asarray(apply_rotary(keys, new - old, base=base))


def _moved_by_pairs(keys: Array, old: Array, new: Array, base: float) -> Array:
    rates = base ** (-np.arange(0, keys.shape[-1], 2) / keys.shape[-1])
    theta = np.outer(np.asarray(new) - old, rates)
    cos, sin = np.cos(theta), np.sin(theta)
    out = np.empty_like(keys)
    out[..., 0::2] = keys[..., 0::2] * cos - keys[..., 1::2] * sin
    out[..., 1::2] = keys[..., 0::2] * sin + keys[..., 1::2] * cos
    return out


MOVED = Exercise(
    id=f"{CHAPTER}.moved_keys",
    title="Move what is turned",
    step_of=STREAM,
    signature="moved_keys(keys: array of shape (heads, n, head_dim), old: array of shape (n,), new: array of "
    "shape (n,), base: float) -> array of shape (heads, n, head_dim)",
    points=3,
    minutes=15,
    difficulty=3,
    adds="Your decoder reads without end: its cache keeps the sinks and the last keys, and moves them up.",
    draws=Draws(
        lambda moved_keys: arrows(
            moved_keys(_rotated_ones(np.arange(7, 12)), np.arange(7, 12), np.arange(5), 10000.0)[0],
            [str(new) for new in range(5)],
        ),
        look="Equal keys, turned for positions 7 to 11, now stand at 0 to 4: one radian after another.",
    ),
    reference=_moved,
    make_cases=_moved_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay (heads, n, head_dim).",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.linalg.norm(value, axis=-1), np.linalg.norm(args[0], axis=-1), rtol=1e-3)
            ),
            "A turn changes no length: every key must come out as long as it went in.",
        ),
    ),
    mistakes=(
        Mistake(
            "turned-by-the-new",
            lambda keys, old, new, base: apply_rotary(keys, new, base=base),
            "You turn by the new positions. The keys are turned already, by their old ones: only the "
            "difference "
            "is missing.",
        ),
        Mistake(
            "the-other-way",
            lambda keys, old, new, base: apply_rotary(keys, old - new, base=base),
            "Your keys move the wrong way. A key that comes to stand earlier is turned back: new minus old.",
        ),
        Mistake(
            "only-turned-back",
            lambda keys, old, new, base: apply_rotary(keys, -old, base=base),
            "Your keys are turned back to position 0, all of them. They are to stand at their new positions.",
        ),
        Mistake(
            "all-by-one-shift",
            lambda keys, old, new, base: apply_rotary(keys, np.full(len(old), new[-1] - old[-1]), base=base),
            "All your keys move by the same shift, that of the last one. The sinks move by another: each "
            "key by "
            "its own new position minus its old one.",
        ),
        Mistake(
            "half-layout",
            lambda keys, old, new, base: apply_rotary(keys, new - old, base=base, layout="half"),
            "Your pairs are columns j and j + head_dim/2. Here neighbours make a pair, columns 2j and 2j + "
            "1.",
        ),
        Mistake(
            "base-not-used",
            lambda keys, old, new, base: apply_rotary(keys, new - old),
            "Your base is 10,000, whatever is given. The keys were turned with the one that is handed over.",
        ),
        Mistake(
            "not-moved",
            lambda keys, old, new, base: np.array(keys),
            "The keys come back as they were, turned for their old positions.",
        ),
        Mistake(
            "both-added",
            lambda keys, old, new, base: apply_rotary(keys, new + old, base=base),
            "You turn by the sum of the two positions. Turns add up: what is missing is new minus old.",
        ),
        Mistake(
            "at-places-of-the-cache",
            lambda keys, old, new, base: apply_rotary(keys, np.arange(len(old)) - new, base=base),
            "You compare places in the cache with the new positions. What counts is where each key stood "
            "when it "
            "was turned: old.",
        ),
        Mistake(
            "shift-of-the-first",
            lambda keys, old, new, base: apply_rotary(keys, np.full(len(old), new[0] - old[0]), base=base),
            "All your keys move by the same shift, that of the first one. Each key moves by its own new "
            "position minus its old one.",
        ),
        Mistake(
            "all-pairs-alike",
            lambda keys, old, new, base: apply_rotary(keys, new - old, base=1.0),
            "All pairs turn by the shift itself. Pair j turns by the shift times its own frequency.",
        ),
        Mistake(
            "always-forwards",
            lambda keys, old, new, base: apply_rotary(keys, np.abs(new - old), base=base),
            "You take the size of the shift without its sign. A key that moves to an earlier place is turned "
            "back.",
        ),
    ),
    alternatives=(
        _moved_by_pairs,
        lambda keys, old, new, base: apply_rotary(apply_rotary(keys, -old, base=base), new, base=base),
        lambda keys, old, new, base: np.stack([apply_rotary(each, new - old, base=base) for each in keys]),
    ),
    hints=(
        "Turns add up. A key that was turned for position 7 and shall stand at 5 needs one more turn: by "
        "how much?",
        "Each key has its own shift, `new - old`. The angles are that times the frequencies.",
        "With complex pairs it is one product, by `np.exp(1j * np.outer(new - old, rates))`.",
    ),
)


# --- effective_length ------------------------------------------------------------------------------


def _effective_cases(rng: Generator) -> Iterator[Case]:
    lengths = np.array([4096, 8192, 16_384, 32_768, 65_536, 131_072])
    yield Case("falling with the length", (lengths, np.array([96.0, 94.1, 90.2, 86.3, 80.0, 61.5]), 85.6))
    yield Case("one weak length in between", (lengths, np.array([95.0, 83.0, 91.0, 90.0, 70.0, 60.0]), 85.6))
    yield Case("too weak at once", (lengths, np.array([80.0, 70.0, 90.0, 50.0, 40.0, 30.0]), 85.6))
    yield Case("strong at every length", (lengths, np.full(6, 99.0), 85.6))
    yield Case("exactly at the mark", (lengths[:3], np.array([90.0, 85.0, 84.9]), 85.0))
    yield Case("in another order", (lengths[[3, 0, 2, 1]], np.array([70.0, 95.0, 88.0, 92.0]), 85.6))
    for _ in range(6):
        n = int(rng.integers(4, 9))
        tried = rng.choice(np.arange(1, 400), size=n, replace=False) * 512
        yield Case("drawn", (tried, rng.uniform(60, 105, size=n).clip(max=100), float(rng.uniform(60, 80))))


def _effective(lengths: Array, scores: Array, mark: float) -> int:
    order = np.argsort(lengths)
    reached = np.asarray(scores)[order] >= mark
    enough = int(reached.size if reached.all() else reached.argmin())
    return int(np.sort(lengths)[enough - 1]) if enough else 0


def _effective_by_loop(lengths: Array, scores: Array, mark: float) -> int:
    longest = 0
    for length, score in sorted(zip(lengths.tolist(), scores.tolist(), strict=True)):
        if score < mark:
            break
        longest = length
    return longest


def _effective_by_failures(lengths: Array, scores: Array, mark: float) -> int:
    failed = lengths[scores < mark]
    below = lengths[lengths < failed.min()] if failed.size else lengths
    return int(below.max()) if below.size else 0


def _in_given_order(lengths: Array, scores: Array, mark: float) -> int:
    longest = 0
    for length, score in zip(lengths.tolist(), scores.tolist(), strict=True):
        if score < mark:
            break
        longest = length
    return int(longest)


EFFECTIVE = Exercise(
    id=f"{CHAPTER}.effective_length",
    title="The effective length",
    signature="effective_length(lengths: array of shape (n,) of ints, scores: array of shape (n,), mark: "
    "float) "
    "-> int",
    points=3,
    minutes=12,
    difficulty=2,
    reference=_effective,
    make_cases=_effective_cases,
    mistakes=(
        Mistake(
            "longest-that-passes",
            lambda lengths, scores, mark: int(max([*lengths[scores >= mark], 0])),
            "You take the longest length that reaches the mark, although the model fails at a shorter one. "
            "All "
            "shorter lengths have to reach it as well.",
        ),
        Mistake(
            "strictly-above",
            lambda lengths, scores, mark: _effective(lengths, scores, np.nextafter(mark, np.inf)),
            "A score that is exactly the mark reaches it. Compare with >=.",
        ),
        Mistake(
            "in-the-given-order",
            _in_given_order,
            "You walk through the lengths in the order in which they are given. Sort them first, and the "
            "scores "
            "with them.",
        ),
        Mistake(
            "lengths-sorted-alone",
            lambda lengths, scores, mark: _in_given_order(np.sort(lengths), scores, mark),
            "You sort the lengths and leave the scores where they were. Each score belongs to its length.",
        ),
        Mistake(
            "first-that-fails",
            lambda lengths, scores, mark: int(min([*lengths[scores < mark], 10**9])),
            "This is the first length that fails. The one before it is asked for.",
        ),
        Mistake(
            "how-many",
            lambda lengths, scores, mark: int((np.sort(lengths) <= _effective(lengths, scores, mark)).sum()),
            "This says how many lengths the model passes. Return the length itself, in tokens.",
        ),
        Mistake(
            "longest-tried",
            lambda lengths, scores, mark: int(np.max(lengths)),
            "This is the longest length that was tried, whatever the scores are.",
        ),
        Mistake(
            "of-the-mean",
            lambda lengths, scores, mark: int(np.max(lengths)) if np.mean(scores) >= mark else 0,
            "You compare the mean of all scores. A mean hides the length at which a model breaks.",
        ),
        Mistake(
            "shortest-when-none",
            lambda lengths, scores, mark: _effective(lengths, scores, mark) or int(np.min(lengths)),
            "Where the shortest length fails already, no length was passed: return 0.",
        ),
        Mistake(
            "of-the-mean-so-far",
            lambda lengths, scores, mark: _effective(
                np.sort(lengths),
                np.cumsum(scores[np.argsort(lengths)]) / np.arange(1, len(scores) + 1),
                mark,
            ),
            "You compare the mean of the scores so far. Each length must reach the mark by itself.",
        ),
        Mistake(
            "counted-from-the-end",
            lambda lengths, scores, mark: int(
                max([*lengths[lengths < max([*lengths[scores < mark], 0])], 0])
                if (scores < mark).any()
                else np.max(lengths)
            ),
            "You look for the last length that fails. The first one ends the walk, whatever comes after it.",
        ),
    ),
    alternatives=(
        _effective_by_loop,
        _effective_by_failures,
        lambda lengths, scores, mark: max(
            (n for n in lengths.tolist() if (scores[lengths <= n] >= mark).all()), default=0
        ),
    ),
    hints=(
        "Put the lengths in order, the shortest first, and keep each score beside its length.",
        "Walk on while the score reaches the mark. Where did you stand when you had to stop?",
        "Where even the shortest length fails, the answer is 0.",
    ),
)


# --- layers_that_turn ------------------------------------------------------------------------------


def _config_cases(rng: Generator) -> Iterator[Case]:
    def listed(layers: int) -> list[int]:
        numbers = [int(each) for each in rng.integers(0, 2, size=layers)]
        return [*numbers[:-2], 1, 0]

    kinds = ["sliding_attention", "full_attention"]
    yield Case("nothing said", ({"num_hidden_layers": 6},))
    yield Case("every fourth", ({"num_hidden_layers": 10, "no_rope_layer_interval": 4},))
    yield Case("a list", ({"num_hidden_layers": 5, "no_rope_layers": [1, 1, 1, 0, 1]},))
    yield Case(
        "a list and an interval that says otherwise",
        ({"num_hidden_layers": 6, "no_rope_layers": [0, 1, 1, 0, 1, 1], "no_rope_layer_interval": 4},),
    )
    yield Case(
        "an empty list and an interval",
        ({"num_hidden_layers": 7, "no_rope_layers": [], "no_rope_layer_interval": 3},),
    )
    yield Case("kinds of layers", ({"num_hidden_layers": 4, "layer_types": [*kinds, kinds[0], kinds[0]]},))
    for _ in range(3):
        layers = int(rng.integers(6, 14))
        yield Case("a list, drawn", ({"num_hidden_layers": layers, "no_rope_layers": listed(layers)},))
        interval = int(rng.integers(2, 6))
        yield Case("an interval, drawn", ({"num_hidden_layers": layers, "no_rope_layer_interval": interval},))
        drawn = [kinds[1 - each] for each in listed(layers)]
        yield Case("kinds, drawn", ({"num_hidden_layers": layers, "layer_types": drawn},))


Config = dict[str, Any]


def _ones(numbers: list[int]) -> list[bool]:
    return [each == 1 for each in numbers]


def _all_but_every(layers: int, interval: int) -> list[bool]:
    return [(layer + 1) % interval != 0 for layer in range(layers)]


def _with_window(names: list[str]) -> list[bool]:
    return [each == "sliding_attention" for each in names]


def _turning(
    config: Config,
    *,
    listed: Callable[[list[int]], list[bool]] = _ones,
    every: Callable[[int, int], list[bool]] = _all_but_every,
    kinds: Callable[[list[str]], list[bool]] = _with_window,
) -> Array:
    layers = config["num_hidden_layers"]
    if config.get("no_rope_layers"):
        return np.array(listed(config["no_rope_layers"]))
    if config.get("no_rope_layer_interval"):
        return np.array(every(layers, config["no_rope_layer_interval"]))
    if config.get("layer_types"):
        return np.array(kinds(config["layer_types"]))
    return np.ones(layers, dtype=bool)


def _turning_by_layer(config: Config) -> list[bool]:
    numbers = config.get("no_rope_layers") or []
    interval = config.get("no_rope_layer_interval", 0)
    names = config.get("layer_types") or []
    found = []
    for layer in range(config["num_hidden_layers"]):
        if numbers:
            found.append(bool(numbers[layer]))
        elif interval:
            found.append(layer % interval != interval - 1)
        elif names:
            found.append(names[layer].startswith("sliding"))
        else:
            found.append(True)
    return found


def _without(config: Config, key: str) -> Array:
    return _turning({name: value for name, value in config.items() if name != key})


TURNING = Exercise(
    id=f"{CHAPTER}.layers_that_turn",
    title="Which layers turn?",
    signature="layers_that_turn(config: dict) -> array of shape (layers,) of booleans",
    points=3,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda layers_that_turn, rows, columns: heat_map(
            [
                np.asarray(layers_that_turn({"num_hidden_layers": 24, "no_rope_layer_interval": every})) * 1
                for every in range(2, 9)
            ],
            rows=rows,
            columns=columns,
            starts=(2, 0),
        ),
        axes=("interval", "layer"),
        look="Each layer that turns is a full square; the last of each group is left out.",
    ),
    reference=_turning,
    make_cases=_config_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0]["num_hidden_layers"],),
            "There must be one answer for each layer.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "as-the-name-says",
            lambda config: _turning(config, listed=lambda numbers: [each == 0 for each in numbers]),
            "You read the list as its name says. It is the other way round in these files: 1 stands for a "
            "layer "
            "that turns.",
        ),
        Mistake(
            "counted-from-zero",
            lambda config: _turning(config, every=lambda layers, n: [i % n != 0 for i in range(layers)]),
            "With an interval your first layer does not turn. The last one of each group does not: layers "
            "3, 7, 11 "
            "for an interval of 4.",
        ),
        Mistake(
            "interval-turned-round",
            lambda config: _turning(
                config, every=lambda layers, n: [(i + 1) % n == 0 for i in range(layers)]
            ),
            "With an interval, all but every n-th layer turn. Yours is the other way round.",
        ),
        Mistake(
            "interval-first",
            lambda config: (
                _without(config, "no_rope_layers") if "no_rope_layer_interval" in config else _turning(config)
            ),
            "Where a list is given as well, the list counts. Your interval overrules it.",
        ),
        Mistake(
            "interval-not-read",
            lambda config: _without(config, "no_rope_layer_interval"),
            "The interval is not read: each such layer does not turn.",
        ),
        Mistake(
            "list-not-read",
            lambda config: _without(config, "no_rope_layers"),
            "The list is not read. Where it holds numbers, they count.",
        ),
        Mistake(
            "kinds-turned-round",
            lambda config: _turning(config, kinds=lambda names: [each == "full_attention" for each in names]),
            "The kinds are the other way round: layers with a sliding window turn, and those that see "
            "everything "
            "do not.",
        ),
        Mistake(
            "kinds-not-read",
            lambda config: _without(config, "layer_types"),
            "The kinds of the layers are not read: those with full attention do not turn.",
        ),
        Mistake(
            "all-turn",
            lambda config: np.ones(config["num_hidden_layers"], dtype=bool),
            "All your layers turn, whatever the configuration says.",
        ),
        Mistake(
            "which-do-not",
            lambda config: ~_turning(config),
            "All answers are turned round: True stands for a layer that turns.",
        ),
    ),
    alternatives=(
        _turning_by_layer,
        lambda config: _turning(config).tolist(),
        lambda config: [bool(each) for each in _turning(config)],
    ),
    hints=(
        "Look at the four cases from the first to the last, and return at the first that is there. "
        "`config.get(key)` "
        "is None where the key is missing.",
        "An empty list is as good as none: `if config.get(key):` passes both over.",
        "Of an interval n, layer i does not turn where `(i + 1) % n == 0`.",
    ),
)


EXERCISES = (
    NEW_ARC,
    LLAMA3,
    QUERY_SCALE,
    GROUPED,
    MAPPED,
    CHUNKS,
    OFFSETS,
    KEPT,
    MOVED,
    EFFECTIVE,
    TURNING,
)
