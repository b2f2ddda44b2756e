"""Kept tables are never stale: whatever is done to a module, it does what a fresh one does."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

from posenc_lib import rotated
from posenc_lib.nn import (
    AxialRotary,
    DINOv3Rotary,
    Grid,
    MultimodalRotary,
    Rotary,
    Sinusoidal,
    TransformerXL,
    tables,
)
from posenc_lib.rotated import in_torch
from tests.present import present

DIM = 8


def turn(rope: Rotary, positions, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """What the module does to fixed vectors."""
    count = positions.shape[-1] if isinstance(positions, torch.Tensor) else len(positions)
    x = torch.linspace(-1, 1, count * DIM, dtype=torch.float64).reshape(1, 1, count, DIM).to(dtype)
    return rope.rotate(x, x, positions, positions)[0]


def fresh(rope: Rotary) -> Rotary:
    return Rotary(DIM, base=rope.base, layout=rope.layout, rotary_dim=rope.rotary_dim, scaling=rope.scaling)


def assert_as_fresh(rope: Rotary, positions=range(20), dtype: torch.dtype = torch.float32) -> None:
    assert torch.equal(turn(rope, positions, dtype), turn(fresh(rope), positions, dtype))
    plain = torch.tensor(list(positions)) if isinstance(positions, range) else positions
    wanted = rotated.apply_rotary(
        np.linspace(-1, 1, plain.numel() * DIM).reshape(1, 1, -1, DIM),
        plain.numpy(),
        base=rope.base,
        layout=rope.layout,
        rotary_dim=rope.rotary_dim,
        scaling=rope.scaling,
    )
    tolerance = max(2 * torch.finfo(dtype).eps, 1e-12)
    np.testing.assert_allclose(turn(rope, positions, dtype).double().numpy(), wanted, rtol=0, atol=tolerance)


class CountingRotary(Rotary):
    """Counts how often tables are made."""

    made = 0

    def _make(self, positions, dtype):
        type(self).made += 1
        return super()._make(positions, dtype)


def test_a_table_is_made_once_and_grown_by_powers_of_two():
    CountingRotary.made = 0
    rope = CountingRotary(DIM)
    CountingRotary.made = 0  # the constructor tried its settings
    for stop in (5, 8, 3, 8):
        turn(rope, range(stop))
        turn(rope, torch.arange(stop))
    assert CountingRotary.made == 1
    for stop in (9, 16, 2, 12):
        turn(rope, range(stop - 2, stop))
    assert CountingRotary.made == 2
    turn(rope, range(5), torch.float64)
    assert CountingRotary.made == 3
    turn(rope, range(16))
    assert CountingRotary.made == 3


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 40)), min_size=1, max_size=6))
@settings(max_examples=30)
def test_any_order_of_calls_gives_what_a_fresh_module_gives(calls):
    rope = Rotary(DIM)
    for start, count in calls:
        assert_as_fresh(rope, range(start, start + count))


def _double_the_factor(rope: Rotary) -> None:
    rope.scaling["factor"] *= 2


class OwnRule:
    """A rule of the user's, which may change under the module's feet."""

    attention_scaling = 1.0
    factor = 2.0

    def scale(self, frequencies, *, dim, base):
        return frequencies / self.factor


@pytest.mark.parametrize(
    ("scaling", "change"),
    [
        (None, lambda rope: setattr(rope, "base", 500_000.0)),
        (None, lambda rope: setattr(rope, "layout", "half")),
        (None, lambda rope: setattr(rope, "rotary_dim", 4)),
        (None, lambda rope: setattr(rope, "scaling", rotated.LinearScaling(4.0))),
        (rotated.LinearScaling(4.0), lambda rope: setattr(rope, "scaling", rotated.NTKScaling(4.0))),
        (rotated.LinearScaling(4.0), lambda rope: setattr(rope, "scaling", rotated.LinearScaling(8.0))),
        (rotated.YaRNScaling(4.0, 16), lambda rope: setattr(rope, "base", 100.0)),
        (
            rotated.YaRNScaling(4.0, 16),
            lambda rope: setattr(rope, "scaling", rotated.YaRNScaling(4.0, 16, attention_factor=1.0)),
        ),
        (rotated.LinearScaling(4.0), lambda rope: setattr(rope, "scaling", None)),
        ({"rope_type": "linear", "factor": 4.0}, _double_the_factor),
        (OwnRule(), lambda rope: setattr(rope.scaling, "factor", 3.0)),
        (OwnRule(), lambda rope: setattr(rope.scaling, "attention_scaling", 2.0)),
    ],
)
def test_a_changed_setting_counts_at_once(scaling, change):
    rope = Rotary(DIM, scaling=copy.deepcopy(scaling))
    before = turn(rope, range(20))
    for _ in range(2):
        assert_as_fresh(rope)
    change(rope)
    assert_as_fresh(rope)
    assert not torch.equal(turn(rope, range(20)), before)


def test_settings_that_were_changed_and_changed_back():
    rope = Rotary(DIM)
    for base in (10_000.0, 500.0, 10_000.0, 500.0):
        rope.base = base
        assert_as_fresh(rope)


def test_a_wrong_setting_is_refused_even_after_use():
    rope = Rotary(DIM)
    turn(rope, range(5))
    rope.base = -1.0
    with pytest.raises(ValueError, match="base"):
        turn(rope, range(5))


def test_dtypes_keep_out_of_each_others_way():
    rope = Rotary(DIM)
    for dtype in (torch.bfloat16, torch.float32, torch.float64, torch.float16, torch.float32, torch.float64):
        rope.to(dtype)
        assert_as_fresh(rope, dtype=dtype)
        assert_as_fresh(rope, range(1_000_000, 1_000_010), dtype=dtype)
    sinusoidal = Sinusoidal(DIM)
    exact = sinusoidal(torch.zeros(1, 9, DIM, dtype=torch.float64))
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        got = sinusoidal.to(dtype)(torch.zeros(1, 9, DIM, dtype=dtype))
        assert torch.equal(got, exact.to(dtype))


@pytest.mark.parametrize(
    "change",
    [
        copy.deepcopy,
        lambda rope: pickle.loads(pickle.dumps(rope)),
        lambda rope: rope.to("meta").to_empty(device="cpu"),
        lambda rope: [rope, rope.load_state_dict(Rotary(DIM, base=3.0).state_dict())][0],
        lambda rope: rope.half().double().float(),
    ],
    ids=["deepcopy", "pickle", "meta and back", "load_state_dict", "half and back"],
)
def test_copies_and_moves(change):
    rope = Rotary(DIM, base=500.0)
    assert_as_fresh(rope)
    changed = change(rope)
    assert_as_fresh(changed)
    changed.base = 100.0
    assert_as_fresh(changed)
    rope.base = 700.0
    assert_as_fresh(rope)


def test_a_copy_carries_no_table():
    rope = Rotary(DIM)
    small = len(pickle.dumps(rope))
    turn(rope, range(5000))
    assert len(pickle.dumps(rope)) < small + 100


def test_positions_that_no_table_holds():
    rope = Rotary(DIM)
    assert_as_fresh(rope, range(10))
    for positions in (torch.arange(-5, 5), torch.tensor([0.5, 2.25, -0.125]), torch.arange(10).double()):
        assert_as_fresh(rope, positions)
    assert_as_fresh(rope, range(-3, 3))
    for count in (tables.FEW + 1, 2 * tables.FEW + 1):  # the last one begins another power of two
        assert_as_fresh(Rotary(DIM), torch.arange(count))
    assert turn(rope, torch.arange(0)).shape == (1, 1, 0, DIM)


@pytest.mark.parametrize("shape", [(1,), (1, 1), (3, 1), (1, 5), (3, 5), (3, tables.FEW)])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_positions_of_any_shape_are_looked_up_again_when_they_change(shape, dtype):
    rope, sinusoidal = Rotary(DIM), Sinusoidal(DIM)
    x = torch.randn(3 if len(shape) > 1 else 1, 2, shape[-1], DIM)
    positions = torch.randint(0, 100, shape).to(dtype)
    for _ in range(2):
        wide = positions.double()  # real numbers are worked out, not looked up
        assert torch.equal(
            rope.rotate(x, x, positions, positions)[0], Rotary(DIM).rotate(x, x, wide, wide)[0]
        )
        assert torch.equal(sinusoidal.add(x[:, 0], positions), Sinusoidal(DIM).add(x[:, 0], wide))
        positions += 1  # the same tensor, in its place


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
@pytest.mark.parametrize("length", [tables.FEW, tables.FEW + 1])
def test_positions_of_wide_unsigned_integers(dtype, length):
    x, at = torch.randn(1, 2, length, DIM), torch.arange(length)
    for encoding in (Rotary(DIM), AxialRotary(DIM, (8, 9))):
        wanted = encoding.rotate(x, x, at, at)[0]
        assert torch.equal(encoding.rotate(x, x, at.to(dtype), at.to(dtype))[0], wanted)


def test_far_positions_take_no_memory():
    rope = Rotary(DIM)
    assert_as_fresh(rope, range(10_000_000, 10_000_003))
    assert not rope._kept._tables
    assert_as_fresh(rope, range(10))
    assert_as_fresh(rope, torch.tensor([3, 10_000_000]))
    (kept,) = rope._kept._tables.values()
    assert kept.count == 16
    assert kept.count * DIM * 4 <= tables.MOST_BYTES


class Watched(torch.Tensor):
    """A tensor with which rotation does plain arithmetic that autograd records."""


def test_made_in_inference_mode_and_used_in_training():
    rope, sinusoidal, grid = Rotary(DIM), Sinusoidal(DIM), Grid((2, 2), DIM)
    with torch.inference_mode():
        for positions in (range(4), torch.arange(4), torch.tensor([2])):
            turn(rope, positions)
        for positions in (range(4), torch.arange(4)):
            sinusoidal.add(torch.zeros(1, 4, DIM), positions)
            grid.add(torch.zeros(1, 4, DIM), positions)
    scale = torch.ones(1, requires_grad=True)
    x = torch.ones(1, 1, 4, DIM) * scale
    q, _ = rope.rotate(x, x, range(4), range(4))
    added = (sinusoidal(x[0]) * scale).sum() + (grid(x[0]) * scale).sum()
    (q.sum() + added).backward()
    assert torch.isfinite(present(scale.grad)).all()
    watched = x.detach().as_subclass(Watched).requires_grad_()
    turned_sum(rope, range(4), watched).backward()  # here autograd keeps the tables for the way back
    turned_sum(rope, torch.arange(4), watched).backward()


def test_tracers_leave_nothing_behind():
    rope = Rotary(DIM)
    with FakeTensorMode():
        x = torch.empty(1, 1, 20, DIM)
        rope.rotate(x, x, range(20), range(20))
    with FlopCounterMode(display=False):
        turn(rope, range(20))
    torch.compile(lambda: turn(rope, range(20)), backend="eager")()
    assert_as_fresh(rope)


def test_inside_vmap_and_grad():
    rope = Rotary(DIM)
    x = torch.randn(3, 1, 1, 5, DIM)
    together = torch.func.vmap(lambda one: rope.rotate(one, one, range(5), range(5))[0])(x)
    rows = torch.stack([torch.arange(5), torch.arange(7, 12), torch.arange(3, 8)])
    each = torch.func.vmap(lambda one, at: rope.rotate(one, one, at, at)[0])(x, rows)
    for i in range(3):
        torch.testing.assert_close(together[i], rope.rotate(x[i], x[i], range(5), range(5))[0])
        torch.testing.assert_close(each[i], rope.rotate(x[i], x[i], rows[i], rows[i])[0])
    gradient = torch.func.grad(lambda one: rope.rotate(one, one, range(5), range(5))[0].sum())(x[0])
    wanted = torch.func.grad(lambda one: turned_sum(rope, torch.arange(5), one))(x[0])
    torch.testing.assert_close(gradient, wanted)


def turned_sum(rope: Rotary, positions, x: torch.Tensor) -> torch.Tensor:
    return rope.rotate(x, x, positions, positions)[0].sum()


def test_nobody_can_write_into_a_kept_table_through_a_result():
    sinusoidal = Sinusoidal(DIM)
    x = torch.zeros(1, 4, DIM)
    first = sinusoidal(x).clone()
    sinusoidal(x).zero_()
    assert torch.equal(sinusoidal(x), first)


def test_other_tables_follow_their_settings_too():
    axial, grid = AxialRotary(DIM, (2, 3)), Grid((2, 3), DIM)
    multimodal, sinusoidal = MultimodalRotary(DIM, (2, 1, 1)), Sinusoidal(DIM)
    x, v = torch.zeros(1, 6, DIM), torch.randn(1, 1, 6, DIM)

    def results():
        return [
            axial.rotate(v, v, 6, 6)[0],
            multimodal.rotate(v, v, 6, 6)[0],
            grid(x),
            sinusoidal(x),
        ]

    before = results()
    for module in (axial, multimodal, grid, sinusoidal):
        module.base = 50.0
    wanted = [
        AxialRotary(DIM, (2, 3), base=50.0).rotate(v, v, 6, 6)[0],
        MultimodalRotary(DIM, (2, 1, 1), base=50.0).rotate(v, v, 6, 6)[0],
        Grid((2, 3), DIM, base=50.0)(x),
        Sinusoidal(DIM, base=50.0)(x),
    ]
    for got, want, old in zip(results(), wanted, before, strict=True):
        assert torch.equal(got, want)
        assert not torch.equal(got, old)
    sinusoidal.layout, sinusoidal.scale = "split", 0.5
    assert torch.equal(sinusoidal(x), Sinusoidal(DIM, base=50.0, layout="split", scale=0.5)(x))
    grid.shape = (3, 2)
    assert torch.equal(grid(x), Grid((3, 2), DIM, base=50.0)(x))
    axial.sections = (1, 3)
    assert torch.equal(
        axial.rotate(v, v, 6, 6)[0],
        AxialRotary(DIM, (2, 3), sections=(1, 3), base=50.0).rotate(v, v, 6, 6)[0],
    )
    dinov3, xl = DINOv3Rotary(DIM, (2, 3)), TransformerXL(DIM, 1)
    before = dinov3.rotate(v, v, 6, 6)[0], xl.bias(v, v, 6, 6)
    dinov3.periods, xl.base = (0.5, 2.0), 50.0
    like = TransformerXL(DIM, 1, base=50.0)
    like.load_state_dict(xl.state_dict())
    wanted = [DINOv3Rotary(DIM, (2, 3), periods=(0.5, 2.0)).rotate(v, v, 6, 6)[0], like.bias(v, v, 6, 6)]
    for got, want, old in zip(
        (dinov3.rotate(v, v, 6, 6)[0], xl.bias(v, v, 6, 6)), wanted, before, strict=True
    ):
        assert torch.equal(got, want)
        assert not torch.equal(got, old)


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch):
    """Whether a CUDA graph is said to be captured."""
    state = {"now": False}
    for module in (tables, in_torch):
        monkeypatch.setattr(module, "is_captured", lambda device: state["now"])
    return state


def test_a_capture_reads_what_was_kept_before_and_nothing_takes_it_away(captured):
    rope = CountingRotary(DIM)
    CountingRotary.made = 0  # the constructor tried its settings
    wanted = turn(rope, range(20))
    captured["now"] = True
    assert torch.equal(turn(rope, range(20)), wanted)
    assert CountingRotary.made == 1
    captured["now"] = False
    kept = [weakref.ref(each) for each in rope._kept._tables.values()]
    turn(rope, range(100))  # a larger table takes its place
    rope.base = 500.0
    assert_as_fresh(rope)  # and all are forgotten
    gc.collect()
    assert all(each() is not None for each in kept)


def test_a_capture_keeps_nothing_and_reads_nothing_that_is_not_so(captured):
    rope, grid, v = CountingRotary(DIM), Grid((2, 3), DIM), torch.zeros(1, 6, DIM)
    CountingRotary.made = 0
    captured["now"] = True
    for _ in range(2):
        turn(rope, range(20))
        grid(v)
    assert CountingRotary.made == 2
    captured["now"] = False
    assert not rope._kept._tables
    assert not grid._kept._tables
    turn(rope, range(20))
    rope.base = 500.0  # what was kept is of another base, and too short
    captured["now"] = True
    assert_as_fresh(rope)
    assert_as_fresh(rope, range(200))


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_a_capture_sees_what_is_written_into_tables_and_leaves_nothing_on_them(captured, layout):
    of_tables = rotated.rotary_tables(torch.arange(20), DIM)
    x = torch.randn(1, 1, 20, DIM)
    captured["now"] = True
    wanted = rotated.rotate(x, of_tables, layout=layout)
    assert set(of_tables.__dict__) == {"cos", "sin"}
    captured["now"] = False
    assert torch.equal(rotated.rotate(x, of_tables, layout=layout), wanted)
    before = {key: id(each) for key, each in of_tables.__dict__.items()}
    captured["now"] = True
    assert torch.equal(rotated.rotate(x, of_tables, layout=layout), wanted)
    assert {key: id(each) for key, each in of_tables.__dict__.items()} == before


def test_the_table_of_a_grid_is_of_the_width_that_heads_have_now():
    encoding, q = AxialRotary(8, (2, 2)), torch.randn(1, 1, 4, 16)
    encoding.rotate(q[..., :8], q[..., :8], 4, 4)
    encoding.head_dim = 16
    assert torch.equal(encoding.rotate(q, q, 4, 4)[0], AxialRotary(16, (2, 2)).rotate(q, q, 4, 4)[0])
