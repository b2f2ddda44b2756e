"""ALiBi in PyTorch's fused attention, without a bias of queries x keys numbers.

The bias depends on the distance alone, so one line of numbers holds all of it, and each row of the bias
is a view of that line. The kernel of a CPU reads such a view as it lies in memory.

Kernels of a GPU do not, and a learned slope needs a gradient. There the bias slope * (key - query) is a
product of something of the query and something of the key, so it can ride in extra columns of q and k,
through a kernel that knows of no bias. Either way memory grows with the length, not with its square.
What needs care in the columns is rounding. At key 30,000 the product with the key is of the
order of 10,000, and what matters, the difference between neighbours, of the order of 1. So slopes
and positions are split into parts of few bits, whose products are exact; and the columns come
first, with the query's own share next to the largest part of the key's, so that the large numbers
cancel, exactly, before the sum reaches q . k.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from posenc_lib._arrays import Array, require_same_device, torch_of, values_are_known, widen
from posenc_lib.biased.alibi import alibi_bias, read_slopes
from posenc_lib.biased.relative import require_flag

if TYPE_CHECKING:
    import torch

FEW_QUERIES = 16
"""Up to so many queries, a bias of queries x keys numbers is cheaper than longer keys and values."""

BLOCK = 1 << 22
"""The most numbers of a bias or mask that are held at once."""

ROWS_OF_BLOCK = 256
"""Queries of a block, where the bias is a view of one line of numbers."""

ROWS = 16
"""Queries and keys come in multiples of this, where a kernel might have another way for a few."""


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
) -> torch.Tensor:
    """Attention with ALiBi in memory that grows with the length: no n x n array, at any length.

    Equal to `attention(q, k, v, bias=alibi_bias(heads, queries, keys, causal=causal, slopes=slopes),
    causal=causal, mask=mask)`, by way of `torch.nn.functional.scaled_dot_product_attention`.

    Args:
        q: (..., heads, queries, head_dim): float32, float64, bfloat16 or float16, on any device.
        k: (..., heads, keys, head_dim), or with fewer heads, of which each serves as many of q.
        v: (..., heads, keys, value_dim), with the heads of k.
        slopes: (heads,); `alibi_slopes(heads)` by default. They may be learned: gradients reach them.
        causal: True for ALiBi as published: the last query stands at the last key, and none looks past
            itself. False for the symmetric -slope * |key - query| of encoders.
        mask: booleans, True where the query may look at the key; broadcasts to (..., heads, queries, keys).

    Returns:
        (..., heads, queries, value_dim), of q's dtype. A query that may look at no key gets 0.

    Raises:
        TypeError: q, k, v no tensors of one real dtype; a mask that is not boolean; causal no boolean.
        ValueError: shapes that do not fit, different devices, more queries than keys with causal=True, slopes
            not of shape (heads,) or, in float16, out of its range.

    How: on a CPU, every row of the bias is a view of one line of numbers, one for each distance. Keys so
    far that the lengths of q and k leave them no weight that could change the result are left out: that saves
    work, and the slow arithmetic of numbers next to 0. On a GPU, under a compiler, with learned slopes or
    a mask, causal attention goes through `alibi_columns`. What is left (a few queries, as in decoding, and
    causal=False, whose bias is no such product) takes the bias itself, in blocks of queries. A bias is
    float32, but on a GPU in half precision it is rounded to q's dtype, which is all that the kernels there
    take.

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
    causal = require_flag(causal, "causal")
    _require_fit(q, k, v, causal, mask)
    slopes = _read_slopes(slopes, q)
    if q.numel() == 0:
        return q.new_zeros(*q.shape[:-1], v.shape[-1])
    batch = q.shape[:-3]
    if mask is not None:
        mask = _four_axes(mask.reshape((1,) * (q.ndim - mask.ndim) + mask.shape), batch)
    q, k, v = (_four_axes(x, batch) for x in (q, k, v))
    few = q.shape[2] <= FEW_QUERIES
    if mask is None and not few and _takes_a_view_as_bias(q, k, slopes):
        output = _by_distance(q, k, v, slopes, causal)
    elif causal and not few:
        output = _fused(alibi_columns(q, k, slopes), v, mask)
    else:
        output = _with_bias(q, k, v, slopes, causal, mask)
    return output.reshape(*batch, *output.shape[1:])


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
        zeros up to 16 bytes. The last query stands at the last key. q is multiplied by
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
    import torch

    _require_fit(q, k, None, True, None)
    slopes = _read_slopes(slopes, q)
    head_dim, keys = q.shape[-1], k.shape[-2]
    scale = _power_of_four(head_dim)
    stretch = head_dim**-0.5 / scale
    for_q, for_k = _columns(slopes / scale, q.shape[-2], keys, q.dtype)
    for_q, for_k = for_q.to(q.device), for_k.to(k.device)
    width = _aligned(for_q.shape[-1] + head_dim, q.element_size())
    zeros = width - head_dim - for_q.shape[-1]

    def widened(x: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        parts = [columns.expand(*x.shape[:-1], -1), x]
        return torch.cat([*parts, x.new_zeros(*x.shape[:-1], zeros)] if zeros else parts, dim=-1)

    return AlibiColumns(widened(q if stretch == 1 else q * stretch, for_q), widened(k, for_k), scale)


def _columns(
    slopes: torch.Tensor, queries: int, keys: int, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """What q gets, (heads, queries, c), and what k gets, (keys, c), with products that add up to the bias.

    With slope = high + low and key = sum of digits, the products are high * digit and low * digit, each
    exact. - slope * query, rounded, stands after the first. What it misses, and low bits that were dropped,
    is alike for all keys of a query.
    """
    import torch

    bits = _BITS[_name(dtype)]
    high = _leading_bits(slopes, bits)
    low = _leading_bits(slopes - high, bits)
    positions = torch.arange(keys, device=slopes.device)
    digits = max(1, -(-(keys - 1).bit_length() // bits))
    for_q = torch.empty(len(slopes), queries, 2 * digits + 2, dtype=dtype, device=slopes.device)
    for_k = torch.empty(keys, 2 * digits + 2, dtype=dtype, device=slopes.device)

    own = slopes[:, None] * positions[keys - queries :] * -(2.0**-_HELD)
    first = own.to(dtype)
    for_q[..., 1], for_k[..., 1] = first, 2.0**_HELD
    for_q[..., -1], for_k[..., -1] = own - first, 2.0**_HELD
    free = [0, *range(2, 2 * digits + 1)]
    for column, (t, part) in zip(
        free, [(t, p) for p in (0, 1) for t in reversed(range(digits))], strict=True
    ):
        digit = (positions >> (bits * t)) & ((1 << bits) - 1)
        # Low bits are lifted into the range of the high ones, and the digits lowered, for float16's sake.
        for_q[..., column] = ((high, low)[part] * 2.0 ** (bits * (t + part) - _SHARED))[:, None]
        for_k[..., column] = digit * 2.0 ** (_SHARED - bits * part)
    return for_q, for_k


def _power_of_four(head_dim: int) -> float:
    """The power of 4 nearest to 1 / sqrt(head_dim)."""
    return 4.0 ** -round(math.log2(head_dim) / 4)


def _aligned(width: int, element_size: int) -> int:
    """The next width that fills whole blocks of 16 bytes, as fused kernels on GPUs want it."""
    return _round_up(width, max(1, 16 // element_size))


def _round_up(number: int, step: int) -> int:
    return -(-number // step) * step


def _leading_bits(x: torch.Tensor, bits: int) -> torch.Tensor:
    """x in float64 with its mantissa cut to so many bits; the gradient passes as if nothing were cut."""
    import torch

    kept = (x.detach().view(torch.int64) & -(1 << (53 - bits))).view(torch.float64)
    return x + (kept - x).detach()


def _takes_a_view_as_bias(q: torch.Tensor, k: torch.Tensor, slopes: torch.Tensor) -> bool:
    """Whether a view of one line serves as bias: on a CPU, without a gradient, with a key for each query.

    A CPU's kernel reads it as it lies in memory. Where a query has its own key, far keys can be left out.
    """
    known = q.device.type == "cpu" and values_are_known(q) and values_are_known(k)
    return known and not slopes.requires_grad and q.shape[2] <= k.shape[2]


def _by_distance(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, slopes: torch.Tensor, causal: bool
) -> torch.Tensor:
    """Attention with a bias of one number for each distance, and nothing for keys out of a head's reach."""
    import torch

    reach = _reach(q, k, slopes)
    k, v = k.flip(2), v.flip(2)
    if k.shape[1] != q.shape[1]:
        return _with_line(q, k, v, slopes, reach, k.shape[2], causal)
    outputs = []
    windows = [_window(far, k.shape[2]) for far in reach.tolist()]
    for window, group in groupby(range(q.shape[1]), key=windows.__getitem__):
        first, *others = group
        heads = slice(first, first + len(others) + 1)
        outputs.append(
            _with_line(q[:, heads], k[:, heads], v[:, heads], slopes[heads], reach[heads], window, causal)
        )
    return outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=1)


def _reach(q: torch.Tensor, k: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
    """How far each head needs to look, (heads,): what lies beyond could not change the result.

    No product q . k / sqrt(head_dim) is larger than the longest q times the longest k allows, say c. A key at
    distance d weighs at most e^(2c - slope d) times as much as the query's own. Beyond the reach, all keys
    together weigh less than a fiftieth of what the dtype can tell from 1.
    """
    import torch

    dtype = torch.promote_types(q.dtype, torch.float32)
    q_length, k_length = (
        torch.linalg.vector_norm(x.detach(), dim=-1, dtype=dtype).amax((0, 2)) for x in (q, k)
    )
    largest = q_length * k_length.repeat_interleave(q.shape[1] // k.shape[1]) / math.sqrt(q.shape[3])
    lost = 4.0 + math.log(k.shape[2] / torch.finfo(dtype).eps)
    return torch.where(slopes > 0, (2 * largest + lost) / slopes, math.inf)


def _window(reach: float, keys: int) -> int:
    """The reach, rounded up to a size that heads can share; all keys where fewer would save little."""
    window = ROWS_OF_BLOCK
    while window < reach and window < keys:
        window *= 2
    return window if 2 * window <= keys else keys


def _with_line(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    slopes: torch.Tensor,
    reach: torch.Tensor,
    window: int,
    causal: bool,
) -> torch.Tensor:
    """Attention to the keys in the window around each block of queries; k and v stand last to first.

    A row of the bias is the row above, moved by one. So it is a view of one line of numbers, in which each
    row starts one further on: nothing is copied. That is why the keys run backwards: a row cannot start
    one further back, for no stride of a tensor is negative.
    """
    import torch

    queries, keys = q.shape[2], k.shape[2]
    ahead = min(ROWS_OF_BLOCK, queries) - 1 if causal else min(keys - 1, window + ROWS_OF_BLOCK - 1)
    behind = min(keys - 1, window + ROWS_OF_BLOCK - 1)
    relative = torch.arange(ahead, -behind - 1, -1)
    hidden = relative.abs() > reach[:, None]
    if causal:
        hidden |= relative > 0
    line = (-slopes[:, None] * relative.abs()).masked_fill(hidden, -math.inf)
    line = line.to(torch.promote_types(q.dtype, torch.float32))
    outputs = []
    for start in range(0, queries, ROWS_OF_BLOCK):
        rows = min(ROWS_OF_BLOCK, queries - start)
        first = start + keys - queries
        seen_from = max(0, first - window)
        seen_to = first + rows if causal else min(keys, first + rows + window)
        bias = line.as_strided(
            (1, len(slopes), rows, seen_to - seen_from),
            (0, line.stride(0), 1, 1),
            ahead - (seen_to - 1 - first),
        )
        outputs.append(
            torch.nn.functional.scaled_dot_product_attention(
                q[:, :, start : start + rows],
                k[:, :, keys - seen_to : keys - seen_from],
                v[:, :, keys - seen_to : keys - seen_from],
                attn_mask=bias,
                enable_gqa=k.shape[1] != q.shape[1],
            )
        )
    return torch.cat(outputs, dim=2) if len(outputs) != 1 else outputs[0]


def _fused(wide: AlibiColumns, v: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Causal attention through the fused kernel, in blocks of queries where it needs a mask of its own."""
    import torch

    q, k, scale = wide
    heads, queries, keys, value_dim = q.shape[1], q.shape[2], k.shape[2], v.shape[3]
    width = max(q.shape[3], value_dim)
    # The fused kernels of the CPU take one width for q, k and v. Rows are filled up as well: the last few
    # would meet matrix products that do not add up in order. No query looks at a key that is filled in.
    q, k, v = (_filled_up(x, width) for x in (q, k, v))
    grouped = k.shape[1] != heads
    attend = torch.nn.functional.scaled_dot_product_attention
    if mask is None and queries == keys:
        output = attend(q, k, v, is_causal=True, scale=scale, enable_gqa=grouped)
        return output[:, :, :queries, :value_dim]

    if mask is not None:
        more_rows = 0 if mask.shape[2] == 1 else q.shape[2] - queries
        more_keys = 0 if mask.shape[3] == 1 else k.shape[2] - keys
        mask = torch.nn.functional.pad(mask, (0, more_keys, 0, more_rows), value=True)
    per_row = k.shape[2] * (1 if mask is None else mask.shape[0] * mask.shape[1])
    size = max(1, BLOCK // (per_row * ROWS)) * ROWS
    outputs = []
    for start in range(0, q.shape[2], size):
        stop = min(start + size, q.shape[2])
        rows = torch.arange(start, stop, device=q.device) + (keys - queries)
        seen = min(_round_up(keys - queries + stop, ROWS), k.shape[2])
        allowed = torch.arange(seen, device=q.device) <= rows[:, None]
        if mask is not None:
            allowed = allowed & _block(mask, start, stop)[..., :seen]
        blocks = q[:, :, start:stop], k[:, :, :seen], v[:, :, :seen]
        output = attend(*blocks, attn_mask=allowed, scale=scale, enable_gqa=grouped)
        outputs.append(_zero_where_blind(output, None if mask is None else allowed))
    return torch.cat(outputs, dim=2)[:, :, :queries, :value_dim]


def _filled_up(x: torch.Tensor, width: int) -> torch.Tensor:
    """x with zeros up to this width, and up to a whole number of `ROWS`."""
    import torch

    missing = (0, width - x.shape[3], 0, -x.shape[2] % ROWS)
    return torch.nn.functional.pad(x, missing) if any(missing) else x


def _with_bias(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    slopes: torch.Tensor,
    causal: bool,
    mask: torch.Tensor | None,
) -> torch.Tensor:
    """Attention with the bias itself, in blocks of queries."""
    import torch

    heads, queries, keys = q.shape[1], q.shape[2], k.shape[2]
    half_on_gpu = q.device.type != "cpu" and q.element_size() == 2
    dtype = q.dtype if half_on_gpu else torch.promote_types(q.dtype, torch.float32)
    key_positions = torch.arange(keys, device=slopes.device)
    size = max(1, BLOCK // (heads * keys * (1 if mask is None else q.shape[0])))
    outputs = []
    for start in range(0, queries, size):
        stop = min(start + size, queries)
        rows = torch.arange(start, stop, device=slopes.device) + (keys - queries)
        bias = alibi_bias(heads, rows, key_positions, causal=causal, slopes=slopes, dtype=dtype)[None]
        bias = bias.to(q.device)
        if causal:
            bias = bias.masked_fill((key_positions > rows[:, None]).to(q.device), -math.inf)
        allowed = None
        if mask is not None:
            bias = bias.masked_fill(~_block(mask, start, stop), -math.inf)
            allowed = bias.detach() > -math.inf
        output = torch.nn.functional.scaled_dot_product_attention(
            q[:, :, start:stop], k, v, attn_mask=bias, enable_gqa=k.shape[1] != heads
        )
        outputs.append(_zero_where_blind(output, allowed))
    return torch.cat(outputs, dim=2) if len(outputs) != 1 else outputs[0]


def _four_axes(x: torch.Tensor, batch: torch.Size) -> torch.Tensor:
    """x with its axes before the last three made one; only a mask needs to be spread over them first."""
    return x.expand(*batch, *x.shape[-3:]).reshape(math.prod(batch), *x.shape[-3:])


def _block(mask: torch.Tensor, start: int, stop: int) -> torch.Tensor:
    """The mask of queries start .. stop - 1, where the mask tells queries apart."""
    return mask if mask.shape[2] == 1 else mask[:, :, start:stop]


def _zero_where_blind(output: torch.Tensor, allowed: torch.Tensor | None) -> torch.Tensor:
    """The output with 0 for queries that may look at no key, for which some kernels give NaN."""
    if allowed is None:
        return output
    return output.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)


def _read_slopes(slopes: Array | None, q: torch.Tensor) -> torch.Tensor:
    """The slopes in float64, on q's device, or on the CPU where that has no float64."""
    import torch

    read, _ = read_slopes(q.shape[-3], True, slopes, None)
    if torch_of(read) is None:
        read = torch.as_tensor(read, dtype=torch.float64, device=widen(q.new_empty(0)).device)
    else:
        require_same_device(slopes=read, q=q)
    wide: torch.Tensor = widen(read)
    if q.dtype == torch.float16 and values_are_known(wide):
        limit = 500 * _power_of_four(q.shape[-1])
        if bool((wide.abs() > limit).any()):
            raise ValueError(
                f"slopes reach {float(wide.abs().max()):.3g}, beyond {limit:.3g}, the most that float16 "
                f"takes at head_dim {q.shape[-1]}; use bfloat16 or float32"
            )
    return wide


def _require_fit(q: Any, k: Any, v: Any, causal: bool, mask: Any) -> None:
    import torch

    given = {"q": q, "k": k, "v": v, "mask": mask}
    given = {name: tensor for name, tensor in given.items() if tensor is not None}
    for name, tensor in given.items():
        if torch_of(tensor) is None:
            raise TypeError(
                f"{name} is a {type(tensor).__name__}; give a torch tensor (for other libraries, "
                "use attention with bias=alibi_bias(...))"
            )
        if name != "mask" and _name(tensor.dtype) not in _BITS:
            raise TypeError(f"{name} has dtype {tensor.dtype}; give one of {', '.join(_BITS)}")
        if name != "mask" and tensor.ndim < 3:
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}; give (..., heads, positions, width), at least "
                "three axes"
            )
    require_same_device(**given)
    vectors = [tensor for name, tensor in given.items() if name != "mask"]
    if len({tensor.dtype for tensor in vectors}) > 1:
        raise TypeError(f"dtypes differ: {', '.join(str(t.dtype) for t in vectors)}; cast them to one")
    if q.shape[-1] != k.shape[-1] or q.shape[-1] == 0:
        raise ValueError(f"q and k need the same head_dim, 1 or more; got {_shapes(given)}")
    if k.shape[-2] == 0 or k.shape[-3] == 0 or q.shape[-3] % k.shape[-3]:
        raise ValueError(
            f"k needs at least one key, and as many heads as q or a divisor of that; got {_shapes(given)}"
        )
    if v is not None and v.shape[:-1] != k.shape[:-1]:
        raise ValueError(f"v needs one value for each key, in the same heads; got {_shapes(given)}")
    if q.shape[:-3] != k.shape[:-3]:
        raise ValueError(f"q and k need the same axes before the heads; got {_shapes(given)}")
    if q.dtype == torch.float16 and k.shape[-2] > _MOST_KEYS_IN_FLOAT16:
        raise ValueError(
            f"{k.shape[-2]} keys are beyond the range of float16 columns; use bfloat16 or float32, or "
            f"{_MOST_KEYS_IN_FLOAT16} keys at most"
        )
    if mask is not None:
        _require_mask(mask, (*q.shape[:-1], k.shape[-2]))
    if causal and q.shape[-2] > k.shape[-2]:
        raise ValueError(
            f"causal attention of {q.shape[-2]} queries on {k.shape[-2]} keys: the last query stands at the "
            "last key, so there must be at least as many keys as queries"
        )


def _shapes(given: dict[str, torch.Tensor]) -> str:
    return ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in given.items())


def _require_mask(mask: torch.Tensor, scores: tuple[int, ...]) -> None:
    import torch

    if mask.dtype != torch.bool:
        raise TypeError(f"mask has dtype {mask.dtype}; give booleans, True where a query may look at a key")
    shape = tuple(mask.shape)
    fits = len(shape) <= len(scores) and all(
        size in (1, wanted) for size, wanted in zip(reversed(shape), reversed(scores), strict=False)
    )
    if not fits:
        raise ValueError(f"mask of shape {shape} does not broadcast to the scores' shape {scores}")


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


_BITS = {"float32": 12, "float64": 26, "bfloat16": 8, "float16": 11}
"""Bits of a part, of which two make a product that the kernel's sums hold exactly."""

_MOST_KEYS_IN_FLOAT16 = 1 << 22

_SHARED = 4
"""The digits of a key are kept 2^4 times as large, and the slopes as much smaller, for float16's range."""

_HELD = 15
"""The same for what belongs to the query alone."""
