"""The third door against transformers and x-transformers: slopes, buckets, shifts, and whole small models."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from posenc_lib import attention
from posenc_lib.biased import (
    alibi_attention,
    alibi_bias,
    alibi_slopes,
    cope_bias,
    relative_shift,
    t5_bias,
    t5_buckets,
    transformer_xl_bias,
    window_mask,
)
from tests.conformance.peers import modeling, transformers, x_transformers

modeling_bloom = modeling("bloom")
modeling_falcon = modeling("falcon")
modeling_mpt = modeling("mpt")
modeling_t5 = modeling("t5")
modeling_xlnet = modeling("xlnet")

HEADS = [4, 8, 12, 16, 20, 40, 71, 112]


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


# ALiBi: slopes and biases


@pytest.mark.parametrize("heads", HEADS)
def test_bloom_mpt_and_x_transformers_have_our_slopes(heads):
    ours = alibi_slopes(heads)
    bloom = modeling_bloom._get_alibi_slopes(heads, torch.device("cpu"))
    mpt = modeling_mpt.build_mpt_alibi_tensor(heads, 2)[:, 0, 0] * -1.0  # (1 - 2) * slope
    others = x_transformers.AlibiPositionalBias(heads).slopes[:, 0, 0]
    for theirs in (bloom, mpt, others):
        np.testing.assert_allclose(theirs, ours, rtol=3e-6)  # theirs are float32 powers


@pytest.mark.parametrize("heads", HEADS)
def test_falcon_rounds_the_slopes_to_bfloat16(heads):
    theirs = modeling_falcon.build_alibi_tensor(torch.ones(1, 2, dtype=torch.int64), heads, torch.float32)[
        :, 0, 1
    ]
    ours = torch.as_tensor(alibi_slopes(heads))
    assert theirs.tolist() == ours.to(torch.float32).to(torch.bfloat16).tolist()
    assert ((theirs - ours).abs() / ours).max() < 0.003


@pytest.mark.parametrize("max_bias", [8, 16])
def test_mpt_s_bias_is_ours_for_the_last_query(max_bias):
    theirs = modeling_mpt.build_mpt_alibi_tensor(12, 40, alibi_bias_max=max_bias)
    ours = alibi_bias(12, 1, 40, slopes=alibi_slopes(12, max_bias=max_bias))
    np.testing.assert_allclose(theirs, ours, rtol=1e-6)


def test_bloom_s_bias_differs_from_ours_by_a_constant_for_each_query():
    theirs = modeling_bloom.build_alibi_tensor(torch.ones(1, 40), 12, torch.float32).double()
    difference = torch.as_tensor(alibi_bias(12, 40, 40)) - theirs
    assert (difference - difference[..., :1]).abs().max() < 1e-5


def test_x_transformers_bias_is_our_symmetric_one():
    theirs = x_transformers.AlibiPositionalBias(12)(5, 40)
    np.testing.assert_allclose(theirs, alibi_bias(12, 5, 40, causal=False), rtol=3e-6)


# ALiBi inside models


def our_bloom_attention(fused):
    """BloomAttention.forward with our attention and our bias; the `alibi` that it is handed is not used."""

    def forward(module, hidden_states, residual, alibi, attention_mask, layer_past=None, **ignored):
        q, k, v = module._reshape(module.query_key_value(hidden_states))
        if layer_past is not None:
            k, v = layer_past.update(k, v, module.layer_idx)
        mask = None if attention_mask is None else attention_mask == 0
        if fused:
            output = alibi_attention(q, k, v, mask=mask)
        else:
            bias = torch.as_tensor(alibi_bias(module.num_heads, q.shape[2], k.shape[2]), dtype=q.dtype)
            output = attention(q, k, v, bias=bias, mask=mask, causal=True)
        output = module.dense(output.transpose(1, 2).flatten(2))
        return output + residual, None

    return forward


def bloom(heads):
    config = transformers.BloomConfig(
        vocab_size=50,
        hidden_size=8 * heads,
        n_layer=2,
        n_head=heads,
        hidden_dropout=0.0,
        attention_dropout=0.0,
        initializer_range=0.3,
        attn_implementation="eager",
    )
    return transformers.BloomForCausalLM(config).eval()


@torch.no_grad()
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("heads", [4, 12])
def test_bloom_gives_the_same_logits_with_our_door(monkeypatch, heads, fused):
    model = bloom(heads)
    tokens = torch.randint(50, (2, 40))
    padding = torch.ones(2, 40, dtype=torch.int64)
    padding[1, :7] = 0
    theirs, theirs_padded = model(tokens).logits, model(tokens, attention_mask=padding).logits

    monkeypatch.setattr(modeling_bloom.BloomAttention, "forward", our_bloom_attention(fused))
    torch.testing.assert_close(model(tokens).logits, theirs, atol=2e-5, rtol=0)
    ours_padded = model(tokens, attention_mask=padding).logits
    torch.testing.assert_close(ours_padded[0], theirs_padded[0], atol=2e-5, rtol=0)
    torch.testing.assert_close(ours_padded[1, 7:], theirs_padded[1, 7:], atol=2e-5, rtol=0)

    first = model(tokens[:, :30], use_cache=True)
    rest = model(tokens[:, 30:39], past_key_values=first.past_key_values, use_cache=True)
    last = model(tokens[:, 39:], past_key_values=rest.past_key_values)
    decoded = torch.cat([first.logits, rest.logits, last.logits], dim=1)
    torch.testing.assert_close(decoded, theirs, atol=2e-5, rtol=0)


@torch.no_grad()
def test_bloom_would_notice_a_wrong_bias(monkeypatch):
    model, tokens = bloom(12), torch.randint(50, (2, 40))
    theirs = model(tokens).logits
    right = alibi_slopes(12)
    wrong = np.concatenate([right[:8], alibi_slopes(16)[1:8:2]])  # the even ones of 16, a known mistake
    monkeypatch.setattr(modeling_bloom.BloomAttention, "forward", our_bloom_attention(False))
    monkeypatch.setitem(
        globals(),
        "alibi_bias",
        lambda heads, queries, keys: alibi_bias_with(heads, queries, keys, slopes=wrong),
    )
    assert (model(tokens).logits - theirs).abs().max() > 1e-2


alibi_bias_with = alibi_bias


@torch.no_grad()
def test_falcon_s_attention_with_slopes_divided_by_the_root_of_head_dim():
    """It adds the bias before it divides the scores. 8 heads: slopes and biases that bfloat16 holds."""
    config = transformers.FalconConfig(
        hidden_size=64, num_attention_heads=8, alibi=True, multi_query=False, new_decoder_architecture=False
    )
    config._attn_implementation = "eager"
    module = modeling_falcon.FalconAttention(config, layer_idx=0).eval()
    hidden = torch.randn(2, 20, 64)
    alibi = modeling_falcon.build_alibi_tensor(torch.ones(2, 20, dtype=torch.int64), 8, torch.float32)
    future = torch.full((20, 20), -torch.inf).triu(1)
    theirs = module(hidden, alibi.reshape(2, 8, 1, 20), future)[0]

    q, k, v = (x.transpose(1, 2) for x in module._split_heads(module.query_key_value(hidden)))
    slopes = alibi_slopes(8) / math.sqrt(8)
    ours = alibi_attention(q, k, v, slopes)
    torch.testing.assert_close(module.dense(ours.transpose(1, 2).flatten(2)), theirs, atol=2e-6, rtol=0)


# T5


@pytest.mark.parametrize("bidirectional", [True, False])
def test_every_relative_position_to_100_000_is_in_t5_s_bucket(bidirectional):
    relative = torch.arange(-100_000, 100_001)
    ours = t5_buckets(relative, bidirectional=bidirectional)
    assert torch.equal(ours, modeling_t5.T5Attention._relative_position_bucket(relative, bidirectional))
    theirs = x_transformers.RelativePositionBias._relative_position_bucket(relative, causal=not bidirectional)
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("buckets", [4, 10, 12, 32, 64, 320])
@pytest.mark.parametrize("max_distance", [20, 128, 200, 800, 1000, 8000])
def test_other_settings_have_t5_s_buckets(buckets, max_distance, bidirectional):
    if max_distance <= buckets // (4 if bidirectional else 2):
        with pytest.raises(ValueError, match="too small"):
            # T5 would divide by a logarithm that is 0 or negative.
            t5_buckets(0, buckets=buckets, max_distance=max_distance, bidirectional=bidirectional)
        return
    relative = torch.arange(-max_distance - 50, max_distance + 51)
    ours = t5_buckets(relative, buckets=buckets, max_distance=max_distance, bidirectional=bidirectional)
    theirs = modeling_t5.T5Attention._relative_position_bucket(relative, bidirectional, buckets, max_distance)
    assert torch.equal(ours, theirs)


def our_t5_bias(module, query_length, key_length, device=None, past_seen_tokens=0):
    positions = torch.arange(query_length) + past_seen_tokens
    return t5_bias(
        module.relative_attention_bias.weight,
        positions,
        key_length,
        max_distance=module.relative_attention_max_distance,
        bidirectional=not module.is_decoder,
    )[None]


def our_t5_attention(module, query, key, value, attention_mask, scaling, position_bias=None, **ignored):
    """T5 does not divide its scores by sqrt(head_dim)."""
    assert scaling == 1.0
    mask = None if attention_mask is None else attention_mask == 0
    q = query * math.sqrt(query.shape[-1])
    return attention(q, key, value, bias=position_bias, mask=mask).transpose(1, 2), None


@torch.no_grad()
def test_t5_gives_the_same_logits_with_our_door(monkeypatch):
    config = transformers.T5Config(
        vocab_size=60,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        relative_attention_num_buckets=16,
        relative_attention_max_distance=30,
        dropout_rate=0.0,
        initializer_factor=3.0,
        decoder_start_token_id=0,
        attn_implementation="eager",
    )
    model = transformers.T5ForConditionalGeneration(config).eval()
    model = model.double()  # these weights amplify roundings
    source, target = torch.randint(1, 60, (2, 50)), torch.randint(1, 60, (2, 45))
    padding = torch.ones(2, 50, dtype=torch.int64)
    padding[1, 40:] = 0

    def logits():
        return model(input_ids=source, attention_mask=padding, decoder_input_ids=target).logits

    theirs = logits()
    monkeypatch.setattr(modeling_t5.T5Attention, "compute_bias", our_t5_bias)
    monkeypatch.setattr("transformers.models.t5.modeling_t5.eager_attention_forward", our_t5_attention)
    torch.testing.assert_close(logits(), theirs, atol=1e-9, rtol=0)

    encoded = model.encoder(source, padding)
    first = model(
        encoder_outputs=encoded, attention_mask=padding, decoder_input_ids=target[:, :44], use_cache=True
    )
    last = model(
        encoder_outputs=encoded,
        attention_mask=padding,
        decoder_input_ids=target[:, 44:],
        past_key_values=first.past_key_values,
    )
    torch.testing.assert_close(last.logits[:, 0], theirs[:, 44], atol=1e-9, rtol=0)

    monkeypatch.setattr(
        modeling_t5.T5Attention, "compute_bias", lambda *a, **k: our_t5_bias(*a, **k).flip(-1)
    )
    assert (logits() - theirs).abs().max() > 0.1  # a wrong bias would be seen


# Transformer-XL, by way of XLNet


@pytest.mark.parametrize(("queries", "keys"), [(7, 7), (4, 9), (1, 5)])
def test_xlnet_shifts_as_we_do_with_one_column_more_in_front(queries, keys):
    theirs_in = torch.randn(2, 3, queries, queries + keys)
    theirs = modeling_xlnet.XLNetRelativeAttention.rel_shift_bnij(theirs_in, klen=keys)
    torch.testing.assert_close(relative_shift(theirs_in[..., 1:], keys), theirs)


@torch.no_grad()
@pytest.mark.parametrize(("queries", "keys"), [(7, 7), (4, 9)])
def test_xlnet_s_attention_is_ours_with_transformer_xl_s_bias(queries, keys):
    module = modeling_xlnet.XLNetRelativeAttention(
        transformers.XLNetConfig(d_model=24, n_head=3, dropout=0.0)
    ).eval()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    q = torch.randn(queries, 2, 3, 8)
    k, v = torch.randn(2, keys, 2, 3, 8)
    relative = torch.randn(queries + keys, 1, 3, 8).expand(-1, 2, -1, -1)
    theirs = module.rel_attn_core(q, k, v, relative)

    q, k, v = (x.permute(1, 2, 0, 3) for x in (q, k, v))
    bias = transformer_xl_bias(q, k, relative[1:, 0].transpose(0, 1), module.r_w_bias, module.r_r_bias)
    torch.testing.assert_close(attention(q, k, v, bias=bias).permute(2, 0, 1, 3), theirs, atol=1e-5, rtol=0)


# CoPE


@torch.no_grad()
def test_x_transformers_cope_is_ours_with_q_e_unscaled():
    theirs = x_transformers.CoPE(dim=8, heads=3, max_pos=6)
    torch.nn.init.normal_(theirs.pos_emb)
    q, k = torch.randn(2, 2, 3, 12, 8)
    future = torch.ones(12, 12, dtype=torch.bool).triu(1)
    logits = (q @ k.mT / math.sqrt(8)).masked_fill(future, -torch.finfo(torch.float32).max)
    ours = cope_bias(q, k, theirs.pos_emb, scale=1.0)
    torch.testing.assert_close(ours.tril(), theirs(q, logits).tril(), atol=1e-5, rtol=0)


def test_long_t5_s_encoder_is_t5_s_in_a_window():
    """Whose radius counts the tokens on each side; q is scaled back, since T5 divides by nothing."""
    longt5 = modeling("longt5")
    sizes = {"d_model": 16, "d_kv": 8, "num_heads": 2, "local_radius": 3, "dropout_rate": 0.0}
    layer = longt5.LongT5LocalAttention(
        transformers.LongT5Config(**sizes), has_relative_attention_bias=True
    ).eval()
    x, seen = torch.randn(1, 20, 16), longt5._get_local_attention_mask(torch.ones(1, 20), 4, "cpu")
    theirs = layer(x, mask=seen)[0]
    q, k, v = (each(x).view(1, 20, 2, 8).transpose(1, 2) for each in (layer.q, layer.k, layer.v))
    bias = t5_bias(layer.relative_attention_bias.weight, 20, 20)
    ours = attention(
        q * math.sqrt(8), k, v, bias=bias, mask=torch.as_tensor(window_mask(20, 20, 3 + 1, causal=False))
    )
    torch.testing.assert_close(layer.o(ours.transpose(1, 2).flatten(2)), theirs, rtol=1e-4, atol=1e-5)


def test_shaw_s_vectors_are_still_there_in_speech_and_pictures():
    assert transformers.Wav2Vec2BertConfig().position_embeddings_type == "relative_key"
    assert transformers.SamVisionConfig().use_rel_pos
    assert hasattr(modeling("sam").SamVisionAttention, "get_decomposed_rel_pos")
