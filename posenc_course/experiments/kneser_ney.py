"""Modified Kneser-Ney: the strongest of the simple ways to count bytes. A network has to do better.

Two ideas above plain counting. A rare continuation is taken at less than its count (a discount), and what
that leaves goes to the next shorter context. And a shorter context is asked only where the longer one failed,
so there it counts not how often a byte came, but after how many different contexts.

Source: Chen and Goodman 1999, "An empirical study of smoothing techniques for language modeling", section 3
(modified Kneser-Ney, interpolated); Kneser and Ney 1995.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint64]
Reals = NDArray[np.float64]
Discounts = tuple[float, float, float]
"""What is taken off a count of 1, of 2, and of 3 or more."""

BYTES = 256
LONGEST = 8
"""An n-gram is one 64-bit number, a byte in each eight bits: the counts are exact, nothing is hashed."""


class _Seen(NamedTuple):
    """What one order knows of each byte of a text that is read: arrays, one entry a byte."""

    kind: NDArray[np.int64]
    """0, 1, 2 or 3: the count of the n-gram, 3 for more."""
    times: Reals
    followed: Reals
    """The sum of the counts that begin with this context; 0 where it never came."""
    kinds: NDArray[np.int64]
    """(3, bytes): how many n-grams with this context have the count 1, 2, 3 or more."""

    def mixed(self, discounts: Discounts, shorter: Reals) -> Reals:
        """P of each byte, from that by the shorter context: Chen and Goodman, equations 25 and 26."""
        off = np.array([0.0, *discounts])[self.kind]
        left = np.asarray(discounts) @ self.kinds
        mixed: Reals = (np.maximum(self.times - off, 0) + left * shorter) / np.maximum(self.followed, 1)
        return np.where(self.followed > 0, mixed, shorter)


@dataclass(frozen=True)
class _Order:
    """The counts of one order. Keys are sorted."""

    grams: Numbers
    counts: NDArray[np.int64]
    contexts: Numbers
    followed: NDArray[np.int64]
    kinds: NDArray[np.int64]
    """(3, contexts)"""

    @staticmethod
    def of(grams: Numbers, counts: NDArray[np.int64]) -> _Order:
        contexts, first = np.unique(grams >> np.uint64(8), return_index=True)
        kinds = [
            np.add.reduceat(which.astype(np.int64), first)
            for which in (counts == 1, counts == 2, counts >= 3)
        ]
        return _Order(grams, counts, contexts, np.add.reduceat(counts, first), np.stack(kinds))

    def discounts(self) -> Discounts:
        """From how many n-grams were counted once, twice, three and four times: equation 17."""
        n1, n2, n3, n4 = (max(1, int((self.counts == times).sum())) for times in (1, 2, 3, 4))
        y = n1 / (n1 + 2 * n2)
        found = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
        return _in_range(found)

    def seen(self, grams: Numbers) -> _Seen:
        count = _look_up(self.grams, self.counts, grams)
        contexts = grams >> np.uint64(8)
        kinds = np.stack([_look_up(self.contexts, each, contexts) for each in self.kinds])
        followed = _look_up(self.contexts, self.followed, contexts)
        return _Seen(np.minimum(count, 3), count.astype(float), followed.astype(float), kinds)


class KneserNey:
    """All orders up to the longest, counted once.

        P(b | h) = (c(hb) - D(c(hb)) + (D1 N1(h) + D2 N2(h) + D3 N3(h)) P(b | h')) / c(h)

    At the longest order c counts how often an n-gram came; below it, after how many different bytes. N1, N2
    and N3 are how many n-grams that begin with h have the count 1, 2, and 3 or more; h' is h without its
    first byte. Below the empty context lies 1/256 for every byte. A context never seen says nothing.

    Args:
        text: what to count.
        longest: 1 to 8: the longest n-gram.

    Raises:
        ValueError: longest out of range, or a text shorter than that.
    """

    def __init__(self, text: bytes, longest: int = LONGEST) -> None:
        if not 1 <= longest <= LONGEST:
            raise ValueError(f"longest={longest}; give 1 to {LONGEST}")
        if len(text) < longest:
            raise ValueError(f"the text has {len(text)} bytes; give at least longest={longest} bytes")
        self.longest = longest
        counted = [np.unique(grams_of(text, k), return_counts=True) for k in range(1, longest + 1)]
        self._often = [_Order.of(grams, times) for grams, times in counted]
        self._widely = [
            _Order.of(*np.unique(longer & np.uint64(256**k - 1), return_counts=True))
            for k, (longer, _) in enumerate(counted[1:], start=1)
        ]
        self.often = [each.discounts() for each in self._often]
        """The discounts of each order where it is the longest."""
        self.widely = [each.discounts() for each in self._widely]
        """The discounts of each order below the longest."""

    def losses(self, text: bytes) -> Reals:
        """(longest, bytes) -ln P of each byte after those before it, nats, by the n-gram of each order.

        The first bytes have as much context as there is.
        """
        shorter: Reals = np.full(len(text), 1 / BYTES)
        found = np.empty((self.longest, len(text)))
        for k in range(1, self.longest + 1):
            grams = grams_of(text, k)
            found[k - 1] = shorter  # where there is less context, what it gives
            found[k - 1, k - 1 :] = self._often[k - 1].seen(grams).mixed(self.often[k - 1], shorter[k - 1 :])
            if k < self.longest:
                seen = self._widely[k - 1].seen(grams)
                shorter[k - 1 :] = seen.mixed(self.widely[k - 1], shorter[k - 1 :])
        losses: Reals = -np.log(found)
        return losses

    def after(self, context: bytes, n: int) -> Reals:
        """(256,): the probability of each byte after a context, by the n-gram of that order.

        Raises:
            ValueError: n out of range.
        """
        if not 1 <= n <= self.longest:
            raise ValueError(f"n={n}; give 1 to {self.longest}")
        p: Reals = np.full(BYTES, 1 / BYTES)
        every = np.arange(BYTES, dtype=np.uint64)
        last = min(n, len(context) + 1)
        for k in range(1, last + 1):
            before = int.from_bytes(context[len(context) - k + 1 :], "big")
            order, off = (self._often, self.often) if k == n else (self._widely, self.widely)
            p = order[k - 1].seen(every + np.uint64(before << 8)).mixed(off[k - 1], p)
        return p

    def tune(self, texts: Sequence[bytes]) -> None:
        """Set the discounts to those with which these texts, which were not counted, have the lowest loss.

        Order by order, the shortest first, each as the longest of its model and as one below it.
        """
        shorter = [np.full(len(text), 1 / BYTES) for text in texts]
        for k in range(1, self.longest + 1):
            grams = [grams_of(text, k) for text in texts]
            below = np.concatenate([each[k - 1 :] for each in shorter])
            self.often[k - 1] = _best(self._often[k - 1], grams, below, self.often[k - 1])
            if k == self.longest:
                return
            self.widely[k - 1] = _best(self._widely[k - 1], grams, below, self.widely[k - 1])
            for text, each in zip(grams, shorter, strict=True):
                seen = self._widely[k - 1].seen(text)
                each[k - 1 :] = seen.mixed(self.widely[k - 1], each[k - 1 :])


def _best(order: _Order, grams: list[Numbers], below: Reals, first: Discounts) -> Discounts:
    """The three discounts with the lowest mean loss, by halving steps along each of them."""
    seen = order.seen(np.concatenate(grams))

    def loss(discounts: Discounts) -> float:
        return float(-np.log(seen.mixed(discounts, below)).mean())

    best, lowest, step = first, loss(first), 0.2
    while step > 0.005:
        moved = False
        for k in range(3):
            for sign in (1, -1):
                there = list(best)
                there[k] += sign * step
                tried = _in_range(there)
                if (found := loss(tried)) < lowest:
                    best, lowest, moved = tried, found, True
        step /= 1 if moved else 2
    return best


def _in_range(discounts: Sequence[float]) -> Discounts:
    """Above 0, or a context leaves nothing to the shorter one; below the count that each is taken off."""
    one, two, three = (min(max(each, 0.01), k - 0.01) for k, each in enumerate(discounts, start=1))
    return one, two, three


def grams_of(text: bytes, k: int) -> Numbers:
    """All k-grams of a text in order, each as one number."""
    symbols = np.frombuffer(text, dtype=np.uint8)
    count = max(0, len(symbols) - k + 1)
    grams = np.zeros(count, dtype=np.uint64)
    for offset in range(k):
        grams = (grams << np.uint64(8)) | symbols[offset : offset + count]
    return grams


def _look_up(keys: Numbers, values: NDArray[np.int64], wanted: Numbers) -> NDArray[np.int64]:
    """The value of each wanted key, 0 where it is not among the sorted keys."""
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], 0)
