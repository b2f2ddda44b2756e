"""Continue a stranger's table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import Generator, turning
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies


def _table(rates: np.ndarray, n: int) -> np.ndarray:
    angles = np.arange(n)[:, None] * rates
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, -1)


def _table_cases(rng: Generator) -> Iterator[Case]:
    for label, rates, given, n in (
        ("dim 8, base 10000", frequencies(8), 2, 10),
        ("dim 4, base 100", frequencies(4, base=100), 3, 21),
        ("dim 6, frequencies that follow no rule", rng.uniform(0.1, 1.4, size=3), 2, 37),
        ("dim 4, a frequency above a quarter turn", np.asarray([rng.uniform(1.8, 2.8), 0.3]), 2, 11),
        ("dim 2, six rows given", np.asarray([0.7]), 6, 50),
        ("dim 4, fewer rows asked for than given", frequencies(4, base=50), 5, 3),
        ("dim 4, a thousand rows", frequencies(4, base=500), 4, 1000),
    ):
        yield Case(f"{label}: from {given} rows to {n}", (_table(rates, given), n))


def _rates_of(first: np.ndarray) -> np.ndarray:
    return np.asarray(np.arctan2(first[1, 0::2], first[1, 1::2]))


def _as_pairs(first: np.ndarray) -> np.ndarray:
    return np.asarray(first[:, 0::2] + 1j * first[:, 1::2])


def _as_rows(pairs: np.ndarray) -> np.ndarray:
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(len(pairs), -1)


def _doubled(first: np.ndarray, n: int, *, shift_by: Callable[[int], int], cut: bool = True) -> np.ndarray:
    """Double the rows by one shift of them all until there are n; `shift_by` may get the shift wrong."""
    pairs = _as_pairs(first)
    step = pairs[1] / pairs[0]
    while len(pairs) < n:
        pairs = np.concatenate([pairs, pairs * step ** shift_by(len(pairs))])
    return _as_rows(pairs[:n] if cut else pairs)


def _extended_step_by_step(first: np.ndarray, n: int) -> np.ndarray:
    rows = list(first[:n])
    s, c = first[1, 0::2], first[1, 1::2]
    while len(rows) < n:
        last, new = rows[-1], np.empty(first.shape[1])
        new[0::2] = last[0::2] * c + last[1::2] * s
        new[1::2] = last[1::2] * c - last[0::2] * s
        rows.append(new)
    return np.asarray(rows)


def _extended_by_three_terms(first: np.ndarray, n: int) -> list[np.ndarray]:
    """x(p + 1) = 2 cos(w) x(p) - x(p - 1), for sines and cosines alike."""
    rows, twice = list(first[:n]), 2 * np.repeat(first[1, 1::2], 2)
    while len(rows) < n:
        rows.append(twice * rows[-1] - rows[-2])
    return [row.tolist() for row in rows]


def _extended_by_matrix(first: np.ndarray, n: int) -> np.ndarray:
    matrix = turning(_rates_of(first))
    rows = [first[0]]
    for _ in range(n - 1):
        rows.append(matrix @ rows[-1])
    return np.asarray(rows)


EXTEND_TABLE = Exercise(
    id="03-relative-position.extend_table",
    title="Continue a stranger's table",
    signature="extend_table(first: array of shape (m, dim), m at least 2, n: int) -> array of shape (n, dim)",
    points=4,
    minutes=18,
    difficulty=4,
    draws=Draws(
        lambda extend_table, across, up: curve(
            np.arange(200),
            {"": np.asarray(extend_table(sinusoidal(4, 64), 200)) @ sinusoidal(1, 64)[0]},
            across=across,
            up=up,
        ),
        axes=("offset", "product with row 0"),
        look="The product is largest at offset 0, falls fast, and then ripples: it tells how far apart "
        "two rows are.",
    ),
    reference=lambda first, n: _table(_rates_of(first), n),
    make_cases=_table_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], args[0].shape[1]),
            "The table must have n rows, and as many columns as the rows that are given.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[: len(args[0])], args[0][: args[1]], atol=1e-6)),
            "The table must begin with the rows that are given.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.asarray(value)[:, 0::2] ** 2 + np.asarray(value)[:, 1::2] ** 2, 1, atol=1e-3)
            ),
            "Every pair must stay on its circle: the squares of its sine and its cosine add up to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "usual-frequencies",
            lambda first, n: sinusoidal(n, first.shape[1]),
            "This is the usual table, with base 10000, whatever rows were given. The stranger's frequencies "
            "are their own: read the turn of each pair off row 1.",
        ),
        Mistake(
            "rows-repeated",
            lambda first, n: np.resize(first, (n, first.shape[1])),
            "The rows that were given are repeated over and over. Further rows are new ones: each is the one "
            "before, turned by one step.",
        ),
        Mistake(
            "last-row-again-and-again",
            lambda first, n: np.stack([first[min(k, len(first) - 1)] for k in range(n)]),
            "Beyond the rows that were given, the last one is repeated. Each further row is the one before, "
            "turned by one step.",
        ),
        Mistake(
            "straight-line",
            lambda first, n: first[0] + np.arange(n)[:, None] * (first[1] - first[0]),
            "The table continues in a straight line, adding the same difference each time. The pairs move on "
            "circles: a step is a turn, which multiplies.",
        ),
        Mistake(
            "rows-added",
            lambda first, n: np.concatenate([first[:1], np.arange(1, n)[:, None] * first[1]]),
            "Row 1 was added for each step, as if sin(a + b) were sin a + sin b. Use angle addition: sin a "
            "cos b + cos a sin b.",
        ),
        Mistake(
            "backwards",
            lambda first, n: _table(-_rates_of(first), n),
            "The table runs backwards: it holds positions 0, -1, -2, and so on. The new sine is s cos + c "
            "sin, and the new cosine c cos - s sin.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            lambda first, n: _table(np.arctan2(first[1, 1::2], first[1, 0::2]), n),
            "The cosine was taken for the sine when the turn was read off row 1. The sine comes first: the "
            "angle is np.arctan2(sine, cosine).",
        ),
        Mistake(
            "arcsine",
            lambda first, n: _table(np.arcsin(np.clip(first[1, 0::2], -1, 1)), n),
            "The turn was read off the sine alone, which cannot tell an angle from 180 degrees minus that "
            "angle. Use the cosine too: np.arctan2(sine, cosine), or no angle at all.",
        ),
        Mistake(
            "last-row-twice",
            lambda first, n: _doubled(first, n, shift_by=lambda rows: rows - 1),
            "The rows were shifted by one position too few, so where the parts meet, a row is there twice. "
            "With m rows, positions 0 to m - 1, the next one is m: shift by m.",
        ),
        Mistake(
            "shifted-by-one",
            lambda first, n: _doubled(first, n, shift_by=lambda rows: 1),
            "The rows that are there were shifted by a single step each time. With m rows, positions 0 to "
            "m - 1, shift them by m to get positions m to 2m - 1.",
        ),
        Mistake(
            "not-cut",
            lambda first, n: _doubled(first, n, shift_by=lambda rows: rows, cut=False),
            "The rows are right, but there are more than n of them. Cut the table after the last doubling: "
            "rows[:n].",
        ),
        Mistake(
            "n-more-rows",
            lambda first, n: _table(_rates_of(first), len(first) + n),
            "There are n new rows here, after those that were given. The whole table must have n rows, those "
            "that were given included.",
        ),
    ),
    alternatives=(
        lambda first, n: _doubled(first, n, shift_by=lambda rows: rows),
        _extended_step_by_step,
        _extended_by_three_terms,
        _extended_by_matrix,
        lambda first, n: _as_rows(_as_pairs(first)[0] * (_as_pairs(first)[1] / 1j) ** np.arange(n)[:, None]),
    ),
    hints=(
        "Row 0 is 0, 1, 0, 1, ... and row 1 holds the sine and the cosine of each pair's frequency. That "
        "is all that one step needs.",
        "Row p + 1 is row p turned by the angle of row 1: the new sine is s cos + c sin, the new cosine c "
        "cos - s sin, where cos and sin are those of row 1.",
        "To save steps, shift all the rows at once: with m rows you can turn them by m positions, and have "
        "2m. The turn by m is the turn by 1, taken m times.",
    ),
)
