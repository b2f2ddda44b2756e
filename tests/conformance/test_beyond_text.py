"""What images and sound are encoded with, in timm and transformers: the same numbers for the same weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib import convolution_positions, convolution_weight, mixed_rates, mixed_tables, rotate
from posenc_lib.nn import ConvolutionPositions
from tests.conformance.peers import modeling, timm_file, transformers


@torch.no_grad()
@pytest.mark.parametrize("taps", [128, 7])
def test_wav2vec2_in_transformers(taps: int) -> None:
    torch.manual_seed(0)
    config = transformers.Wav2Vec2Config(
        hidden_size=64, num_conv_pos_embeddings=taps, num_conv_pos_embedding_groups=16
    )
    theirs, x = modeling("wav2vec2").Wav2Vec2PositionalConvEmbedding(config), torch.randn(2, 50, 64)
    stored = theirs.conv.parametrizations.weight
    stored.original0.mul_(1.5)
    weight = convolution_weight(stored.original1, stored.original0)
    wanted = theirs(x)
    torch.testing.assert_close(
        convolution_positions(x, weight, theirs.conv.bias), wanted, rtol=1e-4, atol=1e-5
    )
    ours = ConvolutionPositions(64, taps=taps, groups=16)
    ours.direction.copy_(stored.original1)
    ours.magnitude.copy_(stored.original0.flatten())
    ours.bias_of_columns.copy_(theirs.conv.bias)
    torch.testing.assert_close(ours(x), x + wanted, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_rope_mixed_in_timm() -> None:
    timm = timm_file("pos_embed_sincos")
    theirs = timm.RotaryEmbeddingMixed(dim=64, depth=2, num_heads=4, feat_shape=[3, 5])
    x = torch.randn(2, 4, 15, 16)
    at = torch.from_numpy(np.indices((3, 5)).reshape(2, -1))
    for layer, embedded in enumerate(theirs.get_embed()):
        rates = torch.stack([theirs.freqs[1], theirs.freqs[0]], -1)[layer]
        wanted = timm.apply_rot_embed_cat(x, embedded)
        torch.testing.assert_close(rotate(x, mixed_tables(at, rates)), wanted, rtol=1e-4, atol=1e-5)


def test_the_rates_start_as_those_of_timm() -> None:
    theirs = timm_file("pos_embed_sincos").init_random_2d_freqs(16, 1, 3)[:, 0].double()
    ours = torch.from_numpy(mixed_rates(16, heads=3))
    turned = torch.stack([theirs[1], theirs[0]], -1)
    torch.testing.assert_close(ours.norm(dim=-1), turned.norm(dim=-1), rtol=1e-6, atol=0)
    crossed = [x[:, :4, 0] * x[:, 4:, 1] - x[:, :4, 1] * x[:, 4:, 0] for x in (ours, turned)]
    torch.testing.assert_close(*crossed, rtol=1e-5, atol=0)  # the second direction on the same side
