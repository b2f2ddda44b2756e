"""What several exercises of `10-position-from-content` share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.exercise import Case
from posenc_lib._arrays import Array

GATES = "Your decoder gets forgetting gates"


PATH = "PaTH, by its definition and by its cache"


WHAT_AND_WHERE = "What and where"


STATE = "A state in place of a cache"


ONE_THING = "Rotations and ALiBi are one thing"


Generator = np.random.Generator


def softmax(scores: Array, axis: int = -1) -> Array:
    raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis=axis, keepdims=True))


def drawn_gates(rng: Generator, heads: int, keys: int) -> Array:
    return -rng.exponential(rng.uniform(0.05, 1.5), size=(heads, keys))


def bias_with(
    between: Callable[[Array, Array, Array, Array], Array], masked: bool = True
) -> Callable[[Array, int], Array]:
    """`between`: of the sums up to i and up to j, and of the log gates of i and of j."""

    def bias(log_gates: Array, queries: int) -> Array:
        sums, behind = np.cumsum(log_gates, axis=-1), log_gates.shape[-1] - queries
        found = between(
            sums[:, behind:, None], sums[:, None, :], log_gates[:, behind:, None], log_gates[:, None, :]
        )
        found = np.broadcast_to(found, (len(log_gates), queries, log_gates.shape[-1]))
        return np.asarray(np.tril(found, behind) if masked else found) + 0.0

    return bias


def _forget_bias(log_gates: Array, queries: int) -> Array:
    return bias_with(lambda i, j, own, key: i - j)(log_gates, queries)


def distances(queries: int, keys: int) -> Array:
    return np.arange(keys - queries, keys)[:, None] - np.arange(keys)


def two_chapters() -> Array:
    """Log gates of 24 tokens."""
    gates = np.full((1, 24), -0.05)
    gates[0, 12] = -3.0
    return gates


Score = Callable[[Array, Array, int], Array]


def _fading_scores(products: Array, bias: Array, width: int) -> Array:
    return np.asarray(products / math.sqrt(width) + bias)


def attend_with(
    score: Score = _fading_scores,
    *,
    hide: Callable[[Array, Array], Array] = lambda scores, after: np.where(after, -np.inf, scores),
    weigh: Callable[[Array], Array] = softmax,
    bias_of: Callable[[Array, int], Array] = _forget_bias,
) -> Callable[[Array, Array, Array, Array], Array]:
    def attend(q: Array, k: Array, v: Array, log_gates: Array) -> Array:
        m, n = q.shape[1], k.shape[1]
        scores = score(q @ k.swapaxes(1, 2), bias_of(log_gates, m), q.shape[2])
        return np.asarray(weigh(hide(scores, distances(m, n) < 0)) @ v)

    return attend


def units(w: Array) -> Array:
    return np.asarray(w / np.linalg.norm(w, axis=-1, keepdims=True))


def outer(a: Array, b: Array) -> Array:
    """Of each row with the other's row."""
    return np.asarray(a[:, :, None] * b[:, None, :])


def square(rows: Array) -> Array:
    return outer(rows, rows)


def reflect_with(
    taken: Callable[[Array, Array], Array],
) -> Callable[[Array, Array], Array]:
    """One minus what is taken away: of the vectors, and beta of shape (n, 1, 1)."""
    return lambda w, beta: np.eye(w.shape[1]) - taken(w, beta[:, None, None])


def state_cases(rng: Generator) -> Iterator[Case]:
    def inputs(n: int, wide: int, dim: int, fresh: bool = False) -> tuple[Array, ...]:
        q, k = rng.normal(size=(2, n, dim))
        state = np.zeros((wide, dim)) if fresh else rng.normal(size=(wide, dim))
        return q, k, rng.normal(size=(n, wide)), rng.uniform(0.1, 1, size=n), state

    yield Case("from nothing", inputs(3, 2, 2, fresh=True))
    yield Case("from a state", inputs(3, 2, 2))
    yield Case("one token", inputs(1, 3, 2))
    yield Case("wide values", inputs(4, 5, 2))
    q, k, v, strength, state = inputs(5, 2, 3)
    strength[[1, 3]] = 0.0, 1.0
    yield Case("one number 0, one number 1", (q, k, v, strength, state))
    for _ in range(3):
        sizes = (int(rng.integers(3, 9)), int(rng.integers(2, 5)), int(rng.integers(2, 5)))
        yield Case("sizes, drawn", inputs(*sizes))


Update = Callable[[Array, Array, Array, float], Array]


States = tuple[Array, Array]


def walk(
    update: Update, *, read: Callable[[Array, Array], Array] = lambda before, after: after
) -> Callable[[Array, Array, Array, Array, Array], States]:
    """`update`: the next state, of the state, k, v and the number of the token; `read`: which is read."""

    def states(q: Array, k: Array, v: Array, strength: Array, state: Array) -> States:
        found = np.empty((len(q), len(state)))
        for t in range(len(q)):
            after = update(state, k[t], v[t], strength[t])
            found[t] = read(state, after) @ q[t]
            state = after
        return found, np.array(state)

    return states


def from_nothing(states: Callable[..., States]) -> Callable[..., States]:
    return lambda q, k, v, strength, state: states(q, k, v, strength, 0 * state)


def not_handed_on(states: Callable[..., States]) -> Callable[..., States]:
    return lambda q, k, v, strength, state: (states(q, k, v, strength, state)[0], state)


def transposed(states: Callable[..., States]) -> Callable[..., States]:
    def answer(*args: Array) -> States:
        found, state = states(*args)
        return found, state.T

    return answer


def in_two_goes(
    states: Callable[..., States], q: Array, k: Array, v: Array, strength: Array, state: Array
) -> States:
    """The state hands everything on: a text may be cut anywhere."""
    cut = len(q) // 2
    first, state = states(q[:cut], k[:cut], v[:cut], strength[:cut], state)
    second, state = states(q[cut:], k[cut:], v[cut:], strength[cut:], state)
    return np.concatenate([first, second]), state


def _skew(rng: Generator, dim: int, size: float) -> Array:
    drawn = rng.normal(size=(dim, dim))
    skew = drawn - drawn.T
    return np.asarray(size * skew / np.linalg.norm(skew))
