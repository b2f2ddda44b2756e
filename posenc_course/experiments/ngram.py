"""An interpolated n-gram over bytes: what counting alone knows of a text. A network has to do better."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BYTES = 256
LONGEST = 8
"""An n-gram is one 64-bit number, a byte in each eight bits: the counts are exact, nothing is hashed."""

Numbers = NDArray[np.uint64]
Reals = NDArray[np.float64]


class _Counts(NamedTuple):
    """What one order has counted. Keys are sorted."""

    grams: Numbers
    times: NDArray[np.int64]
    contexts: Numbers
    followed: NDArray[np.int64]
    """How often each context was followed by a byte, c(h)."""
    kinds: NDArray[np.int64]
    """By how many different bytes, T(h)."""


class NGram:
    """Witten-Bell: each order is mixed with the next shorter one, by how many bytes may follow the context.

        P(b | h) = (c(hb) + T(h) P(b | h')) / (c(h) + T(h))

    c counts, T(h) is how many different bytes came after h, and h' is h without its first byte. Below the
    empty context lies 1/256 for every byte. A context never seen says nothing: P(b | h) = P(b | h').

    Args:
        text: what to count.
        n: the longest n-gram, 1 to 8: n - 1 bytes of context.

    Raises:
        ValueError: n out of range.

    Source: Witten and Bell 1991; interpolated as in Chen and Goodman 1999, section 2.5.
    """

    def __init__(self, text: bytes, n: int) -> None:
        if not 1 <= n <= LONGEST:
            raise ValueError(f"n={n}; give 1 to {LONGEST}")
        self.n = n
        self._orders = [_count(_grams(text, k)) for k in range(1, n + 1)]

    def losses(self, text: bytes) -> Reals:
        """-ln P of each byte after those before it, nats; the first ones have as much context as there is."""
        p: Reals = np.full(len(text), 1 / BYTES)
        for k in range(1, self.n + 1):
            p[k - 1 :] = self._mixed(k, _grams(text, k), p[k - 1 :])
        losses: Reals = -np.log(p)
        return losses

    def after(self, context: bytes) -> Reals:
        """(256,): the probability of each byte after a context."""
        p = np.full(BYTES, 1 / BYTES)
        every = np.arange(BYTES, dtype=np.uint64)
        for k in range(1, min(self.n, len(context) + 1) + 1):
            before = int.from_bytes(context[len(context) - k + 1 :], "big")
            p = self._mixed(k, every + np.uint64(before << 8), p)
        return p

    def _mixed(self, k: int, grams: Numbers, shorter: Reals) -> Reals:
        """P of the last byte of each k-gram, from that by the shorter context."""
        counts = self._orders[k - 1]
        contexts = grams >> np.uint64(8)
        kinds = _look_up(counts.contexts, counts.kinds, contexts)
        followed = _look_up(counts.contexts, counts.followed, contexts)
        times = _look_up(counts.grams, counts.times, grams)
        mixed: Reals = (times + kinds * shorter) / np.maximum(followed + kinds, 1)
        return np.where(kinds > 0, mixed, shorter)


def _grams(text: bytes, k: int) -> Numbers:
    """All k-grams of a text in order, each as one number."""
    symbols = np.frombuffer(text, dtype=np.uint8)
    count = max(0, len(symbols) - k + 1)
    grams = np.zeros(count, dtype=np.uint64)
    for offset in range(k):
        grams = (grams << np.uint64(8)) | symbols[offset : offset + count]
    return grams


def _count(grams: Numbers) -> _Counts:
    kept, times = np.unique(grams, return_counts=True)
    contexts, first, kinds = np.unique(kept >> np.uint64(8), return_index=True, return_counts=True)
    followed = np.add.reduceat(times, first) if len(first) else times
    return _Counts(kept, times, contexts, followed, kinds)


def _look_up(keys: Numbers, values: NDArray[np.int64], wanted: Numbers) -> NDArray[np.int64]:
    """The value of each wanted key, 0 where it is not among the sorted keys."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], 0)
