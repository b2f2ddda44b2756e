"""Your decoder gets ALiBi: Fix the slopes of twelve heads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import ALIBI, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.biased.alibi import alibi_slopes


def _heads_cases(rng: Generator) -> Iterator[Case]:
    for heads in (8, 1, 2, 16):
        yield Case(f"heads: {heads}, a power of two", (heads,))
    for heads in (12, 3, 6, 20, *(int(rng.integers(power + 1, 2 * power)) for power in (16, 32, 64))):
        yield Case(f"heads: {heads}, no power of two", (heads,))


def _power_below(heads: int) -> int:
    return int(2 ** (heads.bit_length() - 1))


def _geometric(count: int) -> Array:
    return 2.0 ** (-8 * np.arange(1, count + 1) / count)


def _slopes_of(series: Callable[[int], Array]) -> Callable[[int], Array]:
    """The published rule with another series for powers of two."""

    def slopes(heads: int) -> Array:
        power = _power_below(heads)
        return np.concatenate([series(power), series(2 * power)[0::2][: heads - power]])

    return slopes


def _and_then(rest: Callable[[int, int], Array]) -> Callable[[int], Array]:
    """The slopes of the power of two below, and then as many others as are left."""

    def slopes(heads: int) -> Array:
        power = _power_below(heads)
        return np.concatenate([_geometric(power), rest(power, heads - power)])

    return slopes


def _published_recursion(heads: int) -> list[float]:
    """As in the authors' code."""
    if math.log2(heads).is_integer():
        start = 2 ** (-(2 ** -(math.log2(heads) - 3)))
        return [start * start**i for i in range(heads)]
    closest = 2 ** math.floor(math.log2(heads))
    return _published_recursion(closest) + _published_recursion(2 * closest)[0::2][: heads - closest]


def _from_the_next_power(heads: int) -> Array:
    """As in MPT's code: all slopes of the next power of two, every second one first."""
    above = int(2 ** math.ceil(math.log2(heads)))
    slopes = _geometric(above)
    return slopes if above == heads else np.concatenate([slopes[1::2], slopes[0::2]])[:heads]


def _slopes_by_roots(heads: int) -> Array:
    power = _power_below(heads)
    ratio = 0.5 ** (8 / power)
    slopes = [ratio ** (h + 1) for h in range(power)]
    slopes += [ratio ** (h + 0.5) for h in range(heads - power)]
    return np.array(slopes)


ALIBI_SLOPES = Exercise(
    id="07-alibi-and-biases.alibi_slopes",
    title="Fix the slopes of twelve heads",
    step_of=ALIBI,
    signature="alibi_slopes(heads: int) -> array of shape (heads,)",
    points=2,
    minutes=10,
    difficulty=2,
    reference=lambda heads: alibi_slopes(heads),
    make_cases=_heads_cases,
    relative_tolerance=1e-5,
    absolute_tolerance=1e-12,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0],),
            "There is one slope for each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all((np.asarray(value) > 0) & (np.asarray(value) < 1))),
            "Every slope lies between 0 and 1.",
        ),
        Property(
            lambda args, value: len(set(value.tolist())) == args[0],
            "No two heads have the same slope.",
        ),
    ),
    mistakes=(
        Mistake(
            "one-formula-for-all",
            _geometric,
            "This is the version you were given. It is right for powers of two. For 12 heads, the published "
            "slopes are those of 8 heads, and then four of those of 16 heads.",
        ),
        Mistake(
            "cut-from-the-next-power",
            lambda heads: _geometric(int(2 ** math.ceil(math.log2(heads))))[:heads],
            "These are the first slopes of the next larger power of two, so the gentle ones are missing. "
            "Begin with all slopes of the largest power of two that is not above heads.",
        ),
        Mistake(
            "repeated",
            _and_then(lambda power, rest: _geometric(power)[:rest]),
            "Some slopes appear twice: after the last one you started again with the first. (Taking every "
            "second slope of twice as many heads from the second on does the same.) Begin at the first of "
            "them: [0::2].",
        ),
        Mistake(
            "not-every-second",
            _and_then(lambda power, rest: _geometric(2 * power)[:rest]),
            "The heads that are left got the first slopes of twice as many heads, one after the other, and "
            "you have half of these already. Take every second one: [0::2].",
        ),
        Mistake(
            "gentle-ones-between",
            _and_then(lambda power, rest: _geometric(2 * power)[0::2][power - rest :]),
            "The heads that are left got the gentlest of the slopes in between. Start with the steepest: "
            "[0::2][:heads - n].",
        ),
        Mistake(
            "sorted",
            lambda heads: np.sort(alibi_slopes(heads))[::-1],
            "The numbers are right, but sorted. A checkpoint's head 8 expects the slope that it was trained "
            "with: keep the slopes of the power of two first, and put the others behind them.",
        ),
        Mistake(
            "from-zero",
            _slopes_of(lambda count: 2.0 ** (-8 * np.arange(count) / count)),
            "The heads are counted from 0, so the first slope is 1. Count them from 1: the slope of the last "
            "head is 2 to the power -8.",
        ),
        Mistake(
            "one-half-to-the-head",
            lambda heads: 2.0 ** -np.arange(1.0, heads + 1),
            "These are 1/2, 1/4, 1/8 and so on, whatever the number of heads. That is right for 8 heads "
            "only. The exponents always end at -8: they are -8 h / n.",
        ),
        Mistake(
            "exponential",
            _slopes_of(lambda count: np.exp(-8 * np.arange(1, count + 1) / count)),
            "The powers are of e, not of 2. Write 2.0 ** or np.exp2 in place of np.exp.",
        ),
        Mistake(
            "negative",
            lambda heads: -alibi_slopes(heads),
            "The slopes are negative. A slope is a positive number; the minus sign belongs to the bias, "
            "-slope * distance.",
        ),
        Mistake(
            "sorted-upwards",
            lambda heads: np.sort(alibi_slopes(heads)),
            "The numbers are right, but sorted, the gentlest first. A checkpoint's head expects the slope "
            "that it was trained with: the steepest of the power of two comes first.",
        ),
        Mistake(
            "others-first",
            lambda heads: np.concatenate(
                [alibi_slopes(heads)[_power_below(heads) :], _geometric(_power_below(heads))]
            ),
            "The numbers are right, but the slopes in between come first. Put those of the power of two "
            "first, and the others behind them.",
        ),
        Mistake(
            "series-continued",
            lambda heads: 2.0 ** (-8 * np.arange(1, heads + 1) / _power_below(heads)),
            "You continued the series of the smaller power of two, so the last heads look even further. The "
            "heads that are left get slopes in between: every second one of twice as many heads.",
        ),
        Mistake(
            "power-above",
            lambda heads: _geometric(2 ** heads.bit_length())[:heads],
            "Your n is the power of two above heads, even where heads is one itself. The largest one that "
            "is not above heads is 2 ** (heads.bit_length() - 1).",
        ),
        Mistake(
            "equal-steps",
            lambda heads: np.linspace(0.5, 2.0**-8, heads),
            "Your slopes fall in equal steps. From head to head they are divided by the same factor: 2 to "
            "the power -8 h / n.",
        ),
    ),
    alternatives=(_published_recursion, _from_the_next_power, _slopes_by_roots),
    hints=(
        "For which numbers of heads is the given version right? Try 8 and 12, and look at the first slope.",
        "Let n be the largest power of two that is not above heads: `2 ** (heads.bit_length() - 1)`. The "
        "first n slopes are those of n heads.",
        "Every second slope of 2 n heads, `[0::2]`, is one that n heads do not have. Take as many as are "
        "left: `heads - n`.",
    ),
)
