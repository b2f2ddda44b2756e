"""Bad calls of DINOv3's functions: each raises, and says what was given, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_lib.rotated import augment_coordinates, dinov3_tables, patch_coordinates

C, RNG = np.zeros((2, 6)), np.random.default_rng(0)

CALLS = [
    (lambda: patch_coordinates(4), ValueError, "shape=4 is not a grid of patches; give (height, width)"),  # type: ignore[arg-type]
    (lambda: patch_coordinates((4, 4, 4)), ValueError, "not a grid of patches"),  # type: ignore[arg-type]
    (lambda: patch_coordinates((4, 0)), ValueError, "shape[1]=0"),
    (lambda: patch_coordinates((4, 2.5)), TypeError, "shape[1]=2.5 is not an integer"),  # type: ignore[arg-type]
    (lambda: patch_coordinates((4, 4), normalize="mean"), ValueError, "'separate', 'min', 'max'"),  # type: ignore[arg-type]
    (lambda: augment_coordinates(C, 0, shift=0.1), TypeError, "generator is of type int; give numpy.random"),
    (lambda: augment_coordinates(C, None, shift=0.1), TypeError, "generator is of type NoneType"),
    (lambda: augment_coordinates(C, RNG, shift=-0.1), ValueError, "shift=-0.1 is not allowed"),
    (lambda: augment_coordinates(C, RNG, shift=True), TypeError, "shift=True"),
    (lambda: augment_coordinates(C, RNG, jitter=0.9), ValueError, "jitter=0.9 is not allowed; give a finite"),
    (lambda: augment_coordinates(C, RNG, rescale=0.0), ValueError, "rescale=0.0"),
    (lambda: augment_coordinates(C, RNG, rescale=float("inf")), ValueError, "rescale=inf"),
    (lambda: augment_coordinates(C, RNG, rescale="2"), TypeError, "rescale='2' is not a real number"),  # type: ignore[arg-type]
    (lambda: augment_coordinates(3, RNG, shift=0.1), TypeError, "positions=3 is one number"),
    (lambda: dinov3_tables(C, 7), ValueError, "dim=7"),
    (lambda: dinov3_tables(C, 6), ValueError, "dim=6 has 3 pairs, which 2 axes cannot share equally"),
    (lambda: dinov3_tables(C, 8, base=0), ValueError, "base=0"),
    (lambda: dinov3_tables(C, 8, periods=2.0), TypeError, "periods=2.0; give two numbers"),  # type: ignore[arg-type]
    (lambda: dinov3_tables(C, 8, periods=(1.0, -2.0)), ValueError, "periods[1]=-2.0"),
    (lambda: dinov3_tables(C, 8, periods=("1", 2.0)), TypeError, "periods[0]='1'"),  # type: ignore[arg-type]
    (lambda: dinov3_tables(C * np.nan, 8), ValueError, "NaN"),
    (lambda: dinov3_tables(C, 8, dtype=np.int64), TypeError, "not a real floating-point dtype"),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
