"""RoPE with other distances than the true ones: Self-Extend, dual chunk attention, caches that drop keys.

A model that has seen distances up to some length reads further if no query meets a larger one. Each of these
says which distance a query sees instead, and is written here as a *map*: a few pairs of positions, one of the
query and one of the key, and where each pair holds. The distance is their difference, and the score that of
RoPE.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, default_integer, namespace, while_known
from posenc_lib._heads import heads_first, matmul_by_group
from posenc_lib.biased.instead import in_place_of_product, queries_with_keys, widened
from posenc_lib.biased.relative import of_heads, queries_and_keys
from posenc_lib.rotated.rotary import apply_rotary
from posenc_lib.rotated.tables import Layout


class Part(NamedTuple):
    """Where a query and a key are taken to be, in a part of the map."""

    queries: Array
    """(..., queries) positions."""
    keys: Array
    """(..., keys) positions."""
    holds: Array | None = None
    """(..., queries, keys) booleans, True where this part replaces those before it; None for all."""


def self_extend_distances(
    queries: int | Array, keys: int | Array, *, group: int, window: int, like: Array | None = None
) -> Array:
    """How far back each key is taken to be by Self-Extend: exactly within a window, by whole groups beyond.

    A key less than `window` back is as far as it is, query - key. Others are counted in groups of `group`
    positions, query // group - key // group, and moved by window - window // group, so that distances
    continue where those of the window end. So a model trained to length L reads (L - window +
    window // group) * group tokens, which is the paper's (L - window) * group + window where group divides
    window.

    Args:
        queries, keys: where they are, as in `relative_positions`, whole numbers.
        group: how many positions share one beyond the window.
        window: how many keys are seen at their true distance, the query itself among them.
        like: an array whose library and device the result has where both are ints; NumPy if None.

    Returns:
        (..., queries, keys), int64: query - key as the rotation sees it. Keys after the query keep theirs.

    Raises:
        TypeError: positions that are not whole numbers; group or window not an integer.
        ValueError: group or window below 1; positions that do not fit.

    Example:
        >>> self_extend_distances(1, 10, group=3, window=4)
        array([[6, 6, 6, 5, 5, 5, 3, 2, 1, 0]])

    Who does what: the authors' code, datamllab/LongLM, divides window by group without a remainder in
    `self_extend_patch/Llama_4_40.py` and in the paper's listing, as here. Its `Llama.py` leaves a fraction
    where group does not divide window; their commit 715c1e3 calls that an accident.

    Source: Jin et al. 2024, "LLM Maybe LongLM: Self-Extend LLM Context Window Without Tuning", section 3.
    """
    return _distances(_self_extend(*_whole(queries, keys, like), group, window))


def dual_chunk_distances(
    queries: int | Array, keys: int | Array, *, chunk: int, window: int, like: Array | None = None
) -> Array:
    """How far back each key is taken to be by dual chunk attention: never further than chunk + window - 1.

    Keys are at key % chunk. A query is at query % chunk for keys of its own chunk (intra), `chunk`
    further for those of the chunk before, but at chunk + window - 1 at most (successive), and at chunk +
    window - 1 for all chunks before that (inter). So a key less than `window` back is always as far as it is.

    Args:
        queries, keys: where they are, as in `relative_positions`, whole numbers.
        chunk: the paper's s, how many tokens are a chunk.
        window: the paper's w = c - s, where c is the length that the model was trained on; chunk at most.
        like: an array whose library and device the result has where both are ints; NumPy if None.

    Returns:
        (..., queries, keys), int64: query - key as the rotation sees it. Keys after the query must be masked.

    Raises:
        TypeError: positions that are not whole numbers; chunk or window not an integer.
        ValueError: chunk or window below 1, or window above chunk; positions that do not fit.

    Example:
        >>> dual_chunk_distances(1, 18, chunk=6, window=4)  # inter, successive, intra
        array([[9, 8, 7, 6, 5, 4, 9, 8, 7, 6, 5, 4, 5, 4, 3, 2, 1, 0]])
        >>> dual_chunk_distances(1, 8, chunk=6, window=4)
        array([[7, 6, 5, 4, 3, 2, 1, 0]])

    Who does what: the authors' code, HKUNLP/ChunkLlama, lets queries be one further, at chunk_size, which
    is chunk and local_window together: give window = local_window + 1 for it. It takes chunk_size = 3/4 of
    the trained length.

    Source: An et al. 2024, "Training-Free Long-Context Scaling of Large Language Models", section 3.
    """
    return _distances(_dual_chunk(*_whole(queries, keys, like), chunk, window))


def streaming_distances(
    queries: int | Array, keys: int | Array, *, sinks: int, window: int, like: Array | None = None
) -> Array:
    """How far back each key is in StreamingLLM's cache: the first `sinks` keys, and the last `window`.

    Positions are those in the cache, not in the text: once keys have been dropped, the first ones are as near
    as if there had been none between. So the largest distance is sinks + window - 1, in a text of any length.

    Args:
        queries, keys: where they are in the text, as in `relative_positions`, whole numbers from 0.
        sinks: how many of the first keys stay; 4 in the paper.
        window: how many of the last keys stay, the query itself among them.
        like: an array whose library and device the result has where both are ints; NumPy if None.

    Returns:
        (..., queries, keys), int64: query - key as the rotation sees it. Keys that were dropped, and keys
        after the query, must be masked: `window_mask(queries, keys, window, sinks=sinks)`.

    Raises:
        TypeError: positions that are not whole numbers; sinks or window not an integer.
        ValueError: sinks below 0, or window below 1; positions that do not fit.

    Example:
        >>> streaming_distances(1, 9, sinks=2, window=3)  # keys 0 and 1, then 6 to 8
        array([[4, 3, 6, 5, 4, 3, 2, 1, 0]])

    Source: Xiao et al. 2024, "Efficient Streaming Language Models with Attention Sinks", section 3.2.
    """
    return _distances(_streaming(*_whole(queries, keys, like), sinks, window))


def self_extend_bias(
    q: ArrayT,
    k: Array,
    queries: int | Array,
    keys: int | Array,
    *,
    group: int,
    window: int,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    scaling: Any = None,
    seq_axis: int = -2,
) -> ArrayT:
    """RoPE with the distances of Self-Extend, as a bias on scores of vectors that were not rotated.

    Args:
        q: (..., queries, head_dim), real, not rotated.
        k: (..., keys, head_dim), not rotated; its heads may be a divisor of q's, as in `attention`.
        queries, keys, group, window: as in `self_extend_distances`.
        base, layout, scaling: as in `apply_rotary`.
        seq_axis: of q and k, as in `attention`.

    Returns:
        (..., queries, keys), of q's dtype or float32 where that has fewer bits.

    Raises:
        TypeError, ValueError: as `self_extend_distances` and `apply_rotary`; shapes of q and k that do not
            fit.

    Example:
        >>> import numpy as np
        >>> q = k = np.ones((1, 9, 4))
        >>> near = self_extend_bias(q, k, 9, 9, group=3, window=9)  # all within the window: RoPE
        >>> plain = apply_rotary(q, 9) @ apply_rotary(k, 9).mT - q @ k.mT
        >>> np.allclose(near, plain / 2)
        True

    Source: Jin et al. 2024, section 3.
    """

    def parts(at_q: Array, at_k: Array) -> list[Part]:
        return _self_extend(at_q, at_k, group, window)

    return _bias(q, k, queries, keys, parts, seq_axis, base=base, layout=layout, scaling=scaling)


def dual_chunk_bias(
    q: ArrayT,
    k: Array,
    queries: int | Array,
    keys: int | Array,
    *,
    chunk: int,
    window: int,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    scaling: Any = None,
    seq_axis: int = -2,
) -> ArrayT:
    """RoPE with the distances of dual chunk attention, as a bias on scores of vectors that were not rotated.

    Args:
        q, k, base, layout, scaling, seq_axis: as in `self_extend_bias`.
        queries, keys, chunk, window: as in `dual_chunk_distances`.

    Returns:
        (..., queries, keys); keys after the query must be masked.

    Raises:
        TypeError, ValueError: as `dual_chunk_distances` and `apply_rotary`; shapes of q and k that do not
            fit.

    Example:
        >>> import numpy as np
        >>> q = k = np.ones((1, 9, 4))
        >>> rope = self_extend_bias(q, k, 9, 9, group=1, window=9)
        >>> np.allclose(dual_chunk_bias(q, k, 9, 9, chunk=9, window=1), rope)  # all within one chunk
        True

    Source: An et al. 2024, section 3.
    """

    def parts(at_q: Array, at_k: Array) -> list[Part]:
        return _dual_chunk(at_q, at_k, chunk, window)

    return _bias(q, k, queries, keys, parts, seq_axis, base=base, layout=layout, scaling=scaling)


def _self_extend(at_q: Array, at_k: Array, group: int, window: int) -> list[Part]:
    group, window = require.count(group, "group"), require.count(window, "window")
    near = _between(at_q, at_k) < window
    far = Part(at_q // group + (window - window // group), at_k // group)
    return [far, Part(at_q, at_k, near)]


def _dual_chunk(at_q: Array, at_k: Array, chunk: int, window: int) -> list[Part]:
    chunk, window = require.count(chunk, "chunk"), require.count(window, "window")
    if window > chunk:
        raise ValueError(f"window={window} is above chunk={chunk}; give {chunk} or less")
    xp, furthest = namespace(at_q), chunk + window - 1
    chunks_back, own = _between(at_q // chunk, at_k // chunk), at_q % chunk
    return [
        Part(xp.full_like(at_q, furthest), at_k % chunk),
        Part(
            xp.where(own < window, own + chunk, xp.full_like(own, furthest)), at_k % chunk, chunks_back == 1
        ),
        Part(own, at_k % chunk, chunks_back <= 0),
    ]


def _streaming(at_q: Array, at_k: Array, sinks: int, window: int) -> list[Part]:
    sinks, window = require.count(sinks, "sinks", 0), require.count(window, "window")
    for name, at in (("queries", at_q), ("keys", at_k)):
        require.all_hold(at >= 0, at, f"{name} must be 0 or more: positions count from the text's beginning")
    xp, most = namespace(at_q), sinks + window - 1
    in_cache = xp.where(at_q < most, at_q, xp.full_like(at_q, most))
    sink = xp.broadcast_to((at_k < sinks)[..., None, :], _between(at_q, at_k).shape)
    return [Part(at_q, at_k), Part(in_cache, at_k, sink)]


def _distances(parts: list[Part]) -> Array:
    """query - key, by the last part that holds."""
    first, *others = parts
    distances = _between(first.queries, first.keys)
    for part in others:
        distances = namespace(distances).where(part.holds, _between(part.queries, part.keys), distances)
    return distances


def _bias(
    q: Array, k: Array, queries: Any, keys: Any, parts_of: Any, seq_axis: int, **rotation: Any
) -> Array:
    """The scores of RoPE, each by the last part of the map that holds, in place of q . k."""
    q, k = heads_first(seq_axis, q=q, k=k)
    xp = queries_with_keys(q, k)
    at_q, at_k = of_heads(q, k, *_whole(queries, keys, q))
    with while_known(at_q, at_k):
        parts = parts_of(at_q, at_k)
    wide_q, wide_k = widened(xp, q, k)
    products = None
    for part in parts:
        turned_q, turned_k = (
            apply_rotary(wide_q, part.queries, **rotation),
            apply_rotary(wide_k, part.keys, **rotation),
        )
        scores = matmul_by_group(xp, turned_q, xp.matrix_transpose(turned_k))
        products = scores if products is None else xp.where(part.holds, scores, products)
    return in_place_of_product(products, q, k)


def _between(at_q: Array, at_k: Array) -> Array:
    """query - key, (..., queries, keys)."""
    return at_q[..., :, None] - at_k[..., None, :]


def _whole(queries: Any, keys: Any, like: Array | None = None) -> tuple[Array, Array]:
    """Whole positions of queries and keys, in the library's own integers."""
    at_q, at_k = (require.whole(at) for at in queries_and_keys(queries, keys, like))
    xp = namespace(at_q, at_k)
    whole = default_integer(xp)
    return xp.astype(at_q, whole, copy=False), xp.astype(at_k, whole, copy=False)
