"""Wrong calls of mixed RoPE, and their messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib.rotated import mixed_rates, mixed_tables

AT, RATES = np.ones((2, 6)), np.ones((4, 2))
ROWS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: mixed_tables(3, RATES), TypeError, "positions=3 is one number"),
    (lambda: mixed_tables(AT, np.ones(4)), ValueError, r"give \(pairs, 2\), or \(heads, pairs, 2\)"),
    (
        lambda: mixed_tables(AT, np.ones((4, 3))),
        ValueError,
        r"rates of shape \(4, 3\) and positions of shape",
    ),
    (
        lambda: mixed_tables(AT[:, 0], np.ones((2, 4, 2))),
        ValueError,
        r"a single position.*give \(2, ..., length\)",
    ),
    (lambda: mixed_tables(AT, RATES * np.nan), ValueError, "NaN or infinity in rates"),
    (lambda: mixed_tables(AT, torch.ones(4, 2)), TypeError, "numpy and torch"),
    (
        lambda: mixed_tables(torch.ones(2, 6), torch.ones(4, 2, device="meta")),
        ValueError,
        "different devices",
    ),
    (
        lambda: mixed_rates(6),
        ValueError,
        "head_dim=6 cannot be split between two directions; give a multiple of 4",
    ),
    (lambda: mixed_rates(8, heads=0), ValueError, "heads=0 is too small"),
    (lambda: mixed_rates(8, base=-1.0), ValueError, "base=-1.0 is not allowed"),
    (lambda: mixed_rates(8, seed=-1), ValueError, "seed=-1 is negative"),
]


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[row[2] for row in ROWS])
def test_a_wrong_call_is_refused(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
