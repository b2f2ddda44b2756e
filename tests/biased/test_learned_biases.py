"""Shaw, Transformer-XL, KERPLE, FIRE, sandwich and CoPE, each against its equations written as loops."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from posenc_lib import attention, sinusoidal
from posenc_lib.biased import (
    alibi_bias,
    cope_bias,
    fire_bias,
    fire_distances,
    kerple_bias,
    relative_shift,
    sandwich_bias,
    shaw_bias,
    shaw_values,
    transformer_xl_bias,
)
from tests.present import present

RNG = np.random.default_rng(0)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# Shaw et al. 2018


@pytest.mark.parametrize(
    ("queries", "keys", "reach"), [(5, 5, 2), (3, 7, 4), (1, 6, 1), (4, 4, 0), (3, 4, 9)]
)
def test_shaw_s_attention_by_its_equations(queries, keys, reach):
    heads, d = 2, 4
    q = RNG.normal(size=(heads, queries, d))
    k, v = RNG.normal(size=(2, heads, keys, d))
    table_k, table_v = RNG.normal(size=(2, 2 * reach + 1, d))
    expected = np.zeros((heads, queries, d))
    for h in range(heads):
        for i in range(queries):
            at = keys - queries + i
            rows = [max(-reach, min(reach, j - at)) + reach for j in range(keys)]
            scores = np.asarray([q[h, i] @ (k[h, j] + table_k[rows[j]]) / math.sqrt(d) for j in range(keys)])
            for j, weight in enumerate(softmax(scores)):
                expected[h, i] += weight * (v[h, j] + table_v[rows[j]])
    output, weights = attention(q, k, v, bias=shaw_bias(q, table_k, queries, keys), return_weights=True)
    np.testing.assert_allclose(output + shaw_values(weights, table_v, queries, keys), expected, atol=1e-13)


def test_shaw_with_a_table_for_each_head_and_positions_for_each_row():
    q = RNG.normal(size=(2, 3, 4, 8))
    table = RNG.normal(size=(3, 5, 8))
    positions = np.asarray([[-1, 0, 1, 2], [10, 11, 12, 14]])
    bias = shaw_bias(q, table, positions, positions, scale=1.0)
    for b in range(2):
        for h in range(3):
            for i in range(4):
                for j in range(4):
                    row = int(np.clip(positions[b, j] - positions[b, i], -2, 2)) + 2
                    assert bias[b, h, i, j] == pytest.approx(q[b, h, i] @ table[h, row])
    weights = RNG.random(size=(2, 3, 4, 4))
    values = shaw_values(weights, table, positions, positions)
    row = int(np.clip(14 - 10, -2, 2)) + 2
    without = weights.copy()
    without[1, 2, 0, 3] = 0
    lost = values - shaw_values(without, table, positions, positions)
    np.testing.assert_allclose(lost[1, 2, 0], weights[1, 2, 0, 3] * table[2, row], atol=1e-14)
    assert np.abs(lost).sum() == pytest.approx(np.abs(lost[1, 2, 0]).sum())
    for shared in (table[0], table[:1]):  # one for all heads, and a table that heads share
        each = np.broadcast_to(table[0], table.shape)
        np.testing.assert_allclose(
            shaw_values(weights, shared, positions, positions),
            shaw_values(weights, each, positions, positions),
            atol=1e-14,
        )


# Transformer-XL


@given(st.integers(1, 6), st.integers(0, 6), st.booleans())
def test_the_relative_shift_is_the_gather_that_it_stands_for(queries, more, causal):
    keys = queries + more
    width = keys if causal else queries + keys - 1
    x = np.random.default_rng(queries * 10 + more).normal(size=(2, 3, queries, width))
    shifted = relative_shift(x, keys)
    assert shifted.shape == (2, 3, queries, keys)
    for i in range(queries):
        for j in range(keys):
            relative = j - (keys - queries + i)
            column = relative + keys - 1
            expected = x[:, :, i, column] if column < width else 0.0
            np.testing.assert_array_equal(shifted[:, :, i, j], expected)


@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (3, 8), (1, 4), (1, 1)])
@pytest.mark.parametrize("both_directions", [False, True])
def test_transformer_xl_s_four_terms(queries, keys, both_directions):
    heads, d, d_model = 2, 6, 10
    q = RNG.normal(size=(3, heads, queries, d))
    k = RNG.normal(size=(3, heads, keys, d))
    u, v = RNG.normal(size=(2, heads, d))
    project = RNG.normal(size=(d_model, heads, d))
    width = queries + keys - 1 if both_directions else keys
    distances = keys - 1 - np.arange(width)
    encoded = sinusoidal(distances, d_model, layout="split")
    relative_keys = np.einsum("wm,mhd->hwd", encoded, project)
    bias = transformer_xl_bias(q, k, relative_keys, u, v)
    for i in range(queries):
        for j in range(keys):
            distance = keys - queries + i - j
            if distance < 0 and not both_directions:
                continue  # masked: the paper has no such key
            r = np.einsum(
                "m,mhd->hd", sinusoidal(np.asarray(float(distance)), d_model, layout="split"), project
            )
            b = np.einsum("bhd,hd->bh", q[:, :, i], r)
            c = np.einsum("hd,bhd->bh", u, k[:, :, j])
            term_d = np.einsum("hd,hd->h", v, r)
            np.testing.assert_allclose(bias[:, :, i, j], (b + c + term_d) / math.sqrt(d), atol=1e-12)


def test_without_keys_for_the_future_only_u_k_is_left_there():
    q, k = RNG.normal(size=(2, 2, 4, 6))
    u, v = RNG.normal(size=(2, 2, 6))
    bias = transformer_xl_bias(q, k, RNG.normal(size=(2, 4, 6)), u, v, scale=1.0)
    assert bias[1, 0, 3] == pytest.approx(u[1] @ k[1, 3])


# KERPLE


@pytest.mark.parametrize("kind", ["log", "power"])
def test_kerple_by_its_formula(kind):
    r1, r2 = np.asarray([0.5, 2.0]), np.asarray([1.5, 0.01])
    bias = kerple_bias(r1, r2, 3, 5, kind=kind)
    for h in range(2):
        for i in range(3):
            for j in range(5):
                distance = abs(j - (i + 2))
                if kind == "log":
                    exact = -mpmath.mpf(r1[h]) * mpmath.log(1 + mpmath.mpf(r2[h]) * distance)
                else:
                    exact = -mpmath.mpf(r1[h]) * mpmath.mpf(distance) ** mpmath.mpf(r2[h])
                assert bias[h, i, j] == pytest.approx(float(exact), rel=1e-14, abs=1e-300)


def test_the_power_variant_with_exponent_1_is_symmetric_alibi():
    slopes = np.asarray([0.5, 0.25])
    np.testing.assert_allclose(
        kerple_bias(slopes, np.ones(2), 4, 4, kind="power"), alibi_bias(2, 4, 4, causal=False, slopes=slopes)
    )


def test_the_power_variant_reaches_exponent_2():
    distance = np.arange(4)[:, None] - np.arange(4)
    bias = kerple_bias(np.asarray([0.5]), np.asarray([2.0]), 4, 4, kind="power")
    np.testing.assert_allclose(bias[0], -0.5 * distance**2)


def test_kerple_s_parameters_are_learned_on_the_diagonal_too():
    for kind in ("log", "power"):
        r1 = torch.ones(2, requires_grad=True)
        r2 = torch.full((2,), 0.5, requires_grad=True)
        bias = kerple_bias(r1, r2, 4, 4, kind=kind)
        assert bias.dtype == torch.float32
        bias.sum().backward()
        assert torch.isfinite(present(r1.grad)).all()
        assert torch.isfinite(present(r2.grad)).all()
        assert (present(r1.grad) < 0).all()


@pytest.mark.parametrize("kind", ["log", "power"])
def test_kerple_has_second_derivatives_on_the_diagonal_too(kind):
    r1, r2 = torch.tensor([[0.7, 1.2], [0.5, 1.5]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda r1, r2: kerple_bias(r1, r2, 2, 3, kind=kind), (r1, r2))


def test_kerple_is_right_at_a_distance_of_ten_million():
    bias = kerple_bias(torch.ones(1), torch.full((1,), 0.1), torch.tensor([10_000_000]), torch.tensor([1]))
    exact = -mpmath.log(1 + mpmath.mpf(float(torch.tensor(0.1))) * 9_999_999)
    assert float(bias) == pytest.approx(float(exact), rel=6e-8)


# FIRE


@pytest.mark.parametrize("threshold", [0.5, 3.0, 100.0])
def test_fire_s_fractions_by_the_formula(threshold):
    c = 0.3
    x = fire_distances(4, 6, c=c, threshold=threshold)
    for i in range(4):
        for j in range(6):
            at = i + 2
            psi = [mpmath.log(1 + mpmath.mpf(c) * value) for value in (abs(at - j), max(threshold, at))]
            assert x[i, j] == pytest.approx(float(psi[0] / psi[1]), rel=1e-14)


def test_fire_fills_0_to_1_past_the_threshold_and_less_before_it():
    x = fire_distances(100, 100, c=1.0, threshold=10.0)
    past = np.tril(np.ones((100, 100), dtype=bool))
    assert x[past].min() == 0.0
    assert x[past].max() == 1.0
    np.testing.assert_allclose(x[11:, 0], 1.0)
    assert x[9, 0] < 1.0


def test_fire_s_network_by_loops_and_as_two_linear_layers():
    first, second = torch.nn.Linear(1, 5), torch.nn.Linear(5, 3)
    network = torch.nn.Sequential(first, torch.nn.ReLU(), second).double()
    network.requires_grad_(False)
    weights = first.weight, first.bias, second.weight, second.bias
    bias = fire_bias(weights, 3, 4, c=torch.tensor(0.2), threshold=torch.tensor(2.0))
    x = fire_distances(3, 4, c=0.2, threshold=2.0, like=weights[0])
    torch.testing.assert_close(bias, network(x[..., None]).permute(2, 0, 1), atol=1e-7, rtol=0)
    w1, b1, w2, b2 = (w.numpy() for w in weights)
    for h in range(3):
        for i in range(3):
            for j in range(4):
                hidden = [max(0.0, w1[n, 0] * float(x[i, j]) + b1[n]) for n in range(5)]
                expected = sum(w2[h, n] * hidden[n] for n in range(5)) + b2[h]
                assert float(bias[h, i, j]) == pytest.approx(expected, abs=1e-7)


def test_fire_s_parameters_are_learned():
    weights = [torch.rand(*shape, requires_grad=True) for shape in ((4, 1), (4,), (2, 4), (2,))]
    c, threshold = torch.tensor(0.5, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    w1, b1, w2, b2 = weights
    fire_bias((w1, b1, w2, b2), 8, 8, c=c, threshold=threshold).sum().backward()
    for parameter in (*weights, c, threshold):
        assert torch.isfinite(present(parameter.grad)).all()
        assert present(parameter.grad).abs().sum() > 0


# Sandwich


@pytest.mark.parametrize("first_pair", [0, 1])
def test_sandwich_by_the_sum_of_cosines(first_pair):
    heads, dim = 3, 8
    bias = sandwich_bias(heads, 2, 5, dim=dim, first_pair=first_pair)
    for h in range(heads):
        for i in range(2):
            for j in range(5):
                offset = (i + 3) - j
                total = mpmath.fsum(
                    mpmath.cos(offset / mpmath.mpf(10000) ** (mpmath.mpf(2 * pair) / dim))
                    for pair in range(first_pair, dim // 2 + first_pair)
                )
                assert bias[h, i, j] == pytest.approx(
                    float(total / (mpmath.mpf(8 * (h + 1)) / heads)), abs=1e-13
                )


def test_sandwich_is_the_dot_product_of_the_sinusoidal_encodings():
    encoded = sinusoidal(9, 128)
    np.testing.assert_allclose(sandwich_bias(8, 9, 9)[0], encoded @ encoded.T, atol=1e-12)


def test_sandwich_holds_at_position_a_million():
    near, far = np.arange(5), np.arange(5) + 1_000_000
    np.testing.assert_allclose(sandwich_bias(2, near, near), sandwich_bias(2, far, far), atol=1e-8)


# CoPE


@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (2, 6), (1, 3)])
@pytest.mark.parametrize("scales", [(None, None), (1.0, 1.0), (1.0, None)])
def test_cope_by_its_equations(queries, keys, scales):
    scale, gate_scale = scales
    heads, d, rows = 2, 4, 3
    q = RNG.normal(size=(heads, queries, d))
    k = RNG.normal(size=(heads, keys, d))
    table = RNG.normal(size=(rows, d))
    bias = cope_bias(q, k, table, scale=scale, gate_scale=gate_scale)
    of_e, of_gate = scale or d**-0.5, gate_scale or d**-0.5
    for h in range(heads):
        for i in range(queries):
            at = keys - queries + i
            for j in range(at + 1):
                gates = [1 / (1 + math.exp(-of_gate * (q[h, i] @ k[h, t]))) for t in range(j, at + 1)]
                p = min(sum(gates), rows - 1)
                low, high = math.floor(p), math.ceil(p)
                e = (p - low) * table[high] + (1 - (p - low)) * table[low]
                assert bias[h, i, j] == pytest.approx(of_e * (q[h, i] @ e), abs=1e-12)


def test_cope_does_not_count_what_the_mask_hides():
    q, k = RNG.normal(size=(2, 1, 4, 4))
    table = RNG.normal(size=(9, 4))
    mask = np.asarray([False, True, True, True])
    padded = cope_bias(q, k, table, mask=mask)
    plain = cope_bias(q[:, 1:], k[:, 1:], table)
    np.testing.assert_allclose(np.tril(padded[:, 1:, 1:]), np.tril(plain), atol=1e-13)
    other_key = k.copy()
    other_key[:, 0] = 100.0
    np.testing.assert_allclose(cope_bias(q, other_key, table, mask=mask)[:, 1:, 1:], padded[:, 1:, 1:])


def test_cope_counts_past_256_in_bfloat16():
    q = torch.ones(1, 1, 600, 4, dtype=torch.bfloat16)
    k = torch.full((1, 1, 600, 4), 100.0, dtype=torch.bfloat16)
    table = (torch.arange(600)[:, None] % 2).expand(600, 4).to(torch.bfloat16)
    bias = cope_bias(q, k, table, scale=0.25)
    counts = torch.arange(600, 0, -1)
    assert bias.dtype == torch.bfloat16
    assert bias[0, 0, -1].tolist() == (counts.clamp(max=599) % 2).tolist()


def test_cope_is_learned_through_gates_and_table():
    q, k = torch.randn(2, 1, 2, 5, 4, requires_grad=True)
    table = torch.randn(6, 4, requires_grad=True)
    cope_bias(q, k, table).tril().sum().backward()
    assert present(table.grad).abs().sum() > 0


def test_cope_without_order_counts_every_key_from_j_on():
    q, k = np.zeros((2, 1, 2, 4))
    q = q + 1.0
    table = np.arange(9.0)[:, None] * np.ones(4)
    bias = cope_bias(q, np.concatenate([k, k], axis=1), table, causal=False, scale=0.25)
    assert bias[0].tolist() == [[2.0, 1.5, 1.0, 0.5]] * 2  # every gate half open


@pytest.mark.parametrize("columns", [3, 2])
def test_transformer_xl_of_no_queries(columns):
    """The causal form has a column for each key, the wide one as many for keys after the query."""
    assert relative_shift(np.zeros((2, 0, columns)), 3).shape == (2, 0, 3)
