"""The module of data-dependent ALiBi does what its function does, and refuses what does not fit."""

from __future__ import annotations

import pytest
import torch

from posenc_lib.biased import data_dependent_alibi
from posenc_lib.nn import Attention, DataDependentALiBi, LayerCache
from tests.present import present

HEADS, HEAD_DIM, LENGTH = 4, 8, 6


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.mark.parametrize("causal", [True, False])
def test_it_is_the_pure_function_of_its_gates(causal):
    encoding = DataDependentALiBi(HEAD_DIM, HEADS, causal=causal, start=-1.0)
    q, k = torch.randn(2, 2, HEADS, LENGTH, HEAD_DIM)
    gates = torch.sigmoid((k[None] * encoding.weight[:, None, :, None]).sum(-1) - 1.0)
    wanted = data_dependent_alibi(gates[0].log(), log_gates_after=None if causal else gates[1].log())
    torch.testing.assert_close(encoding.bias(q, k, LENGTH, LENGTH), wanted, rtol=1e-4, atol=1e-5)
    last = encoding.bias(q[:, :, -2:], k, range(4, 6), LENGTH)
    torch.testing.assert_close(last, wanted[:, :, -2:], rtol=1e-4, atol=1e-5)
    encoding.bias(q, k, LENGTH, LENGTH).square().sum().backward()
    assert all(present(parameter.grad).abs().min() > 0 for parameter in encoding.parameters())


def test_padding_does_not_count():
    encoding = DataDependentALiBi(HEAD_DIM, HEADS, causal=False, start=0.0)
    q, k = torch.randn(2, 2, HEADS, LENGTH, HEAD_DIM)
    kept = torch.tensor([True, False, True, True, False, True])
    without = encoding.bias(q[:, :, kept], k[:, :, kept], 4, 4)
    whole = kept.expand(LENGTH, LENGTH)
    for mask in (kept, kept[None], whole, whole.tril(), kept.expand(2, 1, 1, LENGTH)):
        got = encoding.bias(q, k, LENGTH, LENGTH, mask)[:, :, kept][..., kept]
        torch.testing.assert_close(got, without)


def test_a_cache_continues_where_it_was():
    encoding, attention = DataDependentALiBi(HEAD_DIM, HEADS, start=0.0), Attention(HEADS * HEAD_DIM, HEADS)
    x, cache = torch.randn(2, LENGTH, HEADS * HEAD_DIM), LayerCache()
    whole = attention(x, None, encoding, causal=True)
    parts = [attention(part, None, encoding, causal=True, cache=cache) for part in x.split(1, dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: DataDependentALiBi(0, 2), ValueError, "head_dim=0"),
        (lambda: DataDependentALiBi(8, 0), ValueError, "heads=0"),
        (lambda: DataDependentALiBi(8, 2, causal=1), TypeError, "not a boolean"),  # type: ignore[arg-type]
        (lambda: DataDependentALiBi(8, 2, start="5"), TypeError, "start='5'"),  # type: ignore[arg-type]
        (lambda: DataDependentALiBi(8, 2, start=float("inf")), ValueError, "start=inf"),
        (
            lambda: DataDependentALiBi(8, 2).bias(torch.zeros(1, 2, 3, 8), torch.zeros(1, 2, 2, 8), 3, 2),
            ValueError,
            "3 queries, but only 2 keys",
        ),
    ],
)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error, match=words):
        call()
