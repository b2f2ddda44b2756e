"""Positions and masks whose first axis may be the batch or the heads: asked for, never guessed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib import apply_rotary, attention, sinusoidal
from posenc_lib.biased import alibi_attention, cope_bias, shaw_bias, shaw_values
from posenc_lib.catalogue import catalogue
from posenc_lib.nn import ENCODINGS, Attention, Sinusoidal, Sizes, make_encoding
from posenc_lib.rotated import RotaryTables, axial_tables, mrope_tables, rotary_tables, rotate, xpos_tables
from tests.present import present

N, LENGTH, WIDTH = 4, 6, 8
"""As many rows in the batch as heads."""

ROWS = np.stack([np.arange(LENGTH) + 10 * row for row in range(N)])
X = np.random.default_rng(0).standard_normal((N, N, LENGTH, WIDTH))


def by_rows(x: Any) -> Any:
    """Each row of the batch at its own positions."""
    return np.stack([apply_rotary(row, at) for row, at in zip(x, ROWS, strict=True)])


def rotations(x: Any, at: Any) -> list[Callable[[], Any]]:
    """x turned by the tables of every maker."""
    like: dict[str, Any] = {"dtype": x.dtype}
    axes = np.stack([at, at]) if isinstance(at, np.ndarray) else torch.stack([at, at])
    return [
        lambda: apply_rotary(x, at),
        lambda: rotate(x, rotary_tables(at, WIDTH, **like)),
        lambda: rotate(x, xpos_tables(at, WIDTH, **like)[0]),
        lambda: rotate(x, xpos_tables(at, WIDTH, **like)[1], layout="half"),
        lambda: rotate(x, axial_tables(axes, WIDTH, **like)),
        lambda: rotate(x, mrope_tables(axes, WIDTH, (2, 2), **like)),
    ]


@pytest.mark.parametrize("own", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_positions_of_rows_are_not_taken_for_those_of_heads(own: Any) -> None:
    for call in rotations(own(X), own(ROWS)):
        with pytest.raises(ValueError, match=r"give \(batch, 1, seq\) if rows differ, or \(1, heads, seq\)"):
            call()
    for call in rotations(own(X[:3]), own(ROWS[:3])):  # three rows, four heads
        with pytest.raises(ValueError, match=r"give \(seq,\), or \(batch, 1, seq\)"):
            call()
    for x, positions in ((X, ROWS[:, None]), (X, ROWS[None]), (X[:3], ROWS), (X[:1], ROWS), (X[0], ROWS)):
        for call in rotations(own(x), own(positions)):
            assert call().shape == x.shape
    np.testing.assert_allclose(apply_rotary(own(X), own(ROWS)[:, None]), by_rows(X))
    one_step = own(X[:, :, :1]), own(ROWS[:, :1])
    with pytest.raises(ValueError, match="could be for the rows of the batch or for the heads"):
        apply_rotary(*one_step)


def test_positions_of_heads_are_taken_where_they_can_be_nothing_else() -> None:
    wanted = np.stack([apply_rotary(X[:3, head], ROWS[head]) for head in range(N)], axis=1)
    np.testing.assert_allclose(apply_rotary(X[:3], ROWS), wanted)
    np.testing.assert_allclose(apply_rotary(X, ROWS[None])[:3], wanted)


def test_more_axes() -> None:
    x = np.broadcast_to(X[:, None], (N, 2, N, LENGTH, WIDTH))
    with pytest.raises(ValueError, match="could be for the rows"):
        apply_rotary(x, ROWS)
    assert apply_rotary(x, ROWS[:, None, None]).shape == x.shape


def test_compiled_too() -> None:
    compiled = torch.compile(apply_rotary, backend="eager")
    with pytest.raises(Exception, match="could be for the rows"):
        compiled(torch.from_numpy(X), torch.from_numpy(ROWS))


@pytest.mark.parametrize("name", ENCODINGS)
def test_modules_take_rows_of_the_batch(name: str) -> None:
    """Where they have a batch, its rows are the only reading; another number of rows is refused."""
    encoding = make_encoding(name, Sizes(dim=N * WIDTH, heads=N, length=64)).double()
    x, rows = torch.from_numpy(X), torch.from_numpy(ROWS)
    tokens = torch.zeros(N, LENGTH, N * WIDTH, dtype=torch.float64)
    doors = {
        "add": lambda some, at: encoding.add(tokens[some], at),
        "rotate": lambda some, at: encoding.rotate(x[some], x[some], at, at)[0],
        "bias": lambda some, at: encoding.bias(x[some], x[some], at, at),
    }
    for door, call in doors.items():
        together = call(slice(None), rows)
        for row in range(N):
            alone = call(slice(row, row + 1), rows[row])
            if alone is not None:
                of_row = present(together)[row]
                torch.testing.assert_close(of_row, alone.reshape(of_row.shape), msg=door)
    opened = {"added": "add", "rotated": "rotate", "biased": "bias"}
    for door in catalogue().named(name).doors:
        if name != "cope":
            with pytest.raises(ValueError, match=r"\(batch, length\)"):
                doors[opened[door]](slice(0, 3), rows)


def test_added_encodings() -> None:
    encoding, rows = Sinusoidal(WIDTH).double(), torch.from_numpy(ROWS)
    x = torch.zeros(N, LENGTH, WIDTH, dtype=torch.float64)
    np.testing.assert_allclose(encoding.add(x, rows), sinusoidal(ROWS, WIDTH), atol=1e-12)
    with pytest.raises(ValueError, match="may be meant for the first or for the second axis"):
        encoding.add(torch.zeros(N, N, LENGTH, WIDTH), rows)
    assert encoding.add(torch.zeros(2, N, LENGTH, WIDTH), rows).shape == (2, N, LENGTH, WIDTH)


@pytest.mark.parametrize("own", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_biases_of_content(own: Any) -> None:
    q, rows, table = own(X), own(ROWS), own(np.ones((5, WIDTH)))
    wanted = np.stack([shaw_bias(X[row], np.ones((5, WIDTH)), ROWS[row], ROWS[row]) for row in range(N)])
    np.testing.assert_allclose(shaw_bias(q, table, rows, rows), wanted)
    for call in (
        lambda: shaw_bias(q, table, rows[:, None], rows[:, None]),
        lambda: shaw_bias(q[:3], table, rows, rows),
        lambda: shaw_bias(q[0], table, rows, rows),
        lambda: shaw_values(q @ q.swapaxes(-1, -2), table, rows[:, None], rows[:, None]),
    ):
        with pytest.raises(ValueError, match=r"or \(batch, queries\) where rows of"):
            call()


@pytest.mark.parametrize("own", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_masks(own: Any) -> None:
    x, mask = own(X), own(np.random.default_rng(1).random((N, LENGTH, LENGTH)) < 0.7)
    table = own(np.ones((5, WIDTH)))
    calls = [lambda x, mask: attention(x, x, x, mask=mask), lambda x, mask: cope_bias(x, x, table, mask=mask)]
    if own is torch.from_numpy:
        calls += [lambda x, mask: alibi_attention(x, x, x, mask=mask)]
        model = Attention(N * WIDTH, N).double()
        calls += [lambda x, mask: model(x.transpose(1, 2).flatten(2), mask=mask)]
    for call in calls:
        for given in (mask, mask[:, :1]):
            with pytest.raises(ValueError, match=r"give \(batch, 1, queries, keys\), or \(1, heads"):
                call(x, given)
        for given in (mask[:, None], mask[None], mask[0]):
            call(x, given)
        call(x[:3], mask)


def test_a_step_of_decoding() -> None:
    """One new token in each row: (batch, 1) is not (heads, 1)."""
    tables = RotaryTables(*(torch.ones(N, 1, WIDTH // 2) for _ in "cs"))
    with pytest.raises(ValueError, match="could be for the rows"):
        rotate(torch.ones(N, N, 1, WIDTH), tables)
    assert rotate(torch.ones(N, 1, N, WIDTH), tables, seq_axis=-3).shape == (N, 1, N, WIDTH)
