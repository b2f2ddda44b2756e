"""Bad calls of `resample_grid`: each raises, and says what was given, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_lib.added import resample_grid

TABLE = np.ones((7, 4))  # a class token and 2 by 3 patches


def again(table=TABLE, shape=(2, 3), new_shape=(4, 6), first=1, **options):
    return resample_grid(table, shape, new_shape, first=first, **options)


CALLS = [
    (lambda: again(first=0), ValueError, "has 7 rows, but a grid of (2, 3) with first=0 and last=0 has 6"),
    (lambda: again(last=1), ValueError, "has 8"),
    (lambda: again(shape=(3, 3)), ValueError, "has 10"),
    (lambda: again(TABLE[:, 0]), ValueError, "table has shape (7,)"),
    (lambda: again(TABLE.astype(int)), TypeError, "table has dtype int64"),
    (lambda: again([[1.0]]), TypeError, "not an array"),
    (lambda: again(shape=6), ValueError, "shape=6 is not a grid of patches; give (height, width)"),
    (lambda: again(new_shape=(4, 6, 2)), ValueError, "new_shape=(4, 6, 2) is not a grid"),
    (lambda: again(new_shape=(4, 0)), ValueError, "new_shape[1]=0 is too small"),
    (lambda: again(new_shape=(4.0, 6)), TypeError, "new_shape[0]=4.0 is not an integer"),
    (lambda: again(first=-1), ValueError, "first=-1 is too small; give 0 or more"),
    (lambda: again(first=True), TypeError, "first=True is not an integer"),
    (lambda: again(mode="nearest"), ValueError, "choose one of 'bicubic', 'bilinear'"),
    (lambda: again(antialias=1), TypeError, "antialias=1 is not a boolean"),
    (lambda: again(align_corners="no"), TypeError, "align_corners='no' is not a boolean"),
    (lambda: again(offset="0.1"), TypeError, "offset='0.1' is not a real number"),
    (lambda: again(offset=True), TypeError, "offset=True"),
    (lambda: again(offset=-0.1), ValueError, "offset=-0.1 is not allowed"),
    (lambda: again(offset=float("nan")), ValueError, "offset=nan"),
    (lambda: again(align_corners=True, antialias=True), ValueError, "leave out align_corners"),
    (lambda: again(align_corners=True, offset=0.1), ValueError, "leave out align_corners"),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
