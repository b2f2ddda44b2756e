"""A small Transformer that takes any encoding, by name or as a module."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib._arrays import values_are_known
from posenc_lib.nn.attention import GIVE_AGAIN, Attention, Cache, LayerCache, read_texts, require_input
from posenc_lib.nn.base import PositionalEncoding
from posenc_lib.nn.encodings import Sizes, make_encoding
from posenc_lib.nn.positions import Places, Positions, Span, as_tensor, read_places
from posenc_lib.packed import packed_positions


class Block(nn.Module):
    """One layer: attention, then a network for each token, each on a normalised input, added to it.

    Args:
        dim, heads, kv_heads: as in `Attention`.
        hidden: width of the network, 4 * dim by default.
        dropout: after both parts, and on the attention weights.

    Source: Vaswani et al. 2017, figure 1, with the norms first, as GPT-2.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        *,
        kv_heads: int | None = None,
        hidden: int | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        dim = require.count(dim, "dim")
        hidden = 4 * dim if hidden is None else require.count(hidden, "hidden")
        self.norm1 = nn.LayerNorm(dim)
        self.attention = Attention(dim, heads, kv_heads=kv_heads, dropout=dropout)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        positions: Positions,
        encoding: PositionalEncoding,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        cache: LayerCache | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> Tensor:
        """(batch, length, dim) to the same; arguments as in `Attention`."""
        require_input(x, "x", self.attention)
        attended = self.attention(
            self.norm1(x), positions, encoding, mask=mask, causal=causal, cache=cache, cu_seqlens=cu_seqlens
        )
        x = x + self.dropout(attended)
        y: Tensor = x + self.dropout(self.mlp(self.norm2(x)))
        return y


class Transformer(nn.Module):
    """Embedding, encoding, blocks, norm, head. The encoding is the only thing that knows of positions.

    Args:
        vocabulary: number of tokens. None for a model without embedding and head, from vectors to vectors:
            put your own before and after it.
        dim: width of the model.
        layers: number of blocks.
        heads: number of heads, a divisor of dim.
        kv_heads: number of heads of keys and values, a divisor of heads; as many by default.
        encoding: a name, one of `ENCODINGS`, or a `PositionalEncoding`. By name, encodings whose source
            gives each layer its own parameters do so here (their `per_layer`); a module serves all layers.
        causal: let no token look at later ones: a language model. False for an encoder.
        length: how long the sequences will be. Encodings by name that need it say so: "learned" for the
            size of its table, "grid" for its shape.
        hidden: width of each block's network, 4 * dim by default.
        dropout: probability, in training.

    Raises:
        TypeError: a size is not an integer, the encoding neither a name nor a module.
        ValueError: an unknown name, sizes that do not fit each other or the encoding.

    Example:
        >>> import torch
        >>> model = Transformer(256, 64, 2, 4, encoding="alibi")
        >>> model(torch.randint(256, (2, 10))).shape
        torch.Size([2, 10, 256])

    Source: Vaswani et al. 2017; norms first and GELU as GPT-2, Radford et al. 2019. Token embeddings start
    with standard deviation 1 (torch's `nn.Embedding`), as Vaswani et al. have them after sqrt(dim).
    """

    def __init__(
        self,
        vocabulary: int | None,
        dim: int,
        layers: int,
        heads: int,
        *,
        encoding: str | PositionalEncoding = "rope",
        causal: bool = True,
        length: int | None = None,
        kv_heads: int | None = None,
        hidden: int | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.dim, self.causal = require.count(dim, "dim"), require.flag(causal, "causal")
        require.count(layers, "layers")
        require.head_width(dim, require.count(heads, "heads"))
        if length is not None:
            require.count(length, "length")
        sizes = Sizes(dim=dim, heads=heads, causal=causal, length=length)
        self.vocabulary = None if vocabulary is None else require.count(vocabulary, "vocabulary")
        self.embedding = nn.Identity() if vocabulary is None else nn.Embedding(vocabulary, dim)
        own = make_encoding(encoding, sizes)
        copies = layers if own.per_layer and own is not encoding else 1
        self.encodings = nn.ModuleList([own, *(make_encoding(encoding, sizes) for _ in range(copies - 1))])
        self.blocks = nn.ModuleList(
            Block(dim, heads, kv_heads=kv_heads, hidden=hidden, dropout=dropout) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Identity() if vocabulary is None else nn.Linear(dim, vocabulary, bias=False)
        self.dropout = nn.Dropout(dropout)

    @property
    def encoding(self) -> PositionalEncoding:
        """The encoding (of the first layer, where each has its own)."""
        first = self.encodings[0]
        assert isinstance(first, PositionalEncoding)
        return first

    def forward(
        self,
        tokens: Tensor,
        *,
        positions: Positions | None = None,
        padding_mask: Tensor | None = None,
        cache: Cache | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> Tensor:
        """Logits for each token.

        Args:
            tokens: (batch, length), integers; or (batch, length, dim), vectors, where vocabulary is None.
            positions: where they are, see `Positions`. By default each row counts its tokens from 0,
                padding left out, on from those in the cache.
            padding_mask: (batch, length) booleans, True at padding, which no token looks at (as
                `src_key_padding_mask` of torch; Hugging Face's `attention_mask` is its opposite). Padding may
                be on the left or on the right.
            cache: a `Cache`, for decoding step by step: tokens are those that come after it.
            cu_seqlens: for texts packed one after another, (1, length), in place of padding: where they end,
                as in `Attention`.

        Returns:
            (batch, length, vocabulary), or (batch, length, dim) where vocabulary is None.

        Raises:
            TypeError: tokens, positions or mask of another kind; a mask that is not boolean.
            ValueError: shapes that do not fit, a token beyond the vocabulary, a cache with a model that is
                not causal, with another batch, or with an encoding that looks at neighbours, and what the
                encoding raises.
        """
        self._require_input(tokens, padding_mask, cache)
        given = positions is not None
        padding = _with_past(padding_mask, cache, tokens)
        mask = None if padding is None else may_look(padding, tokens.shape[1])
        if cu_seqlens is not None:
            if padding_mask is not None:
                raise ValueError(
                    "packed texts need no padding_mask, because cu_seqlens says where each one ends; give "
                    "one of the two"
                )
            cu_seqlens = read_texts(cu_seqlens, tokens, cache)
            if positions is None:
                positions = packed_positions(cu_seqlens, tokens.shape[1])
        elif positions is None:
            positions = _count(tokens, padding_mask, cache)

        x = self.embedding(tokens)
        positions = read_places(positions, x)
        x = self.dropout(self._add(x, positions, padding_mask, cache, cu_seqlens))  # door 1
        for layer, block in enumerate(self.blocks):
            encoding = self.encodings[layer % len(self.encodings)]
            memory = None if cache is None else cache.layers[layer]
            x = block(
                x, positions, encoding, mask=mask, causal=self.causal, cache=memory, cu_seqlens=cu_seqlens
            )
        if cache is not None:
            cache.length += tokens.shape[1]
            cache.padding = padding.clone() if padding is padding_mask and padding is not None else padding
            cache.given_positions = cache.given_positions or given
        logits: Tensor = self.head(self.norm(x))
        return logits

    def _add(
        self,
        x: Tensor,
        positions: Places,
        padding: Tensor | None,
        cache: Cache | None,
        cu_seqlens: Tensor | None,
    ) -> Tensor:
        """Door 1, which an encoding that looks at neighbours opens on whole texts, and on nothing else."""
        encoding = self.encoding
        if not encoding.reads_neighbours:
            return encoding.add(x, positions)
        if cache is not None:
            raise ValueError(
                f"{type(encoding).__name__} reads the neighbours of each token, which a cache does not keep; "
                "leave out the cache, and give the whole text again"
            )
        if padding is not None:
            x = x.masked_fill(padding[..., None], 0.0)
        if cu_seqlens is None:
            return encoding.add(x, positions)
        at, ends = as_tensor(positions, x.device), cu_seqlens.tolist()
        texts = [slice(first, last) for first, last in pairwise(ends) if last > first]
        return torch.cat([encoding.add(x[:, text], at[..., text]) for text in texts], dim=1)

    def _require_input(self, tokens: Any, padding_mask: Any, cache: Any) -> None:
        require.tensors(tokens=tokens)
        if self.vocabulary is None:
            if not tokens.is_floating_point():
                raise TypeError(f"tokens have dtype {tokens.dtype}; without a vocabulary give real vectors")
            if tokens.ndim != 3 or tokens.shape[-1] != self.dim:
                raise ValueError(f"tokens have shape {tuple(tokens.shape)}; give (batch, length, {self.dim})")
        else:
            if tokens.dtype not in (torch.int32, torch.int64):
                raise TypeError(f"tokens have dtype {tokens.dtype}; give their numbers as int64 or int32")
            if tokens.ndim != 2:
                raise ValueError(f"tokens have shape {tuple(tokens.shape)}; give (batch, length)")
            _require_vocabulary(tokens, self.vocabulary)
        if tokens.shape[1] == 0:
            raise ValueError(
                f"tokens have shape {tuple(tokens.shape)}: there are none at all; give at least one in each "
                "row"
            )
        if padding_mask is not None:
            require_padding_mask(padding_mask, tokens.shape[:2], "padding_mask")
        if cache is not None:
            self._require_cache(cache)

    def _require_cache(self, cache: Any) -> None:
        if not isinstance(cache, Cache):
            raise TypeError(f"cache is of type {type(cache).__name__}; give posenc_lib.nn.Cache()")
        if not self.causal:
            raise ValueError(
                "a cache needs causal=True: if tokens may look ahead, every new token changes what was "
                "computed before it"
            )
        if not cache.layers:
            cache.layers = [LayerCache() for _ in self.blocks]
        lengths = {layer.length for layer in cache.layers}
        if len(cache.layers) != len(self.blocks) or lengths != {cache.length}:
            raise ValueError(
                f"the cache holds {len(cache.layers)} layers of {sorted(lengths)} tokens, but this model of "
                f"{len(self.blocks)} layers has read {cache.length}: the cache belongs to another model, or "
                "a call failed halfway; make a new one"
            )


def require_padding_mask(mask: Any, shape: tuple[int, ...], name: str) -> None:
    """Raise unless the mask is booleans of the shape (batch, length)."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(
            f"{name} is {kind}; give booleans, True at padding (for Hugging Face's attention_mask: "
            "attention_mask == 0)"
        )
    if tuple(mask.shape) != tuple(shape):
        raise ValueError(f"{name} has shape {tuple(mask.shape)}; give (batch, length), here {tuple(shape)}")


def count_tokens(padding: Tensor, past: int | Tensor = 0) -> Tensor:
    """Positions (batch, length) that count each row's tokens from `past`; padding is not counted."""
    return (past + (~padding).cumsum(-1) - 1).clamp(min=0)


def may_look(padding: Tensor, queries: int) -> Tensor:
    """(batch, 1, queries, keys): at whatever is no padding, and at oneself where only padding came before.

    The latter so that padding, too, has something to look at: over nothing, a softmax is NaN on some devices.
    Elsewhere it does not look at itself: an encoding that counts keys which are looked at would count it.
    """
    keys = padding.shape[-1]
    numbers = torch.arange(keys, device=padding.device)
    itself = numbers == numbers[keys - queries :, None]
    first = (~padding).cumsum(-1)[:, None, keys - queries :, None] == 0
    return (~padding[:, None, None, :]) | (itself & first)


def _require_vocabulary(tokens: Tensor, vocabulary: int) -> None:
    if tokens.device.type != "cpu" or not values_are_known(tokens) or tokens.numel() == 0:
        return  # there the embedding itself refuses
    least, most = int(tokens.min()), int(tokens.max())
    if least < 0 or most >= vocabulary:
        raise ValueError(
            f"token {least if least < 0 else most} is not in the vocabulary of {vocabulary}; give "
            f"numbers from 0 to {vocabulary - 1}"
        )


def _with_past(padding: Tensor | None, cache: Cache | None, tokens: Tensor) -> Tensor | None:
    """The padding of all keys, (batch, keys); None where there never was any."""
    if cache is None or cache.length == 0:
        return padding
    if padding is None and cache.padding is None:
        return None
    batch = tokens.shape[0]
    none = torch.zeros(batch, 1, dtype=torch.bool, device=tokens.device)
    before = none.expand(batch, cache.length) if cache.padding is None else cache.padding
    now = none.expand(batch, tokens.shape[1]) if padding is None else padding
    if before.shape[0] != batch:
        raise ValueError(f"{batch} rows in the batch, but {before.shape[0]} in the cache; make a new cache")
    return torch.cat([before, now], dim=-1)


def _count(tokens: Tensor, padding: Tensor | None, cache: Cache | None) -> Places:
    """The positions of the new tokens."""
    past: int | Tensor = 0
    if cache is not None:
        if cache.given_positions:
            raise ValueError(GIVE_AGAIN)
        past = cache.counts()
    if padding is not None:
        return count_tokens(padding, past)
    length = tokens.shape[1]
    if isinstance(past, Tensor):
        return past + torch.arange(length, device=tokens.device)
    return Span(past, past + length)
