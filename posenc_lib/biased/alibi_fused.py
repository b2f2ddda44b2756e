"""ALiBi in PyTorch's fused attention, without a bias of queries x keys numbers.

The bias depends on the distance alone, so one line of numbers holds all of it, and each row of the bias
is a view of that line. The kernel of a CPU reads such a view as it lies in memory.

Kernels of a GPU do not, and a learned slope needs a gradient: there ALiBi rides in extra columns of q and k
(`alibi_by_columns`). Either way memory grows with the length, not with its square.
"""

from __future__ import annotations

import math
from itertools import groupby, pairwise
from typing import Any

import torch

from posenc_lib._arrays import Array, surely, values_are_known
from posenc_lib._fused import fused_attention
from posenc_lib.attention import texts_of
from posenc_lib.biased.alibi import alibi_bias
from posenc_lib.biased.alibi_by_columns import as_tensor, require_fit, round_up, widened

FEW_QUERIES = 16
"""Up to so many queries, a bias of queries x keys numbers is cheaper than longer keys and values."""

BLOCK = 1 << 22
"""The most numbers of a bias or mask that are held at once."""

ROWS_OF_BLOCK = 256
"""Queries of a block, where the bias is a view of one line of numbers."""

ROWS = 16
"""Queries and keys come in multiples of this, where a kernel might have another way for a few."""


def attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    slopes: Array | None,
    causal: bool,
    mask: torch.Tensor | None,
) -> torch.Tensor:
    """`alibi_attention`."""
    require_fit(q, k, v, causal, mask)
    slopes = as_tensor(slopes, q)
    if surely(q.numel() == 0):
        return q.new_zeros(*q.shape[:-1], v.shape[-1])
    batch = q.shape[:-3]
    if mask is not None:
        mask = _four_axes(mask.reshape((1,) * (q.ndim - mask.ndim) + mask.shape), batch)
    q, k, v = (_four_axes(x, batch) for x in (q, k, v))
    few = surely(q.shape[2] <= FEW_QUERIES)
    if mask is None and not few and _takes_a_view_as_bias(q, k, slopes):
        output = _by_distance(q, k, v, slopes, causal)
    elif causal and not few:
        output = _fused(*widened(q, k, slopes), v, mask)
    else:
        output = _with_bias(q, k, v, slopes, causal, mask)
    return output.reshape(*batch, *output.shape[1:])


def attend_to_texts(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    slopes: Array | None,
    causal: bool,
    mask: torch.Tensor | None,
    cu_seqlens: Any,
) -> torch.Tensor:
    """`attend` for each of the packed texts."""
    require_fit(q, k, v, False, mask)
    of_q, of_k = texts_of(cu_seqlens, q, k)
    if not (values_are_known(of_q) and values_are_known(of_k)):
        raise TypeError(
            "alibi_attention needs to know the values of cu_seqlens, which are traced here; give attention "
            "bias=alibi_bias(heads, positions, positions) with positions=packed_positions(cu_seqlens, length)"
        )
    if mask is not None:
        mask = mask.expand(*mask.shape[:-2], q.shape[-2], k.shape[-2])
    outputs = [q.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for (first, last), (start, stop) in zip(pairwise(of_q.tolist()), pairwise(of_k.tolist()), strict=True):
        if last > first:
            among = None if mask is None else mask[..., first:last, start:stop]
            one = slice(start, stop)
            outputs.append(
                attend(q[..., first:last, :], k[..., one, :], v[..., one, :], slopes, causal, among)
            )
    return torch.cat(outputs, dim=-2)


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
    dtype = torch.promote_types(q.dtype, torch.float32)
    q_length, k_length = (
        torch.linalg.vector_norm(x.detach(), dim=-1, dtype=dtype).amax((0, 2)) for x in (q, k)
    )
    largest = q_length * k_length.repeat_interleave(q.shape[1] // k.shape[1]) / math.sqrt(q.shape[3])
    lost = 4.0 + math.log(k.shape[2] / torch.finfo(dtype).eps)
    largest = largest.nan_to_num(nan=math.inf, posinf=math.inf)  # NaN in one row says nothing of the others
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
    """Attention to the keys in the window around each block of queries; k and v go from last to first.

    A row of the bias is the row above, moved by one. So it is a view of one line of numbers, in which each
    row starts one further on: nothing is copied. That is why the keys run backwards: a row cannot start
    one further back, for no stride of a tensor is negative.
    """
    queries, keys = q.shape[2], k.shape[2]
    ahead = min(ROWS_OF_BLOCK, queries) - 1 if causal else min(keys - 1, window + ROWS_OF_BLOCK - 1)
    behind = min(keys - 1, window + ROWS_OF_BLOCK - 1)
    relative = torch.arange(ahead, -behind - 1, -1, device=slopes.device)
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


def _fused(
    q: torch.Tensor, k: torch.Tensor, scale: float, v: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    """Causal attention through the fused kernel, in blocks of queries where it needs a mask of its own."""
    heads, queries, keys, value_dim = q.shape[1], q.shape[2], k.shape[2], v.shape[3]
    width = max(q.shape[3], value_dim)
    # The fused kernels of the CPU take one width for q, k and v. Rows are filled up as well: the last few
    # would meet matrix products that do not add up in order. No query looks at a key that is filled in.
    q, k, v = (_filled_up(x, width) for x in (q, k, v))
    grouped = k.shape[1] != heads
    attend = torch.nn.functional.scaled_dot_product_attention
    if mask is None and surely(queries == keys):
        output = attend(q, k, v, is_causal=True, scale=scale, enable_gqa=grouped)
        return output[:, :, :queries, :value_dim]

    if mask is not None:
        more_rows = 0 if mask.shape[2] == 1 else q.shape[2] - queries
        more_keys = 0 if mask.shape[3] == 1 else k.shape[2] - keys
        mask = torch.nn.functional.pad(mask, (0, more_keys, 0, more_rows), value=True)
    per_row = k.shape[2] * (1 if mask is None else mask.shape[0] * mask.shape[1])
    outputs = []
    for start, stop in _blocks(q.shape[2], per_row, ROWS):
        rows = torch.arange(start, stop, device=q.device) + (keys - queries)
        last = surely(stop == q.shape[2])
        seen = k.shape[2] if last else min(round_up(keys - queries + stop, ROWS), k.shape[2])
        allowed = torch.arange(seen, device=q.device) <= rows[:, None]
        if mask is not None:
            allowed = allowed & _block(mask, start, stop)[..., :seen]
        blocks = q[:, :, start:stop], k[:, :, :seen], v[:, :, :seen]
        look = attend if mask is None else fused_attention  # without a mask, each query sees a key
        output = look(*blocks, allowed, scale=scale, enable_gqa=grouped)
        outputs.append(_zero_where_blind(output, None if mask is None else allowed))
    return torch.cat(outputs, dim=2)[:, :, :queries, :value_dim]


def _filled_up(x: torch.Tensor, width: int) -> torch.Tensor:
    """x with zeros up to this width, and so many rows that none of x is among those after the last `ROWS`."""
    rows = -x.shape[2] % ROWS
    if not (surely(rows == 0) or surely(rows > 0)):
        rows = ROWS  # where a compiler leaves the number open: then the last few are all filled in
    missing = (0, width - x.shape[3], 0, rows)
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
    heads, queries, keys = q.shape[1], q.shape[2], k.shape[2]
    dtype = torch.promote_types(q.dtype, torch.float32)
    key_positions = torch.arange(keys, device=slopes.device)
    outputs = []
    for start, stop in _blocks(queries, heads * keys * (1 if mask is None else q.shape[0])):
        rows = torch.arange(start, stop, device=slopes.device) + (keys - queries)
        bias = alibi_bias(heads, rows, key_positions, causal=causal, slopes=slopes, dtype=dtype)[None]
        bias = bias.to(q.device)
        if causal:
            bias = bias.masked_fill((key_positions > rows[:, None]).to(q.device), -math.inf)
        allowed = None
        if mask is not None:
            bias = bias.masked_fill(~_block(mask, start, stop), -math.inf)
            allowed = bias.detach() > -math.inf
        output = fused_attention(q[:, :, start:stop], k, v, bias, enable_gqa=k.shape[1] != heads)
        outputs.append(_zero_where_blind(output, allowed))
    return torch.cat(outputs, dim=2) if len(outputs) != 1 else outputs[0]


def _four_axes(x: torch.Tensor, batch: torch.Size) -> torch.Tensor:
    """x with its axes before the last three made one; only a mask needs to be spread over them first."""
    return x.expand(*batch, *x.shape[-3:]).reshape(math.prod(batch), *x.shape[-3:])


def _blocks(queries: int, per_row: int, multiple: int = 1) -> list[tuple[int, int]]:
    """First and last of the queries of each block; one for all where a compiler leaves their number open."""
    if not surely(queries * per_row > BLOCK):
        return [(0, queries)]
    size = max(1, BLOCK // (per_row * multiple)) * multiple
    return [(start, min(start + size, queries)) for start in range(0, queries, size)]


def _block(mask: torch.Tensor, start: int, stop: int) -> torch.Tensor:
    """The mask of queries start .. stop - 1, where the mask tells queries apart."""
    return mask if mask.shape[2] == 1 else mask[:, :, start:stop]


def _zero_where_blind(output: torch.Tensor, allowed: torch.Tensor | None) -> torch.Tensor:
    """The output with 0 for queries that may look at no key, for which some kernels give NaN."""
    if allowed is None:
        return output
    return output.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)
