"""Bad calls of `vjepa2_mix`: each raises, and says what was given, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib.rotated import vjepa2_mix

X, P = np.zeros((2, 5, 8)), np.zeros((3, 5))

CALLS = [
    (lambda: vjepa2_mix(X[..., :5], P), ValueError, "head_dim=5 has no pair of columns for each of 3 axes"),
    (lambda: vjepa2_mix(X.astype(int), P), TypeError, "x has dtype int64"),
    (lambda: vjepa2_mix(X, P[:2]), ValueError, "2 axes of coordinates; give (3, ...)"),
    (lambda: vjepa2_mix(X, 5), TypeError, "positions=5 is one number"),
    (lambda: vjepa2_mix(X, P[:, :4]), ValueError, "do not broadcast"),
    (lambda: vjepa2_mix(X, P * np.nan), ValueError, "NaN"),
    (lambda: vjepa2_mix(X, P, base=0), ValueError, "base=0"),
    (lambda: vjepa2_mix(torch.zeros(2, 5, 8), P), TypeError, "different libraries"),
    (lambda: vjepa2_mix(torch.zeros(2, 5, 8), torch.zeros(3, 5, device="meta")), ValueError, "devices"),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
