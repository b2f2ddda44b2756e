"""A cache that streams: What stays in the cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import STREAM, Generator
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _kept_cases(rng: Generator) -> Iterator[Case]:
    yield Case("10,000 tokens, 4 sinks, window 6", (10_000, 4, 6))
    yield Case("fewer tokens than fit", (7, 4, 6))
    yield Case("just as many as fit", (10, 4, 6))
    yield Case("one more than fits", (11, 4, 6))
    yield Case("no sink", (20, 0, 5))
    yield Case("fewer tokens than sinks", (2, 4, 3))
    yield Case("fewer tokens than the window", (5, 1, 8))
    for _ in range(3):
        yield Case("drawn", (int(rng.integers(30, 300)), int(rng.integers(1, 6)), int(rng.integers(2, 20))))


def _kept_positions(tokens: int, sinks: int, window: int) -> Array:
    at = np.arange(tokens)
    return at[(at < sinks) | (at >= tokens - window)]


def _numbers(value: Array) -> Array:
    """What can be looked at as positions: no truth values, no NaN."""
    value = np.asarray(value)
    return value[np.isfinite(value) & (value.dtype.kind != "b")]


KEPT_POSITIONS = Exercise(
    id="08-long-context.kept_positions",
    title="What stays in the cache",
    step_of=STREAM,
    signature="kept_positions(tokens: int, sinks: int, window: int) -> array of shape (kept,) of ints",
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda kept_positions, rows, columns: heat_map(
            [np.isin(np.arange(24), kept_positions(tokens, 2, 6)) * 1 for tokens in range(1, 25)],
            rows=rows,
            columns=columns,
            starts=(1, 0),
        ),
        axes=("tokens read", "position in the text"),
        look="Two sinks stay for ever, and a window of six moves along with the text.",
    ),
    reference=_kept_positions,
    make_cases=_kept_cases,
    relative_tolerance=1e-9,
    properties=(
        Property(
            lambda args, value: bool((_numbers(value) >= 0).all()),
            "No position is negative. In a short text, tokens - window is.",
            about="form",
        ),
        Property(
            lambda args, value: bool((_numbers(value) < args[0]).all()),
            "The last position of a text is tokens - 1. In a short text there are fewer tokens than sinks.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.diff(_numbers(value)) > 0).all()),
            "Each position comes once, in rising order. In a short text the sinks and the window overlap.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "some-twice",
            lambda tokens, sinks, window: np.concatenate(
                [np.arange(sinks), np.arange(max(tokens - window, 0), tokens)]
            ),
            "This is right for a long text. In a short one, sinks and window overlap, and no position "
            "should come twice.",
        ),
        Mistake(
            "window-holds-the-sinks",
            lambda tokens, sinks, window: _kept_positions(tokens, sinks, max(window - sinks, 0)),
            "Your cache is too small: you subtract the sinks from the window. All of the last window "
            "tokens stay, in addition to the sinks.",
        ),
        Mistake(
            "no-sinks",
            lambda tokens, sinks, window: np.arange(max(tokens - window, 0), tokens),
            "The sinks are missing: the first tokens stay, whatever the length.",
        ),
        Mistake(
            "one-too-many",
            lambda tokens, sinks, window: _kept_positions(tokens, sinks, window + 1),
            "Your window holds one too many. The last of n tokens is at n - 1.",
        ),
        Mistake(
            "one-too-few",
            lambda tokens, sinks, window: _kept_positions(tokens, sinks, window - 1),
            "Your window holds one too few. The last token itself is one of them.",
        ),
        Mistake(
            "places-in-the-cache",
            lambda tokens, sinks, window: np.arange(len(_kept_positions(tokens, sinks, window))),
            "These are places in the cache. Where in the text were the tokens that stay?",
        ),
        Mistake(
            "which-were-dropped",
            lambda tokens, sinks, window: np.arange(sinks, max(tokens - window, sinks)),
            "These are the ones to throw away. Return those that stay.",
        ),
        Mistake(
            "a-mask",
            lambda tokens, sinks, window: (
                np.isin(np.arange(tokens), _kept_positions(tokens, sinks, window)) * 1
            ),
            "This says for each token whether it stays. Return the positions of those that do.",
        ),
        Mistake(
            "some-twice-by-slices",
            lambda tokens, sinks, window: np.concatenate(
                [np.arange(tokens)[:sinks], np.arange(tokens)[max(tokens - window, 0) :]]
            ),
            "This is right for a long text. In a short one, your two slices overlap, and no position "
            "should come twice.",
        ),
        Mistake(
            "one-sink-too-many",
            lambda tokens, sinks, window: _kept_positions(tokens, sinks + 1, window),
            "You keep one sink too many. The first n tokens are at 0 to n - 1.",
        ),
        Mistake(
            "backwards",
            lambda tokens, sinks, window: _kept_positions(tokens, sinks, window)[::-1],
            "These are the right positions, the last one first. Return them in the order of the text.",
        ),
    ),
    alternatives=(
        lambda tokens, sinks, window: sorted(
            {*range(min(sinks, tokens)), *range(max(tokens - window, 0), tokens)}
        ),
        lambda tokens, sinks, window: [at for at in range(tokens) if at < sinks or tokens - at <= window],
        lambda tokens, sinks, window: np.unique(
            np.r_[0 : min(sinks, tokens), max(tokens - window, 0) : tokens]
        ),
    ),
    hints=(
        "A token stays if it is one of the first sinks or one of the last window tokens.",
        "With `at = np.arange(tokens)` the two conditions are `at < sinks` and `at >= tokens - window`.",
        "Join them with `|`: then no position comes twice.",
    ),
)
