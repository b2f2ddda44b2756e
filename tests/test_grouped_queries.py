"""Fewer heads of keys than of queries: the same as keys repeated by hand, everywhere."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.attention.flex_attention import flex_attention
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from posenc_lib import attention, biased, rope_from_config
from posenc_lib.biased import cope_bias, shaw_bias, shaw_values, transformer_xl_bias
from posenc_lib.catalogue import catalogue
from posenc_lib.nn import (
    ENCODINGS,
    Attention,
    Cache,
    EncoderLayer,
    Rotary,
    Shaw,
    Sizes,
    Transformer,
    make_encoding,
)
from tests.present import present

BATCH, HEADS, QUERIES, KEYS, WIDTH = 2, 6, 4, 7, 8
GROUPS = (1, 2, 3)
"""Heads of keys."""


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def vectors(heads: int, length: int, width: int = WIDTH) -> torch.Tensor:
    return torch.randn(BATCH, heads, length, width, dtype=torch.float64)


def repeated(x: torch.Tensor, axis: int = 1) -> torch.Tensor:
    """A head for each head of queries, as transformers' `repeat_kv` makes them."""
    return x.repeat_interleave(HEADS // x.shape[axis], dim=axis)


def as_strict(x: torch.Tensor) -> Any:
    return array_api_strict.asarray(x.numpy())


@pytest.mark.parametrize("kv_heads", GROUPS)
@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_that_of_pytorch(kv_heads: int, causal: bool) -> None:
    q, k, v = vectors(HEADS, KEYS), vectors(kv_heads, KEYS), vectors(kv_heads, KEYS, 5)
    bias = torch.randn(HEADS, KEYS, KEYS, dtype=torch.float64)
    added = bias.masked_fill(~torch.ones(KEYS, KEYS).tril().bool(), -torch.inf) if causal else bias
    wanted = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=added[None], enable_gqa=True)
    for own, library in ((lambda x: x, "torch"), (torch.Tensor.numpy, "numpy"), (as_strict, "strict")):
        got = attention(own(q), own(k), own(v), bias=own(bias), causal=causal)
        np.testing.assert_allclose(np.asarray(got), wanted.numpy(), atol=1e-12, err_msg=library)
    got, weights = attention(q[0], k[0], v[0], bias=bias, causal=causal, return_weights=True)
    torch.testing.assert_close(got, wanted[0])
    assert weights.shape == (HEADS, KEYS, KEYS)


def test_values_may_be_shared_by_more_queries_than_keys() -> None:
    q, k, v = vectors(HEADS, QUERIES), vectors(3, KEYS), vectors(1, KEYS)
    torch.testing.assert_close(attention(q, k, v), attention(q, repeated(k), repeated(v)))


@pytest.mark.parametrize("kv_heads", [4, 5, 12, 0])
def test_heads_that_do_not_divide_are_refused(kv_heads: int) -> None:
    q, k = vectors(HEADS, KEYS), vectors(kv_heads, KEYS)
    with pytest.raises(ValueError, match="may be a divisor of those of the queries"):
        attention(q, k, k)
    for name in catalogue().through("biased"):
        encoding = make_encoding(name.name, Sizes(dim=HEADS * WIDTH, heads=HEADS, length=36))
        with pytest.raises(ValueError, match="or a divisor of these heads"):
            encoding.bias(q, k, KEYS, KEYS)
    with pytest.raises(ValueError, match=f"kv_heads={kv_heads}"):
        Attention(HEADS * WIDTH, HEADS, kv_heads=kv_heads)
    with pytest.raises(ValueError, match="head_dim=0"):
        Attention(HEADS * WIDTH, HEADS, head_dim=0)


@pytest.mark.parametrize("kv_heads", GROUPS)
def test_biases_of_content(kv_heads: int) -> None:
    q, k, whole = vectors(HEADS, QUERIES), vectors(kv_heads, KEYS), vectors(HEADS, KEYS)
    u, v = torch.randn(2, HEADS, WIDTH, dtype=torch.float64)
    of_keys, rows = k[0], torch.randn(kv_heads, 5, WIDTH, dtype=torch.float64)
    mask = torch.rand(BATCH, HEADS, QUERIES, KEYS) < 0.8
    weights = attention(q, whole, whole, return_weights=True)[1]
    pairs = {
        "Transformer-XL": lambda own, k, of_keys, rows: transformer_xl_bias(
            own(q), own(k), own(of_keys), own(u), own(v)
        ),
        "CoPE": lambda own, k, of_keys, rows: cope_bias(own(q), own(k), own(rows[..., :]), mask=own(mask)),
        "Shaw": lambda own, k, of_keys, rows: shaw_bias(own(q), own(rows), QUERIES, KEYS),
        "Shaw's values": lambda own, k, of_keys, rows: shaw_values(own(weights), own(rows), QUERIES, KEYS),
    }
    for name, bias in pairs.items():
        wanted = bias(lambda x: x, repeated(k), repeated(of_keys, 0), repeated(rows, 0)).numpy()
        for own in (lambda x: x, torch.Tensor.numpy, as_strict):
            got = np.asarray(bias(own, k, of_keys, rows))
            np.testing.assert_allclose(got, wanted, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("kv_heads", GROUPS)
@pytest.mark.parametrize("name", ENCODINGS)
def test_every_module_is_that_of_repeated_keys(name: str, kv_heads: int) -> None:
    encoding = make_encoding(name, Sizes(dim=HEADS * WIDTH, heads=HEADS, length=36)).double()
    for parameter in encoding.parameters():
        nn.init.normal_(parameter)
    q, k = vectors(HEADS, QUERIES), vectors(kv_heads, KEYS)
    rows = torch.tensor([[3, 4, 5, 6], [9, 10, 12, 13]])
    of_keys = torch.cat([torch.arange(3).expand(2, 3), rows], dim=-1)
    for at_q, at_k in ((range(3, 7), range(7)), (rows, of_keys)):
        got, wanted = encoding.rotate(q, k, at_q, at_k), encoding.rotate(q, repeated(k), at_q, at_k)
        torch.testing.assert_close(got[0], wanted[0])
        torch.testing.assert_close(repeated(got[1]), wanted[1])
        bias, wanted_bias = encoding.bias(q, k, at_q, at_k), encoding.bias(q, repeated(k), at_q, at_k)
        assert (bias is None) == (wanted_bias is None)
        if bias is not None:
            torch.testing.assert_close(bias, wanted_bias)


def test_a_table_for_each_head_of_keys() -> None:
    encoding = Shaw(WIDTH, heads=2).double()
    q, k = vectors(HEADS, KEYS), vectors(2, KEYS)
    wanted = shaw_bias(q, repeated(encoding.table, 0), KEYS, KEYS)
    torch.testing.assert_close(encoding.bias(q, k, KEYS, KEYS), wanted)


def widened(grouped: Attention) -> Attention:
    """The same attention with a head of keys for each head of queries, in plain rows."""
    wide = Attention(grouped.dim, grouped.heads)
    rows = (grouped.heads * grouped.head_dim, *2 * (grouped.kv_heads * grouped.head_dim,))
    for name in ("in_proj_weight", "in_proj_bias"):
        q, k, v = getattr(grouped, name).detach().split(rows)
        k, v = (
            repeated(x.unflatten(0, (grouped.kv_heads, grouped.head_dim)), 0).flatten(0, 1) for x in (k, v)
        )
        setattr(wide, name, nn.Parameter(torch.cat([q, k, v])))
    wide.out_proj.load_state_dict(grouped.out_proj.state_dict())
    return wide


@pytest.mark.parametrize("kv_heads", GROUPS)
@pytest.mark.parametrize("name", [name for name in ENCODINGS if name != "convolution"])
def test_a_model_with_a_cache_is_that_of_repeated_keys(name: str, kv_heads: int) -> None:
    ends: dict[str, Any] = {"length": 9} if name != "grid" and name != "axial" else {"length": 36}
    model = Transformer(11, HEADS * WIDTH, 2, HEADS, encoding=name, kv_heads=kv_heads, **ends).eval()
    wide = Transformer(11, HEADS * WIDTH, 2, HEADS, encoding=name, **ends).eval()
    for encoding in model.encodings:
        for parameter in encoding.parameters():
            nn.init.normal_(parameter, std=0.5)
    weights = {key: value for key, value in model.state_dict().items() if "attention" not in key}
    wide.load_state_dict(weights, strict=False)
    mine: Any
    theirs: Any
    for mine, theirs in zip(model.blocks, wide.blocks, strict=True):
        nn.init.normal_(mine.attention.in_proj_bias)
        theirs.attention = widened(mine.attention)
    tokens = torch.randint(11, (BATCH, 9))
    padding = torch.zeros(BATCH, 9, dtype=torch.bool)
    padding[0, :3] = True
    for options in ({}, {"padding_mask": padding}):
        with torch.no_grad():
            torch.testing.assert_close(
                model(tokens, **options), wide(tokens, **options), rtol=1e-4, atol=1e-5
            )
    cache = Cache()
    with torch.no_grad():
        steps = [model(tokens[:, a:b], cache=cache) for a, b in ((0, 4), (4, 5), (5, 9))]
        torch.testing.assert_close(torch.cat(steps, dim=1), model(tokens), rtol=1e-4, atol=1e-5)
    assert present(cache.layers[0].k).shape == (BATCH, kv_heads, 9, WIDTH)


def test_recorded_weights_are_those_of_the_fused_kernel() -> None:
    model, x = Attention(HEADS * WIDTH, HEADS, kv_heads=2), torch.randn(BATCH, KEYS, HEADS * WIDTH)
    fused = model(x, causal=True)
    model.record_weights = True
    torch.testing.assert_close(model(x, causal=True), fused)
    assert present(model.weights).shape == (BATCH, HEADS, KEYS, KEYS)
    assert "kv_heads=2" in repr(model)


def test_an_encoder_layer() -> None:
    layer = EncoderLayer(HEADS * WIDTH, HEADS, encoding="t5", kv_heads=2, batch_first=True).eval()
    wide = EncoderLayer(HEADS * WIDTH, HEADS, encoding=layer.encoding, batch_first=True).eval()
    rest = {key: value for key, value in layer.state_dict().items() if "self_attn" not in key}
    wide.load_state_dict(rest, strict=False)
    attention = widened(layer.self_attn)
    attention.batch_first = True  # type: ignore[assignment]  # nn.TransformerEncoder asks for it
    wide.self_attn = attention
    x = torch.randn(BATCH, KEYS, HEADS * WIDTH)
    torch.testing.assert_close(layer(x), wide(x))


SCORE_MODS = {
    "alibi": lambda q, k: biased.alibi_score_mod(HEADS, KEYS, KEYS),
    "sandwich": lambda q, k: biased.sandwich_score_mod(HEADS, KEYS, KEYS),
    "shaw": lambda q, k: biased.shaw_score_mod(q, torch.ones(2, 5, WIDTH).cumsum(1), KEYS, KEYS),
    "transformer-xl": lambda q, k: biased.transformer_xl_score_mod(
        q, k, torch.randn(2, KEYS, WIDTH), torch.randn(HEADS, WIDTH), torch.randn(HEADS, WIDTH)
    ),
}


@pytest.mark.filterwarnings("ignore:flex_attention called without")
@pytest.mark.parametrize("name", SCORE_MODS)
def test_flex_attention(name: str) -> None:
    q, k, v = (vectors(heads, KEYS).float() for heads in (HEADS, 2, 2))
    torch.manual_seed(1)
    grouped = flex_attention(q, k, v, score_mod=SCORE_MODS[name](q, k), enable_gqa=True)
    torch.manual_seed(1)
    wanted = flex_attention(q, repeated(k), repeated(v), score_mod=SCORE_MODS[name](q, repeated(k)))
    torch.testing.assert_close(grouped, wanted)


MODELS = {
    "llama": (LlamaForCausalLM, LlamaConfig, {}),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config, {}),
    "gemma2": (
        Gemma2ForCausalLM,
        Gemma2Config,
        {"head_dim": 24, "query_pre_attn_scalar": 24, "attn_logit_softcapping": None},
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_weights_of_a_real_model_load(name: str) -> None:
    made, config, more = MODELS[name]
    settings = config(
        vocab_size=16,
        hidden_size=64,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=8,
        num_key_value_heads=2,
        **more,
    )
    theirs = made(settings).model.eval()
    layer = theirs.layers[0].self_attn
    ours = Attention(64, 8, kv_heads=2, head_dim=more.get("head_dim"))
    projections = layer.q_proj, layer.k_proj, layer.v_proj
    state = {"in_proj_weight": torch.cat([each.weight for each in projections])}
    if projections[0].bias is not None:
        for each in projections:
            nn.init.normal_(each.bias)
        state["in_proj_bias"] = torch.cat([each.bias for each in projections])
    state["out_proj.weight"] = layer.o_proj.weight
    ours.load_state_dict(state, strict=False)
    rope = rope_from_config(settings)
    x = torch.randn(BATCH, KEYS, 64)
    at = torch.arange(KEYS)[None]
    causal = torch.zeros(1, 1, KEYS, KEYS).masked_fill(~torch.ones(KEYS, KEYS).tril().bool(), -torch.inf)
    wanted = layer(x, position_embeddings=theirs.rotary_emb(x, at), attention_mask=causal)[0]
    got = ours(x, encoding=Rotary(ours.head_dim, base=rope.base, layout=rope.layout), causal=True)
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)
