"""Three texts in one row: Which answers count."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import NO_TEXT, PACKED, _may_look, packed_cases
from posenc_course.exercises.exercise import Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _targets_that_count(texts: Array) -> Array:
    return np.asarray((texts[1:] == texts[:-1]) & (texts[1:] != NO_TEXT))


TARGETS_THAT_COUNT = Exercise(
    id="05-pitfalls.targets_that_count",
    title="Which answers count",
    step_of=PACKED,
    signature="targets_that_count(texts: whole numbers of shape (n,), -1 for padding) -> truth values of "
    "shape (n - 1,)",
    points=1,
    minutes=6,
    difficulty=2,
    reference=lambda texts: _targets_that_count(texts),
    make_cases=packed_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]) - 1,),
            "Nothing comes after the last token, so there must be one truth value fewer than there are "
            "tokens.",
            about="form",
        ),
        Property(
            lambda args, value: not (np.asarray(value) & (args[0][1:] == NO_TEXT)).any(),
            "A target that is padding counts. It should not.",
        ),
        Property(
            lambda args, value: not (np.asarray(value) & (args[0][1:] != args[0][:-1])).any(),
            "A target counts that belongs to another text than the token before it. It should not.",
        ),
        Property(
            lambda args, value: not (_targets_that_count(args[0]) & ~np.asarray(value)).any(),
            "A fair question is left out: the token and its target belong to the same text. Texts may have "
            "any number from 0 on, and only -1 is padding.",
        ),
    ),
    mistakes=(
        Mistake(
            "across-the-border",
            lambda texts: (texts[1:] != NO_TEXT) & (texts[:-1] != NO_TEXT),
            "Padding is left out. But the last token of a text is asked for the first one of the next text, "
            "which it cannot know.",
        ),
        Mistake(
            "padding-counts",
            lambda texts: np.asarray(texts[1:] == texts[:-1]),
            "The borders are right. But padding that follows padding counts. It is easy to predict, and "
            "makes the loss look better than it is.",
        ),
        Mistake(
            "all",
            lambda texts: np.ones(len(texts) - 1, dtype=bool),
            "Everything counts: padding, and the first token of the next text, which nobody can know.",
        ),
        Mistake(
            "the-target-alone",
            lambda texts: np.asarray(texts[1:] != NO_TEXT),
            "You only ask whether the target is padding. Ask as well whether it belongs to the same text as "
            "the token before it, which has to predict it.",
        ),
        Mistake(
            "the-token-alone",
            lambda texts: np.asarray(texts[:-1] != NO_TEXT),
            "You ask whether the token itself is padding. What counts is the target, the token after it, and "
            "whether both belong to one text.",
        ),
        Mistake(
            "borders",
            lambda texts: np.asarray(texts[1:] != texts[:-1]),
            "You marked the borders, where a target does not count. It is the wrong way round.",
        ),
        Mistake(
            "turned-round",
            lambda texts: ~_targets_that_count(texts),
            "It is the wrong way round: True should mean that the target counts.",
        ),
    ),
    alternatives=(
        lambda texts: [a == b >= 0 for a, b in zip(texts.tolist(), texts.tolist()[1:], strict=False)],
        lambda texts: np.diagonal(_may_look(texts), offset=-1),
        lambda texts: (np.diff(texts) == 0) & (texts[:-1] >= 0),
    ),
    hints=(
        "Token t is asked for token t + 1. Compare the two: `texts[:-1]` and `texts[1:]`.",
        "Which two kinds of target must not count? One belongs to the next text; the other is no text at "
        "all.",
        "`(texts[1:] == texts[:-1])` and not padding, joined with `&`.",
    ),
)
