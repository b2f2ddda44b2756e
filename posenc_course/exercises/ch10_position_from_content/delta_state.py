"""A state in place of a cache: A state that corrects itself."""

from __future__ import annotations

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
        look="Every third token writes under the same key, and a query finds what came last, with little "
        "of what it has replaced.",
    ),
    reference=_delta_state,
    make_cases=state_cases,
    parts=("what the queries find", "the state at the end"),
    mistakes=(
        Mistake(
            "from-nothing",
            from_nothing(_delta_state),
            "Your state begins as zeros. It goes on from the one that is handed over.",
        ),
        Mistake(
            "not-handed-on",
            not_handed_on(_delta_state),
            "What the queries find is right, and the state that you return is the one you were given. Return "
            "the state after the last token.",
        ),
        Mistake(
            "read-before-writing",
            walk(_correct, read=lambda before, after: before),
            "Your queries read before their own token is written. First correct, then read.",
        ),
        Mistake(
            "nothing-erased",
            walk(lambda state, k, v, beta: state + beta * np.outer(v, k)),
            "You add the new value and erase nothing: a key that comes twice would hold the sum of its "
            "values.",
        ),
        Mistake(
            "erased-and-not-written",
            walk(lambda state, k, v, beta: state - beta * np.outer(state @ k, k)),
            "You erase what the key held, and write nothing in its place.",
        ),
        Mistake(
            "written-whole",
            walk(lambda state, k, v, beta: state + np.outer(v - beta * state @ k, k)),
            "The new value is written whole. Beta is the share of both: what is erased and what is written.",
        ),
        Mistake(
            "erased-whole",
            walk(lambda state, k, v, beta: state + np.outer(beta * v - state @ k, k)),
            "What the key held is erased whole. Beta is the share of both: what is erased and what is "
            "written.",
        ),
        Mistake(
            "no-beta",
            walk(lambda state, k, v, beta: state + np.outer(v - state @ k, k)),
            "Beta is not used: each token replaces all that its key held.",
        ),
        Mistake(
            "erased-after-writing",
            walk(
                lambda state, k, v, beta: (
                    (state + beta * np.outer(v, k)) @ (np.eye(len(k)) - beta * np.outer(k, k))
                )
            ),
            "You erase after you have written, and a part of the new value is lost. Erase first.",
        ),
        Mistake(
            "away-from-the-value",
            walk(lambda state, k, v, beta: state - beta * np.outer(v - state @ k, k)),
            "The sign of the correction is turned round: your state moves away from the value.",
        ),
        Mistake(
            "all-fades",
            walk(lambda state, k, v, beta: (1 - beta) * state + beta * np.outer(v, k)),
            "You fade the whole state. Only what is held under this key is erased.",
        ),
        Mistake(
            "keys-of-length-one",
            lambda q, k, v, beta, state: _delta_state(q, units(k), v, beta, state),
            "You bring the keys to length 1. They are taken as they come.",
        ),
        Mistake(
            "query-for-key",
            lambda q, k, v, beta, state: _walk_with_queries(q, k, v, beta, state),
            "You compare the value with what the query finds. It is the key under which the value is kept.",
        ),
        Mistake(
            "transposed",
            transposed(_delta_state),
            "The state at the end is transposed: it has a row for each column of the values.",
        ),
        Mistake(
            "held-value-added",
            walk(lambda state, k, v, beta: state + beta * np.outer(v + state @ k, k)),
            "You add what the key held to the new value. It is taken off.",
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
        "Multiply this out: it is the state times the identity minus beta k k, plus beta v k. Then read with "
        "the query.",
    ),
)


def _walk_with_queries(q: Array, k: Array, v: Array, beta: Array, state: Array) -> States:
    found = np.empty((len(q), len(state)))
    for t in range(len(q)):
        state = state + beta[t] * np.outer(v[t] - state @ q[t], k[t])
        found[t] = state @ q[t]
    return found, state
