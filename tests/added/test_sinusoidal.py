"""The sinusoidal encoding against high-precision arithmetic, published values and its own algebra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import array_api_strict
import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from posenc_lib import shift_matrix, similarity, sinusoidal
from posenc_lib.added.by_shifts import evenly_spaced
from posenc_lib.added.sinusoidal import Layout, Odd
from posenc_lib.angles import Spacing
from tests.compilers import BACKENDS

LAYOUTS: list[Layout] = ["interleaved", "split", "split-cos-first"]
NEAR_AND_FAR = [0, 1, 2, 3, 710, 4095, 131_000, 999_999, 1_000_000, 9_999_999, 10_000_000]
FRACTIONAL = [0.5, 2.25, 1e-3, 1234567.890625, 9_999_999.5]

even_dims = st.integers(1, 40).map(lambda pairs: 2 * pairs)
bases = st.floats(1.5, 1e6)
offsets = st.floats(-1e5, 1e5)
any_layout = st.sampled_from(LAYOUTS)
any_spacing = st.sampled_from(["paper", "tensor2tensor"])


def exact(position: float, dim: int, base: float = 10000.0, spacing: str = "paper") -> tuple[Any, Any]:
    """(sines, cosines) of one position, one a pair, rounded once to float64."""
    steps = dim // 2 if spacing == "paper" else max(dim // 2 - 1, 1)
    with mpmath.workdps(50):
        rates = [mpmath.mpf(base) ** (-mpmath.mpf(i) / steps) for i in range(dim // 2)]
        angles = [mpmath.mpf(float(position)) * rate for rate in rates]
        return (
            np.asarray([float(mpmath.sin(angle)) for angle in angles]),
            np.asarray([float(mpmath.cos(angle)) for angle in angles]),
        )


def laid_out(sines: np.ndarray, cosines: np.ndarray, layout: str) -> np.ndarray:
    if layout == "split":
        return np.concatenate([sines, cosines])
    if layout == "split-cos-first":
        return np.concatenate([cosines, sines])
    row = np.empty(2 * len(sines))
    row[0::2], row[1::2] = sines, cosines
    return row


def exact_rows(
    positions: Sequence[float], dim: int, layout: str = "interleaved", **options: Any
) -> np.ndarray:
    return np.stack([laid_out(*exact(p, dim, **options), layout) for p in positions])


# ---- values


def test_the_published_table() -> None:
    """Sequence length 3, dim 4, four decimals: computed by hand in many texts."""
    table = [[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.0100, 1.0000], [0.9093, -0.4161, 0.0200, 0.9998]]
    np.testing.assert_allclose(sinusoidal(3, 4), table, atol=5e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("spacing", ["paper", "tensor2tensor"])
@pytest.mark.parametrize(("dim", "base"), [(2, 10000.0), (64, 10000.0), (10, 500000.0)])
def test_exact_at_any_distance_in_float64(dim: int, base: float, layout: Layout, spacing: Spacing) -> None:
    positions = [sign * p for p in (*NEAR_AND_FAR, *FRACTIONAL) for sign in (1, -1)]
    found = sinusoidal(np.asarray(positions), dim, base=base, layout=layout, spacing=spacing)
    truth = exact_rows(positions, dim, layout, base=base, spacing=spacing)
    allowed = 2e-16 * np.abs(positions) + 3e-16
    assert (np.abs(found - truth).max(axis=1) <= allowed).all()
    assert np.abs(found - truth).max() < 2e-9


@pytest.mark.parametrize("layout", LAYOUTS)
def test_exact_at_any_distance_in_float32(layout: Layout) -> None:
    truth = exact_rows(NEAR_AND_FAR, 128, layout)
    found = sinusoidal(torch.tensor(NEAR_AND_FAR), 128, layout=layout)
    assert np.abs(found.double().numpy() - truth).max() < 6e-8


@pytest.mark.parametrize(("dtype", "digits"), [(torch.bfloat16, 8), (torch.float16, 11)])
def test_narrow_results_are_rounded_once(dtype: torch.dtype, digits: int) -> None:
    truth = exact_rows(NEAR_AND_FAR, 64)
    found = sinusoidal(torch.tensor(NEAR_AND_FAR), 64, dtype=dtype)
    assert found.dtype == dtype
    half_a_step = 0.5 * 2.0 ** (np.floor(np.log2(np.abs(truth) + 1e-300)) - digits + 1)
    assert (np.abs(found.double().numpy() - truth) <= 1.001 * half_a_step + 2.0**-25).all()


def test_far_neighbours_stay_apart_in_bfloat16() -> None:
    rows = sinusoidal(torch.arange(1_000_000, 1_000_100), 64, dtype=torch.bfloat16)
    assert len(torch.unique(rows, dim=0)) == 100


# ---- a table by shifts


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("first", "step", "count", "dim"),
    [
        (0, 1, 1000, 128),
        (0, 1, 130, 512),
        (0, 1, 70_001, 2),
        (0, 1, 129, 1024),
        (-500, 1, 1000, 66),
        (9_999_000, 1, 1000, 66),
        (10_000_000, -3, 1000, 66),
        (5, 0, 1000, 66),
        (0, 10_000, 1000, 66),
    ],
)
def test_shifts_equal_sines(first: int, step: int, count: int, dim: int, layout: Layout) -> None:
    positions = first + step * np.arange(count)
    assert evenly_spaced(positions, dim) == (first, step)
    directly = sinusoidal(positions[:, None], dim, layout=layout)[:, 0]
    by_shifts = sinusoidal(positions, dim, layout=layout)
    limit = 1e-9 if np.abs(positions).max() <= 1_000_000 else 4e-9
    assert np.abs(by_shifts - directly).max() < limit
    rows = [0, 1, count // 2, count - 1]
    truth = exact_rows(positions[rows].tolist(), dim, layout)
    assert np.abs(by_shifts[rows] - truth).max() < 2e-9
    in_torch = sinusoidal(torch.from_numpy(positions), dim, layout=layout)
    assert in_torch.dtype == torch.float32
    assert np.abs(in_torch[rows].double().numpy() - truth).max() < 6e-8


def test_a_table_of_a_million_positions() -> None:
    table = sinusoidal(torch.arange(1_000_000), 4)
    rows = [0, 4095, 131_000, 999_999]
    assert np.abs(table[rows].double().numpy() - exact_rows(rows, 4)).max() < 6e-8


@pytest.mark.parametrize("place", [1, 2, 500, 999])
def test_one_position_out_of_line_is_seen(place: int) -> None:
    positions = np.arange(1000)
    positions[place] = 7
    assert evenly_spaced(positions, 128) is None
    row = sinusoidal(positions, 128)[place]
    np.testing.assert_allclose(row, exact_rows([7], 128)[0], atol=1e-14)


def test_unsigned_positions_that_wrap_around_are_not_taken_for_even() -> None:
    positions = np.arange(300).astype(np.uint8)  # ... 254, 255, 0, 1, ...
    assert evenly_spaced(positions, 256) is None
    assert evenly_spaced(np.arange(256, dtype=np.uint8)[::-1], 256) == (255, -1)
    np.testing.assert_allclose(sinusoidal(positions, 256)[[255, 256]], exact_rows([255, 0], 256), atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_shifts_are_cast_last(dtype: type) -> None:
    narrow = sinusoidal(2000, 64, dtype=dtype)
    assert narrow.dtype == dtype
    assert (narrow == sinusoidal(2000, 64).astype(dtype)).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_shifts_are_cast_last_in_bfloat16(layout: Layout) -> None:
    positions = torch.arange(2000)
    narrow = sinusoidal(positions, 64, layout=layout, dtype=torch.bfloat16)
    wide = sinusoidal(positions, 64, layout=layout, dtype=torch.float64)
    assert torch.equal(narrow, wide.to(torch.bfloat16))


def test_real_positions_keep_their_gradient_however_even() -> None:
    positions = torch.arange(2000, dtype=torch.float64, requires_grad=True)
    sinusoidal(positions, 64)[:, 0].sum().backward()
    torch.testing.assert_close(positions.grad, torch.cos(positions.detach()))


# ---- shapes, dtypes, libraries, devices


@pytest.mark.parametrize("count", [0, 1, 7])
def test_an_int_means_that_many_positions(count: int) -> None:
    found = sinusoidal(count, 6)
    assert found.shape == (count, 6)
    np.testing.assert_array_equal(found, sinusoidal(np.arange(count), 6))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (5,), (2, 0, 3), (2, 3, 4)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_positions_of_any_shape(shape: tuple[int, ...], layout: Layout) -> None:
    positions = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) * 1.5)
    found = sinusoidal(positions, 8, layout=layout)
    assert found.shape == (*shape, 8)
    for place in np.ndindex(shape):
        np.testing.assert_allclose(
            found[place], laid_out(*exact(float(positions[place]), 8), layout), atol=1e-14
        )


def test_lists_are_positions_too() -> None:
    np.testing.assert_array_equal(sinusoidal([[0, 1], [2, 3]], 4), sinusoidal(4, 4).reshape(2, 2, 4))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_numpy_integers_give_float64(dtype: type) -> None:
    found: np.ndarray = sinusoidal(np.asarray([0, 3, 100], dtype=dtype), 4)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, exact_rows([0, 3, 100], 4), atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numpy_reals_keep_their_dtype(dtype: type) -> None:
    found: np.ndarray = sinusoidal(np.asarray([0.5, 3, 100], dtype=dtype), 4)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, exact_rows([0.5, 3, 100], 4), atol=float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_torch_integers_give_the_default_dtype(dtype: torch.dtype) -> None:
    found = sinusoidal(torch.tensor([0, 3, 100], dtype=dtype), 4)
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), exact_rows([0, 3, 100], 4), atol=6e-8)


@pytest.mark.parametrize(
    ("dtype", "error"),
    [(torch.bfloat16, 2**-8), (torch.float16, 2**-11), (torch.float32, 6e-8), (torch.float64, 1e-13)],
)
def test_torch_reals_keep_their_dtype(dtype: torch.dtype, error: float) -> None:
    found = sinusoidal(torch.tensor([0.5, 3, 100], dtype=dtype), 4)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.double().numpy(), exact_rows([0.5, 3, 100], 4), atol=error)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_strict_array_library(layout: Layout) -> None:
    """It offers what the array API standard demands and nothing else."""
    for positions in (array_api_strict.arange(3), array_api_strict.asarray([[0.5], [2.0]])):
        found = sinusoidal(positions, 4, layout=layout)
        assert isinstance(found, type(positions))
        same = sinusoidal(np.asarray(positions), 4, layout=layout)
        np.testing.assert_array_equal(np.asarray(found), same)


def test_the_result_stays_on_the_device() -> None:
    for positions in (torch.arange(300, device="meta"), torch.ones(3, device="meta")):
        found = sinusoidal(positions, 256)
        assert found.device.type == "meta"
        assert found.shape == (*positions.shape, 256)
        assert shift_matrix(positions[:2], 4).device.type == "meta"
        assert similarity(positions, 4).device.type == "meta"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_exact_on_a_gpu() -> None:
    found = sinusoidal(torch.tensor(NEAR_AND_FAR, device="cuda"), 64)
    assert found.device.type == "cuda"
    assert np.abs(found.cpu().double().numpy() - exact_rows(NEAR_AND_FAR, 64)).max() < 6e-8


# ---- gradients and tracing


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_reach_real_positions(layout: Layout) -> None:
    positions = torch.tensor([[0.5, -3.0], [20.25, 0.0]], dtype=torch.float64, requires_grad=True)

    def encode(p: torch.Tensor) -> torch.Tensor:
        return sinusoidal(p, 6, layout=layout)

    assert torch.autograd.gradcheck(encode, positions)
    assert torch.autograd.gradcheck(lambda p: shift_matrix(p, 4, layout=layout), positions)
    assert torch.autograd.gradcheck(lambda p: similarity(p, 6), positions)


@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled_it_is_as_exact(backend: str) -> None:
    def encode(p: torch.Tensor) -> torch.Tensor:
        return sinusoidal(p, 128)

    compiled = torch.compile(encode, fullgraph=True, backend=backend)
    found = compiled(torch.tensor(NEAR_AND_FAR))
    assert np.abs(found.double().numpy() - exact_rows(NEAR_AND_FAR, 128)).max() < 6e-8


def test_one_graph_when_compiled() -> None:
    few, many = torch.arange(3) + 1_000_000, torch.arange(2000) + 1_000_000
    forms = [few, many, few.double() / 2, many.double() / 2]

    def tables() -> list[torch.Tensor]:
        return [sinusoidal(positions, 64, layout=layout) for positions in forms for layout in LAYOUTS]

    compiled = torch.compile(tables, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(), tables(), atol=6e-8, rtol=0)


def test_exported() -> None:
    class Module(torch.nn.Module):
        def forward(self, positions: torch.Tensor) -> torch.Tensor:
            return sinusoidal(positions, 16)

    length = torch.export.Dim("length", min=2, max=100_000)
    program = torch.export.export(Module(), (torch.arange(8),), dynamic_shapes=({0: length},))
    positions = torch.arange(5000)
    found = program.module()(positions)
    torch.testing.assert_close(found, sinusoidal(positions, 16), atol=6e-8, rtol=0)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64])
def test_mapped_over_a_batch(dtype: torch.dtype) -> None:
    positions = torch.stack([torch.arange(2000), torch.arange(2000) + 5]).to(dtype)
    mapped = torch.func.vmap(lambda p: sinusoidal(p, 64))(positions)
    torch.testing.assert_close(mapped, sinusoidal(positions, 64), atol=6e-8, rtol=0)


# ---- odd widths


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [1, 3, 7])
def test_an_odd_width_truncated_is_the_formula_as_it_stands(dim: int, layout: Layout) -> None:
    found = sinusoidal(np.asarray(NEAR_AND_FAR), dim, layout=layout, odd="truncate")
    for row, position in zip(found, NEAR_AND_FAR, strict=True):
        with mpmath.workdps(50):
            angles = [position * mpmath.mpf(10000) ** (-mpmath.mpf(2 * (j // 2)) / dim) for j in range(dim)]
            formula = [float((mpmath.cos if j % 2 else mpmath.sin)(angle)) for j, angle in enumerate(angles)]
        sines, cosines = formula[0::2], formula[1::2]
        order = {"interleaved": formula, "split": sines + cosines, "split-cos-first": cosines + sines}
        np.testing.assert_allclose(row, order[layout], atol=2e-9)


@pytest.mark.parametrize("spacing", ["paper", "tensor2tensor"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_odd_width_padded_ends_in_zeros(layout: Layout, spacing: Spacing) -> None:
    found = sinusoidal(5, 7, layout=layout, spacing=spacing, odd="pad")
    assert found.shape == (5, 7)
    assert (found[:, -1] == 0).all()
    np.testing.assert_array_equal(found[:, :-1], sinusoidal(5, 6, layout=layout, spacing=spacing))


@pytest.mark.parametrize("odd", ["truncate", "pad"])
def test_odd_changes_nothing_at_even_widths(odd: Odd) -> None:
    np.testing.assert_array_equal(sinusoidal(5, 8, odd=odd), sinusoidal(5, 8))


@pytest.mark.parametrize("odd", ["truncate", "pad"])
def test_a_large_table_of_odd_width(odd: Odd) -> None:
    found = sinusoidal(1000, 129, odd=odd)
    np.testing.assert_array_equal(found, sinusoidal(np.arange(1000)[:, None], 129, odd=odd)[:, 0])


# ---- the algebra


@given(even_dims, bases, offsets, offsets, any_layout, any_spacing)
def test_a_shift_is_a_matrix(
    dim: int, base: float, position: float, offset: float, layout: str, spacing: str
) -> None:
    options: dict[str, Any] = {"base": base, "layout": layout, "spacing": spacing}
    here = sinusoidal(np.asarray(position), dim, **options)
    there = sinusoidal(np.asarray(position + offset), dim, **options)
    np.testing.assert_allclose(shift_matrix(offset, dim, **options) @ here, there, atol=1e-10)


@given(even_dims, offsets, offsets, any_layout)
def test_shifts_are_rotations_that_compose(dim: int, first: float, second: float, layout: Layout) -> None:
    matrix = shift_matrix(first, dim, layout=layout)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(dim), atol=1e-14)
    both = shift_matrix(first + second, dim, layout=layout)
    np.testing.assert_allclose(shift_matrix(second, dim, layout=layout) @ matrix, both, atol=1e-10)
    assert np.linalg.det(matrix) == pytest.approx(1.0)


def test_no_shift_is_the_identity_and_pairs_do_not_mix() -> None:
    np.testing.assert_array_equal(shift_matrix(0, 6), np.eye(6))
    matrix = shift_matrix(3, 6)
    for row in range(6):
        for column in range(6):
            assert (row // 2 == column // 2) or matrix[row, column] == 0
    quarter = shift_matrix(np.pi / 2, 2)
    np.testing.assert_allclose(quarter, [[0, 1], [-1, 0]], atol=1e-15)


def test_many_shifts_at_once() -> None:
    many = shift_matrix(np.asarray([[1.0, -2.5]]), 4)
    assert many.shape == (1, 2, 4, 4)
    np.testing.assert_array_equal(many[0, 1], shift_matrix(-2.5, 4))


@given(arrays.arrays(np.float64, arrays.array_shapes(), elements=st.floats(-1e7, 1e7)), even_dims, any_layout)
def test_every_row_has_the_same_length_and_stays_in_range(
    positions: np.ndarray, dim: int, layout: Layout
) -> None:
    rows = sinusoidal(positions, dim, layout=layout)
    assert np.abs(rows).max() <= 1
    np.testing.assert_allclose(np.linalg.norm(rows, axis=-1), np.sqrt(dim / 2), rtol=1e-14)


@given(even_dims, bases, offsets, offsets)
def test_the_dot_product_depends_on_the_offset_alone(
    dim: int, base: float, position: float, offset: float
) -> None:
    pair = sinusoidal(np.asarray([position, position + offset]), dim, base=base)
    found = similarity(offset, dim, base=base)
    assert found == pytest.approx(pair[0] @ pair[1], abs=1e-8)
    assert found == similarity(-offset, dim, base=base)
    assert found <= similarity(0, dim, base=base) == dim / 2


def test_dot_products_form_a_toeplitz_matrix() -> None:
    table = sinusoidal(40, 32)
    products = table @ table.T
    for offset in range(-39, 40):
        np.testing.assert_allclose(np.diagonal(products, offset), similarity(offset, 32), atol=1e-12)


@pytest.mark.parametrize(("dim", "lowest"), [(64, 5), (512, 43)])
def test_similarity_falls_with_distance_but_rises_again(dim: int, lowest: int) -> None:
    change = np.diff(similarity(np.arange(100), dim))
    assert (change[:lowest] < 0).all()
    assert change[lowest] > 0


def test_nearly_equal_positions_in_two_dimensions() -> None:
    """710 is 113.00001 turns."""
    found = sinusoidal(np.asarray([0, 710]), 2)
    assert np.linalg.norm(found[0] - found[1]) < 1e-4


def test_results_of_one_kind() -> None:
    for offset in (torch.tensor([1.5, 2.0]), torch.tensor(3)):
        assert isinstance(shift_matrix(offset, 4), torch.Tensor)
        assert similarity(offset, 4).shape == offset.shape
    assert similarity(torch.tensor(3), 4).dtype == torch.float32
    assert np.asarray(similarity(3, 4)).shape == ()
