"""Three texts in one row: Each text counts from 0."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import NO_TEXT, PACKED, packed_cases, same_text
from posenc_course.exercises.exercise import Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _positions_in_text(texts: Array) -> Array:
    return np.where(texts == NO_TEXT, 0, (np.tril(same_text(texts), k=-1)).sum(axis=1))


def _positions_in_runs(texts: Array) -> list[int]:
    positions: list[int] = []
    before = None
    for each in texts.tolist():
        positions.append(positions[-1] + 1 if each == before and each != NO_TEXT else 0)
        before = each
    return positions


def _positions_by_starts(texts: Array) -> Array:
    begins = np.append(True, texts[1:] != texts[:-1])
    start = np.maximum.accumulate(np.where(begins, np.arange(len(texts)), 0))
    return (np.arange(len(texts)) - start) * (texts != NO_TEXT)


def _positions_by_dictionary(texts: Array) -> list[int]:
    seen: dict[int, int] = {NO_TEXT: 0}
    positions = []
    for each in texts.tolist():
        positions.append(seen.setdefault(each, 0))
        seen[each] += each != NO_TEXT
    return positions


POSITIONS_IN_TEXT = Exercise(
    id="05-pitfalls.positions_in_text",
    title="Each text counts from 0",
    step_of=PACKED,
    signature="positions_in_text(texts: whole numbers of shape (n,), -1 for padding) -> whole numbers of "
    "shape (n,)",
    points=1,
    minutes=8,
    difficulty=2,
    reference=lambda texts: _positions_in_text(texts),
    make_cases=packed_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one position for each token, padding included.",
            about="form",
        ),
        Property(lambda args, value: bool(np.all(np.asarray(value) >= 0)), "No position may be negative."),
        Property(
            lambda args, value: not np.asarray(value)[args[0] == NO_TEXT].any(),
            "Padding must get position 0.",
        ),
        Property(
            lambda args, value: all(
                np.array_equal(np.asarray(value)[args[0] == text], np.arange((args[0] == text).sum()))
                for text in set(args[0].tolist()) - {NO_TEXT}
            ),
            "The tokens of each text must be at 0, 1, 2, ..., wherever in the row the text begins.",
        ),
    ),
    mistakes=(
        Mistake(
            "columns",
            lambda texts: np.arange(len(texts)),
            "The columns are numbered, so only the first text counts from 0. Each text should begin at 0.",
        ),
        Mistake(
            "columns-without-padding",
            lambda texts: np.where(texts == NO_TEXT, 0, np.arange(len(texts))),
            "Padding got 0, but the columns are numbered: only the first text counts from 0. Each text "
            "should begin at 0.",
        ),
        Mistake(
            "from-1",
            lambda texts: np.where(texts == NO_TEXT, 0, _positions_in_text(texts) + 1),
            "The tokens of each text are counted from 1. The first of them is at 0.",
        ),
        Mistake(
            "padding-counts",
            lambda texts: np.asarray(_positions_in_runs(np.where(texts == NO_TEXT, 99, texts))),
            "The texts are right. Padding is counted as a text of its own: it should get position 0.",
        ),
        Mistake(
            "number-of-the-text",
            lambda texts: np.where(texts == NO_TEXT, 0, np.cumsum(np.append(0, texts[1:] != texts[:-1]))),
            "This says to which text each token belongs, counted from the left. Give the place of each token "
            "in its own text.",
        ),
        Mistake(
            "counted-from-the-end",
            lambda texts: np.where(
                texts == NO_TEXT, 0, same_text(texts).sum(axis=1) - 1 - _positions_in_text(texts)
            ),
            "Each text is counted from its end. The first token of a text is at 0.",
        ),
        Mistake(
            "sorted",
            lambda texts: np.asarray(_positions_in_text(np.sort(texts))),
            "The positions are those of the texts in the order of their numbers. The tokens stay where they "
            "are.",
        ),
    ),
    alternatives=(_positions_in_runs, _positions_by_starts, _positions_by_dictionary),
    hints=(
        "Where does a text begin? Where its number differs from the one before it.",
        "The position of a token is the number of tokens of the same text that come before it.",
        "`(texts[:, None] == texts)` says which tokens belong together; `np.tril(..., k=-1)` keeps those "
        "before. Count along axis 1, and give padding 0.",
    ),
)
