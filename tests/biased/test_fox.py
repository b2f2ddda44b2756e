"""FoX's bias gate by gate, ALiBi as its constant case, and far out."""

from __future__ import annotations

import array_api_strict as strict
import mpmath
import numpy as np
import pytest
import torch

from posenc_lib import attention
from posenc_lib.biased import alibi_bias, alibi_slopes, data_dependent_alibi, fox_bias

LOGITS = np.random.default_rng(0).normal(size=(2, 3, 9))


def test_it_is_the_product_of_the_gates_between():
    gates, bias = 1 / (1 + np.exp(-LOGITS)), fox_bias(LOGITS)
    for i in range(9):
        for j in range(9):
            np.testing.assert_allclose(
                np.exp(bias[..., i, j]), gates[..., j + 1 : i + 1].prod(-1), rtol=1e-12
            )


@pytest.mark.parametrize("heads", [1, 3, 8, 12])
def test_gates_that_are_all_the_same_make_alibi(heads):
    gate = np.exp(-alibi_slopes(heads))
    logits = np.broadcast_to(np.log(gate / (1 - gate))[:, None], (heads, 40))
    np.testing.assert_allclose(fox_bias(logits), np.tril(alibi_bias(heads, 40, 40)), atol=1e-11)


def test_a_text_that_grows_by_a_token_gets_a_row_more():
    whole = fox_bias(LOGITS)
    for length in range(1, 10):
        step = fox_bias(LOGITS[..., :length], 1)
        np.testing.assert_allclose(step[..., 0, :], whole[..., length - 1, :length], atol=1e-13)


@pytest.mark.parametrize("kind", [fox_bias, data_dependent_alibi])
@pytest.mark.parametrize("to", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_neighbours_stay_exact_far_out(to, kind):
    """Sums of 200,000 gates are near -1.6e6, where float32 counts in steps of an eighth."""
    logits = np.full((1, 200_000), -8.0, dtype=np.float32)
    one = float(mpmath.log1p(mpmath.exp(8)))
    given = logits if kind is fox_bias else np.full_like(logits, -one)
    bias = np.asarray(kind(to(given), 1))
    assert bias.dtype == np.float32
    np.testing.assert_allclose(bias[0, 0, -4:], [-3 * one, -2 * one, -one, 0], rtol=3e-7)


@pytest.mark.parametrize("logit", [-1e30, -200.0, 200.0, 1e30])
def test_gates_at_their_ends(logit):
    bias = fox_bias(np.asarray([[0.0, logit]]))
    assert bias[0, 1, 0] == min(logit, 0)
    assert bias[0, 1, 1] == bias[0, 0, 0] == 0


def test_a_gate_learns():
    logits = torch.tensor(LOGITS, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: fox_bias(x, 4), (logits,))


@pytest.mark.parametrize("to", [torch.as_tensor, strict.asarray], ids=["torch", "strict"])
def test_every_library_gives_what_numpy_gives(to):
    got = fox_bias(to(LOGITS), 4)
    assert isinstance(got, type(to(LOGITS)))
    np.testing.assert_allclose(np.asarray(got), fox_bias(LOGITS, 4), atol=1e-13)


def by_products(gates):
    """The gates between, multiplied one by one: what e^bias is to be."""
    length = gates.shape[-1]
    products = np.ones((*gates.shape, length))
    for i in range(length):
        for j in range(i):
            products[..., i, j] = gates[..., j + 1 : i + 1].prod(-1)
    return products


SHUT = np.where(np.random.default_rng(1).random(LOGITS.shape) < 0.3, -np.inf, LOGITS)


@pytest.mark.parametrize("to", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_a_gate_that_is_shut_cuts_off_what_stood_before_it(to):
    with np.errstate(divide="ignore"):
        wanted = np.log(by_products(1 / (1 + np.exp(-SHUT))))
    np.testing.assert_allclose(fox_bias(to(SHUT)), wanted, rtol=1e-12, atol=1e-13)
    log_gates = -np.logaddexp(0, -SHUT)
    np.testing.assert_allclose(data_dependent_alibi(to(log_gates)), wanted, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(fox_bias(to(SHUT), 2), wanted[..., -2:, :], rtol=1e-12, atol=1e-13)


def test_in_both_directions_a_shut_gate_cuts_each():
    gates = np.asarray([0.0, -1.0, -np.inf, -2.0])
    both = data_dependent_alibi(gates, log_gates_after=gates)
    inf = np.inf
    wanted = [[0, -1, -inf, -inf], [-1, 0, -inf, -inf], [-inf, -inf, 0, -2], [-inf, -inf, -2, 0]]
    np.testing.assert_array_equal(both, wanted)


@pytest.mark.parametrize("closed", [-1e30, float(np.finfo(np.float32).min), -1e9])
def test_a_gate_that_is_nearly_shut_does_not_drown_those_after_it(closed):
    logits = np.asarray([[0.0, closed, 0.0, 1.0, closed, 0.5]])
    bias = fox_bias(logits)
    between = -np.log1p(np.exp(-logits[0]))
    assert bias[0, 3, 1] == pytest.approx(between[2] + between[3], rel=1e-12)
    assert bias[0, 5, 4] == pytest.approx(between[5], rel=1e-12)
    np.testing.assert_allclose(bias[0, 5, 0], 2 * closed, rtol=1e-6)


@pytest.mark.parametrize("kind", [fox_bias, data_dependent_alibi])
def test_nor_does_it_open_another_that_is_nearly_shut(kind):
    """Sums of 1e30 have no digits left for 20,000, which hides a key all the same."""
    gates = np.asarray([[-1.0, -1e30, -1.0, -2e4, -1.0, -3e4]])
    bias = kind(gates)
    assert bias[0, 1, 0] == bias[0, 4, 0] == pytest.approx(-1e30)
    assert bias[0, 3, 2] < -9_999
    assert bias[0, 5, 2] < -19_999
    assert bias[0, 4, 3] == pytest.approx(gates[0, 4] if kind is data_dependent_alibi else -np.log1p(np.e))
    after = data_dependent_alibi(np.zeros(6), log_gates_after=gates[0])
    assert after[2, 3] < -9_999
    assert after[3, 4] == -1


def test_packed_texts_cut_by_a_gate_are_texts_by_themselves():
    """And gradients stay finite; as a compiler traces it, where no value can be looked at."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 7, 4, generator=generator)
    logits = torch.randn(1, 2, 7, generator=generator)
    begins = torch.tensor([True, False, False, True, False, False, False])
    logits.requires_grad_()

    def together(logits):
        return attention(q, k, v, bias=fox_bias(logits.masked_fill(begins, -torch.inf)), causal=True)

    apart = [
        attention(q[:, :, text], k[:, :, text], v[:, :, text], bias=fox_bias(logits[..., text]), causal=True)
        for text in (slice(0, 3), slice(3, 7))
    ]
    output = together(logits)
    torch.testing.assert_close(output, torch.cat(apart, dim=2))
    compiled = torch.compile(together, backend="eager", fullgraph=True, dynamic=True)
    torch.testing.assert_close(compiled(logits), output)
    for result in (output, compiled(logits)):
        (gradient,) = torch.autograd.grad(result.square().sum(), logits)
        assert gradient.isfinite().all()
        assert gradient.abs().max() > 0
