"""Resampling a table against pictures whose result is known, and what holds for every grid."""

from __future__ import annotations

import itertools
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
import torch
from torch.nn import functional as F

from posenc_lib.added import resample_grid
from posenc_lib.added.resample import MODES
from tests.present import present

OLD = (6, 5)
NEW = [(12, 10), (3, 2), (6, 9), (9, 5), (7, 4), (1, 1), (20, 3)]
TABLE = np.random.default_rng(0).normal(size=(30, 4))
WAYS: list[dict[str, Any]] = [{}, {"antialias": True}, {"align_corners": True}, {"offset": 0.1}]
SETTINGS: list[dict[str, Any]] = [{"mode": mode, **how} for mode in MODES for how in WAYS]


def by_torch(new: tuple[int, int], settings: dict) -> torch.Tensor:
    options = {"align_corners": False, **settings}
    offset = options.pop("offset", None)
    if offset is None:
        options["size"] = new
    else:
        options["scale_factor"] = tuple((n + offset) / o for n, o in zip(new, OLD, strict=True))
    picture = torch.from_numpy(TABLE).reshape(1, *OLD, 4).permute(0, 3, 1, 2)
    resampled = F.interpolate(picture, **options)
    assert resampled.shape[2:] == new
    return resampled.permute(0, 2, 3, 1).reshape(-1, 4)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_it_is_the_arithmetic_of_torch(settings):
    for new in NEW:
        np.testing.assert_allclose(
            resample_grid(TABLE, OLD, new, **settings), by_torch(new, settings), atol=1e-12
        )


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_table_of_one_vector_stays_that_vector(settings):
    flat = np.ones((30, 1)) * np.asarray([3.0, -1.0])
    for new in NEW:
        wanted = np.ones((new[0] * new[1], 1)) * np.asarray([3.0, -1.0])
        np.testing.assert_allclose(resample_grid(flat, OLD, new, **settings), wanted, atol=1e-12)


def test_the_settings_differ_by_more_than_rounding():
    made = [resample_grid(TABLE, OLD, (4, 4), **settings) for settings in SETTINGS]
    for one, other in itertools.combinations(made, 2):
        assert np.abs(one - other).max() > 0.01


def test_other_tokens_keep_their_rows():
    whole = np.concatenate([np.full((2, 4), 7.0), TABLE, np.full((3, 4), 9.0)])
    got = resample_grid(whole, OLD, (4, 4), first=2, last=3)
    assert got.shape == (2 + 16 + 3, 4)
    assert (got[:2] == 7).all()
    assert (got[-3:] == 9).all()
    np.testing.assert_array_equal(got[2:-3], resample_grid(TABLE, OLD, (4, 4)))


def test_a_table_with_more_axes_and_in_16_bits():
    stacked = np.stack([TABLE, 2 * TABLE])
    got = resample_grid(stacked, OLD, (4, 4))
    np.testing.assert_allclose(got[1], 2 * got[0])
    exact = torch.from_numpy(resample_grid(TABLE, OLD, (9, 9)))
    narrow = resample_grid(torch.from_numpy(TABLE).bfloat16(), OLD, (9, 9))
    assert narrow.dtype == torch.bfloat16
    torch.testing.assert_close(narrow.double(), exact, rtol=0.02, atol=0.02)
    for kind in (torch.bfloat16, torch.float16):  # float32 inside, rounded once
        table = torch.from_numpy(TABLE).to(kind)
        assert torch.equal(
            resample_grid(table, OLD, (9, 9)), resample_grid(table.float(), OLD, (9, 9)).to(kind)
        )


def test_the_same_grid_gives_the_same_table_and_gradients_arrive():
    table = torch.from_numpy(TABLE).requires_grad_()
    assert resample_grid(table, OLD, OLD, offset=0.1) is table
    resample_grid(table, OLD, (3, 3)).square().sum().backward()
    assert (present(table.grad).abs().sum(-1) > 0).all()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_library_gives_what_numpy_gives(settings):
    expected = resample_grid(TABLE, OLD, (4, 9), **settings)
    for to in (torch.as_tensor, strict.asarray):
        found = resample_grid(to(TABLE), OLD, (4, 9), **settings)
        assert isinstance(found, type(to(TABLE)))
        np.testing.assert_allclose(np.asarray(found), expected, atol=1e-13)
