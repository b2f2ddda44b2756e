"""What `RotaryTables` are besides two arrays: a pair, a pytree, something that moves and is stored."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils import _pytree

from posenc_lib.rotated import RopeSettings, RotaryTables, rotary_tables, rotate

TABLES = rotary_tables(torch.arange(5), 8)
X = torch.randn(2, 5, 8)


class Rotation(nn.Module):
    def forward(self, x: torch.Tensor, tables: RotaryTables) -> torch.Tensor:
        return rotate(x, tables)


def test_unpacking_gives_cosines_and_sines_not_positions() -> None:
    cos, sin = TABLES
    assert cos is TABLES.cos
    assert sin is TABLES.sin


def test_to_moves_and_casts_tensors() -> None:
    assert TABLES.to("meta").sin.device.type == "meta"
    for found, there in zip(TABLES.to(torch.float64), TABLES, strict=True):
        assert found.dtype == torch.float64
        assert torch.equal(found, there.double())
    assert TABLES.to("cpu", torch.bfloat16).sin.dtype == TABLES.to(X.bfloat16()).cos.dtype == torch.bfloat16
    with pytest.raises(TypeError, match="give one real dtype"):
        TABLES.to(torch.int32)


def test_to_moves_and_casts_arrays_of_other_libraries() -> None:
    tables = rotary_tables(5, 8)
    assert tables.to(np.float32).cos.dtype == tables.to(dtype=np.float32).sin.dtype == np.float32
    assert tables.to("cpu", np.float32).cos.dtype == np.float32
    for found, there in zip(tables.to(np.float32), tables, strict=True):
        np.testing.assert_array_equal(found, there.astype(np.float32))
    with pytest.raises(TypeError, match=r"numpy\.int64.*not a real floating-point dtype"):
        tables.to(np.int64)


def test_they_are_a_pytree() -> None:
    leaves, _ = _pytree.tree_flatten(TABLES)
    assert [leaf is each for leaf, each in zip(leaves, TABLES, strict=True)] == [True, True]
    both = _pytree.tree_map(lambda leaf: torch.stack([leaf, leaf.flip(0)]), TABLES)
    turned = torch.func.vmap(rotate)(X, both)
    torch.testing.assert_close(turned[0], rotate(X[0], TABLES))
    gradient = torch.func.grad(lambda tables: rotate(X, tables).sum())(TABLES)
    assert isinstance(gradient, RotaryTables)


def test_they_go_into_an_exported_program_of_any_length_and_its_file() -> None:
    length = torch.export.Dim("length", min=2)
    shapes = {"x": {1: length}, "tables": [{0: length}, {0: length}]}
    stored = io.BytesIO()
    torch.export.save(torch.export.export(Rotation(), (X, TABLES), dynamic_shapes=shapes), stored)
    stored.seek(0)
    program = torch.export.load(stored).module()
    x, tables = torch.randn(2, 9, 8), rotary_tables(torch.arange(9), 8)
    torch.testing.assert_close(program(x, tables), rotate(x, tables))


@pytest.mark.parametrize("again", [copy.deepcopy, lambda tables: pickle.loads(pickle.dumps(tables))])
def test_copies_turn_alike(again) -> None:
    rotate(X, TABLES)  # what it keeps for speed is not copied
    torch.testing.assert_close(rotate(X, again(TABLES)), rotate(X, TABLES))
    assert set(again(TABLES).__dict__) == {"cos", "sin"}


def test_loading_with_weights_only() -> None:
    stored = io.BytesIO()
    torch.save(TABLES, stored)
    stored.seek(0)
    torch.testing.assert_close(torch.load(stored).cos, TABLES.cos)


def test_loading_before_any_table_was_made(tmp_path: Path) -> None:
    torch.save(TABLES, tmp_path / "tables.pt")
    code = f"import torch, posenc_lib.nn; print(torch.load({str(tmp_path / 'tables.pt')!r}).cos.shape)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{TABLES.cos.shape}\n"


def test_learned_tables_get_their_gradient_after_they_were_looked_at_without_one() -> None:
    rates = torch.ones(4, requires_grad=True)
    theta = torch.arange(5.0)[:, None] * rates
    tables, x = RotaryTables(theta.cos(), theta.sin()), torch.ones(2, 5, 3, 8)
    with torch.no_grad():
        rotate(x, tables, seq_axis=-3)
    (gradient,) = torch.autograd.grad(rotate(x, tables, seq_axis=-3).sum(), rates)
    assert gradient.abs().min() > 0.1


def test_neither_torch_nor_jax_is_loaded_for_it() -> None:
    code = (
        "import sys, posenc_lib; cos, sin = posenc_lib.rotary_tables(3, 4).to('cpu'); "
        "assert not {'torch', 'jax'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_models_tables_come_in_the_library_of_what_they_turn() -> None:
    rope = RopeSettings(8, 8, 10000.0, None, "half")
    assert isinstance(rope.tables(5).cos, np.ndarray)
    torch.testing.assert_close(rope.rotate(X, rope.tables(5, like=X)), rotate(X, TABLES, layout="half"))


@pytest.mark.parametrize(
    "index", [(..., -1), (slice(None), 0), (..., 2), (0, 0), (0, slice(2)), (..., slice(None, None, -1))]
)
def test_the_pairs_of_a_position_stay_together(index: Any) -> None:
    """Also where there are as many positions as pairs, so that the width does not tell."""
    import jax

    for positions in (4, torch.arange(4), jax.numpy.arange(4)):
        tables = rotary_tables(positions, 8)
        with pytest.raises((IndexError, ValueError)):
            tables[index]
        for right in ((..., slice(None)), (slice(None), None), (slice(1, 3), slice(None)), (None, 2)):
            assert tables[right].cos.shape == tables.cos[right].shape


def test_positions_are_indexed_by_integers_or_booleans() -> None:
    for tables in (rotary_tables(6, 8), rotary_tables(torch.arange(6), 8)):
        assert tables[np.asarray([4, 5])].cos.shape == (2, 4)
        assert tables[np.arange(6) > 3].cos.shape == (2, 4)
        for wrong in (np.asarray([4.0]), (np.asarray([1j]),)):
            with pytest.raises(IndexError):
                tables[wrong]


def test_tables_of_numpy_go_to_no_dtype_of_torch():
    with pytest.raises(TypeError, match=r"torch\.float32 is neither a device nor a real"):
        rotary_tables(5, 8).to(torch.float32)
