"""Encodings of grids against the 1-d formula at every point of every axis."""

from __future__ import annotations

import itertools
import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

from posenc_lib.added import grid_sinusoidal
from posenc_lib.added.grid import Axes, GridLayout


def pairs(position: float, width: int, base: float = 10000.0) -> tuple[list[float], list[float]]:
    angles = [position * base ** (-2 * i / width) for i in range(width // 2)]
    return [math.sin(a) for a in angles], [math.cos(a) for a in angles]


def point(
    at: dict[str, float], widths: dict[str, int], axes: str, layout: str, **options: Any
) -> list[float]:
    """The encoding of one point, column by column."""
    shares = [pairs(at[letter], widths[letter], **options) for letter in axes]
    if layout == "split-across":
        return [x for sines, _ in shares for x in sines] + [x for _, cosines in shares for x in cosines]
    row: list[float] = []
    for sines, cosines in shares:
        if layout == "interleaved":
            row += [x for pair in zip(sines, cosines, strict=True) for x in pair]
        else:
            row += sines + cosines if layout == "split" else cosines + sines
    return row


LAYOUTS: list[GridLayout] = ["interleaved", "split", "split-cos-first", "split-across"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axes", ["xy", "yx"])
def test_every_point_of_a_picture(axes: Axes, layout: GridLayout) -> None:
    found = grid_sinusoidal((3, 5), 12, axes=axes, layout=layout, base=500.0)
    assert found.shape == (3, 5, 12)
    for y, x in itertools.product(range(3), range(5)):
        expected = point({"x": x, "y": y}, {"x": 6, "y": 6}, axes, layout, base=500.0)
        np.testing.assert_allclose(found[y, x], expected, atol=1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axes", ["".join(order) for order in itertools.permutations("xyz")])
def test_every_point_of_a_volume(axes: Axes, layout: GridLayout) -> None:
    widths = dict(zip(axes, (4, 6, 2), strict=True))
    found = grid_sinusoidal((2, 3, 4), (4, 6, 2), axes=axes, layout=layout)
    assert found.shape == (2, 3, 4, 12)
    for z, y, x in itertools.product(range(2), range(3), range(4)):
        expected = point({"x": x, "y": y, "z": z}, widths, axes, layout)
        np.testing.assert_allclose(found[z, y, x], expected, atol=1e-14)


def test_the_default_orders() -> None:
    np.testing.assert_array_equal(grid_sinusoidal((3, 5), 8), grid_sinusoidal((3, 5), 8, axes="xy"))
    default = grid_sinusoidal((2, 3, 4), 12)
    np.testing.assert_array_equal(default, grid_sinusoidal((2, 3, 4), (4, 4, 4), axes="zxy"))


def test_the_first_columns_of_the_default_follow_x() -> None:
    found = grid_sinusoidal((3, 5), 8)
    assert (found[..., :4] == found[:1, :, :4]).all()
    assert (found[..., 4:] == found[:, :1, 4:]).all()
    assert len(np.unique(found.reshape(15, 8), axis=0)) == 15


def test_coordinates_in_place_of_counts() -> None:
    """1-based, scaled and irregular axes."""
    found = grid_sinusoidal((np.asarray([1.0, 2.5]), 3), 8, axes="yx")
    for (row, y), x in itertools.product(enumerate([1.0, 2.5]), range(3)):
        expected = point({"x": x, "y": y}, {"x": 4, "y": 4}, "yx", "split")
        np.testing.assert_allclose(found[row, x], expected, atol=1e-14)
    np.testing.assert_array_equal(
        grid_sinusoidal((np.arange(2), np.arange(3)), 8), grid_sinusoidal((2, 3), 8)
    )


def test_the_other_spacing() -> None:
    found = grid_sinusoidal((1, 4), 8, spacing="tensor2tensor")
    angle = np.arange(4)[:, None] * [1.0, 1e-4]
    np.testing.assert_allclose(found[0, :, :2], np.sin(angle), atol=1e-14)


def test_an_empty_axis() -> None:
    assert grid_sinusoidal((0, 4), 8).shape == (0, 4, 8)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_kinds_of_arrays(layout: GridLayout) -> None:
    expected = grid_sinusoidal((3, 4), 8, layout=layout)
    for height, width in ((torch.arange(3), 4), (3, torch.arange(4)), (torch.arange(3), torch.arange(4))):
        found = grid_sinusoidal((height, width), 8, layout=layout)
        assert found.dtype == torch.float32
        np.testing.assert_allclose(found.numpy(), expected, atol=6e-8)
    narrow = grid_sinusoidal((torch.arange(3), 4), 8, layout=layout, dtype=torch.bfloat16)
    assert torch.equal(narrow, torch.from_numpy(expected).to(torch.bfloat16))
    for one, other in ((torch.float32, torch.float64), (torch.float64, torch.float32)):
        both = torch.arange(3, dtype=one), torch.arange(4, dtype=other)
        assert grid_sinusoidal(both, 8, layout=layout).dtype == torch.float64
    strict = grid_sinusoidal((array_api_strict.arange(3), 4), 8, layout=layout)
    np.testing.assert_array_equal(np.asarray(strict), expected)
    assert grid_sinusoidal((3, 4), 8, layout=layout, dtype=np.float32).dtype == np.float32


def test_gradients_reach_coordinates() -> None:
    ys = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda y: grid_sinusoidal((y, 3), 8), ys)


def test_one_graph_when_compiled_and_the_device_kept() -> None:
    compiled = torch.compile(lambda y, x: grid_sinusoidal((y, x), 8), fullgraph=True, backend="eager")
    found = compiled(torch.arange(3), torch.arange(4))
    torch.testing.assert_close(found, grid_sinusoidal((torch.arange(3), torch.arange(4)), 8))
    assert grid_sinusoidal((torch.arange(3, device="meta"), 4), 8).device.type == "meta"
