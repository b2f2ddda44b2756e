"""The biases for PyTorch's FlexAttention: functions that change one score, for its `score_mod`.

Each maker here has the arguments of its bias and returns a function (score, batch, head, q_idx, kv_idx) that
adds what the materialised bias holds at that place. Two things do not fit: CoPE, whose counts run over
other keys than the one to be biased, and Shaw's value term.

FlexAttention scales scores by 1 / sqrt(head_dim), as `attention` does, and masks nothing by itself: give it a
`block_mask` for causal attention, and `enable_gqa=True` where keys have fewer heads than queries; `heads` are
those of the queries. Its indices count queries and keys from 0; `queries` and `keys` say where they are:
ints, of which the last query is at the last key, or tensors of positions, (queries,) and (keys,), or
(batch, queries) and (batch, keys).

    from torch.nn.attention.flex_attention import flex_attention
    output = flex_attention(q, k, v, score_mod=alibi_score_mod(heads, queries, keys))

All of them compile. Where several go through one compiled function on a CPU, compile it with
`torch.compile(flex_attention, dynamic=False)`: torch 2.13 otherwise takes numbers that differ among them for
dynamic shapes, for which its C++ code is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, torch_of
from posenc_lib._heads import matmul_by_group
from posenc_lib.biased.alibi import read_slopes
from posenc_lib.biased.fire import FireWeights, read_fire_weights
from posenc_lib.biased.kerple import Kind, read_kerple
from posenc_lib.biased.relative import default_scale, queries_and_keys
from posenc_lib.biased.sandwich import compression, sandwich_rates
from posenc_lib.biased.shaw import read_table
from posenc_lib.biased.t5 import t5_buckets
from posenc_lib.biased.transformer_xl import require_transformer_xl
from posenc_lib.packed import placed, read_both

if TYPE_CHECKING:
    import torch

ScoreMod = Callable[..., Any]
"""(score, batch, head, q_idx, kv_idx), each a 0-d tensor, to the new score."""

PositionAt = Callable[[Any, Any], Any]
"""(batch, index) to the position there."""


def alibi_score_mod(
    heads: int,
    queries: int | Array,
    keys: int | Array,
    *,
    causal: bool = True,
    slopes: Array | None = None,
    slopes_after: Array | None = None,
    device: Any = None,
) -> ScoreMod:
    """`alibi_bias` as a `score_mod`; `device` is that of q, where no argument is a tensor that says it.

    Example:
        >>> import torch
        >>> mod = alibi_score_mod(8, 10, 10)
        >>> mod(torch.tensor(0.0), 0, 0, torch.tensor(9), torch.tensor(5))  # head 0, 4 apart: -4 / 2
        tensor(-2.)
    """
    heads = require.count(heads, "heads")
    before, after = read_slopes(heads, require.flag(causal, "causal"), slopes, slopes_after)
    tensors = [given for given in (slopes, slopes_after, queries, keys) if torch_of(given) is not None]
    like: Any = tensors[0] if tensors else _tensor(0.0, device)
    before = _tensor(before, like.device)
    after = None if after is None else _tensor(after, like.device)
    place_q, place_k = _places(queries, keys, like)

    def score_mod(score: Any, batch: Any, head: Any, q_idx: Any, kv_idx: Any) -> Any:
        relative = place_k(batch, kv_idx) - place_q(batch, q_idx)
        bias = before[head] * relative
        if after is None:
            return score + bias
        import torch

        return score + torch.where(relative > 0, -after[head] * relative, bias)

    return score_mod


def t5_score_mod(
    table: torch.Tensor,
    queries: int | Array,
    keys: int | Array,
    *,
    max_distance: int = 128,
    bidirectional: bool = True,
) -> ScoreMod:
    """`t5_bias` as a `score_mod`. T5 does not divide its scores: its checkpoints need scale=1.0 as well.

    Example:
        >>> import torch
        >>> mod = t5_score_mod(torch.arange(32.0)[:, None], 10, 10)  # bucket 17 is for one key ahead
        >>> mod(torch.tensor(0.0), 0, 0, torch.tensor(4), torch.tensor(5))
        tensor(17.)
    """
    import torch

    _require_tensors(table=table)
    require.real_array(table, "table", "(buckets, heads)", 2)
    furthest = require.count(max_distance, "max_distance")
    relative = torch.arange(-furthest, furthest + 1, device=table.device)
    by_distance = table[
        t5_buckets(relative, buckets=table.shape[0], max_distance=max_distance, bidirectional=bidirectional)
    ]
    place_q, place_k = _places(queries, keys, table, whole=True)

    def score_mod(score: Any, batch: Any, head: Any, q_idx: Any, kv_idx: Any) -> Any:
        relative = place_k(batch, kv_idx) - place_q(batch, q_idx)
        return score + by_distance[relative.clamp(-furthest, furthest) + furthest, head]

    return score_mod


def shaw_score_mod(
    q: torch.Tensor,
    table: torch.Tensor,
    queries: int | Array,
    keys: int | Array,
    *,
    scale: float | None = None,
) -> ScoreMod:
    """`shaw_bias` as a `score_mod`, for q of (batch, heads, queries, head_dim).

    It holds q . w_r for every query and every row of the table: 2k + 1 numbers per query, not one per key.

    Example:
        >>> import torch
        >>> q, table = torch.ones(1, 1, 3, 4), torch.arange(5.0)[:, None].expand(5, 4)
        >>> mod = shaw_score_mod(q, table, 3, 3, scale=0.25)
        >>> mod(torch.tensor(0.0), 0, 0, torch.tensor(2), torch.tensor(1))  # one key back: row 1
        tensor(1.)
    """
    import torch

    _require_tensors(q=q, table=table)
    require.real_array(q, "q", "(batch, heads, queries, head_dim)", 4)
    read_table(q, "q", table)
    products = matmul_by_group(torch, q, table.mT) * default_scale(scale, q.shape[-1])
    reach = table.shape[-2] // 2
    place_q, place_k = _places(queries, keys, q, whole=True, lengths=(q.shape[-2], None))

    def score_mod(score: Any, batch: Any, head: Any, q_idx: Any, kv_idx: Any) -> Any:
        relative = place_k(batch, kv_idx) - place_q(batch, q_idx)
        return score + products[batch, head, q_idx, relative.clamp(-reach, reach) + reach]

    return score_mod


def transformer_xl_score_mod(
    q: torch.Tensor,
    k: torch.Tensor,
    relative_keys: torch.Tensor,
    u: torch.Tensor,
    v: torch.Tensor,
    *,
    scale: float | None = None,
) -> ScoreMod:
    """`transformer_xl_bias` as a `score_mod`, for q and k of (batch, heads, ..., head_dim).

    It holds (q_i + v) . r for every query and every relative position, which are as many as keys, or more:
    what FlexAttention saves here is the relative shift and the sums, not the memory.

    Example:
        >>> import torch
        >>> q, k = torch.ones(2, 1, 1, 3, 4)
        >>> relative_keys = torch.tensor([2.0, 1.0, 0.0])[None, :, None].expand(1, 3, 4)  # the distance
        >>> mod = transformer_xl_score_mod(q, k, relative_keys, torch.zeros(1, 4), torch.zeros(1, 4))
        >>> mod(torch.tensor(0.0), 0, 0, torch.tensor(2), torch.tensor(0))  # q . (2, 2, 2, 2) / 2
        tensor(4.)
    """
    import torch

    _require_tensors(q=q, k=k, relative_keys=relative_keys, u=u, v=v)
    require_transformer_xl(q, k, relative_keys, u, v)
    require.real_array(q, "q", "(batch, heads, queries, head_dim)", 4)
    require.real_array(k, "k", "(batch, heads, keys, head_dim)", 4)
    factor = default_scale(scale, q.shape[-1])
    by_distance = matmul_by_group(torch, q + v[:, None], relative_keys.mT) * factor
    of_the_key = matmul_by_group(torch, u[:, None], k.mT)[..., 0, :] * factor
    queries, last = q.shape[-2], relative_keys.shape[-2] - 1

    def score_mod(score: Any, batch: Any, head: Any, q_idx: Any, kv_idx: Any) -> Any:
        column = kv_idx - q_idx + queries - 1  # key - query + keys - 1, the query at q_idx + keys - queries
        position = by_distance[batch, head, q_idx, column.clamp(0, last)]
        position = torch.where(column > last, torch.zeros_like(position), position)
        return score + of_the_key[batch, head, kv_idx] + position

    return score_mod


def kerple_score_mod(
    r1: torch.Tensor, r2: torch.Tensor, queries: int | Array, keys: int | Array, *, kind: Kind = "log"
) -> ScoreMod:
    """`kerple_bias` as a `score_mod`.

    Example:
        >>> import torch
        >>> mod = kerple_score_mod(torch.ones(1), torch.ones(1), 10, 10)
        >>> mod(torch.tensor(0.0), 0, 0, torch.tensor(9), torch.tensor(6))  # -log(1 + 3)
        tensor(-1.3863)
    """
    import torch

    _require_tensors(r1=r1, r2=r2)
    r1, r2 = read_kerple(r1, r2, kind)
    place_q, place_k = _places(queries, keys, r1)

    def score_mod(score: Any, batch: Any, head: Any, q_idx: Any, kv_idx: Any) -> Any:
        distance = (place_k(batch, kv_idx) - place_q(batch, q_idx)).abs()
        grown = torch.log1p(r2[head] * distance) if kind == "log" else distance ** r2[head]
        return score - r1[head] * grown

    return score_mod


def fire_score_mod(
    weights: FireWeights,
    queries: int | Array,
    keys: int | Array,
    *,
    c: float | torch.Tensor,
    threshold: float | torch.Tensor,
) -> ScoreMod:
    """`fire_bias` as a `score_mod`: the network, unit by unit, for each score.

    Example:
        >>> import torch
        >>> weights = torch.ones(1, 1), torch.zeros(1), -torch.ones(1, 1), torch.zeros(1)  # f(x) = -relu(x)
        >>> mod = fire_score_mod(weights, 10, 10, c=1.0, threshold=3.0)
        >>> mod(torch.tensor(0.0), 0, 0, torch.tensor(9), torch.tensor(0))  # all the way back: x = 1
        tensor(-1.)
    """
    import torch

    w1, b1, w2, b2 = read_fire_weights(weights)
    _require_tensors(w1=w1, b1=b1, w2=w2, b2=b2)
    c = _tensor(require.positive_scalar(c, "c"), w1.device)
    threshold = _tensor(require.positive_scalar(threshold, "threshold"), w1.device)
    place_q, place_k = _places(queries, keys, w1)

    def score_mod(score: Any, batch: Any, head: Any, q_idx: Any, kv_idx: Any) -> Any:
        query = place_q(batch, q_idx)
        reach = torch.maximum(query.to(threshold.dtype), threshold)
        x = torch.log1p(c * (place_k(batch, kv_idx) - query).abs()) / torch.log1p(c * reach)
        score = score + b2[head]
        for unit in range(w1.shape[0]):
            score = score + w2[head, unit] * torch.relu(w1[unit, 0] * x + b1[unit])
        return score

    return score_mod


def sandwich_score_mod(
    heads: int,
    queries: int,
    keys: int,
    *,
    dim: int = 128,
    base: float = 10000.0,
    first_pair: int = 0,
    device: Any = None,
) -> ScoreMod:
    """`sandwich_bias` as a `score_mod`, for numbers of queries and keys; `device` is that of q.

    It holds one number for each relative position, computed in float64.

    Example:
        >>> import torch
        >>> mod = sandwich_score_mod(8, 10, 10)
        >>> mod(torch.tensor(0.0), 0, 0, torch.tensor(9), torch.tensor(9))  # dim / 2 at distance 0
        tensor(64.)
    """
    import torch

    if not (require.is_count(queries) and require.is_count(keys)):
        raise TypeError(
            "queries and keys must be numbers of positions here; for positions of your own use sandwich_bias"
        )
    ratio = _tensor(compression(require.count(heads, "heads")), device)
    queries_and_keys(queries, keys)
    relative = torch.arange(-(keys - 1), queries, dtype=torch.float64)
    rates = torch.as_tensor(sandwich_rates(dim, base, first_pair))
    product = torch.zeros_like(relative)
    for rate in rates:
        product += torch.cos(relative * rate)
    by_distance = product.to(torch.float32).to(ratio.device)

    def score_mod(score: Any, batch: Any, head: Any, q_idx: Any, kv_idx: Any) -> Any:
        return score + by_distance[kv_idx - q_idx + queries - 1] / ratio[head]

    return score_mod


def packed_mask_mod(
    cu_seqlens: torch.Tensor,
    length: int | None = None,
    *,
    keys: torch.Tensor | None = None,
    causal: bool = False,
) -> Callable[[Any, Any, Any, Any], Any]:
    """`packed_mask` as a `mask_mod`, for `create_block_mask`: no block of two texts is worked on.

    Give the positions of the texts, `packed_positions(cu_seqlens)`, to the maker of a `score_mod` beside it.

    Example:
        >>> import torch
        >>> mod = packed_mask_mod(torch.tensor([0, 3, 8]), causal=True)
        >>> mod(0, 0, torch.tensor(4), torch.tensor([2, 3, 4, 5]))  # the second text begins at 3
        tensor([False,  True,  True, False])
    """
    require.tensors(", which FlexAttention needs", cu_seqlens=cu_seqlens)
    ends, of_keys = read_both(cu_seqlens, length, keys)
    causal = require.flag(causal, "causal")
    query, key = placed(ends, of_keys, length), placed(of_keys, of_keys, length if keys is None else None)

    def mask_mod(batch: Any, head: Any, q_idx: Any, kv_idx: Any) -> Any:
        same = query.text[q_idx] == key.text[kv_idx]
        return same & (key.positions[kv_idx] <= query.positions[q_idx]) if causal else same

    return mask_mod


def _places(
    queries: Any,
    keys: Any,
    like: torch.Tensor,
    *,
    whole: bool = False,
    lengths: tuple[Any, Any] = (None, None),
) -> tuple[PositionAt, PositionAt]:
    """Functions that give the position of the query and of the key with an index."""
    placed = queries_and_keys(queries, keys, like)
    _require_tensors(queries=placed[0], keys=placed[1])
    require.same_device(positions=placed[0], others=like)
    for positions, length, name in zip(placed, lengths, ("queries", "keys"), strict=True):
        if length is not None:
            require.one_each(positions, length, name, "q")
    if whole:
        for positions in placed:
            require.whole(positions)
    if require.is_count(queries) and require.is_count(keys):
        ahead = keys - queries
        return lambda batch, index: index + ahead, lambda batch, index: index
    of_key = _lookup(placed[1], "keys")
    return _lookup(placed[0], "queries"), of_key


def _lookup(positions: torch.Tensor, name: str) -> PositionAt:
    if positions.ndim > 2:
        raise ValueError(f"{name} has shape {tuple(positions.shape)}; give ({name},) or (batch, {name})")
    if positions.ndim == 2:
        return lambda batch, index: positions[batch, index]
    return lambda batch, index: positions[index]


def _tensor(value: Any, device: Any) -> torch.Tensor:
    """A tensor as it is; anything else as float32, which is what scores are."""
    import torch

    return (
        value if torch_of(value) is not None else torch.as_tensor(value, dtype=torch.float32, device=device)
    )


def _require_tensors(**given: Any) -> None:
    require.tensors(", which FlexAttention needs", **given)
