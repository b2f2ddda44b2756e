"""The largest offset that turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake


def _one_value(rng: Generator) -> Iterator[Case]:
    yield Case("your five offsets")


def _offsets(**other: int) -> Callable[[], tuple[int, ...]]:
    right = {"a": 131_071, "b": 4095, "c": 8191, "d": 2209, "e": 2047}
    return lambda: tuple((right | other).values())


LARGEST_OFFSETS = Exercise(
    id="08-long-context.largest_offsets",
    title="The largest offset that turns",
    signature="largest_offsets: five whole numbers, one for each of the models A to E",
    points=3,
    minutes=12,
    difficulty=3,
    kind="value",
    parts=("model A", "model B", "model C", "model D", "model E"),
    reference=_offsets(),
    make_cases=_one_value,
    mistakes=(
        Mistake(
            "counted-keys",
            lambda: tuple(each + 1 for each in _offsets()()),
            "You count keys. Between the first and the last of n keys the offset is n - 1.",
        ),
        Mistake(
            "layers-that-do-not-turn",
            _offsets(b=131_071),
            "Four of five are right. In model B, ask only the layers that turn.",
        ),
        Mistake(
            "chunks-as-a-text",
            _offsets(c=131_071),
            "Four of five are right. In model C, how far back can a query of a layer that turns look?",
        ),
        Mistake(
            "groups-from-nothing",
            _offsets(d=1249),
            "Four of five are right. In model D the groups are moved up, to go on where the window ended.",
        ),
        Mistake(
            "groups-one-late",
            _offsets(d=2210),
            "Four of five are right. In model D, the last of 20,000 tokens stands at 19,999.",
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
            "Four of five are right. In model E the sinks stand in the cache as well, before the window.",
        ),
    ),
    alternatives=(
        lambda: list(_offsets()()),
        lambda: np.array(_offsets()()),
        lambda: tuple(float(each) for each in _offsets()()),
    ),
    hints=(
        "Ask of each model: which layers turn, and which keys can a query see in one of those?",
        "For D, take the formula with the last query and the first key. For E, draw the cache.",
    ),
)
