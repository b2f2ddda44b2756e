"""The module of V-JEPA 2 does what its function does, and refuses what does not fit."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib.nn import VJEPA2
from posenc_lib.rotated import vjepa2_mix

SHAPE = (2, 3, 4)


def test_it_is_the_pure_function_by_patch_and_by_coordinates():
    torch.manual_seed(0)
    encoding, q = VJEPA2(14, SHAPE, base=50.0), torch.randn(2, 3, 24, 14)
    cells = torch.from_numpy(np.indices(SHAPE).reshape(3, -1))
    wanted = vjepa2_mix(q, cells, base=50.0)
    for positions in (24, torch.arange(24), torch.arange(24).expand(2, -1), cells[:, None]):
        for got in encoding.rotate(q, q, positions, positions):
            torch.testing.assert_close(got, wanted)
    assert (wanted - q).abs().max() > 0.5


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: VJEPA2(5, SHAPE), ValueError, "head_dim=5"),
        (lambda: VJEPA2(8, (3, 4)), ValueError, "is not a video; give"),
        (lambda: VJEPA2(8, SHAPE, base=0), ValueError, "base=0"),
        (
            lambda: VJEPA2(8, SHAPE).rotate(*torch.zeros(2, 1, 2, 25, 8), 25, 25),  # type: ignore[call-arg]
            ValueError,
            "position 24 is outside",
        ),
        (
            lambda: VJEPA2(8, SHAPE).rotate(*torch.zeros(2, 1, 2, 5, 8), *torch.zeros(2, 2, 1, 5)),
            ValueError,
            "2 axes of coordinates",
        ),
    ],
)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error, match=words):
        call()
