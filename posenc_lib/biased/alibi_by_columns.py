"""ALiBi in extra columns of queries and keys, for kernels that know of no bias.

The bias slope * (key - query) is a product of something of the query and something of the key. What needs
care is rounding. At key 30,000 the product with the key is of the order of 10,000, and what matters,
the difference between neighbours, of the order of 1. So slopes and positions are split into parts of few
bits, whose products are exact; and the columns come first, with the query's own share next to the largest
part of the key's, so that the large numbers cancel, exactly, before the sum reaches q . k.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from posenc_lib import _require as require
from posenc_lib._arrays import Array, is_compiling, surely, torch_of, values_are_known, widen
from posenc_lib.biased.alibi import read_slopes


def widened(
    q: torch.Tensor, k: torch.Tensor, slopes: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, float]:
    """What `alibi_columns` gives, for arguments that fit; slopes in float64."""
    head_dim, keys = q.shape[-1], k.shape[-2]
    scale = _power_of_four(head_dim)
    stretch = head_dim**-0.5 / scale
    for_q, for_k = _columns(slopes / scale, q.shape[-2], keys, q.dtype)
    for_q, for_k = for_q.to(q.device), for_k.to(k.device)
    width = _aligned(for_q.shape[-1] + head_dim, q.element_size())
    zeros = width - head_dim - for_q.shape[-1]

    def beside(x: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        parts = [columns.expand(*x.shape[:-1], -1), x]
        return torch.cat([*parts, x.new_zeros(*x.shape[:-1], zeros)] if zeros else parts, dim=-1)

    return beside(q if stretch == 1 else q * stretch, for_q), beside(k, for_k), scale


def _columns(
    slopes: torch.Tensor, queries: int, keys: int, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """What q gets, (heads, queries, c), and what k gets, (keys, c), with products that add up to the bias.

    With slope = high + low and key = sum of digits, the products are high * digit and low * digit, each
    exact. - slope * query, rounded, comes after the first. What it misses, and low bits that were dropped,
    is alike for all keys of a query.
    """
    bits = _BITS[_name(dtype)]
    high = _leading_bits(slopes, bits)
    low = _leading_bits(slopes - high, bits)
    positions = torch.arange(keys, device=slopes.device)
    most = _MOST_KEYS_COMPILED if is_compiling() else keys
    digits = max(1, -(-(most - 1).bit_length() // bits))
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
    return round_up(width, max(1, 16 // element_size))


def round_up(number: int, step: int) -> int:
    return -(-number // step) * step


def _leading_bits(x: torch.Tensor, bits: int) -> torch.Tensor:
    """x in float64 with its mantissa cut to so many bits; the gradient passes as if nothing were cut."""
    kept = (x.detach().view(torch.int64) & -(1 << (53 - bits))).view(torch.float64)
    return x + (kept - x).detach()


def as_tensor(slopes: Array | None, q: torch.Tensor) -> torch.Tensor:
    """The slopes in float64, on q's device, or on the CPU where that has no float64."""
    read, _ = read_slopes(q.shape[-3], True, slopes, None)
    if torch_of(read) is None:
        read = torch.as_tensor(read, dtype=torch.float64, device=widen(q.new_empty(0)).device)
    else:
        require.same_device(slopes=read, q=q)
    wide: torch.Tensor = widen(read)
    if q.dtype == torch.float16 and values_are_known(wide):
        limit = 500 * _power_of_four(q.shape[-1])
        if bool((wide.abs() > limit).any()):
            raise ValueError(
                f"slopes reach {float(wide.abs().max()):.3g}, beyond {limit:.3g}, the most that float16 "
                f"takes at head_dim {q.shape[-1]}; use bfloat16 or float32"
            )
    return wide


def require_fit(q: Any, k: Any, v: Any, causal: bool, mask: Any) -> None:
    given = {"q": q, "k": k} | {n: x for n, x in (("v", v), ("mask", mask)) if x is not None}
    require.tensors(" (for other libraries, use attention with bias=alibi_bias(...))", **given)
    for name, tensor in given.items():
        if name != "mask" and _name(tensor.dtype) not in _BITS:
            raise TypeError(f"{name} has dtype {tensor.dtype}; give one of {', '.join(_BITS)}")
        if name != "mask" and tensor.ndim < 3:
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}; give (..., heads, positions, width), at least "
                "three axes"
            )
    require.same_device(**given)
    vectors = [tensor for name, tensor in given.items() if name != "mask"]
    if len({tensor.dtype for tensor in vectors}) > 1:
        raise TypeError(
            f"the dtypes differ: {', '.join(str(t.dtype) for t in vectors)}; cast them to one dtype"
        )
    require.same_head_dim(q=q, k=k)
    if k.shape[-2] == 0 or k.shape[-3] == 0 or q.shape[-3] % k.shape[-3]:
        raise ValueError(
            "k needs at least one key, and as many heads as q or a divisor of that; got "
            f"{require.shapes(**given)}"
        )
    if v is not None and v.shape[:-1] != k.shape[:-1]:
        raise ValueError(f"v needs one value for each key, in the same heads; got {require.shapes(**given)}")
    if q.shape[:-3] != k.shape[:-3]:
        raise ValueError(f"q and k need the same axes before the heads; got {require.shapes(**given)}")
    if q.dtype == torch.float16 and surely(k.shape[-2] > _MOST_KEYS_IN_FLOAT16):
        raise ValueError(
            f"{k.shape[-2]} keys are too many for float16 columns; use bfloat16 or float32, or "
            f"{_MOST_KEYS_IN_FLOAT16} keys at most"
        )
    if mask is not None:
        require.mask(mask, (*q.shape[:-1], k.shape[-2]))
    if causal:
        require.no_more_queries(q.shape[-2], k.shape[-2])


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


_BITS = {"float32": 12, "float64": 26, "bfloat16": 8, "float16": 11}
"""Bits of a part, of which two make a product that the kernel's sums hold exactly."""

_MOST_KEYS_IN_FLOAT16 = 1 << 22

_MOST_KEYS_COMPILED = 1 << 24
"""Compiled code serves all lengths, with columns for the longest."""

_SHARED = 4
"""The digits of a key are kept 2^4 times as large, and the slopes as much smaller, for float16's range."""

_HELD = 15
"""The same for what belongs to the query alone."""
