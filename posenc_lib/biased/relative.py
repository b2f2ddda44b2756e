"""What every bias is made of: where each query and each key is, and how far apart they are."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import (
    Array,
    ArrayT,
    constant,
    count_up,
    default_integer,
    extremes,
    is_floating,
    namespace,
    result_dtype,
    while_known,
    widen_all,
)


@overload
def relative_positions(queries: int, keys: int, *, like: None = None) -> np.ndarray: ...


@overload
def relative_positions(queries: int, keys: int, *, like: ArrayT) -> ArrayT: ...


@overload
def relative_positions(queries: int, keys: ArrayT, *, like: Array | None = None) -> ArrayT: ...


@overload
def relative_positions(queries: ArrayT, keys: int | Array, *, like: Array | None = None) -> ArrayT: ...


def relative_positions(queries: int | Array, keys: int | Array, *, like: Array | None = None) -> Array:
    """Where each key is as seen from each query: key - query, negative for the past.

    Args:
        queries: an int n for the last n of the keys' positions (so that the last query is at the
            last key, as in `attention(causal=True)` with a cache of keys), or an array of positions
            of shape (..., queries).
        keys: an int n for positions 0 .. n-1, or an array of shape (..., keys).
        like: an array whose library and device the result has where both are ints; NumPy if None.

    Returns:
        (..., queries, keys): int64, or float64 where positions are real numbers.

    Raises:
        TypeError: positions are not numbers, or arrays of different libraries.
        ValueError: negative counts, more queries than keys as ints, NaN positions, 0-d arrays, shapes
            that do not broadcast, different devices.

    Example:
        >>> relative_positions(2, 4)
        array([[-2, -1,  0,  1],
               [-3, -2, -1,  0]])

    Source: the sign is that of T5 (memory position - context position) and of Shaw et al. 2018 (j - i).
    """
    return offsets(*queries_and_keys(queries, keys, like))


def queries_and_keys(queries: Any, keys: Any, like: Array | None = None) -> tuple[Array, Array]:
    """The positions (..., queries) and (..., keys), as arrays of one library on one device."""
    placed = {
        name: None if require.is_count(given) else _read(given, name)
        for name, given in (("queries", queries), ("keys", keys))
    }
    arrays = {name: array for name, array in placed.items() if array is not None}
    anchor = next(iter(arrays.values()), like)
    key_positions = placed["keys"]
    if key_positions is None:
        key_positions = count_up(_read_count(keys, "keys"), anchor)
    query_positions = placed["queries"]
    if query_positions is None:
        count, available = _read_count(queries, "queries"), key_positions.shape[-1]
        if count > available:
            raise ValueError(
                f"queries={count} are more than the {available} keys: an int means the last positions of the "
                "keys; if the queries are elsewhere, give an array of their positions"
            )
        with while_known(key_positions):
            query_positions = key_positions[..., available - count :]
    namespace(query_positions, key_positions)
    require.same_device(queries=query_positions, keys=key_positions)
    require.common_axes(1, queries=query_positions, keys=key_positions)
    return query_positions, key_positions


def offsets(query_positions: Array, key_positions: Array) -> Array:
    """key - query, (..., queries, keys), exact: in int64, or in float64 for real positions.

    Raises:
        ValueError: JAX without 64-bit numbers, and positions whose distances need them.
    """
    xp = namespace(query_positions, key_positions)
    if is_floating(query_positions) or is_floating(key_positions):
        first, second = widen_all(query_positions, key_positions)
    else:
        whole = default_integer(xp)
        first, second = xp.astype(query_positions, whole), xp.astype(key_positions, whole)
        if whole == xp.int32:
            _require_near(first, second)
    return second[..., None, :] - first[..., :, None]


def _require_near(first: Array, second: Array) -> None:
    """Raise ValueError where a distance would wrap around in 32 bits."""
    ends = extremes(first), extremes(second)
    if ends[0] and ends[1] and max(ends[1][1] - ends[0][0], ends[0][1] - ends[1][0]) >= 2**31:
        raise ValueError(
            "positions are further apart than 32-bit integers count; set "
            "jax.config.update('jax_enable_x64', True), or start counting closer to them"
        )


def of_heads(q: Array, k: Array, at_q: Array, at_k: Array) -> tuple[Array, Array]:
    """Positions (..., queries) and (..., keys) as they go with q and k of (..., heads, tokens, head_dim)."""
    placed = []
    for name, x, at in (("queries", q, at_q), ("keys", k, at_k)):
        namespace(x, at)
        require.same_device(**{name: at, "vectors": x})
        require.one_each(at, x.shape[-2], name, "q" if x is q else "k")
        rows = at.shape[:-1]
        if rows and not (len(rows) == x.ndim - 3 and require.spreads(rows, x.shape[:-3])):
            raise ValueError(
                f"{name} of shape {tuple(at.shape)} do not fit vectors of shape {tuple(x.shape)}; give "
                "(tokens,), or (batch, tokens) where rows of (batch, heads, tokens, head_dim) differ"
            )
        with while_known(at):
            placed.append(at[..., None, :] if rows else at)
    return placed[0], placed[1]


def real_dtype(dtype: Any, like: Array, *others: Array) -> Any:
    """The dtype of a result: as asked, else that of the first array of real numbers, else the default."""
    xp = namespace(like)
    same_library = [like, *(array for array in others if namespace(array) is xp)]
    return result_dtype(next(filter(is_floating, same_library), like), dtype)


def beside(relative: Array, **numbers: Array) -> list[Array]:
    """Distances and the numbers that go with them, in float64, in one library and on one device."""
    theirs = {name: each for name, each in numbers.items() if not isinstance(each, np.ndarray)}
    for name, each in theirs.items():
        namespace(each, relative)
        require.same_device(**{name: each, "positions": relative})
    relative, *others = widen_all(relative, *theirs.values())
    wide = dict(zip(theirs, others, strict=True))
    xp = namespace(relative)
    return [
        relative,
        *(
            wide[name] if name in wide else xp.astype(constant(each, relative), relative.dtype)
            for name, each in numbers.items()
        ),
    ]


def per_head(relative: Array, **numbers: Array) -> list[Array]:
    """Distances as (..., 1, queries, keys) and (heads,) numbers as (heads, 1, 1), as `beside`."""
    relative, *wide = beside(relative, **numbers)
    return [relative[..., None, :, :], *(each[:, None, None] for each in wide)]


def default_scale(scale: Any, head_dim: int) -> float:
    """The factor on products of vectors: as given, else 1 / sqrt(head_dim), that of `attention`."""
    return float(head_dim) ** -0.5 if scale is None else require.positive(scale, "scale")


def _read(given: Any, name: str) -> Array:
    try:
        array = require.positions(given)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None
    if array.ndim == 0:
        raise ValueError(f"{name} is one position with no axis; give positions of shape (..., {name})")
    if is_floating(array):
        return array
    xp = namespace(array)
    wraps = xp.iinfo(array.dtype).max > xp.iinfo(default_integer(xp)).max == 2**31 - 1  # JAX's uint32
    if wraps and (ends := extremes(array)) and ends[1] >= 2**31:
        raise ValueError(
            f"{name} reach {ends[1]:.0f}, beyond 32-bit integers; set "
            "jax.config.update('jax_enable_x64', True), or start counting closer to them"
        )
    return xp.astype(array, default_integer(xp), copy=False)  # in fewer bits, distances would wrap around


def _read_count(given: Any, name: str) -> int:
    if given < 0:
        raise ValueError(
            f"{name}={given} asks for a negative number of positions; give 0 or more, or an array of them"
        )
    return require.count(given, name, 0)
