"""FoX, PaTH, PoPE and the position maps against the code of their authors, or of those who wrote it again.

Where that code cannot be installed beside ours, its results stand in `long_context.json`. They were made by
running it: `naive_path_attn` in chunks of 4 and `naive_forgetting_attn` of flash-linear-attention 0.6.0, on
the waves below, with the identity as values; and the tables of `ChunkLlamaRotaryEmbedding` of
HKUNLP/ChunkLlama, for chunk_size 10 and local_window 4, read back as positions.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from posenc_lib import attention
from posenc_lib.biased import (
    data_dependent_alibi,
    dual_chunk_distances,
    path_bias,
    pope_bias,
    pope_vectors,
    self_extend_distances,
)
from tests.conformance.peers import x_transformers

PUBLISHED = json.loads((Path(__file__).parent / "long_context.json").read_text())
LENGTH, HEADS, DIM = 6, 2, 4


def waves(shape, number):
    """The same numbers everywhere; as fla has them, (length, heads, ...), and here heads first."""
    made = np.sin(1.0 + np.arange(np.prod(shape)) * (0.7 + number / 10) + number).reshape(LENGTH, HEADS, -1)
    return made.swapaxes(0, 1)


Q, K, W = (waves((LENGTH, HEADS, DIM), number) for number in range(3))
W /= np.linalg.norm(W, axis=-1, keepdims=True)
BETA, GATES = 1 + waves((LENGTH, HEADS), 3)[..., 0], -np.abs(waves((LENGTH, HEADS), 4)[..., 0])


@pytest.mark.parametrize("block", [1, 4, None])
def test_the_weights_of_path_attention(block):
    bias = path_bias(Q, K, W, BETA, block=block)
    _, weights = attention(Q, K, K, bias=bias, causal=True, return_weights=True)
    np.testing.assert_allclose(weights, PUBLISHED["path"], atol=2e-6)


def test_the_weights_of_forgetting_attention():
    _, weights = attention(Q, K, K, bias=data_dependent_alibi(GATES), causal=True, return_weights=True)
    np.testing.assert_allclose(weights, PUBLISHED["fox"], atol=2e-6)


def test_the_distances_of_dual_chunk_attention():
    own, successive, keys = (PUBLISHED["dual_chunk"][name] for name in ("intra", "successive", "keys"))
    ours = dual_chunk_distances(18, 18, chunk=6, window=5)  # their local_window is one less
    for i in range(18):
        for j in range(i + 1):
            back = i // 6 - j // 6  # their loop: intra, k_states_prev, and all before that
            theirs = own[i % 6] if back == 0 else successive[i % 6] if back == 1 else successive[5]
            assert ours[i, j] == theirs - keys[j]


@pytest.mark.parametrize(("group", "window"), [(8, 16), (3, 7), (5, 4)])
def test_the_distances_of_self_extend(group, window):
    """As `Llama_4_40.py` of datamllab/LongLM makes them: two sets of positions, and a mask."""
    at, length = torch.arange(40), 40
    grouped_q, grouped_k = at // group + window - window // group, at // group
    neighbours = torch.ones(length, length).tril()
    neighbours[window:, :-window] -= torch.ones(length - window, length - window).tril()
    theirs = torch.where(neighbours.bool(), at[:, None] - at, grouped_q[:, None] - grouped_k)
    ours = self_extend_distances(at, at, group=group, window=window)
    assert torch.equal(ours.tril(), theirs.tril())


def test_polar_embeddings_of_x_transformers():
    torch.manual_seed(0)
    q, k = torch.randn(2, 2, 3, 9, 8)
    peer = x_transformers.PolarEmbedding(8, 3, bias_uniform_init=False)
    with torch.no_grad():
        peer.learned_bias.uniform_(-7.0, 1.0)
        frequencies, bias = peer(torch.arange(9))
        theirs_q = x_transformers.apply_polar_pos_emb(q, frequencies[:, None])
        theirs_k = x_transformers.apply_polar_pos_emb(k, frequencies[:, None] + bias)
        delta = peer.learned_bias[:, 0].clamp(-2 * torch.pi, 0)
    torch.testing.assert_close(pope_vectors(q, 9), theirs_q, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(pope_vectors(k, 9, delta=delta), theirs_k, rtol=1e-4, atol=1e-5)
    wanted = (theirs_q @ theirs_k.mT - q @ k.mT) / 8**0.5
    torch.testing.assert_close(pope_bias(q, k, 9, 9, delta=delta), wanted, rtol=1e-4, atol=1e-4)
