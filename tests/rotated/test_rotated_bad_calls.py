"""Every wrong call raises, and says what was given, what is allowed and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

from posenc_lib import frequencies
from posenc_lib.rotated import (
    DynamicNTKScaling,
    LinearScaling,
    Llama3Scaling,
    LongRoPEScaling,
    NTKByPartsScaling,
    NTKScaling,
    ProportionalScaling,
    RotaryTables,
    YaRNScaling,
    apply_rotary,
    axial_tables,
    convert_layout,
    mrope_tables,
    rotary_tables,
    rotate,
    xpos_tables,
)

NAN, INF = float("nan"), float("inf")
X = np.ones((2, 5, 8))
T = torch.ones(2, 5, 8)
TABLES = rotary_tables(5, 8)
TENSOR_TABLES = rotary_tables(torch.arange(5), 8)
ELSEWHERE = torch.ones(2, 5, 8, device="meta")

Row = tuple[str, Callable[[], Any], type[Exception], list[str]]

MAKERS: dict[str, Callable[..., Any]] = {
    "rotary_tables": lambda dim, **options: rotary_tables(3, dim, **options),
    "axial_tables": lambda dim, **options: axial_tables(np.ones((2, 3)), dim, **options),
    "mrope_tables": lambda dim, **options: mrope_tables(np.ones((2, 3)), dim, (2, 2), **options),
    "xpos_tables": lambda dim, **options: xpos_tables(3, dim, **options),
    "apply_rotary": lambda dim, base=1e4: apply_rotary(X, 5, rotary_dim=dim, base=base),
}
WIDTHS: list[Row] = [
    (f"{name} of {dim!r}", lambda make=make, dim=dim: make(dim), error, ["dim", "give"])
    for name, make in MAKERS.items()
    for dim, error in [
        (0, ValueError),
        (-2, ValueError),
        (7, ValueError),
        (8.0, TypeError),
        ("8", TypeError),
        (True, TypeError),
    ]
]
BASES: list[Row] = [
    (f"{name} with base {base!r}", lambda make=make, base=base: make(8, base=base), error, ["base", "give"])
    for name, make in MAKERS.items()
    for base, error in [
        (0, ValueError),
        (-1.0, ValueError),
        (NAN, ValueError),
        (INF, ValueError),
        ("1", TypeError),
    ]
]
POSITIONS: list[Row] = [
    (f"{name} at {positions!r}", lambda make=make, p=positions: make(p), error, ["give"])
    for name, make in {
        "rotary_tables": lambda p: rotary_tables(p, 8),
        "xpos_tables": lambda p: xpos_tables(p, 8),
        "apply_rotary": lambda p: apply_rotary(X, p),
    }.items()
    for positions, error in [
        (-1, ValueError),
        (5.0, TypeError),
        (True, TypeError),
        ("5", TypeError),
        (None, TypeError),
        (np.asarray([0, 1, 2, 3, NAN]), ValueError),
        (np.asarray([0, 1, 2, 3, INF]), ValueError),
        (np.asarray([True] * 5), TypeError),
        (np.asarray([1j] * 5), TypeError),
        ([[1, 2], [3]], ValueError),
    ]
]
ROTATIONS: list[Row] = [
    ("an int that is not seq", lambda: apply_rotary(X, 1), ValueError, ["positions=1", "(2, 5, 8)"]),
    ("an int for a lone vector", lambda: apply_rotary(X[0, 0], 1), ValueError, ["(8,)"]),
    ("positions too few", lambda: apply_rotary(X, [1, 2]), ValueError, ["(2,)", "(2, 5)"]),
    ("positions with too many axes", lambda: apply_rotary(X, np.ones((3, 2, 5))), ValueError, ["(3, 2, 5)"]),
    (
        "positions per row, no head axis",
        lambda: apply_rotary(np.ones((2, 3, 5, 8)), np.ones((2, 5))),
        ValueError,
        ["(2, 5)", "(batch, 1, seq)"],
    ),
    ("integers", lambda: apply_rotary(X.astype(int), 5), TypeError, ["int64", "real"]),
    ("booleans", lambda: apply_rotary(X > 0, 5), TypeError, ["bool"]),
    ("complex numbers", lambda: apply_rotary(X + 1j, 5), TypeError, ["complex128"]),
    ("a list", lambda: apply_rotary(X.tolist(), 5), TypeError, ["list"]),
    ("a number", lambda: apply_rotary(np.asarray(1.0), np.asarray(1)), ValueError, ["single number"]),
    ("rotary_dim above head_dim", lambda: apply_rotary(X, 5, rotary_dim=10), ValueError, ["=10", "=8"]),
    ("an odd head_dim", lambda: apply_rotary(X[..., :7], 5), ValueError, ["=7", "even"]),
    ("an unknown layout", lambda: apply_rotary(X, 5, layout="split"), ValueError, ["'split'", "'half'"]),  # type: ignore[arg-type]
    ("a layout that is not a name", lambda: apply_rotary(X, 5, layout=None), ValueError, ["None", "'half'"]),  # type: ignore[arg-type]
    ("NumPy positions for a tensor", lambda: apply_rotary(T, np.arange(5)), TypeError, ["Tensor", "ndarray"]),
    (
        "tensor positions for NumPy",
        lambda: apply_rotary(X, torch.arange(5)),
        TypeError,
        ["Tensor", "ndarray"],
    ),
    (
        "positions on another device",
        lambda: apply_rotary(ELSEWHERE, torch.arange(5)),
        ValueError,
        ["meta", "cpu"],
    ),
    ("an unknown scaling", lambda: apply_rotary(X, 5, scaling="yarn"), TypeError, ["'yarn'", "YaRNScaling"]),
    ("a scaling class", lambda: apply_rotary(X, 5, scaling=YaRNScaling), TypeError, ["YaRNScaling"]),
    ("a scaling number", lambda: frequencies(8, scaling=2.0), TypeError, ["2.0"]),
    (
        "rotate: an unknown layout",
        lambda: rotate(X, TABLES, layout="pairs"),  # type: ignore[arg-type]
        ValueError,
        ["'pairs'", "'half'"],
    ),
    ("rotate: no tables", lambda: rotate(X, TABLES.cos), TypeError, ["ndarray", "rotary_tables"]),
    ("rotate: no tables for a tensor", lambda: rotate(T, (1, 2)), TypeError, ["tuple"]),  # type: ignore[arg-type]
    ("rotate: integers", lambda: rotate(T.int(), TENSOR_TABLES), TypeError, ["int32"]),
    ("rotate: NumPy tables for a tensor", lambda: rotate(T, TABLES), TypeError, ["Tensor", "torch.arange"]),
    ("rotate: tensor tables for NumPy", lambda: rotate(X, TENSOR_TABLES), TypeError, ["ndarray"]),
    ("rotate: narrower tables", lambda: rotate(T.double(), TENSOR_TABLES), TypeError, ["float32", "float64"]),
    (
        "rotate: other 16-bit tables",
        lambda: rotate(T.half(), rotary_tables(torch.arange(5), 8, dtype=torch.bfloat16)),
        TypeError,
        ["bfloat16", "float16"],
    ),
    ("rotate: wider than the vectors", lambda: rotate(T[..., :6], TENSOR_TABLES), ValueError, ["8", "6"]),
    (
        "rotate: tables for the batch, where the sequence comes next",
        lambda: rotate(torch.ones(2, 5, 3, 8), rotary_tables(torch.arange(2), 8), seq_axis=-3),
        ValueError,
        ["(2,)", "(2, 5)"],
    ),
    (
        "rotate: tables of another length",
        lambda: rotate(T[:, :4], TENSOR_TABLES),
        ValueError,
        ["(5,)", "(2, 4)"],
    ),
    (
        "rotate: tables on another device",
        lambda: rotate(ELSEWHERE, TENSOR_TABLES),
        ValueError,
        ["meta", "cpu"],
    ),
    ("rotate: head_dim 1", lambda: rotate(T[..., :1], TENSOR_TABLES), ValueError, ["8", "1"]),
    (
        "rotate: out of another shape",
        lambda: rotate(T, TENSOR_TABLES, out=T[:1].clone()),
        ValueError,
        ["(1, 5, 8)"],
    ),
    (
        "rotate: out of another dtype",
        lambda: rotate(T, TENSOR_TABLES, out=T.double()),
        TypeError,
        ["float64"],
    ),
    (
        "rotate: out of another library",
        lambda: rotate(T, TENSOR_TABLES, out=X.copy()),
        TypeError,
        ["ndarray"],
    ),
    ("rotate: out on another device", lambda: rotate(T, TENSOR_TABLES, out=ELSEWHERE), ValueError, ["meta"]),
    (
        "rotate: NumPy out of another shape",
        lambda: rotate(X, TABLES, out=X[0].copy()),
        ValueError,
        ["(5, 8)"],
    ),
    (
        "rotate: NumPy out of another dtype",
        lambda: rotate(X, TABLES, out=X.astype("f4")),
        TypeError,
        ["float32"],
    ),
    ("rotate: out is not an array", lambda: rotate(X, TABLES, out=3), TypeError, ["int"]),
    (
        "rotate: out cannot be written",
        lambda: rotate(X, TABLES, out=np.broadcast_to(X[0], X.shape)),
        ValueError,
        ["read-only"],
    ),
]
TABLE_ROWS: list[Row] = [
    ("tables of lists", lambda: RotaryTables([1.0], [0.0]), TypeError, ["list"]),
    ("tables of two libraries", lambda: RotaryTables(np.ones(2), torch.ones(2)), TypeError, ["torch"]),
    (
        "tables of two dtypes",
        lambda: RotaryTables(np.ones(2), np.ones(2, "f4")),
        TypeError,
        ["float64", "float32"],
    ),
    ("tables of integers", lambda: RotaryTables(np.ones(2, int), np.ones(2, int)), TypeError, ["int64"]),
    ("tables of two shapes", lambda: RotaryTables(np.ones(2), np.ones(3)), ValueError, ["(2,)", "(3,)"]),
    ("tables without pairs", lambda: RotaryTables(np.ones((3, 0)), np.ones((3, 0))), ValueError, ["(3, 0)"]),
    ("tables of numbers", lambda: RotaryTables(np.asarray(1.0), np.asarray(0.0)), ValueError, ["()"]),
    (
        "tables on two devices",
        lambda: RotaryTables(torch.ones(2), torch.ones(2, device="meta")),
        ValueError,
        ["meta"],
    ),
    ("tables of an integer dtype", lambda: rotary_tables(3, 8, dtype=np.int64), TypeError, ["int64"]),
    (
        "tables of another library's dtype",
        lambda: rotary_tables(3, 8, dtype=torch.float32),
        TypeError,
        ["torch"],
    ),
]
AXES: list[Row] = [
    ("axial: an int", lambda: axial_tables(5, 8), TypeError, ["5", "np.indices"]),
    ("axial: no axes", lambda: axial_tables(np.asarray(1.0), 8), ValueError, ["()"]),
    ("axial: NaN", lambda: axial_tables(np.asarray([[NAN], [1.0]]), 8), ValueError, ["NaN"]),
    (
        "axial: pairs that cannot be split",
        lambda: axial_tables(np.ones((3, 2)), 8),
        ValueError,
        ["4 pairs", "3 axes"],
    ),
    (
        "axial: sections for other axes",
        lambda: axial_tables(np.ones((3, 2)), 8, sections=(2, 2)),
        ValueError,
        ["3 axes"],
    ),
    (
        "mrope: sections too small",
        lambda: mrope_tables(np.ones((3, 2)), 16, (2, 2, 2)),
        ValueError,
        ["8 in all"],
    ),
    (
        "mrope: a negative section",
        lambda: mrope_tables(np.ones((3, 2)), 16, (9, -2, 1)),
        ValueError,
        ["1 or more"],
    ),
    (
        "mrope: sections of reals",
        lambda: mrope_tables(np.ones((3, 2)), 16, (2.0, 3.0, 3.0)),  # type: ignore[arg-type]
        TypeError,
        ["2.0"],
    ),
    ("mrope: no sections", lambda: mrope_tables(np.ones((3, 2)), 16, 8), TypeError, ["sections=8"]),  # type: ignore[arg-type]
    ("mrope: booleans", lambda: mrope_tables(np.ones((3, 2)) > 0, 16, (2, 3, 3)), TypeError, ["bool"]),
    ("xpos: scale_base", lambda: xpos_tables(3, 8, scale_base=0), ValueError, ["scale_base=0"]),
    ("xpos: gamma", lambda: xpos_tables(3, 8, gamma=-0.4), ValueError, ["gamma=-0.4"]),
    ("xpos: center", lambda: xpos_tables(3, 8, center="0"), TypeError, ["center='0'"]),  # type: ignore[arg-type]
    ("xpos: infinite center", lambda: xpos_tables(3, 8, center=INF), ValueError, ["center=inf"]),
]
SETTINGS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (LinearScaling, {"factor": 2.0}),
    (NTKScaling, {"factor": 2.0}),
    (DynamicNTKScaling, {"factor": 2.0, "original_length": 9, "length": 9}),
    (NTKByPartsScaling, {"factor": 2.0, "original_length": 9}),
    (Llama3Scaling, {"factor": 2.0, "original_length": 9}),
    (YaRNScaling, {"factor": 2.0, "original_length": 9}),
    (LongRoPEScaling, {"factor": 2.0, "original_length": 9, "length": 9, "short": [1.0], "long": [1.0]}),
    (ProportionalScaling, {"factor": 2.0, "fraction": 0.5}),
]
RULES: list[Row] = [
    (
        f"{make.__name__} with {name}={value!r}",
        lambda m=make, o={**options, name: value}: m(**o),
        error,
        [name],
    )
    for make, options in SETTINGS
    for name in options
    if name not in ("short", "long")
    for value, error in [
        (0, ValueError),
        (-2.0, ValueError),
        (NAN, ValueError),
        (INF, ValueError),
        ("2", TypeError),
        (True, TypeError),
    ]
]
MORE_RULES: list[Row] = [
    ("NTK for one pair", lambda: frequencies(2, scaling=NTKScaling(2.0)), ValueError, ["dim=2", "4 or more"]),
    ("dynamic formula", lambda: DynamicNTKScaling(2.0, 9, 9, formula="pi"), ValueError, ["'pi'", "'paper'"]),  # type: ignore[arg-type]
    (
        "by parts: beta below alpha",
        lambda: NTKByPartsScaling(2.0, 9, 4.0, 3.5),
        ValueError,
        ["beta=3.5", "alpha"],
    ),
    ("yarn ramp", lambda: YaRNScaling(2.0, 9, ramp="dim"), ValueError, ["'dim'", "'pair'", "'turns'"]),  # type: ignore[arg-type]
    ("yarn truncate", lambda: YaRNScaling(2.0, 9, truncate=1), TypeError, ["truncate=1"]),  # type: ignore[arg-type]
    ("yarn betas", lambda: YaRNScaling(2.0, 9, beta_fast=0.5), ValueError, ["beta_fast=0.5", "beta_slow"]),
    ("yarn mscale", lambda: YaRNScaling(2.0, 9, mscale=-1.0), ValueError, ["mscale=-1.0"]),
    ("yarn attention", lambda: YaRNScaling(2.0, 9, attention_factor=0), ValueError, ["attention_factor=0"]),
    ("yarn at base 1", lambda: frequencies(8, base=1, scaling=YaRNScaling(2.0, 9)), ValueError, ["base=1"]),
    (
        "longrope: no factor",
        lambda: LongRoPEScaling([1.0], [1.0], 9, length=9),
        ValueError,
        ["attention_factor"],
    ),
    (
        "longrope: a number",
        lambda: LongRoPEScaling(1.0, [1.0], 9, length=9, factor=1),  # type: ignore[arg-type]
        TypeError,
        ["short=1.0"],
    ),
    ("longrope: text", lambda: LongRoPEScaling([1.0], "12", 9, length=9, factor=1), TypeError, ["long='12'"]),  # type: ignore[arg-type]
    (
        "longrope: a divisor of 0",
        lambda: LongRoPEScaling([0.0], [1.0], 9, length=9, factor=1),
        ValueError,
        ["short"],
    ),
    (
        "longrope: original 1",
        lambda: LongRoPEScaling([1.0], [1.0], 1, length=9, factor=2),
        ValueError,
        ["2 or more"],
    ),
    (
        "longrope: lists of another width",
        lambda: frequencies(8, scaling=LongRoPEScaling([1.0] * 4, [1.0] * 3, 9, length=9, factor=2)),
        ValueError,
        ["long", "3", "4"],
    ),
    ("proportional: above 1", lambda: ProportionalScaling(1.5), ValueError, ["fraction=1.5"]),
]
WEIGHTS: list[Row] = [
    (
        "weight: no array",
        lambda: convert_layout([1.0], heads=1, source="half", target="half"),
        TypeError,
        ["list"],
    ),
    (
        "weight: heads do not divide",
        lambda: convert_layout(np.ones((9, 2)), heads=2, source="half", target="half"),
        ValueError,
        ["(9, 2)", "heads=2"],
    ),
    (
        "weight: no heads",
        lambda: convert_layout(np.ones((8, 2)), heads=0, source="half", target="half"),
        ValueError,
        ["heads=0"],
    ),
    (
        "weight: heads no integer",
        lambda: convert_layout(np.ones((8, 2)), heads=2.0, source="half", target="half"),  # type: ignore[arg-type]
        TypeError,
        ["heads=2.0"],
    ),
    (
        "weight: source",
        lambda: convert_layout(np.ones((8, 2)), heads=2, source="hf", target="half"),  # type: ignore[arg-type]
        ValueError,
        ["source='hf'"],
    ),
    (
        "weight: target",
        lambda: convert_layout(np.ones((8, 2)), heads=2, source="half", target="meta"),  # type: ignore[arg-type]
        ValueError,
        ["target='meta'"],
    ),
    (
        "weight: odd head_dim",
        lambda: convert_layout(np.ones((6, 2)), heads=2, source="half", target="interleaved"),
        ValueError,
        ["=3"],
    ),
    (
        "weight: rotary_dim above head_dim",
        lambda: convert_layout(np.ones((8, 2)), heads=2, source="half", target="interleaved", rotary_dim=6),
        ValueError,
        ["=6", "=4"],
    ),
    (
        "weight: odd rotary_dim where nothing moves",
        lambda: convert_layout(np.ones((8, 2)), heads=2, source="half", target="half", rotary_dim=3),
        ValueError,
        ["=3"],
    ),
]
ROWS = [*WIDTHS, *BASES, *POSITIONS, *ROTATIONS, *TABLE_ROWS, *AXES, *RULES, *MORE_RULES, *WEIGHTS]


@pytest.mark.parametrize(("call", "error", "words"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_wrong_call_says_so(call: Callable[[], Any], error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as raised:
        call()
    assert type(raised.value) is error
    for word in words:
        assert word in str(raised.value)


def test_an_out_that_its_library_cannot_write_is_named() -> None:
    """Strict arrays can be written; one that cannot gives a message of ours, not the library's."""
    x = array_api_strict.asarray(X)
    tables = rotary_tables(array_api_strict.arange(5), 8)
    with pytest.raises(TypeError, match="out is ndarray"):
        rotate(x, tables, out=X.copy())
