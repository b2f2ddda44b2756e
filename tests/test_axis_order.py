"""(batch, seq, heads, head_dim) by argument: the same as with the axes turned round by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from posenc_lib import alibi_bias, apply_rotary, attention
from posenc_lib.biased import alibi_attention, cope_bias, shaw_bias, transformer_xl_bias
from posenc_lib.catalogue import catalogue
from posenc_lib.nn import ENCODINGS, Sizes, make_encoding
from posenc_lib.rotated import RopeSettings, axial_tables, rotary_tables, rotate, xpos_tables
from posenc_lib.rotated.tables import Layout

BATCH, HEADS, LENGTH, WIDTH = 3, 4, 6, 8
LAYOUTS: tuple[Layout, ...] = ("interleaved", "half")
LARGE = (2, 600, 8, 64)
"""More numbers than a block of the quick path holds."""


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def vectors(heads: int = HEADS, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(BATCH, LENGTH, heads, WIDTH, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(BATCH, LENGTH, HEADS, WIDTH), LARGE, (BATCH, 1, HEADS, WIDTH)])
def test_rotation(layout: Layout, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    x = torch.randn(shape).to(dtype)
    at_rows = torch.randint(1000, shape[:2])
    for positions, wanted_positions in ((torch.arange(shape[1]), None), (at_rows, at_rows[:, None])):
        wanted_positions = positions if wanted_positions is None else wanted_positions
        wanted = apply_rotary(x.transpose(1, 2), wanted_positions, layout=layout).transpose(1, 2)
        tables = rotary_tables(positions, shape[-1], dtype=torch.promote_types(dtype, torch.float32))
        for axis in (-3, 1):
            assert torch.equal(apply_rotary(x, positions, layout=layout, seq_axis=axis), wanted)
            got = rotate(x, tables, layout=layout, seq_axis=axis)
            assert torch.equal(got, rotate(x, tables, layout=layout, seq_axis=axis))  # and from kept tables
            torch.testing.assert_close(got, wanted)
            assert got.is_contiguous()
        other = x.clone()
        assert rotate(other, tables, layout=layout, seq_axis=-3, out=other) is other
        torch.testing.assert_close(other, wanted)
    assert torch.equal(
        apply_rotary(x, shape[1], seq_axis=1), apply_rotary(x, [*range(shape[1])], seq_axis=-3)
    )


def test_kept_tables_obey_when_they_are_written_to() -> None:
    tables, x = rotary_tables(torch.arange(LENGTH), WIDTH), vectors(dtype=torch.float32)
    rotate(x, tables, seq_axis=-3)
    tables.cos.zero_()
    tables.sin.fill_(1.0)
    torch.testing.assert_close(rotate(x, tables, seq_axis=-3)[..., 1::2], x[..., 0::2])


def test_numpy_and_gradients() -> None:
    x = vectors()
    wanted = apply_rotary(x, LENGTH, seq_axis=-3, rotary_dim=4)
    np.testing.assert_allclose(apply_rotary(x.numpy(), LENGTH, seq_axis=-3, rotary_dim=4), wanted)
    torch.autograd.gradcheck(lambda x: apply_rotary(x, LENGTH, seq_axis=-3), x[:1].requires_grad_())


def test_compiled_in_one_graph() -> None:
    compiled = torch.compile(
        lambda x: apply_rotary(x, torch.arange(LENGTH), seq_axis=-3), backend="eager", fullgraph=True
    )
    x = vectors(dtype=torch.float32)
    torch.testing.assert_close(compiled(x), apply_rotary(x, LENGTH, seq_axis=-3))


def test_the_sequence_before_the_batch() -> None:
    """(seq, batch, heads, head_dim), as Megatron has it."""
    x = vectors().transpose(0, 1)
    wanted = apply_rotary(x.permute(1, 2, 0, 3), LENGTH).permute(2, 0, 1, 3)
    torch.testing.assert_close(apply_rotary(x, LENGTH, seq_axis=0), wanted)


def test_a_models_settings() -> None:
    rope, x = RopeSettings(WIDTH, 4, 500.0, None, "half"), vectors()
    wanted = rope.rotate(x.transpose(1, 2), rope.tables(LENGTH, like=x, dtype=x.dtype)).transpose(1, 2)
    assert torch.equal(rope.rotate(x, rope.tables(LENGTH, like=x, dtype=x.dtype), seq_axis=-3), wanted)


@pytest.mark.parametrize("tables", [xpos_tables(LENGTH, WIDTH)[0], axial_tables(np.ones((2, LENGTH)), WIDTH)])
def test_other_tables(tables: Any) -> None:
    x = vectors().numpy()
    wanted = rotate(x.swapaxes(1, 2), tables).swapaxes(1, 2)
    np.testing.assert_allclose(rotate(x, tables, seq_axis=-3), wanted)


@pytest.mark.parametrize("kv_heads", [HEADS, 2])
@pytest.mark.parametrize("own", [lambda x: x, torch.Tensor.numpy], ids=["torch", "numpy"])
def test_attention(kv_heads: int, own: Any) -> None:
    q, k, v = own(vectors()), own(vectors(kv_heads)), own(vectors(kv_heads))
    bias = alibi_bias(HEADS, LENGTH, own(torch.arange(float(LENGTH), dtype=torch.float64)))
    first = [x.swapaxes(1, 2) for x in (q, k, v)]
    turned = attention(
        *first, bias=bias, causal=True, rotate=lambda x: apply_rotary(x, LENGTH), return_weights=True
    )
    for axis in (1, -3):
        got = attention(
            *(q, k, v),
            bias=bias,
            causal=True,
            rotate=lambda x: apply_rotary(x, LENGTH, seq_axis=-3),
            seq_axis=axis,
            return_weights=True,
        )
        np.testing.assert_allclose(got[0], turned[0].swapaxes(1, 2))
        np.testing.assert_allclose(got[1], turned[1])


@pytest.mark.parametrize("length", [LENGTH, 40])
def test_alibi_attention(length: int) -> None:
    q, k, v = torch.randn(3, BATCH, length, HEADS, WIDTH)
    wanted = alibi_attention(*(x.transpose(1, 2) for x in (q, k[:, :, :2], v[:, :, :2]))).transpose(1, 2)
    torch.testing.assert_close(alibi_attention(q, k[:, :, :2], v[:, :, :2], seq_axis=1), wanted)


def test_biases_of_content() -> None:
    q, k = vectors(), vectors(2)
    q_first, k_first = q.transpose(1, 2), k.transpose(1, 2)
    table, u = torch.randn(HEADS, 5, WIDTH).double(), torch.randn(HEADS, WIDTH).double()
    of_distance = torch.randn(HEADS, LENGTH, WIDTH).double()
    pairs = [
        (shaw_bias(q, table, LENGTH, LENGTH, seq_axis=1), shaw_bias(q_first, table, LENGTH, LENGTH)),
        (cope_bias(q, k, table, seq_axis=1), cope_bias(q_first, k_first, table)),
        (
            transformer_xl_bias(q, k, of_distance, u, u, seq_axis=-3),
            transformer_xl_bias(q_first, k_first, of_distance, u, u),
        ),
    ]
    for got, wanted in pairs:
        torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("name", [name for name in ENCODINGS if "added" not in catalogue().named(name).doors])
def test_modules(name: str) -> None:
    encoding = make_encoding(name, Sizes(dim=HEADS * WIDTH, heads=HEADS, length=36)).double()
    for parameter in encoding.parameters():
        nn.init.normal_(parameter)
    q, k = vectors(), vectors(2)
    first = q.transpose(1, 2), k.transpose(1, 2)
    rows = torch.stack([torch.arange(LENGTH) + 3 * row for row in range(BATCH)])
    for at in (LENGTH, rows):
        wanted = encoding.rotate(*first, at, at)
        for axis in (-3, 1):
            got = encoding.rotate(q, k, at, at, seq_axis=axis)
            for one, other in zip(got, wanted, strict=True):
                torch.testing.assert_close(one, other.transpose(1, 2))
        for one, other in zip(encoding.rotate(*first, at, at, seq_axis=2), wanted, strict=True):
            assert torch.equal(one, other)
        bias, wanted_bias = encoding.bias(q, k, at, at, seq_axis=1), encoding.bias(*first, at, at)
        if wanted_bias is not None:
            torch.testing.assert_close(bias, wanted_bias)


X = torch.zeros(BATCH, LENGTH, HEADS, WIDTH)
BAD: list[tuple[Any, type[Exception], str]] = [
    (
        lambda: apply_rotary(X, LENGTH, seq_axis=-1),
        ValueError,
        "seq_axis=-1 is not an axis before the last of 4",
    ),
    (
        lambda: apply_rotary(X, LENGTH, seq_axis=3),
        ValueError,
        "seq_axis=3 is not an axis before the last of 4",
    ),
    (lambda: apply_rotary(X, LENGTH, seq_axis=-5), ValueError, "give -2 for"),
    (lambda: apply_rotary(X, LENGTH, seq_axis="bshd"), TypeError, "seq_axis='bshd' is not an integer"),  # type: ignore[arg-type]
    (lambda: apply_rotary(X, LENGTH, seq_axis=True), TypeError, "seq_axis=True is not an integer"),
    (lambda: apply_rotary(X, LENGTH), ValueError, "give seq, its axis -2, or an array"),
    (lambda: apply_rotary(X, HEADS, seq_axis=-3), ValueError, "give seq, its axis -3, or an array"),
    (
        lambda: apply_rotary(X, torch.zeros(BATCH, 1, LENGTH), seq_axis=1),
        ValueError,
        "give (seq,), or (batch, seq)",
    ),
    (lambda: rotate(X, rotary_tables(torch.arange(5), WIDTH), seq_axis=1), ValueError, "up to the sequence"),
    (lambda: attention(X, X, X, seq_axis=4), ValueError, "seq_axis=4 is not an axis"),
    (lambda: attention(X[0, 0], X[0, 0], X[0, 0], seq_axis=-3), ValueError, "give three axes or more"),
    (lambda: alibi_attention(X, X, X, seq_axis=None), TypeError, "seq_axis=None is not an integer"),  # type: ignore[arg-type]
    (lambda: cope_bias(X, X, X[0, 0], seq_axis=3), ValueError, "seq_axis=3 is not an axis"),
    (
        lambda: make_encoding("rope", Sizes(32, 4)).rotate(X, X, 6, 6, seq_axis=3),
        ValueError,
        "is not an axis",
    ),
    (lambda: make_encoding("alibi", Sizes(32, 4)).bias(X, X, 6, 6, seq_axis=3), ValueError, "is not an axis"),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD)
def test_a_wrong_axis_is_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)
