"""Self-Extend, from its map: The distances that queries take."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import (
    HIDDEN_LATER,
    OF_A_MAP,
    SELF_EXTEND,
    Generator,
    _far,
    extend_with,
    extended,
    i_j,
    past,
    true_where,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _map_cases(rng: Generator) -> Iterator[Case]:
    yield Case("12 tokens, groups of 3, window 6", (12, 3, 6))
    yield Case("groups of 1 change nothing", (9, 1, 4))
    yield Case("a window longer than the text", (7, 2, 9))
    yield Case("a window of 5, groups of 3", (14, 3, 5))
    yield Case("a window of 1, groups of 4", (13, 4, 1))
    for _ in range(3):
        tokens, group = int(rng.integers(15, 40)), int(rng.integers(2, 6))
        yield Case("sizes, drawn", (tokens, group, int(rng.integers(2, 12))))


def _grouped(tokens: int, group: int, window: int) -> Array:
    return extended(tokens, group, window)


def _extended_by_loops(tokens: int, group: int, window: int) -> list[list[int]]:
    rows = [[0] * tokens for _ in range(tokens)]
    for i in range(tokens):
        for j in range(i + 1):
            rows[i][j] = i - j
            if i - j >= window:
                rows[i][j] = (i // group + window - window // group) - j // group
    return rows


GROUPED_DISTANCES = Exercise(
    id="08-long-context.grouped_distances",
    title="The distances that queries take",
    step_of=SELF_EXTEND,
    signature="grouped_distances(tokens: int, group: int, window: int) -> array of shape (tokens, tokens)",
    points=3,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda grouped_distances, rows, columns: heat_map(
            grouped_distances(24, 3, 6), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="Near the diagonal every key has its own distance, and further away three keys share one.",
    ),
    reference=_grouped,
    make_cases=_map_cases,
    where_not_finite=HIDDEN_LATER,
    properties=(
        *OF_A_MAP,
        Property(
            lambda args, value: true_where(value, np.ones_like(value, dtype=bool), args[2]),
            "A key less than window back must keep its true distance.",
        ),
        Property(
            lambda args, value: bool((np.tril(np.diff(value, axis=1), -1) <= 0).all()),
            "A key further back must never look nearer than one after it.",
        ),
    ),
    mistakes=(
        Mistake(
            "window-one-too-wide",
            extend_with(_far, lambda d, w: d <= w),
            "Your window holds one key too many. Keys less than window back keep their distance. The key "
            "exactly window back is counted in groups.",
        ),
        Mistake(
            "not-moved",
            extend_with(lambda i, j, group, window: i // group - j // group),
            "Beyond the window your distances start small again, and far keys look near. Add window - "
            "window // group.",
        ),
        Mistake(
            "moved-by-the-window",
            extend_with(lambda i, j, group, window: i // group - j // group + window),
            "You add the whole window, and some distances are skipped. Subtract window // group, which "
            "the groups have counted already.",
        ),
        Mistake(
            "difference-in-groups",
            extend_with(lambda i, j, group, window: (i - j) // group + window - window // group),
            "You divide the difference. Divide query and key separately, then subtract: only then can "
            "each of the two be rotated on its own.",
        ),
        Mistake(
            "fractions",
            extend_with(lambda i, j, group, window: i / group - j / group + window - window / group),
            "Your groups have fractions. A group has one number for all its positions: divide with //.",
        ),
        Mistake(
            "fraction-of-the-window",
            extend_with(lambda i, j, group, window: i // group - j // group + window - window / group),
            "The groups are right. The window is divided without a remainder too: window // group.",
        ),
        Mistake(
            "all-in-groups",
            extend_with(_far, lambda d, w: d < 0),
            "Near keys are counted in groups as well. Within the window the true distance stays.",
        ),
        Mistake(
            "true-everywhere",
            lambda tokens, group, window: past(np.subtract(*i_j(tokens))),
            "These are the true distances everywhere. From window on, count them in groups.",
        ),
        Mistake(
            "cut-at-the-window",
            lambda tokens, group, window: past(np.minimum(np.subtract(*i_j(tokens)), window)),
            "All far keys get the same distance. They should differ from group to group.",
        ),
        Mistake(
            "swapped",
            lambda tokens, group, window: extended(tokens, group, window).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "difference-beyond-the-window",
            extend_with(lambda i, j, group, window: window + (i - j - window) // group),
            "You count in groups how far a key lies beyond the window, which is a difference. Divide "
            "query and key separately, then subtract.",
        ),
        Mistake(
            "difference-not-moved",
            extend_with(lambda i, j, group, window: (i - j) // group),
            "You divide the difference, and far keys look near. Divide query and key separately, "
            "subtract, and add window - window // group.",
        ),
        Mistake(
            "rounded",
            extend_with(
                lambda i, j, group, window: (
                    np.round(i / group) - np.round(j / group) + window - window // group
                )
            ),
            "You round to the nearest group. A position belongs to the group whose number is position // "
            "group.",
        ),
        Mistake(
            "moved-too-far",
            extend_with(lambda i, j, group, window: i // group - j // group + window + window // group),
            "You add window // group. The groups have counted these positions already: subtract it.",
        ),
        Mistake(
            "window-taken-off-before-dividing",
            extend_with(lambda i, j, group, window: (i - window) // group - j // group + window),
            "You subtract the window before you divide, and where the remainders matter the groups are one "
            "off. Divide i, j and the window separately.",
        ),
        Mistake(
            "window-rounded-up",
            extend_with(lambda i, j, group, window: i // group - j // group + window - -(-window // group)),
            "You round the window's share up. Divide it without a remainder: window // group.",
        ),
        Mistake(
            "window-one-too-narrow",
            extend_with(_far, lambda d, w: d < w - 1),
            "Your window holds one key too few. The key window - 1 back still keeps its distance.",
        ),
        Mistake(
            "moved-by-the-window-in-groups",
            extend_with(lambda i, j, group, window: i // group - j // group + window // group),
            "You add window // group, and far keys look nearer than the window is wide. Add window - "
            "window // group.",
        ),
        Mistake(
            "groups-counted-in-tokens",
            extend_with(lambda i, j, group, window: i // group * group - j // group * group),
            "You multiply the groups by their size, so far keys are as far as they were. Count in "
            "groups, and add window - window // group.",
        ),
        Mistake(
            "groups-one-too-near",
            extend_with(lambda i, j, group, window: i // group - j // group + window - window // group - 1),
            "Your groups are one too near, as if the window were window - 1 wide. Add window - window // "
            "group.",
        ),
        Mistake(
            "groups-one-too-far",
            extend_with(lambda i, j, group, window: i // group - j // group + window - window // group + 1),
            "Your groups are one too far. Add window - window // group, and no more.",
        ),
    ),
    alternatives=(
        _extended_by_loops,
        lambda tokens, group, window: np.tril(
            np.where(
                np.arange(tokens)[:, None] - np.arange(tokens) >= window,
                (np.arange(tokens) // group + window - window // group)[:, None] - np.arange(tokens) // group,
                np.arange(tokens)[:, None] - np.arange(tokens),
            )
        ),
        lambda tokens, group, window: extended(tokens, group, window).astype(float),
    ),
    hints=(
        "Make the numbers of the queries a column, `np.arange(tokens)[:, None]`, and those of the keys a "
        "row.",
        "You need two arrays of distances, the true ones and those in groups. `np.where` chooses between "
        "them.",
        "`np.tril` puts 0 where the key comes after the query.",
    ),
)
