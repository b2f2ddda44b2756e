"""Door 3 for windows of patches, as modules: a bias for each offset down and across."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib._arrays import is_compiling
from posenc_lib.biased import swin_index
from posenc_lib.biased.swin import read_window, rows_of_window
from posenc_lib.biased.swin_v2 import LARGEST, swin_v2_coordinates, swin_v2_table
from posenc_lib.biased.t5 import by_head
from posenc_lib.nn.base import is_plain, through, trunc_normal_, wide_dtype
from posenc_lib.nn.doors import ScoreBias
from posenc_lib.nn.positions import Places, as_tensor, in_grid
from posenc_lib.nn.tables import KeptTables


class _WindowBias(ScoreBias):
    """A bias that depends on the offset of two patches. A position is a token's number in the window."""

    per_layer = True
    heads: int
    shape: tuple[int, int]
    class_token = False

    def __init__(self) -> None:
        super().__init__()
        self._kept = KeptTables()

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        bias: Tensor = by_head(self._table(wide_dtype(q), q.device), self._index(at_q, at_k, q.device))
        return bias

    def _table(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        """The bias of each offset and head, (rows, heads)."""
        raise NotImplementedError

    def _index(self, at_q: Places, at_k: Places, device: torch.device) -> Tensor:
        """The table's row for each query and key; that of the whole window is kept."""
        shape, class_token = read_window(self.shape), self.class_token
        rows: Tensor
        if isinstance(at_q, Tensor) or isinstance(at_k, Tensor) or is_compiling():
            rows = swin_index(
                shape, as_tensor(at_q, device), as_tensor(at_k, device), class_token=class_token
            )
            return rows
        for places in (at_q, at_k):
            in_grid(places, shape, self, first=int(class_token))
        rows = self._kept.whole(
            lambda: swin_index(shape, class_token=class_token, like=torch.empty(0, device=device)),
            settings=(shape, class_token),
            device=device,
            dtype=torch.int64,
        )
        return rows[at_q.start : at_q.stop, at_k.start : at_k.stop]


class SwinBias(_WindowBias):
    """Swin's bias: one learned number per head and offset in the window. With `class_token`, BEiT's.

    A position is the number of the patch in reading order, after the class token where there is one.

    Args:
        heads: number of attention heads.
        shape: (height, width) of the window, in patches.
        class_token: token 0 is not a patch, as in BEiT.
        std: standard deviation of the numbers at the start.

    Raises:
        TypeError, ValueError: as `posenc_lib.swin_index`; heads below 1, std not positive; from `bias`, a
            position outside the window.

    Source: Liu et al. 2021, "Swin Transformer", equation 4; Bao et al. 2022, "BEiT". The start is that of
    Swin's code. Both have a table for each layer; some of BEiT's checkpoints share one.
    """

    def __init__(
        self, heads: int, shape: tuple[int, int], *, class_token: bool = False, std: float = 0.02
    ) -> None:
        super().__init__()
        self.heads, self.shape = require.count(heads, "heads"), read_window(shape)
        self.class_token, self.std = class_token, require.positive(std, "std")
        self.table = nn.Parameter(torch.empty(rows_of_window(self.shape, class_token), self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table again."""
        trunc_normal_(self.table, self.std)

    def _table(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return self.table.to(dtype)

    def extra_repr(self) -> str:
        return f"{self.heads}, shape={self.shape}, class_token={self.class_token}"


class SwinV2Bias(_WindowBias):
    """SwinV2's bias: a small network reads the offset of two patches, on a logarithmic scale.

    It takes a window of any shape: set `shape` to that of larger images, and `pretrained` to the old one.
    SwinV2 adds its bias to scaled cosines of query and key; `Attention` adds it to its own scores.

    Args:
        heads: number of attention heads.
        shape: (height, width) of the window, in patches.
        hidden: units of the network.
        pretrained: the window that the network was trained on; by default this one.

    Raises:
        TypeError, ValueError: as `posenc_lib.swin_v2_bias`; heads or hidden below 1; from `bias`, a position
            outside the window.

    Source: Liu et al. 2022, "Swin Transformer V2", section 3.3; `continuous_position_bias_mlp` of
    transformers has the same weights.
    """

    def __init__(
        self,
        heads: int,
        shape: tuple[int, int],
        *,
        hidden: int = 512,
        pretrained: tuple[int, int] | None = None,
    ) -> None:
        super().__init__()
        self.heads, self.shape = require.count(heads, "heads"), read_window(shape)
        self.pretrained = None if pretrained is None else read_window(pretrained, "pretrained")
        self.first = nn.Linear(2, require.count(hidden, "hidden"))
        self.second = nn.Linear(hidden, self.heads, bias=False)

    def reset_parameters(self) -> None:
        """Draw the network again."""
        self.first.reset_parameters()
        self.second.reset_parameters()

    def _table(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        if not (is_plain(self.first) and is_plain(self.second)):
            coordinates = swin_v2_coordinates(self.shape, pretrained=self.pretrained)
            hidden = through(self.first, torch.as_tensor(coordinates, dtype=dtype, device=device)).relu()
            return LARGEST * through(self.second, hidden).sigmoid()
        w1, b1, w2 = (each.to(dtype) for each in (self.first.weight, self.first.bias, self.second.weight))
        table: Tensor = swin_v2_table((w1, b1, w2), self.shape, self.pretrained)
        return table

    def extra_repr(self) -> str:
        return f"{self.heads}, shape={self.shape}, pretrained={self.pretrained}"
