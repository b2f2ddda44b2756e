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
        look="Each text is a triangle of its own. Padding sees nobody, and nobody sees it.",
    ),
    reference=lambda texts: _may_look(texts),
    make_cases=packed_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]),) * 2,
            "There must be one row for each query and one column for each key: (n, n).",
            about="form",
        ),
        Property(
            lambda args, value: not (np.asarray(value) & (args[0][:, None] != args[0])).any(),
            "A token looks into another text.",
        ),
        Property(
            lambda args, value: not np.triu(np.asarray(value) & same_text(args[0]), k=1).any(),
            "A token looks ahead, at a later one of its own text.",
        ),
        Property(
            lambda args, value: not np.asarray(value)[args[0] == NO_TEXT][:, args[0] == NO_TEXT].any(),
            "Padding looks at padding. It should see nobody, itself included.",
        ),
        Property(
            lambda args, value: np.asarray(value)[args[0] != NO_TEXT].any(axis=1).all(),
            "A token sees nothing at all, not even itself. Every token may look at itself. Is text number 0 "
            "taken for padding?",
        ),
        Property(
            lambda args, value: not (_may_look(args[0]) & ~np.asarray(value)).any(),
            "A token does not see itself, or one that came before it in its own text. It may look at all of "
            "them.",
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
            "causal-without-padding",
            lambda texts: np.tri(len(texts), dtype=bool) & (texts != NO_TEXT) & (texts != NO_TEXT)[:, None],
            "Nobody looks ahead, and padding is left out, but the later texts look into the earlier ones. "
            "Ask also whether both are tokens of the same text.",
        ),
        Mistake(
            "causal-but-padding-keys",
            lambda texts: np.tri(len(texts), dtype=bool) & (texts != NO_TEXT),
            "Nobody looks ahead or at padding. But the later texts look into the earlier ones, and padding "
            "looks at tokens. Ask also whether both are tokens of the same text.",
        ),
        Mistake(
            "hidden",
            lambda texts: ~_may_look(texts),
            "It is the wrong way round: True should mean that the query may look at the key.",
        ),
        Mistake(
            "padding-with-padding",
            lambda texts: np.tril(texts[:, None] == texts),
            "The texts are right. Padding looks at padding. It is not a text: it should see nobody, and "
            "nobody should see it.",
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
            "Tokens look at the other texts, and not at their own: it is the wrong way round.",
        ),
        Mistake(
            "triangle-turned",
            lambda texts: np.triu(same_text(texts)),
            "Each token looks at itself and at what comes after it: the triangle is the wrong way round.",
        ),
        Mistake(
            "neighbours-alone",
            lambda texts: same_text(texts) & (np.tri(len(texts)) - np.tri(len(texts), k=-2) > 0),
            "A token sees only itself and the one before it. It may look at everything that came before it "
            "in its text.",
        ),
    ),
    alternatives=(
        _may_look_by_loops,
        _may_look_in_blocks,
        lambda texts: (np.subtract.outer(texts, texts) == 0) & np.tri(len(texts), dtype=bool) & (texts > -1),
    ),
    hints=(
        "Three conditions: the same text, no later key, and no padding.",
        "`texts[:, None] == texts` is True where query and key have the same number. All padding has the "
        "number -1, so it looks like a text of its own.",
        "Join truth values with `&`: the same text, `np.tri(n, dtype=bool)`, and `texts != -1`.",
    ),
)
