"""The effective length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _effective_cases(rng: Generator) -> Iterator[Case]:
    lengths = np.array([4096, 8192, 16_384, 32_768, 65_536, 131_072])
    yield Case("falling with the length", (lengths, np.array([96.0, 94.1, 90.2, 86.3, 80.0, 61.5]), 85.6))
    yield Case("one weak length in between", (lengths, np.array([95.0, 83.0, 91.0, 90.0, 70.0, 60.0]), 85.6))
    yield Case("too weak from the start", (lengths, np.array([80.0, 70.0, 90.0, 50.0, 40.0, 30.0]), 85.6))
    yield Case("strong at every length", (lengths, np.full(6, 99.0), 85.6))
    yield Case("exactly at the mark", (lengths[:3], np.array([90.0, 85.0, 84.9]), 85.0))
    yield Case("in another order", (lengths[[3, 0, 2, 1]], np.array([70.0, 95.0, 88.0, 92.0]), 85.6))
    for _ in range(6):
        n = int(rng.integers(4, 9))
        tried = rng.choice(np.arange(1, 400), size=n, replace=False) * 512
        yield Case("drawn", (tried, rng.uniform(60, 105, size=n).clip(max=100), float(rng.uniform(60, 80))))


def _effective(lengths: Array, scores: Array, mark: float) -> int:
    order = np.argsort(lengths)
    reached = np.asarray(scores)[order] >= mark
    enough = int(reached.size if reached.all() else reached.argmin())
    return int(np.sort(lengths)[enough - 1]) if enough else 0


def _effective_by_loop(lengths: Array, scores: Array, mark: float) -> int:
    longest = 0
    for length, score in sorted(zip(lengths.tolist(), scores.tolist(), strict=True)):
        if score < mark:
            break
        longest = length
    return longest


def _effective_by_failures(lengths: Array, scores: Array, mark: float) -> int:
    failed = lengths[scores < mark]
    below = lengths[lengths < failed.min()] if failed.size else lengths
    return int(below.max()) if below.size else 0


def _in_given_order(lengths: Array, scores: Array, mark: float) -> int:
    longest = 0
    for length, score in zip(lengths.tolist(), scores.tolist(), strict=True):
        if score < mark:
            break
        longest = length
    return int(longest)


EFFECTIVE_LENGTH = Exercise(
    id="08-long-context.effective_length",
    title="The effective length",
    signature="effective_length(lengths: array of shape (n,) of ints, scores: array of shape (n,), mark: "
    "float) "
    "-> int",
    points=3,
    minutes=12,
    difficulty=2,
    reference=_effective,
    make_cases=_effective_cases,
    relative_tolerance=1e-9,
    properties=(
        Property(
            lambda args, value: value == 0 or bool(np.isin(value, args[0])),
            "Return one of the given lengths, or 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "longest-that-passes",
            lambda lengths, scores, mark: int(max([*lengths[scores >= mark], 0])),
            "You take the longest length that reaches the mark, although the model fails at a shorter "
            "one. Every shorter length has to reach it too.",
        ),
        Mistake(
            "strictly-above",
            lambda lengths, scores, mark: _effective(lengths, scores, np.nextafter(mark, np.inf)),
            "A score that is exactly the mark reaches it. Compare with >=.",
        ),
        Mistake(
            "in-the-given-order",
            _in_given_order,
            "You go through the lengths in the order you are given. Sort them first, and the scores with "
            "them.",
        ),
        Mistake(
            "lengths-sorted-alone",
            lambda lengths, scores, mark: _in_given_order(np.sort(lengths), scores, mark),
            "You sort the lengths and leave the scores where they were. Each score belongs to its length.",
        ),
        Mistake(
            "first-that-fails",
            lambda lengths, scores, mark: int(min([*lengths[scores < mark], 10**9])),
            "This is the first length that fails. Return the one before it.",
        ),
        Mistake(
            "how-many",
            lambda lengths, scores, mark: int((np.sort(lengths) <= _effective(lengths, scores, mark)).sum()),
            "This says how many lengths the model passes. Return the length itself, in tokens.",
        ),
        Mistake(
            "longest-tried",
            lambda lengths, scores, mark: int(np.max(lengths)),
            "This is the longest length that was tried, whatever the scores are.",
        ),
        Mistake(
            "of-the-mean",
            lambda lengths, scores, mark: int(np.max(lengths)) if np.mean(scores) >= mark else 0,
            "You compare the mean of all scores. A mean hides the length at which a model breaks.",
        ),
        Mistake(
            "shortest-when-none",
            lambda lengths, scores, mark: _effective(lengths, scores, mark) or int(np.min(lengths)),
            "Where even the shortest length fails, the model passes no length: return 0.",
        ),
        Mistake(
            "of-the-mean-so-far",
            lambda lengths, scores, mark: _effective(
                np.sort(lengths),
                np.cumsum(scores[np.argsort(lengths)]) / np.arange(1, len(scores) + 1),
                mark,
            ),
            "You compare the mean of the scores so far. Each length has to reach the mark on its own.",
        ),
        Mistake(
            "counted-from-the-end",
            lambda lengths, scores, mark: int(
                max([*lengths[lengths < max([*lengths[scores < mark], 0])], 0])
                if (scores < mark).any()
                else np.max(lengths)
            ),
            "You look for the last length that fails. The first one decides, whatever comes after it.",
        ),
        Mistake(
            "minus-one-when-none",
            lambda lengths, scores, mark: _effective(lengths, scores, mark) or -1,
            "Where even the shortest length fails, return 0, not -1.",
        ),
        Mistake(
            "shortest-that-passes",
            lambda lengths, scores, mark: int(min([*lengths[scores >= mark], 10**9]) % 10**9),
            "You stop at the first length that reaches the mark. Go on to the longest before one fails.",
        ),
        Mistake(
            "index-minus-one",
            lambda lengths, scores, mark: int(
                np.sort(lengths)[np.argmin(np.append(scores[np.argsort(lengths)] >= mark, False)) - 1]
            ),
            "Where even the shortest length fails, your index is -1, and Python takes the last length "
            "for it. Return 0 there.",
        ),
        Mistake(
            "all-lengths-or-none",
            lambda lengths, scores, mark: int(np.max(lengths)) if (scores >= mark).all() else 0,
            "You return 0 as soon as any length fails. The lengths before it still count.",
        ),
        Mistake(
            "each-sorted-alone",
            lambda lengths, scores, mark: _in_given_order(np.sort(lengths), np.sort(scores)[::-1], mark),
            "You sort lengths and scores separately, so the scores no longer belong to their lengths. Sort "
            "both by the length: np.argsort.",
        ),
    ),
    alternatives=(
        _effective_by_loop,
        _effective_by_failures,
        lambda lengths, scores, mark: max(
            (n for n in lengths.tolist() if (scores[lengths <= n] >= mark).all()), default=0
        ),
    ),
    hints=(
        "Sort the lengths, the shortest first, and keep each score with its length.",
        "Go on while the score reaches the mark. Which length was the last one before you had to stop?",
        "Where even the shortest length fails, the answer is 0.",
    ),
)
