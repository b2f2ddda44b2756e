"""Rotations, ALiBi and FoX as one thing: powers of one matrix, or products of such, between query and key.

After Zhang et al. 2026, "Group Representational Position Encoding" (arXiv 2512.07805): a position p is the
matrix G(p) = exp(p X) of a fixed X, so that G(i) G(j) = G(i + j), and a score is q . G(j - i) k. Where X
turns, G is a rotation: RoPE. Where X is nilpotent, G adds: ALiBi. Where each token brings a step of its own,
the sum of the steps takes the place of p: FoX.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib import apply_rotary, frequencies
from posenc_lib.biased import alibi_bias, alibi_slopes, fox_bias, path_products

RNG = np.random.default_rng(0)
DIM, LENGTH = 6, 9
Q, K = RNG.normal(size=(2, LENGTH, DIM))


def power(generator, at):
    return torch.matrix_exp(torch.as_tensor(generator * at)).numpy()


def turning():
    """A block for each pair of columns: a quarter turn times its frequency."""
    generator = np.zeros((DIM, DIM))
    for pair, rate in enumerate(frequencies(DIM)):
        generator[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = [[0, -rate], [rate, 0]]
    return generator


def adding(slope):
    """Two columns more: the last takes slope times the one before it."""
    generator = np.zeros((DIM + 2, DIM + 2))
    generator[DIM, DIM + 1] = -slope
    return generator


def widened():
    """Queries that read the column which is added to, and keys that always bring a 1 for it."""
    zeros, ones = np.zeros((LENGTH, 1)), np.ones((LENGTH, 1))
    return np.concatenate([Q, ones, zeros], 1), np.concatenate([K, zeros, ones], 1)


@pytest.mark.parametrize("generator", [turning(), adding(0.25)], ids=["rotation", "addition"])
def test_positions_add_up(generator):
    for i, j in ((2, 3), (0, 5), (-4, 9), (1.5, 0.25)):
        np.testing.assert_allclose(
            power(generator, i) @ power(generator, j), power(generator, i + j), atol=1e-12
        )


def test_a_generator_that_turns_is_rope():
    wanted = apply_rotary(Q, LENGTH) @ apply_rotary(K, LENGTH).T
    got = [[Q[i] @ power(turning(), j - i) @ K[j] for j in range(LENGTH)] for i in range(LENGTH)]
    np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_a_generator_that_is_nilpotent_is_alibi():
    bias, (q, k) = alibi_bias(4, LENGTH, LENGTH), widened()
    for head, slope in enumerate(alibi_slopes(4)):
        assert not (adding(slope) @ adding(slope)).any()
        got = [[q[i] @ power(adding(slope), i - j) @ k[j] for j in range(LENGTH)] for i in range(LENGTH)]
        np.testing.assert_allclose(got, Q @ K.T + bias[head], atol=1e-12)


def test_steps_that_tokens_bring_are_fox():
    logits, (q, k) = RNG.normal(size=(1, LENGTH)), widened()
    steps = np.log1p(np.exp(-logits[0]))  # -log sigmoid
    bias = fox_bias(logits)[0]
    for i in range(LENGTH):
        for j in range(i + 1):
            between = np.eye(DIM + 2)
            for t in range(j + 1, i + 1):
                between = between @ power(adding(1.0), steps[t])
            np.testing.assert_allclose(q[i] @ between @ k[j], Q[i] @ K[j] + bias[i, j], atol=1e-12)


def test_a_step_of_path_is_a_power_of_a_projection():
    """I - beta w w' = exp(log(1 - beta) w w') below beta = 1; what tokens bring there does not commute."""
    w = RNG.normal(size=(LENGTH, DIM))
    w /= np.linalg.norm(w, axis=-1, keepdims=True)
    beta = RNG.random(LENGTH)
    products = path_products(Q, K, w, beta)
    between = np.eye(DIM)
    for t in range(1, LENGTH):
        between = power(np.outer(w[t], w[t]), np.log(1 - beta[t])) @ between
    assert Q[-1] @ between @ K[0] == pytest.approx(products[-1, 0], abs=1e-12)
    first, second = (power(np.outer(w[t], w[t]), np.log(1 - beta[t])) for t in (1, 2))
    assert np.abs(first @ second - second @ first).max() > 1e-3
