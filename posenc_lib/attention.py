"""One attention, with the three doors as arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal, overload

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, count_up, device_of, is_floating, namespace, unlearned
from posenc_lib._heads import heads_first, matmul_by_group, seq_back
from posenc_lib.packed import mask_of, read_both

Rotation = Callable[[Array], Array]


@overload
def attention(
    q: ArrayT,
    k: Array,
    v: Array,
    *,
    norm: Rotation | tuple[Rotation | None, Rotation | None] | None = None,
    rotate: Rotation | tuple[Rotation | None, Rotation | None] | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    bias: Array | None = None,
    mask: Array | None = None,
    causal: bool = False,
    window: int | None = None,
    cu_seqlens: Array | tuple[Array, Array] | None = None,
    sink: Array | None = None,
    seq_axis: int = -2,
    return_weights: Literal[False] = False,
) -> ArrayT: ...


@overload
def attention(
    q: ArrayT,
    k: Array,
    v: Array,
    *,
    norm: Rotation | tuple[Rotation | None, Rotation | None] | None = None,
    rotate: Rotation | tuple[Rotation | None, Rotation | None] | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    bias: Array | None = None,
    mask: Array | None = None,
    causal: bool = False,
    window: int | None = None,
    cu_seqlens: Array | tuple[Array, Array] | None = None,
    sink: Array | None = None,
    seq_axis: int = -2,
    return_weights: Literal[True],
) -> tuple[ArrayT, ArrayT]: ...


def attention(
    q: Array,
    k: Array,
    v: Array,
    *,
    norm: Rotation | tuple[Rotation | None, Rotation | None] | None = None,
    rotate: Rotation | tuple[Rotation | None, Rotation | None] | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    bias: Array | None = None,
    mask: Array | None = None,
    causal: bool = False,
    window: int | None = None,
    cu_seqlens: Array | tuple[Array, Array] | None = None,
    sink: Array | None = None,
    seq_axis: int = -2,
    return_weights: bool = False,
) -> Array | tuple[Array, Array]:
    """Scaled dot-product attention: softmax(q k^T / sqrt(head_dim) + bias) v.

    The three doors of a positional encoding: it was added to the input before q, k and v were
    made; it is the `rotate` of queries and keys; or it is the `bias` on the scores.

    Args:
        q: (..., queries, head_dim), real floating point.
        k: (..., keys, head_dim). With fewer heads than q, (..., kv_heads, keys, head_dim) with a divisor of
            q's heads, each key head serves as many query heads in turn: grouped queries.
        v: (..., keys, value_dim), heads as those of k.
        norm: a function from an array to one of the same shape, applied to q and to k before `rotate`; a pair
            of them, (for q, for k), where each has weights of its own (QK-norm: Qwen3, Gemma 3).
        rotate: the same, applied after it; a pair where queries and keys are at different positions.
        scale: what q k^T is multiplied by; 1 / sqrt(head_dim) by default. `LayerPositions.softmax_scale`.
        softcap: c, for c tanh(scores / c) in place of scaled scores: none is then above c (Gemma 2).
        bias: real numbers of any width, added to the scaled scores; broadcasts to (..., queries, keys).
        mask: booleans, True where the query may look at the key; broadcasts like `bias`.
        causal: let no query look past itself. The last query is at the last key, so that a
            few new queries can attend to a longer cache of keys.
        window: how many keys a query sees going back, itself among them, and as far ahead without `causal`,
            the last query at the last key: as `window_mask` takes it. All by default.
        cu_seqlens: for texts packed one after another, where each ends, see `posenc_lib.packed_positions`; a
            pair, (for q, for k), where they differ. No query looks at another text; with `causal`, the last
            query of each text is at the text's last key.
        sink: (heads,) numbers, or one as a 0-d array: the score of a key that is always there, and has no
            value. What the softmax gives it is lost, so that a head need not look at anything (gpt-oss).
        seq_axis: which axis of q, k and v is the sequence: -2 for (batch, heads, seq, head_dim), -3 (or 1)
            for (batch, seq, heads, head_dim), as flash-attn has it. `rotate` gets q and k as they are; bias,
            mask and weights are (batch, heads, queries, keys) in any case.
        return_weights: also return the weights, (..., queries, keys).

    Returns:
        (..., queries, value_dim), axes in q's order, of the dtype of q, k and v; with `return_weights`, the
        pair (output, weights). With a sink, weights sum to less than 1. A query that may look at no key at
        all gets weights and output 0, not NaN.
        Scores and weights are float32 inside, or wider where an argument is, and are cast last: in
        bfloat16 a bias of -1000 would otherwise be off by up to 2.

    Raises:
        TypeError: arrays of different libraries; integers or different dtypes in q, k, v; a mask
            that is not boolean; a bias or a sink that is; a rotate that cannot be called or gives other
            than real numbers.
        ValueError: shapes that do not fit, also of what rotate gives; different devices, more queries than
            keys with `causal`; a scale, softcap or window not above 0; a window and a pair of cu_seqlens.

    Example:
        >>> import numpy as np
        >>> q = k = v = np.ones((1, 3, 4))  # 1 head, 3 positions, head_dim 4
        >>> far = -np.abs(np.arange(3)[:, None] - np.arange(3))  # a penalty on distance
        >>> _, weights = attention(q, k, v, bias=1.0 * far, causal=True, return_weights=True)
        >>> weights[0].round(3)
        array([[1.   , 0.   , 0.   ],
               [0.269, 0.731, 0.   ],
               [0.09 , 0.245, 0.665]])

    Source: Vaswani et al. 2017, equation 1; grouped queries: Ainslie et al. 2023, "GQA"; the sink:
    transformers, `modeling_gpt_oss.py`; the cap on scores: `modeling_gemma2.py`.
    """
    return_weights = require.flag(return_weights, "return_weights")
    xp = _require_fit(q, k, v, bias, mask, require.flag(causal, "causal"), seq_axis)
    if sink is not None:
        sink = _read_sink(sink, heads_first(seq_axis, q=q)[0])
    for name, functions in (("norm", norm), ("rotate", rotate)):
        of_q, of_k = _read_rotations(functions, name)
        q, k = _rotated(of_q, q, "q", name), _rotated(of_k, k, "k", name)
    q, k, v = heads_first(seq_axis, q=q, k=k, v=v)
    if window is not None:
        near = _near(q, k, window, cu_seqlens)
        mask = near if mask is None else xp.logical_and(mask, near)
    if cu_seqlens is not None:
        packed = _mask_of_texts(cu_seqlens, q, k, causal)
        mask, causal = packed if mask is None else xp.logical_and(mask, packed), False

    wide = xp.result_type(q.dtype, k.dtype, xp.float32)
    q, k = xp.astype(q, wide, copy=False), xp.astype(k, wide, copy=False)
    products = matmul_by_group(xp, q, xp.matrix_transpose(k))
    scores = (
        products / math.sqrt(q.shape[-1]) if scale is None else products * require.positive(scale, "scale")
    )
    if softcap is not None:
        most = require.positive(softcap, "softcap")
        scores = most * xp.tanh(scores / most)
    if bias is not None:
        scores = scores + bias
    allowed = allowed_keys(xp, scores, mask, causal)
    weights = _softmax(xp, scores, allowed, sink)
    output = matmul_by_group(xp, weights, xp.astype(v, weights.dtype, copy=False))
    output = seq_back(xp.astype(output, v.dtype, copy=False), seq_axis)
    return (output, xp.astype(weights, v.dtype, copy=False)) if return_weights else output


def _near(q: Array, k: Array, window: int, cu_seqlens: Any) -> Array:
    """At which keys a query may look within the window, (queries, keys), on either side."""
    if isinstance(cu_seqlens, tuple) and len(cu_seqlens) == 2 and not isinstance(cu_seqlens[0], Integral):
        raise ValueError(
            "a window counts the keys of one sequence, but cu_seqlens is a pair, (for q, for k); give a "
            "mask, such as window_mask of the positions in each text"
        )
    window, queries, keys = require.count(window, "window"), q.shape[-2], k.shape[-2]
    require.no_more_queries(queries, keys)
    at_k = count_up(keys, q)
    ahead = at_k - at_k[keys - queries :][:, None]
    return namespace(ahead).logical_and(ahead > -window, ahead < window)


def _mask_of_texts(cu_seqlens: Any, q: Array, k: Array, causal: bool) -> Array:
    """The mask of packed texts, (queries, keys)."""
    queries, keys = q.shape[-2], k.shape[-2]
    return mask_of(*texts_of(cu_seqlens, q, k), queries, keys, causal)


def texts_of(cu_seqlens: Any, q: Array, k: Array) -> tuple[Array, Array]:
    """The cu_seqlens of q and of k, (..., tokens, width), given as one or as a pair of them."""
    pair = isinstance(cu_seqlens, tuple) and len(cu_seqlens) == 2 and not isinstance(cu_seqlens[0], Integral)
    of_q, of_k = cu_seqlens if pair else (cu_seqlens, None)
    queries, keys = q.shape[-2], k.shape[-2]
    if of_k is None and queries != keys:
        raise ValueError(
            f"there is one cu_seqlens for {queries} queries and {keys} keys; give a pair, (for q, for k)"
        )
    return read_both(of_q, queries, of_k, keys, like=q)


def allowed_keys(xp: Any, scores: Array, mask: Array | None, causal: bool) -> Array | None:
    """At which keys each query may look, (..., queries, keys); None where all may be looked at."""
    if not causal:
        return mask
    queries, keys = scores.shape[-2:]
    past = xp.tril(xp.ones((queries, keys), dtype=xp.bool, device=device_of(scores)), k=keys - queries)
    return past if mask is None else xp.logical_and(mask, past)


def _softmax(xp: Any, scores: Array, allowed: Array | None, sink: Array | None = None) -> Array:
    """Weights over the last axis that sum to 1 (with a sink, to less), or to 0 where nothing is allowed."""
    if allowed is not None:
        scores = xp.where(
            allowed, scores, xp.asarray(-math.inf, dtype=scores.dtype, device=device_of(scores))
        )
    # Any number would do in place of the peak, so it has no slope. A compiler may round scores in two ways:
    # then none equals the peak, and what JAX takes for its slope is 0 / 0.
    peak = xp.max(unlearned(scores), axis=-1, keepdims=True)
    if sink is not None:
        sink = xp.astype(sink, scores.dtype, copy=False)
        peak = xp.where(peak > sink, peak, unlearned(sink))
    peak = xp.where(peak == -math.inf, xp.zeros_like(peak), peak)
    raised = xp.exp(scores - peak)
    total = xp.sum(raised, axis=-1, keepdims=True)
    if sink is not None:
        total = total + xp.exp(sink - peak)
    return raised / xp.where(total == 0, xp.ones_like(total), total)


def _read_sink(sink: Any, q: Array) -> Array:
    """The sink as it goes with the scores, (..., heads, queries, keys)."""
    if isinstance(sink, Real):
        raise TypeError(
            f"sink={sink!r} is a plain number; give an array, (heads,), or a 0-d one for all heads"
        )
    require.real_array(sink, "sink", "(heads,)", 0, more=True)
    namespace(q, sink)
    require.same_device(q=q, sink=sink)
    require.all_hold(sink < math.inf, sink, "sink holds NaN or +inf; give numbers, or -inf for no sink")
    if sink.ndim > 1 or (sink.ndim == 1 and (q.ndim < 3 or sink.shape[0] not in (1, q.shape[-3]))):
        raise ValueError(
            f"sink of shape {tuple(sink.shape)} does not fit q of shape {tuple(q.shape)}; give one "
            "number for each head, (heads,), or a 0-d array for all"
        )
    return sink[:, None, None] if sink.ndim else sink


def _rotated(rotation: Rotation | None, x: Array, name: str, which: str = "rotate") -> Array:
    if rotation is None:
        return x
    turned = rotation(x)
    if getattr(turned, "shape", None) != x.shape:
        raise ValueError(
            f"{which} returned {_shape(turned)} for {name} of shape {_shape(x)}; it must return an array of "
            "the shape that it is given"
        )
    namespace(x, turned)
    if not is_floating(turned):
        raise TypeError(f"{which} returned dtype {turned.dtype} for {name}; it must return real numbers")
    return turned


def _read_rotations(rotate: Any, name: str = "rotate") -> tuple[Rotation | None, Rotation | None]:
    pair = rotate if isinstance(rotate, tuple) else (rotate, rotate)
    if len(pair) != 2 or not all(r is None or callable(r) for r in pair):
        raise TypeError(
            f"{name}={rotate!r} cannot be called; give a function of one array, or a pair of them, "
            "(for q, for k)"
        )
    return pair


def _require_fit(
    q: Array, k: Array, v: Array, bias: Array | None, mask: Array | None, causal: bool, seq_axis: int
) -> Any:
    """Check what was given; return the array namespace."""
    q, k, v = heads_first(seq_axis, q=q, k=k, v=v)
    optional = {"bias": bias, "mask": mask}
    given = {"q": q, "k": k, "v": v} | {name: a for name, a in optional.items() if a is not None}
    xp = namespace(*given.values())
    require.same_device(**given)

    for name in ("q", "k", "v"):
        array = given[name]
        if not is_floating(array):
            raise TypeError(f"{name} has dtype {array.dtype}; attention needs real floating-point vectors")
        if array.ndim < 2:
            raise ValueError(
                f"{name} has shape {_shape(array)}; give (..., positions, width), at least two axes"
            )
    if not q.dtype == k.dtype == v.dtype:
        raise TypeError(f"the dtypes differ: q {q.dtype}, k {k.dtype}, v {v.dtype}; cast them to one dtype")
    require.same_head_dim(q=q, k=k)
    if k.shape[-2] != v.shape[-2] or k.shape[-2] == 0:
        raise ValueError(
            f"k of shape {_shape(k)} and v of shape {_shape(v)} differ in the number of keys, the "
            "second-last axis, or it is 0; give one value per key, and at least one key"
        )
    queries, keys = q.shape[-2], k.shape[-2]
    if causal:
        require.no_more_queries(queries, keys)
    scores = (*require.heads_in_groups(q, k=k, v=v), queries, keys)
    if bias is not None:
        require.to_scores(bias, "bias", scores)
    if mask is not None:
        require.mask(mask, scores)
    if bias is not None and not is_floating(bias):
        raise TypeError(f"bias has dtype {bias.dtype}; give real numbers (booleans are a mask)")
    if bias is not None:  # what NaN and +inf do to a row cannot be told from its weights
        require.all_hold(bias < math.inf, bias, "bias holds NaN or +inf; give numbers, or -inf for a mask")
    return xp


def _shape(array: Any) -> Any:
    return tuple(array.shape) if hasattr(array, "shape") else type(array).__name__
