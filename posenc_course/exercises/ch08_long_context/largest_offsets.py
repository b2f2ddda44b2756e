"""The largest offset RoPE meets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _one_value(rng: Generator) -> Iterator[Case]:
    yield Case("your five offsets")


def _offsets(**other: int) -> Callable[[], tuple[int, ...]]:
    right = {"a": 131_071, "b": 4095, "c": 8191, "d": 2209, "e": 2047}
    return lambda: tuple((right | other).values())


LARGEST_OFFSETS = Exercise(
    id="08-long-context.largest_offsets",
    title="The largest offset RoPE meets",
    signature="largest_offsets: five whole numbers, one for each of the models A to E",
    points=3,
    minutes=12,
    difficulty=3,
    kind="value",
    parts=("model A", "model B", "model C", "model D", "model E"),
    reference=_offsets(),
    make_cases=_one_value,
    relative_tolerance=0.0,
    properties=(
        Property(
            lambda args, value: value[0] == 131_071,
            "For model A: what are the positions of the first and of the last token?",
        ),
        Property(
            lambda args, value: value[1] == 4095,
            "For model B: which key does a query see furthest back where there is RoPE, if it sees 4,096 "
            "with its own?",
        ),
        Property(
            lambda args, value: value[2] == 8191,
            "For model C: which query of a chunk looks back furthest, and at which key?",
        ),
        Property(
            lambda args, value: value[3] == 2209,
            "For model D: put the last query and the first key into the formula for far keys, with all three "
            "of its terms.",
        ),
        Property(
            lambda args, value: value[4] == 2047,
            "For model E: draw the cache, sinks first. How many keys are in it, and where is the last one?",
        ),
    ),
    mistakes=(
        Mistake(
            "counted-keys",
            lambda: tuple(each + 1 for each in _offsets()()),
            "You count keys. Between the first and the last of n keys the offset is n - 1.",
        ),
        Mistake(
            "layers-that-do-not-turn",
            _offsets(b=131_071),
            "Four of five are right. In model B, look only at the layers with RoPE.",
        ),
        Mistake(
            "chunks-as-a-text",
            _offsets(c=131_071),
            "Four of five are right. In model C, how far back can a query look in a layer with RoPE?",
        ),
        Mistake(
            "groups-from-nothing",
            _offsets(d=1249),
            "Four of five are right. In model D the groups are shifted, so that they continue where the "
            "window ends.",
        ),
        Mistake(
            "groups-one-late",
            _offsets(d=2210),
            "Four of five are right. In model D, the last of 20,000 tokens is at position 19,999, and the "
            "quotient is rounded down.",
        ),
        Mistake(
            "true-distance",
            _offsets(d=19_999),
            "Four of five are right. In model D, far keys are counted in groups.",
        ),
        Mistake(
            "sinks-in-the-text",
            _offsets(e=131_071),
            "Four of five are right. In model E positions are counted in the cache, not in the text.",
        ),
        Mistake(
            "window-alone",
            _offsets(e=2043),
            "Four of five are right. In model E the sinks are in the cache too, before the window.",
        ),
        Mistake(
            "what-the-query-sees",
            _offsets(b=131_071, c=131_071),
            "A, D and E are right. In B and C the layers with RoPE do not see the whole text.",
        ),
        Mistake(
            "keys-in-a",
            _offsets(a=131_072),
            "Four of five are right. In model A you count tokens: between the first and the last of n "
            "the offset is n - 1.",
        ),
        Mistake(
            "keys-in-b",
            _offsets(b=4096),
            "Four of five are right. In model B one of the 4,096 keys is the query's own, at offset 0.",
        ),
        Mistake(
            "keys-in-c",
            _offsets(c=8192),
            "Four of five are right. In model C you count tokens: between the first and the last of a "
            "chunk the offset is one less.",
        ),
        Mistake(
            "keys-in-e",
            _offsets(e=2048),
            "Four of five are right. In model E you count the keys in the cache: the first of them is at 0.",
        ),
        Mistake(
            "groups-not-taken-off",
            _offsets(d=2273),
            "Four of five are right. In model D you add the whole window: subtract window // group, "
            "which the groups have counted already.",
        ),
        Mistake(
            "near-keys-alone",
            _offsets(d=1023),
            "Four of five are right. In model D keys beyond the window are counted too, in groups.",
        ),
    ),
    alternatives=(
        lambda: list(_offsets()()),
        lambda: np.array(_offsets()()),
        lambda: tuple(float(each) for each in _offsets()()),
    ),
    hints=(
        "For each model, ask: which layers have RoPE, and which keys can a query see in one of those?",
        "For D, take the formula with the last query and the first key. For E, draw the cache.",
    ),
)
