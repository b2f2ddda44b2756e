"""The modules of temperatures: what they multiply, in both orders of axes, and with a cache."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib.nn import Attention, LayerCache, LogTemperature, ScalableSoftmax


def vectors():
    return torch.randn(2, 2, 3, 6, 4, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("seq_axis", [-2, -3])
def test_modules_scale_queries_alone(seq_axis):
    q, k = vectors()
    rows = torch.tensor([[0, 1, 2, 3, 4, 5], [7, 8, 9, 10, 90, 900]])
    learned = ScalableSoftmax(3, length=32)
    with torch.no_grad():
        learned.scale.copy_(torch.tensor([0.5, 1.0, 2.0]))
    for encoding, by_head in (
        (LogTemperature(length=32), np.full(3, 1 / np.log(32))),
        (learned, [0.5, 1, 2]),
    ):
        for positions in (6, rows[1], rows):
            at = torch.arange(6) if isinstance(positions, int) else positions
            factors = (
                torch.log(at + 1.0)[..., None, :, None] * torch.as_tensor(by_head).float()[:, None, None]
            )
            queries, keys = (x if seq_axis == -2 else x.transpose(1, 2) for x in (q, k))
            got = encoding.rotate(queries, keys, positions, positions, seq_axis=seq_axis)
            assert got[1] is keys
            scaled = got[0] if seq_axis == -2 else got[0].transpose(1, 2)
            torch.testing.assert_close(scaled, q * factors)


def test_a_cache_continues_where_it_was():
    encoding, layer = ScalableSoftmax(3, length=4), Attention(12, 3)
    x, cache = torch.randn(2, 6, 12), LayerCache()
    whole = layer(x, None, encoding, causal=True)
    parts = [layer(part, None, encoding, causal=True, cache=cache) for part in x.split([3, 1, 2], dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)


def test_16_bit_queries_are_rounded_once():
    encoding, q = LogTemperature(), torch.randn(1, 2, 9, 4).bfloat16()
    at = torch.arange(9) + 1000
    exact = q.double() * encoding.temperature(at)[:, None]
    assert torch.equal(encoding.rotate(q, q, at, at)[0], exact.bfloat16())
