"""`nn.TransformerEncoderLayer` with the doors `rotate` and `bias`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_lib import _require as require
from posenc_lib.nn.attention import Attention, require_input
from posenc_lib.nn.base import PositionalEncoding
from posenc_lib.nn.encodings import Sizes, make_encoding
from posenc_lib.nn.positions import Positions, Span
from posenc_lib.nn.transformer import count_tokens

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


class EncoderLayer(nn.Module):
    """A drop-in for `nn.TransformerEncoderLayer` whose attention knows where tokens are.

    Constructor, call and state dict are those of torch's layer; with encoding="none" so are the results.
    `nn.TransformerEncoder` copies the layer, so that each copy has its own encoding.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias,
            device, dtype: as in `nn.TransformerEncoderLayer`.
        encoding: a name, one of `ENCODINGS`, or a `PositionalEncoding`. It must enter by `rotate` or `bias`:
            what is added belongs before the encoder, as in
            `nn.Sequential(embedding, Sinusoidal(dim), nn.TransformerEncoder(...))`.
        causal: whether the encoding is for a causal mask; the mask itself comes with the call, as in torch.
        length, kv_heads: as in `Transformer`. Torch's layer has no grouped queries to compare with.

    Raises:
        TypeError, ValueError: as `Transformer`; an encoding that is added; an unknown activation.

    Example:
        >>> import torch
        >>> from torch import nn
        >>> layer = EncoderLayer(64, 4, batch_first=True, encoding="rope")
        >>> encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        >>> encoder(torch.randn(2, 10, 64)).shape
        torch.Size([2, 10, 64])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: torch.dtype | None = None,
        *,
        encoding: str | PositionalEncoding = "none",
        causal: bool = False,
        length: int | None = None,
        kv_heads: int | None = None,
    ) -> None:
        super().__init__()
        where: dict[str, Any] = {"device": device, "dtype": dtype}
        for name, flag in (("batch_first", batch_first), ("norm_first", norm_first), ("bias", bias)):
            require.flag(flag, name)
        require.count(dim_feedforward, "dim_feedforward")
        require.positive(layer_norm_eps, "layer_norm_eps")
        self.self_attn = Attention(d_model, nhead, kv_heads=kv_heads, dropout=dropout, bias=bias, **where)
        self.self_attn.batch_first = batch_first  # type: ignore[assignment]  # nn.TransformerEncoder asks for it
        self.linear1 = nn.Linear(d_model, dim_feedforward, bias=bias, **where)
        self.linear2 = nn.Linear(dim_feedforward, d_model, bias=bias, **where)
        self.norm1 = nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
        self.norm2 = nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
        self.dropout = nn.Dropout(dropout)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)
        if isinstance(activation, str):
            activation = ACTIVATIONS[require.choice(activation, "activation", tuple(ACTIVATIONS))]
        if not callable(activation) or isinstance(activation, type):
            raise TypeError(f"activation={activation!r} cannot be called; give a function, or its name")
        self.activation = activation
        self.batch_first, self.norm_first = batch_first, norm_first
        sizes = Sizes(dim=d_model, heads=nhead, causal=causal, length=length)
        self.encoding = make_encoding(encoding, sizes).to(**where)
        if type(self.encoding).add is not PositionalEncoding.add:
            raise ValueError(
                f"{type(self.encoding).__name__} is added to the input, once, and not in every layer; put it "
                "before the encoder: nn.Sequential(embedding, encoding, nn.TransformerEncoder(...))"
            )

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """As `nn.TransformerEncoderLayer`; tokens are counted from 0 in each row, padding left out.

        Args:
            src: (batch, length, d_model) with batch_first, else (length, batch, d_model).
            src_mask: (length, length) or (batch * nhead, length, length): booleans, True where the query
                may *not* look at the key, or numbers to add to the scores.
            src_key_padding_mask: (batch, length) booleans, True at padding, or numbers to add.
            is_causal: let no token look at later ones; beside a src_mask, which decides, it does nothing.

        Returns:
            As src.

        Raises:
            TypeError, ValueError: shapes or dtypes that do not fit.
        """
        shape = "(batch, length, {dim})" if self.batch_first else "(length, batch, {dim})"
        require_input(src, "src", self.self_attn, shape)
        is_causal = require.flag(is_causal, "is_causal")
        x = src if self.batch_first else src.transpose(0, 1)
        self._require_masks(src_mask, src_key_padding_mask, x)
        positions: Positions = Span(0, x.shape[1])
        if src_key_padding_mask is not None:
            positions = count_tokens(_is_hidden(src_key_padding_mask))
        mask = self._join_masks(src_mask, src_key_padding_mask, x)
        causal = is_causal and src_mask is None

        def attend(y: Tensor) -> Any:
            return self.dropout1(self.self_attn(y, positions, self.encoding, mask=mask, causal=causal))

        def feed(y: Tensor) -> Any:
            return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(y)))))

        if self.norm_first:
            x = x + attend(self.norm1(x))
            x = x + feed(self.norm2(x))
        else:
            x = self.norm1(x + attend(x))
            x = self.norm2(x + feed(x))
        result: Tensor = x if self.batch_first else x.transpose(0, 1)
        return result

    def _join_masks(self, src_mask: Tensor | None, padding: Tensor | None, x: Tensor) -> Tensor | None:
        """One mask for `Attention`: booleans, or numbers to add; None for no mask."""
        masks = []
        if src_mask is not None:
            length = x.shape[1]
            masks.append(
                src_mask.reshape(-1, self.self_attn.heads if src_mask.ndim == 3 else 1, length, length)
            )
        if padding is not None:
            masks.append(padding[:, None, None, :])
        if not masks:
            return None
        if all(mask.dtype == torch.bool for mask in masks):
            return ~(masks[0] | masks[-1])
        numbers = [_as_numbers(mask, x.dtype) for mask in masks]
        return numbers[0] if len(masks) == 1 else numbers[0] + numbers[1]

    def _require_masks(self, src_mask: Any, padding: Any, x: Tensor) -> None:
        batch, length, _ = x.shape
        allowed: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
            "src_mask": (src_mask, [(length, length), (batch * self.self_attn.heads, length, length)]),
            "src_key_padding_mask": (padding, [(batch, length)]),
        }
        for name, (mask, shapes) in allowed.items():
            if mask is None:
                continue
            if not isinstance(mask, Tensor) or not (mask.dtype == torch.bool or mask.is_floating_point()):
                kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
                raise TypeError(
                    f"{name} is {kind}; give booleans, True where a token is hidden, or numbers to add"
                )
            require.tensors(**{name: mask})
            require.same_device(**{"src": x, name: mask})
            if tuple(mask.shape) not in shapes:
                wanted = " or ".join(str(shape) for shape in shapes)
                raise ValueError(f"{name} has shape {tuple(mask.shape)}; give {wanted}")


def _is_hidden(mask: Tensor) -> Tensor:
    """A mask of torch's kind as booleans, True at what may not be looked at."""
    return mask if mask.dtype == torch.bool else mask == -torch.inf


def _as_numbers(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """A mask of torch's kind as numbers to add to the scores."""
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -torch.inf)
