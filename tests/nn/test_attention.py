"""`Attention` against PyTorch's own attention, and its masks, doors and caches."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from posenc_lib import attention, window_mask
from posenc_lib.catalogue import catalogue
from posenc_lib.nn import ENCODINGS, ALiBi, Attention, Cache, LayerCache, Rotary, Sizes, make_encoding
from tests.present import present

BATCH, LENGTH, DIM, HEADS = 3, 7, 32, 4


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def some_mask() -> torch.Tensor:
    """(LENGTH, LENGTH) booleans, True where a query may look; nobody is blind."""
    return (torch.rand(LENGTH, LENGTH) < 0.6) | torch.eye(LENGTH, dtype=torch.bool)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_without_encoding_it_is_multihead_attention(bias, causal, masked):
    theirs = nn.MultiheadAttention(DIM, HEADS, bias=bias, batch_first=True)
    ours = Attention(DIM, HEADS, bias=bias)
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(BATCH, LENGTH, DIM)
    allowed = some_mask() if masked else torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    hidden = ~(allowed.tril() if causal else allowed)
    wanted, weights = theirs(x, x, x, attn_mask=hidden, average_attn_weights=False)
    mask = allowed if masked else None
    torch.testing.assert_close(ours(x, mask=mask, causal=causal), wanted)
    ours.record_weights = True
    torch.testing.assert_close(ours(x, mask=mask, causal=causal), wanted)
    torch.testing.assert_close(ours.weights, weights)
    assert not present(ours.weights).requires_grad  # or the whole graph would be kept with them
    assert "weights" not in ours.state_dict()


def test_it_starts_as_multihead_attention_does():
    torch.manual_seed(1)
    theirs = nn.MultiheadAttention(DIM, HEADS)
    ours = Attention(DIM, HEADS)
    bound = max(parameter.abs().max() for parameter in theirs.parameters())
    for name, parameter in ours.named_parameters():
        other = theirs.get_parameter(name)
        assert parameter.shape == other.shape
        assert bool((parameter == 0).all()) == bool((other == 0).all())
        assert parameter.abs().max() <= bound * 1.1
        assert parameter.std().item() == pytest.approx(other.std().item(), rel=0.1, abs=1e-9)


def test_no_rows_and_no_tokens():
    attention = Attention(DIM, HEADS, kv_heads=2)
    for shape in ((0, LENGTH, DIM), (BATCH, 0, DIM)):
        assert attention(torch.zeros(shape)).shape == shape


def test_a_mask_of_numbers_is_added():
    attention, x = Attention(DIM, HEADS), torch.randn(BATCH, LENGTH, DIM)
    hidden = torch.zeros(LENGTH, LENGTH).masked_fill(~some_mask(), -torch.inf)
    torch.testing.assert_close(attention(x, mask=hidden), attention(x, mask=hidden == 0))
    numbers = torch.randn(BATCH, HEADS, LENGTH, LENGTH)
    fused = attention(x, mask=numbers, causal=True)
    attention.record_weights = True
    torch.testing.assert_close(fused, attention(x, mask=numbers, causal=True))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_numbers_to_add_may_be_of_any_width(dtype):
    """Torch's kernels take those of float32 and of the queries' dtype."""
    attention, x = Attention(DIM, HEADS), torch.randn(BATCH, LENGTH, DIM)
    numbers = torch.randn(LENGTH, LENGTH).to(dtype)
    torch.testing.assert_close(attention(x, mask=numbers), attention(x, mask=numbers.float()))
    attention, x = attention.bfloat16(), x.bfloat16()
    assert torch.equal(attention(x, mask=numbers), attention(x, mask=numbers.float()))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", ENCODINGS)
def test_doors_are_those_of_the_plain_attention(name, causal):
    """The fused kernel and `posenc_lib.attention` agree, with every encoding, mask and direction."""
    if catalogue().named(name).causal_only and not causal:
        pytest.skip("for causal attention alone")
    encoding = make_encoding(name, Sizes(dim=DIM, heads=HEADS, length=9, causal=causal))
    for parameter in encoding.parameters():
        nn.init.normal_(parameter)
    attention, x = Attention(DIM, HEADS), torch.randn(BATCH, LENGTH, DIM)
    for mask in (None, some_mask(), torch.rand(BATCH, 1, 1, LENGTH) < 0.9):
        attention.record_weights = False
        fused = attention(x, LENGTH, encoding, mask=mask, causal=causal)
        attention.record_weights = True
        plain = attention(x, LENGTH, encoding, mask=mask, causal=causal)
        torch.testing.assert_close(fused, plain, rtol=1e-4, atol=1e-5)
        sums = present(attention.weights).sum(-1)
        assert (torch.isclose(sums, torch.ones(())) | (sums == 0)).all()
        if causal:
            assert (present(attention.weights).triu(1) == 0).all()


def test_the_score_is_made_of_rotated_vectors_and_the_bias():
    attention, x, rope, alibi = Attention(DIM, HEADS), torch.randn(1, LENGTH, DIM), Rotary(8), ALiBi(HEADS)
    attention.record_weights = True
    q, k, _ = F.linear(x, attention.in_proj_weight).view(1, LENGTH, 3, HEADS, 8).permute(2, 0, 3, 1, 4)
    turned_q, turned_k = rope.rotate(q, k, LENGTH, LENGTH)
    attention(x, LENGTH, rope)
    wanted = (turned_q @ turned_k.mT / 8**0.5).softmax(-1)
    torch.testing.assert_close(attention.weights, wanted)
    attention(x, LENGTH, alibi)
    wanted = (q @ k.mT / 8**0.5 + alibi.bias(q, k, LENGTH, LENGTH)).softmax(-1)
    torch.testing.assert_close(attention.weights, wanted)


def test_a_bias_is_not_rounded_to_16_bits():
    """Keys 4,000 and 4,001 positions away: their biases differ by 1, and bfloat16 has steps of 16 there."""
    encoding, attention = ALiBi(HEADS, slopes=[1.0, 1.0, 1.0, 1.0]), Attention(DIM, HEADS)
    with torch.no_grad():
        attention.in_proj_weight[: 2 * DIM].zero_()  # all scores are equal, but for the bias
    x, at = torch.randn(1, 3, DIM), torch.tensor([0, 1, 4001])
    mask = torch.tensor([True, True, False])

    def last(dtype: torch.dtype) -> torch.Tensor:
        return attention.to(dtype)(x.to(dtype), at, encoding, mask=mask)[0, 2].double()

    exact = last(torch.float64)
    both_alike = attention.double()(x.double(), at, None, mask=mask)[0, 2]
    assert (exact - both_alike).abs().max() > 0.1
    torch.testing.assert_close(last(torch.bfloat16), exact, rtol=0, atol=0.03)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(last(torch.float32), exact, rtol=0, atol=0.03)


@pytest.mark.parametrize("chunks", [(7,), (1, 1, 1, 1, 1, 1, 1), (3, 1, 3), (5, 2)])
@pytest.mark.parametrize("encoding", [None, Rotary(8), ALiBi(HEADS)], ids=["none", "rope", "alibi"])
def test_a_cache_continues_where_it_was(chunks, encoding):
    attention, x = Attention(DIM, HEADS), torch.randn(BATCH, LENGTH, DIM)
    whole = attention(x, None, encoding, causal=True)
    cache = LayerCache()
    parts = [attention(part, None, encoding, causal=True, cache=cache) for part in x.split(chunks, dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)
    assert cache.length == LENGTH


def test_dropout_drops_in_training_alone():
    attention, x = Attention(DIM, HEADS, dropout=0.5), torch.randn(BATCH, LENGTH, DIM)
    assert not torch.equal(attention(x), attention(x))
    attention.eval()
    assert torch.equal(attention(x), attention(x))


def test_the_cache_grows_positions_as_they_come():
    cache = LayerCache()
    k = torch.zeros(2, 1, 3, 4)
    assert cache.extend(k, k, range(3))[2] == (0, 3)
    assert cache.extend(k, k, range(3, 6))[2] == (0, 6)
    apart = LayerCache()
    apart.extend(k, k, range(3))
    positions = apart.extend(k, k, range(10, 13))[2]
    assert isinstance(positions, torch.Tensor)
    assert positions.tolist() == [0, 1, 2, 10, 11, 12]
    positions = cache.extend(k, k, torch.tensor([[6, 7, 8], [0, 1, 2]]))[2]
    assert isinstance(positions, torch.Tensor)
    assert positions.tolist() == [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 1, 2, 3, 4, 5, 0, 1, 2]]
    assert Cache().counts() == 0


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_a_mask_of_numbers_holds_no_nan(value):
    mask = torch.zeros(3, 3)
    mask[1, 2] = value
    with pytest.raises(ValueError, match="mask holds NaN"):
        Attention(8, 2)(torch.ones(1, 3, 8), mask=mask)


def test_a_window_and_a_scale_beside_a_bias_that_reads_queries():
    """PoPE takes the place of q . k, and so of the scores as they are scaled."""
    torch.manual_seed(0)
    narrow, wide = Attention(8, 2, window=3, scale=0.2), Attention(8, 2)
    wide.load_state_dict(narrow.state_dict())
    with torch.no_grad():
        wide.in_proj_weight[:8] *= 0.2 * 2
        present(wide.in_proj_bias)[:8] *= 0.2 * 2
    x, near = torch.randn(1, 7, 8), window_mask(7, 7, 3, like=torch.zeros(1))
    for name in ("none", "rope", "shaw", "cope", "pope"):
        encoding = make_encoding(name, Sizes(8, 2, length=16))
        expected = wide(x, encoding=encoding, mask=near, causal=True)
        torch.testing.assert_close(narrow(x, encoding=encoding, causal=True), expected)
        cache = LayerCache()
        stepwise = [narrow(x[:, i : i + 1], encoding=encoding, causal=True, cache=cache) for i in range(7)]
        torch.testing.assert_close(torch.cat(stepwise, dim=1), expected)


def test_a_softcap_beside_scores_in_place_of_products_is_refused():
    """It would cap q . k, which such a bias then takes off again."""
    layer, x = Attention(32, 2, softcap=5.0), torch.randn(1, 5, 32)
    for name in ENCODINGS:
        encoding = make_encoding(name, Sizes(32, 2, length=16))
        if not encoding.replaces_products:
            continue
        with pytest.raises(ValueError, match=r"softcap=5.0 with .* its scores take the place of q . k"):
            layer(x, encoding=encoding, causal=True)
    assert {name for name in ENCODINGS if make_encoding(name, Sizes(32, 2, length=16)).replaces_products} == {
        *("self-extend", "dual-chunk", "path", "pope", "deberta")
    }


def test_a_cache_keeps_nothing_that_the_caller_writes_into():
    k, v = torch.randn(2, 1, 2, 3, 4)
    cache = LayerCache()
    cache.extend(k, v, 3)
    before = k.clone(), v.clone()
    k.zero_()
    v.zero_()
    assert torch.equal(present(cache.k), before[0])
    assert torch.equal(present(cache.v), before[1])


@pytest.mark.parametrize("more", [{"softcap": 5.0}, {"sinks": True}])
def test_dropout_beside_what_has_no_fused_kernel(more):
    with pytest.raises(ValueError, match="give dropout=0"):
        Attention(8, 2, dropout=0.1, **more)


def test_what_a_layer_may_have_is_that_of_the_function():
    layer = Attention(8, 2, scale=0.3, softcap=0.2, sinks=True, qk_norm=1e-6).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_()
    x = torch.randn(2, 6, 8, dtype=torch.float64)
    projected = F.linear(x, layer.in_proj_weight, layer.in_proj_bias).chunk(3, -1)
    q, k, v = (part.unflatten(-1, (2, 4)).transpose(1, 2) for part in projected)
    norms = present(layer.q_norm), present(layer.k_norm)
    by_hand = attention(q, k, v, norm=norms, scale=0.3, softcap=0.2, sink=layer.sinks, causal=True)
    wanted = layer.out_proj(by_hand.transpose(1, 2).flatten(2))
    torch.testing.assert_close(layer(x, causal=True), wanted)


@pytest.mark.parametrize("name", ["cope", "fox"])
def test_what_numbers_hide_counts_for_no_encoding(name):
    layer, encoding, x = Attention(8, 2, window=4), make_encoding(name, Sizes(8, 2)), torch.randn(2, 6, 8)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.normal_()
    seen = torch.tensor([True, False, True, True, False, True]).expand(6, 6)
    numbers = torch.zeros(6, 6).masked_fill(~seen, -math.inf)
    wanted = layer(x, None, encoding, mask=seen, causal=True)
    torch.testing.assert_close(layer(x, None, encoding, mask=numbers, causal=True), wanted)


def test_a_mask_for_queries_alone_is_cut_with_the_texts():
    layer, x, ends = Attention(8, 2), torch.randn(1, 6, 8), torch.tensor([0, 2, 6])
    asks = torch.tensor([True, False, True, True, False, True])[:, None]
    torch.testing.assert_close(
        layer(x, mask=asks, cu_seqlens=ends), layer(x, mask=asks.expand(6, 6), cu_seqlens=ends)
    )


def test_what_a_layer_may_have_compiles_trains_and_is_cast_by_autocast():
    torch.manual_seed(0)
    layer = Attention(8, 2, kv_heads=1, window=3, scale=0.3, softcap=4.0, sinks=True, qk_norm=1e-6)
    x = torch.randn(2, 6, 8)
    compiled = torch.compile(layer, backend="eager", fullgraph=True, dynamic=True)
    torch.testing.assert_close(compiled(x, causal=True), layer(x, causal=True))
    layer(x, causal=True).square().sum().backward()
    assert all(each.grad is not None and each.grad.abs().max() > 0 for each in layer.parameters())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rounded = layer(x, causal=True).float()
    torch.testing.assert_close(rounded, layer(x, causal=True), rtol=0.1, atol=0.05)
    with torch.device("meta"):
        assert Attention(8, 2, sinks=True, window=2)(torch.ones(1, 4, 8), causal=True).is_meta


@pytest.mark.parametrize(
    "wrong", [{"mask": torch.ones(4, 5, dtype=torch.bool)}, {"encoding": ALiBi(8)}], ids=["mask", "encoding"]
)
def test_a_refused_call_leaves_no_keys_in_the_cache(wrong):
    attention, cache = Attention(32, 4), LayerCache()
    with pytest.raises(ValueError, match=r"mask|does not fit"):
        attention(torch.randn(1, 4, 32), causal=True, cache=cache, **wrong)
    assert cache.length == 0


def test_positions_go_on_where_those_in_the_cache_end():
    attention, x, cache, bias = Attention(32, 4), torch.randn(1, 6, 32), LayerCache(), ALiBi(4)
    attention(x[:, :5], range(100, 105), bias, causal=True, cache=cache)
    last = attention(x[:, 5:], None, bias, causal=True, cache=cache)
    torch.testing.assert_close(last, attention(x, range(100, 106), bias, causal=True)[:, 5:])
    cache = LayerCache()
    attention(x[:, :5], torch.tensor([0, 1, 2, 4, 9]), bias, causal=True, cache=cache)
    with pytest.raises(ValueError, match="positions of your own; give positions= again"):
        attention(x[:, 5:], None, bias, causal=True, cache=cache)


def test_keys_of_another_dtype_or_device_do_not_fit_into_a_cache():
    cache, k = LayerCache(), torch.randn(1, 2, 3, 4)
    cache.extend(k, k, 3)
    with pytest.raises(TypeError, match=r"k is torch\.float16, but the cache holds torch\.float32"):
        cache.extend(k.half(), k.half(), range(3, 6))
    with pytest.raises(ValueError, match="device"):
        cache.extend(k.to("meta"), k.to("meta"), range(3, 6))
