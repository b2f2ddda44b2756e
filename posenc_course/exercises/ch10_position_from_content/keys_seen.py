"""How far a head sees."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import Generator, softmax
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _seen_cases(rng: Generator) -> Iterator[Case]:
    yield Case("no gate closes anything", (np.zeros(10), 0.55))
    yield Case("all gates a half", (np.full(8, math.log(0.5)), 0.9))
    yield Case("exactly the share", (np.zeros(8), 0.5))
    yield Case("ALiBi, slope 1/16", (np.full(200, -1 / 16), 0.5))
    shut = np.full(20, -0.02)
    shut[13] = -40.0
    yield Case("a gate that is shut", (shut, 0.97))
    own = np.full(12, -0.1)
    own[-1] = -30.0
    yield Case("the last gate is shut", (own, 0.9))
    yield Case("one token", (np.array([-3.0]), 0.4))
    yield Case("wide open, and then half shut", (np.repeat([-0.001, -0.7], 15), 0.6))
    for _ in range(8):
        n = int(rng.integers(20, 90))
        gates = -rng.exponential(10 ** rng.uniform(-2, -0.5), size=n)
        yield Case("gates, drawn", (gates, float(rng.uniform(0.3, 0.97))))


def _left(log_gates: Array) -> Array:
    """The logarithm of what the last query has left of each token."""
    sums = np.cumsum(log_gates)
    return np.asarray(sums[-1] - sums)


def _reached(weights: Array, share: float) -> int:
    """How many of these weights, the first ones, hold that share of all."""
    return int((np.cumsum(weights) < share * weights.sum()).sum()) + 1


def _keys_seen(log_gates: Array, share: float) -> int:
    return _reached(np.exp(_left(log_gates))[::-1], share)


def _seen_by_loop(log_gates: Array, share: float) -> int:
    weights, left = [1.0], 1.0
    for gate in log_gates[:0:-1].tolist():
        left *= math.exp(gate)
        weights.append(left)
    found, held = 0, 0.0
    while held < share * sum(weights):
        held += weights[found]
        found += 1
    return found


KEYS_SEEN = Exercise(
    id="10-position-from-content.keys_seen",
    title="How far a head sees",
    signature="keys_seen(log_gates: array of shape (n,), share: float) -> int",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda keys_seen, across, up: curve(
            np.linspace(0.5, 0.99, 50),
            {"": [keys_seen(np.full(300, np.log(f)), 0.9) for f in np.linspace(0.5, 0.99, 50)]},
            across=across,
            up=up,
        ),
        axes=("gate, the same for all tokens", "keys with 90% of the weight"),
        look="Most of it happens just before 1: with gates of 99% a head sees many times as far as with 90%.",
    ),
    reference=_keys_seen,
    make_cases=_seen_cases,
    properties=(
        Property(
            lambda args, value: 1 <= int(value) <= len(args[0]),
            "The number of keys is at least 1 and at most the number of tokens.",
        ),
    ),
    mistakes=(
        Mistake(
            "keys-own-gates",
            lambda log_gates, share: _reached(np.exp(np.cumsum(log_gates[::-1])), share),
            "You fade each key by its own gate too, even the last one. A gate fades only what came "
            "before its token: the last key stays whole.",
        ),
        Mistake(
            "last-gate-left-out",
            lambda log_gates, share: _reached(
                np.exp(np.concatenate([[0.0, 0.0], np.cumsum(log_gates[-2:0:-1])])[: len(log_gates)]), share
            ),
            "The gate of the last token is missing. It fades everything before it.",
        ),
        Mistake(
            "one-too-few",
            lambda log_gates, share: _keys_seen(log_gates, share) - 1,
            "You stop one key too early: with one more, the share is reached.",
        ),
        Mistake(
            "where-it-stands",
            lambda log_gates, share: len(log_gates) - _keys_seen(log_gates, share),
            "This is the position of the furthest of these keys. How many keys are there from it to the "
            "last?",
        ),
        Mistake(
            "not-made-to-sum-to-one",
            lambda log_gates, share: 1,
            "Your answer is always 1. Do you compare products of gates with the share? Weights sum to 1: "
            "divide by the sum of all products first. Or does your loop end in its first round?",
        ),
        Mistake(
            "against-the-largest",
            lambda log_gates, share: int((np.exp(_left(log_gates)) >= share).sum()),
            "You count the keys that have this share of the largest weight. How many hold this share of "
            "the whole weight together?",
        ),
        Mistake(
            "against-the-rest",
            lambda log_gates, share: int((np.exp(_left(log_gates)) >= 1 - share).sum()),
            "You count the keys whose own product of gates is not below 1 minus the share. Add the "
            "weights up, from the last key back.",
        ),
        Mistake(
            "from-the-front",
            lambda log_gates, share: _reached(np.exp(_left(log_gates)), share),
            "You add the weights up from the first key. Start with the last one.",
        ),
        Mistake(
            "as-if-equal",
            lambda log_gates, share: math.ceil(share * len(log_gates)),
            "You take this share of all keys, as if all had the same weight.",
        ),
        Mistake(
            "gates-as-scores",
            lambda log_gates, share: _reached(np.exp(log_gates)[::-1], share),
            "You fade each key by one gate only. All the gates of the tokens after it fade it.",
        ),
        Mistake(
            "logarithms-summed",
            lambda log_gates, share: _reached(_left(log_gates)[::-1] - 1e-12, share),
            "You add up logarithms. A weight is e to the power of the sum of log gates.",
        ),
        Mistake(
            "mean-gate",
            lambda log_gates, share: _keys_seen(np.full(len(log_gates), log_gates.mean()), share),
            "You replace all gates by their mean. Which gate is shut decides what is seen.",
        ),
        Mistake(
            "turned-round",
            lambda log_gates, share: _reached(np.exp(-_left(log_gates))[::-1], share),
            "Your weights grow with the distance. The further back a key is, the more gates fade it.",
        ),
        Mistake(
            "more-than-the-share",
            lambda log_gates, share: min(
                int(
                    (
                        np.cumsum(np.exp(_left(log_gates))[::-1]) <= share * np.exp(_left(log_gates)).sum()
                    ).sum()
                )
                + 1,
                len(log_gates),
            ),
            "Where the keys hold exactly the share, you take one more. At least the share is enough.",
        ),
        Mistake(
            "the-other-share",
            lambda log_gates, share: _keys_seen(log_gates, 1 - share),
            "You count until 1 minus the share is held. Count until the share itself is.",
        ),
    ),
    alternatives=(
        _seen_by_loop,
        lambda log_gates, share: next(
            n
            for n in range(1, len(log_gates) + 1)
            if np.exp(_left(log_gates))[-n:].sum() >= share * np.exp(_left(log_gates)).sum()
        ),
        lambda log_gates, share: (
            1 + np.searchsorted(np.cumsum(softmax(_left(log_gates))[::-1]), share).item()
        ),
    ),
    hints=(
        "Where all products are equal, a key's weight is the product of the gates after it, divided by "
        "the sum of all these. What is it for the last key, before it is divided?",
        "The logarithms are `sums[-1] - sums`, with `sums = np.cumsum(log_gates)`.",
        "Reverse the weights with `[::-1]`, and add them up with `np.cumsum`. How many of these sums are "
        "still below the share? One more key reaches it.",
    ),
)
