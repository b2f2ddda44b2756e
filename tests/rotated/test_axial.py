"""Positions of several axes: each pair turns by its own axis, and text is plain RoPE."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib import frequencies
from posenc_lib.rotated import (
    RopeSettings,
    YaRNScaling,
    axial_tables,
    dinov3_tables,
    mrope_tables,
    rotary_tables,
    rotate,
    xpos_tables,
)

GRID = np.indices((3, 4)).reshape(2, -1)


def angle_of(tables: Any) -> np.ndarray:
    return np.arctan2(np.asarray(tables.sin), np.asarray(tables.cos))


def test_an_image_turns_half_the_pairs_by_rows_and_half_by_columns() -> None:
    found = angle_of(axial_tables(GRID, 8))
    rates = frequencies(4)
    for token, (row, column) in enumerate(GRID.T):
        np.testing.assert_allclose(found[token], [*(row * rates), *(column * rates)], atol=1e-14)


def test_a_score_depends_on_the_offset_along_each_axis() -> None:
    q, k = np.random.default_rng(0).standard_normal((2, 12))

    def score(at_q: tuple[int, ...], at_k: tuple[int, ...]) -> float:
        tables = [axial_tables(np.asarray(at), 12) for at in (at_q, at_k)]
        return float(rotate(q, tables[0]) @ rotate(k, tables[1]))

    assert score((5, 9, 2), (3, 1, 7)) == pytest.approx(score((105, 9, 22), (103, 1, 27)))
    assert score((5, 9, 2), (3, 1, 7)) != pytest.approx(score((5, 9, 2), (1, 3, 7)))


def test_axes_may_have_sections_of_their_own() -> None:
    """Flux: (2, 3, 3) pairs here, each axis with the frequencies of its own width."""
    positions = np.asarray([[1.0], [10.0], [100.0]])
    found = axial_tables(positions, 16, sections=(2, 3, 3), base=50.0)
    theta = [
        p * w for p, n in zip((1, 10, 100), (2, 3, 3), strict=True) for w in frequencies(2 * n, base=50.0)
    ]
    np.testing.assert_allclose(found.cos[0], np.cos(theta))
    np.testing.assert_allclose(found.sin[0], np.sin(theta))


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("sections", [(4, 2, 2), (8, 0, 0), (3, 3, 2)])
def test_text_is_plain_rope(sections: tuple[int, ...], interleaved: bool) -> None:
    positions = np.arange(9) + 1_000_000
    if 0 in sections:
        with pytest.raises(ValueError, match="8 in all"):
            mrope_tables(np.stack([positions] * 3), 16, sections, interleaved=interleaved)
        return
    found = mrope_tables(
        np.stack([positions] * 3), 16, sections, interleaved=interleaved, scaling=YaRNScaling(4.0, 64)
    )
    plain = rotary_tables(positions, 16, scaling=YaRNScaling(4.0, 64))
    np.testing.assert_array_equal(found.cos, plain.cos)
    np.testing.assert_array_equal(found.sin, plain.sin)


def test_sections_in_runs_and_dealt_out_in_turn() -> None:
    time, height, width = 1.0, 10.0, 100.0
    positions = np.asarray([[time], [height], [width]])
    rates = frequencies(16)
    runs = mrope_tables(positions, 16, (4, 2, 2))
    np.testing.assert_allclose(
        runs.cos[0], np.cos(rates * [time, time, time, time, height, height, width, width])
    )
    dealt = mrope_tables(positions, 16, (4, 2, 2), interleaved=True)
    np.testing.assert_allclose(
        dealt.cos[0], np.cos(rates * [time, height, width, time, height, width, time, time])
    )


def test_sections_that_cannot_be_dealt_out() -> None:
    with pytest.raises(ValueError, match="the axes cannot take turns"):
        mrope_tables(np.zeros((3, 5)), 16, (1, 1, 6), interleaved=True)


def test_settings_with_sections() -> None:
    positions = torch.arange(24).reshape(3, 2, 1, 4)
    rule = YaRNScaling(4.0, 64)
    settings = RopeSettings(16, 16, 1e6, rule, "half", (4, 2, 2), True)
    found = settings.section_tables(positions)
    expected = mrope_tables(positions, 16, (4, 2, 2), interleaved=True, base=1e6, scaling=rule)
    assert torch.equal(found.cos, expected.cos)
    assert found.cos.shape == (2, 1, 4, 8)
    x = torch.randn(2, 5, 4, 16)
    assert torch.equal(settings.rotate(x, found), rotate(x, found, layout="half"))
    with pytest.raises(ValueError, match="mrope_section"):
        RopeSettings(16, 16, 1e6, None, "half").section_tables(positions)


def test_tensors_stay_tensors_and_exact() -> None:
    positions = torch.tensor([[10_000_000], [9_999_999], [7]])
    for found, truth in [
        (axial_tables(positions, 12), axial_tables(positions.numpy(), 12)),
        (mrope_tables(positions, 12, (2, 2, 2)), mrope_tables(positions.numpy(), 12, (2, 2, 2))),
    ]:
        assert found.cos.dtype == torch.float32
        np.testing.assert_allclose(found.cos.numpy(), truth.cos, atol=1e-7)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: mrope_tables(p, 16, (3, 3, 2)),
        lambda p: mrope_tables(p, 16, (3, 3, 2), interleaved=True),
        lambda p: axial_tables(p, 12),
        lambda p: dinov3_tables(p / 10, 12),
        lambda p: rotary_tables(p, 16),
        lambda p: xpos_tables(p, 16)[1],
    ],
)
@pytest.mark.parametrize("library", [np, torch])
def test_tables_lie_in_order_however_positions_do(make: Any, library: Any) -> None:
    """Where the pairs of a position lie apart in memory, rotation takes several times as long."""
    counted = library.arange(3 * 4 * 5).reshape(5, 4, 3)
    positions = counted.T if library is np else counted.permute(2, 1, 0)
    tables, in_order = make(positions), make(library.asarray(positions.tolist()))
    for part, wanted in ((tables.cos, in_order.cos), (tables.sin, in_order.sin)):
        assert part.flags.c_contiguous if library is np else part.is_contiguous()
        assert (part == wanted).all()
