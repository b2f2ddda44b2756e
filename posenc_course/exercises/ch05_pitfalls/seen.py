"""Your decoder gets a cache: Who sees whom."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import CACHE, Generator, _seen
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _seen_cases(rng: Generator) -> Iterator[Case]:
    for label, past, new in (
        ("one token after a cache of five", 5, 1),
        ("three tokens after a cache of two", 2, 3),
        ("the first four tokens: the cache is empty", 0, 4),
        ("as many new tokens as are in the cache", 3, 3),
        ("a random cache", int(rng.integers(4, 30)), int(rng.integers(2, 9))),
        ("another random cache", int(rng.integers(4, 30)), int(rng.integers(2, 9))),
    ):
        yield Case(label, (past, new))


SEEN = Exercise(
    id="05-pitfalls.seen",
    title="Who sees whom",
    step_of=CACHE,
    signature="seen(past: int, new: int) -> truth values of shape (new, past + new)",
    points=1,
    minutes=8,
    difficulty=2,
    draws=Draws(
        lambda seen, rows, columns: heat_map(seen(5, 4), rows=rows, columns=columns),
        axes=("new query", "key"),
        look="The cache holds five keys: the first new query sees them and itself, and each one "
        "after it sees one more.",
    ),
    reference=lambda past, new: _seen(past, new),
    make_cases=_seen_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], args[0] + args[1]),
            "There must be one row for each new token and one column for each key, those of the cache first.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.asarray(value)[:, : args[0]].all()),
            "A new token does not see the whole cache. All of it came before.",
        ),
        Property(
            lambda args, value: not np.triu(np.asarray(value)[:, args[0] :], k=1).any(),
            "A new token sees one that comes after it.",
        ),
        Property(
            lambda args, value: bool(np.diagonal(np.asarray(value), args[0]).all()),
            "A new token does not see itself. New token number i has the key number past + i.",
        ),
        Property(
            lambda args, value: not (_seen(*args) & ~np.asarray(value))[:, args[0] :].any(),
            "A new token does not see all the new ones up to itself.",
        ),
    ),
    mistakes=(
        Mistake(
            "triangle-from-the-left",
            lambda past, new: np.tri(new, past + new, dtype=bool),
            "The triangle starts at the first key of the cache, so the first new token sees only one key. It "
            "comes after the whole cache, and sees all of it.",
        ),
        Mistake(
            "all-seen",
            lambda past, new: np.ones((new, past + new), dtype=bool),
            "Every new token sees all keys. Where several come at once, the earlier ones must not see the "
            "later ones.",
        ),
        Mistake(
            "not-itself",
            lambda past, new: np.tri(new, past + new, k=past - 1, dtype=bool),
            "No new token sees itself. Each may look at itself and at everything that came before it.",
        ),
        Mistake(
            "one-ahead",
            lambda past, new: np.tri(new, past + new, k=past + 1, dtype=bool),
            "Each new token sees the one after it too. The triangle is one column too far to the right.",
        ),
        Mistake(
            "moved-by-the-new",
            lambda past, new: np.tri(new, past + new, k=new, dtype=bool),
            "The triangle was moved by the number of new tokens. Move it by the length of the cache: that is "
            "what comes before the first of them.",
        ),
        Mistake(
            "hidden",
            lambda past, new: ~_seen(past, new),
            "It is the wrong way round: True should mean that the token may look at the key.",
        ),
        Mistake(
            "cache-behind",
            lambda past, new: np.hstack([_seen(0, new), np.ones((new, past), dtype=bool)]),
            "Here the new keys come first, and the cache after them. Keys are in the order of the text: the "
            "cache first.",
        ),
        Mistake(
            "cache-hidden",
            lambda past, new: np.hstack([np.zeros((new, past), dtype=bool), _seen(0, new)]),
            "No new token sees the cache. It holds what came before, and all of it may be seen.",
        ),
        Mistake(
            "triangle-turned",
            lambda past, new: np.triu(np.ones((new, past + new), dtype=bool), k=past),
            "The new tokens see themselves and what comes after them: the triangle is the wrong way round.",
        ),
    ),
    alternatives=(
        lambda past, new: np.arange(past + new) <= past + np.arange(new)[:, None],
        lambda past, new: np.tri(past + new, dtype=bool)[past:],
        lambda past, new: [[key <= past + row for key in range(past + new)] for row in range(new)],
    ),
    hints=(
        "Write down past = 2 and new = 3: three rows and five columns. Which keys may the first new token "
        "see, and which the last?",
        "New token number i is at position `past + i`, and key number j at position `j`.",
        "`np.tri(rows, columns, k=...)` is a triangle whose edge can be moved; or compare two ranges with "
        "`<=`.",
    ),
)
