"""Enformer's bases against SciPy's gamma densities and by their definitions; what they know of direction."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from scipy.stats import gamma

from posenc_lib.biased import enformer_features


def expected(offsets: np.ndarray, each: int, length: int) -> np.ndarray:
    """As deepmind-research, `enformer/attention_module.py`, for all offsets from 1 - length to length - 1."""
    distance = np.abs(offsets)[:, None]
    halves = np.exp(-np.log(2) / 2 ** np.linspace(3, np.log2(length), each) * distance)
    windows = (2.0 ** np.arange(1, each + 1) - 1 > distance).astype(float)
    means, spread = np.linspace(length / each, length, each), length / (2 * each)
    bumps = gamma.pdf(distance, (means / spread) ** 2, scale=spread**2 / means) + 1e-8
    found = np.concatenate([halves, windows, bumps / bumps.max()], axis=-1)
    return np.concatenate([found, np.sign(offsets)[:, None] * found], axis=-1)


@pytest.mark.parametrize(("each", "length"), [(1, 8), (3, 50), (8, 256), (32, 1536)])
def test_they_are_those_of_the_published_code(each: int, length: int) -> None:
    offsets = np.arange(1 - length, length)
    np.testing.assert_allclose(
        enformer_features(offsets, 6 * each, length=length), expected(offsets, each, length), atol=1e-12
    )


def test_the_first_half_is_even_and_the_second_odd() -> None:
    offsets = np.arange(-30, 31)
    found = enformer_features(offsets, 24, length=64)
    np.testing.assert_array_equal(found[::-1, :12], found[:, :12])
    np.testing.assert_array_equal(found[::-1, 12:], -found[:, 12:])


def test_base_pairs_far_apart_stay_finite_and_windows_double() -> None:
    found = enformer_features(np.asarray([0, 1, 2, 3, 6, 7, 10_000_000]), 24, length=1_000_000)
    assert np.isfinite(found).all()
    assert found[:, 4:8].sum(axis=1).tolist() == [4, 3, 3, 2, 2, 1, 0]


@pytest.mark.parametrize("own", [torch.from_numpy, array_api_strict.asarray], ids=["torch", "strict"])
def test_in_every_library(own: Any) -> None:
    offsets = np.arange(-5, 9).reshape(2, 7)
    found = enformer_features(own(offsets), 12, length=16)
    assert type(found) is type(own(offsets))
    np.testing.assert_allclose(np.asarray(found), enformer_features(offsets, 12, length=16), atol=1e-6)
    assert enformer_features(torch.ones(2).half(), 6, length=16).dtype == torch.float16


def test_row_by_row_under_vmap() -> None:
    offsets = torch.arange(-6, 6).reshape(2, 6)
    by_row = torch.vmap(lambda row: enformer_features(row, 6, length=64))(offsets)
    assert torch.equal(by_row, enformer_features(offsets, 6, length=64))
