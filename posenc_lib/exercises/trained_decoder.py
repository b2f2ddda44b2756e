"""The steps of the decoder that loads trained weights and writes, the last of `07-alibi-and-biases`.

All of them in NumPy, and each in one place here: a step's known mistakes are its reference with one thing
done differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.checking.messages import _
from posenc_lib.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.trained import COURSE, trained_model

CHAPTER = "07-alibi-and-biases"
WHOLE = "A trained decoder, of your own functions"

Generator = np.random.Generator
Model = Mapping[str, Any]

SMALL = 2.0**-23
"""Added to a mean of squares, so that a row of zeros is not divided by 0."""


# --- normed ----------------------------------------------------------------------------------------


def _normed(x: Array, gain: Array) -> Array:
    return np.asarray(x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + SMALL) * gain)


def _norm_cases(rng: Generator) -> Iterator[Case]:
    for label, shape in (
        ("one row", (1, 4)),
        ("five rows", (5, 8)),
        ("two heads of three rows", (2, 3, 6)),
        ("long rows", (3, 40)),
    ):
        gain = rng.uniform(0.4, 2.0, size=shape[-1])
        yield Case(label, (rng.normal(loc=0.5, scale=3.0, size=shape), gain))
    rows = rng.normal(loc=0.5, size=(3, 4))
    rows[1] = 0
    yield Case("a row of zeros among others", (rows, rng.uniform(0.4, 2.0, size=4)))
    yield Case("large numbers", (1e4 * rng.normal(loc=0.5, size=(2, 6)), rng.uniform(0.4, 2.0, size=6)))


def _size(value: Any) -> Any:
    return np.sqrt((np.asarray(value) ** 2).mean(axis=-1))


NORMED = Exercise(
    id=f"{CHAPTER}.normed",
    title="Rows of one size",
    step_of=WHOLE,
    adds="Your decoder gets its norm: no row is louder than another before it is looked at.",
    signature="normed(x: (..., width), gain: (width,)) -> array of the shape of x",
    points=1,
    minutes=6,
    difficulty=1,
    reference=lambda x, gain: _normed(x, gain),
    make_cases=_norm_cases,
    where_not_finite="A row of zeros has the size 0. Add the small number to the mean before you divide by "
    "its root.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape stays as it is: every row only changes its size.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(_size(np.asarray(value) / args[1]), _size(args[0]) > 0, atol=1e-3)
            ),
            "Without the gains, the mean of the squares of each row must be 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "mean-taken-off",
            lambda x, gain: _normed(x - x.mean(axis=-1, keepdims=True), gain),
            "The mean was taken off first. That is LayerNorm. This norm divides, and shifts nothing.",
        ),
        Mistake(
            "standard-deviation",
            lambda x, gain: x / np.sqrt(x.var(axis=-1, keepdims=True) + SMALL) * gain,
            "You divide by the standard deviation, which does not see the mean of the row. Divide by the "
            "root of the mean of the squares.",
        ),
        Mistake(
            "length",
            lambda x, gain: x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + SMALL) * gain,
            "You divide by the length of the row. It is the mean of the squares that is wanted, not their "
            "sum.",
        ),
        Mistake(
            "no-root",
            lambda x, gain: x / ((x * x).mean(axis=-1, keepdims=True) + SMALL) * gain,
            "You divide by the mean of the squares. Take its root first.",
        ),
        Mistake(
            "all-rows-together",
            lambda x, gain: x / np.sqrt((x * x).mean() + SMALL) * gain,
            "All rows are divided by one number. Each row has a size of its own: take the mean over the "
            "last axis.",
        ),
        Mistake(
            "mean-of-absolute-values",
            lambda x, gain: x / (np.abs(x).mean(axis=-1, keepdims=True) + SMALL) * gain,
            "You divide by the mean of the absolute values. Square, take the mean, then the root.",
        ),
        Mistake(
            "without-gain",
            lambda x, gain: _normed(x, np.ones_like(gain)),
            "The gains are missing. After the division, each column is multiplied by its gain.",
        ),
        Mistake(
            "gain-added",
            lambda x, gain: _normed(x, np.ones_like(gain)) + gain,
            "The gains were added. They are factors, one for each column.",
        ),
        Mistake(
            "gain-first",
            lambda x, gain: _normed(x * gain, np.ones_like(gain)),
            "The gains came before the norm, which takes a part of them away again. Divide first.",
        ),
        Mistake(
            "one-plus-gain",
            lambda x, gain: _normed(x, 1 + gain),
            "Each column was multiplied by 1 more than its gain. Some models store gains so; this file holds "
            "the gains themselves.",
        ),
    ),
    alternatives=(
        lambda x, gain: gain * x * ((x**2).mean(-1, keepdims=True) + SMALL) ** -0.5,
        lambda x, gain: np.einsum(
            "...i,i,...->...i", x, gain, 1 / np.sqrt(np.einsum("...i,...i->...", x, x) / len(gain) + SMALL)
        ),
        lambda x, gain: np.apply_along_axis(
            lambda row: row / np.sqrt(np.sum(row**2) / row.size + SMALL) * gain, -1, x
        ),
    ),
    hints=(
        "Three things, one after the other: how large each row is, the division, the gains.",
        "`(x * x).mean(axis=-1, keepdims=True)` has one number for each row, in a shape that divides.",
    ),
)


# --- think -----------------------------------------------------------------------------------------


def _think(x: Array, widen: Array, narrow: Array) -> Array:
    return np.asarray(np.maximum(x @ widen.T, 0) ** 2 @ narrow.T)


def _think_cases(rng: Generator) -> Iterator[Case]:
    for label, rows, width, wide in (
        ("one row", 1, 3, 5),
        ("four rows", 4, 6, 24),
        ("one column", 5, 1, 4),
        ("many rows", 12, 4, 9),
        ("as wide as before", 3, 5, 5),
    ):
        widen, narrow = rng.normal(size=(wide, width)), rng.normal(size=(width, wide))
        yield Case(label, (rng.normal(size=(rows, width)), widen, narrow))
    square = rng.normal(size=(2, 4, 4))
    yield Case("square matrices", (rng.normal(size=(4, 4)), square[0], square[1]))


THINK = Exercise(
    id=f"{CHAPTER}.think",
    title="The wide layer",
    step_of=WHOLE,
    adds="Your decoder gets its wide layer: each row is thought over by itself.",
    signature="think(x: (n, dim), widen: (wide, dim), narrow: (dim, wide)) -> (n, dim)",
    points=1,
    minutes=6,
    difficulty=1,
    reference=lambda x, widen, narrow: _think(x, widen, narrow),
    make_cases=_think_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The rows come back as wide as they were: (n, dim).",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "no-square",
            lambda x, widen, narrow: np.maximum(x @ widen.T, 0) @ narrow.T,
            "Negative numbers became 0, and the others stayed. They have to be squared.",
        ),
        Mistake(
            "negatives-squared-too",
            lambda x, widen, narrow: (x @ widen.T) ** 2 @ narrow.T,
            "Negative numbers were squared too, and so became positive. First everything below 0 becomes 0.",
        ),
        Mistake(
            "squared-at-the-end",
            lambda x, widen, narrow: (np.maximum(x @ widen.T, 0) @ narrow.T) ** 2,
            "The square comes too late. Square the wide rows, then make them narrow.",
        ),
        Mistake(
            "cut-at-the-end",
            lambda x, widen, narrow: np.maximum(np.maximum(x @ widen.T, 0) ** 2 @ narrow.T, 0),
            "What comes out was cut at 0 as well. Only the wide rows are.",
        ),
        Mistake(
            "sign-kept",
            lambda x, widen, narrow: np.abs(x @ widen.T) * (x @ widen.T) @ narrow.T,
            "Negative numbers were squared with their sign. They become 0.",
        ),
        Mistake(
            "small-ones-cut",
            lambda x, widen, narrow: np.maximum(x @ widen.T, 1) ** 2 @ narrow.T,
            "What is below 1 was raised to 1. The limit is 0.",
        ),
        Mistake(
            "input-added",
            lambda x, widen, narrow: x + _think(x, widen, narrow),
            "The input is in the result. It is added later, by the whole decoder; return only what is to be "
            "added.",
        ),
        Mistake(
            "sigmoid",
            lambda x, widen, narrow: (x @ widen.T) / (1 + np.exp(-(x @ widen.T))) @ narrow.T,
            "This is SiLU, which other models have here. These weights were trained with the square.",
        ),
        Mistake(
            "nothing-between",
            lambda x, widen, narrow: x @ widen.T @ narrow.T,
            "Two products with nothing between them are one product. Cut and square the wide rows.",
        ),
    ),
    alternatives=(
        lambda x, widen, narrow: np.square(np.clip(x @ widen.T, 0, None)) @ narrow.T,
        lambda x, widen, narrow: np.einsum(
            "dw,nw->nd", narrow, np.where((wide := np.einsum("wd,nd->nw", widen, x)) > 0, wide * wide, 0)
        ),
        lambda x, widen, narrow: np.stack(
            [narrow @ (np.maximum(widen @ row, 0) * (widen @ row)) for row in x]
        ).tolist(),
    ),
    hints=(
        "A matrix of the file has a row for each number that comes out. Rows of x stand on its left, so it "
        "has to be transposed.",
        "`np.maximum(wide, 0)` makes everything below 0 to 0.",
    ),
)


# --- turned ----------------------------------------------------------------------------------------


def _turned(
    x: Array,
    start: int,
    base: float,
    *,
    half: bool = False,
    sign: int = 1,
    turns: float = 1.0,
    rates: Callable[[int], Array] = lambda width: np.arange(0, width, 2) / width,
) -> Array:
    """RoPE; what may be done differently has a name."""
    n, width = x.shape[-2:]
    angles = turns * sign * np.outer(start + np.arange(n), float(base) ** -rates(width))
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = (x[..., : width // 2], x[..., width // 2 :]) if half else (x[..., 0::2], x[..., 1::2])
    pair = (a * cos - b * sin, a * sin + b * cos)
    return np.concatenate(pair, axis=-1) if half else np.stack(pair, axis=-1).reshape(x.shape)


def _turn_cases(rng: Generator) -> Iterator[Case]:
    for label, heads, n, width, start, base in (
        ("one head, from the start", 1, 4, 4, 0, 100.0),
        ("two heads, from the start", 2, 5, 8, 0, 300.0),
        ("one new row after six that are kept", 2, 1, 4, 6, 300.0),
        ("three new rows far in the text", 1, 3, 8, 1000, 2000.0),
        ("as many rows as heads", 3, 3, 6, 2, 50.0),
    ):
        yield Case(label, (rng.normal(size=(heads, n, width)), start, base))
    start, n = int(rng.integers(1, 50)), int(rng.integers(2, 7))
    yield Case("a random start", (rng.normal(size=(2, n, 8)), start, 300.0))


def _turned_by_arrows(x: Array, start: int, base: float) -> Array:
    n, width = x.shape[-2:]
    arrows = x[..., 0::2] + 1j * x[..., 1::2]
    steps = np.exp(1j * np.outer(np.arange(start, start + n), base ** (-np.arange(0, width, 2) / width)))
    moved = arrows * steps
    return np.stack([moved.real, moved.imag], axis=-1).reshape(x.shape)


def _turned_by_matrices(x: Array, start: int, base: float) -> Array:
    out = np.empty(x.shape)
    for p in range(x.shape[-2]):
        for i in range(x.shape[-1] // 2):
            angle = (start + p) * base ** (-2 * i / x.shape[-1])
            matrix = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            out[:, p, 2 * i : 2 * i + 2] = x[:, p, 2 * i : 2 * i + 2] @ matrix.T
    return out


def _turned_in_place(x: Array, start: int, base: float) -> Array:
    positions = start + np.arange(x.shape[-2])
    for i in range(0, x.shape[-1], 2):
        angle = positions / base ** (i / x.shape[-1])
        a, b = x[..., i].copy(), x[..., i + 1].copy()
        x[..., i] = a * np.cos(angle) - b * np.sin(angle)
        x[..., i + 1] = b * np.cos(angle) + a * np.sin(angle)
    return x


TURNED = Exercise(
    id=f"{CHAPTER}.turned",
    title="RoPE, as the file has it",
    step_of=WHOLE,
    adds="Your decoder gets its second door: queries and keys turn with their positions.",
    signature="turned(x: (heads, n, width), start: int, base: float) -> array of the shape of x",
    points=2,
    minutes=10,
    difficulty=2,
    reference=lambda x, start, base: _turned(x, start, base),
    make_cases=_turn_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape stays as it is: every pair of columns only turns.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose((np.asarray(value) ** 2).sum(axis=-1), (args[0] ** 2).sum(axis=-1), rtol=1e-4)
            ),
            "A turn leaves the length of every row as it was.",
        ),
        Property(
            lambda args, value: args[1] > 0 or bool(np.allclose(np.asarray(value)[:, 0], args[0][:, 0])),
            "At position 0 nothing has turned yet: the first row stays.",
        ),
    ),
    mistakes=(
        Mistake(
            "half-layout",
            lambda x, start, base: _turned(x, start, base, half=True),
            "Column j was paired with column j + width / 2. In this file, neighbours are a pair: columns 0 "
            "and 1, 2 and 3, and so on.",
        ),
        Mistake(
            "other-way-round",
            lambda x, start, base: _turned(x, start, base, sign=-1),
            "The pairs turn the other way. A positive angle takes (1, 0) to (cos, sin).",
        ),
        Mistake(
            "start-forgotten",
            lambda x, start, base: _turned(x, 0, base),
            "The first row was put at position 0. It stands at start: what is kept stands before it.",
        ),
        Mistake(
            "start-for-all",
            lambda x, start, base: np.concatenate(
                [_turned(x[:, [row]], start, base) for row in range(x.shape[1])], axis=1
            ),
            "All rows turn by the angles of the first one. Each row stands one place after the one before.",
        ),
        Mistake(
            "one-late",
            lambda x, start, base: _turned(x, start + 1, base),
            "Every row was turned one place too far. The first row of all stands at position 0.",
        ),
        Mistake(
            "base-10000",
            lambda x, start, base: (
                _turned(_turned(x, 0, base, turns=0), start, 12345.0)
                if base == 10000.0
                else _turned(x, start, 10000.0)
            ),
            "The base is a number of your own. Use the one that is given: each file has its own.",
        ),
        Mistake(
            "column-for-pair",
            lambda x, start, base: _turned(x, start, base, rates=lambda width: np.arange(width // 2) / width),
            "The clocks are too fast: pair i turns by base ** (-2 i / width), and the 2 is missing.",
        ),
        Mistake(
            "all-pairs-alike",
            lambda x, start, base: _turned(x, start, base, rates=lambda width: np.zeros(width // 2)),
            "All pairs turn equally fast. Pair i turns by base ** (-2 i / width) a place.",
        ),
        Mistake(
            "slowest-is-the-base",
            lambda x, start, base: _turned(
                x, start, base, rates=lambda width: np.arange(width // 2) / max(width // 2 - 1, 1)
            ),
            "The slowest clock turns by 1 / base. The exponents are 2 i / width, which never reaches 1.",
        ),
        Mistake(
            "heads-as-positions",
            lambda x, start, base: _turned(x.swapaxes(0, 1), start, base).swapaxes(0, 1),
            "The heads were taken for positions. Rows of a head stand on the middle axis.",
        ),
        Mistake(
            "full-turns",
            lambda x, start, base: _turned(x, start, base, turns=2 * np.pi),
            "The angles are too large by 2π: the frequencies count radians a place, not turns.",
        ),
    ),
    alternatives=(_turned_by_arrows, _turned_by_matrices, _turned_in_place),
    hints=(
        "Row number r of a head stands at position start + r. Pair i there turns by that position times "
        "`base ** (-2 * i / width)`.",
        "`x[..., 0::2]` are the first numbers of all pairs, `x[..., 1::2]` the second ones.",
        "The first becomes `a * cos - b * sin`, the second `a * sin + b * cos`. Put them back where they "
        "came from.",
    ),
)


# --- attend ----------------------------------------------------------------------------------------


def _distances(queries: int, keys: int) -> Array:
    return keys - queries + np.arange(queries)[:, None] - np.arange(keys)


def _attend(
    q: Array,
    k: Array,
    v: Array,
    slopes: Array,
    *,
    scale: float | None = None,
    sign: int = -1,
    distances: Callable[[int, int], Array] = _distances,
    hidden: Callable[[int, int], Array] = lambda m, n: _distances(m, n) < 0,
    axis: int = -1,
    divide_all: bool = False,
) -> Array:
    """Causal attention with ALiBi; what may be done differently has a name."""
    m, n = q.shape[-2], k.shape[-2]
    factor = 1 / np.sqrt(q.shape[-1]) if scale is None else scale
    bias = sign * slopes[:, None, None] * np.abs(distances(m, n))
    scores = q @ k.swapaxes(-1, -2) * factor + bias * (factor if divide_all else 1)
    scores = np.where(hidden(m, n), -np.inf, scores)
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return np.asarray(raised / raised.sum(axis=axis, keepdims=True) @ v)


def _slopes(heads: int) -> Array:
    return np.asarray(2.0 ** (-8 * np.arange(1, heads + 1) / heads))


def _attend_cases(rng: Generator) -> Iterator[Case]:
    def of(heads: int, m: int, n: int, width: int, slopes: Array, loud: float = 1.0) -> tuple[Array, ...]:
        q, k, v = rng.normal(size=(heads, m, width)), *rng.normal(size=(2, heads, n, width))
        return loud * q, k, v, slopes

    yield Case("two heads, no slopes", of(2, 5, 5, 4, np.zeros(2)))
    yield Case("two heads, two slopes", of(2, 5, 5, 4, np.array([0.9, 0.3])))
    yield Case("one new query, six keys", of(2, 1, 6, 3, np.array([0.5, 0.1])))
    yield Case("the last three of seven", of(2, 3, 7, 4, np.array([0.7, 0.2])))
    yield Case("steep and flat heads", of(4, 8, 8, 2, _slopes(4)))
    yield Case("very loud scores", of(2, 4, 6, 5, np.array([1.5, 0.4]), loud=3000.0))
    yield Case("one token alone", of(1, 1, 1, 3, np.array([0.25])))


def _attended_one_by_one(q: Array, k: Array, v: Array, slopes: Array) -> Array:
    heads, m, width = q.shape
    past = k.shape[1] - m
    out = np.zeros(q.shape)
    for h in range(heads):
        for i in range(m):
            seen = past + i + 1
            scores = [q[h, i] @ k[h, j] / width**0.5 - slopes[h] * (past + i - j) for j in range(seen)]
            raised = np.exp(np.array(scores) - max(scores))
            out[h, i] = raised / raised.sum() @ v[h, :seen]
    return out


def _attended_with_one_row(q: Array, k: Array, v: Array, slopes: Array) -> Array:
    """The bias of the keys' positions alone: a row shares the rest."""
    m, n = q.shape[1], k.shape[1]
    scores = (
        np.einsum("hid,hjd->hij", q, k) / np.sqrt(q.shape[2])
        + np.multiply.outer(slopes, np.arange(n))[:, None]
    )
    scores[:, np.triu(np.ones((m, n), dtype=bool), n - m + 1)] = -np.inf
    raised = np.exp(scores - scores.max(-1)[..., None])
    return np.einsum("hij,hjd->hid", raised / raised.sum(-1)[..., None], v)


def _attended_finitely(q: Array, k: Array, v: Array, slopes: Array) -> Array:
    back = _distances(q.shape[1], k.shape[1])
    scores = q @ k.transpose(0, 2, 1) / q.shape[-1] ** 0.5 - slopes.reshape(-1, 1, 1) * back
    scores = np.where(back < 0, -1e30, scores)
    raised = np.exp(scores - scores.max(axis=2, keepdims=True))
    return (raised @ v) / raised.sum(axis=2, keepdims=True)


ATTEND = Exercise(
    id=f"{CHAPTER}.attend",
    title="Attention that keeps and fades",
    step_of=WHOLE,
    adds="Your decoder gets its third door: ALiBi's bias, for queries that come after keys it has kept.",
    signature="attend(q: (heads, m, width), k: (heads, n, width), v: (heads, n, width), slopes: (heads,)) "
    "-> (heads, m, width)",
    points=2,
    minutes=12,
    difficulty=3,
    reference=lambda q, k, v, slopes: _attend(q, k, v, slopes),
    make_cases=_attend_cases,
    where_not_finite="Take the largest score of each row off before exp. And see that each query has at "
    "least one key: its own.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "Return a row for each query of each head: (heads, m, width).",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) <= args[2].max(axis=1, keepdims=True) + 1e-6).all()
                and (np.asarray(value) >= args[2].min(axis=1, keepdims=True) - 1e-6).all()
            ),
            "Each number is a weighted mean of one column of the values, and so lies between the smallest "
            "and the largest of it.",
        ),
        Property(
            lambda args, value: (
                args[0].shape[1] < args[1].shape[1]
                or bool(np.allclose(np.asarray(value)[:, 0], args[2][:, 0]))
            ),
            "Where nothing is kept, the first query sees only its own key: its row is the first value.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-mask",
            lambda q, k, v, slopes: _attend(
                q, k, v, slopes, hidden=lambda m, n: np.zeros((m, n), dtype=bool)
            ),
            "Queries see keys that come after them. These must get no weight.",
        ),
        Mistake(
            "mask-from-zero",
            lambda q, k, v, slopes: _attend(
                q, k, v, slopes, hidden=lambda m, n: np.arange(n) > np.arange(m)[:, None]
            ),
            "The mask takes the first query for position 0. The queries are the last m of the n places: the "
            "last one sees all keys.",
        ),
        Mistake(
            "bias-from-zero",
            lambda q, k, v, slopes: _attend(
                q, k, v, slopes, distances=lambda m, n: np.arange(m)[:, None] - np.arange(n)
            ),
            "The distances are counted as if the first query stood at position 0. The queries are the last m "
            "of the n places.",
        ),
        Mistake(
            "far-rewarded",
            lambda q, k, v, slopes: _attend(q, k, v, slopes, sign=1),
            "The bias rewards distance. It is a penalty: minus the slope times the distance.",
        ),
        Mistake(
            "no-bias",
            lambda q, k, v, slopes: _attend(q, k, v, 0 * slopes),
            "The slopes have no effect. Take the slope times the distance off each score.",
        ),
        Mistake(
            "bias-divided",
            lambda q, k, v, slopes: _attend(q, k, v, slopes, divide_all=True),
            "The bias was divided by the root of the width, too. Divide the products alone, then add the "
            "bias.",
        ),
        Mistake(
            "no-scale",
            lambda q, k, v, slopes: _attend(q, k, v, slopes, scale=1.0),
            "The products are not divided by the root of the width of a head.",
        ),
        Mistake(
            "width-without-root",
            lambda q, k, v, slopes: _attend(q, k, v, slopes, scale=1 / q.shape[-1]),
            "The products were divided by the width of a head. Divide by its root.",
        ),
        Mistake(
            "width-of-all-heads",
            lambda q, k, v, slopes: _attend(
                q, k, v, slopes, scale=1 / np.sqrt(q.shape[-1] * (1 + len(slopes)) - q.shape[-1])
            ),
            "The products were divided by the root of the width of all heads together. One head's counts.",
        ),
        Mistake(
            "slopes-turned-round",
            lambda q, k, v, slopes: _attend(q, k, v, slopes[::-1]),
            "The slopes went to the heads in the wrong order. Head 0 gets slope 0.",
        ),
        Mistake(
            "one-slope-for-all",
            lambda q, k, v, slopes: _attend(q, k, v, np.full_like(slopes, slopes[0])),
            "All heads have the slope of the first. Each has its own.",
        ),
    ),
    alternatives=(_attended_one_by_one, _attended_with_one_row, _attended_finitely),
    hints=(
        "Query i is at place n - m + i. How far back is key j?",
        "`np.arange(n - m, n)[:, None] - np.arange(n)` holds all distances; where it is negative, the key "
        "comes after the query.",
        "Scores, then the bias, then the mask, then a softmax over the keys, then the values.",
    ),
)


# --- look ------------------------------------------------------------------------------------------


def _look(
    x: Array,
    layer: Model,
    model: Model,
    past: Array,
    *,
    normed: str = "qk",
    turn_first: bool = False,
    turned: str = "qk",
    start: int | None = None,
    remember: bool = True,
    keep: str = "all",
    slopes: Callable[[int], Array] = _slopes,
    both_doors: bool = False,
    order: str = "qkv",
    columns: Callable[[Array], Array] = lambda found: found.swapaxes(0, 1).reshape(found.shape[1], -1),
    last: bool = True,
) -> tuple[Array, Array]:
    """Attention of one layer; what may be done differently has a name."""
    n, heads = len(x), model["heads"]
    rows = (x @ part.T for part in np.split(layer["qkv"], 3))
    parts = dict(zip(order, (each.reshape(n, heads, -1).swapaxes(0, 1) for each in rows), strict=True))
    rotates = model["encoding"] == "rope" or both_doors
    at = past.shape[2] if start is None else start

    def norm() -> None:
        for name in normed:
            parts[name] = _normed(parts[name], layer["norm_q" if name == "q" else "norm_k"])

    def turn() -> None:
        for name in turned if rotates else "":
            parts[name] = _turned(parts[name], at, model["base"])

    raw = np.stack([parts["k"], parts["v"]])
    for act in (turn, norm) if turn_first else (norm, turn):
        act()
    kept = np.stack([parts["k"], parts["v"]])
    seen = np.concatenate([past, kept], axis=2) if remember else kept
    fades = slopes(heads) if model["encoding"] == "alibi" or both_doors else np.zeros(heads)
    found = columns(_attend(parts["q"], seen[0], seen[1], fades))
    shown = {"all": seen, "new": kept, "raw": np.concatenate([past, raw], axis=2)}[keep]
    return (found @ layer["out"].T if last else found), shown


def _layer(rng: Generator, heads: int, width: int) -> dict[str, Array]:
    dim = heads * width
    return {
        "norm1": rng.uniform(0.5, 1.5, size=dim),
        "qkv": rng.normal(size=(3 * dim, dim)) / np.sqrt(dim),
        "norm_q": rng.uniform(0.5, 2.5, size=width),
        "norm_k": rng.uniform(0.5, 2.5, size=width),
        "out": rng.normal(size=(dim, dim)) / np.sqrt(dim),
        "norm2": rng.uniform(0.5, 1.5, size=dim),
        "widen": rng.normal(size=(4 * dim, dim)) / np.sqrt(dim),
        "narrow": rng.normal(size=(dim, 4 * dim)) / np.sqrt(4 * dim),
    }


def _settings(encoding: str, heads: int, base: float = 300.0) -> dict[str, Any]:
    return {"encoding": encoding, "heads": heads, "base": base}


def _nothing_kept(heads: int, width: int) -> Array:
    return np.zeros((2, heads, 0, width))


def _look_cases(rng: Generator) -> Iterator[Case]:
    for label, encoding, heads, width, kept, n in (
        ("RoPE, from the start", "rope", 2, 4, 0, 5),
        ("ALiBi, from the start", "alibi", 2, 4, 0, 5),
        ("RoPE, one new row after six", "rope", 2, 4, 6, 1),
        ("ALiBi, one new row after six", "alibi", 2, 4, 6, 1),
        ("RoPE, three new rows after four", "rope", 4, 2, 4, 3),
        ("ALiBi, three new rows after four", "alibi", 4, 2, 4, 3),
    ):
        past = rng.normal(size=(2, heads, kept, width))
        x = rng.normal(size=(n, heads * width))
        yield Case(label, (x, _layer(rng, heads, width), _settings(encoding, heads, 50.0), past))


def _looked_head_by_head(x: Array, layer: Model, model: Model, past: Array) -> tuple[Any, Any]:
    heads, width = past.shape[1], past.shape[3]
    q, k, v = np.split(x @ layer["qkv"].T, 3, axis=1)
    found, keys, values = [], [], []
    for h in range(heads):
        own = slice(h * width, (h + 1) * width)
        q_h, k_h = _normed(q[:, own], layer["norm_q"]), _normed(k[:, own], layer["norm_k"])
        if model["encoding"] == "rope":
            q_h, k_h = (_turned(each[None], past.shape[2], model["base"])[0] for each in (q_h, k_h))
        keys.append(np.concatenate([past[0, h], k_h]))
        values.append(np.concatenate([past[1, h], v[:, own]]))
        slope = 2.0 ** (-8 * (h + 1) / heads) if model["encoding"] == "alibi" else 0.0
        found.append(_attend(q_h[None], keys[h][None], values[h][None], np.array([slope]))[0])
    return np.concatenate(found, axis=1) @ layer["out"].T, [keys, values]


def _looked_by_einsum(x: Array, layer: Model, model: Model, past: Array) -> tuple[Array, Array]:
    heads, width = past.shape[1], past.shape[3]
    q, k, v = np.einsum("nd,phwd->phnw", x, layer["qkv"].reshape(3, heads, width, -1))
    q, k = _normed(q, layer["norm_q"]), _normed(k, layer["norm_k"])
    slopes = _slopes(heads)
    if model["encoding"] == "rope":
        q, k = (_turned_by_arrows(each, past.shape[2], model["base"]) for each in (q, k))
        slopes = 0 * slopes
    kept = np.concatenate([past, [k, v]], axis=2)
    found = _attended_finitely(q, kept[0], kept[1], slopes)
    return np.einsum("hnw,dhw->nd", found, layer["out"].reshape(-1, heads, width)), kept


LOOK = Exercise(
    id=f"{CHAPTER}.look",
    title="A layer looks",
    step_of=WHOLE,
    adds="Your decoder gets trained heads, with normed queries and keys, and a cache.",
    signature="look(x: (n, dim), layer: dict of arrays, model: dict, past: (2, heads, m, width)) "
    "-> (rows (n, dim), kept (2, heads, m + n, width))",
    points=3,
    minutes=18,
    difficulty=4,
    reference=lambda x, layer, model, past: _look(x, layer, model, past),
    make_cases=_look_cases,
    parts=("what the layer adds to the rows", "keys and values that are kept"),
    mistakes=(
        Mistake(
            "queries-and-keys-not-normed",
            lambda x, layer, model, past: _look(x, layer, model, past, normed=""),
            "Queries and keys were not brought to one size. Each row of a head goes through your normed, "
            "with the gains norm_q and norm_k.",
        ),
        Mistake(
            "queries-alone-normed",
            lambda x, layer, model, past: _look(x, layer, model, past, normed="q"),
            "Only the queries were normed. The keys have gains of their own, norm_k.",
        ),
        Mistake(
            "values-normed",
            lambda x, layer, model, past: _look(x, layer, model, past, normed="qkv"),
            "The values were normed too. They stay as they are.",
        ),
        Mistake(
            "turned-before-normed",
            lambda x, layer, model, past: _look(x, layer, model, past, turn_first=True),
            "Queries and keys turned first, and were normed then: the gains of the columns came after the "
            "turn. Norm first.",
        ),
        Mistake(
            "never-turned",
            lambda x, layer, model, past: _look(x, layer, model, past, turned=""),
            "Nothing turns where the model has RoPE. Queries and keys go through your turned.",
        ),
        Mistake(
            "values-turned",
            lambda x, layer, model, past: _look(x, layer, model, past, turned="qkv"),
            "The values turned too. RoPE turns queries and keys alone.",
        ),
        Mistake(
            "turned-from-zero",
            lambda x, layer, model, past: _look(x, layer, model, past, start=0),
            "New rows turn as if they stood at position 0. They come after what is kept: that is how many "
            "keys there are.",
        ),
        Mistake(
            "past-not-read",
            lambda x, layer, model, past: _look(x, layer, model, past, remember=False),
            "What is kept was not read. The new keys and values go behind the kept ones, and the queries see "
            "all of them.",
        ),
        Mistake(
            "new-ones-alone-kept",
            lambda x, layer, model, past: _look(x, layer, model, past, keep="new"),
            "Only the new keys and values are returned as kept. Put them behind the old ones: the next token "
            "needs all.",
        ),
        Mistake(
            "raw-keys-kept",
            lambda x, layer, model, past: _look(x, layer, model, past, keep="raw"),
            "The keys were kept as they came out of the product. Keep them as the queries saw them, normed "
            "and turned.",
        ),
        Mistake(
            "no-slopes",
            lambda x, layer, model, past: _look(x, layer, model, past, slopes=np.zeros),
            "Nothing fades where the model has ALiBi. Its heads have the slopes of chapter 7.",
        ),
        Mistake(
            "slopes-of-eight-heads",
            lambda x, layer, model, past: _look(
                x, layer, model, past, slopes=lambda heads: 2.0 ** -np.arange(1, heads + 1)
            ),
            "The slopes are 1/2, 1/4 and so on, as for eight heads. For a power of two they are 2 to the "
            "power of -8 h / heads, for h from 1.",
        ),
        Mistake(
            "both-doors",
            lambda x, layer, model, past: _look(x, layer, model, past, both_doors=True),
            "Every model both turns and fades. Which of the two it does stands in its encoding.",
        ),
        Mistake(
            "heads-not-joined",
            lambda x, layer, model, past: _look(
                x, layer, model, past, columns=lambda found: found.reshape(found.shape[1], -1)
            ),
            "The heads were joined without bringing the tokens to the front: rows of different tokens are "
            "mixed. Swap the first two axes before reshape.",
        ),
        Mistake(
            "without-out",
            lambda x, layer, model, past: _look(x, layer, model, past, last=False),
            "The last product is missing: what the heads found, side by side, goes through out.",
        ),
        Mistake(
            "keys-first",
            lambda x, layer, model, past: _look(x, layer, model, past, order="kqv"),
            "Queries and keys were exchanged. The first third of the rows of the matrix makes the queries.",
        ),
    ),
    alternatives=(
        _looked_head_by_head,
        _looked_by_einsum,
        lambda x, layer, model, past: list(_look(np.asarray(x, dtype=np.float64), dict(layer), model, past)),
    ),
    hints=(
        'Cut `layer["qkv"]` into three with `np.split`, multiply, and split each into heads as in chapter 3.',
        "Then norm queries and keys, and turn them if the model has RoPE. The new rows begin at position "
        "`past.shape[2]`.",
        "`np.concatenate([past, [k, v]], axis=2)` is what is kept, and what `attend` sees. Without ALiBi all "
        "slopes are 0.",
    ),
)


# --- decode ----------------------------------------------------------------------------------------


def _decode(
    tokens: Any,
    model: Model,
    past: Array,
    *,
    norms: str = "12e",
    adds: str = "lt",
    layer_of: Callable[[int], int] = lambda number: number,
    past_of: Callable[[int], int] = lambda number: number,
    thinks: bool = True,
    think_first: bool = False,
    side_by_side: bool = False,
    matrix: str = "head",
    layers: int | None = None,
) -> tuple[Array, Array]:
    """From tokens to scores; what may be done differently has a name."""
    x = model["embedding"][np.asarray(tokens)]
    kept = []
    for number in range(len(model["layers"]) if layers is None else layers):
        layer = model["layers"][layer_of(number)]

        def look(x: Array, layer: Model = layer, number: int = number) -> Array:
            rows = _normed(x, layer["norm1"]) if "1" in norms else x
            found, seen = _look(rows, layer, model, past[past_of(number)])
            kept.append(seen)
            return found + x if "l" in adds else found

        def think(x: Array, read: Array, layer: Model = layer) -> Array:
            rows = _normed(read, layer["norm2"]) if "2" in norms else read
            found = _think(rows, layer["widen"], layer["narrow"])
            return found + x if "t" in adds else found

        if side_by_side:
            x = think(look(x), x)
        elif think_first:
            x = look(think(x, x))
        else:
            x = look(x)
            x = think(x, x) if thinks else x
    x = _normed(x, model["norm"]) if "e" in norms else x
    return np.asarray(x @ model[matrix].T), np.stack(kept)


def _model(
    rng: Generator, encoding: str, heads: int = 2, width: int = 4, layers: int = 2, vocab: int = 11
) -> dict[str, Any]:
    dim = heads * width
    return _settings(encoding, heads, 50.0) | {
        "embedding": rng.normal(size=(vocab, dim)),
        "layers": [_layer(rng, heads, width) for _number in range(layers)],
        "norm": rng.uniform(0.5, 1.5, size=dim),
        "head": rng.normal(size=(vocab, dim)) / np.sqrt(dim),
    }


def _empty(model: Model) -> Array:
    layers, heads = len(model["layers"]), model["heads"]
    return np.zeros((layers, 2, heads, 0, model["embedding"].shape[1] // heads))


def _decode_cases(rng: Generator) -> Iterator[Case]:
    for label, encoding, layers, kept, n in (
        ("RoPE, three layers", "rope", 3, 0, 3),
        ("ALiBi, two layers", "alibi", 2, 0, 4),
        ("RoPE, one new token after three", "rope", 2, 3, 1),
        ("ALiBi, two new tokens after two", "alibi", 2, 2, 2),
    ):
        model = _model(rng, encoding, layers=layers)
        tokens = rng.integers(0, 11, size=kept + n)
        past = _empty(model)
        if kept:
            _, past = _decode(tokens[:kept], model, past)
        yield Case(label, (tokens[kept:], model, past))


def _decoded_one_by_one(tokens: Any, model: Model, past: Array) -> tuple[Any, Any]:
    rows = []
    for token in tokens:
        scores, past = _decode([token], model, past)
        rows.append(scores[0])
    return np.stack(rows), past


def _decoded_in_a_row(tokens: Any, model: Model, past: Array) -> tuple[Array, list[Array]]:
    x, kept = np.eye(len(model["embedding"]))[tokens] @ model["embedding"], []
    for layer, its_past in zip(model["layers"], past, strict=True):
        found, seen = _looked_by_einsum(_normed(x, layer["norm1"]), layer, model, its_past)
        kept.append(seen)
        x = x + found
        x = x + _think(_normed(x, layer["norm2"]), layer["widen"], layer["narrow"])
    return _normed(x, model["norm"]) @ model["head"].T, kept


DECODE = Exercise(
    id=f"{CHAPTER}.decode",
    title="From tokens to scores",
    step_of=WHOLE,
    adds="Your decoder is whole: tokens go in, and a score for each token that may come next comes out.",
    signature="decode(tokens: whole numbers (n,), model: dict, past: (layers, 2, heads, m, width)) "
    "-> (scores (n, vocab), kept (layers, 2, heads, m + n, width))",
    points=3,
    minutes=15,
    difficulty=3,
    reference=lambda tokens, model, past: _decode(tokens, model, past),
    make_cases=_decode_cases,
    parts=("the scores", "keys and values that are kept"),
    mistakes=(
        Mistake(
            "look-replaces",
            lambda tokens, model, past: _decode(tokens, model, past, adds="t"),
            "What look finds takes the place of the rows. It is added to them.",
        ),
        Mistake(
            "think-replaces",
            lambda tokens, model, past: _decode(tokens, model, past, adds="l"),
            "What think finds takes the place of the rows. It is added to them.",
        ),
        Mistake(
            "both-replace",
            lambda tokens, model, past: _decode(tokens, model, past, adds=""),
            "Each part takes the place of the rows that came in. What look and think find is added to them.",
        ),
        Mistake(
            "no-first-norm",
            lambda tokens, model, past: _decode(tokens, model, past, norms="2e"),
            "The rows were not normed before look. Each layer has the gains norm1 for that.",
        ),
        Mistake(
            "no-second-norm",
            lambda tokens, model, past: _decode(tokens, model, past, norms="1e"),
            "The rows were not normed before think. Each layer has the gains norm2 for that.",
        ),
        Mistake(
            "no-last-norm",
            lambda tokens, model, past: _decode(tokens, model, past, norms="12"),
            "The rows were not normed after the last layer. The model has the gains norm for that.",
        ),
        Mistake(
            "no-norms",
            lambda tokens, model, past: _decode(tokens, model, past, norms=""),
            "No norm is left: rows are normed before look, before think, and after the last layer.",
        ),
        Mistake(
            "first-layer-again",
            lambda tokens, model, past: _decode(tokens, model, past, layer_of=lambda number: 0),
            "All layers have the weights of the first. Each has weights of its own in layers.",
        ),
        Mistake(
            "last-layer-first",
            lambda tokens, model, past: _decode(
                tokens,
                model,
                past,
                layer_of=lambda number: len(model["layers"]) - 1 - number,
            ),
            "The layers came in the wrong order. Layer 0 reads the embeddings.",
        ),
        Mistake(
            "first-past-for-all",
            lambda tokens, model, past: _decode(tokens, model, past, past_of=lambda number: 0),
            "All layers read what the first one kept. Layer number i reads past[i].",
        ),
        Mistake(
            "no-think",
            lambda tokens, model, past: _decode(tokens, model, past, thinks=False),
            "The layers look and do not think: the wide layer is missing.",
        ),
        Mistake(
            "think-first",
            lambda tokens, model, past: _decode(tokens, model, past, think_first=True),
            "Each layer thinks before it has looked. First look, then think.",
        ),
        Mistake(
            "side-by-side",
            lambda tokens, model, past: _decode(tokens, model, past, side_by_side=True),
            "Your think reads the rows as they were before look. Some models do that; these weights were "
            "trained one after the other.",
        ),
        Mistake(
            "embedding-for-head",
            lambda tokens, model, past: _decode(tokens, model, past, matrix="embedding"),
            "The scores were made with the embedding. This model has a matrix of its own for that: head.",
        ),
    ),
    alternatives=(
        _decoded_one_by_one,
        _decoded_in_a_row,
        lambda tokens, model, past: tuple(each.tolist() for each in _decode(list(tokens), model, past)),
    ),
    hints=(
        'Begin with `x = model["embedding"][tokens]`. For each layer: norm, look, add; norm, think, add.',
        "Layer number i reads `past[i]`, and what it keeps goes into a list. `np.stack` makes one array.",
        'After the last layer: `normed(x, model["norm"])`, times `model["head"].T`.',
    ),
)


# --- write -----------------------------------------------------------------------------------------


def _chosen(row: Array, draw: float, temperature: float) -> int:
    raised = np.exp((row - row.max()) / temperature)
    return min(int((np.cumsum(raised / raised.sum()) <= draw).sum()), len(row) - 1)


def _write(
    tokens: Any,
    draws: Array,
    model: Model,
    temperature: float,
    *,
    heat: Callable[[float], float] = lambda temperature: temperature,
    choose: Callable[[Array, float, float], int] = _chosen,
    row: int = -1,
    forget: bool = False,
    read_again: bool = False,
    grow: bool = True,
) -> Array:
    """Token after token; what may be done differently has a name."""
    new, past, text = np.asarray(tokens), _empty(model), []
    for draw in draws:
        scores, kept = _decode(new, model, past)
        past = _empty(model) if forget else kept
        text.append(choose(scores[row], float(draw), heat(temperature)))
        if read_again:
            new = np.concatenate([tokens, text])
        elif grow:
            new = np.asarray(text[-1:])
    return np.asarray(text)


def _write_cases(rng: Generator) -> Iterator[Case]:
    for label, encoding, layers, n, steps, temperature in (
        ("RoPE, warm", "rope", 1, 3, 5, 1.5),
        ("ALiBi, warm", "alibi", 1, 3, 5, 1.5),
        ("RoPE, cool, two layers", "rope", 2, 5, 4, 0.6),
        ("one token to begin with", "alibi", 1, 1, 5, 0.8),
        ("one token more", "alibi", 2, 5, 1, 1.0),
    ):
        tokens, draws = rng.integers(0, 11, size=n), rng.random(steps)
        yield Case(label, (tokens, draws, _model(rng, encoding, layers=layers), temperature))


def _written_by_the_whole(tokens: Any, draws: Array, model: Model, temperature: float) -> list[int]:
    """Without a cache: the whole text is read again for each token."""
    text = [int(each) for each in tokens]
    for draw in draws:
        scores, _ = _decoded_in_a_row(np.asarray(text), model, _empty(model))
        shares = np.exp(scores[-1] / temperature)
        text.append(int(np.searchsorted(np.cumsum(shares) / shares.sum(), draw, side="right")))
    return text[len(tokens) :]


def _written_in_a_loop(tokens: Any, draws: Array, model: Model, temperature: float) -> list[int]:
    scores, past = _decode(tokens, model, _empty(model))
    text: list[int] = []
    for draw in draws.tolist():
        if text:
            scores, past = _decode([text[-1]], model, past)
        row = scores[-1] / temperature
        shares = np.exp(row - row.max())
        left = draw * shares.sum()
        text.append(0)
        while (left := left - shares[text[-1]]) >= 0:
            text[-1] += 1
    return text


PROMPT = """\
class Timer:
    def __init__(self, name):
        self.name = name

    def \
"""
"""What the trained models are given to continue. It is in no file that they have read."""
WRITTEN = 72
"""Bytes: a page waits for them, on a slow telephone too."""


def _let_it_write(write: Callable[..., Any]) -> str:
    """What a learner's `write` makes of the trained weights."""
    parts = [_("Your decoder loads the trained weights, reads the beginning of a class, and goes on:")]
    for name, title in zip(COURSE, (_("with your RoPE"), _("with your ALiBi")), strict=True):
        draws = np.random.default_rng(0).random(WRITTEN)
        new = write(
            np.frombuffer(PROMPT.encode(), dtype=np.uint8).astype(int), draws, trained_model(name), 0.6
        )
        written = bytes(np.asarray(new).astype(np.uint8).tolist()).decode("latin-1")
        parts.append(f"—— {title} ——\n{PROMPT}{written}")
    return "\n\n".join(parts)


WRITE = Exercise(
    id=f"{CHAPTER}.write",
    title="Write",
    step_of=WHOLE,
    adds="Your decoder writes, with trained weights, your own RoPE and your own ALiBi.",
    signature="write(tokens: whole numbers (n,), draws: (steps,) from 0 to 1, model: dict, "
    "temperature: float) -> whole numbers (steps,)",
    points=3,
    minutes=15,
    difficulty=3,
    reference=lambda tokens, draws, model, temperature: _write(tokens, draws, model, temperature),
    make_cases=_write_cases,
    afterwards=_let_it_write,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[1]),
            "Return the new tokens alone, one for each draw.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) >= 0).all() and (np.asarray(value) < len(args[2]["head"])).all()
            ),
            "A token is a whole number from 0, below the number of rows of head.",
        ),
    ),
    mistakes=(
        Mistake(
            "the-likeliest",
            lambda tokens, draws, model, temperature: _write(
                tokens, draws, model, temperature, choose=lambda row, draw, heat: int(row.argmax())
            ),
            "The likeliest token is written each time, and the draws have no effect. A draw chooses: the "
            "first token at which the sum of the shares goes above it.",
        ),
        Mistake(
            "temperature-forgotten",
            lambda tokens, draws, model, temperature: _write(
                tokens, draws, model, temperature, heat=lambda temperature: 1.0
            ),
            "The temperature has no effect. Divide the scores by it before the softmax.",
        ),
        Mistake(
            "temperature-multiplied",
            lambda tokens, draws, model, temperature: _write(
                tokens, draws, model, temperature, heat=lambda temperature: 1 / temperature
            ),
            "The scores were multiplied by the temperature, so that warm is cold. Divide by it.",
        ),
        Mistake(
            "first-row",
            lambda tokens, draws, model, temperature: _write(tokens, draws, model, temperature, row=0),
            "The scores of the first row were read. What comes next is told by the last row.",
        ),
        Mistake(
            "past-forgotten",
            lambda tokens, draws, model, temperature: _write(tokens, draws, model, temperature, forget=True),
            "Each new token is read without what came before it. Give decode what it kept the last time.",
        ),
        Mistake(
            "text-read-twice",
            lambda tokens, draws, model, temperature: _write(
                tokens, draws, model, temperature, read_again=True
            ),
            "The whole text is read again each time, behind what is kept of it already. With what is kept, "
            "read the new token alone.",
        ),
        Mistake(
            "what-is-written-is-not-read",
            lambda tokens, draws, model, temperature: _write(tokens, draws, model, temperature, grow=False),
            "What is written is never read. The next call of decode gets the token that was chosen.",
        ),
        Mistake(
            "one-too-low",
            lambda tokens, draws, model, temperature: _write(
                tokens,
                draws,
                model,
                temperature,
                choose=lambda row, draw, heat: max(_chosen(row, draw, heat) - 1, 0),
            ),
            "Each token is one too low. It is the first at which the sum, its own share included, is above "
            "the draw.",
        ),
        Mistake(
            "one-too-high",
            lambda tokens, draws, model, temperature: _write(
                tokens,
                draws,
                model,
                temperature,
                choose=lambda row, draw, heat: min(_chosen(row, draw, heat) + 1, len(row) - 1),
            ),
            "Each token is one too high. It is the first at which the sum, its own share included, is above "
            "the draw.",
        ),
        Mistake(
            "from-the-other-end",
            lambda tokens, draws, model, temperature: _write(
                tokens,
                draws,
                model,
                temperature,
                choose=lambda row, draw, heat: len(row) - 1 - _chosen(row[::-1], draw, heat),
            ),
            "The shares were added up from the last token on. Begin with token 0.",
        ),
        Mistake(
            "likeliest-first",
            lambda tokens, draws, model, temperature: _write(
                tokens,
                draws,
                model,
                temperature,
                choose=lambda row, draw, heat: int(np.argsort(-row)[_chosen(np.sort(row)[::-1], draw, heat)]),
            ),
            "The shares were sorted before they were added up. Add them in the order of the tokens, from 0.",
        ),
        Mistake(
            "text-given-back-too",
            lambda tokens, draws, model, temperature: np.concatenate(
                [tokens, _write(tokens, draws, model, temperature)]
            ),
            "The text that was given is returned too. Return the new tokens alone.",
        ),
    ),
    alternatives=(
        lambda tokens, draws, model, temperature: _written_by_the_whole(tokens, draws, model, temperature),
        lambda tokens, draws, model, temperature: _written_in_a_loop(tokens, draws, model, temperature),
        lambda tokens, draws, model, temperature: _write(tokens, draws, model, temperature).tolist(),
    ),
    hints=(
        "The cache begins empty: `np.zeros((layers, 2, heads, 0, width))`, with `width` the columns of one "
        "head.",
        "The last row of the scores, divided by the temperature, goes through a softmax. `np.cumsum` adds "
        "the shares up.",
        "First `decode` reads all tokens. From then on it reads the one that was just written, together with "
        "what is kept.",
    ),
)

STEPS = (NORMED, THINK, TURNED, ATTEND, LOOK, DECODE, WRITE)
