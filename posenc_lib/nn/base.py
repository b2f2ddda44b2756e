"""The base of every encoding: three doors, all shut until a subclass opens one."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from posenc_lib._arrays import is_compiling, values_are_known
from posenc_lib.nn.positions import Positions, Span


class PositionalEncoding(nn.Module):
    """A positional encoding as a module. Each subclass opens the door through which it enters attention.

    A model calls all three doors and need not know which one does something:

    1. `add`, once, on the input x
    2. `rotate`, in every layer, on queries and keys
    3. `bias`, in every layer, on the scores
    """

    per_layer = False
    """Whether the source gives every layer parameters of its own, rather than one set to all layers."""

    causal_only = False
    """Whether it is for causal attention alone. For some that depends on how they were made: `ALiBi` is,
    unless its direction is "symmetric" or "asymmetric"."""

    looks_ahead = False
    """Whether `add` tells a token about later ones, which no causal mask can take back."""

    replaces_products = False
    """Whether its bias takes q . k off again, and puts other scores there, which a softcap does not reach."""

    reads_neighbours = False
    """Whether `add` looks at the tokens beside each one. Then padding has to be zeros, each text of a row
    stands alone, and a cache of keys is not enough to go on from."""

    reads_between = False
    """Whether its bias reads the keys between a key and the query. It passes over those that do not count,
    such as padding: a key counts if its own query may look at it, and a cache remembers which ones do."""

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """Door 1: x + p(position).

        Args:
            x: (..., length, dim).
            positions: of its tokens, see `Positions`.

        Returns:
            (..., length, dim), of x's dtype.
        """
        return x

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        *,
        seq_axis: int = -2,
    ) -> tuple[Tensor, Tensor]:
        """Door 2: R(position) q and R(position) k.

        Args:
            q: (batch, heads, queries, head_dim).
            k: (batch, kv_heads, keys, head_dim); kv_heads is heads or, for grouped queries, a divisor of it.
            q_positions, k_positions: of the queries and of the keys, see `Positions`.
            seq_axis: -3 (or 1) where q and k are (batch, queries or keys, heads, head_dim).

        Returns:
            The pair (q, k), shapes and dtypes as given.
        """
        return q, k

    def bias(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        mask: Tensor | None = None,
        *,
        seq_axis: int = -2,
    ) -> Tensor | None:
        """Door 3: what is added to q k^T / sqrt(head_dim).

        Args:
            q: (batch, heads, queries, head_dim), after `rotate`.
            k: (batch, kv_heads, keys, head_dim), after `rotate`.
            q_positions, k_positions: of the queries and of the keys, see `Positions`.
            mask: booleans that broadcast to the scores, True where a query may look at a key. For an
                encoding that counts keys (CoPE) or `reads_between`; the others do not look at it. Beside a
                cache, the latter get (..., 1, keys), True for keys that count.
            seq_axis: of q and k, as in `rotate`.

        Returns:
            None for no bias, else real numbers that broadcast to (batch, heads, queries, keys). They are
            float32 at least where they do not depend on q and k: in bfloat16 a bias of -1000 is off by 2.
            How far `Attention` rounds them on a GPU is said there.
            Keys after the query are not masked here: that is the attention's part.
        """
        return None

    def forward(self, x: Tensor, positions: Positions | None = None) -> Tensor:
        """`add`, by default at positions 0 .. length-1, so that the module fits in `nn.Sequential`.

        Raises:
            TypeError: the encoding adds nothing to x, and would be passed over in silence.
        """
        if type(self).add is PositionalEncoding.add and not isinstance(self, NoPE):
            raise TypeError(
                f"{type(self).__name__} adds nothing to x; it works inside attention, by `rotate` or `bias`; "
                "give it to posenc_lib.nn.Transformer, or to EncoderLayer in nn.TransformerEncoder"
            )
        return self.add(x, Span(0, x.shape[-2]) if positions is None else positions)


class NoPE(PositionalEncoding):
    """No encoding at all: all doors shut.

    Attention then treats tokens as a bag, but for the causal mask, from which a decoder can learn order.

    Source: Haviv et al. 2022, "Transformer Language Models without Positional Encodings Still Learn
    Positional Information"; the name is from Kazemnejad et al. 2023.
    """


def wide_dtype(x: Tensor) -> torch.dtype:
    """float64 for float64, else float32: what tables and biases are made in, whatever the module's dtype."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def is_plain(layer: nn.Module) -> bool:
    """Whether a call of the layer is x W^T + b and no more: `nn.Linear`, without hooks of its own, no adapter
    or quantised layer in its place."""
    hooks = (
        layer._forward_pre_hooks,
        layer._forward_hooks,
        layer._backward_pre_hooks,
        layer._backward_hooks,
    )
    return type(layer) is nn.Linear and "forward" not in vars(layer) and not any(hooks)


def own_dtype(layer: nn.Module, otherwise: torch.dtype) -> torch.dtype:
    """The dtype in which a layer takes its input; `otherwise` where no parameter tells."""
    return next((each.dtype for each in layer.parameters() if each.is_floating_point()), otherwise)


def through(layer: nn.Module, x: Tensor) -> Tensor:
    """x through a linear layer, in x's dtype; what stands for an `nn.Linear` is called, in its own dtype."""
    if isinstance(layer, nn.Linear) and is_plain(layer):
        bias = None if layer.bias is None else layer.bias.to(x.dtype)
        return nn.functional.linear(x, layer.weight.to(x.dtype), bias)
    called: Tensor = layer(x.to(own_dtype(layer, x.dtype))).to(x.dtype)
    return called


def trunc_normal_(tensor: Tensor, std: float) -> None:
    """`nn.init.trunc_normal_`, which looks at the numbers that it draws, where there are any."""
    if values_are_known(tensor):
        nn.init.trunc_normal_(tensor, std=std)
    else:
        nn.init.normal_(tensor, std=std)


def for_tracer(values: Any, device: torch.device) -> Any:
    """Fixed numbers as they are; as a tensor while torch.compile traces, which reads no dtype of NumPy's."""
    if isinstance(values, np.ndarray) and is_compiling():
        return torch.from_numpy(values).to(device)
    return values
