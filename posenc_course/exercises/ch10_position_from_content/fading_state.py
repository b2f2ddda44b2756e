"""A state in place of a cache: A state that fades."""

from __future__ import annotations

import math
from collections.abc import Callable

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
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Exercise, Mistake
from posenc_lib._arrays import Array


def _gates_to_compare() -> tuple[Array, Array]:
    """Of 40 tokens."""
    gates = np.full(40, 0.9)
    return gates, np.where(np.arange(40) == 25, 0.2, gates)


def _fade(state: Array, k: Array, v: Array, gate: float) -> Array:
    return gate * state + np.outer(v, k)


def _fading_state(q: Array, k: Array, v: Array, gates: Array, state: Array) -> States:
    return walk(_fade)(q, k, v, gates, state)


def _fading_all_at_once(q: Array, k: Array, v: Array, gates: Array, state: Array) -> States:
    """Attention without softmax: a product of gates for each query and key."""
    n = len(q)
    left = np.array([[np.prod(gates[j + 1 : i + 1]) if j <= i else 0.0 for j in range(n)] for i in range(n)])
    kept = np.cumprod(gates)
    found = (q @ k.T * left) @ v + kept[:, None] * (q @ state.T)
    return found, kept[-1] * state + (left[-1][:, None] * v).T @ k


def _fading_with_gates(change: Callable[[Array], Array]) -> Callable[..., States]:
    return lambda q, k, v, gates, state: _fading_state(q, k, v, change(gates), state)


FADING_STATE = Exercise(
    id="10-position-from-content.fading_state",
    title="A state that fades",
    step_of=STATE,
    signature="fading_state(q: array of shape (n, dim), k: array of shape (n, dim), v: array of shape (n, "
    "wide), gates: array of shape (n,), state: array of shape (wide, dim)) -> tuple of two arrays",
    points=3,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda fading_state, across, up, *names: curve(
            np.arange(40),
            {
                name: np.asarray(fading_state(*np.ones((2, 40, 1)), np.eye(40), gates, np.zeros((40, 1)))[0])[
                    -1
                ]
                for name, gates in zip(names, _gates_to_compare(), strict=True)
            },
            across=across,
            up=up,
        ),
        axes=("token", "what is left of it at the end", "all gates alike", "one gate nearly shut"),
        look="With all gates alike this is ALiBi's curve without a softmax, and one gate that is nearly "
        "shut makes a step in it.",
    ),
    reference=_fading_state,
    make_cases=state_cases,
    parts=("what the queries find", "the state at the end"),
    mistakes=(
        Mistake(
            "from-nothing",
            from_nothing(_fading_state),
            "Your state begins as zeros. It should continue from the one you are given.",
        ),
        Mistake(
            "not-handed-on",
            not_handed_on(_fading_state),
            "What the queries find is right, but you return the state that you were given. Return the "
            "state after the last token.",
        ),
        Mistake(
            "read-before-writing",
            walk(_fade, read=lambda before, after: before),
            "Your queries read before their own token has been written. First fade and write, then read.",
        ),
        Mistake(
            "new-faded-too",
            walk(lambda state, k, v, gate: gate * (state + np.outer(v, k))),
            "The gate fades the new token as well. It should fade only what was there before.",
        ),
        Mistake(
            "no-gates",
            walk(lambda state, k, v, gate: state + np.outer(v, k)),
            "Nothing fades: the gates are not used.",
        ),
        Mistake(
            "gates-as-logarithms",
            _fading_with_gates(np.exp),
            "You raise e to the gates. These are the gates themselves, from 0 to 1.",
        ),
        Mistake(
            "shut-for-open",
            _fading_with_gates(lambda gates: 1 - gates),
            "You keep 1 minus the gate. The gate itself is the share that is kept.",
        ),
        Mistake(
            "mean",
            walk(lambda state, k, v, gate: gate * state + (1 - gate) * np.outer(v, k)),
            "You write the new token times 1 minus the gate, as in a moving average. Write it whole.",
        ),
        Mistake(
            "gates-one-late",
            _fading_with_gates(lambda gates: np.append(1.0, gates[:-1])),
            "Each gate comes one token late. A token's gate fades the state before the token is written.",
        ),
        Mistake(
            "all-gates-so-far",
            _fading_with_gates(np.cumprod),
            "At each token you fade by the product of all gates so far. What is in the state has been "
            "faded by the earlier ones already.",
        ),
        Mistake(
            "written-over",
            walk(lambda state, k, v, gate: np.outer(v, k)),
            "Each token replaces the state. It should be added to what is left of the state.",
        ),
        Mistake(
            "transposed",
            transposed(_fading_state),
            "The state at the end is transposed: it has a row for each column of the values.",
        ),
        Mistake(
            "divided",
            lambda q, k, v, gates, state: _fading_state(q / math.sqrt(q.shape[1]), k, v, gates, state),
            "You divide by the root of dim. There is no softmax here, so nothing is divided.",
        ),
        Mistake(
            "gate-on-the-new",
            walk(lambda state, k, v, gate: state + gate * np.outer(v, k)),
            "The gate works on the new token. It should work on the old state.",
        ),
        Mistake(
            "query-and-key-swapped",
            lambda q, k, v, gates, state: _fading_state(k, q, v, gates, state),
            "Queries and keys are swapped: values are kept under keys, and found by queries.",
        ),
        Mistake(
            "reads-the-end",
            lambda q, k, v, gates, state: (
                q @ _fading_state(q, k, v, gates, state)[1].T,
                _fading_state(q, k, v, gates, state)[1],
            ),
            "All your queries read the state at the end, and see tokens after them. Query t reads right "
            "after token t.",
        ),
        Mistake(
            "gate-of-the-next",
            _fading_with_gates(lambda gates: np.append(gates[1:], 1.0)),
            "Each gate comes one token early. A token's gate fades the state before that token is written.",
        ),
        Mistake(
            "last-query-alone",
            lambda q, k, v, gates, state: (
                _fading_state(q, k, v, gates, state)[0][-1],
                _fading_state(q, k, v, gates, state)[1],
            ),
            "You return only what the last query finds. Return what each query finds, a row for each.",
        ),
        Mistake(
            "one-gate-for-all",
            _fading_with_gates(lambda gates: np.full_like(gates, gates.mean())),
            "You use one mean gate for all tokens. Each token has its own.",
        ),
        Mistake(
            "keys-of-length-one",
            lambda q, k, v, gates, state: _fading_state(q, units(k), v, gates, state),
            "You bring the keys to length 1. Use them as they come.",
        ),
    ),
    alternatives=(
        _fading_all_at_once,
        lambda *args: list(_fading_state(*args)),
        lambda q, k, v, gates, state: in_two_goes(_fading_state, q, k, v, gates, state),
    ),
    hints=(
        "Walk through the tokens: what happens to the state at token t, and when is it read?",
        "`np.outer(v[t], k[t])` has a row for each column of the values, as the state has.",
        "In this order: fade and write, `state = gates[t] * state + np.outer(v[t], k[t])`; then read, "
        "`state @ q[t]`.",
    ),
)
