"""Exercises of `03-relative-position`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_lib.added.sinusoidal import shift_matrix, similarity, sinusoidal
from posenc_lib.angles import frequencies
from posenc_lib.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each

CHAPTER = "03-relative-position"

Generator = np.random.Generator


# --- shift_matrix ----------------------------------------------------------------------------


def _shift_cases(rng: Generator) -> Iterator[Case]:
    for offset, dim in (
        (1, 2),
        (3, 4),
        (0, 6),
        (-5, 8),
        (2.5, 4),
        (100, 16),
        (int(rng.integers(2, 50)), int(2 * rng.integers(3, 12))),
        (float(rng.integers(-200, 200)) / 4, int(2 * rng.integers(3, 12))),
    ):
        yield Case(f"offset {offset}, dim {dim}", (offset, dim))


def _blocks(turns: np.ndarray, block: Callable[[float, float], list[list[float]]]) -> np.ndarray:
    """A block-diagonal matrix: one block per pair, made of the cosine and the sine of its turn."""
    matrix = np.zeros((2 * len(turns), 2 * len(turns)))
    for pair, turn in enumerate(turns):
        here = slice(2 * pair, 2 * pair + 2)
        matrix[here, here] = block(float(np.cos(turn)), float(np.sin(turn)))
    return matrix


def _rotation(c: float, s: float) -> list[list[float]]:
    return [[c, s], [-s, c]]


def _right_at_0_alone(offset: float, dim: int) -> np.ndarray:
    start, end = sinusoidal(np.asarray([0.0, offset]), dim)
    return np.asarray(np.outer(end, start) / (start @ start))


def _shift_by_identity(offset: float, dim: int) -> np.ndarray:
    """Turn each column of the identity as if it were a row of pairs."""
    turned = np.eye(dim).reshape(dim, -1, 2)
    sines, cosines = turned[..., 0], turned[..., 1]
    turn = offset * frequencies(dim)
    moved = np.stack(
        [sines * np.cos(turn) + cosines * np.sin(turn), cosines * np.cos(turn) - sines * np.sin(turn)],
        axis=-1,
    )
    return moved.reshape(dim, dim).T


def _shift_by_complex(offset: float, dim: int) -> np.ndarray:
    turn = np.repeat(np.exp(1j * offset * frequencies(dim)), 2)
    quarter = np.kron(np.eye(dim // 2), [[0, 1], [-1, 0]])
    return np.asarray(np.diag(turn.real) + turn.imag[:, None] * quarter)


def _shift_with_lists(offset: float, dim: int) -> list[list[float]]:
    matrix = [[0.0] * dim for _ in range(dim)]
    for even in range(0, dim, 2):
        angle = offset / 10000.0 ** (even / dim)
        matrix[even][even] = matrix[even + 1][even + 1] = float(np.cos(angle))
        matrix[even][even + 1] = float(np.sin(angle))
        matrix[even + 1][even] = -float(np.sin(angle))
    return matrix


SHIFT_MATRIX = Exercise(
    id=f"{CHAPTER}.shift_matrix",
    title="The matrix of a shift",
    signature="shift_matrix(offset: real number, dim: int) -> array of shape (dim, dim)",
    points=3,
    minutes=12,
    difficulty=3,
    reference=lambda offset, dim: shift_matrix(offset, dim),
    make_cases=_shift_cases,
    # float32 is good to 1e-5 at offset 100.
    absolute_tolerance=2e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], args[1]),
            "The matrix must have dim rows and dim columns.",
            about="form",
        ),
        Property(
            lambda args, value: args[0] != 0 or bool(np.allclose(value, np.eye(args[1]))),
            "A shift by 0 moves nothing, so its matrix must be the identity.",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.asarray(value).T @ value, np.eye(args[1]), atol=1e-3)),
            "The matrix must be a rotation: its transpose times itself must be the identity.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    value @ sinusoidal(1, args[1])[0], sinusoidal(np.asarray(args[0]), args[1]), atol=1e-3
                )
            ),
            "Times the row of position 0, which is 0, 1, 0, 1, ..., your matrix must give the row of "
            "position offset.",
        ),
    ),
    mistakes=(
        Mistake(
            "backwards",
            lambda offset, dim: shift_matrix(-offset, dim),
            "Your matrix goes the wrong way: it takes position p to p - offset. The textbook rotation is "
            "written for (cos, sin), and here the sine comes first. So the minus sign stands below the "
            "diagonal.",
        ),
        Mistake(
            "no-minus",
            lambda offset, dim: _blocks(offset * frequencies(dim), lambda c, s: [[c, s], [s, c]]),
            "Both sines are positive, so this is no rotation. The cosine of a sum is cos cos - sin sin: the "
            "sine below the diagonal gets a minus sign.",
        ),
        Mistake(
            "mirror",
            lambda offset, dim: _blocks(offset * frequencies(dim), lambda c, s: [[c, s], [s, -c]]),
            "The minus sign stands at the cosine. That makes a mirror, which turns nothing: even a shift "
            "by 0 would flip every cosine. Put it at the sine below the diagonal.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            lambda offset, dim: _blocks(offset * frequencies(dim), lambda c, s: [[s, c], [-c, s]]),
            "Sine and cosine have changed places. The cosines stand on the diagonal: at offset 0 they are 1, "
            "and the matrix is the identity.",
        ),
        Mistake(
            "split-layout",
            lambda offset, dim: shift_matrix(offset, dim, layout="split"),
            "Your matrix is for the split layout, with all sines first. Here the two of a pair stand side by "
            "side, so every pair has a block of two rows and two columns on the diagonal.",
        ),
        Mistake(
            "one-angle-for-all",
            lambda offset, dim: _blocks(np.full(dim // 2, float(offset)), _rotation),
            "Every pair is turned by the same angle. Each pair has its own frequency: turn pair i by offset "
            "times 10000 to the power -2i/dim.",
        ),
        Mistake(
            "doubled-twice",
            lambda offset, dim: _blocks(offset * frequencies(dim) ** 2, _rotation),
            "The exponent is 4i/dim where it should be 2i/dim: the factor 2 is taken twice, as happens "
            "when i counts columns in steps of two and is doubled again.",
        ),
        Mistake(
            "offset-times-one-step",
            lambda offset, dim: offset * shift_matrix(1, dim),
            "This is the matrix of one step, times the offset. A shift by k is k steps one after the "
            "other: it is the angle that is multiplied, not the matrix.",
        ),
        Mistake(
            "whole-offsets-only",
            lambda offset, dim: shift_matrix(int(offset), dim),
            "The offset was cut down to a whole number. It may be any real number: use it in the angle as it "
            "is.",
        ),
        Mistake(
            "right-at-0-alone",
            _right_at_0_alone,
            "This matrix is right at position 0 and nowhere else. One and the same matrix must serve every "
            "position: build it from the turn of each pair, not from two rows of the table.",
        ),
    ),
    alternatives=(
        _shift_by_identity,
        _shift_by_complex,
        _shift_with_lists,
        lambda offset, dim: _blocks(offset * frequencies(dim), _rotation),
    ),
    hints=(
        "Begin with one pair. Write down sin((p + k) w) and cos((p + k) w) by angle addition, and read off "
        "what stands before sin(p w) and cos(p w).",
        "For one pair the matrix is [[cos, sin], [-sin, cos]], of the angle offset times the frequency.",
        "Start from `np.zeros((dim, dim))`. Pair i fills rows and columns 2i and 2i + 1.",
    ),
)


# --- shift_rows ------------------------------------------------------------------------------


def _row_cases(rng: Generator) -> Iterator[Case]:
    for label, positions, dim, offset in (
        ("positions 0 to 4, offset 3, dim 4", np.arange(5), 4, 3),
        ("positions 7, 2 and 100, offset -2, dim 8", np.asarray([7, 2, 100]), 8, -2),
        ("one row, offset 1, dim 2", np.asarray([5]), 2, 1),
        ("offset 0, dim 6", np.asarray([3, 1]), 6, 0),
        ("offset 0.5, dim 4", np.asarray([0, 20, -4]), 4, 0.5),
        ("random positions, offset 1000, dim 16", rng.integers(0, 500, size=6), 16, 1000),
    ):
        yield Case(label, (sinusoidal(positions, dim), offset))


def _turned(
    rows: np.ndarray, offset: float, *, up: float = 1.0, down: float = -1.0, turn: Any = None
) -> np.ndarray:
    """Each pair turned: (s cos + up c sin, c cos + down s sin); a right turn has up 1 and down -1."""
    turn = offset * frequencies(rows.shape[1]) if turn is None else turn
    sines, cosines = rows[:, 0::2], rows[:, 1::2]
    moved = np.empty_like(rows)
    moved[:, 0::2] = sines * np.cos(turn) + up * cosines * np.sin(turn)
    moved[:, 1::2] = cosines * np.cos(turn) + down * sines * np.sin(turn)
    return moved


def _turned_in_place(rows: np.ndarray, offset: float, *, up: float, down: float) -> np.ndarray:
    """The same on views, so that the second line reads what the first has written."""
    turn = offset * frequencies(rows.shape[1])
    rows = rows.copy()
    sines, cosines = rows[:, 0::2], rows[:, 1::2]
    rows[:, 0::2] = sines * np.cos(turn) + up * cosines * np.sin(turn)
    rows[:, 1::2] = cosines * np.cos(turn) + down * sines * np.sin(turn)
    return rows


def _rows_by_angle(rows: np.ndarray, offset: float) -> np.ndarray:
    angles = np.arctan2(rows[:, 0::2], rows[:, 1::2]) + offset * frequencies(rows.shape[1])
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(rows.shape)


def _rows_by_complex(rows: np.ndarray, offset: float) -> np.ndarray:
    pairs = np.ascontiguousarray(rows).view(np.complex128)  # sine + i cosine
    return np.asarray((pairs * np.exp(-1j * offset * frequencies(rows.shape[1]))).view(np.float64))


def _rows_one_by_one(rows: np.ndarray, offset: float) -> list[list[float]]:
    moved = []
    for row in rows.tolist():
        new = []
        for pair, turn in enumerate(offset * frequencies(len(row))):
            s, c = row[2 * pair], row[2 * pair + 1]
            new += [s * np.cos(turn) + c * np.sin(turn), c * np.cos(turn) - s * np.sin(turn)]
        moved.append([float(each) for each in new])
    return moved


SHIFT_ROWS = Exercise(
    id=f"{CHAPTER}.shift_rows",
    title="Debug a shift",
    signature="shift_rows(rows: array of shape (n, dim), offset: real number) -> array of shape (n, dim)",
    points=3,
    minutes=12,
    difficulty=3,
    reference=lambda rows, offset: rows @ shift_matrix(offset, rows.shape[1]).T,
    make_cases=_row_cases,
    # float32 is good to 1e-4 at offset 1000.
    absolute_tolerance=1e-4,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay as it is: each row moves to another position, and keeps its width.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.asarray(value)[:, 0::2] ** 2 + np.asarray(value)[:, 1::2] ** 2, 1, atol=1e-3)
            ),
            "A pair has left its circle: the squares of its sine and its cosine no longer add up to 1. A "
            "turn keeps them there.",
        ),
    ),
    mistakes=(
        Mistake(
            "as-given",
            lambda rows, offset: _turned_in_place(rows, offset, up=-1, down=1),
            "This is the code as it was given, with both its bugs. Ask two things: which way does it turn, "
            "and what do sines and cosines hold when the second line reads them?",
        ),
        Mistake(
            "still-in-place",
            lambda rows, offset: _turned_in_place(rows, offset, up=1, down=-1),
            "The direction is right now. But sines is a view of rows: the line that writes the new sines "
            "changes what the line after it reads. Write into a new array, or copy sines first.",
        ),
        Mistake(
            "still-backwards",
            lambda rows, offset: _turned(rows, offset, up=-1, down=1),
            "Nothing is overwritten any more, but the rows move to position - offset. By angle addition "
            "the sine gets + cos sin, and the cosine gets - sin sin: exchange the two signs.",
        ),
        Mistake(
            "plus-and-plus",
            lambda rows, offset: _turned(rows, offset, up=1, down=1),
            "Only one of the two signs is mended: both are plus now, which is no turn. The cosine of a sum "
            "is cos cos - sin sin.",
        ),
        Mistake(
            "minus-and-minus",
            lambda rows, offset: _turned(rows, offset, up=-1, down=-1),
            "Only one of the two signs is mended: both are minus now, which is no turn. The sine of a sum is "
            "sin cos + cos sin.",
        ),
        Mistake(
            "row-number-as-position",
            lambda rows, offset: sinusoidal(np.arange(len(rows)) + float(offset), rows.shape[1]),
            "The rows were made anew for positions offset, offset + 1, and so on. But nobody says that row 0 "
            "stands at position 0: turn the rows that are given.",
        ),
        Mistake(
            "encodings-added",
            lambda rows, offset: rows + sinusoidal(np.asarray(float(offset)), rows.shape[1]),
            "The encoding of the offset was added to each row. Positions add up, but their encodings do not: "
            "they are turned.",
        ),
        Mistake(
            "one-angle-for-all",
            lambda rows, offset: _turned(rows, offset, turn=np.full(rows.shape[1] // 2, float(offset))),
            "Every pair is turned by the offset itself. Multiply it by the frequency of the pair, as the "
            "code that was given does.",
        ),
        Mistake(
            "unchanged",
            lambda rows, offset: rows,
            "The rows came back as they were. Each pair must be turned by offset times its frequency.",
        ),
    ),
    alternatives=(
        _rows_by_angle,
        _rows_by_complex,
        _rows_one_by_one,
        lambda rows, offset: _turned(rows, offset),
    ),
    hints=(
        "Try it on sinusoidal rows of your own: take the row of position 5, shift it by 1 and compare it "
        "with the row of position 6. And by -1, with that of position 4.",
        "`sines = rows[:, 0::2]` copies nothing. What does `sines` hold after `rows[:, 0::2]` was written?",
        "sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b - sin a sin b.",
    ),
)


# --- extend_table ----------------------------------------------------------------------------


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
    matrix = _blocks(_rates_of(first), _rotation)
    rows = [first[0]]
    for _ in range(n - 1):
        rows.append(matrix @ rows[-1])
    return np.asarray(rows)


EXTEND_TABLE = Exercise(
    id=f"{CHAPTER}.extend_table",
    title="Continue a stranger's table",
    signature="extend_table(first: array of shape (m, dim), m at least 2, n: int) -> array of shape (n, dim)",
    points=4,
    minutes=18,
    difficulty=4,
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
            "straight-line",
            lambda first, n: first[0] + np.arange(n)[:, None] * (first[1] - first[0]),
            "The table goes on in a straight line, adding the same difference each time. The pairs run on "
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
        "cos - s sin, where cos and sin stand in row 1.",
        "To save steps, shift all the rows at once: with m rows you can turn them by m positions, and have "
        "2m. The turn by m is the turn by 1, taken m times.",
    ),
)


# --- three_products --------------------------------------------------------------------------

WIDTH, APART = 64, 7
PRODUCT = float(similarity(APART, WIDTH))
"""PE(3) . PE(10) at width 64, which the text gives to four decimals."""
_NORM_SQUARED = WIDTH / 2
_DISTANCE = float(np.sqrt(2 * _NORM_SQUARED - 2 * PRODUCT))


THREE_PRODUCTS = Exercise(
    id=f"{CHAPTER}.three_products",
    title="Predict: one product tells three numbers",
    signature="three_products: three numbers, (PE(1010) . PE(1003), PE(5) . PE(5), |PE(3) - PE(10)|)",
    points=2,
    minutes=6,
    difficulty=2,
    kind="value",
    reference=lambda: (PRODUCT, _NORM_SQUARED, _DISTANCE),
    parts=("the product", "the squared norm", "the distance"),
    make_cases=lambda rng: iter([Case("your three numbers")]),
    relative_tolerance=1e-3,
    absolute_tolerance=0.0,
    properties=(
        Property(
            lambda args, value: value[2] >= 0,
            "The third number is a length: it cannot be negative.",
        ),
    ),
    mistakes=(
        Mistake(
            "sign-turned",
            lambda: (-PRODUCT, _NORM_SQUARED, _DISTANCE),
            "Your second and third numbers are right. The first is a sum of cosines of the offset, and the "
            "cosine does not care about its sign: going 7 back gives what going 7 on gives.",
        ),
        Mistake(
            "far-is-zero",
            lambda: (0.0, _NORM_SQUARED, _DISTANCE),
            "Your second and third numbers are right. The first does not vanish because both positions are "
            "far out: only their distance counts, and that is 7.",
        ),
        Mistake(
            "columns-for-pairs",
            lambda: (PRODUCT, 2 * _NORM_SQUARED, float(np.sqrt(4 * _NORM_SQUARED - 2 * PRODUCT))),
            "You took 64 as the squared norm of a row. Each pair adds sine squared plus cosine squared, "
            "which is 1, and there are 32 pairs.",
        ),
        Mistake(
            "norm-not-squared",
            lambda: (PRODUCT, float(np.sqrt(_NORM_SQUARED)), _DISTANCE),
            "Your first and third numbers are right. The second is the norm of the row: its dot product with "
            "itself is the square of that.",
        ),
        Mistake(
            "cosine",
            lambda: (PRODUCT, 1.0, _DISTANCE),
            "Your first and third numbers are right. The second is the cosine of the angle between the row "
            "and itself. The dot product is not divided by the norms.",
        ),
        Mistake(
            "distance-squared",
            lambda: (PRODUCT, _NORM_SQUARED, _DISTANCE**2),
            "Your first and second numbers are right. The third is the square of the distance: take its "
            "square root.",
        ),
        Mistake(
            "factor-2-lost",
            lambda: (PRODUCT, _NORM_SQUARED, float(np.sqrt(2 * _NORM_SQUARED - PRODUCT))),
            "Your first and second numbers are right. For the third, write out (a - b) . (a - b): the mixed "
            "product comes twice.",
        ),
        Mistake(
            "difference-of-products",
            lambda: (PRODUCT, _NORM_SQUARED, _NORM_SQUARED - PRODUCT),
            "Your first and second numbers are right. The third is not the difference of two dot products: "
            "write out (a - b) . (a - b), and take the root.",
        ),
    ),
    alternatives=(
        lambda: [PRODUCT, 32, _DISTANCE],
        lambda: (round(PRODUCT, 4), 32.0, round((64 - 2 * round(PRODUCT, 4)) ** 0.5, 4)),
        lambda: tuple(
            float(each)
            for each in (
                sinusoidal(1011, 64)[1010] @ sinusoidal(1004, 64)[1003],
                sinusoidal(6, 64)[5] @ sinusoidal(6, 64)[5],
                np.linalg.norm(sinusoidal(11, 64)[10] - sinusoidal(4, 64)[3]),
            )
        ),
    ),
    hints=(
        "The dot product of two rows depends on the offset between them alone. Does its sign matter?",
        "A row times itself is the offset 0. How many pairs are there, and what does each of them add?",
        "The square of the third number is (a - b) . (a - b) = a . a + b . b - 2 a . b. You know all three.",
    ),
)


# --- is_relative -----------------------------------------------------------------------------

POSITIONS = 256
"""The scores are to be judged at whole positions below this."""


def _projected(positions: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = sinusoidal(positions, 32)
    w_q, w_k = rng.normal(size=(2, 32, 32)) / np.sqrt(32)
    return np.asarray((rows @ w_q) @ (rows @ w_k).T)


def _words_and_positions(positions: np.ndarray, seed: int) -> np.ndarray:
    words = np.random.default_rng(seed).normal(size=(POSITIONS, 32))
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    return np.asarray(_sinusoids(positions, seed) + words[positions] @ words[positions].T)


def _random_table(positions: np.ndarray, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(POSITIONS, 32))[positions]
    return np.asarray(rows @ rows.T)


def _sinusoids(positions: np.ndarray, seed: int) -> np.ndarray:
    rows = sinusoidal(positions, 32)
    return np.asarray(rows @ rows.T)


def _looks_back(positions: np.ndarray, seed: int) -> np.ndarray:
    rows = sinusoidal(positions, 32)
    return np.asarray(rows @ shift_matrix(-1, 32).T @ rows.T)


def _offsets(positions: np.ndarray) -> np.ndarray:
    return np.asarray(positions[None, :] - positions[:, None])


def _near_and_far(positions: np.ndarray, seed: int) -> np.ndarray:
    distance = np.abs(_offsets(positions))
    return np.where(distance <= 8, -distance / 2, -positions[:, None] / 50)


_SCORES: dict[str, tuple[bool, Callable[[np.ndarray, int], np.ndarray]]] = {
    "dot products of sinusoidal rows": (True, _sinusoids),
    "sinusoidal rows, queries shifted back by one": (True, _looks_back),
    "a penalty on distance": (True, lambda p, seed: -0.5 * np.abs(_offsets(p))),
    "a bias that grows with the key's lead": (True, lambda p, seed: 0.5 * _offsets(p)),
    "a penalty on distance that stops at 16": (
        True,
        lambda p, seed: -1.0 * np.minimum(np.abs(_offsets(p)), 16),
    ),
    "the same score everywhere": (True, lambda p, seed: np.zeros((len(p), len(p)))),
    "sinusoidal rows through random projections": (False, _projected),
    "rows of a random table": (False, _random_table),
    "sinusoidal rows and a word at each position": (False, _words_and_positions),
    "sinusoidal rows that stop at position 200": (
        False,
        lambda p, seed: _sinusoids(np.minimum(p, 200), seed),
    ),
    "sinusoidal rows, and a little more for odd keys": (
        False,
        lambda p, seed: _sinusoids(p, seed) + 0.1 * (p % 2),
    ),
    "sinusoidal rows, and a bonus for the very first key": (
        False,
        lambda p, seed: _sinusoids(p, seed) + 1.0 * (p == 0),
    ),
    "near keys by distance, far keys by the query's place": (False, _near_and_far),
}


@dataclass(frozen=True)
class Scores:
    """A way to score whole positions, 0 to 255: n of them give (n, n), the score of each query and key."""

    kind: str
    seed: int

    def __call__(self, positions: Any) -> np.ndarray:
        given = np.asarray(positions)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise ValueError("give positions as one list or array of whole numbers, such as np.arange(10)")
        if given.size and (given.min() < 0 or given.max() >= POSITIONS):
            raise ValueError("these scores exist for positions 0 to 255; give none outside")
        return _SCORES[self.kind][1](given, self.seed)


def _relative_cases(rng: Generator) -> Iterator[Case]:
    relative = [kind for kind, (is_relative, _) in _SCORES.items() if is_relative]
    others = [kind for kind in _SCORES if kind not in relative]
    for kind in enough_of_each(rng, relative, others):
        yield Case(kind, (Scores(kind, int(rng.integers(1000))),))


ALL = np.arange(POSITIONS)


def _moved_by_one(
    scores: Any, count: int = POSITIONS, close: Callable[[Any, Any], bool] = np.allclose
) -> bool:
    matrix = np.asarray(scores(np.arange(count)))
    return bool(close(matrix[1:, 1:], matrix[:-1, :-1]))


def _by_diagonals(scores: Any) -> bool:
    matrix = np.asarray(scores(list(range(POSITIONS))))
    return all(np.ptp(np.diagonal(matrix, k)) < 1e-9 for k in range(1 - POSITIONS, POSITIONS))


def _by_two_calls(scores: Any) -> bool:
    return bool(np.abs(scores(ALL[:-1]) - scores(ALL[1:])).max() < 1e-6)


def _by_offset_table(scores: Any) -> bool:
    """Rebuild the matrix from its first row and its first column."""
    matrix = np.asarray(scores(ALL))
    by_offset = np.concatenate([matrix[:0:-1, 0], matrix[0]])
    return bool(np.allclose(by_offset[_offsets(ALL) + POSITIONS - 1], matrix))


IS_RELATIVE = Exercise(
    id=f"{CHAPTER}.is_relative",
    title="Prove by test: is it relative?",
    signature="is_relative(scores: function from n whole positions, 0 to 255, to an (n, n) array) -> bool",
    points=3,
    minutes=15,
    difficulty=4,
    reference=lambda scores: _moved_by_one(scores),
    make_cases=_relative_cases,
    mistakes=(
        Mistake(
            "exactly-equal",
            lambda scores: _moved_by_one(scores, close=np.array_equal),
            "You compare with ==, and rounding makes equal scores differ in their last digit. So scores that "
            "are relative fail your test. Compare with np.allclose.",
        ),
        Mistake(
            "symmetric",
            lambda scores: bool(np.allclose(scores(ALL), scores(ALL).T)),
            "You test whether the matrix is symmetric. A relative score may well tell before from after, "
            "and a symmetric one may depend on where the two stand. Compare with the scores of shifted "
            "positions.",
        ),
        Mistake(
            "main-diagonal-only",
            lambda scores: bool(np.ptp(np.diagonal(scores(ALL))) < 1e-9),
            "You look at the main diagonal alone, that is at offset 0. The scores must be equal along every "
            "diagonal.",
        ),
        Mistake(
            "neighbours-only",
            lambda scores: bool(np.ptp(np.diagonal(scores(ALL), 1)) < 1e-9),
            "You look at one offset alone, that of a token and its next neighbour. The scores must be equal "
            "along every diagonal.",
        ),
        Mistake(
            "near-positions-only",
            lambda scores: _moved_by_one(scores, count=64),
            "You test the first positions only, and one of these scores goes wrong further out. It exists "
            "for positions 0 to 255: test them all.",
        ),
        Mistake(
            "even-shift",
            lambda scores: bool(np.allclose(scores(ALL[:-2]), scores(ALL[2:]))),
            "You shift by 2, which takes odd positions to odd ones. A score that knows odd from even slips "
            "through. Shift by 1: every other shift is made of those.",
        ),
        Mistake(
            "skips-the-start",
            lambda scores: bool(np.allclose(scores(ALL[1:-1]), scores(ALL[2:]))),
            "You leave out position 0, and one of these scores treats just that one differently. Test all of "
            "0 to 255.",
        ),
        Mistake(
            "rolled",
            lambda scores: bool(np.allclose(scores(ALL), np.roll(scores(ALL), (1, 1), axis=(0, 1)))),
            "You use np.roll, which moves the last row to the top, as if position 0 came after position 255. "
            "Text is no circle: compare matrix[1:, 1:] with matrix[:-1, :-1].",
        ),
        Mistake(
            "falls-with-distance",
            lambda scores: bool(np.all(np.diff(scores(ALL)[0]) <= 1e-9)),
            "You test whether the score falls with distance. A relative score may rise and fall as it likes, "
            "if only it is the same for the same offset everywhere.",
        ),
        Mistake(
            "verdict-turned-round",
            lambda scores: not _moved_by_one(scores),
            "Your test is right and your verdict is turned round: return True where the scores are relative.",
        ),
        Mistake(
            "always-yes",
            lambda scores: True,
            "Your test says yes to everything, so it proves nothing. There must be scores that fail it.",
        ),
    ),
    alternatives=(_by_diagonals, _by_two_calls, _by_offset_table),
    hints=(
        "Relative means: shift all positions by the same number, and every score stays what it was.",
        "If a shift by 1 changes nothing at any position, no shift does. So it is enough to compare "
        "positions 0 to 254 with positions 1 to 255.",
        "`scores(np.arange(255))` and `scores(np.arange(1, 256))` are two arrays of the same shape. Compare "
        "them with `np.allclose`.",
    ),
)


# --- four_terms ------------------------------------------------------------------------------


def _term_cases(rng: Generator) -> Iterator[Case]:
    def inputs(tokens: int, dim: int, head_dim: int) -> tuple[np.ndarray, ...]:
        return (
            rng.normal(size=(tokens, dim)),
            sinusoidal(tokens, dim),
            rng.normal(size=(dim, head_dim)),
            rng.normal(size=(dim, head_dim)),
        )

    yield Case("three tokens, dim 4, head_dim 2", inputs(3, 4, 2))
    yield Case("five tokens, dim 8, head_dim 3", inputs(5, 8, 3))
    yield Case("one token, dim 2, head_dim 1", inputs(1, 2, 1))
    yield Case("four tokens, dim 4, head_dim 4: every matrix is square", inputs(4, 4, 4))
    words, places, w_q, w_k = inputs(4, 6, 5)
    yield Case("no positions: places of zeros", (words, np.zeros_like(places), w_q, w_k))
    yield Case("one word everywhere", (np.repeat(words[:1], 4, axis=0), places, w_q, w_k))
    yield Case("projections that change nothing", (words, places, np.eye(6), np.eye(6)))


def _terms(
    words: np.ndarray, places: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, scale: float | None = None
) -> np.ndarray:
    scale = np.sqrt(w_q.shape[1]) if scale is None else scale
    pairs = ((words, words), (words, places), (places, words), (places, places))
    return np.stack([(a @ w_q) @ (b @ w_k).T for a, b in pairs]) / scale


def _whole_in_the_cross_terms(words: Any, places: Any, w_q: Any, w_k: Any) -> np.ndarray:
    both = words + places
    pairs = ((words, words), (words, both), (both, words), (places, places))
    return np.asarray(np.stack([(a @ w_q) @ (b @ w_k).T for a, b in pairs]) / np.sqrt(w_q.shape[1]))


def _softmax_of_each(words: Any, places: Any, w_q: Any, w_k: Any) -> np.ndarray:
    raised = np.exp(_terms(words, places, w_q, w_k))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _three_terms(words: Any, places: Any, w_q: Any, w_k: Any) -> np.ndarray:
    ww, wp, pw, pp = _terms(words, places, w_q, w_k)
    return np.stack([ww, wp + pw, pp])


def _terms_in_loops(words: Any, places: Any, w_q: Any, w_k: Any) -> list[Any]:
    terms = []
    for asking in (words, places):
        for offered in (words, places):
            term = np.zeros((len(words), len(words)))
            for t, one in enumerate(asking):
                for u, other in enumerate(offered):
                    term[t, u] = sum(one @ w_q * (other @ w_k)) / w_q.shape[1] ** 0.5
            terms.append(term.tolist())
    return terms


def _terms_by_einsum(words: Any, places: Any, w_q: Any, w_k: Any) -> np.ndarray:
    parts = np.stack([words, places])
    each = np.einsum("atd,dh,eh,bue->abtu", parts, w_q, w_k, parts) / np.sqrt(w_q.shape[1])
    return np.asarray(each.reshape(4, len(words), len(words)))


def _terms_by_switching_off(words: Any, places: Any, w_q: Any, w_k: Any) -> np.ndarray:
    """Scores of words and of places alone, and the rest by what is left of mixed ones."""

    def scores(x: Any, y: Any) -> Any:
        return x @ (w_q @ w_k.T / np.sqrt(w_q.shape[1])) @ y.T

    both = words + places
    alone, placed = scores(words, words), scores(places, places)
    return np.stack([alone, scores(words, both) - alone, scores(both, words) - alone, placed])


FOUR_TERMS = Exercise(
    id=f"{CHAPTER}.four_terms",
    title="Take a score apart",
    signature="four_terms(words: (n, dim), places: (n, dim), w_q: (dim, head_dim), w_k: (dim, head_dim)) "
    "-> array of shape (4, n, n)",
    points=3,
    minutes=12,
    difficulty=3,
    reference=lambda words, places, w_q, w_k: _terms(words, places, w_q, w_k),
    make_cases=_term_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (4, len(args[0]), len(args[0])),
            "Return four terms, each with a row for every query and a column for every key: (4, n, n).",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.sum(value, axis=0),
                    (args[0] + args[1])
                    @ args[2]
                    @ args[3].T
                    @ (args[0] + args[1]).T
                    / np.sqrt(args[2].shape[1]),
                )
            ),
            "The four terms must add up to the scores of words + places: nothing may be lost or counted "
            "twice.",
        ),
    ),
    mistakes=(
        Mistake(
            "cross-terms-swapped",
            lambda words, places, w_q, w_k: _terms(words, places, w_q, w_k)[[0, 2, 1, 3]],
            "The two cross terms have changed places. The second is the word of the query with the place of "
            "the key, and the third the place of the query with the word of the key.",
        ),
        Mistake(
            "no-scale",
            lambda words, places, w_q, w_k: _terms(words, places, w_q, w_k, scale=1.0),
            "The scale is missing: divide every term by the square root of head_dim, as attention does.",
        ),
        Mistake(
            "scale-of-dim",
            lambda words, places, w_q, w_k: _terms(words, places, w_q, w_k, scale=np.sqrt(len(w_q))),
            "You divide by the square root of dim. Queries and keys have head_dim numbers, the second size "
            "of w_q: take its root.",
        ),
        Mistake(
            "scale-not-a-root",
            lambda words, places, w_q, w_k: _terms(words, places, w_q, w_k, scale=w_q.shape[1]),
            "You divide by head_dim itself. Divide by its square root.",
        ),
        Mistake(
            "one-projection-for-both",
            lambda words, places, w_q, w_k: _terms(words, places, w_q, w_q),
            "Queries and keys were both made with w_q. The right-hand side of every product is a key: make "
            "it with w_k.",
        ),
        Mistake(
            "roles-swapped",
            lambda words, places, w_q, w_k: _terms(words, places, w_k, w_q),
            "The projections have changed roles: queries are made with w_q and keys with w_k. Rows of each "
            "term are queries.",
        ),
        Mistake(
            "queries-across",
            lambda words, places, w_q, w_k: np.swapaxes(_terms(words, places, w_q, w_k), 1, 2),
            "Each term is transposed: its rows are keys. Put the queries on the left of the product: q @ "
            "k.T.",
        ),
        Mistake(
            "whole-input-in-the-cross-terms",
            _whole_in_the_cross_terms,
            "Your cross terms take words + places on one side, so they hold the other terms once more. One "
            "side is the word alone, and the other the place alone.",
        ),
        Mistake(
            "places-first",
            lambda words, places, w_q, w_k: _terms(words, places, w_q, w_k)[::-1],
            "The terms come in the opposite order. Words with words come first, and places with places last.",
        ),
        Mistake(
            "softmax-of-each",
            _softmax_of_each,
            "A softmax was taken of each term. The terms are parts of a score: they are added up first, "
            "and the softmax comes after that.",
        ),
        Mistake(
            "cross-terms-together",
            _three_terms,
            "The two cross terms were added up to one. Keep them apart: the one says which words look at "
            "which places, the other which places look at which words.",
        ),
    ),
    alternatives=(_terms_in_loops, _terms_by_einsum, _terms_by_switching_off),
    hints=(
        "Write `x = words + places` into `(x @ w_q) @ (x @ w_k).T` and multiply out: there are two parts on "
        "each side, and so four products.",
        "Make the four pieces first: `words @ w_q`, `places @ w_q`, `words @ w_k` and `places @ w_k`.",
        "`np.stack` puts four arrays of shape `(n, n)` on top of each other, as one of shape `(4, n, n)`. "
        "Divide by the square root of `w_q.shape[1]`.",
    ),
)

EXERCISES = (SHIFT_MATRIX, SHIFT_ROWS, EXTEND_TABLE, THREE_PRODUCTS, IS_RELATIVE, FOUR_TERMS)
