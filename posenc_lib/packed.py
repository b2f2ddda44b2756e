"""Packed texts: several of them one after another on one axis, none padded, told apart by `cu_seqlens`.

As in flash-attn, `cu_seqlens` (cumulative sequence lengths) are integers of shape (texts + 1,): 0, then where
each text ends: [0, 3, 8] for a text of 3 tokens and one of 5. Each text counts its positions from 0, and no
query looks at another text:

    positions = packed_positions(cu_seqlens)  # for rotary tables, added encodings and biases
    q, k = apply_rotary(q, positions), apply_rotary(k, positions)
    output = attention(q, k, v, causal=True, cu_seqlens=cu_seqlens)
"""

from __future__ import annotations

from typing import Any, NamedTuple, overload

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import (
    Array,
    ArrayT,
    device_of,
    is_compiling,
    namespace,
    refuse_unless,
    torch_of,
    values_are_known,
)


@overload
def packed_positions(
    cu_seqlens: list[int] | tuple[int, ...], length: int | None = None, *, keys: Array | None = None
) -> np.ndarray: ...


@overload
def packed_positions(
    cu_seqlens: ArrayT, length: int | None = None, *, keys: Array | None = None
) -> ArrayT: ...


def packed_positions(cu_seqlens: Any, length: int | None = None, *, keys: Array | None = None) -> Any:
    """Where each token of packed texts is in its own text: 0, 1, 2, and from 0 again.

    Args:
        cu_seqlens: (texts + 1,), integers that begin with 0 and do not decrease: where texts end.
        length: how many tokens there are, with which cu_seqlens end. Needed where a compiler traces, which
            does not know their values.
        keys: cu_seqlens of the keys, where these are more than the queries, as with a cache. Then the last
            query of each text is at the text's last key.

    Returns:
        (length,), int64, in the library and on the device of cu_seqlens; NumPy for a list.

    Raises:
        TypeError: cu_seqlens are not integers, or those of keys of another library.
        ValueError: cu_seqlens that do not begin with 0, decrease, or do not end with length; keys of
            another number of texts, or fewer than the queries of a text.

    Example:
        >>> packed_positions([0, 3, 8])
        array([0, 1, 2, 0, 1, 2, 3, 4])
        >>> packed_positions([0, 1, 3], keys=[0, 4, 9])  # one query on 4 keys, two on 5
        array([3, 3, 4])

    Source: flash-attn, `flash_attn_varlen_func`, which places queries and keys in the same way.
    """
    return placed(*read_both(cu_seqlens, length, keys), length).positions


@overload
def packed_mask(
    cu_seqlens: list[int] | tuple[int, ...],
    length: int | None = None,
    *,
    keys: Array | None = None,
    causal: bool = False,
) -> np.ndarray: ...


@overload
def packed_mask(
    cu_seqlens: ArrayT, length: int | None = None, *, keys: Array | None = None, causal: bool = False
) -> ArrayT: ...


def packed_mask(
    cu_seqlens: Any, length: int | None = None, *, keys: Array | None = None, causal: bool = False
) -> Any:
    """At which keys each query of packed texts may look: at those of its own text.

    Args:
        cu_seqlens, length, keys: as in `packed_positions`.
        causal: let no query look past itself either.

    Returns:
        (queries, keys) booleans, True where the query may look: a mask for `attention`, CoPE and modules.

    Raises:
        TypeError: as `packed_positions`; causal is not a boolean.
        ValueError: as `packed_positions`.

    Example:
        >>> packed_mask([0, 1, 3], causal=True).astype(int)
        array([[1, 0, 0],
               [0, 1, 0],
               [0, 1, 1]])
    """
    ends, of_keys = read_both(cu_seqlens, length, keys)
    return mask_of(ends, of_keys, length, None, require.flag(causal, "causal"))


def mask_of(ends: Array, of_keys: Array, queries: int | None, keys: int | None, causal: bool) -> Array:
    """`packed_mask` of what was looked at already."""
    query = placed(ends, of_keys if causal else ends, queries)
    key = query if of_keys is ends else placed(of_keys, of_keys, keys)
    allowed = query.text[:, None] == key.text[None, :]
    if causal:
        allowed = namespace(allowed).logical_and(allowed, key.positions[None, :] <= query.positions[:, None])
    return allowed


class Placed(NamedTuple):
    """The tokens of packed texts."""

    text: Array
    """(tokens,) the number of each token's text."""
    positions: Array
    """(tokens,) its position in that text."""


QUERIES = "cu_seqlens"
"""What the ends of the queries' texts are called."""


def placed(ends: Array, of_keys: Array, length: int | None) -> Placed:
    """The tokens with these cu_seqlens, of which the last in each text is at the text's last key."""
    xp = namespace(ends)
    numbers = xp.arange(int(ends[-1]) if length is None else length, device=device_of(ends))
    text = xp.searchsorted(ends[1:], xp.astype(numbers, ends.dtype), side="right")
    first = ends[:-1]
    if of_keys is not ends:
        ahead = (of_keys[1:] - of_keys[:-1]) - (ends[1:] - ends[:-1])
        require.all_hold(
            ahead >= 0, ahead, "each text needs at least as many keys as queries; there are more by"
        )
        first = first - ahead
    return Placed(text, numbers - xp.take(first, text, axis=0))


def read_both(
    given: Any, length: int | None, keys: Any = None, keys_length: int | None = None, like: Any = None
) -> tuple[Array, Array]:
    """The cu_seqlens of queries and of keys as int64, of one library: that of `like` where they are lists.

    The lengths are those of the tokens. Without cu_seqlens of the keys, those of the queries serve for both.
    """
    ends = _read(given, length, QUERIES, like)
    if keys is None:
        return ends, ends
    of_keys = _read(keys, keys_length, "the cu_seqlens of keys", ends)
    if of_keys.shape != ends.shape:
        raise ValueError(
            f"cu_seqlens has {ends.shape[0] - 1} texts, but that of the keys has {of_keys.shape[0] - 1}; "
            "give as many for both"
        )
    return ends, of_keys


def _read(given: Any, length: int | None, whose: str, like: Any) -> Array:
    if length is not None:
        require.count(length, "length", 0)
    if isinstance(given, (list, tuple)):
        given = require.numbers(given, whose)
        if like is not None:
            given = namespace(like).asarray(given, device=device_of(like))
    xp = namespace(given)
    if like is not None:
        namespace(given, like)
        require.same_device(**{whose: given, "the tokens": like})
    if not xp.isdtype(given.dtype, "integral"):
        raise TypeError(f"{whose} have dtype {given.dtype}; give integers: 0, then where each text ends")
    if given.ndim != 1 or given.shape[0] < 2:
        raise ValueError(
            f"{whose} have shape {tuple(given.shape)}; give (texts + 1,): 0, then where each text ends"
        )
    ends = xp.astype(given, xp.int64)
    _require_order(ends, length, whose)
    return ends


def _require_order(ends: Array, length: int | None, whose: str) -> None:
    wanted = f"{whose} begin with 0, do not decrease, and end with the number of tokens"
    rises = namespace(ends).all(ends[1:] >= ends[:-1])
    if values_are_known(ends):
        values = [int(ends[0]), int(ends[-1])]
        if values[0] != 0:
            raise ValueError(
                f"{wanted}; these begin with {values[0]} (add up the lengths of the texts: "
                "[0, 3, 8] for 3 tokens and 5)"
            )
        if not bool(rises):
            raise ValueError(f"{wanted}; these decrease: {ends}")
        if length is not None and values[1] != length:
            raise ValueError(f"{wanted}; these end with {values[1]}, but there are {length} tokens")
    elif length is None:
        remedy = "give length=" if whose == QUERIES else "make the mask outside of what is traced"
        raise TypeError(f"the values of {whose} are not known during tracing; {remedy}")
    elif torch_of(ends) is not None and is_compiling():
        refuse_unless((ends[0] == 0) & rises & (ends[-1] == length), wanted)
