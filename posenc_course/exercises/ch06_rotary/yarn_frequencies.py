"""YaRN, built from its reasons: Slow the slow pairs alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import YARN, Generator, yarn_by_loop
from posenc_course.exercises.ch06_rotary.pair_that_turns import pair_that_turns
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.angles import frequencies
from posenc_lib.scaling.rules import NTKScaling, YaRNScaling

FAST, SLOW = 32, 1
"""Pairs that turn more often than FAST times in training stay; those that turn less than SLOW times yield."""


def _yarn_cases(rng: Generator) -> Iterator[Case]:
    for label, args in (
        ("dim 128, 4,096 positions, factor 4", (128, 10000.0, 4.0, 4096)),
        ("dim 128, base 500,000, 8,192 positions, factor 16", (128, 500_000.0, 16.0, 8192)),
        ("dim 32, base 300, 256 positions, factor 8", (32, 300.0, 8.0, 256)),
        ("a short training: no pair turns often enough", (64, 10000.0, 2.0, 100)),
        ("the ramp ends beyond the last pair", (64, 10000.0, 4.0, 131_072)),
        ("at factor 1 nothing changes", (64, 10000.0, 1.0, 2048)),
    ):
        yield Case(label, args)
    yield Case(
        "random numbers",
        (int(2 * rng.integers(20, 60)), 10000.0, float(rng.uniform(2, 20)), int(rng.integers(1000, 9000))),
    )


def yarn(dim: int, base: float, factor: float, length: int) -> Array:
    return frequencies(dim, base=base, scaling=YaRNScaling(factor, length))


Ramp = Callable[[int, float, int], Array]


def _ends(dim: int, base: float, length: int) -> tuple[float, float]:
    first, last = (pair_that_turns(turns, length, dim, base) for turns in (FAST, SLOW))
    return max(math.floor(first), 0), math.ceil(last)


def _ramp(dim: int, base: float, length: int) -> Array:
    """0 for pairs that stay, 1 for those that are slowed."""
    first, last = _ends(dim, base, length)
    return np.asarray(np.clip((np.arange(dim // 2) - first) / (last - first), 0, 1))


def _mixed(ramp: Ramp) -> Callable[[int, float, float, int], Array]:
    def scaled(dim: int, base: float, factor: float, length: int) -> Array:
        share, plain = ramp(dim, base, length), frequencies(dim, base=base)
        return np.asarray((1 - share) * plain + share * plain / factor)

    return scaled


def _ramp_between(first: float, last: float, dim: int) -> Array:
    return np.asarray(np.clip((np.arange(dim // 2) - first) / (last - first), 0, 1))


def _ramp_unrounded(dim: int, base: float, length: int) -> Array:
    first, last = (pair_that_turns(turns, length, dim, base) for turns in (FAST, SLOW))
    return _ramp_between(max(first, 0), last, dim)


def _ramp_over_turns(dim: int, base: float, length: int) -> Array:
    turns = length * frequencies(dim, base=base) / (2 * np.pi)
    return np.asarray(1 - np.clip((turns - SLOW) / (FAST - SLOW), 0, 1))


def _ramp_negative(dim: int, base: float, length: int) -> Array:
    first, last = (pair_that_turns(turns, length, dim, base) for turns in (FAST, SLOW))
    return _ramp_between(math.floor(first), math.ceil(last), dim)


def _ramp_unclipped(dim: int, base: float, length: int) -> Array:
    first, last = _ends(dim, base, length)
    return np.asarray((np.arange(dim // 2) - first) / (last - first))


def _ramp_cut_short(dim: int, base: float, length: int) -> Array:
    first, last = _ends(dim, base, length)
    return _ramp_between(first, min(last, dim // 2 - 1), dim)


def _ramp_rounded(first_to: Callable[[float], int], last_to: Callable[[float], int]) -> Ramp:
    def ramp(dim: int, base: float, length: int) -> Array:
        first, last = (pair_that_turns(turns, length, dim, base) for turns in (FAST, SLOW))
        return _ramp_between(max(first_to(first), 0), last_to(last), dim)

    return ramp


def _ramp_of_halves(dim: int, base: float, length: int) -> Array:
    ramp = _ramp(dim, base, length)
    return np.where((ramp > 0) & (ramp < 1), 0.5, ramp)


def _step_instead(dim: int, base: float, length: int) -> Array:
    return (np.arange(dim // 2) >= _ends(dim, base, length)[1]).astype(np.float64)


def _yarn_by_waves(dim: int, base: float, factor: float, length: int) -> Array:
    """Mixes the wavelengths instead of the frequencies."""
    share, plain = _ramp(dim, base, length), frequencies(dim, base=base)
    return np.asarray(plain / (1 - share + share * factor))


def _yarn_by_interpolation(dim: int, base: float, factor: float, length: int) -> Array:
    share = np.interp(np.arange(dim // 2), _ends(dim, base, length), [1.0, 1 / factor])
    return np.asarray(base ** (-np.arange(0, dim, 2) / dim) * share)


def _kept(args: tuple[int, float, float, int]) -> Array:
    """The frequencies of the pairs that stay."""
    dim, base, _, length = args
    return np.asarray(frequencies(dim, base=base)[_ramp(dim, base, length) == 0])


def _divided(args: tuple[int, float, float, int]) -> Array:
    """Those of the pairs that are slowed by the whole factor."""
    dim, base, factor, length = args
    return np.asarray(frequencies(dim, base=base)[_ramp(dim, base, length) == 1] / factor)


YARN_FREQUENCIES = Exercise(
    id="06-rotary.yarn_frequencies",
    title="Slow the slow pairs alone",
    step_of=YARN,
    signature="yarn_frequencies(dim: int, base: float, factor: float, length: int) "
    "-> array of shape (dim/2,), in rad/position",
    points=3,
    minutes=15,
    difficulty=4,
    draws=Draws(
        lambda yarn_frequencies, across, up: curve(
            np.arange(32),
            {"": np.asarray(yarn_frequencies(64, 10000.0, 4.0, 2048)) / frequencies(64)},
            across=across,
            up=up,
        ),
        axes=("pair", "new frequency / old"),
        look="The fast pairs stay as they are, the slow ones are four times slower, and between them "
        "is a ramp.",
    ),
    reference=yarn,
    make_cases=_yarn_cases,
    # The smallest frequencies are below 1e-4: an absolute tolerance must not hide an error in them.
    relative_tolerance=1e-5,
    absolute_tolerance=1e-12,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0] // 2,),
            "There must be dim/2 frequencies, one for each pair.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (value <= frequencies(args[0], base=args[1]) * (1 + 1e-9)).all()
                and (value >= frequencies(args[0], base=args[1]) / args[2] * (1 - 1e-9)).all()
            ),
            "Every frequency must lie between what it was and what it was divided by the factor.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(value[_ramp(args[0], args[1], args[3]) == 0], _kept(args), rtol=1e-5, atol=0)
            ),
            "Pairs up to the beginning of the ramp must keep their frequency exactly. It begins at the pair "
            "that turns 32 times in training, rounded down.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(value[_ramp(args[0], args[1], args[3]) == 1], _divided(args), rtol=1e-5, atol=0)
            ),
            "From the end of the ramp on, every frequency must be divided by the factor. It ends at the "
            "pair that turns once in training, rounded up.",
        ),
    ),
    mistakes=(
        Mistake(
            "ramp-turned-round",
            _mixed(lambda dim, base, length: 1 - _ramp(dim, base, length)),
            "You slow the fast pairs and leave the slow ones alone. It should be the other way round: the "
            "fast pairs have seen their whole circle in training.",
        ),
        Mistake(
            "not-rounded",
            _mixed(_ramp_unrounded),
            "The ramp begins and ends between two pairs. The code with which checkpoints were trained "
            "rounds its beginning down and its end up.",
        ),
        Mistake(
            "rounded-inwards",
            _mixed(_ramp_rounded(math.ceil, math.floor)),
            "The ramp is rounded inwards. Round its beginning down and its end up.",
        ),
        Mistake(
            "ramp-over-turns",
            _mixed(_ramp_over_turns),
            "Your ramp is linear in the number of turns, as in the paper's formula. Here it is linear in "
            "the number of the pair, as in the authors' code.",
        ),
        Mistake(
            "beginning-below-0",
            _mixed(_ramp_negative),
            "It is right where some pair turns 32 times. Where none does, your ramp begins before pair 0: "
            "let it begin at 0 then.",
        ),
        Mistake(
            "not-clipped",
            _mixed(_ramp_unclipped),
            "Your ramp continues beyond its two ends, below 0 and above 1. Clip it.",
        ),
        Mistake(
            "cut-at-the-last-pair",
            _mixed(_ramp_cut_short),
            "It is right where the ramp ends within the head. Where it ends beyond the last pair, you pull "
            "its end back to the last pair, and so slow that pair by the whole factor.",
        ),
        Mistake(
            "a-step",
            _mixed(_step_instead),
            "The pairs between the two ends stay as they were. There, a ramp leads from one end to the "
            "other.",
        ),
        Mistake(
            "all-divided",
            lambda dim, base, factor, length: frequencies(dim, base=base) / factor,
            "You divided all frequencies: that is position interpolation. Here the fast pairs stay as they "
            "are.",
        ),
        Mistake(
            "ntk",
            lambda dim, base, factor, length: frequencies(dim, base=base, scaling=NTKScaling(factor)),
            "You raised the base: that is NTK. Here the fast pairs stay exactly as they are, and the slow "
            "ones are divided by the factor.",
        ),
        Mistake(
            "waves-mixed",
            _yarn_by_waves,
            "The two ends are right. On the ramp you mix the wavelengths; mix the frequencies.",
        ),
        Mistake(
            "longer-length",
            lambda dim, base, factor, length: _mixed(_ramp)(dim, base, factor, round(length * factor)),
            "You count turns within the longer context. Count them within the training length: that is what "
            "a pair has seen.",
        ),
        Mistake(
            "multiplied",
            lambda dim, base, factor, length: (
                frequencies(dim, base=base) * (1 + _ramp(dim, base, length) * (factor - 1))
            ),
            "Your slow pairs turn faster. They have to turn more slowly: divide by the factor.",
        ),
        Mistake(
            "wavelengths",
            lambda dim, base, factor, length: 2 * np.pi / yarn(dim, base, factor, length),
            "These are the wavelengths, in positions. Return the frequencies, in rad/position.",
        ),
        Mistake(
            "geometric",
            lambda dim, base, factor, length: (
                frequencies(dim, base=base) / factor ** _ramp(dim, base, length)
            ),
            "The two ends are right. On the ramp you divide by a power of the factor. Add the two "
            "frequencies instead: 1 - r of the old one, and r of the divided one.",
        ),
        Mistake(
            "untouched",
            lambda dim, base, factor, length: frequencies(dim, base=base),
            "These are the old frequencies, and nothing has been slowed.",
        ),
        Mistake(
            "ends-rounded-to-the-nearest",
            _mixed(_ramp_rounded(round, round)),
            "The two ends of the ramp are rounded to the nearest pair. Round its beginning down and its end "
            "up.",
        ),
        Mistake(
            "both-rounded-down",
            _mixed(_ramp_rounded(math.floor, math.floor)),
            "Your ramp reaches 1 a pair too early. Is its end rounded down, and not up? With np.linspace, "
            "both ends count: from its beginning to its end the ramp has last - first + 1 numbers.",
        ),
        Mistake(
            "both-rounded-up",
            _mixed(_ramp_rounded(math.ceil, math.ceil)),
            "Both ends of the ramp are rounded up. Round its beginning down and its end up.",
        ),
        Mistake(
            "ramp-to-the-last-pair",
            _mixed(lambda dim, base, length: _ramp_between(_ends(dim, base, length)[0], dim // 2 - 1, dim)),
            "Your ramp ends at the last pair. It ends at the pair that turns once, rounded up, wherever "
            "that is.",
        ),
        Mistake(
            "ramp-from-pair-0",
            _mixed(lambda dim, base, length: _ramp_between(0, _ends(dim, base, length)[1], dim)),
            "Your ramp begins at pair 0. It begins at the pair that turns 32 times, rounded down.",
        ),
        Mistake(
            "one-step-too-many",
            _mixed(
                lambda dim, base, length: np.clip(
                    (np.arange(dim // 2) - _ends(dim, base, length)[0])
                    / (_ends(dim, base, length)[1] - _ends(dim, base, length)[0] + 1),
                    0,
                    1,
                )
            ),
            "Your ramp reaches 1 a pair too late: from its beginning to its end there are last - first "
            "steps, without the + 1.",
        ),
        Mistake(
            "columns-counted",
            _mixed(
                lambda dim, base, length: np.clip(
                    (2 * np.arange(dim // 2) - _ends(dim, base, length)[0])
                    / (_ends(dim, base, length)[1] - _ends(dim, base, length)[0]),
                    0,
                    1,
                )
            ),
            "You count columns along the ramp, 0, 2, 4, and so on. Its two ends are numbers of pairs: use "
            "j, not 2j.",
        ),
        Mistake(
            "half-way",
            _mixed(_ramp_of_halves),
            "All pairs on the ramp get half of each frequency. The ramp rises from 0 to 1 in equal steps.",
        ),
    ),
    alternatives=(yarn_by_loop, _yarn_by_interpolation, _mixed(_ramp)),
    hints=(
        "First the two ends: your `pair_that_turns` for 32 turns, rounded down and at least 0, and for one "
        "turn, rounded up.",
        "The ramp is 0 up to the first end, 1 from the last one on, and a straight line between: `np.clip` "
        "of `(j - first) / (last - first)`.",
        "A pair with ramp r gets `(1 - r)` times its old frequency plus `r` times its old frequency divided "
        "by the factor.",
    ),
)
