"""ALiBi for PyTorch without a bias of queries x keys numbers: what users call.

The work is done in `alibi_fused`, and in `alibi_by_columns`, which it takes where a kernel knows no bias.
Both are loaded, and torch with them, when they are used. FlexAttention with `alibi_score_mod` does the same,
but only compiled: otherwise it makes the scores of queries x keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from posenc_lib import _require as require
from posenc_lib._arrays import Array, without_autocast
from posenc_lib._heads import heads_first, seq_back

if TYPE_CHECKING:
    import torch


class AlibiColumns(NamedTuple):
    """Queries and keys that carry ALiBi, and the factor on their products that goes with them."""

    q: torch.Tensor
    k: torch.Tensor
    scale: float


def alibi_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    slopes: Array | None = None,
    *,
    causal: bool = True,
    mask: torch.Tensor | None = None,
    cu_seqlens: Array | tuple[Array, Array] | None = None,
    seq_axis: int = -2,
) -> torch.Tensor:
    """Attention with ALiBi in memory that grows with the length: no n x n array, at any length.

    Equal to `attention(q, k, v, bias=alibi_bias(heads, queries, keys, causal=causal, slopes=slopes),
    causal=causal, mask=mask)`, by way of `torch.nn.functional.scaled_dot_product_attention`.

    Args:
        q: (..., heads, queries, head_dim): float32, float64, bfloat16 or float16, on any device.
        k: (..., heads, keys, head_dim), or with fewer heads, of which each serves as many of q.
        v: (..., heads, keys, value_dim), with the heads of k.
        slopes: (heads,); `alibi_slopes(heads)` by default. They may be learned: gradients reach them.
        causal: True for ALiBi as published: the last query is at the last key, and none looks past
            itself. False for the symmetric -slope * |key - query| of encoders.
        mask: booleans, True where the query may look at the key; broadcasts to (..., heads, queries, keys).
        cu_seqlens: for packed texts, as in `attention`. Each text is attended to by itself.
        seq_axis: as in `attention`; -3 for q, k, v and the result of (batch, seq, heads, width).

    Returns:
        (..., heads, queries, value_dim), of q's dtype. A query that may look at no key gets 0.

    Raises:
        TypeError: q, k, v not tensors of one real dtype; a mask that is not boolean; causal not a boolean;
            cu_seqlens no integers, or traced by a compiler.
        ValueError: shapes that do not fit, different devices, more queries than keys with causal=True, slopes
            not of shape (heads,) or, in float16, out of its range.

    How: on a CPU, every row of the bias is a view of one line of numbers, one for each distance. Keys so
    far that the lengths of q and k leave them no weight that could change the result are left out: that saves
    work, and the slow arithmetic of numbers next to 0. On a GPU, under a compiler, with learned slopes or
    a mask, causal attention goes through `alibi_columns`. What is left (a few queries, as in decoding, and
    causal=False, whose bias is not such a product) takes the bias itself, in blocks of queries. A bias is
    float32, but on a GPU in half precision it is rounded to q's dtype, which is all that the kernels there
    take: by up to 1/256 of what it lies below the largest of its row in bfloat16, by 1/2048 in float16.

    Accuracy: that of attention without any bias, in every dtype; in float32 within 2e-6 of attention in
    float64, for 1,024 keys and for 32,768, and in bfloat16 the rounding of the result. For the columns that
    holds where the kernel adds the products of one score in order, as PyTorch's on x86 does; a column
    for the slope and one for the position, unsplit, would leave 5e-5 and 1.5e-3.

    Example:
        >>> import torch
        >>> q, k, v = torch.randn(3, 1, 8, 100, 64)
        >>> alibi_attention(q, k, v).shape
        torch.Size([1, 8, 100, 64])

    Source: Press et al. 2022, section 3; the columns follow from the bias being of rank 2.
    """
    from posenc_lib.biased import alibi_fused

    q, k, v = heads_first(seq_axis, q=q, k=k, v=v)
    require.tensors(v=v)
    causal = require.flag(causal, "causal")
    with without_autocast(v):  # which would round the bias, and the columns that have to be exact
        if cu_seqlens is None:
            output = alibi_fused.attend(q, k, v, slopes, causal, mask)
        else:
            output = alibi_fused.attend_to_texts(q, k, v, slopes, causal, mask, cu_seqlens)
    back: torch.Tensor = seq_back(output, seq_axis)
    return back


def alibi_columns(q: torch.Tensor, k: torch.Tensor, slopes: Array | None = None) -> AlibiColumns:
    """Queries and keys, made wider, whose scaled products hold ALiBi's bias up to a constant for each query.

    softmax(scale * q @ k^T) of the result is softmax(q @ k^T / sqrt(head_dim) + bias) of what was
    given, with bias the `alibi_bias` for causal attention: any kernel of attention can be used, with this
    scale, its own causal mask, and values padded to the same width if it wants that.

    Args:
        q: (..., heads, queries, head_dim), float32, float64, bfloat16 or float16.
        k: (..., heads, keys, head_dim); it may have fewer heads, since no column of k depends on the head.
        slopes: (heads,), `alibi_slopes(heads)` by default.

    Returns:
        (q, k, scale): q and k of (..., head_dim + c), c from 4 to 15: the columns, what was given, and
        zeros up to 16 bytes. The last query is at the last key. q is multiplied by
        1 / (sqrt(head_dim) scale), so that scale can be a power of 4, whose root is exact: some kernels
        multiply both q and k by it.

    Raises:
        TypeError: q or k no tensors of one real dtype.
        ValueError: shapes that do not fit, different devices, slopes not of shape (heads,); in
            float16, slopes above 500 * scale or more than 4,194,304 keys.

    Example:
        >>> import torch
        >>> q, k = torch.randn(2, 1, 8, 100, 64)
        >>> wide = alibi_columns(q, k)
        >>> wide.q.shape, wide.scale
        (torch.Size([1, 8, 100, 68]), 0.0625)
    """
    from posenc_lib.biased import alibi_by_columns

    alibi_by_columns.require_fit(q, k, None, True, None)
    return AlibiColumns(*alibi_by_columns.widened(q, k, alibi_by_columns.as_tensor(slopes, q)))
