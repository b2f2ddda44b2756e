"""A cache that streams: Move what is rotated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import STREAM, Generator
from posenc_course.exercises.drawing import Draws, arrows
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.rotated.rotary import apply_rotary


def _moved_cases(rng: Generator) -> Iterator[Case]:
    def inputs(heads: int, dim: int, old: Any, new: Any, base: float) -> tuple[Array, Array, Array, float]:
        old, new = np.asarray(old), np.asarray(new)
        x = rng.normal(size=(heads, len(old), dim))
        return apply_rotary(x, old, base=base), old, new, base

    yield Case(
        "each key to the position before its own", inputs(2, 8, np.arange(1, 7), np.arange(6), 10000.0)
    )
    yield Case(
        "sinks stay, the others to earlier positions", inputs(2, 8, [0, 1, 96, 97, 98], np.arange(5), 10000.0)
    )
    yield Case("nothing moves", inputs(1, 4, np.arange(4), np.arange(4), 10000.0))
    yield Case("moved on by 100", inputs(3, 6, np.arange(4), 100 + np.arange(4), 10000.0))
    yield Case("new places out of order, base 500,000", inputs(2, 16, [0, 500, 501], [7, 0, 2], 500_000.0))
    for _ in range(2):
        n = int(rng.integers(3, 7))
        old = np.sort(rng.choice(3000, size=n, replace=False))
        yield Case("drawn", inputs(2, 8, old, np.arange(n), float(rng.uniform(500, 20_000))))


def _rotated_ones(positions: Array) -> Array:
    """One head of keys (1, 0), turned for these positions."""
    return np.asarray(apply_rotary(np.tile([1.0, 0.0], (1, len(positions), 1)), positions))


def _moved(keys: Array, old: Array, new: Array, base: float) -> Array:
    return np.asarray(apply_rotary(keys, new - old, base=base))


def _moved_by_pairs(keys: Array, old: Array, new: Array, base: float) -> Array:
    rates = base ** (-np.arange(0, keys.shape[-1], 2) / keys.shape[-1])
    theta = np.outer(np.asarray(new) - old, rates)
    cos, sin = np.cos(theta), np.sin(theta)
    out = np.empty_like(keys)
    out[..., 0::2] = keys[..., 0::2] * cos - keys[..., 1::2] * sin
    out[..., 1::2] = keys[..., 0::2] * sin + keys[..., 1::2] * cos
    return out


MOVED_KEYS = Exercise(
    id="08-long-context.moved_keys",
    title="Move what is rotated",
    step_of=STREAM,
    signature="moved_keys(keys: array of shape (heads, n, head_dim), old: array of shape (n,), new: array of "
    "shape (n,), base: float) -> array of shape (heads, n, head_dim)",
    points=3,
    minutes=15,
    difficulty=3,
    adds="Your decoder reads without end: its cache keeps the sinks and the last keys, and moves them up.",
    draws=Draws(
        lambda moved_keys: arrows(
            moved_keys(_rotated_ones(np.arange(7, 12)), np.arange(7, 12), np.arange(5), 10000.0)[0],
            [str(new) for new in range(5)],
        ),
        look="Equal keys, rotated for positions 7 to 11, are now at 0 to 4: one radian after another.",
    ),
    reference=_moved,
    make_cases=_moved_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape must stay (heads, n, head_dim).",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.linalg.norm(value, axis=-1), np.linalg.norm(args[0], axis=-1), rtol=1e-3)
            ),
            "A rotation does not change a length: every key should come out as long as it went in.",
        ),
    ),
    mistakes=(
        Mistake(
            "turned-by-the-new",
            lambda keys, old, new, base: apply_rotary(keys, new, base=base),
            "You rotate by the new positions. The keys have been rotated by their old ones already: only "
            "the difference is missing.",
        ),
        Mistake(
            "the-other-way",
            lambda keys, old, new, base: apply_rotary(keys, old - new, base=base),
            "Your keys move the wrong way. A key that moves to an earlier position is rotated back: new "
            "minus old.",
        ),
        Mistake(
            "only-turned-back",
            lambda keys, old, new, base: apply_rotary(keys, -old, base=base),
            "All your keys are rotated back to position 0. They should end up at their new positions.",
        ),
        Mistake(
            "all-by-one-shift",
            lambda keys, old, new, base: apply_rotary(keys, np.full(len(old), new[-1] - old[-1]), base=base),
            "All your keys move by the same shift, that of the last one. The sinks move by a different "
            "one: each key moves by its own new position minus its old one.",
        ),
        Mistake(
            "half-layout",
            lambda keys, old, new, base: apply_rotary(keys, new - old, base=base, layout="half"),
            "Your pairs are columns j and j + head_dim/2. Here neighbours make a pair, columns 2j and 2j + "
            "1.",
        ),
        Mistake(
            "base-not-used",
            lambda keys, old, new, base: apply_rotary(keys, new - old),
            "Your base is 10,000, whatever is given. The keys were rotated with the base you are given.",
        ),
        Mistake(
            "not-moved",
            lambda keys, old, new, base: np.array(keys),
            "The keys come back as they were, still rotated for their old positions.",
        ),
        Mistake(
            "both-added",
            lambda keys, old, new, base: apply_rotary(keys, new + old, base=base),
            "You rotate by the sum of the two positions. Rotations add up, so what is missing is new "
            "minus old.",
        ),
        Mistake(
            "at-places-of-the-cache",
            lambda keys, old, new, base: apply_rotary(keys, np.arange(len(old)) - new, base=base),
            "You compare places in the cache with the new positions. What counts is where each key was "
            "when it was rotated: old.",
        ),
        Mistake(
            "shift-of-the-first",
            lambda keys, old, new, base: apply_rotary(keys, np.full(len(old), new[0] - old[0]), base=base),
            "All your keys move by the same shift, that of the first one. Each key moves by its own new "
            "position minus its old one.",
        ),
        Mistake(
            "all-pairs-alike",
            lambda keys, old, new, base: apply_rotary(keys, new - old, base=1.0),
            "All your pairs rotate by the shift itself. Pair j rotates by the shift times its own frequency.",
        ),
        Mistake(
            "always-forwards",
            lambda keys, old, new, base: apply_rotary(keys, np.abs(new - old), base=base),
            "You take the size of the shift without its sign. A key that moves to an earlier place is "
            "rotated back.",
        ),
        Mistake(
            "put-together-in-halves",
            lambda keys, old, new, base: np.concatenate(
                [_moved(keys, old, new, base)[..., 0::2], _moved(keys, old, new, base)[..., 1::2]], axis=-1
            ),
            "Your pairs are rotated right and put together wrong: first all first numbers, then all "
            "second ones. The two numbers of a pair belong next to each other.",
        ),
        Mistake(
            "exponent-halved",
            lambda keys, old, new, base: apply_rotary(keys, new - old, base=math.sqrt(base)),
            "Your slow pairs rotate too fast. The frequency of pair j is base ** (-2 * j / head_dim): "
            "the 2 is missing.",
        ),
        Mistake(
            "exponent-doubled",
            lambda keys, old, new, base: apply_rotary(keys, new - old, base=base**2),
            "Your slow pairs rotate too slowly: the exponent is twice as large as it should be. Does "
            "np.arange already count in steps of 2, and the 2 comes in once more?",
        ),
        Mistake(
            "mean-shift",
            lambda keys, old, new, base: apply_rotary(keys, np.full(len(old), np.mean(new - old)), base=base),
            "All your keys move by the mean shift. Each key moves by its own new position minus its old one.",
        ),
    ),
    alternatives=(
        _moved_by_pairs,
        lambda keys, old, new, base: apply_rotary(apply_rotary(keys, -old, base=base), new, base=base),
        lambda keys, old, new, base: np.stack([apply_rotary(each, new - old, base=base) for each in keys]),
    ),
    hints=(
        "Rotations add up. A key was rotated for position 7 and should now be at 5. By how much do you "
        "have to rotate it once more?",
        "Each key has its own shift, `new - old`. The angles are that times the frequencies.",
        "With complex pairs it is one product, by `np.exp(1j * np.outer(new - old, rates))`.",
    ),
)
