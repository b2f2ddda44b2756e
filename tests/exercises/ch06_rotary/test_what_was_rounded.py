"""`06-rotary.what_was_rounded`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import torch

from posenc_course.checking import report_on
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


def by_three_questions(rotate, far=4097, digits=7):
    rates = 10000.0 ** (-np.arange(0, 8, 2) / 8)

    def turned(position):
        return rotate(np.ones((1, 8)), np.array([position]))[0]

    def is_right(position):
        found, exact = turned(position), (1 + 1j) * np.exp(1j * position * rates)
        return np.abs(found[0::2] + 1j * found[1::2] - exact).max() < 1e-7

    lengths = [np.linalg.norm(turned(position)) for position in (3, 77, 5001)]
    if not np.allclose(lengths, 8**0.5, rtol=10.0**-digits):
        return "tables"
    if not is_right(1):
        return "frequencies"
    return "nothing" if is_right(far) else "positions"


def test_a_position_that_is_far_and_round_is_not_sent_further_away():
    """The task says that positions may be as large as 60,000: eleven bits hold it."""
    report = report_on(WHAT_WAS_ROUNDED.id, lambda rotate: by_three_questions(rotate, far=60_000))
    assert "60,000: look at an odd position" in str(report)


def test_whoever_asks_for_lengths_roughly_is_told_how_closely():
    report = report_on(WHAT_WAS_ROUNDED.id, lambda rotate: by_three_questions(rotate, digits=3))
    assert "to seven digits" in str(report)


NOT_KNOWN = (
    ("what_was_rounded", by_the_size_of_the_error, "You miss rounded frequencies"),
    ("what_was_rounded", lambda rotate: "Tables", "in small letters"),
    ("what_was_rounded", lambda rotate: "tables", None),
)
