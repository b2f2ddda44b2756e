"""Bad calls of the biases of windows: each raises, and says what was given, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib.biased import swin_bias, swin_index, swin_v2_bias, swin_v2_coordinates

TABLE = np.zeros((9, 2))
NETWORK = np.ones((4, 2)), np.zeros(4), np.ones((3, 4))

CALLS = [
    (lambda: swin_index(4), ValueError, "shape=4 is not a window; give (height, width)"),  # type: ignore[arg-type]
    (lambda: swin_index((2, 2, 2)), ValueError, "is not a window"),  # type: ignore[arg-type]
    (lambda: swin_index((2, 0)), ValueError, "shape[1]=0 is too small"),
    (lambda: swin_index((2.0, 2)), TypeError, "shape[0]=2.0 is not an integer"),  # type: ignore[arg-type]
    (lambda: swin_index((2, 2), class_token=1), TypeError, "class_token=1 is not a boolean"),  # type: ignore[arg-type]
    (lambda: swin_index((2, 2), class_token="no"), TypeError, "class_token='no'"),  # type: ignore[arg-type]
    (lambda: swin_index((2, 2), 5, 5), ValueError, "position 4 is outside the window (2, 2)"),
    (lambda: swin_index((2, 2), np.asarray([-1])), ValueError, "position -1 is outside"),
    (lambda: swin_index((2, 2), np.asarray([0.5])), TypeError, "float64"),
    (lambda: swin_index((2, 2), True), TypeError, "boolean"),
    (lambda: swin_bias(TABLE, (2, 3)), ValueError, "table has 9 rows, but a window of (2, 3)"),
    (lambda: swin_bias(TABLE, (2, 2), class_token=True), ValueError, "has 12 kinds of offset"),
    (lambda: swin_bias(TABLE[:, 0], (2, 2)), ValueError, "give shape (rows, heads)"),
    (lambda: swin_bias(TABLE.astype(int), (2, 2)), TypeError, "table has dtype int64"),
    (lambda: swin_bias(TABLE, (2, 2), torch.arange(2), 4), TypeError, "different libraries"),
    (lambda: swin_bias(torch.zeros(9, 2), (2, 2), torch.arange(2, device="meta")), ValueError, "devices"),
    (lambda: swin_v2_coordinates((2, 2), pretrained=8), ValueError, "pretrained=8 is not a window"),  # type: ignore[arg-type]
    (lambda: swin_v2_coordinates((2, 2), pretrained=(8, 0)), ValueError, "pretrained[1]=0"),
    (lambda: swin_v2_bias(NETWORK[:2], (2, 2)), TypeError, "the three arrays (w1, b1, w2)"),  # type: ignore[arg-type]
    (
        lambda: swin_v2_bias(NETWORK[::-1], (2, 2)),
        ValueError,
        "give (hidden, 2), (hidden,) and (heads, hidden)",
    ),
    (lambda: swin_v2_bias((NETWORK[0].T, *NETWORK[1:]), (2, 2)), ValueError, "that do not fit"),
    (lambda: swin_v2_bias((*NETWORK[:2], torch.ones(3, 4)), (2, 2)), TypeError, "different libraries"),
    (
        lambda: swin_v2_bias((torch.ones(4, 2), torch.zeros(4), torch.ones(3, 4).half()), (2, 2)),
        TypeError,
        "the dtypes differ: w1 torch.float32",
    ),
    (lambda: swin_v2_bias(NETWORK, (2, 2), 5, 5), ValueError, "outside the window"),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
