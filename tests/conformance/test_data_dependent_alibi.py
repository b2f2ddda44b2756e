"""Data-dependent ALiBi against x-transformers, in one direction, in both, and by row."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from posenc_lib.biased import data_dependent_alibi, per_row_alibi
from posenc_lib.nn import DataDependentALiBi
from tests.conformance.peers import x_transformers

LENGTH, DIM, HEADS, HEAD_DIM = 9, 12, 3, 4


@pytest.fixture(autouse=True)
def _seed_without_grad():
    torch.manual_seed(0)
    with torch.no_grad():
        yield


@pytest.mark.parametrize("causal", [True, False])
def test_one_gate_for_each_token(causal):
    theirs = x_transformers.DataDependentAlibi(DIM, HEADS, causal=causal, bias_init=0.5)
    x = torch.randn(2, LENGTH, DIM)
    log_gates = F.logsigmoid(theirs.to_forget_gates[0](x)).transpose(1, 2)
    after = None if causal else log_gates[:, HEADS:]
    ours = data_dependent_alibi(log_gates[:, :HEADS], log_gates_after=after)
    wanted = theirs(x).tril() if causal else theirs(x)
    torch.testing.assert_close(ours, wanted, rtol=1e-5, atol=1e-5)


def test_gates_by_row():
    theirs = x_transformers.PerRowDataDependentAlibi(DIM, HEADS, dim_head=HEAD_DIM)
    x = torch.randn(2, LENGTH, DIM)
    q, k = theirs.to_forget_gates(x)
    log_gates = F.logsigmoid(q @ k.mT * HEAD_DIM**-0.5)
    torch.testing.assert_close(per_row_alibi(log_gates), theirs(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("causal", [True, False])
def test_the_module_is_theirs_read_through_the_keys(causal):
    """Their projection of x, put together from ours of the keys and the keys' own."""
    theirs = x_transformers.DataDependentAlibi(DIM, HEADS, causal=causal)
    ours = DataDependentALiBi(HEAD_DIM, HEADS, causal=causal)
    x, to_key = torch.randn(2, LENGTH, DIM), torch.randn(HEADS, HEAD_DIM, DIM)
    linear = theirs.to_forget_gates[0]
    linear.weight.copy_(torch.einsum("nhd,hdx->nhx", ours.weight, to_key).flatten(0, 1))
    assert torch.equal(linear.bias, ours.offset.flatten())
    q, k = torch.randn(2, HEADS, LENGTH, HEAD_DIM), torch.einsum("blx,hdx->bhld", x, to_key)
    wanted = theirs(x).tril() if causal else theirs(x)
    torch.testing.assert_close(ours.bias(q, k, LENGTH, LENGTH), wanted, rtol=1e-4, atol=1e-5)
