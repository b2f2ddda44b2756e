"""The task and the model of the capstone: trained on texts of 32 steps, tested on 128, in NumPy alone.

There are boxes with cards on top of each other. At each step somebody names a box and puts one more card
into it, and the model is to say which card was the top one before. A model that sees the steps as a bag
finds all cards of that box, and not the last of them.

An encoding comes as plain tables, one for each length. It never sees a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from posenc_lib._arrays import Array

BOXES, CARDS, DIM, HEADS = 32, 16, 32, 2
HEAD_DIM = DIM // HEADS
TRAINED, TESTED = 32, 128
"""Steps of a text."""
STEPS_A_BOX = (8, 16)
"""At the least and at the most: how far back a box was used last grows with the length of the text."""
STEPS, ROWS, RATE = 400, 32, 0.04
"""Of the training: how many times it is corrected, on how many texts each time, by how much at first."""
TEST_ROWS = 64
FALLING = 0.6
"""Share of the training in which the rate falls."""
MOMENTUM, BETAS, TINY = 0.95, (0.9, 0.95), 1e-8
EPSILON = 1e-6

Tables = Mapping[str, Array]
"""By door, for texts of n steps: "added" (n, DIM), "rotated" (n, HEAD_DIM / 2), "biased" (HEADS, n, n).

A door that is shut has no table."""
Weights = dict[str, Array]
MATRICES = ("query", "key", "value", "out")


class Texts(NamedTuple):
    """All (rows, length)."""

    boxes: Array
    cards: Array
    before: Array
    """The card that lay on top of this box before this step."""
    known: Array
    """Whether there was one."""


def draw(rng: np.random.Generator, rows: int, length: int) -> Texts:
    """Texts, each of its own boxes; with `STEPS_A_BOX`, 2 to 4 boxes in 32 steps and 8 to 16 in 128."""
    least, most = STEPS_A_BOX
    count = rng.integers(length // most, length // least + 1, size=(rows, 1))
    names = rng.random((rows, BOXES)).argsort(axis=1)
    boxes = np.take_along_axis(names, (rng.random((rows, length)) * count).astype(int), axis=1)
    cards = rng.integers(CARDS, size=(rows, length))
    same = (boxes[:, :, None] == boxes[:, None, :]) & np.tri(length, k=-1, dtype=bool)
    last = np.where(same, np.arange(length), -1).max(axis=-1)
    return Texts(boxes, cards, np.take_along_axis(cards, np.maximum(last, 0), axis=1), last >= 0)


class Model:
    """One layer of attention, with the doors open as the tables say. Forward keeps what backward needs."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.weights: Weights = {
            "boxes": rng.normal(size=(BOXES, DIM)),
            "cards": rng.normal(size=(CARDS, DIM)),
            **{name: rng.normal(size=(DIM, DIM)) * DIM**-0.5 for name in MATRICES},
            "query_shift": rng.normal(size=DIM) / 2,
            "key_shift": rng.normal(size=DIM) / 2,
            "head": rng.normal(size=(CARDS, DIM)) * 0.02,
        }

    def forward(self, texts: Texts, tables: Tables) -> Array:
        """The scores of each card, (rows, length, CARDS)."""
        w = self.weights
        self.x = w["boxes"][texts.boxes] + w["cards"][texts.cards] + tables.get("added", 0.0)
        self.normed = _normed(self.x)
        self.q = _turned(_by_head(self.normed @ w["query"] + w["query_shift"]), tables, 1)
        self.k = _turned(_by_head(self.normed @ w["key"] + w["key_shift"]), tables, 1)
        self.v = _by_head(self.normed @ w["value"])
        scores = self.q @ self.k.swapaxes(-1, -2) * HEAD_DIM**-0.5 + tables.get("biased", 0.0)
        scores[..., ~np.tri(scores.shape[-1], dtype=bool)] = -np.inf
        self.attended = _softmax(scores)
        self.found = _together(self.attended @ self.v)
        self.y = self.x + self.found @ w["out"]
        out: Array = _normed(self.y) @ w["head"].T * DIM**-0.5
        return out

    def gradients(self, texts: Texts, tables: Tables) -> Weights:
        """Of the mean loss of the cards that can be known."""
        w = self.weights
        d_scores = _softmax(self.forward(texts, tables))
        d_scores -= texts.before[..., None] == np.arange(CARDS)
        d_scores *= texts.known[..., None] / texts.known.sum() * DIM**-0.5
        d_y = _d_norm(self.y, d_scores @ w["head"])
        d_found = _by_head(d_y @ w["out"].T)
        d_attended = d_found @ self.v.swapaxes(-1, -2)
        d_attended -= (d_attended * self.attended).sum(axis=-1, keepdims=True)
        d_logits = self.attended * d_attended * HEAD_DIM**-0.5
        d_q = _together(_turned(d_logits @ self.k, tables, -1))
        d_k = _together(_turned(d_logits.swapaxes(-1, -2) @ self.q, tables, -1))
        d_v = _together(self.attended.swapaxes(-1, -2) @ d_found)
        d_normed = d_q @ w["query"].T + d_k @ w["key"].T + d_v @ w["value"].T
        d_x = d_y + _d_norm(self.x, d_normed)
        return {
            "boxes": _summed(d_x, texts.boxes, BOXES),
            "cards": _summed(d_x, texts.cards, CARDS),
            "query": _outer(self.normed, d_q),
            "key": _outer(self.normed, d_k),
            "value": _outer(self.normed, d_v),
            "out": _outer(self.found, d_y),
            "query_shift": d_q.sum(axis=(0, 1)),
            "key_shift": d_k.sum(axis=(0, 1)),
            "head": _outer(d_scores, _normed(self.y)),
        }

    def train(self, rng: np.random.Generator, tables: Tables, steps: int) -> None:
        """Muon for the matrices, Adam for all the rest; the rate is level, then falls to zero."""
        first = {name: np.zeros_like(each) for name, each in self.weights.items()}
        second = {name: np.zeros_like(each) for name, each in self.weights.items()}
        for step in range(steps):
            rate = RATE * min(1.0, (1 - step / steps) / FALLING)
            for name, gradient in self.gradients(draw(rng, ROWS, TRAINED), tables).items():
                weight, mean, square = self.weights[name], first[name], second[name]
                if name in MATRICES:
                    mean += (1 - MOMENTUM) * (gradient - mean)
                    weight -= rate * _orthogonal(gradient + MOMENTUM * (mean - gradient))
                else:
                    mean += (1 - BETAS[0]) * (gradient - mean)
                    square += (1 - BETAS[1]) * (gradient**2 - square)
                    size = np.sqrt(square / (1 - BETAS[1] ** (step + 1))) + TINY
                    weight -= rate * mean / (1 - BETAS[0] ** (step + 1)) / size

    def accuracy(self, texts: Texts, tables: Tables) -> float:
        """The share of cards right that can be known."""
        right = self.forward(texts, tables).argmax(axis=-1) == texts.before
        return float(right[texts.known].mean())


def accuracies(trained: Tables, tested: Tables, seed: int, steps: int = STEPS) -> tuple[float, float]:
    """Train one model with the tables of texts of `TRAINED` steps: its accuracy there, and at `TESTED`.

    The same seed and tables give the same numbers: matrices are multiplied text by text, each too small to be
    shared between threads.
    """
    rng = np.random.default_rng(seed)
    model = Model(rng)
    model.train(rng, _with_waves(trained), steps)
    of_test = np.random.default_rng((seed, TESTED))
    return (
        model.accuracy(draw(of_test, TEST_ROWS, TRAINED), _with_waves(trained)),
        model.accuracy(draw(of_test, TEST_ROWS, TESTED), _with_waves(tested)),
    )


def _with_waves(tables: Tables) -> Tables:
    if "rotated" not in tables:
        return tables
    return {**tables, "cos": np.cos(tables["rotated"]), "sin": np.sin(tables["rotated"])}


def _turned(x: Array, tables: Tables, sign: int) -> Array:
    """Each pair of columns turned by its angle, or back where the sign is -1."""
    if "rotated" not in tables:
        return x
    cos, sin = tables["cos"], sign * tables["sin"]
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


def _normed(x: Array) -> Array:
    out: Array = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON)
    return out


def _d_norm(x: Array, d_out: Array) -> Array:
    """From the gradient of `_normed(x)` to that of x."""
    size = np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON)
    y = x / size
    out: Array = (d_out - y * (d_out * y).mean(axis=-1, keepdims=True)) / size
    return out


def _softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    out: Array = powers / powers.sum(axis=-1, keepdims=True)
    return out


def _by_head(x: Array) -> Array:
    """(rows, length, DIM) to (rows, HEADS, length, HEAD_DIM)."""
    return x.reshape(*x.shape[:2], HEADS, HEAD_DIM).swapaxes(1, 2)


def _together(x: Array) -> Array:
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], DIM)


def _outer(x: Array, d: Array) -> Array:
    """The gradient of a matrix, summed over the texts."""
    out: Array = (x.swapaxes(-1, -2) @ d).sum(axis=0)
    return out


def _summed(d_x: Array, names: Array, count: int) -> Array:
    """The gradient of a table of `count` rows that was read at these names."""
    out: Array = ((names[..., None] == np.arange(count)).swapaxes(-1, -2) @ d_x).sum(axis=0)
    return out


def _orthogonal(matrix: Array) -> Array:
    """About U V^T of a matrix U S V^T: five steps of Newton and Schulz, as Muon takes them."""
    x = matrix / (np.linalg.norm(matrix) + TINY)
    for _ in range(5):
        square = x @ x.T
        x = 3.4445 * x + (2.0315 * square @ square - 4.7750 * square) @ x
    return x
