"""Numbers drawn by a seed: the same on every machine, in every Python, and in the page's JavaScript.

NumPy promises no such thing of its generators. SHA-256 is the same everywhere; `book/web/src/draws.js` has
the same few lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

import numpy as np

Thing = TypeVar("Thing")

SEEDS = 1_000_000
"""They run from 0 to one less than this, so that an address stays short."""
BITS = 48
"""Of one draw: JavaScript's numbers hold 53."""


class Draws:
    """One draw after another: `Draws("break", 17).below(6)`.

    Args:
        name: of what is drawn; another name gives other numbers.
        seed: from 0 to 999,999.
    """

    def __init__(self, name: str, seed: int) -> None:
        self._name, self._seed, self._count = name, seed, 0

    def below(self, count: int) -> int:
        """A whole number from 0 to count - 1."""
        return self._bits() % count

    def between(self, first: int, last: int) -> int:
        """A whole number, both ends included."""
        return first + self.below(last - first + 1)

    def choice(self, things: Sequence[Thing]) -> Thing:
        return things[self.below(len(things))]

    def normal(self, *shape: int) -> np.ndarray:
        """Numbers around 0 with variance 1: sums of twelve even ones, which is near enough."""
        size = int(np.prod(shape))
        digests = b"".join(self._digest() for _ in range(-(-size * 24 // 32)))
        even = np.frombuffer(digests, dtype="<u2")[: size * 12].astype(np.float64) / 2**16
        return np.asarray(even.reshape(*shape, 12).sum(axis=-1) - 6.0)

    def _bits(self) -> int:
        return int.from_bytes(self._digest()[: BITS // 8], "big")

    def _digest(self) -> bytes:
        self._count += 1
        return sha256(f"{self._name}:{self._seed}:{self._count}".encode()).digest()
