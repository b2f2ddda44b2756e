"""Every wrong call raises, and says what was given, what is allowed and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib import frequencies, shift_matrix, similarity, sinusoidal
from posenc_lib.added import (
    fourier_features,
    gaussian_frequencies,
    grid_sinusoidal,
    hybrid,
    learned,
    power_of_two_frequencies,
)

TABLE = np.ones((7, 6))
MATRIX = np.ones((3, 2))
POINTS = np.ones((4, 2))
NAN, INF = float("nan"), float("inf")

Call = Callable[[], Any]
Row = tuple[str, Call, type[Exception], list[str]]

# What every function that takes a width does with a wrong one.
WIDTHS: list[Row] = [
    (f"{name} of {given!r}", lambda f=function, d=given: f(d), error, words)
    for name, function in {
        "frequencies": lambda dim: frequencies(dim),
        "sinusoidal": lambda dim: sinusoidal(3, dim),
        "shift_matrix": lambda dim: shift_matrix(1, dim),
        "similarity": lambda dim: similarity(1, dim),
        "grid_sinusoidal": lambda dim: grid_sinusoidal((2, 2), dim),
        "hybrid": lambda dim: hybrid(np.ones((3, dim)) if dim == 7 else np.ones((3, 6)), 3, base=dim),
    }.items()
    for given, error, words in [
        (0, ValueError, ["=0", "give"]),
        (-4, ValueError, ["=-4", "give"]),
        ("8", TypeError, ["='8'", "give"]),
        (None, TypeError, ["=None", "give"]),
        (True, TypeError, ["=True", "give"]),
    ]
] + [
    (f"{name} of an odd dim", call, ValueError, ["=7", "even"])
    for name, call in {
        "frequencies": lambda: frequencies(7),
        "sinusoidal": lambda: sinusoidal(3, 7),
        "shift_matrix": lambda: shift_matrix(1, 7),
        "similarity": lambda: similarity(1, 7),
        "grid_sinusoidal": lambda: grid_sinusoidal((2, 2), 7),
        "hybrid": lambda: hybrid(np.ones((3, 7)), 3),
    }.items()
]

# What every function that takes a base, positions or names does with wrong ones.
SHARED: list[Row] = [
    (f"{name}, {what}", lambda f=function, o=options: f(**o), error, words)
    for name, function in {
        "frequencies": lambda **o: frequencies(8, **o),
        "sinusoidal": lambda **o: sinusoidal(3, 8, **o),
        "shift_matrix": lambda **o: shift_matrix(1, 8, **o),
        "similarity": lambda **o: similarity(1, 8, **o),
        "hybrid": lambda **o: hybrid(TABLE, 3, **o),
        "grid_sinusoidal": lambda **o: grid_sinusoidal((2, 2), 8, **o),
    }.items()
    for what, options, error, words in [
        ("base 0", {"base": 0}, ValueError, ["base=0", "above 0"]),
        ("negative base", {"base": -1.0}, ValueError, ["base=-1.0", "above 0"]),
        ("infinite base", {"base": INF}, ValueError, ["base=inf", "finite"]),
        ("NaN base", {"base": NAN}, ValueError, ["base=nan", "finite"]),
        ("text as base", {"base": "10000"}, TypeError, ["base='10000'", "give a positive number"]),
        ("boolean base", {"base": True}, TypeError, ["base=True", "give a positive number"]),
        ("unknown spacing", {"spacing": "t2t"}, ValueError, ["spacing='t2t'", "'paper', 'tensor2tensor'"]),
        ("spacing None", {"spacing": None}, ValueError, ["spacing=None", "'paper', 'tensor2tensor'"]),
    ]
]

POSITIONS: list[Row] = [
    (f"{name} at {what}", lambda f=function, p=given: f(p), error, [*words, "give"])
    for name, function in {
        "sinusoidal": lambda p: sinusoidal(p, 8),
        "shift_matrix": lambda p: shift_matrix(p, 8),
        "similarity": lambda p: similarity(p, 8),
        "learned": lambda p: learned(TABLE, p, beyond="interpolate"),
        "hybrid": lambda p: hybrid(TABLE, p, beyond="interpolate"),
        "fourier_features": lambda p: fourier_features(p, MATRIX),
        "grid_sinusoidal": lambda p: grid_sinusoidal((p, 2), 8),
    }.items()
    for what, given, error, words in [
        ("NaN", np.asarray([0.0, NAN]), ValueError, ["NaN"]),
        ("infinity", np.asarray([0.0, INF]), ValueError, ["infinity"]),
        ("a mask", np.asarray([True, False]), TypeError, ["bool"]),
        ("complex numbers", np.asarray([1j, 0]), TypeError, ["complex128"]),
        ("text", "first", TypeError, ["str"]),
        ("nothing", None, TypeError, ["NoneType"]),
        ("a mapping", {0: 1}, TypeError, ["dict"]),
        ("ragged lists", [[1, 2], [3]], ValueError, ["different lengths"]),
        ("objects", np.asarray([None, 1]), TypeError, ["object"]),
    ]
]

LONE_NUMBERS: list[Row] = [
    (f"{name}, n = {given!r}", lambda f=function, n=given: f(n), error, words)
    for name, function in {
        "sinusoidal": lambda n: sinusoidal(n, 8),
        "learned": lambda n: learned(TABLE, n, beyond="interpolate"),
        "hybrid": lambda n: hybrid(TABLE, n, beyond="interpolate"),
        "grid_sinusoidal": lambda n: grid_sinusoidal((n, 2), 8),
    }.items()
    for given, error, words in [
        (-1, ValueError, ["-1", "negative", "give n >= 0"]),
        (2.0, TypeError, ["2.0", "int n", "np.asarray"]),
        (np.float64(2.5), TypeError, ["2.5", "int n", "np.asarray"]),
        (True, TypeError, ["boolean", "give a number of positions"]),
    ]
]

DTYPES: list[Row] = [
    (f"{name} as {dtype!r}", lambda f=function, d=dtype: f(d), TypeError, [*words, "give"])
    for name, function in {
        "sinusoidal": lambda d: sinusoidal(3, 8, dtype=d),
        "fourier_features": lambda d: fourier_features(POINTS, MATRIX, dtype=d),
        "grid_sinusoidal": lambda d: grid_sinusoidal((2, 2), 8, dtype=d),
    }.items()
    for dtype, words in [
        (np.int64, ["int64", "numpy"]),
        (np.complex128, ["complex128", "numpy"]),
        (torch.float32, ["torch.float32", "numpy"]),
        ("single", ["'single'", "numpy"]),
    ]
] + [
    (
        "sinusoidal of a tensor as a NumPy type",
        lambda: sinusoidal(torch.arange(3), 8, dtype=np.float32),
        TypeError,
        ["float32", "torch"],
    ),
    (
        "sinusoidal of a tensor as integers",
        lambda: sinusoidal(torch.arange(3), 8, dtype=torch.int64),
        TypeError,
        ["torch.int64", "torch.float32"],
    ),
]

REST: list[Row] = [
    ("unknown layout", lambda: sinusoidal(3, 8, layout="halves"), ValueError, ["'halves'", "'split'"]),  # type: ignore[call-overload]
    ("layout None", lambda: sinusoidal(3, 8, layout=None), ValueError, ["None", "'split'"]),  # type: ignore[call-overload]
    ("layout of a shift", lambda: shift_matrix(3, 8, layout="half"), ValueError, ["'half'", "'split'"]),  # type: ignore[arg-type]
    ("layout of a hybrid", lambda: hybrid(TABLE, 3, layout="half"), ValueError, ["'half'", "'split'"]),  # type: ignore[arg-type]
    ("an array as layout", lambda: sinusoidal(3, 8, layout=TABLE), ValueError, ["'split'"]),  # type: ignore[call-overload]
    ("unknown odd", lambda: sinusoidal(3, 7, odd="drop"), ValueError, ["'drop'", "'truncate', 'pad'"]),  # type: ignore[call-overload]
    (
        "unknown odd, even dim",
        lambda: sinusoidal(3, 8, odd="drop"),  # type: ignore[call-overload]
        ValueError,
        ["'drop'", "'truncate', 'pad'"],
    ),
    ("what odd offers", lambda: sinusoidal(3, 7), ValueError, ["odd='truncate'", "odd='pad'"]),
    ("odd dim 1 padded", lambda: sinusoidal(3, 1, odd="pad"), ValueError, ["dim=1", "give 2 or more"]),
    (
        "truncated with the other spacing",
        lambda: sinusoidal(3, 7, odd="truncate", spacing="tensor2tensor"),
        ValueError,
        ["'tensor2tensor'", "odd='pad'"],
    ),
    (
        "unknown spacing of an odd dim",
        lambda: sinusoidal(3, 7, odd="truncate", spacing="x"),  # type: ignore[call-overload]
        ValueError,
        ["'x'", "'paper'"],
    ),
    ("no scaling rule", lambda: frequencies(8, scaling=3.0), TypeError, ["3.0", "scal"]),
    ("a table of integers", lambda: learned(np.ones((3, 4), int), 2), TypeError, ["int64", "real numbers"]),
    ("a table of lists", lambda: learned([[1.0, 2.0]], 1), TypeError, ["list", "give an array"]),
    ("a flat table", lambda: learned(np.ones(4), 2), ValueError, ["(4,)", "(positions, dim)"]),
    ("a deep table", lambda: learned(np.ones((1, 2, 3)), 2), ValueError, ["(1, 2, 3)", "(positions, dim)"]),
    ("a table without rows", lambda: learned(np.ones((0, 4)), 0), ValueError, ["(0, 4)", "at least one"]),
    ("unknown beyond", lambda: learned(TABLE, 3, beyond="wrap"), ValueError, ["'wrap'", "'clamp'"]),  # type: ignore[arg-type]
    ("more positions than rows", lambda: learned(TABLE, 8), ValueError, ["position 7", "6", "longer table"]),
    ("a position past the end", lambda: learned(TABLE, np.asarray([9])), ValueError, ["position 9", "6"]),
    (
        "a fraction between rows",
        lambda: learned(TABLE, np.asarray([0.5])),
        TypeError,
        ["float64", "whole positions", "beyond='interpolate'"],
    ),
    (
        "whole reals",
        lambda: learned(TABLE, np.asarray([1.0]), beyond="clamp"),
        TypeError,
        ["float64", "give integers"],
    ),
    *(
        (
            f"a negative position, {beyond}",
            lambda b=beyond: learned(TABLE, np.asarray([0, -1]), beyond=b),
            ValueError,
            ["position -1", "give positions of 0 or more"],
        )
        for beyond in ("raise", "clamp", "zero", "interpolate")
    ),
    ("a length unasked", lambda: learned(TABLE, 3, length=9), ValueError, ["length=9", "'interpolate'"]),
    (
        "a length of 0",
        lambda: learned(TABLE, 3, beyond="interpolate", length=0),
        ValueError,
        ["length=0", "give"],
    ),
    (
        "a real length",
        lambda: learned(TABLE, 3, beyond="interpolate", length=9.0),  # type: ignore[arg-type]
        TypeError,
        ["length=9.0", "give"],
    ),
    (
        "past the stretched end",
        lambda: learned(TABLE, np.asarray([9]), beyond="interpolate", length=9),
        ValueError,
        ["position 9", "8", "length=10 or more"],
    ),
    (
        "past the stretched end by a fraction",
        lambda: learned(TABLE, np.asarray([6.5]), beyond="interpolate"),
        ValueError,
        ["position 6.5", "6", "length=8 or more"],
    ),
    (
        "two libraries",
        lambda: learned(TABLE, torch.arange(3)),
        TypeError,
        ["numpy and torch", "convert them"],
    ),
    (
        "two devices",
        lambda: learned(torch.ones(3, 4), torch.arange(3, device="meta")),
        ValueError,
        ["table on cpu", "positions on meta", "move them"],
    ),
    ("a flat matrix", lambda: fourier_features(POINTS, np.ones(2)), ValueError, ["(2,)", "(features, axes)"]),
    ("an empty matrix", lambda: fourier_features(POINTS, np.ones((0, 2))), ValueError, ["(0, 2)", "0"]),
    (
        "points that do not fit",
        lambda: fourier_features(np.ones((4, 3)), MATRIX),
        ValueError,
        ["(4, 3)", "(3, 2)", "x[..., None]"],
    ),
    (
        "a lone number as point",
        lambda: fourier_features(np.asarray(1.0), MATRIX),
        ValueError,
        ["()", "x[..., None]"],
    ),
    ("NaN in the matrix", lambda: fourier_features(POINTS, MATRIX * NAN), ValueError, ["matrix", "NaN"]),
    ("unknown layout of features", lambda: fourier_features(POINTS, MATRIX, layout="x"), ValueError, ["'x'"]),  # type: ignore[arg-type]
    (
        "a matrix of another library",
        lambda: fourier_features(POINTS, torch.ones(3, 2)),
        TypeError,
        ["numpy and torch", "convert them"],
    ),
    (
        "a matrix on another device",
        lambda: fourier_features(torch.ones(4, 2), torch.ones(3, 2, device="meta")),
        ValueError,
        ["coordinates on cpu", "matrix on meta", "move them"],
    ),
    *(
        (f"{name}={given!r}", call, error, [f"{name}={given!r}", "give"])
        for given, error in [(0, ValueError), (-1, ValueError), (2.0, TypeError), (True, TypeError)]
        for name, call in {
            "features": lambda n=given: gaussian_frequencies(n, 2, scale=1.0, seed=0),
            "axes": lambda n=given: gaussian_frequencies(2, n, scale=1.0, seed=0),
            "bands": lambda n=given: power_of_two_frequencies(n, 2),
        }.items()
    ),
    ("axes of NeRF", lambda: power_of_two_frequencies(2, 0), ValueError, ["axes=0", "give 1 or more"]),
    ("scale 0", lambda: gaussian_frequencies(2, 2, scale=0.0, seed=0), ValueError, ["scale=0.0", "above 0"]),
    (
        "negative seed",
        lambda: gaussian_frequencies(2, 2, scale=1.0, seed=-1),
        ValueError,
        ["seed=-1", "give"],
    ),
    ("seed None", lambda: gaussian_frequencies(2, 2, scale=1.0, seed=None), TypeError, ["seed=None", "give"]),  # type: ignore[arg-type]
    ("one axis", lambda: grid_sinusoidal((3,), 8), ValueError, ["(3,)", "(height, width)"]),
    (
        "four axes",
        lambda: grid_sinusoidal((3, 3, 3, 3), 8),
        ValueError,
        ["(3, 3, 3, 3)", "(depth, height, width)"],
    ),
    ("a number as shape", lambda: grid_sinusoidal(3, 8), ValueError, ["shape=3", "(height, width)"]),  # type: ignore[arg-type]
    ("unknown axes", lambda: grid_sinusoidal((2, 2), 8, axes="hw"), ValueError, ["'hw'", "'xy', 'yx'"]),  # type: ignore[arg-type]
    ("axes of a volume", lambda: grid_sinusoidal((2, 2, 2), 12, axes="xy"), ValueError, ["'xy'", "'zxy'"]),
    (
        "unknown grid layout",
        lambda: grid_sinusoidal((2, 2), 8, layout="x"),  # type: ignore[arg-type]
        ValueError,
        ["'x'", "'split-across'"],
    ),
    ("an uneven share", lambda: grid_sinusoidal((2, 2), 6), ValueError, ["dim=6", "2 axes", "multiple of 4"]),
    (
        "an uneven share of three",
        lambda: grid_sinusoidal((2, 2, 2), 8),
        ValueError,
        ["dim=8", "multiple of 6"],
    ),
    ("too few widths", lambda: grid_sinusoidal((2, 2, 2), (4, 4)), ValueError, ["(4, 4)", "3 axes"]),
    ("an odd share", lambda: grid_sinusoidal((2, 2), (4, 3)), ValueError, ["dim[1]=3", "even"]),
    ("no share", lambda: grid_sinusoidal((2, 2), (4, 0)), ValueError, ["dim[1]=0", "even"]),
    (
        "coordinates of a whole grid",
        lambda: grid_sinusoidal((np.ones((2, 2)), 2), 8),
        ValueError,
        ["(2, 2)", "1-d array"],
    ),
    (
        "axes of two libraries",
        lambda: grid_sinusoidal((np.arange(2), torch.arange(2)), 8),
        TypeError,
        ["numpy and torch", "convert them"],
    ),
    (
        "axes on two devices",
        lambda: grid_sinusoidal((torch.arange(2), torch.arange(2, device="meta")), 8),
        ValueError,
        ["y on cpu", "x on meta", "move them"],
    ),
]

ROWS = [*WIDTHS, *SHARED, *POSITIONS, *LONE_NUMBERS, *DTYPES, *REST]


@pytest.mark.parametrize(("call", "error", "words"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_wrong_call_is_refused(call: Call, error: type[Exception], words: list[str]) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert raised.type is error, raised.value
    message = str(raised.value)
    assert all(word in message for word in words), message


def test_no_two_rows_are_the_same() -> None:
    names = [row[0] for row in ROWS]
    assert len(names) == len(set(names))
