"""Two strands of DNA: what one reads forwards, the other reads backwards, with the bases paired off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import (
    Array,
    ArrayT,
    constant,
    count_up,
    namespace,
    narrow,
    result_dtype,
    values_are_known,
    widen,
)


def reverse_complement(bases: ArrayT, pairs: Sequence[int] = (3, 2, 1, 0)) -> ArrayT:
    """The same piece of DNA, read on the other strand: backwards, with each base replaced by its partner.

    Args:
        bases: (..., length) whole numbers, 0 .. len(pairs) - 1.
        pairs: the partner of each: by default A, C, G, T are 0 to 3, and A pairs with T, C with G. Where 4
            stands for "unknown", (3, 2, 1, 0, 4).

    Returns:
        (..., length), of the library, device and dtype of the bases. Done twice, it gives the bases again.

    Raises:
        TypeError: bases not integers, pairs not a list of integers.
        ValueError: bases without an axis, not among the pairs, or one-hot; pairs that are not each other's
            partners.

    Which symmetry do you want? For "is there a binding site" the answer is that of the other strand:
    invariance. For "where is it" it is turned around: equivariance. For "in which direction is this gene
    read" the two differ, and a model that cannot tell them apart cannot say. A relative encoding that sees |i
    - j| alone is equivariant to turning around; one that knows before from after is not; of absolute ones,
        `centred_positions` say how the two are related.

    Example:
        >>> import numpy as np
        >>> reverse_complement(np.asarray([0, 0, 1, 2]))  # AACG
        array([1, 2, 3, 3])

    Source: Shrikumar et al. 2017, "Reverse-complement parameter sharing improves deep learning models for
        genomics"; Schiff et al. 2024, "Caduceus", section 2.
    """
    bases = require.whole(require.numbers(bases, "bases"), "bases")
    partners = _read_pairs(pairs)
    if bases.ndim == 0:
        raise ValueError("bases have no axis; give a sequence of them, (..., length)")
    known, dtype = len(partners), bases.dtype
    xp = namespace(bases)
    bases = xp.astype(bases, xp.int64, copy=False)  # PyTorch compares no uint16
    require.all_hold((bases >= 0) & (bases < known), bases, f"bases must be 0 to {known - 1}, those of pairs")
    _require_not_one_hot(xp, bases, known)
    table = constant(partners, bases)
    places = xp.reshape(xp.astype(xp.flip(bases, axis=-1), xp.int64), (-1,))
    return xp.astype(xp.reshape(xp.take(table, places, axis=0), tuple(bases.shape)), dtype)


def centred_positions(length: int, *, like: Array | None = None) -> Array:
    """Positions counted from the middle, -(n - 1) / 2 to (n - 1) / 2: turning around changes their signs.

    A sine is odd and a cosine even, so sinusoidal(centred_positions(n), d) of the sequence turned around is
    the same table with its sines negated: turning around is one fixed linear map, diag(-1, 1, -1, 1, ...), as
    a shift is. With positions from 0 it is another map for each length. The cosines alone cannot tell the
    strands apart.

    Args:
        length: how many.
        like: an array whose library and device the result has; NumPy if None.

    Returns:
        (length,), real: whole for an odd length, halves for an even one. Of the dtype of `like`, or of
        float32 where that has fewer bits: in bfloat16, 1,001 positions would be 757.

    Raises:
        TypeError: length not an integer.
        ValueError: a negative length.

    Example:
        >>> centred_positions(4)
        array([-1.5, -0.5,  0.5,  1.5])

    Source: the symmetry is that of the shift identity with offset of both signs; Vaswani et al. 2017, section
        3.5.
    """
    length = require.count(length, "length", 0)
    places = count_up(length, like)
    xp = namespace(places)
    dtype = xp.result_type(result_dtype(places if like is None else like), xp.float32)
    return narrow(widen(places) - (length - 1) / 2, places, dtype)


def _require_not_one_hot(xp: Any, bases: Array, known: int) -> None:
    """Raise ValueError for rows that each hold a single 1: they would be read as sequences of two bases."""
    if bases.ndim > 1 and bases.shape[-2] > 1 and bases.shape[-1] == known > 1:
        ones = xp.sum(xp.astype(bases == 1, xp.int32), axis=-1)
        zeros = xp.sum(xp.astype(bases == 0, xp.int32), axis=-1)
        if values_are_known(bases) and bool(xp.all((ones == 1) & (zeros == known - 1))):
            raise ValueError(
                f"bases of shape {tuple(bases.shape)} look like one-hot rows, one 1 in each; give the "
                "number of each base, such as bases.argmax(-1)"
            )


def _read_pairs(pairs: object) -> np.ndarray:
    if not isinstance(pairs, (tuple, list)) or not all(require.is_count(each) for each in pairs):
        raise TypeError(f"pairs={pairs!r}; give the partner of each base, such as (3, 2, 1, 0)")
    if not pairs or sorted(pairs) != list(range(len(pairs))):
        raise ValueError(f"pairs={pairs!r} do not name each base once; give something like (3, 2, 1, 0)")
    if any(pairs[partner] != base for base, partner in enumerate(pairs)):
        raise ValueError(
            f"pairs={pairs!r} are not partners of each other: the partner's partner must be the base itself"
        )
    return np.asarray(pairs, dtype=np.int64)
