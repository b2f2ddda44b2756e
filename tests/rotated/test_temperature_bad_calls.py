"""Bad calls of temperatures and of M-RoPE's positions: what was given, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib.nn import LogTemperature, ScalableSoftmax
from posenc_lib.rotated import QueryTemperature, mrope_positions
from posenc_lib.rotated.settings import FORMULAS

Q = torch.ones(1, 2, 3, 4)
CALLS = [
    (lambda: QueryTemperature("ln", 1.0, 8), ValueError, "formula='ln' is unknown"),  # type: ignore[arg-type]
    (lambda: QueryTemperature("log", 1.0, 1), ValueError, "give a length above 1"),
    (lambda: QueryTemperature("clipped log", 1.0, 0.5), ValueError, "give a length above 1"),
    *(
        (lambda f=formula: QueryTemperature(f, 0.1, 8)(np.asarray([-1])), ValueError, "must be 0 or more")
        for formula in FORMULAS
    ),
    (lambda: LogTemperature("log", 1.0, 0), ValueError, "length=0"),
    (lambda: LogTemperature().rotate(Q, Q, torch.tensor([-1, 0, 1]), 3), ValueError, "must be 0 or more"),
    (
        lambda: LogTemperature().rotate(Q, Q, torch.ones(2, 1, 3), 3),
        ValueError,
        "coordinates of several axes",
    ),
    (lambda: ScalableSoftmax(0), ValueError, "heads=0"),
    (lambda: ScalableSoftmax(2, length=1.0), ValueError, "give a length above 1"),
    (lambda: ScalableSoftmax(3).rotate(Q, Q, 3, 3), ValueError, "give (batch, 3, length, head_dim)"),
    (lambda: mrope_positions(5), TypeError, "give a list such as"),  # type: ignore[call-overload]
    (lambda: mrope_positions([5, (1, 2)]), TypeError, "(1, 2) is not a part"),
    (lambda: mrope_positions([2.0]), TypeError, "2.0 is not a part"),
    (lambda: mrope_positions([-1]), ValueError, "a number of words=-1"),
    (lambda: mrope_positions([(1, 0, 2)]), ValueError, "a size of a grid=0"),
    (lambda: mrope_positions([1], start=-1), ValueError, "start=-1"),
    (lambda: mrope_positions([1], seconds_per_grid=0), ValueError, "seconds_per_grid=0"),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
