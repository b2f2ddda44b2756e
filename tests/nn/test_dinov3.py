"""The module of DINOv3's rotation does what its functions do, and draws when it is told to."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib.nn import DINOv3Rotary
from posenc_lib.rotated import augment_coordinates, dinov3_tables, patch_coordinates, rotate

SHAPE = (2, 3)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def turned(rope: DINOv3Rotary, q: torch.Tensor, positions: Any) -> torch.Tensor:
    got, same = rope.rotate(q, q, positions, positions)
    assert torch.equal(got, same)
    return got


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_it_is_the_pure_function(dtype):
    rope = DINOv3Rotary(8, SHAPE, first=1, base=50.0, normalize="max")
    q = torch.randn(2, 4, 7, 8, dtype=dtype)
    tables = dinov3_tables(patch_coordinates(SHAPE, normalize="max"), 8, base=50.0)
    wanted = torch.from_numpy(rotate(q[:, :, 1:].double().numpy(), tables, layout="half"))
    got = turned(rope, q, 7)
    assert got.dtype == dtype
    assert torch.equal(got[:, :, :1], q[:, :, :1])
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-6, torch.bfloat16: 0.01}[dtype]
    torch.testing.assert_close(got[:, :, 1:].double(), wanted, rtol=tolerance, atol=tolerance)
    some = torch.tensor([[6, 0, 1], [2, 2, 5]])
    picked = turned(rope, torch.stack([q[row, :, at] for row, at in enumerate(some)]), some)
    assert torch.equal(picked, torch.stack([got[row, :, at] for row, at in enumerate(some)]))


def test_another_shape_counts_from_the_next_call_on():
    rope, q = DINOv3Rotary(8, SHAPE), torch.randn(1, 4, 6, 8)
    turned(rope, q, 6)
    rope.shape = (3, 2)
    assert torch.equal(turned(rope, q, 6), turned(DINOv3Rotary(8, (3, 2)), q, 6))


def test_another_width_of_heads_counts_from_the_next_call_on():
    rope, q = DINOv3Rotary(8, SHAPE), torch.randn(1, 4, 6, 16)
    turned(rope, q[..., :8], 6)
    rope.head_dim = 16
    assert torch.equal(turned(rope, q, 6), turned(DINOv3Rotary(16, SHAPE), q, 6))


def test_in_training_one_draw_serves_all_calls_until_the_next():
    rope, q = DINOv3Rotary(8, SHAPE, shift=0.5, jitter=2.0, rescale=2.0), torch.randn(1, 4, 6, 8)
    plain = turned(rope.eval(), q, 6)
    rope.train().draw(np.random.default_rng(3))
    first = turned(rope, q, 6)
    coordinates = augment_coordinates(
        patch_coordinates(SHAPE), np.random.default_rng(3), shift=0.5, jitter=2.0, rescale=2.0
    )
    wanted = rotate(q.double().numpy(), dinov3_tables(coordinates, 8), layout="half")
    np.testing.assert_allclose(first.numpy(), wanted, atol=1e-6)
    assert torch.equal(turned(rope, q, 6), first)
    rope.draw(np.random.default_rng(4))
    assert not torch.allclose(turned(rope, q, 6), first)
    assert torch.equal(turned(rope.eval(), q, 6), plain)


def test_compiled_a_new_draw_counts_and_recompiles_nothing():
    rope, q = DINOv3Rotary(8, SHAPE, shift=0.5, rescale=2.0), torch.randn(1, 4, 6, 8)
    generator = torch.Generator().manual_seed(0)
    rope.draw(generator)
    compiled = torch.compile(lambda q: rope.rotate(q, q, 6, 6)[0], fullgraph=True, backend="eager")
    results = [compiled(q)]
    with torch.compiler.set_stance("fail_on_recompile"):
        for _ in range(3):
            rope.draw(generator)
            results.append(compiled(q))
            torch.testing.assert_close(results[-1], turned(rope, q, 6))
    assert all((one - other).abs().max() > 0.01 for one, other in itertools.pairwise(results))


def test_in_training_without_a_draw_it_asks_for_one():
    rope, q = DINOv3Rotary(8, SHAPE, rescale=2.0), torch.randn(1, 4, 6, 8)
    with pytest.raises(RuntimeError, match=r"call draw\(generator\) at the start of each step, or eval\(\)"):
        turned(rope, q, 6)
    turned(rope.eval(), q, 6)
    turned(DINOv3Rotary(8, SHAPE).train(), q, 6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: DINOv3Rotary(7, SHAPE), ValueError, "head_dim=7"),
        (lambda: DINOv3Rotary(6, SHAPE), ValueError, "3 pairs, which 2 axes cannot share"),
        (lambda: DINOv3Rotary(8, 6), ValueError, "not a grid of patches"),  # type: ignore[arg-type]
        (lambda: DINOv3Rotary(8, SHAPE, first=-1), ValueError, "first=-1"),
        (lambda: DINOv3Rotary(8, SHAPE, base=-1.0), ValueError, "base=-1.0"),
        (lambda: DINOv3Rotary(8, SHAPE, normalize="mean"), ValueError, "'separate'"),  # type: ignore[arg-type]
        (lambda: DINOv3Rotary(8, SHAPE, jitter=0.5), ValueError, "jitter=0.5"),
        (lambda: DINOv3Rotary(8, SHAPE, layout="llama"), ValueError, "'half'"),  # type: ignore[arg-type]
        (lambda: DINOv3Rotary(8, SHAPE, shift=0.1).draw(0), TypeError, "generator is of type int"),
        (
            lambda: turned(DINOv3Rotary(8, SHAPE), torch.zeros(1, 4, 7, 8), 7),
            ValueError,
            "position 6 is outside",
        ),
    ],
)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error, match=words):
        call()
