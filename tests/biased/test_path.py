"""PaTH against its definition: the product of all factors between, as matrices, pair by pair."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest
import torch

from posenc_lib import attention
from posenc_lib.biased import path_bias, path_products

BATCH, HEADS, LENGTH, WIDTH = 2, 3, 13, 4
RNG = np.random.default_rng(0)
Q, K, W = RNG.normal(size=(3, BATCH, HEADS, LENGTH, WIDTH))
W /= np.linalg.norm(W, axis=-1, keepdims=True)
BETA = 2 * RNG.random((BATCH, HEADS, LENGTH))


def by_matrices(q, k, w, beta):
    """q_i . H_i ... H_(j+1) k_j, every factor a matrix."""
    factors = np.eye(WIDTH) - beta[..., None, None] * w[..., :, None] * w[..., None, :]
    products = np.zeros((*q.shape[:-1], LENGTH))
    for i in range(LENGTH):
        between = np.broadcast_to(np.eye(WIDTH), factors[..., 0, :, :].shape)
        for j in range(i, -1, -1):
            products[..., i, j] = np.einsum("...d,...de,...e", q[..., i, :], between, k[..., j, :])
            between = between @ factors[..., j, :, :]
    return products


WANTED = by_matrices(Q, K, W, BETA)


@pytest.mark.parametrize("block", [1, 2, 5, 12, 13, 64, None])
@pytest.mark.parametrize("queries", [0, 1, 4, 8, LENGTH])
def test_blocks_of_any_size_are_the_definition(block, queries):
    got = path_products(Q[..., LENGTH - queries :, :], K, W, BETA, block=block)
    np.testing.assert_allclose(got, WANTED[..., LENGTH - queries :, :], atol=1e-13)


def test_many_tokens_in_blocks_are_one_factor_after_the_other():
    q, k, w = RNG.normal(size=(3, 150, 16))
    w /= np.linalg.norm(w, axis=-1, keepdims=True)
    beta = 2 * RNG.random(150)
    one_by_one = path_products(q, k, w, beta, block=1)
    for block in (7, 64, None):
        np.testing.assert_allclose(path_products(q, k, w, beta, block=block), one_by_one, atol=1e-11)


def test_reflections_keep_lengths_and_erasures_do_not():
    same = np.broadcast_to(K[..., -1:, :], K.shape)
    straight = path_products(K, same, W, np.full_like(BETA, 2.0))
    assert np.abs(straight[..., -1, :]).max() <= np.max((K[..., -1, :] ** 2).sum(-1)) + 1e-12
    for beta, wanted in ((0.0, 1.0), (1.0, 0.0), (2.0, -1.0)):  # along one vector, a factor is 1 - beta
        along = np.ones((2, 1))
        assert path_products(along, along, along, np.full(2, beta))[1, 0] == pytest.approx(wanted)


def test_as_a_bias_it_is_what_attention_scores_by():
    value = RNG.normal(size=Q.shape)
    got = attention(Q, K, value, bias=path_bias(Q, K, W, BETA, block=4), causal=True)
    scores = np.where(np.tri(LENGTH, dtype=bool), WANTED / WIDTH**0.5, -np.inf)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(got, weights @ value, atol=1e-12)
    assert (np.triu(path_bias(Q, K, W, BETA), k=1) == 0).all()


def test_heads_of_keys_serve_groups_of_queries():
    grouped = [x[:, :1] for x in (K, W, BETA)]
    whole = path_products(Q, *(np.repeat(x, HEADS, axis=1) for x in grouped))
    np.testing.assert_allclose(path_products(Q, *grouped), whole, atol=1e-13)
    own_reflections = path_products(Q, grouped[0], W, BETA)
    repeated = path_products(Q, np.repeat(grouped[0], HEADS, axis=1), W, BETA)
    np.testing.assert_allclose(own_reflections, repeated, atol=1e-13)


def test_the_sequence_may_stand_elsewhere():
    q, k, w = (np.swapaxes(x, -2, -3) for x in (Q, K, W))
    np.testing.assert_allclose(path_products(q, k, w, BETA, seq_axis=-3), WANTED, atol=1e-13)
    bias = path_bias(q, k, w, BETA, seq_axis=-3)
    np.testing.assert_allclose(bias, path_bias(Q, K, W, BETA), atol=1e-13)


@pytest.mark.parametrize("block", [1, 2, None])
def test_gradients(block):
    given = [torch.tensor(x[0, 0, :5], requires_grad=True) for x in (Q, K, W, BETA)]
    assert torch.autograd.gradcheck(lambda *arrays: path_products(*arrays, block=block), given)


@pytest.mark.parametrize("to", [torch.as_tensor, strict.asarray], ids=["torch", "strict"])
@pytest.mark.parametrize("block", [4, None])
def test_every_library_gives_what_numpy_gives(to, block):
    got = path_products(*map(to, (Q, K, W, BETA)), block=block)
    assert isinstance(got, type(to(Q)))
    np.testing.assert_allclose(np.asarray(got), WANTED, atol=1e-12)


def test_16_bits_are_rounded_at_the_start_alone():
    given = [torch.as_tensor(x).bfloat16() for x in (Q, K, W, BETA)]
    wanted = path_products(*(x.double() for x in given))
    assert path_products(*given).dtype == torch.float32
    torch.testing.assert_close(path_products(*given).double(), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_beta_that_is_no_number(wrong):
    with pytest.raises(ValueError, match="beta must be finite"):
        path_products(Q, K, W, np.where(BETA.max() == BETA, wrong, BETA))
