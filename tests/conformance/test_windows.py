"""The biases of windows against transformers and timm: the same numbers for the same weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from posenc_lib import attention
from posenc_lib.biased import swin_bias, swin_index, swin_v2_bias
from posenc_lib.nn import SwinBias, SwinV2Bias
from tests.conformance.peers import modeling, timm_file, transformers

HEADS = 3
SHAPES = [(7, 7), (4, 6), (1, 5)]


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _no_grad():
    with torch.no_grad():
        yield


@pytest.mark.parametrize("shape", SHAPES)
def test_swin_in_transformers_and_timm(shape):
    theirs = modeling("swin").SwinRelativePositionBias(HEADS, shape)
    nn.init.normal_(theirs.relative_position_bias_table)
    table = theirs.relative_position_bias_table
    in_timm = timm_file("pos_embed_rel").RelPosBias(shape, HEADS)
    in_timm.relative_position_bias_table.copy_(table)
    assert torch.equal(swin_bias(table, shape), theirs()[0])
    assert torch.equal(swin_bias(table, shape), in_timm.get_bias()[0])


def test_a_whole_attention_of_swin():
    config = transformers.SwinConfig(attn_implementation="eager", embed_dim=12, num_heads=[HEADS])
    theirs = modeling("swin").SwinAttention(config, 12, HEADS, 4)
    nn.init.normal_(theirs.relative_position_bias.relative_position_bias_table)
    x = torch.randn(2, 16, 12)
    q, k, v = (
        project(x).view(2, 16, HEADS, 4).transpose(1, 2)
        for project in (theirs.q_proj, theirs.k_proj, theirs.v_proj)
    )
    bias = swin_bias(theirs.relative_position_bias.relative_position_bias_table, (4, 4))
    ours = theirs.o_proj(attention(q, k, v, bias=bias).transpose(1, 2).flatten(2))
    torch.testing.assert_close(ours, theirs(x)[0])


@pytest.mark.parametrize("shape", SHAPES)
def test_beit_in_transformers_and_timm(shape):
    config = transformers.BeitConfig(
        image_size=(shape[0] * 4, shape[1] * 4), patch_size=4, num_attention_heads=HEADS, hidden_size=12
    )
    theirs = modeling("beit").BeitRelativePositionBias(config)
    table = nn.init.normal_(theirs.relative_position_bias_table)
    wanted = theirs.generate_relative_position_index(shape)
    assert torch.equal(swin_index(shape, like=wanted, class_token=True), wanted)
    assert torch.equal(swin_bias(table, shape, class_token=True), table[wanted].movedim(-1, 0))
    if shape[0] == shape[1]:  # elsewhere it takes height for width
        torch.testing.assert_close(swin_bias(table, shape, class_token=True), theirs(shape)[0])
    in_timm = timm_file("pos_embed_rel").RelPosBias(shape, HEADS, prefix_tokens=1)
    in_timm.relative_position_bias_table.copy_(table)
    assert torch.equal(swin_bias(table, shape, class_token=True), in_timm.get_bias()[0])


@pytest.mark.parametrize("pretrained", [(0, 0), (5, 3)])
@pytest.mark.parametrize("shape", [(7, 7), (4, 6)])
def test_swin_v2_in_transformers_and_timm(shape, pretrained):
    config = transformers.Swinv2Config()
    theirs = modeling("swinv2").Swinv2SelfAttention(config, 12, HEADS, shape, pretrained)
    mlp = theirs.continuous_position_bias_mlp
    weights = mlp[0].weight, mlp[0].bias, mlp[2].weight
    ours = swin_v2_bias(weights, shape, pretrained=pretrained if pretrained[0] else None)
    # Their bias is a line inside `forward`: found as the scores of vectors of zeros, before the softmax.
    scores = theirs.query, theirs.key
    for projection in scores:
        nn.init.zeros_(projection.weight)
    nn.init.zeros_(theirs.query.bias)
    _, weights_of_attention = theirs(torch.zeros(1, shape[0] * shape[1], 12), output_attentions=True)
    torch.testing.assert_close(ours.softmax(-1), weights_of_attention[0])
    in_timm = (
        timm_file("pos_embed_rel")
        .RelPosMlp(shape, HEADS, hidden_dim=512, mode="swin", pretrained_window_size=pretrained)
        .eval()
    )
    for parameter, weight in zip(in_timm.mlp.parameters(), weights, strict=True):
        parameter.copy_(weight)
    torch.testing.assert_close(ours, in_timm.get_bias()[0])


def test_the_modules_load_their_weights():
    theirs = modeling("swinv2").Swinv2SelfAttention(transformers.Swinv2Config(), 12, HEADS, (4, 4), (0, 0))
    mlp = theirs.continuous_position_bias_mlp.state_dict()
    ours = SwinV2Bias(HEADS, (4, 4))
    names = {"first.weight": "0.weight", "first.bias": "0.bias", "second.weight": "2.weight"}
    ours.load_state_dict({name: mlp[other] for name, other in names.items()})
    swin = modeling("swin").SwinRelativePositionBias(HEADS, (4, 4))
    SwinBias(HEADS, (4, 4)).load_state_dict({"table": swin.relative_position_bias_table})
