"""Exercises of `10-position-from-content`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.exercises.drawing import Draws, arrows, curve, heat_map
from posenc_lib.exercises.exercise import Case, Exercise, Mistake, Property

CHAPTER = "10-position-from-content"
GATES = "Your decoder gets forgetting gates"
PATH = "PaTH, by its definition and by its cache"
WHAT_AND_WHERE = "What and where"
STATE = "A state in place of a cache"
ONE_THING = "Rotations and ALiBi are one thing"

Generator = np.random.Generator


def _sigmoid(x: Array) -> Array:
    return np.exp(-np.logaddexp(0, -x))


def _softmax(scores: Array, axis: int = -1) -> Array:
    raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis=axis, keepdims=True))


# --- log_gates -------------------------------------------------------------------------------------


def _logit_cases(rng: Generator) -> Iterator[Case]:
    yield Case("around 0", (np.array([[-2.0, -0.5, 0.0, 0.5, 2.0]]),))
    yield Case("gates that are wide open", (np.array([[40.0, 300.0], [750.0, 1e5]]),))
    yield Case("gates that are shut", (np.array([[-40.0, -300.0, -750.0, -1e5]]),))
    yield Case("a batch of two", (3 * rng.normal(size=(2, 3, 4)),))
    for _ in range(3):
        shape = (int(rng.integers(1, 5)), int(rng.integers(2, 9)))
        yield Case("logits, drawn", (rng.normal(size=shape) * rng.uniform(1, 20),))


def _log_gates(logits: Array) -> Array:
    return np.asarray(-np.logaddexp(0, -logits))


def _log_gates_in_two_halves(logits: Array) -> Array:
    """Nothing above 0 is ever raised."""
    return np.minimum(logits, 0) - np.log1p(np.exp(-np.abs(logits)))


LOG_GATES = Exercise(
    id=f"{CHAPTER}.log_gates",
    title="The logarithm of a gate",
    step_of=GATES,
    signature="log_gates(logits: array of shape (..., heads, n)) -> array of the shape of logits",
    points=2,
    minutes=8,
    difficulty=2,
    draws=Draws(
        lambda log_gates, across, up: curve(
            np.linspace(-6, 6, 61),
            {"": np.ravel(log_gates(np.linspace(-6, 6, 61)[None]))},
            across=across,
            up=up,
        ),
        axes=("logit", "logarithm of the gate"),
        look="Far below 0 the logarithm is the logit itself, and far above 0 the gate is open and takes "
        "nothing.",
    ),
    reference=_log_gates,
    make_cases=_logit_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one logarithm for each logit.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.asarray(value) <= 1e-9).all()),
            "A gate is at most 1, so its logarithm is never above 0.",
        ),
        Property(
            lambda args, value: bool((np.abs(value - args[0])[args[0] < -30] < 1e-3).all()),
            "Where a logit is far below 0, the logarithm of its gate is nearly the logit itself. Yours stops "
            "at some number: did the gate become 0 on its way, or is it cut?",
        ),
    ),
    where_not_finite="A gate of e to the power of -750 is 0 in a computer, and 0 has no logarithm. Do not "
    "make the gate first: find a form of its logarithm that raises nothing large.",
    mistakes=(
        Mistake(
            "minus-left-out",
            lambda logits: np.logaddexp(0, -logits),
            "The sign is turned round. The gate is below 1, so its logarithm is below 0.",
        ),
        Mistake(
            "softplus",
            lambda logits: np.logaddexp(0, logits),
            "This is softplus of the logits, which grows where the gate opens. An open gate has a logarithm "
            "of nearly 0.",
        ),
        Mistake(
            "shut-for-open",
            lambda logits: -np.logaddexp(0, logits),
            "This is the logarithm of 1 minus the gate: yours shuts where it should open.",
        ),
        Mistake("the-gate", _sigmoid, "These are the gates themselves. Their logarithms are asked for."),
        Mistake(
            "logits",
            lambda logits: 1.0 * logits,
            "You return the logits. They go through the sigmoid before the logarithm is taken.",
        ),
        Mistake(
            "corner",
            lambda logits: np.minimum(logits, 0),
            "Far from 0 this is right. Around 0 the logarithm of the sigmoid has no corner: at 0 it is "
            "that of a half.",
        ),
        Mistake(
            "log-of-two",
            lambda logits: _log_gates(logits) / math.log(2),
            "You took the logarithm to base 2. It is the natural one.",
        ),
        Mistake(
            "shared",
            lambda logits: logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True),
            "Your gates of a head sum to 1, as after a softmax. Each gate stands for itself.",
        ),
        Mistake(
            "from-tanh",
            lambda logits: _log_gates(2 * logits),
            "Your gate is half of 1 + tanh(logit), which is the sigmoid of twice the logit.",
        ),
        Mistake(
            "twice-the-logit",
            lambda logits: logits - np.logaddexp(0, -logits),
            "You take the logit once too often. For a logit of 0 your sum is right; look at one of 2.",
        ),
        Mistake(
            "logarithm-of-plus",
            lambda logits: -np.log1p(np.exp(-np.abs(logits))),
            "Your result does not change with the sign of the logit. For a logit below 0, something is "
            "missing.",
        ),
    ),
    alternatives=(
        _log_gates_in_two_halves,
        lambda logits: logits - np.logaddexp(0, logits),
        lambda logits: -np.logaddexp(0, -logits).astype(float),
    ),
    hints=(
        "The gate is `1 / (1 + exp(-x))`. What is the logarithm of one over something?",
        "So minus the logarithm of `1 + exp(-x)` is asked for. For x = -750 no computer holds `exp(-x)`.",
        "`np.logaddexp(a, b)` is the logarithm of `exp(a) + exp(b)`, and never makes either of them. Which a "
        "gives 1?",
    ),
)


# --- forget_bias -----------------------------------------------------------------------------------


def _drawn_gates(rng: Generator, heads: int, keys: int) -> Array:
    return -rng.exponential(rng.uniform(0.05, 1.5), size=(heads, keys))


def _bias_cases(rng: Generator) -> Iterator[Case]:
    yield Case("one head, three tokens", (np.array([[-1.0, -2.0, -0.5]]), 3))
    yield Case("all gates alike", (np.full((1, 6), -0.25), 6))
    yield Case("one query, the last", (_drawn_gates(rng, 2, 5), 1))
    shut = np.full((1, 7), -0.01)
    shut[0, 3] = -1e4
    yield Case("a gate that is shut", (shut, 7))
    yield Case("gates that are wide open", (np.zeros((2, 4)), 4))
    for _ in range(3):
        keys = int(rng.integers(4, 9))
        yield Case(
            "gates, drawn", (_drawn_gates(rng, int(rng.integers(2, 4)), keys), int(rng.integers(2, keys)))
        )


def _bias_with(
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
    return _bias_with(lambda i, j, own, key: i - j)(log_gates, queries)


def _distances(queries: int, keys: int) -> Array:
    return np.arange(keys - queries, keys)[:, None] - np.arange(keys)


def _by_distance(gate: Callable[[Array, int], Array]) -> Callable[[Array, int], Array]:
    """The distance times one log gate: (heads, queries or 1, keys or 1), of the log gates and the queries."""
    return lambda log_gates, queries: np.tril(
        _distances(queries, log_gates.shape[-1]) * gate(log_gates, queries), log_gates.shape[-1] - queries
    )


def _bias_by_loops(log_gates: Array, queries: int) -> Array:
    heads, keys = log_gates.shape
    found = np.zeros((heads, queries, keys))
    for row in range(queries):
        i = keys - queries + row
        for j in range(i):
            found[:, row, j] = log_gates[:, j + 1 : i + 1].sum(axis=-1)
    return found


def _bias_from_the_end(log_gates: Array, queries: int) -> Array:
    """Row by row: the sums of what stands behind each key, taken from the query back."""
    rows = []
    keys = log_gates.shape[-1]
    for i in range(keys - queries, keys):
        row = np.zeros_like(log_gates)
        row[:, :i] = np.cumsum(log_gates[:, i:0:-1], axis=-1)[:, ::-1]
        rows.append(row)
    return np.stack(rows, axis=1)


FORGET_BIAS = Exercise(
    id=f"{CHAPTER}.forget_bias",
    title="What is left of each key",
    step_of=GATES,
    signature="forget_bias(log_gates: array of shape (heads, keys), queries: int) -> array of shape (heads, "
    "queries, keys)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda forget_bias, rows, columns: heat_map(
            np.asarray(forget_bias(_two_chapters(), 24))[0], rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="At token 12 a gate is nearly shut: all later queries have lost what stood before it.",
    ),
    reference=_forget_bias,
    make_cases=_bias_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1], args[0].shape[1]),
            "The shape is (heads, queries, keys): one matrix for each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value)[:, _distances(args[1], args[0].shape[1]) < 0] == 0).all()
            ),
            "A key after its query must get 0.",
        ),
        Property(
            lambda args, value: bool(
                (np.abs(np.asarray(value)[:, _distances(args[1], args[0].shape[1]) == 0]) < 1e-5).all()
            ),
            "Between a query and the key of its own token there is no token, so this key must get 0.",
        ),
        Property(
            lambda args, value: bool((np.asarray(value) < 1e-5).all()),
            "A gate can only take away: no bias is above 0.",
        ),
    ),
    where_not_finite="Keys after the query get 0 here. The mask will hide them.",
    mistakes=(
        Mistake(
            "keys-gate-for-the-querys",
            _bias_with(lambda i, j, own, key: (i - own) - (j - key)),
            "You count the key's own gate, and not the query's. A gate closes on what stood before its "
            "token: the key's own gate leaves the key alone.",
        ),
        Mistake(
            "both-ends",
            _bias_with(lambda i, j, own, key: i - j + key),
            "You count one gate too many: that of the key. It closes on what stood before the key.",
        ),
        Mistake(
            "neither-end",
            lambda log_gates, queries: np.tril(
                _bias_with(lambda i, j, own, key: i - own - j)(log_gates, queries),
                log_gates.shape[-1] - queries - 1,
            ),
            "The query's own gate is missing. It closes on all that stood before the query.",
        ),
        Mistake(
            "turned-round",
            lambda *args: -_forget_bias(*args),
            "The sign is turned round: your bias rewards what was forgotten. Take the sum up to the key off "
            "the sum up to the query.",
        ),
        Mistake(
            "up-to-the-query",
            _bias_with(lambda i, j, own, key: i),
            "You sum from the beginning of the text, for every key alike. Only the tokens after the key "
            "count.",
        ),
        Mistake(
            "up-to-the-key",
            _bias_with(lambda i, j, own, key: -j),
            "The sum up to the query is missing. Softmax would forgive it, since it is the same for a whole "
            "row; here the bias itself is asked for.",
        ),
        Mistake(
            "not-masked",
            _bias_with(lambda i, j, own, key: i - j, masked=False),
            "Keys after the query are above 0 in yours. They must get 0.",
        ),
        Mistake(
            "products",
            lambda *args: np.exp(_forget_bias(*args)),
            "These are products of gates. The bias is added to scores: it is their logarithm.",
        ),
        Mistake(
            "first-queries",
            lambda log_gates, queries: _forget_bias(log_gates, log_gates.shape[-1])[:, :queries],
            "Your queries are the first tokens. They are the last ones.",
        ),
        Mistake(
            "over-heads",
            lambda log_gates, queries: _forget_sums(np.cumsum(log_gates, axis=0), queries),
            "Your sums run over the heads. They run over the tokens, along the last axis.",
        ),
        Mistake(
            "no-sums",
            lambda log_gates, queries: _forget_sums(log_gates, queries),
            "You subtract the gate of one token from that of another. Their sums up to each token are meant.",
        ),
        Mistake(
            "querys-gate-times-distance",
            _by_distance(lambda log_gates, queries: log_gates[:, log_gates.shape[-1] - queries :, None]),
            "You multiply the distance by the query's own gate. Each token in between has a gate of its own.",
        ),
        Mistake(
            "keys-gate-times-distance",
            _by_distance(lambda log_gates, queries: log_gates[:, None, :]),
            "You multiply the distance by the key's own gate. Each token in between has a gate of its own.",
        ),
        Mistake(
            "mean-gate",
            _by_distance(lambda log_gates, queries: log_gates.mean(axis=-1)[:, None, None]),
            "You take one mean gate for a whole head. That is ALiBi, whatever the tokens say.",
        ),
        Mistake(
            "swapped",
            lambda *args: np.asarray(_forget_bias(*args)).swapaxes(1, 2),
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "triangle-not-moved",
            lambda *args: np.tril(_forget_bias(*args)),
            "Some keys that stand before their query get 0. The first query does not stand at the first key: "
            "move the triangle.",
        ),
    ),
    alternatives=(
        _bias_by_loops,
        _bias_from_the_end,
        lambda log_gates, queries: np.where(
            _distances(queries, log_gates.shape[1]) > 0,
            np.cumsum(log_gates, axis=1)[:, -queries:, None] - np.cumsum(log_gates, axis=1)[:, None, :],
            0.0,
        ),
    ),
    hints=(
        "With c for the sums from the beginning up to each token, what is the sum over the tokens after "
        "j, up to i?",
        "`np.cumsum(log_gates, axis=-1)` makes the sums. Those of the queries are the last ones: make them a "
        "column with `[:, -queries:, None]`, and those of the keys a row.",
        "`np.tril(..., k)` keeps what is on the k-th diagonal and below. The first query stands at keys - "
        "queries.",
    ),
)


def _forget_sums(sums: Array, queries: int) -> Array:
    """The bias from whatever is given as sums."""
    keys = sums.shape[-1]
    return np.tril(sums[:, keys - queries :, None] - sums[:, None, :], keys - queries) + 0.0


def _gates_to_compare() -> tuple[Array, Array]:
    """Of 40 tokens."""
    gates = np.full(40, 0.9)
    return gates, np.where(np.arange(40) == 25, 0.2, gates)


def _two_chapters() -> Array:
    """Log gates of 24 tokens."""
    gates = np.full((1, 24), -0.05)
    gates[0, 12] = -3.0
    return gates


# --- gated_attention -------------------------------------------------------------------------------


def _attention_cases(rng: Generator) -> Iterator[Case]:
    def inputs(heads: int, m: int, n: int, width: int, size: float = 1.0) -> tuple[Array, ...]:
        q, k, v = (rng.normal(size=(heads, each, width)) for each in (m, n, n))
        return size * q, size * k, v, _drawn_gates(rng, heads, n)

    yield Case("one head, four tokens", inputs(1, 4, 4, 2))
    yield Case("two heads, the last two queries", inputs(2, 2, 6, 4))
    yield Case("one query, the last", inputs(3, 1, 5, 4))
    yield Case("large scores", inputs(2, 3, 5, 4, 60.0))
    q, k, v, gates = inputs(1, 5, 5, 4)
    gates[0, 2] = -1e4
    yield Case("a gate that is shut", (q, k, v, gates))
    for _ in range(2):
        n = int(rng.integers(4, 8))
        yield Case("sizes, drawn", inputs(int(rng.integers(2, 4)), int(rng.integers(2, n)), n, 6))


Score = Callable[[Array, Array, int], Array]


def _fading_scores(products: Array, bias: Array, width: int) -> Array:
    return np.asarray(products / math.sqrt(width) + bias)


def _attend_with(
    score: Score = _fading_scores,
    *,
    hide: Callable[[Array, Array], Array] = lambda scores, after: np.where(after, -np.inf, scores),
    weigh: Callable[[Array], Array] = _softmax,
    bias_of: Callable[[Array, int], Array] = _forget_bias,
) -> Callable[[Array, Array, Array, Array], Array]:
    def attend(q: Array, k: Array, v: Array, log_gates: Array) -> Array:
        m, n = q.shape[1], k.shape[1]
        scores = score(q @ k.swapaxes(1, 2), bias_of(log_gates, m), q.shape[2])
        return np.asarray(weigh(hide(scores, _distances(m, n) < 0)) @ v)

    return attend


def _gated_attention(q: Array, k: Array, v: Array, log_gates: Array) -> Array:
    return _attend_with()(q, k, v, log_gates)


def _faded_after_softmax(q: Array, k: Array, v: Array, log_gates: Array) -> Array:
    weights = _softmax(
        np.where(
            _distances(q.shape[1], k.shape[1]) < 0,
            -np.inf,
            q @ k.swapaxes(1, 2) / math.sqrt(q.shape[2]),
        )
    )
    return np.asarray(weights * np.exp(_forget_bias(log_gates, q.shape[1])) @ v)


def _attend_by_loops(q: Array, k: Array, v: Array, log_gates: Array) -> Array:
    heads, m, width = q.shape
    n = k.shape[1]
    found = np.empty((heads, m, v.shape[2]))
    for h in range(heads):
        for row in range(m):
            i = n - m + row
            scores = [
                k[h, j] @ q[h, row] / width**0.5 + log_gates[h, j + 1 : i + 1].sum() for j in range(i + 1)
            ]
            raised = np.exp(np.array(scores) - max(scores))
            found[h, row] = raised @ v[h, : i + 1] / raised.sum()
    return found


def _attend_by_sums(q: Array, k: Array, v: Array, log_gates: Array) -> Array:
    """The query's own sum is the same for a whole row, and softmax does not see it."""
    m, n = q.shape[1], k.shape[1]
    scores = np.einsum("hid,hjd->hij", q, k) / np.sqrt(q.shape[2]) - np.cumsum(log_gates, axis=1)[:, None]
    scores = np.where(np.tri(m, n, n - m, dtype=bool), scores, -np.inf)
    return _softmax(scores) @ v


GATED_ATTENTION = Exercise(
    id=f"{CHAPTER}.gated_attention",
    title="Attention that forgets",
    step_of=GATES,
    signature="gated_attention(q: array of shape (heads, m, width), k: array of shape (heads, n, width), v: "
    "array of shape (heads, n, width), log_gates: array of shape (heads, n)) -> array of shape (heads, m, "
    "width)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda gated_attention, rows, columns: heat_map(
            np.asarray(gated_attention(*np.zeros((2, 1, 24, 24)), np.eye(24)[None], _two_chapters()))[0],
            rows=rows,
            columns=columns,
        ),
        axes=("query", "key"),
        look="All products are equal, and yet queries look at what has come since the gate that is nearly "
        "shut.",
    ),
    reference=_gated_attention,
    make_cases=_attention_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one row for each query of each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) <= args[2].max(axis=1, keepdims=True) + 1e-5).all()
                and (np.asarray(value) >= args[2].min(axis=1, keepdims=True) - 1e-5).all()
            ),
            "Weights that are not negative and sum to 1 never lead out of the range of the values. Yours do.",
        ),
    ),
    where_not_finite="Take each row's largest score away before you raise e to it, and let no row be hidden "
    "as a whole.",
    mistakes=(
        Mistake(
            "no-gates",
            _attend_with(lambda products, bias, width: products / math.sqrt(width)),
            "This is plain attention: the gates change nothing.",
        ),
        Mistake(
            "turned-round",
            _attend_with(lambda products, bias, width: products / math.sqrt(width) - bias),
            "You take the bias off. It is below 0 already: add it.",
        ),
        Mistake(
            "bias-divided-too",
            _attend_with(lambda products, bias, width: (products + bias) / math.sqrt(width)),
            "You divide the bias by the root of the width as well. Only the products are divided.",
        ),
        Mistake(
            "nothing-divided",
            _attend_with(lambda products, bias, width: products + bias),
            "The products are not divided by the root of the width.",
        ),
        Mistake(
            "divided-by-width",
            _attend_with(lambda products, bias, width: products / width + bias),
            "You divide the products by the width. Divide by its square root.",
        ),
        Mistake(
            "multiplied-onto-scores",
            _attend_with(lambda products, bias, width: products / math.sqrt(width) * np.exp(bias)),
            "You multiply the scores by the gates. Weights are multiplied by gates, so scores get their "
            "logarithms added.",
        ),
        Mistake(
            "after-the-softmax",
            _faded_after_softmax,
            "You multiply by the gates after the softmax, and a query that forgot much gets less than a "
            "whole weight. Add the bias before the softmax.",
        ),
        Mistake(
            "sees-ahead",
            _attend_with(hide=lambda scores, after: scores),
            "Queries see keys that come after them. Hide these with minus infinity.",
        ),
        Mistake(
            "hidden-by-zero",
            _attend_with(hide=lambda scores, after: np.where(after, 0.0, scores)),
            "The scores of keys after the query are 0 in yours, and e to the power of 0 is a whole weight. "
            "Hide them with minus infinity.",
        ),
        Mistake(
            "softmax-over-queries",
            _attend_with(
                hide=lambda scores, after: np.where(after, -1e30, scores),
                weigh=lambda scores: _softmax(scores, axis=1),
            ),
            "Your weights sum to 1 over the queries. Each query's weights sum to 1 over its keys.",
        ),
        Mistake(
            "first-queries",
            _attend_with(
                bias_of=lambda log_gates, m: _forget_bias(log_gates, log_gates.shape[1])[:, :m],
                hide=lambda scores, after: np.where(
                    np.arange(scores.shape[1])[:, None] < np.arange(scores.shape[2]), -np.inf, scores
                ),
            ),
            "Your queries stand at the first places. They are the last m of the n.",
        ),
        Mistake(
            "keys-own-gate",
            _attend_with(bias_of=lambda log_gates, m: _forget_bias(log_gates, m) + log_gates[:, None]),
            "The key's own gate is counted, too. It closes on what stood before the key.",
        ),
        Mistake(
            "one-gate-only",
            _attend_with(bias_of=lambda log_gates, m: np.repeat(log_gates[:, None], m, axis=1)),
            "Each key is faded by its own gate alone. All gates between key and query count: take your "
            "forget_bias.",
        ),
        Mistake(
            "logarithms-twice",
            _attend_with(bias_of=lambda log_gates, m: _forget_bias(_log_gates(log_gates), m)),
            "You take log_gates of what are logarithms of gates already.",
        ),
    ),
    alternatives=(
        _attend_by_loops,
        _attend_by_sums,
        lambda q, k, v, log_gates: np.stack(
            [_gated_attention(*(x[h : h + 1] for x in (q, k, v, log_gates)))[0] for h in range(len(q))]
        ),
    ),
    hints=(
        "It is the attention that you know, with your `forget_bias` added to the scores before the softmax.",
        "The products are `q @ k.swapaxes(1, 2)`, of shape (heads, m, n). Divide them by the root of the "
        "width; the bias stays as it is.",
        "Key j comes after query row r where j is more than n - m + r: `np.tri(m, n, n - m)` is 1 where a "
        "key may be seen.",
    ),
)


# --- gated_step ------------------------------------------------------------------------------------


def _step_cases(rng: Generator) -> Iterator[Case]:
    def inputs(heads: int, n: int, width: int, size: float = 1.0) -> tuple[Array, ...]:
        q, k, v = rng.normal(size=(3, heads, width))
        keys, values = rng.normal(size=(2, heads, n, width))
        gates = _drawn_gates(rng, heads, n + 1)
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
    return np.einsum("hn,hnd->hd", _softmax(products + bias), values)


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
    id=f"{CHAPTER}.gated_step",
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
    where_not_finite="Take each row's largest score away before you raise e to it.",
    mistakes=(
        Mistake(
            "gate-for-sum",
            _sums_with(lambda sums, gate: np.concatenate([sums, gate], axis=1)),
            "You keep the new gate alone. Its running sum is kept: the last sum before it, plus the gate.",
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
            "nothing that comes later changes them.",
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
            "You keep the bias of this query in place of the sums. The next query could not go on from it.",
        ),
        Mistake(
            "no-gates",
            _step_with(lambda sums, gate: 0 * sums),
            "The gates are kept, and change nothing: the query finds what it would find without them.",
        ),
        Mistake(
            "sums-added",
            _step_with(lambda sums, gate: sums),
            "Your query prefers what was forgotten. You add the sums themselves, or take them off the "
            "wrong way round: what is lost lies between key and query, the newest sum minus the key's.",
        ),
        Mistake(
            "new-gate-not-used",
            _step_with(lambda sums, gate: np.concatenate([sums[:, -2:-1] - sums[:, :-1], 0 * gate], axis=1)),
            "The new token's own gate does not work yet. It fades all keys before it at once, and not its "
            "own.",
        ),
        Mistake(
            "own-gate-of-each-key",
            _step_with(lambda sums, gate: sums[:, -1:] - sums + np.diff(sums, axis=1, prepend=0.0)),
            "Each key is faded by its own gate, too. It is faded by those of the tokens after it.",
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
            "What you return as kept does not hold the new token.",
        ),
        Mistake(
            "in-front",
            _in_front,
            "The new token stands in front of those that were kept. It belongs behind them.",
        ),
        Mistake(
            "values-for-keys",
            lambda *args: tuple(_gated_step(*args)[n] for n in (0, 2, 1, 3)),
            "Keys and values have changed places in what you return.",
        ),
        Mistake(
            "summed-once-more",
            _sums_with(lambda sums, gate: np.cumsum(np.concatenate([sums, gate], axis=1), axis=1)),
            "You sum what are sums already. Only the new one is to be made.",
        ),
        Mistake(
            "root-of-heads",
            lambda q, *rest: _step_with(root=math.sqrt(len(q)))(q, *rest),
            "You divide by the root of the number of heads. It is the root of the width of a head.",
        ),
    ),
    alternatives=(
        _step_by_head,
        lambda *args: list(_gated_step(*args)),
        lambda q, k, v, gate, keys, values, sums: (
            _attend_with()(
                q[:, None],
                _behind(keys, k),
                _behind(values, v),
                np.diff(_grown(k, v, gate, keys, values, sums)[2], axis=1, prepend=0.0),
            )[:, 0],
            *_grown(k, v, gate, keys, values, sums),
        ),
    ),
    hints=(
        "First put the new key, the new value and the new sum behind those that are kept. The new sum is the "
        "last one plus the new gate, and the new gate alone where nothing is kept.",
        "The bias of each key is the newest sum minus its own: `sums[:, -1:] - sums`.",
        "For a single query in each head, the products are `(keys @ q[..., None])[..., 0]`, of shape "
        "(heads, n + 1).",
    ),
)


# --- alibi_logits ----------------------------------------------------------------------------------


def _slope_cases(rng: Generator) -> Iterator[Case]:
    yield Case("ALiBi's slopes of 8 heads", (2.0 ** -np.arange(1, 9),))
    yield Case("a gate of a half", (np.array([math.log(2)]),))
    yield Case("slopes near 0", (np.array([1e-3, 1e-9, 3e-16]),))
    yield Case("steep slopes", (np.array([3.0, 30.0, 400.0, 2000.0]),))
    for _ in range(3):
        yield Case("slopes, drawn", (10 ** rng.uniform(-3, 1, size=int(rng.integers(2, 7))),))


def _alibi_logits(slopes: Array) -> Array:
    return np.asarray(-slopes - np.log(-np.expm1(-slopes)))


ALIBI_LOGITS = Exercise(
    id=f"{CHAPTER}.alibi_logits",
    title="The gate that is ALiBi",
    signature="alibi_logits(slopes: array of shape (heads,), above 0) -> array of shape (heads,)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda alibi_logits, across, up: curve(
            np.linspace(0.01, 3, 100), {"": alibi_logits(np.linspace(0.01, 3, 100))}, across=across, up=up
        ),
        axes=("slope", "logit"),
        look="As the slope goes to 0 the logit grows without end: only a gate that is wide open forgets "
        "nothing.",
    ),
    reference=_alibi_logits,
    make_cases=_slope_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one logit for each head.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.diff(np.asarray(value)[np.argsort(args[0])]) < 1e-4).all()),
            "The steeper the slope, the further the gate is shut: a larger slope has a smaller logit.",
        ),
    ),
    where_not_finite="For a steep slope the gate is 0 in a computer, and for one near 0 it is 1. Find a "
    "form that takes no logarithm of 0 and raises nothing large: np.expm1 is exact near 0.",
    mistakes=(
        Mistake(
            "minus-slopes",
            lambda slopes: -slopes,
            "This is the logarithm of the gate. Which logit has a gate with this logarithm?",
        ),
        Mistake(
            "the-gate",
            lambda slopes: np.exp(-slopes),
            "This is the gate. Which logit does the sigmoid make it from?",
        ),
        Mistake(
            "turned-round",
            lambda slopes: -_alibi_logits(slopes),
            "The sign is turned round: this is the logit of 1 minus the gate.",
        ),
        Mistake(
            "slope-as-logit",
            lambda slopes: 1.0 * slopes,
            "You return the slopes. A gate is the sigmoid of its logit, and its logarithm is minus the "
            "slope.",
        ),
        Mistake(
            "for-small-slopes",
            lambda slopes: -np.log(slopes),
            "This is right for small slopes only. You took 1 - gate for the slope, or the gate for 1 / (1 + "
            "slope).",
        ),
        Mistake(
            "log-of-the-rest",
            lambda slopes: np.log(-np.expm1(-slopes)),
            "This is the logarithm of 1 minus the gate. The logit is the logarithm of the gate minus that.",
        ),
        Mistake(
            "minus-log-of-the-rest",
            lambda slopes: -np.log(-np.expm1(-slopes)),
            "The logarithm of the gate itself is missing: the logit is the logarithm of gate / (1 - gate).",
        ),
        Mistake(
            "added",
            lambda slopes: -slopes + np.log(-np.expm1(-slopes)),
            "You multiply the gate by 1 minus the gate. The logit is the logarithm of their ratio.",
        ),
        Mistake(
            "powers-of-two",
            lambda slopes: _alibi_logits(slopes * math.log(2)),
            "Your gate is 2 to the power of minus the slope. ALiBi's slope is added to a score, which e is "
            "raised to.",
        ),
        Mistake(
            "log-of-the-gate-once-more",
            lambda slopes: -np.logaddexp(0, slopes),
            "You go through the sigmoid once more. Its inverse is asked for.",
        ),
    ),
    alternatives=(
        lambda slopes: [-m - math.log(-math.expm1(-m)) for m in slopes.tolist()],
        lambda slopes: np.where(slopes > 30, -slopes, -np.log(np.expm1(np.minimum(slopes, 30)))),
        lambda slopes: np.where(
            slopes < 1,
            -np.log(np.expm1(np.minimum(slopes, 1))),
            -slopes - np.log1p(-np.exp(-np.maximum(slopes, 1))),
        ),
    ),
    hints=(
        "What must the gate be, so that its logarithm is minus the slope? And which x gives this gate as "
        "`1 / (1 + exp(-x))`?",
        "Solved for x, it is the logarithm of gate / (1 - gate). Write it as the difference of two "
        "logarithms: one of them you know without computing it.",
        "For a slope near 0, 1 - gate loses all its digits. `-np.expm1(-slopes)` is the same, and keeps "
        "them.",
    ),
)


# --- keys_seen -------------------------------------------------------------------------------------


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
    id=f"{CHAPTER}.keys_seen",
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
        look="Most happens just before 1: with gates of 99% a head sees many times as far as with 90%.",
    ),
    reference=_keys_seen,
    make_cases=_seen_cases,
    properties=(
        Property(
            lambda args, value: 1 <= int(value) <= len(args[0]),
            "At least one key holds some weight, and there are no more keys than tokens.",
        ),
    ),
    mistakes=(
        Mistake(
            "keys-own-gates",
            lambda log_gates, share: _reached(np.exp(np.cumsum(log_gates[::-1])), share),
            "You fade each key by its own gate, and the last key by the query's. A gate closes on what stood "
            "before its token: the last key is left whole.",
        ),
        Mistake(
            "last-gate-left-out",
            lambda log_gates, share: _reached(
                np.exp(np.concatenate([[0.0, 0.0], np.cumsum(log_gates[-2:0:-1])])[: len(log_gates)]), share
            ),
            "The gate of the last token is missing. It closes on all that stood before.",
        ),
        Mistake(
            "one-too-few",
            lambda log_gates, share: _keys_seen(log_gates, share) - 1,
            "One key is missing: with it, the share is reached.",
        ),
        Mistake(
            "where-it-stands",
            lambda log_gates, share: len(log_gates) - _keys_seen(log_gates, share),
            "This is where the furthest of these keys stands. How many are there, from it to the last?",
        ),
        Mistake(
            "not-made-to-sum-to-one",
            lambda log_gates, share: 1,
            "You compare products of gates with the share. Weights sum to 1: divide by the sum of all "
            "products first.",
        ),
        Mistake(
            "against-the-largest",
            lambda log_gates, share: int((np.exp(_left(log_gates)) >= share).sum()),
            "You count the keys that have this share of the largest weight. Asked is how many hold it "
            "together.",
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
            "You add the weights up from the first key. Begin with the last one.",
        ),
        Mistake(
            "as-if-equal",
            lambda log_gates, share: math.ceil(share * len(log_gates)),
            "You take this share of all keys, as if all had the same weight.",
        ),
        Mistake(
            "gates-as-scores",
            lambda log_gates, share: _reached(np.exp(log_gates)[::-1], share),
            "Each key is faded by one gate in yours. It is faded by all gates of the tokens after it.",
        ),
        Mistake(
            "logarithms-summed",
            lambda log_gates, share: _reached(_left(log_gates)[::-1] - 1e-12, share),
            "You add up logarithms. A weight is e to the power of the sum of log gates.",
        ),
        Mistake(
            "mean-gate",
            lambda log_gates, share: _keys_seen(np.full(len(log_gates), log_gates.mean()), share),
            "You put one mean gate in place of all. Where a gate closes decides what is seen.",
        ),
        Mistake(
            "turned-round",
            lambda log_gates, share: _reached(np.exp(-_left(log_gates))[::-1], share),
            "Your weights grow with the distance. The further back a key stands, the more gates fade it.",
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
            1 + np.searchsorted(np.cumsum(_softmax(_left(log_gates))[::-1]), share).item()
        ),
    ),
    hints=(
        "Where all products are equal, a key's weight is the product of the gates after it, divided by "
        "the sum of all these. What is it for the last key, before it is divided?",
        "The logarithms are `sums[-1] - sums`, with `sums = np.cumsum(log_gates)`.",
        "Turn the weights round with `[::-1]`, and add them up with `np.cumsum`. How many of these sums are "
        "still below the share? One key more reaches it.",
    ),
)


# --- reflections -----------------------------------------------------------------------------------


def _reflection_cases(rng: Generator) -> Iterator[Case]:
    yield Case("one token along the first column", (np.array([[1.0, 0.0]]), np.array([2.0])))
    yield Case("beta 0, 1 and 2", (rng.normal(size=(3, 3)), np.array([0.0, 1.0, 2.0])))
    yield Case(
        "a long vector and a short one", (np.array([[30.0, 40.0], [3e-5, 4e-5]]), np.array([2.0, 0.5]))
    )
    yield Case("dim 1", (rng.normal(size=(2, 1)), np.array([0.5, 1.5])))
    for _ in range(3):
        n, dim = int(rng.integers(2, 6)), int(rng.integers(3, 6))
        yield Case(
            "vectors, drawn", (rng.normal(size=(n, dim)) * rng.uniform(0.2, 4), rng.uniform(0, 2, size=n))
        )


def _units(w: Array) -> Array:
    return np.asarray(w / np.linalg.norm(w, axis=-1, keepdims=True))


def _outer(a: Array, b: Array) -> Array:
    """Of each row with the other's row."""
    return np.asarray(a[:, :, None] * b[:, None, :])


def _square(rows: Array) -> Array:
    return _outer(rows, rows)


def _reflect_with(
    taken: Callable[[Array, Array], Array],
) -> Callable[[Array, Array], Array]:
    """One minus what is taken away: of the vectors, and beta of shape (n, 1, 1)."""
    return lambda w, beta: np.eye(w.shape[1]) - taken(w, beta[:, None, None])


def _reflections(w: Array, beta: Array) -> Array:
    return _reflect_with(lambda w, beta: beta * _square(_units(w)))(w, beta)


REFLECTIONS = Exercise(
    id=f"{CHAPTER}.reflections",
    title="What one token does",
    step_of=PATH,
    signature="reflections(w: array of shape (n, dim), beta: array of shape (n,)) -> array of shape (n, dim, "
    "dim)",
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda reflections, *names: arrows(
            np.asarray(reflections(np.tile([[2.0, 0.0]], (3, 1)), np.array([0.0, 1.0, 2.0])))
            @ np.array([0.6, 0.8]),
            names,
        ),
        axes=("beta 0", "beta 1", "beta 2"),
        look="What lies along w, here from left to right, stays, is erased or turns round.",
    ),
    reference=_reflections,
    make_cases=_reflection_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (*args[0].shape, args[0].shape[1]),
            "There must be one square matrix for each token.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.asarray(value), np.asarray(value).swapaxes(1, 2), atol=1e-5)
            ),
            "Each of these matrices is symmetric. Yours are not.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-of-length-one",
            _reflect_with(lambda w, beta: beta * _square(w)),
            "Your w is not brought to length 1.",
        ),
        Mistake(
            "divided-once",
            _reflect_with(lambda w, beta: beta * _outer(w, _units(w))),
            "You divide by the length once. Both factors of the product are to have length 1.",
        ),
        Mistake(
            "length-over-tokens",
            _reflect_with(lambda w, beta: beta * _square(w / np.maximum(np.linalg.norm(w, axis=0), 1e-300))),
            "You divide by lengths that run over the tokens. Each token's own vector gets length 1.",
        ),
        Mistake(
            "one-length-for-all",
            _reflect_with(lambda w, beta: beta * _square(w) / (w * w).sum()),
            "You divide by one length of all vectors together. Each token's own vector gets length 1.",
        ),
        Mistake(
            "largest-number-one",
            _reflect_with(lambda w, beta: beta * _square(w / np.abs(w).max(axis=1, keepdims=True))),
            "You divide each vector by its largest number. Divide by its length, the root of the sum of "
            "squares.",
        ),
        Mistake(
            "two-already-there",
            _reflect_with(lambda w, beta: 2 * beta * _square(_units(w))),
            "You take beta twice. A beta of 2 is what reflects; there is no 2 in front of it.",
        ),
        Mistake(
            "beta-not-used",
            _reflect_with(lambda w, beta: _square(_units(w)) + 0 * beta),
            "Your matrices do not hang on beta.",
        ),
        Mistake(
            "beta-squared",
            _reflect_with(lambda w, beta: beta**2 * _square(_units(w))),
            "Beta stands in both factors of your product. It counts once.",
        ),
        Mistake(
            "added",
            _reflect_with(lambda w, beta: -beta * _square(_units(w))),
            "You add to the identity. What lies along w is taken away.",
        ),
        Mistake(
            "what-is-taken",
            lambda w, beta: beta[:, None, None] * _square(_units(w)),
            "This is what is taken away. The identity minus it is asked for.",
        ),
        Mistake(
            "one-for-identity",
            lambda w, beta: 1 - beta[:, None, None] * _square(_units(w)),
            "You subtract from 1 everywhere. The identity has 1 on its diagonal alone.",
        ),
        Mistake(
            "inner-for-outer",
            _reflect_with(lambda w, beta: beta * np.eye(w.shape[1]) + 0 * w.sum()),
            "You multiply w with itself to one number. A column times a row makes a matrix.",
        ),
        Mistake(
            "products-so-far",
            lambda w, beta: _multiplied(_reflections(w, beta)),
            "You multiply the matrices of all tokens so far. One token's own matrix is asked for.",
        ),
        Mistake(
            "beta-taken-for-two",
            _reflect_with(lambda w, beta: 2 * _square(_units(w)) + 0 * beta),
            "You take 2 for every beta. That is what a reflection has; here each token has a number of "
            "its own.",
        ),
    ),
    alternatives=(
        lambda w, beta: np.stack(
            [np.eye(len(row)) - b * np.outer(row, row) / (row @ row) for row, b in zip(w, beta, strict=True)]
        ),
        lambda w, beta: (
            np.eye(w.shape[1]) - np.einsum("t,ti,tj->tij", beta / np.einsum("ti,ti->t", w, w), w, w)
        ),
        lambda w, beta: _reflections(w, beta).tolist(),
    ),
    hints=(
        "The length of each row is `np.linalg.norm(w, axis=1, keepdims=True)`.",
        "For rows u of shape (n, dim), `u[:, :, None] * u[:, None, :]` holds a column times a row for each "
        "token.",
        "Beta needs two more axes, `beta[:, None, None]`; `np.eye(dim)` is the identity.",
    ),
)


def _multiplied(matrices: Array) -> Array:
    found = [matrices[0]]
    for matrix in matrices[1:]:
        found.append(matrix @ found[-1])
    return np.stack(found)


# --- path_scores -----------------------------------------------------------------------------------


def _path_cases(rng: Generator) -> Iterator[Case]:
    def inputs(n: int, dim: int, beta: Array | None = None) -> tuple[Array, ...]:
        q, k, w = rng.normal(size=(3, n, dim))
        return q, k, w, rng.uniform(0, 2, size=n) if beta is None else beta

    yield Case("three tokens", inputs(3, 2))
    yield Case("beta 0 changes nothing", inputs(4, 3, np.zeros(4)))
    yield Case("all tokens reflect", inputs(5, 3, np.full(5, 2.0)))
    yield Case("all tokens erase", inputs(4, 4, np.ones(4)))
    yield Case("one token", inputs(1, 2))
    for _ in range(3):
        yield Case("sizes, drawn", inputs(int(rng.integers(4, 8)), int(rng.integers(3, 7))))


Between = Callable[[list[Array], int, int], list[Array]]


def _path_with(
    between: Between, *, root: bool = True, matrices_of: Callable[[Array, Array], Array] = _reflections
) -> Callable[[Array, Array, Array, Array], Array]:
    """`between`: the matrices from left to right, of all, of the query's and the key's number."""

    def scores(q: Array, k: Array, w: Array, beta: Array) -> Array:
        matrices, n = list(matrices_of(w, beta)), len(q)
        found = np.zeros((n, n))
        for i in range(n):
            for j in range(i + 1):
                row = q[i]
                for matrix in between(matrices, i, j):
                    row = row @ matrix
                found[i, j] = row @ k[j]
        return found / math.sqrt(q.shape[1]) if root else found

    return scores


def _on_the_path(matrices: list[Array], i: int, j: int) -> list[Array]:
    return matrices[i:j:-1]


def _path_scores(q: Array, k: Array, w: Array, beta: Array) -> Array:
    return _path_with(_on_the_path)(q, k, w, beta)


def _path_by_carrying_queries(q: Array, k: Array, w: Array, beta: Array) -> Array:
    """All later queries go one token back at a time, without any matrix."""
    n, dim = q.shape
    u, carried = w / np.sqrt((w * w).sum(axis=1))[:, None], np.array(q)
    found = np.zeros((n, n))
    for j in range(n - 1, -1, -1):
        found[j:, j] = carried[j:] @ k[j] / dim**0.5
        carried[j:] -= beta[j] * np.outer(carried[j:] @ u[j], u[j])
    return found


def _path_by_carrying_keys(q: Array, k: Array, w: Array, beta: Array) -> list[Array]:
    found, carried = [], np.zeros((0, q.shape[1]))
    for i, matrix in enumerate(_reflections(w, beta)):
        carried = np.vstack([carried @ matrix.T, k[i : i + 1]])
        found.append(np.append(carried @ q[i] / math.sqrt(q.shape[1]), np.zeros(len(q) - i - 1)))
    return found


def _added_up(q: Array, k: Array, w: Array, beta: Array) -> Array:
    """As if reflections added up in place of being multiplied."""
    n, dim = q.shape
    taken = np.cumsum(np.eye(dim) - _reflections(w, beta), axis=0)
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            found[i, j] = q[i] @ (np.eye(dim) - (taken[i] - taken[j])) @ k[j]
    return found / math.sqrt(dim)


def _one_that_reflects() -> tuple[Array, Array, Array, Array]:
    """Content that is all alike, and token 8 turns it round; token 16 erases it."""
    beta = np.zeros(24)
    beta[[8, 16]] = 2.0, 0.8
    alike = np.zeros((24, 2))
    alike[:, 0] = 1.0
    return alike, alike, alike, beta


PATH_SCORES = Exercise(
    id=f"{CHAPTER}.path_scores",
    title="A path of reflections",
    step_of=PATH,
    signature="path_scores(q: array of shape (n, dim), k: array of shape (n, dim), w: array of shape (n, "
    "dim), beta: array of shape (n,)) -> array of shape (n, n)",
    points=4,
    minutes=18,
    difficulty=4,
    draws=Draws(
        lambda path_scores, rows, columns: heat_map(
            path_scores(*_one_that_reflects()), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="All queries and keys are alike, but token 8 reflects, so that whoever looks across it sees the "
        "sign turned round, and token 16 erases most of what stood before it.",
    ),
    reference=_path_scores,
    make_cases=_path_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[0])),
            "There must be a row for each query and a column for each key.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.triu(np.asarray(value), 1) == 0).all()),
            "A key after its query must get 0.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.diag(np.asarray(value)),
                    (args[0] * args[1]).sum(axis=1) / math.sqrt(args[0].shape[1]),
                    rtol=1e-4,
                    atol=1e-4,
                )
            ),
            "Between a query and the key of its own token there is no reflection: on the diagonal stands "
            "their product, divided by the root of dim.",
        ),
    ),
    mistakes=(
        Mistake(
            "order-turned-round",
            _path_with(lambda matrices, i, j: matrices[j + 1 : i + 1]),
            "Your reflections stand in the order of the text. The one right beside the key is the first "
            "after it, and the query's own stands right beside the query.",
        ),
        Mistake(
            "keys-own-too",
            _path_with(lambda matrices, i, j: matrices[j : i + 1][::-1]),
            "The reflection of the key's own token is counted, too. The path begins with the next one.",
        ),
        Mistake(
            "querys-own-missing",
            _path_with(lambda matrices, i, j: matrices[j + 1 : i][::-1]),
            "The reflection of the query's own token is missing. The path ends with it.",
        ),
        Mistake(
            "keys-for-querys",
            _path_with(lambda matrices, i, j: matrices[j:i][::-1]),
            "Your path goes from the key's token to the one before the query. It goes from the one after the "
            "key to the query's.",
        ),
        Mistake(
            "from-the-beginning",
            _path_with(lambda matrices, i, j: matrices[: i + 1][::-1]),
            "Your path begins with the first token of the text. It begins after the key.",
        ),
        Mistake(
            "no-reflections",
            _path_with(lambda matrices, i, j: []),
            "These are plain products of queries and keys: nothing reflects.",
        ),
        Mistake(
            "only-the-querys",
            _path_with(lambda matrices, i, j: matrices[i : i + 1] if i > j else []),
            "Only the query's own token reflects in yours. All tokens after the key do.",
        ),
        Mistake(
            "only-the-next",
            _path_with(lambda matrices, i, j: matrices[j + 1 : j + 2] if i > j else []),
            "Only the token right after the key reflects in yours. All tokens up to the query do.",
        ),
        Mistake(
            "not-divided",
            _path_with(_on_the_path, root=False),
            "The products are not divided by the root of dim.",
        ),
        Mistake(
            "not-of-length-one",
            _path_with(_on_the_path, matrices_of=_reflect_with(lambda w, beta: beta * _square(w))),
            "Your w is not brought to length 1. Take your own reflections.",
        ),
        Mistake(
            "added-up",
            _added_up,
            "You add up what the tokens take away. One reflection after the other works on what the last one "
            "left: multiply the matrices.",
        ),
        Mistake(
            "sees-ahead",
            lambda q, k, w, beta: (
                np.tril(_path_scores(q, k, w, beta)) + np.triu(q @ k.T / math.sqrt(q.shape[1]), 1)
            ),
            "Keys after the query have a score in yours. They get 0.",
        ),
        Mistake(
            "swapped",
            lambda *args: _path_scores(*args).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "query-and-key-swapped",
            lambda q, k, w, beta: _path_scores(k, q, w, beta),
            "Queries and keys have changed places.",
        ),
        Mistake(
            "root-of-tokens",
            lambda q, k, w, beta: _path_scores(q, k, w, beta) * math.sqrt(q.shape[1] / len(q)),
            "You divide by the root of the number of tokens. It is the root of dim.",
        ),
    ),
    alternatives=(
        _path_by_carrying_queries,
        _path_by_carrying_keys,
        lambda q, k, w, beta: np.array(
            [
                [
                    q[i]
                    @ np.linalg.multi_dot(
                        [np.eye(q.shape[1]), *_reflections(w, beta)[i:j:-1], np.eye(q.shape[1])]
                    )
                    @ k[j]
                    / math.sqrt(q.shape[1])
                    if j <= i
                    else 0.0
                    for j in range(len(k))
                ]
                for i in range(len(q))
            ]
        ),
    ),
    hints=(
        "Fix a query and walk back from its own token. Before you cross a token, the keys beyond it are not "
        "reached yet; what does crossing it do to the query?",
        "Begin with `row = q[i]`. For j from i down to 0: the score of key j is `row @ k[j]`, and then `row` "
        "becomes `row @ h[j]`, with h for the reflections.",
        "In this way the reflection of the query's own token is crossed before key i - 1, and that of key j "
        "never counts for key j itself.",
    ),
)


# --- path_step -------------------------------------------------------------------------------------


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
    id=f"{CHAPTER}.path_step",
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
            "The new key is reflected by its own token. A token reflects what stood before it.",
        ),
        Mistake(
            "old-keys-stay",
            _path_step_with(lambda k, w, beta, keys: np.vstack([keys, k])),
            "The old keys stay as they were. The new token stands between them and all queries from now on.",
        ),
        Mistake(
            "query-reflected",
            _query_crosses,
            "The scores are right, and the kept keys are not: the next token could not go on from them. "
            "Reflect the keys in place of the query.",
        ),
        Mistake(
            "scores-before",
            lambda q, k, w, beta, keys: (
                _scored(q, np.vstack([keys, k])),
                _path_step(q, k, w, beta, keys)[1],
            ),
            "The kept keys are right, and the scores were taken before the reflection. This query stands "
            "behind it already.",
        ),
        Mistake(
            "twice",
            lambda q, k, w, beta, keys: (
                _scored(q - beta * (q @ w) / (w @ w) * w, _path_step(q, k, w, beta, keys)[1]),
                _path_step(q, k, w, beta, keys)[1],
            ),
            "You reflect the query as well as the keys. One of the two is enough, and it is the keys that "
            "are kept.",
        ),
        Mistake(
            "not-of-length-one",
            _path_step_with(lambda k, w, beta, keys: np.vstack([keys - beta * np.outer(keys @ w, w), k])),
            "Your w is not brought to length 1.",
        ),
        Mistake(
            "added",
            _path_step_with(lambda k, w, beta, keys: np.vstack([_crossed(keys, w, -beta), k])),
            "You add to the keys what lies along w. It is taken away.",
        ),
        Mistake(
            "two-already-there",
            _path_step_with(lambda k, w, beta, keys: np.vstack([_crossed(keys, w, 2 * beta), k])),
            "You take beta twice. There is no 2 in front of it.",
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
            "The new key stands in front of those that were kept. It belongs behind them.",
        ),
        Mistake(
            "own-key-missing",
            lambda q, k, w, beta, keys: (
                _path_step(q, k, w, beta, keys)[0][:-1],
                _path_step(q, k, w, beta, keys)[1],
            ),
            "The new token looks at itself, too: its own key has a score.",
        ),
        Mistake(
            "not-kept",
            lambda q, k, w, beta, keys: (
                _path_step(q, k, w, beta, keys)[0],
                _path_step(q, k, w, beta, keys)[1][:-1],
            ),
            "What you return as kept does not hold the new key.",
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
        "Then put the new key behind them with `np.vstack`; nothing stands between it and its own query.",
    ),
)


# --- favourite_offsets -----------------------------------------------------------------------------


def _favourite_cases(rng: Generator) -> Iterator[Case]:
    one = np.array([1.0, 0.0])
    yield Case("query and key alike", (np.array([1.0, 2.0, -3.0, 0.5]),) * 2 + (np.array([1.0, 0.1]),))
    yield Case("a quarter turn ahead", (one, np.array([0.0, 1.0]), np.array([0.25])))
    yield Case("a quarter turn behind", (one, np.array([0.0, -1.0]), np.array([0.25])))
    yield Case("the short way round", (np.array([-1.0, 0.3]), np.array([-1.0, -0.4]), np.array([0.5])))
    for _ in range(4):
        pairs = int(rng.integers(2, 6))
        yield Case(
            "pairs, drawn",
            (*(rng.normal(size=(2, 2 * pairs))), 10 ** rng.uniform(-3, 0, size=pairs)),
        )


def _angles(x: Array) -> Array:
    return np.arctan2(x[1::2], x[0::2])


def _wrapped(angle: Array) -> Array:
    """The same direction, between minus half a turn and half a turn."""
    return np.asarray(np.angle(np.exp(1j * angle)))


def _favourite_offsets(q: Array, k: Array, rates: Array) -> Array:
    return np.asarray(_wrapped(_angles(q) - _angles(k)) / rates)


def _favourites_with(
    difference: Callable[[Array, Array], Array], wrap: Callable[[Array], Array] = _wrapped
) -> Callable[[Array, Array, Array], Array]:
    return lambda q, k, rates: np.asarray(wrap(difference(_angles(q), _angles(k))) / rates)


def _halves_for_neighbours(x: Array) -> Array:
    return np.stack(np.split(x, 2), axis=1).ravel()


FAVOURITE_OFFSETS = Exercise(
    id=f"{CHAPTER}.favourite_offsets",
    title="Where a pair looks",
    step_of=WHAT_AND_WHERE,
    signature="favourite_offsets(q: array of shape (dim,), k: array of shape (dim,), rates: array of shape "
    "(dim/2,), in rad/position) -> array of shape (dim/2,)",
    points=3,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda favourite_offsets, across, up: curve(
            np.linspace(-90, 90, 61),
            {
                f"{rate} rad/position": [
                    np.ravel(
                        favourite_offsets(
                            np.array([1.0, 0.0]), np.array([math.cos(a), math.sin(a)]), np.array([rate])
                        )
                    )[0]
                    for a in np.radians(np.linspace(-90, 90, 61))
                ]
                for rate in (1.0, 0.25)
            },
            across=across,
            up=up,
        ),
        axes=("angle of the key, in degrees", "favourite offset"),
        look="What a key says moves the place at which its pair counts most, and moves it further in a "
        "slow pair.",
    ),
    reference=_favourite_offsets,
    make_cases=_favourite_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[2]),
            "There must be one offset for each pair.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.abs(value) * args[2] <= math.pi * (1 + 1e-6)).all()),
            "The nearest peak is never further than half a turn of the pair.",
        ),
    ),
    mistakes=(
        Mistake(
            "turned-round",
            _favourites_with(lambda q, k: k - q),
            "The sign is turned round. The key's arrow turns with the offset: how far must it turn to lie on "
            "the query's?",
        ),
        Mistake(
            "not-the-nearest",
            _favourites_with(lambda q, k: q - k, lambda angle: angle),
            "Each of these offsets is a peak, and not always the nearest to 0. The way round may be "
            "shorter on the other side.",
        ),
        Mistake(
            "never-negative",
            _favourites_with(lambda q, k: q - k, lambda angle: angle % (2 * math.pi)),
            "Your peaks lie at 0 or above, even where one below 0 is nearer.",
        ),
        Mistake(
            "without-direction",
            _favourites_with(lambda q, k: np.abs(_wrapped(q - k))),
            "Your offsets have no sign. It says whether the key stands before or after the query.",
        ),
        Mistake(
            "angles-alone",
            lambda q, k, rates: _wrapped(_angles(q) - _angles(k)),
            "These are angles. How many positions does the pair need to turn so far?",
        ),
        Mistake(
            "times-the-rate",
            lambda q, k, rates: _wrapped(_angles(q) - _angles(k)) * rates,
            "You multiply the angle by the rate. Positions are angle over rate.",
        ),
        Mistake(
            "turns",
            lambda q, k, rates: _favourite_offsets(q, k, rates) / (2 * math.pi),
            "You divide by a whole turn as well. Angle and rate are both in radians.",
        ),
        Mistake(
            "degrees",
            lambda q, k, rates: np.degrees(_favourite_offsets(q, k, rates)),
            "Your angles are in degrees, and the rates in radians.",
        ),
        Mistake(
            "query-alone",
            _favourites_with(lambda q, k: q),
            "You look at the query's angle alone. The key has one, too.",
        ),
        Mistake(
            "key-alone",
            _favourites_with(lambda q, k: -k),
            "You look at the key's angle alone. The query has one, too.",
        ),
        Mistake(
            "added",
            _favourites_with(lambda q, k: q + k),
            "You add the two angles. Their difference decides.",
        ),
        Mistake(
            "trough",
            _favourites_with(lambda q, k: q - k + math.pi),
            "At these offsets the arrows point against each other, and the term is smallest.",
        ),
        Mistake(
            "half-layout",
            lambda q, k, rates: _favourite_offsets(
                _halves_for_neighbours(q), _halves_for_neighbours(k), rates
            ),
            "You pair column c with column c + dim/2. Neighbours make a pair here.",
        ),
        Mistake(
            "arctan-of-the-ratio",
            lambda q, k, rates: _wrapped(np.arctan(q[1::2] / q[0::2]) - np.arctan(k[1::2] / k[0::2])) / rates,
            "The arctangent of a ratio cannot tell an arrow from the one against it. np.arctan2 takes both "
            "numbers.",
        ),
    ),
    alternatives=(
        lambda q, k, rates: np.angle((q[0::2] + 1j * q[1::2]) * (k[0::2] - 1j * k[1::2])) / rates,
        lambda q, k, rates: (
            np.arctan2(q[1::2] * k[0::2] - q[0::2] * k[1::2], q[0::2] * k[0::2] + q[1::2] * k[1::2]) / rates
        ),
        lambda q, k, rates: [
            math.remainder(
                math.atan2(q[2 * c + 1], q[2 * c]) - math.atan2(k[2 * c + 1], k[2 * c]), 2 * math.pi
            )
            / rate
            for c, rate in enumerate(rates.tolist())
        ],
    ),
    hints=(
        "Draw the two arrows of a pair. Put the query at position 0 and the key at the offset: the key's "
        "arrow turns by offset times rate. When is the product of the two largest?",
        "The angle of an arrow (a, b) is `np.arctan2(b, a)`. The key has to turn by the query's angle "
        "minus its own.",
        "To take the short way round, wrap the angle: `np.angle(np.exp(1j * angle))` lies between minus "
        "pi and pi. Then divide by the rate.",
    ),
)


# --- polar_scores ----------------------------------------------------------------------------------


def _polar_cases(rng: Generator) -> Iterator[Case]:
    def inputs(n: int, dim: int, base: float, size: float = 1.0) -> tuple[Any, ...]:
        q, k = size * rng.normal(size=(2, n, dim))
        return q, k, rng.uniform(-2 * math.pi, 0, size=dim), base

    q, k, _, base = inputs(4, 3, 10_000.0)
    yield Case("no angle more", (q, k, np.zeros(3), base))
    yield Case("no content", (np.zeros((5, 4)), np.zeros((5, 4)), np.zeros(4), 10_000.0))
    yield Case("an angle for each column", inputs(4, 4, 10_000.0))
    yield Case("one column", inputs(6, 1, 10_000.0))
    yield Case("large numbers", inputs(3, 4, 500.0, 500.0))
    for _ in range(3):
        yield Case(
            "sizes, drawn",
            inputs(int(rng.integers(3, 8)), int(rng.integers(2, 7)), float(rng.uniform(20, 2000))),
        )


def _softplus(x: Array) -> Array:
    return np.asarray(np.logaddexp(0, x))


def _column_rates(dim: int, base: float) -> Array:
    return np.asarray(base ** (-np.arange(dim) / dim))


def _polar_with(
    *,
    length: Callable[[Array], Array] = _softplus,
    angle: Callable[[Array, Array, Array], Array] = lambda offsets, rates, delta: offsets * rates + delta,
    rates: Callable[[int, float], Array] = _column_rates,
    wave: Callable[[Array], Array] = np.cos,
    scale: Callable[[int], float] = math.sqrt,
) -> Callable[[Array, Array, Array, float], Array]:
    def scores(q: Array, k: Array, delta: Array, base: float) -> Array:
        n, dim = q.shape
        offsets = (np.arange(n) - np.arange(n)[:, None])[:, :, None]
        lengths = length(q)[:, None] * length(k)[None]
        return np.asarray((lengths * wave(angle(offsets, rates(dim, base), delta))).sum(axis=-1) / scale(dim))

    return scores


def _polar_scores(q: Array, k: Array, delta: Array, base: float) -> Array:
    return _polar_with()(q, k, delta, base)


def _polar_by_arrows(q: Array, k: Array, delta: Array, base: float) -> Array:
    """Each arrow turned by its own position, as complex numbers."""
    n, dim = q.shape
    turns = np.exp(1j * np.outer(np.arange(n), _column_rates(dim, base)))
    arrows_q = np.log1p(np.exp(-np.abs(q))) + np.maximum(q, 0)
    arrows_k = np.logaddexp(k, 0) * np.exp(1j * delta)
    return np.asarray(((arrows_q * turns.conj()) @ (arrows_k * turns).T).real / dim**0.5)


def _polar_by_columns(q: Array, k: Array, delta: Array, base: float) -> Array:
    n, dim = q.shape
    total = np.zeros((n, n))
    for c in range(dim):
        for i in range(n):
            for j in range(n):
                both = np.logaddexp(0, q[i, c]) * np.logaddexp(0, k[j, c])
                total[i, j] += both * math.cos((j - i) * base ** (-c / dim) + delta[c])
    return total / math.sqrt(dim)


POLAR_SCORES = Exercise(
    id=f"{CHAPTER}.polar_scores",
    title="Lengths for what, angles for where",
    step_of=WHAT_AND_WHERE,
    signature="polar_scores(q: array of shape (n, dim), k: array of shape (n, dim), delta: array of shape "
    "(dim,), base: float) -> array of shape (n, n)",
    points=4,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda polar_scores, across, up: curve(
            -np.arange(40),
            {
                name: np.asarray(
                    polar_scores(
                        np.full((40, 12), size),
                        np.full((40, 12), size),
                        np.zeros(12),
                        1000.0,
                    )
                )[-1, ::-1]
                for name, size in (("q, k = 0", 0.0), ("q, k = 1", 1.0))
            },
            across=across,
            up=up,
        ),
        axes=("offset, key - query", "score"),
        look="Content makes the curve higher and leaves its peak where it is.",
    ),
    reference=_polar_scores,
    make_cases=_polar_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[0])),
            "There must be a row for each query and a column for each key.",
            about="form",
        ),
    ),
    where_not_finite="No computer holds e to the power of 1,000. np.logaddexp(0, x) is softplus, and raises "
    "nothing large.",
    mistakes=(
        Mistake(
            "no-softplus",
            _polar_with(length=lambda x: x),
            "Your lengths may be negative. Softplus makes a length of any number.",
        ),
        Mistake(
            "cut-at-zero",
            _polar_with(length=lambda x: np.maximum(x, 0)),
            "You set what is negative to 0. Softplus is smooth, and never 0.",
        ),
        Mistake(
            "absolute-values",
            _polar_with(length=np.abs),
            "You take absolute values. A column that says no would count as much as one that says yes: take "
            "softplus.",
        ),
        Mistake(
            "plus-left-out",
            _polar_with(length=lambda x: _softplus(-x)),
            "Your softplus falls where the number grows.",
        ),
        Mistake(
            "softplus-of-the-product",
            lambda q, k, delta, base: (
                np.einsum(
                    "ijc,ijc->ij",
                    _softplus(q[:, None] * k[None]),
                    np.cos(
                        (np.arange(len(q)) - np.arange(len(q))[:, None])[:, :, None]
                        * _column_rates(q.shape[1], base)
                        + delta
                    ),
                )
                / math.sqrt(q.shape[1])
            ),
            "You take softplus of the products. Query and key each have a length of their own, and these are "
            "multiplied.",
        ),
        Mistake(
            "offset-turned-round",
            _polar_with(angle=lambda offsets, rates, delta: -offsets * rates + delta),
            "The offset or delta has the wrong sign. The offset is key minus query, and delta is added.",
        ),
        Mistake(
            "no-delta",
            _polar_with(angle=lambda offsets, rates, delta: offsets * rates + 0 * delta),
            "Your angles hold no delta. If queries and keys both get it, it falls out again: it belongs to "
            "the keys alone.",
        ),
        Mistake(
            "delta-by-position",
            _polar_with(angle=lambda offsets, rates, delta: offsets * (rates + delta)),
            "You multiply delta by the offset. It is one angle for all positions.",
        ),
        Mistake(
            "rates-of-pairs",
            _polar_with(rates=lambda dim, base: base ** (-2 * np.arange(dim) / dim)),
            "Your frequencies fall twice as fast, as if two columns made a pair. Each column has an arrow "
            "of its own.",
        ),
        Mistake(
            "counted-from-one",
            _polar_with(rates=lambda dim, base: base ** (-np.arange(1, dim + 1) / dim)),
            "Your columns are counted from 1. The first one turns by 1 radian per position.",
        ),
        Mistake(
            "base-fixed",
            lambda q, k, delta, base: _polar_scores(q, k, delta, 10_000.0),
            "Your base is 10,000, whatever is given.",
        ),
        Mistake(
            "sines",
            _polar_with(wave=np.sin),
            "You take sines. The product of two arrows goes by the cosine of the angle between them.",
        ),
        Mistake(
            "not-divided", _polar_with(scale=lambda dim: 1.0), "The sum is not divided by the root of dim."
        ),
        Mistake(
            "twice-as-wide",
            _polar_with(scale=lambda dim: math.sqrt(2 * dim)),
            "You divide by the root of twice dim. There are dim columns, however many numbers their "
            "arrows take.",
        ),
        Mistake(
            "distance",
            _polar_with(angle=lambda offsets, rates, delta: np.abs(offsets) * rates + delta),
            "You take the distance without its sign. With delta, before and after are not alike.",
        ),
        Mistake(
            "masked",
            lambda *args: np.tril(_polar_scores(*args)),
            "Keys after the query get 0 in yours. There is no mask here.",
        ),
        Mistake(
            "root-of-tokens",
            lambda q, k, delta, base: _polar_scores(q, k, delta, base) * math.sqrt(q.shape[1] / len(q)),
            "You divide by the root of the number of tokens. It is the root of dim.",
        ),
        Mistake(
            "pairs-share-a-rate",
            _polar_with(rates=lambda dim, base: base ** (-(np.arange(dim) // 2 * 2) / dim)),
            "Two columns share a rate in yours, as a pair of RoPE does. Each column has one of its own.",
        ),
    ),
    alternatives=(
        _polar_by_arrows,
        _polar_by_columns,
        lambda q, k, delta, base: _polar_scores(q, k, delta - 2 * math.pi, base).tolist(),
    ),
    hints=(
        "Softplus is the logarithm of 1 + exp(x); `np.logaddexp(0, x)` computes it without overflow.",
        "The angles are of shape (n, n, dim): the offsets `j - i`, times `base ** (-c / dim)`, plus delta.",
        "Multiply the lengths of the queries, `[:, None]`, by those of the keys, `[None]`, and by the "
        "cosines; sum over the columns, and divide by the root of dim.",
    ),
)


# --- table_scores ----------------------------------------------------------------------------------


def _table_cases(rng: Generator) -> Iterator[Case]:
    def inputs(m: int, n: int, dim: int, reach: int) -> tuple[Array, ...]:
        sizes = ((m, dim), (n, dim), (2 * reach + 1, dim))
        return tuple(rng.normal(size=size) for size in sizes)

    yield Case("four tokens, reach 2", inputs(4, 4, 3, 2))
    yield Case("a text far longer than the table", inputs(9, 9, 4, 1))
    yield Case("one query, the last", inputs(1, 7, 4, 3))
    yield Case("a table longer than the text", inputs(3, 3, 2, 6))
    yield Case("one vector for all", inputs(3, 5, 4, 0))
    for _ in range(3):
        n = int(rng.integers(5, 12))
        sizes = (int(rng.integers(2, n)), n, int(rng.integers(2, 6)), int(rng.integers(1, 4)))
        yield Case("sizes, drawn", inputs(*sizes))


Rows = Callable[[Array, int], Array]


def _clipped(offsets: Array, reach: int) -> Array:
    return np.clip(offsets, -reach, reach) + reach


def _table_with(
    rows: Rows = _clipped,
    *,
    behind: Callable[[int, int], int] = lambda m, n: n - m,
    score: Callable[[Array, Array, float], Array] = lambda product, table, root: (product + table) / root,
    content: Callable[[Array, Array, Array], Array] = lambda q, k, vectors: np.einsum(
        "id,ijd->ij", q, vectors
    ),
) -> Callable[[Array, Array, Array], Array]:
    """`content`: what the picked vectors, of shape (m, n, dim), are multiplied with."""

    def scores(q: Array, k: Array, table: Array) -> Array:
        m, n = len(q), len(k)
        offsets = np.arange(n) - (np.arange(m) + behind(m, n))[:, None]
        picked = table[rows(offsets, len(table) // 2)]
        return np.asarray(score(q @ k.T, content(q, k, picked), math.sqrt(q.shape[1])))

    return scores


def _table_scores(q: Array, k: Array, table: Array) -> Array:
    return _table_with()(q, k, table)


def _table_by_loops(q: Array, k: Array, table: Array) -> Array:
    m, n, reach = len(q), len(k), (len(table) - 1) // 2
    found = np.empty((m, n))
    for row in range(m):
        for j in range(n):
            offset = j - (n - m + row)
            found[row, j] = q[row] @ (k[j] + table[max(-reach, min(reach, offset)) + reach])
    return found / q.shape[1] ** 0.5


def _table_products_first(q: Array, k: Array, table: Array) -> Array:
    """Each query with each row of the table once; then numbers are picked, and no vectors."""
    m, n, reach = len(q), len(k), len(table) // 2
    columns = np.clip(np.arange(n) - np.arange(n - m, n)[:, None], -reach, reach) + reach
    return (q @ k.T + np.take_along_axis(q @ table.T, columns, axis=1)) / np.sqrt(q.shape[1])


TABLE_SCORES = Exercise(
    id=f"{CHAPTER}.table_scores",
    title="A table that the query reads",
    signature="table_scores(q: array of shape (m, dim), k: array of shape (n, dim), table: array of shape "
    "(2 * reach + 1, dim)) -> array of shape (m, n)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda table_scores, rows, columns: heat_map(
            table_scores(np.ones((24, 1)), np.zeros((24, 1)), np.cos(np.arange(-6, 7) / 3)[:, None]),
            rows=rows,
            columns=columns,
        ),
        axes=("query", "key"),
        look="Near the diagonal each offset has a score of its own; beyond the reach of the table all "
        "share one.",
    ),
    reference=_table_scores,
    make_cases=_table_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[1])),
            "There must be a row for each query and a column for each key.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "no-table",
            _table_with(score=lambda product, table, root: product / root),
            "These are plain scores: the table changes nothing.",
        ),
        Mistake(
            "table-alone",
            _table_with(score=lambda product, table, root: table / root),
            "The product of query and key is missing. The table's part is added to it.",
        ),
        Mistake(
            "not-divided",
            _table_with(score=lambda product, table, root: product + table),
            "Nothing is divided by the root of dim.",
        ),
        Mistake(
            "table-not-divided",
            _table_with(score=lambda product, table, root: product / root + table),
            "The table's part is not divided by the root of dim. Query and key plus vector are one product.",
        ),
        Mistake(
            "query-minus-key",
            _table_with(lambda offsets, reach: _clipped(-offsets, reach)),
            "Your offset is query minus key. Row 0 is for keys that stand far before the query: key minus "
            "query.",
        ),
        Mistake(
            "not-moved",
            _table_with(lambda offsets, reach: np.clip(offsets, -reach, reach)),
            "The offsets are not moved by the reach: for NumPy, row -1 is the last one, and offset 0 would "
            "take row 0.",
        ),
        Mistake(
            "round-again",
            _table_with(lambda offsets, reach: (offsets + reach) % (2 * reach + 1)),
            "Beyond its reach your table begins anew. All far keys share its outermost row.",
        ),
        Mistake(
            "nothing-far-away",
            lambda q, k, table: np.where(
                np.abs(np.arange(len(k)) - np.arange(len(k) - len(q), len(k))[:, None]) <= len(table) // 2,
                _table_scores(q, k, table),
                q @ k.T / math.sqrt(q.shape[1]),
            ),
            "Far keys get no vector at all in yours. They share the outermost row of the table.",
        ),
        Mistake(
            "one-short",
            _table_with(
                lambda offsets, reach: np.clip(offsets, -max(reach - 1, 0), max(reach - 1, 0)) + reach
            ),
            "Your reach is one short: the outermost rows of the table are never read.",
        ),
        Mistake(
            "first-queries",
            _table_with(behind=lambda m, n: 0),
            "Your queries are the first tokens. They are the last m of the n.",
        ),
        Mistake(
            "key-reads",
            _table_with(content=lambda q, k, vectors: np.einsum("jd,ijd->ij", k, vectors)),
            "You multiply the table's vector with the key. It is the query that asks.",
        ),
        Mistake(
            "both-read",
            _table_with(content=lambda q, k, vectors: np.einsum("ijd,ijd->ij", q[:, None] + k, vectors)),
            "Key and query both read the table in yours. Only the query does.",
        ),
        Mistake(
            "nobody-asks",
            _table_with(content=lambda q, k, vectors: vectors.sum(axis=-1)),
            "You sum the table's vector. The query decides what each of its columns counts.",
        ),
        Mistake(
            "masked",
            lambda q, k, table: np.tril(_table_scores(q, k, table), len(k) - len(q)),
            "Keys after the query get 0 in yours. There is no mask here.",
        ),
        Mistake(
            "past-alone",
            _table_with(lambda offsets, reach: np.clip(offsets, -reach, 0) + reach),
            "All keys after the query share one row in yours. The table has rows for them, too.",
        ),
        Mistake(
            "root-of-tokens",
            lambda q, k, table: _table_scores(q, k, table) * math.sqrt(q.shape[1] / len(k)),
            "You divide by the root of the number of keys. It is the root of dim.",
        ),
    ),
    alternatives=(
        _table_by_loops,
        _table_products_first,
        lambda q, k, table: (
            np.einsum(
                "id,ijd->ij",
                q,
                k
                + table[
                    np.clip(
                        np.arange(len(k)) - np.arange(len(k) - len(q), len(k))[:, None],
                        -(len(table) // 2),
                        len(table) // 2,
                    )
                    + len(table) // 2
                ],
            )
            / len(k[0]) ** 0.5
        ),
    ),
    hints=(
        "The reach is `len(table) // 2`. Which row is for a key that stands at its query, and which for "
        "one far before it?",
        "The offsets are `np.arange(n) - np.arange(n - m, n)[:, None]`; clip them to the reach, and add it.",
        "With these rows, `table[rows]` has shape (m, n, dim). A shorter way needs no such array: take `q @ "
        "table.T` once, and pick from it.",
    ),
)


# --- fading_state and delta_state ------------------------------------------------------------------


def _state_cases(rng: Generator) -> Iterator[Case]:
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


def _walk(
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


def _fade(state: Array, k: Array, v: Array, gate: float) -> Array:
    return gate * state + np.outer(v, k)


def _fading_state(q: Array, k: Array, v: Array, gates: Array, state: Array) -> States:
    return _walk(_fade)(q, k, v, gates, state)


def _fading_all_at_once(q: Array, k: Array, v: Array, gates: Array, state: Array) -> States:
    """Attention without softmax: a product of gates for each query and key."""
    n = len(q)
    left = np.array([[np.prod(gates[j + 1 : i + 1]) if j <= i else 0.0 for j in range(n)] for i in range(n)])
    kept = np.cumprod(gates)
    found = (q @ k.T * left) @ v + kept[:, None] * (q @ state.T)
    return found, kept[-1] * state + (left[-1][:, None] * v).T @ k


def _fading_with_gates(change: Callable[[Array], Array]) -> Callable[..., States]:
    return lambda q, k, v, gates, state: _fading_state(q, k, v, change(gates), state)


def _from_nothing(states: Callable[..., States]) -> Callable[..., States]:
    return lambda q, k, v, strength, state: states(q, k, v, strength, 0 * state)


def _not_handed_on(states: Callable[..., States]) -> Callable[..., States]:
    return lambda q, k, v, strength, state: (states(q, k, v, strength, state)[0], state)


def _transposed(states: Callable[..., States]) -> Callable[..., States]:
    def answer(*args: Array) -> States:
        found, state = states(*args)
        return found, state.T

    return answer


FADING_STATE = Exercise(
    id=f"{CHAPTER}.fading_state",
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
        look="With all gates alike it is ALiBi's curve without a softmax, and one gate that is nearly "
        "shut makes a step in it.",
    ),
    reference=_fading_state,
    make_cases=_state_cases,
    parts=("what the queries find", "the state at the end"),
    mistakes=(
        Mistake(
            "from-nothing",
            _from_nothing(_fading_state),
            "Your state begins as zeros. It goes on from the one that is handed over.",
        ),
        Mistake(
            "not-handed-on",
            _not_handed_on(_fading_state),
            "What the queries find is right, and the state that you return is the one you were given. Return "
            "the state after the last token.",
        ),
        Mistake(
            "read-before-writing",
            _walk(_fade, read=lambda before, after: before),
            "Your queries read before their own token is written. First fade and write, then read.",
        ),
        Mistake(
            "new-faded-too",
            _walk(lambda state, k, v, gate: gate * (state + np.outer(v, k))),
            "The gate fades the new token as well. It closes on what stood before.",
        ),
        Mistake(
            "no-gates",
            _walk(lambda state, k, v, gate: state + np.outer(v, k)),
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
            "You keep 1 minus the gate. The gate says what is kept.",
        ),
        Mistake(
            "mean",
            _walk(lambda state, k, v, gate: gate * state + (1 - gate) * np.outer(v, k)),
            "You write the new token with 1 minus the gate, as a moving mean does. It is written whole.",
        ),
        Mistake(
            "gates-one-late",
            _fading_with_gates(lambda gates: np.append(1.0, gates[:-1])),
            "Each gate comes one token late. A token's gate fades the state before the token is written.",
        ),
        Mistake(
            "all-gates-so-far",
            _fading_with_gates(np.cumprod),
            "You fade by the product of all gates so far at each token. What is in the state was faded by "
            "the earlier ones already.",
        ),
        Mistake(
            "written-over",
            _walk(lambda state, k, v, gate: np.outer(v, k)),
            "Each token replaces the state. It is added to what is left of it.",
        ),
        Mistake(
            "transposed",
            _transposed(_fading_state),
            "The state at the end is transposed: it has a row for each column of the values.",
        ),
        Mistake(
            "divided",
            lambda q, k, v, gates, state: _fading_state(q / math.sqrt(q.shape[1]), k, v, gates, state),
            "You divide by the root of dim. There is no softmax here, and nothing is divided.",
        ),
        Mistake(
            "gate-on-the-new",
            _walk(lambda state, k, v, gate: state + gate * np.outer(v, k)),
            "The gate works on the new token. It closes on what stood before, the state.",
        ),
        Mistake(
            "query-and-key-swapped",
            lambda q, k, v, gates, state: _fading_state(k, q, v, gates, state),
            "Queries and keys have changed places: values are kept under keys, and found by queries.",
        ),
    ),
    alternatives=(
        _fading_all_at_once,
        lambda *args: list(_fading_state(*args)),
        lambda q, k, v, gates, state: _in_two_goes(_fading_state, q, k, v, gates, state),
    ),
    hints=(
        "Walk through the tokens: what happens to the state at token t, and when is it read?",
        "`np.outer(v[t], k[t])` has a row for each column of the values, as the state has.",
        "In this order: fade and write, `state = gates[t] * state + np.outer(v[t], k[t])`; then read, "
        "`state @ q[t]`.",
    ),
)


def _in_two_goes(
    states: Callable[..., States], q: Array, k: Array, v: Array, strength: Array, state: Array
) -> States:
    """The state hands everything on: a text may be cut anywhere."""
    cut = len(q) // 2
    first, state = states(q[:cut], k[:cut], v[:cut], strength[:cut], state)
    second, state = states(q[cut:], k[cut:], v[cut:], strength[cut:], state)
    return np.concatenate([first, second]), state


def _correct(state: Array, k: Array, v: Array, beta: float) -> Array:
    return state + beta * np.outer(v - state @ k, k)


def _delta_state(q: Array, k: Array, v: Array, beta: Array, state: Array) -> States:
    return _walk(_correct)(q, k, v, beta, state)


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
    id=f"{CHAPTER}.delta_state",
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
    make_cases=_state_cases,
    parts=("what the queries find", "the state at the end"),
    mistakes=(
        Mistake(
            "from-nothing",
            _from_nothing(_delta_state),
            "Your state begins as zeros. It goes on from the one that is handed over.",
        ),
        Mistake(
            "not-handed-on",
            _not_handed_on(_delta_state),
            "What the queries find is right, and the state that you return is the one you were given. Return "
            "the state after the last token.",
        ),
        Mistake(
            "read-before-writing",
            _walk(_correct, read=lambda before, after: before),
            "Your queries read before their own token is written. First correct, then read.",
        ),
        Mistake(
            "nothing-erased",
            _walk(lambda state, k, v, beta: state + beta * np.outer(v, k)),
            "You add the new value and erase nothing: a key that comes twice would hold the sum of its "
            "values.",
        ),
        Mistake(
            "erased-and-not-written",
            _walk(lambda state, k, v, beta: state - beta * np.outer(state @ k, k)),
            "You erase what the key held, and write nothing in its place.",
        ),
        Mistake(
            "written-whole",
            _walk(lambda state, k, v, beta: state + np.outer(v - beta * state @ k, k)),
            "The new value is written whole. Beta is the share of both: what is erased and what is written.",
        ),
        Mistake(
            "erased-whole",
            _walk(lambda state, k, v, beta: state + np.outer(beta * v - state @ k, k)),
            "What the key held is erased whole. Beta is the share of both: what is erased and what is "
            "written.",
        ),
        Mistake(
            "no-beta",
            _walk(lambda state, k, v, beta: state + np.outer(v - state @ k, k)),
            "Beta is not used: each token replaces all that its key held.",
        ),
        Mistake(
            "erased-after-writing",
            _walk(
                lambda state, k, v, beta: (
                    (state + beta * np.outer(v, k)) @ (np.eye(len(k)) - beta * np.outer(k, k))
                )
            ),
            "You erase after you have written, and a part of the new value is lost. Erase first.",
        ),
        Mistake(
            "away-from-the-value",
            _walk(lambda state, k, v, beta: state - beta * np.outer(v - state @ k, k)),
            "The sign of the correction is turned round: your state moves away from the value.",
        ),
        Mistake(
            "all-fades",
            _walk(lambda state, k, v, beta: (1 - beta) * state + beta * np.outer(v, k)),
            "You fade the whole state. Only what is held under this key is erased.",
        ),
        Mistake(
            "keys-of-length-one",
            lambda q, k, v, beta, state: _delta_state(q, _units(k), v, beta, state),
            "You bring the keys to length 1. They are taken as they come.",
        ),
        Mistake(
            "query-for-key",
            lambda q, k, v, beta, state: _walk_with_queries(q, k, v, beta, state),
            "You compare the value with what the query finds. It is the key under which the value is kept.",
        ),
        Mistake(
            "transposed",
            _transposed(_delta_state),
            "The state at the end is transposed: it has a row for each column of the values.",
        ),
        Mistake(
            "held-value-added",
            _walk(lambda state, k, v, beta: state + beta * np.outer(v + state @ k, k)),
            "You add what the key held to the new value. It is taken off.",
        ),
    ),
    alternatives=(
        _walk(_erase_and_write),
        _delta_by_corrections,
        lambda q, k, v, beta, state: list(_in_two_goes(_walk(_erase_and_write), q, k, v, beta, state)),
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


# --- cache_numbers ---------------------------------------------------------------------------------


Layer = dict[str, Any]
KINDS = ("full", "window", "latent", "forgetting", "state")


def _drawn_layer(rng: Generator, kind: str) -> Layer:
    heads, dim = int(rng.integers(1, 33)), 8 * int(rng.integers(2, 17))
    sizes: dict[str, Layer] = {
        "full": {"kv_heads": heads, "head_dim": dim},
        "window": {"kv_heads": heads, "head_dim": dim, "window": int(rng.integers(100, 5000))},
        "latent": {"rank": 8 * int(rng.integers(8, 65)), "rope_dim": 8 * int(rng.integers(1, 9))},
        "forgetting": {"heads": heads, "head_dim": dim},
        "state": {"heads": heads, "key_dim": dim, "value_dim": 8 * int(rng.integers(2, 33))},
    }
    return {"kind": kind} | sizes[kind]


def _cache_cases(rng: Generator) -> Iterator[Case]:
    for kind in KINDS:
        yield Case(f"one layer of kind {kind}", ([_drawn_layer(rng, kind)], 6000))
    window = {"kind": "window", "kv_heads": 4, "head_dim": 64, "window": 1024}
    yield Case("a text shorter than the window", ([window], 300))
    yield Case("three tokens", ([_drawn_layer(rng, kind) for kind in KINDS], 3))
    yield Case("no token yet", ([_drawn_layer(rng, kind) for kind in KINDS], 0))
    for _ in range(4):
        kinds = [*KINDS, *(KINDS[int(n)] for n in rng.integers(0, 5, size=int(rng.integers(1, 6))))]
        drawn = [_drawn_layer(rng, kind) for kind in kinds]
        yield Case("layers, drawn", (drawn, int(rng.integers(1000, 100_000))))


def _full(layer: Layer, tokens: int) -> int:
    return int(2 * layer["kv_heads"] * layer["head_dim"] * tokens)


def _window(layer: Layer, tokens: int) -> int:
    return _full(layer, min(tokens, layer["window"]))


def _latent(layer: Layer, tokens: int) -> int:
    return int((layer["rank"] + layer["rope_dim"]) * tokens)


def _forgetting(layer: Layer, tokens: int) -> int:
    return int(layer["heads"] * (2 * layer["head_dim"] + 1) * tokens)


def _state(layer: Layer, tokens: int) -> int:
    return int(layer["heads"] * layer["key_dim"] * layer["value_dim"])


COUNTS: dict[str, Callable[[Layer, int], int]] = {
    "full": _full,
    "window": _window,
    "latent": _latent,
    "forgetting": _forgetting,
    "state": _state,
}


def _count_with(**counts: Callable[[Layer, int], int]) -> Callable[[list[Layer], int], int]:
    """Of each layer by its kind; those of the reference where nothing else is given."""
    ways = COUNTS | counts
    return lambda layers, tokens: sum(ways[layer["kind"]](layer, tokens) for layer in layers)


def _cache_numbers(layers: list[Layer], tokens: int) -> int:
    return _count_with()(layers, tokens)


def _count_by_token(layers: list[Layer], tokens: int) -> int:
    """How many each token adds, and what is there before the first."""
    total = 0
    for layer in layers:
        kind = layer["kind"]
        if kind == "state":
            total += np.zeros((layer["heads"], layer["value_dim"], layer["key_dim"]), dtype=bool).size
            continue
        kept = min(tokens, layer.get("window", tokens))
        one = layer["rank"] + layer["rope_dim"] if kind == "latent" else 0
        if kind in ("full", "window", "forgetting"):
            one = layer.get("kv_heads", layer.get("heads")) * layer["head_dim"] * 2
        if kind == "forgetting":
            one += layer["heads"]
        total += kept * one
    return total


def _layers_to_compare() -> Iterator[Layer]:
    yield {"kind": "full", "kv_heads": 8, "head_dim": 128}
    yield {"kind": "latent", "rank": 512, "rope_dim": 64}
    yield {"kind": "window", "kv_heads": 8, "head_dim": 128, "window": 2048}
    yield {"kind": "state", "heads": 16, "key_dim": 128, "value_dim": 128}


def _halved(layer: Layer, tokens: int) -> int:
    return _full(layer, tokens) // 2


CACHE_NUMBERS = Exercise(
    id=f"{CHAPTER}.cache_numbers",
    title="What a model keeps",
    signature="cache_numbers(layers: list of dicts, tokens: int) -> int",
    points=3,
    minutes=12,
    difficulty=2,
    draws=Draws(
        lambda cache_numbers, across, up: curve(
            np.arange(0, 7001, 250),
            {
                layer["kind"]: [cache_numbers([layer], tokens) / 1e6 for tokens in range(0, 7001, 250)]
                for layer in _layers_to_compare()
            },
            across=across,
            up=up,
        ),
        axes=("tokens", "numbers kept, in millions"),
        look="A cache grows with the text, a latent one less, a window until it is full, and a state not "
        "at all.",
    ),
    reference=_cache_numbers,
    make_cases=_cache_cases,
    relative_tolerance=1e-9,
    mistakes=(
        Mistake(
            "keys-alone",
            _count_with(
                full=_halved,
                window=lambda layer, tokens: _halved(layer, min(tokens, layer["window"])),
                forgetting=lambda layer, tokens: layer["heads"] * (layer["head_dim"] + 1) * tokens,
            ),
            "Where keys are kept, values are kept as well, and they take as much room.",
        ),
        Mistake(
            "window-not-cut",
            _count_with(window=_full),
            "A layer with a window keeps no more tokens than fit into it.",
        ),
        Mistake(
            "window-always-full",
            _count_with(window=lambda layer, tokens: _full(layer, layer["window"])),
            "Your window is full before there are enough tokens.",
        ),
        Mistake(
            "latent-twice",
            _count_with(latent=lambda layer, tokens: 2 * _latent(layer, tokens)),
            "In a latent layer keys and values are made from the same vector: it is kept once.",
        ),
        Mistake(
            "latent-vector-twice",
            _count_with(latent=lambda layer, tokens: (2 * layer["rank"] + layer["rope_dim"]) * tokens),
            "You count the latent vector twice. Keys and values are made from the same one.",
        ),
        Mistake(
            "turned-part-left-out",
            _count_with(latent=lambda layer, tokens: layer["rank"] * tokens),
            "A latent layer keeps the turned part of its keys beside the vector: it cannot be made from it.",
        ),
        Mistake(
            "latent-vector-left-out",
            _count_with(latent=lambda layer, tokens: layer["rope_dim"] * tokens),
            "A latent layer keeps its vector, and not the turned part alone.",
        ),
        Mistake(
            "sums-left-out",
            _count_with(forgetting=lambda layer, tokens: 2 * layer["heads"] * layer["head_dim"] * tokens),
            "A layer that forgets keeps the running sum of its gates as well.",
        ),
        Mistake(
            "one-sum-for-all-heads",
            _count_with(
                forgetting=lambda layer, tokens: (2 * layer["heads"] * layer["head_dim"] + 1) * tokens
            ),
            "You keep one running sum for a whole layer. Each head has gates of its own.",
        ),
        Mistake(
            "state-for-each-token",
            _count_with(state=lambda layer, tokens: _state(layer, 0) * tokens),
            "You keep a state for each token. There is one, and each token changes it.",
        ),
        Mistake(
            "state-of-one-head",
            _count_with(state=lambda layer, tokens: layer["key_dim"] * layer["value_dim"]),
            "You count the state of one head. Each head has its own.",
        ),
        Mistake(
            "state-as-vectors",
            _count_with(state=lambda layer, tokens: layer["heads"] * (layer["key_dim"] + layer["value_dim"])),
            "The state of a head is a matrix with a row for each column of the values and a column for "
            "each of the keys.",
        ),
        Mistake(
            "state-as-cache",
            _count_with(
                state=lambda layer, tokens: layer["heads"] * (layer["key_dim"] + layer["value_dim"]) * tokens
            ),
            "You keep keys and values where there is a state. It has taken their place.",
        ),
        Mistake(
            "for-one-token",
            lambda layers, tokens: _cache_numbers(layers, 1),
            "This is what one token leaves. How many are kept after all of them?",
        ),
        Mistake(
            "turned-part-twice",
            _count_with(latent=lambda layer, tokens: (layer["rank"] + 2 * layer["rope_dim"]) * tokens),
            "You count the turned part twice. Keys have one; values are not turned.",
        ),
        Mistake(
            "one-sum-for-all-tokens",
            _count_with(
                forgetting=lambda layer, tokens: (
                    (2 * layer["head_dim"] * tokens + (1 if tokens else 0)) * layer["heads"]
                )
            ),
            "You keep one sum in each head. Each key needs that of its own token: the newest minus its "
            "own is the bias.",
        ),
    ),
    alternatives=(
        _count_by_token,
        lambda layers, tokens: float(_cache_numbers(layers, tokens)),
        lambda layers, tokens: sum(_cache_numbers([layer], tokens) for layer in reversed(layers)),
    ),
    hints=(
        "Write first, for each of the five kinds, what a single token leaves. Which kind keeps the same "
        "however long the text is?",
        "A full layer keeps a key and a value in each of its heads of keys: `2 * kv_heads * head_dim` "
        "numbers for each token.",
        "A window keeps `min(tokens, window)` tokens. A head that forgets keeps one number more for each "
        "token. A state is `heads * value_dim * key_dim` numbers from the beginning.",
    ),
)


# --- generator -------------------------------------------------------------------------------------


def _generator_cases(rng: Generator) -> Iterator[Case]:
    yield Case("one pair", (np.array([1.0]), 0.5))
    yield Case("no pair, ALiBi alone", (np.zeros(0), 0.25))
    yield Case("no slope, RoPE alone", (np.array([1.0, 0.01]), 0.0))
    yield Case("two pairs", (np.array([1.0, 0.1]), 0.0625))
    for _ in range(4):
        rates = 10 ** rng.uniform(-2, 0, size=int(rng.integers(2, 6)))
        yield Case("rates, drawn", (rates, float(rng.uniform(0.01, 1))))


def _generator_with(
    *,
    down: float = 1.0,
    up: float = -1.0,
    at: tuple[int, int] = (-2, -1),
    sign: float = 1.0,
    halves: bool = False,
) -> Callable[[Array, float], Array]:
    """The factor below the diagonal and above it; where the slope stands, and its sign."""

    def generator(rates: Array, slope: float) -> Array:
        pairs = len(rates)
        found = np.zeros((2 * pairs + 2, 2 * pairs + 2))
        first = np.arange(pairs) if halves else 2 * np.arange(pairs)
        second = first + (pairs if halves else 1)
        found[second, first] = down * rates
        found[first, second] = up * rates
        found[at] += sign * slope
        return found

    return generator


def _generator(rates: Array, slope: float) -> Array:
    return _generator_with()(rates, slope)


def _generator_by_kron(rates: Array, slope: float) -> Array:
    size = 2 * len(rates) + 2
    found = np.zeros((size, size))
    found[:-2, :-2] = np.kron(np.diag(rates), [[0.0, -1.0], [1.0, 0.0]])
    found[size - 2, size - 1] = slope
    return found


def _generator_by_diagonals(rates: Array, slope: float) -> Array:
    """The numbers right above the diagonal, and right below it."""
    beside = np.zeros(2 * len(rates) + 1)
    beside[0:-1:2] = rates
    found = np.diag(beside, -1) - np.diag(beside, 1)
    found[-2, -1] = slope
    return found


def _turned_by_one(rates: Array, slope: float) -> Array:
    """What one position does."""
    found = np.eye(2 * len(rates) + 2)
    for c, rate in enumerate(rates):
        cos, sin = math.cos(rate), math.sin(rate)
        found[2 * c : 2 * c + 2, 2 * c : 2 * c + 2] = [[cos, -sin], [sin, cos]]
    found[-2, -1] = slope
    return found


GENERATOR = Exercise(
    id=f"{CHAPTER}.generator",
    title="One matrix for both",
    step_of=ONE_THING,
    signature="generator(rates: array of shape (pairs,), in rad/position, slope: float) -> array of shape "
    "(2 * pairs + 2, 2 * pairs + 2)",
    points=3,
    minutes=15,
    difficulty=3,
    reference=_generator,
    make_cases=_generator_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (2 * len(args[0]) + 2,) * 2,
            "The matrix has two rows and columns for each pair, and two more.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.abs(np.diag(np.asarray(value))) < 1e-6).all()),
            "On the diagonal stands what makes columns grow or fade by themselves. Neither a rotation nor "
            "a bias does that: it holds zeros.",
        ),
    ),
    mistakes=(
        Mistake(
            "turns-back",
            _generator_with(down=-1.0, up=1.0),
            "Your pairs turn the other way round: the first column must go towards the second.",
        ),
        Mistake(
            "both-of-one-sign",
            _generator_with(up=1.0),
            "The two numbers of a pair have the same sign: it would be stretched and squeezed, and not "
            "turned.",
        ),
        Mistake(
            "both-negative",
            _generator_with(down=-1.0),
            "Both numbers of a pair are negative: it would be stretched and squeezed, and not turned.",
        ),
        Mistake(
            "one-number-a-pair",
            _generator_with(up=0.0),
            "Each pair has one number in yours. What goes from the first column to the second has to come "
            "back.",
        ),
        Mistake(
            "slope-below",
            _generator_with(at=(-1, -2)),
            "The slope stands below the diagonal. The query has its 1 in the first of the two columns more, "
            "and the key in the second.",
        ),
        Mistake(
            "slope-turned-round",
            _generator_with(sign=-1.0),
            "The sign of the slope is turned round. The offset, key minus query, is negative for the past "
            "already.",
        ),
        Mistake(
            "slope-turns",
            lambda rates, slope: (
                _generator_with()(rates, slope) + _generator_with(at=(-1, -2), sign=-1.0)(0 * rates, slope)
            ),
            "The last two columns turn in yours. A number that comes back makes a wave; a bias that grows "
            "with the distance does not come back.",
        ),
        Mistake(
            "half-layout",
            lambda rates, slope: _generator_with(halves=True)(rates, slope),
            "You pair columns that lie half the width apart. Neighbours make a pair here.",
        ),
        Mistake(
            "one-step",
            _turned_by_one,
            "This is what one position does, the exponential. The generator itself is asked for.",
        ),
        Mistake(
            "rates-as-turns",
            lambda rates, slope: _generator(2 * math.pi * rates, slope),
            "You multiply the rates by a whole turn. They are in radians already.",
        ),
        Mistake(
            "rates-as-wavelengths",
            lambda rates, slope: _generator(2 * math.pi / rates, slope),
            "These are wavelengths. How far a pair turns in one position is asked for.",
        ),
        Mistake(
            "no-slope",
            lambda rates, slope: _generator(rates, 0.0),
            "The slope is not used.",
        ),
        Mistake(
            "no-rates",
            lambda rates, slope: _generator(0 * rates, slope),
            "The rates are not used: no pair turns.",
        ),
        Mistake(
            "slope-on-the-diagonal",
            _generator_with(at=(-1, -1)),
            "The slope stands on the diagonal, and its exponential would grow without end. The bias is a "
            "straight line.",
        ),
        Mistake(
            "all-transposed",
            lambda rates, slope: _generator(rates, slope).T,
            "Rows and columns are swapped: the query stands on the left of the matrix, and the key on the "
            "right.",
        ),
    ),
    alternatives=(
        _generator_by_kron,
        _generator_by_diagonals,
        lambda rates, slope: _generator(rates, slope).tolist(),
    ),
    hints=(
        "For a small step t the exponential is nearly the identity plus t times the generator. Write a "
        "rotation by the small angle a in this form: its cosine is nearly 1, and its sine nearly a.",
        "So a pair has its rate below the diagonal, and minus its rate above it.",
        "The score of q and k takes row times matrix times column. For the bias, what must stand where the "
        "query's 1 meets the key's 1?",
    ),
)


# --- one_step --------------------------------------------------------------------------------------


def _skew(rng: Generator, dim: int, size: float) -> Array:
    drawn = rng.normal(size=(dim, dim))
    skew = drawn - drawn.T
    return np.asarray(size * skew / np.linalg.norm(skew))


def _exponential_cases(rng: Generator) -> Iterator[Case]:
    yield Case("a pair", (_generator(np.array([0.3]), 0.0)[:2, :2],))
    yield Case("ALiBi alone", (_generator(np.zeros(0), 0.25),))
    yield Case("RoPE and ALiBi", (_generator(np.array([1.0, 0.1]), 0.5),))
    yield Case("nothing moves", (np.zeros((3, 3)),))
    yield Case("three columns that turn into one another", (_skew(rng, 3, 2.0),))
    yield Case("many turns", (_skew(rng, 4, 60.0),))
    for _ in range(3):
        dim = int(rng.integers(3, 6))
        yield Case("drawn", (_skew(rng, dim, 1.5) + np.triu(rng.normal(size=(dim, dim)), 1) / 2,))


def _series(matrix: Array, terms: int = 18) -> Array:
    term = found = np.eye(len(matrix))
    for n in range(1, terms):
        term = term @ matrix / n
        found = found + term
    return found


def _halvings(matrix: Array) -> int:
    return max(0, math.ceil(math.log2(max(float(np.linalg.norm(matrix)), 1e-9))) + 1)


def _one_step(generator: Array) -> Array:
    """A small part of the step by its series, and then squared as often as it was halved."""
    halvings = _halvings(generator)
    part = _series(generator / 2**halvings)
    for _ in range(halvings):
        part = part @ part
    return part


def _one_step_of_eigenvectors(generator: Array) -> Array:
    """Where there are enough of them, and the series where there are not."""
    values, vectors = np.linalg.eig(generator)
    if np.linalg.cond(vectors) > 1e4:
        return np.linalg.matrix_power(_series(generator / 1024), 1024)
    return np.asarray(np.real(vectors * np.exp(values) @ np.linalg.inv(vectors)))


ONE_STEP = Exercise(
    id=f"{CHAPTER}.one_step",
    title="What one position does",
    step_of=ONE_THING,
    signature="one_step(generator: array of shape (dim, dim)) -> array of shape (dim, dim)",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_one_step,
    make_cases=_exponential_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The exponential of a matrix has its shape.",
            about="form",
        ),
        Property(
            lambda args, value: (
                not np.allclose(args[0], -args[0].T)
                or bool(np.allclose(np.asarray(value) @ np.asarray(value).T, np.eye(len(value)), atol=1e-4))
            ),
            "Where the generator is skew, the step is a rotation and keeps all lengths. Yours does not: "
            "does the series end too early, or do large terms cancel? For a smaller matrix both are "
            "harmless.",
        ),
    ),
    where_not_finite="Some power of the matrix grew beyond all numbers. Make the matrix smaller first, and "
    "square afterwards.",
    mistakes=(
        Mistake(
            "each-number",
            lambda generator: np.exp(generator),
            "You raise e to each number of the matrix. The powers in the series are products of matrices.",
        ),
        Mistake(
            "first-order",
            lambda generator: np.eye(len(generator)) + generator,
            "You stop after the first power. That is the whole of it only where the square of the matrix "
            "is 0, as with ALiBi alone.",
        ),
        Mistake(
            "second-order",
            lambda generator: np.eye(len(generator)) + generator + generator @ generator / 2,
            "You stop after the second power.",
        ),
        Mistake(
            "powers-of-each-number",
            lambda generator: np.eye(len(generator)) + np.exp(generator) - 1,
            "Your powers are powers of each number. Multiply matrices, with @.",
        ),
        Mistake(
            "no-identity",
            lambda generator: _one_step(generator) - np.eye(len(generator)),
            "The identity is missing, the power 0 of the matrix.",
        ),
        Mistake(
            "backwards",
            lambda generator: _one_step(-generator),
            "This is one step back.",
        ),
        Mistake(
            "half-a-step",
            lambda generator: _one_step(generator / 2),
            "This is half a step. You halved the matrix once more than you squared.",
        ),
        Mistake(
            "two-steps",
            lambda generator: _one_step(2 * generator),
            "These are two steps. You squared once more than you halved.",
        ),
        Mistake(
            "inverse-of-the-rest",
            lambda generator: np.linalg.pinv(np.eye(len(generator)) - generator),
            "This is the sum of all powers, without dividing them: the n-th one is divided by n factorial.",
        ),
        Mistake(
            "cayley",
            lambda generator: np.linalg.solve(
                np.eye(len(generator)) - generator / 2, np.eye(len(generator)) + generator / 2
            ),
            "This rotates as well, and by another angle: it is the exponential up to the second power only.",
        ),
        Mistake(
            "transposed",
            lambda generator: _one_step(generator.T),
            "Your result is transposed.",
        ),
        Mistake(
            "many-small-steps",
            lambda generator: np.linalg.matrix_power(np.eye(len(generator)) + generator / 1024, 1024),
            "You make 1,024 small steps, each of the first order. The error is small and cannot be "
            "overlooked: take more terms in each step.",
        ),
    ),
    alternatives=(
        lambda generator: np.linalg.matrix_power(_series(generator / 256, 30), 256),
        _one_step_of_eigenvectors,
        lambda generator: _one_step(generator / 2) @ _one_step(generator / 2),
    ),
    hints=(
        "The series is the identity, plus the matrix, plus its square over 2, plus its third power over "
        "6. Each term is the one before times the matrix over n.",
        "The exponential of the whole matrix is the square of that of half the matrix. So how could you "
        "do with a small matrix alone?",
        "Divide by `2**s` with s = 10, sum 20 terms, and square the result s times: `part = part @ part`.",
    ),
)


# --- group_scores ----------------------------------------------------------------------------------


def _group_cases(rng: Generator) -> Iterator[Case]:
    def inputs(n: int, generator: Array) -> tuple[Array, ...]:
        dim = len(generator)
        return rng.normal(size=(n, dim)), rng.normal(size=(n, dim)), generator

    def lifted(n: int, rates: Array, slope: float) -> tuple[Array, ...]:
        q, k, generator = inputs(n, _generator(rates, slope))
        q[:, -2:], k[:, -2:] = (1.0, 0.0), (0.0, 1.0)
        return q, k, generator

    yield Case("RoPE alone", inputs(4, _generator(np.array([1.0, 0.1]), 0.0)[:4, :4]))
    yield Case("ALiBi alone", lifted(5, np.zeros(0), 0.5))
    yield Case("RoPE and ALiBi", lifted(6, np.array([1.0, 0.1]), 0.125))
    yield Case("a rotation of three columns", inputs(5, _skew(rng, 3, 1.0)))
    yield Case("one token", inputs(1, _skew(rng, 4, 1.0)))
    for _ in range(3):
        dim = int(rng.integers(3, 6))
        generator = _skew(rng, dim, 0.8) + np.triu(rng.normal(size=(dim, dim)), 1) / 6
        yield Case("drawn", inputs(int(rng.integers(3, 6)), generator))


Steps = Callable[[int], Array]


def _group_with(between: Callable[[Steps, Array, int, int], Array]) -> Callable[[Array, Array, Array], Array]:
    """`between`: the matrix between query and key, of what so many steps do, the generator and the places."""

    def scores(q: Array, k: Array, generator: Array) -> Array:
        steps = cache(lambda count: _one_step(count * generator))
        return np.array(
            [[q[i] @ between(steps, generator, i, j) @ k[j] for j in range(len(k))] for i in range(len(q))]
        )

    return scores


def _group_scores(q: Array, k: Array, generator: Array) -> Array:
    return _group_with(lambda steps, matrix, i, j: steps(j - i))(q, k, generator)


def _group_by_powers(q: Array, k: Array, generator: Array) -> Array:
    step, n = _one_step(generator), len(q)
    powers = {offset: np.linalg.matrix_power(step, offset) for offset in range(1 - n, n)}
    return np.array([[q[i] @ powers[j - i] @ k[j] for j in range(n)] for i in range(n)])


def _group_by_moving_both(q: Array, k: Array, generator: Array) -> Array:
    """Keys go to their places, and queries back from theirs: then it is a plain product."""
    keys = np.stack([_one_step(j * generator) @ row for j, row in enumerate(k)])
    queries = np.stack([row @ _one_step(-i * generator) for i, row in enumerate(q)])
    return np.asarray(queries @ keys.T)


GROUP_SCORES = Exercise(
    id=f"{CHAPTER}.group_scores",
    title="Scores of any generator",
    step_of=ONE_THING,
    signature="group_scores(q: array of shape (n, dim), k: array of shape (n, dim), generator: array of "
    "shape (dim, dim)) -> array of shape (n, n)",
    points=3,
    minutes=12,
    difficulty=4,
    draws=Draws(
        lambda group_scores, across, up: curve(
            np.arange(-15, 1),
            {
                name: np.asarray(
                    group_scores(
                        np.tile([1.0, 0.0, 1.0, 0.0], (16, 1)),
                        np.tile([1.0, 0.0, 0.0, 1.0], (16, 1)),
                        _generator(np.array([rate]), slope),
                    )
                )[-1]
                for name, rate, slope in (("RoPE", 0.5, 0.0), ("ALiBi", 0.0, 0.1), ("RoPE + ALiBi", 0.5, 0.1))
            },
            across=across,
            up=up,
        ),
        axes=("offset, key - query", "score"),
        look="One matrix for both: a wave, a straight line, or a wave on a straight line.",
    ),
    reference=_group_scores,
    make_cases=_group_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[1])),
            "There must be a row for each query and a column for each key.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.diag(np.asarray(value)), (args[0] * args[1]).sum(axis=1), rtol=1e-4, atol=1e-4)
            ),
            "At offset 0 nothing moves: on the diagonal stands the plain product of query and key.",
        ),
    ),
    where_not_finite="Some power of the matrix grew beyond all numbers. Take your own one_step.",
    mistakes=(
        Mistake(
            "offset-turned-round",
            _group_with(lambda steps, matrix, i, j: steps(i - j)),
            "Your offset is query minus key. It is key minus query.",
        ),
        Mistake(
            "both-forward",
            _group_with(lambda steps, matrix, i, j: steps(i).T @ steps(j)),
            "You move query and key forward, each to its place. For a rotation that is right: there, "
            "transposed is inverse. For ALiBi's part it is not: the query has to go back.",
        ),
        Mistake(
            "added",
            _group_with(lambda steps, matrix, i, j: steps(i + j)),
            "You add the two positions. Their difference decides.",
        ),
        Mistake(
            "keys-alone",
            _group_with(lambda steps, matrix, i, j: steps(j)),
            "You move the keys alone. The query has a position as well.",
        ),
        Mistake(
            "distance",
            _group_with(lambda steps, matrix, i, j: steps(abs(j - i))),
            "You take the distance without its sign.",
        ),
        Mistake(
            "one-step-for-all",
            _group_with(lambda steps, matrix, i, j: steps(1)),
            "You take one step, whatever the offset.",
        ),
        Mistake(
            "first-order",
            _group_with(lambda steps, matrix, i, j: np.eye(len(matrix)) + (j - i) * matrix),
            "You stop after the first power of the matrix. That is the whole of it only where its square "
            "is 0, as with ALiBi alone.",
        ),
        Mistake(
            "times-the-offset",
            _group_with(lambda steps, matrix, i, j: (j - i) * steps(1)),
            "You multiply one step by the offset. So many steps, one after the other, are a power.",
        ),
        Mistake(
            "each-number-raised",
            _group_with(lambda steps, matrix, i, j: np.exp((j - i) * matrix)),
            "You raise e to each number of the matrix. Take your own one_step.",
        ),
        Mistake(
            "generator-itself",
            _group_with(lambda steps, matrix, i, j: (j - i) * matrix),
            "You take the generator times the offset. Its exponential stands between query and key.",
        ),
        Mistake(
            "step-transposed",
            _group_with(lambda steps, matrix, i, j: steps(j - i).T),
            "The matrix stands transposed between query and key.",
        ),
        Mistake(
            "nothing-moves",
            _group_with(lambda steps, matrix, i, j: np.eye(len(matrix))),
            "These are plain products: the generator is not used.",
        ),
        Mistake(
            "divided",
            lambda q, k, generator: _group_scores(q, k, generator) / math.sqrt(q.shape[1]),
            "You divide by the root of dim. Here nothing is divided.",
        ),
        Mistake(
            "sees-no-future",
            lambda *args: np.tril(_group_scores(*args)),
            "Keys after the query get 0 in yours. There is no mask here.",
        ),
        Mistake(
            "swapped",
            lambda *args: _group_scores(*args).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "query-and-key-swapped",
            lambda q, k, generator: _group_scores(k, q, generator),
            "Queries and keys have changed places.",
        ),
        Mistake(
            "query-from-the-left",
            _group_with(lambda steps, matrix, i, j: steps(-i).T @ steps(j)),
            "You move the query back by a matrix on its left. In the score the query is a row: its matrix "
            "stands on its right.",
        ),
    ),
    alternatives=(
        _group_by_powers,
        _group_by_moving_both,
        lambda q, k, generator: _group_scores(q, k, generator).tolist(),
    ),
    hints=(
        "What stands between query i and key j is `one_step((j - i) * generator)`.",
        "For each of the offsets 1 - n to n - 1 it is needed once. Negative offsets are no different: their "
        "matrix is the inverse.",
        "Where you would rather move queries and keys once each: keys by `one_step(j * generator)` from "
        "the left, queries by `one_step(-i * generator)` from the right.",
    ),
)


# --- where_from ------------------------------------------------------------------------------------


RIGHT = ("nothing", "distance", "content", "nothing", "distance", "content")


def _but(**wrong: str) -> Callable[[], tuple[str, ...]]:
    """The right words, but for these layers."""
    return lambda: tuple(wrong.get(name, word) for name, word in zip("abcdef", RIGHT, strict=True))


def _value_case(rng: Generator) -> Iterator[Case]:
    yield Case("your answer")


WHERE_FROM = Exercise(
    id=f"{CHAPTER}.where_from",
    title="Read these layers",
    signature="where_from = (layer A, layer B, layer C, layer D, layer E, layer F), each a word",
    points=3,
    minutes=12,
    difficulty=3,
    kind="value",
    reference=lambda: RIGHT,
    make_cases=_value_case,
    parts=("layer A", "layer B", "layer C", "layer D", "layer E", "layer F"),
    mistakes=(
        Mistake(
            "a-gate-is-a-gate",
            _but(a="content"),
            "Layer A has gates, like layer C. Look at how many of them are multiplied for one token.",
        ),
        Mistake(
            "content-gives-distance",
            _but(b="content"),
            "In layer B a token's content decides as well. Which token's, and does it stand between?",
        ),
        Mistake(
            "gates-by-distance",
            _but(c="distance"),
            "In layer C, put a token with a small gate between two others, and one with a large gate. Is "
            "it the same?",
        ),
        Mistake(
            "a-state-knows-order",
            _but(d="distance"),
            "Layer D goes through the tokens in their order. Does its sum know that?",
        ),
        Mistake(
            "a-state-knows-no-order",
            _but(e="nothing"),
            "In layer E, how much is left of a token after three more?",
        ),
        Mistake(
            "fades-by-content",
            _but(e="content"),
            "In layer E, what is left of a token after three more: does it hang on which three?",
        ),
        Mistake(
            "erases-by-distance",
            _but(f="distance"),
            "In layer F, let a token in between have the same key, and then a key at a right angle to it. "
            "Is it the same?",
        ),
        Mistake(
            "erases-nothing",
            _but(f="nothing"),
            "In layer F, what does a token do to what the state holds under its key?",
        ),
        Mistake(
            "all-states-alike",
            _but(d="distance", f="distance"),
            "You take all that walks through the tokens for a fading. Compare what D, E and F do to the "
            "state before they add to it.",
        ),
        Mistake(
            "all-gates-alike",
            _but(a="content", b="content"),
            "A, B and C all have gates from content. Of whom, and how many for one token?",
        ),
        Mistake(
            "gates-of-all",
            _but(d="content"),
            "In layer D, how often does the gate of one token work on what another one has left?",
        ),
    ),
    alternatives=(
        lambda: list(RIGHT),
        lambda: tuple(word[:] for word in RIGHT),
        lambda: tuple(str(word) for word in RIGHT),
    ),
    hints=(
        "Take three tokens and write down what the first one counts for the last, layer by layer.",
        "Now put another token between the two, and then yet another. What changes?",
    ),
)


# --- choose ----------------------------------------------------------------------------------------


def _choice_cases(rng: Generator) -> Iterator[Case]:
    def case(
        label: str, losses: list[float], errors: list[float], admitted: list[bool], costs: list[float]
    ) -> Case:
        return Case(label, (np.array(losses), np.array(errors), np.array(admitted), np.array(costs)))

    yes, no = True, False
    yield case("one far below all", [1.5, 1.2, 1.6], [0.02, 0.02, 0.02], [yes] * 3, [1, 3, 2])
    yield case("the best is not admitted", [1.5, 1.2, 1.6], [0.02] * 3, [yes, no, yes], [2, 1, 3])
    yield case("none is admitted", [1.5, 1.2], [0.02, 0.02], [no, no], [1, 2])
    yield case("a tie, and the worse costs less", [1.5, 1.52, 1.9], [0.05] * 3, [yes] * 3, [3, 2, 1])
    yield case("exactly at the uncertainty", [0.5, 0.75, 4.0], [0.25, 0.0, 0.0], [yes] * 3, [2, 1, 0])
    yield case("tied with the second, not with the best", [1.0, 1.06, 1.12], [0.05] * 3, [yes] * 3, [3, 2, 1])
    yield case("one that is uncertain", [1.0, 1.4, 1.1], [0.01, 0.5, 0.01], [yes] * 3, [3, 1, 2])
    yield case("the best is uncertain", [1.0, 1.1, 1.2], [0.15, 0.01, 0.01], [yes] * 3, [3, 2, 1])
    yield case("a tie of equal costs", [1.03, 1.0, 1.01], [0.05] * 3, [yes] * 3, [1, 1, 1])
    yield case("not admitted, tied and cheap", [1.0, 1.01, 1.3], [0.05] * 3, [yes, no, yes], [2, 1, 3])
    yield case("the admitted stand behind", [0.9, 1.3, 1.2], [0.02] * 3, [no, yes, yes], [1, 3, 2])
    yield case("together, not each", [1.0, 1.07, 1.2], [0.05, 0.05, 0.01], [yes] * 3, [2, 1, 3])
    yield case("added, not together", [1.0, 1.09, 1.3], [0.05, 0.05, 0.01], [yes] * 3, [2, 1, 3])
    yield case("a tie, and the worse costs more", [1.5, 1.52, 1.9], [0.05] * 3, [yes] * 3, [2, 3, 1])
    yield case("large errors", [1.0, 1.4, 1.6], [0.5] * 3, [yes] * 3, [3, 2, 1])
    for _ in range(8):
        n = int(rng.integers(4, 10))
        losses, errors = rng.uniform(1.0, 1.3, size=n), rng.uniform(0.01, 0.09, size=n)
        yield Case("drawn", (losses, errors, rng.random(n) < 0.7, rng.permutation(n).astype(float)))


Tie = Callable[[Array, Array, int], Array]


def _by_both(losses: Array, errors: Array, best: int) -> Array:
    return losses - losses[best] <= np.hypot(errors, errors[best])


def _choose_with(
    tie: Tie = _by_both,
    *,
    admit: Callable[[Array], Array] = lambda admitted: admitted,
    rank: Callable[[Array, Array], Array] = lambda losses, costs: np.lexsort((losses, costs)),
) -> Callable[[Array, Array, Array, Array], int]:
    """`tie`: which of all are no worse than the best; `rank`: all, the one to take first."""

    def choose(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
        allowed = admit(admitted)
        if not allowed.any():
            return -1
        best = int(np.argmin(np.where(allowed, losses, np.inf)))
        good = allowed & tie(losses, errors, best)
        return int(next((each for each in rank(losses, costs) if good[each]), -1))

    return choose


def _choose(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
    return _choose_with()(losses, errors, admitted, costs)


def _choose_by_loop(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
    runs = [each for each in range(len(losses)) if admitted[each]]
    if not runs:
        return -1
    best = min(runs, key=lambda each: losses[each])
    tied = [
        each
        for each in runs
        if losses[each] - losses[best] <= math.sqrt(errors[each] ** 2 + errors[best] ** 2)
    ]
    return min(tied, key=lambda each: (costs[each], losses[each]))


def _among_the_admitted(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
    if not admitted.any():
        return -1
    return _choose(losses[admitted], errors[admitted], admitted[admitted], costs[admitted])


def _best_of_all(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
    good = admitted & _by_both(losses, errors, int(np.argmin(losses)))
    return int(next((each for each in np.lexsort((losses, costs)) if good[each]), -1))


def _first_of_the_cheapest(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
    return _choose_with(rank=lambda losses, costs: np.argsort(costs, kind="stable"))(
        losses, errors, admitted, costs
    )


CHOOSE = Exercise(
    id=f"{CHAPTER}.choose",
    title="Choose by rule",
    signature="choose(losses: array of shape (n,), errors: array of shape (n,), admitted: array of shape "
    "(n,) of booleans, costs: array of shape (n,)) -> int",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_choose,
    make_cases=_choice_cases,
    properties=(
        Property(
            lambda args, value: (int(value) == -1) == (not args[2].any()),
            "The number -1 stands for none, and for nothing else.",
        ),
        Property(
            lambda args, value: not 0 <= int(value) < len(args[2]) or bool(args[2][int(value)]),
            "What you chose was not admitted.",
        ),
    ),
    mistakes=(
        Mistake(
            "every-run",
            _choose_with(admit=lambda admitted: np.ones(len(admitted), dtype=bool)),
            "You choose from all runs. Those that were not admitted do not count, however good they look.",
        ),
        Mistake(
            "best-of-all",
            _best_of_all,
            "You compare with the best of all runs. One that was not admitted is no measure for the others.",
        ),
        Mistake(
            "lowest",
            _choose_with(lambda losses, errors, best: np.arange(len(losses)) == best),
            "You take the lowest loss. What is not above the uncertainty is no difference, and then the "
            "cheaper one is to be taken.",
        ),
        Mistake(
            "cheapest",
            _choose_with(lambda losses, errors, best: np.ones(len(losses), dtype=bool)),
            "You take the cheapest of all that were admitted, however high its loss is.",
        ),
        Mistake(
            "own-error-alone",
            _choose_with(
                lambda losses, errors, best: (
                    losses - losses[best] <= np.where(losses == losses[best], 0, errors)
                )
            ),
            "You compare with the error of the one that is worse. The best one has an error, too.",
        ),
        Mistake(
            "errors-of-the-best",
            _choose_with(lambda losses, errors, best: losses - losses[best] <= errors[best]),
            "You compare with the error of the best one alone. The other one has an error, too.",
        ),
        Mistake(
            "errors-added",
            _choose_with(lambda losses, errors, best: losses - losses[best] <= errors + errors[best]),
            "You add the two errors. They have nothing to do with each other, so their squares add up.",
        ),
        Mistake(
            "larger-error",
            _choose_with(
                lambda losses, errors, best: losses - losses[best] <= np.maximum(errors, errors[best])
            ),
            "You take the larger of the two errors. Both count: their squares add up.",
        ),
        Mistake(
            "squares-not-rooted",
            _choose_with(lambda losses, errors, best: losses - losses[best] <= errors**2 + errors[best] ** 2),
            "You compare with a sum of squares. Take its root.",
        ),
        Mistake(
            "strictly-below",
            _choose_with(
                lambda losses, errors, best: (
                    (losses - losses[best] < np.hypot(errors, errors[best])) | (losses == losses[best])
                )
            ),
            "A difference of exactly the uncertainty is not above it, and is none.",
        ),
        Mistake(
            "dearest",
            _choose_with(rank=lambda losses, costs: np.lexsort((losses, -costs))),
            "Of those that are tied you take the dearest.",
        ),
        Mistake(
            "first-of-the-tied",
            _choose_with(rank=lambda losses, costs: np.arange(len(costs))),
            "Of those that are tied you take the first in the list. The costs decide.",
        ),
        Mistake(
            "first-of-the-cheapest",
            _first_of_the_cheapest,
            "It is right but for a tie of equal costs: there the lower loss decides.",
        ),
        Mistake(
            "number-among-the-admitted",
            _among_the_admitted,
            "You count among those that were admitted. The number in the whole list is asked for.",
        ),
        Mistake(
            "zero-for-none",
            lambda *args: max(_choose(*args), 0),
            "Where none was admitted, return -1. Number 0 is the first run.",
        ),
        Mistake(
            "widened",
            _choose_with(
                lambda losses, errors, best: losses - losses[best] <= 1.96 * np.hypot(errors, errors[best])
            ),
            "You widen the uncertainty to 1.96 of these errors. The rule that was written down takes them "
            "as they are.",
        ),
    ),
    alternatives=(
        _choose_by_loop,
        lambda *args: float(_choose(*args)),
        lambda losses, errors, admitted, costs: min(
            (
                (costs[n], losses[n], n)
                for n in range(len(losses))
                if admitted[n]
                and all(
                    losses[n] - losses[m] <= np.hypot(errors[n], errors[m])
                    for m in np.flatnonzero(admitted)
                    if losses[m] == losses[admitted].min()
                )
            ),
            default=(0.0, 0.0, -1),
        )[2],
    ),
    hints=(
        "Go in this order: who was admitted? Who of them is best? Who is tied with it? Who of those is "
        "cheapest?",
        "Set the losses of those that were not admitted to infinity, and `np.argmin` finds the best. If "
        "none was, you are done already.",
        "Tied is whoever's loss is above the best by no more than `np.hypot(errors, errors[best])`; the "
        "best is tied with itself.",
    ),
)


EXERCISES = (
    LOG_GATES,
    FORGET_BIAS,
    GATED_ATTENTION,
    GATED_STEP,
    ALIBI_LOGITS,
    KEYS_SEEN,
    REFLECTIONS,
    PATH_SCORES,
    PATH_STEP,
    FAVOURITE_OFFSETS,
    POLAR_SCORES,
    TABLE_SCORES,
    FADING_STATE,
    DELTA_STATE,
    CACHE_NUMBERS,
    GENERATOR,
    ONE_STEP,
    GROUP_SCORES,
    WHERE_FROM,
    CHOOSE,
)
