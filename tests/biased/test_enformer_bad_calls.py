"""Wrong calls of Enformer's bases, and their messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from posenc_lib.biased import enformer_features


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (
            {"features": 8},
            ValueError,
            "features=8 cannot be split between 6 kinds of function; give a multiple of 6",
        ),
        ({"features": 0}, ValueError, "features=0 is too small"),
        ({"length": 7}, ValueError, "length=7 is too small; give 8 or more"),
        ({"length": 8.0}, TypeError, "length=8.0 is not an integer"),
        ({"offsets": np.asarray([np.nan])}, ValueError, "NaN or infinity in offsets"),
        ({"offsets": "near"}, TypeError, "str is not an array"),
        ({"dtype": int}, TypeError, "not a real floating-point dtype"),
    ],
)
def test_a_wrong_call_is_refused(given: dict[str, Any], error: type[Exception], words: str) -> None:
    right = {"offsets": np.arange(3), "features": 6, "length": 16}
    with pytest.raises(error, match=words):
        enformer_features(**{**right, **given})
