"""The modules of FoX, PaTH, PoPE and the position maps: their functions, with a cache and with padding."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from posenc_lib import LinearScaling, window_mask
from posenc_lib.biased import dual_chunk_bias, fox_bias, path_bias, pope_bias, self_extend_bias
from posenc_lib.nn import (
    Attention,
    CoPE,
    DataDependentALiBi,
    DualChunk,
    FoX,
    LayerCache,
    PaTH,
    PoPE,
    Rotary,
    SelfExtend,
)
from tests.present import present

HEADS, HEAD_DIM, LENGTH = 4, 8, 12
MAKERS = {
    "FoX": lambda: FoX(HEAD_DIM, HEADS),
    "PaTH": lambda: PaTH(HEAD_DIM, HEADS),
    "PoPE": lambda: PoPE(HEAD_DIM, HEADS),
    "SelfExtend": lambda: SelfExtend(HEAD_DIM, group=3, window=4),
    "DualChunk": lambda: DualChunk(HEAD_DIM, chunk=5, window=2),
}
READ_BETWEEN = {
    "FoX": MAKERS["FoX"],
    "PaTH": MAKERS["PaTH"],
    "DataDependentALiBi": lambda: DataDependentALiBi(HEAD_DIM, HEADS, start=0.0),
}
BACK = torch.arange(LENGTH)[:, None] - torch.arange(LENGTH)
PADDED = torch.tensor([[True] * 2 + [False] * 10, [False] * 5 + [True] * 2 + [False] * 5])
SINKS = torch.from_numpy(window_mask(LENGTH, LENGTH, 3, sinks=2))
MASKS = {
    "a window with sinks": SINKS,
    "every third key": BACK % 3 == 0,
    "numbers": torch.zeros(LENGTH, LENGTH).masked_fill(BACK % 3 != 0, -math.inf),
    "padding": ~PADDED[:, None, None],
    "padding and a window": ~PADDED[:, None, None] & SINKS,
    "heads of their own": torch.stack([SINKS, BACK % 2 == 0, BACK % 3 == 0, BACK > -1])[None],
    "all but itself": BACK != 0,
}


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def vectors():
    return torch.randn(2, 2, HEADS, LENGTH, HEAD_DIM)


def test_fox_reads_its_gates_from_the_keys():
    encoding, (q, k) = FoX(HEAD_DIM, HEADS, start=-1.0), vectors()
    logits = (k * encoding.weight[0, :, None]).sum(-1) - 1.0
    torch.testing.assert_close(encoding.bias(q, k, LENGTH, LENGTH), fox_bias(logits), rtol=1e-5, atol=1e-5)


def test_path_reads_its_reflections_from_the_keys():
    encoding, (q, k) = PaTH(HEAD_DIM, HEADS, start=0.5), vectors()
    w = torch.stack([k[:, h] @ encoding.to_w[h].T for h in range(HEADS)], dim=1)
    beta = 2 * torch.sigmoid((k * encoding.to_beta[:, None]).sum(-1) + 0.5)
    wanted = path_bias(q, k, w / w.norm(dim=-1, keepdim=True), beta, block=1)
    torch.testing.assert_close(encoding.bias(q, k, LENGTH, LENGTH), wanted, rtol=1e-4, atol=1e-5)


def test_pope_learns_an_angle_between_a_turn_back_and_none():
    encoding, (q, k) = PoPE(HEAD_DIM, HEADS, base=500.0), vectors()
    with torch.no_grad():
        encoding.delta.uniform_(-9.0, 3.0)
    delta = encoding.delta.clamp(-2 * math.pi, 0)
    wanted = pope_bias(q, k, 5 + torch.arange(LENGTH), LENGTH, delta=delta, base=500.0)
    at = range(5, 5 + LENGTH)
    torch.testing.assert_close(encoding.bias(q, k, at, LENGTH), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_position_maps_are_their_functions(layout):
    q, k = vectors()
    rotation = {"base": 500.0, "layout": layout, "scaling": LinearScaling(2.0)}
    for got, wanted in (
        (
            SelfExtend(HEAD_DIM, group=3, window=4, **rotation),
            self_extend_bias(q, k, LENGTH, LENGTH, group=3, window=4, **rotation),
        ),
        (
            DualChunk(HEAD_DIM, chunk=5, window=2, **rotation),
            dual_chunk_bias(q, k, LENGTH, LENGTH, chunk=5, window=2, **rotation),
        ),
    ):
        torch.testing.assert_close(got.bias(q, k, LENGTH, LENGTH), wanted)


def test_within_what_it_was_trained_on_a_map_is_rope():
    attention, x = Attention(HEADS * HEAD_DIM, HEADS), torch.randn(2, LENGTH, HEADS * HEAD_DIM)
    wanted = attention(x, None, Rotary(HEAD_DIM), causal=True)
    for same in (
        SelfExtend(HEAD_DIM, group=5, window=LENGTH),
        SelfExtend(HEAD_DIM, group=1, window=1),
        DualChunk(HEAD_DIM, chunk=LENGTH, window=1),
    ):
        torch.testing.assert_close(attention(x, None, same, causal=True), wanted, rtol=1e-4, atol=1e-5)
    for other in (MAKERS["SelfExtend"](), MAKERS["DualChunk"]()):
        assert (attention(x, None, other, causal=True) - wanted).abs().max() > 1e-3


@pytest.mark.parametrize("name", MAKERS)
def test_a_cache_continues_where_it_was(name):
    encoding, attention = MAKERS[name](), Attention(HEADS * HEAD_DIM, HEADS)
    x, cache = torch.randn(2, LENGTH, HEADS * HEAD_DIM), LayerCache()
    whole = attention(x, None, encoding, causal=True)
    parts = [
        attention(part, None, encoding, causal=True, cache=cache) for part in x.split([5, 1, 1, 4, 1], 1)
    ]
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["FoX", "PaTH"])
def test_padding_does_nothing(name):
    encoding, (q, k) = MAKERS[name](), vectors()
    kept = torch.tensor([True, False, True, True, False, True] * 2)
    without = encoding.bias(q[:, :, kept], k[:, :, kept], 8, 8)
    whole = kept.expand(LENGTH, LENGTH)
    for mask in (kept, kept[None], whole, whole.tril(), kept.expand(2, 1, 1, LENGTH)):
        got = encoding.bias(q, k, LENGTH, LENGTH, mask)[:, :, kept][..., kept]
        torch.testing.assert_close(got, without, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("chunks", [[1] * LENGTH, [5, 1, 1, 4, 1]], ids=["steps", "chunks"])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize(
    "make", [*READ_BETWEEN.values(), lambda: CoPE(HEAD_DIM)], ids=[*READ_BETWEEN, "CoPE"]
)
def test_a_cache_continues_where_it_was_beside_any_mask(make, mask, chunks):
    encoding, attention = make().double(), Attention(HEADS * HEAD_DIM, HEADS).double()
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    mask = mask if mask.dtype == torch.bool else mask.double()
    x, cache = torch.randn(2, LENGTH, HEADS * HEAD_DIM).double(), LayerCache()
    whole, parts = attention(x, None, encoding, mask=mask, causal=True), []
    for part in x.split(chunks, 1):
        first, last = cache.length, cache.length + part.shape[1]
        rows = mask if mask.shape[-2] == 1 else mask[..., first:last, :]
        parts.append(attention(part, None, encoding, mask=rows[..., :last], causal=True, cache=cache))
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)


@pytest.mark.parametrize("name", READ_BETWEEN)
def test_a_key_counts_if_its_own_query_may_look_at_it(name):
    encoding, (q, k) = READ_BETWEEN[name](), vectors()
    plain = encoding.bias(q, k, LENGTH, LENGTH)
    for mask in (SINKS, BACK % 3 == 0):  # what is hidden from a later query counts all the same
        torch.testing.assert_close(encoding.bias(q, k, LENGTH, LENGTH, mask), plain)
    hidden = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    hidden[4, 4] = False
    without = torch.arange(LENGTH) != 4
    torch.testing.assert_close(
        encoding.bias(q, k, LENGTH, LENGTH, hidden), encoding.bias(q, k, LENGTH, LENGTH, without)
    )
    rows = without.repeat(LENGTH - 6, 1)  # of the last queries alone
    rows[-1, 7] = False
    last = encoding.bias(q[:, :, 6:], k, range(6, LENGTH), LENGTH, rows)
    wanted = encoding.bias(q, k, LENGTH, LENGTH, without)[:, :, 6:]
    torch.testing.assert_close(last, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", READ_BETWEEN)
def test_a_second_turn_with_padding_and_a_window_in_the_layer(name):
    encoding, attention = READ_BETWEEN[name](), Attention(HEADS * HEAD_DIM, HEADS, window=4)
    x, cache = torch.randn(1, LENGTH, HEADS * HEAD_DIM), LayerCache()
    kept = torch.ones(LENGTH, dtype=torch.bool)
    kept[6:8] = False
    attention(x[:, :6], None, encoding, causal=True, cache=cache)
    attention(x[:, 6:9], None, encoding, mask=kept[None, :9], causal=True, cache=cache)
    last = attention(x[:, 9:], None, encoding, mask=kept[None], causal=True, cache=cache)
    alone = attention(x, None, encoding, mask=kept[None], causal=True)
    torch.testing.assert_close(last, alone[:, 9:], rtol=1e-4, atol=1e-5)


def test_a_cache_that_was_changed_by_hand_keeps_its_counts_or_says_so():
    encoding, attention = READ_BETWEEN["FoX"](), Attention(HEADS * HEAD_DIM, HEADS)
    x, cache = torch.randn(1, 4, HEADS * HEAD_DIM), LayerCache()
    padded = torch.tensor([[False, True, True]])
    attention(x[:, :3], None, encoding, mask=padded, causal=True, cache=cache)
    assert cache.k is not None
    assert cache.v is not None
    cache.extend(cache.k[:, :, :2], cache.v[:, :, :2], range(3, 5))
    assert present(cache.counts).flatten().tolist() == [False, True, True, True, True]
    cache.k, cache.v = cache.k[:, :, 1:], cache.v[:, :, 1:]
    with pytest.raises(ValueError, match=r"holds 4 keys, and counts of 5; .* out of positions and counts"):
        attention(x[:, 3:], None, encoding, causal=True, cache=cache)


@pytest.mark.parametrize("name", ["FoX", "PaTH", "PoPE"])
def test_every_learned_number_gets_a_gradient(name):
    encoding, (q, k) = MAKERS[name](), vectors()
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.sub_(0.1)
    F.softmax(encoding.bias(q, k, LENGTH, LENGTH), -1).square().sum().backward()
    assert all(present(parameter.grad).abs().min() > 0 for parameter in encoding.parameters())


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: FoX(0, 2), ValueError, "head_dim=0"),
        (lambda: PaTH(8, 0), ValueError, "heads=0"),
        (lambda: PaTH(8, 2, start=float("nan")), ValueError, "start=nan"),
        (lambda: PoPE(8, 2, base=0), ValueError, "base=0"),
        (lambda: SelfExtend(7, group=2, window=2), ValueError, "head_dim=7"),
        (lambda: SelfExtend(8, group=0, window=2), ValueError, "group=0"),
        (lambda: DualChunk(8, chunk=2, window=3), ValueError, "window=3 is above chunk=2"),
        (lambda: DualChunk(8, chunk=2, window=1, layout="both"), ValueError, "layout='both'"),  # type: ignore[arg-type]
    ],
)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error, match=words):
        call()
