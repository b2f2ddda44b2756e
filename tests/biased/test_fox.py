"""FoX's bias gate by gate, ALiBi as its constant case, and far out."""

from __future__ import annotations

import array_api_strict as strict
import mpmath
import numpy as np
import pytest
import torch

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
