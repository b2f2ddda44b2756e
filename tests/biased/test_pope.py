"""PoPE against its formula, column by column: content has the lengths, and position the angles."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest
import torch

from posenc_lib import attention
from posenc_lib.biased import pope_bias, pope_vectors

BATCH, HEADS, QUERIES, KEYS, DIM = 2, 3, 4, 7, 6
RNG = np.random.default_rng(0)
Q, K = RNG.normal(size=(BATCH, HEADS, QUERIES, DIM)), RNG.normal(size=(BATCH, HEADS, KEYS, DIM))
DELTA = -2 * np.pi * RNG.random((HEADS, DIM))
AT_Q, AT_K = np.arange(QUERIES) + 50, np.arange(KEYS) * 3


def by_the_formula(at_q=AT_Q, at_k=AT_K, base=100.0):
    """The sum over columns of mu(q) mu(k) cos((j - i) w + delta)."""
    products = np.zeros((BATCH, HEADS, QUERIES, KEYS))
    for c in range(DIM):
        angle = (at_k[None] - at_q[:, None]) * base ** (-c / DIM) + DELTA[:, c, None, None]
        lengths = np.log1p(np.exp(Q[..., c]))[..., None] * np.log1p(np.exp(K[..., c]))[..., None, :]
        products += lengths * np.cos(angle)
    return products


def test_vectors_have_the_products_of_the_formula():
    turned = pope_vectors(Q, AT_Q, base=100.0), pope_vectors(K, AT_K, delta=DELTA, base=100.0)
    np.testing.assert_allclose(turned[0] @ turned[1].swapaxes(-1, -2), by_the_formula(), atol=1e-12)


def test_as_a_bias_it_is_what_attention_scores_by():
    value = RNG.normal(size=(BATCH, HEADS, KEYS, 5))
    bias = pope_bias(Q, K, AT_Q, AT_K, delta=DELTA, base=100.0)
    raised = np.exp(by_the_formula() / DIM**0.5)
    wanted = raised / raised.sum(-1, keepdims=True) @ value
    np.testing.assert_allclose(attention(Q, K, value, bias=bias), wanted, atol=1e-12)
    vectors = pope_vectors(Q, AT_Q, base=100.0) * 2**0.5, pope_vectors(K, AT_K, delta=DELTA, base=100.0)
    np.testing.assert_allclose(attention(*vectors, value), wanted, atol=1e-12)


def test_content_changes_lengths_and_position_changes_angles():
    arrows = [
        pope_vectors(x, at)[..., :DIM] + 1j * pope_vectors(x, at)[..., DIM:]
        for x, at in ((Q, AT_Q), (Q, AT_Q + 9), (Q * 3, AT_Q))
    ]
    np.testing.assert_allclose(np.abs(arrows[0]), np.abs(arrows[1]), atol=1e-12)
    np.testing.assert_allclose(np.angle(arrows[0]), np.angle(arrows[2]), atol=1e-12)


def test_only_offsets_count():
    here, there = (pope_bias(Q, K, AT_Q + by, AT_K + by, delta=DELTA) for by in (0, 1000))
    np.testing.assert_allclose(here, there, atol=1e-11)


def test_rows_that_differ_and_heads_in_groups():
    rows = np.stack([AT_Q, AT_Q + 5])
    got = pope_bias(Q, K[:, :1], rows, AT_K, delta=DELTA)
    for row in range(BATCH):
        wanted = pope_bias(Q[row], np.repeat(K[row, :1], HEADS, axis=0), rows[row], AT_K, delta=DELTA)
        np.testing.assert_allclose(got[row], wanted, atol=1e-12)
    back = pope_bias(Q.swapaxes(1, 2), K.swapaxes(1, 2), AT_Q, AT_K, delta=DELTA, seq_axis=-3)
    np.testing.assert_allclose(back, pope_bias(Q, K, AT_Q, AT_K, delta=DELTA), atol=1e-13)


def test_far_content_has_no_overflow():
    far = pope_vectors(np.asarray([[1e30, -1e30]]), [0])
    assert far.tolist() == [[1e30, 0, 0, 0]]


@pytest.mark.parametrize("to", [torch.as_tensor, strict.asarray], ids=["torch", "strict"])
def test_every_library_gives_what_numpy_gives(to):
    got = pope_bias(to(Q), to(K), to(AT_Q), to(AT_K), delta=to(DELTA))
    assert isinstance(got, type(to(Q)))
    np.testing.assert_allclose(np.asarray(got), pope_bias(Q, K, AT_Q, AT_K, delta=DELTA), atol=1e-12)


def test_gradients():
    given = [torch.tensor(x, requires_grad=True) for x in (Q[0, :, :2], K[0, :, :3], DELTA)]
    assert torch.autograd.gradcheck(lambda q, k, delta: pope_bias(q, k, 2, 3, delta=delta), given)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_delta_that_is_no_number(wrong):
    with pytest.raises(ValueError, match="delta must be finite"):
        pope_vectors(np.ones((2, 3)), 2, delta=np.asarray([0.0, wrong, 0.0]))


def test_a_delta_of_heads_beside_queries_without_any():
    q, k = np.ones((3, 4)), np.ones((1, 3, 4))
    with_zeros = pope_bias(q, k, 3, 3, delta=np.zeros((1, 4)))
    np.testing.assert_allclose(with_zeros, pope_bias(q, k, 3, 3))
