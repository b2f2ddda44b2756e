"""The module of a learned 2-D table does what its function does, and refuses what does not fit."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from posenc_lib.added import resample_grid
from posenc_lib.nn import LearnedGrid
from tests.present import present


def added(encoding: LearnedGrid, positions: Any, count: int) -> torch.Tensor:
    return encoding.add(torch.zeros(2, count, 8), positions)


def test_it_looks_rows_up_and_stretches_when_it_is_told_to():
    torch.manual_seed(0)
    encoding = LearnedGrid((2, 3), 8, first=1, antialias=True, std=1.0)
    assert torch.equal(added(encoding, 7, 7)[0], encoding.table)
    some = torch.tensor([[6, 0, 1], [2, 2, 5]])
    assert torch.equal(added(encoding, some, 3), encoding.table[some])
    encoding.stretch_to = (4, 4)
    larger = resample_grid(encoding.table, (2, 3), (4, 4), antialias=True, first=1)
    assert torch.equal(added(encoding, 17, 17)[0], larger)
    encoding.antialias, encoding.offset = False, 0.1
    other = resample_grid(encoding.table, (2, 3), (4, 4), offset=0.1, first=1)
    assert torch.equal(added(encoding, 17, 17)[0], other)
    assert not torch.equal(other, resample_grid(encoding.table, (2, 3), (4, 4), first=1))
    added(encoding, 17, 17).square().sum().backward()
    assert (present(encoding.table.grad).abs().sum(-1) > 0).all()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: LearnedGrid((2,), 8), ValueError, "is not a grid of patches"),  # type: ignore[arg-type]
        (lambda: LearnedGrid((2, 3), 0), ValueError, "dim=0"),
        (lambda: LearnedGrid((2, 3), 8, first=-1), ValueError, "first=-1"),
        (lambda: LearnedGrid((2, 3), 8, mode="cubic"), ValueError, "'bicubic'"),  # type: ignore[arg-type]
        (lambda: LearnedGrid((2, 3), 8, stretch_to=9), ValueError, "stretch_to=9 is not a grid"),  # type: ignore[arg-type]
        (lambda: LearnedGrid((2, 3), 8, std=-1), ValueError, "std=-1"),
        (lambda: added(LearnedGrid((2, 3), 8), 7, 7), ValueError, "position 6 is outside"),
        (lambda: added(LearnedGrid((2, 3), 8, first=1), 8, 8), ValueError, "position 7 is outside"),
        (lambda: added(LearnedGrid((2, 3), 8), torch.tensor([0.5]), 1), TypeError, "give integers"),
    ],
)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_stretched_it_compiles_in_one_piece():
    grid, x = LearnedGrid((2, 2), 8, stretch_to=(3, 3)), torch.randn(1, 9, 8)
    torch.testing.assert_close(torch.compile(grid, backend="eager", fullgraph=True)(x), grid(x))
