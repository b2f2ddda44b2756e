"""What several exercises of `07-alibi-and-biases` share."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from posenc_lib._arrays import Array

Generator = np.random.Generator


def _gap(queries: Array, keys: Array) -> Array:
    """key - query, (queries, keys)."""
    return np.asarray(keys)[None, :] - np.asarray(queries)[:, None]


def softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


XL = "A score of Transformer-XL"


T5 = "T5's buckets"


ALIBI = "Your decoder gets ALiBi"


def late(queries: int, keys: int) -> Array:
    """key - query, where the last query stands at the last key."""
    return _gap(np.arange(keys - queries, keys), np.arange(keys))


FIRE = "FIRE, from its formula"


def shares_by_loops(queries: int, keys: int, c: float, threshold: float) -> list[list[float]]:
    rows = []
    for i in range(keys - queries, keys):
        reach = math.log1p(c * max(threshold, i))
        rows.append([math.log1p(c * (i - j)) / reach if j <= i else 0.0 for j in range(keys)])
    return rows


def shares_by_base(queries: int, keys: int, c: float, threshold: float) -> Array:
    """A quotient of two logarithms is one logarithm, to another base; and clipped in place of masked."""
    here = np.arange(keys - queries, keys)[:, None]
    gone = np.clip(here - np.arange(keys), 0, None)
    return np.asarray(np.log2(1 + c * gone) / np.log2(1 + c * np.where(here > threshold, here, threshold)))


def shares_by_rows(queries: int, keys: int, c: float, threshold: float) -> Array:
    """Row i is the psi of i, i - 1, ... 0, divided by one number."""
    psi = np.log(1 + c * np.arange(keys))
    shares = np.zeros((queries, keys))
    for row, i in zip(shares, range(keys - queries, keys), strict=True):
        row[: i + 1] = psi[: i + 1][::-1] / np.log(1 + c * max(i, threshold))
    return shares


COPE = "CoPE, from its gates"


def sigmoid(x: Array) -> Array:
    return np.asarray(0.5 * (np.tanh(0.5 * x) + 1.0))


def cope_gates(
    q: Array, k: Array, *, root: bool = True, gate: Callable[[Array], Array] = sigmoid, causal: bool = True
) -> Array:
    gates = gate(q @ k.T / (math.sqrt(q.shape[1]) if root else 1))
    return np.tril(gates) if causal else gates


def from_the_right(gates: Array) -> Array:
    return np.asarray(np.cumsum(gates[:, ::-1], axis=1)[:, ::-1])


def right_counts(q: Array, k: Array) -> Array:
    return np.tril(from_the_right(cope_gates(q, k)))


def counts_by_loops(q: Array, k: Array) -> Array:
    n = len(q)
    counts = np.zeros((n, n))
    for i in range(n):
        total = 0.0
        for j in range(i, -1, -1):
            total += 1 / (1 + math.exp(-float(q[i] @ k[j]) / math.sqrt(q.shape[1])))
            counts[i, j] = total
    return counts


def counts_by_product(q: Array, k: Array) -> Array:
    """A sum over t from j on is a product with a triangle of ones."""
    return np.tril(cope_gates(q, k) @ np.tri(len(q)))


def counts_by_difference(q: Array, k: Array) -> Array:
    """The whole row, less what stands before key j."""
    gates = cope_gates(q, k)
    return np.tril(gates.sum(axis=1, keepdims=True) - np.cumsum(gates, axis=1) + gates)
