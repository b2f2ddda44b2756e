"""The convolution against PyTorch's, by its definition, and what it knows of places."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from torch import nn

from posenc_lib.added import convolution_positions, convolution_weight


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("taps", [1, 2, 5, 8, 16])
@pytest.mark.parametrize("groups", [1, 4, 12])
@pytest.mark.parametrize("causal", [False, True])
def test_it_is_the_convolution_of_pytorch(taps: int, groups: int, causal: bool) -> None:
    x, weight, bias = (
        torch.from_numpy(each) for each in (drawn(2, 7, 12), drawn(12, 12 // groups, taps), drawn(12))
    )
    padded = nn.functional.pad(x.mT, (taps - 1 if causal else taps // 2, 0 if causal else taps))
    wanted = nn.functional.gelu(nn.functional.conv1d(padded, weight, bias, groups=groups))[..., :7].mT
    torch.testing.assert_close(convolution_positions(x, weight, bias, causal=causal), wanted)
    without = nn.functional.gelu(nn.functional.conv1d(padded, weight, groups=groups))[..., :7].mT
    np.testing.assert_allclose(
        convolution_positions(x.numpy(), weight.numpy(), causal=causal), without.numpy(), atol=1e-12
    )


def test_the_weight_is_that_of_weight_norm_along_the_taps() -> None:
    theirs = nn.utils.parametrizations.weight_norm(nn.Conv1d(12, 12, 5, groups=3), dim=2).double()
    with torch.no_grad():
        theirs.parametrizations.weight.original0.mul_(1.7)
    magnitude, direction = (
        getattr(theirs.parametrizations.weight, f"original{part}").detach() for part in (0, 1)
    )
    for each in (magnitude, magnitude.flatten()):
        torch.testing.assert_close(convolution_weight(direction, each), theirs.weight.detach())
    np.testing.assert_allclose(
        convolution_weight(direction.numpy(), magnitude.numpy()), theirs.weight.detach().numpy()
    )


def test_it_moves_with_the_sequence_but_for_its_ends() -> None:
    """Three zeros more in front move what it says by three; where all tokens are alike, the ends alone "
    "differ."""
    weight, bias, x = drawn(4, 4, 5), drawn(4, seed=1), drawn(9, 4, seed=2)
    moved = convolution_positions(np.concatenate([np.zeros((3, 4)), x]), weight, bias)
    np.testing.assert_allclose(moved[3:], convolution_positions(x, weight, bias), atol=1e-12)
    alike = convolution_positions(np.ones((9, 4)), weight, bias)
    np.testing.assert_allclose(alike[2:7], np.broadcast_to(alike[4], (5, 4)), atol=1e-12)
    assert np.abs(alike[[0, 1, 7, 8]] - alike[4]).max(axis=1).min() > 1e-2


def test_causal_sees_nothing_that_comes_later() -> None:
    weight, x = drawn(4, 2, 6), drawn(9, 4)
    other = x.copy()
    other[5:] += 1
    one, two = (convolution_positions(each, weight, causal=True) for each in (x, other))
    np.testing.assert_array_equal(one[:5], two[:5])
    assert np.abs(one[5:] - two[5:]).max(axis=1).min() > 1e-3


@pytest.mark.parametrize("own", [torch.from_numpy, array_api_strict.asarray], ids=["torch", "strict"])
def test_in_every_library(own: Any) -> None:
    given = drawn(2, 5, 4), convolution_weight(drawn(4, 2, 3), np.ones(3)), drawn(4, seed=3)
    found = convolution_positions(*map(own, given))
    assert type(found) is type(own(given[0]))
    np.testing.assert_allclose(np.asarray(found), convolution_positions(*given), atol=1e-12)


def test_gradients_reach_all_arrays() -> None:
    given = [torch.from_numpy(drawn(*shape)).requires_grad_() for shape in ((4, 4), (4, 2, 3), (4,))]
    assert torch.autograd.gradcheck(convolution_positions, tuple(given))


def test_many_taps_of_16_bits_are_summed_in_32() -> None:
    x, weight = (torch.from_numpy(drawn(*shape)).bfloat16() for shape in ((40, 16), (16, 16, 128)))
    exact = convolution_positions(x.double(), weight.double())
    found = convolution_positions(x, weight)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.double(), exact, rtol=2**-8, atol=1e-3)


@pytest.mark.parametrize("to", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_small_directions_of_float16_have_a_length(to: Any) -> None:
    direction = (1e-4 * drawn(8, 4, 3)).astype(np.float16)
    weight = np.asarray(convolution_weight(to(direction), to(np.ones(3, dtype=np.float16))))
    assert weight.dtype == np.float16
    np.testing.assert_allclose(np.linalg.norm(weight.astype(float), axis=(0, 1)), np.ones(3), rtol=1e-3)
