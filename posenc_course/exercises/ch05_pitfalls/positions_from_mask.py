"""A batch for your decoder: Positions under padding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import PADDING, Generator, _mask
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _mask_cases(rng: Generator) -> Iterator[Case]:
    yield Case("two sentences, the first padded on the left", (_mask("..ttt", "ttttt"),))
    yield Case("three sentences, padded on the left", (_mask("ttt", ".tt", "..t"),))
    yield Case("no padding", (_mask("tttt", "tttt"),))
    yield Case("padded on the right", (_mask("tt...", "tttt."),))
    yield Case("padding on both sides", (_mask("..tt.", ".tttt", "ttt.."),))
    yield Case("a row of padding alone", (_mask("....", ".ttt"),))
    yield Case("one sentence of one token", (_mask("t"),))
    pads, tokens = rng.integers(1, 9, size=(2, 4, 1))
    yield Case("random left padding", ((np.arange(9) >= pads).astype(np.int64),))
    yield Case("random right padding", ((np.arange(11) < tokens).astype(np.int64),))


def _counted(mask: Array) -> Array:
    return np.cumsum(mask, axis=1) - 1


def _columns(mask: Array) -> Array:
    return np.broadcast_to(np.arange(mask.shape[1]), mask.shape)


def _positions_from_mask(mask: Array) -> Array:
    return np.where(mask == 1, _counted(mask), 0)


def _positions_by_loop(mask: Array) -> list[list[int]]:
    rows = []
    for row in mask:
        seen, positions = 0, []
        for is_token in row:
            positions.append(seen if is_token else 0)
            seen += int(is_token)
        rows.append(positions)
    return rows


def _positions_by_start(mask: Array) -> Array:
    """The first token of each row stands at position 0, and none is missing between two tokens."""
    start = np.argmax(mask, axis=1)[:, None]
    return (np.arange(mask.shape[1]) - start) * mask


def _positions_by_matrix(mask: Array) -> Array:
    return mask @ np.triu(np.ones((mask.shape[1],) * 2), k=1) * mask


POSITIONS_FROM_MASK = Exercise(
    id="05-pitfalls.positions_from_mask",
    title="Positions under padding",
    step_of=PADDING,
    signature="positions_from_mask(mask: array of shape (batch, seq_len), 1 for a token and 0 for padding) "
    "-> whole numbers of shape (batch, seq_len)",
    points=2,
    minutes=8,
    difficulty=2,
    reference=lambda mask: _positions_from_mask(mask),
    make_cases=_mask_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one position for each element of the mask, padding included.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) >= 0)),
            "No position may be negative: in a table, row -1 is the last row, and you get no error.",
        ),
        Property(
            lambda args, value: all(
                np.array_equal(np.asarray(row)[real == 1], np.arange(real.sum()))
                for row, real in zip(value, args[0], strict=True)
            ),
            "The tokens of each sentence must be at 0, 1, 2, ..., wherever its padding is.",
        ),
        Property(
            lambda args, value: not np.asarray(value)[args[0] == 0].any(),
            "Padding must get position 0, on either side.",
        ),
    ),
    mistakes=(
        Mistake(
            "columns",
            _columns,
            "You number the columns, padding included, so a padded sentence starts late. Count the tokens of "
            "each row: np.cumsum(mask, axis=1).",
        ),
        Mistake(
            "from-1",
            lambda mask: np.cumsum(mask, axis=1) * mask,
            "The tokens are counted from 1. The running count includes the token itself: subtract 1.",
        ),
        Mistake(
            "padding-at-minus-1",
            _counted,
            "The tokens are right, but padding before them gets -1, and padding after them the position of "
            "the last token. In a table, row -1 is the last row, and you get no error. Give padding position "
            "0.",
        ),
        Mistake(
            "padding-at-1",
            lambda mask: np.where(mask == 1, _counted(mask), 1),
            "The tokens are right. Padding got 1, a filler that some libraries use. Behind a mask it does no "
            "harm, but here padding should get 0.",
        ),
        Mistake(
            "padding-keeps-counting",
            lambda mask: np.maximum(_counted(mask), 0),
            "The tokens are right, and so is padding on the left. Padding on the right has the position of "
            "the last token. Choose by the mask, not by the sign: np.where(mask == 1, count, 0).",
        ),
        Mistake(
            "padding-subtracted",
            lambda mask: np.maximum(_columns(mask) - (mask == 0).sum(axis=1, keepdims=True), 0),
            "Your positions are right only where all padding is on the left, as if the tokens were the last "
            "columns of each row. Count the tokens instead: np.cumsum(mask, axis=1).",
        ),
        Mistake(
            "negative-padding",
            lambda mask: _columns(mask) - (mask == 0).sum(axis=1, keepdims=True),
            "From the column numbers you subtract how much padding a row has. Then padding on the left gets "
            "negative positions, and padding on the right moves the tokens too. Count the tokens instead: "
            "np.cumsum(mask, axis=1).",
        ),
        Mistake(
            "one-row-for-all",
            lambda mask: np.broadcast_to(_positions_from_mask(mask)[:1], mask.shape),
            "Every sentence got the positions of the first one. Each row has its own padding, so each row "
            "needs its own positions.",
        ),
        Mistake(
            "counted-down-the-batch",
            lambda mask: np.where(mask == 1, np.cumsum(mask, axis=0) - 1, 0),
            "You count down the batch: np.cumsum runs along axis 0. The tokens of a sentence are along "
            "axis 1.",
        ),
        Mistake(
            "counted-through-the-batch",
            lambda mask: np.where(mask == 1, np.cumsum(mask).reshape(mask.shape) - 1, 0),
            "You count on from one sentence to the next: np.cumsum without an axis runs through the whole "
            "array. Give it axis=1.",
        ),
        Mistake(
            "mask-inverted",
            lambda mask: np.where(mask == 0, np.cumsum(1 - mask, axis=1) - 1, 0),
            "You count the padding and give 0 to the tokens. In this mask 1 is a token and 0 is padding.",
        ),
    ),
    alternatives=(
        lambda mask: (mask.cumsum(1) - 1) * mask,
        _positions_by_loop,
        _positions_by_start,
        _positions_by_matrix,
    ),
    hints=(
        "Write down the mask `0 0 1 1 1` and, below it, the positions that the tokens should have.",
        "`np.cumsum(mask, axis=1)` counts, for each element, the tokens up to and including it.",
        "The first token's count is 1 and its position 0. `np.where(mask == 1, ..., 0)` leaves padding at 0.",
    ),
)
