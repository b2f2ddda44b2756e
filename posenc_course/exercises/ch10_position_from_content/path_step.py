"""PaTH, by its definition and by its cache: One more token, and every key moves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import PATH, Generator, softmax
from posenc_course.exercises.ch10_position_from_content.reflections import _reflections
from posenc_course.exercises.exercise import Case, Exercise, Mistake
from posenc_lib._arrays import Array


def _path_step_cases(rng: Generator) -> Iterator[Case]:
    def inputs(n: int, dim: int, beta: float) -> tuple[Any, ...]:
        q, k, w = rng.normal(size=(3, dim))
        return q, k, w, beta, rng.normal(size=(n, dim))

    yield Case("three keys are kept", inputs(3, 2, 2.0))
    yield Case("nothing is kept yet", inputs(0, 4, 1.5))
    yield Case("beta 0 changes nothing", inputs(4, 3, 0.0))
    yield Case("a token that erases", inputs(4, 3, 1.0))
    for _ in range(3):
        yield Case(
            "sizes, drawn",
            inputs(int(rng.integers(2, 8)), int(rng.integers(3, 7)), float(rng.uniform(0.2, 2))),
        )


def _crossed(keys: Array, w: Array, beta: float) -> Array:
    """The keys on the other side of this token."""
    u = w / np.linalg.norm(w)
    return np.asarray(keys - beta * np.outer(keys @ u, u))


def _scored(q: Array, keys: Array) -> Array:
    return np.asarray(keys @ q / math.sqrt(len(q)))


def _path_step(q: Array, k: Array, w: Array, beta: float, keys: Array) -> tuple[Array, Array]:
    kept = np.vstack([_crossed(keys, w, beta), k])
    return _scored(q, kept), kept


def _path_step_with(
    cache: Callable[..., Array], score: Callable[[Array, Array], Array] = _scored
) -> Callable[..., tuple[Array, Array]]:
    """`cache`: of k, w, beta and the keys."""

    def step(q: Array, k: Array, w: Array, beta: float, keys: Array) -> tuple[Array, Array]:
        kept = cache(k, w, beta, keys)
        return score(q, kept), kept

    return step


def _query_crosses(q: Array, k: Array, w: Array, beta: float, keys: Array) -> tuple[Array, Array]:
    return _path_step(q, k, w, beta, keys)[0], np.vstack([keys, k])


PATH_STEP = Exercise(
    id="10-position-from-content.path_step",
    title="One more token, and every key moves",
    step_of=PATH,
    signature="path_step(q: array of shape (dim,), k: array of shape (dim,), w: array of shape (dim,), beta: "
    "float, keys: array of shape (n, dim)) -> tuple of two arrays",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_path_step,
    make_cases=_path_step_cases,
    parts=("the scores", "the kept keys"),
    mistakes=(
        Mistake(
            "new-key-reflected",
            _path_step_with(lambda k, w, beta, keys: _crossed(np.vstack([keys, k]), w, beta)),
            "You reflect the new key by its own token. A token reflects only what came before it.",
        ),
        Mistake(
            "old-keys-stay",
            _path_step_with(lambda k, w, beta, keys: np.vstack([keys, k])),
            "The old keys stay as they were. From now on, the new token is between them and every query.",
        ),
        Mistake(
            "query-reflected",
            _query_crosses,
            "The scores are right, but the kept keys are not: the next token could not continue from "
            "them. Reflect the keys, not the query.",
        ),
        Mistake(
            "scores-before",
            lambda q, k, w, beta, keys: (
                _scored(q, np.vstack([keys, k])),
                _path_step(q, k, w, beta, keys)[1],
            ),
            "The kept keys are right, but you took the scores before the reflection. This query is on "
            "the other side of it already.",
        ),
        Mistake(
            "twice",
            lambda q, k, w, beta, keys: (
                _scored(q - beta * (q @ w) / (w @ w) * w, _path_step(q, k, w, beta, keys)[1]),
                _path_step(q, k, w, beta, keys)[1],
            ),
            "You reflect the query as well as the keys. One of the two is enough: reflect the keys, "
            "since they are kept.",
        ),
        Mistake(
            "not-of-length-one",
            _path_step_with(lambda k, w, beta, keys: np.vstack([keys - beta * np.outer(keys @ w, w), k])),
            "You do not bring w to length 1.",
        ),
        Mistake(
            "added",
            _path_step_with(lambda k, w, beta, keys: np.vstack([_crossed(keys, w, -beta), k])),
            "You add to the keys what lies along w. Subtract it.",
        ),
        Mistake(
            "two-already-there",
            _path_step_with(lambda k, w, beta, keys: np.vstack([_crossed(keys, w, 2 * beta), k])),
            "You use beta twice. There is no 2 in front of it.",
        ),
        Mistake(
            "not-divided",
            _path_step_with(
                lambda k, w, beta, keys: np.vstack([_crossed(keys, w, beta), k]), lambda q, keys: keys @ q
            ),
            "The scores are not divided by the root of dim.",
        ),
        Mistake(
            "in-front",
            _path_step_with(lambda k, w, beta, keys: np.vstack([k, _crossed(keys, w, beta)])),
            "The new key comes before those that were kept. It belongs after them.",
        ),
        Mistake(
            "own-key-missing",
            lambda q, k, w, beta, keys: (
                _path_step(q, k, w, beta, keys)[0][:-1],
                _path_step(q, k, w, beta, keys)[1],
            ),
            "The new token looks at itself too: its own key has a score.",
        ),
        Mistake(
            "not-kept",
            lambda q, k, w, beta, keys: (
                _path_step(q, k, w, beta, keys)[0],
                _path_step(q, k, w, beta, keys)[1][:-1],
            ),
            "The new key is missing from what you return as kept.",
        ),
        Mistake(
            "along-itself",
            _path_step_with(
                lambda k, w, beta, keys: np.vstack([_crossed(keys, k, beta) if keys.size else keys, k])
            ),
            "You reflect along the new key. The token reflects along its own w.",
        ),
        Mistake(
            "divided-by-dim",
            _path_step_with(
                lambda k, w, beta, keys: np.vstack([_crossed(keys, w, beta), k]),
                lambda q, keys: keys @ q / len(q),
            ),
            "You divide the scores by dim. Divide by its square root.",
        ),
        Mistake(
            "own-key-crossed-in-the-scores",
            lambda q, k, w, beta, keys: (
                _scored(q, _crossed(np.vstack([keys, k]), w, beta)),
                _path_step(q, k, w, beta, keys)[1],
            ),
            "The kept keys are right. For the scores you reflect the new key as well: nothing is between "
            "it and its own query.",
        ),
        Mistake(
            "root-of-tokens",
            lambda q, k, w, beta, keys: (
                _path_step(q, k, w, beta, keys)[0] * math.sqrt(len(q) / (len(keys) + 1)),
                _path_step(q, k, w, beta, keys)[1],
            ),
            "You divide by the root of the number of keys. Use dim, the length of the query.",
        ),
        Mistake(
            "one-for-every-beta",
            _path_step_with(lambda k, w, beta, keys: np.vstack([_crossed(keys, w, 1.0), k])),
            "You take away everything that lies along w, as with a beta of 1. Take away beta times it.",
        ),
        Mistake(
            "two-for-every-beta",
            _path_step_with(lambda k, w, beta, keys: np.vstack([_crossed(keys, w, 2.0), k])),
            "You reflect with a beta of 2, whatever is given. Use the number you are given.",
        ),
        Mistake(
            "divided-once",
            _path_step_with(
                lambda k, w, beta, keys: np.vstack(
                    [keys - beta * np.outer(keys @ w, w) / np.linalg.norm(w), k]
                )
            ),
            "You divide by the length of w once. It comes in twice, so divide by its square.",
        ),
        Mistake(
            "keys-first",
            lambda *args: _path_step(*args)[::-1],
            "You return the keys first. The scores should come first.",
        ),
        Mistake(
            "weights",
            lambda *args: (softmax(_path_step(*args)[0]), _path_step(*args)[1]),
            "Your scores have been through a softmax. Return them before it.",
        ),
        Mistake(
            "newest-kept-key-alone",
            _path_step_with(lambda k, w, beta, keys: np.vstack([keys[:-1], _crossed(keys[-1:], w, beta), k])),
            "Only the newest of the kept keys crosses the new token in yours. All of them have to.",
        ),
    ),
    alternatives=(
        lambda q, k, w, beta, keys: (
            np.append(
                (keys @ q - beta * (keys @ w) * (w @ q) / (w @ w)) / math.sqrt(len(q)),
                k @ q / math.sqrt(len(q)),
            ),
            np.concatenate([keys - beta * (keys @ w)[:, None] * w / (w @ w), k[None]]),
        ),
        lambda q, k, w, beta, keys: [
            np.concatenate([keys @ _reflections(w[None], np.array([beta]))[0], k[None]]) @ q / len(q) ** 0.5,
            np.concatenate([keys @ _reflections(w[None], np.array([beta]))[0], k[None]]),
        ],
        lambda *args: tuple(each.tolist() for each in _path_step(*args)),
    ),
    hints=(
        "A key that is kept has crossed all tokens up to the last one. Which one does it cross now?",
        "All keys at once: `keys @ h`, where h is the reflection of the new token, `reflections(w[None], "
        "np.array([beta]))[0]`. It is symmetric.",
        "Then put the new key after them with `np.vstack`: nothing is between it and its own query.",
    ),
)
