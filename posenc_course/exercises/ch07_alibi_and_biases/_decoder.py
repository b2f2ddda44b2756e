"""What the steps of the decoder that writes share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from posenc_lib._arrays import Array

WHOLE = "A trained decoder, of your own functions"


Generator = np.random.Generator


Model = Mapping[str, Any]


SMALL = 2.0**-23
"""Added to a mean of squares, so that a row of zeros is not divided by 0."""


def _normed(x: Array, gain: Array) -> Array:
    return np.asarray(x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + SMALL) * gain)


def _think(x: Array, widen: Array, narrow: Array) -> Array:
    return np.asarray(np.maximum(x @ widen.T, 0) ** 2 @ narrow.T)


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


def turned_by_arrows(x: Array, start: int, base: float) -> Array:
    n, width = x.shape[-2:]
    arrows = x[..., 0::2] + 1j * x[..., 1::2]
    steps = np.exp(1j * np.outer(np.arange(start, start + n), base ** (-np.arange(0, width, 2) / width)))
    moved = arrows * steps
    return np.stack([moved.real, moved.imag], axis=-1).reshape(x.shape)


def _distances(queries: int, keys: int) -> Array:
    return keys - queries + np.arange(queries)[:, None] - np.arange(keys)


def attend(
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


def attended_finitely(q: Array, k: Array, v: Array, slopes: Array) -> Array:
    back = _distances(q.shape[1], k.shape[1])
    scores = q @ k.transpose(0, 2, 1) / q.shape[-1] ** 0.5 - slopes.reshape(-1, 1, 1) * back
    scores = np.where(back < 0, -1e30, scores)
    raised = np.exp(scores - scores.max(axis=2, keepdims=True))
    return (raised @ v) / raised.sum(axis=2, keepdims=True)


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
    split: Callable[[Array, int], Array] = lambda rows, heads: rows.reshape(len(rows), heads, -1).swapaxes(
        0, 1
    ),
    columns: Callable[[Array], Array] = lambda found: found.swapaxes(0, 1).reshape(found.shape[1], -1),
    last: bool = True,
) -> tuple[Array, Array]:
    """Attention of one layer; what may be done differently has a name."""
    heads = model["heads"]
    rows = (x @ part.T for part in np.split(layer["qkv"], 3))
    parts = dict(zip(order, (split(each, heads) for each in rows), strict=True))
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
    found = columns(attend(parts["q"], seen[0], seen[1], fades))
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


def settings(encoding: str, heads: int, base: float = 300.0) -> dict[str, Any]:
    return {"encoding": encoding, "heads": heads, "base": base}


def looked_by_einsum(x: Array, layer: Model, model: Model, past: Array) -> tuple[Array, Array]:
    heads, width = past.shape[1], past.shape[3]
    q, k, v = np.einsum("nd,phwd->phnw", x, layer["qkv"].reshape(3, heads, width, -1))
    q, k = _normed(q, layer["norm_q"]), _normed(k, layer["norm_k"])
    slopes = _slopes(heads)
    if model["encoding"] == "rope":
        q, k = (turned_by_arrows(each, past.shape[2], model["base"]) for each in (q, k))
        slopes = 0 * slopes
    kept = np.concatenate([past, [k, v]], axis=2)
    found = attended_finitely(q, kept[0], kept[1], slopes)
    return np.einsum("hnw,dhw->nd", found, layer["out"].reshape(-1, heads, width)), kept


def decode(
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
    onto_normed: bool = False,
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
            return found + (rows if onto_normed else x) if "l" in adds else found

        def think(x: Array, read: Array, layer: Model = layer) -> Array:
            rows = _normed(read, layer["norm2"]) if "2" in norms else read
            found = _think(rows, layer["widen"], layer["narrow"])
            return found + (rows if onto_normed else x) if "t" in adds else found

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
    return settings(encoding, heads, 50.0) | {
        "embedding": rng.normal(size=(vocab, dim)),
        "layers": [_layer(rng, heads, width) for _number in range(layers)],
        "norm": rng.uniform(0.5, 1.5, size=dim),
        "head": rng.normal(size=(vocab, dim)) / np.sqrt(dim),
    }


def empty(model: Model) -> Array:
    layers, heads = len(model["layers"]), model["heads"]
    return np.zeros((layers, 2, heads, 0, model["embedding"].shape[1] // heads))


def decoded_in_a_row(tokens: Any, model: Model, past: Array) -> tuple[Array, list[Array]]:
    x, kept = np.eye(len(model["embedding"]))[tokens] @ model["embedding"], []
    for layer, its_past in zip(model["layers"], past, strict=True):
        found, seen = looked_by_einsum(_normed(x, layer["norm1"]), layer, model, its_past)
        kept.append(seen)
        x = x + found
        x = x + _think(_normed(x, layer["norm2"]), layer["widen"], layer["narrow"])
    return _normed(x, model["norm"]) @ model["head"].T, kept
