"""Data-dependent ALiBi pair by pair, ALiBi as its constant case, and what holds for all gates."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest
import torch

from posenc_lib.biased import alibi_bias, alibi_slopes, data_dependent_alibi, per_row_alibi

RNG = np.random.default_rng(0)
GATES, AFTER = -RNG.random((2, 2, 3, 7))
ROWS = -RNG.random((2, 3, 4, 7))


def test_it_is_the_sum_of_the_tokens_between():
    causal, both = (data_dependent_alibi(GATES, log_gates_after=after) for after in (None, AFTER))
    for i in range(7):
        for j in range(7):
            before, after = GATES[..., j + 1 : i + 1].sum(-1), AFTER[..., i + 1 : j + 1].sum(-1)
            np.testing.assert_allclose(causal[..., i, j], before, atol=1e-12)
            np.testing.assert_allclose(both[..., i, j], before if j <= i else after, atol=1e-12)


def test_the_last_queries_are_the_last_rows():
    for after in (None, AFTER):
        whole = data_dependent_alibi(GATES, log_gates_after=after)
        assert (data_dependent_alibi(GATES, 3, log_gates_after=after) == whole[..., -3:, :]).all()
    assert data_dependent_alibi(GATES, 0).shape == (2, 3, 0, 7)


def test_each_query_by_itself():
    got = per_row_alibi(ROWS)
    for i in range(4):
        at = i + 3  # the last query stands at the last key
        for j in range(7):
            np.testing.assert_allclose(got[..., i, j], ROWS[..., i, j:at].sum(-1), atol=1e-12)


def test_with_the_same_gate_for_all_tokens_it_is_alibi():
    slopes = alibi_slopes(3)
    gates = np.broadcast_to(-slopes[:, None], (3, 7))
    causal = alibi_bias(3, 7, 7)
    np.testing.assert_allclose(data_dependent_alibi(gates), np.tril(causal), atol=1e-12)
    both = data_dependent_alibi(gates, log_gates_after=gates)
    np.testing.assert_allclose(both, alibi_bias(3, 7, 7, causal=False), atol=1e-12)
    rows = np.broadcast_to(-slopes[:, None, None], (3, 7, 7))
    np.testing.assert_allclose(per_row_alibi(rows), np.tril(causal), atol=1e-12)


def test_sums_are_not_made_in_16_bits():
    gates = torch.full((1, 4096), -0.01, dtype=torch.bfloat16)
    for bias in (data_dependent_alibi(gates, 1), per_row_alibi(gates)):
        assert bias.dtype == torch.float32
        assert (bias.flatten().diff() > 0).all()
        assert bias.flatten()[0].item() == pytest.approx(4095 * gates[0, 0].item(), rel=1e-4)


@pytest.mark.parametrize("to", [torch.as_tensor, strict.asarray], ids=["torch", "strict"])
def test_every_library_gives_what_numpy_gives(to):
    for made in (
        lambda to: data_dependent_alibi(to(GATES), 4, log_gates_after=to(AFTER)),
        lambda to: per_row_alibi(to(ROWS)),
    ):
        assert isinstance(made(to), type(to(GATES)))
        np.testing.assert_allclose(np.asarray(made(to)), made(np.asarray), atol=1e-13)
