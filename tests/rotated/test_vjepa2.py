"""What V-JEPA 2 does is not a rotation, and the library's axial RoPE, which it was meant to be, is one."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest
import torch

from posenc_lib.rotated import axial_tables, rotate, vjepa2_mix

HEAD_DIM = 26  # 8 columns for each axis, and two that are left
PLACE = np.asarray([3.0, 7.0, 2.0])
X = np.random.default_rng(0).normal(size=(2, 5, HEAD_DIM))
POSITIONS = np.random.default_rng(1).integers(0, 9, size=(3, 5))


def mixing(positions: np.ndarray) -> np.ndarray:
    """The matrix of V-JEPA 2 at a place."""
    return vjepa2_mix(np.eye(HEAD_DIM), positions[:, None]).T


def rotation(positions: np.ndarray) -> np.ndarray:
    """The matrix of axial RoPE at a place, with the same frequencies in the same columns."""
    turned = rotate(np.eye(HEAD_DIM), axial_tables(positions[:, None], 24))
    return turned.T


def orthogonal(matrix: np.ndarray) -> bool:
    return np.allclose(matrix.T @ matrix, np.eye(HEAD_DIM), atol=1e-12)


def test_it_is_not_orthogonal_and_ours_is():
    assert orthogonal(rotation(PLACE))
    assert not orthogonal(mixing(PLACE))
    stretches = np.linalg.svd(mixing(PLACE))[1]
    assert stretches.min() < 0.9 < 1.1 < stretches.max()


def test_scores_see_a_common_shift_and_with_ours_they_do_not():
    q, k, shift = X[0, 0], X[0, 1], np.asarray([5.0, -2.0, 4.0])

    def change(matrix):
        score, moved = (
            (matrix(PLACE + by) @ q) @ (matrix(np.asarray([1.0, 1.0, 1.0]) + by) @ k) for by in (0, shift)
        )
        return abs(score - moved)

    assert change(rotation) < 1e-10
    assert change(mixing) > 0.1


def test_it_is_the_rotation_with_the_angles_in_the_wrong_columns():
    """Each pair written out: member c of an axis' columns has the angle of frequency c modulo 4."""
    got = vjepa2_mix(X, POSITIONS)
    rates = 10000.0 ** (-np.arange(4) / 4)
    for axis in range(3):
        for c in range(8):
            angle = POSITIONS[axis] * rates[c % 4]
            mine, other = X[..., axis * 8 + c], X[..., axis * 8 + (c ^ 1)]
            wanted = mine * np.cos(angle) + (other if c % 2 else -other) * np.sin(angle)
            np.testing.assert_allclose(got[..., axis * 8 + c], wanted, atol=1e-12)
    assert (got[..., 24:] == X[..., 24:]).all()


def test_with_one_pair_for_each_axis_it_rotates_after_all():
    small = X[..., :7]
    tables = axial_tables(POSITIONS, 6)
    np.testing.assert_allclose(vjepa2_mix(small, POSITIONS), rotate(small, tables), atol=1e-12)


def test_the_sequence_before_the_heads():
    x = np.stack([X] * 3, axis=1)  # (batch, heads, seq, head_dim)
    wanted = np.swapaxes(vjepa2_mix(x, POSITIONS), 1, 2)
    np.testing.assert_array_equal(vjepa2_mix(np.swapaxes(x, 1, 2), POSITIONS, seq_axis=-3), wanted)


@pytest.mark.parametrize("to", [torch.as_tensor, strict.asarray], ids=["torch", "strict"])
def test_every_library_gives_what_numpy_gives(to):
    found = vjepa2_mix(to(X), to(POSITIONS))
    assert isinstance(found, type(to(X)))
    np.testing.assert_allclose(np.asarray(found), vjepa2_mix(X, POSITIONS), atol=1e-13)


def test_in_16_bits_it_is_rounded_once():
    x = torch.from_numpy(X).bfloat16()
    got = vjepa2_mix(x, torch.from_numpy(POSITIONS))
    exact = vjepa2_mix(x.double(), torch.from_numpy(POSITIONS))
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got.double(), exact, rtol=0.501 * 2**-7, atol=1e-6)
