"""DeBERTa against transformers: buckets, the two terms, and whole attentions of v1, v2 and v3."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from posenc_lib import attention
from posenc_lib.biased import deberta_bias, deberta_buckets
from posenc_lib.nn import DeBERTa
from tests.conformance.peers import modeling, transformers

LENGTH, DIM, HEADS = 40, 32, 4
HEAD_DIM = DIM // HEADS


@pytest.fixture(autouse=True)
def _seed_without_grad():
    torch.manual_seed(0)
    with torch.no_grad():
        yield


@pytest.mark.parametrize(("buckets", "max_distance"), [(256, 512), (32, 128), (8, 64), (64, 200)])
def test_buckets_to_a_distance_of_100_000(buckets, max_distance):
    ahead = torch.arange(-100_000, 100_001)
    theirs = modeling("deberta_v2").make_log_bucket_position(ahead, buckets, max_distance).long()
    theirs = torch.clamp(theirs + buckets, 0, 2 * buckets - 1)
    assert torch.equal(deberta_buckets(-ahead, buckets=buckets, max_distance=max_distance), theirs)


def by_head(x: torch.Tensor) -> torch.Tensor:
    """(..., length, dim) to (..., heads, length, head_dim)."""
    return x.unflatten(-1, (HEADS, HEAD_DIM)).transpose(-2, -3)


def randomised(module: nn.Module) -> Any:
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.eval()


@pytest.mark.parametrize("shared", [False, True], ids=["v2", "v3"])
@pytest.mark.parametrize("terms", [["c2p", "p2c"], ["c2p"], ["p2c"]], ids=str)
@pytest.mark.parametrize("buckets", [8, -1])
def test_an_attention_of_v2_and_v3(shared, terms, buckets):
    config = transformers.DebertaV2Config(
        hidden_size=DIM,
        num_attention_heads=HEADS,
        relative_attention=True,
        pos_att_type=terms,
        share_att_key=shared,
        position_buckets=buckets,
        max_relative_positions=32,
    )
    theirs = randomised(modeling("deberta_v2").DisentangledSelfAttention(config))
    rows = 2 * (buckets if buckets > 0 else 32)
    x, table = torch.randn(2, LENGTH, DIM), torch.randn(rows, DIM)
    mask = torch.ones(2, 1, LENGTH, LENGTH)
    wanted = theirs(x, mask, output_attentions=True, rel_embeddings=table)

    q, k, v = (by_head(project(x)) for project in (theirs.query_proj, theirs.key_proj, theirs.value_proj))
    to_key, to_query = (
        (theirs.key_proj, theirs.query_proj)
        if shared
        else (getattr(theirs, "pos_key_proj", None), getattr(theirs, "pos_query_proj", None))
    )
    bias = deberta_bias(
        q,
        k,
        by_head(to_key(table)) if "c2p" in terms else None,
        by_head(to_query(table)) if "p2c" in terms else None,
        LENGTH,
        LENGTH,
        buckets=buckets if buckets > 0 else None,
        max_distance=32,
    )
    output, weights = attention(q / (1 + len(terms)) ** 0.5, k, v, bias=bias, return_weights=True)
    torch.testing.assert_close(weights, wanted[1])
    torch.testing.assert_close(output.transpose(1, 2).flatten(2), wanted[0])


@pytest.mark.parametrize("max_distance", [512, 16])
def test_an_attention_of_v1(max_distance):
    config = transformers.DebertaConfig(
        hidden_size=DIM,
        num_attention_heads=HEADS,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        max_relative_positions=max_distance,
    )
    theirs = randomised(modeling("deberta").DisentangledSelfAttention(config))
    x, table = torch.randn(2, LENGTH, DIM), torch.randn(2 * max_distance, DIM)
    at = modeling("deberta").build_relative_position(x, x)
    mask = torch.ones(2, 1, LENGTH, LENGTH)
    wanted = theirs(x, mask, output_attentions=True, relative_pos=at, rel_embeddings=table)[1]

    q, k, _ = by_head(theirs.in_proj(x).unflatten(-1, (HEADS, 3, HEAD_DIM)).movedim(-2, 0).flatten(-2))
    q = q + theirs.q_bias.view(HEADS, 1, HEAD_DIM)
    keys, queries = by_head(theirs.pos_proj(table)), by_head(theirs.pos_q_proj(table))
    bias = deberta_bias(q, k, keys, queries, LENGTH, LENGTH, buckets=None, max_distance=max_distance)
    weights = attention(q / 3**0.5, k, k, bias=bias, return_weights=True)[1]
    torch.testing.assert_close(weights, wanted)

    ours = DeBERTa(DIM, HEADS, buckets=None, max_distance=max_distance)
    ours.load_state_dict(
        {
            "table": table,
            "to_key.weight": theirs.pos_proj.weight,
            "to_query.weight": theirs.pos_q_proj.weight,
            "to_query.bias": theirs.pos_q_proj.bias,
        }
    )
    weights = attention(q, k, k, bias=ours.bias(q, k, LENGTH, LENGTH), return_weights=True)[1]
    torch.testing.assert_close(weights, wanted, rtol=1e-4, atol=1e-5)
