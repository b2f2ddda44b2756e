"""A score of Transformer-XL: The relative shift."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._shared import XL, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.biased.transformer_xl import relative_shift as shift_by_reshape


def _shift_cases(rng: Generator) -> Iterator[Case]:
    for queries, keys in ((3, 3), (1, 1), (1, 4), (2, 5), (5, 5), (4, int(rng.integers(6, 12)))):
        # Distinct numbers above 0, so that no number can stand in another's place by chance; and not all
        # whole, so that none can lose its fraction unseen.
        numbers = (1.0 + rng.permutation(queries * keys).reshape(queries, keys)) / 4
        yield Case(f"distinct numbers, queries: {queries}, keys: {keys}", (numbers,))
    yield Case("each column full of its own offset", (np.tile(np.arange(-5.0, 1.0), (6, 1)),))


def _shift_by(x: Array, steps: Callable[[int, int], int], fill: float = 0.0) -> Array:
    """Each row moved to the left by so many steps of its number and the number of rows."""
    shifted = np.full(x.shape, fill)
    for row, values in enumerate(x):
        by = steps(row, len(x))
        for column in range(x.shape[1]):
            if 0 <= column + by < x.shape[1]:
                shifted[row, column] = values[column + by]
    return shifted


def right_shift(x: Array) -> Array:
    return np.asarray(shift_by_reshape(x, x.shape[1]))


def _shift_by_reshape(x: Array) -> Array:
    """The authors' way, and then the mask."""
    queries, keys = x.shape
    return np.asarray(np.tril(_unmasked(x), keys - queries))


def _unmasked(x: Array) -> Array:
    queries, keys = x.shape
    padded = np.concatenate([np.zeros((queries, 1)), x], axis=1)
    return padded.reshape(keys + 1, queries)[1:].reshape(queries, keys)


def _shift_by_picking(x: Array) -> Array:
    queries, keys = x.shape
    column = np.arange(keys) + (queries - 1 - np.arange(queries))[:, None]
    return np.where(column < keys, np.take_along_axis(x, np.minimum(column, keys - 1), axis=1), 0.0)


def _shift_by_rows(x: Array) -> list[list[float]]:
    rows = x.tolist()
    last = len(rows) - 1
    return [row[last - i :] + [0.0] * (last - i) for i, row in enumerate(rows)]


RELATIVE_SHIFT = Exercise(
    id="07-alibi-and-biases.relative_shift",
    title="The relative shift",
    step_of=XL,
    signature="relative_shift(x: array of shape (queries, keys)) -> array of shape (queries, keys)",
    points=3,
    minutes=12,
    difficulty=4,
    reference=right_shift,
    make_cases=_shift_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape stays (queries, keys): each row slides to the left inside it.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.asarray(value)[-1], args[0][-1])),
            "The last query is at the last key, so the last row must stay as it is.",
        ),
        Property(
            lambda args, value: not np.triu(value, k=np.shape(value)[1] - np.shape(value)[0] + 1).any(),
            "Keys after the query have no offset in x, so their entries must be 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "unmasked",
            _unmasked,
            "The shift is right, but the numbers above the diagonal were moved in from the next row. They "
            "mean nothing: set the keys after the query to 0, with np.tril(shifted, keys - queries).",
        ),
        Mistake(
            "rolled",
            lambda x: np.stack([np.roll(row, i + 1 - len(x)) for i, row in enumerate(x)]),
            "Each row was rolled, so what left it on the left came back on the right, where the keys after "
            "the query are. Put 0 there.",
        ),
        Mistake(
            "not-shifted",
            lambda x: np.tril(x, x.shape[1] - x.shape[0]),
            "Nothing was moved: column j still belongs to an offset and not to a key. Row i has to slide to "
            "the left by queries - 1 - i.",
        ),
        Mistake(
            "from-the-top",
            lambda x: _shift_by(x, lambda row, rows: row),
            "Row i was moved by i, so the first row stayed and the last one moved most. It is the other way "
            "round: the last query is at the last key, and its row is in place already. Move row i by "
            "queries - 1 - i.",
        ),
        Mistake(
            "to-the-right",
            lambda x: _shift_by(x, lambda row, rows: row + 1 - rows),
            "The rows moved to the right. Earlier queries reach less far into the past, so the first "
            "numbers of their rows have to drop out on the left.",
        ),
        Mistake(
            "one-too-far",
            lambda x: _shift_by(x, lambda row, rows: rows - row),
            "Each row moved one column too far, and no query meets itself any more. This is what comes out "
            "when the column of zeros is put behind x: it belongs in front. Row i moves by queries - 1 - i.",
        ),
        Mistake(
            "minus-infinity",
            lambda x: _shift_by(x, lambda row, rows: rows - 1 - row, fill=-np.inf),
            "The shift is right, but the keys after the query hold minus infinity. This is a term of the "
            "score, and the causal mask comes later: put 0 there.",
        ),
        Mistake(
            "columns-for-rows",
            lambda x: _shift_by(x.T, lambda row, rows: rows - 1 - row).T,
            "The columns slid upwards. Each row belongs to a query, and it is the rows that slide, to the "
            "left.",
        ),
        Mistake(
            "rolled-to-the-right",
            lambda x: np.stack([np.roll(row, len(x) - 1 - i) for i, row in enumerate(x)]),
            "You rolled the rows to the right. They have to move to the left, which for np.roll is a "
            "negative number. Then put 0 where the keys after the query are.",
        ),
        Mistake(
            "rolled-to-the-right-and-cut",
            lambda x: np.tril(
                np.stack([np.roll(row, len(x) - 1 - i) for i, row in enumerate(x)]), x.shape[1] - len(x)
            ),
            "The rows were rolled to the right. They have to move to the left: in NumPy a roll to the left "
            "is negative.",
        ),
        Mistake(
            "counted-from-the-keys",
            lambda x: _shift_by(x, lambda row, rows: x.shape[1] - 1 - row),
            "It is right where there are as many queries as keys. Where there are fewer, each row moved too "
            "far: row i moves by queries - 1 - i.",
        ),
        Mistake(
            "cut-as-if-square",
            lambda x: np.tril(_unmasked(x)),
            "Where there are fewer queries than keys, you put 0 at keys that are not after the query. Move "
            "the diagonal of your triangle by keys - queries.",
        ),
        Mistake(
            "all-rows-alike",
            lambda x: _shift_by(x, lambda row, rows: rows - 1),
            "All rows moved by the same number. Row i moves by queries - 1 - i, and the last row stays.",
        ),
    ),
    alternatives=(_shift_by_reshape, _shift_by_picking, _shift_by_rows),
    hints=(
        "Column c of `x` belongs to the offset `c - (keys - 1)`. Row i is the query at position `i + keys - "
        "queries`. Which column holds the offset of key j?",
        "It is column `j + queries - 1 - i`: row i slides to the left by `queries - 1 - i`, and the last row "
        "stays.",
        "Without a loop: put a column of zeros in front, reshape to `(keys + 1, queries)`, drop the first "
        "row, reshape back to `(queries, keys)`, and set what lies after the query to 0.",
    ),
)
