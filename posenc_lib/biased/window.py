"""The mask of a sliding window, with the first keys of the text kept if you like."""

from __future__ import annotations

from typing import overload

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, namespace
from posenc_lib.biased.relative import offsets, queries_and_keys


@overload
def window_mask(
    queries: int,
    keys: int,
    window: int,
    *,
    sinks: int = 0,
    causal: bool = True,
    like: None = None,
) -> np.ndarray: ...


@overload
def window_mask(
    queries: int,
    keys: int,
    window: int,
    *,
    sinks: int = 0,
    causal: bool = True,
    like: ArrayT,
) -> ArrayT: ...


@overload
def window_mask(
    queries: int,
    keys: ArrayT,
    window: int,
    *,
    sinks: int = 0,
    causal: bool = True,
    like: Array | None = None,
) -> ArrayT: ...


@overload
def window_mask(
    queries: ArrayT,
    keys: int | Array,
    window: int,
    *,
    sinks: int = 0,
    causal: bool = True,
    like: Array | None = None,
) -> ArrayT: ...


def window_mask(
    queries: int | Array,
    keys: int | Array,
    window: int,
    *,
    sinks: int = 0,
    causal: bool = True,
    like: Array | None = None,
) -> Array:
    """At which keys each query may look: at those less than `window` back, and at the first `sinks`.

    Args:
        queries, keys: where they are, as in `relative_positions`.
        window: how many keys are seen, the query itself among them, as models count their `sliding_window`.
        sinks: how many of the first positions, from 0 on, are seen by all queries after them, as in
            StreamingLLM.
        causal: False for keys less than `window` ahead as well; a sink that is further ahead is not seen.
        like: an array whose library and device the result has where both are ints; NumPy if None.

    Returns:
        (..., queries, keys) booleans, True where the query may look: a mask for `attention`. For positions of
        shape (batch, ...) put an axis for the heads into it.

    Raises:
        TypeError: window or sinks not an integer, causal not a boolean, positions not numbers.
        ValueError: window below 1, or sinks below 0; positions that do not fit.

    Example:
        >>> window_mask(5, 5, 2, sinks=1).astype(int)
        array([[1, 0, 0, 0, 0],
               [1, 1, 0, 0, 0],
               [1, 1, 1, 0, 0],
               [1, 0, 1, 1, 0],
               [1, 0, 0, 1, 1]])

    Source: Beltagy et al. 2020, "Longformer: The Long-Document Transformer", section 3.1; Xiao et al. 2024,
    "Efficient Streaming Language Models with Attention Sinks", section 3.2, on the sinks.
    """
    window, sinks = require.count(window, "window"), require.count(sinks, "sinks", 0)
    at_q, at_k = queries_and_keys(queries, keys, like)
    ahead = offsets(at_q, at_k)
    xp = namespace(ahead)
    first = xp.logical_and(at_k >= 0, at_k < sinks)
    seen = xp.logical_or(ahead > -window, first[..., None, :])
    return xp.logical_and(seen, ahead <= 0 if require.flag(causal, "causal") else ahead < window)
