"""Self-attention with three doors, and the cache of its keys and values."""

from __future__ import annotations

import math
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from posenc_lib import _require as require
from posenc_lib._arrays import is_transformed, surely, values_are_known, without_autocast
from posenc_lib._fused import fused_attention
from posenc_lib.attention import attention
from posenc_lib.biased import window_mask
from posenc_lib.nn.base import NoPE, PositionalEncoding
from posenc_lib.nn.doors import keys_that_count
from posenc_lib.nn.positions import Places, Positions, Span, as_tensor, places_of_heads, read_places
from posenc_lib.packed import packed_mask, packed_positions, read_both

GIVE_AGAIN = "earlier tokens in this cache came with positions of your own; give positions= again"


class Attention(nn.Module):
    """Multi-head self-attention: softmax(q k^T / sqrt(head_dim) + bias) v, on rotated q and k.

    The bias is added in float32 at least. Only beside queries of 16 bits on a GPU, whose kernels take nothing
    else, it is rounded: by up to 1/256 of what it lies below the largest of its row in bfloat16, by 1/2048 in
    float16.

    Its parameters have the names, shapes and start of `nn.MultiheadAttention`: weights load both ways. With
    `kv_heads` the rows of `in_proj_weight` are those of all queries, of the keys, and of the values:
    `torch.cat` of q_proj, k_proj and v_proj of a Llama checkpoint.

    Args:
        dim: width of the model.
        heads: number of heads; a divisor of dim, unless there is a head_dim.
        kv_heads: number of heads of keys and values, a divisor of heads, for grouped queries: a key head
            serves heads / kv_heads query heads in turn. As many as heads by default.
        head_dim: width of one head; dim / heads by default. Gemma and Qwen3 have wider ones.
        dropout: probability with which an attention weight is dropped in training.
        bias: whether the projections have a bias.
        window: how many keys a token sees going back, itself among them, and as far ahead where attention is
            not causal: `LayerPositions.window`. All by default.
        scale: what q k^T is multiplied by; 1 / sqrt(head_dim) by default. `LayerPositions.softmax_scale`.
            It is the queries that are multiplied: not what an encoding adds without them (Transformer-XL's
            and DeBERTa's terms of the keys), and before PoPE bends them.
        softcap: no score is above it: c tanh(scores / c) takes their place (Gemma 2).
        sinks: whether each head has the learned score of a key that is always there, `sinks` (gpt-oss).
        qk_norm: the epsilon of an RMS norm over each head's queries, and of one over its keys, before they
            are rotated: modules `q_norm` and `k_norm` (Qwen3; Gemma 3, whose weights must be 1 more than in
            its files). None for no norm.

    Raises:
        TypeError, ValueError: heads do not divide dim, or kv_heads heads; one of them, or a window, scale,
            softcap or qk_norm, is not above 0; dropout with sinks or a softcap, for which there is no fused
            kernel; when called, a softcap with an encoding that `replaces_products`.

    Attributes:
        record_weights: set to True to find the attention weights of the last call, (batch, heads, queries,
            keys), in `weights`. Slower: `posenc_lib.attention` works in place of the fused kernel, and no
            weight is dropped.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        *,
        kv_heads: int | None = None,
        head_dim: int | None = None,
        dropout: float = 0.0,
        bias: bool = True,
        window: int | None = None,
        scale: float | None = None,
        softcap: float | None = None,
        sinks: bool = False,
        qk_norm: float | None = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.dim, self.heads = require.count(dim, "dim"), require.count(heads, "heads")
        self.head_dim = (
            require.head_width(dim, heads) if head_dim is None else require.count(head_dim, "head_dim")
        )
        self.kv_heads = require.key_heads(kv_heads, heads)
        self.dropout = require.probability(dropout, "dropout")
        bias = require.flag(bias, "bias")
        require_dtype(dtype)
        where: dict[str, Any] = {"device": device, "dtype": dtype}
        rows = (self.heads + 2 * self.kv_heads) * self.head_dim
        self.in_proj_weight = nn.Parameter(torch.empty(rows, dim, **where))
        self.in_proj_bias = nn.Parameter(torch.empty(rows, **where)) if bias else None
        self.out_proj = nn.Linear(self.heads * self.head_dim, dim, bias=bias, **where)
        self.window = None if window is None else require.count(window, "window")
        self.scale = None if scale is None else require.positive(scale, "scale")
        self.softcap = None if softcap is None else require.positive(softcap, "softcap")
        self.sinks = nn.Parameter(torch.empty(self.heads, **where)) if require.flag(sinks, "sinks") else None
        if self.dropout and (sinks or softcap is not None):
            raise ValueError(
                f"dropout={dropout!r} with sinks or a softcap, which do not support dropout; give dropout=0"
            )
        self.q_norm = self.k_norm = None
        if qk_norm is not None:
            eps = require.positive(qk_norm, "qk_norm")
            self.q_norm, self.k_norm = (nn.RMSNorm(self.head_dim, eps, **where) for _ in "qk")
        self.record_weights = False
        self.weights: Tensor | None = None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the projections again, as `nn.MultiheadAttention` does."""
        self.out_proj.reset_parameters()
        nn.init.xavier_uniform_(self.in_proj_weight)
        if self.in_proj_bias is not None:
            nn.init.zeros_(self.in_proj_bias)
            nn.init.zeros_(self.out_proj.bias)
        if self.sinks is not None:
            nn.init.zeros_(self.sinks)

    def forward(
        self,
        x: Tensor,
        positions: Positions | None = None,
        encoding: PositionalEncoding | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        cache: LayerCache | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> Tensor:
        """Attend.

        Args:
            x: (batch, length, dim).
            positions: of its tokens, by default 0 .. length-1 (after those in the cache).
            encoding: what opens the doors `rotate` and `bias`; none by default.
            mask: booleans, True where the query may look at the key, or numbers to add to the scores;
                broadcasts to (batch, heads, length, keys).
            causal: let no token look at later ones.
            cache: keys and values of earlier tokens; those of x are added to it.
            cu_seqlens: for texts packed one after another in each row, where they end, as in
                `posenc_lib.packed_positions`, which are the positions then by default. No token looks at
                another text: each is attended to by itself; compiled, by a mask of length x length booleans.

        Returns:
            (batch, length, dim). A token that may look at no other gets the output projection's bias.

        Raises:
            TypeError, ValueError: x of another shape, a mask that does not fit, and what the encoding raises.
        """
        require_input(x, "x", self)
        causal = require.flag(causal, "causal")
        if cache is not None and not isinstance(cache, LayerCache):
            raise TypeError(f"cache is of type {type(cache).__name__}; give posenc_lib.nn.LayerCache()")
        if encoding is None:
            encoding = NoPE()
        elif not isinstance(encoding, PositionalEncoding):
            raise TypeError(
                f"encoding is of type {type(encoding).__name__}; give a PositionalEncoding, such as "
                f"make_encoding('rope', Sizes({self.dim}, {self.heads}))"
            )
        ends = None if cu_seqlens is None else read_texts(cu_seqlens, x, cache)
        if ends is not None and positions is None:
            positions = packed_positions(ends, x.shape[1])
        past = 0 if cache is None else cache.length
        if positions is None:
            before = Span(0, 0) if cache is None or not past else cache.positions
            if not isinstance(before, Span):
                raise ValueError(GIVE_AGAIN)
            positions = Span(before.stop, before.stop + x.shape[1])

        projected = F.linear(x, self.in_proj_weight, self.in_proj_bias)
        heads = self.heads + 2 * self.kv_heads
        by_head = projected.view(*x.shape[:2], heads, self.head_dim).transpose(1, 2)
        q, k, v = torch.split(by_head, [self.heads, self.kv_heads, self.kv_heads], dim=1)
        if self.q_norm is not None and self.k_norm is not None:
            q, k = self.q_norm(q), self.k_norm(k)
        if self.scale is not None:  # of the queries, so that an encoding that reads them sees the same
            q = q * (self.scale * math.sqrt(self.head_dim))
        q, k = encoding.rotate(q, k, positions, positions)  # door 2
        mask = _read_mask(mask, x, (x.shape[0], self.heads, q.shape[-2], past + k.shape[-2]))
        key_positions = positions
        seen = None if cache is None else cache.joined(k, v, positions)
        counts = None
        if cache is not None and seen is not None:
            k, v, key_positions = seen
            counts = cache.counted(mask, q.shape[-2], k) if encoding.reads_between else None
        if ends is not None and values_are_known(ends) and not self.record_weights:
            at = as_tensor(read_places(positions, x), x.device)
            outputs = []
            for text in _slices(ends):
                own, q_own, k_own, v_own = at[..., text], q[:, :, text], k[:, :, text], v[:, :, text]
                among = _among(mask, text)
                outputs.append(self._look(q_own, k_own, v_own, own, own, encoding, among, None, causal, past))
            output = torch.cat(outputs, dim=2)
        else:
            mask = mask if ends is None else _both(mask, packed_mask(ends, x.shape[1]))
            output = self._look(q, k, v, positions, key_positions, encoding, mask, counts, causal, past)
        joined: Tensor = self.out_proj(output.transpose(1, 2).flatten(2))
        if cache is not None and seen is not None:  # all has gone well: a refused call leaves no keys
            cache.k, cache.v, cache.positions = seen
            cache.counts = counts
        return joined

    def _look(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        encoding: PositionalEncoding,
        mask: Tensor | None,
        counts: Tensor | None,
        causal: bool,
        past: int,
    ) -> Tensor:
        if self.window is not None and not surely(k.shape[2] <= self.window):
            near = window_mask(q.shape[2], k.shape[2], self.window, causal=causal, like=q)
            mask = _both(mask, near)
        if self.softcap is not None and encoding.replaces_products:
            name = type(encoding).__name__
            raise ValueError(
                f"softcap={self.softcap!r} with {name}: its scores take the place of q . k, and are not "
                "capped; leave out softcap, or take another encoding"
            )
        looks = None if mask is None else _as_booleans(mask)
        if counts is not None:
            looks = counts[..., None, :]
        bias = encoding.bias(q, k, q_positions, k_positions, looks)  # door 3
        if bias is not None:
            require.to_scores(bias, "the encoding's bias", (*q.shape[:3], k.shape[2]))
        return self._attend(q, k, v, bias, mask, causal, past)

    def _attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        mask: Tensor | None,
        causal: bool,
        past: int,
    ) -> Tensor:
        if mask is not None and mask.dtype != torch.bool:
            bias, mask = (mask if bias is None else bias + mask), None
        if self.record_weights or self.softcap is not None or self.sinks is not None:
            with without_autocast(q):
                output, weights = attention(
                    q,
                    k,
                    v,
                    bias=bias,
                    mask=mask,
                    causal=causal,
                    sink=self.sinks,
                    softcap=self.softcap,
                    return_weights=True,
                )
            if self.record_weights:
                self.weights = weights.detach()
            together: Tensor = output
            return together
        queries, keys = q.shape[-2], k.shape[-2]
        fused = causal and bias is None and mask is None and past == 0  # the kernel masks by itself
        if causal and not fused and (past == 0 or queries > 1):  # one query at the end may look at all keys
            earlier = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
            mask = earlier if mask is None else mask & earlier
        if bias is not None:
            mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
        if mask is not None:
            mask = mask[(None,) * (4 - mask.ndim)]  # torch's fast kernel takes no mask of three axes
        dropout = self.dropout if self.training else 0.0
        # The fused kernel for the CPU has no gradient for a bias, and `vmap` hides from it that one is due.
        plain = sdpa_kernel(SDPBackend.MATH) if bias is not None and is_transformed() else nullcontext()
        # Autocast would round the bias.
        with plain, without_autocast(q):
            return fused_attention(
                q,
                k,
                v,
                mask,
                dropout_p=dropout,
                is_causal=fused,
                enable_gqa=self.kv_heads != self.heads,
            )

    def extra_repr(self) -> str:
        grouped = "" if self.kv_heads == self.heads else f", kv_heads={self.kv_heads}"
        more = ("window", "scale", "softcap")
        told = "".join(f", {name}={getattr(self, name)}" for name in more if getattr(self, name) is not None)
        return f"{self.dim}, heads={self.heads}{grouped}{told}"


def read_texts(cu_seqlens: Any, x: Tensor, cache: Any) -> Tensor:
    """Where the texts end that are packed along x's second axis, (texts + 1,)."""
    if cache is not None:
        raise ValueError(
            "packed texts cannot use a cache; to decode, give each text its own row, padded to one length"
        )
    ends: Tensor = read_both(cu_seqlens, x.shape[1], like=x)[0]
    return ends


def _slices(ends: Tensor) -> list[slice]:
    """The texts that have tokens; the first one where none has."""
    texts = [slice(*pair) for pair in pairwise(ends.tolist())]
    return [text for text in texts if text.start < text.stop] or texts[:1]


def _among(mask: Tensor | None, text: slice) -> Tensor | None:
    """The part of a mask for the queries and keys of one text."""
    if mask is None:
        return None
    rows = mask if mask.shape[-2] == 1 else mask[..., text, :]
    return rows if rows.shape[-1] == 1 else rows[..., text]


def _as_booleans(mask: Tensor) -> Tensor:
    """A mask of booleans, or of numbers to add, as booleans: True where a query may look at a key."""
    return mask if mask.dtype == torch.bool else mask > -math.inf


def _both(mask: Tensor | None, other: Tensor) -> Tensor:
    """The mask, of booleans or of numbers to add, and another of booleans."""
    if mask is None:
        return other
    return mask & other if mask.dtype == torch.bool else mask.masked_fill(~other, -math.inf)


def require_input(x: Any, name: str, attention: Attention, shape: str = "(batch, length, {dim})") -> None:
    """Raise unless these are vectors that the layer's weights can be multiplied with."""
    shape, weight = shape.format(dim=attention.dim), attention.in_proj_weight
    require.real_tensor(x, name, shape)
    if x.ndim != 3 or x.shape[-1] != attention.dim:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; give {shape}")
    require.same_device(**{name: x, "the weights": weight})
    if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
        raise TypeError(
            f"{name} has dtype {x.dtype}, but the weights have {weight.dtype}; cast one of them, with "
            ".to(dtype)"
        )


def require_dtype(dtype: Any) -> None:
    """Raise TypeError unless parameters can have this dtype."""
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"dtype={dtype!r} holds no real numbers; give one such as torch.float32")


class LayerCache:
    """The keys (rotated already), values and positions that one layer has seen.

    For an encoding that `reads_between` also which keys count, `counts` of shape (..., keys): padding does
    not, and what a query that came later may not look at does. Who reorders the batch reorders these, too.
    """

    def __init__(self) -> None:
        self.k: Tensor | None = None
        self.v: Tensor | None = None
        self.positions: Places = Span(0, 0)
        self.counts: Tensor | None = None

    @property
    def length(self) -> int:
        """How many tokens are in it."""
        return 0 if self.k is None else self.k.shape[-2]

    def extend(self, k: Tensor, v: Tensor, positions: Positions) -> tuple[Tensor, Tensor, Places]:
        """Add new keys, values and their positions; return all there are.

        Args:
            k, v: (batch, kv_heads, length, head_dim).
            positions: of the keys, see `Positions`.

        Raises:
            TypeError, ValueError: keys, values or positions that do not fit each other, or the cache.
        """
        first = self.k is None
        k, v, places = self.joined(k, v, positions)
        # The caller may write into its own tensors.
        self.k, self.v, self.positions = (k.clone(), v.clone(), places) if first else (k, v, places)
        if self.counts is not None:
            self.counts = self.counted(None, k.shape[-2] - self.counts.shape[-1], k)
        return self.k, self.v, self.positions

    def joined(self, k: Tensor, v: Tensor, positions: Positions) -> tuple[Tensor, Tensor, Places]:
        """What `extend` returns, and the cache stays as it is."""
        require.vectors_of_heads(k, "k")
        require.vectors_of_heads(v, "v", k.shape[1])
        if v.shape[:3] != k.shape[:3]:
            raise ValueError(
                f"{require.shapes(k=k, v=v)} differ before the last axis; give one value per key"
            )
        require.same_device(k=k, v=v)
        new = places_of_heads(positions, k)
        if self.k is None or self.v is None:
            # The caller may count on in its own tensor.
            return k, v, new.clone() if isinstance(new, Tensor) else new
        if k.shape[0] != self.k.shape[0]:
            raise ValueError(
                f"{k.shape[0]} rows in the batch, but {self.k.shape[0]} in the cache; a cache belongs to "
                "one batch, so make a new one"
            )
        require.same_device(k=k, **{"the cache": self.k})
        for name, given, kept in (("k", k, self.k), ("v", v, self.v)):
            if given.dtype != kept.dtype:
                raise TypeError(
                    f"{name} is {given.dtype}, but the cache holds {kept.dtype}; read the prompt and "
                    "what follows in one dtype, under autocast both or neither, or make a new cache"
                )
            if given.shape[1::2] != kept.shape[1::2]:
                raise ValueError(
                    f"{name} has shape {tuple(given.shape)}, but the cache holds {tuple(kept.shape)}: it "
                    "belongs to another layer; make a new one"
                )
        every = torch.cat([self.k, k], dim=-2), torch.cat([self.v, v], dim=-2)
        return *every, _joined(self.positions, new, k.device)

    def counted(self, mask: Tensor | None, queries: int, k: Tensor) -> Tensor:
        """Which of all keys count, (..., keys) booleans, once those of this call have come.

        Args:
            mask: of this call, as in `Attention`; None where its queries may look at all keys.
            queries: how many there are in this call.
            k: (batch, kv_heads, keys, head_dim), those in the cache and those of this call.

        Raises:
            ValueError: `counts` is not of the keys in the cache.
        """
        keys = k.shape[-2]
        if self.counts is not None and self.counts.shape[-1] != keys - queries:
            raise ValueError(
                f"the cache holds {keys - queries} keys, and counts of {self.counts.shape[-1]}; if you take "
                "keys out of k and v, take them out of positions and counts, too"
            )
        everything = torch.ones(keys, dtype=torch.bool, device=k.device)
        before = everything if self.counts is None else self.counts
        now = everything if mask is None else keys_that_count(_as_booleans(mask), queries, keys)
        past = keys - queries
        return _end_to_end(before[..., :past], now.expand(*now.shape[:-1], keys)[..., past:])


class Cache:
    """What a causal `Transformer` remembers of the tokens that it has read, for decoding step by step.

    Example:
        >>> import torch
        >>> from posenc_lib.nn import Transformer
        >>> model, cache = Transformer(256, 64, 2, 4).eval(), Cache()
        >>> text = torch.randint(256, (1, 10))
        >>> logits = model(text, cache=cache)  # the prompt
        >>> logits = model(logits[:, -1:].argmax(-1), cache=cache)  # one token more
    """

    def __init__(self) -> None:
        self.layers: list[LayerCache] = []
        self.length = 0
        self.padding: Tensor | None = None
        self.given_positions = False

    def counts(self) -> int | Tensor:
        """How many tokens, padding left out, each row has: an int where none was padded, else (batch, 1)."""
        if self.padding is None:
            return self.length
        return (~self.padding).sum(-1, keepdim=True)


def _read_mask(mask: Any, x: Tensor, scores: tuple[int, ...]) -> Tensor | None:
    """The mask, of two axes or more."""
    if mask is None:
        return None
    if not isinstance(mask, Tensor) or not (mask.dtype == torch.bool or mask.is_floating_point()):
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"mask is {kind}; give booleans, True where a query may look, or real numbers to add")
    require.tensors(mask=mask)
    require.same_device(x=x, mask=mask)
    require.to_scores(mask, "mask", scores)
    if mask.dtype == torch.bool:
        require.one_reading_of_mask(mask, scores)
    else:
        require.all_hold(mask < math.inf, mask, "mask holds NaN or +inf; give numbers to add, or booleans")
    return mask if mask.ndim > 1 else mask.reshape(1, -1)


def _joined(first: Places, second: Places, device: torch.device) -> Places:
    if isinstance(first, Span) and isinstance(second, Span) and first.stop == second.start:
        return Span(first.start, second.stop)
    return _end_to_end(as_tensor(first, device), as_tensor(second, device))


def _end_to_end(a: Tensor, b: Tensor) -> Tensor:
    """(..., n) and (..., m) as (..., n + m); the axes before the last broadcast."""
    axes = max(a.ndim, b.ndim)
    a, b = a.expand(*(1,) * (axes - a.ndim), *a.shape), b.expand(*(1,) * (axes - b.ndim), *b.shape)
    shape = torch.broadcast_shapes(a.shape[:-1], b.shape[:-1])  # type: ignore[no-untyped-call]
    return torch.cat([a.expand(*shape, -1), b.expand(*shape, -1)], dim=-1)
