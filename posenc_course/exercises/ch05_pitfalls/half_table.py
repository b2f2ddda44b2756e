"""Cast last."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies

BASE = 10000.0


def _half_cases(rng: Generator) -> Iterator[Case]:
    for label, positions, dim in (
        ("positions 0 to 9, dim 8", np.arange(10), 8),
        ("around 2048, dim 8", np.arange(2046, 2052), 8),
        ("position 40,000, dim 4", np.array([39_999, 40_000, 40_001]), 4),
        ("position 70,000, dim 4", np.array([70_000]), 4),
        ("around 1,000,000, dim 16", np.arange(999_999, 1_000_002), 16),
        ("random positions, dim 64", rng.integers(500, 9000, size=5), 64),
    ):
        yield Case(label, (positions, dim))


def _half(theta: Array) -> Array:
    """Sine and cosine of angles (n, dim/2), side by side, in float16."""
    with np.errstate(all="ignore"):
        pairs = np.stack([np.sin(theta), np.cos(theta)], axis=-1)
    return pairs.reshape(len(theta), -1).astype(np.float16)


def _half_table(positions: Array, dim: int) -> Array:
    return _half(np.outer(np.asarray(positions, dtype=np.float64), frequencies(dim)))


def _half_with(positions_as: type, rates_as: type, angles_as: type) -> Callable[[Array, int], Array]:
    """The table whose positions, frequencies and angles are held in these types."""

    def table(positions: Array, dim: int) -> Array:
        with np.errstate(all="ignore"):
            places = np.asarray(positions).astype(positions_as).astype(np.float64)
            theta = np.outer(places, frequencies(dim).astype(rates_as).astype(np.float64))
            return _half(theta.astype(angles_as).astype(np.float64))

    return table


def _not_nearly(args: tuple[Array, int], value: Array) -> bool:
    """Whether the rows of far positions are not off by just what float32 does to their angles."""
    error = np.abs(np.asarray(value, dtype=np.float64) - _half_table(*args)).max()
    return not (np.min(args[0]) > 500_000 and 0.005 < error < 0.1)


def _half_by_turns(positions: Array, dim: int) -> Array:
    """Whole turns are taken away in float64; what is left fits into a narrow type."""
    theta = np.outer(positions, 1 / BASE ** (np.arange(0, dim, 2) / dim))
    return _half(np.mod(theta, 2 * np.pi).astype(np.float32))


HALF_TABLE = Exercise(
    id="05-pitfalls.half_table",
    title="Cast last",
    signature="half_table(positions: whole numbers of shape (n,), dim: int) -> float16 array of shape (n, "
    "dim)",
    points=2,
    minutes=8,
    difficulty=2,
    reference=_half_table,
    make_cases=_half_cases,
    dtype="float16",
    # Float16 holds numbers near 1 to 2.4e-4.
    absolute_tolerance=5e-4,
    where_not_finite="Float16 ends at 65504: from 65520 on a position is infinity in it, and infinity has no "
    "sine. Cast the finished table, not the positions.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1]),
            "The table must have a row for each position and dim columns.",
            about="form",
        ),
        Property(
            lambda args, value: np.max(args[0]) > 100 or np.allclose(value, _half_table(*args), atol=5e-4),
            "Positions below 10 are wrong already, and float16 has no trouble with these. Check the formula: "
            "the angle of pair i is the position times 10000 ** (-2 * i / dim), and its sine and cosine are "
            "side by side.",
        ),
        Property(
            _not_nearly,
            "The rows around 1,000,000 are nearly right, and not quite. Float32 holds seven digits, and a "
            "million times an error in the eighth puts the angle off by several hundredths of a radian. Keep "
            "positions, frequencies and angles in float64, and cast the finished table.",
        ),
    ),
    mistakes=(
        Mistake(
            "positions-in-float16",
            _half_with(np.float16, np.float64, np.float64),
            "The positions were cast to float16. Above 2048 it holds no odd number, so neighbours become "
            "one, and from 65520 on it holds infinity. Cast the finished table.",
        ),
        Mistake(
            "frequencies-in-float16",
            _half_with(np.float64, np.float16, np.float64),
            "The frequencies were cast to float16. Multiplied by a large position, a small error in a "
            "frequency becomes a large one in the angle. Cast the finished table.",
        ),
        Mistake(
            "angles-in-float16",
            _half_with(np.float64, np.float64, np.float16),
            "The angles were cast to float16 before the sine and the cosine. Near 2048 its numbers are a "
            "whole radian or more apart. Cast the finished table.",
        ),
        Mistake(
            "all-in-float16",
            _half_with(np.float16, np.float16, np.float16),
            "Everything was computed in float16, positions, frequencies and angles. Compute in float64, and "
            "cast the finished table.",
        ),
        Mistake(
            "angles-in-float32",
            _half_with(np.float32, np.float32, np.float32),
            "Near positions are right, far ones are not. The angles were computed in float32, whose numbers "
            "near one million are 0.0625 apart. Compute them in float64, and cast the finished table.",
        ),
        Mistake(
            "frequencies-in-float32",
            _half_with(np.float64, np.float32, np.float64),
            "Near positions are right, far ones are not. The frequencies were rounded to float32, and a "
            "million times an error in the eighth digit is an error in the second. Leave them in float64.",
        ),
        Mistake(
            "finished-angles-in-float32",
            _half_with(np.float64, np.float64, np.float32),
            "Near positions are right, far ones are not. The angles were cast to float32, whose numbers near "
            "one million are 0.0625 apart. Take sine and cosine in float64, and cast the finished table.",
        ),
        Mistake(
            "cosines-first",
            lambda positions, dim: _half_table(positions, dim)[:, np.arange(dim) ^ 1],
            "Sine and cosine are swapped: in each pair the sine comes first.",
        ),
        Mistake(
            "exponents-twice-as-large",
            lambda positions, dim: _half(np.outer(positions, frequencies(dim) ** 2)),
            "The frequencies fall twice as fast as they should. The exponent of pair i is 2 * i / dim: was "
            "the 2 counted twice?",
        ),
        Mistake(
            "split-layout",
            lambda positions, dim: sinusoidal(np.asarray(positions), dim, layout="split"),
            "The numbers are right, but all sines come first. Put sine and cosine of a pair side by side.",
        ),
        Mistake(
            "whole-numbers",
            lambda positions, dim: _half_table(positions, dim).astype(np.int64),
            "The table took the integer type of the positions, which cuts every number down to 0, 1 or -1. "
            "Make it of floats.",
        ),
    ),
    alternatives=(
        lambda positions, dim: sinusoidal(np.asarray(positions), dim, dtype=np.float16),
        _half_by_turns,
        lambda positions, dim: np.array(
            [
                [np.sin(int(p) / BASE ** (2 * (c // 2) / dim) + np.pi / 2 * (c % 2)) for c in range(dim)]
                for p in positions
            ],
            dtype=np.float16,
        ),
        lambda positions, dim: sinusoidal(np.asarray(positions), dim, dtype=np.float32).astype(np.float16),
    ),
    hints=(
        "Which numbers of the computation are large, and which of them lie between -1 and 1?",
        "Float16 holds numbers between -1 and 1 well, and large ones badly. At which step is everything "
        "between -1 and 1?",
        "Compute positions, frequencies and angles in float64. The last line is `table.astype(np.float16)`.",
    ),
)
