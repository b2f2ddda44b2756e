"""Door 1 for sound, as a module: a convolution in place of positions."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib._arrays import surely
from posenc_lib.added import convolution_weight
from posenc_lib.nn.added import add_rows, read_input, require_rows
from posenc_lib.nn.base import PositionalEncoding, wide_dtype
from posenc_lib.nn.positions import Positions, one_axis, read_places


class ConvolutionPositions(PositionalEncoding):
    """wav2vec 2.0's positions: each token is told, by a grouped convolution, what is around it.

    It does not look at positions, but at the order in which tokens are in x. `Transformer` sets padding to
    0 for it, as wav2vec does, takes packed texts one at a time, and refuses a cache.

    Args:
        dim: width of x.
        taps: how many tokens it sees; 128 in wav2vec 2.0, two and a half seconds.
        groups: of columns that are mixed among themselves, a divisor of dim.
        causal: see the token and those before it alone, as a causal model needs it; without it, such a model
            refuses the encoding.

    Raises:
        TypeError, ValueError: sizes below 1, groups that do not divide dim.

    Example:
        >>> import torch
        >>> ConvolutionPositions(64, taps=16)(torch.randn(2, 50, 64)).shape
        torch.Size([2, 50, 64])

    Source: Baevski et al. 2020, "wav2vec 2.0", section 2. The weights are those of `pos_conv_embed.conv` in
    transformers: direction is its original1, magnitude its original0, flattened. The start is that of its
    code.
    """

    reads_neighbours = True

    def __init__(self, dim: int, *, taps: int = 128, groups: int = 16, causal: bool = False) -> None:
        super().__init__()
        self.dim, self.taps = require.count(dim, "dim"), require.count(taps, "taps")
        self.groups, self.causal = require.count(groups, "groups"), require.flag(causal, "causal")
        if self.dim % self.groups:
            raise ValueError(f"groups={groups} do not divide dim={dim}; give a divisor of {dim}")
        self.before = self.taps - 1 if self.causal else self.taps // 2
        self.looks_ahead = self.before < self.taps - 1
        self.direction = nn.Parameter(torch.empty(self.dim, self.dim // self.groups, self.taps))
        self.magnitude = nn.Parameter(torch.empty(self.taps))
        self.bias_of_columns = nn.Parameter(torch.empty(self.dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the convolution again."""
        nn.init.normal_(self.direction, std=2.0 * math.sqrt(1.0 / (self.taps * self.dim)))
        nn.init.zeros_(self.bias_of_columns)
        with torch.no_grad():
            self.magnitude.copy_(self.direction.square().sum(dim=(0, 1)).sqrt())

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + the convolution of x, rounded once."""
        places = one_axis(read_places(positions, read_input(x, self.dim)), self)
        if isinstance(places, Tensor):
            require_rows(places.shape, x)
        require.same_device(x=x, **{"the weights": self.direction})
        dtype = wide_dtype(x)
        weight = convolution_weight(self.direction.to(dtype), self.magnitude.to(dtype))
        if surely(x.shape[-2] == 0):  # which torch's convolution refuses
            return x
        texts = x.to(dtype).flatten(0, -3) if x.ndim > 2 else x.to(dtype)
        columns = nn.functional.pad(texts.mT, (self.before, self.taps - 1 - self.before))
        mixed = nn.functional.conv1d(columns, weight, self.bias_of_columns.to(dtype), groups=self.groups)
        return add_rows(x, nn.functional.gelu(mixed).mT.reshape(x.shape))

    def extra_repr(self) -> str:
        return f"{self.dim}, taps={self.taps}, groups={self.groups}, causal={self.causal}"
