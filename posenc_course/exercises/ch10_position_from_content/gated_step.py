"""Your decoder gets forgetting gates: One more token."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import (
    GATES,
    Generator,
    attend_with,
    drawn_gates,
    softmax,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake
from posenc_lib._arrays import Array


def _step_cases(rng: Generator) -> Iterator[Case]:
    def inputs(heads: int, n: int, width: int, size: float = 1.0) -> tuple[Array, ...]:
        q, k, v = rng.normal(size=(3, heads, width))
        keys, values = rng.normal(size=(2, heads, n, width))
        gates = drawn_gates(rng, heads, n + 1)
        return size * q, k, v, gates[:, -1].copy(), keys, values, np.cumsum(gates[:, :-1], axis=1)

    yield Case("three tokens are kept", inputs(1, 3, 2))
    yield Case("nothing is kept yet", inputs(2, 0, 4))
    yield Case("one token is kept", inputs(2, 1, 4))
    yield Case("large scores", inputs(2, 4, 4, 400.0))
    q, k, v, _, keys, values, sums = inputs(2, 5, 4)
    yield Case("a gate that is shut", (q, k, v, np.full(2, -1e4), keys, values, sums))
    for _ in range(2):
        yield Case("sizes, drawn", inputs(int(rng.integers(2, 5)), int(rng.integers(3, 9)), 6))


Cache = tuple[Array, Array, Array]


def _behind(kept: Array, new: Array) -> Array:
    return np.concatenate([kept, new[:, None]], axis=1)


def _grown(k: Array, v: Array, gate: Array, keys: Array, values: Array, sums: Array) -> Cache:
    last = sums[:, -1] if sums.shape[1] else np.zeros(len(sums))
    return _behind(keys, k), _behind(values, v), _behind(sums, last + gate)


def _look_back(q: Array, keys: Array, values: Array, bias: Array, root: float | None = None) -> Array:
    products = np.einsum("hd,hnd->hn", q, keys) / (math.sqrt(q.shape[1]) if root is None else root)
    return np.einsum("hn,hnd->hd", softmax(products + bias), values)


def _gated_step(
    q: Array, k: Array, v: Array, log_gate: Array, keys: Array, values: Array, sums: Array
) -> tuple[Array, Array, Array, Array]:
    keys, values, sums = _grown(k, v, log_gate, keys, values, sums)
    return _look_back(q, keys, values, sums[:, -1:] - sums), keys, values, sums


def _step_with(
    bias: Callable[[Array, Array], Array] = lambda sums, gate: sums[:, -1:] - sums, root: float | None = None
) -> Callable[..., tuple[Array, ...]]:
    """`bias`: of the new sums, and of the new log gate as a column."""

    def step(
        q: Array, k: Array, v: Array, gate: Array, keys: Array, values: Array, sums: Array
    ) -> tuple[Array, ...]:
        grown = _grown(k, v, gate, keys, values, sums)
        return _look_back(q, *grown[:2], bias(grown[2], gate[:, None]), root), *grown

    return step


def _sums_with(
    change: Callable[[Array, Array], Array], *, used: bool = True
) -> Callable[..., tuple[Array, ...]]:
    """Another cache of sums, of those that were kept and the new log gate."""

    def step(
        q: Array, k: Array, v: Array, gate: Array, keys: Array, values: Array, sums: Array
    ) -> tuple[Array, ...]:
        found, new_keys, new_values, _sums = _gated_step(q, k, v, gate, keys, values, sums)
        changed = change(sums, gate[:, None])
        if used:
            found = _look_back(q, new_keys, new_values, changed[:, -1:] - changed)
        return found, new_keys, new_values, changed

    return step


def _in_front(
    q: Array, k: Array, v: Array, gate: Array, keys: Array, values: Array, sums: Array
) -> tuple[Array, ...]:
    found, *grown = _gated_step(q, k, v, gate, keys, values, sums)
    return found, *(np.roll(each, 1, axis=1) for each in grown)


def _step_by_head(
    q: Array, k: Array, v: Array, log_gate: Array, keys: Array, values: Array, sums: Array
) -> tuple[Array, ...]:
    heads, n, width = keys.shape
    total = (sums[:, n - 1] if n else 0) + log_gate
    found = []
    for h in range(heads):
        faded = np.append(total[h] - sums[h], 0.0)
        scores = np.append(keys[h] @ q[h], k[h] @ q[h]) / width**0.5 + faded
        raised = np.exp(scores - scores.max())
        found.append(raised / raised.sum() @ np.vstack([values[h], v[h]]))
    return (
        np.array(found),
        np.concatenate([keys, k[:, None, :]], axis=1),
        np.concatenate([values, v[:, None, :]], axis=1),
        np.concatenate([sums, total[:, None]], axis=1),
    )


GATED_STEP = Exercise(
    id="10-position-from-content.gated_step",
    title="One more token",
    step_of=GATES,
    adds="Your decoder gets forgetting gates, and its cache keeps their running sums.",
    signature="gated_step(q: array of shape (heads, width), k: array of shape (heads, width), v: array of "
    "shape (heads, width), log_gate: array of shape (heads,), keys: array of shape (heads, n, width), "
    "values: array of shape (heads, n, width), sums: array of shape (heads, n)) -> tuple of four arrays",
    points=4,
    minutes=15,
    difficulty=4,
    reference=_gated_step,
    make_cases=_step_cases,
    parts=("what the query finds", "the kept keys", "the kept values", "the kept sums"),
    where_not_finite="Subtract each row's largest score before you raise e to it.",
    mistakes=(
        Mistake(
            "gate-for-sum",
            _sums_with(lambda sums, gate: np.concatenate([sums, gate], axis=1)),
            "You keep only the new gate. Keep its running sum: the last sum before it, plus the gate.",
        ),
        Mistake(
            "old-sums-changed",
            _sums_with(
                lambda sums, gate: (
                    np.concatenate([sums + gate, sums[:, -1:] + gate], axis=1) if sums.shape[1] else gate
                ),
                used=False,
            ),
            "The new gate is added to the old sums as well. They are sums up to their own tokens, and "
            "nothing that comes later should change them.",
        ),
        Mistake(
            "biases-kept",
            _sums_with(
                lambda sums, gate: (
                    np.concatenate([sums[:, -1:] + gate - sums, 0 * gate], axis=1)
                    if sums.shape[1]
                    else 0 * gate
                ),
                used=False,
            ),
            "You keep the bias of this query in place of the sums. The next query could not continue "
            "from it.",
        ),
        Mistake(
            "no-gates",
            _step_with(lambda sums, gate: 0 * sums),
            "You keep the gates but do not use them: the query finds what it would find without them.",
        ),
        Mistake(
            "sums-added",
            _step_with(lambda sums, gate: sums),
            "Your query prefers what was forgotten. You add the sums themselves, or subtract them the "
            "wrong way round. What is lost between key and query is the newest sum minus the key's.",
        ),
        Mistake(
            "new-gate-not-used",
            _step_with(lambda sums, gate: np.concatenate([sums[:, -2:-1] - sums[:, :-1], 0 * gate], axis=1)),
            "The new token's own gate does nothing yet. It should fade all keys before it right away, "
            "and not its own key.",
        ),
        Mistake(
            "own-gate-of-each-key",
            _step_with(lambda sums, gate: sums[:, -1:] - sums + np.diff(sums, axis=1, prepend=0.0)),
            "You fade each key by its own gate too. Only the gates of the tokens after it fade it.",
        ),
        Mistake(
            "nothing-divided",
            _step_with(root=1.0),
            "The products are not divided by the root of the width.",
        ),
        Mistake(
            "not-kept",
            lambda q, k, v, gate, keys, values, sums: (
                _gated_step(q, k, v, gate, keys, values, sums)[0],
                keys,
                values,
                sums,
            ),
            "The new token is missing from what you return as kept.",
        ),
        Mistake(
            "in-front",
            _in_front,
            "The new token comes before those that were kept. It belongs after them.",
        ),
        Mistake(
            "values-for-keys",
            lambda *args: tuple(_gated_step(*args)[n] for n in (0, 2, 1, 3)),
            "Keys and values are swapped in what you return.",
        ),
        Mistake(
            "summed-once-more",
            _sums_with(lambda sums, gate: np.cumsum(np.concatenate([sums, gate], axis=1), axis=1)),
            "You sum what are sums already. Only the new one has to be made.",
        ),
        Mistake(
            "root-of-heads",
            lambda q, *rest: _step_with(root=math.sqrt(len(q)))(q, *rest),
            "You divide by the root of the number of heads. Use the width of a head.",
        ),
        Mistake(
            "gates-added",
            _step_with(lambda sums, gate: np.exp(sums[:, -1:] - sums)),
            "You add products of gates to the scores. Add their logarithms: the newest sum minus each key's.",
        ),
        Mistake(
            "divided-by-width",
            lambda q, *rest: _step_with(root=float(q.shape[1]))(q, *rest),
            "You divide the products by the width. Divide by its square root.",
        ),
        Mistake(
            "root-of-tokens",
            lambda q, k, v, gate, keys, values, sums: _step_with(root=math.sqrt(keys.shape[1] + 1))(
                q, k, v, gate, keys, values, sums
            ),
            "You divide by the root of the number of tokens. Use the width of a head.",
        ),
        Mistake(
            "found-last",
            lambda *args: (*_gated_step(*args)[1:], _gated_step(*args)[0]),
            "You return what the query finds last. Return it first, before keys, values and sums.",
        ),
    ),
    alternatives=(
        _step_by_head,
        lambda *args: list(_gated_step(*args)),
        lambda q, k, v, gate, keys, values, sums: (
            attend_with()(
                q[:, None],
                _behind(keys, k),
                _behind(values, v),
                np.diff(_grown(k, v, gate, keys, values, sums)[2], axis=1, prepend=0.0),
            )[:, 0],
            *_grown(k, v, gate, keys, values, sums),
        ),
    ),
    hints=(
        "First put the new key, the new value and the new sum behind those that are kept. The new sum is "
        "the last one plus the new gate, or just the new gate where nothing is kept.",
        "The bias of each key is the newest sum minus its own: `sums[:, -1:] - sums`.",
        "For a single query in each head, the products are `(keys @ q[..., None])[..., 0]`, of shape "
        "(heads, n + 1).",
    ),
)
