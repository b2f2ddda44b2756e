"""`04-extrapolation.stretch`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch04_extrapolation.stretch import STRETCH
from posenc_lib import learned
from tests.exercises.ch04_extrapolation.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_stretch_is_torch_interpolation_with_aligned_corners(seed):
    for case in STRETCH.cases(seed):
        table, length = case.args
        channels = torch.from_numpy(table.T[None].copy())
        expected = torch.nn.functional.interpolate(channels, size=length, mode="linear", align_corners=True)
        np.testing.assert_allclose(STRETCH.reference(table, length), expected[0].numpy().T, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_stretch_is_what_the_library_does(seed):
    for case in STRETCH.cases(seed):
        table, length = case.args
        if length >= len(table):
            np.testing.assert_allclose(
                STRETCH.reference(table, length),
                learned(table, length, beyond="interpolate"),
                atol=1e-12,
            )


def half_pixel_by_torch(table, length):
    channels = torch.from_numpy(table.T[None].copy())
    stretched = torch.nn.functional.interpolate(channels, size=length, mode="linear", align_corners=False)
    return stretched[0].numpy().T


NOT_KNOWN = (("stretch", lambda table, length: np.full((length, table.shape[1]), table.mean()), None),)


WRITTEN_IN_ANOTHER_WAY = (("stretch", half_pixel_by_torch, "centred"),)
