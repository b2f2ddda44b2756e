"""Debug a shift."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import shift_matrix, sinusoidal
from posenc_lib.angles import frequencies


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


def _at_angles(angles: np.ndarray) -> np.ndarray:
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(angles), -1)


def _rows_by_angle(rows: np.ndarray, offset: float) -> np.ndarray:
    return _at_angles(np.arctan2(rows[:, 0::2], rows[:, 1::2]) + offset * frequencies(rows.shape[1]))


def _turned_as_halves(rows: np.ndarray, offset: float) -> np.ndarray:
    turn = offset * frequencies(rows.shape[1])
    sines, cosines = np.split(rows, 2, axis=1)
    return np.concatenate(
        [sines * np.cos(turn) + cosines * np.sin(turn), cosines * np.cos(turn) - sines * np.sin(turn)], axis=1
    )


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


def _in_order(rows: np.ndarray, value: np.ndarray) -> bool:
    """False where the rows are all there, and trade places."""
    same = np.isclose(value[:, None], rows[None], atol=1e-9).all(axis=-1)
    everywhere = same.any(axis=0).all() and same.any(axis=1).all()
    return not everywhere or bool(np.diagonal(same).all())


SHIFT_ROWS = Exercise(
    id="03-relative-position.shift_rows",
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
        Property(
            lambda args, value: _in_order(args[0], value),
            "These are the given rows in another order, as np.roll moves them. To shift a row is to turn "
            "each of its pairs: the row of position 5 becomes that of position 5 + offset.",
        ),
        Property(
            lambda args, value: args[1] >= 0 or not np.allclose(value, _turned(args[0], -args[1]), atol=3e-4),
            "For a negative offset, the rows moved forwards: its sign was lost. Use the offset as it is.",
        ),
        Property(
            lambda args, value: (
                not any(
                    np.allclose(value, _turned(args[0], cut), atol=3e-4)
                    for cut in {np.floor(args[1]), np.ceil(args[1])} - {args[1]}
                )
            ),
            "The rows moved by a whole number of positions: the fraction of the offset was cut off or "
            "rounded away. An offset may be any real number.",
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
            "You changed one sign only: both are plus now, and that is not a turn. The cosine of a sum is "
            "cos cos - sin sin.",
        ),
        Mistake(
            "minus-and-minus",
            lambda rows, offset: _turned(rows, offset, up=-1, down=-1),
            "You changed one sign only: both are minus now, and that is not a turn. The sine of a sum is "
            "sin cos + cos sin.",
        ),
        Mistake(
            "row-number-as-position",
            lambda rows, offset: sinusoidal(np.arange(len(rows)) + float(offset), rows.shape[1]),
            "You made new rows for positions offset, offset + 1, and so on. But row 0 need not be at "
            "position 0: turn the rows that are given.",
        ),
        Mistake(
            "angle-from-the-sine-alone",
            lambda rows, offset: _at_angles(
                np.arcsin(np.clip(rows[:, 0::2], -1, 1)) + offset * frequencies(rows.shape[1])
            ),
            "The angle was read off the sine alone, which comes twice in each turn. Use the cosine too: "
            "np.arctan2(sine, cosine), or no angle at all.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            lambda rows, offset: (
                _turned(rows, offset).reshape(len(rows), -1, 2)[:, :, ::-1].reshape(rows.shape)
            ),
            "The new sines and the new cosines are right, but they are swapped: even columns hold the sine.",
        ),
        Mistake(
            "degrees",
            lambda rows, offset: _turned(rows, offset, turn=np.deg2rad(offset * frequencies(rows.shape[1]))),
            "The turn was taken as degrees and converted. It is in radians already.",
        ),
        Mistake(
            "halves",
            _turned_as_halves,
            "The rows were read as all sines first and all cosines after them. Here they are interleaved: "
            "columns 2i and 2i + 1 are one pair.",
        ),
        Mistake(
            "encodings-added",
            lambda rows, offset: rows + sinusoidal(np.asarray(float(offset)), rows.shape[1]),
            "The encoding of the offset was added to each row. Positions add up, but their encodings do "
            "not: they turn.",
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
