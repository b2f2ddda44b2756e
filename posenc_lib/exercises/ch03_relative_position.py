"""Exercises of `03-relative-position`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_lib.added.sinusoidal import shift_matrix, similarity, sinusoidal
from posenc_lib.angles import frequencies
from posenc_lib.exercises.drawing import Draws, curve, heat_map
from posenc_lib.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each

CHAPTER = "03-relative-position"

Generator = np.random.Generator


def _softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis=axis, keepdims=True))


def _causal(scores: np.ndarray, reach: int = 0) -> np.ndarray:
    """Scores in which no query sees a key that is more than `reach` ahead of it."""
    queries, keys = scores.shape[-2:]
    return np.where(np.tri(queries, keys, k=reach, dtype=bool), scores, -np.inf)


def _softmax_of_the_past(scores: np.ndarray) -> np.ndarray:
    """Weights on the keys before the query, and none on its own; the first query has none at all."""
    raised = np.exp(_causal(scores, reach=-1))
    return np.asarray(raised / np.maximum(raised.sum(axis=-1, keepdims=True), 1e-300))


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


# --- doublings, shift_by: a million steps in twenty products ---------------------------------


def _turning(turns: np.ndarray) -> np.ndarray:
    """A block-diagonal matrix that turns each (sine, cosine) pair by its own angle."""
    matrix = np.zeros((2 * len(turns), 2 * len(turns)))
    for pair, (c, s) in enumerate(zip(np.cos(turns), np.sin(turns), strict=True)):
        here = slice(2 * pair, 2 * pair + 2)
        matrix[here, here] = [[c, s], [-s, c]]
    return matrix


def _turns_of(one_step: np.ndarray) -> np.ndarray:
    return np.asarray(np.arctan2(one_step.diagonal(1)[::2], one_step.diagonal()[::2]))


def _ladder_cases(rng: Generator) -> Iterator[Case]:
    for label, turns, m in (
        ("one clock, three doublings", np.asarray([0.5]), 3),
        ("width 4, base 10000, six doublings", frequencies(4), 6),
        ("width 8, base 100, one matrix only", frequencies(8, base=100), 1),
        ("clocks that follow no rule, twenty doublings", rng.uniform(0.1, 1.5, size=3), 20),
        ("random clocks", rng.uniform(0.1, 1.5, size=4), int(rng.integers(4, 9))),
    ):
        yield Case(label, (_turning(turns), m))


def _ladder(one_step: np.ndarray, exponents: Any) -> np.ndarray:
    turns = _turns_of(one_step)
    return np.stack([_turning(turns * float(k)) for k in exponents])


def _squared(one_step: np.ndarray, m: int) -> list[np.ndarray]:
    rungs = [one_step]
    while len(rungs) < m:
        rungs.append(rungs[-1] @ rungs[-1])
    return rungs


def _squared_number_by_number(one_step: np.ndarray, m: int) -> np.ndarray:
    rungs = [one_step]
    for _ in range(m - 1):
        rungs.append(rungs[-1] ** 2)
    return np.stack(rungs)


DOUBLINGS = Exercise(
    id=f"{CHAPTER}.doublings",
    title="Twice as far, each time",
    step_of="A million steps in twenty products",
    signature="doublings(one_step: array of shape (dim, dim), m: int) -> array of shape (m, dim, dim)",
    points=1,
    minutes=7,
    difficulty=2,
    reference=lambda one_step, m: _ladder(one_step, 2 ** np.arange(m)),
    make_cases=_ladder_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], *args[0].shape),
            "Return m matrices on top of each other, each as large as the one that is given.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[0], args[0], atol=1e-3)),
            "The first matrix goes one step: it is the one that is given.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.swapaxes(value, 1, 2) @ value, np.eye(len(args[0])), atol=1e-3)
            ),
            "Each of the matrices must be a rotation: its transpose times itself must be the identity.",
        ),
    ),
    mistakes=(
        Mistake(
            "one-step-more-each-time",
            lambda one_step, m: _ladder(one_step, np.arange(1, m + 1)),
            "Each matrix goes one step further than the one before: 1, 2, 3, 4 steps. That takes a million "
            "products to get a million steps far. Multiply the last matrix by itself, not by the first.",
        ),
        Mistake(
            "number-by-number",
            _squared_number_by_number,
            "The numbers of the matrix were squared one by one, as ** and * do in NumPy. Two turns one after "
            "the other are a product of matrices, which is written with @.",
        ),
        Mistake(
            "twice-the-numbers",
            lambda one_step, m: 2.0 ** np.arange(m)[:, None, None] * one_step,
            "The numbers of the matrix were doubled. What doubles is the way that it goes: apply the matrix "
            "twice, which is a product with itself.",
        ),
        Mistake(
            "starts-with-two-steps",
            lambda one_step, m: _ladder(one_step, 2 ** np.arange(1, m + 1)),
            "Your first matrix goes two steps already. The first of the m matrices is the one that is given; "
            "it goes one.",
        ),
        Mistake(
            "starts-with-no-step",
            lambda one_step, m: _ladder(one_step, [0, *(2 ** np.arange(m - 1))]),
            "Your first matrix goes nowhere: it is the identity. The first is to go one step, the second "
            "two.",
        ),
        Mistake(
            "one-too-many",
            lambda one_step, m: _ladder(one_step, 2 ** np.arange(m + 1)),
            "There is one matrix too many. The one that is given counts as the first, so m - 1 doublings "
            "make m matrices.",
        ),
        Mistake(
            "the-last-alone",
            lambda one_step, m: _ladder(one_step, [2 ** (m - 1)])[0],
            "This is the last of the matrices alone. Keep all of them: the next step needs each.",
        ),
        Mistake(
            "four-times-as-far",
            lambda one_step, m: _ladder(one_step, 4 ** np.arange(m)),
            "Each matrix goes four times as far as the one before. One product of the last matrix with "
            "itself is enough.",
        ),
        Mistake(
            "backwards",
            lambda one_step, m: _ladder(one_step, -(2 ** np.arange(m))),
            "The matrices go backwards: each is the transpose of what it should be.",
        ),
        Mistake(
            "all-the-same",
            lambda one_step, m: np.stack([one_step] * m),
            "All the matrices go one step. Multiply the last one by itself to get the next.",
        ),
    ),
    alternatives=(
        _squared,
        lambda one_step, m: [np.linalg.matrix_power(one_step, 2**j) for j in range(m)],
        lambda one_step, m: np.stack(_squared(one_step, m)).tolist(),
    ),
    hints=(
        "If M goes k steps, what does M @ M do?",
        "Start with a list that holds `one_step`, and append the product of the last matrix with itself "
        "until there are m.",
    ),
)


def _offset_cases(rng: Generator) -> Iterator[Case]:
    for label, turns, offset in (
        ("width 4, base 10000, 5 steps", frequencies(4), 5),
        ("width 4, base 100, no step", frequencies(4, base=100), 0),
        ("one clock, 1 step", np.asarray([0.7]), 1),
        ("width 6, base 1000, 3 steps back", frequencies(6, base=1000), -3),
        ("clocks that follow no rule, 64 steps", rng.uniform(0.1, 1.5, size=2), 64),
        ("width 8, a million steps and three", frequencies(8), 1_000_003),
        ("random clocks, far on", rng.uniform(0.1, 1.5, size=3), int(rng.integers(5000, 500_000))),
        ("random clocks, far back", rng.uniform(0.1, 1.5, size=3), -int(rng.integers(5000, 500_000))),
    ):
        yield Case(label, (_turning(turns), offset))


def _far(one_step: np.ndarray, offset: float) -> np.ndarray:
    return _turning(_turns_of(one_step) * offset)


def _by_squaring(one_step: np.ndarray, offset: int) -> np.ndarray:
    moved, rung = np.eye(len(one_step)), one_step if offset >= 0 else one_step.T
    left = abs(offset)
    while left:
        if left % 2:
            moved = moved @ rung
        rung, left = rung @ rung, left // 2
    return moved


def _by_halves(one_step: np.ndarray, offset: int) -> np.ndarray:
    if offset < 0:
        return _by_halves(one_step, -offset).T
    if offset == 0:
        return np.eye(len(one_step))
    half = _by_halves(one_step, offset // 2)
    return np.asarray(half @ half @ one_step if offset % 2 else half @ half)


def _highest_power(offset: int) -> int:
    return 0 if offset == 0 else int(np.sign(offset)) * 2 ** (abs(offset).bit_length() - 1)


def _digits_reversed(offset: int) -> int:
    return int(np.sign(offset)) * int(format(abs(offset), "b")[::-1], 2)


def _sum_of_rungs(one_step: np.ndarray, offset: int) -> np.ndarray:
    total, sign = np.zeros_like(one_step), int(np.sign(offset))
    for j, digit in enumerate(reversed(format(abs(offset), "b"))):
        if digit == "1":
            total += _far(one_step, sign * 2**j)
    return total


SHIFT_BY = Exercise(
    id=f"{CHAPTER}.shift_by",
    title="Any offset from these",
    step_of="A million steps in twenty products",
    signature="shift_by(one_step: array of shape (dim, dim), offset: int) -> array of shape (dim, dim)",
    points=2,
    minutes=12,
    difficulty=4,
    draws=Draws(
        lambda shift_by, rows, columns: heat_map(
            shift_by(shift_matrix(1, 16), 5), rows=rows, columns=columns
        ),
        axes=("row", "column"),
        look="Each pair has a rotation of its own on the diagonal, and nothing stands elsewhere.",
    ),
    reference=_far,
    make_cases=_offset_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == args[0].shape,
            "The matrix must be as large as the one that is given.",
            about="form",
        ),
        Property(
            lambda args, value: args[1] != 0 or bool(np.allclose(value, np.eye(len(args[0])))),
            "No step moves nothing: for offset 0 the matrix is the identity.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.asarray(value).T @ value, np.eye(len(args[0])), atol=1e-3)
            ),
            "The matrix must be a rotation: its transpose times itself must be the identity.",
        ),
    ),
    mistakes=(
        Mistake(
            "forwards-only",
            lambda one_step, offset: _far(one_step, abs(offset)),
            "For a negative offset your matrix goes forwards. To go back is to undo a turn, and the "
            "transpose of a rotation does that.",
        ),
        Mistake(
            "backwards",
            lambda one_step, offset: _far(one_step, -offset),
            "Your matrix goes the other way: forwards for negative offsets, and back for positive ones. The "
            "transpose belongs to the negative ones alone.",
        ),
        Mistake(
            "nothing-for-negative",
            lambda one_step, offset: _far(one_step, max(offset, 0)),
            "For a negative offset your matrix is the identity, as if a loop had not run at all. Take the "
            "transpose of the matrix for the positive offset.",
        ),
        Mistake(
            "largest-power-alone",
            lambda one_step, offset: _far(one_step, _highest_power(offset)),
            "Only the largest power of two that fits was used: 5 steps become 4. Multiply by the matrix of "
            "each power whose binary digit is 1.",
        ),
        Mistake(
            "digits-from-the-left",
            lambda one_step, offset: _far(one_step, _digits_reversed(offset)),
            "The binary digits were read from the wrong end: the first digit that is written stands for "
            "the largest power of two. The last one belongs to the matrix of one step.",
        ),
        Mistake(
            "added-up",
            _sum_of_rungs,
            "The matrices of the powers were added up. Shifts one after the other are a product of their "
            "matrices.",
        ),
        Mistake(
            "one-step-too-many",
            lambda one_step, offset: _far(one_step, offset + 1),
            "Your matrix goes one step too far, as happens when the product begins with one_step. It "
            "begins with the identity, which is what no step at all does.",
        ),
        Mistake(
            "one-step-too-few",
            lambda one_step, offset: _far(one_step, offset - 1),
            "Your matrix goes one step too few.",
        ),
        Mistake(
            "power-of-each-number",
            lambda one_step, offset: one_step ** float(offset),
            "Each number of the matrix was raised to the power of the offset, as ** does in NumPy. The "
            "power of a matrix is a product of matrices: use @.",
        ),
        Mistake(
            "times-the-offset",
            lambda one_step, offset: offset * one_step,
            "This is the matrix of one step, times the offset. A shift by k is k steps one after the "
            "other: it is the angle that is multiplied, not the matrix.",
        ),
        Mistake(
            "digits-up-to-1024",
            lambda one_step, offset: _far(one_step, int(np.sign(offset)) * (abs(offset) % 1024)),
            "Far offsets come out too short: only the ten lowest binary digits were used. Make as many "
            "doublings as the offset has digits.",
        ),
    ),
    alternatives=(
        _by_squaring,
        _by_halves,
        lambda one_step, offset: np.linalg.matrix_power(one_step if offset >= 0 else one_step.T, abs(offset)),
    ),
    hints=(
        "13 steps are 8 + 4 + 1 steps: the binary digits of 13 are 1101. Each digit that is 1 is one of your "
        "doublings.",
        "Go through the digits from the right: `offset % 2` is the last one, and `offset // 2` takes it "
        "away.",
        "For a negative offset, make the matrix of the positive one and transpose it.",
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
    matrix = _turning(_rates_of(first))
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


# --- possible_distances, first_doubt: read the distance back ---------------------------------


def _fits(product: float, dim: int, base: float, reach: int, tolerance: float) -> np.ndarray:
    """Where among the distances 0 to reach the dot product is within the tolerance."""
    return np.asarray(np.abs(similarity(np.arange(reach + 1), dim, base=base) - product) <= tolerance)


def _distances_cases(rng: Generator) -> Iterator[Case]:
    for label, dim, base, reach, tolerance, true in (
        ("width 64, no doubt", 64, 10000.0, 30, 0.05, 3),
        ("width 64, two candidates or more", 64, 10000.0, 60, 0.3, 25),
        ("width 2: one clock comes round again and again", 2, 10000.0, 100, 0.05, 11),
        ("width 8, base 100", 8, 100.0, 80, 0.1, 17),
        ("the same place", 16, 10000.0, 50, 0.05, 0),
        ("the farthest distance", 16, 1000.0, 40, 0.1, 40),
        ("random distance, width 4", 4, 10000.0, 200, 0.02, int(rng.integers(5, 190))),
        ("random distance, width 32", 32, 500.0, 300, 0.05, int(rng.integers(5, 290))),
    ):
        kernel = similarity(np.arange(reach + 1), dim, base=base)
        while True:  # no distance stands on the border of the tolerance
            product = round(float(kernel[true] + tolerance * rng.uniform(-0.6, 0.6)), 6)
            if np.abs(np.abs(kernel - product) / tolerance - 1).min() > 1e-3:
                break
        yield Case(label, (product, dim, base, reach, tolerance))


def _distances_in_a_loop(product: float, dim: int, base: float, reach: int, tolerance: float) -> list[int]:
    found = []
    for distance in range(reach + 1):
        total = sum(np.cos(distance * base ** (-2 * i / dim)) for i in range(dim // 2))
        if abs(total - product) <= tolerance:
            found.append(distance)
    return found


def _distances_from_rows(product: float, dim: int, base: float, reach: int, tolerance: float) -> np.ndarray:
    table = sinusoidal(reach + 1, dim, base=base)
    return np.flatnonzero(np.abs(table @ table[0] - product) <= tolerance)


def _chosen(product: float, dim: int, base: float, reach: int, tolerance: float, *, last: bool) -> Any:
    return np.flatnonzero(_fits(product, dim, base, reach, tolerance))[-1 if last else 0]


POSSIBLE_DISTANCES = Exercise(
    id=f"{CHAPTER}.possible_distances",
    title="All distances that fit",
    step_of="Read the distance back",
    signature="possible_distances(product: number, dim: int, base: number, reach: int, tolerance: number) "
    "-> whole numbers, the smallest first",
    points=2,
    minutes=9,
    difficulty=3,
    reference=lambda product, dim, base, reach, tolerance: np.flatnonzero(
        _fits(product, dim, base, reach, tolerance)
    ),
    make_cases=_distances_cases,
    mistakes=(
        Mistake(
            "nearest-alone",
            lambda product, dim, base, reach, tolerance: np.asarray(
                [np.abs(similarity(np.arange(reach + 1), dim, base=base) - product).argmin()]
            ),
            "Only the distance whose dot product comes nearest is returned. All those within the tolerance "
            "are possible: the measurement cannot tell them apart.",
        ),
        Mistake(
            "first-alone",
            lambda *args: np.asarray([_chosen(*args, last=False)]),
            "Only the smallest distance that fits is returned. The kernel is no staircase: go on, and "
            "others may fit as well.",
        ),
        Mistake(
            "until-it-is-passed",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                np.cumprod(similarity(np.arange(reach + 1), dim, base=base) >= product - tolerance)
                * _fits(product, dim, base, reach, tolerance)
            ),
            "You stop where the dot product has fallen below the one that is given. It may rise again: "
            "look at all distances up to reach.",
        ),
        Mistake(
            "usual-base",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                _fits(product, dim, 10000.0, reach, tolerance)
            ),
            "The base is taken to be 10000, whatever is given. Use it in the frequencies: base to the power "
            "-2i/dim.",
        ),
        Mistake(
            "reach-left-out",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                _fits(product, dim, base, reach, tolerance)[:-1]
            ),
            "The distance reach itself is not looked at. range(reach) ends one before it.",
        ),
        Mistake(
            "zero-left-out",
            lambda product, dim, base, reach, tolerance: (
                1 + np.flatnonzero(_fits(product, dim, base, reach, tolerance)[1:])
            ),
            "The distance 0 is not looked at. Two rows may stand at the same place.",
        ),
        Mistake(
            "counted-from-one",
            lambda product, dim, base, reach, tolerance: (
                1 + np.flatnonzero(_fits(product, dim, base, reach, tolerance))
            ),
            "All your distances are one too large. The first number of the kernel belongs to distance 0.",
        ),
        Mistake(
            "columns-for-pairs",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                np.abs(2 * similarity(np.arange(reach + 1), dim, base=base) - product) <= tolerance
            ),
            "Each clock is counted twice, as if there were dim of them. A pair of columns adds one cosine, "
            "and there are dim / 2 pairs.",
        ),
        Mistake(
            "share-of-the-peak",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                np.abs(similarity(np.arange(reach + 1), dim, base=base) / (dim / 2) - product) <= tolerance
            ),
            "The dot product was divided by its peak before it was compared. The product that is given was "
            "not.",
        ),
        Mistake(
            "as-truth-values",
            lambda product, dim, base, reach, tolerance: _fits(product, dim, base, reach, tolerance).astype(
                float
            ),
            "You return for each distance whether it fits. Return the distances themselves: np.flatnonzero "
            "gives the places where an array is true.",
        ),
        Mistake(
            "both-directions",
            lambda *args: np.concatenate(
                [
                    -np.flatnonzero(_fits(*args))[::-1][np.flatnonzero(_fits(*args))[::-1] > 0],
                    np.flatnonzero(_fits(*args)),
                ]
            ),
            "Negative offsets are listed too. They do fit, since the dot product is blind to direction; "
            "but a distance is 0 or more.",
        ),
        Mistake(
            "half-the-tolerance",
            lambda product, dim, base, reach, tolerance: np.flatnonzero(
                _fits(product, dim, base, reach, tolerance / 2)
            ),
            "You allow half the tolerance only. A distance is possible if its dot product is at most the "
            "tolerance away, to either side.",
        ),
    ),
    alternatives=(
        _distances_in_a_loop,
        _distances_from_rows,
        lambda *args: [int(k) for k, fits in enumerate(_fits(*args)) if fits],
    ),
    hints=(
        "Which dot product does the distance k have? It is a sum of dim / 2 cosines.",
        "`np.arange(reach + 1)[:, None] * rates` holds all angles: a row for each distance, a column for "
        "each clock.",
        "`np.flatnonzero(np.abs(kernel - product) <= tolerance)` lists the places that fit.",
    ),
)


def _doubt_cases(rng: Generator) -> Iterator[Case]:
    asked = [
        ("width 64, base 10000", 64, 10000.0, 100, 0.1),
        ("width 2", 2, 10000.0, 60, 0.001),
        ("width 8, base 100", 8, 100.0, 150, 0.01),
        ("width 64, only near distances: no doubt", 64, 10000.0, 5, 0.1),
        ("one distance alone: no doubt", 8, 10000.0, 0, 0.5),
    ]
    for number in range(1, 13):
        dim, base = int(2 * rng.integers(2, 33)), float(rng.integers(50, 20_000))
        reach, tolerance = int(rng.integers(30, 200)), float(10 ** rng.uniform(-4, -0.3))
        asked.append((f"random width and base {number}", dim, base, reach, tolerance))
    for label, dim, base, reach, tolerance in asked:
        gaps = _gaps(dim, base, reach)
        while gaps.size and np.abs(gaps / tolerance - 1).min() < 1e-4:
            tolerance *= 1.001  # no two products differ by just the tolerance
        yield Case(label, (dim, base, reach, tolerance))


def _gaps(dim: int, base: float, reach: int) -> np.ndarray:
    kernel = similarity(np.arange(reach + 1), dim, base=base)
    one, other = np.triu_indices(reach + 1, k=1)
    return np.asarray(np.abs(kernel[one] - kernel[other]))


def _close_pairs(dim: int, base: float, reach: int, tolerance: float) -> np.ndarray:
    """Pairs of distances that look alike: (pairs, 2), the smaller distance first."""
    one, other = np.triu_indices(reach + 1, k=1)
    return np.stack([one, other], axis=1)[_gaps(dim, base, reach) <= tolerance]


def _doubt(dim: int, base: float, reach: int, tolerance: float) -> int:
    pairs = _close_pairs(dim, base, reach, tolerance)
    return int(pairs.min()) if len(pairs) else -1


def _later_of_the_first_pair(dim: int, base: float, reach: int, tolerance: float) -> int:
    pairs = _close_pairs(dim, base, reach, tolerance)
    return int(pairs[0, 1]) if len(pairs) else -1


def _smallest_later_one(dim: int, base: float, reach: int, tolerance: float) -> int:
    pairs = _close_pairs(dim, base, reach, tolerance)
    return int(pairs[:, 1].min()) if len(pairs) else -1


def _neighbours_alike(dim: int, base: float, reach: int, tolerance: float) -> int:
    close = np.flatnonzero(np.abs(np.diff(similarity(np.arange(reach + 1), dim, base=base))) <= tolerance)
    return int(close[0]) if len(close) else -1


def _first_rise(dim: int, base: float, reach: int, tolerance: float) -> int:
    rises = np.flatnonzero(np.diff(similarity(np.arange(reach + 1), dim, base=base)) > 0)
    return int(rises[0]) if len(rises) else -1


def _doubt_in_loops(dim: int, base: float, reach: int, tolerance: float) -> int:
    for distance in range(reach + 1):
        product = float(similarity(distance, dim, base=base))
        if len(_distances_in_a_loop(product, dim, base, reach, tolerance)) > 1:
            return distance
    return -1


def _doubt_by_matrix(dim: int, base: float, reach: int, tolerance: float) -> int:
    kernel = similarity(np.arange(reach + 1), dim, base=base)
    alike = (np.abs(kernel[:, None] - kernel) <= tolerance).sum(axis=1) > 1
    return int(alike.argmax()) if alike.any() else -1


FIRST_DOUBT = Exercise(
    id=f"{CHAPTER}.first_doubt",
    title="The first blind spot",
    step_of="Read the distance back",
    signature="first_doubt(dim: int, base: number, reach: int, tolerance: number) -> int",
    points=1,
    minutes=8,
    difficulty=3,
    reference=_doubt,
    make_cases=_doubt_cases,
    mistakes=(
        Mistake(
            "fits-itself",
            lambda dim, base, reach, tolerance: 0,
            "Every distance fits its own dot product, so each has one candidate at least. There is doubt "
            "where there is a second.",
        ),
        Mistake(
            "zero-for-none",
            lambda *args: max(_doubt(*args), 0),
            "Where no distance is in doubt you return 0, which says that distance 0 is. Return -1 there.",
        ),
        Mistake(
            "reach-for-none",
            lambda dim, base, reach, tolerance: (
                _doubt(dim, base, reach, tolerance) if _doubt(dim, base, reach, tolerance) >= 0 else reach + 1
            ),
            "Where no distance is in doubt you return the number of distances. Return -1 there.",
        ),
        Mistake(
            "later-of-the-pair",
            _later_of_the_first_pair,
            "You return the distance that the first doubtful one is mistaken for. Return the smaller of "
            "the two.",
        ),
        Mistake(
            "repeats-an-earlier-one",
            _smallest_later_one,
            "You return the first distance that looks like a smaller one. The smaller one is in doubt as "
            "well, and comes first.",
        ),
        Mistake(
            "neighbours-alone",
            _neighbours_alike,
            "You compare each distance with the next one alone. The kernel comes back to an old value much "
            "later: compare with all distances up to reach.",
        ),
        Mistake(
            "first-rise",
            _first_rise,
            "You look for the first place where the kernel rises. A rise need not bring it back to an old "
            "value within the tolerance, and where it does, the doubt may begin earlier.",
        ),
        Mistake(
            "usual-base",
            lambda dim, base, reach, tolerance: _doubt(dim, 10000.0, reach, tolerance),
            "The base is taken to be 10000, whatever is given.",
        ),
        Mistake(
            "one-too-large",
            lambda *args: _doubt(*args) + 1 if _doubt(*args) >= 0 else -1,
            "Your distance is one too large: the count begins at 0.",
        ),
        Mistake(
            "how-many",
            lambda *args: len(np.unique(_close_pairs(*args))) or -1,
            "You count how many distances are in doubt. Return the smallest of them.",
        ),
    ),
    alternatives=(
        _doubt_in_loops,
        _doubt_by_matrix,
        lambda *args: min((int(a) for a, _ in _close_pairs(*args)), default=-1),
    ),
    hints=(
        "For each distance, make its dot product and ask your `possible_distances` which distances fit it.",
        "A distance is certain if it is the only one that fits its own product.",
    ),
)


# --- symmetries ------------------------------------------------------------------------------

POSITIONS = 64
"""The scores are to be judged at whole positions below this."""
ALL = np.arange(POSITIONS)
Rule = Callable[[np.ndarray, int], np.ndarray]


def _offsets(positions: np.ndarray) -> np.ndarray:
    return np.asarray(positions[None, :] - positions[:, None])


def _sinusoids(positions: np.ndarray, seed: int) -> np.ndarray:
    rows = sinusoidal(positions, 32)
    return np.asarray(rows @ rows.T)


def _looks_back(positions: np.ndarray, seed: int) -> np.ndarray:
    rows = sinusoidal(positions, 32)
    return np.asarray(rows @ shift_matrix(-1, 32).T @ rows.T)


def _projected(positions: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = sinusoidal(positions, 32)
    w_q, w_k = rng.normal(size=(2, 32, 32)) / np.sqrt(32)
    return np.asarray((rows @ w_q) @ (rows @ w_k).T)


def _random_table(positions: np.ndarray, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(POSITIONS, 32))[positions]
    return np.asarray(rows @ rows.T)


def _near_and_far(positions: np.ndarray, seed: int) -> np.ndarray:
    distance = np.abs(_offsets(positions))
    return np.where(distance <= 8, -distance / 2, -positions[:, None] / 50)


def _from_the_middle(positions: np.ndarray) -> np.ndarray:
    return np.abs(positions - (POSITIONS - 1) / 2)


Verdict = tuple[bool, bool, bool]
"""Whether a shift, a mirror, any reordering leaves the scores as they are."""
EVERY, DISTANCE, OFFSET, MIRROR, NONE = (
    (True, True, True),
    (True, True, False),
    (True, False, False),
    (False, True, False),
    (False, False, False),
)
_SCORES: dict[str, tuple[Verdict, Rule]] = {
    "the same score everywhere": (EVERY, lambda p, seed: np.full((len(p), len(p)), 0.7)),
    "the same score everywhere, and a bonus for a token itself": (
        EVERY,
        lambda p, seed: 2.0 * (_offsets(p) == 0),
    ),
    "dot products of sinusoidal rows": (DISTANCE, _sinusoids),
    "a penalty on distance": (DISTANCE, lambda p, seed: -0.5 * np.abs(_offsets(p))),
    "a penalty on distance that stops at 16": (
        DISTANCE,
        lambda p, seed: -1.0 * np.minimum(np.abs(_offsets(p)), 16),
    ),
    "sinusoidal rows, queries shifted back by one": (OFFSET, _looks_back),
    "a bias that grows with the key's lead": (OFFSET, lambda p, seed: 0.5 * _offsets(p)),
    "a penalty on every key that is ahead": (OFFSET, lambda p, seed: -30.0 * (_offsets(p) > 0)),
    "a liking for the ends of the text": (
        MIRROR,
        lambda p, seed: _from_the_middle(p)[:, None] / 20 + _from_the_middle(p)[None, :] / 10,
    ),
    "a penalty on distance, weaker in the middle": (
        MIRROR,
        lambda p, seed: -np.abs(_offsets(p)) * (1 + _from_the_middle(p)[:, None] / 10),
    ),
    "sinusoidal rows through random projections": (NONE, _projected),
    "rows of a random table": (NONE, _random_table),
    "sinusoidal rows that stop at position 48": (
        NONE,
        lambda p, seed: _sinusoids(np.minimum(p, 48), seed),
    ),
    "sinusoidal rows, and a little more for odd keys": (
        NONE,
        lambda p, seed: _sinusoids(p, seed) + 0.1 * (p % 2),
    ),
    "sinusoidal rows, and a bonus for the very first key": (
        NONE,
        lambda p, seed: _sinusoids(p, seed) + 1.0 * (p == 0),
    ),
    "near keys by distance, far keys by the query's place": (NONE, _near_and_far),
}


@dataclass(frozen=True)
class Scores:
    """A way to score whole positions, 0 to 63: n of them give (n, n), the score of each query and key."""

    kind: str
    seed: int

    def __call__(self, positions: Any) -> np.ndarray:
        given = np.asarray(positions)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise ValueError("give positions as one list or array of whole numbers, such as np.arange(10)")
        if given.size and (given.min() < 0 or given.max() >= POSITIONS):
            raise ValueError("these scores exist for positions 0 to 63; give none outside")
        return np.asarray(_SCORES[self.kind][1](given, self.seed), dtype=float)


def _symmetry_cases(rng: Generator) -> Iterator[Case]:
    groups = [
        [kind for kind, (verdict, _) in _SCORES.items() if verdict == wanted]
        for wanted in (EVERY, DISTANCE, OFFSET, MIRROR, NONE)
    ]
    for kind in enough_of_each(rng, *groups):
        yield Case(kind, (Scores(kind, int(rng.integers(1000))),))


Close = Callable[[Any, Any], bool]


def _shift(scores: Any, step: int = 1, positions: np.ndarray = ALL, close: Close = np.allclose) -> bool:
    return bool(close(scores(positions[:-step]), scores(positions[step:])))


def _mirror(scores: Any, close: Close = np.allclose) -> bool:
    return bool(close(scores(ALL[::-1]), scores(ALL)))


def _any_order(scores: Any, close: Close = np.allclose) -> bool:
    """Two reorderings make all others: one step round, and two neighbours that change places."""
    swapped = ALL.copy()
    swapped[[0, 1]] = 1, 0
    return all(bool(close(scores(order), scores(ALL))) for order in (np.roll(ALL, 1), swapped))


def _by_the_matrix(scores: Any) -> list[bool]:
    matrix = np.asarray(scores(list(range(POSITIONS))))
    lines = [np.diagonal(matrix, k) for k in range(1 - POSITIONS, POSITIONS)]
    others = matrix[~np.eye(POSITIONS, dtype=bool)]
    return [
        all(np.ptp(line) < 1e-9 for line in lines),
        bool(np.allclose(matrix[::-1, ::-1], matrix)),
        bool(np.ptp(np.diagonal(matrix)) < 1e-9 and np.ptp(others) < 1e-9),
    ]


def _by_random_orders(scores: Any) -> Verdict:
    matrix, rng = np.asarray(scores(ALL)), np.random.default_rng(0)
    any_order = all(
        np.allclose(matrix[np.ix_(order, order)], matrix)
        for order in (rng.permutation(ALL) for _ in range(20))
    )
    shift = np.allclose(matrix[1:, 1:], matrix[:-1, :-1])
    return bool(shift), bool(np.abs(matrix - np.flip(matrix)).max() < 1e-6), any_order


SYMMETRIES = Exercise(
    id=f"{CHAPTER}.symmetries",
    title="Prove by test: which symmetry is left?",
    signature="symmetries(scores: function from n whole positions, 0 to 63, to an (n, n) array) "
    "-> three truth values: a shift, a mirror, any reordering",
    points=4,
    minutes=18,
    difficulty=4,
    parts=("a shift", "a mirror", "any reordering"),
    reference=lambda scores: (_shift(scores), _mirror(scores), _any_order(scores)),
    make_cases=_symmetry_cases,
    mistakes=(
        Mistake(
            "exactly-equal",
            lambda scores: (
                _shift(scores, close=np.array_equal),
                _mirror(scores, close=np.array_equal),
                _any_order(scores, close=np.array_equal),
            ),
            "You compare with ==, and rounding makes equal scores differ in their last digit. Compare with "
            "np.allclose.",
        ),
        Mistake(
            "mirror-is-transpose",
            lambda scores: (
                _shift(scores),
                bool(np.allclose(scores(ALL), scores(ALL).T)),
                _any_order(scores),
            ),
            "For the mirror you compare the matrix with its transpose: that lets queries and keys change "
            "roles. A mirror turns the text round, so position p becomes 63 - p for both.",
        ),
        Mistake(
            "queries-alone-turned-round",
            lambda scores: (
                _shift(scores),
                bool(np.allclose(scores(ALL)[::-1], scores(ALL))),
                _any_order(scores),
            ),
            "For the mirror you turn the rows of the matrix round, and leave the columns: the queries move "
            "and the keys stay. Both must be turned round.",
        ),
        Mistake(
            "shift-is-a-symmetric-matrix",
            lambda scores: (
                bool(np.allclose(scores(ALL), scores(ALL).T)),
                _mirror(scores),
                _any_order(scores),
            ),
            "For the shift you test whether the matrix is symmetric. A score may survive every shift and "
            "still tell before from after. Compare with the scores of shifted positions.",
        ),
        Mistake(
            "any-is-both",
            lambda scores: (_shift(scores), _mirror(scores), _shift(scores) and _mirror(scores)),
            "You call it any reordering where both the shift and the mirror change nothing. A score that "
            "depends on the distance survives both, and no shuffle. Try an order that is neither.",
        ),
        Mistake(
            "any-is-the-mirror",
            lambda scores: (_shift(scores), _mirror(scores), _mirror(scores)),
            "For any reordering you try the mirror alone. It is one of very many orders: try others, at "
            "random for example.",
        ),
        Mistake(
            "all-scores-equal",
            lambda scores: (_shift(scores), _mirror(scores), bool(np.ptp(scores(ALL)) < 1e-9)),
            "You ask whether all scores are equal. A token may score itself differently from all others: "
            "that also survives every reordering, since a token goes on being itself.",
        ),
        Mistake(
            "near-positions-only",
            lambda scores: (_shift(scores, positions=ALL[:32]), _mirror(scores), _any_order(scores)),
            "Your test of the shift looks at the first positions only, and one of these scores goes wrong "
            "further out. It exists for positions 0 to 63: test them all.",
        ),
        Mistake(
            "even-shift",
            lambda scores: (_shift(scores, step=2), _mirror(scores), _any_order(scores)),
            "You shift by 2, which takes odd positions to odd ones. A score that knows odd from even slips "
            "through. Shift by 1: every other shift is made of those.",
        ),
        Mistake(
            "skips-the-start",
            lambda scores: (_shift(scores, positions=ALL[1:]), _mirror(scores), _any_order(scores)),
            "Your test of the shift leaves out position 0, and one of these scores treats just that one "
            "differently. Test all of 0 to 63.",
        ),
        Mistake(
            "rolled",
            lambda scores: (
                bool(np.allclose(scores(ALL), np.roll(scores(ALL), (1, 1), axis=(0, 1)))),
                _mirror(scores),
                _any_order(scores),
            ),
            "For the shift you use np.roll, which moves the last row to the top, as if position 0 came "
            "after position 63. Text is no circle: compare positions 0 to 62 with positions 1 to 63.",
        ),
        Mistake(
            "one-diagonal",
            lambda scores: (
                bool(np.ptp(np.diagonal(scores(ALL))) < 1e-9),
                _mirror(scores),
                _any_order(scores),
            ),
            "For the shift you look at the main diagonal alone, that is at offset 0. The scores must be "
            "equal along every diagonal.",
        ),
        Mistake(
            "shift-and-mirror-exchanged",
            lambda scores: (_mirror(scores), _shift(scores), _any_order(scores)),
            "Your tests are right, and the first two have changed places: the shift comes first, then the "
            "mirror.",
        ),
        Mistake(
            "verdicts-turned-round",
            lambda scores: (not _shift(scores), not _mirror(scores), not _any_order(scores)),
            "Your tests are right and your verdicts are turned round: return True where the scores stay "
            "what they were.",
        ),
    ),
    alternatives=(
        _by_the_matrix,
        _by_random_orders,
        lambda scores: [bool(each) for each in _by_the_matrix(scores)],
    ),
    hints=(
        "`scores(order)` gives the scores of the positions in that order. If a move leaves all scores as "
        "they are, it gives the same array as `scores(np.arange(64))`.",
        "A shift by 1 is enough: `scores(np.arange(63))` and `scores(np.arange(1, 64))` have the same shape.",
        "For any reordering, a few random ones settle it: `np.random.default_rng(0).permutation(64)`.",
    ),
)


# --- four_terms ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Head:
    """A closed head: from any rows (n, dim) to their scores (n, n). Its weights stay inside."""

    dim: int
    head_dim: int
    seed: int

    def __call__(self, x: Any) -> np.ndarray:
        rows = np.asarray(x)
        if rows.ndim != 2 or rows.shape[1] != self.dim or rows.dtype.kind not in "iuf":
            raise ValueError(f"give rows of {self.dim} real numbers: an array of shape (n, {self.dim})")
        w_q, w_k = np.random.default_rng(self.seed).normal(size=(2, self.dim, self.head_dim))
        return np.asarray((rows @ w_q) @ (rows @ w_k).T / np.sqrt(self.head_dim))


def _term_cases(rng: Generator) -> Iterator[Case]:
    def inputs(tokens: int, dim: int, head_dim: int) -> tuple[Head, np.ndarray, np.ndarray]:
        head = Head(dim, head_dim, int(rng.integers(10**6)))
        return head, rng.normal(size=(tokens, dim)), sinusoidal(tokens, dim)

    yield Case("three tokens, dim 4", inputs(3, 4, 2))
    yield Case("five tokens, dim 8", inputs(5, 8, 3))
    yield Case("one token, dim 2", inputs(1, 2, 1))
    yield Case("four tokens, dim 4: every array is square", inputs(4, 4, 4))
    head, words, places = inputs(4, 6, 5)
    yield Case("no positions: places of zeros", (head, words, np.zeros_like(places)))
    yield Case("one word everywhere", (head, np.repeat(words[:1], 4, axis=0), places))


def _terms(head: Head, words: np.ndarray, places: np.ndarray) -> np.ndarray:
    n, scores = len(words), head(np.concatenate([words, places]))
    return np.stack([scores[:n, :n], scores[:n, n:], scores[n:, :n], scores[n:, n:]])


def _terms_from_what_stands_between(head: Head, words: np.ndarray, places: np.ndarray) -> list[np.ndarray]:
    between = head(np.eye(words.shape[1]))
    return [query @ between @ key.T for query in (words, places) for key in (words, places)]


def _terms_token_by_token(head: Head, words: np.ndarray, places: np.ndarray) -> np.ndarray:
    n = len(words)
    terms = np.zeros((4, n, n))
    for t in range(n):
        for u in range(n):
            for number, (query, key) in enumerate(
                [(words, words), (words, places), (places, words), (places, places)]
            ):
                terms[number, t, u] = head(np.stack([query[t], key[u]]))[0, 1]
    return terms


def _both_mixed(head: Head, words: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.asarray(head(words + places) - head(words) - head(places))


FOUR_TERMS = Exercise(
    id=f"{CHAPTER}.four_terms",
    title="Take a closed head apart",
    signature="four_terms(head: function from (n, dim) to (n, n), words: (n, dim), places: (n, dim)) "
    "-> array of shape (4, n, n)",
    points=3,
    minutes=15,
    difficulty=4,
    reference=_terms,
    make_cases=_term_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (4, len(args[1]), len(args[1])),
            "Return four terms, each with a row for every query and a column for every key: (4, n, n).",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=0), args[0](args[1] + args[2]))),
            "The four terms must add up to the scores of words + places: nothing may be lost or counted "
            "twice.",
        ),
    ),
    mistakes=(
        Mistake(
            "both-mixed-halved",
            lambda head, words, places: np.stack(
                [
                    head(words),
                    _both_mixed(head, words, places) / 2,
                    _both_mixed(head, words, places) / 2,
                    head(places),
                ]
            ),
            "The mixed part is cut in two equal halves. Word with place and place with word are two "
            "different terms: to tell them apart, let words and places stand in different rows of one "
            "input.",
        ),
        Mistake(
            "both-mixed-twice",
            lambda head, words, places: np.stack(
                [
                    head(words),
                    _both_mixed(head, words, places),
                    _both_mixed(head, words, places),
                    head(places),
                ]
            ),
            "Both mixed terms hold the sum of the two, so together they count it twice.",
        ),
        Mistake(
            "mixed-as-transposes",
            lambda head, words, places: np.stack(
                [
                    head(words),
                    _terms(head, words, places)[1],
                    _terms(head, words, places)[1].swapaxes(0, 1),
                    head(places),
                ]
            ),
            "Your third term is the transpose of the second. That would be so if queries and keys were "
            "made with the same weights, which they are not.",
        ),
        Mistake(
            "mixed-terms-exchanged",
            lambda head, words, places: _terms(head, words, places)[[0, 2, 1, 3]],
            "The two mixed terms have changed places. The second is the word of the query with the place "
            "of the key, and the third the place of the query with the word of the key.",
        ),
        Mistake(
            "mixed-terms-zero",
            lambda head, words, places: np.stack(
                [head(words), 0 * head(words), 0 * head(words), head(places)]
            ),
            "The mixed terms are 0 here. The scores of words + places are more than those of the words "
            "plus those of the places: multiply out (a + b)(c + d).",
        ),
        Mistake(
            "places-first",
            lambda head, words, places: _terms(head, words, places)[::-1],
            "The terms come in the opposite order. Words with words come first, and places with places last.",
        ),
        Mistake(
            "whole-input-in-the-mixed-terms",
            lambda head, words, places: np.stack(
                [
                    head(words),
                    _terms(head, words, words + places)[1],
                    _terms(head, words, words + places)[2],
                    head(places),
                ]
            ),
            "Your mixed terms take words + places on one side, so they hold another term once more. One "
            "side is the word alone, and the other the place alone.",
        ),
        Mistake(
            "scaled-once-more",
            lambda head, words, places: _terms(head, words, places) / np.sqrt(words.shape[1]),
            "The terms are divided by a square root once more. The head has scaled its scores already.",
        ),
        Mistake(
            "queries-across",
            lambda head, words, places: np.swapaxes(_terms(head, words, places), 1, 2),
            "Each term is transposed: its rows are keys. In what the head returns, rows are queries.",
        ),
        Mistake(
            "softmax-of-each",
            lambda head, words, places: _softmax(_terms(head, words, places)),
            "A softmax was taken of each term. The terms are parts of a score: they are added up first, "
            "and the softmax comes after that.",
        ),
        Mistake(
            "mixed-terms-together",
            lambda head, words, places: np.stack(
                [head(words), _both_mixed(head, words, places), head(places)]
            ),
            "The two mixed terms were added up to one. Keep them apart: the one says which words look at "
            "which places, the other which places look at which words.",
        ),
        Mistake(
            "dot-products",
            lambda head, words, places: np.stack(
                [words @ words.T, words @ places.T, places @ words.T, places @ places.T]
            ),
            "These are dot products of the inputs themselves. The head's own weights come in between: ask "
            "the head.",
        ),
    ),
    alternatives=(
        _terms_from_what_stands_between,
        _terms_token_by_token,
        lambda *args: _terms(*args).tolist(),
    ),
    hints=(
        "`head(words)` and `head(places)` are two of the four terms. Why is the rest of `head(words + "
        "places)` not enough for the other two?",
        "A score belongs to one row as the query and one row as the key, whatever other rows there are. So "
        "a row may be a word alone, and another row a place alone.",
        "`head(np.concatenate([words, places]))` has 2n rows and 2n columns. What stands in its four "
        "quarters?",
    ),
)


# --- key_of_next, one_back: a head that looks one back ---------------------------------------


def _width_cases(rng: Generator) -> Iterator[Case]:
    for label, dim, base in (
        ("dim 2, base 10000", 2, 10000.0),
        ("dim 4, base 10000", 4, 10000.0),
        ("dim 8, base 100", 8, 100.0),
        ("dim 64, base 10000", 64, 10000.0),
        ("random width and base", int(2 * rng.integers(3, 17)), float(rng.integers(50, 20_000))),
    ):
        yield Case(label, (dim, base))


def _key_matrix(dim: int, base: float, step: float = 1) -> np.ndarray:
    return np.ascontiguousarray(shift_matrix(step, dim, base=base).T)


def _key_matrix_by_products(dim: int, base: float) -> np.ndarray:
    turn = np.exp(1j * frequencies(dim, base=base))
    quarter = np.asarray([[0.0, -1.0], [1.0, 0.0]])
    return np.asarray(np.kron(np.diag(turn.real), np.eye(2)) + np.kron(np.diag(turn.imag), quarter))


def _key_matrix_in_loops(dim: int, base: float) -> list[list[float]]:
    matrix = [[0.0] * dim for _ in range(dim)]
    for even in range(0, dim, 2):
        angle = base ** (-even / dim)
        matrix[even][even] = matrix[even + 1][even + 1] = float(np.cos(angle))
        matrix[even][even + 1] = -float(np.sin(angle))
        matrix[even + 1][even] = float(np.sin(angle))
    return matrix


def _key_blocks(dim: int, base: float, block: Callable[[float, float], list[list[float]]]) -> np.ndarray:
    matrix = np.zeros((dim, dim))
    for pair, rate in enumerate(frequencies(dim, base=base)):
        here = slice(2 * pair, 2 * pair + 2)
        matrix[here, here] = block(float(np.cos(rate)), float(np.sin(rate)))
    return matrix


ONE_BACK_HEAD = "A head that looks one back"

KEY_OF_NEXT = Exercise(
    id=f"{CHAPTER}.key_of_next",
    title="The key of the next place",
    step_of=ONE_BACK_HEAD,
    signature="key_of_next(dim: int, base: number) -> array of shape (dim, dim)",
    points=2,
    minutes=9,
    difficulty=3,
    reference=lambda dim, base: _key_matrix(dim, base),
    make_cases=_width_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0], args[0]),
            "The matrix must have dim rows and dim columns.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.tile([0.0, 1.0], args[0] // 2) @ value,
                    sinusoidal(2, args[0], base=args[1])[1],
                    atol=1e-3,
                )
            ),
            "The row of position 0 is 0, 1, 0, 1, ... Times your matrix it must be the row of position 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "keys-of-the-place-before",
            lambda dim, base: _key_matrix(dim, base, -1),
            "With your matrix the key of place p is the row of place p - 1. A row stands on the left of "
            "the product, x @ w_k, so the matrix that moves a column has to be transposed.",
        ),
        Mistake(
            "usual-base",
            lambda dim, base: _key_matrix(dim, 10000.0),
            "The base is taken to be 10000, whatever is given. The frequency of pair i is base to the "
            "power -2i/dim.",
        ),
        Mistake(
            "unturned",
            lambda dim, base: np.eye(dim),
            "With the identity each key is the row of its own place, so every query finds itself. Turn "
            "each pair by one step.",
        ),
        Mistake(
            "one-angle-for-all",
            lambda dim, base: _key_blocks(dim, 1.0, lambda c, s: [[c, -s], [s, c]]),
            "Every pair is turned by 1 radian. Each pair has its own frequency, and that is its turn for "
            "one step.",
        ),
        Mistake(
            "no-minus",
            lambda dim, base: _key_blocks(dim, base, lambda c, s: [[c, s], [s, c]]),
            "Both sines are positive, so this is no turn. The cosine of a sum is cos cos - sin sin: one of "
            "the sines gets a minus sign.",
        ),
        Mistake(
            "mirror",
            lambda dim, base: _key_blocks(dim, base, lambda c, s: [[c, s], [s, -c]]),
            "The minus sign stands at a cosine. That makes a mirror, which turns nothing. Put it at the "
            "sine that brings the old sine into the new cosine.",
        ),
        Mistake(
            "split-layout",
            lambda dim, base: shift_matrix(1, dim, base=base, layout="split").T,
            "Your matrix is for rows with all sines first. Here the two of a pair stand side by side, so "
            "every pair has a block of two rows and two columns on the diagonal.",
        ),
        Mistake(
            "exponent-without-the-two",
            lambda dim, base: _key_blocks(dim, base**0.5, lambda c, s: [[c, -s], [s, c]]),
            "The exponent is i/dim where it should be 2i/dim.",
        ),
        Mistake(
            "doubled-twice",
            lambda dim, base: _key_blocks(dim, base**2, lambda c, s: [[c, -s], [s, c]]),
            "The exponent is 4i/dim where it should be 2i/dim: the factor 2 is taken twice, as happens "
            "when i counts columns in steps of two and is doubled again.",
        ),
        Mistake(
            "sine-and-cosine-exchanged",
            lambda dim, base: _key_blocks(dim, base, lambda c, s: [[s, -c], [c, s]]),
            "Sine and cosine have changed places. A turn by a small angle changes little, so the cosines "
            "stand on the diagonal.",
        ),
        Mistake(
            "two-steps",
            lambda dim, base: _key_matrix(dim, base, 2),
            "Your matrix goes two places on. One is asked for.",
        ),
    ),
    alternatives=(
        _key_matrix_in_loops,
        _key_matrix_by_products,
        lambda dim, base: _key_blocks(dim, base, lambda c, s: [[c, -s], [s, c]]),
    ),
    hints=(
        "Write down the new sine and the new cosine of one pair by angle addition. The turn is the "
        "frequency itself, since it is one step.",
        "In `row @ matrix` the first row of a block says where the old sine goes: into the new sine with "
        "one factor, and into the new cosine with another.",
        "Start from `np.zeros((dim, dim))`. Pair i fills rows and columns 2i and 2i + 1, with the angle "
        "base ** (-2 * i / dim).",
    ),
)


def _one_back_cases(rng: Generator) -> Iterator[Case]:
    def rows_of(queries: Any, keys: Any, dim: int, base: float) -> tuple[Any, ...]:
        return (
            sinusoidal(np.asarray(queries), dim, base=base),
            sinusoidal(np.asarray(keys), dim, base=base),
            base,
        )

    near = np.arange(1, 9)
    yield Case("places 1 to 8 ask, 0 to 8 answer, dim 16", rows_of(near, np.arange(9), 16, 10000.0))
    yield Case("one query alone, dim 8", rows_of([5], np.arange(10), 8, 10000.0))
    yield Case("keys in any order, dim 32, base 100", rows_of(near, rng.permutation(9), 32, 100.0))
    yield Case("every third place asks", rows_of(np.arange(3, 20, 3), np.arange(20), 16, 1000.0))
    far = int(rng.integers(5000, 90_000))
    yield Case("far beyond, dim 64", rows_of(far + near, far + rng.permutation(9), 64, 10000.0))
    start, dim = int(rng.integers(100, 900)), int(2 * rng.integers(5, 17))
    base = float(rng.integers(50, 20_000))
    yield Case(
        "random width, base and order",
        rows_of(start + rng.permutation(np.arange(1, 16)), start + rng.permutation(16), dim, base),
    )
    yield Case("dim 32, base 2", rows_of(near, rng.permutation(9), 32, 2.0))
    yield Case("sixty places, dim 64", rows_of(np.arange(1, 60), np.arange(60), 64, 10000.0))


def _looking_at(
    queries: np.ndarray,
    keys: np.ndarray,
    base: float,
    *,
    step: float = 1,
    loudness: float = 1000.0,
    axis: int = -1,
) -> np.ndarray:
    """Weights of a head whose keys are turned `step` places on."""
    dim = queries.shape[1]
    turned = keys @ shift_matrix(step, dim, base=base).T
    return _softmax(loudness * queries @ turned.T / np.sqrt(dim), axis)


def _by_nearest_row(queries: np.ndarray, keys: np.ndarray, base: float) -> np.ndarray:
    turned = keys @ _key_matrix(keys.shape[1], base)
    distance = np.linalg.norm(queries[:, None] - turned, axis=-1)
    return np.asarray((distance.argmin(axis=1)[:, None] == np.arange(len(keys))).astype(float))


def _queries_turned_back(queries: np.ndarray, keys: np.ndarray, base: float) -> np.ndarray:
    back = queries @ _key_matrix(queries.shape[1], base, -1)
    return _softmax(200.0 * back @ keys.T)


def _sum_to_one(weights: Any) -> bool:
    """Whether rows sum to 1, give or take what the tolerance of 0.01 allows each number."""
    weights = np.asarray(weights)
    return bool(np.abs(weights.sum(axis=-1) - 1).max() <= 0.01 * weights.shape[-1] + 0.01)


ONE_BACK = Exercise(
    id=f"{CHAPTER}.one_back",
    title="Loud enough",
    step_of=ONE_BACK_HEAD,
    adds="Your decoder gets a head that looks one back: nobody trained it, and it works at every place.",
    signature="one_back(queries: array of shape (m, dim), keys: array of shape (n, dim), base: number) "
    "-> weights of shape (m, n)",
    points=2,
    minutes=11,
    difficulty=3,
    draws=Draws(
        lambda one_back, rows, columns: heat_map(
            one_back(sinusoidal(np.arange(1, 13), 64), sinusoidal(13, 64), 10000.0),
            rows=rows,
            columns=columns,
        ),
        axes=("query, from place 1", "key"),
        look="Every query looks at the key of the place before its own.",
    ),
    reference=lambda queries, keys, base: _looking_at(queries, keys, base),
    make_cases=_one_back_cases,
    relative_tolerance=0.0,
    absolute_tolerance=0.01,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[1])),
            "Return a row of weights for each query, with one weight for each key: (m, n).",
            about="form",
        ),
        Property(
            lambda args, value: _sum_to_one(value),
            "The weights of each query must sum to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-loud",
            lambda queries, keys, base: _looking_at(queries, keys, base, loudness=1.0),
            "Each query likes the place before it best, and is too quiet to say so: its weights are spread "
            "over the whole text. Multiply the queries by a number, and try how large it must be.",
        ),
        Mistake(
            "not-loud-and-not-scaled",
            lambda queries, keys, base: _looking_at(queries, keys, base, loudness=np.sqrt(queries.shape[1])),
            "The division by the square root of dim was left out, which makes the head a little louder, "
            "but not enough. Multiply the queries by a larger number.",
        ),
        Mistake(
            "looks-one-ahead",
            lambda queries, keys, base: _looking_at(queries, keys, base, step=-1),
            "Your head looks one place ahead. The key of place p has to be the row of place p + 1, and not "
            "the other way round.",
        ),
        Mistake(
            "looks-at-itself",
            lambda queries, keys, base: _looking_at(queries, keys, base, step=0),
            "Each query looks at its own place. Turn the keys one step on before you compare, and leave "
            "the queries as they are.",
        ),
        Mistake(
            "looks-two-back",
            lambda queries, keys, base: _looking_at(queries, keys, base, step=2),
            "Your head looks two places back. Queries and keys were both turned, or the keys twice.",
        ),
        Mistake(
            "usual-base",
            lambda queries, keys, base: (
                _looking_at(queries, keys, 10000.0)
                if base == 10000.0
                else _softmax(
                    1000.0 * queries @ (keys @ _key_matrix(keys.shape[1], 10000.0)).T / np.sqrt(keys.shape[1])
                )
            ),
            "The base is taken to be 10000, whatever is given. Pass it on to your matrix.",
        ),
        Mistake(
            "by-row-number",
            lambda queries, keys, base: np.eye(len(queries), len(keys)),
            "Row r of your weights looks at key r, whatever the rows hold. Queries and keys may come in "
            "any order, from any places: compare them.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda queries, keys, base: _looking_at(queries, keys, base, axis=0),
            "The softmax was taken over the queries, so that columns sum to 1. Each query has its own "
            "weights: take it over the last axis.",
        ),
        Mistake(
            "turned-in-the-wrong-layout",
            lambda queries, keys, base: _softmax(
                1000.0
                * queries
                @ (keys @ shift_matrix(1, keys.shape[1], base=base, layout="split").T).T
                / np.sqrt(keys.shape[1])
            ),
            "The keys were turned as if all sines came first. Here the two of a pair stand side by side.",
        ),
        Mistake(
            "scores",
            lambda queries, keys, base: (
                1000.0 * queries @ (keys @ _key_matrix(keys.shape[1], base)).T / np.sqrt(keys.shape[1])
            ),
            "These are scores. Take the softmax of each row to make weights of them.",
        ),
        Mistake(
            "divided-by-the-sum",
            lambda queries, keys, base: (
                (queries @ (keys @ _key_matrix(keys.shape[1], base)).T)
                / (queries @ (keys @ _key_matrix(keys.shape[1], base)).T).sum(axis=-1, keepdims=True)
            ),
            "The scores were divided by their sum. That keeps them as spread out as they were: the "
            "softmax, which raises e to each score, is what picks the largest.",
        ),
    ),
    alternatives=(
        _by_nearest_row,
        _queries_turned_back,
        lambda queries, keys, base: _looking_at(queries, keys, base, loudness=3000.0).tolist(),
    ),
    hints=(
        "Two matrices make the head: `w_k = key_of_next(dim, base)`, and for the queries the identity "
        "times a number.",
        "The best score of a query is only a little larger than the next best. What does the softmax do "
        "when all its scores are multiplied by 100?",
        "Take away the largest score of each row before you raise e to it. Loud scores overflow otherwise.",
    ),
)


# --- split_heads, multi_head: your decoder gets heads ----------------------------------------


def _split(x: np.ndarray, heads: int) -> np.ndarray:
    n, dim = x.shape
    return np.ascontiguousarray(x.reshape(n, heads, dim // heads).swapaxes(0, 1))


def _split_cases(rng: Generator) -> Iterator[Case]:
    for n, dim, heads in ((3, 4, 2), (2, 6, 3), (5, 8, 1), (4, 4, 4), (1, 12, 3), (4, 16, 4), (6, 12, 6)):
        tokens = "1 token" if n == 1 else f"{n} tokens"
        yield Case(f"{tokens}, dim {dim}, heads: {heads}", (rng.normal(size=(n, dim)), heads))


def _split_by_columns(x: np.ndarray, heads: int) -> np.ndarray:
    return np.stack(np.split(x, heads, axis=1))


HEADS = "Your decoder gets heads"

SPLIT_HEADS = Exercise(
    id=f"{CHAPTER}.split_heads",
    title="Cut the columns",
    step_of=HEADS,
    signature="split_heads(x: array of shape (n, dim), heads: int) -> array of shape (heads, n, dim / heads)",
    points=1,
    minutes=7,
    difficulty=2,
    reference=_split,
    make_cases=_split_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], len(args[0]), args[0].shape[1] // args[1]),
            "Return for each head a row for every token: (heads, n, dim / heads).",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sort(np.ravel(value)), np.sort(np.ravel(args[0])))),
            "Each number of x must come back, once: nothing is computed here.",
        ),
    ),
    mistakes=(
        Mistake(
            "reshaped-alone",
            lambda x, heads: x.reshape(heads, len(x), -1),
            "One reshape to (heads, n, dim / heads) gives the right shape and mixes up the tokens: it "
            "reads the numbers of the first token on into the second head's rows. Reshape to (n, heads, "
            "dim / heads), then exchange two axes.",
        ),
        Mistake(
            "tokens-first",
            lambda x, heads: x.reshape(len(x), heads, -1),
            "The tokens come first here: (n, heads, dim / heads). Exchange the first two axes, so that "
            "each head has all its tokens together.",
        ),
        Mistake(
            "every-so-many-columns",
            lambda x, heads: np.stack([x[:, head::heads] for head in range(heads)]),
            "Each head gets every so many columns. Heads are neighbours: head 0 gets the first dim / heads "
            "columns, head 1 the next.",
        ),
        Mistake(
            "tokens-last",
            lambda x, heads: np.transpose(x.reshape(len(x), heads, -1), (1, 2, 0)),
            "Each head is transposed: its rows are columns of x. Tokens are the rows: (heads, n, dim / "
            "heads).",
        ),
        Mistake(
            "heads-in-reverse",
            lambda x, heads: _split(x, heads)[::-1],
            "The heads come in reverse order. Head 0 gets the first columns.",
        ),
        Mistake(
            "whole-width-for-each",
            lambda x, heads: np.stack([x] * heads),
            "Each head gets all the columns. They share them: each gets dim / heads.",
        ),
        Mistake(
            "exchanged-before-the-cut",
            lambda x, heads: x.T.reshape(heads, len(x), -1),
            "Your code transposes x first and reshapes then, which mixes up tokens and columns. Cut the "
            "columns first.",
        ),
        Mistake(
            "columns-in-reverse",
            lambda x, heads: _split(x[:, ::-1], heads),
            "The columns were turned round. They stay in their order.",
        ),
    ),
    alternatives=(
        _split_by_columns,
        lambda x, heads: [
            x[:, h * (x.shape[1] // heads) : (h + 1) * (x.shape[1] // heads)] for h in range(heads)
        ],
        lambda x, heads: np.einsum("nhd->hnd", x.reshape(len(x), heads, -1)),
    ),
    hints=(
        "Head h gets the columns from h * size to (h + 1) * size, where size is `dim // heads`.",
        "`x.reshape(n, heads, size)` cuts each row; `.swapaxes(0, 1)` brings the heads to the front.",
    ),
)


def _attend_in_heads(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    heads: int,
    *,
    scale: float | None = None,
    weigh: Callable[[np.ndarray], np.ndarray] = lambda scores: _softmax(_causal(scores)),
    split: Callable[[np.ndarray, int], np.ndarray] = _split,
    merge: Callable[[np.ndarray], np.ndarray] = lambda mixed: mixed.swapaxes(0, 1).reshape(
        mixed.shape[1], -1
    ),
) -> np.ndarray:
    q, k, v = (split(x @ w, heads) for w in (w_q, w_k, w_v))
    scores = q @ k.swapaxes(1, 2) / (np.sqrt(q.shape[-1]) if scale is None else scale)
    return np.asarray(merge(weigh(scores) @ v) @ w_o)


def _head_cases(rng: Generator) -> Iterator[Case]:
    for n, dim, heads in ((3, 4, 2), (4, 6, 3), (5, 8, 1), (1, 4, 2), (4, 8, 8), (6, 16, 4), (4, 16, 4)):
        weights = rng.normal(size=(4, dim, dim)) / np.sqrt(dim)
        tokens = "1 token" if n == 1 else f"{n} tokens"
        yield Case(f"{tokens}, dim {dim}, heads: {heads}", (rng.normal(size=(n, dim)), *weights, heads))


def _heads_in_loops(x: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, heads: int) -> np.ndarray:
    size = x.shape[1] // heads
    out = np.zeros_like(x)
    for head in range(heads):
        here = slice(head * size, (head + 1) * size)
        q, k, v = x @ w_q[:, here], x @ w_k[:, here], x @ w_v[:, here]
        for t in range(len(x)):
            weights = _softmax(q[t] @ k[: t + 1].T / np.sqrt(size))
            out[t, here] = weights @ v[: t + 1]
    return np.asarray(out @ w_o)


def _heads_added_up(x: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, heads: int) -> np.ndarray:
    """Each head through its own rows of w_o, and the results added up."""
    q, k, v = (_split(x @ w, heads) for w in (w_q, w_k, w_v))
    weights = _softmax(_causal(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])))
    return np.asarray(sum(weights[h] @ v[h] @ w_o.reshape(heads, -1, x.shape[1])[h] for h in range(heads)))


def _heads_by_einsum(x: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, heads: int) -> np.ndarray:
    q, k, v = (_split(x @ w, heads) for w in (w_q, w_k, w_v))
    scores = np.einsum("htd,hud->htu", q, k) * q.shape[-1] ** -0.5
    raised = np.exp(_causal(scores))
    mixed = np.einsum("htu,hud->thd", raised / raised.sum(axis=-1, keepdims=True), v)
    return np.asarray(mixed.reshape(x.shape) @ w_o)


MULTI_HEAD = Exercise(
    id=f"{CHAPTER}.multi_head",
    title="Attend in each, and join them",
    step_of=HEADS,
    adds="Your decoder gets heads: several attentions side by side, each with its own part of the columns.",
    signature="multi_head(x: (n, dim), w_q, w_k, w_v, w_o: (dim, dim) each, heads: int) "
    "-> array of shape (n, dim)",
    points=3,
    minutes=16,
    difficulty=3,
    reference=lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(x, w_q, w_k, w_v, w_o, heads),
    make_cases=_head_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "Return a row of dim numbers for each token, as x has them.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[0], args[0][0] @ args[3] @ args[4], atol=1e-3)),
            "The first token sees only itself, in each head. So its row must be x[0] @ w_v @ w_o.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-causal",
            lambda *args: _attend_in_heads(*args, weigh=_softmax),
            "Tokens look ahead. Mask the scores of all keys that come after the query, in each head.",
        ),
        Mistake(
            "sees-not-itself",
            lambda *args: _attend_in_heads(*args, weigh=_softmax_of_the_past),
            "A token does not see itself here. The causal mask hides what comes after a query, and leaves "
            "the query's own key.",
        ),
        Mistake(
            "masked-after-the-softmax",
            lambda *args: _attend_in_heads(*args, weigh=lambda scores: np.tril(_softmax(scores))),
            "The mask was put on the weights, after the softmax, so the weights of a row no longer sum to "
            "1. Put it on the scores.",
        ),
        Mistake(
            "mask-turned-round",
            lambda *args: _attend_in_heads(
                *args,
                weigh=lambda scores: _softmax(np.swapaxes(_causal(np.swapaxes(scores, -1, -2)), -1, -2)),
            ),
            "The mask is turned round: tokens see only what comes after them. Keep the scores on and below "
            "the diagonal.",
        ),
        Mistake(
            "scale-of-dim",
            lambda x, *rest: _attend_in_heads(x, *rest, scale=np.sqrt(x.shape[1])),
            "You divide the scores by the square root of dim. The queries of a head have only dim / heads "
            "numbers: take the root of that.",
        ),
        Mistake(
            "no-scale",
            lambda *args: _attend_in_heads(*args, scale=1.0),
            "The scale is missing: divide the scores by the square root of the width of a head.",
        ),
        Mistake(
            "scale-not-a-root",
            lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(
                x, w_q, w_k, w_v, w_o, heads, scale=x.shape[1] / heads
            ),
            "You divide by the width of a head itself. Divide by its square root.",
        ),
        Mistake(
            "one-head-for-all",
            lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(x, w_q, w_k, w_v, w_o, 1),
            "All columns make one head here, whatever number of heads is asked for. Each head has its own "
            "scores, from its own columns.",
        ),
        Mistake(
            "joined-by-a-reshape",
            lambda *args: _attend_in_heads(*args, merge=lambda mixed: mixed.reshape(mixed.shape[1], -1)),
            "The heads were joined by one reshape of (heads, n, size), which puts numbers of other tokens "
            "into a row. Bring the tokens to the front first.",
        ),
        Mistake(
            "split-by-a-reshape",
            lambda *args: _attend_in_heads(*args, split=lambda x, heads: x.reshape(heads, len(x), -1)),
            "The heads were cut by one reshape, which gives a head the numbers of other tokens. Cut each "
            "row, then bring the heads to the front.",
        ),
        Mistake(
            "heads-averaged",
            lambda *args: _attend_in_heads(
                *args, merge=lambda mixed: np.tile(mixed.mean(axis=0), (1, len(mixed)))
            ),
            "The heads were averaged. They are put side by side, each in its own columns, and w_o mixes "
            "them.",
        ),
        Mistake(
            "no-output-matrix",
            lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(x, w_q, w_k, w_v, np.eye(len(w_o)), heads),
            "The joined heads are returned as they are. Multiply them by w_o at the end.",
        ),
        Mistake(
            "input-added",
            lambda x, *rest: x + _attend_in_heads(x, *rest),
            "The input was added at the end, as a whole layer does. What is asked for is the attention "
            "alone.",
        ),
        Mistake(
            "output-matrix-transposed",
            lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(x, w_q, w_k, w_v, w_o.T, heads),
            "The output matrix was transposed. Rows stand on the left of it: joined @ w_o.",
        ),
        Mistake(
            "queries-and-keys-exchanged",
            lambda x, w_q, w_k, w_v, w_o, heads: _attend_in_heads(x, w_k, w_q, w_v, w_o, heads),
            "Queries and keys have changed roles: rows of the scores are queries, made with w_q.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda *args: _attend_in_heads(*args, weigh=lambda scores: _softmax(_causal(scores), axis=-2)),
            "The softmax was taken over the queries. Each query has its own weights, which sum to 1 over "
            "the keys: the last axis.",
        ),
    ),
    alternatives=(_heads_in_loops, _heads_added_up, _heads_by_einsum),
    hints=(
        "Make `q`, `k` and `v` of all columns first, then split each of the three into heads.",
        "`q @ k.swapaxes(1, 2)` does all heads at once: NumPy multiplies the last two axes and goes "
        "through the first.",
        "`mixed.swapaxes(0, 1).reshape(n, dim)` puts the heads side by side again, and `w_o` comes last.",
    ),
)


# --- note_before, match, continue_text: two layers that continue a text ----------------------

INDUCTION = "Two layers that continue a text"
START = 0
"""The token that begins every text, and stands nowhere else."""


def _text(rng: Generator, vocab: int, period: int, n: int) -> np.ndarray:
    """The start mark, then n tokens: a passage of different tokens, over and over."""
    passage = 1 + rng.permutation(vocab - 1)[:period]
    return np.concatenate([[START], np.resize(passage, n)])


def _one_hot(tokens: Any, vocab: int) -> np.ndarray:
    return np.asarray(np.eye(vocab)[np.asarray(tokens, dtype=int)])


def _noted(tokens: Any, vocab: int, before: Any = None) -> np.ndarray:
    """Own words beside the words before, read from `before`; the first token's note is its own word."""
    tokens = np.asarray(tokens)
    before = np.concatenate([tokens[:1], tokens[:-1]]) if before is None else before
    return np.concatenate([_one_hot(tokens, vocab), _one_hot(before, vocab)], axis=1)


def _noted_by(weights: np.ndarray, tokens: np.ndarray, vocab: int) -> np.ndarray:
    own = _one_hot(tokens, vocab)
    return np.concatenate([own, weights @ own], axis=1)


def _place_weights(n: int, *, step: float = 1, loudness: float = 1000.0, causal: bool = True) -> np.ndarray:
    places = sinusoidal(n, 64)
    scores = loudness * places @ (places @ _key_matrix(64, 10000.0, step)).T / 8
    return _softmax(_causal(scores) if causal else scores)


def _note_cases(rng: Generator) -> Iterator[Case]:
    for label, vocab, period, n in (
        ("start and three tokens", 5, 3, 3),
        ("a passage of four, twice", 7, 4, 8),
        ("the start mark alone", 3, 2, 0),
        ("the same token again and again", 4, 1, 6),
        ("a hundred tokens", 20, 15, 100),
        ("four hundred tokens", 9, 7, 400),
    ):
        yield Case(label, (_text(rng, vocab, period, n), vocab))
    yield Case("random tokens", (np.concatenate([[START], rng.integers(1, 12, size=30)]), 12))


def _notes_by_attention(tokens: np.ndarray, vocab: int) -> np.ndarray:
    return _noted_by(_place_weights(len(tokens)), tokens, vocab)


def _notes_in_a_loop(tokens: np.ndarray, vocab: int) -> list[list[float]]:
    notes = []
    for t, token in enumerate(tokens.tolist()):
        row = [0.0] * (2 * vocab)
        row[token] = row[vocab + tokens.tolist()[max(t - 1, 0)]] = 1.0
        notes.append(row)
    return notes


NOTE_BEFORE = Exercise(
    id=f"{CHAPTER}.note_before",
    title="Layer 1 takes notes",
    step_of=INDUCTION,
    signature="note_before(tokens: whole numbers (n,), vocab: int) -> array of shape (n, 2 * vocab)",
    points=2,
    minutes=15,
    difficulty=4,
    reference=lambda tokens, vocab: _noted(tokens, vocab),
    make_cases=_note_cases,
    relative_tolerance=0.0,
    absolute_tolerance=0.01,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), 2 * args[1]),
            "Return for each token its own word and its note, side by side: (n, 2 * vocab).",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.asarray(value)[:, : args[1]], _one_hot(args[0], args[1]), atol=0.02)
            ),
            "The first vocab columns hold the token's own word: a 1 in the column of the token, and zeros.",
        ),
        Property(
            lambda args, value: _sum_to_one(np.asarray(value)[:, args[1] :]),
            "Each note is a mean of words, with weights that sum to 1. So its numbers sum to 1 as well.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-loud",
            lambda tokens, vocab: _noted_by(_place_weights(len(tokens), loudness=1.0), tokens, vocab),
            "Each note mixes all the words so far. The head looks one back, but too quietly: multiply its "
            "queries by a larger number.",
        ),
        Mistake(
            "looks-one-ahead",
            lambda tokens, vocab: _noted_by(
                _place_weights(len(tokens), step=-1, causal=False), tokens, vocab
            ),
            "The notes hold the word that comes after. Turn the keys the other way, and mask what comes "
            "later.",
        ),
        Mistake(
            "notes-its-own-word",
            lambda tokens, vocab: _noted(tokens, vocab, tokens),
            "Each token notes its own word. The keys have to be turned one step on, so that a query finds "
            "the place before its own.",
        ),
        Mistake(
            "two-back",
            lambda tokens, vocab: _noted(
                tokens, vocab, np.asarray(tokens)[np.maximum(np.arange(len(tokens)) - 2, 0)]
            ),
            "The notes hold the word two places before. One of the two was turned too much.",
        ),
        Mistake(
            "first-note-empty",
            lambda tokens, vocab: np.concatenate(
                [
                    _one_hot(tokens, vocab),
                    np.concatenate([np.zeros((1, vocab)), _one_hot(np.asarray(tokens)[:-1], vocab)]),
                ],
                axis=1,
            ),
            "The first note is empty. A softmax always gives its weights to something, and the first token "
            "sees only itself: it notes its own word.",
        ),
        Mistake(
            "first-notes-the-last",
            lambda tokens, vocab: _noted(tokens, vocab, np.roll(tokens, 1)),
            "The first token notes the last word of the text, as np.roll does. It cannot see that far "
            "ahead: it sees only itself, and notes its own word.",
        ),
        Mistake(
            "note-first",
            lambda tokens, vocab: np.roll(_noted(tokens, vocab), vocab, axis=1),
            "The note stands before the word. The token's own word comes first.",
        ),
        Mistake(
            "added-up",
            lambda tokens, vocab: _noted(tokens, vocab)[:, :vocab] + _noted(tokens, vocab)[:, vocab:],
            "Word and note were added up in the same columns, where nobody can tell which is which. Put "
            "them side by side.",
        ),
        Mistake(
            "mean-of-all-before",
            lambda tokens, vocab: _noted_by(
                np.tri(len(tokens)) / (1 + np.arange(len(tokens)))[:, None], tokens, vocab
            ),
            "Each note is the plain mean of all words so far: the scores are all equal. Compare the places.",
        ),
        Mistake(
            "notes-alone",
            lambda tokens, vocab: _noted(tokens, vocab)[:, vocab:],
            "These are the notes alone. The next layer also needs each token's own word, before the note.",
        ),
    ),
    alternatives=(
        _notes_by_attention,
        _notes_in_a_loop,
        lambda tokens, vocab: _noted_by(_place_weights(len(tokens), loudness=400.0), tokens, vocab),
    ),
    hints=(
        "Three things: the words as rows with a single 1, the places as sinusoidal rows, and the weights "
        "of a causal head that looks one back among the places.",
        "The values are the words. `weights @ words` holds in row t the word that token t looks at.",
        "`posenc_lib.sinusoidal(n, 64)` gives the places, and `posenc_lib.shift_matrix(1, 64)` a matrix that "
        "moves them. The mask gives a score of minus infinity to all keys after the query.",
    ),
    lends=("sinusoidal", "shift_matrix"),
)


def _match_weights(notes: np.ndarray, vocab: int, loudness: float = 1000.0) -> np.ndarray:
    return _softmax(_causal(loudness * notes[:, :vocab] @ notes[:, vocab:].T))


def _one_of_the_matches(notes: np.ndarray, vocab: int, *, last: bool) -> np.ndarray:
    """As `_match_weights`, but of several matches one alone is looked at."""
    weights = _match_weights(notes, vocab)
    for t, row in enumerate(weights):
        places = np.flatnonzero(row > 1e-6)
        if len(places) <= t:  # else nothing matches, and all are equal
            weights[t] = np.arange(len(row)) == places[-1 if last else 0]
    return weights


def _match_cases(rng: Generator) -> Iterator[Case]:
    for label, vocab, period, n in (
        ("a passage of three, and one token more", 6, 3, 4),
        ("a passage of four, twice", 9, 4, 8),
        ("nothing is repeated: all weights are equal", 8, 6, 6),
        ("a passage of five, three times and a half", 12, 5, 17),
        ("the start mark alone", 4, 1, 0),
    ):
        yield Case(label, (_noted(_text(rng, vocab, period, n), vocab), vocab))
    yield Case("random tokens", (_noted(np.concatenate([[START], rng.integers(1, 8, size=25)]), 8), 8))


def _matched_by_hand(notes: np.ndarray, vocab: int) -> np.ndarray:
    own, before = notes[:, :vocab].argmax(axis=1), notes[:, vocab:].argmax(axis=1)
    weights = np.zeros((len(notes), len(notes)))
    for t in range(len(notes)):
        fits = (before[: t + 1] == own[t]).astype(float)
        fits = fits if fits.any() else np.ones(t + 1)
        weights[t, : t + 1] = fits / fits.sum()
    return weights


MATCH = Exercise(
    id=f"{CHAPTER}.match",
    title="Layer 2 matches",
    step_of=INDUCTION,
    signature="match(notes: array of shape (n, 2 * vocab), vocab: int) -> weights of shape (n, n)",
    points=2,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda match, rows, columns: heat_map(
            match(_noted(np.array([START, 1, 2, 3, 4, 1, 2, 3, 4]), 6), 6), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="Where the passage comes again, each token looks at what followed it the first time.",
    ),
    reference=lambda notes, vocab: _match_weights(notes, vocab),
    make_cases=_match_cases,
    relative_tolerance=0.0,
    absolute_tolerance=0.01,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[0])),
            "Return a row of weights for every token, with one weight for each token: (n, n).",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.triu(value, k=1), 0, atol=0.02)),
            "No token may look at one that comes after it.",
        ),
        Property(
            lambda args, value: _sum_to_one(value),
            "The weights of each token must sum to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "word-with-word",
            lambda notes, vocab: _softmax(_causal(1000.0 * notes[:, :vocab] @ notes[:, :vocab].T)),
            "Each token looks for its own word among the words, and finds itself. It should look for its "
            "own word among the notes: the tokens that have it before them.",
        ),
        Mistake(
            "note-with-word",
            lambda notes, vocab: _softmax(_causal(1000.0 * notes[:, vocab:] @ notes[:, :vocab].T)),
            "The query is the note, and the key is the word: each token looks for the word before it, and "
            "finds it right there. It is the other way round: the query is the own word, the key is the "
            "note.",
        ),
        Mistake(
            "note-with-note",
            lambda notes, vocab: _softmax(_causal(1000.0 * notes[:, vocab:] @ notes[:, vocab:].T)),
            "Notes are compared with notes. The query is the token's own word.",
        ),
        Mistake(
            "all-with-all",
            lambda notes, vocab: _softmax(_causal(1000.0 * notes @ notes.T)),
            "Whole rows are compared with whole rows, words with words and notes with notes. Cut the rows "
            "in two: the query is the first half, the key the second.",
        ),
        Mistake(
            "not-loud",
            lambda notes, vocab: _match_weights(notes, vocab, loudness=1.0),
            "The right token gets more weight than the others, but not much: a score of 1 against 0. "
            "Multiply the scores by a large number.",
        ),
        Mistake(
            "not-causal",
            lambda notes, vocab: _softmax(1000.0 * notes[:, :vocab] @ notes[:, vocab:].T),
            "Tokens look ahead, and find the next word in the future. Mask the keys that come after the "
            "query.",
        ),
        Mistake(
            "sees-not-itself",
            lambda notes, vocab: _softmax_of_the_past(1000.0 * (notes[:, :vocab] @ notes[:, vocab:].T - 1)),
            "A token does not see itself here. The causal mask leaves the query's own key: where nothing "
            "matches, it counts among the equal ones.",
        ),
        Mistake(
            "last-match-alone",
            lambda notes, vocab: _one_of_the_matches(notes, vocab, last=True),
            "Of several tokens that match, only the last gets weight. Equal scores get equal weights.",
        ),
        Mistake(
            "first-match-alone",
            lambda notes, vocab: _one_of_the_matches(notes, vocab, last=False),
            "Of several tokens that match, only the first gets weight. Equal scores get equal weights.",
        ),
        Mistake(
            "scores",
            lambda notes, vocab: np.tril(notes[:, :vocab] @ notes[:, vocab:].T),
            "These are scores: 1 where a note fits, 0 elsewhere. Multiply them by a large number, mask "
            "them, and take the softmax of each row.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda notes, vocab: _softmax(_causal(1000.0 * notes[:, :vocab] @ notes[:, vocab:].T), axis=0),
            "The softmax was taken over the queries, so that columns sum to 1. Take it over the last axis.",
        ),
    ),
    alternatives=(
        _matched_by_hand,
        lambda notes, vocab: _match_weights(notes, vocab, loudness=60.0),
        lambda notes, vocab: _match_weights(notes, vocab, loudness=5000.0).tolist(),
    ),
    hints=(
        "The query of a token asks for its own word. Which half of a row answers: the word of the other "
        "token, or its note?",
        "`notes[:, :vocab] @ notes[:, vocab:].T` is 1 where the word of the query is the note of the key, "
        "and 0 elsewhere.",
        "Equal scores give equal weights by themselves, also where all are 0. Only the loudness and the "
        "mask are to be added.",
    ),
)


def _text_cases(rng: Generator) -> Iterator[Case]:
    for label, vocab, period, n, steps in (
        ("a passage of three: its first token again", 6, 3, 4, 1),
        ("a passage of four, and two tokens more", 9, 4, 6, 3),
        ("on and on: more steps than the passage has tokens", 10, 5, 7, 12),
        ("a long passage", 60, 50, 57, 20),
        ("the same token again and again", 5, 1, 4, 3),
        (
            "a random passage",
            30,
            int(rng.integers(6, 12)),
            int(rng.integers(13, 20)),
            int(rng.integers(5, 9)),
        ),
    ):
        yield Case(label, (_text(rng, vocab, period, n), steps, vocab))
    a, b, c, d, e = (1 + rng.permutation(11)[:5]).tolist()
    yield Case(
        "what followed most often, and not last", (np.asarray([START, a, b, d, a, b, e, a, c, d, a]), 1, 12)
    )
    yield Case(
        "what followed most often, and not first", (np.asarray([START, a, c, d, a, b, e, a, b, c, a]), 1, 12)
    )


Weigh = Callable[[np.ndarray, int], np.ndarray]


def _continued(
    tokens: Any, steps: int, vocab: int, weigh: Weigh = _match_weights, *, grow: bool = True
) -> np.ndarray:
    """By two layers; `weigh` may get the second wrong; without `grow`, what is written is not read again."""
    text, new = list(np.asarray(tokens).tolist()), []
    for _ in range(steps):
        notes = _noted(text, vocab)
        new.append(int((weigh(notes, vocab)[-1] @ notes[:, :vocab]).argmax()))
        if grow:
            text.append(new[-1])
    return np.asarray(new)


def _what_followed(tokens: Any, steps: int, vocab: int, which: Callable[[list[int]], int]) -> list[int]:
    text = [int(each) for each in np.asarray(tokens)]
    for _ in range(steps):
        followed = [text[i + 1] for i in range(len(text) - 1) if text[i] == text[-1]]
        text.append(which(followed) if followed else text[-1])
    return text[len(text) - steps :]


def _most_common(followed: list[int]) -> int:
    return max(sorted(set(followed)), key=followed.count)


def _by_full_attention(tokens: np.ndarray, steps: int, vocab: int) -> list[int]:
    text, new = tokens.tolist(), []
    for _ in range(steps):
        notes = _notes_by_attention(np.asarray(text), vocab)
        mixed = _match_weights(notes, vocab, loudness=200.0) @ notes[:, :vocab]
        text.append(int(mixed[-1].argmax()))
        new.append(text[-1])
    return new


CONTINUE_TEXT = Exercise(
    id=f"{CHAPTER}.continue_text",
    title="Write",
    step_of=INDUCTION,
    adds="Your decoder writes: it continues a text that repeats itself, although nobody trained it.",
    signature="continue_text(tokens: whole numbers (n,), steps: int, vocab: int) -> whole numbers (steps,)",
    points=2,
    minutes=12,
    difficulty=3,
    reference=lambda tokens, steps, vocab: _continued(tokens, steps, vocab),
    make_cases=_text_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1],),
            "Return the new tokens alone, one for each step.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.isin(value, args[0]).all()),
            "You wrote a token that stands nowhere in the text. An induction head copies: it writes "
            "nothing new.",
        ),
    ),
    mistakes=(
        Mistake(
            "what-is-written-is-not-read",
            lambda tokens, steps, vocab: _continued(tokens, steps, vocab, grow=False),
            "The same token is written at every step. Append what you have written to the text before you "
            "look for the next token.",
        ),
        Mistake(
            "whole-text",
            lambda tokens, steps, vocab: np.concatenate([tokens, _continued(tokens, steps, vocab)]),
            "The text that was given is returned too. Return the new tokens alone.",
        ),
        Mistake(
            "one-step-too-many",
            lambda tokens, steps, vocab: np.concatenate([tokens[-1:], _continued(tokens, steps, vocab)]),
            "Your answer begins with the last token of the text. Return the new tokens alone.",
        ),
        Mistake(
            "repeats-the-last-token",
            lambda tokens, steps, vocab: np.repeat(np.asarray(tokens)[-1:], steps),
            "The last token is written over and over: the place that was found is that of the word itself. "
            "The match is one place further on, where the note holds the word.",
        ),
        Mistake(
            "starts-again",
            lambda tokens, steps, vocab: np.resize(np.asarray(tokens)[1:], steps),
            "The text is written again from its first token on. Go on where it stops: after the last time "
            "that its last token stood before.",
        ),
        Mistake(
            "start-mark-and-all",
            lambda tokens, steps, vocab: np.resize(np.asarray(tokens), steps),
            "The text is written again from the start mark on. Go on where it stops.",
        ),
        Mistake(
            "latest-alone",
            lambda tokens, steps, vocab: np.asarray(
                _what_followed(tokens, steps, vocab, lambda each: each[-1])
            ),
            "You write what followed the last time. Where the word stood before several times, each of "
            "them has the same weight: what followed most often wins.",
        ),
        Mistake(
            "earliest-alone",
            lambda tokens, steps, vocab: np.asarray(
                _what_followed(tokens, steps, vocab, lambda each: each[0])
            ),
            "You write what followed the first time. Where the word stood before several times, each of "
            "them has the same weight: what followed most often wins.",
        ),
        Mistake(
            "rows-of-scores",
            lambda tokens, steps, vocab: np.eye(vocab)[_continued(tokens, steps, vocab)],
            "You return rows with a number for each word of the vocabulary. Return the tokens: the place "
            "of the largest number in each row.",
        ),
        Mistake(
            "in-reverse",
            lambda tokens, steps, vocab: _continued(tokens, steps, vocab)[::-1],
            "The new tokens come in reverse order.",
        ),
    ),
    alternatives=(
        _by_full_attention,
        lambda tokens, steps, vocab: _what_followed(tokens, steps, vocab, _most_common),
        lambda tokens, steps, vocab: _continued(tokens, steps, vocab, _matched_by_hand).tolist(),
    ),
    hints=(
        "One step: `notes = note_before(text, vocab)`, then the last row of `match(notes, vocab)`. It says "
        "at which tokens the last one looks.",
        "Those weights times the words, `notes[:, :vocab]`, hold a number for each word. The largest one "
        "is written.",
        "Append the new token to the text, and take the next step. What your `note_before` calls is "
        "allowed here too: `posenc_lib.sinusoidal(n, 64)` and `posenc_lib.shift_matrix(1, 64)`.",
    ),
    lends=("sinusoidal", "shift_matrix"),
)

EXERCISES = (
    SHIFT_ROWS,
    DOUBLINGS,
    SHIFT_BY,
    EXTEND_TABLE,
    THREE_PRODUCTS,
    POSSIBLE_DISTANCES,
    FIRST_DOUBT,
    SYMMETRIES,
    FOUR_TERMS,
    KEY_OF_NEXT,
    ONE_BACK,
    SPLIT_HEADS,
    MULTI_HEAD,
    NOTE_BEFORE,
    MATCH,
    CONTINUE_TEXT,
)
