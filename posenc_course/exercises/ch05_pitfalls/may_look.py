"""Three texts in one row: No look into another text."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import NO_TEXT, PACKED, _may_look, packed_cases, same_text
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _may_look_by_loops(texts: Array) -> list[list[bool]]:
    n = len(texts)
    return [
        [bool(key <= query and texts[key] == texts[query] and texts[key] >= 0) for key in range(n)]
        for query in range(n)
    ]


def _may_look_in_blocks(texts: Array) -> Array:
    allowed = np.zeros((len(texts),) * 2, dtype=bool)
    for each in set(texts.tolist()) - {NO_TEXT}:
        at = np.flatnonzero(texts == each)
        allowed[np.ix_(at, at)] = np.tri(len(at), dtype=bool)
    return allowed


MAY_LOOK = Exercise(
    id="05-pitfalls.may_look",
    title="No look into another text",
    step_of=PACKED,
    signature="may_look(texts: whole numbers of shape (n,), -1 for padding) -> truth values of shape (n, n)",
    points=1,
    minutes=8,
    difficulty=2,
    draws=Draws(
        lambda may_look, rows, columns: heat_map(
            may_look(np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, -1, -1])), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="Each text is a triangle of its own, and padding sees and shows nothing.",
    ),
    reference=lambda texts: _may_look(texts),
    make_cases=packed_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]),) * 2,
            "There must be one row for each query and one column for each key: (n, n).",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "causal-alone",
            lambda texts: np.tri(len(texts), dtype=bool),
            "Nobody looks ahead, but the later texts look into the earlier ones.",
        ),
        Mistake(
            "looks-ahead",
            same_text,
            "Each text is by itself, but within it tokens look ahead. The decoder is causal.",
        ),
        Mistake(
            "padding-with-padding",
            lambda texts: np.tril(texts[:, None] == texts),
            "The texts are right. Padding looks at padding: it is no text, and sees and is seen by nobody.",
        ),
        Mistake(
            "padding-and-ahead",
            lambda texts: np.asarray(texts[:, None] == texts),
            "Each text is by itself, but tokens look ahead, and padding looks at padding.",
        ),
        Mistake(
            "not-itself",
            lambda texts: np.tril(same_text(texts), k=-1),
            "No token sees itself. A token may look at itself and at what came before it in its text.",
        ),
        Mistake(
            "other-texts",
            lambda texts: np.tril(texts[:, None] != texts),
            "Tokens look at the other texts, and not at their own: it is turned round.",
        ),
        Mistake(
            "triangle-turned",
            lambda texts: np.triu(same_text(texts)),
            "Each token looks at itself and at what comes after it: the triangle is turned round.",
        ),
        Mistake(
            "neighbours-alone",
            lambda texts: same_text(texts) & (np.tri(len(texts)) - np.tri(len(texts), k=-2) > 0),
            "A token sees itself and the one before it. It may look at all of its text that came before.",
        ),
    ),
    alternatives=(
        _may_look_by_loops,
        _may_look_in_blocks,
        lambda texts: (np.subtract.outer(texts, texts) == 0) & np.tri(len(texts), dtype=bool) & (texts > -1),
    ),
    hints=(
        "Three conditions: the same text, no later key, and no padding.",
        "`texts[:, None] == texts` is True where query and key have the same number; padding has the number "
        "-1 in common, too.",
        "Join truth values with `&`: the same text, `np.tri(n, dtype=bool)`, and `texts != -1`.",
    ),
)
