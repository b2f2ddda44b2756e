"""`06-rotary.what_was_rounded`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import torch

from posenc_course.exercises.ch06_rotary._shared import WIDTH
from posenc_course.exercises.ch06_rotary.what_was_rounded import (
    _ROUNDED,
    WHAT_WAS_ROUNDED,
    _Rounded,
    _to_bits,
)


def test_rounding_is_that_of_the_formats():
    numbers = np.concatenate([np.random.default_rng(0).normal(size=500), np.arange(3000.0)])
    for bits, dtype in ((8, torch.bfloat16), (11, torch.float16)):
        assert np.array_equal(
            _to_bits(numbers.astype(np.float32), bits),
            torch.from_numpy(numbers.astype(np.float32)).to(dtype).double().numpy(),
        )


def test_each_rounding_is_found_by_brute_force():
    """Against the angles themselves, at many positions."""
    rows = np.zeros((4, WIDTH))
    rows[np.arange(4), 2 * np.arange(4)] = 1
    for _, rotate in (each for group in _ROUNDED for each in group):
        arrows = np.array(
            [rotate(rows, np.full(4, at))[range(4), ::2][range(4), range(4)] for at in (1, 5001)]
        )
        exact = np.cos(np.outer((1, 5001), 10000.0 ** (-np.arange(4) / 4)))
        right = [np.allclose(a, b, rtol=0, atol=1e-8) for a, b in zip(arrows, exact, strict=True)]
        assert isinstance(rotate, _Rounded)
        expected = {"nothing": [True, True], "positions": [True, False]}.get(rotate.what, [False, False])
        assert right == expected
        assert WHAT_WAS_ROUNDED.reference(rotate) == rotate.what


def by_the_size_of_the_error(rotate):
    exact = np.exp(1j * 5000 * 10000.0 ** (-np.arange(4) / 4)) * (1 + 1j)
    row = rotate(np.ones((1, 8)), np.array([5000]))[0]
    size = np.abs(row[0::2] + 1j * row[1::2] - exact).max()
    if size < 1e-6:
        return "nothing"
    return "tables" if size < 0.05 else "frequencies" if size < 0.5 else "positions"


NOT_KNOWN = (
    ("what_was_rounded", by_the_size_of_the_error, "You miss rounded frequencies"),
    ("what_was_rounded", lambda rotate: "Tables", "in small letters"),
    ("what_was_rounded", lambda rotate: "tables", None),
)
