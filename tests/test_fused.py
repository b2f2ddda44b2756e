"""What kernels of a GPU are given as a mask or a bias, asked of a CPU."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import posenc_lib as p
from posenc_lib import _fused
from posenc_lib._fused import fused_attention, readable
from posenc_lib.nn import ALiBi, Attention, Sizes, make_encoding

DIM, HEADS, LENGTH = 16, 2, 12
EPS = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
"""How far a number of this dtype is off at most, as a part of it."""

sixteen_bits = pytest.mark.parametrize("dtype", EPS, ids=str)


@pytest.fixture
def _as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fused, "kind_of_device", lambda x: "cuda")


@pytest.mark.parametrize(
    ("device", "queries", "bias", "wanted"),
    [
        ("cpu", torch.bfloat16, torch.float32, torch.float32),
        ("cpu", torch.bfloat16, torch.float64, torch.float32),
        ("cpu", torch.bfloat16, torch.float16, torch.float32),
        ("cpu", torch.float64, torch.bfloat16, torch.float64),
        ("cuda", torch.bfloat16, torch.bfloat16, torch.bfloat16),
        ("cuda", torch.bfloat16, torch.float32, torch.bfloat16),
        ("cuda", torch.float16, torch.float64, torch.float16),
        ("cuda", torch.float16, torch.bfloat16, torch.float16),
        ("cuda", torch.float32, torch.bfloat16, torch.float32),
        ("cuda", torch.float32, torch.float64, torch.float32),
        ("cuda", torch.float64, torch.float32, torch.float64),
        ("mps", torch.float16, torch.float32, torch.float16),
    ],
)
def test_a_kernel_is_given_what_it_reads(
    device: str, queries: torch.dtype, bias: torch.dtype, wanted: torch.dtype
) -> None:
    assert readable(torch.zeros(2, 3, dtype=bias), queries, device).dtype == wanted


@sixteen_bits
@pytest.mark.parametrize("encoding", ["alibi", "t5", "sandwich", "fox"])
def test_each_bias_and_mask_reaches_the_kernel_in_the_queries_dtype(
    encoding: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On "meta", which is no CPU and computes nothing."""
    seen = []

    def watched(q: Tensor, k: Tensor, v: Tensor, *, attn_mask: Tensor, **options: Any) -> Tensor:
        seen.append(attn_mask.dtype)
        return q

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    where: Any = {"device": "meta", "dtype": dtype}
    layer, x = Attention(DIM, HEADS, **where), torch.empty(1, LENGTH, DIM, **where)
    door = make_encoding(encoding, Sizes(dim=DIM, heads=HEADS, causal=True)).to("meta")
    layer(x, encoding=door, causal=True)
    layer(x, mask=torch.zeros(LENGTH, LENGTH, device="meta"), causal=True)
    q = torch.empty(1, HEADS, LENGTH, 8, **where)
    p.alibi_attention(q, q, q, causal=False)
    assert seen == [dtype] * 3


@sixteen_bits
@pytest.mark.parametrize("lowest", [torch.finfo(torch.float32).min, -1e5, -1e9, -math.inf])
def test_a_row_in_which_all_is_cut_off_is_what_it_is_in_float32(dtype: torch.dtype, lowest: float) -> None:
    bias = -torch.arange(5.0).expand(2, 5)
    cut_off = torch.tensor([[False, True, False, True, True], [True] * 5])
    for wide in (bias + cut_off * lowest if lowest > -math.inf else bias, bias):
        wide = wide.masked_fill(cut_off, lowest)
        narrow = readable(wide, dtype, "cuda")
        assert torch.equal(torch._safe_softmax(narrow.float(), -1), torch._safe_softmax(wide, -1))
        assert bool((narrow[1] == -math.inf).all()) == (lowest == -math.inf)


def test_infinity_and_nan_are_not_hidden() -> None:
    wide = torch.tensor([[0.0, math.nan, -math.inf], [0.0, math.inf, 1.0], [0.0, 1.0, -math.inf]])
    weights = readable(wide, torch.float16, "cuda").softmax(-1)
    assert weights.isnan().any(-1).tolist() == [True, True, False]


@sixteen_bits
@pytest.mark.parametrize("queries_at", [0, 4000])
@pytest.mark.parametrize("name", ["alibi", "sandwich"])
def test_no_weight_is_off_by_more_than_is_said(name: str, queries_at: int, dtype: torch.dtype) -> None:
    at = torch.arange(queries_at, queries_at + 8)
    exact: Tensor = (
        p.alibi_bias(8, at, 4008, dtype=torch.float64)
        if name == "alibi"
        else p.sandwich_bias(8, at, torch.arange(4008), dtype=torch.float64)
    )
    exact = exact.masked_fill(torch.arange(4008) > at[:, None], -math.inf)
    narrow = readable(exact.float(), dtype, "cuda").double()
    off = (narrow.exp() - (exact - exact.amax(-1, keepdim=True)).exp()).abs().max()
    assert off <= EPS[dtype] / math.e * 1.01
    if name == "sandwich":  # else this would not be true
        plain = exact.to(dtype).double()
        assert (plain.exp() / exact.exp() - 1).abs().nan_to_num().max() > 8 * EPS[dtype]


@sixteen_bits
def test_gradients_reach_a_learned_bias(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    wide, values = torch.randn(3, 6, dtype=torch.float64), torch.randn(6, 4, dtype=torch.float64)
    hidden = torch.tensor([False, True, False, False, False, True])

    def gradient(bias: Tensor, exact: bool) -> Tensor:
        bias.requires_grad_()
        seen = bias.masked_fill(hidden, -math.inf)
        seen = seen if exact else readable(seen, dtype, "cuda").to(bias.dtype)
        ((seen.softmax(-1) @ values.to(bias)) ** 2).sum().backward()
        assert bias.grad is not None
        return bias.grad.double()

    wanted = gradient(wide.clone(), exact=True)
    torch.testing.assert_close(gradient(wide.float(), exact=False), wanted, rtol=0.02, atol=0.02)
    assert wanted.abs().max() > 0.2


@sixteen_bits
@pytest.mark.usefixtures("_as_on_a_gpu")
def test_far_keys_keep_their_differences(dtype: torch.dtype) -> None:
    """Where no near key may be seen. In bfloat16 4,000 and 4,001 are one number."""
    encoding, attention = ALiBi(HEADS, slopes=[1.0, 1.0]), Attention(DIM, HEADS)
    with torch.no_grad():
        attention.in_proj_weight[: 2 * DIM].zero_()  # all scores are equal, but for the bias
    x, at = torch.randn(1, 3, DIM), torch.tensor([0, 1, 4001])
    mask = torch.tensor([True, True, False])
    exact = attention.double()(x.double(), at, encoding, mask=mask)[0, 2]
    got = attention.to(dtype)(x.to(dtype), at, encoding, mask=mask)[0, 2].double()
    torch.testing.assert_close(got, exact, rtol=0, atol=8 * EPS[dtype])


@sixteen_bits
@pytest.mark.usefixtures("_as_on_a_gpu")
@pytest.mark.parametrize("causal", [True, False])
def test_alibi_attention_and_its_slopes_gradient(causal: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, HEADS, 9, 8).to(dtype)
    mask = torch.arange(9) % 4 != 2

    def attended(kind: torch.dtype) -> tuple[Tensor, Tensor]:
        slopes = torch.tensor([0.5, 0.03], dtype=kind, requires_grad=True)
        out = p.alibi_attention(q.to(kind), k.to(kind), v.to(kind), slopes, causal=causal, mask=mask)
        (gradient,) = torch.autograd.grad(out.double().square().sum(), slopes)
        return out.double(), gradient.double()

    for got, wanted in zip(attended(dtype), attended(torch.float64), strict=True):
        torch.testing.assert_close(got, wanted, rtol=16 * EPS[dtype], atol=16 * EPS[dtype])


@sixteen_bits
@pytest.mark.usefixtures("_as_on_a_gpu")
@pytest.mark.parametrize("kind", ["booleans", "wide", "narrow"])
@pytest.mark.parametrize("lowest", [-65504.0, -math.inf])
def test_a_query_that_may_look_at_no_key_gets_0_whatever_the_kernel_makes_of_it(
    lowest: float, kind: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    allowed = torch.rand(2, 1, 5, 6) < 0.5
    allowed[0, :, 2] = False
    allowed[1, :, 4] = True
    given = [torch.randn(2, 3, tokens, 4).to(dtype) for tokens in (5, 6, 6)]
    wide_q, wide_k, wide_v = (x.double() for x in given)
    exact = F.scaled_dot_product_attention(wide_q, wide_k, wide_v, attn_mask=allowed)

    def strict(q: Tensor, k: Tensor, v: Tensor, *, attn_mask: Tensor) -> Tensor:
        """A kernel that knows of no such query: False is a number to it, and -inf everywhere is NaN."""
        if attn_mask.dtype == torch.bool:
            attn_mask = torch.zeros(attn_mask.shape, dtype=q.dtype).masked_fill(~attn_mask, lowest)
        assert attn_mask.dtype == q.dtype
        weights = (q.double() @ k.double().mT / q.shape[-1] ** 0.5 + attn_mask.double()).softmax(-1)
        return (weights @ v.double()).to(q.dtype)

    monkeypatch.setattr(F, "scaled_dot_product_attention", strict)
    mask = allowed
    if kind != "booleans":
        mask = torch.zeros(allowed.shape).masked_fill(~allowed, -math.inf)
        mask = mask.to(dtype) if kind == "narrow" else mask
    q, k, v = (x.requires_grad_() for x in given)
    got = fused_attention(q, k, v, mask)
    torch.testing.assert_close(got.double(), exact, rtol=0, atol=4 * EPS[dtype])
    assert (got[0, :, 2] == 0).all()
    got.sum().backward()
    assert all(x.grad is not None and x.grad.isfinite().all() for x in given)


@sixteen_bits
@pytest.mark.parametrize(
    ("bias", "wanted"),
    [
        (torch.tensor([0, 5, 3], dtype=torch.uint8), [-5.0, 0.0, -2.0]),
        (torch.tensor([-128, 127], dtype=torch.int8), [-255.0, 0.0]),
        (torch.tensor([40000.0, -40000.0], dtype=torch.float16), [0.0, -80000.0]),
        (torch.tensor([257.0, -1.5]).to(torch.bfloat16), [0.0, -257.5]),
    ],
    ids=["uint8", "int8", "float16", "bfloat16"],
)
def test_the_largest_is_taken_off_before_anything_is_rounded(
    bias: Tensor, wanted: list[float], dtype: torch.dtype
) -> None:
    given = readable(bias, dtype, "cuda")
    assert given.equal(bias if bias.dtype == dtype else torch.tensor(wanted).to(dtype))


@pytest.mark.usefixtures("_as_on_a_gpu")
def test_a_text_without_tokens_has_nothing_to_round() -> None:
    door = make_encoding("alibi", Sizes(dim=DIM, heads=HEADS, causal=True))
    nothing = torch.randn(1, 0, DIM).bfloat16()
    assert Attention(DIM, HEADS).bfloat16()(nothing, encoding=door, causal=True).shape == nothing.shape
