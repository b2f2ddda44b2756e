"""Learned tables against plain indexing, torch's embedding and torch's interpolation."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from posenc_lib import sinusoidal
from posenc_lib.added import hybrid, learned
from posenc_lib.added.learned import Beyond
from posenc_lib.added.sinusoidal import Layout
from posenc_lib.angles import Spacing
from tests.present import present

ROWS, DIM = 7, 6
INTEGERS = [np.int8, np.uint8, np.int32, np.int64, np.uint64]
BEYOND: list[Beyond] = ["raise", "clamp", "zero", "interpolate"]


@pytest.fixture
def table() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(ROWS, DIM))


@pytest.mark.parametrize("beyond", BEYOND)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_rows_of_the_table(table: np.ndarray, shape: tuple[int, ...], beyond: Beyond) -> None:
    positions = np.random.default_rng(1).integers(0, ROWS, size=shape)
    positions = np.asarray(positions)
    np.testing.assert_array_equal(learned(table, positions, beyond=beyond), table[positions])


@pytest.mark.parametrize("beyond", BEYOND)
def test_an_int_means_the_first_rows(table: np.ndarray, beyond: Beyond) -> None:
    for count in (0, 1, 3, ROWS):
        np.testing.assert_array_equal(learned(table, count, beyond=beyond), table[:count])


@pytest.mark.parametrize("beyond", BEYOND)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_positions_of_any_integer_type(dtype: type, beyond: Beyond) -> None:
    long = np.arange(600.0)[:, None] * [1.0, -1.0]  # longer than a byte can count
    positions: np.ndarray = np.asarray([0, 5, 127], dtype=dtype)
    np.testing.assert_array_equal(learned(long, positions, beyond=beyond), long[[0, 5, 127]])


def test_past_the_end_by_choice(table: np.ndarray) -> None:
    positions = np.asarray([ROWS - 1, ROWS, 500])
    with pytest.raises(ValueError, match="position 500 is past the last one, 6; give a longer table"):
        learned(table, positions)
    clamped = learned(table, positions, beyond="clamp")
    assert (clamped == table[-1]).all()  # every later position looks the same
    zeroed = learned(table, positions, beyond="zero")
    np.testing.assert_array_equal(zeroed, [table[-1], np.zeros(DIM), np.zeros(DIM)])


@pytest.mark.parametrize("length", [1, 2, 3, ROWS, 8, 20, 64])
def test_interpolation_is_that_of_torch(table: np.ndarray, length: int) -> None:
    """torch.nn.functional.interpolate stretches the whole table; align_corners keeps both ends."""
    stretched = torch.nn.functional.interpolate(
        torch.from_numpy(table.T[None]), size=length, mode="linear", align_corners=True
    )[0].T.numpy()
    whole = learned(table, np.arange(length), beyond="interpolate", length=length)
    np.testing.assert_allclose(whole, stretched, atol=1e-14)
    if length >= ROWS:
        np.testing.assert_array_equal(learned(table, length, beyond="interpolate"), whole)


def test_interpolation_keeps_both_ends_exactly(table: np.ndarray) -> None:
    for length in range(2, 300):
        ends = learned(table, np.asarray([0, length - 1]), beyond="interpolate", length=length)
        np.testing.assert_array_equal(ends, table[[0, -1]])


def test_between_two_rows(table: np.ndarray) -> None:
    found = learned(table, np.asarray([2.25, 5.5]), beyond="interpolate")
    expected = [0.75 * table[2] + 0.25 * table[3], 0.5 * table[5] + 0.5 * table[6]]
    np.testing.assert_allclose(found, expected, atol=1e-15)


@given(st.integers(1, 12), st.integers(1, 40), st.data())
def test_a_straight_table_stays_straight(rows: int, length: int, data: st.DataObject) -> None:
    """Linear interpolation of values a + b * row is exact, so the ends and the slope tell it all."""
    line = 3.0 + 2.0 * np.arange(rows)[:, None]
    position = data.draw(st.floats(0, length - 1))
    found = learned(line, np.asarray([position]), beyond="interpolate", length=length)
    slope = (rows - 1) / (length - 1) if length > 1 else 0.0
    assert found[0, 0] == pytest.approx(3.0 + 2.0 * slope * position, abs=1e-10)


def test_a_position_means_the_same_in_every_call(table: np.ndarray) -> None:
    """What else stands in the call must not move it (as a stretch by the largest position would)."""
    alone = learned(table, np.asarray([3]), beyond="interpolate", length=20)
    together = learned(table, np.asarray([3, 19]), beyond="interpolate", length=20)
    np.testing.assert_array_equal(alone[0], together[0])


def test_a_table_of_one_row() -> None:
    one = np.asarray([[1.0, 2.0]])
    np.testing.assert_array_equal(learned(one, 3, beyond="interpolate"), np.repeat(one, 3, axis=0))


@pytest.mark.parametrize("beyond", BEYOND)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_tensor_of_the_tables_dtype(dtype: torch.dtype, beyond: Beyond) -> None:
    table = torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(0)).to(dtype)
    positions = torch.tensor([[0, 6], [3, 3]])
    found = learned(table, positions, beyond=beyond)
    assert found.dtype == dtype
    assert torch.equal(found, torch.nn.functional.embedding(positions, table))
    assert learned(table, 3, beyond=beyond).dtype == dtype


def test_interpolation_in_bfloat16_is_rounded_once() -> None:
    table = torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    positions = torch.linspace(0, 6, 50, dtype=torch.float64)
    exact = learned(table.double(), positions, beyond="interpolate")
    assert torch.equal(learned(table, positions, beyond="interpolate"), exact.to(torch.bfloat16))


@pytest.mark.parametrize("beyond", BEYOND)
def test_gradients_reach_the_table(beyond: Beyond) -> None:
    table = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    last = 3 if beyond == "raise" else 5
    positions = torch.tensor([0, 2, 2, last])
    options = {"length": 6} if beyond == "interpolate" else {}
    assert torch.autograd.gradcheck(lambda t: learned(t, positions, beyond=beyond, **options), table)
    if beyond != "interpolate":
        learned(table, positions, beyond=beyond).sum().backward()
        counts = {"raise": [1, 0, 2, 1], "clamp": [1, 0, 2, 1], "zero": [1, 0, 2, 0]}[beyond]
        assert present(table.grad)[:, 0].tolist() == counts


def test_gradients_reach_fractional_positions() -> None:
    table = torch.randn(4, 3, dtype=torch.float64)
    positions = torch.tensor([0.25, 2.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda p: learned(table, p, beyond="interpolate", length=7), positions)


@pytest.mark.parametrize("beyond", BEYOND)
def test_a_strict_array_library(table: np.ndarray, beyond: Beyond) -> None:
    strict = array_api_strict.asarray(table)
    positions = array_api_strict.asarray([[0, 3], [6, 1]])
    found = learned(strict, positions, beyond=beyond)
    assert isinstance(found, type(strict))
    np.testing.assert_array_equal(np.asarray(found), table[[[0, 3], [6, 1]]])
    np.testing.assert_array_equal(np.asarray(hybrid(strict, 3)), hybrid(table, 3))


@pytest.mark.parametrize("beyond", BEYOND)
def test_compiled_it_agrees_and_still_refuses(beyond: Beyond) -> None:
    torch.compiler.reset()
    table = torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(0))
    compiled = torch.compile(lambda t, p: learned(t, p, beyond=beyond), fullgraph=True, backend="eager")
    positions = torch.tensor([[0, 6], [3, 3]])
    assert torch.equal(compiled(table, positions), learned(table, positions, beyond=beyond))
    with pytest.raises((RuntimeError, IndexError)):
        compiled(table, torch.tensor([-1, 0]))
    if beyond in ("raise", "interpolate"):
        with pytest.raises((RuntimeError, IndexError)):
            compiled(table, torch.tensor([0, ROWS]))


def test_the_result_stays_on_the_device() -> None:
    table = torch.randn(ROWS, DIM, device="meta")
    for beyond in BEYOND:
        found = learned(table, torch.arange(3, device="meta"), beyond=beyond)
        assert found.device.type == "meta"
        assert found.shape == (3, DIM)
    assert learned(table, 3).device.type == "meta"


# ---- hybrid


@pytest.mark.parametrize("layout", ["interleaved", "split"])
@pytest.mark.parametrize("spacing", ["paper", "tensor2tensor"])
def test_hybrid_is_the_sum(table: np.ndarray, layout: Layout, spacing: Spacing) -> None:
    positions = np.asarray([[0, 6], [2, 2]])
    found = hybrid(table, positions, layout=layout, spacing=spacing, base=500.0)
    waves = sinusoidal(positions, DIM, layout=layout, spacing=spacing, base=500.0)
    np.testing.assert_allclose(found, table[positions] + waves, atol=1e-15)


def test_hybrid_beyond_its_table(table: np.ndarray) -> None:
    waves = sinusoidal(20, DIM)
    np.testing.assert_array_equal(hybrid(table, 20, beyond="zero")[ROWS:], waves[ROWS:])
    np.testing.assert_allclose(hybrid(table, 20, beyond="clamp")[ROWS:], table[-1] + waves[ROWS:], atol=1e-15)
    stretched = learned(table, 20, beyond="interpolate")
    np.testing.assert_allclose(hybrid(table, 20, beyond="interpolate"), stretched + waves, atol=1e-15)
    with pytest.raises(ValueError, match="is past the last one"):
        hybrid(table, 20)


def test_hybrid_far_away_in_bfloat16() -> None:
    """The sinusoidal part is exact, and the sum is rounded once."""
    table = torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    positions = torch.tensor([3, 1_000_000])
    found = hybrid(table, positions, beyond="clamp")
    assert found.dtype == torch.bfloat16
    rows = table.double()[[3, ROWS - 1]]
    exact = rows + sinusoidal(positions, DIM, dtype=torch.float64)
    half_a_step = 2.0 ** (torch.floor(torch.log2(exact.abs())) - 8)
    assert (torch.abs(found.double() - exact) <= 1.01 * half_a_step).all()


def test_hybrid_learns() -> None:
    table = torch.zeros(ROWS, DIM, requires_grad=True)
    hybrid(table, torch.tensor([1, 1, 9]), beyond="zero").sum().backward()
    assert present(table.grad)[:, 0].tolist() == [0, 2, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.uint16, torch.uint32, torch.uint64])
def test_positions_of_every_integer_type_read_their_rows(dtype):
    table, at = torch.randn(1_000, 2), torch.arange(200, 206)
    assert torch.equal(learned(table, at.to(dtype)), table[200:206])
