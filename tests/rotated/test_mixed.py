"""Mixed RoPE by complex numbers; axial RoPE is a case of it; scores hang on offsets alone."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

from posenc_lib.rotated import axial_tables, mixed_rates, mixed_tables, rotate

PATCHES = np.indices((3, 4)).reshape(2, -1)


def test_a_pair_turns_by_the_sum_over_both_axes() -> None:
    rates = mixed_rates(16, heads=3, seed=1)
    x = np.random.default_rng(0).normal(size=(2, 3, 12, 16))
    angle = np.einsum("hpa,an->hnp", rates, PATCHES)
    turned = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angle)
    wanted = np.stack([turned.real, turned.imag], -1).reshape(x.shape)
    np.testing.assert_allclose(
        rotate(x, mixed_tables(PATCHES, rates), layout="interleaved"), wanted, atol=1e-12
    )
    one = mixed_tables(PATCHES, rates[1])
    np.testing.assert_allclose(rotate(x[:, 1], one, layout="interleaved"), wanted[:, 1], atol=1e-12)


def test_axial_rope_is_the_case_of_rates_along_the_axes() -> None:
    series = 100.0 ** (-np.arange(3) / 3)
    rates = np.concatenate([np.stack([series, 0 * series], -1), np.stack([0 * series, series], -1)])
    for got, wanted in zip(mixed_tables(PATCHES, rates), axial_tables(PATCHES, 12, base=100.0), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_scores_hang_on_offsets_alone() -> None:
    q, k = np.random.default_rng(0).normal(size=(2, 3, 12, 16))
    rates = mixed_rates(16, heads=3)

    def scores(at: np.ndarray) -> np.ndarray:
        tables = mixed_tables(at, rates)
        turned: np.ndarray = rotate(q, tables) @ np.swapaxes(rotate(k, tables), -1, -2)
        return turned

    np.testing.assert_allclose(scores(PATCHES + np.asarray([[7.5], [-20]])), scores(PATCHES), atol=1e-10)


def test_where_the_rates_start() -> None:
    rates = mixed_rates(32, heads=5, base=10.0, seed=3)
    series = 10.0 ** (-np.arange(8) / 8)
    np.testing.assert_allclose(np.linalg.norm(rates, axis=-1), np.tile(series, (5, 2)))
    first, second = rates[:, :8], rates[:, 8:]
    np.testing.assert_allclose((first * second).sum(-1), 0, atol=1e-12)  # at right angles
    angles = np.arctan2(first[..., 0], first[..., 1])
    np.testing.assert_allclose(angles, angles[:, :1].repeat(8, 1))
    assert len(np.unique(angles[:, 0].round(6))) == 5
    np.testing.assert_array_equal(mixed_rates(32, seed=3), mixed_rates(32, heads=1, seed=3)[0])


@pytest.mark.parametrize("own", [torch.from_numpy, array_api_strict.asarray], ids=["torch", "strict"])
def test_in_every_library(own: Any) -> None:
    at, rates = PATCHES.astype(float), mixed_rates(8, heads=2)
    for given in (rates, own(rates)):
        got = mixed_tables(own(at), given)
        assert type(got.cos) is type(own(at))
        np.testing.assert_allclose(np.asarray(got.sin), mixed_tables(at, rates).sin, atol=1e-7)


def test_gradients_reach_the_rates() -> None:
    rates = torch.tensor(mixed_rates(8), requires_grad=True)
    at = torch.tensor([[0.0, 1.0], [2.0, 0.5]], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda w: tuple(mixed_tables(at, w, dtype=torch.float64)), rates)
