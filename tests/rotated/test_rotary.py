"""The rotation against high-precision arithmetic and its own algebra, in every library and on every path."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import array_api_strict
import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import forward_ad

from posenc_lib import _arrays
from posenc_lib.rotated import (
    RotaryTables,
    YaRNScaling,
    apply_rotary,
    in_torch,
    mixed_tables,
    rotary_tables,
    rotate,
)
from posenc_lib.rotated.tables import Layout
from tests.compilers import BACKENDS

LAYOUTS: list[Layout] = ["interleaved", "half"]
NEAR_AND_FAR = [0, 1, 2, 710, 4095, 131_000, 999_999, 1_000_000, 9_999_999, 10_000_000]
SIXTEEN = [torch.bfloat16, torch.float16]
even_dims = st.integers(1, 16).map(lambda pairs: 2 * pairs)
any_layout = st.sampled_from(LAYOUTS)


def exact_tables(positions: Any, dim: int, base: float = 10000.0) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines, (..., dim/2), rounded once to float64."""
    positions = np.asarray(positions, dtype=np.float64)
    cos, sin = (np.empty((*positions.shape, dim // 2)) for _ in range(2))
    with mpmath.workdps(40):
        rates = [mpmath.mpf(base) ** (-mpmath.mpf(2 * i) / dim) for i in range(dim // 2)]
        for at, position in np.ndenumerate(positions):
            for i, rate in enumerate(rates):
                angle = mpmath.mpf(float(position)) * rate
                cos[(*at, i)], sin[(*at, i)] = float(mpmath.cos(angle)), float(mpmath.sin(angle))
    return cos, sin


def exact_rotation(x: Any, positions: Any, layout: str, dim: int | None = None, **options: Any) -> np.ndarray:
    """The rotation in float64 by exact tables, written as a complex product."""
    x = np.array(torch.as_tensor(x).double().numpy())
    dim = x.shape[-1] if dim is None else dim
    cos, sin = exact_tables(positions, dim, **options)
    first, second = (
        (slice(0, dim, 2), slice(1, dim, 2))
        if layout == "interleaved"
        else (slice(0, dim // 2), slice(dim // 2, dim))
    )
    turned = (x[..., first] + 1j * x[..., second]) * (cos + 1j * sin)
    x[..., first], x[..., second] = turned.real, turned.imag
    return x


def vectors(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def spacing_of(values: np.ndarray, dtype: torch.dtype) -> np.ndarray:
    """The distance between neighbouring numbers of the dtype around each value."""
    info = torch.finfo(dtype)
    exponent = np.floor(np.log2(np.maximum(np.abs(values), info.smallest_normal)))
    return 2.0**exponent * info.eps


# ---- values


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_pair_turns_counterclockwise(layout: Layout) -> None:
    """(1, 0) at position p becomes (cos p, sin p): the sign that checkpoints depend on."""
    turned = apply_rotary(np.asarray([[1.0, 0.0]] * 3), 3, layout=layout)
    np.testing.assert_allclose(turned, [[math.cos(p), math.sin(p)] for p in range(3)], atol=1e-15)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("head_dim", "rotary_dim"), [(8, None), (8, 8), (8, 6), (7, 4), (2, 2)])
def test_float64_is_exact(layout: Layout, head_dim: int, rotary_dim: int | None) -> None:
    x = vectors(2, len(NEAR_AND_FAR), head_dim)
    found = apply_rotary(x, NEAR_AND_FAR, layout=layout, rotary_dim=rotary_dim)
    truth = exact_rotation(x, NEAR_AND_FAR, layout, rotary_dim)
    assert np.abs(found - truth).max() < 1e-8
    assert np.abs(found[:, :3] - truth[:, :3]).max() < 2e-15
    kept = head_dim if rotary_dim is None else rotary_dim
    np.testing.assert_array_equal(found[..., kept:], x[..., kept:])


@pytest.mark.parametrize("base", [10000.0, 500000.0, 10.0])
def test_float32_tables_are_exact_at_any_distance(base: float) -> None:
    positions = [sign * p for p in NEAR_AND_FAR for sign in (1, -1)]
    tables = rotary_tables(torch.tensor(positions), 64, base=base)
    assert tables.cos.dtype == tables.sin.dtype == torch.float32
    for found, truth in zip((tables.cos, tables.sin), exact_tables(positions, 64, base), strict=True):
        assert np.abs(found.double().numpy() - truth).max() <= 1e-7


@pytest.mark.parametrize("dtype", SIXTEEN)
def test_16_bit_tables_are_rounded_once(dtype: torch.dtype) -> None:
    tables = rotary_tables(torch.tensor(NEAR_AND_FAR), 64, dtype=dtype)
    for found, truth in zip((tables.cos, tables.sin), exact_tables(NEAR_AND_FAR, 64), strict=True):
        assert found.dtype == dtype
        assert (np.abs(found.double().numpy() - truth) <= 0.501 * spacing_of(truth, dtype) + 1e-8).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", SIXTEEN)
def test_16_bit_vectors_are_rounded_once(dtype: torch.dtype, layout: Layout) -> None:
    x = torch.from_numpy(vectors(3, len(NEAR_AND_FAR), 64)).to(dtype)
    found = apply_rotary(x, torch.tensor(NEAR_AND_FAR), layout=layout)
    truth = exact_rotation(x, NEAR_AND_FAR, layout)
    assert found.dtype == dtype
    assert (np.abs(found.double().numpy() - truth) <= 0.501 * spacing_of(truth, dtype) + 1e-6).all()


def test_tables_stay_float32_where_the_default_dtype_is_16_bit() -> None:
    """Models are often built under a default of bfloat16; tables made there must not suffer."""
    torch.set_default_dtype(torch.bfloat16)
    try:
        assert rotary_tables(torch.arange(3), 8).cos.dtype == torch.float32
    finally:
        torch.set_default_dtype(torch.float32)
    assert rotary_tables(3, 8).cos.dtype == np.float64


def test_exact_where_the_device_has_no_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables for Apple's GPUs are made on the host; here the CPU plays such a device."""
    monkeypatch.setattr(_arrays, "_WITHOUT_FLOAT64", {"cpu"})
    tables = rotary_tables(torch.tensor(NEAR_AND_FAR), 64)
    for found, truth in zip((tables.cos, tables.sin), exact_tables(NEAR_AND_FAR, 64), strict=True):
        assert found.dtype == torch.float32
        assert np.abs(found.double().numpy() - truth).max() <= 1e-7


def test_the_door_opens_without_torch() -> None:
    code = "import sys, posenc_lib.rotated; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_attention_factor_is_in_the_tables() -> None:
    plain = rotary_tables(9, 8, scaling=YaRNScaling(4.0, 4096, attention_factor=1.0))
    sharper = rotary_tables(9, 8, scaling=YaRNScaling(4.0, 4096, attention_factor=1.5))
    np.testing.assert_allclose(sharper.cos, 1.5 * plain.cos)
    np.testing.assert_allclose(sharper.sin, 1.5 * plain.sin)


# ---- algebra


@given(dim=even_dims, layout=any_layout, p=st.integers(-5000, 5000), shift=st.integers(-5000, 5000))
@settings(max_examples=60)
def test_a_score_depends_on_the_offset_alone(dim: int, layout: Layout, p: int, shift: int) -> None:
    q, k = vectors(2, 1, dim)
    score = apply_rotary(q, [p], layout=layout) @ apply_rotary(k, [p - 7], layout=layout).T
    moved = apply_rotary(q, [p + shift], layout=layout) @ apply_rotary(k, [p - 7 + shift], layout=layout).T
    assert abs(score - moved).item() < 1e-9


@given(dim=even_dims, layout=any_layout, p=st.floats(-1e6, 1e6))
@settings(max_examples=60)
def test_lengths_stay_and_rotations_add_up(dim: int, layout: Layout, p: float) -> None:
    x = vectors(1, dim)
    once = apply_rotary(x, [p], layout=layout)
    np.testing.assert_allclose(np.linalg.norm(once), np.linalg.norm(x))
    np.testing.assert_allclose(apply_rotary(once, [-p], layout=layout), x, atol=1e-12)
    np.testing.assert_allclose(
        apply_rotary(once, [2.0], layout=layout), apply_rotary(x, [p + 2.0], layout=layout), atol=1e-8
    )


@given(dim=even_dims, p=st.integers(0, 10**7))
@settings(max_examples=40)
def test_the_layouts_are_one_rotation_of_permuted_columns(dim: int, p: int) -> None:
    x = vectors(1, dim)
    order = np.concatenate([np.arange(0, dim, 2), np.arange(1, dim, 2)])
    interleaved = apply_rotary(x, [p])
    np.testing.assert_allclose(apply_rotary(x[:, order], [p], layout="half"), interleaved[:, order])


# ---- positions


def test_positions_of_every_kind() -> None:
    x = vectors(2, 3, 5, 8)
    plain = apply_rotary(x, 5)
    for same in (np.arange(5), [0, 1, 2, 3, 4], (0, 1, 2, 3, 4), np.arange(5.0), np.arange(5)[None, None]):
        np.testing.assert_array_equal(apply_rotary(x, same), plain)
    np.testing.assert_array_equal(apply_rotary(x, np.int64(5)), plain)
    np.testing.assert_array_equal(apply_rotary(x[:, :, 3:], [3, 4]), plain[:, :, 3:])  # a cache of keys
    everywhere = apply_rotary(x, np.asarray(4))
    np.testing.assert_array_equal(everywhere[..., 4, :], plain[..., 4, :])


def test_rows_padded_on_the_left_agree_with_the_rows_alone() -> None:
    x = torch.from_numpy(vectors(2, 3, 6, 8))
    positions = torch.tensor([[0, 0, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5]])[:, None, :]
    found = apply_rotary(x, positions, layout="half")
    torch.testing.assert_close(found[0, :, 2:], apply_rotary(x[0, :, 2:], 4, layout="half"))
    torch.testing.assert_close(found[1], apply_rotary(x[1], 6, layout="half"))


def test_tables_are_picked_by_position() -> None:
    x = torch.from_numpy(vectors(4, 1, 8)).float()
    tables = rotary_tables(torch.arange(100), 8)
    steps = torch.tensor([3, 99, 0, 3])
    torch.testing.assert_close(rotate(x, tables[steps[:, None]]), apply_rotary(x, steps[:, None]))
    torch.testing.assert_close(rotate(x, tables[7:8]), apply_rotary(x, [7]))
    with pytest.raises(IndexError, match="4 pairs"):
        tables[..., :2]


# ---- libraries


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rotary_dim", [None, 4])
def test_every_library_gives_the_same(layout: str, rotary_dim: int | None) -> None:
    x = vectors(2, 3, 5, 8)
    options: dict[str, Any] = {"layout": layout, "rotary_dim": rotary_dim}
    ours = apply_rotary(x, 5, **options)
    strict = apply_rotary(array_api_strict.asarray(x), array_api_strict.arange(5), **options)
    tensor = apply_rotary(torch.from_numpy(x), torch.arange(5), **options)
    assert type(strict).__module__.startswith("array_api_strict")
    assert isinstance(tensor, torch.Tensor)
    np.testing.assert_allclose(np.asarray(strict), ours, atol=1e-15)
    np.testing.assert_allclose(tensor.numpy(), ours, atol=1e-15)


@pytest.mark.parametrize("asked", [np.float16, np.float32, np.float64])
def test_numpy_keeps_the_dtype(asked: Any) -> None:
    x = vectors(3, 8).astype(asked)
    found = apply_rotary(x, 3)
    assert found.dtype == asked
    truth = exact_rotation(x, range(3), "interleaved")
    np.testing.assert_allclose(found, truth, atol=2 * np.finfo(asked).eps)


def test_numpy_and_strict_write_into_out() -> None:
    for xp in (np, array_api_strict):
        x, tables = xp.asarray(vectors(3, 8)), rotary_tables(xp.arange(3), 8)
        fresh, out = rotate(x, tables), xp.zeros_like(x)
        assert rotate(x, tables, out=out) is out
        assert xp.all(out == fresh)
        assert rotate(x, tables, out=x) is x
        assert xp.all(x == fresh)


# ---- PyTorch's paths


def strided(x: torch.Tensor, how: str) -> torch.Tensor:
    """The same numbers, laid out in memory as models have them."""
    if how == "transposed":  # (batch, seq, heads, head_dim) seen as (batch, heads, seq, head_dim)
        return x.transpose(1, 2).contiguous().transpose(1, 2)
    if how == "fused":  # a slice of a wider projection
        return torch.cat([torch.zeros_like(x), x], -1)[..., x.shape[-1] :]
    if how == "odd offset":  # no complex numbers can be seen here
        return torch.cat([x.new_zeros(1), x.flatten()])[1:].view(x.shape)
    if how == "odd stride":
        return torch.cat([x, x[..., :1]], -1)[..., : x.shape[-1]]
    if how == "every other":
        return torch.stack([x, x], -1).flatten(-2)[..., ::2]
    return x.contiguous()


HOW = ["contiguous", "transposed", "fused", "odd offset", "odd stride", "every other"]


@pytest.mark.parametrize("block", [1 << 18, 10], ids=["whole", "blocks"])
@pytest.mark.parametrize("rotary_dim", [16, 10])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, *SIXTEEN])
def test_every_path_gives_the_same(
    dtype: torch.dtype, layout: Layout, how: str, rotary_dim: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_torch, "BLOCK", block)
    start = torch.from_numpy(vectors(2, 3, 7, 16)).to(dtype)
    x = strided(start, how)
    positions = torch.tensor([[0, 0, 1, 2, 3, 4, 5], [10**6 + i for i in range(7)]])[:, None]
    tables = rotary_tables(positions, rotary_dim, dtype=torch.float64 if dtype == torch.float64 else None)
    truth = exact_rotation(start, positions, layout, rotary_dim)
    allowed = 0.501 * spacing_of(truth, dtype) + (1e-9 if dtype == torch.float64 else 1e-6)

    def check(found: torch.Tensor) -> None:
        assert found.dtype == dtype
        assert (np.abs(found.double().numpy() - truth) <= allowed).all()
        assert torch.equal(found[..., rotary_dim:], start[..., rotary_dim:])

    check(rotate(x, tables, layout=layout))
    assert torch.equal(x, start), "x was changed"
    out = strided(torch.full_like(start, math.nan), how)
    assert rotate(x, tables, layout=layout, out=out) is out
    check(out)
    assert torch.equal(x, start), "x was changed"
    assert rotate(x, tables, layout=layout, out=x) is x
    check(x)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_last_block_may_be_smaller(
    dtype: torch.dtype, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, tables = torch.from_numpy(vectors(2, 3, 7, 16)).to(dtype), rotary_tables(torch.arange(7), 10)
    whole = rotate(x, tables, layout=layout)
    monkeypatch.setattr(in_torch, "BLOCK", 300)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert [block.shape[2] for block, *_ in in_torch._blocks(x[..., :10])] == [5, 2]
    torch.testing.assert_close(rotate(x, tables, layout=layout), whole)
    torch.testing.assert_close(rotate(x, tables, layout=layout, out=x), whole)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rotary_dim", [8, 4])
def test_out_may_overlap_x(layout: Layout, rotary_dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_torch, "BLOCK", 2)
    memory = torch.from_numpy(vectors(7, 8)).float()
    x, out = memory[:6], memory[1:]
    tables = rotary_tables(torch.arange(6), rotary_dim)
    expected = rotate(x.clone(), tables, layout=layout)
    torch.testing.assert_close(rotate(x, tables, layout=layout, out=out), expected, rtol=0, atol=1e-6)


def test_out_may_overlap_x_in_memory_that_is_numpys() -> None:
    """Two views of one array, each with a storage of its own that begins elsewhere."""
    memory = vectors(16385, 64).astype(np.float32)
    tables = rotary_tables(torch.arange(16384), 64)
    expected = rotate(torch.from_numpy(memory[:-1].copy()), tables, layout="half")
    rotate(torch.from_numpy(memory[:-1]), tables, layout="half", out=torch.from_numpy(memory[1:]))
    np.testing.assert_array_equal(memory[1:], expected.numpy())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rotary_dim", [8, 4])
def test_gradients_in_batches(layout: Layout, rotary_dim: int) -> None:
    """Autograd's own vmap, which is not that of torch.func."""

    def added_up(x: torch.Tensor) -> torch.Tensor:
        return apply_rotary(x, 3, layout=layout, rotary_dim=rotary_dim).sum(dim=(0, 1))

    x = torch.from_numpy(vectors(2, 3, 8))
    one_by_one, at_once = (
        torch.autograd.functional.jacobian(added_up, x, vectorize=vectorize) for vectorize in (False, True)
    )
    torch.testing.assert_close(at_once, one_by_one)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_blocks_depend_on_threads_and_results_do_not(
    layout: Layout, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_torch, "BLOCK", 16)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    x = torch.from_numpy(vectors(3, 40, 8)).float()
    tables = rotary_tables(torch.arange(40), 8)
    expected = exact_rotation(x, torch.arange(40), layout, 8)
    np.testing.assert_allclose(rotate(x, tables, layout=layout), expected, atol=1e-6)
    apart = RotaryTables(tables.cos.mT.contiguous().mT, tables.sin.mT.contiguous().mT)
    np.testing.assert_allclose(rotate(x, apart, layout=layout), expected, atol=1e-6)
    pieces = len(list(in_torch._blocks(x, tables.cos)))
    shared = max(in_torch.SHARED * 16, x.numel() // in_torch.MOST_SHARED)
    rows = 1 if threads == 1 else shared // (3 * 8)
    assert pieces == -(-40 // rows)
    assert rows > 1 or threads == 1


@pytest.mark.parametrize("size", [10, 100, 1000])
def test_threads_share_few_blocks_however_large_the_vectors(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each kernel they wait for one another."""
    monkeypatch.setattr(in_torch, "BLOCK", 16)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert len(list(in_torch._blocks(torch.zeros(size, 64)))) <= in_torch.MOST_SHARED + 1


@pytest.mark.parametrize("scaling", [None, YaRNScaling(4.0, 64)])
@pytest.mark.parametrize("seq_axis", [-2, -3])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, *SIXTEEN])
def test_the_quick_way_for_plain_tensors_is_the_long_way_to_the_last_bit(
    dtype: torch.dtype, layout: str, seq_axis: int, scaling: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.from_numpy(vectors(2, 3, 5, 8)).to(dtype)
    own = torch.randint(-9, 10**6, (2, 1, 5) if seq_axis == -2 else (2, 3))
    shared = own[0].flatten()
    beyond_float32 = 2 * shared + 2**25 + 1
    for positions in (own, shared, shared.int(), beyond_float32, x.shape[seq_axis]):
        options = {"layout": layout, "seq_axis": seq_axis, "scaling": scaling, "rotary_dim": 6}
        assert in_torch.stands_plainly(x, positions, seq_axis)
        quick = apply_rotary(x, positions, **options)
        with monkeypatch.context() as patched:
            patched.setattr(in_torch, "stands_plainly", lambda *_: False)
            assert torch.equal(quick, apply_rotary(x, positions, **options))


@pytest.mark.parametrize(
    "positions", [torch.arange(3.0), torch.ones(3) > 0, [0, 1, 2], 4, True, np.arange(3)]
)
def test_what_is_not_plain_goes_the_long_way(positions: Any) -> None:
    assert not in_torch.stands_plainly(torch.zeros(2, 3, 4), positions, -2)
    assert not in_torch.stands_plainly(torch.zeros(2, 3, 4).long(), torch.arange(3), -2)
    assert not in_torch.stands_plainly(torch.zeros(2, 3, 4, device="meta"), torch.arange(3), -2)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_cut_turns_as_the_whole_does_also_after_it_was_written_into(layout: Layout) -> None:
    whole = rotary_tables(torch.arange(9), 8)
    x = torch.from_numpy(vectors(2, 3, 8)).float()
    for _ in range(2):
        cut = in_torch.cut(whole, 4, 7)
        np.testing.assert_array_equal(rotate(x, cut, layout=layout), rotate(x, whole[4:7], layout=layout))
        whole.cos.mul_(2.0)
        np.testing.assert_array_equal(rotate(x, cut, layout=layout), rotate(x, whole[4:7], layout=layout))


def test_tables_written_into_are_read_anew() -> None:
    """What is kept of the tables between calls must never be stale."""
    x, tables = torch.ones(1, 4), rotary_tables(torch.arange(1), 4)
    for layout in LAYOUTS:
        rotate(x, tables, layout=layout)
        tables.cos.mul_(2.0)
        torch.testing.assert_close(rotate(x, tables, layout=layout), x * tables.cos[0, 0])


def test_tables_of_inference_mode_written_into_are_read_anew() -> None:
    with torch.inference_mode():
        test_tables_written_into_are_read_anew()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("block", [1 << 18, 4])
def test_expanded_vectors(
    layout: Layout, dtype: torch.dtype, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row seen many times, as keys shared by several heads."""
    monkeypatch.setattr(in_torch, "BLOCK", block)
    x = torch.from_numpy(vectors(1, 1, 8)).to(dtype).expand(3, 5, 8)
    tables = rotary_tables(torch.arange(5), 8)
    expected = rotate(x.contiguous(), tables, layout=layout)
    torch.testing.assert_close(rotate(x, tables, layout=layout), expected)
    torch.testing.assert_close(
        rotate(x, tables, layout=layout, out=torch.empty(3, 5, 8, dtype=dtype)), expected
    )


def test_tables_first_used_in_inference_mode_serve_training() -> None:
    x, tables = torch.randn(3, 4), rotary_tables(torch.arange(3), 4)
    with torch.inference_mode():
        first = [rotate(x, tables, layout=layout) for layout in LAYOUTS]
        made_there = rotary_tables(torch.arange(3), 4)
    for some in (tables, made_there):
        for layout, expected in zip(LAYOUTS, first, strict=True):
            y = x.clone().requires_grad_()
            turned = rotate(y, some, layout=layout)
            torch.testing.assert_close(turned.detach(), expected.clone())
            turned.sum().backward()
            assert y.grad is not None


def test_16_bit_tables_are_widened_before_the_arithmetic() -> None:
    x = torch.from_numpy(vectors(5, 16)).bfloat16()
    tables = rotary_tables(torch.arange(5), 16, dtype=torch.bfloat16)
    wide = RotaryTables(tables.cos.float(), tables.sin.float())
    for layout in LAYOUTS:
        assert torch.equal(rotate(x, tables, layout=layout), rotate(x, wide, layout=layout))


@pytest.mark.parametrize("shape", [(0, 8), (2, 0, 8), (0, 3, 8)])
def test_nothing_to_rotate(shape: tuple[int, ...]) -> None:
    for x in (np.zeros(shape), torch.zeros(shape), torch.zeros(shape).bfloat16()):
        for layout in LAYOUTS:
            found = apply_rotary(x, shape[-2], layout=layout)
            assert found.shape == x.shape
            assert found.dtype == x.dtype


@pytest.mark.parametrize("shape", [(1, 8), (1, 1, 8), (0, 8), (2, 0, 8), (0, 3, 8)])
@pytest.mark.parametrize("rotary_dim", [8, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_one_vector_or_none_may_be_a_slice_of_odd_stride(
    shape: tuple[int, ...], rotary_dim: int, dtype: torch.dtype
) -> None:
    """PyTorch calls them contiguous, whatever their strides."""
    x = torch.randn(*shape[:-1], 11).to(dtype)[..., 2:10]
    for layout in LAYOUTS:
        tables = rotary_tables(torch.full(shape[-2:-1], 5), rotary_dim)
        wanted = rotate(torch.tensor(x.tolist(), dtype=dtype).reshape(shape), tables, layout=layout)
        out = torch.zeros(*shape[:-1], 11, dtype=dtype)[..., 2:10]
        assert torch.equal(rotate(x, tables, layout=layout), wanted)
        assert torch.equal(rotate(x, tables, layout=layout, out=out), wanted)


# ---- gradients, transforms, compilers


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rotary_dim", [6, 4])
def test_gradients(layout: Layout, rotary_dim: int) -> None:
    x = torch.from_numpy(vectors(2, 3, 6)).requires_grad_()
    tables = rotary_tables(torch.arange(3), rotary_dim, scaling=YaRNScaling(4.0, 64), dtype=torch.float64)

    def turned(x: torch.Tensor) -> torch.Tensor:
        return rotate(x, tables, layout=layout)

    assert torch.autograd.gradcheck(turned, x)
    assert torch.autograd.gradgradcheck(turned, x)
    y = turned(x.detach())
    torch.testing.assert_close(turned(x).detach(), y)

    def learned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        return rotate(x, RotaryTables(cos, sin), layout=layout)

    assert torch.autograd.gradcheck(learned, (x, tables.cos.requires_grad_(), tables.sin.requires_grad_()))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_gradient_goes_back_by_tables_that_were_written_into(layout: Layout) -> None:
    x, tables = torch.randn(3, 8, requires_grad=True), rotary_tables(torch.arange(3), 8)
    turned = rotate(x, tables, layout=layout)
    tables.sin.zero_()
    with pytest.raises(RuntimeError, match="wrote into the tables"):
        turned.sum().backward()
    rotate(x, tables, layout=layout).sum().backward()
    torch.testing.assert_close(x.grad, rotate(torch.ones(3, 8), tables, layout=layout))


@pytest.mark.parametrize("which", ["cos", "sin"])
def test_one_of_the_two_tables_may_be_learned_alone(which: str) -> None:
    tables, x = rotary_tables(torch.arange(5), 8), torch.randn(5, 8)
    getattr(tables, which).requires_grad_()
    assert rotate(x, tables).requires_grad


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_in_bfloat16_come_in_bfloat16(layout: Layout) -> None:
    x = torch.randn(3, 8).bfloat16().requires_grad_()
    apply_rotary(x, 3, layout=layout).float().square().sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, 2 * x.detach(), atol=5e-2, rtol=2e-2)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_function_transforms(layout: Layout) -> None:
    x = torch.from_numpy(vectors(4, 3, 8))
    tables = rotary_tables(torch.arange(3), 8, dtype=torch.float64)

    def turned(x: torch.Tensor) -> torch.Tensor:
        return rotate(x, tables, layout=layout)

    torch.testing.assert_close(torch.func.vmap(turned)(x), turned(x))
    torch.testing.assert_close(torch.func.jvp(turned, (x,), (x,))[1], turned(x))
    grad = torch.func.grad(lambda x: turned(x).square().sum())(x)
    torch.testing.assert_close(grad, 2 * x)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rotary_dim", [8, 4])
def test_forward_mode_gradients(layout: Layout, rotary_dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_torch, "BLOCK", 8)
    x, tangent = torch.from_numpy(vectors(2, 4, 3, 8))
    tables = rotary_tables(torch.arange(3), rotary_dim, dtype=torch.float64)
    with forward_ad.dual_level():
        turned = rotate(forward_ad.make_dual(x, tangent), tables, layout=layout)
        found = forward_ad.unpack_dual(turned)
    torch.testing.assert_close(found.primal, rotate(x, tables, layout=layout))
    torch.testing.assert_close(found.tangent, rotate(tangent, tables, layout=layout))


def test_out_is_refused_where_gradients_are_recorded() -> None:
    x, tables = torch.randn(3, 8, requires_grad=True), rotary_tables(torch.arange(3), 8)
    with pytest.raises(ValueError, match="no_grad"):
        rotate(x, tables, out=torch.empty(3, 8))
    with torch.no_grad():
        rotate(x, tables, out=torch.empty(3, 8))


@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled_it_is_as_exact(backend: str) -> None:
    torch._dynamo.reset()
    x = torch.from_numpy(vectors(2, len(NEAR_AND_FAR), 16)).float()
    positions = torch.tensor(NEAR_AND_FAR)

    @torch.compile(fullgraph=True, backend=backend)
    def all_at_once(
        x: torch.Tensor, sixteen: torch.Tensor, positions: torch.Tensor, outs: list[torch.Tensor]
    ) -> tuple[Any, ...]:
        tables = rotary_tables(positions, 16)
        for out, layout in zip(outs, LAYOUTS, strict=True):
            rotate(x, tables, layout=layout, out=out)
        turned = [apply_rotary(x, positions, layout=layout) for layout in LAYOUTS]
        return tables, turned, [rotate(sixteen, tables, layout=layout) for layout in LAYOUTS]

    outs = [torch.empty_like(x) for _ in LAYOUTS]
    tables, turned, narrow = all_at_once(x, x.bfloat16(), positions, outs)
    for found, truth in zip((tables.cos, tables.sin), exact_tables(positions, 16), strict=True):
        assert np.abs(found.double().numpy() - truth).max() <= 1e-7
    for layout, wide, out, rounded in zip(LAYOUTS, turned, outs, narrow, strict=True):
        truth = exact_rotation(x, positions, layout)
        assert np.abs(wide.double().numpy() - truth).max() < 1e-6
        assert torch.equal(out, wide)
        truth = exact_rotation(x.bfloat16(), positions, layout)
        allowed = 0.501 * spacing_of(truth, torch.bfloat16) + 1e-6
        assert (np.abs(rounded.double().numpy() - truth) <= allowed).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled_bfloat16(backend: str) -> None:
    """Bit for bit as uncompiled, infinities, NaN, negative zeros and gradients included."""
    torch._dynamo.reset()
    x = torch.from_numpy(vectors(3, 40, 64)).bfloat16() * 2.0 ** torch.arange(-60, 60, 3).bfloat16()[:, None]
    x[0, :, 5], x[1, :, 6], x[2, :, 7] = math.inf, math.nan, -0.0
    tables = rotary_tables(torch.arange(40) + 999_960, 64)
    narrow = RotaryTables(tables.cos[:9, 4:], tables.sin[:9, 4:])
    ours, theirs = ([x[:, :9, 8:].clone().requires_grad_() for _ in LAYOUTS] for _ in range(2))

    def turned(x: torch.Tensor, others: list[torch.Tensor]) -> tuple[list[torch.Tensor], torch.Tensor]:
        bits = [rotate(x, tables, layout=layout) for layout in LAYOUTS]
        sums = [rotate(y, narrow, layout=layout).sum() for y, layout in zip(others, LAYOUTS, strict=True)]
        return bits, torch.stack(sums)

    bits, sums = torch.compile(turned, fullgraph=True, backend=backend)(x, ours)
    wanted, wanted_sums = turned(x, theirs)
    torch.testing.assert_close(bits, wanted, rtol=0, atol=0, equal_nan=True)
    gradients = (torch.autograd.grad(made.sum(), ys) for made, ys in ((sums, ours), (wanted_sums, theirs)))
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled_bfloat16_has_its_slopes_and_those_of_learned_tables(backend: str) -> None:
    torch._dynamo.reset()
    x, tables = torch.from_numpy(vectors(2, 5, 8)).bfloat16(), rotary_tables(torch.arange(5), 8)
    slope = torch.func.grad(lambda x: rotate(x, tables).float()[..., 0].sum())
    assert slope(x).any()
    assert torch.equal(torch.compile(slope, backend=backend)(x), slope(x))
    rates = torch.rand(4, 2, requires_grad=True)
    learned = torch.compile(
        lambda x, rates: rotate(x, mixed_tables(torch.ones(2, 5), rates)), backend=backend
    )
    assert learned(x, rates).requires_grad


@pytest.mark.parametrize("layout", LAYOUTS)
def test_of_no_vectors_there_are_none(layout: Layout) -> None:
    assert apply_rotary(torch.zeros(2, 0, 2), 0, layout=layout).shape == (2, 0, 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled_in_place(backend: str) -> None:
    """Some columns only, and the same tensor read and written."""
    torch._dynamo.reset()
    x, tables = torch.from_numpy(vectors(2, 5, 12)).float(), rotary_tables(torch.arange(5) + 7, 8)
    wanted = [rotate(x, tables, layout=layout) for layout in LAYOUTS]
    outs, copies = [torch.empty_like(x) for _ in LAYOUTS], [x.clone() for _ in LAYOUTS]

    @torch.compile(fullgraph=True, backend=backend)
    def turn(x: torch.Tensor, outs: list[torch.Tensor], copies: list[torch.Tensor]) -> list[torch.Tensor]:
        for copy, layout in zip(copies, LAYOUTS, strict=True):
            rotate(copy, tables, layout=layout, out=copy)
        pairs = zip(outs, LAYOUTS, strict=True)
        return [rotate(x, tables, layout=layout, out=out) for out, layout in pairs]

    for made in (turn(x, outs, copies), outs, copies):
        torch.testing.assert_close(made, wanted)


@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled_for_any_length(backend: str) -> None:
    torch._dynamo.reset()
    turn = torch.compile(
        lambda x: apply_rotary(x, x.shape[-2], layout="half"), fullgraph=True, dynamic=True, backend=backend
    )
    for length in (3, 8, 5):
        x = torch.randn(2, length, 8)
        torch.testing.assert_close(turn(x), apply_rotary(x, length, layout="half"))


def test_exported() -> None:
    class Turn(torch.nn.Module):
        def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
            return apply_rotary(x, positions)

    x, positions = torch.randn(2, 4, 8), torch.arange(4) + 10**6
    program = torch.export.export(Turn(), (x, positions))
    torch.testing.assert_close(program.module()(x, positions), apply_rotary(x, positions))


def test_what_comes_of_no_rows_is_new():
    x = torch.zeros(0, 3, 8)
    assert apply_rotary(x, 3) is not x
