"""Fourier features against their formulas, written out with Python's own sine, and their kernel."""

from __future__ import annotations

import math

import array_api_strict
import mpmath
import numpy as np
import pytest
import torch

from posenc_lib.added import fourier_features, gaussian_frequencies, power_of_two_frequencies
from posenc_lib.added.sinusoidal import Layout

POINTS = [[0.3, -1.2], [0.0, 0.0], [17.25, 1e6]]
MATRIX = [[1.0, 0.5], [-0.25, 3.0], [0.0, 2.0]]


def written_out(points: list[list[float]], matrix: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    """(sines, cosines), each (points, features), in high precision."""
    with mpmath.workdps(40):
        turns = [[mpmath.fdot(row, v) for row in matrix] for v in points]
        angles = [[2 * mpmath.pi * turn for turn in row] for row in turns]
        sines = [[float(mpmath.sin(angle)) for angle in row] for row in angles]
        cosines = [[float(mpmath.cos(angle)) for angle in row] for row in angles]
    return np.asarray(sines), np.asarray(cosines)


@pytest.mark.parametrize("layout", ["split", "split-cos-first", "interleaved"])
def test_the_formula(layout: Layout) -> None:
    sines, cosines = written_out(POINTS, MATRIX)
    expected = {
        "split": np.concatenate([sines, cosines], axis=1),
        "split-cos-first": np.concatenate([cosines, sines], axis=1),
        "interleaved": np.stack([sines, cosines], axis=2).reshape(3, 6),
    }[layout]
    found = fourier_features(np.asarray(POINTS), np.asarray(MATRIX), layout=layout)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_published_kernel() -> None:
    """The mean product of Gaussian features tends to exp(-2 pi^2 scale^2 distance^2)."""
    scale, features = 1.5, 200_000
    matrix = gaussian_frequencies(features, 2, scale=scale, seed=0)
    points = np.asarray([[0.0, 0.0], [0.05, 0.1], [0.2, -0.1], [3.0, 3.0]])
    encoded = fourier_features(points, matrix)
    found = encoded @ encoded.T / features
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    expected = np.exp(-2 * math.pi**2 * scale**2 * squared)
    np.testing.assert_allclose(found, expected, atol=5 / math.sqrt(features))


def test_gaussian_frequencies_are_drawn_from_their_distribution() -> None:
    drawn = gaussian_frequencies(20_000, 3, scale=4.0, seed=1)
    assert drawn.shape == (20_000, 3)
    assert drawn.mean() == pytest.approx(0, abs=0.1)
    assert drawn.std() == pytest.approx(4.0, rel=0.02)
    np.testing.assert_array_equal(drawn, gaussian_frequencies(20_000, 3, scale=4.0, seed=1))
    assert (drawn != gaussian_frequencies(20_000, 3, scale=4.0, seed=2)).all()
    again = gaussian_frequencies(20_000, 3, scale=4.0, seed=np.random.default_rng(1))
    np.testing.assert_array_equal(drawn, again)


def test_nerf_as_its_paper_writes_it() -> None:
    """sin(2^k pi p), cos(2^k pi p) for k = 0 .. bands - 1, one coordinate after the other."""
    point, bands = [0.3, -0.7, 0.99], 10
    expected = [f(2.0**k * math.pi * p) for p in point for k in range(bands) for f in (math.sin, math.cos)]
    matrix = power_of_two_frequencies(bands, 3)
    assert matrix.shape == (30, 3)
    found = fourier_features(np.asarray(point), matrix, layout="interleaved")
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_high_bands_are_exact_in_float64() -> None:
    """At 2^40 turns a float64 angle would be off by 1e-3; whole turns are dropped before."""
    found = fourier_features(np.asarray([0.7]), power_of_two_frequencies(42, 1))
    sines, cosines = written_out([[0.7]], power_of_two_frequencies(42, 1).tolist())
    np.testing.assert_allclose(found, np.concatenate([sines, cosines], axis=1)[0], atol=1e-15)


@pytest.mark.parametrize("shape", [(2,), (0, 2), (4, 5, 2)])
def test_points_of_any_shape(shape: tuple[int, ...]) -> None:
    points = np.random.default_rng(0).normal(size=shape)
    found = fourier_features(points, np.asarray(MATRIX))
    assert found.shape == (*shape[:-1], 6)
    for place in np.ndindex(shape[:-1]):
        alone = fourier_features(points[place], np.asarray(MATRIX))
        np.testing.assert_allclose(found[place], alone, atol=1e-13)


@pytest.mark.parametrize(
    ("given", "result"),
    [
        (torch.int64, torch.float32),
        (torch.bfloat16, torch.bfloat16),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_tensors(given: torch.dtype, result: torch.dtype) -> None:
    points = torch.tensor([[1, 2], [3, -4]], dtype=given)
    found = fourier_features(points, np.asarray(MATRIX))
    assert found.dtype == result
    sines, cosines = written_out([[1, 2], [3, -4]], MATRIX)
    expected = np.concatenate([sines, cosines], axis=1)
    np.testing.assert_allclose(found.double().numpy(), expected, atol=torch.finfo(result).eps)
    same = fourier_features(points, torch.tensor(MATRIX))
    assert torch.equal(found, same)
    fine = fourier_features(torch.ones(1, 1, dtype=given), np.asarray([[1e4 + 0.1]]))  # which is no float32
    tenth = torch.tensor([[math.sin(0.2 * math.pi), math.cos(0.2 * math.pi)]], dtype=torch.float64)
    torch.testing.assert_close(fine, tenth.to(result), rtol=0, atol=torch.finfo(result).eps + 1e-10)
    assert fourier_features(points, np.asarray(MATRIX), dtype=torch.float64).dtype == torch.float64


def test_a_strict_array_library() -> None:
    points = array_api_strict.asarray(POINTS)
    expected = fourier_features(np.asarray(POINTS), np.asarray(MATRIX))
    for matrix in (np.asarray(MATRIX), array_api_strict.asarray(MATRIX)):
        found = fourier_features(points, matrix)
        assert isinstance(found, type(points))
        np.testing.assert_array_equal(np.asarray(found), expected)


def test_gradients_reach_points_and_matrix() -> None:
    points = torch.tensor([[0.3, -1.2], [0.5, 2.0]], dtype=torch.float64, requires_grad=True)
    matrix = torch.tensor(MATRIX, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(fourier_features, (points, matrix))


def test_one_graph_when_compiled() -> None:
    points, matrix = torch.randn(5, 2), torch.tensor(MATRIX)
    compiled = torch.compile(lambda p, m: fourier_features(p, m), fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(points, matrix), fourier_features(points, matrix))


def test_the_result_stays_on_the_device() -> None:
    found = fourier_features(torch.ones(3, 2, device="meta"), np.asarray(MATRIX))
    assert found.device.type == "meta"
    assert found.shape == (3, 6)
