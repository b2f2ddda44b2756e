"""The functions inside PyTorch's autocast: what is made of float32 is made of float32 there, too."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import posenc_lib as p

LENGTH = 6
FUNCTIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "attention": lambda q, k: p.attention(q, k, k),
    "grouped queries": lambda q, k: p.attention(q, k[:, :1], k[:, :1], causal=True),
    "path": lambda q, k: p.path_bias(q, k, k / 4, k[..., 0].sigmoid()),
    "pope": lambda q, k: p.pope_bias(q, k, LENGTH, LENGTH),
    "self-extend": lambda q, k: p.self_extend_bias(q, k, LENGTH, LENGTH, group=2, window=2),
    "dual chunk": lambda q, k: p.dual_chunk_bias(q, k, LENGTH, LENGTH, chunk=2, window=1),
    "cope": lambda q, k: p.cope_bias(q, k, k[0, 0, :4]),
    "shaw": lambda q, k: p.shaw_bias(q, k[0, 0, :5], LENGTH, LENGTH),
    "values of shaw": lambda q, k: p.shaw_values(q[..., :LENGTH], k[0, 0, :5], LENGTH, LENGTH),
    "transformer-xl": lambda q, k: p.transformer_xl_bias(q, k, k[0], k[0, :, 0], k[0, :, 1]),
    "deberta": lambda q, k: p.deberta_bias(q, k, k[0], q[0], LENGTH, LENGTH, buckets=None, max_distance=3),
    "swin v2": lambda q, k: p.swin_v2_bias((k[0, 0, :, :2], k[0, 0, :, 2], q[0, 0, :2, :LENGTH]), (2, 2)),
    "resample": lambda q, k: p.resample_grid(k[0, 0], (2, 3), (4, 5)),
    "convolution": lambda q, k: p.convolution_positions(k, q[0].reshape(8, -1, 3)[:, :4].contiguous()),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_autocast_rounds_nothing(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    q, k = torch.randn(2, 1, 2, LENGTH, 8).to(dtype)
    plain = FUNCTIONS[name](q, k)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = FUNCTIONS[name](q, k)
    torch.testing.assert_close(cast, plain, rtol=0, atol=0)


@pytest.mark.parametrize("learned", [False, True], ids=["by a view", "by columns"])
def test_autocast_leaves_alibi_exact_at_length(learned: bool) -> None:
    """Columns of float32 carry 12 bits each, which bfloat16 does not hold."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 600, 4)
    slopes = torch.tensor([0.3, 0.03], requires_grad=learned)
    plain = p.alibi_attention(q, k, v, slopes)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = p.alibi_attention(q, k, v, slopes)
    torch.testing.assert_close(cast, plain, rtol=0, atol=0)
