"""xPos: rotation, and a score that fades with distance, whatever the center."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib import frequencies
from posenc_lib.rotated import rotary_tables, rotate, xpos_tables


def test_a_score_is_the_papers_sum() -> None:
    """q at n and k at m: for each pair z^((n - m) / 512) times the rotated product (equation of xPos)."""
    dim, n, m = 8, 700, 20
    q, k = np.random.default_rng(0).standard_normal((2, dim))
    z = [(2 * i / dim + 0.4) / 1.4 for i in range(dim // 2)]
    pairs = (q[0::2] + 1j * q[1::2]) * np.conj(k[0::2] + 1j * k[1::2])
    turned = pairs * np.exp(1j * (n - m) * frequencies(dim))
    truth = sum(zeta ** ((n - m) / 512) * part for zeta, part in zip(z, turned.real, strict=True))
    for center in (0.0, 300.0, -1e4):
        of_q, _ = xpos_tables(np.asarray(n), dim, center=center)
        _, of_k = xpos_tables(np.asarray(m), dim, center=center)
        assert rotate(q, of_q) @ rotate(k, of_k) == pytest.approx(truth, rel=1e-9)


def test_at_the_center_it_is_plain_rope() -> None:
    of_q, of_k = xpos_tables(np.asarray([5, 6]), 8, center=5)
    plain = rotary_tables(np.asarray([5, 6]), 8)
    np.testing.assert_allclose(of_q.cos[0], plain.cos[0])
    np.testing.assert_allclose(of_k.sin[0], plain.sin[0])
    np.testing.assert_allclose(of_q.cos * of_k.cos, plain.cos**2)


def test_exact_far_away_with_a_center_near() -> None:
    positions = np.asarray([10_000_000, 9_999_000])
    truth = xpos_tables(positions, 64, center=9_999_500)
    found = xpos_tables(torch.from_numpy(positions), 64, center=9_999_500)
    for ours, exact in zip(found, truth, strict=True):
        assert ours.cos.dtype == torch.float32
        np.testing.assert_allclose(ours.cos.numpy(), exact.cos, rtol=1e-7, atol=1e-7)


def test_scales_that_the_dtype_cannot_hold_are_refused() -> None:
    xpos_tables(torch.tensor([30_000]), 64)
    for positions in (torch.tensor([40_000]), torch.tensor([-40_000])):
        with pytest.raises(ValueError, match="center"):
            xpos_tables(positions, 64)
    with pytest.raises(ValueError, match="center"):  # e^88 is a float32 yet, and e^-88 has lost digits
        xpos_tables(torch.tensor([35_965]), 64)
    with pytest.raises(ValueError, match="center"):
        xpos_tables(torch.tensor([5_000]), 64, dtype=torch.float16)
    with pytest.raises(ValueError, match="center"):  # each row of a batch, too
        torch.func.vmap(lambda at: xpos_tables(at, 64)[0].cos)(torch.tensor([[0], [40_000]]))
