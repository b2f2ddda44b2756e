"""FoX, PaTH, PoPE and the position maps against the code of their authors, or of those who wrote it again.

Where that code cannot be installed beside ours, its results stand in `long_context.json`. They were made by
running it: `naive_path_attn` in chunks of 4 and `naive_forgetting_attn` of flash-linear-attention 0.6.0, on
the waves below, with the identity as values; and the tables of `ChunkLlamaRotaryEmbedding` of
HKUNLP/ChunkLlama, for chunk_size 10 and local_window 4, read back as positions.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace

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
    window_mask,
)
from posenc_lib.rotated import QueryTemperature, mrope_positions
from tests.conformance.peers import modeling, transformers, x_transformers

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


def test_the_sinks_of_gpt_oss():
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 4, 9, 8), torch.randn(2, 2, 9, 8), torch.randn(2, 2, 9, 8)
    module = SimpleNamespace(sinks=torch.randn(4), num_key_value_groups=2, training=False)
    mask = window_mask(9, 9, 4)
    numbers = torch.zeros(9, 9).masked_fill(~torch.as_tensor(mask), -torch.inf)
    theirs, weights = modeling("gpt_oss").eager_attention_forward(
        module, q, k, v, numbers[None, None], 8**-0.5
    )
    ours = attention(q, k, v, sink=module.sinks, mask=torch.as_tensor(mask), return_weights=True)
    torch.testing.assert_close(ours[0].transpose(1, 2), theirs)
    torch.testing.assert_close(ours[1], weights)


@pytest.mark.parametrize("window", [1, 3, 20])
def test_the_sliding_windows_of_transformers(window):
    allowed = transformers.masking_utils.sliding_window_causal_mask_function(window)
    at = torch.arange(12)
    theirs = [[bool(allowed(0, 0, i, j)) for j in at] for i in at]
    assert window_mask(12, 12, window).tolist() == theirs


def test_the_temperature_of_llama_4():
    """What its layers without rotation multiply queries by, with their own projections made the identity."""
    peer, length = modeling("llama4"), 40
    config = transformers.Llama4TextConfig(
        hidden_size=16, num_attention_heads=2, num_key_value_heads=2, head_dim=8, num_hidden_layers=4,
        floor_scale=4, attn_scale=0.3, no_rope_layers=[1, 1, 1, 0], vocab_size=9,
    )  # fmt: skip
    layer = peer.Llama4TextAttention(config, 3)
    with torch.no_grad():
        for projection in (layer.q_proj, layer.k_proj, layer.v_proj, layer.o_proj):
            projection.weight.copy_(torch.eye(16))
    x = torch.randn(2, length, 16)
    numbers = torch.zeros(length, length).masked_fill(torch.ones(length, length).triu(1).bool(), -torch.inf)
    with torch.no_grad():
        theirs, _ = layer(x, (None, None), numbers[None, None])
    by_head = x.view(2, length, 2, 8).transpose(1, 2)
    factors = QueryTemperature("llama4", 0.3, 4)(torch.arange(length)).float()[:, None]
    ours = attention(by_head * factors, by_head, by_head, causal=True)
    torch.testing.assert_close(ours.transpose(1, 2).flatten(2), theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("family", ["qwen2_vl", "qwen2_5_vl", "qwen3_vl"])
def test_positions_of_text_pictures_and_video(family):
    """Two rows, one with padding on the left; grids in patches, of which 2 x 2 become a token."""
    peer = modeling(family)
    prefix = {"qwen2_vl": "Qwen2VL", "qwen2_5_vl": "Qwen2_5_VL", "qwen3_vl": "Qwen3VL"}[family]
    vision = SimpleNamespace(spatial_merge_size=2, tokens_per_second=2)
    model = SimpleNamespace(config=SimpleNamespace(vision_config=vision))
    kind = getattr(peer, f"{prefix}Model")
    model.get_vision_position_ids = partial(kind.get_vision_position_ids, model)
    video = [(1, 4, 6)] * 3 if family == "qwen3_vl" else [(3, 4, 6)]
    frames = [part for grid in video for part in (2, (grid[0], 2, 3))]  # Qwen3-VL: a time before each
    parts = [3, (1, 4, 3), 2, *frames, 4]
    types = []
    for part in parts:
        types += [0] * part if isinstance(part, int) else [1 if part[1] == 4 else 2] * int(np.prod(part))
    padding = 5
    tokens = torch.tensor([[0] * padding + types, types + [0] * padding])
    seen = torch.ones_like(tokens)
    seen[0, :padding] = 0
    options = {"second_per_grid_ts": torch.tensor([1.5, 1.5])} if family == "qwen2_5_vl" else {}
    theirs, _ = kind.get_rope_index(
        model,
        tokens,
        mm_token_type_ids=tokens,
        image_grid_thw=torch.tensor([[1, 8, 6]] * 2),
        video_grid_thw=torch.tensor([[3, 4, 6]] * 2),
        attention_mask=seen,
        **options,
    )
    like = torch.zeros(1)
    ours = mrope_positions([*parts, 0], seconds_per_grid=3.0 if options else 1.0, after="sides", like=like)
    assert torch.equal(theirs[:, 0, padding:], ours)
    assert torch.equal(theirs[:, 1, : len(types)], ours)
    paper = mrope_positions([*parts, 0], seconds_per_grid=3.0 if options else 1.0, like=like)
    assert torch.equal(paper, ours) == (not options)  # a video of more seconds than columns
