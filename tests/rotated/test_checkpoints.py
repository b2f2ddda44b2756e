"""Projection weights from one layout to the other: every score stays what it was."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib.rotated import RopeSettings, YaRNScaling, apply_rotary, convert_layout, rotary_tables
from posenc_lib.rotated.tables import Layout

LAYOUTS: list[Layout] = ["interleaved", "half"]


@pytest.mark.parametrize("rotary_dim", [None, 4])
@pytest.mark.parametrize("source", LAYOUTS)
def test_scores_stay(source: Layout, rotary_dim: int | None) -> None:
    target = LAYOUTS[1 - LAYOUTS.index(source)]
    heads, key_heads, head_dim, width = 4, 2, 8, 10
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((5, width))

    def scores(layout: Layout, wq: np.ndarray, bq: np.ndarray, wk: np.ndarray) -> np.ndarray:
        q = (hidden @ wq.T + bq).reshape(5, heads, head_dim).swapaxes(0, 1)
        k = (hidden @ wk.T).reshape(5, key_heads, head_dim).swapaxes(0, 1)
        q, k = (apply_rotary(x, 5, layout=layout, rotary_dim=rotary_dim) for x in (q, k))
        return q @ np.repeat(k, 2, axis=0).swapaxes(-1, -2)

    wq, bq = rng.standard_normal((32, width)), rng.standard_normal(32)
    wk = rng.standard_normal((16, width))

    def moved(weight: np.ndarray, heads: int) -> np.ndarray:
        return convert_layout(weight, heads=heads, source=source, target=target, rotary_dim=rotary_dim)

    before = scores(source, wq, bq, wk)
    after = scores(target, moved(wq, 4), moved(bq, 4), moved(wk, 2))
    np.testing.assert_allclose(after, before, atol=1e-12)
    assert np.abs(scores(target, wq, bq, wk) - before).max() > 0.1
    back = convert_layout(moved(wq, 4), heads=4, source=target, target=source, rotary_dim=rotary_dim)
    np.testing.assert_array_equal(back, wq)


def test_llamas_own_permutation() -> None:
    """Interleaved to half is what the conversion of Meta's weights does: view, transpose, reshape."""
    weight = torch.randn(32, 10)
    permuted = weight.view(4, 8 // 2, 2, 10).transpose(1, 2).reshape(32, 10)
    assert torch.equal(convert_layout(weight, heads=4, source="interleaved", target="half"), permuted)
    assert convert_layout(weight, heads=4, source="half", target="half") is weight


def test_settings_make_tables_and_rotate() -> None:
    settings = RopeSettings(16, 8, 5e5, YaRNScaling(4.0, 64), "half")
    x = torch.randn(2, 3, 16)
    tables = settings.tables(torch.arange(3))
    expected = rotary_tables(torch.arange(3), 8, base=5e5, scaling=YaRNScaling(4.0, 64))
    assert torch.equal(tables.cos, expected.cos)
    found = settings.rotate(x, tables)
    torch.testing.assert_close(
        found,
        apply_rotary(x, 3, base=5e5, layout="half", rotary_dim=8, scaling=YaRNScaling(4.0, 64)),
    )
    assert settings.rotate(x, tables, out=x) is x
    assert torch.equal(x, found)
