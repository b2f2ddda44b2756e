"""A state in place of a cache: A state that corrects itself."""

from __future__ import annotations

import math

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import (
    STATE,
    States,
    from_nothing,
    in_two_goes,
    not_handed_on,
    state_cases,
    transposed,
    units,
    walk,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Exercise, Mistake
from posenc_lib._arrays import Array


def _correct(state: Array, k: Array, v: Array, beta: float) -> Array:
    return state + beta * np.outer(v - state @ k, k)


def _delta_state(q: Array, k: Array, v: Array, beta: Array, state: Array) -> States:
    return walk(_correct)(q, k, v, beta, state)


def _erase_and_write(state: Array, k: Array, v: Array, beta: float) -> Array:
    return np.asarray(state @ (np.eye(len(k)) - beta * np.outer(k, k)) + beta * np.outer(v, k))


def _delta_by_corrections(q: Array, k: Array, v: Array, beta: Array, state: Array) -> States:
    """What each token really writes, found from all before it; no state but the first is kept."""
    n = len(q)
    written = np.zeros_like(v)
    for t in range(n):
        known = state @ k[t] + sum((written[s] * (k[s] @ k[t]) for s in range(t)), np.zeros(v.shape[1]))
        written[t] = beta[t] * (v[t] - known)
    return q @ state.T + np.tril(q @ k.T) @ written, state + written.T @ k


DELTA_STATE = Exercise(
    id="10-position-from-content.delta_state",
    title="A state that corrects itself",
    step_of=STATE,
    signature="delta_state(q: array of shape (n, dim), k: array of shape (n, dim), v: array of shape (n, "
    "wide), beta: array of shape (n,), state: array of shape (wide, dim)) -> tuple of two arrays",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda delta_state, rows, columns: heat_map(
            delta_state(
                np.tile([[1.0, 0.0, 0.0]], (18, 1)),
                np.eye(3)[np.arange(18) % 3],
                np.eye(18),
                np.full(18, 0.8),
                np.zeros((18, 3)),
            )[0],
            rows=rows,
            columns=columns,
        ),
        axes=("query", "token that wrote"),
        look="Every third token writes under the same key, and a query finds what came last, with a "
        "little of what it replaced.",
    ),
    reference=_delta_state,
    make_cases=state_cases,
    parts=("what the queries find", "the state at the end"),
    mistakes=(
        Mistake(
            "from-nothing",
            from_nothing(_delta_state),
            "Your state begins as zeros. It should continue from the one you are given.",
        ),
        Mistake(
            "not-handed-on",
            not_handed_on(_delta_state),
            "What the queries find is right, but you return the state that you were given. Return the "
            "state after the last token.",
        ),
        Mistake(
            "read-before-writing",
            walk(_correct, read=lambda before, after: before),
            "Your queries read before their own token has been written. First correct, then read.",
        ),
        Mistake(
            "nothing-erased",
            walk(lambda state, k, v, beta: state + beta * np.outer(v, k)),
            "You add the new value without erasing anything: a key that comes twice would hold the sum "
            "of its values.",
        ),
        Mistake(
            "erased-and-not-written",
            walk(lambda state, k, v, beta: state - beta * np.outer(state @ k, k)),
            "You erase what the key held and write nothing in its place.",
        ),
        Mistake(
            "written-whole",
            walk(lambda state, k, v, beta: state + np.outer(v - beta * state @ k, k)),
            "You write the whole new value. Beta is the share of both: of what is erased and of what is "
            "written.",
        ),
        Mistake(
            "erased-whole",
            walk(lambda state, k, v, beta: state + np.outer(beta * v - state @ k, k)),
            "You erase everything the key held. Beta is the share of both: of what is erased and of what "
            "is written.",
        ),
        Mistake(
            "no-beta",
            walk(lambda state, k, v, beta: state + np.outer(v - state @ k, k)),
            "Beta is not used: each token replaces everything its key held.",
        ),
        Mistake(
            "erased-after-writing",
            walk(
                lambda state, k, v, beta: (
                    (state + beta * np.outer(v, k)) @ (np.eye(len(k)) - beta * np.outer(k, k))
                )
            ),
            "You erase after writing, so part of the new value is lost. Erase first.",
        ),
        Mistake(
            "away-from-the-value",
            walk(lambda state, k, v, beta: state - beta * np.outer(v - state @ k, k)),
            "The sign of the correction is reversed: your state moves away from the value.",
        ),
        Mistake(
            "all-fades",
            walk(lambda state, k, v, beta: (1 - beta) * state + beta * np.outer(v, k)),
            "You fade the whole state. Erase only what is held under this key.",
        ),
        Mistake(
            "keys-of-length-one",
            lambda q, k, v, beta, state: _delta_state(q, units(k), v, beta, state),
            "You bring the keys to length 1. Use them as they come.",
        ),
        Mistake(
            "query-for-key",
            lambda q, k, v, beta, state: _walk_with_queries(q, k, v, beta, state),
            "You compare the value with what the query finds. Compare it with what the state holds under "
            "the key.",
        ),
        Mistake(
            "transposed",
            transposed(_delta_state),
            "The state at the end is transposed: it has a row for each column of the values.",
        ),
        Mistake(
            "held-value-added",
            walk(lambda state, k, v, beta: state + beta * np.outer(v + state @ k, k)),
            "You add what the key held to the new value. Subtract it.",
        ),
        Mistake(
            "reads-the-end",
            lambda q, k, v, beta, state: (
                q @ _delta_state(q, k, v, beta, state)[1].T,
                _delta_state(q, k, v, beta, state)[1],
            ),
            "All your queries read the state at the end, and see tokens after them. Query t reads right "
            "after token t.",
        ),
        Mistake(
            "compared-with-the-first-state",
            lambda q, k, v, beta, state: walk(
                lambda now, k, v, beta: now + beta * np.outer(v - state @ k, k)
            )(q, k, v, beta, state),
            "You compare every value with the state from the beginning. Compare it with the state as it "
            "is now.",
        ),
        Mistake(
            "rest-of-beta",
            lambda q, k, v, beta, state: _delta_state(q, k, v, 1 - beta, state),
            "You use 1 minus beta. Beta itself is the share that is erased and written.",
        ),
        Mistake(
            "query-and-key-swapped",
            lambda q, k, v, beta, state: _delta_state(k, q, v, beta, state),
            "Queries and keys are swapped: values are kept under keys, and found by queries.",
        ),
        Mistake(
            "beta-as-a-gate",
            walk(lambda state, k, v, beta: beta * state + np.outer(v - state @ k, k)),
            "You fade the state by beta. Beta belongs to the correction.",
        ),
        Mistake(
            "divided",
            lambda q, k, v, beta, state: _delta_state(q / math.sqrt(q.shape[1]), k, v, beta, state),
            "You divide by the root of dim. There is no softmax here, so nothing is divided.",
        ),
        Mistake(
            "divided-by-the-keys-square",
            walk(lambda state, k, v, beta: state + beta * np.outer(v - state @ k, k) / (k @ k)),
            "You divide the correction by the key's squared length. Use the keys as they come.",
        ),
    ),
    alternatives=(
        walk(_erase_and_write),
        _delta_by_corrections,
        lambda q, k, v, beta, state: list(in_two_goes(walk(_erase_and_write), q, k, v, beta, state)),
    ),
    hints=(
        "What does the state hold under the key now? How far is that from the new value?",
        "`state @ k[t]` is what it holds. The difference from `v[t]`, times beta, is written under the key: "
        "`np.outer(difference, k[t])`.",
        "Multiply this out: it is the state times the identity minus beta k k, plus beta v k. Then read "
        "with the query.",
    ),
)


def _walk_with_queries(q: Array, k: Array, v: Array, beta: Array, state: Array) -> States:
    found = np.empty((len(q), len(state)))
    for t in range(len(q)):
        state = state + beta[t] * np.outer(v[t] - state @ q[t], k[t])
        found[t] = state @ q[t]
    return found, state
